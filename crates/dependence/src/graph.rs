//! The system dependence graph of a program.

mod build;

use patchwright_ir::{BlockId, LocalId, LocalKind, Program, RoutineId};
use rustc_hash::FxHashMap;

use crate::{
    bits::Bits,
    call_graph::CallGraph,
    classes::representatives,
    control::Control,
    effects::{Effects, Facts, Summary, reached_by_unknown, result_place},
    points_to::{Location, LocationId, PointsTo},
    private::Private,
    slice::Ways,
    ssa::{Definition, Resource},
};
use build::Builder;

/// The number of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VertexId(pub u32);

/// What goes into a routine or comes out of it: a parameter, a location in memory, or the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// A declared parameter.
    Parameter(u32),
    /// The arguments that are not declared.
    Rest,
    /// What a location holds.
    Memory(LocationId),
    /// The value.
    Result,
    /// That it returns at all.
    Return,
}

/// What a vertex stands for: an instruction, or a slot of a routine or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vertex {
    /// A routine is entered.
    Entry(RoutineId),
    /// An instruction; at the number of instructions of its block, the terminator.
    Instruction(RoutineId, BlockId, u32),
    /// What goes into a routine.
    FormalIn(RoutineId, Slot),
    /// What comes out of a routine.
    FormalOut(RoutineId, Slot),
    /// What a call hands in; the number is that of the call.
    ActualIn(u32, Slot),
    /// What a call gives back.
    ActualOut(u32, Slot),
    /// Definitions of a variable or location meet, or may be one.
    Meeting(RoutineId),
}

/// The kind of a dependence: by control, by a value, or between a call and a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependenceKind {
    /// It decides whether the vertex is executed.
    Control,
    /// The vertex uses what it computes.
    Data,
    /// A routine is entered by a call, a parameter has the value of an argument.
    In,
    /// What a call gives is what the routine gives.
    Out,
}

/// A call in the graph.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The vertex of the instruction.
    pub(crate) node: VertexId,
    pub(crate) bodies: Vec<RoutineId>,
    /// In order of the slots.
    pub(crate) ins: Vec<(Slot, VertexId)>,
    pub(crate) outs: Vec<(Slot, VertexId)>,
}

/// A routine in the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// The numbers of its first vertex and of the one behind its last.
    pub(crate) range: (u32, u32),
    /// In order of the slots.
    pub(crate) ins: Vec<(Slot, VertexId)>,
    pub(crate) outs: Vec<(Slot, VertexId)>,
    /// For each block, the vertex of its first instruction.
    blocks: Vec<Option<u32>>,
    /// The numbers of its locations as resources, behind those of its locals.
    resources: FxHashMap<u32, Resource>,
    definitions: Vec<Vec<Definition>>,
    entry: Vec<(Resource, u32)>,
    pub(crate) control: Option<Control>,
}

/// The system dependence graph of a program, with the analyses that it stands on.
#[derive(Debug)]
pub struct Graph<'p> {
    pub(crate) program: &'p Program,
    pub(crate) points_to: PointsTo,
    pub(crate) calls: CallGraph,
    private: Private,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) parts: Vec<Part>,
    pub(crate) sites: Vec<Site>,
    /// The sites that may call each routine.
    pub(crate) callers: Vec<Vec<u32>>,
    /// What each vertex depends on, and what depends on it.
    backward: Edges,
    forward: Edges,
    unknown: Bits,
    /// The parts of locations that stand for all.
    representatives: Bits,
    /// For each routine, which of its formal-outs depend on which formal-ins.
    pub(crate) summaries: Vec<Ways>,
}

/// Edges by the vertex that they start at.
#[derive(Clone, Debug, Default)]
struct Edges {
    first: Vec<u32>,
    list: Vec<(u32, DependenceKind)>,
}

impl Edges {
    fn of(count: usize, edges: &[(u32, u32, DependenceKind)], reversed: bool) -> Edges {
        let from = |edge: &(u32, u32, DependenceKind)| if reversed { edge.1 } else { edge.0 };
        let mut first = vec![0u32; count + 1];
        for edge in edges {
            first[from(edge) as usize + 1] += 1;
        }
        for index in 0..count {
            first[index + 1] += first[index];
        }
        let mut next = first.clone();
        let mut list = vec![(0, DependenceKind::Data); edges.len()];
        for edge in edges {
            let to = if reversed { edge.0 } else { edge.1 };
            let at = &mut next[from(edge) as usize];
            list[*at as usize] = (to, edge.2);
            *at += 1;
        }
        Edges { first, list }
    }

