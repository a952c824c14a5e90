//! Workers that build and test in parallel, each with a copy and a runner of its own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use patchwright_probe_abi::RUN_FOLDER;

use crate::build::BuildError;
use crate::files::FileError;
use crate::project::Project;
use crate::record::run_in_copy;
use crate::runner::{CancelToken, RunError, Runner, RunnerProgram};
use crate::sandbox::{CopyOptions, Sandbox};
use crate::scratch::Scratch;
use crate::view::{View, ViewStatus};

/// What [`Worker::start`] needs to make a worker.
#[derive(Debug, Clone)]
pub struct WorkerOptions<'a> {
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// Where the copies go.
    pub scratch: &'a Scratch,
    /// The root of the project: absolute, without symbolic links.
    pub project: &'a Path,
    /// The tree to copy: the project itself, or a copy of it that has been built.
    pub source: &'a Path,
    /// Makes a copy of a copy ready at a path of its own: run where the copy cannot appear at the project's path.
    pub prepare: Option<&'a OsStr>,
    /// Whether to make the copy appear at the project's own path, where that is permitted.
    pub view: bool,
    /// Files and folders of the tree to leave out, relative to its root.
    pub exclude: Vec<PathBuf>,
    /// The most time that a build may take, if that is less than its limits say.
    pub build_timeout: Option<Duration>,
    /// Ends all runs.
    pub cancel: CancelToken,
}

impl<'a> WorkerOptions<'a> {
    /// Makes options for a worker that copies the whole tree `source`, which is the project or a copy
    /// of it. The copy appears at the project's own path.
    pub fn new(
        project: &'a Project,
        source: &'a Path,
        program: &'a RunnerProgram,
        scratch: &'a Scratch,
        cancel: &CancelToken,
    ) -> Self {
        WorkerOptions {
            program,
            scratch,
            project: &project.root,
            source,
            // The first copy is made ready when its build is recorded.
            prepare: match source == project.root {
                true => None,
                false => project.prepare.as_deref(),
            },
            view: true,
            exclude: project.exclude.clone(),
            build_timeout: project.build_timeout,
            cancel: cancel.clone(),
        }
    }
}

/// A copy of a project with a runner for commands in it.
#[derive(Debug)]
pub struct Worker {
    /// Its number, from 0.
    pub index: usize,
    /// Starts programs; they see [`Worker::sandbox`].
    pub runner: Runner,
    /// The worker's own copy of the project.
    pub sandbox: Sandbox,
    /// A folder for the worker's own files, outside the sandbox.
    pub folder: PathBuf,
    /// A folder for files that the host and the worker's programs map as shared memory, in memory if possible.
    pub shared: PathBuf,
    run: PathBuf,
}

/// Why a worker could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// The copy of the project could not be made.
    #[error(transparent)]
    Copy(#[from] FileError),
    /// The supervisor could not be started.
    #[error(transparent)]
    Runner(#[from] RunError),
    /// The copy could not be made ready.
    #[error("a copy of the project cannot be prepared: {0}")]
    Prepare(BuildError),
}

impl Worker {
    /// Makes a worker. Its folder in the scratch folder is called `name`, which must be new.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub fn start(index: usize, name: &str, options: &WorkerOptions<'_>) -> Result<Self, PoolError> {
        let folder = options.scratch.create_folder(name)?;
        let tree = folder.join("tree");
        crate::files::create_private_folder(&tree)?;
        let run = folder.join("run");
        crate::files::create_private_folder(&run)?;
        let shared = shared_folder(&options.scratch.shared_path(), name)?;
        let layers = folder.join("layers");
        crate::files::create_private_folder(&layers)?;
        let protection = options.scratch.protection(&folder, &shared, layers);
        let view = options.view.then(|| {
            let mut view = View::of_copy(&tree, options.project);
            view.shadow.push((run.clone(), options.scratch.run_path()));
            if protection.is_some() {
                view.shadow.push((run.clone(), RUN_FOLDER.into()));
            }
            view.protection = protection;
            view
        });
        // Before the copy: how links are copied depends on whether the view is permitted.
        let cancel = options.cancel.clone();
        let attempts = options.scratch.attempts().clone();
        let mut runner = Runner::start_with(options.program, view, cancel, attempts)?;
        if runner.is_protected() {
            runner.set_run_folder(run.clone());
        }
        let temporary = folder.join("tmp");
        crate::files::create_private_folder(&temporary)?;
        runner.set_temporary_folder(temporary);
        runner.set_build_timeout(options.build_timeout);
        if let ViewStatus::Refused(refusal) = runner.view_status() {
            tracing::info!("the copy keeps its own path: {}", refusal.reason);
        }
        let run = if runner.view_active() {
            run
        } else {
            options.scratch.run_path()
        };
        let copy = CopyOptions {
            viewed: runner.view_active(),
            exclude: options.exclude.clone(),
            cancel: Some(options.cancel.clone()),
        };
        let sandbox = Sandbox::create(options.source, &tree, options.project, &copy);
        let sandbox = sandbox.map_err(|error| match options.cancel.is_cancelled() {
            true => PoolError::Runner(RunError::Cancelled),
            false => PoolError::Copy(error),
        })?;
        if options.source == options.project {
            for told in remarks(&sandbox) {
                options.scratch.attempts().tell(told);
            }
        }
        let mut worker = Worker {
            index,
            runner,
            sandbox,
            folder,
            shared,
            run,
        };
        if let Some(prepare) = options.prepare
            && !worker.runner.view_active()
        {
            let prepared = run_in_copy(&mut worker, prepare).map_err(BuildError::of_preparation);
            prepared.map_err(PoolError::Prepare)?;
        }
        Ok(worker)
    }

    /// Returns the folder that the worker's programs see at [`Scratch::run_path`]. With a view each worker has one; without a view
    /// all workers share one.
    pub fn run_folder(&self) -> &Path {
        &self.run
    }
}

