//! Must fault localization: the statements of which every repair changes at least one.

use std::collections::BTreeSet;

use patchwright_solve::{Answer, Assignment, Backend, Budget, Solver, Sort, Term, Terms};
use patchwright_symbolic::{Encoding, Location, Place};

use crate::{slice::deciding, spec::Spec};

/// Sets of statements such that what goes wrong for an input cannot be mended without changing one of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MustSets {
    /// What goes wrong for the input.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The set of the paper's algorithm FOSFL, by file and line.
    pub slice: Vec<Place>,
    /// The statements that together make the program fail for this input; without one of them it need not.
    pub core: Vec<Place>,
    /// The input: names and bits of its variables.
    pub input: Vec<(String, u128)>,
}

/// The must sets of executions that go wrong: of at most `most` of them, each in another place. `encoding` has
/// locations; those whose place is not `changeable` stay as they are.
pub fn locate(
    terms: &mut Terms,
    encoding: &Encoding,
    spec: &Spec,
    changeable: &dyn Fn(&Place) -> bool,
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
    let mut found: Vec<MustSets> = Vec::new();
    let mut left: Vec<usize> = (0..spec.wrong.len()).collect();
    while found.len() < most {
        let conditions: Vec<Term> = left.iter().map(|&at| spec.wrong[at].condition).collect();
        let fails = terms.or_all(conditions);
        let mut assumed = unchanged.clone();
        assumed.extend(&fixed);
        assumed.push(fails);
        if solver.check(terms, &assumed, budget) != Answer::Satisfiable {
            break;
        }
        let model = solver.model().clone();
        let all: Vec<Term> = spec.wrong.iter().map(|one| one.condition).collect();
        let values = terms.evaluate_all(&all, &model);
        let Some(first) = values.iter().position(|value| value.truth()) else {
            break;
        };
        let wrong = &spec.wrong[first];
        let slice = deciding(terms, wrong.condition, &locations, &model);
        let core = core(
            terms,
            &mut solver,
            spec,
            (&unchanged, &fixed),
            encoding,
            &model,
            budget,
        );
        found.push(MustSets {
            message: wrong.message.clone(),
            place: wrong.place.clone(),
            slice: places(&own, &slice),
            core: places(&own, &core.unwrap_or(slice)),
            input: encoding
                .inputs
                .iter()
                .map(|input| (input.name.clone(), model.get(terms, input.term).bits()))
                .collect(),
        });
        left.retain(|&at| spec.wrong[at].place != wrong.place);
        if left.is_empty() {
            break;
        }
    }
    found
}

/// The locations that, unchanged, make the program fail for the input of a model.
fn core(
    terms: &mut Terms,
    solver: &mut Solver,
    spec: &Spec,
    (unchanged, others): (&[Term], &[Term]),
    encoding: &Encoding,
    model: &Assignment,
    budget: &Budget<'_>,
) -> Option<BTreeSet<usize>> {
    let fails = spec.fails(terms);
    let mut fixed = vec![terms.not(fails)];
    fixed.extend(others);
    for input in &encoding.inputs {
        let bits = model.get(terms, input.term).bits();
        fixed.push(match terms.sort(input.term) {
            Sort::Bool if bits != 0 => input.term,
            Sort::Bool => terms.not(input.term),
            Sort::Bits(width) => {
                let value = terms.constant(width, bits);
                terms.eq(input.term, value)
            }
            Sort::Array { .. } => continue,
        });
    }
    let mut excluded = |some: &[Term]| -> Option<Vec<Term>> {
        let assumed: Vec<Term> = fixed.iter().chain(some).copied().collect();
        (solver.check(terms, &assumed, budget) == Answer::Unsatisfiable).then(|| {
            let core = solver.core();
            some.iter()
                .copied()
                .filter(|term| core.contains(term))
                .collect()
        })
    };
    let mut open = excluded(unchanged)?;
    let mut kept: Vec<Term> = Vec::new();
    while let Some(candidate) = open.pop() {
        let rest: Vec<Term> = open.iter().chain(&kept).copied().collect();
        match excluded(&rest) {
            Some(less) => {
                open.retain(|term| less.contains(term));
                kept.retain(|term| less.contains(term));
            }
            None => kept.push(candidate),
        }
    }
    Some(
        unchanged
            .iter()
            .enumerate()
            .filter(|(_, term)| kept.contains(term))
            .map(|(position, _)| position)
            .collect(),
    )
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