    fn from(&self, vertex: u32) -> &[(u32, DependenceKind)] {
        let (a, b) = (self.first[vertex as usize], self.first[vertex as usize + 1]);
        &self.list[a as usize..b as usize]
    }
}

impl<'p> Graph<'p> {
    /// Builds the system dependence graph of a linked program.
    pub fn of(program: &'p Program) -> Graph<'p> {
        let points_to = PointsTo::of(program);
        let calls = CallGraph::of(program, &points_to);
        let private = Private::of(program, &points_to, &calls);
        let unknown = reached_by_unknown(&points_to);
        let (vertices, parts, sites, edges, representatives) = {
            let mut facts = Facts {
                program,
                points_to: &points_to,
                calls: &calls,
                private: &private,
                representatives: None,
            };
            let representatives = representatives(facts, &unknown);
            facts.representatives = Some(&representatives);
            let summary = Summary::of(facts, &unknown);
            let mut builder = Builder {
                facts,
                summary: &summary,
                unknown: &unknown,
                vertices: Vec::new(),
                edges: Vec::new(),
                parts: vec![Part::default(); program.routines.len()],
                sites: Vec::new(),
            };
            for routine in program.routine_ids() {
                if let Some(function) = program.body(routine) {
                    builder.routine(routine, function);
                }
            }
            builder.link();
            let Builder {
                vertices,
                parts,
                sites,
                mut edges,
                ..
            } = builder;
            edges.sort_unstable();
            edges.dedup();
            (vertices, parts, sites, edges, representatives)
        };
        let mut callers = vec![Vec::new(); program.routines.len()];
        for (index, site) in sites.iter().enumerate() {
            for callee in &site.bodies {
                callers[callee.index()].push(index as u32);
            }
        }
        let mut graph = Graph {
            backward: Edges::of(vertices.len(), &edges, false),
            forward: Edges::of(vertices.len(), &edges, true),
            summaries: Vec::new(),
            program,
            points_to,
            calls,
            private,
            vertices,
            parts,
            sites,
            callers,
            unknown,
            representatives,
        };
        graph.summarize();
        graph
    }

    /// Returns the program of which this is the graph.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Returns the points-to analysis of the program.
    pub fn points_to(&self) -> &PointsTo {
        &self.points_to
    }

    /// Returns the call graph of the program.
    pub fn calls(&self) -> &CallGraph {
        &self.calls
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the number of dependences, without those between the slots of a call.
    pub fn edge_count(&self) -> usize {
        self.backward.list.len()
    }

    /// Returns what a vertex stands for.
    pub fn vertex(&self, id: VertexId) -> Vertex {
        self.vertices[id.0 as usize]
    }

    /// Returns the vertex of an instruction. The position behind the last one is the terminator. It
    /// is `None` if control cannot get there.
    pub fn instruction(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
    ) -> Option<VertexId> {
        let first = (*self.parts[routine.index()].blocks.get(block.index())?)?;
        Some(VertexId(first + position))
    }

    /// Returns the vertices on which a vertex depends directly.
    pub fn dependences(
        &self,
        id: VertexId,
    ) -> impl Iterator<Item = (VertexId, DependenceKind)> + '_ {
        let edges = self.backward.from(id.0).iter();
        edges.map(|&(to, kind)| (VertexId(to), kind))
    }

    /// Returns the vertices that depend directly on a vertex.
    pub fn dependents(
        &self,
        id: VertexId,
    ) -> impl Iterator<Item = (VertexId, DependenceKind)> + '_ {
        let edges = self.forward.from(id.0).iter();
        edges.map(|&(to, kind)| (VertexId(to), kind))
    }

    /// Returns the routine to which a vertex belongs.
    pub fn routine_of(&self, id: VertexId) -> RoutineId {
        match self.vertex(id) {
            Vertex::Entry(routine)
            | Vertex::Instruction(routine, ..)
            | Vertex::FormalIn(routine, _)
            | Vertex::FormalOut(routine, _)
            | Vertex::Meeting(routine) => routine,
            Vertex::ActualIn(site, _) | Vertex::ActualOut(site, _) => {
                self.routine_of(self.sites[site as usize].node)
            }
        }
    }

