//! Runs a repair: rounds of searches at less and less suspicious locations, with the verification of what
//! they find.

use std::time::{Duration, Instant};

use patchwright_exec::{CancelToken, Deadline, FileError, Project, files};
use patchwright_space::{Leaves, slots::Atoms};

use crate::{
    Event, RepairError, RepairOptions, RepairOutcome, Surroundings,
    circumstances::MOST_UNDEFINED,
    deadline,
    focus::MANY_LOCATIONS,
    found::{Found, FoundClass},
    instrument,
    instrumented::{HoleEntry, Instrumented},
    levels,
    likely::BITS_OF_BRIEF,
    localize,
    outcome::{Stats, Verified},
    patch::Patch,
    phases::Phases,
    prepare::{self, Prepared},
    proposals::Bench,
    two_places,
    usual::workers,
    verify::{self, Extent},
};

/// The part of the time that the search for a change of one place may take, if one of two places is sought after it.
const ONE_PLACE: f64 = 0.6;

/// The part of it that the most suspicious locations have, before many others are compared.
const BRIEF: f64 = 0.3;

/// Before these are compared, what was found there is verified for at most this part of the time: nobody knows what else there will be
/// time for.
const CATCHING_UP: f64 = 0.12;

/// So many times the locations are looked at when those before were in vain.
const WIDER: usize = 4;

/// At most this part of the budget is kept for the verification…
const RESERVE: u32 = 4;

/// …if what verifies a patch (a copy, a build and the tests) does not take so many times less. Of what is found, much has been verified while
/// the search went on.
const RESERVED_PATCHES: u32 = 3;

/// At most this part of it is spent on comparing the code of patches.
const COMPARING: u32 = 4;

/// What is kept besides.
const LEAST_RESERVE: Duration = Duration::from_secs(2);

/// So long the best of what was found is verified after a run was interrupted.
const AFTER_INTERRUPTION: Duration = Duration::from_secs(8);

/// The rounds of a search, each at less suspicious locations.
struct Rounds {
    /// A change of two places is sought if none of one place is found.
    tries_two_places: bool,
    /// They have been sought in the end of the last round.
    has_sought_pairs: bool,
    /// What is kept of the time for the verification.
    reserve: Reserve,
    /// When that for a change of one place has to be.
    end_of_one_place: Option<Instant>,
    /// The next round has a small part of the time: after it many locations are compared.
    is_brief: bool,
    /// Those of the next round.
    options: RepairOptions,
    /// What was done at more suspicious locations.
    earlier: Option<Stats>,
    /// What a brief round has found: it is verified with what is found at many locations.
    brief: Option<Brief>,
    /// What verifications have rejected.
    rejected: Vec<String>,
    /// Patches that pass but have undefined behaviour.
    undefined: Vec<Patch>,
}

/// What a brief round has found, and where.
struct Brief {
    instrumented: Instrumented,
    found: Found,
}

impl Brief {
    /// Keeps what the ranking asks for; what the search has made of the locations takes most of the memory.
    fn new(mut instrumented: Instrumented, found: Found) -> Self {
        for entry in &mut instrumented.holes {
            entry.leaves = Leaves::default();
            entry.hole.atoms = Atoms::default();
        }
        Brief {
            instrumented,
            found,
        }
    }

    /// Adds it to what a search at other locations has found. Nothing is searched there afterwards, for it adds locations, too.
    fn join(self, instrumented: &mut Instrumented, found: &mut Found) {
        let (files, holes) = (instrumented.files.len(), instrumented.holes.len());
        instrumented.files.extend(self.instrumented.files);
        let own = self.instrumented.holes.into_iter();
        instrumented.holes.extend(own.map(|hole| HoleEntry {
            file: hole.file + files,
            ..hole
        }));
        instrumented.crash |= self.instrumented.crash;
        // Those of the more suspicious locations were found first.
        let own = self.found.classes.into_iter().map(|class| FoundClass {
            entry: class.entry + holes,
            ..class
        });
        found.classes.splice(0..0, own);
    }
}

/// What a search leaves of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reserve {
    /// For the verification of what is found.
    for_patches: Duration,
    /// As long as nothing is found: for the verification of one patch.
    in_vain: Duration,
}

impl Reserve {
    fn of(budget: Duration, phases: &Phases) -> Reserve {
        // Like the woven program, a patched one is not built from nothing.
        let build = match phases.weave {
            Duration::ZERO => phases.whole_build,
            weave => phases.whole_build.min(weave),
        };
        let patch = phases.copy + build + phases.all_tests;
        let most = budget / RESERVE;
        Reserve {
            for_patches: (patch * RESERVED_PATCHES + LEAST_RESERVE).min(most),
            in_vain: (patch + LEAST_RESERVE).min(most),
        }
    }
}

