//! The state of an exploration of the candidates of one cost at one location. It has the groups of candidates, how far each
//! group has come, and the candidate that is executed next.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_semantics::Instruction;
use patchwright_space::{CandidateId, GroupId, Level, Space, term::Pointees};
use rustc_hash::FxHashSet;

use crate::{
    classes::{ClassVerdict, Cursor, Next},
    family::Family,
};

/// What is known of a group of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Status {
    /// It has passed so many tests, and has been followed so far in the next one.
    Open {
        passed: usize,
        cursor: Cursor,
        /// How many states are to be looked at at once.
        look: usize,
    },
    Plausible,
    Dead,
}
impl Status {
    pub(crate) const NEW: Status = Status::Open {
        passed: 0,
        cursor: Cursor::START,
        look: 1,
    };
}

/// An exploration that is going on.
pub(crate) struct Exploration<'s> {
    pub(crate) unit: usize,
    pub(crate) cost: u32,
    pub(crate) space: &'s Space,
    pub(crate) pointees: &'s Pointees,
    /// Tests, in the order in which candidates have to pass them.
    pub(crate) tests: Vec<usize>,
    pub(crate) level: Level<'s>,
    /// For each group of the level.
    pub(crate) status: Vec<Status>,
    /// Groups that may get further.
    pub(crate) moving: Vec<GroupId>,
    /// Groups whose values in a state have to be known.
    pub(crate) waiting: BTreeMap<u32, Vec<GroupId>>,
    /// Groups that need an execution, by their first candidate.
    pub(crate) pending: BTreeMap<CandidateId, GroupId>,
    /// Verdicts, if they are to be kept.
    pub(crate) decided: Vec<(ClassVerdict, Vec<CandidateId>)>,
    /// Candidates that stay without a verdict: whole groups of them.
    pub(crate) left_out: Vec<GroupId>,
    /// Groups that are plausible, as they were found.
    pub(crate) plausible: Vec<GroupId>,
    /// So many of them have been proposed for an early verification.
    pub(crate) proposed: usize,
}

impl Exploration<'_> {
    /// The test whose classes the group is being followed in.
    pub(crate) fn test_of(&self, group: GroupId) -> Option<(usize, Cursor)> {
        match self.status[group as usize] {
            Status::Open { passed, cursor, .. } => Some((*self.tests.get(passed)?, cursor)),
            Status::Plausible | Status::Dead => None,
        }
    }

    /// Lets groups move on that have waited for executions of these tests.
    pub(crate) fn wake(&mut self, family: &Family, tests: &BTreeSet<usize>) {
        let mut woken = Vec::new();
        for (&first, &group) in &self.pending {
            let Some((test, mut cursor)) = self.test_of(group) else {
                continue;
            };
            if tests.contains(&test) && family.next(test, self.unit, &mut cursor) != Next::Execute {
                woken.push(first);
            }
        }
        for first in woken {
            self.moving.extend(self.pending.remove(&first));
        }
    }

    /// Follows all groups from the beginning: what was known of classes has been given up.
    pub(crate) fn restart(&mut self) {
        self.waiting.clear();
        self.pending.clear();
        self.moving.clear();
        for (group, status) in self.status.iter_mut().enumerate() {
            if matches!(status, Status::Open { .. }) {
                *status = Status::NEW;
                self.moving.push(group as GroupId);
            }
        }
    }

    /// No candidate that is open gets a verdict.
    pub(crate) fn leave_out(&mut self) {
        let groups = 0..self.level.group_count();
        let open = groups.filter(|&group| matches!(self.status[group], Status::Open { .. }));
        self.left_out.extend(open.map(|group| group as GroupId));
    }

    /// Takes the first candidate out of a group that needs an execution; it is a group of its own then.
    pub(crate) fn take_first(&mut self, first: CandidateId) -> Option<GroupId> {
        let group = self.pending.remove(&first)?;
        let own = self.level.isolate(group);
        self.status.push(Status::Dead);
        debug_assert_eq!(own as usize + 1, self.status.len());
        match self.level.group(group) {
            Some(rest) => {
                self.pending.insert(rest.representative, group);
            }
            None => self.status[group as usize] = Status::Dead,
        }
        Some(own)
    }

    /// Returns the candidates to execute next: the first ones that need it. No two of them belong to the same end of a tree,
    /// because the result of one may decide about the other.
    pub(crate) fn batch(&mut self, size: usize) -> Vec<(CandidateId, usize, Vec<Instruction>)> {
        let mut batch = Vec::new();
        let mut ends = FxHashSet::default();
        let mut impossible = Vec::new();
        for (&first, &group) in &self.pending {
            if batch.len() == size {
                break;
            }
            let Some((test, cursor)) = self.test_of(group) else {
                continue;
            };
            if ends.contains(&(test, cursor)) {
                continue;
            }
            match self.space.code(first, self.pointees) {
                Some(code) => {
                    ends.insert((test, cursor));
                    batch.push((first, test, code));
                }
                None => impossible.push(first),
            }
        }
        for first in impossible {
            self.take_first(first);
        }
        batch
    }
}
