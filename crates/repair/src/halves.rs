//! Finds *halves* in the program that a search has instrumented: changes of one place that pass one failing test, and all
//! tests that pass.
//!
//! The search for one place has executed each class of candidates in the first failing test. These classes are kept by test,
//! so halves for that test need no execution of it. For another failing test each class is executed once more. Locations that
//! only some failing tests visit are instrumented for this purpose, too.

use std::{
    collections::BTreeSet,
    mem::{replace, take},
    time::Instant,
};

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;

use crate::{
    RepairError, declarations::tried::DeclarationTurn, found::Found, order::Step, patch::Patch,
    ranking::ranked, search::Search,
};

/// The number of members of a class that are halves. Another member that passes the same tests may fit the other half.
const MEMBERS: usize = 2;

/// How far halves are sought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The most that a half may cost.
    pub(crate) max_cost: u32,
    /// Executions.
    pub(crate) executions: u64,
    /// Halves.
    pub(crate) parts: usize,
    /// When the time is up.
    pub(crate) end: Option<Instant>,
}

impl Search<'_> {
    /// Returns halves for a failing test, the likeliest first, and the number of executions. The state of the search for one place
    /// stays as it is, except that more classes are known.
    ///
    /// # Errors
    /// As for [`Search::explore`].
    pub(crate) fn halves(
        &mut self,
        test: usize,
        extent: Extent,
        steps: &[Step],
        workers: &mut [(Worker, Channel)],
    ) -> Result<(Vec<Patch>, u64), RepairError> {
        let families = self.families.iter();
        let known: Vec<(usize, bool)> = families
            .map(|family| (family.lone, family.abandoned))
            .collect();
        let failing = replace(&mut self.failing, vec![test]);
        let found = take(&mut self.found);
        let (early, first_after) = (self.early.take(), self.first_after.take());
        let (long, slice) = (replace(&mut self.long, 0), self.slice.take());
        let reportable = take(&mut self.reportable);
        let lone = take(&mut self.lone);
        let ran_out = take(&mut self.ran_out);
        let done_before = take(&mut self.done_before);
        let declarations = replace(&mut self.declarations_tried, vec![DeclarationTurn::Others]);
        let last = self.last_execution.replace(extent.executions);
        (self.seeks_halves, self.end_of_halves) = (true, extent.end);

        let explored = self.explore_halves(test, extent, steps, workers);

        let halves = replace(&mut self.found, found);
        (self.failing, self.early) = (failing, early);
        (self.first_after, self.long, self.slice) = (first_after, long, slice);
        (self.reportable, self.lone) = (reportable, lone);
        (self.ran_out, self.done_before) = (ran_out, done_before);
        (self.declarations_tried, self.last_execution) = (declarations, last);
        (self.seeks_halves, self.end_of_halves) = (false, None);
        for (family, (lone, abandoned)) in self.families.iter_mut().zip(known) {
            (family.lone, family.abandoned) = (lone, abandoned);
        }
        explored?;
        tracing::debug!(
            "halves for test {test} up to cost {}: {} classes, {} executions",
            extent.max_cost,
            halves.classes.len(),
            halves.stats.executions
        );
        Ok((self.patches(&halves, extent.parts), halves.stats.executions))
    }

    fn explore_halves(
        &mut self,
        test: usize,
        extent: Extent,
        steps: &[Step],
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let mut level = 0;
        let within = steps.iter().filter(|step| step.level <= extent.max_cost);
        for step in within {
            let enough = step.level > level && self.found.classes.len() >= extent.parts;
            level = step.level;
            if enough || self.is_over() {
                break;
            }
            let (unit, cost) = (step.unit, step.cost);
            let own = &self.units[unit];
            let is_visited = self.holes[own.entry].visited_by.contains(&test);
            if !is_visited || self.families[own.family].abandoned || !self.has_level(unit, cost) {
                continue;
            }
            let space = self.space(unit, cost);
            self.explore(unit, &space, cost, workers)?;
        }
        Ok(())
    }

    /// The likeliest candidates of the classes as patches.
    fn patches(&self, found: &Found, most: usize) -> Vec<Patch> {
        let places = self.places();
        let mut seen = BTreeSet::new();
        let proposals = ranked(&found.classes, places).into_iter();
        let likely = proposals.filter(|proposal| proposal.member < MEMBERS && !proposal.is_evasion);
        let patches = likely.filter_map(|proposal| {
            let (_, _, diff) = proposal.applied(places)?;
            seen.insert(diff.clone())
                .then(|| proposal.patch(places, diff))
        });
        patches.take(most).collect()
    }
}
