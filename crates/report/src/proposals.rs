//! The JSON lines between a repair and a program that proposes patches.

use patchwright_exec::{FailReason, runner::signal_name};
use patchwright_repair::Patch;
use patchwright_repair::proposer::{Answer, FailingTest, Task};
use serde::Serialize;

use crate::validation::{FailureOf, failed, line_of};

/// The version of the JSON lines of `repair --propose`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct TaskLine<'a> {
    /// `task`: the first line that the program reads.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The project's folder.
    project: &'a str,
    /// The tests that fail.
    failing: Vec<TestOf<'a>>,
    /// How many tests pass; a patch must keep them so.
    passing: usize,
    /// Suspicious lines, the most suspicious first.
    suspects: Vec<SuspectOf<'a>>,
    /// The functions of the most suspicious lines.
    functions: Vec<FunctionOf<'a>>,
}

#[derive(Serialize)]
struct TestOf<'a> {
    /// Its name.
    name: &'a str,
    /// How it fails.
    failure: Option<FailureOf<'a>>,
    /// What was expected, in words; for output the first line that differs.
    expected: Option<String>,
    /// What happened instead.
    actual: Option<String>,
    /// What the program is run with, if the test is a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<CaseOf<'a>>,
}

#[derive(Serialize)]
struct CaseOf<'a> {
    /// The program's arguments.
    arguments: &'a [String],
    /// The beginning of what it reads.
    input: &'a str,
    /// The beginning of what it must print.
    output: &'a str,
    /// The status that it must end with.
    status: i32,
}

#[derive(Serialize)]
struct SuspectOf<'a> {
    /// The file, relative to the project's root.
    file: String,
    /// The line.
    line: u32,
    /// The function.
    function: &'a str,
    /// From 0 to 1.
    suspiciousness: f64,
}

#[derive(Serialize)]
struct FunctionOf<'a> {
    /// Its file.
    file: String,
    /// The line on which it begins.
    line: u32,
    /// Its name.
    name: &'a str,
    /// Its text.
    text: &'a str,
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    /// `verdict`: the verdict on a proposal.
    #[serde(rename = "type")]
    kind: &'static str,
    /// What it is called.
    id: &'a str,
    /// `plausible`, `undefined_behaviour` (it passes all tests, and sanitizers object), `implausible`, `does_not_compile`,
    /// `does_not_apply`, `known` (it was proposed before, or changes nothing), or
    /// `not_tried` (the run ended before).
    verdict: &'static str,
    /// Why, in words.
    reason: Option<&'a str>,
    /// The first test that fails with it.
    test: Option<TestOf<'a>>,
}

#[derive(Serialize)]
struct TriedLine {
    /// `tried`: how far the search itself is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How many changes it has tried.
    explored: u64,
    /// Executions of tests for that.
    executions: u64,
    /// How many of these pass all tests.
    plausible: usize,
}

#[derive(Serialize)]
struct FoundLine {
    /// `found`: a patch of the search itself.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Its diff; it passes all tests.
    patch: String,
}

#[derive(Serialize)]
struct EndLine {
    /// `end`: nothing more is answered.
    #[serde(rename = "type")]
    kind: &'static str,
}

fn test_of(test: &FailingTest) -> TestOf<'_> {
    let failure = test.failure.as_ref();
    let status = test.case.as_ref().map_or(0, |case| case.status);
    TestOf {
        name: &test.name,
        failure: failure.map(failed),
        expected: failure.map(|why| expected(why, status)),
        actual: failure.map(actual),
        case: test.case.as_ref().map(|case| CaseOf {
            arguments: &case.arguments,
            input: &case.input,
            output: &case.output,
            status: case.status,
        }),
    }
}

fn line(number: usize, text: Option<&str>) -> String {
    match text {
        Some(text) => format!("line {number} of the output is {text:?}"),
        None => format!("the output has no line {number}"),
    }
}

fn expected(why: &FailReason, status: i32) -> String {
    match why {
        FailReason::Output(difference) => line(difference.line, difference.expected.as_deref()),
        FailReason::ExitCode { expected, .. } => format!("exit status {expected}"),
        FailReason::SanitizerReport(_) => "no report of a sanitizer".to_owned(),
        FailReason::Signal(_) | FailReason::TimedOut(_) | FailReason::LimitExceeded(_) => {
            format!("exit status {status}")
        }
    }
}

fn actual(why: &FailReason) -> String {
    match why {
        FailReason::Output(difference) => line(difference.line, difference.found.as_deref()),
        FailReason::ExitCode { actual, .. } => format!("exit status {actual}"),
        FailReason::Signal(number) => match signal_name(*number) {
            Some(name) => format!("a crash by signal {number} ({name})"),
            None => format!("a crash by signal {number}"),
        },
        other => other.to_string(),
    }
}

/// Returns the first JSON line for the proposing program: failing tests, suspicious lines and their functions in the project at
/// `project`.
pub fn task(task: &Task, project: &str) -> String {
    line_of(&TaskLine {
        kind: "task",
        schema: "patchwright-proposals",
        schema_version: SCHEMA_VERSION,
        project,
        failing: task.failing.iter().map(test_of).collect(),
        passing: task.passing,
        suspects: task
            .suspects
            .iter()
            .map(|suspect| SuspectOf {
                file: suspect.file.to_string_lossy().into_owned(),
                line: suspect.line,
                function: &suspect.function,
                suspiciousness: suspect.suspiciousness,
            })
            .collect(),
        functions: task
            .functions
            .iter()
            .map(|function| FunctionOf {
                file: function.file.to_string_lossy().into_owned(),
                line: function.line,
                name: &function.name,
                text: &function.text,
            })
            .collect(),
    })
}

/// Returns the JSON line with the verdict on the proposal `id`.
pub fn answer(id: &str, answer: &Answer) -> String {
    let already;
    let (verdict, reason, test) = match answer {
        Answer::Passes { undefined: None } => ("plausible", None, None),
        Answer::Passes {
            undefined: Some(objection),
        } => ("undefined_behaviour", Some(&objection[..]), None),
        Answer::Known { of } => {
            already = match of {
                Some(of) => format!("it is the same change as {of}"),
                None => "it changes nothing".to_owned(),
            };
            ("known", Some(&already[..]), None)
        }
        Answer::NotTried => ("not_tried", Some("the run ended before"), None),
        Answer::DoesNotBuild { message } => ("does_not_compile", Some(&message[..]), None),
        Answer::Fails { test, message } => ("implausible", Some(&message[..]), Some(test)),
    };
    line_of(&AnswerLine {
        kind: "verdict",
        id,
        verdict,
        reason,
        test: test.map(test_of),
    })
}

/// Returns the JSON line that refuses the proposal `id` because it does not apply; `reason` says why.
pub fn refused(id: &str, reason: &str) -> String {
    line_of(&AnswerLine {
        kind: "verdict",
        id,
        verdict: "does_not_apply",
        reason: Some(reason),
        test: None,
    })
}

/// Returns the line that tells the proposing program how far the search itself is.
pub fn tried(explored: u64, executions: u64, plausible: usize) -> String {
    line_of(&TriedLine {
        kind: "tried",
        explored,
        executions,
        plausible,
    })
}

/// Returns the line that tells the proposing program of a patch that the search itself has found.
pub fn found(patch: &Patch) -> String {
    line_of(&FoundLine {
        kind: "found",
        patch: String::from_utf8_lossy(&patch.diff).into_owned(),
    })
}

/// Returns the line that tells the proposing program that no more proposals are read.
pub fn end() -> String {
    line_of(&EndLine { kind: "end" })
}
