//! Static slices that respect calling contexts.
//!
//! The algorithm is that of Horwitz, Reps and Binkley ("Interprocedural slicing using dependence graphs", 1990). Summaries of calls are computed
//! as by Reps et al. ("Speeding up slicing", 1994), with a set of bits in place of their single path edges.

use std::{cell::RefCell, collections::BTreeSet};

use patchwright_ir::RoutineId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    bits::Bits,
    graph::{DependenceKind, Graph, Slot, Vertex, VertexId, find},
};

/// Which way between routines a walk may take.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// From routines to their callers.
    Up,
    /// From callers to what they call.
    Down,
}

/// Which outs of a routine depend on which of its ins. In routines that call each other, most outs depend on the same ins, so
/// such outs are a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    groups: Vec<Group>,
    /// The group of each out, by its position; none where it depends on no in.
    group_of: Vec<Option<u32>>,
}

/// Outs that depend on the same ins, by their positions.
#[derive(Clone, Debug)]
struct Group {
    outs: Vec<u32>,
    ins: Vec<u32>,
}

impl Ways {
    /// `reached` has the outs that depend on each in.
    fn of<'b>(outs: usize, reached: impl Iterator<Item = &'b Bits>) -> Ways {
        let mut ins = vec![Bits::default(); outs];
        for (position, reached) in reached.enumerate() {
            for out in reached.iter() {
                ins[out as usize].insert(position as u32);
            }
        }
        let mut ways = Ways::default();
        let mut known: FxHashMap<Bits, u32> = FxHashMap::default();
        for (out, ins) in ins.into_iter().enumerate() {
            if ins.is_empty() {
                ways.group_of.push(None);
                continue;
            }
            let groups = &mut ways.groups;
            let number = match known.get(&ins) {
                Some(&number) => number,
                None => {
                    groups.push(Group {
                        outs: Vec::new(),
                        ins: ins.iter().collect(),
                    });
                    known.insert(ins, groups.len() as u32 - 1);
                    groups.len() as u32 - 1
                }
            };
            groups[number as usize].outs.push(out as u32);
            ways.group_of.push(Some(number));
        }
        ways
    }
}

/// A walk over the vertices of a routine.
struct Walk<'r> {
    /// The first vertex of the routine.
    start: u32,
    todo: Vec<u32>,
    /// What is in `todo`, counted from `start`.
    waiting: Bits,
    /// For each vertex of the program, the outs of its routine that depend on it.
    reached: &'r mut [Bits],
}

impl Walk<'_> {
    /// These outs depend on a vertex; true if that is new.
    fn reach(&mut self, to: VertexId, outs: &Bits) -> bool {
        let new = self.reached[to.0 as usize].union(outs);
        if new && self.waiting.insert(to.0 - self.start) {
            self.todo.push(to.0);
        }
        new
    }
}

/// The vertices of a call that belong to the slots of a routine, by position; none where the call has no such slot.
fn matching(slots: &[(Slot, VertexId)], of_call: &[(Slot, VertexId)]) -> Vec<Option<VertexId>> {
    let mut others = of_call.iter().peekable();
    let matching = slots.iter().map(|&(slot, _)| {
        while others.next_if(|&&(other, _)| other < slot).is_some() {}
        let other = others.peek();
        other.and_then(|&&(other, vertex)| (other == slot).then_some(vertex))
    });
    matching.collect()
}

