//! An input of a partition that a person can read: small numbers, letters.

use patchwright_solve::{Answer, Assignment, Budget, Solver, Sort, Term, Terms};
use patchwright_symbolic::InputKind;

use crate::pair::Pair;

/// So many inputs are made simple.
const MOST: usize = 48;

/// Which values are simple.
#[derive(Clone, Copy)]
enum Taste {
    Number,
    Text,
    /// Of standard input: no longer than it must be.
    Length,
}

/// A model of `condition` in which inputs have simple values where they can.
pub(crate) fn simple(
    terms: &mut Terms,
    pair: &Pair,
    judge: &mut Solver,
    condition: Term,
    model: Assignment,
    budget: &Budget<'_>,
) -> Assignment {
    let mut best = model;
    let mut fixed = vec![condition];
    let inputs: Vec<(Term, Taste)> = pair
        .inputs()
        .into_iter()
        .take(MOST)
        .map(|input| {
            let taste = match input.kind {
                InputKind::Byte(_) | InputKind::ArgumentByte(..) => Taste::Text,
                InputKind::Length => Taste::Length,
                _ => Taste::Number,
            };
            (input.term, taste)
        })
        .collect();
    for (variable, taste) in inputs {
        let candidates: Vec<Term> = match terms.sort(variable) {
            Sort::Bool => vec![terms.not(variable)],
            Sort::Bits(width) => {
                let all = u128::MAX >> (128 - width);
                let values: &[u128] = match taste {
                    Taste::Text => &[0, u128::from(b'a'), u128::from(b'0'), u128::from(b' ')],
                    Taste::Number => &[0, 1, all, 2, all - 1, 5],
                    Taste::Length => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32],
                };
                values
                    .iter()
                    .map(|&value| {
                        let constant = terms.constant(width, value);
                        terms.eq(variable, constant)
                    })
                    .collect()
            }
            Sort::Array { .. } => continue,
        };
        let mut taken = None;
        for candidate in candidates {
            fixed.push(candidate);
            let answer = judge.check(terms, &fixed, budget);
            fixed.pop();
            if answer == Answer::Satisfiable {
                best = judge.model().clone();
                taken = Some(candidate);
                break;
            }
            if answer == Answer::Unknown {
                return best;
            }
        }
        // What is not simple stays as it is.
        fixed.push(match taken {
            Some(candidate) => candidate,
            None => {
                let value = best.get(terms, variable).bits();
                match terms.sort(variable) {
                    Sort::Bits(width) => {
                        let constant = terms.constant(width, value);
                        terms.eq(variable, constant)
                    }
                    _ => variable,
                }
            }
        });
    }
    best
}
