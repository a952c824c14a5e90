//! Reports of `patchwright repair` as text.

use std::fmt::Write;

use crate::screen::styled;
use patchwright_repair::{Patch, RepairOutcome, Stats, Unchangeable, UnchangeableKind};

/// Whether text has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Use ANSI colours.
    pub colour: bool,
}

impl Style {
    /// Returns text in the style of a terminal's code, or as it is without colours.
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            styled(code, text)
        } else {
            text.to_owned()
        }
    }
}

/// Returns a number with its noun in singular or plural, with commas in long numbers: `1 change`, `2,000
/// changes`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

/// Returns the limit of a statement about programs: the number of arguments, if the program looks at them.
pub(crate) fn with_arguments(count: Option<u32>, or_fewer: bool) -> String {
    let most = if or_fewer { "at most " } else { "" };
    match count {
        None => String::new(),
        Some(0) => " without arguments".to_owned(),
        Some(1) => format!(" with {most}1 argument"),
        Some(count) => format!(" with {most}{count} arguments"),
    }
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// Returns the text of a patch: location, kind of change, cost, class and diff.
pub fn patch(number: usize, patch: &Patch, style: Style) -> String {
    let mut text = String::new();
    let title = format!("patch {number} · {}", title(patch));
    let _ = writeln!(text, "{}", style.paint("1", &title));
    if patch.class_size > 1 {
        let note = if patch.representative {
            let several = match patch.distinct {
                0 | 1 => String::new(),
                n => format!(
                    "; the compiler tells at least {} of them apart",
                    grouped(n as u64)
                ),
            };
            format!(
                "  the first of {} that no test tells apart (class {}){several}",
                count(patch.class_size as u64, "candidate", "candidates"),
                patch.class
            )
        } else {
            let equivalent = match patch.code_differs {
                true => ", but the compiler does",
                false => "",
            };
            format!(
                "  one of {} candidates that no test tells apart (class {}){equivalent}",
                grouped(patch.class_size as u64),
                patch.class
            )
        };
        let _ = writeln!(text, "{}", style.paint("2", &note));
    }
    if let Some(proposal) = &patch.proposal {
        let note = format!("  proposed as {}", crate::screen::one_line(proposal));
        let _ = writeln!(text, "{}", style.paint("2", &note));
    }
    if let Some(objection) = &patch.undefined {
        let note = format!("  passes, but by undefined behaviour: {objection}");
        let _ = writeln!(text, "{}", style.paint("31", &note));
    }
    text.push_str(&diff(patch, style));
    text.push('\n');
    text
}

/// Returns the text of a patch that is shown before the report. `is_scrutinized` says that it was already
/// checked for undefined behaviour.
pub fn early_patch(patch: &Patch, is_scrutinized: bool, style: Style) -> String {
    let open = match is_scrutinized {
        true => "",
        false => " (undefined behaviour is still being looked for)",
    };
    let title = format!("passes all tests{open} · {}", title(patch));
    format!("{}\n{}\n", style.paint("1", &title), diff(patch, style))
}

/// Where a patch changes what.
fn title(patch: &Patch) -> String {
    format!(
        "{}:{}{} · {}{} · cost {}",
        patch.file.display(),
        patch.line,
        match &patch.function[..] {
            "" => String::new(),
            function => format!(" in {function}"),
        },
        patch.schema_in_words(),
        match &patch.kind {
            Some(kind) => format!(" ({kind})"),
            None => String::new(),
        },
        patch.cost
    )
}

fn diff(patch: &Patch, style: Style) -> String {
    let mut text = String::new();
    for line in lines(&String::from_utf8_lossy(&patch.diff)) {
        let code = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => "1",
            Some(b'+') => "32",
            Some(b'-') => "31",
            Some(b'@') => "36",
            _ => "0",
        };
        let _ = writeln!(text, "{}", style.paint(code, line));
    }
    text
}

/// The lines of a diff without their newlines. Carriage returns stay: without them the diff would not apply to its source.
pub(crate) fn lines(diff: &str) -> impl Iterator<Item = &str> {
    diff.split_inclusive('\n')
        .map(|line| line.strip_suffix('\n').unwrap_or(line))
}

