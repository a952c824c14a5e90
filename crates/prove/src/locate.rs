//! Must fault localization: the statements of which every repair changes at least one.

use std::collections::BTreeSet;

use patchwright_solve::{Answer, Assignment, Backend, Budget, Solver, Sort, Term, Terms};
use patchwright_symbolic::{Encoding, Location, Place};

use crate::{
    slice::deciding,
    spec::Spec,
    verdict::{Given, given, name_of},
};

/// The must sets of one counterexample: no repair leaves all statements of a set unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MustSets {
    /// What goes wrong for the input.
    pub message: String,
    /// The place of the failure.
    pub place: Option<Place>,
    /// The set of the paper's algorithm FOSFL, by file and line.
    pub slice: Vec<Place>,
    /// The statements that together make the program fail for this input; without one of them it need not.
    pub core: Vec<Place>,
    /// The input.
    pub input: Vec<Given>,
}

/// Returns the must sets of at most `most` failing executions, each with a failure at another place. The
/// first execution has the inputs `shown`. `encoding` must have locations. Statements whose place is not
/// `changeable` are in no set.
pub fn locate(
    terms: &mut Terms,
    encoding: &Encoding,
    spec: &Spec,
    changeable: &dyn Fn(&Place) -> bool,
    shown: &[Given],
    most: usize,
    budget: &Budget<'_>,
) -> Vec<MustSets> {
    let mut solver = Solver::new(Backend::default());
    let all: Vec<&Location> = encoding.locations.iter().collect();
    let (own, fixed): (Vec<&Location>, Vec<&Location>) =
        all.into_iter().partition(|one| changeable(&one.place));
    let locations: Vec<Term> = own.iter().map(|one| one.variable).collect();
    let fixed: Vec<Term> = fixed.iter().map(|one| terms.not(one.variable)).collect();
    let unchanged: Vec<Term> = locations.iter().map(|&one| terms.not(one)).collect();
    let known: Vec<&Given> = shown.iter().collect();
    let mut shown: Vec<Term> = Vec::new();
    for input in &encoding.inputs {
        let is_it = |given: &&&Given| given.kind == input.kind && given.name == name_of(input);
        if let Some(given) = known.iter().find(is_it) {
            shown.extend(has_value(terms, input.term, given.bits));
        }
    }
    let mut found: Vec<MustSets> = Vec::new();
    let mut left: Vec<usize> = (0..spec.wrong.len()).collect();
    while found.len() < most {
        let conditions: Vec<Term> = left.iter().map(|&at| spec.wrong[at].condition).collect();
        let fails = terms.or_all(conditions);
        let mut assumed = unchanged.clone();
        assumed.extend(&fixed);
        assumed.push(fails);
        let first = std::mem::take(&mut shown);
        let is_first = !first.is_empty();
        assumed.extend(first);
        if solver.check(terms, &assumed, budget) != Answer::Satisfiable {
            if is_first {
                continue;
            }
            break;
        }
        let model = solver.model().clone();
        let all: Vec<Term> = spec.wrong.iter().map(|one| one.condition).collect();
        let values = terms.evaluate_all(&all, &model);
        let Some(first) = values.iter().position(|value| value.truth()) else {
            break;
        };
        let wrong = &spec.wrong[first];
        // What is not executed decides nothing as long as nothing else changes.
        let reached: Vec<Term> = own.iter().map(|one| one.executed).collect();
        let reached = terms.evaluate_all(&reached, &model);
        let executed: BTreeSet<usize> = (0..own.len()).filter(|&at| reached[at].truth()).collect();
        let slice = deciding(terms, wrong.condition, &locations, &model);
        let mut question = Question {
            fixed: question(terms, spec, encoding, &fixed, &model),
            unchanged: &unchanged,
            solver: &mut solver,
            budget,
        };
        let of_executed: BTreeSet<usize> = slice.intersection(&executed).copied().collect();
        let slice = match question.must_change(terms, &of_executed) {
            Some(_) => of_executed,
            None => question.must_change(terms, &executed).unwrap_or(slice),
        };
        let core = question.core(terms, &executed);
        found.push(MustSets {
            message: wrong.message.clone(),
            place: wrong.place.clone(),
            core: places(&own, core.as_ref().unwrap_or(&slice)),
            slice: places(&own, &slice),
            input: given(terms, &encoding.inputs, &model),
        });
        left.retain(|&at| spec.wrong[at].place != wrong.place);
        if left.is_empty() {
            break;
        }
    }
    found
}

/// That a variable has a value; of arrays that is not said.
fn has_value(terms: &mut Terms, variable: Term, bits: u128) -> Option<Term> {
    match terms.sort(variable) {
        Sort::Bool if bits != 0 => Some(variable),
        Sort::Bool => Some(terms.not(variable)),
        Sort::Bits(width) => {
            let value = terms.constant(width, bits);
            Some(terms.eq(variable, value))
        }
        Sort::Array { .. } => None,
    }
}

/// That the program does not fail for the input of a model.
fn question(
    terms: &mut Terms,
    spec: &Spec,
    encoding: &Encoding,
    others: &[Term],
    model: &Assignment,
) -> Vec<Term> {
    let fails = spec.fails(terms);
    let mut fixed = vec![terms.not(fails)];
    fixed.extend(others);
    for input in &encoding.inputs {
        let bits = model.get(terms, input.term).bits();
        fixed.extend(has_value(terms, input.term, bits));
    }
    fixed
}

/// Which statements have to change, for one input.
struct Question<'a, 'b> {
    /// The program does not fail.
    fixed: Vec<Term>,
    /// Of each location, that it is unchanged.
    unchanged: &'a [Term],
    solver: &'a mut Solver,
    budget: &'a Budget<'b>,
}

impl Question<'_, '_> {
    /// Of locations one of which has to change, those that are needed to tell so.
    fn must_change(
        &mut self,
        terms: &mut Terms,
        locations: &BTreeSet<usize>,
    ) -> Option<BTreeSet<usize>> {
        let some = locations.iter().map(|&at| self.unchanged[at]);
        let assumed: Vec<Term> = self.fixed.iter().copied().chain(some).collect();
        if self.solver.check(terms, &assumed, self.budget) != Answer::Unsatisfiable {
            return None;
        }
        let core = self.solver.core();
        let needed = |at: &usize| core.contains(&self.unchanged[*at]);
        Some(locations.iter().copied().filter(needed).collect())
    }

    /// Of locations one of which has to change, so few that none can be left out.
    fn core(&mut self, terms: &mut Terms, locations: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        let mut open = self.must_change(terms, locations)?;
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        while let Some(candidate) = open.pop_last() {
            let rest: BTreeSet<usize> = open.union(&kept).copied().collect();
            match self.must_change(terms, &rest) {
                Some(less) => {
                    open.retain(|at| less.contains(at));
                    kept.retain(|at| less.contains(at));
                }
                None => {
                    kept.insert(candidate);
                }
            }
        }
        Some(kept)
    }
}

/// The places of locations, each line once, in order.
fn places(own: &[&Location], locations: &BTreeSet<usize>) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for &position in locations {
        let place = &own[position].place;
        if !found
            .iter()
            .any(|other| other.file == place.file && other.line == place.line)
        {
            found.push(place.clone());
        }
    }
    found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    found
}
