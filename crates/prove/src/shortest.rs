//! Finds the failure that an execution meets first, so that counterexamples are short.

use patchwright_solve::{Answer, Assignment, Budget, Solver, Term, Terms};

use patchwright_symbolic::Input;

use crate::spec::Spec;

/// Returns a model in which one of the first failures of the list happens, as far as that is found within the budget, with the condition
/// that it satisfies. `model` is a model with any failure. Failures are listed in the order in which executions meet them, round after
/// round of a loop.
pub(crate) fn shortest(
    terms: &mut Terms,
    (spec, inputs): (&Spec, &[Input]),
    solver: &mut Solver,
    fails: Term,
    model: Assignment,
    budget: &Budget<'_>,
) -> (Term, Assignment) {
    let conditions: Vec<Term> = spec.wrong.iter().map(|one| one.condition).collect();
    let first = |terms: &Terms, model: &Assignment| {
        let values = terms.evaluate_all(&conditions, model);
        values.iter().position(|value| value.truth())
    };
    let Some(mut most) = first(terms, &model) else {
        return (fails, model);
    };
    let (mut best, mut known) = (model, fails);
    // None of the first `none` happens, as far as was found out.
    let mut none = 0;
    while none < most {
        let middle = none + (most - none).div_ceil(2);
        let early = terms.or_all(conditions[none..middle].iter().copied());
        let wanted = terms.and(fails, early);
        match solver.check(terms, &[wanted], budget) {
            Answer::Satisfiable => {
                best = solver.model().clone();
                known = wanted;
                most = match first(terms, &best) {
                    Some(found) if found < most => found,
                    _ => break,
                };
            }
            Answer::Unsatisfiable => none = middle,
            Answer::Unknown => break,
        }
    }
    fewer_inputs(terms, inputs, solver, known, best, budget)
}

/// An execution that consumes fewer inputs: one that does not get to where one of them is consumed, and then to none behind it.
fn fewer_inputs(
    terms: &mut Terms,
    inputs: &[Input],
    solver: &mut Solver,
    fails: Term,
    model: Assignment,
    budget: &Budget<'_>,
) -> (Term, Assignment) {
    let conditions: Vec<Term> = inputs.iter().map(|input| input.condition).collect();
    let consumed = |terms: &Terms, model: &Assignment| {
        let values = terms.evaluate_all(&conditions, model);
        values.iter().rposition(|value| value.truth())
    };
    let (mut best, mut known) = (model, fails);
    let Some(mut last) = consumed(terms, &best) else {
        return (known, best);
    };
    // The input with this number is consumed in each, as far as was found out.
    let mut needed = 0;
    while needed <= last {
        let middle = needed + (last - needed) / 2;
        let without = terms.not(conditions[middle]);
        let wanted = terms.and(fails, without);
        match solver.check(terms, &[wanted], budget) {
            Answer::Satisfiable => {
                let found = solver.model().clone();
                match consumed(terms, &found) {
                    Some(other) if other < last => {
                        (best, known, last) = (found, wanted, other);
                    }
                    Some(_) => needed = middle + 1,
                    None => return (wanted, found),
                }
            }
            Answer::Unsatisfiable => needed = middle + 1,
            Answer::Unknown => break,
        }
    }
    (known, best)
}