/// Returns the text behind the patches: what was explored, left out and not verified.
pub fn summary(outcome: &RepairOutcome) -> String {
    let stats = &outcome.stats;
    let mut text = String::new();
    let found = match outcome.patches.len() {
        0 if stats.ended_in.is_some() => format!(
            "Time ran out while {}, before the search began; --budget is the time for all of it",
            stats.ended_in.unwrap_or_default()
        ),
        0 if stats.interrupted => format!(
            "Interrupted; {} found until then, none of them verified (--resume goes on)",
            count(
                stats.plausible,
                "plausible candidate",
                "plausible candidates"
            )
        ),
        0 if stats.out_of_time => {
            "No plausible patch was found before the time ran out; a larger --budget tries more"
                .to_owned()
        }
        0 => "No plausible patch".to_owned(),
        1 => "1 patch, verified on a clean copy".to_owned(),
        n => format!(
            "{}, each verified on a clean copy",
            count(n as u64, "patch", "patches")
        ),
    };
    let _ = writeln!(text, "{found}.");
    if stats.ended_in.is_some() {
        return text;
    }
    let _ = writeln!(
        text,
        "Explored {} at {} with {} of tests.",
        count(stats.explored, "candidate", "candidates"),
        count(stats.reached as u64, "location", "locations"),
        count(stats.executions, "execution", "executions"),
    );
    if let Some((tried, passed)) = stats.proposals {
        let _ = writeln!(
            text,
            "Tried {}: {} all tests.",
            count(tried as u64, "proposal", "proposals"),
            match passed {
                1 => "1 passes".to_owned(),
                n => format!("{} pass", grouped(n as u64)),
            }
        );
    }
    let shows_others = outcome
        .patches
        .iter()
        .any(|patch| patch.undefined.is_none());
    if stats.undefined_by_sanitizers > 0 && shows_others {
        let _ = writeln!(
            text,
            "Not shown: {} only by undefined behaviour, as other contents of memory, the compiler or sanitizers show.",
            count(
                stats.undefined_by_sanitizers as u64,
                "patch that passes",
                "patches that pass"
            )
        );
    }
    if stats.resumed > 0 {
        let _ = writeln!(
            text,
            "{} of them were known from the run before.",
            grouped(stats.resumed)
        );
    }
    if stats.plausible > outcome.patches.len() as u64 {
        let _ = writeln!(
            text,
            "{} in {} are plausible.",
            count(stats.plausible, "candidate", "candidates"),
            count(stats.plausible_classes as u64, "class", "classes"),
        );
    }
    let shown = outcome.patches.iter().map(|patch| patch.class).max();
    if stats.is_full && stats.plausible_classes > shown.unwrap_or(0) {
        let _ = writeln!(text, "--max-patches N shows patches of more classes.");
    }
    let left_out = &stats.left_out;
    if left_out.locations > 0 {
        let _ = writeln!(
            text,
            "Left out: {} of {} locations below rank {}; --locations 0 takes all.",
            grouped(left_out.locations as u64),
            grouped(left_out.of_locations as u64),
            grouped((left_out.of_locations - left_out.locations) as u64),
        );
    }
    if left_out.statements > 0 {
        let _ = writeln!(
            text,
            "Left out: locations in the {} least suspicious of {} statements that failing tests execute; \
             --locations 0 takes all.",
            grouped(left_out.statements as u64),
            grouped(left_out.of_statements as u64),
        );
    }
    if stats.too_many_states > 0 {
        let _ = writeln!(
            text,
            "Without a verdict: {} at places that tests execute too often; --files FILE:LINE searches one such place.",
            count(stats.too_many_states, "candidate", "candidates")
        );
    }
    if stats.ran_out > 0 && outcome.patches.is_empty() {
        let _ = writeln!(
            text,
            "Ended because they took much longer than their test usually does: {}; {} of them ran again with more time. --test-timeout sets the time of a test.",
            count(stats.ran_out, "execution", "executions"),
            grouped(stats.given_longer),
        );
    }
    if let Some(two) = stats.two_places {
        let _ = writeln!(
            text,
            "Then tried two places: {} for one failing test each, with {}; {} built and tested.",
            count(two.searches as u64, "search", "searches"),
            count(two.executions, "execution", "executions"),
            count(two.pairs as u64, "pair", "pairs"),
        );
    }
    if stats.out_of_time && stats.in_deferred {
        text.push_str(
            "All costs were explored. Then time ran out while postponed candidates were executed one by one.\n",
        );
    } else if let (true, Some(cost)) = (stats.out_of_time, stats.complete_cost) {
        let _ = writeln!(
            text,
            "Time ran out after cost {cost} was explored entirely."
        );
    } else if stats.out_of_time {
        text.push_str("Time ran out before the cheapest changes were all tried.\n");
    }
    if stats.unverified > 0 {
        let _ = writeln!(
            text,
            "Not verified, because time ran out: {}.",
            count(
                stats.unverified as u64,
                "class of plausible candidates",
                "classes of plausible candidates"
            )
        );
    }
    if stats.unscrutinized > 0 {
        let _ = writeln!(
            text,
            "Not checked for undefined behaviour, because time ran out: {}.",
            count(stats.unscrutinized as u64, "patch", "patches")
        );
    }
    if stats.stopped_early {
        text.push_str("Stopped looking for further patches; --all explores the rest.\n");
    }
    if outcome.patches.is_empty() && !stats.interrupted {
        text.push_str(&unchangeable(&stats.unchangeable));
    }
    if !stats.rejected.is_empty() {
        let _ = writeln!(
            text,
            "{} plausible by class did not pass the verification (see --json).",
            count(stats.rejected.len() as u64, "candidate", "candidates")
        );
    }
    text
}

