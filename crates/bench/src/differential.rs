//! Compares the verdicts of the search on sampled candidates with plain compilation and execution.
//!
//! What a candidate reads behind a pointer to an object of unknown size is read as it is. If it
//! reads past the end of the object it is undefined, and no execution needs to agree with any
//! other; such candidates are counted apart.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    path::PathBuf,
    time::Duration,
};

use patchwright_exec::{CancelToken, FileSelection, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{
    Event, RepairOptions, Surroundings,
    classes::ClassVerdict,
    clean_copy::CleanCopy,
    found::{Explored, ExploredCandidate},
    instrument::instrument,
    instrumented::Instrumented,
    levels::search,
    phases::Phases,
    prepare::{Prepared, prepare},
    rejection::Rejection,
};
use patchwright_space::Schemas;
use patchwright_text::{LineMap, apply_edits};

use crate::random::Random;

/// Flags of `patchwright-bench differential`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The project's folder, with a patchwright.toml
    project: PathBuf,
    /// Where candidates are taken from (FILE[:LINE[-LINE]]), instead of the project's own choice
    #[arg(long, value_name = "PLACE")]
    files: Vec<std::ffi::OsString>,
    /// Only candidates at this place are compared (FILE[:LINE[-LINE]]), of all that are explored
    #[arg(long, value_name = "PLACE")]
    compare: Option<std::ffi::OsString>,
    /// Number of candidates to compare
    #[arg(long, default_value_t = 300)]
    sample: usize,
    /// Chooses the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Explore exits under all conditions, which a repair does not try unless it is told to
    #[arg(long)]
    exits: bool,
    /// Candidates above this cost are not explored
    #[arg(long, default_value_t = 3)]
    max_cost: u32,
    /// Time for the exploration
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = crate::time::time)]
    budget: Duration,
    /// Workers of the exploration
    #[arg(short, long, default_value_t = 2)]
    jobs: usize,
}

/// The largest number of members of one class that are in a sample.
const MEMBERS: usize = 4;

/// A sampled candidate with the verdict of its class.
pub struct Sampled<'a> {
    /// Its group.
    pub explored: &'a Explored,
    /// It.
    pub candidate: &'a ExploredCandidate,
}

/// Compares verdicts and prints the numbers. The result is false if anything disagrees.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut flags = ProjectFlags::default();
    for selection in &arguments.files {
        flags.files.push(FileSelection::parse(selection)?);
    }
    let project = Project::load(&arguments.project, &flags)?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let show = |event: Event| match event {
        Event::Phase(name) => eprintln!("{name}"),
        Event::Warning(text) => eprintln!("warning: {text}"),
        _ => {}
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &show,
    };
    let options = RepairOptions {
        jobs: arguments.jobs,
        all: true,
        max_cost: arguments.max_cost,
        schemas: match arguments.exits {
            true => Schemas::ALL,
            false => Schemas::default(),
        },
        budget: Some(arguments.budget),
        keep_verdicts: true,
        ..Default::default()
    };
    let mut phases = Phases::default();
    let mut prepared = prepare(&project, &options, &surroundings, &mut phases)?;
    let mut instrumented = instrument(
        &mut prepared,
        &project,
        &options,
        &surroundings,
        &mut phases,
    )?;
    let mut found = search(
        &mut instrumented,
        &prepared,
        &project,
        &options,
        &surroundings,
    )?;
    if let Some(place) = &arguments.compare {
        let place = FileSelection::parse(place)?;
        for explored in &mut found.verdicts {
            let file = &instrumented.files[instrumented.holes[explored.entry].file];
            let lines = LineMap::new(&file.unit.source);
            let is_there = |candidate: &ExploredCandidate| {
                file.relative == place.file
                    && place.contains_line(lines.line(candidate.edit.span.start))
            };
            explored.candidates.retain(is_there);
        }
    }
    let samples = sample(&found.verdicts, arguments.sample, arguments.seed, MEMBERS);
    eprintln!(
        "comparing {} of {} explored candidates at {} locations",
        samples.len(),
        found.stats.explored,
        instrumented.holes.len()
    );
    let mut copy = CleanCopy::start("plain", &prepared, &project, &surroundings)?;
    let mut tally = Tally::default();
    for sampled in &samples {
        let agrees = tally.compare(sampled, &instrumented, &prepared, &mut copy)?;
        if !agrees {
            describe(sampled, &instrumented, tally.last.as_ref());
        }
    }
    let name = project.root.file_name().unwrap_or_default();
    println!(
        "| program | locations | explored | undefined | executions | compared | pass | fail | \
         does not compile | plain test runs | read elements without known bounds | disagreements \
         of these | other disagreements |\n| --- |{}",
        " ---: |".repeat(12)
    );
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        name.to_string_lossy(),
        tally.locations.len(),
        found.stats.explored,
        found.stats.undefined,
        found.stats.executions,
        samples.len(),
        tally.pass,
        tally.fail,
        tally.not_compiled,
        tally.runs,
        tally.unbounded,
        tally.disagreements[1],
        tally.disagreements[0]
    );
    Ok(tally.disagreements == [0, 0])
}

