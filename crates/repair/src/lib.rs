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

mod change_text;
mod check;
pub mod classes;
mod copies;
mod declarations;
mod deferred;
mod early;
pub mod equivalence;
pub mod error;
mod execute;
mod explore;
pub mod family;
pub mod found;
mod hooks;
pub mod instrument;
pub mod journal;
mod learn;
mod linked;
pub mod localize;
pub mod locate;
mod order;
pub mod outcome;
pub mod prepare;
mod propose;
mod read;
pub mod relations;
pub mod search;
mod singly;
mod test_sources;
mod tree;
mod turns;
mod twins;
mod two_places;
pub mod unchangeable;
mod undefined;
mod unwritten;
pub mod verify;
pub mod whole;
mod woven_build;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::{
    CancelToken, Deadline, FileError, JournalOptions, Project, RunnerProgram, Scratch, files,
};

pub use error::RepairError;
use found::Found;
use instrument::Instrumented;
pub use outcome::{Patch, RepairOutcome, Stats, TwoPlaces};
use outcome::{Phases, Verified};
use prepare::Prepared;
pub use relations::{Bounds, Relations, Sample};
pub use unchangeable::{Unchangeable, UnchangeableKind};
use verify::Extent;

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
            journal: None,
            keep_verdicts: false,
            relations: Relations::Both,
            virtualize: true,
            sample: None,
            bounds: Bounds::default(),
            scrutinize: true,
            early: true,
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
    /// A patch has passed all tests on a clean copy while others are still sought, or before anything else is asked of it. The
    /// outcome may have better ones, and this one at another place.
    Passed(Box<Patch>),
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

/// The part of the time that the search for a change of one place may take, if one of two places is sought after it.
const ONE_PLACE: f64 = 0.6;

/// So many times the locations are looked at when those before were in vain.
const WIDER: usize = 4;

/// At most this part of the budget is kept for the verification…
const RESERVE: u32 = 4;

/// …if what verifies a patch (a copy, a build and the tests) does not take so many times less…
const RESERVED_PATCHES: u32 = 4;

/// …and so much more.
const LEAST_RESERVE: Duration = Duration::from_secs(2);

/// So long the best of what was found is verified after a run was interrupted.
const AFTER_INTERRUPTION: Duration = Duration::from_secs(8);

/// The rounds of a search, each at less suspicious locations.
struct Rounds {
    /// A change of two places is sought if none of one place is found.
    tries_two_places: bool,
    /// When the search has to be over.
    end_of_search: Option<Instant>,
    /// When that for a change of one place has to be.
    end_of_one_place: Option<Instant>,
    /// Those of the next round.
    options: RepairOptions,
    /// What was done at more suspicious locations.
    earlier: Option<Stats>,
    /// What verifications have rejected.
    rejected: Vec<String>,
    /// Patches that pass but have undefined behaviour.
    undefined: Vec<Patch>,
}