/// Returns a sentence about what no schema changes, or an empty text if there is no such thing.
fn unchangeable(things: &[Unchangeable]) -> String {
    let described = |one: &Unchangeable| {
        let (noun, nouns) = nouns(&one.kind);
        let more = match one.places.len() < one.count {
            true => ", …",
            false => "",
        };
        format!(
            "{} ({}{more})",
            count(one.count as u64, &noun, &nouns),
            one.places.join(", ")
        )
    };
    match things {
        [] => String::new(),
        _ => {
            let all: Vec<String> = things.iter().map(described).collect();
            format!(
                "Repair does not change these, or only in the few ways of DECLARATION: {}.\n",
                all.join("; ")
            )
        }
    }
}

/// What one is called, and several are.
fn nouns(kind: &UnchangeableKind) -> (String, String) {
    let (one, many) = match kind {
        UnchangeableKind::CaseLabel => ("case label", "case labels"),
        UnchangeableKind::StaticInitializer => (
            "initial value of static data",
            "initial values of static data",
        ),
        UnchangeableKind::StringLiteral => ("string literal", "string literals"),
        UnchangeableKind::MacroBody => (
            "expression from a macro's body",
            "expressions from bodies of macros",
        ),
        UnchangeableKind::BitField => (
            "use of a structure with bit-fields behind a pointer",
            "uses of structures with bit-fields behind pointers",
        ),
        UnchangeableKind::HeaderFunction => ("function in a header", "functions in headers"),
        UnchangeableKind::RefusedFunction(reason) => {
            let said = |what: &str| format!("{what} left alone: {reason}");
            return (said("function"), said("functions"));
        }
    };
    (one.to_owned(), many.to_owned())
}

