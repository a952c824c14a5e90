//! Reports of `patchwright validate`: a table, JSON, a stream of JSON lines, JUnit XML.

use std::fmt::Write;
use std::time::Duration;

use patchwright_exec::{Ending, FailReason, TimeKind, runner::signal_name};
use patchwright_validate::outcome::Untouched;
use patchwright_validate::rebuild::Rebuild;
use patchwright_validate::{
    Failure, PatchVerdict, Reached, TestResult, Tests, Validated, Validation, Way,
};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::behaviour::Behaviour;
use crate::screen::{one_line, visible};
use crate::text::{Style, count, grouped};

mod stats;

pub use stats::stats;
use stats::{StatsOf, milliseconds};

/// The version of `validate --json` and `--json-lines`, that is of [`json`] and [`Stream`]. It is raised when a field changes its
/// meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// Sets with more patches than this are listed without those that need no further look.
const LONGEST_TABLE: usize = 200;

#[derive(Serialize)]
struct Document<'a> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The tests of the suite, in its order.
    tests: Vec<TestOf<'a>>,
    /// The patches, in the order given.
    patches: Vec<PatchOf<'a>>,
    /// What the plausible ones change, with `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<&'a Behaviour>,
    /// How many have which verdict.
    summary: Summary,
    /// What the run did, in numbers.
    stats: StatsOf,
    /// Whether the run was interrupted.
    interrupted: bool,
}

#[derive(Serialize)]
struct TestOf<'a> {
    /// Its name.
    name: &'a str,
    /// What it does on the untouched program: `passes`, `fails`, `flaky`, or `not_asked` (it was not run).
    untouched: &'static str,
    /// Whether it is set aside.
    set_aside: bool,
}

#[derive(Serialize)]
struct PatchOf<'a> {
    /// Its name: the file, and its number there if the file has several.
    id: &'a str,
    /// The file that has it.
    file: String,
    /// The line on which it begins there.
    line: usize,
    /// `plausible`, `implausible`, `does_not_apply`, `does_not_compile` or `unstable`; null if the run ended before.
    verdict: Option<&'static str>,
    /// Why, in words.
    reason: Option<String>,
    /// The test that spoke against it.
    test: Option<&'a str>,
    /// How that test failed.
    failure: Option<FailureOf<'a>>,
    /// What the compiler said, if it does not compile.
    compiler: Option<Compiler<'a>>,
    /// What a reader should know of it.
    notes: &'a [String],
    /// The earlier patch that makes the same tree.
    same_as: Option<&'a str>,
    /// The tests that were run.
    tests: Vec<ResultOf<'a>>,
    /// How the verdict was reached.
    reached: Option<ReachedOf<'a>>,
    /// Whether a plain build at the end agreed; null if there was none.
    audited: Option<bool>,
    /// How it was validated: `woven`, `incremental_build`, `full_build` or `clean_build`.
    way: Option<&'static str>,
    /// Why it could not be woven with others.
    apart: Option<&'a str>,
    /// The patch with the same outcomes that was built for it.
    confirmed_by: Option<&'a str>,
    /// The patches that were in one build with it.
    confirmed_with: Vec<&'a str>,
    /// Whether the verdict is of an earlier run.
    resumed: bool,
    /// The time of its builds.
    build_milliseconds: f64,
    /// The time of all that was done for it alone.
    total_milliseconds: f64,
}

#[derive(Serialize)]
struct ReachedOf<'a> {
    /// `built`, `built_together` (in one build with others), `woven`, `compiled` (it does not compile), `same_code` or `class`.
    how: &'static str,
    /// The patch that gave the verdict, for the last two.
    of: Option<&'a str>,
}

#[derive(Serialize)]
struct ResultOf<'a> {
    /// The test.
    name: &'a str,
    /// Whether it passed.
    passes: bool,
    /// How it failed, if it did.
    failure: Option<FailureOf<'a>>,
    /// How long it took, if it was executed for this patch.
    milliseconds: Option<u64>,
}

