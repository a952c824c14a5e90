//! The results of [`crate::validation`] for many sets as one page of Markdown.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use patchwright_exec::files;

use crate::plot;
use crate::validation::{CONFIRMED, Results, SHARED, SetResult, StepResult};

/// Sets with fewer patches do not count in the means: they cannot share much.
const LARGE: usize = 100;

/// Prints the page and writes the plots.
pub fn run(results: &Path, svg: Option<&Path>) -> Result<bool, Box<dyn Error>> {
    let results: Results = serde_json::from_slice(&files::read(results)?)?;
    print!("{}", page(&results.sets));
    if let Some(file) = svg {
        files::write_atomic(file, plot::steps(&results.sets).as_bytes())?;
    }
    let mut steps = results.sets.iter().flat_map(|set| &set.steps);
    Ok(steps.all(|step| step.different.is_empty()))
}

/// Plain validation, all techniques, and these with confirmation.
fn compared(set: &SetResult) -> Option<[&StepResult; 3]> {
    let named = |name| set.steps.iter().find(|step| step.step == name);
    Some([set.steps.first()?, named(SHARED)?, named(CONFIRMED)?])
}

fn page(sets: &[SetResult]) -> String {
    let mut text = String::from(
        "| set | patches | plausible | validated together | other verdicts | builds | executions of tests | \
         processor time, s: plain | together | ratio | with confirmation | ratio |\n\
         | --- |",
    );
    text.push_str(&" ---: |".repeat(11));
    text.push('\n');
    let mut ratios: [Vec<f64>; 2] = Default::default();
    let (mut patches, mut different, mut woven) = (0, 0, 0);
    for set in sets {
        let Some([plain, shared, confirmed]) = compared(set) else {
            continue;
        };
        let others: usize = set.steps.iter().map(|step| step.different.len()).sum();
        let ratio = |step: &StepResult| plain.processor_seconds / step.processor_seconds.max(0.001);
        // What was compared, where that is not the whole set.
        let of = plain.sample.as_ref();
        let of = of.map_or_else(String::new, |sample| format!(" of {}", sample.patches));
        patches += set.patches;
        different += others;
        woven += shared.woven;
        if set.patches >= LARGE {
            for (ratios, step) in ratios.iter_mut().zip([shared, confirmed]) {
                ratios.push(ratio(step));
            }
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {others}{of} | {} → {} | {} → {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
            set.set,
            set.patches,
            set.plausible,
            shared.woven,
            plain.builds,
            shared.builds,
            plain.executions,
            shared.executions,
            plain.processor_seconds,
            shared.processor_seconds,
            ratio(shared),
            confirmed.processor_seconds,
            ratio(confirmed),
        );
    }
    let _ = writeln!(
        text,
        "\n{patches} patches, {woven} of them validated together ({:.1} %); {different} verdicts that \
         differ from plain validation. Geometric means of the ratios over the {} sets of at least \
         {LARGE} patches: {:.1}; with confirmation {:.1}.",
        100.0 * woven as f64 / patches.max(1) as f64,
        ratios[0].len(),
        geometric_mean(&ratios[0]),
        geometric_mean(&ratios[1]),
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
        let step = |name: &str, seconds| StepResult {
            step: name.into(),
            seconds,
            processor_seconds: seconds,
            phases: vec![],
            builds: 1,
            executions: 1,
            woven: 1,
            apart: BTreeMap::new(),
            different: vec![],
            peak_memory: 0,
            sample: None,
        };
        let set = |patches, seconds| SetResult {
            set: "s".into(),
            patches,
            plausible: 0,
            steps: vec![
                step("plain", seconds),
                step(SHARED, 1.0),
                step(CONFIRMED, 2.0),
            ],
        };
        let text = page(&[set(100, 4.0), set(200, 16.0), set(99, 1000.0)]);
        assert!(text.contains("over the 2 sets"), "{text}");
        assert!(
            text.contains("patches: 8.0; with confirmation 4.0."),
            "{text}"
        );
    }
}