impl Rounds {
    /// Whether the next search seeks changes of two places while it goes on. A change of one place is likelier where a brief round has
    /// found some.
    fn seeks_early_pairs(&self, phases: &Phases) -> bool {
        self.tries_two_places && self.brief.is_none() && two_places::is_quickly_prepared(phases)
    }

    /// The next round is at the next locations; `stats` is what was done until now.
    fn widen(&mut self, stats: Stats, surroundings: &Surroundings<'_>) {
        let reached = stats.reached;
        (surroundings.events)(Event::Note(match &self.brief {
            Some(brief) => {
                let count = brief.found.classes.len();
                let classes = if count == 1 { "class" } else { "classes" };
                format!(
                    "{count} {classes} of candidates at the {reached} most suspicious locations pass the tests; looking at further locations for better patches"
                )
            }
            None => format!(
                "no patch at the {reached} most suspicious locations; looking at the next ones"
            ),
        }));
        self.earlier = Some(stats);
        self.options.locations = match self.is_brief {
            true => MANY_LOCATIONS,
            false => self.options.locations.saturating_mul(WIDER),
        };
        self.is_brief = false;
        self.options.distrusted.clear();
    }
}

/// A run of `repair` through its rounds.
pub(crate) struct Repair<'r, 'a> {
    pub(crate) project: &'a Project,
    pub(crate) wanted: &'r RepairOptions,
    /// They end when the time is up.
    pub(crate) surroundings: &'r Surroundings<'a>,
    /// What whoever started the run ends it with.
    pub(crate) user: &'r CancelToken,
    pub(crate) end: Option<Instant>,
}

impl Repair<'_, '_> {
    /// Whether it was the time that ended the run.
    pub(crate) fn is_time_up(&self, deadline: &Deadline) -> bool {
        deadline.has_passed() && !self.user.is_cancelled()
    }

    /// See [`Reserve`].
    fn reserve(&self, phases: &Phases) -> Reserve {
        Reserve::of(self.wanted.budget.unwrap_or_default(), phases)
    }

    /// When a search has to be over that leaves so much time.
    fn end_before(&self, reserve: Duration) -> Option<Instant> {
        self.end?.checked_sub(reserve)
    }

    /// Prepares, searches in rounds, and verifies.
    ///
    /// # Errors
    /// See [`RepairError`].
    pub(crate) fn run(&self, phases: &mut Phases) -> Result<RepairOutcome, RepairError> {
        let Repair {
            project,
            wanted,
            surroundings,
            ..
        } = *self;
        let mut prepared = prepare::prepare(project, wanted, surroundings, phases)?;
        prepared.again = Some(crate::repair);
        localize::focus(&mut prepared, project, wanted, surroundings, phases)?;
        let mut rounds = Rounds {
            tries_two_places: two_places::is_possible(&prepared, wanted),
            has_sought_pairs: false,
            reserve: self.reserve(phases),
            end_of_one_place: None,
            is_brief: localize::is_brief(&prepared, wanted),
            options: RepairOptions {
                jobs: workers(&prepared.baseline, wanted),
                ..wanted.clone()
            },
            earlier: None,
            brief: None,
            rejected: Vec::new(),
            undefined: Vec::new(),
        };
        let (mut stats, mut patches) = self.search_rounds(&mut prepared, &mut rounds, phases)?;
        let is_in_vain = |patches: &Verified, rounds: &Rounds| {
            patches.patches.is_empty() && rounds.undefined.is_empty() && !patches.interrupted
        };
        if is_in_vain(&patches, &rounds) && rounds.tries_two_places {
            let started = Instant::now();
            let end = self.end_before(rounds.reserve.in_vain);
            let extent = two_places::Extent::last(wanted.max_cost, stats.executions, end);
            let sought = match rounds.has_sought_pairs {
                true => Ok(Default::default()),
                false => two_places::search(&prepared, project, wanted, surroundings, extent, None),
            };
            match sought {
                Err(error) if error.is_cancelled() => patches.interrupted = true,
                found_pairs => {
                    let (pairs, done) = found_pairs?;
                    patches.patches = pairs;
                    stats.two_places.get_or_insert_default().add(done);
                }
            }
            phases.search += started.elapsed();
            // What is left of the time is for the places that had no part of it.
            let has_time = end.is_some_and(|end| end > Instant::now());
            let goes_on = has_time && wanted.widens && !stats.left_out.is_empty();
            if goes_on && is_in_vain(&patches, &rounds) && stats.out_of_time {
                rounds.tries_two_places = false;
                rounds.widen(stats, surroundings);
                (stats, patches) = self.search_rounds(&mut prepared, &mut rounds, phases)?;
            }
        }
        self.try_proposals(&prepared, &patches);
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
        Ok(RepairOutcome::of_run(&prepared, stats, patches, *phases))
    }

