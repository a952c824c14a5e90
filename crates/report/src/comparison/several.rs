//! Reports on more than two versions: which of them agree, for which inputs.

use std::fmt::Write;

use serde::Serialize;

use super::{Judged, Observed, sample_text};
use crate::text::Style;

/// The name of the JSON schema for several versions.
pub const VERSIONS_SCHEMA: &str = "patchwright-compare-versions";

/// The effects of one version in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Member {
    /// The version.
    pub version: String,
    /// Versions with the same number do the same.
    pub group: usize,
    /// What it does for all inputs of the partition: formulas, or how it fails.
    pub does: Vec<String>,
    /// What it did with the sample.
    pub observed: Option<Observed>,
    /// What its difference from the version before it is, in the eyes of the golden one.
    pub judged: Option<Judged>,
}

/// Inputs for which the same versions agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedPartition {
    /// Its number.
    pub number: usize,
    /// The condition on the inputs, as a conjunction.
    pub condition: Vec<String>,
    /// An input: names and values.
    pub sample: Vec<(String, String)>,
    /// All versions, in order.
    pub members: Vec<Member>,
    /// What the golden version did with the sample, if there is one.
    pub golden: Option<Observed>,
    /// `agrees`, or why the executions could not be compared with what is said.
    pub replay: String,
}

/// The report on several versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AllVersions {
    /// The name of the schema.
    pub schema: &'static str,
    /// The version of the schema.
    pub schema_version: u32,
    /// The versions, in order.
    pub versions: Vec<String>,
    /// The function that is compared; nothing for whole programs.
    pub function: Option<String>,
    /// For all inputs in none of the partitions all versions do the same, as far as is known.
    pub complete: bool,
    /// There are other such inputs: as many partitions as were asked for have been found.
    pub more_differ: bool,
    /// The version that is right, if one was named.
    pub golden: Option<String>,
    /// Partitions in which not all versions do the same.
    pub partitions: Vec<SharedPartition>,
}

impl AllVersions {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }

    /// Returns the report as text.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let count = self.versions.len();
        let plural = if self.partitions.len() == 1 { "" } else { "s" };
        let _ = writeln!(
            text,
            "All {count} versions: {} partition{plural} of the inputs in which they do not all do the same.",
            self.partitions.len()
        );
        for partition in &self.partitions {
            partition.write(&mut text, style);
        }
        let _ = writeln!(
            text,
            "\n{}",
            match (self.complete, self.more_differ) {
                (true, _) =>
                    "For all other inputs all versions do the same, as far as each two of them are known: proved.",
                (_, true) => "There are others: --different asks for more.",
                _ => "Exploration ended early: there may be others.",
            }
        );
        text
    }
}

impl SharedPartition {
    fn write(&self, text: &mut String, style: Style) {
        let last = self.members.iter().map(|member| member.group).max();
        let groups: Vec<Vec<&Member>> = (0..=last.unwrap_or(0))
            .map(|group| {
                let own = self.members.iter();
                own.filter(|member| member.group == group).collect()
            })
            .collect();
        let names = |group: &Vec<&Member>| -> String {
            let names = group.iter().map(|member| member.version.as_str());
            names.collect::<Vec<&str>>().join(", ")
        };
        let title = groups.iter().map(names).collect::<Vec<String>>();
        let _ = writeln!(
            text,
            "\n{:>3}  {}",
            self.number,
            style.paint("31", &title.join(" | "))
        );
        let condition = match self.condition.is_empty() {
            true => "all inputs".to_owned(),
            false => self.condition.join(" && "),
        };
        let _ = writeln!(text, "     for   {condition}");
        for group in &groups {
            let does = group.iter().find(|member| !member.does.is_empty());
            if let Some(member) = does {
                let _ = writeln!(text, "     {}: {}", names(group), member.does.join("; "));
            }
        }
        let sample = sample_text(&self.sample);
        if !sample.is_empty() {
            let _ = writeln!(text, "     e.g.  {sample}");
        }
        for group in &groups {
            let observed = group.iter().find_map(|member| member.observed.as_ref());
            if let Some(observed) = observed {
                let _ = writeln!(text, "           {}: {}", names(group), observed.text());
            }
        }
        if let Some(golden) = &self.golden {
            let _ = writeln!(text, "           right: {}", golden.text());
        }
        for member in &self.members {
            let judged = match member.judged {
                None => continue,
                Some(Judged::Progress) => "progress",
                Some(Judged::Regression) => "a regression",
                Some(Judged::Change) => "a change, and right neither before nor after it",
            };
            let _ = writeln!(text, "     {} is {judged}", member.version);
        }
        if self.replay != "agrees" {
            let _ = writeln!(text, "     (not confirmed by executions: {})", self.replay);
        }
    }
}
