//! Computes the values of pools in one state, of all terms or of those that are asked for.

use patchwright_semantics::{
    BinaryOp, Ty, UnaryOp, conversion_is_identity, evaluate,
    rows::{self, Operand, convert_row},
};
use rustc_hash::FxHashMap;

use crate::{
    pools::{PoolId, PoolKind, Pools},
    term::{CType, Pointees, promote, usual_conversions},
};

/// The values of terms in one state: canonical values, and 1 for each undefined one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Values.
    pub values: Vec<u64>,
    /// 1 where the value is undefined.
    pub undefined: Vec<u8>,
}

impl Row {
    /// Makes the row `length` values long, to be written.
    pub fn resize(&mut self, length: usize) {
        self.values.resize(length, 0);
        self.undefined.resize(length, 0);
    }

    /// Returns the row as an operand with one value for each lane.
    pub(crate) fn whole(&self) -> Operand<'_> {
        Operand::Row(&self.values, &self.undefined)
    }

    fn operand(&self) -> Operand<'_> {
        if self.values.len() == 1 {
            Operand::Scalar(self.values[0], self.undefined[0] != 0)
        } else {
            Operand::Row(&self.values, &self.undefined)
        }
    }
}

/// Memory for the values of pools in a state, which is used again for the next state.
#[derive(Default)]
pub struct Buffers {
    rows: Vec<Row>,
    /// Pools whose row is that of the state.
    filled: Vec<bool>,
    /// How many values of each pool have been asked for.
    asked: Vec<usize>,
    /// Pools of which values have been asked for.
    touched: Vec<PoolId>,
    converted: FxHashMap<(u32, u8), Row>,
}

impl Buffers {
    /// Forgets the state.
    fn clear(&mut self, pools: usize) {
        self.rows.resize_with(pools, Row::default);
        self.filled.resize(pools, false);
        self.asked.resize(pools, 0);
        for id in self.touched.drain(..) {
            self.filled[id.0 as usize] = false;
            self.asked[id.0 as usize] = 0;
        }
        self.converted.clear();
    }
}

/// The values of all pools in one state, computed when they are needed.
pub struct StateRows<'p> {
    pools: &'p Pools,
    pointees: &'p Pointees,
    slots: &'p [u64],
    undefined: &'p [u8],
    buffers: &'p mut Buffers,
}

impl<'p> StateRows<'p> {
    /// Prepares to evaluate the terms of `pools` in one state. `slots` has the values of the slots, and a nonzero byte in `undefined`
    /// marks a slot without a value. `buffers` keep rows and are emptied.
    pub fn new(
        pools: &'p Pools,
        pointees: &'p Pointees,
        slots: &'p [u64],
        undefined: &'p [u8],
        buffers: &'p mut Buffers,
    ) -> Self {
        buffers.clear(pools.len());
        StateRows {
            pools,
            pointees,
            slots,
            undefined,
            buffers,
        }
    }

    /// Computes the rows of a pool and of those that it is made of.
    fn fill(&mut self, id: PoolId) {
        let at = id.0 as usize;
        if self.buffers.filled[at] {
            return;
        }
        let pools = self.pools;
        let pool = pools.get(id);
        let mut row = std::mem::take(&mut self.buffers.rows[at]);
        row.resize(pool.length);
        match &pool.kind {
            PoolKind::Terms { .. } => {
                for (i, code) in pool.code.iter().enumerate() {
                    match evaluate(code, self.slots, self.undefined) {
                        Some(value) => (row.values[i], row.undefined[i]) = (value, 0),
                        None => (row.values[i], row.undefined[i]) = (0, 1),
                    }
                }
            }
            PoolKind::Unary(op, inner) => {
                let ty = operand_type(*op, pools.get(*inner).ctype);
                self.convert(*inner, ty);
                let operand = self.converted_row(*inner, ty).operand();
                rows::unary_row(*op, ty, operand, &mut row.values, &mut row.undefined);
            }
            PoolKind::Binary(op, left, right) => {
                self.pairs(*op, *left, *right, &mut row);
            }
        }
        self.buffers.rows[at] = row;
        self.buffers.filled[at] = true;
        self.buffers.touched.push(id);
    }

