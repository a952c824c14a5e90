//! Runs the tests of the untouched program and derives their time-outs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::runner::{Ending, Runner, TimeKind};
use crate::sandbox::Sandbox;
use crate::suite::{Comparison, TestKind, TestSuite};
use crate::verdict::{FailReason, TestError, TestRun, Verdict, run_test};

/// The verdicts, times and outputs of all tests of a suite on the untouched program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// One for each test of the suite, in its order.
    pub tests: Vec<BaselineTest>,
    /// Each test was run once, so none is known to be flaky.
    #[serde(default)]
    pub once: bool,
}

/// The runs of one test on the untouched program.
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
    /// Whether the first run was ended because it took much longer than the others, before its time was up ([`Patience`]).
    pub lost_patience: bool,
    /// The time to expect of a run: the longer of the two. A test that hangs tells nothing about its time, so a little more
    /// than the time of the slowest other test is expected.
    pub expected: Duration,
    /// The processor time to expect of a run: the longer of the two. It does not depend on what else the machine does.
    #[serde(default)]
    pub expected_cpu: Duration,
    /// The last lines that a failing test printed, for messages.
    #[serde(default)]
    pub said: Option<String>,
}

/// Signals with which programs crash.
const CRASHES: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// What a test prints whose program crashes with a status of its own.
const REPORTS: [&str; 4] = [
    "AddressSanitizer:",
    "==ABORTING",
    "runtime error: ",
    "Assertion `",
];

impl BaselineTest {
    /// Returns a message about how the test failed and what it printed: ` (test NAME: exit status
    /// 127; it printed: sh: prog: not found)`. It is empty if the test passed.
    pub fn failure(&self) -> String {
        match &self.verdict {
            Verdict::Pass => String::new(),
            Verdict::Fail(reason) => {
                let said = self.said.as_deref();
                let said = said.map(|text| format!("; it printed: {text}"));
                format!(
                    " (test {}: {reason}{})",
                    self.name,
                    said.unwrap_or_default()
                )
            }
        }
    }

    /// Whether it fails because memory is not freed, as LeakSanitizer says.
    fn leaks(&self) -> bool {
        let reported = match &self.verdict {
            Verdict::Fail(FailReason::SanitizerReport(line)) => Some(line),
            _ => None,
        };
        let mut said = reported.into_iter().chain(&self.said);
        said.any(|text| text.contains("LeakSanitizer") || text.contains("byte(s) leaked"))
    }

    /// Returns the processor time that a run is expected to take; the time where the processor time is not known.
    pub fn processor_time(&self) -> Duration {
        match self.expected_cpu.is_zero() {
            true => self.expected,
            false => self.expected_cpu,
        }
    }

    /// Returns `limits` with the derived time-out of this test. With `prove_endless` the runner also
    /// checks whether the test provably never ends, once it has used more processor time than
    /// expected.
    pub fn limits(&self, limits: &Limits, prove_endless: bool) -> Limits {
        let expected = self.expected * 3 / 2;
        Limits {
            wall: self.timeout,
            endless_after: prove_endless.then_some(expected.max(LEAST_BEFORE_LOOK)),
            ..limits.clone()
        }
    }
}

/// How [`Baseline::measure`] runs the tests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BaselineOptions {
    /// The limits of each test; the time-out of the suite, if it has one, replaces `limits.wall`.
    pub limits: Limits,
    /// How time-outs are derived.
    pub rule: TimeoutRule,
    /// When a test counts as hanging.
    pub patience: Patience,
    /// A test that provably never ends is not waited for.
    pub prove_endless: bool,
    /// Each test is run once, not twice, so that none is known to be flaky.
    pub once: bool,
    /// Each test is run once, too, where the first runs have taken more processor time than this together.
    pub most_again: Option<Duration>,
}

impl BaselineOptions {
    /// Returns the largest number of runs of each test.
    pub fn runs(&self) -> usize {
        if self.once { 1 } else { 2 }
    }
}

