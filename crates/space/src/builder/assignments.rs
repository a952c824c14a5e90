//! Builds the values of inserted assignments (ASSIGNMENT).

use patchwright_semantics::{BinaryOp, UnaryOp};

use super::{
    SpaceBuilder,
    levels::{ARITHMETIC, RELATIONAL},
};
use crate::{
    assign::{Target, given::without_blanks},
    holes::HoleKind,
    pools::{PoolId, PoolKind},
    space::{Schema, Template},
    term::{CType, Kind, Term},
};

/// The cost of an inserted assignment without its term: of the statement and its target. A value that the
/// variable gets elsewhere in the function costs nothing more.
pub const ASSIGNMENT_COST: u32 = 2;

/// What a comparison with zero or null costs less than others where it is the condition of an inserted assignment.
const COMPARED_WITH_ZERO: u32 = 1;

impl SpaceBuilder<'_> {
    /// Adds assignments of a single leaf, without any calculation.
    pub(super) fn assign_leaves(&mut self) {
        self.space.given = self.given();
        for term in self.space.given.clone() {
            if let Some(pool) = self.fixed(&term) {
                let template = Template::One(pool);
                self.block(0, template, ASSIGNMENT_COST, Schema::Assignment, usize::MAX);
            }
        }
        if self.is_given_only() {
            return;
        }
        for leaf in self.constants_first() {
            let cost = ASSIGNMENT_COST + 1;
            self.block(0, Template::One(leaf), cost, Schema::Assignment, usize::MAX);
        }
        self.assign_steps();
    }

    /// What is assigned to.
    fn target(&self) -> Option<&Target> {
        match &self.space.hole.kind {
            HoleKind::Assignment(at) => at.target(),
            _ => None,
        }
    }

    fn is_given_only(&self) -> bool {
        self.target().is_some_and(|target| target.given_only)
    }

    /// The leaves that the assigned variable is given elsewhere in the function.
    fn given(&self) -> Vec<Term> {
        let Some(target) = self.target() else {
            return Vec::new();
        };
        let atoms = &self.space.hole.atoms.table;
        let pools = self.leaves.iter().map(|&pool| self.space.pools.get(pool));
        let terms = pools.filter_map(|pool| match &pool.kind {
            PoolKind::Terms { terms, .. } => Some(terms),
            _ => None,
        });
        let is_given = |term: &&Term| {
            let text = term.display(atoms, self.pointees).to_string();
            target.given.contains(&without_blanks(&text))
        };
        terms.flatten().filter(is_given).cloned().collect()
    }

    /// `v++;` and `v--;`: a step that was forgotten is as likely as a value.
    fn assign_steps(&mut self) {
        let Some(own) = self.space.assigned() else {
            return;
        };
        let one = Term::constant(1, CType::Int, "1");
        let (Some(own), Some(one)) = (self.fixed(&own), self.fixed(&one)) else {
            return;
        };
        let cost = ASSIGNMENT_COST + 1;
        for op in [BinaryOp::Add, BinaryOp::Sub] {
            let template = Template::Binary(op, own, one);
            self.block(0, template, cost, Schema::Assignment, usize::MAX);
        }
        // `sign = -sign;`, `done = !done;`: of what is 1 at some time.
        let target = self.target();
        let is_given =
            |value: &str| target.is_some_and(|target| target.given.iter().any(|one| one == value));
        let is_sign = ["1", "-1", "1.0", "-1.0"].into_iter().any(is_given);
        let is_truth = ["0", "1", "true", "false"].into_iter().any(is_given);
        let turned = [(UnaryOp::Neg, is_sign), (UnaryOp::Not, is_truth)];
        for (op, _) in turned.into_iter().filter(|(_, is_wanted)| *is_wanted) {
            let template = Template::Unary(op, own);
            self.block(0, template, cost, Schema::Assignment, usize::MAX);
        }
    }

    /// Sums and products that are assigned.
    pub(super) fn assign_terms(&mut self, size: u32, most: usize) {
        if self.is_given_only() {
            return;
        }
        let left = match size {
            3 => {
                self.assign_under_conditions(most);
                self.leaves.clone()
            }
            5 => self.product_pools(),
            _ => return,
        };
        for op in ARITHMETIC {
            for &a in &left {
                let cost = ASSIGNMENT_COST + self.cost(a) + 2;
                for &b in &self.leaves.clone() {
                    self.block(
                        0,
                        Template::Binary(op, a, b),
                        cost,
                        Schema::Assignment,
                        most,
                    );
                }
            }
        }
    }

    /// `if (c) v = e;`: what the function gives the variable elsewhere, the opposite sign, one more or less, or a leaf.
    fn assign_under_conditions(&mut self, most: usize) {
        let Some(own) = self.space.assigned() else {
            return;
        };
        let Some(kept) = self.fixed(&own) else {
            return;
        };
        let given = self.space.given.clone();
        let turned = Term::unary(UnaryOp::Neg, own.clone()).ok();
        let is_signed = own.ctype().is_floating() || own.ctype().value_type().is_signed_integer();
        let one = Term::constant(1, CType::Int, "1");
        let steps = [BinaryOp::Add, BinaryOp::Sub]
            .map(|op| Term::binary(op, own.clone(), one.clone(), self.pointees).ok());
        let terms = given
            .into_iter()
            .chain(turned.filter(|_| is_signed))
            .chain(steps.into_iter().flatten());
        let mut values: Vec<PoolId> = terms.filter_map(|term| self.fixed(&term)).collect();
        values.extend(&self.leaves);
        for condition in self.conditions_of_assignments() {
            let cost = ASSIGNMENT_COST + 1 + self.cost(condition);
            for &value in &values {
                let template = Template::Select(condition, value, kept);
                self.block(0, template, cost, Schema::Assignment, most);
            }
        }
    }

    /// Comparisons of what varies.
    fn conditions_of_assignments(&mut self) -> Vec<PoolId> {
        let pools = &self.space.pools;
        let (constants, varying): (Vec<PoolId>, Vec<PoolId>) =
            (self.leaves.iter()).partition(|&&leaf| pools.get(leaf).has_constants());
        let (mut zeros, mut others) = (Vec::new(), Vec::new());
        for pool in constants {
            let PoolKind::Terms { terms, ranks } = self.space.pools.get(pool).kind.clone() else {
                continue;
            };
            for (term, rank) in terms.into_iter().zip(ranks) {
                match term.kind() {
                    Kind::Constant(0, _) => zeros.push((rank, term)),
                    _ => others.push((rank, term)),
                }
            }
        }
        let (zeros, others) = (self.leaf_pools(zeros), self.leaf_pools(others));
        let mut found = self.binary_pools(&RELATIONAL, &varying, &zeros);
        for &pool in &found {
            self.space.pools.discount(pool, COMPARED_WITH_ZERO);
        }
        found.extend(self.binary_pools(&RELATIONAL, &varying, &varying));
        found.extend(self.binary_pools(&RELATIONAL, &varying, &others));
        found
    }
}
