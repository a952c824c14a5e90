//! Compares verdicts of classes with plain compilation and execution of every candidate of a large sample.
//!
//! Each candidate is put into the source as text. Hundreds of such sources are compiled into one program, and every run is a
//! process of its own. A candidate with another verdict is built again by itself, and with the compilers' sanitizers. If they
//! report it, its behaviour is undefined, and the verdicts need not agree.

mod batch;

use std::{error::Error, ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use patchwright_exec::{
    CancelToken, Case, Limits, Project, ProjectFlags, Request, RunnerProgram, Scratch, TestKind,
    Worker, WorkerOptions, files, runner::Stdin,
};
use patchwright_repair::{
    Event, RepairOptions, Surroundings,
    found::Explored,
    instrument::instrument,
    instrumented::Instrumented,
    levels::search,
    phases::Phases,
    prepare::{Prepared, prepare},
};
use patchwright_space::{LeafLimits, SpaceLimits};
use patchwright_text::apply_edits;

use crate::{
    differential::{Sampled, sample},
    repairs::list::{self, Entry},
};

/// Flags of `patchwright-bench agreement`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Lists of programs, as for `patchwright-bench repair`; those of several files are left out
    #[arg(required = true)]
    lists: Vec<PathBuf>,
    /// Only these programs
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Candidates to compare of each program
    #[arg(long, default_value_t = 6000)]
    sample: usize,
    /// Chooses the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Candidates above this cost are not explored
    #[arg(long, default_value_t = 4)]
    max_cost: u32,
    /// Leaves of terms: variables, members, elements; a third as many constants
    #[arg(long, default_value_t = 9)]
    leaves: usize,
    /// Time for the exploration of a program
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::time::time)]
    budget: Duration,
    /// Workers of the exploration
    #[arg(short, long, default_value_t = 2)]
    jobs: usize,
}

/// Calls the main of a variant that is looked at under sanitizers.
const GUARDED_MAIN: &str = include_str!("guarded_main.c");

/// Variants in one program.
const BATCH: usize = 500;

/// Processor time of a run in milliseconds: of all, and of those that are run again.
const TIMES: (u32, u32) = (30, 1000);

/// What the comparison of a program has found.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    locations: usize,
    explored: u64,
    compared: usize,
    pass: usize,
    not_compiled: usize,
    undefined: usize,
    disagreements: usize,
}

/// Compares verdicts and prints the numbers. The result is false if anything disagrees.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut all = Tally::default();
    println!(
        "| program | locations | explored | compared | of them pass | do not compile | differ, but a sanitizer \
         reports them | disagreements |\n| --- |{}",
        " ---: |".repeat(7)
    );
    for list in &arguments.lists {
        for entry in list::read(list, None)? {
            let name = entry.listed.name.clone();
            if !arguments.only.is_empty() && !arguments.only.contains(&name) {
                continue;
            }
            eprintln!("{name}");
            match compare(&entry, arguments)? {
                Some(tally) => {
                    tally.print(&name);
                    all.add(&tally);
                }
                None => eprintln!("  has several files, left out"),
            }
        }
    }
    all.print("all");
    Ok(all.disagreements == 0)
}

impl Tally {
    fn print(&self, name: &str) {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            self.locations,
            self.explored,
            self.compared,
            self.pass,
            self.not_compiled,
            self.undefined,
            self.disagreements
        );
    }

    fn add(&mut self, other: &Tally) {
        self.locations += other.locations;
        self.explored += other.explored;
        self.compared += other.compared;
        self.pass += other.pass;
        self.not_compiled += other.not_compiled;
        self.undefined += other.undefined;
        self.disagreements += other.disagreements;
    }
}

