//! Groups of candidates that have had equal values in all states so far.
//!
//! This is the value projection of f1x (section 3.2) turned round: instead of asking which terms
//! evaluate to a value n in a state, all candidates of one cost are evaluated in the state, and
//! groups split where values differ. Candidates of a group are test-equivalent for every test
//! whose distinct states at the hole are all known.

use patchwright_semantics::{
    Instruction, evaluate,
    rows::{self, Operand, convert_row},
    unary,
};
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::{
    pools::{BinaryPlan, Row, StateRows},
    space::{Block, CandidateId, Space, Step, Template},
    term::{self, CType, Context, Pointees, Term, promote},
};

/// Names a group of a [`Level`].
pub type GroupId = u32;

const DEAD: GroupId = GroupId::MAX;

/// Distinct states of a hole: the values of its slots. Executions of real programs see millions, so each is kept once, in
/// rows one behind the other.
#[derive(Clone, Debug, Default)]
pub struct StateSet {
    /// Numbers of states, by what is in them.
    index: HashTable<u32>,
    count: u32,
    slots: usize,
    /// The value of each slot of each state; 0 if it is undefined.
    values: Vec<u64>,
    /// For each of them 1 if it is undefined.
    undefined: Vec<u8>,
}

impl StateSet {
    /// The number of the state with these values, and whether it is new. Values of undefined
    /// slots do not count.
    pub fn insert(&mut self, values: &[u64], undefined: &[u8]) -> (u32, bool) {
        self.slots = values.len();
        let (start, next) = (self.values.len(), self.count);
        self.undefined
            .extend(undefined.iter().map(|&u| u8::from(u != 0)));
        self.values.extend(
            values
                .iter()
                .zip(undefined)
                .map(|(&value, &undefined)| if undefined != 0 { 0 } else { value }),
        );
        let slots = self.slots;
        let (all, flags) = (&self.values, &self.undefined);
        let row = |id: u32| {
            let range = id as usize * slots..(id as usize + 1) * slots;
            (&all[range.clone()], &flags[range])
        };
        let hash = |id: u32| FxBuildHasher.hash_one(row(id));
        let known = self
            .index
            .find(hash(next), |&id| row(id) == row(next))
            .copied();
        if let Some(known) = known {
            self.values.truncate(start);
            self.undefined.truncate(start);
            return (known, false);
        }
        self.index.insert_unique(hash(next), next, |&id| hash(id));
        self.count += 1;
        (next, true)
    }

    /// The values of a state and which of them are undefined.
    pub fn get(&self, id: u32) -> (&[u64], &[u8]) {
        let range = id as usize * self.slots..(id as usize + 1) * self.slots;
        (&self.values[range.clone()], &self.undefined[range])
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// No state is known.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<u64>()
            + self.undefined.capacity()
            + self.index.allocation_size()
    }
}

/// A group: candidates with equal values in all states that the level was refined by.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its first candidate.
    pub representative: CandidateId,
    /// Number of candidates.
    pub count: usize,
}

/// What a refinement does with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is split by the values of its candidates.
    Split,
    /// It stays whole: what its candidates do in the state does not matter.
    Keep,
    /// Its candidates are taken out.
    Drop,
}

/// The candidates of one cost at one hole, in groups.
pub struct Level<'s> {
    space: &'s Space,
    pointees: &'s Pointees,
    blocks: Vec<u32>,
    /// The group of each place of each block.
    lanes: Vec<Vec<GroupId>>,
    live: Vec<usize>,
    groups: Vec<Group>,
    siblings: FxHashMap<Term, Vec<Instruction>>,
    /// Terms evaluated in states, in total: the work done.
    pub evaluations: u64,
}

