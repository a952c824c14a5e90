//! `patchwright regression`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use patchwright_changes::git::{Commit, GitError, History};
use patchwright_changes::{Outlines, measure_with};
use patchwright_exec::{
    CancelToken, FileError, Project, ProjectError, RecordError, RunnerProgram, Scratch, TestKind,
    files, project::Place,
};
use patchwright_history::{
    Answer, Bench, Event, Hunt, Question, RegressionError, Taken, TrialError, TrialOptions, Trials,
    Verdict, regression::names,
};
use patchwright_report::{complexity::Measured, regression::Report, text::Style};
use patchwright_validate::{TestFiles, is_in_test_folder, is_of_program};

use crate::{
    Exit,
    args::{BUILD_TIMEOUT, DescriptionArgs, Resuming, duration},
    places::Places,
    progress::Progress,
    project, protection, signals, state,
};

/// Flags of `patchwright regression`.
#[derive(Args, Debug)]
pub struct RegressionArgs {
    /// The test that fails: a name for the driver, or a case
    #[arg(value_name = "TEST", allow_hyphen_values = true)]
    pub test: String,

    /// Where it passes and where it fails [default: GOOD is searched for, BAD is HEAD]
    #[arg(value_name = "GOOD..BAD")]
    pub range: Option<String>,

    /// The project's folder, in a git repository
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "Project"
    )]
    pub project: PathBuf,

    /// Also verify this commit, which mends the failure
    ///
    /// The test must fail before it and pass with it. Without BAD, the search begins at its parent.
    #[arg(long, value_name = "COMMIT", help_heading = "Search")]
    pub fix: Option<String>,

    /// Run the test N times on each commit; a commit whose runs differ is skipped
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub runs: u32,

    /// If one of the runs fails, the commit counts as failing
    #[arg(long, help_heading = "Search")]
    pub any_failure: bool,

    /// Put this file or folder of the working tree into each commit; may be repeated
    ///
    /// The test's own files are put there anyway.
    #[arg(long = "with", value_name = "PATH", help_heading = "Search")]
    pub with: Vec<PathBuf>,

    /// Stop after this time, such as 30s, 10m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    pub budget: Option<Duration>,

    /// What the project is like.
    #[command(flatten)]
    pub description: DescriptionArgs,

    #[command(flatten)]
    pub resuming: Resuming,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Regression(#[from] RegressionError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "`{given}` is no range: write GOOD..BAD, with two dots; ..{given} leaves open where it passes"
    )]
    NoRange { given: String },
    #[error(
        "{} is a file; give the folder of the project, with --build and, for a program and its cases, --program and --cases",
        path.display()
    )]
    SingleFile { path: PathBuf },
    #[error("--with {}: there is no such file or folder in {}", path.display(), root.display())]
    NothingToTake { path: PathBuf, root: PathBuf },
}

impl From<GitError> for Problem {
    fn from(error: GitError) -> Self {
        Problem::Regression(error.into())
    }
}

impl From<TrialError> for Problem {
    fn from(error: TrialError) -> Self {
        Problem::Regression(error.into())
    }
}

/// Runs `patchwright regression`: prints the commit that broke a test. Returns the exit status.
pub fn run(args: &RegressionArgs) -> Exit {
    let is_over = Arc::new(AtomicBool::new(false));
    match try_run(args, &is_over) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = exit_of(&error);
            match (exit, is_over.load(Ordering::Relaxed)) {
                (Exit::Interrupted, true) => {
                    eprintln!(
                        "patchwright: the time is over, and nothing is known yet; give a larger --budget, and --resume \
                         to build no commit twice"
                    );
                    return Exit::Undecided;
                }
                (Exit::Interrupted, false) => {
                    eprintln!(
                        "patchwright: interrupted before anything was known; --resume goes on"
                    );
                }
                _ => eprintln!("patchwright: error: {error}"),
            }
            exit
        }
    }
}

fn exit_of(error: &Problem) -> Exit {
    match error {
        Problem::Regression(RegressionError::Trial(TrialError::Cancelled)) => Exit::Interrupted,
        Problem::Regression(
            RegressionError::EndUnknown { is_build: true, .. }
            | RegressionError::Trial(TrialError::Record(RecordError::AbsolutePaths { .. })),
        ) => Exit::BadProject,
        _ => Exit::BadInput,
    }
}

