//! Pools: terms of one type, side by side, so that operators apply to all of them at once.

use patchwright_semantics::{
    BinaryOp, Instruction, Ty, UnaryOp, conversion_is_identity, evaluate,
    rows::{self, Operand, convert_row},
};

use crate::term::{
    self, AtomTable, CType, Context, Kind, Pointees, Term, TypeError, promote, usual_conversions,
};

/// Names a pool of a [`Pools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolId(pub u32);

/// Values of terms in one state: canonical values and, for each, 1 if it is undefined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Values.
    pub values: Vec<u64>,
    /// 1 where the value is undefined.
    pub undefined: Vec<u8>,
}

impl Row {
    /// A row of `length` values, to be written to.
    pub fn resize(&mut self, length: usize) {
        self.values.resize(length, 0);
        self.undefined.resize(length, 0);
    }

    fn operand(&self) -> Operand<'_> {
        if self.values.len() == 1 {
            Operand::Scalar(self.values[0], self.undefined[0] != 0)
        } else {
            Operand::Row(&self.values, &self.undefined)
        }
    }
}

/// What a pool consists of.
#[derive(Clone, Debug)]
pub enum PoolKind {
    /// These terms; `ranks` orders leaves of all pools, for operators that commute.
    Terms {
        /// The terms.
        terms: Vec<Term>,
        /// The leaf's number among all leaves.
        ranks: Vec<u32>,
    },
    /// `op t` for every term t of a pool.
    Unary(UnaryOp, PoolId),
    /// `l op r` for every pair.
    Binary(BinaryOp, PoolId, PoolId),
}

/// Terms of one type.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Their type.
    pub ctype: CType,
    /// Null pointer constants: they combine with every pointer.
    pub is_null: bool,
    /// What they are.
    pub kind: PoolKind,
    /// Number of terms.
    pub length: usize,
    /// Nodes of each term.
    pub size: u32,
    code: Vec<Vec<Instruction>>,
    /// Terms of this pool that are left out because they say the same as simpler ones.
    pub redundant: Vec<bool>,
}

/// All pools of a space.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    list: Vec<Pool>,
}

impl Pool {
    /// Its terms are constants.
    pub fn has_constants(&self) -> bool {
        let PoolKind::Terms { terms, .. } = &self.kind else {
            return false;
        };
        terms
            .iter()
            .all(|term| matches!(term.kind(), Kind::Constant(..)))
    }
}

impl Pools {
    /// The pool with this id.
    pub fn get(&self, id: PoolId) -> &Pool {
        &self.list[id.0 as usize]
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        let own = |pool: &Pool| {
            let code: usize = pool.code.iter().map(Vec::capacity).sum();
            let terms = match &pool.kind {
                PoolKind::Terms { terms, .. } => terms.len() * 128,
                PoolKind::Unary(..) | PoolKind::Binary(..) => 0,
            };
            pool.redundant.capacity()
                + pool.code.capacity() * size_of::<Vec<Instruction>>()
                + code * size_of::<Instruction>()
                + terms
        };
        self.list.capacity() * size_of::<Pool>() + self.list.iter().map(own).sum::<usize>()
    }

    fn push(&mut self, pool: Pool) -> PoolId {
        self.list.push(pool);
        PoolId(self.list.len() as u32 - 1)
    }

    /// A pool of given terms, all of the type of the first.
    pub fn add_terms(
        &mut self,
        terms: Vec<Term>,
        ranks: Vec<u32>,
        atoms: &AtomTable,
        pointees: &Pointees,
    ) -> Option<PoolId> {
        let first = terms.first()?;
        let ctype = first.ctype();
        let is_null = terms.len() == 1 && first.operand(pointees).is_null_pointer_constant;
        let size = first.size();
        let code = terms
            .iter()
            .map(|term| term::compile(term, Context::Same, atoms, pointees).ok())
            .collect::<Option<Vec<_>>>()?;
        Some(self.push(Pool {
            ctype,
            is_null,
            length: terms.len(),
            redundant: vec![false; terms.len()],
            kind: PoolKind::Terms { terms, ranks },
            size,
            code,
        }))
    }

