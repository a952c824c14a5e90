//! Audits woven programs: builds a sample of the plausible patches that were not built by themselves.
//!
//! One build audits several patches that change different lines, unless the user has said how many are to be audited. If it does not pass
//! all tests, each of them is built by itself.
//!
//! The sample depends on the trees that the patches make, and on nothing else. A difference is our bug (or a test that is not stable), and
//! whatever rests on the same ground is decided by builds then.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use patchwright_exec::{Pool, Worker};
use patchwright_patches::{Hasher, Patch};

use crate::board::Board;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::outcome::Reached;
use crate::plain::{Checked, Plain};
use crate::set::PatchSet;
use crate::verdict::PatchVerdict;
use crate::{AUDIT, Event, LEAST_FOR_AUDIT, MOST_TOGETHER, ValidateOptions};

/// Everything that auditing verdicts needs.
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

/// Returns how many of `patches` plausible patches are audited.
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
    /// Builds and tests the sample. If a verdict was wrong, it also builds the patches whose verdicts
    /// have the same grounds.
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
        let sample = match options.audit {
            None => self.left_by_groups(workers, sample)?,
            Some(_) => sample,
        };
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
             Patchwright, or a test is not stable; please report it, with the project and the patch. The verdicts of {others} more \
             patches have the same grounds, so these are now built by themselves",
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

    /// Audits patches by builds with others; those for which such a build does not speak are left.
    fn left_by_groups(
        &self,
        workers: &mut Pool,
        sample: Vec<usize>,
    ) -> Result<Vec<usize>, ValidateError> {
        let mut groups: Vec<(Vec<usize>, Patch)> = Vec::new();
        for &entry in &sample {
            let Some(patch) = self.set.entries[entry].patch() else {
                continue;
            };
            let join = |(entries, own): &(Vec<usize>, Patch)| {
                own.and(patch).filter(|_| entries.len() < MOST_TOGETHER)
            };
            let joined = (0..groups.len()).find_map(|at| Some((at, join(&groups[at])?)));
            match joined {
                Some((at, both)) => {
                    groups[at].0.push(entry);
                    groups[at].1 = both;
                }
                None => groups.push((vec![entry], patch.clone())),
            }
        }
        groups.retain(|(entries, _)| entries.len() > 1);
        let work = |worker: &mut Worker, (entries, patch): (Vec<usize>, Patch)| {
            let checked = self.plain.check(worker, &patch, None, &self.order)?;
            Ok((entries, checked))
        };
        let mut right = BTreeSet::new();
        for (entries, checked) in run_all(workers, groups, work)? {
            self.board.count_build(&checked);
            if checked.verdict == PatchVerdict::Plausible {
                entries
                    .iter()
                    .for_each(|entry| self.board.audited_with_others(*entry));
                right.extend(entries);
            }
        }
        let is_open = |entry: &usize| !right.contains(entry);
        Ok(sample.into_iter().filter(is_open).collect())
    }

    /// Builds patches by themselves.
    fn check(
        &self,
        workers: &mut Pool,
        entries: Vec<usize>,
    ) -> Result<Vec<(usize, Checked)>, ValidateError> {
        let work = |worker: &mut Worker, entry: usize| {
            let Some(patch) = self.set.entries[entry].patch() else {
                return Ok(None);
            };
            let checked = self.plain.check(worker, patch, None, &self.order)?;
            Ok(Some((entry, checked)))
        };
        let mut found: Vec<(usize, Checked)> = run_all(workers, entries, work)?
            .into_iter()
            .flatten()
            .collect();
        found.sort_by_key(|(entry, _)| *entry);
        Ok(found)
    }
}

/// What workers make of tasks, in any order. If the run is cancelled, what is done by then.
fn run_all<T: Send, R: Send>(
    workers: &mut Pool,
    tasks: Vec<T>,
    work: impl Fn(&mut Worker, T) -> Result<R, ValidateError> + Sync,
) -> Result<Vec<R>, ValidateError> {
    let mut found = Vec::new();
    let mut failure = None;
    workers.run_until(tasks, work, |result| match result {
        Ok(made) => {
            found.push(made);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    });
    match failure {
        Some(error) if !ValidateError::is_cancelled(&error) => Err(error),
        _ => Ok(found),
    }
}
