//! Verdicts on other people's patches.
//!
//! [`validate`] takes a [`PatchSet`] and gives each patch a [`PatchVerdict`]:
//!
//! 1. [`prepare`](mod@prepare) builds a copy of the project, the *pristine copy*. Nothing is ever run in it. The tests of the
//!    untouched program are run twice. If that costs more than it tells, they are run once or not at all (`unasked`, `cost`).
//! 2. [`woven`] validates together the patches that can be woven into one program, with crate `schemata`. Plausible patches form a
//!    class if they change the same functions and end all tests in the same way with the same output. Step 3 confirms one of each
//!    class.
//! 3. [`plain`] validates each other patch by itself: applies it to a worker's copy, builds with the project's own build
//!    command, tests, and restores the copy.
//!
//! [`journal`] keeps what is known across interruptions, and [`mod@serve`] validates patches as they come.
//!
//! # Invariants
//! * The user's tree is only read.
//! * A plausible patch has passed all tests in its own tree, or in a woven program. In the second case a build has confirmed a patch of
//!   the same functions with the same outcomes, unless the run is told not to confirm.
//! * A verdict against a patch comes from a build of its tree, or from a woven program that did what the patched one does. Patches
//!   that make the same tree share a verdict, and the report says so.
//! * The verdict on a patch, and the test named for it, depend neither on the number or speed of workers nor on what was resumed.
//!   Time-outs and unsteady tests are the exception. If the untouched program is not run, the fastest patch that passes a test
//!   sets its time-out.
//! * A time-out is never a pass.

pub mod dependents;
pub mod error;
pub mod journal;
pub mod outcome;
pub mod plain;
pub mod prepare;
pub mod rebuild;
pub mod serve;
pub mod set;
pub mod shard;
pub mod test_files;
mod together;
pub mod tree;
pub mod verdict;
pub mod woven;

mod audit;
mod board;
mod cost;
mod first;
mod phases;
mod promising;
mod run;
mod tasks;
mod unasked;

use std::time::Duration;

use patchwright_exec::{CancelToken, JournalOptions, RunnerProgram, Scratch};

pub use error::ValidateError;
pub use outcome::{Phase, Reached, Stats, Tests, Validated, Validation, WovenStats};
pub use plain::Way;
pub use promising::MOST_TOGETHER;
pub use run::validate;
pub use serve::{Inbox, serve};
pub use set::{Entry, PatchSet, read_set, set_of};
pub use test_files::{TestFiles, is_in_test_folder, is_of_program};
pub use tree::ProjectTree;
pub use verdict::{CompileFailure, Failure, Killer, PatchVerdict, TestResult};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct ValidateOptions {
    /// Number of workers.
    pub jobs: usize,
    /// Run every test on every patch that builds, instead of stopping at the first that fails.
    pub keep_going: bool,
    /// Stop when this many patches, in the order of the set, are plausible.
    pub stop_after: Option<usize>,
    /// Run those tests first that fail on the untouched program.
    pub prioritize: bool,
    /// Build patches together, woven into one program, where that can be done.
    pub schemata: bool,
    /// Of a set so small that building each patch by itself takes less time, as far as can be told beforehand, weave none.
    pub by_cost: bool,
    /// The tests of the untouched program are run first, however few patches there are (with [`by_cost`](Self::by_cost): else they are run where
    /// a verdict of few patches depends on it).
    pub ask_first: bool,
    /// Of woven patches that a test cannot tell apart, execute one.
    pub dedup: bool,
    /// Tests that run a woven program themselves start it once and fork it for each execution, where it can be.
    pub virtualize: bool,
    /// A test that provably never ends is not waited for until its time is up.
    pub prove_endless: bool,
    /// Which plausible patches are tested a second time.
    pub confirm: Confirm,
    /// The longest time that the build of a patch may take.
    pub build_timeout: Duration,
    /// How the time-outs of tests follow from the baseline, where the project does not say them.
    pub timeouts: patchwright_exec::TimeoutRule,
    /// Tests that fail on the untouched program say nothing about patches, but for those of `must_fix`.
    pub ignore_failing: bool,
    /// Names of the tests that patches are meant to mend. If there are any, the others that fail on the untouched program say nothing.
    pub must_fix: Vec<String>,
    /// Patches may change files of tests and drivers: [`read_set`] was not told to leave that out.
    pub trust_test_changes: bool,
    /// How many of a hundred plausible patches that were not built by themselves are, in the end; `None` for [`AUDIT`] of sets of more than
    /// [`LEAST_FOR_AUDIT`].
    pub audit: Option<f64>,
    /// Where verdicts are kept.
    pub journal: Option<JournalOptions>,
}

