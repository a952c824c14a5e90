//! Reports of `patchwright slice`: the source lines of a slice, and JSON.

use std::fmt::{self, Write};

use serde::Serialize;

use crate::text::{Style, count};

/// The version of `slice --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// The lines of a slice, by file.
#[derive(Debug, Serialize)]
pub struct Slice {
    /// `backward`, `forward`, `dynamic` or `relevant`.
    pub kind: &'static str,
    /// What it was asked for, as the user wrote it.
    pub criterion: String,
    /// The files with lines in it.
    pub files: Vec<File>,
    /// Lines of the program that do something.
    pub executable_lines: usize,
    /// Of an execution: how it went.
    pub execution: Option<Execution>,
    /// What of the program the slice does not look into, so that something may be missing in it.
    pub gaps: Vec<Gap>,
    /// Because of a gap the slice may lack lines that belong to it.
    pub may_be_incomplete: bool,
}

/// A part of the program that slices ignore.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Gap {
    /// The file, if it is known.
    pub path: Option<String>,
    /// The line, counted from 1, if it is known.
    pub line: Option<u32>,
    /// The function, or the object whose initial value it is.
    pub name: String,
    /// What is not looked into, and why.
    pub reason: String,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{path}:{line}: ")?,
            (Some(path), None) => write!(f, "{path}: ")?,
            _ => {}
        }
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// The execution of a dynamic slice.
#[derive(Debug, Serialize)]
pub struct Execution {
    /// Executed IR instructions, as far as they can be in a slice.
    pub instructions: usize,
    /// Those that are in the slice.
    pub in_slice: usize,
    /// How often the criterion was executed.
    pub occurrences: usize,
    /// How the program ended.
    pub ending: String,
}

/// The lines of a slice in one file.
#[derive(Debug, Serialize)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its lines in the slice, in order.
    pub lines: Vec<Line>,
}

/// A line of a slice with its text.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Counted from 1.
    pub line: u32,
    /// The function that it belongs to.
    pub function: Option<String>,
    /// It belongs to the criterion.
    pub criterion: bool,
    /// Its text, without the end of the line.
    pub text: String,
}

#[derive(Serialize)]
struct Report<'a> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The slice.
    #[serde(rename = "slice")]
    slice: &'a Slice,
}

impl Slice {
    fn line_count(&self) -> usize {
        self.files.iter().map(|file| file.lines.len()).sum()
    }

    /// Returns the slice as JSON.
    pub fn json(&self) -> String {
        let report = Report {
            schema: "patchwright-slice",
            schema_version: SCHEMA_VERSION,
            slice: self,
        };
        // Plain structures of strings and numbers.
        serde_json::to_string_pretty(&report).unwrap_or_default()
    }

    /// Returns the lines of the slice as text, by function.
    pub fn text(&self, style: Style) -> String {
        let mut out = String::new();
        let what = match self.kind {
            "forward" => "what may depend on",
            "dynamic" => "what contributed to",
            "relevant" => "what contributed to, or decided about,",
            _ => "what may contribute to",
        };
        let _ = writeln!(
            out,
            "{what} {}: {} of {}",
            self.criterion,
            self.line_count(),
            count(self.executable_lines as u64, "line", "lines")
        );
        if let Some(execution) = &self.execution {
            let _ = writeln!(
                out,
                "in one execution: {} of {}; the line was executed {}; {}",
                execution.in_slice,
                count(execution.instructions as u64, "instruction", "instructions"),
                count(execution.occurrences as u64, "time", "times"),
                execution.ending,
            );
        }
        if self.may_be_incomplete {
            let _ = writeln!(
                out,
                "lines may be missing: {} not looked into",
                match self.gaps.len() {
                    1 => "1 part of the program is".to_owned(),
                    many => format!("{many} parts of the program are"),
                }
            );
        }
        for file in &self.files {
            let mut function: Option<&Option<String>> = None;
            for line in &file.lines {
                if function != Some(&line.function) {
                    function = Some(&line.function);
                    let name = line.function.as_deref().unwrap_or("outside of functions");
                    let _ = writeln!(
                        out,
                        "\n{}",
                        style.paint("1", &format!("{} {name}", file.path))
                    );
                }
                let mark = if line.criterion { ">" } else { " " };
                let text = format!("{mark} {:>5}  {}", line.line, line.text);
                let text = match line.criterion {
                    true => style.paint("33", &text),
                    false => text,
                };
                let _ = writeln!(out, "{}", text.trim_end());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_shows_its_lines_by_functions_and_marks_the_criterion() {
        let line = |line, criterion, text: &str| Line {
            line,
            function: Some("main".to_owned()),
            criterion,
            text: text.to_owned(),
        };
        let slice = Slice {
            kind: "backward",
            criterion: "a.c:4:n".to_owned(),
            files: vec![File {
                path: "a.c".to_owned(),
                lines: vec![
                    line(2, false, "  int n = f();"),
                    line(4, true, "  print(n);"),
                ],
            }],
            executable_lines: 9,
            execution: None,
            gaps: Vec::new(),
            may_be_incomplete: false,
        };
        assert_eq!(
            slice.text(Style { colour: false }),
            "what may contribute to a.c:4:n: 2 of 9 lines\n\na.c main\n      2    int n = f();\n>     4    print(n);\n"
        );
        assert!(slice.json().contains("\"schema\": \"patchwright-slice\""));
    }
}
