//! Chooses inputs that are easy to read: small numbers and letters.

use patchwright_ir::Type;
use patchwright_solve::{Answer, Assignment, Budget, Node, Solver, Sort, Term, Terms};
use patchwright_symbolic::{Input, InputKind};

use crate::verdict::input_type;

/// The largest number of inputs that are made simple.
const MOST: usize = 48;

/// Floating-point numbers that are simple.
const FLOATS: [f64; 8] = [0.0, 1.0, -1.0, 2.0, 0.5, 10.0, -10.0, 1000.0];

/// Which values are simple.
#[derive(Clone, Copy)]
enum Taste {
    Number,
    Float,
    Double,
    Text,
    /// Characters that are read, whose end is not said by them.
    Stream,
    /// Of standard input: no longer than it must be.
    Length,
}

/// Numbers that are not simple are no further from 0 than one of these, if they can be.
const NEAR: [u128; 3] = [16, 128, 1024];

/// Returns a model of `condition` whose inputs have simple values where possible. `model` is a model to
/// begin with. `judge` decides about other values. `open` is the condition that `judge` was told, if it
/// is known as a term; then values are tried on it before `judge` is asked. If a question exceeds
/// `budget`, the other inputs keep their values.
pub fn simple(
    terms: &mut Terms,
    inputs: &[&Input],
    judge: &mut Solver,
    (condition, open): (Term, Option<Term>),
    model: Assignment,
    budget: &Budget<'_>,
) -> Assignment {
    let mut best = model;
    let mut fixed = vec![condition];
    let mut inputs: Vec<(Term, Taste)> = inputs
        .iter()
        .take(MOST)
        .map(|input| {
            let taste = match &input.kind {
                InputKind::Byte(_) => Taste::Stream,
                InputKind::Scanned { conversion, .. }
                    if ["s", "c"].contains(&conversion.as_str()) =>
                {
                    Taste::Stream
                }
                InputKind::ArgumentByte(..) => Taste::Text,
                // A character behind a pointer, or in an array.
                InputKind::Argument(Type::I8) if input.name.ends_with(']') => Taste::Text,
                InputKind::Length => Taste::Length,
                kind => match input_type(kind) {
                    Some(Type::F32) => Taste::Float,
                    Some(Type::F64) => Taste::Double,
                    _ => Taste::Number,
                },
            };
            (input.term, taste)
        })
        .collect();
    // The last characters of texts come first, so that these end as soon as they can.
    let is_text = |one: &(Term, Taste)| matches!(one.1, Taste::Text);
    let backwards: Vec<(Term, Taste)> = inputs.iter().rev().copied().filter(is_text).collect();
    let places = inputs.iter_mut().filter(|one| is_text(one));
    for (place, other) in places.zip(backwards) {
        *place = other;
    }
    for (variable, taste) in inputs {
        let candidates: Vec<Term> = match terms.sort(variable) {
            Sort::Bool => vec![terms.not(variable)],
            Sort::Bits(width) => {
                let all = u128::MAX >> (128 - width);
                let values: Vec<u128> = match taste {
                    Taste::Text => [0, b'a', b'0', b' '].map(u128::from).to_vec(),
                    Taste::Stream => [b'a', b'0', b' ', b'\n'].map(u128::from).to_vec(),
                    Taste::Number => vec![0, 1, all, 2, all - 1, 5],
                    Taste::Float => FLOATS
                        .map(|one| u128::from((one as f32).to_bits()))
                        .to_vec(),
                    Taste::Double => FLOATS.map(|one| u128::from(one.to_bits())).to_vec(),
                    Taste::Length => vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32],
                };
                let mut all: Vec<Term> = values
                    .iter()
                    .map(|&value| {
                        let constant = terms.constant(width, value);
                        terms.eq(variable, constant)
                    })
                    .collect();
                if matches!(taste, Taste::Text | Taste::Stream) {
                    all.push(is_printable(terms, variable));
                }
                if matches!(taste, Taste::Number) && width > 8 {
                    all.extend(NEAR.map(|most| near(terms, variable, width, most)));
                }
                all
            }
            Sort::Array { .. } => continue,
        };
        for candidate in candidates {
            // Often it can have that value without a change of another one.
            if let Some(open) = open
                && let Some(other) = with(terms, variable, candidate, &best)
            {
                let mut asked = fixed.clone();
                asked.push(open);
                let values = terms.evaluate_all(&asked, &other);
                if values.iter().all(|value| value.truth()) {
                    best = other;
                    break;
                }
            }
            fixed.push(candidate);
            let answer = judge.check(terms, &fixed, budget);
            fixed.pop();
            if answer == Answer::Satisfiable {
                best = judge.model().clone();
                break;
            }
            if answer == Answer::Unknown {
                return best;
            }
        }
        // It stays as it is now.
        let value = best.get(terms, variable).bits();
        fixed.push(match terms.sort(variable) {
            Sort::Bits(width) => {
                let constant = terms.constant(width, value);
                terms.eq(variable, constant)
            }
            _ if value == 0 => terms.not(variable),
            _ => variable,
        });
    }
    best
}

/// An assignment changed so that a variable has the value that `candidate` says: `variable == constant`, or `!variable`.
fn with(terms: &Terms, variable: Term, candidate: Term, from: &Assignment) -> Option<Assignment> {
    let value = match terms.node(candidate) {
        Node::Eq(a, b) if a == variable => terms.as_constant(b)?,
        Node::Eq(a, b) if b == variable => terms.as_constant(a)?,
        Node::Not(a) if a == variable => 0,
        _ => return None,
    };
    let mut changed = from.clone();
    changed.set_bits(terms, variable, value);
    Some(changed)
}

/// A character is one that can be printed.
fn is_printable(terms: &mut Terms, variable: Term) -> Term {
    let width = terms.width(variable);
    let first = terms.constant(width, u128::from(b' '));
    let count = terms.constant(width, u128::from(b'~' - b' '));
    let behind = terms.sub(variable, first);
    terms.ule(behind, count)
}

/// The number is at most so far from 0, with a sign or without.
fn near(terms: &mut Terms, variable: Term, width: u32, most: u128) -> Term {
    let most_term = terms.constant(width, most);
    let moved = terms.add(variable, most_term);
    let twice = terms.constant(width, 2 * most);
    terms.ule(moved, twice)
}
