//! In which order the search goes through costs and locations.

use patchwright_space::{Form, HoleKind, term::Context};

use crate::{RepairOptions, family::Unit, instrument::HoleEntry};

/// The order of the search: costs with units. At each cost, conditions come first: they have few classes. So do alternatives, which are few, but for
/// moved statements. A whole space is explored by kinds of location, those first
/// that need fewest executions: whatever ends it early, as many candidates as possible have a verdict.
pub(crate) fn steps(
    units: &[Unit],
    holes: &[HoleEntry],
    options: &RepairOptions,
) -> Vec<(u32, usize)> {
    let entry = |unit: usize| &holes[units[unit].entry];
    let rank = |unit: usize| match &entry(unit).hole.kind {
        HoleKind::Choice(choice) if options.all || matches!(choice.form, Form::Moved(_)) => 5,
        HoleKind::Choice(_) => 1,
        HoleKind::Exit(_) => 4,
        HoleKind::Assignment(_) => 3,
        _ if entry(unit).hole.context == Context::Truth => 0,
        _ => 2,
    };
    let suspicion = |unit: usize| entry(unit).suspiciousness;
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|&a, &b| {
        let by_suspicion = suspicion(b).total_cmp(&suspicion(a));
        rank(a).cmp(&rank(b)).then(by_suspicion).then(a.cmp(&b))
    });
    let costs = 1..=options.max_cost;
    let mut steps: Vec<(u32, usize)> = costs
        .flat_map(|cost| order.iter().map(move |&unit| (cost, unit)))
        .collect();
    if options.all {
        steps.sort_by_key(|&(cost, unit)| (rank(unit), cost));
    }
    steps
}
