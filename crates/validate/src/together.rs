//! Confirms several plausible patches by one build with all of them.
//!
//! Woven, each of them passes all tests. It remains to be shown that the weaving did not make it pass: the compiler must treat the
//! patched text in place of the original as it did beside the original. One build shows that for several patches of
//! different functions. If that build fails a test, nothing is known about the single patches. Then both halves are tried, down to
//! single patches, which are built by themselves.

use std::ops::ControlFlow;

use patchwright_exec::{Pool, Worker};

use crate::board::Board;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::plain::Plain;
use crate::promising::{Group, Promising};
use crate::set::PatchSet;
use crate::verdict::PatchVerdict;

/// Everything that confirming patches together needs.
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
    /// Confirms patches in groups, and sets the verdicts of those that pass and of all that they
    /// represent.
    ///
    /// # Errors
    /// As for [`Plain::check`].
    pub fn confirm(&self, workers: &mut Pool, order: &[usize]) -> Result<(), ValidateError> {
        let mut groups = self.promising.groups(self.set);
        let mut failure = None;
        while !groups.is_empty() && failure.is_none() {
            let work = |worker: &mut Worker, group: Group| {
                let passes = self.confirm_group(worker, &group, order)?;
                Ok((!passes).then_some(group))
            };
            let mut failing: Vec<Group> = Vec::new();
            workers.run_until(std::mem::take(&mut groups), work, |result| match result {
                Ok(group) => {
                    failing.extend(group);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            });
            for group in failing {
                let (first, second) = group.entries.split_at(group.entries.len() / 2);
                let halves = [first, second].into_iter().filter(|half| half.len() > 1);
                groups.extend(halves.filter_map(|half| self.promising.group(half, self.set)));
            }
        }
        match failure {
            Some(error) if !ValidateError::is_cancelled(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether a group passes.
    fn confirm_group(
        &self,
        worker: &mut Worker,
        group: &Group,
        order: &[usize],
    ) -> Result<bool, ValidateError> {
        let relied_on = Some(&group.promise).filter(|_| !self.leaves);
        let checked = self.plain.check(worker, &group.patch, relied_on, order)?;
        self.board.count_build(&checked);
        if checked.verdict != PatchVerdict::Plausible {
            let ids = group
                .entries
                .iter()
                .map(|entry| self.set.entries[*entry].id());
            let ids: Vec<&str> = ids.map(|id| &id.0[..]).collect();
            tracing::info!("do not pass together: {}", ids.join(", "));
            return Ok(false);
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
        Ok(true)
    }

    fn keep(&self, entry: usize, checked: &crate::plain::Checked) -> Result<(), ValidateError> {
        if let (Some(journal), Some(tree)) = (self.journal, self.set.entries[entry].tree) {
            journal.keep(tree, checked)?;
        }
        Ok(())
    }
}
