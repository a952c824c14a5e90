//! The copies in which candidates are executed, and how they are restored.
//!
//! Some candidate makes the program remove or rewrite a file that tests need. Then every later execution in that copy would
//! be of something else: candidates that pass would fail, or do not even get to their location. So copies are looked at now and then, and
//! always where an execution was not observed.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use patchwright_exec::{CopyOptions, Snapshot, Worker, files};
use patchwright_probe_image::Channel;

use crate::{RepairError, Surroundings};

/// Looking takes at most about this part of the time.
const SHARE: u32 = 20;

/// The copies of all workers.
pub(crate) struct Copies {
    /// A tree that nobody runs anything in.
    pristine: PathBuf,
    /// By worker.
    states: Vec<Mutex<State>>,
}

struct State {
    snapshot: Snapshot,
    /// When the copy was looked at last, and how long that took.
    looked: Instant,
    took: Duration,
    /// It could not be put back once, and is left alone.
    is_lost: bool,
}

impl Copies {
    /// Remembers the copies as they are now. All are the same but for what tests leave.
    ///
    /// # Errors
    /// When a copy cannot be read, or the one for comparison cannot be made.
    pub(crate) fn take(
        workers: &[(Worker, Channel)],
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, RepairError> {
        let pristine = surroundings.scratch.create_folder("woven-pristine")?;
        let states: Vec<Mutex<State>> = workers
            .iter()
            .map(|(worker, _)| {
                let begun = Instant::now();
                let snapshot = Snapshot::take(&worker.sandbox)?;
                Ok(Mutex::new(State {
                    snapshot,
                    looked: Instant::now(),
                    took: begun.elapsed(),
                    is_lost: false,
                }))
            })
            .collect::<Result<_, RepairError>>()?;
        let copy = pristine.join("tree");
        if let Some((worker, _)) = workers.first() {
            worker.sandbox.duplicate(
                &copy,
                &CopyOptions {
                    viewed: worker.runner.view_active(),
                    ..CopyOptions::default()
                },
            )?;
        }
        Ok(Copies {
            pristine: copy,
            states,
        })
    }

    /// Removes the tree for comparison: the next search makes its own.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), RepairError> {
        match self.pristine.parent() {
            Some(folder) => Ok(files::remove_tree(folder)?),
            None => Ok(()),
        }
    }

    /// Puts a worker's copy back if it is time to look at it, or `must` be. Whether something had changed.
    ///
    /// # Errors
    /// When the copy cannot be put back; that is not tried again.
    pub(crate) fn put_back(&self, worker: &Worker, must: bool) -> Result<bool, RepairError> {
        let lock = &self.states[worker.index];
        let mut state = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_lost || (!must && state.looked.elapsed() < state.took * SHARE) {
            return Ok(false);
        }
        let begun = Instant::now();
        state.is_lost = true;
        let restored = state.snapshot.restore(&worker.sandbox, &self.pristine)?;
        state.is_lost = false;
        state.took = begun.elapsed();
        state.looked = Instant::now();
        Ok(restored.removed + restored.copied > 0)
    }
}