impl<'s> Level<'s> {
    /// All candidates of this cost, in one group (none, if there is no candidate).
    pub fn new(space: &'s Space, pointees: &'s Pointees, cost: u32) -> Self {
        let blocks: Vec<u32> = (0..space.blocks.len() as u32)
            .filter(|&i| space.blocks[i as usize].cost == cost)
            .collect();
        let mut level = Level {
            space,
            pointees,
            lanes: Vec::with_capacity(blocks.len()),
            live: Vec::with_capacity(blocks.len()),
            blocks,
            groups: Vec::new(),
            siblings: FxHashMap::default(),
            evaluations: 0,
        };
        let mut group: Option<Group> = None;
        for &number in &level.blocks {
            let block = &space.blocks[number as usize];
            let mut live = 0;
            let lanes = (0..block.length)
                .map(|lane| {
                    if space.is_excluded(block, lane) {
                        return DEAD;
                    }
                    live += 1;
                    let group = group.get_or_insert(Group {
                        representative: CandidateId {
                            block: number,
                            lane: lane as u32,
                        },
                        count: 0,
                    });
                    group.count += 1;
                    0
                })
                .collect();
            level.lanes.push(lanes);
            level.live.push(live);
        }
        level.groups.extend(group);
        for &number in &level.blocks {
            for step in &space.blocks[number as usize].steps {
                for sibling in step.siblings() {
                    if !level.siblings.contains_key(sibling) {
                        let atoms = &space.hole.atoms.table;
                        let code = term::compile(sibling, Context::Same, atoms, pointees)
                            .unwrap_or_default();
                        level.siblings.insert(sibling.clone(), code);
                    }
                }
            }
        }
        level
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All candidates of a group, cheapest first in the order of the space.
    pub fn members(&self, group: GroupId) -> impl Iterator<Item = CandidateId> + '_ {
        self.blocks
            .iter()
            .zip(&self.lanes)
            .flat_map(move |(&block, lanes)| {
                lanes
                    .iter()
                    .enumerate()
                    .filter(move |&(_, &of)| of == group)
                    .map(move |(lane, _)| CandidateId {
                        block,
                        lane: lane as u32,
                    })
            })
    }

    /// Puts the first candidate of a group into a group of its own, whose number is returned; the
    /// others stay (a group of none is left with a count of 0).
    pub fn isolate(&mut self, group: GroupId) -> GroupId {
        let new = self.groups.len() as GroupId;
        let first = self.groups[group as usize].representative;
        let mut next = None;
        for (&block, lanes) in self.blocks.iter().zip(&mut self.lanes) {
            for (lane, of) in lanes.iter_mut().enumerate() {
                if *of != group {
                    continue;
                }
                let id = CandidateId {
                    block,
                    lane: lane as u32,
                };
                if id == first {
                    *of = new;
                } else {
                    next.get_or_insert(id);
                }
            }
        }
        self.groups.push(Group {
            representative: first,
            count: 1,
        });
        let old = &mut self.groups[group as usize];
        old.count -= 1;
        if let Some(next) = next {
            old.representative = next;
        }
        new
    }

