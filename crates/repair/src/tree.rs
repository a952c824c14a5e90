//! The tree of the executions of one test at one hole: states, below each the values that executions had there, and at
//! the ends verdicts.
//!
//! Most executions part from the others after some states, and go on alone through thousands. So what lies behind the last
//! branch is kept as a *tail*: states and values as differences from those before, of two bytes each mostly.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::classes::{ClassVerdict, Run};

/// Fewer states are not worth a tail.
const SHORTEST_TAIL: usize = 4;

/// What an allocation takes beyond its bytes.
const ALLOCATION: usize = 16;

/// The classes of a test as a tree of states (see the module).
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// What tails take outside of their nodes.
    tail_bytes: usize,
}

#[derive(Clone, Debug)]
enum Node {
    State {
        state: u32,
        branches: Branches,
    },
    Tail(Tail),
    End(Box<ClassVerdict>),
    /// A branch that no execution has followed to its end. So many got here and went on unobserved.
    Unknown(u32),
}

/// States with one value each, one behind the other.
#[derive(Clone, Debug)]
struct Tail {
    steps: Box<[u8]>,
    /// What the first step differs from.
    before: Step,
    next: u32,
    /// Bytes of the step that was cut out in front of these, if these have been the rest of another tail.
    cut: u32,
}

/// A state and the value that an execution had in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Step {
    state: u32,
    value: u64,
}

/// Nodes by value. Most states have one.
#[derive(Clone, Debug, Default)]
struct Branches {
    first: Option<(u64, u32)>,
    others: Option<Box<FxHashMap<u64, u32>>>,
}

impl Branches {
    fn get(&self, value: u64) -> Option<u32> {
        let (known, node) = self.first?;
        if known == value {
            return Some(node);
        }
        self.others.as_ref()?.get(&value).copied()
    }

    fn insert(&mut self, value: u64, node: u32) {
        if self.first.is_none() {
            self.first = Some((value, node));
        } else {
            self.others.get_or_insert_default().insert(value, node);
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let others = self.others.iter().flat_map(|others| others.iter());
        self.first
            .into_iter()
            .chain(others.map(|(&value, &node)| (value, node)))
    }
}

/// A place in the tree: before a state, or at an end. It stays valid while the tree grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    node: u32,
    /// In a tail: how many bytes of it lie before.
    at: u32,
    /// In a tail: the step before.
    before: Step,
}

impl Place {
    /// The root, at which every execution begins.
    pub(crate) const ROOT: Place = Place {
        node: 0,
        at: 0,
        before: Step { state: 0, value: 0 },
    };
}

/// What is at a place.
pub(crate) enum At<'t> {
    /// The next state.
    State(u32),
    /// The end of an execution.
    End(&'t ClassVerdict),
    /// Executions went on unobserved from here: so many.
    Unknown(u32),
}

/// Where the states of an execution lead in the tree.
enum Led {
    /// To the end of a branch.
    To(u32),
    /// To where others have met further states.
    Amid,
    /// An undefined value has ended it, which the tree knows by itself.
    Undefined,
}

