//! Differences, judged by a golden version, which is right.

use std::fmt::Write;

use serde::Serialize;

use super::Comparison;

/// Whether a difference is progress or a regression, by the golden version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// NEW does what is right, and OLD does not.
    Progress,
    /// OLD does what is right, and NEW does not.
    Regression,
    /// Neither does.
    Change,
}

/// Which of two versions is right in each difference, by a third version that is known to be right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Golden {
    /// The version that is right.
    pub version: String,
    /// Each difference, by its number in the report, and what it is, as far as its sample tells.
    pub differences: Vec<(String, Judged)>,
}

impl Golden {
    /// Adds the judgement of the difference `number`.
    pub fn add(&mut self, number: String, judged: Judged) {
        self.differences.push((number, judged));
    }
}

impl Comparison {
    /// Writes the judgements as text.
    pub(super) fn write_golden(&self, text: &mut String) {
        let Some(golden) = &self.golden else {
            return;
        };
        let _ = writeln!(
            text,
            "\nBy what {} does with each sample, of {} differences",
            golden.version,
            golden.differences.len()
        );
        for (judged, words) in [
            (Judged::Regression, "regressions"),
            (Judged::Progress, "progress"),
            (Judged::Change, "neither"),
        ] {
            let own = golden
                .differences
                .iter()
                .filter(|(_, other)| *other == judged);
            let numbers: Vec<&str> = own.map(|(number, _)| number.as_str()).collect();
            let share = 100.0 * numbers.len() as f64 / golden.differences.len().max(1) as f64;
            let list = match numbers.is_empty() {
                true => String::new(),
                false => format!(": {}", numbers.join(", ")),
            };
            let _ = writeln!(
                text,
                "  {words:<12} {:>3} ({share:.0} %){list}",
                numbers.len()
            );
        }
    }
}
