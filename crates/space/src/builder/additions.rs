//! Conditions that are added to others, or put over a statement (REFINEMENT, GUARD; EXIT takes them, too).

use std::collections::BTreeSet;

use patchwright_semantics::{BinaryOp, UnaryOp};

use super::{
    SpaceBuilder, contains_captured,
    levels::{RELATIONAL, is_truth_value},
};
use crate::{
    holes::{Added, HoleKind},
    pools::PoolId,
    sites::{Site, operands},
    space::{Schema, Template},
    term::{Kind, Term},
};

/// So much less costs a comparison in the form of one that is there.
const KNOWN_FORM: u32 = 2;

/// So much less costs a comparison of what several others compare with constants: one more of a list.
const ONE_MORE: u32 = 3;

impl SpaceBuilder<'_> {
    /// Conditions that can be added or put under a statement, by number of nodes.
    pub(super) fn additions(&mut self, level: u32) -> Vec<PoolId> {
        match level {
            1 => [&self.leaves[..], &self.distant].concat(),
            2 => {
                let leaves = self.additions(1);
                leaves
                    .into_iter()
                    .filter_map(|leaf| self.unary_pool(UnaryOp::Not, leaf))
                    .collect()
            }
            3 => self.relation_pools(),
            _ => self.large_relation_pools(),
        }
    }

    fn unary_pool(&mut self, op: UnaryOp, leaf: PoolId) -> Option<PoolId> {
        self.space.pools.add_unary(op, leaf).ok()
    }

    fn relation_pools(&mut self) -> Vec<PoolId> {
        if let Some(pools) = &self.relations {
            return pools.clone();
        }
        let leaves = self.leaves.clone();
        let (distant, constants) = (self.distant.clone(), self.distant_constants.clone());
        let mut pools = self.binary_pools(&RELATIONAL, &leaves, &leaves);
        // Of comparisons, one order is kept.
        pools.extend(self.binary_pools(&RELATIONAL, &leaves, &distant));
        pools.extend(self.binary_pools(&RELATIONAL, &distant, &leaves));
        pools.extend(self.binary_pools(&RELATIONAL, &self.nearest.clone(), &constants));
        pools.extend(self.sibling_pools());
        pools.extend(self.listed_pools());
        pools.extend(self.missing_pairs());
        pools.extend(self.pools_of_same_two());
        self.relations = Some(pools.clone());
        pools
    }

    /// The comparisons of the expression itself, with another constant in what is calculated: beside `y % 4 == 0` and
    /// `y % 100 != 0`, `y % 400 == 0`; and those of variables only, with others: beside `x + width > columns`, `y + height > rows`.
    fn sibling_pools(&mut self) -> Vec<PoolId> {
        let constants = self.distant_constants.clone();
        let mut known: Vec<(BinaryOp, Term, Term)> = Vec::new();
        let mut forms: BTreeSet<(BinaryOp, BinaryOp)> = BTreeSet::new();
        let mut found = Vec::new();
        for site in 0..self.space.sites.len() {
            let term = self.space.sites[site].term.clone();
            let Kind::Binary(compared, left, right) = term.kind() else {
                continue;
            };
            let Kind::Binary(op, varying, constant) = left.kind() else {
                continue;
            };
            let is_atom = |term: &Term| matches!(term.kind(), Kind::Atom(_));
            if compared.is_comparison() && [varying, constant, right].into_iter().all(is_atom) {
                forms.insert((*op, *compared));
            }
            let sibling = (*op, varying.clone(), right.clone());
            if !compared.is_comparison()
                || op.is_comparison()
                || !matches!(constant.kind(), Kind::Constant(..))
                || self.space.hole.captured.is_some() && contains_captured(&term)
                || known.contains(&sibling)
            {
                continue;
            }
            let fixed = (self.fixed(varying), self.fixed(right));
            known.push(sibling);
            if let (Some(varying), Some(right)) = fixed {
                let calculated = self.binary_pools(&[*op], &[varying], &constants);
                // Whether something divides a number is asked with `==`.
                let operators = match compared {
                    BinaryOp::Eq | BinaryOp::Ne => &[BinaryOp::Eq, BinaryOp::Ne][..],
                    _ => &RELATIONAL,
                };
                for pool in self.binary_pools(operators, &calculated, &[right]) {
                    self.space.pools.discount(pool, KNOWN_FORM);
                    found.push(pool);
                }
            }
        }
        let varies = |pool: &PoolId| !self.space.pools.get(*pool).has_constants();
        let leaves: Vec<PoolId> = self.leaves.iter().copied().filter(varies).collect();
        for (op, compared) in forms {
            let calculated = self.binary_pools(&[op], &leaves, &leaves);
            for pool in self.binary_pools(&[compared], &calculated, &leaves) {
                self.space.pools.discount(pool, KNOWN_FORM);
                found.push(pool);
            }
        }
        found
    }

    /// One more of several comparisons of one thing with constants: beside `c == ' '` and `c == '\t'`, `c == '\n'`.
    fn listed_pools(&mut self) -> Vec<PoolId> {
        if self.space.hole.captured.is_some() {
            return Vec::new();
        }
        let mut compared: Vec<(BinaryOp, Term, usize)> = Vec::new();
        for site in &self.space.sites {
            if let Kind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) = site.term.kind()
                && matches!(right.kind(), Kind::Constant(..))
                && !matches!(left.kind(), Kind::Constant(..))
            {
                let known = compared
                    .iter_mut()
                    .find(|one| one.0 == *op && one.1 == *left);
                match known {
                    Some(one) => one.2 += 1,
                    None => compared.push((*op, left.clone(), 1)),
                }
            }
        }
        let is_constant = |pool: &PoolId| self.space.pools.get(*pool).has_constants();
        let constants = self.leaves.iter().copied().filter(is_constant);
        let constants: Vec<PoolId> = constants.chain(self.distant_constants.clone()).collect();
        let mut found = Vec::new();
        for (op, left, _) in compared.into_iter().filter(|one| one.2 > 1) {
            let Some(left) = self.fixed(&left) else {
                continue;
            };
            for pool in self.binary_pools(&[op], &[left], &constants) {
                self.space.pools.discount(pool, ONE_MORE);
                found.push(pool);
            }
        }
        found
    }

    /// The pair that is missing among things that are compared with each other: beside `a == b` and `b == c`, `a == c`.
    fn missing_pairs(&mut self) -> Vec<PoolId> {
        let mut compared: Vec<(BinaryOp, Term, Term)> = Vec::new();
        for site in &self.space.sites {
            if let Kind::Binary(op, left, right) = site.term.kind()
                && op.is_comparison()
                && [left, right]
                    .iter()
                    .all(|term| matches!(term.kind(), Kind::Atom(_)))
            {
                compared.push((*op, left.clone(), right.clone()));
            }
        }
        let mut found = Vec::new();
        for (number, one) in compared.iter().enumerate() {
            for other in compared[number + 1..]
                .iter()
                .filter(|other| other.0 == one.0)
            {
                let ends = match () {
                    () if one.2 == other.1 => (&one.1, &other.2),
                    () if one.1 == other.1 => (&one.2, &other.2),
                    () if one.2 == other.2 => (&one.1, &other.1),
                    () if one.1 == other.2 => (&other.1, &one.2),
                    () => continue,
                };
                let is_there = |(_, left, right): &(BinaryOp, Term, Term)| {
                    (left, right) == ends || (right, left) == ends
                };
                if ends.0 == ends.1 || compared.iter().any(is_there) {
                    continue;
                }
                let (Some(left), Some(right)) = (self.fixed(ends.0), self.fixed(ends.1)) else {
                    continue;
                };
                for pool in self.binary_pools(&[one.0], &[left], &[right]) {
                    if !found.contains(&pool) {
                        self.space.pools.discount(pool, KNOWN_FORM);
                        found.push(pool);
                    }
                }
            }
        }
        found
    }

    fn large_relation_pools(&mut self) -> Vec<PoolId> {
        if let Some(pools) = &self.large_relations {
            return pools.clone();
        }
        let products = self.product_pools();
        let leaves = self.leaves.clone();
        let pools = self.binary_pools(&RELATIONAL, &products, &leaves);
        self.large_relations = Some(pools.clone());
        pools
    }

    /// `X && b`, `b && X`, `X || b`, `b || X`, or `b` itself for guards. Constraints against crashes stand where they hold; their
    /// negations, where what follows is an error.
    pub(super) fn refine(&mut self, site: usize, level: u32, most: usize) {
        let Site { term, truth, .. } = self.space.sites[site].clone();
        if !truth && !is_truth_value(&term) {
            return;
        }
        let additions = self.additions(level);
        let crash_free = match level {
            1 => self.crash_free.clone(),
            _ => Vec::new(),
        };
        let (schema, holds) = match self.space.hole.kind {
            HoleKind::Guard { .. } => (Schema::Guard, Some(true)),
            HoleKind::Refinement(Added::AndBefore(_)) => (Schema::Refinement, Some(true)),
            HoleKind::Refinement(Added::OrBefore(_)) => (Schema::Refinement, Some(false)),
            _ => (Schema::Refinement, None),
        };
        if let Some(holds) = holds {
            let constraints = crash_free.into_iter();
            let constraints = constraints.map(|pair| if holds { pair.0 } else { pair.1 });
            for added in constraints.chain(additions) {
                let cost = 1 + self.cost(added);
                self.block(site, Template::One(added), cost, schema, most);
            }
            return;
        }
        // What is added to a condition with effects has holes of its own.
        if truth && self.space.hole.captured.is_some() {
            return;
        }
        let Some(whole) = self.fixed(&term) else {
            return;
        };
        // What is added goes behind, unless the term can be undefined: then in front of it too.
        let captured = matches!(self.space.hole.kind, HoleKind::Refinement(_));
        let in_front = may_be_undefined(&term) && !captured;
        let both_ways = additions.into_iter().map(|added| (added, added));
        for (with_and, with_or) in crash_free.into_iter().chain(both_ways) {
            let cost = 1 + self.cost(with_and);
            let behind = [Template::And(whole, with_and), Template::Or(whole, with_or)];
            let before = [Template::And(with_and, whole), Template::Or(with_or, whole)];
            for template in behind
                .into_iter()
                .chain(before.into_iter().filter(|_| in_front))
            {
                self.block(site, template, cost, schema, most);
            }
        }
    }
}

/// A term can be undefined in some state: it loads, divides, shifts, or overflows.
fn may_be_undefined(term: &Term) -> bool {
    match term.kind() {
        Kind::Constant(..) => false,
        Kind::Atom(_) => true,
        _ => operands(term).into_iter().any(may_be_undefined),
    }
}