/// The ends that the user named.
fn range(args: &RegressionArgs) -> Result<(Option<String>, Option<String>), Problem> {
    let Some(given) = &args.range else {
        return Ok((None, None));
    };
    let no_range = || Problem::NoRange {
        given: given.clone(),
    };
    let (good, bad) = given.split_once("..").ok_or_else(no_range)?;
    if bad.starts_with('.') {
        return Err(no_range());
    }
    let named = |end: &str| (!end.is_empty()).then(|| end.to_owned());
    Ok((named(good), named(bad)))
}

/// Whether the project describes tests, and this is none of them. A driver may know more of them, as may an older commit.
fn is_unlisted(args: &RegressionArgs, scratch: &Scratch) -> bool {
    let described =
        project::load_described(&args.project, None, &args.description, Vec::new(), scratch);
    let suite = described.ok().and_then(|described| described.tests);
    suite.is_some_and(|suite| suite.tests.iter().all(|test| test.name != args.test))
}

fn try_run(args: &RegressionArgs, is_over: &Arc<AtomicBool>) -> Result<Exit, Problem> {
    let (good, bad) = range(args)?;
    if args.project.is_file() {
        return Err(Problem::SingleFile {
            path: args.project.clone(),
        });
    }
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel = CancelToken::new().map_err(|source| FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), true);
    if let Some(budget) = args.budget {
        let (cancel, is_over) = (cancel.clone(), is_over.clone());
        std::thread::spawn(move || {
            std::thread::sleep(budget);
            is_over.store(true, Ordering::Relaxed);
            cancel.cancel();
        });
    }
    let description = DescriptionArgs {
        tests: vec![args.test.clone()],
        ..args.description.clone()
    };
    let project = project::load_described(&args.project, None, &description, Vec::new(), &scratch)
        .map_err(|error| match error {
            // The test has a name, but by no flag that could be blamed.
            ProjectError::NoDriver { .. } => ProjectError::NoTestsDescribed,
            ProjectError::UnknownCase { name, folder, .. } => ProjectError::UnknownCase {
                place: Place::Flag("TEST"),
                name,
                folder,
            },
            other => other,
        })?;
    let suite = project.require_tests()?;
    let history = History::open(&project.root)?;
    let journal = state::journal(&args.resuming, "regression");
    let permitted = protection::set_up(&mut scratch, &project, journal.as_ref())?;
    let places = Places::new(scratch.path(), &project.root);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    if is_unlisted(args, &scratch) {
        progress.warn(&format!(
            "`{}` is none of the tests that the project describes; its driver is asked for it all the same",
            args.test
        ));
    }
    let root = history.working_tree()?;
    let below = project.root.strip_prefix(&root).unwrap_or(Path::new(""));
    if !below.as_os_str().is_empty() {
        progress.note(&format!(
            "only the folder {} of each commit is built; files above it that its build reads come from the working tree",
            below.display()
        ));
    }
    let taken = taken(args, &project, &history, below)?;
    let dirty = dirty(&history, below, &taken)?;
    if !dirty.is_empty() {
        progress.warn(&format!(
            "{}: changes that are not committed do not count, because only commits are searched",
            names(&dirty)
        ));
    }
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| FileError::new("find", "the running program", source))?;
    let bench = Bench {
        project: &project,
        suite,
        below: below.to_path_buf(),
        taken,
        history: &history,
        program: &program,
        scratch: &scratch,
        cancel: cancel.clone(),
        options: TrialOptions {
            runs: args.runs,
            any_failure: args.any_failure,
            build_timeout: args.description.build_timeout.unwrap_or(BUILD_TIMEOUT),
        },
    };
    let mut trials = Trials::new(bench, journal.as_ref(), |told| progress.warn(&told))?;
    let show = |event: Event<'_>| show(&progress, &event);
    let question = Question {
        good,
        bad,
        fix: args.fix.clone(),
    };
    let answer = Hunt::new(&mut trials, &args.test, &dirty, &show).run(&question);
    progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    if !trials.submodules().is_empty() {
        progress.warn(&format!(
            "submodules are built as empty folders: {}",
            names(trials.submodules())
        ));
    }
    let answer = answer?;
    if answer.verdict != Verdict::Unfinished {
        trials.finish()?;
    }
    let report = report(args, &answer, &history)?;
    signals::while_writing(|| {
        let colour = crate::shown::colour();
        match args.json {
            true => print!("{}", report.json()),
            false => print!("{}", places.shown(&report.text(Style { colour }))),
        }
    });
    Ok(match answer.verdict {
        Verdict::Found if answer.fix.as_ref().is_none_or(|fix| fix.is_verified) => Exit::Found,
        Verdict::Found | Verdict::Suspects | Verdict::NeverPassed => Exit::Nothing,
        Verdict::Unfinished if is_over.load(Ordering::Relaxed) => {
            eprintln!("patchwright: the time is over; the same command with --resume goes on");
            Exit::Undecided
        }
        Verdict::Unfinished => {
            eprintln!("patchwright: {}", signals::interrupted(true));
            Exit::Interrupted
        }
    })
}