#[derive(Serialize)]
struct Compiler<'a> {
    /// Its first error.
    first_error: Option<&'a str>,
    /// The end of what the build printed.
    output: &'a str,
    /// The exit status of the build; null if a signal ended it.
    exit_status: Option<i32>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum FailureOf<'a> {
    /// It ended with another exit status: `expected`, `actual`.
    ExitStatus { expected: i32, actual: i32 },
    /// A signal ended it: `number`, `name`.
    Signal {
        number: i32,
        name: Option<&'static str>,
    },
    /// It printed something else: `line`, and what was `expected` and `found` there.
    Output {
        line: usize,
        expected: Option<&'a str>,
        found: Option<&'a str>,
    },
    /// It did not end in its time: `of` says which time.
    TimeOut { of: &'static str },
    /// It used more than it may: `of` says what.
    Limit { of: String },
    /// A sanitizer reported something: the beginning of the `report`.
    Sanitizer { report: &'a str },
    /// It could not be run: `message`.
    NotRun { message: &'a str },
}

#[derive(Serialize)]
struct Summary {
    /// How many there are.
    patches: usize,
    /// Those that pass all tests that count.
    plausible: usize,
    /// Those that fail one.
    implausible: usize,
    /// Those that do not apply.
    does_not_apply: usize,
    /// Those that do not compile.
    does_not_compile: usize,
    /// Those with a test that passed once and failed once.
    unstable: usize,
    /// Those without a verdict, because the run ended before.
    not_validated: usize,
}

fn tests_of(tests: &Tests) -> Vec<TestOf<'_>> {
    let untouched = tests.untouched.iter().map(|untouched| match untouched {
        Untouched::Passes => "passes",
        Untouched::Fails => "fails",
        Untouched::Flaky => "flaky",
        Untouched::NotAsked => "not_asked",
    });
    let names = tests.names.iter().zip(untouched);
    names
        .enumerate()
        .map(|(number, (name, untouched))| TestOf {
            name,
            untouched,
            set_aside: tests.set_aside.contains(&number),
        })
        .collect()
}

/// The word for a verdict in JSON.
fn key(verdict: &PatchVerdict) -> &'static str {
    match verdict {
        PatchVerdict::Plausible => "plausible",
        PatchVerdict::Implausible(_) => "implausible",
        PatchVerdict::DoesNotApply(_) => "does_not_apply",
        PatchVerdict::DoesNotCompile(_) => "does_not_compile",
        PatchVerdict::Unstable(_) => "unstable",
    }
}

fn failure_of(failure: &Failure) -> FailureOf<'_> {
    match failure {
        Failure::NotRun(message) => FailureOf::NotRun { message },
        Failure::Ran(reason) => failed(reason),
    }
}

/// Returns the way in which a test failed.
pub(crate) fn failed(reason: &FailReason) -> FailureOf<'_> {
    match reason {
        FailReason::ExitCode { expected, actual } => FailureOf::ExitStatus {
            expected: *expected,
            actual: *actual,
        },
        FailReason::Signal(number) => FailureOf::Signal {
            number: *number,
            name: signal_name(*number),
        },
        FailReason::Output(difference) => FailureOf::Output {
            line: difference.line,
            expected: difference.expected.as_deref(),
            found: difference.found.as_deref(),
        },
        FailReason::TimedOut(TimeKind::Wall) => FailureOf::TimeOut { of: "wall" },
        FailReason::TimedOut(TimeKind::Cpu) => FailureOf::TimeOut { of: "cpu" },
        FailReason::TimedOut(TimeKind::Endless) => FailureOf::TimeOut { of: "endless" },
        FailReason::LimitExceeded(kind) => FailureOf::Limit {
            of: kind.to_string(),
        },
        FailReason::SanitizerReport(report) => FailureOf::Sanitizer { report },
    }
}

