//! Turns the mutations of a program into a question for the search, and repairs into text.

use std::collections::BTreeMap;

use patchwright_solve::{Answer, Backend, Budget, Solver, Term, Terms};

use crate::{
    enumerate::enumerate,
    level::Level,
    mutation::{Mutations, Unfit, changed},
    question::{Choosable, Question, Repair},
    source::Source,
    spec::Spec,
};

/// Returns the mutations of all sources at a level.
pub fn mutations(sources: &[Source], level: Level) -> Vec<Mutations> {
    let mut next = 1;
    sources
        .iter()
        .enumerate()
        .map(|(position, source)| {
            enumerate(&source.unit, position, level, &source.trusted, &mut next)
        })
        .collect()
}

/// Returns the number of alternatives for each number of a choice.
pub fn choices(mutations: &[Mutations]) -> BTreeMap<u32, u32> {
    let sites = mutations.iter().flat_map(|one| &one.sites);
    sites
        .map(|site| (site.number, site.mutations.len() as u32))
        .collect()
}

/// Returns the question that a repair has to answer, up to the bound of the encoding. If some execution
/// of the original program reaches what the specification is about, some execution of a repair must do
/// so, too.
pub fn question(
    terms: &mut Terms,
    spec: &Spec,
    mutations: &[Mutations],
    budget: &Budget<'_>,
) -> Question {
    let sites = || mutations.iter().flat_map(|one| &one.sites);
    let choosable: Vec<Choosable> = sites()
        .map(|site| Choosable {
            number: site.number,
            open: site
                .mutations
                .iter()
                .map(|mutation| mutation.open)
                .collect(),
        })
        .collect();
    let mut original = Vec::new();
    for site in sites() {
        for which in 1..=site.mutations.len() {
            let name = format!("choice.{}.{which}", site.number);
            let choice = terms.variable(&name, patchwright_solve::Sort::Bool);
            original.push((choice, terms.truth(false)));
        }
    }
    let original = original
        .into_iter()
        .collect::<rustc_hash::FxHashMap<_, _>>();
    let parts = [spec.concerned, spec.unwinding, spec.endless];
    let parts = terms.substitute_all(&parts, &original);
    let (concerned, beyond, endless) = (parts[0], parts[1], parts[2]);
    let mut solver = Solver::new(Backend::default());
    let ever = solver.check(terms, &[concerned], budget) != Answer::Unsatisfiable;
    let newly = |terms: &mut Terms, now: Term, before: Term| {
        let not_before = terms.not(before);
        terms.and(now, not_before)
    };
    let clearly = spec.fails_clearly(terms);
    let never_ends = newly(terms, spec.endless, endless);
    let goes_on = newly(terms, spec.unwinding, beyond);
    let any = spec.fails(terms);
    Question {
        fails: terms.or(clearly, never_ends),
        bad: terms.or_all([any, never_ends, goes_on, spec.unknown]),
        beyond: spec.unwinding,
        some: ever.then_some(spec.fulfilled),
        seen: spec.seen.clone(),
        choosable,
        constants: sites()
            .flat_map(|site| &site.mutations)
            .filter_map(|mutation| Some((mutation.open?, mutation.range)))
            .collect(),
        near: sites()
            .flat_map(|site| &site.mutations)
            .filter_map(|mutation| Some((mutation.open?, mutation.near)))
            .collect(),
    }
}

/// Returns the new text of each source that a repair changes, with its position.
///
/// # Errors
/// When its changes do not fit together, which is a mistake of ours.
pub fn patched(
    sources: &[Source],
    mutations: &[Mutations],
    repair: &Repair,
) -> Result<Vec<(usize, Vec<u8>)>, Unfit> {
    let mut found = Vec::new();
    for (position, (source, own)) in sources.iter().zip(mutations).enumerate() {
        let touched = own
            .sites
            .iter()
            .any(|site| repair.changes.iter().any(|change| change.0 == site.number));
        if touched {
            let text = changed(
                &source.unit.source,
                &own.sites,
                &repair.changes,
                &repair.constants,
            )?;
            found.push((position, text));
        }
    }
    Ok(found)
}