/// Explores and compares one program.
fn compare(entry: &Entry, arguments: &Arguments) -> Result<Option<Tally>, Box<dyn Error>> {
    let project = Project::load(&entry.folder, &ProjectFlags::default())?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &|event| {
            if let Event::Warning(text) = event {
                eprintln!("  warning: {text}");
            }
        },
    };
    let options = RepairOptions {
        jobs: arguments.jobs,
        all: true,
        max_cost: arguments.max_cost,
        budget: Some(arguments.budget),
        keep_verdicts: true,
        leaves: LeafLimits {
            atoms: arguments.leaves,
            constants: arguments.leaves.div_ceil(3),
            distant: arguments.leaves.div_ceil(2),
        },
        space: SpaceLimits {
            wanted: 1000,
            ..SpaceLimits::default()
        },
        ..RepairOptions::default()
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
    if prepared.commands.len() != 1 || instrumented.files.len() != 1 {
        return Ok(None);
    }
    let found = search(
        &mut instrumented,
        &prepared,
        &project,
        &options,
        &surroundings,
    )?;
    let samples = sample(&found.verdicts, arguments.sample, arguments.seed, BATCH);
    let worker = Worker::start(
        0,
        "plain",
        &WorkerOptions {
            program: &program,
            scratch: &scratch,
            project: &project.root,
            source: &project.root,
            prepare: None,
            view: false,
            exclude: Vec::new(),
            build_timeout: None,
            cancel: surroundings.cancel.clone(),
        },
    )?;
    let mut plain = Plain {
        worker,
        source: String::from_utf8(instrumented.files[0].unit.source.clone())?,
        cases: cases(&prepared, &instrumented),
    };
    let mut tally = Tally {
        explored: found.stats.explored,
        compared: samples.len(),
        ..Tally::default()
    };
    let mut locations: Vec<usize> = samples.iter().map(|one| one.explored.entry).collect();
    locations.sort_unstable();
    locations.dedup();
    tally.locations = locations.len();
    for batch in samples.chunks(BATCH) {
        plain.compare(batch, &instrumented, &mut tally)?;
    }
    Ok(Some(tally))
}

/// The cases that decide a verdict, those first that fail now.
fn cases(prepared: &Prepared, instrumented: &Instrumented) -> Vec<Arc<Case>> {
    let tests = prepared.failing.iter().chain(&prepared.passing);
    tests
        .filter(|test| !instrumented.set_aside.contains(test))
        .filter_map(|&test| match &prepared.suite.tests[test].kind {
            TestKind::Case(case) => Some(case.clone()),
            TestKind::Driver { .. } => None,
        })
        .collect()
}

/// Plain compiling and running.
struct Plain {
    worker: Worker,
    source: String,
    cases: Vec<Arc<Case>>,
}

impl Plain {
    fn text(&self, sampled: &Sampled<'_>) -> Result<String, Box<dyn Error>> {
        let edit = std::slice::from_ref(&sampled.candidate.edit);
        let text = apply_edits(self.source.as_bytes(), edit)?;
        Ok(String::from_utf8(text)?)
    }

