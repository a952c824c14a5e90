//! The search: candidates in order of cost, one execution for each class (f1x, algorithm 3). Where a program is large, a survey of the
//! likeliest candidates comes first (`likely`). What was put off comes last.
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
    collections::BTreeMap,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use patchwright_exec::{Project, Worker};
use patchwright_probe_image::Channel;
use patchwright_space::{HoleKind, Space};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    copies::Copies,
    declarations::tried::{DECLARATION_COST, DeclarationTurn, PARENTHESES_COST, SHOWN_COST},
    early::Early,
    explore::Explorations,
    family::families,
    found::Found,
    instrumented::Instrumented,
    order::{Step, steps},
    prepare::Prepared,
    proposals::Bench,
    put_off::Deferred,
    ran_out,
    relations::Relations,
    search::Search,
    turns::Turns,
};

/// Spaces are kept between costs as long as they take about this much memory. They can be made anew.
const KEPT_BYTES: usize = 256 << 20;

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

/// Searches with the workers of a woven program, which has them again afterwards.
fn searched(
    instrumented: &mut Instrumented,
    prepared: &Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    early: Option<&Early<'_, '_>>,
) -> Result<Found, RepairError> {
    let mut workers = std::mem::take(&mut instrumented.workers);
    let found = Copies::take(&workers, surroundings).and_then(|copies| {
        let (units, states, families) = families(&instrumented.holes, options.relations);
        let is_unset = instrumented.unset.is_some();
        let steps = steps(&units, &instrumented.holes, options, is_unset);
        let search = Search::new(
            instrumented,
            (units, states, families),
            prepared,
            options,
            surroundings,
            early,
            copies,
        );
        let own = steps.iter().filter(|step| search.is_own(step.unit));
        let own: Vec<Step> = own.copied().collect();
        let levels = Levels {
            turns: Turns::new(&own, prepared.passing.len() + prepared.failing.len()),
            steps: &own,
            of_halves: if options.early_pairs { &steps } else { &[] },
            search,
            spaces: Spaces::default(),
            project,
            workers: &mut workers,
            is_out_of_order: false,
        };
        levels.search()
    });
    instrumented.workers = workers;
    found
}

/// A search that goes from cost to cost.
struct Levels<'l, 's> {
    search: Search<'s>,
    /// All steps of it, in their order.
    steps: &'l [Step],
    /// The same and those of locations that only some failing tests visit, if pairs of changes are sought.
    of_halves: &'l [Step],
    turns: Turns<'l>,
    spaces: Spaces,
    project: &'l Project,
    workers: &'l mut [(Worker, Channel)],
    /// Classes may not be in the order of the steps.
    is_out_of_order: bool,
}

impl Levels<'_, '_> {
    /// Searches to the end, or until the search is over for another reason.
    fn search(mut self) -> Result<Found, RepairError> {
        (self.search.surroundings.events)(Event::Phase("searching"));
        for (worker, _) in self.workers.iter_mut() {
            let repeats = self.search.options.virtualize;
            worker.runner.set_repeats_cases(repeats);
        }
        let is_surveyed = self.search.is_surveyed();
        let is_brief = self.search.options.until_bits.is_some() && is_surveyed;
        if is_surveyed {
            let explored = self.search.explore_likely(self.workers);
            self.unless_cancelled(explored)?;
            self.is_out_of_order = !self.search.found.classes.is_empty();
        }
        if !is_brief {
            while !self.search.is_over() && self.step()?.is_continue() {}
        }
        self.take_up_the_rest()?;
        self.end()
    }

