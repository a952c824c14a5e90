//! Builds and tests commits, each in a copy of its own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_changes::git::{Commit, GitError, History};
use patchwright_exec::files::{self, FileError};
use patchwright_exec::runner::Environment;
use patchwright_exec::{
    BuildError, CancelToken, Durability, FailReason, Journal, JournalError, JournalKind,
    JournalOptions, Limits, PoolError, Project, RecordError, RunError, RunnerProgram, Scratch,
    Test, TestError, TestSuite, Verdict, Worker, WorkerOptions, record::prepare_copy, run_build,
    run_test,
};
use patchwright_text::Hasher;
use serde::{Deserialize, Serialize};

use crate::export::{ExportError, export};

/// The outcome of building and testing a commit: it passes, fails, does both, does not build, or cannot
/// be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The test passes.
    Passes,
    /// It fails; how.
    Fails(String),
    /// It passes and fails in turn.
    Unsteady {
        /// Runs that passed.
        passed: u32,
        /// All runs.
        runs: u32,
    },
    /// The commit does not build; the first error.
    NotBuilt(String),
    /// It builds, and the test cannot be run on it; why.
    NotTested(String),
}

impl Outcome {
    /// Returns the outcome as a predicate whose subject is a commit, such as `does not build`.
    pub fn text(&self) -> String {
        match self {
            Outcome::Passes => "passes".to_owned(),
            Outcome::Fails(reason) => format!("fails: {reason}"),
            Outcome::Unsteady { passed, runs } => {
                format!("is not steady: {passed} of {runs} runs of the test pass")
            }
            Outcome::NotBuilt(error) => format!("does not build: {error}"),
            Outcome::NotTested(reason) => format!("cannot be tested: {reason}"),
        }
    }
}

/// Why a commit could not be tried at all.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Its files cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// No copy can be made.
    #[error(transparent)]
    Pool(PoolError),
    /// The copy cannot be used.
    #[error(transparent)]
    Record(RecordError),
    /// Nothing can be run.
    #[error(transparent)]
    Run(RunError),
    /// The test cannot be run on any commit.
    #[error(transparent)]
    Test(TestError),
    /// What is known cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody interrupted, or the time is over.
    #[error("interrupted")]
    Cancelled,
}

impl From<GitError> for TrialError {
    fn from(error: GitError) -> Self {
        TrialError::Export(ExportError::Git(error))
    }
}

/// A file of the working tree that is put into every commit, such as the test itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its path, relative to the project's root.
    pub path: PathBuf,
    /// What it holds.
    pub contents: Vec<u8>,
    /// It may be executed.
    pub executable: bool,
    /// A commit that has a file of this name gets this one all the same.
    pub replaces: bool,
}

/// How commits are built and tested.
#[derive(Clone, Debug)]
pub struct TrialOptions {
    /// Runs of the test on each commit, at least one.
    pub runs: u32,
    /// A test of which some runs fail fails.
    pub any_failure: bool,
    /// Time after which a build has failed.
    pub build_timeout: Duration,
}

/// Everything that trying commits needs: project, tests, repository and options.
pub struct Bench<'b> {
    /// The project: how it is built, and what protects the rest.
    pub project: &'b Project,
    /// The tests; the first one is run.
    pub suite: &'b TestSuite,
    /// The folder of the project in the repository.
    pub below: PathBuf,
    /// Files that commits get.
    pub taken: Vec<Taken>,
    /// The repository.
    pub history: &'b History,
    /// How to start supervisors.
    pub program: &'b RunnerProgram,
    /// Where copies are made.
    pub scratch: &'b Scratch,
    /// Ends everything.
    pub cancel: CancelToken,
    /// How commits are built and tested.
    pub options: TrialOptions,
}

/// Builds and tests commits, and remembers their outcomes. Commits with the same files are tried once.
pub struct Trials<'b> {
    bench: Bench<'b>,
    known: HashMap<String, Outcome>,
    journal: Option<Journal>,
    number: usize,
    /// Builds that were made.
    builds: usize,
    submodules: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    tree: String,
    outcome: Outcome,
}

/// A program that a driver runs, and that says so, cannot be tested: the status has this meaning for `git bisect run`, too.
const UNTESTABLE: i32 = 125;

/// Processor time after which it is looked whether a test never ends.
const FIRST_LOOK: Duration = Duration::from_millis(200);

