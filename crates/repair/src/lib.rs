//! Test-equivalence repair: from a failing test suite to the cheapest patches that pass it.
//!
//! The phases of a run ([`repair`]):
//! 1. [`prepare`]: a copy of the tree is built, and its tests are run twice (the baseline).
//! 2. [`localize`]: of a large program, or one that crashes, which statements the tests execute, and where they crash.
//! 3. [`instrument`]: the sources are read, holes are found ([`mod@locate`]) and woven, the copy is built once more,
//!    and each test is run once to see which holes it visits.
//! 4. [`search`]: candidates in order of cost; each test is executed once per test-equivalence
//!    class ([`classes`]).
//! 5. [`verify`]: what is going to be reported is applied to a clean copy, built without any
//!    instrumentation, and tested.
//!
//! # Invariants
//! * The user's tree is only read.
//! * A patch that is reported has passed every test after a clean rebuild.
//! * A verdict comes from an execution of the candidate, or of one that had the same value in
//!   every distinct state of the hole that the execution visited.

pub mod candidates;
mod change_text;
mod check;
pub mod classes;
mod comparisons;
mod copies;
mod declarations;
mod deferred;
mod deletions;
mod early;
pub mod equivalence;
pub mod error;
mod evasion;
mod execute;
mod explore;
pub mod family;
mod favoured;
pub mod found;
mod hooks;
pub mod instrument;
pub mod journal;
mod learn;
pub mod likelihood;
pub mod linked;
pub mod localize;
pub mod locate;
mod names;
mod object;
mod order;
pub mod outcome;
pub mod prepare;
mod propose;
mod ran_out;
mod ranking;
mod read;
pub mod relations;
mod remembered;
mod repeated;
mod rounds;
pub mod search;
mod singly;
mod survey;
mod test_sources;
mod together;
mod tree;
mod turns;
mod twins;
mod two_places;
pub mod unchangeable;
mod undefined;
mod unread;
mod unwritten;
pub mod verify;
pub mod whole;
mod woven_build;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::{
    CancelToken, Deadline, FileError, JournalOptions, Project, RunnerProgram, Scratch,
};

pub use check::TOLD_AFTER;
pub use error::RepairError;
use outcome::Phases;
pub use outcome::{Patch, RepairOutcome, Stats, TwoPlaces};
pub use relations::{Bounds, Relations, Sample};
pub use remembered::Kept;
use rounds::Repair;
pub use unchangeable::{Unchangeable, UnchangeableKind};

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// Number of workers.
    pub jobs: usize,
    /// Explore all candidates and report the first one of every plausible class.
    pub all: bool,
    /// Stop at the first plausible patch.
    pub first: bool,
    /// Most patches to report (unless `all`).
    pub max_patches: usize,
    /// Candidates above this cost are not tried.
    pub max_cost: u32,
    /// If no change of one place passes, try changes of so many: 1 or 2.
    pub places: usize,
    /// The kinds of change to try.
    pub schemas: patchwright_space::Schemas,
    /// Look at so many locations, the most suspicious; 0 looks at all.
    pub locations: usize,
    /// If no patch is found there, look at the next most suspicious locations, as long as there is time.
    pub widens: bool,
    /// What says how suspicious a location is.
    pub formula: patchwright_localize::Formula,
    /// How large the space of a hole may get.
    pub space: patchwright_space::SpaceLimits,
    /// How many leaves terms are made of.
    pub leaves: patchwright_space::LeafLimits,
    /// Go on when no test passes.
    pub allow_all_failing: bool,
    /// The time for all of it, from the first copy to the last patch that is verified.
    pub budget: Option<Duration>,
    /// The search ends after so much of it if there is no patch until then; [`repair`] sets it where it tries something else with
    /// the rest.
    pub budget_without_patch: Option<Duration>,
    /// Edits, with the index of their hole, that a verification has rejected: what is in a class
    /// with one of them is not plausible.
    pub distrusted: Vec<(usize, patchwright_text::Edit)>,
    /// Where what is found out about the untouched program is kept for later runs.
    pub kept: Option<Kept>,
    /// Where what is executed is kept, so that an interrupted run can be resumed.
    pub journal: Option<JournalOptions>,
    /// Keep the verdict of every explored candidate ([`found::Found::verdicts`]). They take as
    /// much memory as the candidates have text.
    pub keep_verdicts: bool,
    /// What tells candidates to be test-equivalent. All but the default is for measurements.
    pub relations: Relations,
    /// Tests that run a program themselves start it once and fork it for each execution, where it can be.
    pub virtualize: bool,
    /// Of candidates that are executed by themselves, explore only these.
    pub sample: Option<Sample>,
    /// Ends the search after so much work, whatever the time that it takes.
    pub bounds: Bounds,
    /// Look at patches that pass for undefined behaviour.
    pub scrutinize: bool,
    /// Verify patches while the search goes on, one at a time.
    pub early: bool,
    /// Seek changes of two places while the search goes on; [`repair`] sets it where the program is made ready quickly.
    pub early_pairs: bool,
    /// Files, relative to the project's root, with what they hold instead of what they hold there: the program with a change.
    pub replaced: Vec<(std::path::PathBuf, Vec<u8>)>,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            jobs: 1,
            all: false,
            first: false,
            max_patches: 10,
            max_cost: 16,
            places: 1,
            schemas: Default::default(),
            locations: localize::DEFAULT_LOCATIONS,
            widens: true,
            formula: Default::default(),
            space: Default::default(),
            leaves: Default::default(),
            allow_all_failing: false,
            budget: None,
            budget_without_patch: None,
            distrusted: Vec::new(),
            kept: None,
            journal: None,
            keep_verdicts: false,
            relations: Relations::Both,
            virtualize: true,
            sample: None,
            bounds: Bounds::default(),
            scrutinize: true,
            early: true,
            early_pairs: false,
            replaced: Vec::new(),
        }
    }
}

