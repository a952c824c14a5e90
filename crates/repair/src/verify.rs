//! Verifies patches: each is applied to a clean copy, built without instrumentation, and tested.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use patchwright_exec::Project;

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    changed_file::Candidate,
    check::{Beyond, Checked, check_all},
    circumstances::MOST_UNDEFINED,
    found::Found,
    instrumented::Instrumented,
    outcome::Verified,
    patch::Patch,
    prepare::Prepared,
    propose::{Proposed, Selection},
};

/// The number of rejected candidates that the verification names.
const REJECTIONS_TOLD: usize = 3;

/// How much is verified: all wanted patches, or only the best ones because the user waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As many as are wanted.
    Wanted,
    /// What is known already, and the best of what is not: somebody waits for the end.
    Best,
}

/// Verifies the best candidates until there are as many patches as wanted. If the time ends that, those remain that have been
/// verified until then.
///
/// # Errors
/// When the clean copy cannot be made or run.
pub fn verify<'a>(
    found: &Found,
    instrumented: &Instrumented,
    prepared: &Prepared,
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
    extent: Extent,
) -> Result<Verified, RepairError> {
    (surroundings.events)(Event::Phase("verifying patches on a clean copy"));
    let mut verifying = Verifying {
        found,
        instrumented,
        prepared,
        project,
        options,
        surroundings,
        extent,
        verified: Verified::default(),
        numbers: Vec::new(),
        decided: BTreeSet::new(),
    };
    let wanted = if options.first {
        1
    } else if options.all {
        usize::MAX
    } else {
        options.max_patches
    };
    let selection = Selection::new(
        found,
        instrumented,
        prepared,
        project,
        options,
        surroundings,
    );
    match selection {
        Err(error) if error.is_cancelled() => verifying.verified.interrupted = true,
        selection => {
            let mut selection = selection?;
            verifying.verify(&mut selection, wanted)?;
            verifying.verified.duplicates = selection.finish()?;
        }
    }
    Ok(verifying.end(wanted))
}

struct Verifying<'v, 'a> {
    found: &'v Found,
    instrumented: &'v Instrumented,
    prepared: &'v Prepared,
    project: &'a Project,
    options: &'v RepairOptions,
    surroundings: &'v Surroundings<'a>,
    extent: Extent,
    verified: Verified,
    /// The classes of patches, in the order of the report.
    numbers: Vec<usize>,
    /// Classes of which it is known whether a candidate is a patch.
    decided: BTreeSet<usize>,
}

