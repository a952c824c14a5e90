//! Measures validation of a set of patches: plainly, and with one technique after the other added.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use patchwright_exec::{
    CancelToken, Project, ProjectFlags, RunnerProgram, Scratch, files, forget_own_peak_memory,
    own_peak_memory,
};
use patchwright_patches::{FolderTree, Reading, Source};
use patchwright_validate::{
    Confirm, Event, PatchSet, PatchVerdict, Surroundings, TestFiles, ValidateOptions, Validation,
    read_set, validate,
};
use serde::{Deserialize, Serialize};

use crate::plot;
use crate::random::Random;

/// What is measured, and where the results go.
pub struct Request<'a> {
    /// The project.
    pub project: &'a Path,
    /// The patches.
    pub patches: &'a [PathBuf],
    /// Measure each step, not only the first and the last.
    pub steps: bool,
    /// Workers.
    pub jobs: usize,
    /// The results of plain validation, which are taken from this file if it is there, and else written to it.
    pub plain: Option<&'a Path>,
    /// Validate only so many patches plainly, chosen at random, and extrapolate what plain validation takes.
    pub plain_sample: Option<usize>,
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
    /// Number of them that are plausible, by the last step.
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
    /// The time that processors spent on the whole run, the baseline included: what other programs
    /// of the machine do does not count.
    #[serde(default)]
    pub processor_seconds: f64,
    /// The phases of the whole run.
    #[serde(default)]
    pub phases: Vec<(String, f64)>,
    /// Builds.
    pub builds: usize,
    /// Executions of tests.
    pub executions: usize,
    /// Patches that were validated in woven programs.
    pub woven: usize,
    /// Those of them that could have been: they change sources.
    #[serde(default)]
    pub apart: BTreeMap<String, usize>,
    /// Patches with another verdict than plainly.
    pub different: Vec<String>,
    /// The most memory that this process had resident meanwhile, in bytes.
    #[serde(default)]
    pub peak_memory: u64,
    /// If only a sample of the set was validated in this step: the numbers above are extrapolated from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleResult>,
}

/// The measurements of a sample, for a step that was not run on the whole set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampleResult {
    /// Number of patches of the sample.
    pub patches: usize,
    /// The number of distinct patches of the set that apply, for which the sample stands.
    pub of: usize,
    /// The time of validation, without the baseline.
    pub seconds: f64,
    /// The time that processors spent on the baseline, which does not depend on the number of patches.
    pub baseline_processor_seconds: f64,
    /// The time that processors spent on the sample.
    pub processor_seconds: f64,
}

impl StepResult {
    /// The step for the whole set, by what was measured of a sample.
    fn extrapolated(mut self, patches: usize, of: usize, baseline_processor_seconds: f64) -> Self {
        let sample = SampleResult {
            patches,
            of,
            seconds: self.seconds,
            baseline_processor_seconds,
            processor_seconds: self.processor_seconds - baseline_processor_seconds,
        };
        let factor = of as f64 / patches.max(1) as f64;
        let scaled = |count: usize| (count as f64 * factor).round() as usize;
        self.seconds *= factor;
        self.processor_seconds = baseline_processor_seconds + sample.processor_seconds * factor;
        self.builds = scaled(self.builds);
        self.executions = scaled(self.executions);
        self.sample = Some(sample);
        self
    }
}

/// What plain validation says, kept for later runs.
#[derive(Serialize, Deserialize)]
struct Reference {
    row: StepResult,
    /// For each patch its name and its verdict in a word.
    verdicts: Vec<(String, String)>,
}

/// The file of `patchwright-bench validate --json`: the results of all measured sets.
#[derive(Default, Serialize, Deserialize)]
pub struct Results {
    /// The sets, in the order in which they were measured.
    pub sets: Vec<SetResult>,
}

/// The name of the step with all techniques, in which each test runs once on each patch.
pub const SHARED: &str = "+ proofs of endlessness";
/// The name of the step that also confirms plausible patches, as `patchwright validate` does.
pub const CONFIRMED: &str = "+ confirmation";