/// What a run tells while it works.
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

/// Where a run's own processes and files come from.
pub struct Surroundings<'a> {
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// The private folder of the run.
    pub scratch: &'a Scratch,
    /// Ends the run.
    pub cancel: CancelToken,
    /// Is told what happens.
    pub events: &'a (dyn Fn(Event) + Sync),
}

impl<'a> Surroundings<'a> {
    /// The same, with another listener.
    pub(crate) fn telling<'b>(&'b self, events: &'b (dyn Fn(Event) + Sync)) -> Surroundings<'b> {
        Surroundings {
            program: self.program,
            scratch: self.scratch,
            cancel: self.cancel.clone(),
            events,
        }
    }

    /// The same, ended by another token.
    pub(crate) fn ended_by(&self, cancel: &CancelToken) -> Surroundings<'a> {
        Surroundings {
            program: self.program,
            scratch: self.scratch,
            cancel: cancel.clone(),
            events: self.events,
        }
    }
}

/// Repairs `project`. The budget is all the time that this takes, from now on.
///
/// # Errors
/// See [`RepairError`]. That no patch exists is no error but an outcome without patches, and so is that the time was up.
pub fn repair(
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
) -> Result<RepairOutcome, RepairError> {
    let end = options.budget.map(|budget| Instant::now() + budget);
    let deadline = deadline(&surroundings.cancel, end)?;
    let phase = Mutex::new("copying the project");
    let warned = Mutex::new(BTreeSet::new());
    let told = |event: Event| {
        match &event {
            Event::Phase(name) => *phase.lock().unwrap_or_else(PoisonError::into_inner) = name,
            // Each round of a search reads and weaves, and would say the same again.
            Event::Warning(text) => {
                let mut warned = warned.lock().unwrap_or_else(PoisonError::into_inner);
                if !warned.insert(text.clone()) {
                    return;
                }
            }
            _ => {}
        }
        (surroundings.events)(event);
    };
    let mut phases = Phases::default();
    let timed = Surroundings {
        cancel: deadline.token().clone(),
        ..surroundings.telling(&told)
    };
    let run = Repair {
        project,
        wanted: options,
        surroundings: &timed,
        user: &surroundings.cancel,
        end,
    };
    match run.run(&mut phases) {
        Err(error) if error.is_cancelled() && run.is_time_up(&deadline) => {
            let ended_in = *phase.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(RepairOutcome::out_of_time(ended_in, phases))
        }
        outcome => outcome,
    }
}

fn deadline(parent: &CancelToken, end: Option<Instant>) -> Result<Deadline, RepairError> {
    let deadline = Deadline::new(parent, end);
    Ok(deadline.map_err(|source| FileError::new("open", "a timer", source))?)
}
