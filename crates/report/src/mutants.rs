//! Reports of `patchwright mutants`: text, JSON, JUnit XML, and a page.

use std::fmt::Write;

use patchwright_mutants::{Answer, Fate, Judged, MutantsOutcome, Tally};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::page::{TABLE_END, diff, page, table};
use crate::screen::{one_line, visible};
use crate::svg::escaped;
use crate::text::{Style, count, lines};

/// The name of the JSON schema.
pub const SCHEMA: &str = "patchwright-mutants";
/// Its version.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The fates of all.
    summary: Summary,
    /// The same for each function.
    functions: Vec<FunctionOf<'a>>,
    /// The mutants, by file and line.
    mutants: Vec<MutantOf<'a>>,
    /// Mutants that were found in all.
    found: usize,
    /// Those left out because their machine code is that of the untouched program.
    same_code: usize,
    /// Those left out because it is that of another one.
    repeated_code: usize,
    /// Which part of `--shard` this is; null for the whole.
    part: Option<String>,
    /// How many tests count.
    tests: usize,
    /// Tests that do not count: they fail, or are flaky, without any change.
    set_aside: &'a [String],
    /// Builds for the verdicts.
    builds: usize,
    /// Executions of tests for the verdicts.
    executions: usize,
    /// Seconds of choosing, testing and answering.
    seconds: [f64; 3],
    /// Whether the run was interrupted.
    interrupted: bool,
    /// Whether its time was over.
    out_of_time: bool,
}

#[derive(Serialize)]
struct Summary {
    /// All of them.
    mutants: usize,
    /// Those that a test notices.
    killed: usize,
    /// Of these, those that run out of time.
    timed_out: usize,
    /// Those that all tests pass.
    survived: usize,
    /// Of the survivors, those whose statement no test executes.
    not_executed: usize,
    /// Of the survivors, those that were proved equivalent for all inputs.
    equivalent: usize,
    /// Those that do not compile.
    does_not_compile: usize,
    /// Those of which a test passes once and fails once.
    unsteady: usize,
    /// Those that were not tested.
    open: usize,
    /// The killed share of these and the survivors that are not proved equivalent.
    score: Option<f64>,
}

#[derive(Serialize)]
struct FunctionOf<'a> {
    /// Its file.
    file: String,
    /// Its name.
    function: &'a str,
    /// The fates of its mutants.
    summary: Summary,
}

#[derive(Serialize)]
struct MutantOf<'a> {
    /// Its number, from 1.
    number: usize,
    /// The file that it changes.
    file: String,
    /// The line that it changes.
    line: u32,
    /// The function that it changes.
    function: &'a str,
    /// The kind of change, such as `EXPRESSION`.
    kind: &'a str,
    /// How unlikely the change is that undoes it, in bits.
    bits: f64,
    /// `killed`, `timed_out`, `survived`, `does_not_compile`, `unsteady`, or `open`: not tested.
    fate: &'static str,
    /// The first test that notices it.
    test: Option<&'a str>,
    /// How that test fails, or what the compiler says.
    reason: Option<&'a str>,
    /// Whether a test executes its statement.
    executed: Option<bool>,
    /// What is known of a survivor.
    answer: Option<AnswerOf<'a>>,
    /// The change as a unified diff.
    diff: String,
    /// Whether its fate is of an earlier run.
    resumed: bool,
}

#[derive(Serialize)]
struct AnswerOf<'a> {
    /// `equivalent` (proved), `killable` (an input is known), or `unknown`.
    is: &'static str,
    /// The function or program that was looked at.
    of: Option<&'a str>,
    /// Rounds of each loop that a proof looks at; null: any number.
    bound: Option<u32>,
    /// Which inputs a proof is about, if not about all.
    inputs: &'a [String],
    /// An input that kills it: names and values.
    input: &'a [(String, String)],
    /// What the untouched program does with that input.
    untouched: Option<&'a str>,
    /// What the mutant does.
    mutated: Option<&'a str>,
    /// Who executed it.
    by: Option<&'a str>,
    /// The files of the test that was written.
    files: Vec<String>,
    /// Why nothing is known.
    because: Option<&'a str>,
}