/// The options of each step, each with one technique more.
fn steps(all: bool, jobs: usize) -> Vec<(&'static str, ValidateOptions)> {
    // Once for each patch and test: whatever else is done is not what validating takes.
    let plain = ValidateOptions {
        jobs,
        prioritize: false,
        schemata: false,
        dedup: false,
        virtualize: false,
        prove_endless: false,
        confirm: Confirm::Never,
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
    let virtualized = ValidateOptions {
        virtualize: true,
        ..deduplicated.clone()
    };
    let proving = ValidateOptions {
        prove_endless: true,
        ..virtualized.clone()
    };
    let confirmed = ValidateOptions {
        confirm: Confirm::Together,
        ..proving.clone()
    };
    let mut steps = vec![
        ("plain", plain),
        ("+ prioritization", prioritized),
        ("+ mutant schemata", woven),
        ("+ deduplication", deduplicated),
        ("+ test virtualization", virtualized),
        (SHARED, proving),
        (CONFIRMED, confirmed),
    ];
    if !all {
        steps.drain(1..5);
    }
    steps
}

/// Measures and prints. The result is false if a verdict differs from the plain one.
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
    let tests = TestFiles::of(&project)?;
    let set = read_set(
        &tree,
        &sources,
        &mut std::io::empty(),
        Reading::default(),
        Some(&tests),
        |_| {},
    )?;
    let mut reference = known_reference(request.plain)?;
    let distinct = set.distinct().count();
    let sample = request.plain_sample.filter(|size| *size < distinct);
    let sample = sample.map(|size| sample_of(&set, size));
    let mut rows = Vec::new();
    let mut plausible = 0;
    for (number, (step, options)) in steps(request.steps, request.jobs).into_iter().enumerate() {
        if let (0, Some(known)) = (number, &reference) {
            rows.push(known.row.clone());
            continue;
        }
        eprintln!("{step}");
        forget_own_peak_memory();
        let before = processor_seconds();
        let sample = sample.as_ref().filter(|_| number == 0);
        let (outcome, after_baseline) = validate_once(&project, sample.unwrap_or(&set), &options)?;
        let processor_seconds = processor_seconds() - before;
        let woven = outcome.stats.woven.clone().unwrap_or_default();
        let verdicts = verdicts(&outcome);
        plausible = verdicts
            .iter()
            .filter(|(_, word)| word == "plausible")
            .count();
        let mut row = StepResult {
            step: step.to_owned(),
            seconds: outcome.stats.validate.as_secs_f64(),
            processor_seconds,
            phases: outcome
                .stats
                .phases
                .iter()
                .map(|phase| (phase.name.to_owned(), phase.time.as_secs_f64()))
                .collect(),
            builds: outcome.stats.builds + woven.builds,
            executions: outcome.stats.executions + woven.executions,
            woven: woven.patches,
            apart: woven.apart,
            different: Vec::new(),
            peak_memory: own_peak_memory().unwrap_or(0),
            sample: None,
        };
        if let Some(sample) = sample {
            let begun = after_baseline.ok_or("it is not known what the baseline took")?;
            row = row.extrapolated(sample.entries.len(), distinct, begun - before);
        }
        match &reference {
            Some(plain) => row.different = differences(&plain.verdicts, &verdicts),
            None => {
                let known = Reference {
                    row: row.clone(),
                    verdicts,
                };
                if let Some(file) = request.plain {
                    files::write_atomic(file, &serde_json::to_vec(&known)?)?;
                }
                reference = Some(known);
            }
        }
        rows.push(row);
    }
    let name = project.root.file_name().unwrap_or_default();
    Ok(SetResult {
        set: name.to_string_lossy().into_owned(),
        patches: set.entries.len(),
        plausible,
        steps: rows,
    })
}

/// Some of the distinct patches of a set that apply, always the same ones.
fn sample_of(set: &PatchSet, size: usize) -> PatchSet {
    let mut numbers: Vec<usize> = set.distinct().collect();
    Random(1).shuffle(&mut numbers);
    numbers.truncate(size);
    numbers.sort_unstable();
    PatchSet {
        entries: numbers
            .iter()
            .map(|&number| set.entries[number].clone())
            .collect(),
    }
}

fn known_reference(file: Option<&Path>) -> Result<Option<Reference>, Box<dyn Error>> {
    match file {
        Some(file) if file.exists() => Ok(serde_json::from_slice(&files::read(file)?)?),
        _ => Ok(None),
    }
}

/// The verdicts in words.
fn verdicts(outcome: &Validation) -> Vec<(String, String)> {
    let word = |verdict: &Option<PatchVerdict>| {
        let verdict = verdict.as_ref();
        verdict.map_or("not validated", PatchVerdict::word)
    };
    let patches = outcome.patches.iter();
    patches
        .map(|patch| (patch.id.to_string(), word(&patch.verdict).to_owned()))
        .collect()
}

/// Returns the processor time of this process and of all its descendants in seconds, running ones included. The system counts the
/// tests of a supervisor for its parent only when the supervisor has ended.
fn processor_seconds() -> f64 {
    let ended: f64 = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            // SAFETY: all zeros are a value of the structure, which the call fills.
            let usage = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(who, &mut usage);
                usage
            };
            let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
            seconds(usage.ru_utime) + seconds(usage.ru_stime)
        })
        .sum();
    // SAFETY: the call takes a number and gives one.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
    ended + running_below(std::process::id()) as f64 / ticks
}

/// The clock ticks of processes below another one that have not ended, and of those below them that have.
fn running_below(parent: u32) -> u64 {
    let lists = std::fs::read_dir(format!("/proc/{parent}/task"))
        .into_iter()
        .flatten();
    let children = lists.flatten().filter_map(|thread| {
        let list = std::fs::read_to_string(thread.path().join("children")).ok()?;
        let children = list.split_whitespace().filter_map(|id| id.parse().ok());
        Some(children.collect::<Vec<u32>>())
    });
    let ticks = |child: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        // Behind the name, which may hold anything: the state is field 3, the four times are fields 14 to 17.
        let (_, fields) = stat.rsplit_once(')')?;
        let times = fields.split_whitespace().skip(11).take(4);
        Some(
            times
                .filter_map(|time| time.parse::<u64>().ok())
                .sum::<u64>(),
        )
    };
    children
        .flatten()
        .map(|child| ticks(child).unwrap_or(0) + running_below(child))
        .sum()
}

