//! The surroundings of a run: supervisors, scratch folder, cache and messages.

use patchwright_exec::{CancelToken, RunnerProgram, Scratch};

use crate::event::Event;

/// The supervisors, the scratch folder and the cache of a run, and where its messages go.
pub struct Surroundings<'a> {
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// The private folder of the run.
    pub scratch: &'a Scratch,
    /// Ends the run.
    pub cancel: CancelToken,
    /// Receives messages about the progress.
    pub events: &'a (dyn Fn(Event) + Sync),
}

impl<'a> Surroundings<'a> {
    /// Returns these surroundings with another listener.
    pub(crate) fn telling<'b>(&'b self, events: &'b (dyn Fn(Event) + Sync)) -> Surroundings<'b> {
        Surroundings {
            program: self.program,
            scratch: self.scratch,
            cancel: self.cancel.clone(),
            events,
        }
    }

    /// Returns these surroundings with another token that ends the run.
    pub(crate) fn ended_by(&self, cancel: &CancelToken) -> Surroundings<'a> {
        Surroundings {
            program: self.program,
            scratch: self.scratch,
            cancel: cancel.clone(),
            events: self.events,
        }
    }
}