    /// Compares a batch of candidates.
    fn compare(
        &mut self,
        batch: &[Sampled<'_>],
        instrumented: &Instrumented,
        tally: &mut Tally,
    ) -> Result<(), Box<dyn Error>> {
        let variants: Vec<String> = batch
            .iter()
            .map(|sampled| self.text(sampled))
            .collect::<Result<_, _>>()?;
        let Some(verdicts) = self.verdicts(&variants, TIMES.0)? else {
            if let [single] = batch {
                tally.not_compiled += 1;
                tally.disagreements += 1;
                describe(single, instrumented, "does not compile");
                return Ok(());
            }
            // Some candidate does not compile: find it.
            let (left, right) = batch.split_at(batch.len() / 2);
            self.compare(left, instrumented, tally)?;
            return self.compare(right, instrumented, tally);
        };
        for ((sampled, variant), failed) in batch.iter().zip(&variants).zip(verdicts) {
            let expected = sampled.explored.verdict.is_pass();
            tally.pass += usize::from(failed.is_none());
            if failed.is_none() == expected {
                continue;
            }
            let again = self.verdicts(std::slice::from_ref(variant), TIMES.1)?;
            let passes = again.is_some_and(|again| again == [None]);
            if passes == expected {
                continue;
            }
            match self.is_undefined(variant)? {
                true => tally.undefined += 1,
                false => {
                    tally.disagreements += 1;
                    let says = if passes { "passes" } else { "fails" };
                    describe(sampled, instrumented, says);
                }
            }
        }
        Ok(())
    }

    /// For each variant the first case that it fails. `None` if they do not compile.
    fn verdicts(
        &mut self,
        variants: &[String],
        milliseconds: u32,
    ) -> Result<Option<Vec<Option<usize>>>, Box<dyn Error>> {
        let names = batch::file_scope_names(&self.source);
        let cases: Vec<&Arc<Case>> = self.cases.iter().collect();
        let file = self.worker.folder.join("variants.c");
        let program = self.worker.folder.join("variants");
        files::write_atomic(&file, batch::program(variants, &names, &cases).as_bytes())?;
        let built = self.run(
            "cc",
            &[
                "-O0".into(),
                "-w".into(),
                "-o".into(),
                program.clone().into(),
                file.into(),
                "-lm".into(),
            ],
            Limits::for_build(),
        )?;
        if built.is_none() {
            return Ok(None);
        }
        let time = Duration::from_millis(u64::from(milliseconds));
        let runs = (variants.len() * self.cases.len()) as u32;
        let limits = Limits {
            wall: Duration::from_secs(600) + time * runs * 20,
            ..Limits::for_build()
        };
        let output = self
            .run(
                program.as_os_str(),
                &[milliseconds.to_string().into()],
                limits,
            )?
            .ok_or("the program of all variants fails")?;
        let verdicts: Vec<Option<usize>> = String::from_utf8_lossy(&output)
            .lines()
            .map(|line| {
                line.split_whitespace()
                    .nth(1)
                    .and_then(|case| case.parse().ok())
            })
            .collect();
        if verdicts.len() != variants.len() {
            return Err("the program of all variants has not run all of them".into());
        }
        Ok(Some(verdicts))
    }

    /// Whether a sanitizer reports the variant in some case.
    fn is_undefined(&mut self, variant: &str) -> Result<bool, Box<dyn Error>> {
        let file = self.worker.folder.join("single.c");
        let guard = self.worker.folder.join("guarded_main.c");
        let program = self.worker.folder.join("single");
        files::write_atomic(&file, variant.as_bytes())?;
        files::write_atomic(&guard, GUARDED_MAIN.as_bytes())?;
        for (compiler, sanitizers) in [
            ("gcc", "-fsanitize=address,undefined"),
            ("clang-19", "-fsanitize=memory"),
        ] {
            let arguments: [OsString; 10] = [
                "-O0".into(),
                "-g".into(),
                "-w".into(),
                "-Dmain=variant_main".into(),
                sanitizers.into(),
                "-o".into(),
                program.clone().into(),
                file.clone().into(),
                guard.clone().into(),
                "-lm".into(),
            ];
            if self
                .run(compiler, &arguments, Limits::for_build())?
                .is_none()
            {
                continue;
            }
            for case in self.cases.clone() {
                let mut request = Request::new(&program, &self.worker.folder)
                    .args(case.arguments.iter().cloned())
                    .limits(Limits {
                        wall: Duration::from_secs(20),
                        cpu: Some(Duration::from_secs(2)),
                        // Shadow memory is mapped, not used.
                        memory: None,
                        ..Limits::for_build()
                    });
                if let Some(input) = &case.stdin {
                    request = request.stdin(Stdin::File(input.clone()));
                }
                let outcome = self.worker.runner.run(&request)?;
                let report = String::from_utf8_lossy(&outcome.stderr).into_owned();
                if report.contains("Sanitizer") || report.contains("runtime error") {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What a command prints; `None` if it fails.
    fn run(
        &mut self,
        program: impl AsRef<std::ffi::OsStr>,
        arguments: &[OsString],
        limits: Limits,
    ) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
        let request = Request::new(program.as_ref(), &self.worker.folder)
            .args(arguments.iter().cloned())
            .limits(limits);
        let outcome = self.worker.runner.run(&request)?;
        Ok(outcome.ending.is_success().then_some(outcome.stdout))
    }
}

fn describe(sampled: &Sampled<'_>, instrumented: &Instrumented, plainly: &str) {
    let Explored {
        entry,
        verdict,
        cost,
        ..
    } = sampled.explored;
    let source = &instrumented.files[0].unit.source;
    let edit = &sampled.candidate.edit;
    println!(
        "{}, cost {cost}: `{}` -> `{}`: class says {verdict:?}, plainly it {plainly}",
        instrumented.holes[*entry].place,
        String::from_utf8_lossy(&source[edit.span.range()]).trim(),
        String::from_utf8_lossy(&edit.text).trim(),
    );
}
