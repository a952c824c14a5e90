//! The messages of a run about its progress.

use std::time::Duration;

use crate::patch::Patch;

/// A message of a run about its progress.
#[derive(Clone, Debug)]
pub enum Event {
    /// A phase begins.
    Phase(&'static str),
    /// Progress inside of a phase, of a known total.
    Progress {
        /// Steps done.
        done: usize,
        /// Steps in all.
        total: usize,
    },
    /// Something the user should know: a test set aside, a file left alone.
    Warning(String),
    /// Something the user wants to know: which tests fail.
    Note(String),
    /// How far the search is.
    Search {
        /// Candidates whose verdict is known.
        explored: u64,
        /// Executions of tests so far.
        executions: u64,
        /// The cost that is being explored.
        cost: u32,
        /// Plausible patches so far.
        plausible: usize,
    },
    /// Changed declarations are built and tested, one by one.
    Declarations {
        /// Those that have been.
        done: usize,
        /// Those that will be if none passes.
        total: usize,
    },
    /// A patch has passed all tests on a clean copy while others are still sought. The outcome may have better ones, and this one at
    /// another place.
    Passed {
        /// The patch.
        patch: Box<Patch>,
        /// It was tested in other circumstances, too, and nothing speaks against it. Where asking
        /// takes long, that is not yet known when the patch is told.
        is_scrutinized: bool,
    },
    /// A patch has been verified: the next of those that the outcome has.
    Verified(Box<Patch>),
    /// The run was interrupted, and goes on for so long at most to verify the best of what it has found.
    Finishing(Duration),
}
