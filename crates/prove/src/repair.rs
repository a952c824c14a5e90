//! Repairs of a program: its mutations as a question to the search, and the answers as text.

use std::collections::BTreeMap;

use patchwright_solve::{Answer, Backend, Budget, Solver, Terms};

use crate::{
    enumerate::enumerate,
    level::Level,
    mutation::{Mutations, Unfit, changed},
    question::{Choosable, Question, Repair},
    source::Source,
    spec::Spec,
};

/// The mutations of all sources.
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

/// For each number of a choice how many alternatives it has.
pub fn choices(mutations: &[Mutations]) -> BTreeMap<u32, u32> {
    let sites = mutations.iter().flat_map(|one| &one.sites);
    sites
        .map(|site| (site.number, site.mutations.len() as u32))
        .collect()
}

/// What a repair has to achieve. That some execution must do what the specification speaks of is asked only where some
/// execution of the program itself does.
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
    let concerned = terms.substitute(spec.concerned, &original);
    let mut solver = Solver::new(Backend::default());
    let ever = solver.check(terms, &[concerned], budget) != Answer::Unsatisfiable;
    let bad = spec.bad(terms);
    Question {
        bad,
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

/// The sources that a repair changes, by their positions, and their new texts.
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
