//! Finds out how the sources of a project are compiled: from its compile database, or by watching its
//! build.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::build::{BuildError, run_build};
use crate::compile_commands::{CompileCommand, DatabaseError, read_compile_database};
use crate::files::{self, FileError};
use crate::intercept::{InterceptError, find_database, intercept_build};
use crate::limits::Limits;
use crate::pool::Worker;
use crate::project::Project;
use crate::runner::Environment;
use crate::view::{ViewStatus, absolute_references};

/// Why a copy cannot be built, or why it is not known how its sources are compiled.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no way to build the program, and no compile database.
    #[error(
        "{} has no build command; give one with --build or as `build` in patchwright.toml",
        root.display()
    )]
    NoBuild {
        /// The project.
        root: PathBuf,
    },
    /// The compile database that the user names is not there, before and after the build.
    #[error(
        "the compile database {} does not exist; correct --compile-commands, or `compile-commands` in patchwright.toml",
        path.display()
    )]
    NoDatabase {
        /// The named file.
        path: PathBuf,
    },
    /// The untouched program does not build.
    #[error("the program does not build before any change: {0}")]
    Build(BuildError),
    /// A build tree refers to the project's own path, and the copy cannot be shown there.
    #[error("{} refers to {} by its absolute path, and this system does not let a copy appear there ({reason}); run as root or where user namespaces are allowed, or give a --prepare command that configures the copy", file.display(), root.display())]
    AbsolutePaths {
        /// The file with the reference.
        file: PathBuf,
        /// The project.
        root: PathBuf,
        /// Why the copy keeps its own path.
        reason: String,
    },
    /// It is not known how the sources are compiled.
    #[error("how the sources of {} are compiled is not known: {source}", root.display())]
    Intercept {
        /// The project.
        root: PathBuf,
        /// What went wrong.
        source: Box<InterceptError>,
    },
    /// The compile database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Makes the worker's fresh copy of `project` ready to be built. It runs the project's `prepare` command.
/// It refuses a copy whose build would write into the project itself.
///
/// # Errors
/// [`RecordError::Build`], [`RecordError::AbsolutePaths`] and [`RecordError::File`].
pub fn prepare_copy(worker: &mut Worker, project: &Project) -> Result<(), RecordError> {
    if let Some(prepare) = &project.prepare {
        let prepared = run_in_copy(worker, prepare).map_err(BuildError::of_preparation);
        prepared.map_err(RecordError::Build)?;
    }
    refuse_absolute_references(project, worker)
}

/// Runs a build or `prepare` command in the worker's copy, with the limits of a build.
///
/// # Errors
/// See [`BuildError`].
pub fn run_in_copy(worker: &mut Worker, command: &OsStr) -> Result<(), BuildError> {
    run_within(worker, command, &Environment::default())
}

fn run_within(
    worker: &mut Worker,
    command: &OsStr,
    environment: &Environment,
) -> Result<(), BuildError> {
    run_build(
        &mut worker.runner,
        &worker.sandbox,
        command,
        environment,
        &Limits::for_build(),
    )
    .map(drop)
}

/// Prepares and builds the worker's fresh copy of `project`. The result says how its C files are
/// compiled, with paths as programs in the sandbox see them. Without a compile database the build is
/// watched; then only the selected files are sure to be there, or all if none is selected. A project
/// without a build command counts as built, and must have a database.
///
/// # Errors
/// See [`RecordError`].
pub fn record_build(
    worker: &mut Worker,
    project: &Project,
) -> Result<Vec<CompileCommand>, RecordError> {
    record_build_within(worker, project, &Environment::default())
}