/// How long [`Baseline::measure`] waits for a test that does not end, if the suite has no time-out. These
/// times are shorter than a minute, because a program may hang in many tests. Half of a time is enough if
/// it is processor time of a case's program, which waits for nothing. A script may compute for long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// The least time for the first test that hangs.
    pub first: Duration,
    /// The least time for each of the others.
    pub next: Duration,
    /// The time for each of the first tests while none has ended.
    pub unknown: Duration,
    /// The most time for the first test where none has ended, if it may wait for something.
    pub alone: Duration,
    /// How many times as long as the slowest test that ended, for the first one.
    pub first_factor: u32,
    /// The same for the others.
    pub next_factor: u32,
}

impl Patience {
    /// Returns the patience for a run with this `budget`. If no test ends, waiting takes at most a
    /// quarter of the budget.
    pub fn within(budget: Option<Duration>) -> Self {
        /// What the usual patience takes, four times.
        const ENOUGH: Duration = Duration::from_secs(120);
        let usual = Patience::default();
        let Some(budget) = budget.filter(|budget| *budget < ENOUGH) else {
            return usual;
        };
        let part = budget.as_secs_f64() / ENOUGH.as_secs_f64();
        Patience {
            first: usual.first.mul_f64(part),
            next: usual.next.mul_f64(part),
            unknown: usual.unknown.mul_f64(part),
            alone: budget / 8,
            ..usual
        }
    }

    /// How long a test is waited for after `hung` others have hung and the slowest that ended took so long.
    fn wall(&self, hung: usize, slowest: Option<Duration>) -> Duration {
        match (hung, slowest) {
            // Nothing has ended yet: it is waited for again when something has.
            (0..FIRST_UNKNOWN, None) => self.unknown,
            (_, None) => self.unknown / 4,
            (0, Some(slowest)) => self.first.max(slowest.saturating_mul(self.first_factor)),
            (_, Some(slowest)) => self.next.max(slowest.saturating_mul(self.next_factor)),
        }
    }
}

impl Default for Patience {
    /// Returns the usual patience: 20 s and 300 times the slowest test so far, later 5 s and 100 times. A suite may have slow tests, but
    /// hardly one of 20 s whose others all take less than 70 ms. If nothing ends, the first test is waited for again for half of the
    /// 20 s and the next one for 5 s. These two decide about the others, so that nobody waits for each of them.
    fn default() -> Self {
        Patience {
            first: Duration::from_secs(20),
            next: Duration::from_secs(5),
            unknown: Duration::from_secs(2),
            alone: Duration::MAX,
            first_factor: 300,
            next_factor: 100,
        }
    }
}

/// How many tests get all of [`Patience::unknown`].
const FIRST_UNKNOWN: usize = 3;

/// A test that hangs is ended when it has computed for this part of the time for which it would be waited for.
const COMPUTING_SHARE: u32 = 2;

/// The least processor time after which it is looked whether a test never ends.
const LEAST_BEFORE_LOOK: Duration = Duration::from_millis(20);
/// The same for a test that is run for the first time, of which nothing is known yet.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// Added to the time that is expected of a test that hangs: nobody knows how long it would take.
const HANGING_EXPECTED: Duration = Duration::from_millis(20);

/// How the time-out of a test follows from its time on the untouched program: max(floor, factor × time +
/// slack).
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
    /// Returns the time-out of a test whose longest run took `longest`.
    pub fn derive(&self, longest: Duration) -> Duration {
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

/// Most lines, and most characters of each, that are kept of what a failing test printed.
const WORDS: (usize, usize) = (3, 160);

/// What a test that failed printed last: on standard error, else on standard output.
fn last_words(run: &TestRun) -> Option<String> {
    if run.verdict.is_pass() {
        return None;
    }
    let streams = [&run.outcome.stderr, &run.outcome.stdout];
    streams.into_iter().find_map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let last = &lines[lines.len().saturating_sub(WORDS.0)..];
        let last = last
            .iter()
            .map(|line| line.trim_end().chars().take(WORDS.1).collect());
        let last: Vec<String> = last.collect();
        (!last.is_empty()).then(|| last.join("\n"))
    })
}

fn forget_output(run: &mut TestRun) {
    run.outcome.stdout = Vec::new();
    run.outcome.stderr = Vec::new();
}