impl Summary {
    fn of(tally: Tally) -> Self {
        Summary {
            mutants: tally.mutants,
            killed: tally.killed,
            timed_out: tally.timed_out,
            survived: tally.survived,
            not_executed: tally.not_executed,
            equivalent: tally.equivalent,
            does_not_compile: tally.does_not_compile,
            unsteady: tally.unsteady,
            open: tally.open,
            score: tally.score(),
        }
    }
}

impl<'a> AnswerOf<'a> {
    fn of(answer: &'a Answer) -> Self {
        let empty = AnswerOf {
            is: "unknown",
            of: None,
            bound: None,
            inputs: &[],
            input: &[],
            untouched: None,
            mutated: None,
            by: None,
            files: Vec::new(),
            because: None,
        };
        match answer {
            Answer::Equivalent { of, bound, inputs } => AnswerOf {
                is: "equivalent",
                of: Some(of),
                bound: *bound,
                inputs,
                ..empty
            },
            Answer::Killable {
                of,
                input,
                untouched,
                mutated,
                by,
                files,
            } => AnswerOf {
                is: "killable",
                of: Some(of),
                input,
                untouched: Some(untouched),
                mutated: Some(mutated),
                by: Some(by),
                files: files
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect(),
                ..empty
            },
            Answer::Unknown { because } => AnswerOf {
                because: Some(because),
                ..empty
            },
        }
    }
}

/// The word for a fate in JSON, the test that decided it, and why.
fn fate(judged: &Judged) -> (&'static str, Option<&str>, Option<&str>) {
    match &judged.fate {
        Fate::Killed {
            test,
            failure,
            timed_out,
        } => {
            let word = if *timed_out { "timed_out" } else { "killed" };
            (word, Some(test), Some(failure))
        }
        Fate::Survived => ("survived", None, None),
        Fate::DoesNotCompile(reason) => ("does_not_compile", None, Some(reason)),
        Fate::Unsteady(reason) => ("unsteady", None, Some(reason)),
        Fate::Open => ("open", None, None),
    }
}

/// Returns the outcome as JSON with a newline at the end.
pub fn json(outcome: &MutantsOutcome) -> String {
    let by_function = outcome.by_function();
    let functions = by_function
        .iter()
        .map(|((file, function), tally)| FunctionOf {
            file: file.display().to_string(),
            function,
            summary: Summary::of(*tally),
        });
    let mutants = outcome.mutants.iter().map(|one| {
        let (word, test, reason) = fate(one);
        MutantOf {
            number: one.number,
            file: one.mistake.file.display().to_string(),
            line: one.mistake.line,
            function: &one.mistake.function,
            kind: &one.mistake.kind,
            bits: one.mistake.bits,
            fate: word,
            test,
            reason,
            executed: one.executed,
            answer: one.answer.as_ref().map(AnswerOf::of),
            diff: String::from_utf8_lossy(&one.diff).into_owned(),
            resumed: one.resumed,
        }
    });
    let document = Document {
        schema: SCHEMA,
        schema_version: SCHEMA_VERSION,
        summary: Summary::of(outcome.tally()),
        functions: functions.collect(),
        mutants: mutants.collect(),
        found: outcome.found,
        same_code: outcome.same_code,
        repeated_code: outcome.repeated_code,
        part: outcome.part.map(|part| part.to_string()),
        tests: outcome.tests,
        set_aside: &outcome.set_aside,
        builds: outcome.builds,
        executions: outcome.executions,
        seconds: outcome.times.map(|time| time.as_secs_f64()),
        interrupted: outcome.interrupted,
        out_of_time: outcome.out_of_time,
    };
    // Strings and numbers only: this cannot fail.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn percent(tally: &Tally) -> String {
    match tally.score() {
        Some(score) => format!("{:.0} %", score * 100.0),
        None => "–".to_owned(),
    }
}

/// The first lines of the report: what became of how many mutants.
fn summary(outcome: &MutantsOutcome) -> String {
    let tally = outcome.tally();
    let mut parts = vec![format!("{} killed", tally.killed)];
    if tally.timed_out > 0 {
        parts[0].push_str(&format!(" ({} by running out of time)", tally.timed_out));
    }
    parts.push(format!("{} survived", tally.survived));
    for (number, said) in [
        (tally.does_not_compile, "do not compile"),
        (tally.unsteady, "unsteady"),
        (tally.open, "not tested"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {said}"));
        }
    }
    let mut text = format!(
        "{}: {}.\n",
        count(tally.mutants as u64, "mutant", "mutants"),
        parts.join(", ")
    );
    let without = match tally.equivalent {
        0 => String::new(),
        number => format!("; {number} proved equivalent do not count"),
    };
    let _ = writeln!(
        text,
        "Score: {} of {} killed, {}{without}.",
        tally.killed,
        tally.counted(),
        percent(&tally)
    );
    text
}