/// Does the same as [`record_build`], with the build in this environment, such as one of
/// [`crate::flagged_environment`]. The returned commands are those that the build itself wrote.
///
/// # Errors
/// See [`RecordError`].
pub fn record_build_within(
    worker: &mut Worker,
    project: &Project,
    environment: &Environment,
) -> Result<Vec<CompileCommand>, RecordError> {
    prepare_copy(worker, project)?;
    let mut database = existing_database(project, worker)?;
    let missing = || match &project.compile_commands {
        Some(path) => RecordError::NoDatabase { path: path.clone() },
        None => RecordError::NoBuild {
            root: project.root.clone(),
        },
    };
    let Some(build) = &project.build else {
        let commands = database.ok_or_else(missing)?;
        return Ok(seen_in_sandbox(commands, worker));
    };
    if database.is_some() || project.compile_commands.is_some() {
        run_within(worker, build, environment).map_err(RecordError::Build)?;
        // The build may have written it anew.
        database = existing_database(project, worker)?;
        if database.is_none() && project.compile_commands.is_some() {
            return Err(missing());
        }
    }
    let commands = match database {
        Some(commands) => commands,
        None => {
            let selected = project.files.iter().map(|selection| &selection.file);
            // A folder, or a file that others include.
            let is_no_source = |file: &PathBuf| {
                let is_c = file.extension().is_some_and(|extension| extension == "c");
                !is_c || project.root.join(file).is_dir()
            };
            let wanted: Vec<PathBuf> = match selected.clone().any(is_no_source) {
                true => Vec::new(),
                false => selected.cloned().collect(),
            };
            let commands = watched(worker, project, build, &wanted, environment)?;
            // Perhaps the build does not compile what was selected: then it should say what it does.
            match commands.is_empty() && !wanted.is_empty() {
                true => watched(worker, project, build, &[], environment)?,
                false => commands,
            }
        }
    };
    Ok(seen_in_sandbox(commands, worker))
}

fn watched(
    worker: &mut Worker,
    project: &Project,
    build: &std::ffi::OsStr,
    wanted: &[PathBuf],
    environment: &Environment,
) -> Result<Vec<CompileCommand>, RecordError> {
    let workplace = worker.folder.join(format!("intercept-{}", wanted.len()));
    files::create_private_folder(&workplace)?;
    let recorded = intercept_build(
        &mut worker.runner,
        &worker.sandbox,
        &workplace,
        build,
        wanted,
        environment,
        &Limits::for_build(),
    );
    match recorded {
        Ok((commands, _)) => Ok(commands),
        Err(InterceptError::NothingCompiled) if !wanted.is_empty() => Ok(Vec::new()),
        Err(InterceptError::Build(error)) => Err(RecordError::Build(error)),
        Err(source) => Err(RecordError::Intercept {
            root: project.root.clone(),
            source: Box::new(source),
        }),
    }
}

/// The compile database that the project names, or has somewhere.
fn existing_database(
    project: &Project,
    worker: &Worker,
) -> Result<Option<Vec<CompileCommand>>, RecordError> {
    let path = match &project.compile_commands {
        Some(path) => Some(worker.sandbox.host_path(path)),
        None => find_database(worker.sandbox.folder(), 2)?,
    };
    match path {
        Some(path) if path.exists() => Ok(Some(read_compile_database(&path)?)),
        _ => Ok(None),
    }
}

/// Commands speak of the project's own path or of the copy's; programs in the sandbox see one.
fn seen_in_sandbox(commands: Vec<CompileCommand>, worker: &Worker) -> Vec<CompileCommand> {
    let (folder, project) = (worker.sandbox.folder(), worker.sandbox.project());
    let (from, to): (&Path, &Path) = if worker.runner.view_active() {
        (folder, project)
    } else {
        (project, folder)
    };
    let rebase = |command: CompileCommand| command.rebase(from, to);
    commands.into_iter().map(rebase).collect()
}

/// Without a view, build files that name the project's own path would make the build write there.
fn refuse_absolute_references(project: &Project, worker: &Worker) -> Result<(), RecordError> {
    let ViewStatus::Refused(refusal) = worker.runner.view_status() else {
        return Ok(());
    };
    let found = absolute_references(worker.sandbox.folder(), &project.root, &[])?;
    match found.into_iter().next() {
        None => Ok(()),
        Some(reference) => Err(RecordError::AbsolutePaths {
            file: reference.file,
            root: project.root.clone(),
            reason: refusal.reason.clone(),
        }),
    }
}
