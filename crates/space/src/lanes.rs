//! Computes the values of some candidates of a block in one state.

use std::collections::BTreeSet;

use patchwright_semantics::{
    Instruction, Ty, UnaryOp, evaluate,
    rows::{self, Operand},
};
use rustc_hash::FxHashMap;

use crate::{
    pool_rows::{BinaryPlan, Buffers, Row, StateRows, in_type, operand_type},
    pools::PoolId,
    space::{Block, Space, Step, Template},
    term::{self, CType, Context, Pointees, Term},
};

/// The compiled code of terms that stand beside the sites of blocks.
#[derive(Default)]
pub(crate) struct Siblings(FxHashMap<Term, Vec<Instruction>>);

impl Siblings {
    /// Compiles the terms that stand beside the sites of these blocks, each once.
    pub(crate) fn of(space: &Space, pointees: &Pointees, blocks: &[u32]) -> Self {
        let mut siblings = Siblings::default();
        let ways: BTreeSet<u32> = blocks
            .iter()
            .map(|&number| space.blocks[number as usize].way)
            .collect();
        for way in ways {
            for step in &space.ways[way as usize].steps {
                for sibling in step.siblings() {
                    if !siblings.0.contains_key(sibling) {
                        let atoms = &space.hole.atoms.table;
                        let code = term::compile(sibling, Context::Same, atoms, pointees)
                            .unwrap_or_default();
                        siblings.0.insert(sibling.clone(), code);
                    }
                }
            }
        }
        siblings
    }
}

impl Step {
    fn siblings(&self) -> Vec<&Term> {
        match self {
            Step::Unary(..) | Step::Cast(..) => Vec::new(),
            Step::Left(_, _, t)
            | Step::Right(_, t, _)
            | Step::AndLeft(_, t)
            | Step::AndRight(t, _)
            | Step::OrLeft(_, t)
            | Step::OrRight(t, _) => vec![t],
            Step::SelectCondition(_, a, b, _)
            | Step::SelectThen(a, _, b, _)
            | Step::SelectOtherwise(a, b, _, _) => vec![a, b],
        }
    }
}

/// Evaluates candidates in one state. What they have in common is computed when it is needed, and once.
pub(crate) struct Evaluation<'a> {
    space: &'a Space,
    pointees: &'a Pointees,
    state: StateRows<'a>,
    siblings: &'a Siblings,
    values: &'a [u64],
    undefined: &'a [u8],
}

impl<'a> Evaluation<'a> {
    /// Prepares to evaluate candidates in one state: its values, and which of them are undefined.
    pub(crate) fn new(
        space: &'a Space,
        pointees: &'a Pointees,
        siblings: &'a Siblings,
        (values, undefined): (&'a [u64], &'a [u8]),
        buffers: &'a mut Buffers,
    ) -> Self {
        Evaluation {
            space,
            pointees,
            state: StateRows::new(&space.pools, pointees, values, undefined, buffers),
            siblings,
            values,
            undefined,
        }
    }

    /// Returns the values of the candidates at these places of a block, converted for the hole's context.
    pub(crate) fn values(&mut self, block: &Block, lanes: &[u32]) -> Row {
        let mut row = self.filling(block, lanes);
        let way = &self.space.ways[block.way as usize];
        for step in &way.steps {
            row = self.step(step, row);
        }
        let to = match self.space.hole.context {
            Context::Truth => Ty::Bool,
            Context::Convert(to) => to.value_type(),
            Context::Index(_) => Ty::I64,
            Context::Same => return row,
        };
        let row = in_type(row, way.result.value_type(), to);
        match self.space.hole.context {
            Context::Index(count) => made(row.values.len(), |values, undefined| {
                rows::within_row(count, row.whole(), values, undefined);
            }),
            _ => row,
        }
    }