impl<'b> Trials<'b> {
    /// Makes trials without outcomes, or with those of the journal if it is to be resumed.
    ///
    /// # Errors
    /// [`TrialError::Journal`].
    pub fn new(
        bench: Bench<'b>,
        journal: Option<&JournalOptions>,
        warn: impl FnOnce(String),
    ) -> Result<Self, TrialError> {
        let kind = JournalKind {
            journal: "patchwright-regression".into(),
            version: 1,
        };
        let key = key(&bench);
        let opened = patchwright_exec::open_wanted_journal(
            journal,
            |options| Journal::open::<Line>(options, kind, key, "", Durability::Process),
            warn,
        )?;
        let (journal, lines) = match opened {
            Some((journal, lines)) => (Some(journal), lines),
            None => (None, Vec::new()),
        };
        for line in &lines {
            if let Some(journal) = &journal {
                journal.add(line)?;
            }
        }
        let known = lines.into_iter().map(|line| (line.tree, line.outcome));
        Ok(Trials {
            known: known.collect(),
            bench,
            journal,
            number: 0,
            builds: 0,
            submodules: Vec::new(),
        })
    }

    /// Returns the repository from which commits are taken.
    pub fn history(&self) -> &'b History {
        self.bench.history
    }

    /// Returns the number of builds so far.
    pub fn builds(&self) -> usize {
        self.builds
    }

    /// Returns the paths of submodules in built commits. They were empty folders there.
    pub fn submodules(&self) -> &[PathBuf] {
        &self.submodules
    }

    /// Removes the journal, because nothing is left to resume.
    ///
    /// # Errors
    /// When the journal cannot be removed.
    pub fn finish(self) -> Result<(), FileError> {
        self.journal.map_or(Ok(()), Journal::remove)
    }

    /// Returns the outcome of a commit, which is built and tested unless the outcome is known.
    ///
    /// # Errors
    /// See [`TrialError`]. A commit that does not build is none.
    pub fn outcome(&mut self, commit: &Commit) -> Result<Outcome, TrialError> {
        let tree = self
            .bench
            .history
            .tree_name(&commit.id, &self.bench.below)?;
        let Some(tree) = tree else {
            let folder = self.bench.below.display();
            let reason = format!("the commit has no folder {folder}");
            return Ok(Outcome::NotTested(reason));
        };
        if let Some(outcome) = self.known.get(&tree) {
            return Ok(outcome.clone());
        }
        if self.bench.cancel.is_cancelled() {
            return Err(TrialError::Cancelled);
        }
        let name = format!("commit-{}", self.number);
        self.number += 1;
        let outcome = self.outcome_in(&name, commit)?;
        if self.bench.cancel.is_cancelled() {
            // Perhaps that is why.
            return Err(TrialError::Cancelled);
        }
        if let Some(journal) = &self.journal {
            let line = Line {
                tree: tree.clone(),
                outcome: outcome.clone(),
            };
            journal.add(&line)?;
        }
        self.known.insert(tree, outcome.clone());
        Ok(outcome)
    }

    fn outcome_in(&mut self, name: &str, commit: &Commit) -> Result<Outcome, TrialError> {
        let bench = &self.bench;
        let source = bench.scratch.create_folder(&format!("{name}-files"))?;
        let exported = export(
            bench.history,
            &commit.id,
            &bench.below,
            &source,
            commit.time,
        )?;
        for submodule in exported.submodules {
            if !self.submodules.contains(&submodule) {
                self.submodules.push(submodule);
            }
        }
        for file in &bench.taken {
            put(&source, file, commit.time)?;
        }
        let options = WorkerOptions {
            prepare: None,
            ..WorkerOptions::new(
                bench.project,
                &source,
                bench.program,
                bench.scratch,
                &bench.cancel,
            )
        };
        let mut worker = Worker::start(0, name, &options).map_err(|error| match error {
            PoolError::Runner(RunError::Cancelled) => TrialError::Cancelled,
            error => TrialError::Pool(error),
        })?;
        files::remove_tree(&source)?;
        worker.runner.set_subject(Some(commit.short().to_owned()));
        let outcome = self.outcome_of(&mut worker);
        let folders = [worker.folder.clone(), worker.shared.clone()];
        drop(worker);
        for folder in folders {
            files::remove_tree(&folder)?;
        }
        outcome
    }

    fn outcome_of(&mut self, worker: &mut Worker) -> Result<Outcome, TrialError> {
        let bench = &self.bench;
        match prepare_copy(worker, bench.project) {
            Ok(()) => {}
            Err(RecordError::Build(error)) => return not_built(error),
            Err(error) => return Err(TrialError::Record(error)),
        }
        if let Some(build) = &bench.project.build {
            let limits = Limits {
                wall: bench.options.build_timeout,
                ..Limits::for_build()
            };
            self.builds += 1;
            let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
            if let Err(error) = run_build(runner, sandbox, build, &Environment::default(), &limits)
            {
                return not_built(error);
            }
        }
        let limits = Limits {
            wall: bench.suite.timeout.unwrap_or(bench.project.limits.wall),
            endless_after: Some(FIRST_LOOK),
            ..bench.project.limits.clone()
        };
        let Some(test) = bench.suite.tests.first() else {
            return Ok(Outcome::NotTested("there is no test".to_owned()));
        };
        let runs = bench.options.runs.max(1);
        let (mut passed, mut failure) = (0, None);
        for _ in 0..runs {
            let environment = &bench.suite.environment;
            let run = run_test(
                &mut worker.runner,
                &worker.sandbox,
                test,
                environment,
                &limits,
            );
            let verdict = match run {
                Ok(run) => run.verdict,
                Err(TestError::Program { program, source }) => {
                    let program = program.display();
                    let reason = format!(
                        "the build does not make {program}, or not so that it can be executed ({source})"
                    );
                    return Ok(Outcome::NotTested(reason));
                }
                Err(error) if error.is_cancelled() => return Err(TrialError::Cancelled),
                Err(error) => return Err(TrialError::Test(error)),
            };
            match verdict {
                Verdict::Pass => passed += 1,
                Verdict::Fail(reason) => {
                    if is_untestable(test, &reason) {
                        let reason =
                            format!("the test driver says so, by exit status {UNTESTABLE}");
                        return Ok(Outcome::NotTested(reason));
                    }
                    let waited = matches!(reason, FailReason::TimedOut(_));
                    failure.get_or_insert(reason.to_string());
                    // To wait for it again would only take as long.
                    if waited && passed == 0 || bench.options.any_failure {
                        break;
                    }
                }
            }
        }
        Ok(match failure {
            None => Outcome::Passes,
            Some(reason) if passed == 0 || bench.options.any_failure => Outcome::Fails(reason),
            Some(_) => Outcome::Unsteady { passed, runs },
        })
    }
}

