//! The test-equivalence classes of one hole and one test, as a tree of states.
//!
//! A class is the sequence of distinct states that an execution met at the hole, each with the
//! value that the hole had there, and the verdict. A candidate belongs to the class if it has these
//! values in these states: its execution would have been the same.
//!
//! The classes of a test form a tree. The root is the first state, which is the same for all candidates. Below each value in
//! a state comes the next new state. A candidate is followed down the tree until its verdict is known. If its value has no branch,
//! it needs an execution. If its value is undefined, it needs none: the candidate would get there and have undefined behaviour.

use std::ops::ControlFlow;

use patchwright_exec::FailReason;
use serde::{Deserialize, Serialize};

use crate::tree::{At, Place, Tree};

/// The verdict of a test on the candidates of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassVerdict {
    /// It passes.
    Pass,
    /// It fails.
    Fail(Option<FailReason>),
    /// In some state its value is undefined behaviour; it is not plausible.
    Undefined,
}

impl ClassVerdict {
    /// Whether the candidates may be plausible.
    pub fn is_pass(&self) -> bool {
        *self == ClassVerdict::Pass
    }
}

/// An execution: the states it met, the value given in each, the verdict.
pub(crate) type Run = (Vec<(u32, Option<u64>)>, ClassVerdict);

/// The test-equivalence classes of one test at one hole.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    tree: Tree,
    /// Two executions with the same values met different states: the test is not deterministic
    /// at this hole, or processes take turns differently. Order says nothing then.
    unordered: bool,
    /// Executions when the order says nothing.
    runs: Vec<Run>,
    count: usize,
}

/// After so many executions that went on unobserved from one place of the tree, the other candidates that get there
/// are put off ([`mod@crate::deferred`]).
const LONE_EXECUTIONS: u32 = 32;

/// The place in the tree of classes that a candidate has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor {
    /// At a place in the tree.
    At(Place),
    /// Behind a place, with a value that the tree did not have there.
    Beyond(Place, u64),
    /// Among executions that no order holds for: how many were not the candidate's, and how many states it has in
    /// common with the next.
    Run(usize, usize),
    /// Its value was undefined.
    Undefined,
}

impl Cursor {
    /// The place where every candidate begins.
    pub const START: Cursor = Cursor::At(Place::ROOT);
}

/// What comes next for a candidate: its verdict is known, its value in a state is needed, or it must be
/// executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<'c> {
    /// Its verdict is known.
    Known(&'c ClassVerdict),
    /// Its value in this state has to be known.
    Ask(u32),
    /// It has to be executed.
    Execute,
    /// Executions cannot be observed for long enough to tell.
    LeaveOut,
}

impl Classes {
    /// Returns the number of classes that executions have told apart.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns an estimate of the memory in bytes.
    pub fn bytes(&self) -> usize {
        let states: usize = self.runs.iter().map(|(states, _)| states.capacity()).sum();
        self.tree.bytes() + states * size_of::<(u32, Option<u64>)>()
    }

    /// Whether no execution was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of the class of a candidate, whose value in each state `value` gives. It is
    /// `None` if no class is known, or if the order of states tells nothing.
    pub fn class_of(&self, mut value: impl FnMut(u32) -> Option<u64>) -> Option<usize> {
        if self.unordered {
            return None;
        }
        let mut place = Place::ROOT;
        while let At::State(state) = self.tree.at(place) {
            place = self.tree.below(place, value(state)?)?;
        }
        self.tree.class_at(place)
    }

