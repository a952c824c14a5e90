//! Pools: lists of terms of one type, so that operators apply to all of them at once.

use patchwright_semantics::{BinaryOp, Instruction, UnaryOp};

use crate::term::{self, AtomTable, CType, Context, Kind, Pointees, Term, TypeError};

/// The number of a pool in [`Pools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolId(pub u32);

/// How a pool is made: of given terms, or by an operator from other pools.
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

/// A list of terms of one type.
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
    /// What each term costs: its nodes, and one more for each leaf from elsewhere ([`mod@crate::distant`]) and for each operator
    /// that the function does not use ([`crate::familiar`]).
    pub cost: u32,
    pub(crate) code: Vec<Vec<Instruction>>,
    /// Terms of this pool that are left out because they say the same as simpler ones.
    pub redundant: Vec<bool>,
}

/// All pools of a space.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    list: Vec<Pool>,
}

impl Pool {
    /// Whether the pool's terms are constants.
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
    /// Returns the pool with this number.
    pub fn get(&self, id: PoolId) -> &Pool {
        &self.list[id.0 as usize]
    }

    /// Number of pools.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns an estimate of the memory in bytes.
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

    /// Adds a pool of given terms, all of the type of the first one, and returns its number.
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
        let cost = first.size();
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
            cost,
            code,
        }))
    }

    /// Makes the terms of a pool cost `more` than their nodes.
    pub fn surcharge(&mut self, id: PoolId, more: u32) {
        self.list[id.0 as usize].cost += more;
    }

    /// The pool's terms cost so much less than their nodes.
    pub(crate) fn discount(&mut self, id: PoolId, less: u32) {
        let cost = &mut self.list[id.0 as usize].cost;
        *cost = cost.saturating_sub(less).max(1);
    }

    /// The pool's terms cost this much, whatever their nodes.
    pub(crate) fn set_cost(&mut self, id: PoolId, cost: u32) {
        self.list[id.0 as usize].cost = cost;
    }

    /// Adds the pool of `op t` for all terms `t` of a pool.
    pub fn add_unary(&mut self, op: UnaryOp, inner: PoolId) -> Result<PoolId, TypeError> {
        let pool = self.get(inner);
        let ctype = term::unary_type(op, pool.ctype)?;
        let (length, cost) = (pool.length, pool.cost + 1);
        let redundant = (0..length)
            .map(|i| pool.redundant[i] || self.is_constant(inner, i))
            .collect();
        Ok(self.push(Pool {
            ctype,
            is_null: false,
            kind: PoolKind::Unary(op, inner),
            length,
            cost,
            code: Vec::new(),
            redundant,
        }))
    }

    /// Adds the pool of `l op r` for all pairs of terms of two pools.
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
        let cost = l.cost + r.cost + 1;
        let mut redundant = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            let l = self.facts(left, i);
            redundant.extend((0..columns).map(|j| {
                let r = self.facts(right, j);
                is_redundant(op, &l, &r, left == right && i == j)
            }));
        }
        Ok(self.push(Pool {
            ctype,
            is_null: false,
            kind: PoolKind::Binary(op, left, right),
            length: rows * columns,
            cost,
            code: Vec::new(),
            redundant,
        }))
    }

    /// Returns the type of `l op r` for terms of two pools.
    pub fn binary_type(
        &self,
        op: BinaryOp,
        left: PoolId,
        right: PoolId,
        pointees: &Pointees,
    ) -> Result<CType, TypeError> {
        term::binary_type(op, self.operand(left), self.operand(right), pointees)
    }

    /// Returns what the typing rules need to know about the terms of a pool.
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

    /// Whether term `i` of a pool is a constant.
    pub fn is_constant(&self, id: PoolId, i: usize) -> bool {
        self.constant(id, i).is_some()
    }

    /// Whether a pool holds only a part of the original expression, so that it offers no leaves to choose from.
    pub(crate) fn is_fixed(&self, id: PoolId) -> bool {
        match &self.get(id).kind {
            PoolKind::Terms { ranks, .. } => ranks.is_empty(),
            PoolKind::Unary(..) | PoolKind::Binary(..) => false,
        }
    }

    /// Returns the facts about term `i` of a pool that decide whether operators are applied to it.
    pub fn facts(&self, id: PoolId, i: usize) -> Facts {
        let pool = self.get(id);
        let rank = match &pool.kind {
            PoolKind::Terms { ranks, .. } => ranks.get(i).copied(),
            PoolKind::Unary(..) | PoolKind::Binary(..) => None,
        };
        Facts {
            redundant: pool.redundant[i],
            constant: self.constant(id, i),
            rank,
        }
    }

    /// Returns the places of the left and right operands of pairs. The right operand, of this pool,
    /// varies fastest.
    pub fn places_of_pairs(&self, right: PoolId, places: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let columns = self.get(right).length as u32;
        let halves = places
            .iter()
            .map(|&place| (place / columns, place % columns));
        halves.unzip()
    }

    /// Returns term `i` of a pool.
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

/// The facts about a term that decide whether an operator is applied to it.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// It says the same as a simpler one.
    pub redundant: bool,
    /// Its value, if it is a constant leaf.
    pub constant: Option<u64>,
    /// The leaf's number among all leaves.
    pub rank: Option<u32>,
}

/// Whether `l op r` is left out because it repeats a simpler or an earlier term. Commutative operators
/// and comparisons keep one order, with constants on the right. `same` says that both operands are one
/// term of one pool.
pub fn is_redundant(op: BinaryOp, left: &Facts, right: &Facts, same: bool) -> bool {
    use BinaryOp::*;
    if left.redundant || right.redundant {
        return true;
    }
    let (a, b) = (left.constant, right.constant);
    if a.is_some() && b.is_some() {
        return true;
    }
    let mirrored = op.is_comparison() || matches!(op, Add | Mul | And | Or | Xor);
    if mirrored && a.is_some() {
        return true;
    }
    if let (Some(x), Some(y)) = (left.rank, right.rank) {
        if x == y && !matches!(op, Add | Mul | Shl | Shr) {
            return true;
        }
        if mirrored && b.is_none() && x > y {
            return true;
        }
    } else if same && !matches!(op, Add | Mul) {
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
