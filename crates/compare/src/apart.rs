//! Adds to the condition of a partition what makes it valid C for all inputs and excludes other
//! partitions.

use patchwright_solve::{Assignment, Node, Term, Terms};

use crate::{bounds::Part, partition::Explorer};

/// With more partitions than these nobody looks whether a further one overlaps with them.
const MOST_APART: usize = 32;

impl Explorer<'_> {
    /// Returns conditions that hold for the model and keep the literals defined: no division by zero, no shift by too many bits.
    pub(crate) fn guards(&mut self, literals: &[Term], model: &Assignment) -> Vec<Term> {
        let (mut all, mut known) = (Vec::new(), Vec::new());
        for &literal in literals {
            match partial(self.terms, &[literal]).is_empty() {
                true => known.push(literal),
                false => all.extend(partial(self.terms, &[literal])),
            }
        }
        let mut guards = Vec::new();
        for (what, of) in all {
            let width = self.terms.width(of);
            let guard = match what {
                Partial::Divides => {
                    let zero = self.terms.constant(width, 0);
                    let is_zero = self.terms.eq(of, zero);
                    self.terms.not(is_zero)
                }
                Partial::Shifts => {
                    let most = self.terms.constant(width, u128::from(width));
                    self.terms.ult(of, most)
                }
            };
            if guards.contains(&guard) || !self.terms.evaluate(guard, model).truth() {
                continue;
            }
            let known = self.terms.and_all(known.iter().copied());
            if !self.implies(known, guard) {
                guards.push(guard);
            }
        }
        guards
    }

    /// Returns literals that hold for the model and keep the condition apart from all inputs of the listed partitions.
    pub(crate) fn apart(&mut self, condition: Term, model: &Assignment) -> Vec<Term> {
        if self.is_one_path || self.one_by_one || self.listed.len() > MOST_APART {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (parts, term) in self.listed.clone() {
            let here = self
                .terms
                .and_all([condition].into_iter().chain(all.clone()));
            let not = self.terms.not(term);
            if self.implies(here, not) {
                continue;
            }
            let mut violated = Vec::new();
            for part in &parts {
                let own = part.term(self.terms);
                if self.terms.evaluate(own, model).truth() {
                    continue;
                }
                let outside = match part {
                    Part::Range(range) => {
                        let bits = self.terms.evaluate(range.variable, model).bits();
                        range.beside(bits).term(self.terms)
                    }
                    _ => self.terms.not(own),
                };
                // Where a pointer leads is said before numbers are, and those before anything else.
                let inner = match self.terms.node(own) {
                    Node::Not(inner) => inner,
                    _ => own,
                };
                let rank = match part {
                    Part::Term(_) if self.terms.variables_of(own) == [inner] => 0,
                    Part::Range(_) => 1,
                    _ => 2,
                };
                violated.push((rank, outside));
            }
            all.extend(
                violated
                    .into_iter()
                    .min_by_key(|one| one.0)
                    .map(|one| one.1),
            );
        }
        all
    }
}

/// An operation that is not defined for all operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Partial {
    /// By zero.
    Divides,
    /// By as many bits as there are.
    Shifts,
}

/// Returns the divisors and shift counts in terms, as far as they are no constants.
pub(crate) fn partial(terms: &Terms, roots: &[Term]) -> Vec<(Partial, Term)> {
    let mut all = Vec::new();
    for term in terms.within(roots) {
        let (what, of) = match terms.node(term) {
            Node::Udiv(_, b) | Node::Urem(_, b) | Node::Sdiv(_, b) | Node::Srem(_, b) => {
                (Partial::Divides, b)
            }
            Node::Shl(_, b) | Node::Lshr(_, b) | Node::Ashr(_, b) => (Partial::Shifts, b),
            _ => continue,
        };
        if terms.as_constant(of).is_none() {
            all.push((what, of));
        }
    }
    all
}
