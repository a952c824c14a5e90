//! Defers candidates without classes, because executions visit their location in too many states or not
//! always alike.

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_space::{CandidateId, Level};

use crate::{RepairError, put_off::Deferred, search::Search};

/// Without a limit of time that the user has set, so many executions of tests are spent on these candidates when all others are done.
const LAST_EXECUTIONS: u64 = 5000;

/// When a cost begins, candidates of those before it may take so many executions, or the share of all so far, if that is more.
const EARLY_EXECUTIONS: u64 = 128;
const EARLY_SHARE: u64 = 4;

/// The largest number of candidates that are remembered one by one. Beyond, they are left out.
const MOST_REMEMBERED: usize = 1 << 20;

impl Search<'_> {
    /// Whether further candidates can be put off; those of a whole space are not, whose exploration is a measurement.
    pub(crate) fn defers(&self, candidates: usize) -> bool {
        let remembered: usize = self
            .deferred
            .iter()
            .map(|deferred| deferred.candidates.as_ref().map_or(0, Vec::len))
            .sum();
        !self.options.all
            && !self.options.relations.is_singly()
            && remembered + candidates <= MOST_REMEMBERED
    }

    /// Executes the candidates that were put off, the cheapest first, until the search is over or something is found.
    pub(crate) fn explore_deferred(
        &mut self,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let mut deferred = std::mem::take(&mut self.deferred);
        // Within a cost they are in the order of the search.
        deferred.sort_by_key(|deferred| deferred.cost);
        self.last_execution = match self.options.budget {
            Some(_) => None,
            None => Some(self.found.stats.executions + LAST_EXECUTIONS),
        };
        let mut last = None;
        for one in deferred {
            let begins_cost = last.replace(one.cost) != Some(one.cost);
            if self.is_over() || (begins_cost && !self.found.classes.is_empty()) {
                break;
            }
            self.explore_one_by_one(one, workers)?;
        }
        Ok(())
    }

    /// Executes candidates that were put off and cost less than `cost`, if nothing was found so far, until they have had their share.
    /// Returns whether there were any.
    pub(crate) fn explore_deferred_below(
        &mut self,
        cost: u32,
        workers: &mut [(Worker, Channel)],
    ) -> Result<bool, RepairError> {
        if self.options.all || !self.found.classes.is_empty() {
            return Ok(false);
        }
        let (mut due, later): (Vec<Deferred>, Vec<Deferred>) = std::mem::take(&mut self.deferred)
            .into_iter()
            .partition(|one| one.cost < cost);
        self.deferred = later;
        due.sort_by_key(|one| one.cost);
        let any = !due.is_empty();
        let executions = self.found.stats.executions;
        self.last_execution = Some(executions + EARLY_EXECUTIONS.max(executions / EARLY_SHARE));
        for one in due {
            let left = match self.is_over() {
                true => Some(one),
                false => self.explore_one_by_one(one, workers)?,
            };
            self.deferred.extend(left);
        }
        self.last_execution = None;
        Ok(any)
    }

    /// What is left of them when the search is over.
    fn explore_one_by_one(
        &mut self,
        Deferred {
            cost,
            unit,
            candidates,
        }: Deferred,
        workers: &mut [(Worker, Channel)],
    ) -> Result<Option<Deferred>, RepairError> {
        let space = self.space(unit, cost);
        let tests = self.order(&self.holes[self.units[unit].entry]);
        let before = self.found.stats.clone();
        let candidates = candidates.unwrap_or_else(|| {
            let file = self.holes[self.units[unit].entry].file;
            let pointees = self.files[file].types.pointees();
            let level = Level::new(&space, pointees, cost, workers.len());
            let all: Vec<CandidateId> = level.members(0).collect();
            self.found.stats.candidates += all.len() as u64;
            self.found.stats.too_many_states += all.len() as u64;
            all
        });
        let count = candidates.len();
        self.is_deferred = true;
        let left = self.explore_singly(unit, &space, candidates.clone(), cost, &tests, workers);
        self.is_deferred = false;
        let left = left?;
        self.count_effort(unit, &before);
        self.found.stats.too_many_states -= (count - left) as u64;
        Ok((left > 0).then(|| Deferred {
            cost,
            unit,
            candidates: Some(candidates[count - left..].to_vec()),
        }))
    }
}
