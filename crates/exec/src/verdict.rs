//! Runs one test and judges its ending and output.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::{Limits, MIB};
use crate::runner::{
    Ending, Environment, LimitKind, Outcome, Overflow, Request, RunError, Runner, Sink, Stdin,
    TimeKind, signal_name,
};
use crate::sandbox::Sandbox;
use crate::suite::{Case, Comparison, Test, TestKind, in_working_directory};

/// Whether a test passed, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It did.
    Pass,
    /// It did not.
    Fail(FailReason),
}

impl Verdict {
    /// Whether the test passed.
    pub fn is_pass(&self) -> bool {
        *self == Verdict::Pass
    }
}

/// Why a test failed. If several reasons hold, it is the first in this order: time and other limits, a
/// sanitizer's report, a signal, the exit status, the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailReason {
    /// The exit status differs from the expected one.
    ExitCode {
        /// The expected status.
        expected: i32,
        /// The actual status.
        actual: i32,
    },
    /// The program was ended by this signal.
    Signal(i32),
    /// Standard output differs from what is expected.
    Output(Difference),
    /// Time ran out. That is never a pass.
    TimedOut(TimeKind),
    /// Another limit was exceeded.
    LimitExceeded(LimitKind),
    /// A sanitizer reported an error on standard error; this is the report's first line.
    SanitizerReport(String),
}

/// The first difference between two texts, by lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The number of the first line that differs, from 1.
    pub line: usize,
    /// The line that was expected there, shortened if it is long; `None` if there should be none.
    pub expected: Option<String>,
    /// The line that was found there.
    pub found: Option<String>,
    /// The texts differ in nothing but what [`Comparison::IgnoreTrailingWhitespace`] ignores.
    #[serde(default)]
    pub only_trailing_whitespace: bool,
}

/// What is shown behind a line that has no newline.
const NO_NEWLINE: &str = " (no newline)";

impl Difference {
    /// Whether the texts differ only in whitespace at the ends of lines, and the found text has more
    /// of it. Mostly the expected output was then written without it.
    pub fn is_more_trailing_whitespace(&self) -> bool {
        let is_more = match (&self.expected, &self.found) {
            (Some(expected), Some(found)) => {
                let has_newline = |text: &str| !text.ends_with(NO_NEWLINE);
                match (has_newline(expected), has_newline(found)) {
                    (false, true) => true,
                    (true, false) => false,
                    _ => found.len() > expected.len(),
                }
            }
            (expected, _) => expected.is_none(),
        };
        self.only_trailing_whitespace && is_more
    }
}

impl fmt::Display for FailReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailReason::ExitCode {
                expected: 0,
                actual,
            } => write!(f, "exit status {actual}"),
            FailReason::ExitCode { expected, actual } => {
                write!(f, "exit status {actual} instead of {expected}")
            }
            FailReason::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            FailReason::Output(difference) => {
                let show = |line: &Option<String>| match line {
                    Some(line) => format!("{line:?}"),
                    None => "the end".to_owned(),
                };
                let (expected, found) = (show(&difference.expected), show(&difference.found));
                write!(
                    f,
                    "output line {}: {found} instead of {expected}",
                    difference.line
                )
            }
            FailReason::TimedOut(TimeKind::Wall) => f.write_str("time-out"),
            FailReason::TimedOut(TimeKind::Cpu) => f.write_str("time-out (processor time)"),
            FailReason::TimedOut(TimeKind::Endless) => f.write_str("time-out (never ends)"),
            FailReason::LimitExceeded(kind) => write!(f, "limit of {kind} exceeded"),
            FailReason::SanitizerReport(line) => f.write_str(line),
        }
    }
}

/// The verdict of one run of a test, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// The judgement.
    pub verdict: Verdict,
    /// What happened.
    pub outcome: Outcome,
}

/// Why a test could not be run, so that there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The driver cannot be executed.
    #[error(
        "the test driver {} cannot be executed: {source}; it must be an executable file, \
         and the interpreter that its first line names must exist",
        driver.display()
    )]
    Driver {
        /// The driver.
        driver: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The program under test cannot be executed.
    #[error(
        "the program {} cannot be executed: {source}; does the build make it?",
        program.display()
    )]
    Program {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Anything else that kept the test from running.
    #[error("test {test}: {source}")]
    Run {
        /// The test's name.
        test: String,
        /// What happened.
        source: RunError,
    },
}

impl TestError {
    /// Whether the test was not run because the runner was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            TestError::Run {
                source: RunError::Cancelled,
                ..
            }
        )
    }
}

