//! The times of the phases of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The times of the phases of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Copying the tree.
    pub copy: Duration,
    /// Building the untouched program.
    pub build: Duration,
    /// Running its tests twice.
    pub baseline: Duration,
    /// Finding what tests execute.
    pub localize: Duration,
    /// Reading the sources.
    pub read: Duration,
    /// Weaving, building and finding which tests visit what.
    pub weave: Duration,
    /// The search.
    pub search: Duration,
    /// The final verification.
    pub verify: Duration,
    /// What a build of the untouched program takes; it is more than `build` where an earlier run has built it. In a tree that
    /// was built already it is estimated from the number of sources.
    pub whole_build: Duration,
    /// What all its tests take, each run once; they need not have been run now.
    pub all_tests: Duration,
}

impl Phases {
    /// Adds the times of another machine.
    pub(crate) fn add(&mut self, other: &Phases) {
        let sums = [
            (&mut self.copy, other.copy),
            (&mut self.build, other.build),
            (&mut self.baseline, other.baseline),
            (&mut self.localize, other.localize),
            (&mut self.read, other.read),
            (&mut self.weave, other.weave),
            (&mut self.search, other.search),
            (&mut self.verify, other.verify),
        ];
        for (sum, time) in sums {
            *sum += time;
        }
    }
}