/// What is to be known of the run, below the survivors.
fn notes(outcome: &MutantsOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    let left_out = outcome.same_code + outcome.repeated_code;
    if let Some(part) = outcome.part {
        notes.push(format!(
            "this is part {part}: others try the rest, and `patchwright merge` puts them together"
        ));
    }
    if outcome.found > outcome.chosen + left_out {
        notes.push(format!(
            "{} of {} were tried; --limit 0 tries all",
            outcome.chosen,
            count(outcome.found as u64, "mutant", "mutants")
        ));
    }
    if left_out > 0 {
        notes.push(format!(
            "left out for their machine code: {} with that of the untouched program, {} with that of another mutant",
            outcome.same_code, outcome.repeated_code
        ));
    }
    if !outcome.set_aside.is_empty() {
        notes.push(format!(
            "tests that fail or are flaky without any change say nothing: {}",
            outcome.set_aside.join(", ")
        ));
    }
    if outcome.out_of_time {
        notes.push("the time was over before all was done; --budget gives more".to_owned());
    }
    notes
}

/// What is known of a survivor, in words.
fn answer(judged: &Judged) -> Vec<String> {
    let mut told = Vec::new();
    if judged.executed == Some(false) {
        told.push("no test executes this statement".to_owned());
    }
    match &judged.answer {
        None => {}
        Some(Answer::Equivalent { of, bound, inputs }) => {
            let far = match bound {
                Some(rounds) => format!(" as long as no loop has more than {rounds} rounds"),
                None => String::new(),
            };
            told.push(match inputs.is_empty() {
                true => format!("proved equivalent: {of} does the same for all inputs{far}"),
                false => format!("proved equivalent{far}: {of} does the same for these inputs:"),
            });
            told.extend(inputs.iter().map(|one| format!("  {one}")));
        }
        Some(Answer::Killable {
            of,
            input,
            untouched,
            mutated,
            by,
            files,
        }) => {
            let input: Vec<String> = input
                .iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            let input = match input.is_empty() {
                true => "any input".to_owned(),
                false => input.join(", "),
            };
            told.push(format!("an input of {of} kills it ({by}): {input}"));
            told.push(format!("  untouched: {untouched}"));
            told.push(format!("  mutant:    {mutated}"));
            if !files.is_empty() {
                let files: Vec<String> =
                    files.iter().map(|one| one.display().to_string()).collect();
                told.push(format!("  written to {}", files.join(", ")));
            }
        }
        Some(Answer::Unknown { because }) => told.push(format!("unknown, because {because}")),
    }
    told
}

fn title(judged: &Judged) -> String {
    let mistake = &judged.mistake;
    format!(
        "mutant {} · {}:{} in {} · {}",
        judged.number,
        mistake.file.display(),
        mistake.line,
        mistake.function,
        mistake.kind
    )
}

