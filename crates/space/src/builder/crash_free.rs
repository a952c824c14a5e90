//! Crash-free constraints as parts of conditions.

use patchwright_semantics::BinaryOp;

use super::SpaceBuilder;
use crate::{
    crash_free::{CrashFree, Limited, negated},
    pools::PoolId,
    space::{Schema, Template},
    term::{CType, Kind, Term},
};

/// A constraint with nothing left to choose costs nothing but that it is added: it is what a repair of a crash is mostly about…
const WHOLE: u32 = 0;

/// …and one with a limit of which nothing is known, a leaf.
const WITH_LIMIT: u32 = 1;

impl SpaceBuilder<'_> {
    /// Puts the constraints among the conditions that are added.
    pub(super) fn crash_free_pools(&mut self, constraints: CrashFree) {
        for (holds, fails) in &constraints.whole {
            if let (Some(holds), Some(fails)) = (self.own_pool(holds), self.own_pool(fails)) {
                self.crash_free(holds, fails, WHOLE);
            }
        }
        for limited in &constraints.limited {
            self.below_limits(limited);
        }
        let root = self.root.clone();
        for (value, greatest) in &constraints.greatest {
            if *value == root {
                let pool = self.own_pool(greatest);
                self.greatest.extend(pool);
            }
        }
    }

    /// `i < last ? i : last`, where tests crash because `i` is greater: what one would write if the statement is to be executed
    /// all the same.
    pub(super) fn clamped(&mut self) {
        let root = self.root.clone();
        let Some(whole) = self.fixed(&root) else {
            return;
        };
        for greatest in self.greatest.clone() {
            let template = Template::Extreme(BinaryOp::Lt, whole, greatest);
            self.block(0, template, WHOLE + 1, Schema::Expression, usize::MAX);
        }
    }

    /// `t < n` and `t >= n` for all that may be a limit of a term: numbers, or pointers where it is one.
    fn below_limits(&mut self, Limited { term, inclusive }: &Limited) {
        let Some(limited) = self.own_pool(term) else {
            return;
        };
        let is_constant = matches!(term.kind(), Kind::Constant(..));
        let is_integer = term.ctype().is_integer();
        for limit in self.leaves.clone() {
            let pool = self.space.pools.get(limit);
            let fits = match is_integer {
                true => pool.ctype.is_integer(),
                false => pool.ctype == term.ctype() && !pool.is_null,
            };
            // A character is no number of elements.
            let is_character = |ctype| ctype == CType::Char;
            let is_text = is_character(pool.ctype) && !is_character(term.ctype());
            if !fits || is_text || is_constant && pool.has_constants() {
                continue;
            }
            let surcharge = u32::from(pool.has_constants());
            let strict = [BinaryOp::Lt].into_iter();
            for op in strict.chain(inclusive.then_some(BinaryOp::Le)) {
                let mut added = |op| {
                    // `length > 10`, as people write it.
                    let (op, a, b) = match is_constant {
                        true => (exchanged(op), limit, limited),
                        false => (op, limited, limit),
                    };
                    self.space.pools.add_binary(op, a, b, self.pointees).ok()
                };
                if let (Some(holds), Some(fails)) = (added(op), added(negated(op))) {
                    self.crash_free(holds, fails, WITH_LIMIT + surcharge);
                }
            }
        }
    }

    fn crash_free(&mut self, holds: PoolId, fails: PoolId, cost: u32) {
        for pool in [holds, fails] {
            self.space.pools.set_cost(pool, cost);
        }
        self.crash_free.push((holds, fails));
    }

    fn own_pool(&mut self, term: &Term) -> Option<PoolId> {
        let atoms = &self.space.hole.atoms.table;
        let terms = vec![term.clone()];
        self.space
            .pools
            .add_terms(terms, Vec::new(), atoms, self.pointees)
    }
}

/// `n > t` for `t < n`.
fn exchanged(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}