    fn convert(&mut self, id: PoolId, to: Ty) {
        self.fill(id);
        let from = self.pools.get(id).ctype.value_type();
        if from == to
            || conversion_is_identity(from, to)
            || self.buffers.converted.contains_key(&(id.0, to as u8))
        {
            return;
        }
        let row = &self.buffers.rows[id.0 as usize];
        let mut out = Row::default();
        out.resize(row.values.len());
        convert_row(from, to, row.operand(), &mut out.values, &mut out.undefined);
        self.buffers.converted.insert((id.0, to as u8), out);
    }

    fn converted_row(&self, id: PoolId, to: Ty) -> &Row {
        let converted = self.buffers.converted.get(&(id.0, to as u8));
        converted.unwrap_or(&self.buffers.rows[id.0 as usize])
    }

    /// `l op r` for all pairs, row by row of the left pool.
    fn pairs(&mut self, op: BinaryOp, left: PoolId, right: PoolId, out: &mut Row) {
        let (a, b) = (self.pools.get(left).ctype, self.pools.get(right).ctype);
        let plan = BinaryPlan::new(op, a, b, self.pointees);
        self.convert(left, plan.left);
        self.convert(right, plan.right);
        let (l, r) = (
            self.converted_row(left, plan.left),
            self.converted_row(right, plan.right),
        );
        let columns = r.values.len();
        if columns == 1 {
            plan.apply(
                l.operand(),
                r.operand(),
                &mut out.values,
                &mut out.undefined,
            );
        } else {
            for i in 0..l.values.len() {
                plan.apply(
                    Operand::Scalar(l.values[i], l.undefined[i] != 0),
                    Operand::Row(&r.values, &r.undefined),
                    &mut out.values[i * columns..(i + 1) * columns],
                    &mut out.undefined[i * columns..(i + 1) * columns],
                );
            }
        }
    }

    /// Returns the values of the terms at these places of a pool.
    pub fn gather(&mut self, id: PoolId, places: &[u32]) -> Row {
        let pools = self.pools;
        let pool = pools.get(id);
        let asked = &mut self.buffers.asked[id.0 as usize];
        *asked += places.len();
        // What has been asked for costs about as much as all of it would.
        if *asked >= pool.length {
            self.fill(id);
        } else {
            self.buffers.touched.push(id);
        }
        if self.buffers.filled[id.0 as usize] {
            let row = &self.buffers.rows[id.0 as usize];
            return Row {
                values: places.iter().map(|&i| row.values[i as usize]).collect(),
                undefined: places.iter().map(|&i| row.undefined[i as usize]).collect(),
            };
        }
        let mut row = Row::default();
        row.resize(places.len());
        match &pool.kind {
            PoolKind::Terms { .. } => {
                for (lane, &place) in places.iter().enumerate() {
                    match evaluate(&pool.code[place as usize], self.slots, self.undefined) {
                        Some(value) => row.values[lane] = value,
                        None => row.undefined[lane] = 1,
                    }
                }
            }
            PoolKind::Unary(op, inner) => {
                let inner_row = self.gather(*inner, places);
                let from = pools.get(*inner).ctype;
                let ty = operand_type(*op, from);
                let operand = in_type(inner_row, from.value_type(), ty);
                rows::unary_row(
                    *op,
                    ty,
                    operand.whole(),
                    &mut row.values,
                    &mut row.undefined,
                );
            }
            PoolKind::Binary(op, left, right) => {
                return self.gather_pairs(*op, *left, *right, places);
            }
        }
        row
    }

    /// Returns the values of `a op b` for some pairs of a term `a` of pool `left` and a term `b` of pool `right`. `places` numbers
    /// the pairs row by row: pair `i` has the `i / n`-th left and the `i % n`-th right term, where `right` has `n` terms.
    pub fn gather_pairs(
        &mut self,
        op: BinaryOp,
        left: PoolId,
        right: PoolId,
        places: &[u32],
    ) -> Row {
        let (a, b) = (self.pools.get(left).ctype, self.pools.get(right).ctype);
        let plan = BinaryPlan::new(op, a, b, self.pointees);
        let (of_left, of_right) = self.pools.places_of_pairs(right, places);
        let l = in_type(self.gather(left, &of_left), a.value_type(), plan.left);
        let r = in_type(self.gather(right, &of_right), b.value_type(), plan.right);
        let mut row = Row::default();
        row.resize(places.len());
        plan.apply(l.whole(), r.whole(), &mut row.values, &mut row.undefined);
        row
    }
}

