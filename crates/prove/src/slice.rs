//! Must fault localization on terms: which statements decide that a condition holds, for one input.
//!
//! The paper's algorithm FOSFL goes through the variables of a program formula. Here a statement's value is the term
//! `ite(location, anything, value)`. The walk follows the terms that decide whether the condition is true under the model:
//!
//! - of a false conjunction, one false part;
//! - of a choice, its condition and the chosen side;
//! - of an element of an array, the store that wrote it.
//!
//! The condition holds as long as none of the statements on the walk changes.

use std::collections::{BTreeSet, HashSet};

use patchwright_solve::{Assignment, Node, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// Returns the positions in `locations` of those that decide the value of `condition` under `model`.
pub fn deciding(
    terms: &Terms,
    condition: Term,
    locations: &[Term],
    model: &Assignment,
) -> BTreeSet<usize> {
    let passed = passed(terms, condition, model);
    let all = locations.iter().enumerate();
    all.filter(|(_, variable)| passed.contains(variable))
        .map(|(position, _)| position)
        .collect()
}

/// The terms that decide `condition` under `model`.
pub(crate) fn passed(terms: &Terms, condition: Term, model: &Assignment) -> HashSet<Term> {
    let scalars: Vec<Term> = terms
        .within(&[condition])
        .into_iter()
        .filter(|&term| !matches!(terms.sort(term), Sort::Array { .. }))
        .collect();
    let values = terms.evaluate_all(&scalars, model);
    let values: FxHashMap<Term, u128> = scalars
        .into_iter()
        .zip(values.iter().map(|value| value.bits()))
        .collect();
    let holds = |term: Term| values[&term] != 0;
    let mut seen: HashSet<Term> = HashSet::new();
    let mut open = vec![condition];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.node(term) {
            Node::And(a, b) if !holds(term) => {
                // One that was passed already costs nothing.
                let other = if holds(a) { b } else { a };
                let known = !holds(a) && !holds(b) && seen.contains(&b);
                open.push(if known { b } else { other });
            }
            Node::Ite(condition, then, otherwise) => {
                open.push(condition);
                open.push(if holds(condition) { then } else { otherwise });
            }
            Node::Select(array, index) => {
                open.push(index);
                let mut at = array;
                loop {
                    match terms.node(at) {
                        Node::Store(below, there, element) => {
                            open.push(there);
                            if values[&there] == values[&index] {
                                open.push(element);
                                break;
                            }
                            at = below;
                        }
                        Node::Ite(condition, then, otherwise) => {
                            open.push(condition);
                            at = if holds(condition) { then } else { otherwise };
                        }
                        Node::ArrayOf(element) => {
                            open.push(element);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            _ => terms.for_each_part(term, |part| open.push(part)),
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 1 of the paper: `abs := x; if x < -1 then abs := -x; assert abs >= 0`.
    #[test]
    fn the_condition_of_a_branch_that_was_not_taken_decides() {
        let mut terms = Terms::new();
        let word = Sort::Bits(32);
        let x = terms.variable("x", word);
        let locations: Vec<Term> = (1..=3)
            .map(|line| terms.variable(&format!("location.{line}"), Sort::Bool))
            .collect();
        let statement = |terms: &mut Terms, location: usize, value: Term| {
            let sort = terms.sort(value);
            let any = terms.fresh("any", sort);
            terms.ite(locations[location], any, value)
        };
        let first = statement(&mut terms, 0, x);
        let minus_one = terms.constant(32, u128::from(u32::MAX));
        let less = terms.slt(x, minus_one);
        let condition = statement(&mut terms, 1, less);
        let negated = terms.neg(x);
        let second = statement(&mut terms, 2, negated);
        let abs = terms.ite(condition, second, first);
        let zero = terms.constant(32, 0);
        let fails = terms.slt(abs, zero);
        let mut model = Assignment::new();
        model.set_bits(&terms, x, u128::from(u32::MAX));
        assert!(terms.evaluate(fails, &model).truth());
        assert_eq!(
            deciding(&terms, fails, &locations, &model),
            BTreeSet::from([0, 1])
        );
    }

    #[test]
    fn what_an_array_holds_is_decided_by_the_store_that_wrote_it() {
        let mut terms = Terms::new();
        let locations: Vec<Term> = (0..3)
            .map(|line| terms.variable(&format!("location.{line}"), Sort::Bool))
            .collect();
        let byte = Sort::Bits(8);
        let mut array = terms.variable(
            "a",
            Sort::Array {
                index: 8,
                element: 8,
            },
        );
        let index: Vec<Term> = (0..3)
            .map(|n| terms.variable(&format!("i{n}"), byte))
            .collect();
        for (position, &location) in locations.iter().enumerate() {
            let any = terms.fresh("any", byte);
            let value = terms.constant(8, position as u128 + 1);
            let value = terms.ite(location, any, value);
            array = terms.store(array, index[position], value);
        }
        let at = terms.variable("at", byte);
        let element = terms.select(array, at);
        let two = terms.constant(8, 2);
        let condition = terms.eq(element, two);
        let mut model = Assignment::new();
        for (n, &variable) in index.iter().enumerate() {
            model.set_bits(&terms, variable, n as u128);
        }
        model.set_bits(&terms, at, 1);
        assert_eq!(
            deciding(&terms, condition, &locations, &model),
            BTreeSet::from([1])
        );
    }
}