/// Why a verdict is what it is, in words.
pub(crate) fn reason(verdict: &PatchVerdict, tests: &Tests) -> Option<String> {
    match verdict {
        PatchVerdict::Plausible => None,
        PatchVerdict::Implausible(killer) => {
            Some(format!("{}: {}", tests.names[killer.test], killer.failure))
        }
        PatchVerdict::Unstable(killer) => Some(format!(
            "{} passed, and failed when it was run again: {}",
            tests.names[killer.test], killer.failure
        )),
        PatchVerdict::DoesNotApply(reason) => Some(reason.clone()),
        PatchVerdict::DoesNotCompile(failure) => Some(failure.to_string()),
    }
}

fn results<'a>(results: &'a [TestResult], tests: &'a Tests) -> Vec<ResultOf<'a>> {
    results
        .iter()
        .map(|result| ResultOf {
            name: &tests.names[result.test],
            passes: result.failure.is_none(),
            failure: result.failure.as_ref().map(failure_of),
            milliseconds: result.milliseconds,
        })
        .collect()
}

/// Ids of other patches that the line of a patch names.
struct Named<'a> {
    same_as: Option<&'a str>,
    confirmed_by: Option<&'a str>,
    confirmed_with: Vec<&'a str>,
    reached: Option<ReachedOf<'a>>,
}

/// How a verdict was reached, as a word, and the other patch that has to do with it.
fn reached_by(reached: Reached) -> (&'static str, Option<usize>) {
    match reached {
        Reached::Built => ("built", None),
        Reached::BuiltTogether => ("built_together", None),
        Reached::Woven => ("woven", None),
        Reached::Compiled => ("compiled", None),
        Reached::SameCode(of) => ("same_code", Some(of)),
        Reached::Class(of) => ("class", Some(of)),
    }
}

/// Returns in words how a verdict was reached.
pub(crate) fn how(patch: &Validated, outcome: &Validation) -> Option<String> {
    let (word, of) = reached_by(patch.reached()?);
    let words = word.replace('_', " ");
    let words = match of {
        Some(of) if word == "same_code" => format!("{words} as {}", outcome.patches[of].id),
        Some(of) => format!("{words} of {}", outcome.patches[of].id),
        None => words,
    };
    Some(match patch.audited {
        Some(true) => format!("{words}, audited"),
        Some(false) => format!("{words}, against what was woven"),
        None => words,
    })
}

impl<'a> Named<'a> {
    fn new(patch: &Validated, id: impl Fn(usize) -> &'a str) -> Self {
        Named {
            same_as: patch.same_as.map(&id),
            confirmed_by: patch.confirmed_by.map(&id),
            confirmed_with: patch.confirmed_with.iter().map(|with| id(*with)).collect(),
            reached: patch.reached().map(|reached| {
                let (how, of) = reached_by(reached);
                let of = of.map(id);
                ReachedOf { how, of }
            }),
        }
    }
}

fn patch_of<'a>(patch: &'a Validated, named: Named<'a>, tests: &'a Tests) -> PatchOf<'a> {
    let killer = match &patch.verdict {
        Some(PatchVerdict::Implausible(killer) | PatchVerdict::Unstable(killer)) => Some(killer),
        _ => None,
    };
    let compiler = match &patch.verdict {
        Some(PatchVerdict::DoesNotCompile(failure)) => Some(Compiler {
            first_error: failure.first_error.as_deref(),
            output: &failure.output,
            exit_status: match failure.ending {
                Some(Ending::Exited(status)) => Some(status),
                _ => None,
            },
        }),
        _ => None,
    };
    PatchOf {
        id: &patch.id.0,
        file: patch.origin.file.to_string_lossy().into_owned(),
        line: patch.origin.line,
        verdict: patch.verdict.as_ref().map(key),
        reason: patch
            .verdict
            .as_ref()
            .and_then(|verdict| reason(verdict, tests)),
        test: killer.map(|killer| &tests.names[killer.test][..]),
        failure: killer.map(|killer| failure_of(&killer.failure)),
        compiler,
        notes: &patch.notes,
        same_as: named.same_as,
        tests: results(&patch.tests, tests),
        reached: named.reached,
        audited: patch.audited,
        way: patch.way.map(|way| match way {
            Way::Woven => "woven",
            Way::Plain(Rebuild::Incremental) => "incremental_build",
            Way::Plain(Rebuild::Full) => "full_build",
            Way::Plain(Rebuild::Clean) => "clean_build",
        }),
        apart: patch.apart.as_deref(),
        confirmed_by: named.confirmed_by,
        confirmed_with: named.confirmed_with,
        resumed: patch.resumed,
        build_milliseconds: milliseconds(patch.build),
        total_milliseconds: milliseconds(patch.total),
    }
}