impl Baseline {
    /// Runs all tests in order, twice ([`BaselineOptions::once`]: once), in a sandbox with the built program. `progress` is told the
    /// number of runs done so far.
    ///
    /// The derived time-out of a test is the suite's own if it gives one, else
    /// what the rule gives for the longer of its runs. A test that hangs tells nothing about its
    /// time, so it gets what the slowest of the others would get. It is waited for until it takes much longer than
    /// they do ([`Patience`]), unless the suite has a time-out.
    ///
    /// A test that fails because something outside of the copy cannot be changed fails; what it tried is told.
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
        let first_wall = suite.timeout.unwrap_or(options.limits.wall);
        let mut done = 0;
        let mut run =
            |index: usize, wall: Duration, cpu: Option<Duration>| -> Result<TestRun, TestError> {
                let limits = Limits {
                    wall,
                    cpu: cpu.into_iter().chain(options.limits.cpu).min(),
                    endless_after: options.prove_endless.then_some(FIRST_LOOK),
                    ..options.limits.clone()
                };
                let test = &suite.tests[index];
                let run = run_test(runner, sandbox, test, &suite.environment, &limits)?;
                // A test that is waited for once more counts once.
                done = (done + 1).min(options.runs() * suite.tests.len());
                progress(done);
                Ok(run)
            };
        let derived = |longest: Duration| {
            suite
                .timeout
                .unwrap_or_else(|| options.rule.derive(longest).min(first_wall))
        };
        let hangs = |run: &TestRun| matches!(run.outcome.ending, Ending::TimedOut(_));
        // Waiting longer would not help.
        let endless = |run: &TestRun| run.outcome.ending == Ending::TimedOut(TimeKind::Endless);
        let slowest = |runs: &[TestRun]| {
            let ended = runs.iter().filter(|run| !hangs(run));
            ended.map(|run| run.outcome.wall).max()
        };
        // How long to wait for test `index`, by what is known about the others.
        let wall = |runs: &[TestRun], index: usize| match suite.timeout {
            Some(timeout) => timeout,
            None => {
                let hung = runs[..index].iter().filter(|run| hangs(run)).count();
                options.patience.wall(hung, slowest(runs)).min(first_wall)
            }
        };
        // A program that computes all the time is known to hang sooner than one that may be waiting for something. Scripts may start many.
        let is_script = |index: usize| suite.tests[index].is_driven();
        let computing = |index: usize, wall: Duration| {
            let is_limited = suite.timeout.is_none() && !is_script(index);
            is_limited.then(|| wall / COMPUTING_SHARE)
        };
        let mut first: Vec<TestRun> = Vec::with_capacity(suite.tests.len());
        let mut waited = Vec::with_capacity(suite.tests.len());
        for index in 0..suite.tests.len() {
            waited.push(wall(&first, index));
            first.push(run(index, waited[index], computing(index, waited[index]))?);
        }
        // Those that ended since may say that some were not waited for long enough; if none has ended, the first one does.
        let mut alone = 0;
        for index in 0..suite.tests.len() {
            if !hangs(&first[index]) || endless(&first[index]) {
                continue;
            }
            let (wanted, cpu) = match slowest(&first) {
                Some(_) => {
                    let wanted = wall(&first, index);
                    (wanted, computing(index, wanted))
                }
                // As long as one that hangs beside others, if it computes all the time.
                None if alone == 0 => {
                    let first = computing(index, options.patience.first);
                    let most = first_wall.min(options.patience.alone);
                    (most, first.map(|first| first.min(most)))
                }
                None if alone == 1 => {
                    let next = options.patience.next.min(first_wall);
                    (next, computing(index, next))
                }
                // What is true of these two is taken for true of the others.
                None => break,
            };
            alone += 1;
            if wanted > waited[index] {
                // What is ended for the time for which it computes has not got all that it might have.
                waited[index] = match slowest(&first) {
                    Some(_) => wanted,
                    None => cpu.unwrap_or(wanted),
                };
                first[index] = run(index, wanted, cpu)?;
            }
        }
        let slowest = slowest(&first);
        let taken: Duration = first.iter().map(|run| run.outcome.cpu).sum();
        let once = options.once || options.most_again.is_some_and(|most| taken > most);
        // Where nothing ends, the second runs would only take their time.
        let is_once = |index: usize| once || slowest.is_none() && index > 0;
        let slowest = slowest.unwrap_or_default();
        let hanging = derived(slowest);
        // What tests print is needed no more, and may be much.
        let said: Vec<Option<String>> = first.iter().map(last_words).collect();
        first.iter_mut().for_each(forget_output);
        let mut second = Vec::with_capacity(suite.tests.len());
        for (index, first) in first.iter().enumerate() {
            if is_once(index) {
                second.push(None);
                continue;
            }
            // A test that hung is not waited for as long again.
            let mut run = match hangs(first) {
                true => run(index, hanging, computing(index, hanging))?,
                false => run(index, first_wall, None)?,
            };
            forget_output(&mut run);
            second.push(Some(run));
        }
        let tests = suite
            .tests
            .iter()
            .zip(first.into_iter().zip(second))
            .enumerate();
        let tests = tests.map(|(index, (test, (first, second)))| {
            let second = second.as_ref().unwrap_or(&first);
            let durations = [first.outcome.wall, second.outcome.wall];
            let longest = durations[0].max(durations[1]);
            let (timeout, expected, expected_cpu) = if hangs(&first) || hangs(second) {
                let expected = slowest + HANGING_EXPECTED;
                (hanging, expected, expected)
            } else {
                let cpu = first.outcome.cpu.max(second.outcome.cpu);
                (derived(longest), longest, cpu)
            };
            BaselineTest {
                index,
                name: test.name.clone(),
                flaky: first.verdict.is_pass() != second.verdict.is_pass(),
                lost_patience: hangs(&first) && !endless(&first) && waited[index] < first_wall,
                said: said[index].clone(),
                verdict: first.verdict,
                durations,
                timeout,
                expected,
                expected_cpu,
            }
        });
        Ok(Baseline {
            once,
            tests: tests.collect(),
        })
    }

    /// Makes the baseline of tests that are not run: each is taken to pass at once. Each gets the
    /// least time-out that `rule` can give.
    pub fn presumed(suite: &TestSuite, limits: &Limits, rule: TimeoutRule) -> Self {
        let timeout = || rule.derive(Duration::ZERO).min(limits.wall);
        let timeout = suite.timeout.unwrap_or_else(timeout);
        let tests = suite.tests.iter().enumerate();
        let tests = tests.map(|(index, test)| BaselineTest {
            index,
            name: test.name.clone(),
            verdict: Verdict::Pass,
            durations: [Duration::ZERO; 2],
            flaky: false,
            timeout,
            lost_patience: false,
            expected: FIRST_LOOK,
            expected_cpu: FIRST_LOOK,
            said: None,
        });
        Baseline {
            once: true,
            tests: tests.collect(),
        }
    }

    /// Returns the tests that passed in each of their runs.
    pub fn passing(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests
            .iter()
            .filter(|test| !test.flaky && test.verdict.is_pass())
    }

    /// Returns the tests that failed in each of their runs.
    pub fn failing(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests
            .iter()
            .filter(|test| !test.flaky && !test.verdict.is_pass())
    }

    /// Returns a message that names the failing tests: `2 of 12 tests fail: empty, long`.
    pub fn failures(&self) -> String {
        let names: Vec<&str> = self.failing().map(|test| test.name.as_str()).collect();
        let shown = names[..names.len().min(FAILURES_NAMED)].join(", ");
        let more = match names.len().saturating_sub(FAILURES_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verb = if names.len() == 1 { "fails" } else { "fail" };
        let of = match self.tests.len() {
            1 => "1 of 1 test".to_owned(),
            all => format!("{} of {all} tests", names.len()),
        };
        format!("{of} {verb}: {shown}{more}")
    }

    /// Returns a note for the user if one test takes most of the time of all tests, because
    /// executions of that test dominate a search.
    pub fn slowest(&self) -> Option<String> {
        let time = |test: &BaselineTest| test.durations[0].min(test.durations[1]);
        let all: Duration = self.tests.iter().map(time).sum();
        let slowest = self.tests.iter().max_by_key(|test| time(test))?;
        let is_slow = time(slowest) >= SLOW_TEST && 2 * time(slowest) > all && self.tests.len() > 2;
        is_slow.then(|| {
            format!(
                "test {} takes {:.1} s of the {:.1} s of all {} tests",
                slowest.name,
                time(slowest).as_secs_f64(),
                all.as_secs_f64(),
                self.tests.len()
            )
        })
    }

    /// Returns a note for each test that counts as hanging, either because it took much longer than
    /// the others or because no test ended.
    pub fn impatience(&self) -> impl Iterator<Item = String> {
        let hangs =
            |test: &BaselineTest| matches!(test.verdict, Verdict::Fail(FailReason::TimedOut(_)));
        let why = match self.tests.iter().all(hangs) {
            true => "because no test has ended",
            false => "many times the time of the others",
        };
        self.tests.iter().filter(|test| test.lost_patience).map(move |test| {
            format!(
                "test {} was ended after {:.0} s, {why}, and counts as failing; --test-timeout says how long tests may take",
                test.name,
                test.durations[0].as_secs_f64()
            )
        })
    }

    /// Returns a note if tests fail only because of whitespace at the ends of lines or of the output.
    pub fn trailing_whitespace(&self) -> Option<String> {
        let mut failing = self.failing().filter(|test| match &test.verdict {
            Verdict::Fail(FailReason::Output(difference)) => difference.only_trailing_whitespace,
            _ => false,
        });
        let tests = named(failing.next()?, failing.count());
        Some(format!(
            "{tests} only by whitespace at the ends of lines or of the output; --ignore-trailing-whitespace \
             lets such tests pass"
        ))
    }

    /// Returns a note if the expected output of failing cases lacks the last newline that other cases
    /// have. Most such files were written by hand, and no program that prints lines can pass.
    pub fn without_newline(&self, suite: &TestSuite) -> Option<String> {
        let lacks = |test: &BaselineTest| {
            let case = match &suite.tests.get(test.index)?.kind {
                TestKind::Case(case) => case,
                TestKind::Driver { .. } => return None,
            };
            let last = case.expected_stdout.last()?;
            Some(*last != b'\n' && case.comparison == Comparison::Exact)
        };
        let mut lacking = self.failing().filter(|test| lacks(test) == Some(true));
        let first = lacking.next()?;
        let others = self.tests.iter();
        let have = others.filter(|test| lacks(test) == Some(false)).count();
        let tests = named(first, lacking.count());
        (have > 0).then(|| {
            format!(
                "{tests}, and the output that is expected there ends without a newline, unlike that of other tests; \
                 --ignore-trailing-whitespace lets a program pass that prints one"
            )
        })
    }

    /// Whether a test fails because the program prints more whitespace at the ends of lines or of the
    /// output than expected.
    pub fn has_unexpected_whitespace(&self) -> bool {
        self.failing().any(|test| match &test.verdict {
            Verdict::Fail(FailReason::Output(found)) => found.is_more_trailing_whitespace(),
            _ => false,
        })
    }

    /// Whether a failing test crashes: by a signal, a failed assertion or a report of a sanitizer
    /// other than a leak.
    pub fn crashes(&self) -> bool {
        let mut failing = self.failing().filter(|test| !test.leaks());
        failing.any(|test| match &test.verdict {
            Verdict::Fail(FailReason::Signal(signal)) => CRASHES.contains(signal),
            Verdict::Fail(FailReason::SanitizerReport(_)) => true,
            Verdict::Fail(FailReason::ExitCode { actual, .. }) => {
                let said = test.said.as_deref().unwrap_or_default();
                // As shells say that a signal ended a program.
                let is_signal = CRASHES.contains(&(actual - 128));
                is_signal || REPORTS.iter().any(|report| said.contains(report))
            }
            _ => false,
        })
    }

    /// Returns a note if tests fail only because LeakSanitizer reports memory that is not freed. Most
    /// such tests are about something else.
    pub fn leaks(&self) -> Option<String> {
        let mut failing = self.failing().filter(|test| test.leaks());
        let tests = named(failing.next()?, failing.count());
        Some(format!(
            "{tests} with a report of LeakSanitizer: memory is not freed; if that is not what is to be repaired, \
             ASAN_OPTIONS=detect_leaks=0 in the environment switches it off"
        ))
    }

    /// Returns the tests that are set aside, because one run passed and another failed.
    pub fn flaky(&self) -> impl Iterator<Item = &BaselineTest> {
        self.tests.iter().filter(|test| test.flaky)
    }
}

