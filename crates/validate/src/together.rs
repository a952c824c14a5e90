//! Several plausible patches confirmed by one build with all of them.
//!
//! Woven, each passes all tests. What is left to be shown is that the weaving did not make it pass: that a compiler makes of its
//! text in place of the original's what it made of it beside the original. One build shows that for several patches that change
//! different functions. If it does not pass, that says nothing about any of them.

use std::ops::ControlFlow;
use std::sync::Mutex;

use patchwright_exec::{Pool, Worker};

use crate::board::Board;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::plain::Plain;
use crate::promising::{Group, Promising};
use crate::set::PatchSet;
use crate::verdict::PatchVerdict;

/// What is needed to confirm patches together.
pub struct Together<'a> {
    /// What a test does may depend on all those before it, so that all are run.
    pub leaves: bool,
    /// Builds and tests.
    pub plain: &'a Plain<'a>,
    /// The patches.
    pub set: &'a PatchSet,
    /// Those that are to be confirmed.
    pub promising: &'a Promising,
    /// Where verdicts go.
    pub board: &'a Board<'a>,
    /// Where verdicts are kept.
    pub journal: Option<&'a Journal>,
}

impl Together<'_> {
    /// Settles those that pass with others, and all that they represent.
    ///
    /// # Errors
    /// As for [`Plain::check`].
    pub fn confirm(&self, workers: &mut Pool, order: &[usize]) -> Result<(), ValidateError> {
        let groups = self.promising.groups(self.set);
        let failure = Mutex::new(None);
        let work = |worker: &mut Worker, group: Group| self.confirm_group(worker, &group, order);
        workers.run_until(groups, work, |result| match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                let mut failure = failure
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                failure.get_or_insert(error);
                ControlFlow::Break(())
            }
        });
        let failure = failure.into_inner();
        match failure.unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(error) if !error.is_cancelled() => Err(error),
            _ => Ok(()),
        }
    }

    fn confirm_group(
        &self,
        worker: &mut Worker,
        group: &Group,
        order: &[usize],
    ) -> Result<(), ValidateError> {
        let order = || order.to_vec();
        let relied_on = Some(&group.promise).filter(|_| !self.leaves);
        let checked = self.plain.check(worker, &group.patch, relied_on, order)?;
        self.board.count_together(&checked);
        if checked.verdict != PatchVerdict::Plausible {
            let ids = group
                .entries
                .iter()
                .map(|entry| self.set.entries[*entry].id());
            let ids: Vec<&str> = ids.map(|id| &id.0[..]).collect();
            tracing::info!("do not pass together: {}", ids.join(", "));
            return Ok(());
        }
        for &entry in &group.entries {
            let Some(own) = self.promising.checked(entry) else {
                continue;
            };
            self.keep(entry, own)?;
            self.board.settle_together(entry, own, &group.entries);
            for (other, own) in self.promising.others(entry) {
                self.keep(*other, own)?;
                self.board.settle_with(*other, own, entry);
            }
        }
        Ok(())
    }

    fn keep(&self, entry: usize, checked: &crate::plain::Checked) -> Result<(), ValidateError> {
        if let (Some(journal), Some(tree)) = (self.journal, self.set.entries[entry].tree) {
            journal.keep(tree, checked)?;
        }
        Ok(())
    }
}
