//! The usual times of tests.

use std::time::Duration;

use patchwright_exec::baseline::{Baseline, BaselineTest};

use crate::RepairOptions;

/// Processor time after which an execution has gone wrong: so many times what the test is expected to take
/// ([`Search::expected_cpu`]), and [`CPU_FLOOR`] more. A candidate that loops for ever is
/// ended by this long before its time is up; one that waits for ever is not.
pub(crate) const CPU_FACTOR: u32 = 10;

/// Tests wait if they take so many times their processor time…
const MUCH_WAITING: f64 = 2.0;

/// …and so long on average. To start a process is a wait, too.
const LEAST_WAITING: Duration = Duration::from_millis(100);

/// See [`CPU_FACTOR`].
pub(crate) const CPU_FLOOR: Duration = Duration::from_millis(50);

/// The time in which three of four passing tests end.
pub(crate) fn usual(baseline: &Baseline) -> Duration {
    three_of_four(baseline.passing().map(|test| test.expected))
}

/// The processor time with which three of four passing tests end.
pub(crate) fn usual_cpu(baseline: &Baseline) -> Duration {
    three_of_four(baseline.passing().map(BaselineTest::processor_time))
}

/// The processor time after which a test of a changed program has gone wrong.
pub(crate) fn most_cpu(baseline: &Baseline, test: usize) -> Duration {
    let known = &baseline.tests[test];
    let expected = match known.verdict.is_pass() {
        true => known.processor_time(),
        false => known.processor_time().max(usual_cpu(baseline)),
    };
    (expected * CPU_FACTOR + CPU_FLOOR).min(known.timeout)
}

/// The number of workers: one for each processor, or more where tests wait most of their time.
pub(crate) fn workers(baseline: &Baseline, options: &RepairOptions) -> usize {
    let passing = || {
        baseline
            .passing()
            .filter(|test| !test.expected_cpu.is_zero())
    };
    let time: Duration = passing().map(|test| test.expected).sum();
    let computing: Duration = passing().map(|test| test.expected_cpu).sum();
    let waits = time.as_secs_f64() / computing.as_secs_f64().max(f64::MIN_POSITIVE);
    if time < LEAST_WAITING * passing().count() as u32 || waits < MUCH_WAITING {
        return options.jobs;
    }
    let wanted = (options.jobs as f64 * waits) as usize;
    wanted.clamp(options.jobs, options.jobs_that_wait.max(options.jobs))
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

#[cfg(test)]
mod tests {
    use patchwright_exec::Verdict;

    use super::*;

    fn test(index: usize, expected: u64, verdict: Verdict) -> BaselineTest {
        BaselineTest {
            index,
            name: index.to_string(),
            verdict,
            flaky: false,
            lost_patience: false,
            durations: [Duration::ZERO; 2],
            timeout: Duration::MAX,
            expected: Duration::from_millis(expected),
            expected_cpu: Duration::from_millis(expected),
            said: None,
        }
    }

    #[test]
    fn tests_that_wait_get_more_workers_and_those_that_compute_or_are_short_do_not() {
        let workers_of = |expected: u64, cpu: u64, (jobs, jobs_that_wait): (usize, usize)| {
            let tests = (0..4).map(|index| BaselineTest {
                expected_cpu: Duration::from_millis(cpu),
                ..test(index, expected, Verdict::Pass)
            });
            let options = RepairOptions {
                jobs,
                jobs_that_wait,
                ..RepairOptions::default()
            };
            let tests = tests.collect();
            workers(&Baseline { tests, once: false }, &options)
        };
        assert_eq!(workers_of(2000, 4, (2, 8)), 8);
        assert_eq!(workers_of(900, 300, (2, 8)), 6);
        assert_eq!(workers_of(900, 800, (2, 8)), 2);
        assert_eq!(workers_of(20, 2, (2, 8)), 2);
        // The user has said how many.
        assert_eq!(workers_of(2000, 4, (3, 3)), 3);
        let none = Baseline {
            tests: Vec::new(),
            once: false,
        };
        assert_eq!(workers(&none, &RepairOptions::default()), 1);
    }

    #[test]
    fn what_is_usual_is_what_three_of_four_passing_tests_take() {
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
            usual(&Baseline { tests, once: false })
        };
        assert_eq!(of(&[]), Duration::ZERO);
        assert_eq!(of(&[7]), Duration::from_millis(7));
        assert_eq!(of(&[40, 1, 900, 30]), Duration::from_millis(900));
        assert_eq!(of(&[40, 1, 900, 30, 2]), Duration::from_millis(40));
    }
}
