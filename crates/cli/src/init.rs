//! `patchwright init`: looks at a project, finds out how it is built and tested, and writes that down.

mod build;
mod builds;
mod cases;
mod error;
mod fuzzers;
mod look;
mod parts;
mod programs;
mod recipes;
mod scripts;
mod suites;
mod written;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use patchwright_exec::{
    Baseline, BaselineOptions, BuildError, CancelToken, FileError, Project, ProjectError,
    ProjectFlags, RecordError, RunnerProgram, Scratch, Worker, WorkerOptions, files,
    project::CONFIG_FILE, record,
};

use crate::{
    Exit, args::DescriptionArgs, places::Places, progress::Progress, project, protection, signals,
};
use build::Build;
use error::InitError;
use look::Look;
use written::{DRIVER, Tests, description};

/// Flags of `patchwright init`.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The project's folder
    #[arg(default_value = ".")]
    pub project: PathBuf,

    /// Write over a description that is there
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Print the description, and write nothing
    #[arg(long, help_heading = "Output")]
    pub print: bool,

    /// What is known already.
    #[command(flatten)]
    pub description: DescriptionArgs,
}

/// Runs `patchwright init`: builds a copy of the project, runs its tests and writes `patchwright.toml`. A project that
/// does not build gives [`Exit::BadProject`].
pub fn run(args: &InitArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(error) => {
            if crate::signals::have_come() {
                eprintln!("patchwright: interrupted");
                return Exit::Interrupted;
            }
            eprintln!("patchwright: error: {error}");
            match error {
                InitError::NotBuilt(_) | InitError::Record(RecordError::Build(_)) => {
                    Exit::BadProject
                }
                _ => Exit::BadInput,
            }
        }
    }
}

fn try_run(args: &InitArgs) -> Result<Exit, InitError> {
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel = CancelToken::new().map_err(|source| FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), false);
    // What flags say of protection and limits counts; what a description says that is to be replaced does not.
    let flags = DescriptionArgs {
        driver: None,
        tests: Vec::new(),
        program: None,
        cases: None,
        ..args.description.clone()
    };
    let root = args.project.clone();
    let config = root.join(CONFIG_FILE);
    if config.exists() && !args.force && !args.print {
        return Err(InitError::Exists(config));
    }
    let project = Project {
        tests: None,
        ..undescribed(&root, &flags, &scratch)?
    };
    let permitted = protection::set_up(&mut scratch, &project, None)?;
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| FileError::new("find", "the running program", source))?;
    let places = Places::new(scratch.path(), &root);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    let found = explore(args, &project, &program, &scratch, &cancel, &progress);
    progress.finish();
    let Found {
        build, tests, open, ..
    } = found?;
    let text = description(&build, tests.as_ref());
    if args.print {
        print!("{text}");
        if let Some(Tests::Driver { script, .. }) = &tests {
            print!("\n# {DRIVER}\n{}", indented(script));
        }
        tell_open(&open);
        return Ok(if tests.is_some() {
            Exit::Found
        } else {
            Exit::Nothing
        });
    }
    files::write_atomic(&project.root.join(CONFIG_FILE), text.as_bytes())?;
    for (name, text) in &build.files {
        files::write_atomic(&project.root.join(name), text.as_bytes())?;
        println!("{}: written, too", root.join(name).display());
    }
    println!("{}: {}", config.display(), build.how);
    let Some(tests) = tests else {
        tell_open(&open);
        println!("No tests were found: name them in the section [tests].");
        return Ok(Exit::Nothing);
    };
    if let Tests::Driver { script, .. } = &tests {
        let driver = project.root.join(DRIVER);
        files::write_atomic(&driver, script.as_bytes())?;
        files::make_executable(&driver)?;
        println!("{}: runs a test by its name", root.join(DRIVER).display());
    }
    println!("Tests: {}.", tests.how());
    let described = project::load_described(&root, None, &flags, Vec::new(), &scratch)?;
    let progress = Progress::new(&places);
    let baseline = baseline(&described, &program, &scratch, &cancel, &progress);
    progress.finish();
    tell_baseline(&baseline?);
    tell_open(&open);
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    Ok(Exit::Found)
}

