//! Tries to delete statements that many different changes repair.
//!
//! The cost of deleting a statement grows with its length, so the search tries to delete long ones late or never. But if many
//! different changes of a statement pass the tests, its deletion should be known first: then the tests hardly check the statement.

use std::collections::BTreeSet;

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_space::{CandidateId, HoleKind, Schema};

use crate::{
    RepairError, found::FoundClass, ranking::WAYS_TO_DISFIGURE, relations::Relations,
    search::Search,
};

/// The largest number of statements that are tried.
const MOST_STATEMENTS: usize = 4;

impl Search<'_> {
    /// Executes the program without the statements that many plausible candidates change.
    ///
    /// # Errors
    /// When tests cannot be run.
    pub(crate) fn try_deletions(
        &mut self,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let is_measurement = self.options.all || self.options.relations != Relations::Both;
        if is_measurement || !self.options.schemas.guard {
            return Ok(());
        }
        let due: Vec<usize> = (0..self.units.len())
            .filter(|&unit| self.is_own(unit) && self.is_disfigured(self.units[unit].entry))
            .take(MOST_STATEMENTS)
            .collect();
        for unit in due {
            self.try_deletion(unit, workers)?;
        }
        Ok(())
    }

    /// Whether a location is a statement that many plausible candidates change, and none takes out.
    fn is_disfigured(&self, entry: usize) -> bool {
        let hole = &self.holes[entry];
        if !matches!(hole.hole.kind, HoleKind::Guard { .. }) {
            return false;
        }
        let span = hole.hole.span;
        let classes = self.found.classes.iter();
        let here = classes.filter(|class| {
            let is_here = self.holes[class.entry].file == hole.file && class.header.is_none();
            is_here && self.holes[class.entry].hole.function == hole.hole.function
        });
        let members = here.flat_map(|class| &class.members);
        let mut changes: BTreeSet<(u32, u32, &[u8])> = BTreeSet::new();
        for (edit, schema) in members {
            let changes_it = !edit.span.is_empty() && span.contains_span(edit.span);
            if *schema == Schema::Deletion && changes_it {
                return false;
            }
            if changes_it {
                changes.insert((edit.span.start, edit.span.end, &edit.text));
            }
        }
        changes.len() >= WAYS_TO_DISFIGURE
    }

    fn try_deletion(
        &mut self,
        unit: usize,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let entry = self.units[unit].entry;
        let space = self.space(unit, self.options.max_cost);
        let mut blocks = space.blocks.iter().enumerate();
        let Some((number, block)) = blocks.find(|(_, block)| block.schema == Schema::Deletion)
        else {
            return Ok(());
        };
        let candidate = CandidateId {
            block: number as u32,
            lane: 0,
        };
        let file = &self.files[self.holes[entry].file];
        let pointees = file.types.pointees();
        let (Some(code), Some(edit)) = (
            space.code(candidate, pointees),
            space.edit(candidate, &file.unit.source, pointees),
        ) else {
            return Ok(());
        };
        let tests = self.order(&self.holes[entry]);
        let place = (block.cost, candidate);
        let stats = &mut self.found.stats;
        stats.candidates += 1;
        stats.explored += 1;
        if !self.passes_rest(unit, place, &code, &tests, usize::MAX, &mut workers[0])? {
            return Ok(());
        }
        self.found.stats.plausible += 1;
        self.keep_plausible(FoundClass {
            entry,
            cost: block.cost,
            count: 1,
            members: vec![(edit, Schema::Deletion)],
            shared: None,
            is_local: true,
            is_never: false,
            header: None,
        });
        Ok(())
    }
}