impl Rounds {
    /// The next round is at the next locations; `stats` is what was done until now.
    fn widen(&mut self, stats: Stats, surroundings: &Surroundings<'_>) {
        (surroundings.events)(Event::Note(format!(
            "no patch at the {} most suspicious locations; looking at the next ones",
            stats.reached
        )));
        self.earlier = Some(stats);
        self.options.locations = self.options.locations.saturating_mul(WIDER);
        self.options.distrusted.clear();
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
    let told = |event: Event| {
        if let Event::Phase(name) = event {
            *phase.lock().unwrap_or_else(PoisonError::into_inner) = name;
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

/// A run.
struct Repair<'r, 'a> {
    project: &'a Project,
    wanted: &'r RepairOptions,
    /// They end when the time is up.
    surroundings: &'r Surroundings<'a>,
    /// What whoever started the run ends it with.
    user: &'r CancelToken,
    end: Option<Instant>,
}

impl Repair<'_, '_> {
    /// Whether it was the time that ended the run.
    fn is_time_up(&self, deadline: &Deadline) -> bool {
        deadline.has_passed() && !self.user.is_cancelled()
    }

    /// When the search has to be over, so that what it finds can be verified.
    fn end_of_search(&self, phases: &Phases) -> Option<Instant> {
        let budget = self.wanted.budget?;
        let patch = phases.copy + phases.build + phases.baseline / 2;
        let reserve = (patch * RESERVED_PATCHES + LEAST_RESERVE).min(budget / RESERVE);
        self.end?.checked_sub(reserve)
    }

    fn run(&self, phases: &mut Phases) -> Result<RepairOutcome, RepairError> {
        let Repair {
            project,
            wanted,
            surroundings,
            ..
        } = *self;
        let mut prepared = prepare::prepare(project, wanted, surroundings, phases)?;
        localize::focus(&mut prepared, project, wanted, surroundings, phases)?;
        let mut rounds = Rounds {
            tries_two_places: two_places::is_possible(&prepared, wanted),
            end_of_search: self.end_of_search(phases),
            end_of_one_place: None,
            options: wanted.clone(),
            earlier: None,
            rejected: Vec::new(),
            undefined: Vec::new(),
        };
        let (mut stats, mut patches) = self.search_rounds(&mut prepared, &mut rounds, phases)?;
        let is_in_vain = |patches: &Verified, rounds: &Rounds| {
            patches.patches.is_empty() && rounds.undefined.is_empty() && !patches.interrupted
        };
        if is_in_vain(&patches, &rounds) && rounds.tries_two_places {
            let started = Instant::now();
            let tried = (&stats, rounds.end_of_search);
            match two_places::search(&prepared, project, wanted, surroundings, tried) {
                Err(error) if error.is_cancelled() => patches.interrupted = true,
                found_pairs => {
                    let (pairs, done) = found_pairs?;
                    patches.patches = pairs;
                    stats.two_places = Some(done);
                }
            }
            phases.search += started.elapsed();
            // What is left of the time is for the places that had no part of it.
            let has_time = rounds.end_of_search.is_some_and(|end| end > Instant::now());
            let goes_on = has_time && wanted.widens && stats.left_out.is_something();
            if goes_on && is_in_vain(&patches, &rounds) && stats.out_of_time {
                rounds.tries_two_places = false;
                rounds.widen(stats, surroundings);
                (stats, patches) = self.search_rounds(&mut prepared, &mut rounds, phases)?;
            }
        }
        let Rounds {
            options,
            rejected,
            mut undefined,
            ..
        } = rounds;
        patches.rejected.splice(0..0, rejected);
        stats.undefined_by_sanitizers = undefined.len();
        if patches.patches.is_empty() && !undefined.is_empty() {
            undefined.truncate(if options.first {
                1
            } else {
                options.max_patches
            });
            for patch in &undefined {
                (surroundings.events)(Event::Verified(Box::new(patch.clone())));
            }
            patches.patches = undefined;
        }
        if patches.interrupted && !self.user.is_cancelled() {
            patches.interrupted = false;
            stats.out_of_time = true;
        }
        let is_done = !patches.interrupted && !stats.out_of_time;
        if let Some(journal) = prepared.journal.take_if(|_| is_done) {
            journal.remove()?;
        }
        Ok(RepairOutcome::new(&prepared, stats, patches, *phases))
    }

    /// Searches the most suspicious locations, and as long as they are not enough the next ones.
    fn search_rounds(
        &self,
        prepared: &mut Prepared,
        rounds: &mut Rounds,
        phases: &mut Phases,
    ) -> Result<(Stats, Verified), RepairError> {
        let Repair {
            project,
            wanted,
            surroundings,
            ..
        } = *self;
        loop {
            let instrumented =
                instrument::instrument(prepared, project, &rounds.options, surroundings, phases);
            let mut instrumented = match (instrumented, rounds.earlier.take()) {
                (Ok(instrumented), before) => {
                    rounds.earlier = before;
                    instrumented
                }
                (Err(error), Some(before)) => {
                    tracing::info!("no further locations: {error}");
                    let ended = Verified {
                        interrupted: error.is_cancelled(),
                        ..Verified::default()
                    };
                    return Ok((before, ended));
                }
                (Err(error), None) => return Err(error),
            };
            let left = |end: Instant| end.saturating_duration_since(Instant::now());
            let options = &mut rounds.options;
            options.budget = rounds.end_of_search.map(left);
            options.budget_without_patch = None;
            if rounds.tries_two_places {
                let share = options.budget.map(|budget| budget.mul_f64(ONE_PLACE));
                let end = share.map(|share| Instant::now() + share);
                rounds.end_of_one_place = rounds.end_of_one_place.or(end);
                options.budget_without_patch = rounds.end_of_one_place.map(left);
            }
            let (found, patches) = self.search(
                prepared,
                &mut instrumented,
                &mut rounds.options,
                (&mut rounds.rejected, &mut rounds.undefined),
                phases,
            )?;
            let widens = wanted.widens
                && patches.patches.is_empty()
                && rounds.undefined.is_empty()
                && !patches.interrupted
                && !found.interrupted
                && !found.stats.out_of_time
                && !found.stats.out_of_bounds
                && instrumented.left_out.is_something()
                // Without a budget the whole program may be more than anybody waits for.
                && (rounds.options.budget.is_some() || rounds.earlier.is_none());
            let is_ended = found.interrupted;
            let mut stats = found.stats.with_locations(&instrumented);
            if let Some(before) = rounds.earlier.take() {
                stats.add_earlier(before);
            }
            if !widens {
                let interrupted = patches.interrupted || is_ended;
                let patches = Verified {
                    interrupted,
                    ..patches
                };
                return Ok((stats, patches));
            }
            rounds.widen(stats, surroundings);
            let workers = std::mem::take(&mut instrumented.workers);
            for (worker, _) in workers {
                let folder = worker.folder.clone();
                drop(worker);
                files::remove_tree(&folder)?;
            }
        }
    }

    /// Searches the locations of an instrumented program, and verifies what is found. What verifications reject, and what passes but has
    /// undefined behaviour, is added to the two lists.
    fn search(
        &self,
        prepared: &mut Prepared,
        instrumented: &mut Instrumented,
        options: &mut RepairOptions,
        (rejected, undefined): (&mut Vec<String>, &mut Vec<Patch>),
        phases: &mut Phases,
    ) -> Result<(Found, Verified), RepairError> {
        let Repair {
            project,
            surroundings,
            ..
        } = *self;
        let mut started_search = Instant::now();
        let (mut resumed, mut forked) = (None, 0);
        let (mut found, patches) = loop {
            let started = Instant::now();
            let mut found = search::search(instrumented, prepared, project, options, surroundings)?;
            phases.search += started.elapsed();
            self.tell_time_from_interruption(&mut found);
            resumed.get_or_insert(found.stats.resumed);
            forked += found.stats.forked;
            let started = Instant::now();
            let mut patches = self.verify(&found, instrumented, prepared, options)?;
            phases.verify += started.elapsed();
            undefined.append(&mut patches.undefined);
            let is_over = !found.stats.stopped_early
                || patches.interrupted
                || undefined.len() >= undefined::MOST_UNDEFINED;
            if is_over || !patches.patches.is_empty() || patches.distrusted.is_empty() {
                break (found, patches);
            }
            // What the classes promised did not hold, so there may be more to find. What has been
            // executed is known.
            rejected.extend(patches.rejected);
            options.distrusted.extend(patches.distrusted);
            // The time is that of all searches together.
            let taken = started_search.elapsed();
            let is_used_up = |budget: Duration| budget.checked_sub(taken).is_none();
            if [options.budget, options.budget_without_patch]
                .into_iter()
                .flatten()
                .any(is_used_up)
            {
                found.stats.out_of_time = true;
                break (found, Verified::default());
            }
            for budget in [&mut options.budget, &mut options.budget_without_patch] {
                *budget = budget.map(|budget| budget.saturating_sub(taken));
            }
            started_search = Instant::now();
            if let Some(journal) = &mut prepared.journal {
                journal.read_again()?;
            }
        };
        found.stats.resumed = resumed.unwrap_or(0);
        found.stats.forked = forked;
        Ok((found, patches))
    }

    /// An execution that the time has ended is no interruption.
    fn tell_time_from_interruption(&self, found: &mut Found) {
        if found.interrupted && !self.user.is_cancelled() {
            found.interrupted = false;
            found.stats.out_of_time = true;
        }
    }

    /// Verifies what was found; after an interruption only the best of it.
    fn verify(
        &self,
        found: &Found,
        instrumented: &Instrumented,
        prepared: &Prepared,
        options: &RepairOptions,
    ) -> Result<Verified, RepairError> {
        let (project, surroundings) = (self.project, self.surroundings);
        let verify = |options: &RepairOptions, surroundings: &Surroundings<'_>, extent| {
            verify::verify(
                found,
                instrumented,
                prepared,
                project,
                options,
                surroundings,
                extent,
            )
        };
        let mut verified = match found.interrupted {
            false => verify(options, surroundings, Extent::Wanted)?,
            true => Verified::default(),
        };
        let is_told = !verified.patches.is_empty();
        if !self.user.is_cancelled() || found.classes.is_empty() || is_told {
            verified.interrupted |= found.interrupted;
            return Ok(verified);
        }
        (surroundings.events)(Event::Finishing(AFTER_INTERRUPTION));
        let fresh = CancelToken::new();
        let fresh = fresh.map_err(|source| FileError::new("open", "a pipe", source))?;
        let last = deadline(&fresh, Some(Instant::now() + AFTER_INTERRUPTION))?;
        let options = RepairOptions {
            scrutinize: false,
            ..options.clone()
        };
        let surroundings = surroundings.ended_by(last.token());
        let best = verify(&options, &surroundings, Extent::Best)?;
        Ok(Verified {
            interrupted: true,
            ..best
        })
    }
}