fn summary_of(outcome: &Validation) -> Summary {
    let number = |word: &str| outcome.count(|verdict| key(verdict) == word);
    Summary {
        patches: outcome.patches.len(),
        plausible: number("plausible"),
        implausible: number("implausible"),
        does_not_apply: number("does_not_apply"),
        does_not_compile: number("does_not_compile"),
        unstable: number("unstable"),
        not_validated: outcome.patches.len() - outcome.count(|_| true),
    }
}

/// Strings and numbers only: this cannot fail.
pub(crate) fn line_of(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Returns the outcome as JSON with a newline at the end.
pub fn json(outcome: &Validation, behaviour: Option<&Behaviour>) -> String {
    let id = |number: usize| &outcome.patches[number].id.0[..];
    let patches = outcome.patches.iter();
    let document = Document {
        schema: "patchwright-validate",
        schema_version: SCHEMA_VERSION,
        tests: tests_of(&outcome.tests),
        patches: patches
            .map(|patch| patch_of(patch, Named::new(patch, id), &outcome.tests))
            .collect(),
        behaviour,
        summary: summary_of(outcome),
        stats: StatsOf::new(&outcome.stats),
        interrupted: outcome.interrupted,
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// Writes JSON lines: a first line with the tests, a line for each verdict as soon as it is known, and a
/// last line.
#[derive(Debug, Default)]
pub struct Stream {
    tests: Tests,
}

#[derive(Serialize)]
struct StartLine<'a> {
    /// `start`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The tests of the suite, in its order.
    tests: Vec<TestOf<'a>>,
}

#[derive(Serialize)]
struct VerdictLine<'a> {
    /// `verdict`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Its place in the order given, from 0.
    index: usize,
    /// The patch and its verdict.
    patch: PatchOf<'a>,
}

#[derive(Serialize)]
struct RefusedLine<'a> {
    /// `error`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The line of the input, from 1.
    line: usize,
    /// What is wrong with it. The next lines count all the same.
    message: &'a str,
}

#[derive(Serialize)]
struct EndLine {
    /// `end`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// How many have which verdict.
    summary: Summary,
    /// What the run did, in numbers.
    stats: StatsOf,
    /// Whether the run was interrupted.
    interrupted: bool,
}

impl Stream {
    /// Returns the JSON line that opens the stream: format, version and the tests. The tests are kept, because later lines name them.
    pub fn start(&mut self, tests: &Tests) -> String {
        self.tests = tests.clone();
        line_of(&StartLine {
            kind: "start",
            schema: "patchwright-validate-stream",
            schema_version: SCHEMA_VERSION,
            tests: tests_of(tests),
        })
    }

    /// Returns the JSON line with the verdict on `patch`, the `index`-th of the set. `id` returns the name of the patch with a given
    /// index; the line uses it for patches that this one shares its verdict with.
    pub fn verdict<'a>(
        &'a self,
        index: usize,
        patch: &'a Validated,
        id: impl Fn(usize) -> &'a str,
    ) -> String {
        line_of(&VerdictLine {
            kind: "verdict",
            index,
            patch: patch_of(patch, Named::new(patch, id), &self.tests),
        })
    }

    /// Returns the JSON line that answers an input line without a patch. `line` counts input lines from 1, `message` says what is wrong.
    pub fn refused(line: usize, message: &str) -> String {
        line_of(&RefusedLine {
            kind: "error",
            line,
            message,
        })
    }

    /// Returns the JSON line that closes the stream: how many patches have which verdict, counts, and whether the run was interrupted.
    pub fn end(&self, outcome: &Validation) -> String {
        line_of(&EndLine {
            kind: "end",
            summary: summary_of(outcome),
            stats: StatsOf::new(&outcome.stats),
            interrupted: outcome.interrupted,
        })
    }
}

