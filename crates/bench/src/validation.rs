//! Validation of a set of patches, plainly and with each technique added to those before it.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::{CancelToken, Project, ProjectFlags, RunnerProgram, Scratch, files};
use patchwright_patches::{FolderTree, Source};
use patchwright_validate::{
    Event, PatchSet, PatchVerdict, Surroundings, ValidateOptions, Validation, read_set, validate,
};
use serde::{Deserialize, Serialize};

use crate::plot;

/// What is measured, and where the results go.
pub struct Request<'a> {
    /// The project.
    pub project: &'a Path,
    /// The patches.
    pub patches: &'a [PathBuf],
    /// Measure each step, not only the first and the last.
    pub steps: bool,
    /// Workers in the step that adds them.
    pub jobs: usize,
    /// A file of results, to which these are added.
    pub results: Option<&'a Path>,
    /// Where to plot all results.
    pub svg: Option<&'a Path>,
}

/// The results of one set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetResult {
    /// The project's name.
    pub set: String,
    /// Number of patches.
    pub patches: usize,
    /// Number of them that are plausible, plainly.
    pub plausible: usize,
    /// The steps.
    pub steps: Vec<StepResult>,
}

/// The results of one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepResult {
    /// Its name.
    pub step: String,
    /// The time of validation, without the baseline.
    pub seconds: f64,
    /// Builds.
    pub builds: usize,
    /// Executions of tests.
    pub executions: usize,
    /// Patches that were validated in woven programs.
    pub woven: usize,
    /// Patches with another verdict than plainly.
    pub different: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Results {
    sets: Vec<SetResult>,
}

/// The options of each step, each with one technique more.
fn steps(all: bool, jobs: usize) -> Vec<(&'static str, ValidateOptions)> {
    let plain = ValidateOptions {
        jobs: 1,
        prioritize: false,
        schemata: false,
        dedup: false,
        ..ValidateOptions::default()
    };
    let prioritized = ValidateOptions {
        prioritize: true,
        ..plain.clone()
    };
    let woven = ValidateOptions {
        schemata: true,
        ..prioritized.clone()
    };
    let deduplicated = ValidateOptions {
        dedup: true,
        ..woven.clone()
    };
    let parallel = ValidateOptions {
        jobs,
        ..deduplicated.clone()
    };
    let mut steps = vec![
        ("plain", plain),
        ("+ prioritization", prioritized),
        ("+ mutant schemata", woven),
        ("+ deduplication", deduplicated),
        ("+ parallelization", parallel),
    ];
    if !all {
        steps.drain(1..4);
    }
    steps
}

/// Measures and prints; false if a verdict is another one than plainly.
pub fn run(request: &Request<'_>) -> Result<bool, Box<dyn Error>> {
    let mut results = match request.results {
        Some(file) if file.exists() => serde_json::from_slice(&files::read(file)?)?,
        _ => Results::default(),
    };
    let measured = measure(request)?;
    print!("{}", table(&measured));
    let equal = measured.steps.iter().all(|step| step.different.is_empty());
    for step in &measured.steps {
        for patch in &step.different {
            eprintln!("{}: {}: {patch}", measured.set, step.step);
        }
    }
    results.sets.retain(|set| set.set != measured.set);
    results.sets.push(measured);
    if let Some(file) = request.results {
        let mut text = serde_json::to_vec_pretty(&results)?;
        text.push(b'\n');
        files::write_atomic(file, &text)?;
    }
    if let Some(file) = request.svg {
        let svg = plot::steps(&results.sets);
        files::write_atomic(file, svg.as_bytes())?;
    }
    Ok(equal)
}

fn measure(request: &Request<'_>) -> Result<SetResult, Box<dyn Error>> {
    let project = Project::load(request.project, &ProjectFlags::default())?;
    let sources: Vec<Source> = request.patches.iter().cloned().map(Source::Path).collect();
    let tree = FolderTree::new(&project.root);
    let set = read_set(&tree, &sources, &mut std::io::empty(), None, |_| {})?;
    let mut reference: Option<Validation> = None;
    let mut rows = Vec::new();
    for (step, options) in steps(request.steps, request.jobs) {
        eprintln!("{step}");
        let outcome = validate_once(&project, &set, &options)?;
        let plain = reference.get_or_insert_with(|| outcome.clone());
        let woven = outcome.stats.woven.clone().unwrap_or_default();
        rows.push(StepResult {
            step: step.to_owned(),
            seconds: outcome.stats.validate.as_secs_f64(),
            builds: outcome.stats.builds + woven.builds,
            executions: outcome.stats.executions + woven.executions,
            woven: woven.patches,
            different: differences(plain, &outcome),
        });
    }
    let name = project.root.file_name().unwrap_or_default();
    Ok(SetResult {
        set: name.to_string_lossy().into_owned(),
        patches: set.entries.len(),
        plausible: reference.map_or(0, |outcome| outcome.plausible()),
        steps: rows,
    })
}

fn validate_once(
    project: &Project,
    set: &PatchSet,
    options: &ValidateOptions,
) -> Result<Validation, Box<dyn Error>> {
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let tell = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            eprintln!("{text}");
        }
    };
    Ok(validate(
        project,
        set,
        options,
        &Surroundings {
            program: &program,
            scratch: &scratch,
            cancel: CancelToken::new()?,
            events: &tell,
        },
    )?)
}

/// Patches with different verdicts, in words.
fn differences(plain: &Validation, other: &Validation) -> Vec<String> {
    let word = |verdict: &Option<PatchVerdict>| {
        let verdict = verdict.as_ref();
        verdict.map_or("not validated", PatchVerdict::word)
    };
    let pairs = plain.patches.iter().zip(&other.patches);
    pairs
        .filter(|(plain, other)| word(&plain.verdict) != word(&other.verdict))
        .map(|(plain, other)| {
            format!(
                "{} is {}, plainly {}",
                plain.id,
                word(&other.verdict),
                word(&plain.verdict)
            )
        })
        .collect()
}

fn table(set: &SetResult) -> String {
    let mut text = format!(
        "{}: {} patches, {} of them plausible\n\n\
         | step | time, s | plain / this | builds | executions of tests | woven | other verdicts |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        set.set, set.patches, set.plausible
    );
    let plain = set.steps.first().map_or(0.0, |step| step.seconds);
    for step in &set.steps {
        let shortest = Duration::from_millis(1).as_secs_f64();
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {} | {} | {} | {} |",
            step.step,
            step.seconds,
            plain / step.seconds.max(shortest),
            step.builds,
            step.executions,
            step.woven,
            step.different.len()
        );
    }
    text
}
