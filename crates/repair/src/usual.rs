//! The time that tests usually take.

use std::time::Duration;

use patchwright_exec::baseline::{Baseline, BaselineTest};

/// Processor time after which an execution has gone wrong: so many times what the test is expected to take
/// ([`Search::expected_cpu`]), and [`CPU_FLOOR`] more. A candidate that loops for ever is
/// ended by this long before its time is up; one that waits for ever is not.
pub(crate) const CPU_FACTOR: u32 = 10;

/// See [`CPU_FACTOR`].
pub(crate) const CPU_FLOOR: Duration = Duration::from_millis(50);

/// The time in which three of four passing tests end.
pub(crate) fn usual(baseline: &Baseline) -> Duration {
    three_of_four(baseline.passing().map(|test| test.expected))
}

/// The processor time with which three of four passing tests end.
pub(crate) fn usual_cpu(baseline: &Baseline) -> Duration {
    three_of_four(baseline.passing().map(cpu))
}

/// The processor time after which a test of a changed program has gone wrong.
pub(crate) fn most_cpu(baseline: &Baseline, test: usize) -> Duration {
    let known = &baseline.tests[test];
    let expected = match known.verdict.is_pass() {
        true => cpu(known),
        false => cpu(known).max(usual_cpu(baseline)),
    };
    (expected * CPU_FACTOR + CPU_FLOOR).min(known.timeout)
}

/// The processor time that is expected of a test; where it is not known, the time.
pub(crate) fn cpu(test: &BaselineTest) -> Duration {
    match test.expected_cpu.is_zero() {
        true => test.expected,
        false => test.expected_cpu,
    }
}

fn three_of_four(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    let place = times.len() * 3 / 4;
    times
        .get(place.min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}
