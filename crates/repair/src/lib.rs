//! Test-equivalence repair: from a failing test suite to small patches that pass it, the likeliest first.
//!
//! The phases of a run ([`repair`]):
//! 1. [`prepare`]: a copy of the tree is built, and its tests are run twice (the baseline).
//! 2. [`localize`]: of a large program, or one that crashes, which statements the tests execute, and where they crash.
//! 3. [`instrument`]: the sources are read, holes are found ([`mod@locate`]) and woven, the copy is built once more,
//!    and each test is run once to see which holes it visits.
//! 4. [`levels`]: candidates in order of cost; each test is executed once per test-equivalence
//!    class ([`classes`]).
//! 5. [`verify`]: what is going to be reported is applied to a clean copy, built without any
//!    instrumentation, and tested.
//!
//! # Invariants
//! * The user's tree is only read.
//! * A patch that is reported has passed every test after a clean rebuild.
//! * A verdict comes from an execution of the candidate, or of one that had the same value in
//!   every distinct state of the hole that the execution visited.

mod at_once;
pub mod candidates;
mod change_text;
mod changed_file;
mod check;
mod checks;
mod circumstances;
pub mod classes;
pub mod clean_copy;
mod copies;
mod declarations;
mod deferred;
mod deletions;
mod done_before;
mod early;
pub mod equivalence;
pub mod error;
mod evasion;
mod event;
mod execute;
mod exploration;
mod explore;
mod explored;
pub mod family;
pub mod focus;
pub mod found;
mod halves;
mod hooks;
pub mod instrument;
pub mod instrumented;
pub mod joined;
mod journal;
mod judge;
mod learn;
pub mod levels;
pub mod likelihood;
mod likely;
pub mod linked;
pub mod localize;
pub mod locate;
mod names;
mod object;
mod optimised;
pub mod options;
mod order;
pub mod outcome;
pub mod pairs;
mod patch;
pub mod phases;
mod plausibility;
pub mod prepare;
mod proposals;
mod propose;
pub mod proposer;
mod put_off;
mod ran_out;
mod ranking;
mod read;
pub mod rejection;
pub mod relations;
mod remembered;
mod rounds;
pub mod run;
mod search;
mod selected;
pub mod shard;
mod singly;
mod surroundings;
mod survey;
pub mod test_sources;
mod together;
mod tree;
mod turns;
mod twins;
mod two_places;
pub mod unchangeable;
mod undefined;
mod unread;
mod unwritten;
mod usual;
pub mod verify;
pub mod whole;
mod woven_build;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use patchwright_exec::{CancelToken, Deadline, FileError, Project};

pub use checks::TOLD_AFTER;
pub use error::RepairError;
pub use event::Event;
pub use options::RepairOptions;
pub use outcome::{RepairOutcome, Stats, TwoPlaces};
pub use patch::{Patch, Rank};
use phases::Phases;
pub use relations::{Bounds, Relations, Sample};
pub use remembered::Kept;
use rounds::Repair;
pub use surroundings::Surroundings;
pub use unchangeable::{Unchangeable, UnchangeableKind};

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
    let outcome = match run.run(&mut phases) {
        Err(error) if error.is_cancelled() && run.is_time_up(&deadline) => {
            let ended_in = *phase.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(RepairOutcome::out_of_time(ended_in, phases))
        }
        outcome => outcome,
    };
    let mut outcome = outcome?;
    if let Some(proposals) = &options.proposals {
        let untried = proposals.dismiss();
        if untried > 0 {
            let one = if untried == 1 {
                "proposal was"
            } else {
                "proposals were"
            };
            (surroundings.events)(Event::Warning(format!(
                "{untried} {one} not tried, because the run ended before"
            )));
        }
        proposals.join(&mut outcome, options);
    }
    Ok(outcome)
}

fn deadline(parent: &CancelToken, end: Option<Instant>) -> Result<Deadline, RepairError> {
    let deadline = Deadline::new(parent, end);
    Ok(deadline.map_err(|source| FileError::new("open", "a timer", source))?)
}