/// The project without what its description says of build and tests, which is to be found out.
fn undescribed(
    root: &Path,
    flags: &DescriptionArgs,
    scratch: &Scratch,
) -> Result<Project, ProjectError> {
    // A description that is to be replaced may be broken, so it is not read: the flags are those of an empty one.
    let empty = scratch.path().join("no-description.toml");
    files::write_atomic(&empty, b"")?;
    Project::load(
        root,
        &ProjectFlags {
            config: Some(empty),
            build: flags.build.clone(),
            prepare: flags.prepare.clone(),
            exclude: flags.exclude.clone(),
            build_timeout: flags.build_timeout,
            network: flags.network,
            unprotected: flags.unprotected,
            allow_writes: flags
                .allow_writes
                .iter()
                .map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
                .collect(),
            ..ProjectFlags::default()
        },
    )
}

/// What was found out.
struct Found {
    build: Build,
    tests: Option<Tests>,
    /// What could not be found out.
    open: Vec<String>,
    /// How sure it is that these are the tests.
    trust: Trust,
}

/// How sure it is that tests were found rightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    /// None of them passes, or none was found.
    None,
    /// Most of those that were tried fail.
    Few,
    /// Half of those that were tried pass.
    Half,
    /// The project's own build knows of them.
    Known,
}