    /// The values of what candidates put at their site.
    fn filling(&mut self, block: &Block, lanes: &[u32]) -> Row {
        let pools = &self.space.pools;
        match block.template {
            Template::One(a) => self.state.gather(a, lanes),
            Template::Unary(op, a) => {
                let row = self.state.gather(a, lanes);
                unary(op, pools.get(a).ctype, &row)
            }
            Template::Cast(to, a) => {
                let row = self.state.gather(a, lanes);
                in_type(row, pools.get(a).ctype.value_type(), to.value_type())
            }
            Template::Binary(op, a, b) => self.state.gather_pairs(op, a, b, lanes),
            Template::And(a, b) => {
                let (left, right) = self.truths(a, b, lanes);
                made(lanes.len(), |values, undefined| {
                    rows::logical_and_row(left.whole(), right.whole(), values, undefined);
                })
            }
            Template::Or(a, b) => {
                let (left, right) = self.truths(a, b, lanes);
                made(lanes.len(), |values, undefined| {
                    rows::logical_or_row(left.whole(), right.whole(), values, undefined);
                })
            }
            Template::Select(a, b, c) => {
                let result = selected_type(self.space, b, c).value_type();
                let (m, n) = (pools.get(b).length as u32, pools.get(c).length as u32);
                let part = |place: &dyn Fn(u32) -> u32| -> Vec<u32> {
                    lanes.iter().map(|&lane| place(lane)).collect()
                };
                let conditions = self.state.gather(a, &part(&|lane| lane / (m * n)));
                let conditions = truth(pools.get(a).ctype, &conditions);
                let mut branch = |pool: PoolId, places: &[u32]| {
                    let row = self.state.gather(pool, places);
                    in_type(row, pools.get(pool).ctype.value_type(), result)
                };
                let then = branch(b, &part(&|lane| lane / n % m));
                let otherwise = branch(c, &part(&|lane| lane % n));
                select(
                    conditions.whole(),
                    then.whole(),
                    otherwise.whole(),
                    lanes.len(),
                )
            }
            Template::Extreme(op, a, b) => {
                let result = selected_type(self.space, a, b).value_type();
                let conditions = self.state.gather_pairs(op, a, b, lanes);
                let conditions = truth(CType::Int, &conditions);
                let (left, right) = pools.places_of_pairs(b, lanes);
                let mut branch = |pool: PoolId, places: &[u32]| {
                    let row = self.state.gather(pool, places);
                    in_type(row, pools.get(pool).ctype.value_type(), result)
                };
                let (left, right) = (branch(a, &left), branch(b, &right));
                select(conditions.whole(), left.whole(), right.whole(), lanes.len())
            }
        }
    }

    /// The truth of both operands of pairs of two pools.
    fn truths(&mut self, a: PoolId, b: PoolId, lanes: &[u32]) -> (Row, Row) {
        let pools = &self.space.pools;
        let (left, right) = pools.places_of_pairs(b, lanes);
        let left = self.state.gather(a, &left);
        let right = self.state.gather(b, &right);
        (
            truth(pools.get(a).ctype, &left),
            truth(pools.get(b).ctype, &right),
        )
    }

