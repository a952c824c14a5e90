//! Differences that executions have shown.

use std::fmt::Write;

use serde::Serialize;

use super::Comparison;
use crate::text::Style;

/// The output and the ending of an execution of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// How it ended: `exit 0`, `was ended by signal 11 (SIGSEGV)`.
    pub ending: String,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// Files that it has written, by name; nothing for one that it has removed.
    pub written: Vec<(String, Option<String>)>,
}

/// An input for which executions of the versions differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: String,
    /// The files in the folder that it was started in, by name.
    pub files: Vec<(String, String)>,
    /// The test that the input was made of.
    pub of: String,
    /// The version before the change.
    pub old: Ran,
    /// The version after it.
    pub new: Ran,
    /// Seconds of the search after which it was found.
    pub seconds: f64,
}

/// How many inputs were executed, and what differed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Executions {
    /// Inputs that both versions were executed with.
    pub inputs: usize,
    /// Of these, inputs of tests.
    pub of_tests: usize,
    /// Inputs for which the versions differed.
    pub differing: usize,
    /// Tests, inputs made of which a version does not always do the same with: only what is steady was compared.
    pub unsteady: Vec<String>,
}

/// Characters of a text that are shown at most.
const MOST: usize = 300;

impl Comparison {
    /// Writes what executions have shown, as text.
    pub(super) fn write_seen(&self, text: &mut String, style: Style) {
        let Some(executions) = &self.executions else {
            return;
        };
        for (number, seen) in (1..).zip(&self.seen) {
            let title = style.paint("31", &format!("seen: {}", seen.title()));
            let _ = writeln!(text, "\n S{number}  {title}");
            if !seen.arguments.is_empty() {
                let words: Vec<String> = seen.arguments.iter().map(|word| quoted(word)).collect();
                let _ = writeln!(text, "     arguments       {}", words.join(" "));
            }
            if !seen.input.is_empty() || seen.arguments.is_empty() {
                let _ = writeln!(text, "     standard input  {}", quoted(&seen.input));
            }
            for (name, held) in &seen.files {
                let _ = writeln!(text, "     file {name}  {}", quoted(held));
            }
            for (name, ran) in [("OLD", &seen.old), ("NEW", &seen.new)] {
                let _ = writeln!(
                    text,
                    "     {name}  {}",
                    ran.text(seen.old.errors != seen.new.errors)
                );
                if seen.old.written != seen.new.written {
                    for (file, held) in &ran.written {
                        let _ = match held {
                            Some(held) => {
                                writeln!(text, "          writes {file}: {}", quoted(held))
                            }
                            None => writeln!(text, "          removes {file}"),
                        };
                    }
                }
            }
            let _ = writeln!(
                text,
                "     (found after {:.1} s, from {})",
                seen.seconds, seen.of
            );
        }
        let share = match executions.inputs {
            0 => String::new(),
            inputs => format!(
                " ({:.1} %)",
                100.0 * executions.differing as f64 / inputs as f64
            ),
        };
        let _ = writeln!(
            text,
            "\nBoth versions were executed with {} inputs, {} of them of tests; they differed for {}{share}. What is seen is \
             no proof of anything about other inputs.",
            executions.inputs, executions.of_tests, executions.differing
        );
        if !executions.unsteady.is_empty() {
            let _ = writeln!(
                text,
                "With inputs like {} a version does not always do the same: only what is steady was compared.",
                executions.unsteady.join(", ")
            );
        }
    }
}

impl Seen {
    fn title(&self) -> String {
        let mut parts = Vec::new();
        if self.old.ending != self.new.ending {
            parts.push("how it ends");
        }
        if self.old.output != self.new.output {
            parts.push("the output");
        }
        if self.old.written != self.new.written {
            parts.push("what it writes to files");
        }
        if self.old.errors != self.new.errors {
            parts.push("the output to standard error");
        }
        parts.join(", ")
    }
}

impl Ran {
    /// Returns one line; with standard error if that is what differs.
    pub(crate) fn text(&self, with_errors: bool) -> String {
        let mut words = Vec::new();
        if !self.output.is_empty() {
            words.push(format!("prints {}", quoted(&self.output)));
        }
        if with_errors && !self.errors.is_empty() {
            words.push(format!("to standard error {}", quoted(&self.errors)));
        }
        if self.ending != "exit 0" || words.is_empty() {
            words.push(self.ending.clone());
        }
        words.join(", ")
    }
}

/// A text between quotes, the middle left out if it is long.
pub(crate) fn quoted(text: &str) -> String {
    let shown = format!("{text:?}");
    let count = shown.chars().count();
    if count <= MOST {
        return shown;
    }
    let first: String = shown.chars().take(MOST / 2).collect();
    let last: String = shown.chars().skip(count - MOST / 2).collect();
    format!("{first} … {last}")
}