impl<'v> Verifying<'v, '_> {
    fn verify(&mut self, selection: &mut Selection<'v>, wanted: usize) -> Result<(), RepairError> {
        let mut tries = match self.extent {
            Extent::Wanted => usize::MAX,
            Extent::Best => 1,
        };
        let is_cancelled = |error: &RepairError| error.is_cancelled();
        while !self.verified.interrupted
            && self.verified.patches.len() < wanted
            && self.verified.undefined.len() < MOST_UNDEFINED
        {
            let plausible: usize = self.found.classes.iter().map(|class| class.count).sum();
            let total = wanted.min(plausible);
            let done = self.verified.patches.len();
            (self.surroundings.events)(Event::Progress { done, total });
            // Together they are asked more quickly what else there is to ask.
            let room = match self.options.all {
                true => self.options.jobs.max(1),
                false => wanted - self.verified.patches.len(),
            };
            let mut batch: Vec<Proposed<'_>> = Vec::new();
            while batch.len() < room {
                // What has been shown stays: there is room for it.
                let only_shown = !self.options.all && room - batch.len() <= selection.shown_left();
                let proposed = match selection.next(only_shown && selection.shown_left() > 0) {
                    Err(error) if is_cancelled(&error) => {
                        self.verified.interrupted = true;
                        break;
                    }
                    proposed => proposed?,
                };
                let Some(proposed) = proposed else { break };
                let is_known = self.prepared.checks.of(&proposed.diff).is_some();
                if is_known || tries > 0 {
                    tries -= usize::from(!is_known);
                    batch.push(proposed);
                }
            }
            if batch.is_empty() {
                break;
            }
            let results = self.check(&batch, total);
            for (proposed, result) in batch.into_iter().zip(results) {
                match result {
                    // What has been verified stays so.
                    Err(error) if is_cancelled(&error) => self.verified.interrupted = true,
                    checked => self.decide(proposed, checked?),
                }
            }
        }
        Ok(())
    }

    /// Checks candidates; `total` patches are wanted of all.
    fn check(&self, batch: &[Proposed<'_>], total: usize) -> Vec<Result<Checked, RepairError>> {
        let places = self.instrumented.places();
        let candidates: Vec<Candidate<'_>> = batch
            .iter()
            .map(|proposed| Candidate {
                file: proposed
                    .proposal
                    .found
                    .changed(places.holes, places.files)
                    .0,
                text: &proposed.text,
                diff: &proposed.diff,
                visited_by: proposed.proposal.visited_by(places),
                function: proposed.proposal.function(places),
            })
            .collect();
        let patches: Vec<Patch> = batch
            .iter()
            .map(|proposed| proposed.proposal.patch(places, proposed.diff.clone()))
            .collect();
        let passed = AtomicUsize::new(self.verified.patches.len());
        let passes = |number: usize| {
            let done = passed.fetch_add(1, Ordering::Relaxed) + 1;
            (self.surroundings.events)(Event::Progress { done, total });
            let patch: &Patch = &patches[number];
            let mut early = self.prepared.checks.early();
            let is_first = early.is_empty();
            let is_new = early.iter().all(|known| known.diff != patch.diff);
            if is_new {
                early.push(patch.clone());
            }
            drop(early);
            // What else is asked takes its time, and nobody knows whether there is so much.
            let is_asked = self.options.scrutinize;
            let is_quick = is_asked && self.prepared.is_scrutinized_quickly();
            if is_new && (is_first || is_asked) && !is_quick {
                (self.surroundings.events)(Event::Passed {
                    patch: Box::new(patch.clone()),
                    is_scrutinized: false,
                });
            }
        };
        check_all(
            // What was interrupted may have left its copies behind.
            match self.extent {
                Extent::Wanted => "verify",
                Extent::Best => "verify-best",
            },
            &candidates,
            self.prepared,
            self.project,
            self.surroundings,
            &Beyond {
                scrutinize: self.options.scrutinize.then_some(self.options),
                passes: &passes,
                hurries: false,
            },
        )
    }

    fn decide(&mut self, proposed: Proposed<'_>, checked: Checked) {
        let Proposed { proposal, diff, .. } = proposed;
        let places = self.instrumented.places();
        let entry = &places.holes[proposal.found.entry];
        let verified = &mut self.verified;
        self.decided.insert(proposal.class);
        match checked.rejection {
            None => {
                let class = match self
                    .numbers
                    .iter()
                    .position(|&class| class == proposal.class)
                {
                    Some(at) => at + 1,
                    None => {
                        self.numbers.push(proposal.class);
                        self.numbers.len()
                    }
                };
                let patch = Patch {
                    class,
                    code_differs: proposed.code_differs,
                    distinct: proposed.distinct,
                    undefined: checked.undefined,
                    code: proposed.code,
                    ..proposal.patch(places, diff)
                };
                if patch.undefined.is_some() && !self.options.all {
                    let edit = proposal.member_edit.clone();
                    verified.distrusted.push((proposal.found.entry, edit));
                    verified.undefined.push(patch);
                    return;
                }
                verified.unscrutinized += usize::from(checked.is_unscrutinized);
                (self.surroundings.events)(Event::Verified(Box::new(patch.clone())));
                verified.patches.push(patch);
            }
            Some(reason) => {
                let (changed, _) = proposal.found.changed(places.holes, places.files);
                let (path, line) = (changed.display(), entry.line);
                // The report says how many they are.
                if verified.rejected.len() < REJECTIONS_TOLD {
                    (self.surroundings.events)(Event::Warning(format!(
                        "a patch of {path}:{line} passed in the instrumented program, but {reason}: \
                         it is not reported"
                    )));
                }
                let edit = proposal.member_edit.clone();
                verified.distrusted.push((proposal.found.entry, edit));
                verified.rejected.push(format!(
                    "{path}:{line}: {reason}\n{}",
                    String::from_utf8_lossy(&diff)
                ));
            }
        }
    }

    /// What is verified. If it was ended before its end, that includes what was verified during the search.
    fn end(mut self, wanted: usize) -> Verified {
        let mut verified = self.verified;
        if verified.interrupted {
            let early = self.prepared.checks.early().clone();
            for patch in early {
                let is_new = |known: &[Patch]| known.iter().all(|known| known.diff != patch.diff);
                let is_new = is_new(&verified.patches) && is_new(&verified.undefined);
                if is_new && verified.patches.len() < wanted {
                    self.numbers.push(usize::MAX);
                    let patch = Patch {
                        class: self.numbers.len(),
                        ..patch
                    };
                    let is_asked = self.prepared.checks.objection(&patch.diff).is_some();
                    verified.unscrutinized += usize::from(self.options.scrutinize && !is_asked);
                    (self.surroundings.events)(Event::Verified(Box::new(patch.clone())));
                    verified.patches.push(patch);
                }
            }
            let late = self.numbers.iter().filter(|&&class| class == usize::MAX);
            let known = self.decided.len() + late.count();
            verified.unverified = self.found.classes.len().saturating_sub(known);
        }
        verified.is_full = !self.options.first && verified.patches.len() >= wanted;
        verified
    }
}
