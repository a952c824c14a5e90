//! What a search knows and counts: locations, classes, times, plausible candidates.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use patchwright_exec::{Limits, TestSuite};
use patchwright_space::{CandidateId, Space, SpaceLimits};

use crate::{
    Event, RepairOptions, Surroundings,
    classes::Classes,
    copies::Copies,
    declarations::tried::{DeclarationTurn, Tried},
    done_before::DoneBefore,
    early::Early,
    evasion::is_evasion,
    explore::Lone,
    explored::KEPT_MEMBERS,
    family::{Family, Locations, Unit, UnitState},
    found::{Found, FoundClass},
    instrumented::{HoleEntry, Instrumented, SourceFile},
    judge::Judge,
    order::Step,
    outcome::Stats,
    prepare::Prepared,
    put_off::Deferred,
    ran_out::RanOut,
    ranking::Places,
    relations::Relations,
    turns::weight,
    usual::{usual, usual_cpu},
};

/// How long further patches are sought: this many times the work for the first patch, plus [`EXECUTIONS_BEYOND_FIRST`] executions of the
/// usual length. Work is counted, because candidates that hang take a hundred times as long.
const EFFORT_BEYOND_FIRST: u64 = 2;

/// While few plausible candidates are found, the search for further patches goes on for this part of a budget.
const SHARE_OF_FEW: f64 = 0.5;

/// See [`EFFORT_BEYOND_FIRST`].
const EXECUTIONS_BEYOND_FIRST: u64 = 1200;

/// Executions that take less are of the usual length, whatever the tests take.
const SHORT: Duration = Duration::from_millis(10);

/// The number of plausible candidates of one location that count when the search has found enough: one location may have hundreds that are
/// all wrong for the same reason.
const ENOUGH_OF_LOCATION: usize = 5;

/// The number of plausible candidates of one class that count there, because they are one decision.
const ENOUGH_OF_CLASS: usize = 2;

/// The search for plausible candidates: the units, their classes in each test, and what was found.
pub(crate) struct Search<'a> {
    pub(crate) suite: &'a TestSuite,
    pub(crate) limits: &'a Limits,
    pub(crate) prepared: &'a Prepared,
    pub(crate) options: &'a RepairOptions,
    pub(crate) surroundings: &'a Surroundings<'a>,
    pub(crate) probe: &'a std::path::Path,
    pub(crate) files: &'a [SourceFile],
    pub(crate) copies: Copies,
    /// Executions that an earlier run has done.
    pub(crate) resumed: AtomicU64,
    /// Executions that were forked from a program that had been started before.
    pub(crate) forked: AtomicU64,
    pub(crate) holes: &'a [HoleEntry],
    /// Verifies what is found.
    pub(crate) early: Option<&'a Early<'a, 'a>>,
    pub(crate) units: Vec<Unit>,
    pub(crate) states: Vec<UnitState>,
    pub(crate) families: Vec<Family>,
    /// Classes of single terms of a family, where only dependencies count.
    pub(crate) of_term: BTreeMap<(usize, Vec<u8>), BTreeMap<usize, Classes>>,
    pub(crate) started: Instant,
    pub(crate) kills: BTreeMap<usize, u64>,
    /// Work until the first plausible patch was found.
    pub(crate) first_after: Option<u64>,
    /// What executions that took long count for beyond one each ([`weight`]).
    pub(crate) long: u64,
    pub(crate) failing: Vec<usize>,
    /// The time in which three of four passing tests end.
    pub(crate) usual: Duration,
    /// The processor time with which three of four passing tests end.
    pub(crate) usual_cpu: Duration,
    set_aside: &'a std::collections::BTreeSet<usize>,
    /// Failing tests crash.
    pub(crate) crash: bool,
    /// See [`Instrumented::unset`].
    pub(crate) unset: Option<u8>,
    pub(crate) found: Found,
    pub(crate) judge: Judge<'a>,
    /// What is executed one by one if nothing else is found.
    pub(crate) deferred: Vec<Deferred>,
    /// After so many executions the search ends.
    pub(crate) last_execution: Option<u64>,
    /// Locations are left out.
    pub(crate) is_partial: bool,
    /// Changes of declarations have been tried.
    pub(crate) declarations_tried: Vec<DeclarationTurn>,
    /// Those for which there was no time.
    pub(crate) declarations_left: BTreeMap<DeclarationTurn, Vec<Tried>>,
    /// By location: plausible candidates that do not only take something out.
    pub(crate) reportable: BTreeMap<usize, usize>,
    /// What was done before its turn came.
    pub(crate) done_before: DoneBefore,
    /// Places of which it was said that candidates are put off or left out there.
    pub(crate) told_left_out: BTreeSet<String>,
    /// So much may be spent on the exploration that goes on, in executions of the usual length.
    pub(crate) slice: Option<u64>,
    /// The cheapest changes are explored, one after the other.
    pub(crate) is_at_cheapest: bool,
    /// What executions of single candidates have told, by unit, cost and candidate, where the exploration was put off.
    pub(crate) lone: BTreeMap<(usize, u32, CandidateId), Lone>,
    /// About how much memory the states and classes of all locations take.
    pub(crate) bytes: usize,
    /// Executions that were ended because they took too much processor time.
    pub(crate) ran_out: Vec<RanOut>,
    /// How many of these were done again, by the time that they had before.
    pub(crate) given_longer: BTreeMap<u32, usize>,
    /// What was put off is being executed.
    pub(crate) is_deferred: bool,
    /// So many times the usual processor time an execution has now.
    pub(crate) longer: u32,
    /// Halves are sought ([`mod@crate::halves`]).
    pub(crate) seeks_halves: bool,
    /// When the time for these is up.
    pub(crate) end_of_halves: Option<Instant>,
}