    /// One operator on the way from the site to the root.
    fn step(&self, step: &Step, row: Row) -> Row {
        let value = |term: &Term| {
            let code = self.siblings.0.get(term)?;
            evaluate(code, self.values, self.undefined)
        };
        let length = row.values.len();
        match step {
            Step::Unary(op, ctype) => unary(*op, *ctype, &row),
            Step::Cast(from, to) => in_type(row, from.value_type(), to.value_type()),
            Step::Left(op, ctype, right) => {
                let plan = BinaryPlan::new(*op, *ctype, right.ctype(), self.pointees);
                let right = convert(value(right), right.ctype(), plan.right);
                let left = in_type(row, ctype.value_type(), plan.left);
                made(length, |values, undefined| {
                    plan.apply(left.whole(), scalar(right), values, undefined);
                })
            }
            Step::Right(op, left, ctype) => {
                let plan = BinaryPlan::new(*op, left.ctype(), *ctype, self.pointees);
                let left = convert(value(left), left.ctype(), plan.left);
                let right = in_type(row, ctype.value_type(), plan.right);
                made(length, |values, undefined| {
                    plan.apply(scalar(left), right.whole(), values, undefined);
                })
            }
            Step::AndLeft(ctype, right) => {
                let left = truth(*ctype, &row);
                made(length, |values, undefined| {
                    let right = truth_of(value(right), right.ctype());
                    rows::logical_and_row(left.whole(), right, values, undefined);
                })
            }
            Step::AndRight(left, ctype) => {
                let right = truth(*ctype, &row);
                made(length, |values, undefined| {
                    let left = truth_of(value(left), left.ctype());
                    rows::logical_and_row(left, right.whole(), values, undefined);
                })
            }
            Step::OrLeft(ctype, right) => {
                let left = truth(*ctype, &row);
                made(length, |values, undefined| {
                    let right = truth_of(value(right), right.ctype());
                    rows::logical_or_row(left.whole(), right, values, undefined);
                })
            }
            Step::OrRight(left, ctype) => {
                let right = truth(*ctype, &row);
                made(length, |values, undefined| {
                    let left = truth_of(value(left), left.ctype());
                    rows::logical_or_row(left, right.whole(), values, undefined);
                })
            }
            Step::SelectCondition(ctype, then, otherwise, result) => {
                let result = result.value_type();
                let conditions = truth(*ctype, &row);
                let then = scalar(convert(value(then), then.ctype(), result));
                let otherwise = scalar(convert(value(otherwise), otherwise.ctype(), result));
                select(conditions.whole(), then, otherwise, length)
            }
            Step::SelectThen(condition, ctype, otherwise, result) => {
                let result = result.value_type();
                let then = in_type(row, ctype.value_type(), result);
                let condition = truth_of(value(condition), condition.ctype());
                let otherwise = scalar(convert(value(otherwise), otherwise.ctype(), result));
                select(condition, then.whole(), otherwise, length)
            }
            Step::SelectOtherwise(condition, then, ctype, result) => {
                let result = result.value_type();
                let otherwise = in_type(row, ctype.value_type(), result);
                let condition = truth_of(value(condition), condition.ctype());
                let then = scalar(convert(value(then), then.ctype(), result));
                select(condition, then, otherwise.whole(), length)
            }
        }
    }
}

/// A row of which every place is written by `fill`.
fn made(length: usize, fill: impl FnOnce(&mut [u64], &mut [u8])) -> Row {
    let mut row = Row::default();
    row.resize(length);
    fill(&mut row.values, &mut row.undefined);
    row
}

fn scalar(value: Option<u64>) -> Operand<'static> {
    Operand::Scalar(value.unwrap_or(0), value.is_none())
}

fn convert(value: Option<u64>, from: CType, to: Ty) -> Option<u64> {
    patchwright_semantics::convert(from.value_type(), to, value?)
}

fn truth_of(value: Option<u64>, ctype: CType) -> Operand<'static> {
    scalar(value.map(|v| u64::from(patchwright_semantics::truth(ctype.value_type(), v))))
}

fn truth(ctype: CType, row: &Row) -> Row {
    made(row.values.len(), |values, undefined| {
        rows::truth_row(ctype.value_type(), row.whole(), values, undefined);
    })
}

fn unary(op: UnaryOp, ctype: CType, row: &Row) -> Row {
    // Promotion keeps canonical values.
    let ty = operand_type(op, ctype);
    made(row.values.len(), |values, undefined| {
        rows::unary_row(op, ty, row.whole(), values, undefined);
    })
}

/// One of two values in each place.
fn select(
    conditions: Operand<'_>,
    then: Operand<'_>,
    otherwise: Operand<'_>,
    length: usize,
) -> Row {
    made(length, |values, undefined| {
        rows::select_row(conditions, then, otherwise, values, undefined);
    })
}

fn selected_type(space: &Space, b: PoolId, c: PoolId) -> CType {
    let (b, c) = (space.pools.operand(b), space.pools.operand(c));
    match (b.ctype, c.ctype) {
        (CType::Pointer(_), _) => b.ctype,
        (_, CType::Pointer(_)) => c.ctype,
        (x, y) => term::usual_conversions(x, y).unwrap_or(x),
    }
}
