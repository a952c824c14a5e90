//! Finds decisions that would have led to other values if made in another way.

use patchwright_ir::{InstructionKind, RoutineId};
use rustc_hash::FxHashMap;

use super::{
    Decision, Edge, Read, Recorder,
    instance::{Instance, NONE},
};
use crate::{
    bits::Bits,
    control::Decider,
    graph::{Graph, Vertex, VertexId},
};

/// What decisions might have changed, had they been made in another way.
pub(super) struct Potential {
    /// For each local of an activation, the decisions with a way not taken that may write it.
    registers: FxHashMap<(u32, u32), Pool>,
    /// The same for each location.
    locations: FxHashMap<u32, Pool>,
    /// The locations that a vertex may read.
    reads: FxHashMap<u32, Bits>,
    /// Decisions with a way not taken on which the criterion may be executed, in order.
    pub(super) to_criterion: Vec<Instance>,
}

/// What may happen on the ways that a decision did not take.
struct NotTaken {
    registers: Bits,
    locations: Bits,
    /// The criterion may be executed.
    criterion: bool,
}

/// Instances in order, each of which is taken out once.
#[derive(Default)]
struct Pool {
    items: Vec<Instance>,
    /// The first one from here on that is still in.
    next: Vec<u32>,
}

impl Pool {
    fn take(&mut self, after: Option<Instance>, before: Instance, out: &mut Vec<Instance>) {
        if self.next.is_empty() {
            self.next = (0..=self.items.len() as u32).collect();
        }
        let start = match after {
            Some(after) => self.items.partition_point(|&item| item <= after),
            None => 0,
        };
        let mut at = self.find(start as u32);
        while let Some(&item) = self.items.get(at as usize)
            && item < before
        {
            out.push(item);
            self.next[at as usize] = at + 1;
            at = self.find(at + 1);
        }
    }

    fn find(&mut self, mut at: u32) -> u32 {
        let mut root = at;
        while self.next[root as usize] != root {
            root = self.next[root as usize];
        }
        while self.next[at as usize] != root {
            at = std::mem::replace(&mut self.next[at as usize], root);
        }
        root
    }
}

impl Potential {
    /// Collects what could have led to the criterion if a decision of the recorded execution had been another one.
    pub(super) fn of(recorder: &Recorder<'_, '_>, criterion: &Bits) -> Potential {
        let mut potential = Potential {
            registers: FxHashMap::default(),
            locations: FxHashMap::default(),
            reads: FxHashMap::default(),
            to_criterion: Vec::new(),
        };
        let leading = leading_to(recorder.graph, criterion);
        let mut written: FxHashMap<(RoutineId, u32, u32), NotTaken> = FxHashMap::default();
        for decision in &recorder.decisions {
            let Decision {
                instance,
                activation,
                routine,
                segment,
                taken,
            } = *decision;
            let other = written.entry((routine, segment, taken)).or_insert_with(|| {
                let mut other = not_taken(recorder.graph, routine, segment, taken);
                other.1.criterion = other.0.iter().any(|segment| {
                    let control = recorder.graph.parts[routine.index()].control.as_ref();
                    control.is_some_and(|control| {
                        let segment = control.segments[segment as usize];
                        (segment.start..segment.end).any(|position| {
                            let at = recorder.graph.instruction(routine, segment.block, position);
                            at.is_some_and(|at| leading.contains(at.0))
                        })
                    })
                });
                other.1
            });
            if other.criterion {
                potential.to_criterion.push(instance);
            }
            for local in other.registers.iter() {
                let pool = potential.registers.entry((activation, local)).or_default();
                pool.items.push(instance);
            }
            for location in other.locations.iter() {
                let pool = potential.locations.entry(location).or_default();
                pool.items.push(instance);
            }
        }
        for pool in potential
            .registers
            .values_mut()
            .chain(potential.locations.values_mut())
        {
            pool.items.sort_unstable();
        }
        potential
    }

    /// Adds the decisions behind the write and before the read of a dependence.
    pub(super) fn decisions(
        &mut self,
        recorder: &Recorder<'_, '_>,
        edge: Edge,
        out: &mut Vec<Instance>,
    ) {
        let after = (edge.to != NONE).then_some(edge.to);
        match edge.read {
            Read::Fixed => {}
            Read::Register(local) => {
                let activation = recorder.owners[edge.from as usize];
                if let Some(pool) = self.registers.get_mut(&(activation, local)) {
                    pool.take(after, edge.from, out);
                }
            }
            Read::Memory => {
                let vertex = recorder.instances[edge.from as usize];
                let reads = self
                    .reads
                    .entry(vertex)
                    .or_insert_with(|| reads_of(recorder.graph, VertexId(vertex)))
                    .clone();
                for location in reads.iter() {
                    if let Some(pool) = self.locations.get_mut(&location) {
                        pool.take(after, edge.from, out);
                    }
                }
            }
        }
    }
}

/// The criterion, and the calls that may get to it.
fn leading_to(graph: &Graph<'_>, criterion: &Bits) -> Bits {
    let mut leading = criterion.clone();
    let mut routines: Vec<RoutineId> = Vec::new();
    let mut todo: Vec<VertexId> = criterion.iter().map(VertexId).collect();
    while let Some(vertex) = todo.pop() {
        let routine = graph.routine_of(vertex);
        if routines.contains(&routine) {
            continue;
        }
        routines.push(routine);
        for &site in &graph.callers[routine.index()] {
            let node = graph.sites[site as usize].node;
            leading.insert(node.0);
            todo.push(node);
        }
    }
    leading
}

/// The segments that decide on the ways out of a segment that were not taken, and what is written there.
fn not_taken(graph: &Graph<'_>, routine: RoutineId, segment: u32, taken: u32) -> (Bits, NotTaken) {
    let (mut registers, mut locations) = (Bits::default(), Bits::default());
    let mut inside = Bits::default();
    let Some(control) = &graph.parts[routine.index()].control else {
        let other = NotTaken {
            registers,
            locations,
            criterion: false,
        };
        return (inside, other);
    };
    let mut todo: Vec<u32> = Vec::new();
    for (way, &target) in control.ways[segment as usize].iter().enumerate() {
        if target as u32 == taken {
            continue;
        }
        let decider = Decider::End(segment, way as u32);
        for (other, deciders) in control.deciders.iter().enumerate() {
            if deciders.contains(&decider) && inside.insert(other as u32) {
                todo.push(other as u32);
            }
        }
    }
    while let Some(from) = todo.pop() {
        for (other, deciders) in control.deciders.iter().enumerate() {
            let decided = deciders
                .iter()
                .any(|decider| matches!(decider, Decider::End(by, _) if *by == from));
            if decided && inside.insert(other as u32) {
                todo.push(other as u32);
            }
        }
    }
    let function = graph.program.function(routine);
    for segment in inside.iter() {
        let segment = control.segments[segment as usize];
        let instructions = &function.block(segment.block).instructions;
        for position in segment.start..segment.end.min(instructions.len() as u32) {
            let instruction = &instructions[position as usize];
            if let InstructionKind::Write { local, .. } = instruction.kind {
                registers.insert(local.0);
            }
            locations.union(&graph.writes_of(routine, segment.block, position));
        }
    }
    let other = NotTaken {
        registers,
        locations,
        criterion: false,
    };
    (inside, other)
}

fn reads_of(graph: &Graph<'_>, vertex: VertexId) -> Bits {
    match graph.vertex(vertex) {
        Vertex::Instruction(routine, block, position) => graph.reads_of(routine, block, position),
        _ => Bits::default(),
    }
}