/// What the comparison has found so far.
#[derive(Default)]
struct Tally {
    pass: usize,
    fail: usize,
    not_compiled: usize,
    runs: usize,
    /// Those that read elements whose bounds are not known.
    unbounded: usize,
    /// Of the others, and of those.
    disagreements: [usize; 2],
    locations: BTreeSet<usize>,
    last: Option<Rejection>,
}

impl Tally {
    /// Compiles and runs one candidate by itself; whether that agrees with its class.
    fn compare(
        &mut self,
        sampled: &Sampled<'_>,
        instrumented: &Instrumented,
        prepared: &Prepared,
        copy: &mut CleanCopy<'_>,
    ) -> Result<bool, Box<dyn Error>> {
        let entry = &instrumented.holes[sampled.explored.entry];
        let file = &instrumented.files[entry.file];
        self.locations.insert(sampled.explored.entry);
        let text = apply_edits(
            &file.unit.source,
            std::slice::from_ref(&sampled.candidate.edit),
        )?;
        // A test that does not visit the location cannot tell the candidate from the original.
        let tests: Vec<usize> = prepared
            .failing
            .iter()
            .chain(&prepared.passing)
            .copied()
            .filter(|test| entry.visited_by.contains(test))
            .filter(|test| !instrumented.set_aside.contains(test))
            .collect();
        let runs = &mut self.runs;
        let counted = tests.into_iter().inspect(|_| *runs += 1);
        let rejection = copy.check(&file.relative, &text, counted)?;
        let agrees = match &rejection {
            None => {
                self.pass += 1;
                sampled.explored.verdict.is_pass()
            }
            Some(Rejection::Test { .. }) => {
                self.fail += 1;
                !sampled.explored.verdict.is_pass()
            }
            Some(Rejection::Build(_)) => {
                self.not_compiled += 1;
                false
            }
        };
        let selects = entry.expr.is_some_and(|expr| {
            let function = entry.hole.function;
            file.parents[function].selects(&file.unit.functions[function], expr)
        });
        let unbounded = sampled.candidate.reads_unbounded || selects;
        self.unbounded += usize::from(unbounded);
        self.disagreements[usize::from(unbounded)] += usize::from(!agrees);
        self.last = rejection;
        Ok(agrees)
    }
}

fn describe(sampled: &Sampled<'_>, instrumented: &Instrumented, rejection: Option<&Rejection>) {
    let entry = &instrumented.holes[sampled.explored.entry];
    let source = &instrumented.files[entry.file].unit.source;
    let line = LineMap::new(source).line(sampled.candidate.edit.span.start);
    println!(
        "{} (line {line}), cost {}: `{}` -> `{}`: class says {:?}, plain execution says {}",
        entry.place,
        sampled.explored.cost,
        String::from_utf8_lossy(&source[sampled.candidate.edit.span.range()]).trim(),
        String::from_utf8_lossy(&sampled.candidate.edit.text).trim(),
        sampled.explored.verdict,
        rejection.map_or_else(|| "pass".to_owned(), ToString::to_string)
    );
}

/// Returns a sample of the candidates whose behaviour is defined. Half of them pass, if there are enough.
/// Locations take turns, so that none has all.
///
/// Of each group there are `members` at most.
pub fn sample(verdicts: &[Explored], wanted: usize, seed: u64, members: usize) -> Vec<Sampled<'_>> {
    let mut random = Random(seed);
    let mut of_kind = |pass: bool| {
        let mut by_location: BTreeMap<usize, Vec<&Explored>> = BTreeMap::new();
        for explored in verdicts {
            let defined = explored.verdict != ClassVerdict::Undefined;
            if defined && explored.verdict.is_pass() == pass && !explored.candidates.is_empty() {
                by_location
                    .entry(explored.entry)
                    .or_default()
                    .push(explored);
            }
        }
        let mut queues: Vec<Vec<Sampled<'_>>> = by_location
            .into_values()
            .map(|groups| {
                let mut all = Vec::new();
                for explored in groups {
                    let mut chosen = BTreeSet::new();
                    for _ in 0..members {
                        chosen.insert(random.below(explored.candidates.len()));
                    }
                    all.extend(chosen.into_iter().map(|member| Sampled {
                        explored,
                        candidate: &explored.candidates[member],
                    }));
                }
                random.shuffle(&mut all);
                all
            })
            .collect();
        random.shuffle(&mut queues);
        let mut order = Vec::new();
        while !queues.is_empty() {
            queues.retain_mut(|queue| {
                order.extend(queue.pop());
                !queue.is_empty()
            });
        }
        order
    };
    let (mut pass, mut fail) = (of_kind(true), of_kind(false));
    pass.truncate(wanted - (wanted / 2).min(fail.len()));
    fail.truncate(wanted - pass.len());
    pass.extend(fail);
    pass
}