/// The command of a test, with its input, its environment and its limits.
pub(crate) fn test_request(
    runner: &Runner,
    sandbox: &Sandbox,
    test: &Test,
    environment: &Environment,
    limits: &Limits,
) -> Request {
    let root = sandbox.run_root();
    let mut most_printed = limits.stdout;
    let mut most_kept = u64::MAX;
    let mut request = match &test.kind {
        TestKind::Driver { driver } => {
            let mut request = Request::new(in_working_directory(driver), root).arg(&test.name);
            // Its output is for people; only its exit status counts.
            request.overflow = Overflow::Discard;
            most_kept = DRIVER_OUTPUT;
            request
        }
        TestKind::Case(case) => {
            let stdin =
                case.stdin
                    .as_ref()
                    .map(|path| match path.strip_prefix(sandbox.project()) {
                        Ok(relative) => root.join(relative),
                        Err(_) => path.clone(),
                    });
            let mut request = Request::new(in_working_directory(&case.program), root)
                .args(&case.arguments)
                .stdin(stdin.map_or(Stdin::Null, Stdin::File));
            request.repeated = runner.repeats_cases();
            most_printed = most_printed.into_iter().chain(enough_output(case)).min();
            request
        }
    };
    request.environment = environment.clone();
    request.limits = Limits {
        stdout: most_printed,
        output: limits.output.min(most_kept),
        ..limits.clone()
    };
    request.stdout = Sink::Capture;
    request
}

/// Runs a test from the root of the sandbox. `limits.wall` is the time-out.
///
/// # Errors
/// A test that could not be run. One that fails in any way is a verdict.
pub fn run_test(
    runner: &mut Runner,
    sandbox: &Sandbox,
    test: &Test,
    environment: &Environment,
    limits: &Limits,
) -> Result<TestRun, TestError> {
    let request = test_request(runner, sandbox, test, environment, limits);
    let ran = match (runner.run(&request), &test.kind) {
        (Err(RunError::Execute { .. }), TestKind::Driver { driver })
            if has_been_removed(sandbox, driver) =>
        {
            return Ok(without_driver(driver));
        }
        (ran, _) => ran,
    };
    let outcome = ran.map_err(|error| match (error, &test.kind) {
        (RunError::Execute { source, .. }, TestKind::Driver { driver }) => TestError::Driver {
            driver: driver.clone(),
            source,
        },
        (RunError::Execute { source, .. }, TestKind::Case(case)) => TestError::Program {
            program: case.program.clone(),
            source,
        },
        (source, _) => TestError::Run {
            test: test.name.clone(),
            source,
        },
    })?;
    let verdict = match &test.kind {
        TestKind::Driver { .. } => judge_driver(&outcome),
        TestKind::Case(case) => judge_case(case, &outcome),
    };
    if !outcome.attempts.is_empty() {
        let fails = if verdict.is_pass() {
            ""
        } else {
            ", which fails,"
        };
        runner.note(&format!("test {}{fails}", test.name), &outcome);
    }
    Ok(TestRun { verdict, outcome })
}