/// The percentage of plausible patches that are audited by default.
pub const AUDIT: f64 = 5.0;

/// The size of a set up to which nothing is audited by default.
pub const LEAST_FOR_AUDIT: usize = 100;

/// Which plausible patches are built without weaving and tested again. A patch that fails then is
/// unstable. A woven patch whose own build fails twice gets the verdict of that build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// None.
    Never,
    /// The patches of [`Confirm::Classes`]. Up to [`MOST_TOGETHER`] that change different functions share a build. If that build fails a
    /// test, each is built by itself.
    #[default]
    Together,
    /// All patches that are not woven. Of woven patches that did the same in every test, the first. No patch that did what the untouched
    /// program does: that was tested twice.
    Classes,
    /// All.
    Each,
}

impl Default for ValidateOptions {
    /// Returns options for one worker that ends a patch at its first failing test, uses all accelerations and confirms plausible
    /// patches. A test may take 5 s plus 1.5 times its time on the untouched program (the rule of ExpressAPR's evaluation,
    /// section VIII-D), a build 10 minutes. There is no journal.
    fn default() -> Self {
        ValidateOptions {
            jobs: 1,
            keep_going: false,
            stop_after: None,
            prioritize: true,
            schemata: true,
            by_cost: false,
            ask_first: false,
            dedup: true,
            virtualize: true,
            prove_endless: true,
            confirm: Confirm::Together,
            build_timeout: Duration::from_secs(600),
            timeouts: patchwright_exec::TimeoutRule {
                floor: Duration::ZERO,
                factor: 1.5,
                slack: Duration::from_secs(5),
            },
            ignore_failing: false,
            must_fix: Vec::new(),
            trust_test_changes: false,
            audit: None,
            journal: None,
        }
    }
}

impl ValidateOptions {
    /// Whether plausible patches that are built by themselves must pass their tests twice. That is so if some test is flaky, or if tests
    /// depend on what earlier tests have left (`leaves`). Otherwise a second run tells nothing new.
    pub(crate) fn runs_twice(&self, baseline: &patchwright_exec::Baseline, leaves: bool) -> bool {
        match self.confirm {
            Confirm::Never => false,
            Confirm::Each => true,
            Confirm::Together | Confirm::Classes => leaves || baseline.flaky().next().is_some(),
        }
    }
}

/// A message of a run about its progress.
#[derive(Clone, Debug)]
pub enum Event<'e> {
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
    /// The tests are known.
    Tests {
        /// The tests.
        tests: &'e Tests,
        /// What is known of each patch of the set by then.
        patches: &'e [Validated],
    },
    /// The verdict on a patch is known.
    Verdict {
        /// Its number in the set, from 0.
        index: usize,
        /// What is known of it.
        patch: &'e Validated,
    },
}

/// The supervisor, the scratch folder and the signals of a run, and where its messages go.
pub struct Surroundings<'a> {
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// The private folder of the run.
    pub scratch: &'a Scratch,
    /// Ends the run.
    pub cancel: CancelToken,
    /// Is told what happens; may be called by several threads, one at a time.
    pub events: &'a (dyn Fn(Event<'_>) + Sync),
}
