//! Sequences of changed lines, and inputs that execute them.

use std::fmt::Write;

use serde::Serialize;

use super::{Comparison, sample_text};
use crate::text::Style;

/// A sequence of changed lines with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Met {
    /// The lines of NEW, in the order of their execution.
    pub lines: Vec<u32>,
    /// Whether an input exercises them in this order.
    pub feasible: Option<bool>,
    /// Whether the versions differ for one of these.
    pub differs: Option<bool>,
    /// They differ for none that does not exercise the sequence.
    pub critical: bool,
    /// An input: names and values.
    pub sample: Vec<(String, String)>,
}

/// The change sequence graph with its sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interactions {
    /// The edges of the change sequence graph, by lines of NEW; `entry` and `exit` are its ends.
    pub edges: Vec<(String, String)>,
    /// Lines at which changes may meet, each with the lines of these changes.
    pub interaction_locations: Vec<(u32, Vec<u32>)>,
    /// Its sequences.
    pub sequences: Vec<Met>,
    /// What is to be known about them.
    pub notes: Vec<String>,
}

impl Comparison {
    /// The sequences of changes, for people.
    pub(super) fn write_interactions(&self, text: &mut String, style: Style) {
        let Some(found) = &self.interactions else {
            return;
        };
        let numbers = |lines: &[u32]| -> String {
            let words: Vec<String> = lines.iter().map(u32::to_string).collect();
            words.join(", ")
        };
        let edges: Vec<String> = found
            .edges
            .iter()
            .map(|(from, to)| format!("{from}→{to}"))
            .collect();
        let _ = writeln!(text, "\nChange sequence graph: {}", edges.join(" "));
        for (line, on) in &found.interaction_locations {
            let _ = writeln!(
                text,
                "Changes in lines {} may meet in line {line}.",
                numbers(on)
            );
        }
        for met in &found.sequences {
            let what = match (met.feasible, met.differs) {
                (Some(false), _) => "no input exercises it".to_owned(),
                (None, _) => "it is not known whether an input exercises it".to_owned(),
                (_, Some(true)) if met.critical => {
                    style.paint("31;1", "critical: the versions differ, and only after it")
                }
                (_, Some(true)) => style.paint("31", "the versions differ"),
                (_, Some(false)) => "the versions do the same".to_owned(),
                (_, None) => "it is not known whether the versions differ".to_owned(),
            };
            let _ = writeln!(text, "  ⟨{}⟩  {what}", numbers(&met.lines));
            let sample = sample_text(&met.sample);
            if !sample.is_empty() {
                let _ = writeln!(text, "     e.g.  {sample}");
            }
        }
        for note in &found.notes {
            let _ = writeln!(text, "  ({note})");
        }
    }
}
