//! Static slices that respect calling contexts: Horwitz, Reps and Binkley, "Interprocedural
//! slicing using dependence graphs", 1990; the summaries as in Reps et al., "Speeding up slicing",
//! 1994, with a set of bits where they have one path edge for each bit.

use patchwright_ir::RoutineId;

use crate::{
    bits::Bits,
    graph::{DependenceKind, Graph, Vertex, VertexId, find},
};

/// Which way between routines a walk may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// From routines to their callers.
    Up,
    /// From callers to what they call.
    Down,
}

impl Graph<'_> {
    /// For each vertex the outs of its routine that depend on it, by their positions; kept for
    /// the ins.
    pub(crate) fn summarize(&mut self) {
        let mut reached = vec![Bits::default(); self.vertices.len()];
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
                if self.summarize_routine(routine, first, &mut reached) {
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
        for (index, vertex) in self.vertices.iter().enumerate() {
            if !matches!(vertex, Vertex::FormalIn(..)) {
                reached[index] = Bits::default();
            }
        }
        self.summaries = reached;
    }

    /// True if what the ins lead to has changed.
    fn summarize_routine(&self, routine: RoutineId, first: bool, reached: &mut [Bits]) -> bool {
        let part = &self.parts[routine.index()];
        let mut todo: Vec<u32> = Vec::new();
        if first {
            for (position, &(_, out)) in part.outs.iter().enumerate() {
                reached[out.0 as usize].insert(position as u32);
                todo.push(out.0);
            }
        } else {
            let outs = (part.range.0..part.range.1)
                .filter(|&vertex| matches!(self.vertices[vertex as usize], Vertex::ActualOut(..)));
            todo.extend(outs);
        }
        let mut waiting: Bits = todo.iter().map(|vertex| vertex - part.range.0).collect();
        let mut changed = false;
        while let Some(vertex) = todo.pop() {
            waiting.remove(vertex - part.range.0);
            let set = reached[vertex as usize].clone();
            if set.is_empty() {
                continue;
            }
            let mut reach = |to: VertexId, reached: &mut [Bits]| {
                if reached[to.0 as usize].union(&set) {
                    changed |= matches!(self.vertices[to.0 as usize], Vertex::FormalIn(..));
                    if waiting.insert(to.0 - part.range.0) {
                        todo.push(to.0);
                    }
                }
            };
            for (to, kind) in self.dependences(VertexId(vertex)) {
                if matches!(kind, DependenceKind::Control | DependenceKind::Data) {
                    reach(to, reached);
                }
            }
            if let Vertex::ActualOut(site, slot) = self.vertices[vertex as usize] {
                let site = &self.sites[site as usize];
                for callee in &site.bodies {
                    let callee = &self.parts[callee.index()];
                    let Ok(out) = callee.outs.binary_search_by_key(&slot, |&(slot, _)| slot) else {
                        continue;
                    };
                    for &(slot, formal) in &callee.ins {
                        if reached[formal.0 as usize].contains(out as u32)
                            && let Some(actual) = find(&site.ins, slot)
                        {
                            reach(actual, reached);
                        }
                    }
                }
            }
        }
        changed
    }

    /// The backward slice: all that the criteria may depend on, and the criteria.
    pub fn backward(&self, criteria: &[VertexId]) -> Bits {
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
            let Vertex::ActualOut(site, slot) = self.vertex(vertex) else {
                return;
            };
            let site = &self.sites[site as usize];
            for callee in &site.bodies {
                let callee = &self.parts[callee.index()];
                let Ok(out) = callee.outs.binary_search_by_key(&slot, |&(slot, _)| slot) else {
                    continue;
                };
                for &(slot, formal) in &callee.ins {
                    if self.summaries[formal.0 as usize].contains(out as u32)
                        && let Some(actual) = find(&site.ins, slot)
                    {
                        reach(actual);
                    }
                }
            }
        })
    }

    /// The forward slice: all that may depend on the criteria, and the criteria.
    pub fn forward(&self, criteria: &[VertexId]) -> Bits {
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
            let Vertex::ActualIn(site, slot) = self.vertex(vertex) else {
                return;
            };
            let site = &self.sites[site as usize];
            for callee in &site.bodies {
                let callee = &self.parts[callee.index()];
                let Some(formal) = find(&callee.ins, slot) else {
                    continue;
                };
                for out in self.summaries[formal.0 as usize].iter() {
                    let (slot, _) = callee.outs[out as usize];
                    if let Some(actual) = find(&site.outs, slot) {
                        reach(actual);
                    }
                }
            }
        })
    }
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