/// Returns the outcome as text.
pub fn text(outcome: &MutantsOutcome, style: Style) -> String {
    let mut text = String::new();
    for judged in outcome.survivors() {
        let _ = writeln!(text, "{}", style.paint("1", &title(judged)));
        for line in lines(&String::from_utf8_lossy(&judged.diff)) {
            // The title says where.
            let code = match line.as_bytes().first() {
                _ if line.starts_with("+++") || line.starts_with("---") => continue,
                Some(b'+') => "32",
                Some(b'-') => "31",
                _ => continue,
            };
            let _ = writeln!(text, "  {}", style.paint(code, line));
        }
        for line in answer(judged) {
            let _ = writeln!(text, "  {}", one_line(&line));
        }
        text.push('\n');
    }
    let by_function = outcome.by_function();
    let names: Vec<String> = by_function
        .keys()
        .map(|(file, function)| format!("{function} ({})", file.display()))
        .collect();
    let widest = names.iter().map(|name| name.chars().count()).max();
    let widest = widest.unwrap_or(0).max("function".len());
    let _ = writeln!(
        text,
        "{:widest$}  mutants  killed  survived  score",
        "function"
    );
    for (name, tally) in names.iter().zip(by_function.values()) {
        let _ = writeln!(
            text,
            "{name:widest$}  {:>7}  {:>6}  {:>8}  {:>5}",
            tally.mutants,
            tally.killed,
            tally.survived,
            percent(tally)
        );
    }
    text.push('\n');
    text.push_str(&summary(outcome));
    for note in notes(outcome) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Returns the outcome as JUnit XML: a survivor is a failure, and one that is proved equivalent is skipped.
pub fn junit(outcome: &MutantsOutcome) -> String {
    let mut report = Report::new("patchwright mutants");
    let mut all = TestSuite::new("mutants");
    for judged in &outcome.mutants {
        let (word, _, reason) = fate(judged);
        let is_proved = judged.answer.as_ref().is_some_and(Answer::is_proved);
        let status = match &judged.fate {
            Fate::Killed { .. } => TestCaseStatus::success(),
            Fate::Survived if !is_proved => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(word);
                status.set_message(visible(&answer(judged).join("; ")));
                status.set_description(visible(&String::from_utf8_lossy(&judged.diff)));
                status
            }
            Fate::Unsteady(_) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_type(word);
                status.set_message(visible(reason.unwrap_or_default()));
                status
            }
            Fate::Survived | Fate::DoesNotCompile(_) | Fate::Open => TestCaseStatus::skipped(),
        };
        let mut case = TestCase::new(visible(&title(judged)), status);
        let mistake = &judged.mistake;
        case.set_classname(visible(&format!(
            "{}.{}",
            mistake.file.display(),
            mistake.function
        )));
        all.add_test_case(case);
    }
    report.add_test_suite(all);
    // The data are strings: this cannot fail.
    report.to_string().unwrap_or_default()
}

/// Returns a self-contained HTML page.
pub fn html(outcome: &MutantsOutcome) -> String {
    let mut body = String::new();
    let told = summary(outcome) + &notes(outcome).join("\n");
    let _ = writeln!(body, "<pre>{}</pre>", escaped(told.trim_end()));
    body.push_str("<h2>Functions</h2>\n");
    table(
        &mut body,
        &["file", "function", "mutants", "killed", "survived", "score"],
    );
    for ((file, function), tally) in outcome.by_function() {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escaped(&file.display().to_string()),
            escaped(&function),
            tally.mutants,
            tally.killed,
            tally.survived,
            percent(&tally)
        );
    }
    body.push_str(TABLE_END);
    if outcome.survivors().next().is_some() {
        body.push_str("<h2>Survivors</h2>\n<p class=\"faint\">The keys j and k go to the next and the previous one.</p>\n<div class=\"patches\">\n");
        for judged in outcome.survivors() {
            let _ = writeln!(
                body,
                "<div class=\"patch\" id=\"mutant-{}\" tabindex=\"0\"><b>{}</b>",
                judged.number,
                escaped(&title(judged))
            );
            diff(&mut body, &String::from_utf8_lossy(&judged.diff));
            let class = match &judged.answer {
                Some(Answer::Equivalent { .. }) => "good",
                Some(Answer::Killable { .. }) => "bad",
                _ => "warn",
            };
            for line in answer(judged) {
                let _ = writeln!(body, "<div class=\"{class}\">{}</div>", escaped(&line));
            }
            body.push_str("</div>\n");
        }
        body.push_str("</div>\n");
    }
    body.push_str("<h2>All mutants</h2>\n");
    table(
        &mut body,
        &["number", "place", "function", "kind", "fate", "test"],
    );
    for judged in &outcome.mutants {
        let (word, test, _) = fate(judged);
        let class = match judged.fate {
            Fate::Killed { .. } => "good",
            Fate::Survived => "bad",
            _ => "faint",
        };
        let _ = writeln!(
            body,
            "<tr><td class=\"number\">{}</td><td>{}:{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td><td>{}</td></tr>",
            judged.number,
            escaped(&judged.mistake.file.display().to_string()),
            judged.mistake.line,
            escaped(&judged.mistake.function),
            judged.mistake.kind,
            word.replace('_', " "),
            escaped(test.unwrap_or_default())
        );
    }
    body.push_str(TABLE_END);
    page("Mutants", &body)
}
