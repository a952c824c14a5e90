//! Reports of `patchwright compare`: the verdict and the partitions of the inputs, as text and JSON.

mod golden;
mod interactions;
mod page;
mod seen;
mod several;

use std::fmt::Write;

use serde::Serialize;

use crate::text::{Style, with_arguments};

pub use golden::{Golden, Judged};
pub use interactions::{Interactions, Met};
pub use page::PageSource;
pub(crate) use seen::quoted;
pub use seen::{Executions, Ran, Seen};
pub use several::{AllVersions, Member, SharedPartition, VERSIONS_SCHEMA};

/// The name that `compare --json` gives its format.
pub const SCHEMA: &str = "patchwright-compare";
/// The version of `compare --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// What an execution of one version did with an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// How it ended: `exit 0`, `abort`, `undefined: …`.
    pub ending: String,
    /// What it printed.
    pub output: String,
    /// What a function left: its result, memory behind arguments, globals; names and values.
    pub left: Vec<(String, String)>,
}

/// The effects of one version in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// How it fails, with its place; nothing where it does not.
    pub failure: Option<String>,
    /// What it does for all inputs of the partition, as formulas over them.
    pub formulas: Vec<String>,
    /// What it did with the sample.
    pub observed: Option<Observed>,
    /// Changed lines that it executed with the sample.
    pub changed_lines: Vec<u32>,
}

/// A set of inputs for which the versions are the same, or differ in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Partition {
    /// Its number.
    pub number: usize,
    /// `new-fails`, `old-fails`, `fails-otherwise`, `different` or `equal`.
    pub kind: String,
    /// In what the versions differ.
    pub differs: Vec<String>,
    /// The condition on the inputs, as a conjunction.
    pub condition: Vec<String>,
    /// An input: names and values.
    pub sample: Vec<(String, String)>,
    /// The version before the change.
    pub old: Side,
    /// The version after it.
    pub new: Side,
    /// `agrees`, or why the executions could not be compared with what is said.
    pub replay: String,
    /// The partition rests on something that no input determines.
    pub undetermined: bool,
}

/// A reason why nothing is known for some inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// In words.
    pub text: String,
    /// File and line.
    pub place: Option<String>,
}

/// The share of the inputs that the partitions, or the paths that were followed, cover.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Covered {
    /// At least; a share of 1.
    pub from: f64,
    /// At most.
    pub to: f64,
    /// Both are the same, and counted; else they are an interval of 95 % confidence.
    pub exact: bool,
    /// Whether it is the share of inputs on paths that are known entirely, listed or not.
    pub by_paths: bool,
}

/// The report of a comparison.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Comparison {
    /// The name of the schema.
    pub schema: &'static str,
    /// The version of the schema.
    pub schema_version: u32,
    /// The files.
    pub old: String,
    /// The other one.
    pub new: String,
    /// The function that is compared; nothing for whole programs.
    pub function: Option<String>,
    /// `equal`, `equal-within-bound`, `different`, `unknown`, `unfinished`, `void` or `same-code`; `seen-different` where only
    /// executions have shown a difference, `not-seen` where nothing was done but executing.
    pub verdict: String,
    /// Whether no explored input ends in both versions.
    pub none_ends: bool,
    /// Rounds of each loop at most.
    pub bound: u32,
    /// How many arguments the programs get, where they look at them. The verdict is about so many.
    pub arguments: Option<u32>,
    /// There is no other input for which the versions differ, within the reasons.
    pub differences_complete: bool,
    /// Whether they differ for other inputs, too: the limit of partitions was reached.
    pub more_differ: bool,
    /// The partitions cover all inputs, within the reasons.
    pub covers_everything: bool,
    /// How much the partitions cover.
    pub covered: Option<Covered>,
    /// In which order inputs were looked at: `prv`, `all-paths` or `changed-paths`.
    pub strategy: String,
    /// Partitions that were made, those included that are not listed.
    pub partitions_made: usize,
    /// Questions that solvers were asked for them.
    pub solver_calls: u64,
    /// Whether the run was interrupted, or the budget spent.
    pub ended_early: bool,
    /// The partitions.
    pub partitions: Vec<Partition>,
    /// Inputs for which executions differ.
    pub seen: Vec<Seen>,
    /// What was executed, if anything was.
    pub executions: Option<Executions>,
    /// Sequences of changes, if they were asked for.
    pub interactions: Option<Interactions>,
    /// Differences judged by `--golden`, if it was given.
    pub golden: Option<Golden>,
    /// Which inputs were considered, where that is not obvious.
    pub inputs: Vec<String>,
    /// What is taken for granted of inputs, and how to drop that.
    pub assumed: Vec<String>,
    /// Why nothing is known for some inputs.
    pub reasons: Vec<Reason>,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// Seconds: reading, encoding, exploring.
    pub seconds: Vec<(String, f64)>,
}