    /// Splits groups by the values of their candidates in a state, as `fate` says for each, and
    /// returns for each new group the old one that it came from.
    pub fn refine(
        &mut self,
        values: &[u64],
        undefined: &[u8],
        fate: &dyn Fn(GroupId) -> Fate,
    ) -> Vec<GroupId> {
        let space = self.space;
        let fates: Vec<Fate> = (0..self.groups.len() as u32).map(fate).collect();
        let mut state = StateRows::new(&space.pools, self.pointees, values, undefined);
        let siblings: FxHashMap<&Term, Option<u64>> = self
            .siblings
            .iter()
            .map(|(term, code)| (term, evaluate(code, values, undefined)))
            .collect();
        let mut parents = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        let truth = space.hole.context == Context::Truth;
        // The new group of (old group, value): directly for truth values, hashed for others.
        let mut direct = vec![DEAD; if truth { self.groups.len() * 4 } else { 0 }];
        let mut hashed: FxHashMap<(GroupId, u64, u8), GroupId> = FxHashMap::default();
        let mut out = Row::default();
        let mut scratch = Row::default();
        for (k, &number) in self.blocks.iter().enumerate() {
            if self.live[k] == 0 {
                continue;
            }
            let block = &space.blocks[number as usize];
            evaluate_block(
                space,
                self.pointees,
                block,
                &mut state,
                &siblings,
                &mut out,
                &mut scratch,
            );
            self.evaluations += block.length as u64;
            let mut live = 0;
            for (lane, group) in self.lanes[k].iter_mut().enumerate() {
                if *group == DEAD {
                    continue;
                }
                // 1 for an undefined value, 2 for any value of a group that stays whole.
                let (value, flag) = match fates[*group as usize] {
                    Fate::Drop => {
                        *group = DEAD;
                        continue;
                    }
                    Fate::Keep => (0, 2),
                    Fate::Split if out.undefined[lane] != 0 => (0, 1),
                    Fate::Split => (out.values[lane], 0),
                };
                live += 1;
                let entry = if truth {
                    let index = if flag == 0 {
                        usize::from(value != 0)
                    } else {
                        1 + usize::from(flag)
                    };
                    &mut direct[*group as usize * 4 + index]
                } else {
                    hashed.entry((*group, value, flag)).or_insert(DEAD)
                };
                if *entry == DEAD {
                    *entry = groups.len() as GroupId;
                    parents.push(*group);
                    groups.push(Group {
                        representative: CandidateId {
                            block: number,
                            lane: lane as u32,
                        },
                        count: 0,
                    });
                }
                groups[*entry as usize].count += 1;
                *group = *entry;
            }
            self.live[k] = live;
        }
        self.groups = groups;
        parents
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

fn scalar(value: Option<u64>) -> Operand<'static> {
    Operand::Scalar(value.unwrap_or(0), value.is_none())
}

fn converted(value: Option<u64>, from: CType, to: CType) -> Option<u64> {
    patchwright_semantics::convert(from.value_type(), to.value_type(), value?)
}

fn truth_of(value: Option<u64>, ctype: CType) -> Operand<'static> {
    scalar(value.map(|v| u64::from(patchwright_semantics::truth(ctype.value_type(), v))))
}

