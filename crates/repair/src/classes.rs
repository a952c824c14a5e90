//! Test-equivalence classes of one hole and one test, held intensionally.
//!
//! A class is the sequence of distinct states that an execution met at the hole, each with the
//! value that the hole had there, and the verdict. A candidate belongs to it if it has these
//! values in these states: then an execution of it would have been the same one. The classes of a
//! test form a tree: the root is the first state (it depends on nothing), and below each value in
//! a state comes the next new state. A candidate is followed down the tree; where it has a value
//! without a branch it needs an execution, and where its value is undefined no execution is
//! needed: it would get there, and do what C leaves undefined.

use rustc_hash::FxHashMap;

use patchwright_exec::FailReason;

/// What a test says about a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassVerdict {
    /// It passes.
    Pass,
    /// It fails.
    Fail(Option<FailReason>),
    /// In some state its value is undefined behaviour; it is not plausible.
    Undefined,
}

impl ClassVerdict {
    /// The candidate may be plausible.
    pub fn is_pass(&self) -> bool {
        *self == ClassVerdict::Pass
    }
}

/// An execution: the states it met, the value given in each, the verdict.
type Run = (Vec<(u32, Option<u64>)>, ClassVerdict);

/// The classes of one test at one hole.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    nodes: Vec<Node>,
    /// Two executions with the same values met different states: the test is not deterministic
    /// at this hole, or processes take turns differently. Order says nothing then.
    unordered: bool,
    /// Executions when the order says nothing.
    runs: Vec<Run>,
    count: usize,
}

#[derive(Clone, Debug)]
enum Node {
    State {
        state: u32,
        branches: FxHashMap<u64, usize>,
    },
    End(ClassVerdict),
    /// A branch that no execution has followed to its end.
    Unknown,
}

/// Where the tree leads a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Its verdict is known.
    Known(ClassVerdict),
    /// It has to be executed; where the tree ended for it, if order says something.
    Unknown(Option<Missing>),
}

/// A branch that the tree does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    node: usize,
    value: Option<u64>,
}

impl Classes {
    /// Number of classes that executions have told apart.
    pub fn len(&self) -> usize {
        self.count
    }

    /// No execution has been seen.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Names the class to which the candidate belongs, if order says something.
    pub fn class_of(&self, mut value: impl FnMut(u32) -> Option<u64>) -> Option<usize> {
        let mut at = 0;
        while !self.unordered {
            match self.nodes.get(at)? {
                Node::Unknown => return None,
                Node::End(_) => return Some(at),
                Node::State { state, branches } => at = *branches.get(&value(*state)?)?,
            }
        }
        None
    }

    /// Follows a candidate; `value` tells its value in a state.
    pub fn lookup(&self, mut value: impl FnMut(u32) -> Option<u64>) -> Lookup {
        if self.unordered {
            return self
                .runs
                .iter()
                .find(|(states, _)| states.iter().all(|&(state, had)| value(state) == had))
                .map_or(Lookup::Unknown(None), |(_, verdict)| {
                    Lookup::Known(verdict.clone())
                });
        }
        let mut at = 0;
        loop {
            match self.nodes.get(at) {
                None | Some(Node::Unknown) => {
                    return Lookup::Unknown(Some(Missing {
                        node: at,
                        value: None,
                    }));
                }
                Some(Node::End(verdict)) => return Lookup::Known(verdict.clone()),
                Some(Node::State { state, branches }) => match value(*state) {
                    None => return Lookup::Known(ClassVerdict::Undefined),
                    Some(value) => match branches.get(&value) {
                        Some(&next) => at = next,
                        None => {
                            return Lookup::Unknown(Some(Missing {
                                node: at,
                                value: Some(value),
                            }));
                        }
                    },
                },
            }
        }
    }

    /// Whether the branch is still missing: if so, a lookup would end there again.
    pub fn is_missing(&self, missing: Missing) -> bool {
        !self.unordered
            && match (self.nodes.get(missing.node), missing.value) {
                (None | Some(Node::Unknown), None) => true,
                (Some(Node::State { branches, .. }), Some(value)) => !branches.contains_key(&value),
                _ => false,
            }
    }

    /// Adds an execution: its distinct states in the order of their first visit, each with the
    /// value of the executed candidate there, and the verdict.
    pub fn insert(&mut self, states: Vec<(u32, Option<u64>)>, verdict: ClassVerdict) {
        self.count += 1;
        if !self.unordered && !self.insert_ordered(&states, &verdict) {
            self.unordered = true;
        }
        self.runs.push((states, verdict));
    }

    /// Whether the execution agrees with the earlier ones.
    fn insert_ordered(&mut self, states: &[(u32, Option<u64>)], verdict: &ClassVerdict) -> bool {
        if self.nodes.is_empty() {
            self.nodes.push(Node::Unknown);
        }
        let mut at = 0;
        for &(state, value) in states {
            if matches!(self.nodes[at], Node::Unknown) {
                self.nodes[at] = Node::State {
                    state,
                    branches: FxHashMap::default(),
                };
            }
            let next = self.nodes.len();
            let Node::State {
                state: known,
                branches,
            } = &mut self.nodes[at]
            else {
                return false;
            };
            if *known != state {
                return false;
            }
            // An undefined value ended the execution; the tree knows that by itself.
            let Some(value) = value else { return true };
            at = *branches.entry(value).or_insert(next);
            if at == next {
                self.nodes.push(Node::Unknown);
            }
        }
        match &self.nodes[at] {
            Node::Unknown => {
                self.nodes[at] = Node::End(verdict.clone());
                true
            }
            Node::End(known) => known.is_pass() == verdict.is_pass(),
            Node::State { .. } => false,
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
        assert_eq!(classes.lookup(same), Lookup::Known(fail()));
        assert!(matches!(
            classes.lookup(|_| Some(1)),
            Lookup::Unknown(Some(_))
        ));
    }

    #[test]
    fn a_branch_leads_to_states_of_its_own() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        classes.insert(vec![(0, Some(0)), (2, Some(5))], ClassVerdict::Pass);
        let other = |state: u32| Some(if state == 2 { 5 } else { 0 });
        assert_eq!(classes.lookup(other), Lookup::Known(ClassVerdict::Pass));
        assert_eq!(classes.len(), 2);
    }

    #[test]
    fn an_undefined_value_needs_no_execution() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        let undefined = |state: u32| (state == 0).then_some(1);
        assert_eq!(
            classes.lookup(undefined),
            Lookup::Known(ClassVerdict::Undefined)
        );
    }

    #[test]
    fn executions_that_disagree_about_the_order_are_compared_as_sets() {
        let mut classes = Classes::default();
        classes.insert(vec![(0, Some(1)), (1, Some(0))], fail());
        classes.insert(vec![(1, Some(0)), (0, Some(1)), (2, Some(1))], fail());
        let first = |state: u32| Some(u64::from(state == 0));
        assert_eq!(classes.lookup(first), Lookup::Known(fail()));
        assert_eq!(classes.lookup(|_| None), Lookup::Unknown(None));
    }
}
