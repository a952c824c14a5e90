//! What was proposed, from the moment it is read to the moment the search takes it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use patchwright_patches::RawPatch;
use patchwright_repair::proposer::{Answer, Proposal};

/// So often it is looked whether a search that waits for proposals is over: nobody tells that here.
const PACE: Duration = Duration::from_millis(50);

/// If more proposals than this wait, they are tried together. Below, a build for each takes less time than a copy for all.
const MOST_APART: usize = 8;

/// What the reader of proposals, those who try them together and the search share.
#[derive(Debug, Default)]
pub struct Desk {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What was read, and nobody has taken.
    waiting: VecDeque<(RawPatch, Proposal)>,
    /// What is tried together, by its number; nothing where that is known.
    together: Vec<Option<Proposal>>,
    /// What is left to the search, with what is known of it.
    ready: VecDeque<Proposal>,
    /// Somebody is there who tries many together.
    has_sieve: bool,
    /// That has begun.
    is_sieved: bool,
    /// Nothing more is read.
    is_read: bool,
    /// Nobody waits any more.
    is_over: bool,
}

impl State {
    fn is_empty(&self) -> bool {
        let is_tried = self.together.iter().any(Option::is_some);
        self.waiting.is_empty() && self.ready.is_empty() && !is_tried
    }

    /// Whether the search may take what was read.
    fn goes_apart(&self) -> bool {
        let are_few = self.waiting.len() <= MOST_APART;
        !self.has_sieve || !self.is_sieved && are_few
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes.
    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.came.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.came.notify_all();
    }

    /// Lays down what was read.
    pub fn put(&self, raw: RawPatch, proposal: Proposal) {
        self.change(|state| state.waiting.push_back((raw, proposal)));
    }

    /// Says that nothing more is read.
    pub fn finish(&self) {
        self.change(|state| state.is_read = true);
    }

    /// Says that nobody waits any more.
    pub fn close(&self) {
        self.change(|state| state.is_over = true);
    }

    /// Waits for what the search shall look at, and takes up to `most` of it. Returns nothing as soon as `is_over` is true, and
    /// `None` when no more will come.
    pub fn next(&self, most: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<Proposal>> {
        let mut state = self.state();
        loop {
            if is_over() {
                return Some(Vec::new());
            }
            let mut found: Vec<Proposal> = Vec::new();
            let ready = most.min(state.ready.len());
            found.extend(state.ready.drain(..ready));
            if state.goes_apart() {
                let more = (most - found.len()).min(state.waiting.len());
                found.extend(state.waiting.drain(..more).map(|(_, proposal)| proposal));
            }
            if !found.is_empty() {
                return Some(found);
            }
            if state.is_read && state.is_empty() {
                return None;
            }
            let waited = self.came.wait_timeout(state, PACE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes everything, whether something is known of it or not.
    pub fn left(&self) -> Vec<Proposal> {
        let state = &mut *self.state();
        let mut left: Vec<Proposal> = state.ready.drain(..).collect();
        left.extend(state.together.iter_mut().filter_map(Option::take));
        left.extend(state.waiting.drain(..).map(|(_, proposal)| proposal));
        left
    }

    /// Says that there is somebody who tries many together.
    pub fn offer(&self) {
        self.change(|state| state.has_sieve = true);
    }

    /// Waits until many wait; whether they do, and somebody waits for the verdicts.
    pub fn are_many(&self) -> bool {
        let mut state = self.state();
        while state.waiting.len() <= MOST_APART {
            if state.is_over || state.is_read {
                state.has_sieve = false;
                return false;
            }
            state = self.wait(state);
        }
        state.is_sieved = true;
        !state.is_over
    }

    /// Waits for proposals and takes all of them, to try them together. Their numbers go on from those of the last time. `None` when no
    /// more will come.
    pub fn together(&self) -> Option<Vec<RawPatch>> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            if !state.waiting.is_empty() {
                let (raw, proposals): (Vec<_>, Vec<_>) = state.waiting.drain(..).unzip();
                state.together.extend(proposals.into_iter().map(Some));
                return Some(raw);
            }
            if state.is_read {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Hands a proposal that was tried together to the search, with the reason if it is refused.
    pub fn judge(&self, number: usize, refusal: Option<Answer>) {
        self.change(|state| {
            let tried = state.together.get_mut(number).and_then(Option::take);
            let ready = tried.map(|proposal| Proposal {
                refusal,
                ..proposal
            });
            state.ready.extend(ready);
        });
    }

    /// Says that nothing more is tried together: the search tries what is left.
    pub fn withdraw(&self) {
        self.change(|state| {
            state.has_sieve = false;
            let left = state.together.iter_mut().filter_map(Option::take);
            state.ready.extend(left);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use patchwright_patches::{Body, Origin, PatchId};

    use super::*;

    fn lay_down(desk: &Desk, number: usize) {
        let id = number.to_string();
        let raw = RawPatch {
            id: PatchId(id.clone()),
            origin: Origin {
                file: PathBuf::new(),
                line: 1,
                lines_are_of_file: false,
            },
            body: Body::Diff(Vec::new()),
        };
        let proposal = Proposal {
            id,
            file: PathBuf::new(),
            text: Vec::new(),
            refusal: None,
        };
        desk.put(raw, proposal);
    }

    fn ids(proposals: Vec<Proposal>) -> Vec<String> {
        proposals.into_iter().map(|proposal| proposal.id).collect()
    }

    #[test]
    fn few_proposals_go_to_the_search_one_by_one() {
        let desk = Desk::default();
        desk.offer();
        (0..3).for_each(|number| lay_down(&desk, number));
        desk.finish();
        assert!(!desk.are_many());
        assert_eq!(ids(desk.next(2, &|| false).unwrap()), ["0", "1"]);
        assert_eq!(ids(desk.next(2, &|| false).unwrap()), ["2"]);
        assert_eq!(desk.next(2, &|| false), None);
    }

    #[test]
    fn many_proposals_are_tried_together_first() {
        let desk = Desk::default();
        desk.offer();
        (0..MOST_APART + 1).for_each(|number| lay_down(&desk, number));
        desk.finish();
        assert!(desk.are_many());
        assert_eq!(desk.together().unwrap().len(), MOST_APART + 1);
        assert_eq!(desk.together(), None);
        desk.judge(1, Some(Answer::NotTried));
        let first = desk.next(2, &|| false).unwrap();
        assert_eq!(first[0].refusal, Some(Answer::NotTried));
        assert_eq!(ids(first), ["1"]);
        // Nobody tries the rest together any more.
        desk.withdraw();
        assert_eq!(ids(desk.next(2, &|| false).unwrap()), ["0", "2"]);
        assert_eq!(desk.left().len(), MOST_APART - 2);
        assert_eq!(desk.next(2, &|| false), None);
    }

    #[test]
    fn whoever_is_over_gets_nothing_and_leaves_all() {
        let desk = Desk::default();
        lay_down(&desk, 0);
        assert_eq!(desk.next(2, &|| true), Some(Vec::new()));
        assert_eq!(ids(desk.left()), ["0"]);
    }
}
