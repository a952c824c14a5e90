//! The search: candidates in order of cost, one execution for each class (f1x, algorithm 3).
//!
//! These keys order the candidates, one after the other (`steps` orders a whole space that is explored in another way):
//!
//! 1. Cost. Conditions next to a crash come some costs earlier.
//! 2. Kind of location: changes without terms (initialisation, functions, exchanged arguments, operators), moved statements, truth values,
//!    other values, assignments, exits. Truth values have few classes, so few executions explore many candidates.
//! 3. Suspicion of the location, then its file and offset.
//! 4. Kind of change, then the place in the space.
//!
//! A location whose candidates need many or slow executions waits until the others and the next cost have had their turn (`turns`). That
//! changes nothing in the order of the report. Candidates without classes come after all others, if nothing else is found (`deferred`).
//! Locations are explored one by one at each cost, so only the candidates of one location and one cost are in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use patchwright_exec::{Limits, Project, TestSuite};
use patchwright_space::{CandidateId, HoleKind, Space, SpaceLimits};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    classes::Classes,
    copies::Copies,
    declarations::tried::{DECLARATION_COST, DeclarationTurn, PARENTHESES_COST, SHOWN_COST, Tried},
    done_before::DoneBefore,
    early::Early,
    evasion::is_evasion,
    explore::{Explorations, KEPT_MEMBERS, Lone},
    family::{Family, Locations, Unit, UnitState, families},
    found::{Found, FoundClass},
    instrumented::{HoleEntry, Instrumented, SourceFile},
    judge::Judge,
    order::{Step, steps},
    outcome::Stats,
    prepare::Prepared,
    proposals::Bench,
    put_off::Deferred,
    ran_out::{self, RanOut},
    ranking::Places,
    relations::Relations,
    turns::{Turns, weight},
    usual::{usual, usual_cpu},
};

/// Spaces are kept between costs as long as they take about this much memory. They can be made anew.
const KEPT_BYTES: usize = 256 << 20;

/// How long further patches are sought: this many times the work for the first patch, plus [`EXECUTIONS_BEYOND_FIRST`] executions of the
/// usual length. Work is counted, because candidates that hang take a hundred times as long.
const EFFORT_BEYOND_FIRST: u64 = 2;

/// While few classes are found, the search for further patches goes on for this part of a budget where locations are left out.
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
    is_at_cheapest: bool,
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

/// Explores the spaces of all holes.
///
/// # Errors
/// When tests cannot be run. An interruption is no error: what was found is returned.
pub fn search(
    instrumented: &mut Instrumented,
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
) -> Result<Found, RepairError> {
    let is_measurement = options.keep_verdicts || options.relations != Relations::Both;
    if !options.early || is_measurement {
        return searched(instrumented, prepared, project, options, surroundings, None);
    }
    let early = Early::new(prepared, project, options, surroundings);
    let proposals = options.proposals.as_ref();
    if let Some(proposals) = proposals {
        proposals.begin(prepared, instrumented);
    }
    let is_done = Ended(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _ender = early.ender();
        let _done = is_done.guard();
        scope.spawn(|| early.work());
        if let Some(proposals) = proposals {
            let bench = Bench {
                prepared,
                project,
                options,
                surroundings,
            };
            let is_over = || is_done.0.load(Ordering::Relaxed);
            scope.spawn(move || proposals.work(&bench, &is_over));
        }
        let found = searched(
            instrumented,
            prepared,
            project,
            options,
            surroundings,
            Some(&early),
        )?;
        if let Some(most) = options.catches_up
            && !found.interrupted
        {
            early.catch_up(most);
        }
        Ok(found)
    })
}

/// Whether a search has ended.
struct Ended(AtomicBool);

impl Ended {
    /// Says so when it goes out of scope, however that is.
    fn guard(&self) -> impl Drop + '_ {
        struct Guard<'e>(&'e AtomicBool);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        Guard(&self.0)
    }
}