impl Comparison {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }

    fn of(&self) -> String {
        match &self.function {
            Some(function) => format!("`{function}`"),
            None => "the program".to_owned(),
        }
    }

    /// Returns the report as text.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let of = self.of();
        let differing = self
            .partitions
            .iter()
            .filter(|one| one.kind != "equal")
            .count();
        let first = match self.verdict.as_str() {
            "same-code" => format!(
                "{}: {of} is the same code in both versions.",
                style.paint("32;1", "Equal for all inputs")
            ),
            "equal" => format!(
                "{}: {of} does the same in both versions.",
                style.paint(
                    "32;1",
                    &format!(
                        "Equal for all inputs{}{}",
                        with_arguments(self.arguments, false),
                        match (self.inputs.is_empty(), self.assumed.is_empty()) {
                            (true, true) => "",
                            (true, false) => " that are assumed",
                            (false, _) => " of these shapes",
                        }
                    )
                )
            ),
            "equal-within-bound" => format!(
                "{}: {of} does the same in both versions{} as long as no loop has more than {} rounds; some have more:",
                style.paint("33;1", "Equal within the bound"),
                with_arguments(self.arguments, false),
                self.bound
            ),
            "different" => {
                let word = if differing == 1 {
                    "partition"
                } else {
                    "partitions"
                };
                format!(
                    "{}: {of} differs for {differing} {word} of the inputs.",
                    style.paint("31;1", "Different")
                )
            }
            "seen-different" => format!(
                "{}: {of} was seen to do other things.",
                style.paint("31;1", "Different")
            ),
            "not-seen" => format!(
                "{}: {of} was not seen to do other things.",
                style.paint("33;1", "Not known")
            ),
            "void" => format!(
                "{}: no input of {of} satisfies the assumptions of both versions.",
                style.paint("33;1", "Void")
            ),
            "unfinished" => format!(
                "{}: no difference of {of} was found so far.",
                style.paint("33;1", "Unfinished")
            ),
            _ if self.none_ends && self.reasons.is_empty() => format!(
                "{}: no input that was explored lets {of} end in both versions.",
                style.paint("33;1", "Unknown")
            ),
            _ if self.none_ends => format!(
                "{}: both versions fail for every input that was looked at; for other inputs nothing is known of {of}:",
                style.paint("33;1", "Unknown")
            ),
            _ => format!(
                "{}: no difference of {of} is known; nothing is known where",
                style.paint("33;1", "Unknown beyond")
            ),
        };
        let _ = writeln!(text, "{first}");
        if self.verdict == "equal-within-bound" || self.verdict == "unknown" {
            self.write_reasons(&mut text);
        }
        let shown = self
            .partitions
            .iter()
            .filter(|_| self.verdict != "same-code");
        for partition in shown {
            partition.write(&mut text, style);
        }
        let only_executed = self.partitions.is_empty() && self.executions.is_some();
        if differing > 0 || self.ended_early && !only_executed {
            let _ = writeln!(text);
            if self.differences_complete {
                let within = match self.reasons.is_empty() {
                    true => "",
                    false => ", as far as is known",
                };
                let _ = writeln!(
                    text,
                    "For all other inputs{} both versions do the same{within}: proved.",
                    with_arguments(self.arguments, false)
                );
            } else if self.more_differ {
                let _ = writeln!(
                    text,
                    "There are other inputs for which they differ: --different asks for more partitions."
                );
            } else {
                let _ = writeln!(
                    text,
                    "Exploration ended early: there may be other inputs that differ."
                );
            }
            if let Some(covered) = self.covered.filter(|_| !self.differences_complete) {
                // Rounding leaves a sign where nothing is left.
                let percent = |share: f64| format!("{:.4} %", share.max(0.0) * 100.0 + 0.0);
                let share = match covered.exact {
                    true => percent(covered.from),
                    false => format!(
                        "{} to {} (95 % confidence)",
                        percent(covered.from),
                        percent(covered.to)
                    ),
                };
                let _ = match covered.by_paths {
                    true => writeln!(
                        text,
                        "{share} of the inputs take one of the paths that were followed. On these the versions differ only as \
                         listed."
                    ),
                    false => writeln!(text, "The partitions cover {share} of the inputs."),
                };
            }
            if !self.reasons.is_empty() && self.verdict != "unknown" {
                let _ = writeln!(text, "Nothing is known where");
                self.write_reasons(&mut text);
            }
        }
        self.write_seen(&mut text, style);
        self.write_interactions(&mut text, style);
        self.write_golden(&mut text);
        crate::text::write_inputs(&mut text, &self.inputs, &self.assumed);
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }

    fn write_reasons(&self, text: &mut String) {
        for reason in &self.reasons {
            let _ = match &reason.place {
                Some(place) => writeln!(text, "  {place}: {}", reason.text),
                None => writeln!(text, "  {}", reason.text),
            };
        }
    }
}