fn show(progress: &Progress<'_>, event: &Event<'_>) {
    match event {
        Event::Trying { commit, left } => {
            let left = left.map_or(String::new(), |left| format!(", one of {left} commits"));
            progress.message(format!("building and testing {}{left}", commit.short()));
        }
        Event::Tried { commit, outcome } => progress.note(&format!(
            "{} {} {}: {}",
            commit.short(),
            commit.date(),
            commit.subject,
            outcome.text()
        )),
        Event::Note(text) => progress.note(text),
    }
}

/// What begins like this was made by a compiler or an archiver.
const OBJECTS: [&[u8]; 2] = [b"\x7fELF", b"!<arch>\n"];

/// The files that every commit gets: those of the test, and what the user names.
fn taken(
    args: &RegressionArgs,
    project: &Project,
    history: &History,
    below: &Path,
) -> Result<Vec<Taken>, Problem> {
    let root = &project.root;
    let mut found: Vec<(PathBuf, bool)> = Vec::new();
    for path in &args.with {
        let full = root.join(path);
        let inside = std::fs::canonicalize(&full).ok();
        if !inside.is_some_and(|path| path.starts_with(root)) {
            return Err(Problem::NothingToTake {
                path: path.clone(),
                root: root.clone(),
            });
        }
        let files = match full.is_dir() {
            true => files::regular_files_below(&full)?,
            false => vec![full],
        };
        let relative = files.iter().filter_map(|file| file.strip_prefix(root).ok());
        found.extend(relative.map(|file| (file.to_path_buf(), true)));
    }
    for test in project.tests.iter().flat_map(|suite| &suite.tests) {
        if let TestKind::Driver { driver } = &test.kind
            && driver.is_relative()
        {
            found.push((driver.clone(), true));
        }
    }
    let mut tests = project.tests.iter().flat_map(|suite| &suite.tests);
    let has_cases = tests.any(|test| matches!(test.kind, TestKind::Case(_)));
    let own = TestFiles::of(project)?.existing()?;
    found.extend(own.into_iter().map(|path| (path, false)));
    let mut taken: Vec<Taken> = Vec::new();
    for (path, is_named) in found {
        if taken.iter().any(|other| other.path == path) {
            continue;
        }
        // What a build has left in the working tree must not be taken for what the build of another commit makes.
        if !is_named && history.ignores(&below.join(&path)) {
            continue;
        }
        let file = root.join(&path);
        let contents = files::read(&file)?;
        if !is_named && OBJECTS.iter().any(|start| contents.starts_with(start)) {
            continue;
        }
        taken.push(Taken {
            executable: files::is_executable(&file),
            // What a driver names may belong to the program: then the commit's own one is meant.
            replaces: is_named || !is_of_program(&path) && (has_cases || is_in_test_folder(&path)),
            path,
            contents,
        });
    }
    Ok(taken)
}

/// Files of the project that differ from the last commit, those of the test aside.
fn dirty(history: &History, below: &Path, taken: &[Taken]) -> Result<Vec<PathBuf>, GitError> {
    let mut dirty = history.uncommitted_files(below)?;
    dirty.retain(|path| {
        let own = path.strip_prefix(below).unwrap_or(path);
        !taken.iter().any(|file| file.replaces && file.path == own)
    });
    Ok(dirty)
}

fn report<'r>(
    args: &'r RegressionArgs,
    answer: &'r Answer,
    history: &History,
) -> Result<Report<'r>, Problem> {
    let mut outlines = Outlines::default();
    let mut measured = |commit: &Commit| -> Result<Measured, GitError> {
        let change = history.change(commit, true)?;
        Ok(Measured {
            title: crate::complexity::title(commit),
            commit: Some(commit.clone()),
            measurement: measure_with(&change, &mut outlines),
        })
    };
    let introduced = answer.introduced.as_ref();
    let fix = answer.fix.as_ref().map(|check| &check.fix);
    let life_commits = match introduced {
        Some(introduced) => Some(history.distance(&introduced.id, &fix.unwrap_or(&answer.bad).id)?),
        None => None,
    };
    Ok(Report {
        test: &args.test,
        answer,
        introduction: introduced.map(&mut measured).transpose()?,
        fix: fix.map(&mut measured).transpose()?,
        life_commits,
    })
}
