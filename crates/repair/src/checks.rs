//! The results of building and testing changed files in a run.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{patch::Patch, rejection::Rejection};

/// The time that an early patch waits before it is shown. The report has the patch too, and may come first.
pub const TOLD_AFTER: Duration = Duration::from_secs(2);

/// The verification results of this run by diff, and the patches that were verified during the search.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    known: Mutex<BTreeMap<Vec<u8>, Option<Rejection>>>,
    objections: Mutex<BTreeMap<Vec<u8>, Option<String>>>,
    early: Mutex<Vec<Patch>>,
    /// Of these, what is told before the search is over: when, and what.
    shown: Mutex<Vec<(Instant, Patch)>>,
}

impl Checks {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Option<Rejection>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the known result for a diff: the reason for rejecting it, or `None` inside for a repair. The outer `None` means that it was
    /// not checked.
    pub(crate) fn of(&self, diff: &[u8]) -> Option<Option<Rejection>> {
        self.known().get(diff).cloned()
    }

    /// Remembers the result of checking the program with this change.
    pub(crate) fn keep(&self, diff: &[u8], rejection: &Option<Rejection>) {
        self.known().insert(diff.to_vec(), rejection.clone());
    }

    /// The objections of sanitizers by change; `None` for a change without one.
    pub(crate) fn objections(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Option<String>>> {
        let objections = self.objections.lock();
        objections.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the known objection of sanitizers to a diff, or `None` inside if they have none. The outer `None` means that they were not
    /// asked.
    pub(crate) fn objection(&self, diff: &[u8]) -> Option<Option<String>> {
        self.objections().get(diff).cloned()
    }

    /// Notes that a patch is shown to the user.
    pub(crate) fn show(&self, patch: &Patch) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.push((Instant::now(), patch.clone()));
    }

    /// The patches that somebody has had the time to see.
    pub(crate) fn shown(&self) -> Vec<Patch> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = shown
            .iter()
            .filter(|(since, _)| since.elapsed() >= TOLD_AFTER);
        seen.map(|(_, patch)| patch.clone()).collect()
    }

    /// The patches that were verified while the search went on, in that order.
    pub(crate) fn early(&self) -> MutexGuard<'_, Vec<Patch>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