impl<'a> Search<'a> {
    /// Begins a search of these units of a woven program.
    ///
    /// # Errors
    /// When copies of the project cannot be looked at.
    pub(crate) fn new(
        instrumented: &'a Instrumented,
        (units, states, families): (Vec<Unit>, Vec<UnitState>, Vec<Family>),
        prepared: &'a Prepared,
        options: &'a RepairOptions,
        surroundings: &'a Surroundings<'a>,
        early: Option<&'a Early<'a, 'a>>,
        copies: Copies,
    ) -> Search<'a> {
        let failing = prepared.failing.iter().copied();
        Search {
            suite: &prepared.suite,
            limits: &prepared.limits,
            failing: failing
                .filter(|test| !instrumented.set_aside.contains(test))
                .collect(),
            copies,
            prepared,
            options,
            surroundings,
            probe: &instrumented.probe,
            files: &instrumented.files,
            resumed: AtomicU64::new(0),
            forked: AtomicU64::new(0),
            holes: &instrumented.holes,
            early,
            units,
            states,
            families,
            of_term: BTreeMap::new(),
            started: Instant::now(),
            kills: BTreeMap::new(),
            first_after: None,
            long: 0,
            usual: usual(&prepared.baseline),
            usual_cpu: usual_cpu(&prepared.baseline),
            set_aside: &instrumented.set_aside,
            crash: instrumented.crash,
            unset: instrumented.unset,
            found: Found::default(),
            judge: Judge::new(
                &instrumented.holes,
                &instrumented.files,
                &options.weights,
                instrumented.crash,
            ),
            deferred: Vec::new(),
            last_execution: None,
            is_partial: !instrumented.left_out.is_empty(),
            declarations_tried: Vec::new(),
            declarations_left: BTreeMap::new(),
            reportable: BTreeMap::new(),
            done_before: DoneBefore::new(),
            told_left_out: BTreeSet::new(),
            slice: None,
            is_at_cheapest: false,
            lone: BTreeMap::new(),
            bytes: 0,
            ran_out: Vec::new(),
            given_longer: BTreeMap::new(),
            is_deferred: false,
            longer: 1,
            seeks_halves: false,
            end_of_halves: None,
        }
    }
}