    /// A pool of `op t`.
    pub fn add_unary(&mut self, op: UnaryOp, inner: PoolId) -> Result<PoolId, TypeError> {
        let pool = self.get(inner);
        let ctype = term::unary_type(op, pool.ctype)?;
        let (length, size) = (pool.length, pool.size + 1);
        let redundant = (0..length)
            .map(|i| pool.redundant[i] || self.is_constant(inner, i))
            .collect();
        Ok(self.push(Pool {
            ctype,
            is_null: false,
            kind: PoolKind::Unary(op, inner),
            length,
            size,
            code: Vec::new(),
            redundant,
        }))
    }

    /// A pool of `l op r` for all pairs.
    pub fn add_binary(
        &mut self,
        op: BinaryOp,
        left: PoolId,
        right: PoolId,
        pointees: &Pointees,
    ) -> Result<PoolId, TypeError> {
        let ctype = self.binary_type(op, left, right, pointees)?;
        let (l, r) = (self.get(left), self.get(right));
        let (rows, columns) = (l.length, r.length);
        let size = l.size + r.size + 1;
        let mut redundant = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                redundant.push(self.is_redundant(op, left, i, right, j));
            }
        }
        Ok(self.push(Pool {
            ctype,
            is_null: false,
            kind: PoolKind::Binary(op, left, right),
            length: rows * columns,
            size,
            code: Vec::new(),
            redundant,
        }))
    }

    /// The type of `l op r`.
    pub fn binary_type(
        &self,
        op: BinaryOp,
        left: PoolId,
        right: PoolId,
        pointees: &Pointees,
    ) -> Result<CType, TypeError> {
        term::binary_type(op, self.operand(left), self.operand(right), pointees)
    }

    /// How the typing rules see the terms of a pool.
    pub fn operand(&self, id: PoolId) -> term::Operand {
        let pool = self.get(id);
        term::Operand {
            ctype: pool.ctype,
            is_null_pointer_constant: pool.is_null,
        }
    }

    /// The value of a constant leaf.
    fn constant(&self, id: PoolId, i: usize) -> Option<u64> {
        match &self.get(id).kind {
            PoolKind::Terms { terms, .. } => match terms[i].kind() {
                Kind::Constant(value, _) => Some(*value),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether term `i` is a constant leaf.
    pub fn is_constant(&self, id: PoolId, i: usize) -> bool {
        self.constant(id, i).is_some()
    }

    fn rank(&self, id: PoolId, i: usize) -> Option<u32> {
        match &self.get(id).kind {
            PoolKind::Terms { ranks, .. } => ranks.get(i).copied(),
            _ => None,
        }
    }

    /// Whether `l op r` is left out: it says the same as a simpler or an earlier term. Of
    /// operators that commute, and of comparisons, one order is kept: constants stand right.
    pub fn is_redundant(
        &self,
        op: BinaryOp,
        left: PoolId,
        i: usize,
        right: PoolId,
        j: usize,
    ) -> bool {
        use BinaryOp::*;
        if self.get(left).redundant[i] || self.get(right).redundant[j] {
            return true;
        }
        let (a, b) = (self.constant(left, i), self.constant(right, j));
        if a.is_some() && b.is_some() {
            return true;
        }
        let mirrored = op.is_comparison() || matches!(op, Add | Mul | And | Or | Xor);
        if mirrored && a.is_some() {
            return true;
        }
        if let (Some(x), Some(y)) = (self.rank(left, i), self.rank(right, j)) {
            if x == y && !matches!(op, Add | Mul | Shl | Shr) {
                return true;
            }
            if mirrored && b.is_none() && x > y {
                return true;
            }
        } else if left == right && i == j && !matches!(op, Add | Mul) {
            return true;
        }
        // `a + -1` is `a - 1`.
        if matches!(op, Add | Sub) && b.is_some_and(|b| (b as i64) < 0) {
            return true;
        }
        let unit = match op {
            Add | Sub | Or | Xor | Shl | Shr => b == Some(0),
            Mul => matches!(b, Some(0 | 1)),
            Div | Rem => matches!(b, Some(0 | 1)),
            And => b == Some(0) || b == Some(u64::MAX),
            _ => false,
        };
        unit || (matches!(op, Div | Rem | Shl | Shr | Mul) && a == Some(0))
    }

    /// Term `i` of a pool.
    pub fn term(&self, id: PoolId, i: usize, pointees: &Pointees) -> Option<Term> {
        match &self.get(id).kind {
            PoolKind::Terms { terms, .. } => terms.get(i).cloned(),
            PoolKind::Unary(op, inner) => Term::unary(*op, self.term(*inner, i, pointees)?).ok(),
            PoolKind::Binary(op, left, right) => {
                let columns = self.get(*right).length;
                let left = self.term(*left, i / columns, pointees)?;
                let right = self.term(*right, i % columns, pointees)?;
                Term::binary(*op, left, right, pointees).ok()
            }
        }
    }
}

/// The values of all pools in one state, computed when they are needed.
pub struct StateRows<'p> {
    pools: &'p Pools,
    pointees: &'p Pointees,
    slots: &'p [u64],
    undefined: &'p [u8],
    rows: Vec<Option<Row>>,
    converted: rustc_hash::FxHashMap<(u32, u8), Row>,
}

impl<'p> StateRows<'p> {
    /// Prepares the state whose slots have these values.
    pub fn new(
        pools: &'p Pools,
        pointees: &'p Pointees,
        slots: &'p [u64],
        undefined: &'p [u8],
    ) -> Self {
        StateRows {
            pools,
            pointees,
            slots,
            undefined,
            rows: vec![None; pools.list.len()],
            converted: Default::default(),
        }
    }

    /// Computes the rows of a pool and of those that it is made of.
    fn fill(&mut self, id: PoolId) {
        if self.rows[id.0 as usize].is_some() {
            return;
        }
        let pools = self.pools;
        let pool = pools.get(id);
        let mut row = Row::default();
        row.resize(pool.length);
        match &pool.kind {
            PoolKind::Terms { .. } => {
                for (i, code) in pool.code.iter().enumerate() {
                    match evaluate(code, self.slots, self.undefined) {
                        Some(value) => row.values[i] = value,
                        None => row.undefined[i] = 1,
                    }
                }
            }
            PoolKind::Unary(op, inner) => {
                let from = pools.get(*inner).ctype;
                let ty = match op {
                    UnaryOp::Not => from.value_type(),
                    _ => promote(from).value_type(),
                };
                self.convert(*inner, ty);
                let operand = self.converted_row(*inner, ty).operand();
                rows::unary_row(*op, ty, operand, &mut row.values, &mut row.undefined);
            }
            PoolKind::Binary(op, left, right) => {
                self.pairs(*op, *left, *right, &mut row);
            }
        }
        self.rows[id.0 as usize] = Some(row);
    }

    /// The row of a pool.
    pub fn row(&mut self, id: PoolId) -> &Row {
        self.fill(id);
        self.rows[id.0 as usize].get_or_insert_default()
    }

    fn convert(&mut self, id: PoolId, to: Ty) {
        self.fill(id);
        let from = self.pools.get(id).ctype.value_type();
        if from == to
            || conversion_is_identity(from, to)
            || self.converted.contains_key(&(id.0, to as u8))
        {
            return;
        }
        let Some(row) = &self.rows[id.0 as usize] else {
            return;
        };
        let mut out = Row::default();
        out.resize(row.values.len());
        convert_row(from, to, row.operand(), &mut out.values, &mut out.undefined);
        self.converted.insert((id.0, to as u8), out);
    }

    fn converted_row(&self, id: PoolId, to: Ty) -> &Row {
        static EMPTY: Row = Row {
            values: Vec::new(),
            undefined: Vec::new(),
        };
        self.converted
            .get(&(id.0, to as u8))
            .or(self.rows[id.0 as usize].as_ref())
            .unwrap_or(&EMPTY)
    }

    /// `l op r` for all pairs, row by row of the left pool.
    pub fn pairs(&mut self, op: BinaryOp, left: PoolId, right: PoolId, out: &mut Row) {
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

    /// The truth of each term of a pool.
    pub fn truths(&mut self, id: PoolId, out: &mut Row) {
        self.fill(id);
        let ty = self.pools.get(id).ctype.value_type();
        let length = self.pools.get(id).length;
        out.resize(length);
        if let Some(row) = &self.rows[id.0 as usize] {
            rows::truth_row(ty, row.operand(), &mut out.values, &mut out.undefined);
        }
    }
}

/// How a binary operator applies to operands of two types.
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
    /// The plan for operands that the typing rules have accepted.
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

    /// Applies the operator to converted operands.
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