impl Graph<'_> {
    /// Finds which outs of each routine depend on which of its ins, by way of those that it calls, too.
    pub(crate) fn summarize(&mut self) {
        let mut reached = vec![Bits::default(); self.vertices.len()];
        let mut ways = vec![Ways::default(); self.parts.len()];
        let mut dirty = vec![true; self.parts.len()];
        let mut started = vec![false; self.parts.len()];
        let order: Vec<RoutineId> = self.calls.bottom_up().to_vec();
        loop {
            let mut changed = false;
            for &routine in &order {
                if !std::mem::take(&mut dirty[routine.index()]) {
                    continue;
                }
                changed = true;
                let first = !std::mem::replace(&mut started[routine.index()], true);
                if self.summarize_routine(routine, first, &ways, &mut reached) {
                    let part = &self.parts[routine.index()];
                    let ins = part
                        .ins
                        .iter()
                        .map(|(_, vertex)| &reached[vertex.0 as usize]);
                    ways[routine.index()] = Ways::of(part.outs.len(), ins);
                    for &site in &self.callers[routine.index()] {
                        let caller = self.routine_of(self.sites[site as usize].node);
                        dirty[caller.index()] = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        self.summaries = ways;
    }

    /// For each vertex of a routine, the outs of the routine that depend on it, by their positions. True if what its ins lead to has
    /// changed.
    fn summarize_routine(
        &self,
        routine: RoutineId,
        first: bool,
        ways: &[Ways],
        reached: &mut [Bits],
    ) -> bool {
        let part = &self.parts[routine.index()];
        let range = part.range.0..part.range.1;
        let mut todo: Vec<u32> = Vec::new();
        // Calls whose outs have more to hand on; the last ones first.
        let mut calls: BTreeSet<u32> = BTreeSet::new();
        if first {
            for (position, &(_, out)) in part.outs.iter().enumerate() {
                reached[out.0 as usize].insert(position as u32);
                todo.push(out.0);
            }
        } else {
            let begin = self.sites.partition_point(|site| site.node.0 < range.start);
            let end = self.sites.partition_point(|site| site.node.0 < range.end);
            calls.extend(begin as u32..end as u32);
        }
        let mut walk = Walk {
            start: range.start,
            waiting: todo.iter().map(|vertex| vertex - range.start).collect(),
            todo,
            reached,
        };
        let mut changed = false;
        loop {
            if let Some(vertex) = walk.todo.pop() {
                walk.waiting.remove(vertex - range.start);
                let set = std::mem::take(&mut walk.reached[vertex as usize]);
                for (to, kind) in self.dependences(VertexId(vertex)) {
                    let inside = matches!(kind, DependenceKind::Control | DependenceKind::Data);
                    if inside && to.0 != vertex {
                        changed |= walk.reach(to, &set) && self.is_formal_in(to);
                    }
                }
                walk.reached[vertex as usize] = set;
                if let Vertex::ActualOut(site, _) = self.vertices[vertex as usize] {
                    calls.insert(site);
                }
                continue;
            }
            let Some(number) = calls.pop_last() else {
                return changed;
            };
            let site = &self.sites[number as usize];
            for callee in &site.bodies {
                let part = &self.parts[callee.index()];
                let outs = matching(&part.outs, &site.outs);
                let ins = matching(&part.ins, &site.ins);
                for group in &ways[callee.index()].groups {
                    let mut set = Bits::default();
                    for out in group.outs.iter().filter_map(|&out| outs[out as usize]) {
                        set.union(&walk.reached[out.0 as usize]);
                    }
                    if set.is_empty() {
                        continue;
                    }
                    for to in group.ins.iter().filter_map(|&at| ins[at as usize]) {
                        changed |= walk.reach(to, &set) && self.is_formal_in(to);
                    }
                }
            }
        }
    }

    fn is_formal_in(&self, vertex: VertexId) -> bool {
        matches!(self.vertex(vertex), Vertex::FormalIn(..))
    }

    /// Returns the backward slice: all vertices on which the criteria may depend, and the criteria.
    pub fn backward(&self, criteria: &[VertexId]) -> Bits {
        let gone = RefCell::new(FxHashSet::default());
        in_two_phases(criteria, |vertex, phase, reach| {
            for (to, kind) in self.dependences(vertex) {
                let follow = match kind {
                    DependenceKind::Control | DependenceKind::Data => true,
                    DependenceKind::In => phase == Phase::Up,
                    DependenceKind::Out => phase == Phase::Down,
                };
                if follow {
                    reach(to);
                }
            }
            let Vertex::ActualOut(number, slot) = self.vertex(vertex) else {
                return;
            };
            let site = &self.sites[number as usize];
            for callee in &site.bodies {
                let part = &self.parts[callee.index()];
                let ways = &self.summaries[callee.index()];
                let Some(out) = position(&part.outs, slot) else {
                    continue;
                };
                let Some(group) = ways.group_of.get(out).copied().flatten() else {
                    continue;
                };
                // The others of a group lead to the same vertices.
                if !gone.borrow_mut().insert((phase, number, *callee, group)) {
                    continue;
                }
                for &at in &ways.groups[group as usize].ins {
                    if let Some(actual) = find(&site.ins, part.ins[at as usize].0) {
                        reach(actual);
                    }
                }
            }
        })
    }

    /// Returns the forward slice: all vertices that may depend on the criteria, and the criteria.
    pub fn forward(&self, criteria: &[VertexId]) -> Bits {
        let gone = RefCell::new(FxHashSet::default());
        in_two_phases(criteria, |vertex, phase, reach| {
            for (to, kind) in self.dependents(vertex) {
                let follow = match kind {
                    DependenceKind::Control | DependenceKind::Data => true,
                    DependenceKind::In => phase == Phase::Down,
                    DependenceKind::Out => phase == Phase::Up,
                };
                if follow {
                    reach(to);
                }
            }
            let Vertex::ActualIn(number, slot) = self.vertex(vertex) else {
                return;
            };
            let site = &self.sites[number as usize];
            for callee in &site.bodies {
                let part = &self.parts[callee.index()];
                let Some(at) = position(&part.ins, slot) else {
                    continue;
                };
                for (index, group) in self.summaries[callee.index()].groups.iter().enumerate() {
                    let leads = group.ins.binary_search(&(at as u32)).is_ok();
                    if !leads
                        || !gone
                            .borrow_mut()
                            .insert((phase, number, *callee, index as u32))
                    {
                        continue;
                    }
                    for &out in &group.outs {
                        if let Some(actual) = find(&site.outs, part.outs[out as usize].0) {
                            reach(actual);
                        }
                    }
                }
            }
        })
    }
}

/// The place of a slot in a list in the order of the slots.
fn position(slots: &[(Slot, VertexId)], slot: Slot) -> Option<usize> {
    slots.binary_search_by_key(&slot, |&(slot, _)| slot).ok()
}

/// What is reached from the criteria in the callers first, and from all of that in what they call.
/// `next` hands over the vertices that come next in a phase.
fn in_two_phases(
    criteria: &[VertexId],
    next: impl Fn(VertexId, Phase, &mut dyn FnMut(VertexId)),
) -> Bits {
    let reached = |from: &mut dyn Iterator<Item = VertexId>, phase: Phase| {
        let mut seen = Bits::default();
        let mut todo: Vec<VertexId> = from.filter(|vertex| seen.insert(vertex.0)).collect();
        while let Some(vertex) = todo.pop() {
            next(vertex, phase, &mut |to| {
                if seen.insert(to.0) {
                    todo.push(to);
                }
            });
        }
        seen
    };
    let mut slice = reached(&mut criteria.iter().copied(), Phase::Up);
    let below = reached(&mut slice.iter().map(VertexId), Phase::Down);
    slice.union(&below);
    slice
}