/// The type in which an operator is applied to an operand.
pub(crate) fn operand_type(op: UnaryOp, from: CType) -> Ty {
    match op {
        UnaryOp::Not => from.value_type(),
        _ => promote(from).value_type(),
    }
}

/// Returns the row converted from type `from` to type `to` by C's rules.
pub(crate) fn in_type(row: Row, from: Ty, to: Ty) -> Row {
    if from == to || conversion_is_identity(from, to) {
        return row;
    }
    let mut out = Row::default();
    out.resize(row.values.len());
    convert_row(from, to, row.whole(), &mut out.values, &mut out.undefined);
    out
}

/// The steps of applying a binary operator to operands of two types: conversions, then the operation.
#[derive(Clone, Copy, Debug)]
pub struct BinaryPlan {
    op: BinaryOp,
    /// The type to which the left operand is converted.
    pub left: Ty,
    /// The type to which the right operand is converted.
    pub right: Ty,
    kind: PlanKind,
}

#[derive(Clone, Copy, Debug)]
enum PlanKind {
    Plain,
    Shift,
    PointerPlus(u64),
    PlusPointer(u64),
    PointerMinus(u64),
    Difference(u64),
}

impl BinaryPlan {
    /// Makes the plan for operands that the typing rules have accepted.
    pub fn new(op: BinaryOp, a: CType, b: CType, pointees: &Pointees) -> Self {
        let size = |ctype: CType| match ctype {
            CType::Pointer(id) => pointees[id].size.unwrap_or(0),
            _ => 0,
        };
        let integer = |ctype: CType| promote(ctype).value_type();
        let (left, right, kind) = match (a, b) {
            (CType::Pointer(_), CType::Pointer(_)) if op == BinaryOp::Sub => {
                (Ty::Ptr, Ty::Ptr, PlanKind::Difference(size(a)))
            }
            (CType::Pointer(_), _) if op == BinaryOp::Add => {
                (Ty::Ptr, integer(b), PlanKind::PointerPlus(size(a)))
            }
            (CType::Pointer(_), _) if op == BinaryOp::Sub => {
                (Ty::Ptr, integer(b), PlanKind::PointerMinus(size(a)))
            }
            (_, CType::Pointer(_)) if op == BinaryOp::Add => {
                (integer(a), Ty::Ptr, PlanKind::PlusPointer(size(b)))
            }
            (CType::Pointer(_), _) | (_, CType::Pointer(_)) => (Ty::Ptr, Ty::Ptr, PlanKind::Plain),
            _ if op.is_shift() => (integer(a), integer(b), PlanKind::Shift),
            _ => {
                let common = usual_conversions(a, b).map_or(Ty::I32, CType::value_type);
                (common, common, PlanKind::Plain)
            }
        };
        BinaryPlan {
            op,
            left,
            right,
            kind,
        }
    }

    /// Applies the operator to each pair of two rows of converted operands. The results go to `values`; `undefined` is set where C defines
    /// none.
    pub fn apply(&self, a: Operand<'_>, b: Operand<'_>, values: &mut [u64], undefined: &mut [u8]) {
        match self.kind {
            PlanKind::Plain => rows::binary_row(self.op, self.left, a, b, values, undefined),
            PlanKind::Shift => {
                rows::shift_row(self.op, self.left, self.right, a, b, values, undefined);
            }
            PlanKind::PointerPlus(size) => {
                rows::pointer_add_row(self.right, size, a, b, values, undefined);
            }
            PlanKind::PlusPointer(size) => {
                rows::pointer_add_row(self.left, size, b, a, values, undefined);
            }
            PlanKind::PointerMinus(size) => {
                rows::pointer_sub_row(self.right, size, a, b, values, undefined);
            }
            PlanKind::Difference(size) => {
                rows::pointer_difference_row(size, a, b, values, undefined);
            }
        }
    }
}
