//! When a search for a change of one place seeks changes of two.

use patchwright_exec::{Project, Worker};
use patchwright_probe_image::Channel;

use crate::{
    RepairError,
    order::Step,
    search::Search,
    two_places::{self, Extent},
};

/// Changes of two places are sought before changes of one place that cost so much: most programs have one mistake, and nearly all of
/// these are mended by less.
const PAIRS_LEVEL: u32 = 5;

/// Pairs of halves that the instrumented program shows are sought earlier: they take few executions.
const HALVES_LEVEL: u32 = 3;

/// Earlier, when so much of the time for one place is over.
const PAIRS_SHARE: f64 = 0.75;

impl Search<'_> {
    /// Seeks changes of two places that each cost less than `level`, if nothing was found so far. Returns whether the search is over.
    ///
    /// # Errors
    /// As for [`two_places::search`].
    pub(crate) fn has_pairs(
        &mut self,
        project: &Project,
        level: u32,
        steps: &[Step],
        workers: &mut [(Worker, Channel)],
    ) -> Result<bool, RepairError> {
        if !self.options.early_pairs || !self.found.classes.is_empty() || self.is_over() {
            return Ok(false);
        }
        let completes = level >= PAIRS_LEVEL || self.is_over_for(PAIRS_SHARE);
        let has_halves = level >= HALVES_LEVEL && self.shows_halves();
        if !has_halves && !completes {
            return Ok(false);
        }
        let left = self.options.budget_without_patch.or(self.options.budget);
        let left = left.map(|left| left.saturating_sub(self.started.elapsed()));
        let extent = Extent::cheap(level - 1, self.found.stats.executions, left, completes);
        self.seek_pairs(project, extent, steps, workers)?;
        Ok(self.found.interrupted || !self.found.pairs.is_empty())
    }

    /// Seeks changes of two places once more, if nothing is found in the end; each costs no more than the search has reached.
    ///
    /// # Errors
    /// As for [`two_places::search`].
    pub(crate) fn seek_last_pairs(
        &mut self,
        project: &Project,
        reached: Option<u32>,
        steps: &[Step],
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let found = &self.found;
        let is_known = !found.classes.is_empty() || !found.pairs.is_empty() || found.interrupted;
        if !self.options.early_pairs || is_known || found.stats.out_of_bounds {
            return Ok(());
        }
        let end = self.options.budget.map(|budget| self.started + budget);
        // Where time has ended the search, two cheap changes are likelier than one that costs more than was reached.
        let most = reached.unwrap_or(self.options.max_cost);
        let extent = Extent::last(most, found.stats.executions, end);
        self.seek_pairs(project, extent, steps, workers)?;
        self.found.has_sought_pairs = true;
        Ok(())
    }

    fn seek_pairs(
        &mut self,
        project: &Project,
        extent: Extent,
        steps: &[Step],
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let (prepared, surroundings) = (self.prepared, self.surroundings);
        let options = self.options;
        let halves = self.shows_halves().then(|| -> two_places::Halves<'_> {
            Box::new(|test, extent| self.halves(test, extent, steps, workers))
        });
        match two_places::search(prepared, project, options, surroundings, extent, halves) {
            Err(error) if error.is_cancelled() => self.found.interrupted = true,
            found => {
                let (pairs, done) = found?;
                self.found
                    .stats
                    .two_places
                    .get_or_insert_default()
                    .add(done);
                self.found.pairs = pairs;
            }
        }
        Ok(())
    }

    /// Whether the instrumented program has the locations that only some failing tests visit.
    fn shows_halves(&self) -> bool {
        self.prepared.focus.is_none()
    }
}