impl Tree {
    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.tail_bytes
    }

    /// Returns what is known at a place.
    pub(crate) fn at(&self, place: Place) -> At<'_> {
        let place = self.settled(place);
        match self.nodes.get(place.node as usize) {
            None => At::Unknown(0),
            Some(Node::Unknown(executed)) => At::Unknown(*executed),
            Some(Node::End(verdict)) => At::End(verdict),
            Some(Node::State { state, .. }) => At::State(*state),
            Some(Node::Tail(tail)) => At::State(tail.step(place).0.state),
        }
    }

    /// The number of a place where an execution ends, which is its class; `None` elsewhere.
    pub(crate) fn class_at(&self, place: Place) -> Option<usize> {
        let node = self.settled(place).node as usize;
        matches!(self.nodes.get(node), Some(Node::End(_))).then_some(node)
    }

    /// The value that the first execution had in the state at a place.
    pub(crate) fn had(&self, place: Place) -> Option<u64> {
        let place = self.settled(place);
        match self.nodes.get(place.node as usize)? {
            Node::State { branches, .. } => branches.first.map(|(value, _)| value),
            Node::Tail(tail) => Some(tail.step(place).0.value),
            Node::End(_) | Node::Unknown(_) => None,
        }
    }

    /// Returns the place to which a value leads from the state at a place, if some execution had the value there.
    pub(crate) fn below(&self, place: Place, value: u64) -> Option<Place> {
        let place = self.settled(place);
        match self.nodes.get(place.node as usize)? {
            Node::State { branches, .. } => Some(self.settled(self.start(branches.get(value)?))),
            Node::Tail(tail) => {
                let (step, at) = tail.step(place);
                let behind = Place {
                    at,
                    before: step,
                    ..place
                };
                (step.value == value).then(|| self.settled(behind))
            }
            Node::End(_) | Node::Unknown(_) => None,
        }
    }

    /// Adds an execution, unless it contradicts an earlier one.
    pub(crate) fn insert(
        &mut self,
        states: &[(u32, Option<u64>)],
        verdict: &ClassVerdict,
    ) -> ControlFlow<()> {
        let node = match self.walk(states)? {
            Led::To(node) => node,
            Led::Undefined => return ControlFlow::Continue(()),
            Led::Amid => return ControlFlow::Break(()),
        };
        let node = &mut self.nodes[node as usize];
        match node {
            Node::End(known) if known.is_pass() != verdict.is_pass() => ControlFlow::Break(()),
            Node::End(_) => ControlFlow::Continue(()),
            Node::Unknown(_) | Node::State { .. } | Node::Tail(_) => {
                *node = Node::End(Box::new(verdict.clone()));
                ControlFlow::Continue(())
            }
        }
    }

    /// Adds the beginning of an execution that went on unobserved. How many others did so from there, to be counted up;
    /// `None` inside if others were observed for longer; a break if that contradicts them or is of no use.
    pub(crate) fn insert_beginning(
        &mut self,
        states: &[(u32, Option<u64>)],
    ) -> ControlFlow<(), Option<&mut u32>> {
        match self.walk(states)? {
            Led::To(node) => match &mut self.nodes[node as usize] {
                Node::Unknown(executed) => ControlFlow::Continue(Some(executed)),
                Node::End(_) | Node::State { .. } | Node::Tail(_) => ControlFlow::Break(()),
            },
            Led::Amid => ControlFlow::Continue(None),
            Led::Undefined => ControlFlow::Break(()),
        }
    }

    /// Forgets the ends with verdicts like that, and how many executions went on unobserved from where.
    pub(crate) fn forget(&mut self, is_forgotten: impl Fn(&ClassVerdict) -> bool) {
        for node in &mut self.nodes {
            let is_gone = match node {
                Node::End(verdict) => is_forgotten(verdict),
                Node::Unknown(_) => true,
                Node::State { .. } | Node::Tail(_) => false,
            };
            if is_gone {
                *node = Node::Unknown(0);
            }
        }
    }

    /// Returns the executions of which the tree was made, without those that undefined values have ended.
    pub(crate) fn paths(&self) -> Vec<Run> {
        let mut found = Vec::new();
        let mut open = vec![(0, Vec::new())];
        while let Some((node, mut path)) = open.pop() {
            match self.nodes.get(node as usize) {
                Some(Node::End(verdict)) => found.push((path, (**verdict).clone())),
                Some(Node::Tail(tail)) => {
                    let mut place = self.start(node);
                    while (place.at as usize) < tail.steps.len() {
                        let (step, at) = tail.step(place);
                        path.push((step.state, Some(step.value)));
                        place = Place {
                            at,
                            before: step,
                            ..place
                        };
                    }
                    open.push((tail.next, path));
                }
                Some(Node::State { state, branches }) => {
                    for (value, next) in branches.iter() {
                        let mut longer = path.clone();
                        longer.push((*state, Some(value)));
                        open.push((next, longer));
                    }
                }
                Some(Node::Unknown(_)) | None => {}
            }
        }
        found
    }

    /// Before the first state of a node.
    fn start(&self, node: u32) -> Place {
        let before = match self.nodes.get(node as usize) {
            Some(Node::Tail(tail)) => tail.before,
            _ => Step::default(),
        };
        Place {
            node,
            at: 0,
            before,
        }
    }

    /// The same place, where it lies now: behind the end of a tail there is something else, or its rest since another
    /// execution has parted from it.
    fn settled(&self, mut place: Place) -> Place {
        while let Some(Node::Tail(tail)) = self.nodes.get(place.node as usize) {
            let length = tail.steps.len() as u32;
            if place.at < length {
                if place.at == 0 {
                    place.before = tail.before;
                }
                return place;
            }
            if place.at == length {
                place = self.start(tail.next);
                continue;
            }
            let rest = match self.nodes.get(tail.next as usize) {
                Some(Node::State { branches, .. }) => branches.first,
                _ => None,
            };
            let Some((_, node)) = rest else {
                unreachable!(
                    "a tail that became shorter is followed by the state where it was cut"
                );
            };
            let Some(Node::Tail(rest)) = self.nodes.get(node as usize) else {
                unreachable!(
                    "the first value of the state where a tail was cut leads to the rest of it"
                );
            };
            place = Place {
                node,
                at: place.at - length - rest.cut,
                before: place.before,
            };
        }
        place
    }

    fn add(&mut self, node: Node) -> u32 {
        // The number of nodes is limited by `Tree::bytes`, whoever limits that.
        let number = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        self.nodes.push(node);
        number
    }

    /// Follows the states of an execution, and adds those that are new, unless they contradict an earlier execution.
    fn walk(&mut self, states: &[(u32, Option<u64>)]) -> ControlFlow<(), Led> {
        if self.nodes.is_empty() {
            self.add(Node::Unknown(0));
        }
        let mut place = self.settled(Place::ROOT);
        for (index, &(state, value)) in states.iter().enumerate() {
            match self.at(place) {
                At::End(_) => return ControlFlow::Break(()),
                At::Unknown(_) => {
                    return ControlFlow::Continue(self.grow(place.node, &states[index..]));
                }
                At::State(known) if known != state => return ControlFlow::Break(()),
                At::State(_) => {}
            }
            let Some(value) = value else {
                return ControlFlow::Continue(Led::Undefined);
            };
            place = match self.below(place, value) {
                Some(below) => below,
                None => {
                    let fork = self.fork_at(place);
                    let new = self.add(Node::Unknown(0));
                    if let Node::State { branches, .. } = &mut self.nodes[fork as usize] {
                        branches.insert(value, new);
                    }
                    self.start(new)
                }
            };
        }
        ControlFlow::Continue(match self.at(place) {
            At::State(_) => Led::Amid,
            At::End(_) | At::Unknown(_) => Led::To(place.node),
        })
    }

    /// The node of the state at a place, where values can part: a tail is cut in two there.
    fn fork_at(&mut self, place: Place) -> u32 {
        let place = self.settled(place);
        let Node::Tail(tail) = &mut self.nodes[place.node as usize] else {
            return place.node;
        };
        let (step, behind) = tail.step(place);
        let rest = Tail {
            steps: tail.steps[behind as usize..].into(),
            before: step,
            next: tail.next,
            cut: behind - place.at,
        };
        tail.steps = tail.steps[..place.at as usize].into();
        self.tail_bytes += ALLOCATION;
        let rest = self.add(Node::Tail(rest));
        let mut branches = Branches::default();
        branches.insert(step.value, rest);
        let fork = self.add(Node::State {
            state: step.state,
            branches,
        });
        if let Node::Tail(tail) = &mut self.nodes[place.node as usize] {
            tail.next = fork;
        }
        fork
    }

    /// Puts states where nothing is known yet.
    fn grow(&mut self, mut node: u32, states: &[(u32, Option<u64>)]) -> Led {
        let defined = states
            .iter()
            .position(|(_, value)| value.is_none())
            .unwrap_or(states.len());
        let (steps, undefined) = states.split_at(defined);
        if steps.len() < SHORTEST_TAIL {
            for &(state, value) in steps {
                let next = self.add(Node::Unknown(0));
                let mut branches = Branches::default();
                branches.insert(value.unwrap_or_default(), next);
                self.nodes[node as usize] = Node::State { state, branches };
                node = next;
            }
        } else {
            let mut bytes = Vec::new();
            let mut before = Step::default();
            for &(state, value) in steps {
                let step = Step {
                    state,
                    value: value.unwrap_or_default(),
                };
                step.write(before, &mut bytes);
                before = step;
            }
            self.tail_bytes += bytes.len() + ALLOCATION;
            let next = self.add(Node::Unknown(0));
            self.nodes[node as usize] = Node::Tail(Tail {
                steps: bytes.into(),
                before: Step::default(),
                next,
                cut: 0,
            });
            node = next;
        }
        match undefined.first() {
            None => Led::To(node),
            Some(&(state, _)) => {
                self.nodes[node as usize] = Node::State {
                    state,
                    branches: Branches::default(),
                };
                Led::Undefined
            }
        }
    }
}