fn is_untestable(test: &Test, reason: &FailReason) -> bool {
    let status = matches!(reason, FailReason::ExitCode { actual, .. } if *actual == UNTESTABLE);
    status && test.is_driven()
}

fn not_built(error: BuildError) -> Result<Outcome, TrialError> {
    match error {
        BuildError::Run(RunError::Cancelled) => Err(TrialError::Cancelled),
        BuildError::Run(error) => Err(TrialError::Run(error)),
        BuildError::Failed {
            command,
            ending,
            first_error,
            tail,
            ..
        } => {
            let said = first_error.or_else(|| tail.lines().last().map(str::to_owned));
            let said = said.map_or(String::new(), |line| format!("; {}", line.trim()));
            Ok(Outcome::NotBuilt(format!(
                "`{}` {ending}{said}",
                command.display()
            )))
        }
    }
}

/// Puts a file from the given tree into the folder of a commit.
fn put(folder: &Path, file: &Taken, time: i64) -> Result<(), FileError> {
    let mut path = folder.to_path_buf();
    for part in file.path.iter() {
        // A commit may have a file or a link where there is a folder now.
        let is_other = std::fs::symlink_metadata(&path).is_ok_and(|about| !about.is_dir());
        if is_other {
            files::remove_file(&path)?;
        }
        path.push(part);
    }
    if let Ok(about) = std::fs::symlink_metadata(&path) {
        match () {
            () if !file.replaces => return Ok(()),
            () if about.is_dir() => files::remove_tree(&path)?,
            () => files::remove_file(&path)?,
        }
    }
    files::create_at_time(&path, &file.contents, file.executable, time)
}

/// A digest of all on which outcomes depend, the commit aside.
fn key(bench: &Bench<'_>) -> patchwright_text::Digest {
    let mut hasher = Hasher::new();
    let project = bench.project;
    for command in [&project.build, &project.prepare] {
        let command = command.as_deref().unwrap_or(OsStr::new(""));
        hasher.field(command.as_encoded_bytes());
    }
    hasher.field(bench.below.as_os_str().as_encoded_bytes());
    // Their debug form shows every field.
    let first = bench.suite.tests.first();
    hasher.field(format!("{first:?} {:?}", bench.suite.timeout));
    hasher.field(format!("{:?}", bench.suite.environment));
    hasher.field(format!("{:?}", project.limits));
    let allowed: Vec<&PathBuf> = project.allow_writes.iter().map(|(path, _)| path).collect();
    hasher.field(format!("{allowed:?}"));
    hasher.field(format!(
        "{} {} {:?}",
        project.network.is_some(),
        project.unprotected,
        bench.options
    ));
    for file in &bench.taken {
        hasher.field(file.path.as_os_str().as_encoded_bytes());
        hasher.field(&file.contents);
        hasher.number(u64::from(file.executable) + 2 * u64::from(file.replaces));
    }
    hasher.finish()
}
