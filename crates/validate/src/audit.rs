//! Whether woven programs are right: of the plausible patches that were not built by themselves a sample is, in the end.
//!
//! The sample depends on the trees that the patches make, and on nothing else. A difference is our bug (or a test that is not stable), and
//! whatever rests on the same ground is decided by builds then.

use std::ops::ControlFlow;

use patchwright_exec::{Pool, Worker};
use patchwright_patches::Hasher;

use crate::board::Board;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::outcome::Reached;
use crate::plain::{Checked, Plain};
use crate::set::PatchSet;
use crate::verdict::PatchVerdict;
use crate::{AUDIT, Event, LEAST_FOR_AUDIT, ValidateOptions};

/// What is needed to audit verdicts.
pub struct Audit<'a> {
    /// Builds and tests.
    pub plain: &'a Plain<'a>,
    /// The patches.
    pub set: &'a PatchSet,
    /// Where verdicts are.
    pub board: &'a Board<'a>,
    /// Where verdicts are kept.
    pub journal: Option<&'a Journal>,
    /// The order of the tests.
    pub order: Vec<usize>,
}

/// How many of so many patches are audited.
pub fn sample_size(patches: usize, set: &PatchSet, options: &ValidateOptions) -> usize {
    let percent = options.audit.unwrap_or_else(|| {
        let is_large = set.entries.len() > LEAST_FOR_AUDIT;
        if is_large { AUDIT } else { 0.0 }
    });
    // A sample of any set that is to be audited has one at least.
    (patches as f64 * percent / 100.0).ceil() as usize
}

/// The patches that are audited, of those whose verdicts rest on woven programs.
fn sample(entries: Vec<usize>, set: &PatchSet, options: &ValidateOptions) -> Vec<usize> {
    let size = sample_size(entries.len(), set, options);
    let key = |entry: &usize| {
        let tree = set.entries[*entry].tree.map(|tree| tree.to_string());
        let mut hasher = Hasher::new();
        hasher.field("audit").field(tree.unwrap_or_default());
        hasher.finish().to_string()
    };
    let mut entries = entries;
    entries.sort_by_cached_key(key);
    entries.truncate(size);
    entries.sort_unstable();
    entries
}

impl Audit<'_> {
    /// Builds the sample, and what a difference makes doubtful.
    ///
    /// # Errors
    /// As for [`Plain::check`].
    pub fn run(&self, workers: &mut Pool) -> Result<(), ValidateError> {
        let (options, surroundings) = (self.board.options, self.board.surroundings);
        let sample = sample(self.board.unbuilt(), self.set, options);
        if sample.is_empty() || surroundings.cancel.is_cancelled() {
            return Ok(());
        }
        (surroundings.events)(Event::Phase("building a sample of the plausible patches"));
        let mut doubtful = Vec::new();
        for (entry, checked) in self.check(workers, sample)? {
            let is_right = checked.verdict == PatchVerdict::Plausible;
            if !is_right {
                let ground = self.board.ground(entry);
                (surroundings.events)(Event::Warning(self.differs(entry, &checked, ground.len())));
                doubtful.extend(ground);
            }
            self.keep(entry, &checked, is_right)?;
            self.board.audited(entry, &checked);
        }
        doubtful.sort_unstable();
        doubtful.dedup();
        let unbuilt = self.board.unbuilt();
        doubtful
            .retain(|entry| unbuilt.binary_search(entry).is_ok() && !self.board.is_audited(*entry));
        if doubtful.is_empty() {
            return Ok(());
        }
        (surroundings.events)(Event::Phase("building what the audit makes doubtful"));
        for (entry, checked) in self.check(workers, doubtful)? {
            self.keep(entry, &checked, false)?;
            self.board.audited(entry, &checked);
        }
        Ok(())
    }

    fn differs(&self, entry: usize, checked: &Checked, others: usize) -> String {
        let id = self.set.entries[entry].id();
        let reached = match self.board.reached(entry) {
            Some(Reached::Class(of)) => {
                format!(", where it did the same as {}", self.set.entries[of].id())
            }
            _ => String::new(),
        };
        format!(
            "AUDIT FAILED: {id} is plausible in a woven program{reached}, and {} in a build of its own. This is a bug of \
             Patchwright, or a test is not stable; please report it, with the project and the patch. What rests on the same \
             ground ({others} more) is built by itself now",
            checked.verdict.word()
        )
    }

    fn keep(&self, entry: usize, checked: &Checked, is_right: bool) -> Result<(), ValidateError> {
        // What was right stands as it was.
        if let (Some(journal), Some(tree), false) =
            (self.journal, self.set.entries[entry].tree, is_right)
        {
            journal.keep(tree, checked)?;
        }
        Ok(())
    }

    /// Builds patches by themselves.
    fn check(
        &self,
        workers: &mut Pool,
        entries: Vec<usize>,
    ) -> Result<Vec<(usize, Checked)>, ValidateError> {
        let mut found = Vec::new();
        let mut failure = None;
        let work = |worker: &mut Worker, entry: usize| {
            let Some(patch) = self.set.entries[entry].patch() else {
                return Ok(None);
            };
            let order = || self.order.clone();
            let checked = self.plain.check(worker, patch, None, order)?;
            Ok(Some((entry, checked)))
        };
        workers.run_until(entries, work, |result| match result {
            Ok(checked) => {
                found.extend(checked);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        });
        found.sort_by_key(|(entry, _)| *entry);
        match failure {
            Some(error) if !ValidateError::is_cancelled(&error) => Err(error),
            _ => Ok(found),
        }
    }
}
