//! Collects what woven programs say about patches, and tells each result once.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_exec::Verdict;
use patchwright_text::Digest;

use super::Engine;
use crate::batch::Batch;
use crate::rounds::{OpenReason, RoundResult};
use crate::{Behaviour, Event};

/// What was told of the patches of a batch.
pub(super) struct Told {
    /// They have failed a test.
    pub failed: Vec<bool>,
    /// They were handed back, or are not to be run at all.
    pub open: Vec<bool>,
    /// The first test that could not be told, and why.
    pub untold: BTreeMap<u32, (usize, OpenReason)>,
    pub outcomes: Outcomes,
    /// Patches of which it is not known whether what they do counts, since C may not define it.
    pub doubtful: BTreeSet<u32>,
    /// What woven programs say of those, from the first test on in which they do something else than the original program.
    pub held: BTreeMap<u32, Vec<Held>>,
}

/// Numbers of the ways in which tests ended.
#[derive(Default)]
pub(super) struct Outcomes {
    known: BTreeMap<(usize, Digest), u32>,
    last: u32,
}

impl Outcomes {
    /// Returns a number for an ending of test `test`. Equal endings get the same number. Without an ending the number is new, because
    /// an unknown ending may differ from all others.
    pub fn number(&mut self, test: usize, ending: Option<Digest>) -> u32 {
        let Some(ending) = ending else {
            self.last += 1;
            return self.last;
        };
        *self.known.entry((test, ending)).or_insert_with(|| {
            self.last += 1;
            self.last
        })
    }
}

impl Told {
    /// Whether the patch is to be run in the next test.
    pub fn is_live(&self, patch: u32, keep_going: bool) -> bool {
        let patch = patch as usize;
        !self.open[patch] && (keep_going || !self.failed[patch])
    }
}

/// What a woven program says of a patch in a test, and is not told yet.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub test: usize,
    /// The test was run once more.
    pub again: bool,
    pub verdict: Verdict,
    pub behaviour: Behaviour,
}

impl Held {
    /// Returns the event that reports this held-back result of a patch.
    pub fn event(self, patch: usize) -> Event {
        event(patch, (self.test, self.again), self.verdict, self.behaviour)
    }
}

/// Returns the event that reports the result of a patch in a test, which may be run `again`.
fn event(
    patch: usize,
    (test, again): (usize, bool),
    verdict: Verdict,
    behaviour: Behaviour,
) -> Event {
    match (again, verdict.is_pass()) {
        (false, _) => Event::Verdict {
            patch,
            test,
            verdict,
            behaviour,
        },
        (true, true) => Event::Again { patch, behaviour },
        (true, false) => Event::Open {
            patch,
            test,
            reason: OpenReason::FailsAgain,
        },
    }
}

impl Engine<'_> {
    /// Tells what became of patches in a test, which may be run `again`.
    pub(super) fn tell(
        &self,
        batch: &Batch,
        (test, again): (usize, bool),
        result: RoundResult,
        told: &mut Told,
        sink: &mut dyn FnMut(Event),
    ) {
        let index = |patch: u32| self.plan.patches[batch.members[patch as usize]].patch;
        match result {
            RoundResult::Verdict {
                patches,
                verdict,
                outcome,
                as_original,
            } => {
                let behaviour = Behaviour {
                    outcome: told.outcomes.number(test, outcome),
                    as_original,
                };
                for patch in patches {
                    told.failed[patch as usize] |= !verdict.is_pass();
                    let is_held = told.held.contains_key(&patch) || !as_original;
                    if is_held && told.doubtful.contains(&patch) {
                        told.held.entry(patch).or_default().push(Held {
                            test,
                            again,
                            verdict: verdict.clone(),
                            behaviour,
                        });
                        continue;
                    }
                    let run = (test, again);
                    sink(event(index(patch), run, verdict.clone(), behaviour));
                }
            }
            RoundResult::Open { patches, reason } => {
                // Other tests can still speak against them; if each test begins where the one before it has ended, they cannot.
                let goes_on =
                    reason.is_of_test() && !self.options.keep_going && !self.context.leaves;
                for patch in patches {
                    if goes_on {
                        told.untold.entry(patch).or_insert((test, reason));
                        continue;
                    }
                    told.open[patch as usize] = true;
                    told.held.remove(&patch);
                    let patch = index(patch);
                    sink(Event::Open {
                        patch,
                        test,
                        reason,
                    });
                }
            }
        }
    }
}