/// A copy of a project with more bytes takes its time.
const LARGE: u64 = 1 << 30;

/// What the user should know of the first copy of a project.
fn remarks(sandbox: &Sandbox) -> Vec<String> {
    let mut told: Vec<String> = sandbox
        .unreadable()
        .iter()
        .map(|folder| {
            let folder = folder.display();
            format!("the folder {folder} cannot be read, so it is not in the copies; check its owner and mode")
        })
        .collect();
    let copied = sandbox.copied();
    if copied.bytes > LARGE
        && let Some((file, bytes)) = &copied.largest
    {
        told.push(format!(
            "each copy of the project has {} MiB, {} MiB of them in {}; `exclude = [\"…\"]` under [project] in \
             patchwright.toml, or --exclude, leaves out what builds and tests do not need",
            copied.bytes >> 20,
            bytes >> 20,
            file.display()
        ));
    }
    told
}

/// A folder of its own for a worker; one of the same name may have had one before.
fn shared_folder(base: &Path, name: &str) -> Result<PathBuf, FileError> {
    let mut number = 0;
    loop {
        let folder = base.join(format!("{name}.{number}"));
        match crate::files::create_private_folder(&folder) {
            Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// Several workers that take tasks from one queue.
#[derive(Debug)]
pub struct Pool {
    workers: Vec<Worker>,
}

impl Pool {
    /// Makes `count` workers, at least one; their folders are named `PREFIX-INDEX`.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub fn start(
        count: usize,
        prefix: &str,
        options: &WorkerOptions<'_>,
    ) -> Result<Self, PoolError> {
        let make = |index| Worker::start(index, &format!("{prefix}-{index}"), options);
        Ok(Pool {
            workers: (0..count.max(1)).map(make).collect::<Result<_, _>>()?,
        })
    }

    /// Makes a pool of existing workers.
    pub fn of(workers: Vec<Worker>) -> Self {
        Pool { workers }
    }

    /// Adds a worker, which takes tasks from now on.
    pub fn add(&mut self, worker: Worker) {
        self.workers.push(worker);
    }

    /// Returns the workers, in the order of their numbers.
    pub fn workers(&mut self) -> &mut [Worker] {
        &mut self.workers
    }

    /// Does each task on some worker, in parallel, and returns the results in the order of the tasks.
    ///
    /// # Panics
    /// If a task panics.
    pub fn run<T, R>(
        &mut self,
        tasks: impl IntoIterator<Item = T, IntoIter: Send>,
        work: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Vec<R>
    where
        T: Send,
        R: Send,
    {
        let mut results = Vec::new();
        self.run_until(tasks, work, |result| {
            results.push(result);
            ControlFlow::Continue(())
        });
        results
    }

    /// Does tasks in parallel, and gives their results to `deliver` in the order of the tasks, on the
    /// calling thread. Workers take tasks from the iterator when they become free. After the first
    /// [`ControlFlow::Break`] no task is begun and no result delivered, although later tasks may have
    /// been done.
    ///
    /// # Panics
    /// If a task panics.
    pub fn run_until<T, R>(
        &mut self,
        tasks: impl IntoIterator<Item = T, IntoIter: Send>,
        work: impl Fn(&mut Worker, T) -> R + Sync,
        mut deliver: impl FnMut(R) -> ControlFlow<()>,
    ) where
        T: Send,
        R: Send,
    {
        let tasks = Mutex::new(tasks.into_iter().enumerate());
        let stopped = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for worker in &mut self.workers {
                let (tasks, stopped, work, sender) = (&tasks, &stopped, &work, sender.clone());
                scope.spawn(move || {
                    while !stopped.load(Ordering::Relaxed) {
                        // The lock is held while the iterator makes the task, not while it is done.
                        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((index, task)) = next else { return };
                        if sender.send((index, work(worker, task))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut early = BTreeMap::new();
            let mut next = 0;
            for (index, result) in receiver {
                early.insert(index, result);
                while let Some(result) = early.remove(&next) {
                    next += 1;
                    if deliver(result).is_break() {
                        stopped.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        });
    }
}