/// The values of all candidates of a block in one state, converted as the hole's context wants.
fn evaluate_block(
    space: &Space,
    pointees: &Pointees,
    block: &Block,
    state: &mut StateRows<'_>,
    siblings: &FxHashMap<&Term, Option<u64>>,
    out: &mut Row,
    scratch: &mut Row,
) {
    out.resize(block.length);
    scratch.resize(block.length);
    fill_site(space, block, state, out, scratch);
    let value = |term: &Term| siblings.get(term).copied().flatten();
    for step in &block.steps {
        std::mem::swap(out, scratch);
        let (values, undefined) = (&mut out.values[..], &mut out.undefined[..]);
        let row = Operand::Row(&scratch.values, &scratch.undefined);
        match step {
            Step::Unary(op, ctype) => {
                let ty = ctype.value_type();
                if *op == patchwright_semantics::UnaryOp::Not {
                    rows::unary_row(*op, ty, row, values, undefined);
                } else {
                    // Promotion keeps canonical values.
                    rows::unary_row(*op, promote(*ctype).value_type(), row, values, undefined);
                }
            }
            Step::Cast(from, to) => {
                convert_row(from.value_type(), to.value_type(), row, values, undefined);
            }
            Step::Left(op, ctype, right) => {
                let plan = BinaryPlan::new(*op, *ctype, right.ctype(), pointees);
                let right = convert_scalar(value(right), right.ctype(), plan.right);
                let mut left = Row::default();
                left.resize(block.length);
                convert_row(
                    ctype.value_type(),
                    plan.left,
                    row,
                    &mut left.values,
                    &mut left.undefined,
                );
                let row = Operand::Row(&left.values, &left.undefined);
                plan.apply(row, scalar(right), values, undefined);
            }
            Step::Right(op, left, ctype) => {
                let plan = BinaryPlan::new(*op, left.ctype(), *ctype, pointees);
                let left = convert_scalar(value(left), left.ctype(), plan.left);
                let mut right = Row::default();
                right.resize(block.length);
                convert_row(
                    ctype.value_type(),
                    plan.right,
                    row,
                    &mut right.values,
                    &mut right.undefined,
                );
                let row = Operand::Row(&right.values, &right.undefined);
                plan.apply(scalar(left), row, values, undefined);
            }
            Step::AndLeft(ctype, right) | Step::OrLeft(ctype, right) => {
                let truths = truth_row(*ctype, row, block.length);
                let truths = Operand::Row(&truths.values, &truths.undefined);
                let right = truth_of(value(right), right.ctype());
                if matches!(step, Step::AndLeft(..)) {
                    rows::logical_and_row(truths, right, values, undefined);
                } else {
                    rows::logical_or_row(truths, right, values, undefined);
                }
            }
            Step::AndRight(left, ctype) | Step::OrRight(left, ctype) => {
                let truths = truth_row(*ctype, row, block.length);
                let truths = Operand::Row(&truths.values, &truths.undefined);
                let left = truth_of(value(left), left.ctype());
                if matches!(step, Step::AndRight(..)) {
                    rows::logical_and_row(left, truths, values, undefined);
                } else {
                    rows::logical_or_row(left, truths, values, undefined);
                }
            }
            Step::SelectCondition(ctype, then, otherwise, result) => {
                let truths = truth_row(*ctype, row, block.length);
                let truths = Operand::Row(&truths.values, &truths.undefined);
                let then = scalar(converted(value(then), then.ctype(), *result));
                let otherwise = scalar(converted(value(otherwise), otherwise.ctype(), *result));
                rows::select_row(truths, then, otherwise, values, undefined);
            }
            Step::SelectThen(condition, ctype, otherwise, result) => {
                let row = convert_whole(*ctype, *result, row, block.length);
                let row = Operand::Row(&row.values, &row.undefined);
                let condition = truth_of(value(condition), condition.ctype());
                let otherwise = scalar(converted(value(otherwise), otherwise.ctype(), *result));
                rows::select_row(condition, row, otherwise, values, undefined);
            }
            Step::SelectOtherwise(condition, then, ctype, result) => {
                let row = convert_whole(*ctype, *result, row, block.length);
                let row = Operand::Row(&row.values, &row.undefined);
                let condition = truth_of(value(condition), condition.ctype());
                let then = scalar(converted(value(then), then.ctype(), *result));
                rows::select_row(condition, then, row, values, undefined);
            }
        }
    }
    let from = block.result.value_type();
    let to = match space.hole.context {
        Context::Truth => patchwright_semantics::Ty::Bool,
        Context::Convert(to) => to.value_type(),
        Context::Same => return,
    };
    if from != to {
        std::mem::swap(out, scratch);
        let row = Operand::Row(&scratch.values, &scratch.undefined);
        convert_row(from, to, row, &mut out.values, &mut out.undefined);
    }
}

fn convert_scalar(value: Option<u64>, from: CType, to: patchwright_semantics::Ty) -> Option<u64> {
    patchwright_semantics::convert(from.value_type(), to, value?)
}

fn truth_row(ctype: CType, row: Operand<'_>, length: usize) -> Row {
    let mut truths = Row::default();
    truths.resize(length);
    rows::truth_row(
        ctype.value_type(),
        row,
        &mut truths.values,
        &mut truths.undefined,
    );
    truths
}

fn convert_whole(from: CType, to: CType, row: Operand<'_>, length: usize) -> Row {
    let mut out = Row::default();
    out.resize(length);
    convert_row(
        from.value_type(),
        to.value_type(),
        row,
        &mut out.values,
        &mut out.undefined,
    );
    out
}

