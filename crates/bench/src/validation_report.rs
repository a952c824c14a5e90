//! The results of [`crate::validation`] for many sets as one page of Markdown.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use patchwright_exec::files;

use crate::plot;
use crate::validation::{Results, SetResult, StepResult};

/// Sets with fewer patches do not count in the means: they cannot share much.
const LARGE: usize = 100;

/// Prints the page, and plots.
pub fn run(results: &Path, svg: Option<&Path>) -> Result<bool, Box<dyn Error>> {
    let results: Results = serde_json::from_slice(&files::read(results)?)?;
    print!("{}", page(&results.sets));
    if let Some(file) = svg {
        files::write_atomic(file, plot::steps(&results.sets).as_bytes())?;
    }
    let mut steps = results.sets.iter().flat_map(|set| &set.steps);
    Ok(steps.all(|step| step.different.is_empty()))
}

/// The first step and the last.
fn ends(set: &SetResult) -> Option<(&StepResult, &StepResult)> {
    Some((set.steps.first()?, set.steps.last()?))
}

fn page(sets: &[SetResult]) -> String {
    let mut text = String::from(
        "| set | patches | plausible | validated together | other verdicts | builds | executions of tests | \
         processor time, s | ratio | time, s | ratio |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut processor = Vec::new();
    let mut elapsed = Vec::new();
    let (mut patches, mut different, mut woven) = (0, 0, 0);
    for set in sets {
        let Some((plain, last)) = ends(set) else {
            continue;
        };
        let others: usize = set.steps.iter().map(|step| step.different.len()).sum();
        let ratios = (
            plain.processor_seconds / last.processor_seconds.max(0.001),
            plain.seconds / last.seconds.max(0.001),
        );
        patches += set.patches;
        different += others;
        woven += last.woven;
        if set.patches >= LARGE {
            processor.push(ratios.0);
            elapsed.push(ratios.1);
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {others} | {} → {} | {} → {} | {:.1} → {:.1} | {:.1} | {:.1} → {:.1} | {:.1} |",
            set.set,
            set.patches,
            set.plausible,
            last.woven,
            plain.builds,
            last.builds,
            plain.executions,
            last.executions,
            plain.processor_seconds,
            last.processor_seconds,
            ratios.0,
            plain.seconds,
            last.seconds,
            ratios.1,
        );
    }
    let _ = writeln!(
        text,
        "\n{patches} patches, {woven} of them validated together ({:.1} %); {different} verdicts that \
         differ from plain validation. Sets of at least {LARGE} patches: {}. Geometric means of the \
         ratios: {:.1} (processor time), {:.1} (time).",
        100.0 * woven as f64 / patches.max(1) as f64,
        processor.len(),
        geometric_mean(&processor),
        geometric_mean(&elapsed),
    );
    text
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (logarithms / ratios.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn small_sets_are_listed_but_do_not_count_in_the_means() {
        let step = |seconds| StepResult {
            step: String::new(),
            seconds,
            processor_seconds: seconds,
            phases: vec![],
            builds: 1,
            executions: 1,
            woven: 1,
            apart: BTreeMap::new(),
            different: vec![],
        };
        let set = |patches, seconds| SetResult {
            set: "s".into(),
            patches,
            plausible: 0,
            steps: vec![step(seconds), step(1.0)],
        };
        let text = page(&[set(100, 4.0), set(200, 16.0), set(99, 1000.0)]);
        assert!(text.contains("Sets of at least 100 patches: 2."), "{text}");
        assert!(
            text.contains("ratios: 8.0 (processor time), 8.0 (time)"),
            "{text}"
        );
    }
}