impl Tail {
    /// The step at a place in this tail, and the place of the one behind it.
    fn step(&self, place: Place) -> (Step, u32) {
        Step::read(&self.steps, place.at, place.before)
    }
}

impl Step {
    /// Appends what differs from the step before.
    fn write(self, before: Step, bytes: &mut Vec<u8>) {
        let state = i64::from(self.state) - i64::from(before.state);
        let value = self.value.wrapping_sub(before.value).cast_signed();
        for difference in [state, value] {
            // The sign comes last, so that small numbers are short.
            let mut left = ((difference << 1) ^ (difference >> 63)).cast_unsigned();
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
        }
    }

    fn read(bytes: &[u8], mut at: u32, before: Step) -> (Step, u32) {
        let mut difference = || {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[at as usize];
                at += 1;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
                }
            }
        };
        let state = i64::from(before.state) + difference();
        let step = Step {
            state: state as u32,
            value: before.value.wrapping_add(difference().cast_unsigned()),
        };
        (step, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn follow(tree: &Tree, states: &[(u32, Option<u64>)]) -> Option<Place> {
        let mut place = Place::ROOT;
        for &(state, value) in states {
            if !matches!(tree.at(place), At::State(known) if known == state) {
                return None;
            }
            place = tree.below(place, value?)?;
        }
        Some(place)
    }

    #[test]
    fn a_place_in_a_tail_is_the_same_after_others_have_parted_before_and_behind_it() {
        let mut tree = Tree::default();
        let long: Vec<(u32, Option<u64>)> = (0..100).map(|state| (state, Some(1))).collect();
        assert!(tree.insert(&long, &ClassVerdict::Pass).is_continue());
        let places: Vec<Place> = (0..=100)
            .map(|count| follow(&tree, &long[..count]).unwrap())
            .collect();
        for parted in [50, 20, 70, 0, 99, 50] {
            let mut other = long[..=parted].to_vec();
            other[parted].1 = Some(7 + parted as u64);
            other.push((1000, Some(0)));
            assert!(tree.insert(&other, &ClassVerdict::Fail(None)).is_continue());
        }
        for (count, place) in places.iter().enumerate() {
            match (long.get(count), tree.at(*place)) {
                (Some((state, _)), At::State(known)) => assert_eq!(known, *state),
                (None, At::End(verdict)) => assert!(verdict.is_pass()),
                _ => panic!("{count}: another kind of place"),
            }
            assert_eq!(
                tree.had(*place),
                long.get(count).and_then(|(_, value)| *value)
            );
        }
        assert_eq!(tree.paths().len(), 6);
    }

    #[test]
    fn thousands_of_states_take_some_bytes_each() {
        let mut tree = Tree::default();
        for run in 0..100u64 {
            let states = |state: u32| {
                (
                    state,
                    Some(if state == 3 {
                        run
                    } else {
                        u64::from(state % 2)
                    }),
                )
            };
            let states: Vec<(u32, Option<u64>)> = (0..5000).map(states).collect();
            assert!(tree.insert(&states, &ClassVerdict::Pass).is_continue());
        }
        assert!(tree.bytes() < 100 * 5000 * 3, "{}", tree.bytes());
    }

    /// Programs of which the next state depends on the values so far, as executions do.
    fn execution(choices: &[u64], undefined: Option<usize>) -> Vec<(u32, Option<u64>)> {
        let mut state = 0u32;
        let mut states = Vec::new();
        for (index, &choice) in choices.iter().enumerate() {
            let value =
                (undefined != Some(index)).then_some(choice.wrapping_mul(0x0123_4567_89ab_cdef));
            states.push((state, value));
            if value.is_none() {
                break;
            }
            state = state.wrapping_mul(31).wrapping_add(choice as u32 + 1) % 100_003;
        }
        states
    }

    proptest! {
        #[test]
        fn what_was_inserted_is_found_and_nothing_else(
            runs in prop::collection::vec(
                (prop::collection::vec(0u64..3, 12), prop::option::weighted(0.2, 0usize..12)), 1..40)
        ) {
            let mut tree = Tree::default();
            let mut inserted: Vec<Vec<(u32, Option<u64>)>> = Vec::new();
            for (choices, undefined) in &runs {
                let states = execution(choices, *undefined);
                prop_assert!(tree.insert(&states, &ClassVerdict::Pass).is_continue());
                inserted.push(states);
                for states in &inserted {
                    let defined = states.iter().take_while(|(_, value)| value.is_some()).count();
                    let place = follow(&tree, &states[..defined]);
                    prop_assert!(place.is_some());
                    let end = tree.at(place.unwrap());
                    match states.get(defined) {
                        Some((state, _)) => prop_assert!(matches!(end, At::State(known) if known == *state)),
                        None => prop_assert!(matches!(end, At::End(_))),
                    }
                }
            }
            let mut complete: Vec<_> = inserted.into_iter().filter(|s| s.iter().all(|(_, v)| v.is_some())).collect();
            complete.sort();
            complete.dedup();
            let mut paths: Vec<_> = tree.paths().into_iter().map(|(path, _)| path).collect();
            paths.sort();
            prop_assert_eq!(paths, complete);
        }
    }
}
