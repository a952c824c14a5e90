//! The options of a repair.

use std::{sync::Arc, time::Duration};

use patchwright_exec::JournalOptions;

use crate::{
    likelihood::Weights,
    proposer::Proposals,
    relations::{Bounds, Relations, Sample},
    remembered::Kept,
};

/// The default number of locations to look at.
pub const DEFAULT_LOCATIONS: usize = 200;

/// The options of a repair.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// Number of workers.
    pub jobs: usize,
    /// Most workers where tests wait longer than they compute, if those are more.
    pub jobs_that_wait: usize,
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
    /// The kinds of change that are data; without those on request, unless they are wanted.
    pub kinds: std::sync::Arc<[patchwright_kinds::Kind]>,
    /// How likely changes are.
    pub weights: Arc<Weights>,
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
    /// The search ends after so much of it if there is no patch until then; [`crate::repair`] sets it where it tries something else with
    /// the rest.
    pub budget_without_patch: Option<Duration>,
    /// Before patches are verified, at most so long is spent on comparing their code, so that none is shown twice; [`crate::repair`] sets it.
    pub compares_for: Option<Duration>,
    /// Edits, with the index of their hole, that a verification has rejected: what is in a class
    /// with one of them is not plausible.
    pub distrusted: Vec<(usize, patchwright_text::Edit)>,
    /// Where what is found out about the untouched program is kept for later runs.
    pub kept: Option<Kept>,
    /// Where what is executed is kept, so that an interrupted run can be resumed.
    pub journal: Option<JournalOptions>,
    /// Keep the verdict of every explored candidate ([`crate::found::Found::verdicts`]). They take as
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
    /// Where locations are left out, execute only candidates of at most so many bits; [`crate::repair`] sets it where many more locations
    /// follow.
    pub until_bits: Option<f64>,
    /// When the search is over, wait so long for the verification of what it found; [`crate::repair`] sets it where another search follows.
    pub catches_up: Option<Duration>,
    /// Seek changes of two places while the search goes on. Locations that only some failing tests visit are instrumented for that.
    /// [`crate::repair`] sets it where the program is made ready quickly.
    pub early_pairs: bool,
    /// Files, relative to the project's root, with what they hold instead of what they hold there: the program with a change.
    pub replaced: Vec<(std::path::PathBuf, Vec<u8>)>,
    /// Explore one of several parts of the locations.
    pub shard: Option<patchwright_exec::Shard>,
    /// What another program proposes meanwhile.
    pub proposals: Option<Arc<Proposals>>,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            jobs: 1,
            jobs_that_wait: 1,
            all: false,
            first: false,
            max_patches: 10,
            max_cost: 16,
            places: 1,
            schemas: Default::default(),
            kinds: patchwright_kinds::built_in()
                .iter()
                .filter(|kind| !kind.is_on_request())
                .cloned()
                .collect(),
            weights: Arc::new(Weights::fitted().clone()),
            locations: DEFAULT_LOCATIONS,
            widens: true,
            formula: Default::default(),
            space: Default::default(),
            leaves: Default::default(),
            allow_all_failing: false,
            budget: None,
            budget_without_patch: None,
            compares_for: None,
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
            until_bits: None,
            catches_up: None,
            early_pairs: false,
            replaced: Vec::new(),
            shard: None,
            proposals: None,
        }
    }
}