/// Whether a file is gone from a copy and still in the project: the build has removed it, or a test.
fn has_been_removed(sandbox: &Sandbox, file: &Path) -> bool {
    let is_gone = |root: &Path| {
        let found = std::fs::symlink_metadata(root.join(file));
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    is_gone(sandbox.folder()) && !is_gone(sandbox.project())
}

/// A test whose driver is gone fails with the shell's status for a command that is not found.
fn without_driver(driver: &Path) -> TestRun {
    const NOT_FOUND: i32 = 127;
    let ending = Ending::Exited(NOT_FOUND);
    let said = format!(
        "the test driver {} is gone: the build has removed it, or an earlier test\n",
        driver.display()
    );
    TestRun {
        verdict: Verdict::Fail(FailReason::ExitCode {
            expected: 0,
            actual: NOT_FOUND,
        }),
        outcome: Outcome::without_execution(ending, said.into_bytes()),
    }
}

/// So much of what a driver prints is kept: its last words and the reports of sanitizers are looked for there.
const DRIVER_OUTPUT: u64 = 4 * MIB;

/// So many bytes more than is expected a case may print: what prints for ever need not be waited for.
const MORE_OUTPUT: u64 = MIB / 4;

/// Beyond how many bytes of standard output a case has printed more than is expected, and cannot pass any more.
fn enough_output(case: &Case) -> Option<u64> {
    match case.comparison {
        Comparison::Exact => Some(case.expected_stdout.len() as u64 + MORE_OUTPUT),
        // Empty lines at the end may be many.
        Comparison::IgnoreTrailingWhitespace => None,
    }
}

/// A driver that exits with status 0 passes, whatever was printed: that is its contract.
fn judge_driver(outcome: &Outcome) -> Verdict {
    match outcome.ending {
        Ending::Exited(0) => Verdict::Pass,
        ending => Verdict::Fail(failed_ending(ending, &outcome.stderr, 0)),
    }
}

fn judge_case(case: &Case, outcome: &Outcome) -> Verdict {
    let ending = outcome.ending;
    if ending != Ending::Exited(case.expected_code) {
        return Verdict::Fail(failed_ending(ending, &outcome.stderr, case.expected_code));
    }
    // A sanitizer that is told to go on does not change the exit status.
    if let Some(line) = sanitizer_report(&outcome.stderr) {
        return Verdict::Fail(FailReason::SanitizerReport(line));
    }
    match first_difference(case.comparison, &case.expected_stdout, &outcome.stdout) {
        Some(difference) => Verdict::Fail(FailReason::Output(difference)),
        None => Verdict::Pass,
    }
}

fn failed_ending(ending: Ending, stderr: &[u8], expected: i32) -> FailReason {
    match ending {
        Ending::TimedOut(kind) => FailReason::TimedOut(kind),
        Ending::LimitExceeded(kind) => FailReason::LimitExceeded(kind),
        Ending::Exited(_) | Ending::Signaled(_) if sanitizer_report(stderr).is_some() => {
            FailReason::SanitizerReport(sanitizer_report(stderr).unwrap_or_default())
        }
        Ending::Exited(actual) => FailReason::ExitCode { expected, actual },
        Ending::Signaled(signal) => FailReason::Signal(signal),
    }
}

/// The first line of a sanitizer's report.
fn sanitizer_report(stderr: &[u8]) -> Option<String> {
    let lines = stderr
        .split(|byte| *byte == b'\n')
        .map(String::from_utf8_lossy);
    let mut lines = lines.filter(|line| is_report(line));
    lines.next().map(|line| line.trim_end().to_owned())
}

fn is_report(line: &str) -> bool {
    // ==123==ERROR: AddressSanitizer: …, WARNING: ThreadSanitizer: … (pid=…)
    let named = |mark: &str| {
        line.split_once(mark).is_some_and(|(_, rest)| {
            rest.split(':')
                .next()
                .is_some_and(|word| word.ends_with("Sanitizer"))
        })
    };
    // file.c:12:7: runtime error: …
    let undefined = || {
        line.split_once(": runtime error: ")
            .is_some_and(|(place, _)| {
                let mut numbers = place.rsplitn(3, ':');
                let mut number = || {
                    numbers
                        .next()
                        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
                };
                number() && number()
            })
    };
    named("ERROR: ") || named("WARNING: ") || undefined()
}

/// Lines longer than this are shortened in reports.
const LONGEST_LINE: usize = 200;

/// Returns the first line in which `expected` and `found` differ, or `None` if they are equal under
/// `comparison`.
pub fn first_difference(
    comparison: Comparison,
    expected: &[u8],
    found: &[u8],
) -> Option<Difference> {
    if expected == found {
        return None;
    }
    let trimmed = differing_line(trimmed_lines(expected), trimmed_lines(found));
    let only_trailing_whitespace = trimmed.is_none();
    let (line, expected, found) = match comparison {
        Comparison::Exact => {
            let lines = |text| <[u8]>::split_inclusive(text, |byte: &u8| *byte == b'\n');
            let (line, expected, found) = differing_line(lines(expected), lines(found))?;
            (line, expected.map(show_line), found.map(show_line))
        }
        Comparison::IgnoreTrailingWhitespace => {
            let (line, expected, found) = trimmed?;
            (line, expected.map(show_text), found.map(show_text))
        }
    };
    Some(Difference {
        line,
        expected,
        found,
        only_trailing_whitespace,
    })
}

/// The number of the first line in which two texts differ, and what it is in each.
#[allow(clippy::type_complexity)]
fn differing_line<'t>(
    left: impl Iterator<Item = &'t [u8]>,
    right: impl Iterator<Item = &'t [u8]>,
) -> Option<(usize, Option<&'t [u8]>, Option<&'t [u8]>)> {
    let (mut left, mut right) = (left.fuse(), right.fuse());
    for line in 1.. {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (expected, found) if expected != found => return Some((line, expected, found)),
            _ => {}
        }
    }
    None
}

/// The lines of a text without whitespace at their ends, up to the last one that is not empty then.
fn trimmed_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.trim_ascii_end().split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii_end)
}

/// A line without the newline that every line has; a missing one is shown.
fn show_line(line: &[u8]) -> String {
    let (text, end) = match line.strip_suffix(b"\n") {
        Some(text) => (text, ""),
        None => (line, NO_NEWLINE),
    };
    format!("{}{end}", show_text(text))
}

