//! `patchwright mutants`.

mod answers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use patchwright_exec::{CancelToken, FileError, RunnerProgram, Scratch, files};
use patchwright_mutants::{MutantsError, MutantsOptions, MutantsOutcome, mutate, shard};
use patchwright_repair::RepairOptions;
use patchwright_report::{mutants as report, text::Style};
use patchwright_validate::{Event, Surroundings, ValidateOptions};

use crate::{
    Exit,
    args::{BUILD_TIMEOUT, ProjectArgs, Resuming, duration},
    cached::CacheArgs,
    kinds,
    places::Places,
    progress::Progress,
    project, protection,
    repair::default_jobs,
    shards::{PartFile, ShardArgs},
    signals, state,
};
use answers::Answers;

/// So much time an interrupted run has to print what is known.
const TO_END: Duration = Duration::from_secs(20);

/// Flags of `patchwright mutants`.
#[derive(Args, Debug)]
pub struct MutantsArgs {
    /// The project, and how it is built and tested.
    #[command(flatten)]
    pub project: ProjectArgs,

    /// Try at most N mutants, the likeliest mistakes first; 0 tries all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200,
        help_heading = "Mutants"
    )]
    pub limit: usize,

    /// Make mutants by the kinds of change of this file, too [default: those in the project's folder .patchwright/kinds]
    #[arg(long, value_name = "FILE", help_heading = "Mutants")]
    pub kinds: Vec<PathBuf>,

    /// Stop after this time, such as 30s, 10m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Mutants")]
    pub budget: Option<Duration>,

    /// Run this many workers at once [default: the number of processors]
    #[arg(short, value_name = "N", value_parser = crate::args::at_least_one, help_heading = "Mutants")]
    pub jobs: Option<usize>,

    /// Seek a proof or an input for each survivor for this time
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration, help_heading = "Survivors")]
    pub each: Duration,

    /// Seek neither proofs nor inputs for survivors
    #[arg(long, help_heading = "Survivors")]
    pub no_answers: bool,

    /// Write tests that kill survivors into this folder
    #[arg(long, value_name = "DIR", help_heading = "Survivors")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub cache: CacheArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    #[command(flatten)]
    pub sharding: ShardArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also write JUnit XML to this file: a survivor is a failure
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// Also write a page with the scores of functions and the survivors
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,
}

/// Runs `patchwright mutants`: tries mistakes, and tells which the tests miss. Returns the exit status.
pub fn run(args: &MutantsArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = exit_of(&error);
            match exit {
                Exit::Interrupted => eprintln!(
                    "patchwright: interrupted before any verdict was known; --resume goes on"
                ),
                _ => eprintln!("patchwright: {}{error}", exit.prefix()),
            }
            exit
        }
    }
}

fn exit_of(error: &MutantsError) -> Exit {
    match error {
        error if error.is_cancelled() => Exit::Interrupted,
        MutantsError::Validate(error) => Exit::of_validation(error),
        MutantsError::OutOfTime => Exit::Undecided,
        MutantsError::Clang(_)
        | MutantsError::Compiler(_)
        | MutantsError::Kinds { .. }
        | MutantsError::Nothing { .. } => Exit::BadInput,
    }
}

fn try_run(args: &MutantsArgs) -> Result<Exit, MutantsError> {
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel = CancelToken::new().map_err(|source| FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), true);
    // What is known is printed, and comparisons take a moment to end.
    signals::give_time(TO_END);
    let project = project::load(&args.project, &scratch)?;
    let journal = state::journal(&args.resuming, "mutants");
    let permitted = protection::set_up(&mut scratch, &project, journal.as_ref())?;
    project.require_tests()?;
    for file in args.junit.iter().chain(&args.html) {
        // Now, not after the work.
        files::write_atomic(file, b"")?;
    }
    if let Some(folder) = &args.output {
        files::create_output_folder(folder)?;
    }
    let part = PartFile::begin(&args.sharding)?;
    let root = Some(project.root.as_path()).filter(|_| project.single_file.is_none());
    let kinds = kinds::list(&args.kinds, root).map_err(|reason| MutantsError::Kinds { reason })?;
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| FileError::new("find", "the running program", source))?;
    let places = Places::new(scratch.path(), &args.project.project);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    let options = MutantsOptions {
        limit: args.limit,
        budget: args.budget,
        each: args.each,
        asks: !args.no_answers,
        asking: format!("{:?}", args.output),
        repair: RepairOptions {
            schemas: MutantsOptions::schemas(),
            kinds: Arc::from_iter(kinds.into_iter().filter(|kind| !kind.is_on_request())),
            ..RepairOptions::default()
        },
        validate: ValidateOptions {
            jobs: args.jobs.unwrap_or_else(default_jobs),
            by_cost: true,
            build_timeout: args
                .project
                .description
                .build_timeout
                .unwrap_or(BUILD_TIMEOUT),
            ignore_failing: true,
            ask_first: true,
            journal,
            ..ValidateOptions::default()
        },
        part: args.sharding.shard,
    };
    let key = match &part {
        Some(_) => shard::key(&project, &options)?,
        None => String::new(),
    };
    let show = |event: Event<'_>| match event {
        Event::Phase(name) => progress.phase(name),
        Event::Progress { done, total } => progress.progress(done, total),
        Event::Warning(text) => progress.warn(&text),
        Event::Tests { .. } | Event::Verdict { .. } => {}
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: cancel.clone(),
        events: &show,
    };
    let mut answers = Answers::new(args, &project, &scratch, &cancel);
    let outcome = mutate(&project, &options, &surroundings, &mut |asked| {
        answers.answer(asked)
    });
    progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    let outcome = outcome?;
    if let Some(part) = &part {
        let key = format!("{key} {}", outcome.choice);
        let schema = (shard::SCHEMA, shard::VERSION);
        part.write(schema, key, outcome.interrupted, &outcome)?;
    }
    signals::while_writing(|| {
        let (html, junit) = (args.html.as_deref(), args.junit.as_deref());
        write(&outcome, html, junit, args.json)
    })?;
    if outcome.interrupted {
        eprintln!("patchwright: {}", signals::interrupted(true));
    }
    Ok(exit(&outcome))
}

/// Prints the outcome as text or JSON, and writes the page and JUnit's XML where they are wanted.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    outcome: &MutantsOutcome,
    html: Option<&Path>,
    junit: Option<&Path>,
    json: bool,
) -> Result<(), FileError> {
    if let Some(file) = html {
        files::write_atomic(file, report::html(outcome).as_bytes())?;
    }
    if let Some(file) = junit {
        files::write_atomic(file, report::junit(outcome).as_bytes())?;
    }
    let colour = crate::shown::colour();
    match json {
        true => print!("{}", report::json(outcome)),
        false => print!("{}", report::text(outcome, Style { colour })),
    }
    Ok(())
}

/// The exit status: whether a mutant is left that tests should kill.
pub fn exit(outcome: &MutantsOutcome) -> Exit {
    if outcome.interrupted {
        return Exit::Interrupted;
    }
    let tally = outcome.tally();
    match (tally.survived - tally.equivalent, tally.open) {
        (0, 0) => Exit::Found,
        (0, _) => Exit::Undecided,
        _ => Exit::Nothing,
    }
}