    /// Returns the vertex of an instruction and that of its value. They differ for calls of routines
    /// with a body.
    pub fn with_value(&self, id: VertexId) -> Vec<VertexId> {
        let is_value =
            |&other: &VertexId| matches!(self.vertex(other), Vertex::ActualOut(_, Slot::Result));
        let values = self.site_vertices(id).filter(is_value);
        std::iter::once(id).chain(values).collect()
    }

    /// Returns the vertices of a call's arguments and results.
    pub(crate) fn site_vertices(&self, node: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let site = self.sites.binary_search_by_key(&node, |site| site.node);
        let site = site.ok().map(|index| &self.sites[index]);
        site.into_iter()
            .flat_map(|site| site.ins.iter().chain(&site.outs))
            .map(|&(_, vertex)| vertex)
    }

    /// Returns the locations that an instruction may read, by itself or by the functions that it calls.
    pub(crate) fn reads_of(&self, routine: RoutineId, block: BlockId, position: u32) -> Bits {
        self.effects_of(routine, block, position).reads
    }

    /// Returns the locations that an instruction may write, by itself or by the functions that it calls.
    pub(crate) fn writes_of(&self, routine: RoutineId, block: BlockId, position: u32) -> Bits {
        self.effects_of(routine, block, position).writes
    }

    fn effects_of(&self, routine: RoutineId, block: BlockId, position: u32) -> Effects {
        let function = self.program.function(routine);
        let Some(instruction) = function.block(block).instructions.get(position as usize) else {
            return Effects::default();
        };
        let place = (block, position);
        let mut effects = self
            .facts()
            .of_instruction(routine, place, instruction, &self.unknown);
        let node = self.instruction(routine, block, position);
        let site = node.and_then(|node| {
            let at = self.sites.binary_search_by_key(&node, |site| site.node);
            Some(&self.sites[at.ok()?])
        });
        if let Some(site) = site {
            for (slots, set) in [
                (&site.ins, &mut effects.reads),
                (&site.outs, &mut effects.writes),
            ] {
                for (slot, _) in slots {
                    if let Slot::Memory(location) = slot {
                        set.insert(location.0);
                    }
                }
            }
        }
        if let Some((writes, _)) = result_place(self.facts(), routine, instruction) {
            effects.writes.union(&writes);
        }
        effects
    }

    /// Returns the results of the analyses that the graph stands on.
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            program: self.program,
            points_to: &self.points_to,
            calls: &self.calls,
            private: &self.private,
            representatives: Some(&self.representatives),
        }
    }

    /// Returns the vertices that define a local (a register, or the parts of an object) at a place. There are none if the local
    /// has no value there, or if the routine does not touch it.
    pub(crate) fn reaching(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
        local: LocalId,
    ) -> Vec<VertexId> {
        let part = &self.parts[routine.index()];
        let resources: Vec<Resource> = match self.program.function(routine).local(local).kind {
            LocalKind::Register(_) => vec![local.0],
            LocalKind::Memory { .. } => self
                .facts()
                .parts(Location::Local(routine, local))
                .filter_map(|id| part.resources.get(&id.0).copied())
                .collect(),
        };
        let found = resources
            .into_iter()
            .filter_map(|resource| self.definition(routine, block, position, resource));
        let mut found: Vec<VertexId> = found.collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The vertex that defines a resource where control gets to a place.
    fn definition(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
        resource: Resource,
    ) -> Option<VertexId> {
        let part = &self.parts[routine.index()];
        let control = part.control.as_ref()?;
        let mut segment = control.segment_of(block, position) as usize;
        let mut limit = position;
        loop {
            let found = part.definitions[segment].iter().rev().find(|definition| {
                definition.resource == resource && definition.position.is_none_or(|at| at < limit)
            });
            if let Some(found) = found {
                return found.vertex.map(VertexId);
            }
            match control.dominators.immediate(segment) {
                Some(above) => {
                    segment = above;
                    limit = u32::MAX;
                }
                None => {
                    let entry = part.entry.iter().find(|(known, _)| *known == resource);
                    return entry.map(|&(_, vertex)| VertexId(vertex));
                }
            }
        }
    }
}

/// The vertex of a slot, of a list in the order of the slots.
pub(crate) fn find(slots: &[(Slot, VertexId)], slot: Slot) -> Option<VertexId> {
    let at = slots.binary_search_by_key(&slot, |&(slot, _)| slot).ok()?;
    Some(slots[at].1)
}
