//! Computes the smallest sets that fulfil the constraints.

use patchwright_graph::components;
use patchwright_ir::{RoutineId, Type};

use super::{
    CONSTANTS, Location, NodeId,
    constraints::{Complex, Solver},
    may_be_called,
    sparse::Sparse,
};

/// Pairs of objects for which a copy goes by offsets.
const MOST_PAIRS: usize = 64;

impl Solver<'_> {
    /// Propagates the sets until no constraint adds anything.
    pub(super) fn solve(&mut self) {
        loop {
            self.changed = false;
            let order = self.collapse();
            for &node in &order {
                let targets: Vec<NodeId> = self.copies[node as usize].iter().copied().collect();
                let set = std::mem::take(&mut self.result.sets[node as usize]);
                for target in targets {
                    let target = self.result.root(target);
                    if target != node {
                        self.result.sets[target as usize].union(&set);
                    }
                }
                self.result.sets[node as usize] = set;
            }
            for &node in &order {
                self.apply(node);
            }
            if !self.changed {
                return;
            }
        }
    }

    /// Applies the constraints of a node to what is new in its set.
    fn apply(&mut self, node: NodeId) {
        if self.complex[node as usize].is_empty() {
            return;
        }
        let set = self.result.sets[node as usize].clone();
        let new = set.without(&self.seen[node as usize]);
        if new.is_empty() {
            return;
        }
        self.seen[node as usize] = set;
        self.changed = true;
        let constraints = self.complex[node as usize].clone();
        for constraint in constraints {
            for id in new.iter() {
                let (base, _) = self.result.pointees[id as usize];
                let location = self.result.bases[base as usize];
                let is_function = matches!(location, Location::Function(_));
                match constraint {
                    Complex::Load(to) if !is_function => {
                        let from = self.place(id).loaded;
                        self.copy(to, from);
                    }
                    // What is constant is not written.
                    Complex::Store(from) if base != CONSTANTS && !is_function => {
                        let to = self.place(id).stored;
                        self.copy(to, from);
                    }
                    Complex::Load(_) | Complex::Store(_) => {}
                    Complex::Call(number) => {
                        if let Location::Function(callee) = location {
                            self.indirect(callee, number);
                        }
                    }
                    Complex::Move(to, by) => {
                        let moved = self.moved(id, by);
                        self.add(to, moved);
                    }
                    Complex::CopyFrom(number) => match self.between(number) {
                        Some(between) => self.load_range(between, id, number),
                        None => {
                            let copy = self.byte_copies[number as usize];
                            for to in self.set_of(copy.to) {
                                self.copy_bytes(id, to, copy.size);
                            }
                        }
                    },
                    Complex::CopyTo(number) => match self.between(number) {
                        Some(between) => self.store_range(id, between, number),
                        None => {
                            let copy = self.byte_copies[number as usize];
                            for from in self.set_of(copy.from) {
                                self.copy_bytes(from, id, copy.size);
                            }
                        }
                    },
                }
            }
        }
    }

    /// What a copy goes through, if it has too many pairs of objects.
    fn between(&mut self, number: u32) -> Option<NodeId> {
        let copy = self.byte_copies[number as usize];
        if copy.between.is_some() {
            return copy.between;
        }
        let (from, to) = (self.set_of(copy.from), self.set_of(copy.to));
        if from.len() * to.len() <= MOST_PAIRS {
            return None;
        }
        let between = self.node();
        self.byte_copies[number as usize].between = Some(between);
        for id in from {
            self.load_range(between, id, number);
        }
        for id in to {
            self.store_range(id, between, number);
        }
        Some(between)
    }

    fn set_of(&self, node: NodeId) -> Vec<u32> {
        let root = self.result.root(node);
        self.result.sets[root as usize].iter().collect()
    }

    fn indirect(&mut self, callee: RoutineId, number: u32) {
        let call = self.calls[number as usize].clone();
        let function = self.program.function(callee);
        let types: Vec<Type> = call.arguments.iter().map(|&(ty, _)| ty).collect();
        if call.strict && !may_be_called(function, &types, call.result) {
            return;
        }
        let known = self.result.callees.entry(call.place).or_default();
        if !known.contains(&callee) {
            known.push(callee);
            known.sort_unstable();
        }
        self.called(callee, &call);
    }

    /// Makes one node of each cycle of copies; the nodes that are left, in topological order.
    fn collapse(&mut self) -> Vec<NodeId> {
        let count = self.result.sets.len();
        let own = (1..count).filter(|&node| self.result.parent[node] == node as NodeId);
        let targets = |node: usize| -> Vec<usize> {
            let targets = self.copies[node].iter();
            targets
                .map(|&target| self.result.root(target) as usize)
                .collect()
        };
        let (mut order, mut cycles) = (Vec::new(), Vec::new());
        components(count, own, targets, |members| {
            order.push(members[0] as NodeId);
            if members.len() > 1 {
                cycles.push(members.to_vec());
            }
        });
        for members in cycles {
            for &member in members[1..].iter().rev() {
                self.merge(members[0] as NodeId, member as NodeId);
            }
        }
        order.reverse();
        order
    }

    fn merge(&mut self, into: NodeId, from: NodeId) {
        self.result.parent[from as usize] = into;
        let set = std::mem::take(&mut self.result.sets[from as usize]);
        self.result.sets[into as usize].union(&set);
        let copies = std::mem::take(&mut self.copies[from as usize]);
        self.copies[into as usize].extend(copies);
        let complex = std::mem::take(&mut self.complex[from as usize]);
        if !complex.is_empty() {
            self.complex[into as usize].extend(complex);
            // They have not seen all of the common set.
            self.seen[into as usize] = Sparse::default();
        }
    }
}