fn explore(
    args: &InitArgs,
    project: &Project,
    program: &RunnerProgram,
    scratch: &Scratch,
    cancel: &CancelToken,
    progress: &Progress<'_>,
) -> Result<Found, InitError> {
    let guesses = match &args.description.build {
        Some(build) => vec![Build::given(build, args.description.prepare.as_deref())],
        None => builds::guesses(&project.root)?,
    };
    if guesses.is_empty() {
        return Err(InitError::NoBuild(project.root.clone()));
    }
    let mut failures = Vec::new();
    let mut best: Option<Found> = None;
    let number = std::cell::Cell::new(0);
    let start = |build: &Build| {
        number.set(number.get() + 1);
        started(build, number.get(), project, program, scratch, cancel)
    };
    for build in guesses {
        progress.phase("building the project");
        let worker = match start(&build)? {
            Ok(worker) => worker,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        progress.phase("looking for tests");
        let mut sources = look::files_of(&project.root)?;
        sources.extend(build.files.iter().map(|(name, _)| PathBuf::from(name)));
        let mut look = Look::new(worker, &start, sources, progress)?;
        let found = tests_of(&mut look, build);
        // Another way to build it may know of tests that this one does not.
        if found.trust == Trust::Known {
            return Ok(found);
        }
        let is_better = |best: &Found| {
            (found.trust, found.tests.is_some()) > (best.trust, best.tests.is_some())
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some(found);
        }
    }
    best.ok_or_else(|| InitError::NotBuilt(failures.join("\n")))
}

/// A copy of the project that is built in this way, or why it cannot be built.
fn started(
    build: &Build,
    number: u32,
    project: &Project,
    program: &RunnerProgram,
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Result<Result<Worker, String>, InitError> {
    let options = WorkerOptions::new(project, &project.root, program, scratch, cancel);
    let mut worker = Worker::start(0, &format!("init-{number}"), &options)?;
    for (name, text) in &build.files {
        files::write_atomic(&worker.sandbox.folder().join(name), text.as_bytes())?;
    }
    for command in build.prepare.iter().chain([&build.build]) {
        if let Err(error) = record::run_in_copy(&mut worker, command.as_ref()) {
            if cancel.is_cancelled() {
                return Err(RecordError::Build(error).into());
            }
            // What ran and failed is named with what it printed.
            return Ok(Err(match error {
                BuildError::Failed { .. } => error.to_string(),
                BuildError::Run(_) => format!("`{command}`: {error}"),
            }));
        }
    }
    Ok(Ok(worker))
}

/// The tests of a built project, by the first way that finds some of which half pass, and what could not be found out. If there is
/// no such way, they are those of which most pass.
fn tests_of(look: &mut Look<'_>, build: Build) -> Found {
    type Way = fn(&mut Look<'_>, &mut Build, &mut Vec<String>) -> Option<Tests>;
    let ways: [(Way, Trust); 11] = [
        (fuzzers::crash_inputs, Trust::Known),
        (suites::ctest, Trust::Known),
        (suites::meson, Trust::Known),
        (cases::cases, Trust::Known),
        (suites::automake, Trust::Known),
        (recipes::recipes, Trust::Known),
        (recipes::cmake_target, Trust::Known),
        (programs::suite, Trust::Half),
        (scripts::scripts, Trust::Half),
        (cases::pairs, Trust::Half),
        (scripts::runner, Trust::Half),
    ];
    let mut best: Option<Found> = None;
    let mut unused = Vec::new();
    for (way, trust) in ways {
        let mut open = Vec::new();
        let mut own = build.clone();
        let Some(tests) = way(look, &mut own, &mut open) else {
            unused.append(&mut open);
            continue;
        };
        let (passing, tried) = match &tests {
            Tests::Driver { script, names, .. } => look.passing(script, names),
            Tests::Cases { count, .. } => (*count, *count),
        };
        let trust = match (passing, passing * 2 >= tried) {
            (0, _) => Trust::None,
            (_, false) if trust < Trust::Known => Trust::Few,
            _ => trust,
        };
        let found = Found {
            build: own,
            tests: Some(tests),
            open,
            trust,
        };
        if trust >= Trust::Half {
            return found;
        }
        if best.as_ref().is_none_or(|best| found.trust > best.trust) {
            best = Some(found);
        }
    }
    if unused.is_empty() {
        unused.push("where the tests are".to_owned());
    }
    best.unwrap_or(Found {
        build,
        tests: None,
        open: unused,
        trust: Trust::None,
    })
}

fn baseline(
    project: &Project,
    program: &RunnerProgram,
    scratch: &Scratch,
    cancel: &CancelToken,
    progress: &Progress<'_>,
) -> Result<Baseline, InitError> {
    let suite = project.require_tests()?;
    progress.phase("building the project");
    let options = WorkerOptions::new(project, &project.root, program, scratch, cancel);
    let mut worker = Worker::start(0, "init-baseline", &options)?;
    record::prepare_copy(&mut worker, project)?;
    if let Some(build) = &project.build {
        record::run_in_copy(&mut worker, build).map_err(RecordError::Build)?;
    }
    progress.phase("running the tests");
    let options = BaselineOptions {
        limits: project.limits.clone(),
        prove_endless: true,
        ..BaselineOptions::default()
    };
    let total = options.runs() * suite.tests.len();
    let done = |done| progress.progress(done, total);
    Ok(Baseline::measure(
        &mut worker.runner,
        &worker.sandbox,
        suite,
        &options,
        done,
    )?)
}

/// A test is slow that takes longer than this, …
const SLOW: Duration = Duration::from_secs(5);

/// The largest number of names in a message.
const MOST_NAMES: usize = 10;

fn tell_baseline(baseline: &Baseline) {
    let total = baseline.tests.len();
    let failing: Vec<_> = baseline.failing().collect();
    let flaky: Vec<&str> = baseline.flaky().map(|test| &test.name[..]).collect();
    println!(
        "{} of {total} pass, {} fail, {} are flaky.",
        total - failing.len() - flaky.len(),
        failing.len(),
        flaky.len()
    );
    for test in failing.iter().take(MOST_NAMES) {
        println!("  fails: {}{}", test.name, test.failure());
    }
    if failing.len() > MOST_NAMES {
        println!("  and {} more fail", failing.len() - MOST_NAMES);
    }
    for name in flaky.iter().take(MOST_NAMES) {
        println!("  flaky: {name} (it passed once and failed once; it is set aside)");
    }
    let slow = baseline.tests.iter().filter(|test| test.expected > SLOW);
    for test in slow.take(MOST_NAMES) {
        println!(
            "  slow: {} ({:.0} s)",
            test.name,
            test.expected.as_secs_f64()
        );
    }
    if total > 1 && failing.len() == total {
        println!("Every test fails: mostly the driver is wrong then.");
    } else if failing.is_empty() {
        println!(
            "No test fails: `validate`, `localize` and `prove` work; a repair needs one that shows the bug."
        );
    }
}

fn tell_open(open: &[String]) {
    for text in open {
        println!("Not found out: {text}");
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("#   {line}\n")).collect()
}
