//! In which order the search goes through costs and locations, and what it takes an execution to need.

use std::time::Duration;

use patchwright_exec::Baseline;
use patchwright_space::{HoleKind, term::Context};

use crate::{RepairOptions, family::Unit, instrument::HoleEntry};

/// The time in which three of four passing tests end.
pub(crate) fn usual(baseline: &Baseline) -> Duration {
    let mut times: Vec<Duration> = baseline.passing().map(|test| test.expected).collect();
    times.sort();
    let place = times.len() * 3 / 4;
    times
        .get(place.min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// The order of the search: costs with units. A whole space is explored by kinds of location, those first
/// that need fewest executions: whatever ends it early, as many candidates as possible have a verdict.
pub(crate) fn steps(
    units: &[Unit],
    holes: &[HoleEntry],
    options: &RepairOptions,
) -> Vec<(u32, usize)> {
    let entry = |unit: usize| &holes[units[unit].entry];
    let rank = |unit: usize| match entry(unit).hole.kind {
        HoleKind::Choice(_) => 4,
        HoleKind::Exit(_) => 3,
        HoleKind::Assignment(_) => 2,
        _ => u8::from(entry(unit).hole.context != Context::Truth),
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

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_exec::{BaselineTest, Verdict};

    #[test]
    fn what_is_usual_is_what_three_of_four_passing_tests_take() {
        let test = |index, expected, verdict| BaselineTest {
            index,
            name: index.to_string(),
            verdict,
            flaky: false,
            lost_patience: false,
            durations: [Duration::ZERO; 2],
            timeout: Duration::MAX,
            expected: Duration::from_millis(expected),
        };
        let of = |times: &[u64]| {
            let passing = times
                .iter()
                .enumerate()
                .map(|(index, time)| test(index, *time, Verdict::Pass));
            let crash = test(
                99,
                5000,
                Verdict::Fail(patchwright_exec::FailReason::Signal(6)),
            );
            let tests = passing.chain([crash]).collect();
            usual(&Baseline { tests })
        };
        assert_eq!(of(&[]), Duration::ZERO);
        assert_eq!(of(&[7]), Duration::from_millis(7));
        assert_eq!(of(&[40, 1, 900, 30]), Duration::from_millis(900));
        assert_eq!(of(&[40, 1, 900, 30, 2]), Duration::from_millis(40));
    }
}