/// Returns a table of the patches and a summary. Of large sets it lists only plausible and unstable
/// patches.
pub fn table(outcome: &Validation, style: Style) -> String {
    let mut text = String::new();
    let all = outcome.patches.len() <= LONGEST_TABLE;
    let worth_a_look = |patch: &&Validated| {
        let special = matches!(
            patch.verdict,
            Some(PatchVerdict::Plausible | PatchVerdict::Unstable(_))
        );
        all || special && patch.same_as.is_none()
    };
    let rows: Vec<&Validated> = outcome.patches.iter().filter(worth_a_look).collect();
    let width = |patch: &&Validated| one_line(&patch.id.0).chars().count();
    let width = rows.iter().map(width).max().unwrap_or(0).clamp(5, 60);
    for patch in rows {
        let (word, colour) = match &patch.verdict {
            None => ("not validated", "2"),
            Some(verdict) => {
                let colour = match verdict {
                    PatchVerdict::Plausible => "1;32",
                    PatchVerdict::Implausible(_) => "31",
                    PatchVerdict::Unstable(_) => "35",
                    PatchVerdict::DoesNotApply(_) | PatchVerdict::DoesNotCompile(_) => "33",
                };
                (verdict.word(), colour)
            }
        };
        let why = patch.verdict.as_ref();
        let why = why
            .and_then(|verdict| reason(verdict, &outcome.tests))
            .unwrap_or_default();
        let mut why = one_line(&why).into_owned();
        if let Some(how) = how(patch, outcome) {
            let gap = if why.is_empty() { "" } else { " " };
            let _ = write!(
                why,
                "{gap}{}",
                style.paint("2", &format!("[{}]", one_line(&how)))
            );
        }
        let word = style.paint(colour, &format!("{word:<16}"));
        let _ = writeln!(
            text,
            "{}",
            format!("{:<width$}  {word}  {why}", one_line(&patch.id.0)).trim_end()
        );
        for note in &patch.notes {
            let _ = writeln!(
                text,
                "{}",
                style.paint("2", &format!("{:width$}  {}", "", one_line(note)))
            );
        }
        let failing: Vec<&str> = patch
            .tests
            .iter()
            .filter(|result| result.failure.is_some())
            .map(|result| &outcome.tests.names[result.test][..])
            .collect();
        if failing.len() > 1 {
            let line = format!(
                "{:width$}  fails {} of {}: {}",
                "",
                failing.len(),
                count(patch.tests.len() as u64, "test", "tests"),
                one_line(&failing.join(", "))
            );
            let _ = writeln!(text, "{}", style.paint("2", &line));
        }
    }
    if !all {
        let _ = writeln!(
            text,
            "(plausible and unstable patches only, each tree once; --jsonl and --json have all)"
        );
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&summary(outcome));
    text
}