impl Partition {
    fn title(&self) -> String {
        match self.kind.as_str() {
            "new-fails" => "NEW fails where OLD does not".to_owned(),
            "old-fails" => "OLD fails where NEW does not".to_owned(),
            "fails-otherwise" => "both fail, in different ways".to_owned(),
            "equal" => "equal".to_owned(),
            _ => format!("different: {}", self.differs.join(", ")),
        }
    }

    fn write(&self, text: &mut String, style: Style) {
        let colour = match self.kind.as_str() {
            "equal" => "32",
            "new-fails" => "31;1",
            _ => "31",
        };
        let _ = writeln!(
            text,
            "\n{:>3}  {}",
            self.number,
            style.paint(colour, &self.title())
        );
        let condition = match self.condition.is_empty() {
            true => "all inputs".to_owned(),
            false => self.condition.join(" && "),
        };
        let _ = writeln!(text, "     for   {condition}");
        let [old, new] = [&self.old, &self.new].map(|side| {
            let mut words = side.formulas.clone();
            words.extend(
                side.failure
                    .clone()
                    .map(|failure| format!("fails: {failure}")),
            );
            words.join("; ")
        });
        let does = match old == new {
            true => vec![("both", old)],
            false => vec![("OLD ", old), ("NEW ", new)],
        };
        for (name, words) in does {
            if !words.is_empty() {
                let _ = writeln!(text, "     {name}  {words}");
            }
        }
        let sample = sample_text(&self.sample);
        if !sample.is_empty() {
            let _ = writeln!(text, "     e.g.  {sample}");
        }
        if let (Some(old), Some(new)) = (&self.old.observed, &self.new.observed) {
            let _ = match old == new {
                true => writeln!(text, "           both: {}", old.text()),
                false => writeln!(
                    text,
                    "           OLD: {}\n           NEW: {}",
                    old.text(),
                    new.text()
                ),
            };
        }
        for (name, side) in [("OLD", &self.old), ("NEW", &self.new)] {
            if !side.changed_lines.is_empty() && self.kind != "equal" {
                let lines: Vec<String> = side.changed_lines.iter().map(u32::to_string).collect();
                let _ = writeln!(text, "     changed lines of {name}: {}", lines.join(", "));
            }
        }
        if self.undetermined {
            let _ = writeln!(
                text,
                "     (it also depends on a value that no input determines, such as memory without a value)"
            );
        }
        if self.replay != "agrees" {
            let _ = writeln!(text, "     (not confirmed by executions: {})", self.replay);
        }
    }
}

impl Observed {
    /// Returns results, output and ending on one line.
    pub(crate) fn text(&self) -> String {
        let mut words = Vec::new();
        for (name, value) in &self.left {
            words.push(format!("{name} = {value}"));
        }
        if !self.output.is_empty() {
            words.push(format!("prints {:?}", self.output));
        }
        if self.ending != "exit 0" || words.is_empty() {
            words.push(self.ending.clone());
        }
        words.join(", ")
    }
}

/// From this number on, equal neighbours in an array are written as one.
const MANY: usize = 8;

/// The inputs of a sample: `n = 5, s[0] = 'a'`.
fn sample_text(sample: &[(String, String)]) -> String {
    // An element of an array: what is before its index, and that.
    let element = |name: &str| {
        let (array, index) = name.strip_suffix(']')?.rsplit_once('[')?;
        Some((array.to_owned(), index.parse::<i64>().ok()?))
    };
    let goes_on = |one: &(String, String), next: &(String, String)| {
        let (one_at, next_at) = (element(&one.0), element(&next.0));
        let are_neighbours = one_at
            .zip(next_at)
            .is_some_and(|(one, next)| one.0 == next.0 && one.1 + 1 == next.1);
        are_neighbours && one.1 == next.1
    };
    let runs = sample.chunk_by(goes_on);
    let parts = runs.flat_map(|run| match run {
        [first, .., last] if run.len() >= MANY => {
            vec![format!("{} to {} = {}", first.0, last.0, first.1)]
        }
        _ => {
            let each = run.iter();
            each.map(|(name, value)| format!("{name} = {value}"))
                .collect()
        }
    });
    parts.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_an_array_that_hold_the_same_are_written_as_one() {
        let mut sample = vec![("n".to_owned(), "3".to_owned())];
        sample.extend((0..9).map(|at| (format!("a->name[{at}]"), "0".to_owned())));
        sample.push(("a->name[9]".to_owned(), "1".to_owned()));
        sample.push(("b[0]".to_owned(), "1".to_owned()));
        assert_eq!(
            sample_text(&sample),
            "n = 3, a->name[0] to a->name[8] = 0, a->name[9] = 1, b[0] = 1"
        );
    }
}