/// Validates, and says what [`processor_seconds`] was when the baseline was known and patches were begun with, if none of
/// them was woven.
fn validate_once(
    project: &Project,
    set: &PatchSet,
    options: &ValidateOptions,
) -> Result<(Validation, Option<f64>), Box<dyn Error>> {
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let after_baseline = OnceLock::new();
    let tell = |event: Event<'_>| match event {
        Event::Warning(text) => eprintln!("{text}"),
        Event::Phase("validating patches one by one") => {
            after_baseline.get_or_init(processor_seconds);
        }
        _ => {}
    };
    let outcome = validate(
        project,
        set,
        options,
        &Surroundings {
            program: &program,
            scratch: &scratch,
            cancel: CancelToken::new()?,
            events: &tell,
        },
    )?;
    Ok((outcome, after_baseline.into_inner()))
}

/// Patches with different verdicts, in words; of those that were validated plainly.
fn differences(plain: &[(String, String)], other: &[(String, String)]) -> Vec<String> {
    let other: HashMap<&String, &String> = other.iter().map(|(id, word)| (id, word)).collect();
    let mut found = Vec::new();
    for (id, plain) in plain {
        match other.get(id) {
            Some(&word) if word == plain => {}
            Some(word) => found.push(format!("{id} is {word}, plainly {plain}")),
            None => found.push(format!("{id} has no verdict, plainly {plain}")),
        }
    }
    found
}

fn table(set: &SetResult) -> String {
    let mut text = format!(
        "{}: {} patches, {} of them plausible\n\n\
         | step | time, s | plain / this | processor time, s | plain / this | builds | \
         executions of tests | woven | other verdicts | memory, MiB |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        set.set, set.patches, set.plausible
    );
    let shortest = Duration::from_millis(1).as_secs_f64();
    let first = set.steps.first();
    for step in &set.steps {
        let (times, processor) = first.map_or((1.0, 1.0), |plain| {
            (
                plain.seconds / step.seconds.max(shortest),
                plain.processor_seconds / step.processor_seconds.max(shortest),
            )
        });
        let _ = writeln!(
            text,
            "| {} | {:.1} | {times:.1} | {:.1} | {processor:.1} | {} | {} | {} | {} | {} |",
            step.step,
            step.seconds,
            step.processor_seconds,
            step.builds,
            step.executions,
            step.woven,
            step.different.len(),
            step.peak_memory >> 20
        );
    }
    let Some(last) = set.steps.last() else {
        return text;
    };
    if let Some(sample) = first.and_then(|plain| plain.sample.as_ref()) {
        let _ = writeln!(
            text,
            "\nThe first step is extrapolated from {} of {} patches, which took {:.1} s ({:.1} s of processor time, \
             and {:.1} s before them); the verdicts of these are compared.",
            sample.patches,
            sample.of,
            sample.seconds,
            sample.processor_seconds,
            sample.baseline_processor_seconds
        );
    }
    text.push_str("\n| phase of the last step | time, s |\n| --- | ---: |\n");
    for (phase, seconds) in &last.phases {
        let _ = writeln!(text, "| {phase} | {seconds:.2} |");
    }
    for (reason, patches) in &last.apart {
        let _ = writeln!(text, "\nvalidated by themselves: {patches} ({reason})");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(id, word): &(&str, &str)| (id.to_string(), word.to_string());
        words.iter().map(owned).collect()
    }

    #[test]
    fn a_sample_is_scaled_to_the_set_and_the_baseline_is_not() {
        let step = StepResult {
            step: "plain".into(),
            seconds: 10.0,
            processor_seconds: 12.0,
            phases: vec![],
            builds: 5,
            executions: 15,
            woven: 0,
            apart: BTreeMap::new(),
            different: vec![],
            peak_memory: 0,
            sample: None,
        };
        let whole = step.extrapolated(5, 100, 4.0);
        assert_eq!(whole.seconds, 200.0);
        assert_eq!(whole.processor_seconds, 4.0 + 8.0 * 20.0);
        assert_eq!((whole.builds, whole.executions), (100, 300));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test starts a process")]
    fn processor_time_of_a_child_that_still_runs_counts() {
        let before = processor_seconds();
        let mut child = std::process::Command::new("sh")
            .args([
                "-c",
                "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo; read x",
            ])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        let running = processor_seconds() - before;
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(running >= 0.02, "{running}");
    }

    #[test]
    fn verdicts_are_compared_for_the_patches_that_were_validated_plainly() {
        let plain = named(&[("b", "plausible"), ("c", "implausible"), ("d", "plausible")]);
        let other = named(&[("a", "plausible"), ("b", "plausible"), ("c", "plausible")]);
        let found = differences(&plain, &other);
        assert_eq!(
            found,
            [
                "c is plausible, plainly implausible",
                "d has no verdict, plainly plausible"
            ]
        );
    }
}