/// The number of failing tests that are named.
const FAILURES_NAMED: usize = 8;

/// A test that takes so long may be what a search waits for.
const SLOW_TEST: Duration = Duration::from_secs(1);

/// `test NAME fails`, or that and so many more.
fn named(first: &BaselineTest, more: usize) -> String {
    match more {
        0 => format!("test {} fails", first.name),
        1 => format!("test {} and one more fail", first.name),
        more => format!("test {} and {more} more fail", first.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_time_there_is_the_less_is_waited_for_tests_that_hang() {
        let usual = Patience::default();
        for enough in [None, Some(Duration::from_secs(600))] {
            assert_eq!(Patience::within(enough), usual);
        }
        let budget = Duration::from_secs(12);
        let short = Patience::within(Some(budget));
        let nothing_ends = short.unknown * 3 + short.first + short.next;
        assert!(nothing_ends < budget / 2 && short.alone < budget / 4);
        assert_eq!(short.first_factor, usual.first_factor);
    }

    #[test]
    fn derived_time_outs_have_a_floor() {
        let rule = TimeoutRule::default();
        assert_eq!(rule.derive(Duration::from_millis(3)), rule.floor);
        assert_eq!(rule.derive(Duration::from_secs(1)), Duration::from_secs(6));
    }

    #[test]
    fn patience_grows_with_the_slowest_test_and_ends_sooner_after_one_that_hung() {
        let patience = Patience::default();
        let (fast, slow) = (Duration::from_millis(3), Duration::from_secs(1));
        assert_eq!(patience.wall(0, None), patience.unknown);
        assert_eq!(patience.wall(5, None), patience.unknown / 4);
        assert_eq!(patience.wall(0, Some(fast)), patience.first);
        assert_eq!(patience.wall(0, Some(slow)), Duration::from_secs(300));
        assert_eq!(patience.wall(1, Some(fast)), patience.next);
        assert_eq!(patience.wall(7, Some(slow)), Duration::from_secs(100));
    }

    #[test]
    fn a_crash_is_told_from_a_wrong_answer_and_from_a_leak() {
        let crashes = |reason: FailReason, said: &str| {
            let test = BaselineTest {
                index: 0,
                name: "t".to_owned(),
                verdict: Verdict::Fail(reason),
                durations: [Duration::ZERO; 2],
                flaky: false,
                timeout: Duration::MAX,
                lost_patience: false,
                expected: Duration::ZERO,
                expected_cpu: Duration::ZERO,
                said: Some(said.to_owned()),
            };
            let tests = vec![test];
            Baseline { tests, once: false }.crashes()
        };
        let exits = |actual| FailReason::ExitCode {
            expected: 0,
            actual,
        };
        let reports = |line: &str| FailReason::SanitizerReport(line.to_owned());
        assert!(crashes(FailReason::Signal(libc::SIGSEGV), ""));
        assert!(crashes(exits(128 + libc::SIGABRT), ""));
        assert!(crashes(exits(1), "==7==ABORTING"));
        assert!(crashes(
            exits(1),
            "a.c:3:5: runtime error: division by zero"
        ));
        assert!(crashes(reports("==7==ERROR: AddressSanitizer: SEGV"), ""));
        assert!(!crashes(
            reports("==7==ERROR: LeakSanitizer: detected memory leaks"),
            ""
        ));
        let leaked = "SUMMARY: AddressSanitizer: 24 byte(s) leaked in 1 allocation(s).";
        assert!(!crashes(exits(1), leaked));
        assert!(!crashes(exits(1), "usage: a FILE"));
        assert!(!crashes(FailReason::Signal(libc::SIGTERM), ""));
    }
}
