//! Executes candidates again that ran out of processor time, with more of it.
//!
//! Most candidates that take ten times as long as the program never end. So they are ended early, and
//! count as failing while others are explored. But if a bound was too small, the right candidate may take
//! a hundred times as long. So each ended execution is remembered.
//!
//! If nothing else is found, it is repeated with [`LONGER`] times as much processor time, unless that
//! exceeds a multiple of the test's time-out. If it then ends by itself, its class was wrong. The
//! candidates of this cost at this location are explored anew, with as much time.

use std::time::Instant;

use patchwright_exec::{FailReason, TimeKind, Worker};
use patchwright_probe_image::{Channel, Observation};
use patchwright_space::{CandidateId, Space};

use crate::{
    RepairError,
    classes::ClassVerdict,
    explore::Lone,
    run::{Report, Run},
    search::Search,
};

/// The factor by which an execution gets more processor time in its next turn.
pub(crate) const LONGER: u32 = 8;

/// The number of executions with more time at the beginning of a cost. Each takes as long as dozens of others.
pub(crate) const EARLY_EXECUTIONS: usize = 6;

/// This share of a budget may go there each time.
const EARLY_SHARE: f64 = 0.03;

/// The numbers of executions with more time when everything else is explored: with [`LONGER`] times as much time, with that once more, and so on.
const LAST_EXECUTIONS: [usize; 3] = [24, 6, 2];

/// See [`LAST_EXECUTIONS`].
pub(crate) const ALL: usize = 32;

/// So much may be spent on exploring candidates anew, in executions of the usual length.
const SLICE: u64 = 20_000;

/// An execution that was ended because it took too much processor time.
pub(crate) struct RanOut {
    cost: u32,
    unit: usize,
    candidate: CandidateId,
    test: usize,
    /// So many times the usual limit it had.
    longer: u32,
    /// It went through the same states again and again, and so will hardly end.
    is_circling: bool,
}

/// Whether a test was ended because of the processor time that it took.
pub(crate) fn has_run_out(verdict: &ClassVerdict) -> bool {
    *verdict == ClassVerdict::Fail(Some(FailReason::TimedOut(TimeKind::Cpu)))
}

impl Search<'_> {
    /// Remembers an execution that ran out of time, if it can have more time.
    pub(crate) fn note_ran_out(
        &mut self,
        (unit, cost): (usize, u32),
        candidate: CandidateId,
        test: usize,
        run: &Run,
    ) {
        // What is ended because it goes on for longer than others is put off first, and comes here when it is executed by itself.
        let is_ended = |seen: &Observation| seen.ended && self.is_deferred;
        let is_unfinished = has_run_out(&run.verdict)
            || matches!(&run.report, Report::States(seen) if is_ended(seen));
        if !is_unfinished {
            return;
        }
        self.found.stats.ran_out += u64::from(self.longer == 1);
        if self.options.all || self.options.relations.is_singly() || !self.can_take_longer(test) {
            return;
        }
        let is_circling = match &run.report {
            Report::States(seen) => seen.visits > 2 * seen.states.len() as u64 && !seen.overflow,
            Report::Windows(_) => false,
        };
        self.ran_out.push(RanOut {
            cost,
            unit,
            candidate,
            test,
            longer: self.longer,
            is_circling,
        });
    }

    /// Gives executions that were ended more time, of candidates that cost less than `below`, if nothing has been found: the cheapest first, and
    /// first those that made headway.
    ///
    /// # Errors
    /// When tests cannot be run.
    pub(crate) fn take_longer(
        &mut self,
        below: u32,
        most: usize,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let started = Instant::now();
        let budget = self.options.budget.filter(|_| below < u32::MAX);
        let share = budget.map(|budget| budget.mul_f64(EARLY_SHARE));
        for _ in 0..most {
            let is_used = share.is_some_and(|share| started.elapsed() >= share);
            if !self.found.classes.is_empty() || is_used || self.is_over() {
                break;
            }
            let has_room = |longer: u32| {
                let level = longer.ilog(LONGER) as usize;
                let most = LAST_EXECUTIONS.get(level).or(LAST_EXECUTIONS.last());
                most > self.given_longer.get(&longer).or(Some(&0))
            };
            let due = self.ran_out.iter().enumerate();
            let due = due.filter(|(_, one)| one.cost < below && has_room(one.longer));
            let next = due.min_by_key(|(at, one)| (one.longer, one.is_circling, one.cost, *at));
            let Some((at, _)) = next else { break };
            let one = self.ran_out.remove(at);
            *self.given_longer.entry(one.longer).or_default() += 1;
            self.longer = one.longer * LONGER;
            let done = self.once_more(&one, workers);
            self.longer = 1;
            done?;
        }
        Ok(())
    }

    /// Executes a candidate with more time, and explores what was taken for its class anew if it ends by itself.
    fn once_more(
        &mut self,
        one: &RanOut,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let RanOut {
            cost,
            unit,
            candidate,
            test,
            ..
        } = *one;
        let space = self.space(unit, cost);
        let file = self.holes[self.units[unit].entry].file;
        let Some(code) = space.code(candidate, self.files[file].types.pointees()) else {
            return Ok(());
        };
        self.found.stats.executions += 1;
        self.found.stats.given_longer += 1;
        let run = self.run(unit, &code, test, None, &mut workers[0])?;
        if has_run_out(&run.verdict) {
            self.note_ran_out((unit, cost), candidate, test, &run);
            return Ok(());
        }
        self.explore_anew(unit, cost, candidate, &space, workers)
    }

    fn explore_anew(
        &mut self,
        unit: usize,
        cost: u32,
        candidate: CandidateId,
        space: &Space,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        // Those that run out again are noted again.
        let longer = self.longer;
        self.ran_out
            .retain(|one| (one.unit, one.cost) != (unit, cost) || one.longer >= longer);
        let family = self.units[unit].family;
        let before = self.found.stats.clone();
        if self.families[family].abandoned {
            let tests = self.order(&self.holes[self.units[unit].entry]);
            self.explore_singly(unit, space, vec![candidate], cost, &tests, workers)?;
        } else {
            for classes in self.families[family].classes.values_mut() {
                classes.forget(has_run_out);
            }
            self.lone.retain(|(of, at, _), lone| {
                let has_run_out = match lone {
                    Lone::Verdict { verdict, .. } => has_run_out(verdict),
                    Lone::Unknown => true,
                };
                (*of, *at) != (unit, cost) || !has_run_out
            });
            self.slice = Some(SLICE);
            self.explore(unit, space, cost, workers)?;
        }
        // They have been counted.
        let stats = &mut self.found.stats;
        stats.candidates = before.candidates;
        stats.explored = before.explored;
        stats.undefined = before.undefined;
        Ok(())
    }
}