    /// Notes an interruption, which is no error.
    fn unless_cancelled<T>(
        &mut self,
        result: Result<T, RepairError>,
    ) -> Result<Option<T>, RepairError> {
        match result {
            Err(error) if error.is_cancelled() => {
                self.search.found.interrupted = true;
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// Takes one turn. Breaks if no other one is to be taken.
    fn step(&mut self) -> Result<ControlFlow<()>, RepairError> {
        let options = self.search.options;
        let begins = self.turns.begins_level();
        let is_enough = || !options.all && self.search.reportable() >= options.max_patches;
        let Some(begins) = begins.filter(|begins| !begins || !is_enough()) else {
            // What was put off comes before the end.
            return Ok(match self.turns.take_up_all() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            });
        };
        if begins && self.begin_level()?.is_break() || self.declare(begins)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if begins
            && let Some(level) = self.turns.level()
            && self
                .search
                .has_pairs(self.project, level, self.of_halves, self.workers)?
        {
            return Ok(ControlFlow::Break(()));
        }
        if self.search.found.classes.is_empty() && !options.all && !self.turns.is_taken_up() {
            let search = &self.search;
            let is_alternative = |step: &Step| {
                let entry = search.units[step.unit].entry;
                matches!(search.holes[entry].hole.kind, HoleKind::Choice(_))
            };
            self.turns
                .look_ahead(search.found.stats.executions, is_alternative);
        }
        self.explore()
    }

    /// Takes up what was put off at lower costs.
    fn begin_level(&mut self) -> Result<ControlFlow<()>, RepairError> {
        if let Some(level) = self.turns.level() {
            let explored = self.search.explore_deferred_below(level, self.workers);
            let explored = explored.and_then(|any| {
                self.search
                    .take_longer(level, ran_out::EARLY_EXECUTIONS, self.workers)?;
                Ok(any)
            });
            match self.unless_cancelled(explored)? {
                Some(any) => self.is_out_of_order |= any,
                None => return Ok(ControlFlow::Break(())),
            }
        }
        self.turns.take_up();
        Ok(ControlFlow::Continue(()))
    }

    /// Builds changed declarations whose turn has come.
    fn declare(&mut self, begins: bool) -> Result<ControlFlow<()>, RepairError> {
        // Nothing is built one by one before the cheapest changes have been tried, or half of the time is over.
        let is_late = self.search.declarations_are_due();
        if !is_late && self.turns.is_taken_up() {
            return Ok(ControlFlow::Continue(()));
        }
        let level = self.turns.level();
        let from = |least: u32| is_late || level.is_some_and(|level| level >= least);
        let which = [
            (DeclarationTurn::Parentheses, from(PARENTHESES_COST)),
            (DeclarationTurn::Shown, from(SHOWN_COST)),
            (DeclarationTurn::Others, from(DECLARATION_COST + 1)),
        ];
        let mut is_turn = false;
        for (which, _) in which.into_iter().filter(|(_, is_turn)| *is_turn) {
            is_turn |= self.search.take_turn(self.project, which, false)?;
        }
        let has_found = begins && !self.search.found.classes.is_empty();
        let ends = is_turn && (self.search.is_over() || has_found);
        Ok(match self.search.found.interrupted || ends {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }

    /// Explores the location and cost whose turn it is.
    fn explore(&mut self) -> Result<ControlFlow<()>, RepairError> {
        let (go_on, end) = (ControlFlow::Continue(()), ControlFlow::Break(()));
        let Some(turn) = self.turns.next() else {
            return Ok(end);
        };
        let search = &mut self.search;
        let Step { cost, unit, .. } = turn.step;
        search.is_at_cheapest = cost <= 1 && !search.is_surveyed();
        if !search.has_level(unit, cost) {
            return Ok(go_on);
        }
        if search.families[search.units[unit].family].abandoned {
            if search.defers(0) {
                search.deferred.push(Deferred {
                    cost,
                    unit,
                    candidates: None,
                });
            }
            return Ok(go_on);
        }
        let space = self.spaces.take(unit, || search.space(unit, cost));
        let before = search.found.stats.clone();
        search.slice = turn.slice.filter(|_| !search.options.all);
        let explored = search.explore(unit, &space, cost, self.workers);
        search.count_effort(unit, &before);
        match self.unless_cancelled(explored)? {
            Some(Explorations::Done) => {}
            Some(Explorations::PutOff) => {
                self.turns.put_off(turn);
                return Ok(go_on);
            }
            None => {
                self.turns.give_back(turn);
                return Ok(end);
            }
        }
        if self.search.is_over() {
            // It may have ended amid this level.
            self.turns.give_back(turn);
            return Ok(end);
        }
        if self.search.units[unit].target.is_none() {
            self.spaces.put(unit, space);
        }
        Ok(go_on)
    }

    /// Tries what has no turn of its own: declarations, candidates without classes, executions that ran out of time, deletions, pairs.
    fn take_up_the_rest(&mut self) -> Result<(), RepairError> {
        let is_done = self.turns.are_over() && !self.search.found.interrupted;
        if is_done {
            for which in [
                DeclarationTurn::Parentheses,
                DeclarationTurn::Shown,
                DeclarationTurn::Others,
            ] {
                self.search.take_turn(self.project, which, true)?;
            }
        }
        if is_done && self.search.found.classes.is_empty() && !self.search.found.interrupted {
            self.search.found.stats.in_deferred = true;
            let explored = self.search.explore_deferred(self.workers);
            self.unless_cancelled(explored)?;
        }
        if is_done && !self.search.found.interrupted {
            let done = self
                .search
                .take_longer(u32::MAX, ran_out::ALL, self.workers);
            self.unless_cancelled(done)?;
        }
        if !self.search.found.interrupted {
            let tried = self.search.try_deletions(self.workers);
            self.unless_cancelled(tried)?;
        }
        let level = self.turns.level();
        self.search
            .seek_last_pairs(self.project, level, self.of_halves, self.workers)?;
        Ok(())
    }

    /// Orders what was found, and counts.
    fn end(self) -> Result<Found, RepairError> {
        let Levels {
            mut search,
            turns,
            steps,
            workers,
            ..
        } = self;
        if turns.have_been_put_off() || self.is_out_of_order {
            search.sort_classes(steps);
        }
        search.found.stats.complete_cost = match turns.least_cost() {
            None => Some(search.options.max_cost),
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