/// Returns the table of `--stats`.
pub fn stats(stats: &Stats) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<36} {value:>14}");
    };
    row("tests failing", grouped(stats.tests.0 as u64));
    row("tests passing", grouped(stats.tests.1 as u64));
    row("tests flaky, set aside", grouped(stats.tests.2 as u64));
    row("locations", grouped(stats.locations as u64));
    row(
        "… that all failing tests reach",
        grouped(stats.reached as u64),
    );
    row(
        "functions with such locations",
        grouped(stats.functions as u64),
    );
    row(
        "candidates up to the cost reached",
        grouped(stats.candidates),
    );
    row("explored", grouped(stats.explored));
    row("… with undefined behaviour", grouped(stats.undefined));
    row("left out", grouped(stats.too_many_states));
    row("ended for their processor time", grouped(stats.ran_out));
    row(
        "changed declarations, each built",
        grouped(stats.declarations),
    );
    if stats.declarations_left_out > 0 {
        row(
            "… further ones, left out",
            grouped(stats.declarations_left_out),
        );
    }
    row("executions of tests", grouped(stats.executions));
    row("… known from an earlier run", grouped(stats.resumed));
    row("… forked, not executed anew", grouped(stats.forked));
    row("test-equivalence classes", grouped(stats.classes));
    row("plausible candidates", grouped(stats.plausible));
    row("plausible classes", grouped(stats.plausible_classes as u64));
    row(
        "… the same by the compiler, left out",
        grouped(stats.duplicates as u64),
    );
    row("terms evaluated in states", grouped(stats.evaluations));
    for (reason, n) in &stats.refused {
        row(
            &format!("functions left alone: {reason}"),
            grouped(*n as u64),
        );
    }
    for (reason, n) in &stats.refused_changes {
        row(&format!("changes left alone: {reason}"), grouped(*n as u64));
    }
    if stats.disagreements > 0 {
        row(
            "expressions and statements compiled in several ways that disagree",
            grouped(stats.disagreements as u64),
        );
    }
    for one in &stats.unchangeable {
        // Functions with a reason are among those above.
        if !matches!(one.kind, UnchangeableKind::RefusedFunction(_)) {
            let (_, nouns) = nouns(&one.kind);
            row(
                &format!("hardly or not changed: {nouns}"),
                grouped(one.count as u64),
            );
        }
    }
    row(
        "peak memory of Patchwright",
        format!("{} MiB", grouped(stats.peak_memory >> 20)),
    );
    let phases = &stats.phases;
    for (name, time) in [
        ("copy", phases.copy),
        ("build", phases.build),
        ("baseline", phases.baseline),
        ("localize", phases.localize),
        ("read", phases.read),
        ("weave", phases.weave),
        ("search", phases.search),
        ("verify", phases.verify),
    ] {
        row(
            &format!("time: {name}"),
            format!("{:.3} s", time.as_secs_f64()),
        );
    }
    text
}

/// Returns bytes in quotes so that all can be recovered: unprintable ones become `
/// `, `\t`, `\r` or `\xNN` with two digits.
pub fn quoted_bytes(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('"');
    text
}

/// Writes the lines `Inputs:` and `Assumed:`.
pub(crate) fn write_inputs(text: &mut String, inputs: &[String], assumed: &[String]) {
    if !inputs.is_empty() {
        text.push_str(&format!("Inputs: {}.\n", inputs.join("; ")));
    }
    for one in assumed {
        text.push_str(&format!("Assumed: {one}.\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567), "1,234,567");
    }

    #[test]
    fn what_no_schema_changes_is_said_with_its_first_places() {
        let thing = |kind, count, places: &[&str]| Unchangeable {
            kind,
            count,
            places: places.iter().map(|&place| place.to_owned()).collect(),
        };
        let reason = "contains inline assembly".to_owned();
        let mut outcome = RepairOutcome::default();
        outcome.stats.unchangeable = vec![
            thing(UnchangeableKind::CaseLabel, 3, &["n.c:14", "n.c:16"]),
            thing(UnchangeableKind::StringLiteral, 1, &["n.c:20"]),
            thing(UnchangeableKind::RefusedFunction(reason), 1, &["a.c:3"]),
        ];
        let text = summary(&outcome);
        assert!(
            text.ends_with(
                "\nRepair does not change these, or only in the few ways of DECLARATION: 3 case labels (n.c:14, n.c:16, …); \
                 1 string literal (n.c:20); 1 function left alone: contains inline assembly (a.c:3).\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn an_outcome_without_patches_says_so() {
        let text = summary(&RepairOutcome::default());
        assert!(text.starts_with("No plausible patch."), "{text}");
    }

    #[test]
    fn bytes_can_be_had_back_from_what_is_printed() {
        assert_eq!(quoted_bytes(b"a\n\"\\\xc8\0"), r#""a\n\"\\\xc8\x00""#);
    }
}