/// A line without its newline, shortened if it is long.
fn show_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(LONGEST_LINE) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(expected: &str, found: &str) -> Option<(usize, Option<String>, Option<String>)> {
        first_difference(Comparison::Exact, expected.as_bytes(), found.as_bytes())
            .map(|d| (d.line, d.expected, d.found))
    }

    #[test]
    fn whitespace_at_the_ends_of_lines_and_of_the_output_can_be_ignored() {
        let compare = |comparison, expected: &str, found: &str| {
            first_difference(comparison, expected.as_bytes(), found.as_bytes())
        };
        for (expected, found) in [
            ("1 2 3\n", "1 2 3 \n"),
            ("a\nb\n", "a\t\r\nb"),
            ("a", "a\n\n \n"),
            ("", "\n"),
            ("a\n\nb\n", "a\n  \nb\n"),
        ] {
            let ignored = compare(Comparison::IgnoreTrailingWhitespace, expected, found);
            assert_eq!(ignored, None, "{expected:?} {found:?}");
            let exact = compare(Comparison::Exact, expected, found);
            let is_more = expected.len() < found.len();
            assert!(
                exact.is_some_and(|difference| difference.only_trailing_whitespace
                    && difference.is_more_trailing_whitespace() == is_more)
            );
        }
        for (expected, found, line) in [
            ("a b\n", "a  b\n", 1),
            ("a\nb\n", "a \n b\n", 2),
            ("a\nb\n", "a\n\nb\n", 2),
            ("a\n", "a \nb\n", 2),
            ("a\n", "", 1),
        ] {
            let difference = compare(Comparison::IgnoreTrailingWhitespace, expected, found);
            assert_eq!(
                difference.map(|d| d.line),
                Some(line),
                "{expected:?} {found:?}"
            );
            let exact = compare(Comparison::Exact, expected, found);
            assert!(exact.is_some_and(|difference| !difference.only_trailing_whitespace));
        }
    }

    #[test]
    fn the_first_different_line_is_found() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(
            difference("a\nb\nc\n", "a\nx\ny\n"),
            Some((2, some("b"), some("x")))
        );
        assert_eq!(difference("a\n", "a\nb\n"), Some((2, None, some("b"))));
        assert_eq!(
            difference("a\n", "a"),
            Some((1, some("a"), some("a (no newline)")))
        );
        assert_eq!(difference("a\n", ""), Some((1, some("a"), None)));
    }

    #[test]
    fn reports_of_all_sanitizers_are_recognised() {
        let reports = [
            "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
            "==7==ERROR: LeakSanitizer: detected memory leaks",
            "==7==WARNING: MemorySanitizer: use-of-uninitialized-value",
            "WARNING: ThreadSanitizer: data race (pid=7)",
            "a b.c:3:5: runtime error: signed integer overflow",
        ];
        for report in reports {
            let stderr = format!("before\n{report}\n  #0 main\n");
            assert_eq!(sanitizer_report(stderr.as_bytes()).as_deref(), Some(report));
        }
        for other in [
            "ERROR: no such file",
            "lua: runtime error: x",
            "WARNING: low disk",
        ] {
            assert_eq!(sanitizer_report(other.as_bytes()), None);
        }
    }

    #[test]
    fn a_time_out_is_a_failure_even_with_the_right_output() {
        let case = Case {
            program: "prog".into(),
            arguments: vec![],
            stdin: None,
            expected: "/p/x.out".into(),
            expected_stdout: b"ok\n".to_vec(),
            comparison: Comparison::Exact,
            expected_code: 0,
        };
        let mut outcome = Outcome {
            ending: Ending::TimedOut(TimeKind::Wall),
            stdout: b"ok\n".to_vec(),
            stderr: vec![],
            output_truncated: false,
            wall: std::time::Duration::ZERO,
            cpu: std::time::Duration::ZERO,
            peak_memory: 0,
            leftovers: 0,
            survivors: 0,
            forked: false,
            attempts: vec![],
            leaves_private: false,
        };
        let timed_out = Verdict::Fail(FailReason::TimedOut(TimeKind::Wall));
        assert_eq!(judge_case(&case, &outcome), timed_out);
        assert_eq!(judge_driver(&outcome), timed_out);
        outcome.ending = Ending::Exited(0);
        assert_eq!(judge_case(&case, &outcome), Verdict::Pass);
        outcome.stderr = b"p.c:1:2: runtime error: x".to_vec();
        assert!(matches!(
            judge_case(&case, &outcome),
            Verdict::Fail(FailReason::SanitizerReport(_))
        ));
        assert_eq!(judge_driver(&outcome), Verdict::Pass);
    }
}
