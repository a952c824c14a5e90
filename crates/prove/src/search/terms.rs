//! Terms and values that the search asks the solver about.

use patchwright_solve::{Solver, Sort, Term, Terms};

/// Returns the truth value that the solver's model gives to a variable.
pub(crate) fn truth(solver: &Solver, terms: &Terms, variable: Term) -> bool {
    solver.model().get(terms, variable).truth()
}

/// Returns the bits that the solver's model gives to a variable.
pub(crate) fn bits(solver: &Solver, terms: &Terms, variable: Term) -> u128 {
    solver.model().get(terms, variable).bits()
}

/// The variable of an open constant.
pub(crate) fn constant(terms: &mut Terms, number: u32) -> Term {
    terms.variable(&format!("constant.{number}"), Sort::Bits(64))
}

/// Returns the condition that a signed variable of 64 bits lies from `low` to `high`.
pub(crate) fn between(terms: &mut Terms, variable: Term, low: i64, high: i64) -> Term {
    let low = terms.constant(64, u128::from(low as u64));
    let high = terms.constant(64, u128::from(high as u64));
    let above = terms.sle(low, variable);
    let below = terms.sle(variable, high);
    terms.and(above, below)
}

/// Asserts that at most one of these holds.
pub(super) fn at_most_one(terms: &mut Terms, asserted: &mut Vec<Term>, all: &[Term]) {
    let mut before: Option<Term> = None;
    for &one in all {
        before = Some(match before {
            None => one,
            Some(before) => {
                let both = terms.and(before, one);
                let not_both = terms.not(both);
                asserted.push(not_both);
                terms.or(before, one)
            }
        });
    }
}

/// Returns, for each number from 0 to `most` − 1, the condition that more than so many of these hold.
pub(super) fn count(terms: &mut Terms, all: &[Term], most: usize) -> Vec<Term> {
    let no = terms.truth(false);
    let mut more: Vec<Term> = vec![no; most];
    for &one in all {
        for number in (0..most).rev() {
            let before = match number {
                0 => terms.truth(true),
                _ => more[number - 1],
            };
            let now = terms.and(before, one);
            more[number] = terms.or(more[number], now);
        }
    }
    more
}
