//! The copies of a woven build: those in which tests are run, and the trees to which they are restored.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use patchwright_exec::{
    Changes, CopyOptions, FileError, Sandbox, Snapshot, Worker, WorkerOptions, files,
};
use patchwright_probe_image::{PatchChannel, PatchTable};

use crate::context::Context;
use crate::rounds::RoundWorker;
use crate::{EngineError, Stats};

/// Makes workers for a woven build.
pub(crate) struct Maker<'a> {
    context: &'a Context<'a>,
    table: PatchTable,
    /// What the names of folders begin with.
    prefix: String,
    made: AtomicUsize,
    /// A copy may not take the place of another: what tests have left may name it.
    fixed: bool,
}

impl<'a> Maker<'a> {
    /// Prepares workers for the patches of `table`. With `fixed` no worker can be replaced.
    pub fn new(context: &'a Context<'a>, table: PatchTable, prefix: String, fixed: bool) -> Self {
        Maker {
            context,
            table,
            prefix,
            made: AtomicUsize::new(0),
            fixed,
        }
    }

    /// Makes a worker with a copy of the tree `source`.
    pub fn make(&self, index: usize, source: &Path) -> Result<RoundWorker, EngineError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let context = self.context;
        let worker = Worker::start(
            index,
            &own_name(&format!("{}-copy-{number}", self.prefix)),
            &WorkerOptions::new(
                context.project,
                source,
                context.program,
                context.scratch,
                &context.cancel,
            ),
        )?;
        Ok(RoundWorker {
            channel: PatchChannel::create(&worker.shared, self.table.clone())?,
            snapshot: Snapshot::take(&worker.sandbox)?,
            worker,
        })
    }

    /// Gives a worker a new copy, runner and channel.
    pub fn renew(&self, worker: &mut RoundWorker, source: &Path) -> Result<(), EngineError> {
        if self.fixed {
            return Err(EngineError::Lost);
        }
        let fresh = self.make(worker.worker.index, source)?;
        let old = std::mem::replace(worker, fresh);
        let folder = old.worker.folder.clone();
        drop(old);
        // What it cannot remove the scratch folder's end tries again, and says so.
        let _ = files::remove_tree(&folder);
        Ok(())
    }
}

/// Counts names: the engines of the portions of a set work in one folder, one after the other.
static NAMES: AtomicUsize = AtomicUsize::new(0);

/// Returns a name for a folder that no engine has used before.
pub fn own_name(name: &str) -> String {
    format!("{name}-{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

/// The state in which the executions of a test begin.
pub(crate) struct State {
    /// A tree in that state, in which nothing is run.
    now: Sandbox,
    /// The state for the next test, once a test has left something.
    next: Option<Sandbox>,
    /// Where that tree is made.
    folder: PathBuf,
    viewed: bool,
}

impl State {
    /// Makes the state of a tree in which nothing is run. If a second tree is needed, it is made in
    /// `folder`, which is empty or does not exist.
    pub fn new(now: Sandbox, folder: PathBuf, viewed: bool) -> Self {
        State {
            now,
            next: None,
            folder,
            viewed,
        }
    }

    /// Returns the tree with the present state.
    pub fn tree(&self) -> &Path {
        self.now.folder()
    }

    /// Repeats `changes`, which a test made in the tree `from`, in the tree of the next state. That tree is made first if there is none,
    /// which `stats` counts. `from` must have been in the present state.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn keep(
        &mut self,
        changes: &Changes,
        from: &Path,
        stats: &mut Stats,
    ) -> Result<(), FileError> {
        let next = match self.next.take() {
            Some(next) => next,
            None => {
                stats.state_copies += 1;
                let options = CopyOptions {
                    viewed: self.viewed,
                    ..CopyOptions::default()
                };
                self.now.duplicate(&self.folder, &options)?
            }
        };
        changes.repeat(from, &next)?;
        self.next = Some(next);
        Ok(())
    }

    /// Goes on to the state of the next test: repeats the files `changes`, which [`State::keep`] got, in the own
    /// tree and in each worker's copy. All copies must be in the present state. Without changes nothing is done.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn advance(
        &mut self,
        changes: &Changes,
        workers: &mut [RoundWorker],
    ) -> Result<(), FileError> {
        let Some(next) = self.next.as_ref().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        changes.repeat(next.folder(), &self.now)?;
        for worker in workers {
            changes.repeat(self.now.folder(), &worker.worker.sandbox)?;
            worker.snapshot = Snapshot::take(&worker.worker.sandbox)?;
        }
        Ok(())
    }

    /// Removes from the disk the tree of the present state and the one of the next test, if it was made.
    ///
    /// # Errors
    /// A folder that cannot be removed.
    pub fn remove(self) -> Result<(), FileError> {
        self.next.map_or(Ok(()), Sandbox::remove)?;
        self.now.remove()
    }
}