    /// Returns what a candidate at `cursor` needs next. The cursor moves on as far as the classes are
    /// known.
    pub fn next(&self, cursor: &mut Cursor) -> Next<'_> {
        if self.unordered && !matches!(cursor, Cursor::Run(..) | Cursor::Undefined) {
            *cursor = Cursor::Run(0, 0);
        }
        if let Cursor::Beyond(place, value) = *cursor
            && let Some(below) = self.tree.below(place, value)
        {
            *cursor = Cursor::At(below);
        }
        match *cursor {
            Cursor::Undefined => Next::Known(&ClassVerdict::Undefined),
            Cursor::Beyond(..) => Next::Execute,
            Cursor::At(place) => match self.tree.at(place) {
                At::Unknown(LONE_EXECUTIONS..) => Next::LeaveOut,
                At::Unknown(_) => Next::Execute,
                At::End(verdict) => Next::Known(verdict),
                At::State(state) => Next::Ask(state),
            },
            Cursor::Run(run, at) => match self.runs.get(run) {
                None => Next::Execute,
                Some((states, verdict)) => match states.get(at) {
                    None => Next::Known(verdict),
                    Some((state, _)) => Next::Ask(*state),
                },
            },
        }
    }

    /// Returns the cursor of a candidate that has `value` in the state for which [`Classes::next`]
    /// asked.
    pub fn follow(&self, cursor: Cursor, value: Option<u64>) -> Cursor {
        match (cursor, value) {
            (Cursor::Run(run, at), _) => {
                let had = self.runs.get(run).and_then(|(states, _)| states.get(at));
                if had.is_some_and(|(_, had)| *had == value) {
                    Cursor::Run(run, at + 1)
                } else {
                    Cursor::Run(run + 1, 0)
                }
            }
            (Cursor::At(place), Some(value)) => Cursor::Beyond(place, value),
            (Cursor::At(_), None) => Cursor::Undefined,
            (Cursor::Beyond(..) | Cursor::Undefined, _) => cursor,
        }
    }

    /// Returns the value that an execution had in the state for which [`Classes::next`] asked.
    pub fn had(&self, cursor: Cursor) -> Option<u64> {
        match cursor {
            Cursor::At(place) => self.tree.had(place),
            Cursor::Run(run, at) => self.runs.get(run)?.0.get(at)?.1,
            Cursor::Beyond(..) | Cursor::Undefined => None,
        }
    }

    /// Returns the verdict on a candidate, or `None` where an execution is needed. `value` gives the candidate's value in the state of that
    /// number, `None` if C does not define it.
    pub fn lookup(&self, mut value: impl FnMut(u32) -> Option<u64>) -> Option<&ClassVerdict> {
        let mut cursor = Cursor::START;
        loop {
            match self.next(&mut cursor) {
                Next::Known(verdict) => return Some(verdict),
                Next::Execute | Next::LeaveOut => return None,
                Next::Ask(state) => cursor = self.follow(cursor, value(state)),
            }
        }
    }

    /// Adds an execution: its distinct states in the order of their first visit, each with the value
    /// of the executed candidate, and the verdict.
    pub fn insert(&mut self, states: Vec<(u32, Option<u64>)>, verdict: ClassVerdict) {
        self.count += 1;
        if !self.unordered {
            if self.tree.insert(&states, &verdict).is_continue() {
                return;
            }
            self.unordered = true;
            self.runs = std::mem::take(&mut self.tree).paths();
        }
        self.runs.push((states, verdict));
    }

    /// Removes the ends of executions for whose verdict `is_forgotten` holds. Candidates that behaved
    /// the same so far may behave differently beyond.
    pub fn forget(&mut self, is_forgotten: impl Fn(&ClassVerdict) -> bool) {
        self.runs.retain(|(_, verdict)| !is_forgotten(verdict));
        self.tree.forget(is_forgotten);
    }

    /// Adds the beginning of an execution that went on unobserved: the first of its distinct states.
    /// `tells_all` says that nothing beyond will be found out for other candidates either. It returns
    /// false if the beginning cannot be used, because the order of states tells nothing.
    pub fn insert_beginning(&mut self, states: &[(u32, Option<u64>)], tells_all: bool) -> bool {
        if self.unordered {
            return false;
        }
        // An execution that contradicts others tells nothing; one that is observed to its end will show that order does not.
        match self.tree.insert_beginning(states) {
            ControlFlow::Break(()) => false,
            ControlFlow::Continue(None) => true,
            ControlFlow::Continue(Some(executed)) => {
                self.count += usize::from(*executed == 0);
                *executed = if tells_all {
                    LONE_EXECUTIONS
                } else {
                    executed.saturating_add(1)
                };
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail() -> ClassVerdict {
        ClassVerdict::Fail(None)
    }

    #[test]
    fn candidates_with_the_same_values_share_a_verdict() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        let same = |state: u32| Some(u64::from(state == 0));
        assert_eq!(classes.lookup(same), Some(&fail()));
        assert_eq!(classes.lookup(|_| Some(1)), None);
    }

    #[test]
    fn a_branch_leads_to_states_of_its_own() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        classes.insert(vec![(0, Some(0)), (2, Some(5))], ClassVerdict::Pass);
        let other = |state: u32| Some(if state == 2 { 5 } else { 0 });
        assert_eq!(classes.lookup(other), Some(&ClassVerdict::Pass));
        assert_eq!(classes.len(), 2);
    }

    #[test]
    fn an_undefined_value_needs_no_execution() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        let undefined = |state: u32| (state == 0).then_some(1);
        assert_eq!(classes.lookup(undefined), Some(&ClassVerdict::Undefined));
    }

    #[test]
    fn executions_that_disagree_about_the_order_are_compared_as_sets() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        classes.insert(vec![(1, Some(0)), (0, Some(1)), (2, Some(1))], fail());
        let first = |state: u32| Some(u64::from(state == 0));
        assert_eq!(classes.lookup(first), Some(&fail()));
        assert_eq!(classes.lookup(|_| None), None);
    }

    #[test]
    fn a_candidate_goes_on_where_it_needed_an_execution() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        let mut cursor = Cursor::START;
        assert_eq!(classes.next(&mut cursor), Next::Ask(0));
        cursor = classes.follow(cursor, Some(7));
        assert_eq!(classes.next(&mut cursor), Next::Execute);
        classes.insert(vec![(0, Some(7)), (3, Some(2))], ClassVerdict::Pass);
        assert_eq!(classes.next(&mut cursor), Next::Ask(3));
        cursor = classes.follow(cursor, Some(2));
        assert_eq!(classes.next(&mut cursor), Next::Known(&ClassVerdict::Pass));
    }

    #[test]
    fn a_candidate_starts_again_where_order_turns_out_to_say_nothing() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        let mut cursor = Cursor::START;
        assert_eq!(classes.next(&mut cursor), Next::Ask(0));
        cursor = classes.follow(cursor, Some(1));
        classes.insert(vec![(1, Some(0)), (0, Some(1)), (2, Some(1))], fail());
        assert_eq!(classes.next(&mut cursor), Next::Ask(0));
        assert!(matches!(cursor, Cursor::Run(0, 0)));
    }

    #[test]
    fn candidates_that_part_from_an_unobserved_execution_before_it_was_so_are_executed() {
        let mut classes = Classes::default();
        assert!(classes.insert_beginning(&[(0, Some(1)), (1, Some(1))], false));
        let mut cursor = Cursor::START;
        assert_eq!(classes.next(&mut cursor), Next::Ask(0));
        let mut other = classes.follow(cursor, Some(0));
        assert_eq!(classes.next(&mut other), Next::Execute);
        let mut same = classes.follow(cursor, Some(1));
        assert_eq!(classes.next(&mut same), Next::Ask(1));
        same = classes.follow(same, Some(1));
        assert_eq!(classes.next(&mut same), Next::Execute);
    }

    #[test]
    fn candidates_that_do_what_many_unobserved_executions_did_are_left_out() {
        let mut classes = Classes::default();
        for _ in 0..LONE_EXECUTIONS {
            assert!(classes.insert_beginning(&[(0, Some(1))], false));
        }
        let mut cursor = Cursor::START;
        assert_eq!(classes.next(&mut cursor), Next::Ask(0));
        cursor = classes.follow(cursor, Some(1));
        assert_eq!(classes.next(&mut cursor), Next::LeaveOut);
        assert_eq!(classes.len(), 1);
    }

    #[test]
    fn what_an_execution_did_before_it_was_ended_is_kept_when_its_end_is_forgotten() {
        let ended = ClassVerdict::Undefined;
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(1))], ended.clone());
        classes.insert(vec![(0, Some(0))], fail());
        let same = |_: u32| Some(1);
        assert_eq!(classes.lookup(same), Some(&ended));
        classes.forget(|verdict| *verdict == ended);
        assert_eq!(classes.lookup(same), None);
        assert_eq!(classes.lookup(|_| Some(0)), Some(&fail()));
        let longer = vec![(0, Some(1)), (1, Some(1)), (2, Some(1))];
        classes.insert(longer, ClassVerdict::Pass);
        assert_eq!(classes.lookup(same), Some(&ClassVerdict::Pass));
    }

    #[test]
    fn an_execution_that_was_observed_for_longer_goes_on_where_others_were_not() {
        let mut classes = Classes::default();
        assert!(classes.insert_beginning(&[(0, Some(1))], false));
        classes.insert(vec![(0, Some(1)), (1, Some(0))], ClassVerdict::Pass);
        let same = |state: u32| Some(u64::from(state == 0));
        assert_eq!(classes.lookup(same), Some(&ClassVerdict::Pass));
        assert!(!classes.insert_beginning(&[(0, Some(1)), (1, Some(0))], false));
    }
}