/// Returns the lines at the end of the table: how many patches have which verdict.
pub(crate) fn summary(outcome: &Validation) -> String {
    let Summary {
        patches,
        plausible,
        implausible,
        does_not_apply,
        does_not_compile,
        unstable,
        not_validated,
    } = summary_of(outcome);
    let mut parts = vec![format!("{} plausible", grouped(plausible as u64))];
    for (number, word) in [
        (implausible, "implausible"),
        (does_not_compile, "not compiling"),
        (does_not_apply, "not applying"),
        (unstable, "unstable"),
        (not_validated, "not validated"),
    ] {
        if number > 0 {
            parts.push(format!("{} {word}", grouped(number as u64)));
        }
    }
    let stats = &outcome.stats;
    let woven = stats.woven.clone().unwrap_or_default();
    let mut text = format!(
        "{}{}: {}.\n",
        if outcome.interrupted {
            "Interrupted. "
        } else {
            ""
        },
        count(patches as u64, "patch", "patches"),
        parts.join(", ")
    );
    let _ = write!(
        text,
        "{}{} and {} of tests",
        count(
            (stats.untouched_builds + stats.builds + woven.builds) as u64,
            "build",
            "builds"
        ),
        match stats.untouched_builds {
            0 => String::new(),
            untouched => format!(" ({} of the untouched program)", grouped(untouched as u64)),
        },
        count(
            (stats.executions + woven.executions) as u64,
            "execution",
            "executions"
        ),
    );
    if woven.patches > 0 {
        let _ = write!(
            text,
            "; {} woven into {}",
            count(woven.patches as u64, "patch", "patches"),
            count(woven.builds as u64, "program", "programs")
        );
    }
    if stats.audited > 0 {
        let _ = write!(
            text,
            "; {} audited, {}",
            count(stats.audited as u64, "plausible patch", "plausible patches"),
            match stats.audits_failed {
                0 => "all of them right".to_owned(),
                failed => format!("{} of them WRONG: that is a bug", grouped(failed as u64)),
            }
        );
    }
    if stats.duplicates > 0 {
        let _ = write!(
            text,
            "; {} of the same tree as another",
            count(stats.duplicates as u64, "patch", "patches")
        );
    }
    if stats.resumed > 0 {
        let _ = write!(
            text,
            "; {} known from before",
            count(stats.resumed as u64, "verdict", "verdicts")
        );
    }
    text.push_str(".\n");
    text
}

/// Returns the outcome as JUnit XML. Each patch is a test case; with `matrix` each patch is a suite with
/// a case for each test. A patch (or test) that fails is a failure. A patch that does not apply or
/// compile is an error. What was not validated is skipped.
pub fn junit(outcome: &Validation, matrix: bool) -> String {
    let mut report = Report::new("patchwright validate");
    let mut all = TestSuite::new("patches");
    for patch in &outcome.patches {
        let status = status(patch, &outcome.tests);
        if matrix && !patch.tests.is_empty() {
            let mut suite = TestSuite::new(visible(&patch.id.0));
            for result in &patch.tests {
                let name = &outcome.tests.names[result.test];
                let status = match &result.failure {
                    None => TestCaseStatus::success(),
                    Some(failure) => {
                        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                        status.set_message(visible(&failure.to_string()));
                        status
                    }
                };
                let mut case = TestCase::new(visible(name), status);
                case.set_classname(visible(&patch.id.0));
                if let Some(milliseconds) = result.milliseconds {
                    case.set_time(Duration::from_millis(milliseconds));
                }
                suite.add_test_case(case);
            }
            report.add_test_suite(suite);
            continue;
        }
        let mut case = TestCase::new(visible(&patch.id.0), status);
        case.set_classname("patch");
        case.set_time(patch.total);
        if !patch.notes.is_empty() {
            case.set_system_out(visible(&patch.notes.join("\n")));
        }
        all.add_test_case(case);
    }
    report.add_test_suite(all);
    // The data are strings: this cannot fail.
    report.to_string().unwrap_or_default()
}

fn status(patch: &Validated, tests: &Tests) -> TestCaseStatus {
    let Some(verdict) = &patch.verdict else {
        return TestCaseStatus::skipped();
    };
    let kind = match verdict {
        PatchVerdict::Plausible => return TestCaseStatus::success(),
        PatchVerdict::Implausible(_) | PatchVerdict::Unstable(_) => NonSuccessKind::Failure,
        PatchVerdict::DoesNotApply(_) | PatchVerdict::DoesNotCompile(_) => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict.word());
    status.set_message(visible(&reason(verdict, tests).unwrap_or_default()));
    if let PatchVerdict::DoesNotCompile(failure) = verdict {
        status.set_description(visible(&failure.output));
    }
    status
}
