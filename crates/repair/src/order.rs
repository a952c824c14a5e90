//! The order in which the search goes through costs and locations.

use std::collections::BTreeSet;

use patchwright_space::{Form, HoleKind, Schema, exits::Conditions, term::Context};

use crate::{RepairOptions, family::Unit, instrumented::HoleEntry, likelihood::Weights};

/// So many conditions next to where failing tests crash, and next to each call on the way there, are explored ahead of all else…
const CONDITIONS_AT_CRASHES: usize = 12;

/// …if they are not so many lines away…
const LINES_FROM_CRASH: u32 = 25;

/// …and by so many costs. A check is missing there mostly, and checks cost more than other changes. A whole program has too many
/// locations to try all cheaper changes before. First values come ahead likewise, where tests fail because a variable has none.
const COSTS_AHEAD: u32 = 3;

/// Where many locations are looked at, so many of the most suspicious ones have their turn at their cost. Those behind them wait until
/// cheaper changes have been tried at more of them: the likeliest change of each of many comes before the hundredth of one.
const NEAR: usize = 400;

/// So many times as many wait for one cost more than those before.
const FURTHER: usize = 4;

/// So many functions of the stack.
const FRAMES: u32 = 3;

/// Of the nearness of a crash itself, so much makes a location one where it happens.
const AT_CRASH: f64 = 0.9;

/// The candidates of one cost at one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// When they are explored: with all others of this cost.
    pub(crate) level: u32,
    /// Their cost.
    pub(crate) cost: u32,
    /// The unit.
    pub(crate) unit: usize,
}

/// The order of the search. At each cost, alternatives come first, moved statements last of them: they are few, and one that passes
/// all tests hardly does so by chance. Likely alternatives come one cost earlier. Conditions are next: they have few classes. Those at crashes are some costs ahead, as are
/// first values if the program `reads_unset` variables. A whole space is explored by kinds of location, those first
/// that need fewest executions: whatever ends it early, as many candidates as possible have a verdict.
pub(crate) fn steps(
    units: &[Unit],
    holes: &[HoleEntry],
    options: &RepairOptions,
    reads_unset: bool,
) -> Vec<Step> {
    let entry = |unit: usize| &holes[units[unit].entry];
    let rank = |unit: usize| match &entry(unit).hole.kind {
        HoleKind::Choice(_) if options.all => 5,
        HoleKind::Choice(choice) if matches!(choice.form, Form::Moved(_)) => 1,
        HoleKind::Choice(_) => 0,
        HoleKind::Exit(_) => 5,
        HoleKind::Assignment(_) => 4,
        _ if entry(unit).hole.context == Context::Truth => 2,
        _ => 3,
    };
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|&a, &b| {
        let by_suspicion = entry(a).by_suspicion(entry(b));
        rank(a).cmp(&rank(b)).then(by_suspicion).then(a.cmp(&b))
    });
    let at_crashes = match options.all {
        true => BTreeSet::new(),
        false => {
            let mut ahead = conditions_at_crashes(holes);
            let first = first_values(holes).filter(|_| reads_unset);
            ahead.extend(first);
            ahead
        }
    };
    let later = match options.all {
        true => vec![0; holes.len()],
        false => later(holes),
    };
    let costs = 1..=options.max_cost;
    let mut steps: Vec<Step> = costs
        .flat_map(|cost| order.iter().map(move |&unit| (cost, unit)))
        .map(|(cost, unit)| {
            let ahead = match at_crashes.contains(&units[unit].entry) {
                true => COSTS_AHEAD,
                false => 0,
            };
            let early = u32::from(
                !options.all && is_likely(&options.weights, &entry(unit).hole.kind, cost),
            );
            let level = (cost + later[units[unit].entry])
                .saturating_sub(ahead.max(early))
                .max(1);
            Step { level, cost, unit }
        })
        .collect();
    if options.all {
        steps.sort_by_key(|step| (rank(step.unit), step.cost));
    } else {
        // At a crash first: whole programs may have too many locations for one cost.
        steps.sort_by_key(|step| {
            let is_at_crash = at_crashes.contains(&units[step.unit].entry);
            (step.level, !is_at_crash, step.cost)
        });
    }
    steps
}

/// Whether alternatives of this cost are likelier than expressions that cost one less. They are few, so they come as early as those.
fn is_likely(weights: &Weights, kind: &HoleKind, cost: u32) -> bool {
    let HoleKind::Choice(choice) = kind else {
        return false;
    };
    let least = weights.bits_of_kind(Schema::Expression, cost.saturating_sub(1));
    let mut of_cost = (choice.alternatives.iter()).filter(|alternative| alternative.cost == cost);
    of_cost.any(|alternative| weights.bits_of_kind(alternative.schema, cost) < least)
}

/// How many costs later each location has its turn.
fn later(holes: &[HoleEntry]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..holes.len()).collect();
    order.sort_by(|&a, &b| holes[a].by_suspicion(&holes[b]).then(a.cmp(&b)));
    let mut later = vec![0; holes.len()];
    let (mut counted, mut end, mut by) = (0, NEAR, 0);
    for hole in order {
        if counted >= end {
            end *= FURTHER;
            by += 1;
        }
        counted += usize::from(holes[hole].is_counted());
        later[hole] = by;
    }
    later
}

