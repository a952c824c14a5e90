//! The tests of the untouched program, before anything is changed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::runner::Runner;
use crate::sandbox::Sandbox;
use crate::suite::TestSuite;
use crate::verdict::{TestError, TestRun, Verdict, run_test};

/// What every test of a suite does on the untouched program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// One for each test of the suite, in its order.
    pub tests: Vec<BaselineTest>,
}

/// What one test does on the untouched program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineTest {
    /// Its number in the suite, from 0.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The verdict of the first run.
    pub verdict: Verdict,
    /// How long the two runs took.
    pub durations: [Duration; 2],
    /// Whether one run passed and the other failed: such a test tells nothing and is set aside.
    pub flaky: bool,
    /// The time-out to use from now on.
    pub timeout: Duration,
}

/// How to measure a baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BaselineOptions {
    /// The limits of each test; the time-out of the suite, if it has one, replaces `limits.wall`.
    pub limits: Limits,
    /// How time-outs are derived.
    pub rule: TimeoutRule,
}

/// How the time-out of a test follows from the time that it takes on the untouched program:
/// max(floor, factor × time + slack).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeoutRule {
    /// The least time-out.
    pub floor: Duration,
    /// How many times as long a test may take.
    pub factor: f64,
    /// What is added to that.
    pub slack: Duration,
}

impl TimeoutRule {
    /// The time-out of a test that takes this long.
    fn derive(&self, longest: Duration) -> Duration {
        let seconds = longest.as_secs_f64() * self.factor.max(0.0);
        let allowed = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.floor.max(allowed.saturating_add(self.slack))
    }
}

impl Default for TimeoutRule {
    /// Five times as long and a second, at least 2 s.
    fn default() -> Self {
        TimeoutRule {
            floor: Duration::from_secs(2),
            factor: 5.0,
            slack: Duration::from_secs(1),
        }
    }
}

impl Baseline {
    /// Runs all tests in order, twice, in a sandbox with the built program. `progress` is told the
    /// number of runs done so far, of twice as many as there are tests.
    ///
    /// The derived time-out of a test is the suite's own if it gives one, else
    /// what the rule gives for the longer of its two runs. A test that hangs tells nothing about its
    /// time, so it gets what the slowest of the others would get.
    ///
    /// # Errors
    /// A test that cannot be run at all.
    pub fn measure(
        runner: &mut Runner,
        sandbox: &Sandbox,
        suite: &TestSuite,
        options: &BaselineOptions,
        mut progress: impl FnMut(usize),
    ) -> Result<Self, TestError> {
        let mut done = 0;
        let mut run_all = |limits: &dyn Fn(usize) -> Limits| {
            let mut runs = Vec::with_capacity(suite.tests.len());
            for (index, test) in suite.tests.iter().enumerate() {
                let limits = limits(index);
                runs.push(run_test(
                    runner,
                    sandbox,
                    test,
                    &suite.environment,
                    &limits,
                )?);
                done += 1;
                progress(done);
            }
            Ok::<_, TestError>(runs)
        };
        let first_wall = suite.timeout.unwrap_or(options.limits.wall);
        let first = run_all(&|_| Limits {
            wall: first_wall,
            ..options.limits.clone()
        })?;
        let derived = |longest: Duration| {
            suite
                .timeout
                .unwrap_or_else(|| options.rule.derive(longest).min(first_wall))
        };
        let hangs = |run: &TestRun| matches!(run.outcome.ending, crate::Ending::TimedOut(_));
        let slowest = first
            .iter()
            .filter(|run| !hangs(run))
            .map(|run| run.outcome.wall)
            .max();
        let hanging = derived(slowest.unwrap_or_default());
        // A test that hung is not waited for as long again.
        let second = run_all(&|index| {
            let wall = if hangs(&first[index]) {
                hanging
            } else {
                first_wall
            };
            Limits {
                wall,
                ..options.limits.clone()
            }
        })?;
        let tests = suite
            .tests
            .iter()
            .zip(first.into_iter().zip(second))
            .enumerate();
        let tests = tests.map(|(index, (test, (first, second)))| {
            let durations = [first.outcome.wall, second.outcome.wall];
            let timeout = if hangs(&first) || hangs(&second) {
                hanging
            } else {
                derived(durations[0].max(durations[1]))
            };
            BaselineTest {
                index,
                name: test.name.clone(),
                flaky: first.verdict.is_pass() != second.verdict.is_pass(),
                verdict: first.verdict,
                durations,
                timeout,
            }
        });
        Ok(Baseline {
            tests: tests.collect(),
        })
    }

    /// The tests that passed both times.
    pub fn passing(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests
            .iter()
            .filter(|test| !test.flaky && test.verdict.is_pass())
    }

    /// The tests that failed both times.
    pub fn failing(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests
            .iter()
            .filter(|test| !test.flaky && !test.verdict.is_pass())
    }

    /// The tests that are set aside.
    pub fn flaky(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests.iter().filter(|test| test.flaky)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_time_outs_have_a_floor() {
        let rule = TimeoutRule::default();
        assert_eq!(rule.derive(Duration::from_millis(3)), rule.floor);
        assert_eq!(rule.derive(Duration::from_secs(1)), Duration::from_secs(6));
    }
}