impl Search<'_> {
    /// Whether a survey is worth its time: where a program has more locations than can be looked at closely.
    pub(crate) fn is_surveyed(&self) -> bool {
        let is_measurement = self.options.keep_verdicts || self.options.all;
        self.is_partial && !is_measurement && self.options.relations == Relations::Both
    }

    /// Whether a unit is explored here, and not in another part of the run.
    pub(crate) fn is_own(&self, unit: usize) -> bool {
        let own = &self.units[unit];
        let shard = self.options.shard;
        shard.is_none_or(|shard| shard.has(own.family)) && !self.holes[own.entry].is_partial
    }

    /// Whether the test is only used for verification.
    pub(crate) fn is_set_aside(&self, test: usize) -> bool {
        self.set_aside.contains(&test)
    }

    /// Adds what has been done since `before` to the effort at the unit's hole.
    pub(crate) fn count_effort(&mut self, unit: usize, before: &Stats) {
        let now = &self.found.stats;
        let entry = self.units[unit].entry;
        let effort = self.found.effort.entry(entry).or_default();
        // What was done before its turn has been taken back meanwhile.
        let add = |effort: &mut u64, now: u64, before: u64| {
            *effort = (*effort + now).saturating_sub(before)
        };
        add(&mut effort.candidates, now.candidates, before.candidates);
        add(&mut effort.explored, now.explored, before.explored);
        add(&mut effort.executions, now.executions, before.executions);
    }

    /// Adds the classes of the failing tests to the efforts.
    pub(crate) fn count_classes(&mut self) {
        let mut counted = vec![false; self.families.len()];
        for unit in &self.units {
            if std::mem::replace(&mut counted[unit.family], true) {
                continue;
            }
            let own = &self.families[unit.family].classes;
            let of_terms = self
                .of_term
                .range((unit.family, Vec::new())..(unit.family + 1, Vec::new()));
            let classes: usize = std::iter::once(own)
                .chain(of_terms.map(|(_, classes)| classes))
                .flat_map(|classes| self.failing.iter().filter_map(|test| classes.get(test)))
                .map(Classes::len)
                .sum();
            self.found.effort.entry(unit.entry).or_default().classes += classes as u64;
        }
    }

    /// Tells how far the search is. What the verification has rejected is no plausible patch.
    pub(crate) fn tell_progress(&self, cost: u32) {
        if self.seeks_halves {
            // These costs would read as if all began again.
            return;
        }
        let rejected = self.early.map_or(0, Early::rejected);
        (self.surroundings.events)(Event::Search {
            explored: self.found.stats.explored,
            executions: self.found.stats.executions,
            cost,
            plausible: self.found.classes.len().saturating_sub(rejected),
        });
    }

    /// Whether the unit has candidates of this cost.
    pub(crate) fn has_level(&self, unit: usize, cost: u32) -> bool {
        let own = &self.units[unit];
        match &self.states[unit].costs {
            Some(costs) => costs.contains(&cost),
            None => self.locations().may_have(own, cost, self.options.space),
        }
    }

    fn locations(&self) -> Locations<'_> {
        Locations {
            holes: self.holes,
            files: self.files,
            schemas: self.options.schemas,
        }
    }

    /// Where candidates stand.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            holes: self.holes,
            files: self.files,
            crash: self.crash,
            weights: &self.options.weights,
        }
    }

    /// Brings the classes into the order of the search, whatever was put off.
    pub(crate) fn sort_classes(&mut self, steps: &[Step]) {
        let mut places: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for (place, step) in steps.iter().enumerate() {
            let entry = self.units[step.unit].entry;
            places.entry((entry, step.cost)).or_insert(place);
        }
        let place = |class: &FoundClass| places.get(&(class.entry, class.cost)).copied();
        self.found
            .classes
            .sort_by_key(|class| place(class).unwrap_or(usize::MAX));
    }

    /// Returns the candidates of a unit: for assignments up to this cost, for others all.
    pub(crate) fn space(&mut self, unit: usize, cost: u32) -> Space {
        let space = self.space_within(unit, cost, self.options.space);
        if self.units[unit].target.is_none() {
            let mut costs: Vec<u32> = space.blocks.iter().map(|block| block.cost).collect();
            costs.dedup();
            self.states[unit].costs = Some(costs);
        }
        space
    }

    /// The space of a unit within limits.
    pub(crate) fn space_within(&self, unit: usize, cost: u32, limits: SpaceLimits) -> Space {
        self.locations().space(&self.units[unit], cost, limits)
    }

    /// How long the search has gone on.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether this share of the time is over.
    pub(crate) fn is_over_for(&self, share: f64) -> bool {
        let (whole, without) = (self.options.budget, self.options.budget_without_patch);
        let budget = match self.reportable() {
            // The cheapest changes of one place are likelier than any of two.
            0 if self.is_at_cheapest => without.max(whole),
            0 => without.or(whole),
            _ => whole,
        };
        budget.is_some_and(|budget| self.started.elapsed() >= budget.mul_f64(share))
    }

    /// Whether the time is up.
    pub(crate) fn is_out_of_time(&mut self) -> bool {
        let out_of_time = match self.end_of_halves {
            Some(end) => Instant::now() >= end,
            None => self.is_over_for(1.0),
        };
        self.found.stats.out_of_time |= out_of_time;
        out_of_time
    }

    /// Whether the search ends: time is up, a bound is reached, or enough was found.
    pub(crate) fn is_over(&mut self) -> bool {
        let out_of_time = self.is_out_of_time();
        let bounds = self.options.bounds;
        let stats = &mut self.found.stats;
        let done = bounds
            .executions
            .is_some_and(|most| stats.executions >= most)
            || bounds
                .candidates
                .is_some_and(|most| stats.candidates >= most);
        stats.out_of_bounds |= done;
        let at_last = self
            .last_execution
            .is_some_and(|most| stats.executions >= most);
        let proposals = self.options.proposals.as_ref();
        let is_proposed = || proposals.is_some_and(|proposals| proposals.have_passed());
        if out_of_time || done || at_last || self.options.first && is_proposed() {
            return true;
        }
        // What keeps the program from doing something is no reason to stop.
        if self.options.all || self.reportable() == 0 {
            return false;
        }
        let work = self.found.stats.executions + self.long;
        let first = *self.first_after.get_or_insert(work);
        // No more candidates than one location may count, or few classes of a large program of which only some places were
        // looked at, are hardly all. A user who gave a budget waits for more.
        let is_poor = self.found.classes.len() * 2 < self.options.max_patches;
        let are_few = self.reportable() <= ENOUGH_OF_LOCATION;
        let waits = (is_poor && self.is_partial || are_few) && self.options.budget.is_some();
        let may_end = !waits || self.is_over_for(SHARE_OF_FEW);
        let is_much = work >= first + first * EFFORT_BEYOND_FIRST + EXECUTIONS_BEYOND_FIRST;
        let enough = self.options.first || may_end && is_much;
        self.found.stats.stopped_early |= enough;
        enough
    }

    /// Counts how long an execution took.
    pub(crate) fn count_length(&mut self, took: Duration) {
        self.long += weight(took, self.usual.max(SHORT)) - 1;
    }

    /// Returns the order of tests for a location: failing tests first, then those that have killed most. Measured times do not count, so
    /// every run explores in the same order.
    pub(crate) fn order(&self, entry: &HoleEntry) -> Vec<usize> {
        let mut passing: Vec<usize> = self
            .prepared
            .passing
            .iter()
            .copied()
            .filter(|test| entry.visited_by.contains(test) && !self.set_aside.contains(test))
            .collect();
        passing.sort_by_key(|&test| {
            (
                std::cmp::Reverse(self.kills.get(&test).copied().unwrap_or(0)),
                test,
            )
        });
        let failing = self.failing.iter().copied();
        failing.chain(passing).collect()
    }

    /// Adds plausible candidates, to their class if it is known.
    pub(crate) fn keep_plausible(&mut self, new: FoundClass) {
        let distrusted = &self.options.distrusted;
        if distrusted.iter().any(|(entry, edit)| {
            *entry == new.entry && new.members.iter().any(|(member, _)| member == edit)
        }) {
            return;
        }
        let (_, source) = new.changed(self.holes, self.files);
        let is_its_class = |class: &&mut FoundClass| {
            class.cost == new.cost && class.shared.is_some() && class.shared == new.shared
        };
        let known = self.found.classes.iter_mut().find(is_its_class);
        let before = known.map_or(0, |class| class.count);
        let counted = |count: usize| count.min(ENOUGH_OF_CLASS);
        if !new
            .members
            .iter()
            .all(|(edit, schema)| is_evasion(source, edit, *schema, self.crash))
        {
            *self.reportable.entry(new.entry).or_default() +=
                counted(before + new.count) - counted(before);
        }
        match self.found.classes.iter_mut().find(is_its_class) {
            Some(class) => {
                class.count += new.count;
                class.members.extend(new.members);
                class.members.truncate(2 * KEPT_MEMBERS);
            }
            None => {
                self.found.stats.plausible_classes += 1;
                if let Some(early) = self.early {
                    early.propose(&new, self.places());
                }
                self.found.classes.push(new);
            }
        }
    }

    /// The number of plausible candidates so far, without those that take something out, and of one location at most
    /// [`ENOUGH_OF_LOCATION`].
    pub(crate) fn reportable(&self) -> usize {
        let counts = self.reportable.values();
        counts.map(|&count| count.min(ENOUGH_OF_LOCATION)).sum()
    }

    /// Whether the original program has to be watched before candidates of the family are executed.
    pub(crate) fn must_watch(&self, family: usize, test: usize) -> bool {
        self.options.relations.joins_places() && self.families[family].is_unobserved(test)
    }
}
