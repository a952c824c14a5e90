//! Orders the tests for each patch.
//!
//! Tests that fail on the untouched program come first, for most patches do not mend it; then those
//! that pass. Within each of the two, the tests that have spoken against most patches come first,
//! and then the order of the suite. Where tests leave something behind, that is the only order: a test
//! may need what the one before it left.
//!
//! The order decides which failing test is named, so it must not depend on which worker is faster.
//! Patches are counted in *generations* of [`GENERATION`]; for a patch, only the verdicts of the
//! generations before the one before its own count. Those are nearly always known when they are
//! needed, so that workers rarely wait for each other.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// The number of consecutive patches that use the same order.
pub const GENERATION: usize = 16;

/// Orders the tests for each patch of a set.
pub struct Schedule {
    failing: Vec<usize>,
    passing: Vec<usize>,
    prioritize: bool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// For each generation, how many of its patches are not done.
    open: Vec<usize>,
    /// For each generation, the tests that spoke against its patches.
    killers: Vec<Vec<usize>>,
    /// The patches that are done.
    done: BTreeSet<usize>,
}

impl Schedule {
    /// Makes a schedule for `patches` patches. `failing` and `passing` have the numbers of the tests that fail and pass on the
    /// untouched program, in the order of the suite. Without `prioritize` every patch gets the order of the suite.
    pub fn new(patches: usize, failing: &[usize], passing: &[usize], prioritize: bool) -> Self {
        let generations = patches.div_ceil(GENERATION);
        let size = |g: usize| (patches - g * GENERATION).min(GENERATION);
        Schedule {
            failing: failing.to_vec(),
            passing: passing.to_vec(),
            prioritize,
            state: Mutex::new(State {
                open: (0..generations).map(size).collect(),
                killers: vec![Vec::new(); generations],
                done: BTreeSet::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Returns the order of the tests for the patch with this number, from 0. It waits for the
    /// verdicts on which the order depends. Other threads must call [`Schedule::done`] for each of
    /// those patches.
    pub fn order(&self, patch: usize) -> Vec<usize> {
        if !self.prioritize {
            let mut order = [&self.failing[..], &self.passing].concat();
            order.sort_unstable();
            return order;
        }
        let known = (patch / GENERATION).saturating_sub(1);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self
            .changed
            .wait_while(state, |state| {
                state.open[..known].iter().any(|open| *open > 0)
            })
            .unwrap_or_else(PoisonError::into_inner);
        let tests = self.failing.iter().chain(&self.passing);
        let mut kills = vec![0usize; tests.max().map_or(0, |last| last + 1)];
        for test in state.killers[..known].iter().flatten() {
            kills[*test] += 1;
        }
        drop(state);
        let ordered = |tests: &[usize]| {
            let mut tests = tests.to_vec();
            tests.sort_by_key(|test| (std::cmp::Reverse(kills[*test]), *test));
            tests
        };
        [ordered(&self.failing), ordered(&self.passing)].concat()
    }

    /// Notes that a patch is done, and that `killer` is the test that spoke against it. Later calls
    /// for the same patch have no effect.
    pub fn done(&self, patch: usize, killer: Option<usize>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.done.insert(patch) {
            return;
        }
        let generation = patch / GENERATION;
        state.open[generation] -= 1;
        state.killers[generation].extend(killer);
        drop(state);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_fail_now_come_first_and_then_those_that_find_most() {
        let schedule = Schedule::new(3 * GENERATION, &[1, 3], &[0, 2, 4], true);
        for patch in 0..GENERATION {
            assert_eq!(schedule.order(patch), [1, 3, 0, 2, 4]);
            schedule.done(patch, Some(if patch == 0 { 3 } else { 4 }));
        }
        // The generation before a patch's own does not count: it may still be at work.
        assert_eq!(schedule.order(GENERATION), [1, 3, 0, 2, 4]);
        assert_eq!(schedule.order(2 * GENERATION), [3, 1, 4, 0, 2]);
    }

    #[test]
    fn a_patch_is_done_once() {
        let schedule = Schedule::new(2 * GENERATION + 1, &[], &[0, 1], true);
        for patch in (0..GENERATION).chain([0, 1]) {
            schedule.done(patch, (patch == 0).then_some(1));
        }
        assert_eq!(schedule.order(2 * GENERATION), [1, 0]);
    }

    #[test]
    fn without_priorities_the_order_is_that_of_the_suite() {
        let schedule = Schedule::new(100, &[1, 3], &[0, 2], false);
        assert_eq!(schedule.order(99), [0, 1, 2, 3]);
    }

    #[test]
    fn a_worker_waits_for_the_verdicts_that_its_order_depends_on() {
        let schedule = Schedule::new(3 * GENERATION, &[0, 1], &[], true);
        for patch in 1..GENERATION {
            schedule.done(patch, Some(1));
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.order(2 * GENERATION));
            schedule.done(0, None);
            assert_eq!(waiting.join().unwrap(), [1, 0]);
        });
    }
}