fn searched(
    instrumented: &mut Instrumented,
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    early: Option<&Early<'_, '_>>,
) -> Result<Found, RepairError> {
    let suite = prepared.suite.clone();
    let limits = prepared.limits.clone();
    let failing: Vec<usize> = prepared
        .failing
        .iter()
        .copied()
        .filter(|test| !instrumented.set_aside.contains(test))
        .collect();
    let (units, states, families) = families(&instrumented.holes, options.relations);
    let mut steps = steps(
        &units,
        &instrumented.holes,
        options,
        instrumented.unset.is_some(),
    );
    let of_halves: Vec<Step> = match options.early_pairs {
        true => steps.clone(),
        false => Vec::new(),
    };
    let is_partial = |unit: &Unit| instrumented.holes[unit.entry].is_partial;
    steps.retain(|step| {
        let unit = &units[step.unit];
        is_own(options, unit) && !is_partial(unit)
    });
    let mut search = Search {
        suite: &suite,
        limits: &limits,
        prepared,
        options,
        surroundings,
        probe: &instrumented.probe,
        files: &instrumented.files,
        copies: Copies::take(&instrumented.workers, surroundings)?,
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
        failing,
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
    };
    (surroundings.events)(Event::Phase("searching"));
    let workers = &mut instrumented.workers;
    for (worker, _) in workers.iter_mut() {
        worker.runner.set_repeats_cases(options.virtualize);
    }
    let mut spaces = Spaces::default();
    let mut has_deferred = false;
    let is_brief = options.until_bits.is_some() && search.is_surveyed();
    if search.is_surveyed() {
        match search.explore_likely(workers) {
            Err(error) if error.is_cancelled() => search.found.interrupted = true,
            explored => explored?,
        }
        has_deferred = !search.found.classes.is_empty();
    }
    let mut turns = Turns::new(&steps, prepared.passing.len() + prepared.failing.len());
    loop {
        if search.is_over() || is_brief {
            break;
        }
        let enough = !options.all && search.reportable() >= options.max_patches;
        let Some(begins) = turns.begins_level() else {
            if turns.take_up_all() {
                continue;
            }
            break;
        };
        if begins && enough {
            // What costs as much and was put off comes before the end.
            if turns.take_up_all() {
                continue;
            }
            break;
        }
        if begins {
            if let Some(level) = turns.level() {
                let explored = search.explore_deferred_below(level, workers);
                let explored = explored.and_then(|any| {
                    search.take_longer(level, ran_out::EARLY_EXECUTIONS, workers)?;
                    Ok(any)
                });
                match explored {
                    Ok(any) => has_deferred |= any,
                    Err(error) if error.is_cancelled() => {
                        search.found.interrupted = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            turns.take_up();
        }
        // Nothing is built one by one before the cheapest changes have been tried, or half of the time is over.
        let is_late = search.declarations_are_due();
        if is_late || !turns.is_taken_up() {
            let from = |least: u32| is_late || turns.level().is_some_and(|level| level >= least);
            let which = [
                (DeclarationTurn::Parentheses, from(PARENTHESES_COST)),
                (DeclarationTurn::Shown, from(SHOWN_COST)),
                (DeclarationTurn::Others, from(DECLARATION_COST + 1)),
            ];
            let mut is_turn = false;
            for (which, _) in which.into_iter().filter(|(_, is_turn)| *is_turn) {
                is_turn |= search.take_turn(project, which, false)?;
            }
            if search.found.interrupted {
                break;
            }
            let has_found = begins && !search.found.classes.is_empty();
            if is_turn && (search.is_over() || has_found) {
                break;
            }
        }
        if begins
            && let Some(level) = turns.level()
            && search.has_pairs(project, level, &of_halves, workers)?
        {
            break;
        }
        if search.found.classes.is_empty() && !options.all && !turns.is_taken_up() {
            let is_alternative = |step: &Step| {
                let entry = search.units[step.unit].entry;
                matches!(search.holes[entry].hole.kind, HoleKind::Choice(_))
            };
            turns.look_ahead(search.found.stats.executions, is_alternative);
        }
        let Some(turn) = turns.next() else { break };
        let Step { cost, unit, .. } = turn.step;
        search.is_at_cheapest = cost <= 1 && !search.is_surveyed();
        if !search.has_level(unit, cost) {
            continue;
        }
        if search.families[search.units[unit].family].abandoned {
            if search.defers(0) {
                search.deferred.push(Deferred {
                    cost,
                    unit,
                    candidates: None,
                });
            }
            continue;
        }
        let space = spaces.take(unit, || search.space(unit, cost));
        let before = search.found.stats.clone();
        search.slice = turn.slice.filter(|_| !options.all);
        let explored = search.explore(unit, &space, cost, workers);
        search.count_effort(unit, &before);
        match explored {
            Ok(Explorations::Done) => {}
            Ok(Explorations::PutOff) => {
                turns.put_off(turn);
                continue;
            }
            Err(error) if error.is_cancelled() => {
                search.found.interrupted = true;
                turns.give_back(turn);
                break;
            }
            Err(error) => return Err(error),
        }
        if search.is_over() {
            // It may have ended amid this level.
            turns.give_back(turn);
            break;
        }
        if search.units[unit].target.is_none() {
            spaces.put(unit, space);
        }
    }
    let is_done = turns.are_over() && !search.found.interrupted;
    for which in [
        DeclarationTurn::Parentheses,
        DeclarationTurn::Shown,
        DeclarationTurn::Others,
    ] {
        if is_done {
            search.take_turn(project, which, true)?;
        }
    }
    if is_done && search.found.classes.is_empty() && !search.found.interrupted {
        search.found.stats.in_deferred = true;
        match search.explore_deferred(workers) {
            Err(error) if error.is_cancelled() => search.found.interrupted = true,
            explored => explored?,
        }
    }
    if is_done && !search.found.interrupted {
        match search.take_longer(u32::MAX, ran_out::ALL, workers) {
            Err(error) if error.is_cancelled() => search.found.interrupted = true,
            done => done?,
        }
    }
    if !search.found.interrupted {
        match search.try_deletions(workers) {
            Err(error) if error.is_cancelled() => search.found.interrupted = true,
            tried => tried?,
        }
    }
    search.seek_last_pairs(project, turns.level(), &of_halves, workers)?;
    if turns.have_been_put_off() || has_deferred {
        search.sort_classes(&steps);
    }
    search.found.stats.complete_cost = match turns.least_cost() {
        None => Some(options.max_cost),
        Some(left) => (left > 1).then(|| left - 1),
    };
    search.count_classes();
    if !search.found.interrupted {
        // Another search may follow in these copies.
        for (worker, _) in workers.iter() {
            search.put_back(worker, true);
        }
        search.copies.remove()?;
    }
    let mut found = search.found;
    found.stats.resumed = search.resumed.into_inner();
    found.stats.forked = search.forked.into_inner();
    found.stats.classes = search
        .families
        .iter()
        .flat_map(|family| family.classes.values())
        .chain(search.of_term.values().flat_map(BTreeMap::values))
        .map(|classes| classes.len() as u64)
        .sum();
    Ok(found)
}

/// Whether a unit is explored here, and not in another part of the run.
fn is_own(options: &RepairOptions, unit: &Unit) -> bool {
    options.shard.is_none_or(|shard| shard.has(unit.family))
}

/// Spaces that are kept until they are needed again.
#[derive(Default)]
struct Spaces {
    kept: BTreeMap<usize, Space>,
    bytes: usize,
}

impl Spaces {
    /// The space of a unit, which is no longer kept.
    fn take(&mut self, unit: usize, build: impl FnOnce() -> Space) -> Space {
        match self.kept.remove(&unit) {
            Some(space) => {
                self.bytes -= space.bytes();
                space
            }
            None => build(),
        }
    }

    /// Keeps a space, and drops others where they take too much memory.
    fn put(&mut self, unit: usize, space: Space) {
        self.bytes += space.bytes();
        self.kept.insert(unit, space);
        while self.bytes > KEPT_BYTES {
            // The one that is needed last comes right before this one.
            let Some((_, dropped)) = self.kept.pop_last() else {
                break;
            };
            self.bytes -= dropped.bytes();
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
        is_own(self.options, own) && !self.holes[own.entry].is_partial
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
    fn count_classes(&mut self) {
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
    fn sort_classes(&mut self, steps: &[Step]) {
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
        // Few different patches at some places of a large program are hardly all: who gave a budget waits for more.
        let is_poor = self.found.classes.len() * 2 < self.options.max_patches;
        let waits = is_poor && self.is_partial && self.options.budget.is_some();
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
    fn reportable(&self) -> usize {
        let counts = self.reportable.values();
        counts.map(|&count| count.min(ENOUGH_OF_LOCATION)).sum()
    }

    /// Whether the original program has to be watched before candidates of the family are executed.
    pub(crate) fn must_watch(&self, family: usize, test: usize) -> bool {
        self.options.relations.joins_places() && self.families[family].is_unobserved(test)
    }
}