    /// Tries what is still proposed, unless one patch is all that is wanted and there is one.
    fn try_proposals(&self, prepared: &Prepared, found: &Verified) {
        let (options, surroundings) = (self.wanted, self.surroundings);
        let Some(proposals) = &options.proposals else {
            return;
        };
        let bench = Bench {
            prepared,
            project: self.project,
            options,
            surroundings,
        };
        let is_enough = options.first && !found.patches.is_empty();
        let is_over = || is_enough || options.first && proposals.have_passed();
        if !is_over() {
            (surroundings.events)(Event::Phase("waiting for proposals"));
            proposals.work(&bench, &is_over);
        }
        if !options.first
            && let Err(error) = proposals.compile(&bench)
        {
            // Each is a class of its own then.
            tracing::info!("proposals are not compared with other patches: {error}");
        }
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
            // What weaving takes is known after it.
            rounds.options.early_pairs = rounds.seeks_early_pairs(phases);
            let instrumented =
                instrument::instrument(prepared, project, &rounds.options, surroundings, phases);
            let mut instrumented = match instrumented {
                Ok(instrumented) => instrumented,
                Err(error) => {
                    let Some(before) = rounds.earlier.take() else {
                        return Err(error);
                    };
                    let mut verified = self.ended_by(&error);
                    if let Some(mut brief) = rounds.brief.take() {
                        brief.found.interrupted = verified.interrupted;
                        self.tell_time_from_interruption(&mut brief.found);
                        verified = self.verify(
                            &brief.found,
                            &brief.instrumented,
                            prepared,
                            &rounds.options,
                        )?;
                    }
                    return Ok((before, verified));
                }
            };
            let left = |end: Instant| end.saturating_duration_since(Instant::now());
            rounds.reserve = self.reserve(phases);
            rounds.options.early_pairs = rounds.seeks_early_pairs(phases);
            let options = &mut rounds.options;
            options.budget = self.end_before(rounds.reserve.for_patches).map(left);
            options.budget_without_patch = self.end_before(rounds.reserve.in_vain).map(left);
            options.compares_for = (wanted.budget).map(|_| rounds.reserve.for_patches / COMPARING);
            if rounds.tries_two_places {
                // That the place is among those that are left out is likelier than that there are two.
                let share = match instrumented.left_out.is_empty() {
                    true => options.budget.map(|budget| budget.mul_f64(ONE_PLACE)),
                    false => options.budget,
                };
                let end = share.map(|share| Instant::now() + share);
                rounds.end_of_one_place = rounds.end_of_one_place.or(end);
                options.budget_without_patch = rounds.end_of_one_place.map(left);
            }
            let is_brief = rounds.is_brief && !instrumented.left_out.is_empty();
            let options = &mut rounds.options;
            options.catches_up = options.budget.map(|budget| budget.mul_f64(CATCHING_UP));
            options.catches_up.take_if(|_| !is_brief);
            options.until_bits = is_brief.then_some(BITS_OF_BRIEF);
            if is_brief {
                for budget in [&mut options.budget, &mut options.budget_without_patch] {
                    *budget = budget.map(|budget| budget.mul_f64(BRIEF));
                }
                // That there are two places is not likelier than that the place is among the next ones.
                options.early_pairs = false;
            }
            let (mut found, patches) =
                self.search(prepared, &mut instrumented, rounds, is_brief, phases)?;
            rounds.has_sought_pairs = found.has_sought_pairs;
            // The time of a brief round is not that of the run.
            let is_in_vain = patches.patches.is_empty() && !found.interrupted;
            found.stats.out_of_time &= !(is_brief && is_in_vain);
            let widens = wanted.widens
                && patches.patches.is_empty()
                && rounds.undefined.is_empty()
                && !patches.interrupted
                && !found.interrupted
                && !found.stats.out_of_time
                && !found.stats.out_of_bounds
                && !instrumented.left_out.is_empty()
                // Without a budget the whole program may be more than anybody waits for.
                && (rounds.options.budget.is_some() || rounds.earlier.is_none());
            let is_ended = found.interrupted;
            let mut stats = found.stats.clone();
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
            let workers = std::mem::take(&mut instrumented.workers);
            if is_brief {
                prepared.looked_at.begin_again(found.executed_bits);
            }
            if is_brief && !found.classes.is_empty() {
                rounds.brief = Some(Brief::new(instrumented, found));
            }
            rounds.widen(stats, surroundings);
            for (worker, _) in workers {
                let folder = worker.folder.clone();
                drop(worker);
                files::remove_tree(&folder)?;
            }
        }
    }

    /// What there is where the next locations cannot be looked at.
    fn ended_by(&self, error: &RepairError) -> Verified {
        let is_at_end = matches!(
            error,
            RepairError::NoLocations { .. } | RepairError::NotReached { .. }
        );
        if !is_at_end && !error.is_cancelled() {
            (self.surroundings.events)(Event::Warning(format!(
                "no further locations are looked at: {error}"
            )));
        }
        Verified {
            interrupted: error.is_cancelled(),
            ..Verified::default()
        }
    }

    /// Searches the locations of an instrumented program, and verifies what is found, together with what a brief round has found before. What
    /// a brief round finds is not verified here, unless one patch is all that is wanted. What verifications reject, and what passes but has
    /// undefined behaviour, is added to the lists of `rounds`.
    fn search(
        &self,
        prepared: &mut Prepared,
        instrumented: &mut Instrumented,
        rounds: &mut Rounds,
        is_brief: bool,
        phases: &mut Phases,
    ) -> Result<(Found, Verified), RepairError> {
        let Rounds {
            options,
            rejected,
            undefined,
            brief,
            ..
        } = rounds;
        let Repair {
            project,
            surroundings,
            ..
        } = *self;
        let mut started_search = Instant::now();
        let (mut resumed, mut forked) = (None, 0);
        let (mut found, patches) = loop {
            let started = Instant::now();
            let mut found = levels::search(instrumented, prepared, project, options, surroundings)?;
            phases.search += started.elapsed();
            self.tell_time_from_interruption(&mut found);
            resumed.get_or_insert(found.stats.resumed);
            forked += found.stats.forked;
            found.stats = found.stats.with_locations(instrumented);
            if !found.pairs.is_empty() {
                let patches = Verified {
                    patches: std::mem::take(&mut found.pairs),
                    ..Verified::default()
                };
                break (found, patches);
            }
            let goes_on = is_brief
                && !options.first
                && !found.interrupted
                && !found.stats.out_of_bounds
                && !found.classes.is_empty();
            if goes_on {
                break (found, Verified::default());
            }
            let brief = brief.take();
            let is_joined = brief.is_some();
            if let Some(brief) = brief {
                brief.join(instrumented, &mut found);
            }
            let started = Instant::now();
            let mut patches = self.verify(&found, instrumented, prepared, options)?;
            phases.verify += started.elapsed();
            undefined.append(&mut patches.undefined);
            let is_over = !found.stats.stopped_early
                || is_joined
                || patches.interrupted
                || undefined.len() >= MOST_UNDEFINED;
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
            let budget = options.budget_without_patch.or(options.budget);
            if budget.is_some_and(is_used_up) {
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

impl RepairOutcome {
    /// Of a run that went to its end.
    fn of_run(prepared: &Prepared, stats: Stats, verified: Verified, phases: Phases) -> Self {
        let flaky = prepared.baseline.flaky().count();
        let stats = Stats {
            rejected: verified.rejected,
            duplicates: verified.duplicates,
            is_full: verified.is_full,
            unverified: verified.unverified,
            unscrutinized: verified.unscrutinized,
            interrupted: verified.interrupted,
            tests: (prepared.failing.len(), prepared.passing.len(), flaky),
            phases,
            peak_memory: patchwright_exec::own_peak_memory().unwrap_or(0),
            ..stats
        };
        RepairOutcome {
            patches: verified.patches,
            stats,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_nothing_is_found_the_time_for_one_verification_is_left() {
        let seconds = Duration::from_secs;
        let mut phases = Phases {
            copy: seconds(2),
            whole_build: seconds(60),
            all_tests: seconds(5),
            ..Phases::default()
        };
        let most = seconds(90);
        let reserve = |phases: &Phases| Reserve::of(seconds(360), phases);
        assert_eq!(
            reserve(&phases),
            Reserve {
                for_patches: most,
                in_vain: seconds(69)
            }
        );
        // What is built again is what has changed.
        phases.weave = seconds(3);
        assert_eq!(
            reserve(&phases),
            Reserve {
                for_patches: seconds(32),
                in_vain: seconds(12)
            }
        );
    }
}