/// The declarations that get a first value, and what is cleared.
fn first_values(holes: &[HoleEntry]) -> impl Iterator<Item = usize> {
    let numbered = holes.iter().enumerate();
    let first = numbered.filter(|(_, entry)| match &entry.hole.kind {
        HoleKind::Choice(choice) => {
            let mut alternatives = choice.alternatives.iter();
            alternatives.any(|alternative| alternative.schema == Schema::Initialization)
        }
        _ => false,
    });
    first.map(|(number, _)| number)
}

/// The conditions next to where failing tests crash, in the same function, or to the calls from there on.
fn conditions_at_crashes(holes: &[HoleEntry]) -> BTreeSet<usize> {
    let nearest = holes.iter().map(|hole| hole.nearness).fold(0.0, f64::max);
    let mut all = BTreeSet::new();
    if nearest == 0.0 {
        return all;
    }
    let mut functions = BTreeSet::new();
    for depth in 1..=FRAMES {
        // All of a function on the stack is as near as the next statement on it, which is of another function.
        let least = nearest * AT_CRASH / f64::from(depth);
        let crashes: Vec<&HoleEntry> = holes
            .iter()
            .filter(|hole| hole.nearness > least)
            .filter(|hole| !functions.contains(&place(hole)))
            .collect();
        let distance = |hole: &HoleEntry| {
            let same = |crash: &&&HoleEntry| place(crash) == place(hole);
            let lines = crashes.iter().filter(same);
            lines.map(|crash| crash.line.abs_diff(hole.line)).min()
        };
        let near = |wanted: &dyn Fn(&HoleEntry) -> bool| -> Vec<(u32, usize)> {
            let numbered = holes.iter().enumerate();
            let wanted = numbered.filter(|(_, hole)| wanted(hole));
            let mut found: Vec<(u32, usize)> = wanted
                .filter_map(|(number, hole)| Some((distance(hole)?, number)))
                .filter(|&(distance, _)| distance <= LINES_FROM_CRASH)
                .collect();
            found.sort_unstable();
            found
        };
        let mut conditions = near(&|hole| hole.hole.context == Context::Truth);
        conditions.truncate(CONDITIONS_AT_CRASHES);
        let furthest = conditions.last().map_or(0, |&(distance, _)| distance);
        let exits = near(&|hole| leaves_from_crash(hole)).into_iter();
        all.extend(conditions.into_iter().map(|(_, number)| number));
        all.extend(
            exits
                .filter(|exit| exit.0 <= furthest)
                .map(|(_, number)| number),
        );
        functions.extend(crashes.into_iter().map(place));
    }
    all
}

fn place(hole: &HoleEntry) -> (usize, usize) {
    (hole.file, hole.hole.function)
}

/// Whether the hole holds only early exits against crashes. They stand before the crashing statement, or at the beginning of the
/// function, as against an endless recursion.
fn leaves_from_crash(hole: &HoleEntry) -> bool {
    matches!(&hole.hole.kind, HoleKind::Exit(exits) if exits.under != Conditions::All)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use patchwright_space::{Hole, Leaves, exits::Exits};
    use patchwright_text::Span;
    use patchwright_weave::{FunctionId, HoleId};

    use super::*;

    /// A hole on a line of a function, so near to a crash.
    fn hole(function: usize, line: u32, kind: HoleKind, nearness: f64) -> HoleEntry {
        HoleEntry {
            file: 0,
            line,
            place: String::new(),
            expr: None,
            hole: Hole {
                function,
                span: Span::new(line, line + 1),
                context: match kind {
                    HoleKind::Guard { .. } => Context::Truth,
                    _ => Context::Same,
                },
                kind,
                ctype: None,
                atoms: Default::default(),
                scope: Default::default(),
                expr: None,
                in_macro_argument: false,
                captured: None,
            },
            leaves: Leaves::default(),
            id: HoleId(0),
            function: FunctionId(function as u32),
            visited_by: BTreeSet::new(),
            is_partial: false,
            nearness,
            held: 0.0,
            suspiciousness: nearness,
            order: 0,
        }
    }

    fn guard() -> HoleKind {
        let (size, is_body) = (1, false);
        HoleKind::Guard { size, is_body }
    }

    fn exit(under: Conditions) -> HoleKind {
        let (is_body, ways) = (false, Vec::new());
        HoleKind::Exit(Exits {
            is_body,
            ways,
            under,
        })
    }

    #[test]
    fn conditions_at_a_crash_and_at_the_call_before_it_are_ahead() {
        let (at_crash, at_call) = (1.0, 0.5);
        // All of the function that crashes is as near as the call of it, all of the caller less.
        let (beside_crash, beside_call) = (0.5, 1.0 / 3.0);
        let holes = [
            hole(0, 10, guard(), at_crash),
            hole(0, 12, guard(), beside_crash),
            hole(0, 90, guard(), beside_crash),
            hole(0, 11, exit(Conditions::CrashFree), beside_crash),
            hole(0, 11, exit(Conditions::All), beside_crash),
            hole(1, 200, guard(), at_call),
            hole(1, 210, guard(), beside_call),
            hole(1, 400, guard(), beside_call),
            hole(2, 500, guard(), 0.0),
        ];
        let ahead: Vec<usize> = conditions_at_crashes(&holes).into_iter().collect();
        assert_eq!(ahead, [0, 1, 3, 5, 6]);
    }

    #[test]
    fn without_a_crash_nothing_is_ahead() {
        let holes = [hole(0, 10, guard(), 0.0), hole(0, 11, guard(), 0.0)];
        assert!(conditions_at_crashes(&holes).is_empty());
    }
}