/// The values of what a block's candidates put at their site.
fn fill_site(
    space: &Space,
    block: &Block,
    state: &mut StateRows<'_>,
    out: &mut Row,
    scratch: &mut Row,
) {
    let pools = &space.pools;
    match block.template {
        Template::One(a) => {
            let row = state.row(a);
            out.values.copy_from_slice(&row.values);
            out.undefined.copy_from_slice(&row.undefined);
        }
        Template::Unary(op, a) => {
            let ctype = pools.get(a).ctype;
            let ty = match op {
                patchwright_semantics::UnaryOp::Not => ctype.value_type(),
                _ => promote(ctype).value_type(),
            };
            let row = state.row(a);
            if row.values.len() == 1 {
                let value = (row.undefined[0] == 0)
                    .then(|| unary(op, ty, row.values[0]))
                    .flatten();
                out.values[0] = value.unwrap_or(0);
                out.undefined[0] = u8::from(value.is_none());
            } else {
                let row = Operand::Row(&row.values, &row.undefined);
                rows::unary_row(op, ty, row, &mut out.values, &mut out.undefined);
            }
        }
        Template::Cast(to, a) => {
            let from = pools.get(a).ctype.value_type();
            let row = state.row(a);
            let row = Operand::Row(&row.values, &row.undefined);
            convert_row(
                from,
                to.value_type(),
                row,
                &mut out.values,
                &mut out.undefined,
            );
        }
        Template::Binary(op, a, b) => state.pairs(op, a, b, out),
        Template::And(a, b) | Template::Or(a, b) => {
            let (mut left, mut right) = (Row::default(), std::mem::take(scratch));
            state.truths(a, &mut left);
            state.truths(b, &mut right);
            let columns = right.values.len();
            for i in 0..left.values.len() {
                let scalar = Operand::Scalar(left.values[i], left.undefined[i] != 0);
                let row = Operand::Row(&right.values, &right.undefined);
                let range = i * columns..(i + 1) * columns;
                let (values, undefined) =
                    (&mut out.values[range.clone()], &mut out.undefined[range]);
                if matches!(block.template, Template::And(..)) {
                    rows::logical_and_row(scalar, row, values, undefined);
                } else {
                    rows::logical_or_row(scalar, row, values, undefined);
                }
            }
            *scratch = right;
            scratch.resize(block.length);
        }
        Template::Select(a, b, c) => {
            let result = block_type(space, b, c);
            let mut conditions = Row::default();
            state.truths(a, &mut conditions);
            let (b_type, c_type) = (pools.get(b).ctype, pools.get(c).ctype);
            let then = state.row(b).clone();
            let otherwise = state.row(c).clone();
            let (m, n) = (then.values.len(), otherwise.values.len());
            for lane in 0..block.length {
                let (i, j, k) = (lane / (m * n), lane / n % m, lane % n);
                let value = if conditions.undefined[i] != 0 {
                    None
                } else if conditions.values[i] != 0 {
                    (then.undefined[j] == 0)
                        .then(|| converted(Some(then.values[j]), b_type, result))
                        .flatten()
                } else {
                    (otherwise.undefined[k] == 0)
                        .then(|| converted(Some(otherwise.values[k]), c_type, result))
                        .flatten()
                };
                out.values[lane] = value.unwrap_or(0);
                out.undefined[lane] = u8::from(value.is_none());
            }
        }
    }
}

fn block_type(space: &Space, b: crate::pools::PoolId, c: crate::pools::PoolId) -> CType {
    let (b, c) = (space.pools.operand(b), space.pools.operand(c));
    match (b.ctype, c.ctype) {
        (CType::Pointer(_), _) => b.ctype,
        (_, CType::Pointer(_)) => c.ctype,
        (x, y) => term::usual_conversions(x, y).unwrap_or(x),
    }
}
