//! The system dependence graph.

use patchwright_ir::{
    BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalKind, Operand, Program,
    RoutineId, TerminatorKind, Type, Value,
};
use rustc_hash::FxHashMap;

use crate::{
    bits::Bits,
    call_graph::{CallGraph, CallSite},
    control::{Control, Decider},
    effects::{Effects, Facts, Summary, aggregate_source, result_place},
    points_to::{Location, LocationId, PointsTo},
    ssa::{self, Definition, Resource, Touch},
};

/// Names a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VertexId(pub u32);

/// What is handed into a routine or out of it.
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

/// A vertex.
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

/// Why a vertex depends on another one.
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
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) parts: Vec<Part>,
    pub(crate) sites: Vec<Site>,
    /// The sites that may call each routine.
    pub(crate) callers: Vec<Vec<u32>>,
    /// What each vertex depends on, and what depends on it.
    backward: Edges,
    forward: Edges,
    pub(crate) unknown: Bits,
    /// For each formal-in, the formal-outs of its routine that depend on it, by their positions.
    pub(crate) summaries: Vec<Bits>,
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
    /// Builds the graph of a linked program.
    pub fn of(program: &'p Program) -> Graph<'p> {
        let points_to = PointsTo::of(program);
        let calls = CallGraph::of(program, &points_to);
        let (vertices, parts, sites, edges, unknown) = {
            let facts = Facts {
                program,
                points_to: &points_to,
                calls: &calls,
            };
            let summary = Summary::of(facts);
            let mut builder = Builder {
                facts,
                summary: &summary,
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
            (vertices, parts, sites, edges, summary.unknown().clone())
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
            vertices,
            parts,
            sites,
            callers,
            unknown,
        };
        graph.summarize();
        graph
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The points-to analysis of the program.
    pub fn points_to(&self) -> &PointsTo {
        &self.points_to
    }

    /// The calls of the program.
    pub fn calls(&self) -> &CallGraph {
        &self.calls
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// How many dependences there are, those between a call's ins and outs not counted.
    pub fn edge_count(&self) -> usize {
        self.backward.list.len()
    }

    /// What a vertex is.
    pub fn vertex(&self, id: VertexId) -> Vertex {
        self.vertices[id.0 as usize]
    }

    /// The vertex of an instruction, or of the terminator behind the last one; `None` if control
    /// cannot get there.
    pub fn instruction(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
    ) -> Option<VertexId> {
        let first = (*self.parts[routine.index()].blocks.get(block.index())?)?;
        Some(VertexId(first + position))
    }

    /// What a vertex depends on directly.
    pub fn dependences(
        &self,
        id: VertexId,
    ) -> impl Iterator<Item = (VertexId, DependenceKind)> + '_ {
        let edges = self.backward.from(id.0).iter();
        edges.map(|&(to, kind)| (VertexId(to), kind))
    }

    /// What depends on a vertex directly.
    pub fn dependents(
        &self,
        id: VertexId,
    ) -> impl Iterator<Item = (VertexId, DependenceKind)> + '_ {
        let edges = self.forward.from(id.0).iter();
        edges.map(|&(to, kind)| (VertexId(to), kind))
    }

    /// The routine that a vertex belongs to.
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

    /// An instruction and its value: of a call of routines with a body that is a vertex of its own.
    pub fn with_value(&self, id: VertexId) -> Vec<VertexId> {
        let is_value =
            |&other: &VertexId| matches!(self.vertex(other), Vertex::ActualOut(_, Slot::Result));
        let values = self.site_vertices(id).filter(is_value);
        std::iter::once(id).chain(values).collect()
    }

    /// What a call hands in and gets back.
    pub(crate) fn site_vertices(&self, node: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let site = self.sites.binary_search_by_key(&node, |site| site.node);
        let site = site.ok().map(|index| &self.sites[index]);
        site.into_iter()
            .flat_map(|site| site.ins.iter().chain(&site.outs))
            .map(|&(_, vertex)| vertex)
    }

    /// The locations that an instruction may read, by itself or by what it calls.
    pub(crate) fn reads_of(&self, routine: RoutineId, block: BlockId, position: u32) -> Bits {
        self.effects_of(routine, block, position).reads
    }

    /// The locations that an instruction may write, by itself or by what it calls.
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

    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            program: self.program,
            points_to: &self.points_to,
            calls: &self.calls,
        }
    }

    /// The vertex that defines a local (a register, or an object as a whole) where control gets to
    /// a place; `None` if it has no value there, or is not touched by the routine.
    pub(crate) fn reaching(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
        local: LocalId,
    ) -> Option<VertexId> {
        let part = &self.parts[routine.index()];
        let control = part.control.as_ref()?;
        let resource = match self.program.function(routine).local(local).kind {
            LocalKind::Register(_) => local.0,
            LocalKind::Memory { .. } => {
                let id = self.points_to.find(Location::Local(routine, local))?;
                *part.resources.get(&id.0)?
            }
        };
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

struct Builder<'a> {
    facts: Facts<'a>,
    summary: &'a Summary,
    vertices: Vec<Vertex>,
    edges: Vec<(u32, u32, DependenceKind)>,
    parts: Vec<Part>,
    sites: Vec<Site>,
}

/// The part of the construction that `ssa` asks for.
struct Meetings<'b, 'a> {
    builder: &'b mut Builder<'a>,
    routine: RoutineId,
}

impl ssa::Target for Meetings<'_, '_> {
    fn meeting(&mut self, _: u32, _: Resource) -> u32 {
        self.builder.vertex(Vertex::Meeting(self.routine))
    }

    fn may_define(&mut self, _: u32, _: Resource) -> u32 {
        self.builder.vertex(Vertex::Meeting(self.routine))
    }

    fn depends(&mut self, from: u32, to: u32) {
        self.builder.depends(from, to, DependenceKind::Data);
    }
}

/// The names of what a routine is built from.
struct Frame<'a> {
    routine: RoutineId,
    function: &'a Function,
    blocks: Vec<Option<u32>>,
    /// The vertex that gives each temporary its value.
    temporaries: Vec<Option<u32>>,
    resources: FxHashMap<u32, Resource>,
    touches: Vec<Vec<(u32, Touch)>>,
    outs: Vec<(Slot, VertexId)>,
}

impl Frame<'_> {
    fn resource(&mut self, location: u32) -> Resource {
        let next = (self.function.locals.len() + self.resources.len()) as u32;
        *self.resources.entry(location).or_insert(next)
    }

    fn node(&self, block: BlockId, position: u32) -> u32 {
        // Only reachable blocks are walked over.
        self.blocks[block.index()].unwrap_or(0) + position
    }
}

impl Builder<'_> {
    fn vertex(&mut self, vertex: Vertex) -> u32 {
        self.vertices.push(vertex);
        self.vertices.len() as u32 - 1
    }

    fn depends(&mut self, from: u32, to: u32, kind: DependenceKind) {
        self.edges.push((from, to, kind));
    }

    fn routine(&mut self, routine: RoutineId, function: &Function) {
        let facts = self.facts;
        let control = Control::of(facts.program, facts.calls, routine);
        let start = self.vertices.len() as u32;
        let entry = self.vertex(Vertex::Entry(routine));
        let mut frame = Frame {
            routine,
            function,
            blocks: vec![None; function.blocks.len()],
            temporaries: vec![None; function.temporaries.len()],
            resources: FxHashMap::default(),
            touches: vec![Vec::new(); control.segments.len()],
            outs: Vec::new(),
        };
        let reachable: Vec<BlockId> = function
            .block_ids()
            .filter(|&id| {
                control
                    .dominators
                    .is_reachable(control.first_of(id) as usize)
            })
            .collect();
        for &id in &reachable {
            frame.blocks[id.index()] = Some(self.vertices.len() as u32);
            for position in 0..=function.block(id).instructions.len() as u32 {
                self.vertex(Vertex::Instruction(routine, id, position));
            }
        }
        let (ins, entry_definitions) = self.formal_ins(&mut frame, entry);
        frame.outs = self.formal_outs(&mut frame);
        // Calls first: their values are what they give back.
        let mut sites: FxHashMap<(BlockId, u32), u32> = FxHashMap::default();
        for site in facts.calls.sites(routine) {
            if frame.blocks[site.block.index()].is_some() && !site.bodies.is_empty() {
                let number = self.site(&mut frame, site);
                sites.insert((site.block, site.position), number);
            }
        }
        for &id in &reachable {
            for (position, instruction) in function.block(id).instructions.iter().enumerate() {
                if let Some(dst) = instruction.defines() {
                    let given = &mut frame.temporaries[dst.index()];
                    given.get_or_insert(frame.blocks[id.index()].unwrap_or(0) + position as u32);
                }
            }
        }
        for (index, segment) in control.segments.iter().enumerate() {
            if !control.dominators.is_reachable(index) {
                continue;
            }
            let instructions = &function.block(segment.block).instructions;
            for position in segment.start..segment.end {
                let place = (segment.block, position);
                match instructions.get(position as usize) {
                    Some(instruction) => {
                        let site = sites.get(&place).copied();
                        self.instruction(&mut frame, index, place, instruction, site);
                    }
                    None => self.terminator(&mut frame, index, place),
                }
                let node = frame.node(segment.block, position);
                for &decider in &control.deciders[index] {
                    let to = self.decider(&frame, &control, entry, &sites, decider);
                    self.depends(node, to, DependenceKind::Control);
                }
            }
        }
        if let Some(&(_, out)) = frame.outs.iter().find(|(slot, _)| *slot == Slot::Return) {
            for &decider in &control.return_deciders {
                let to = self.decider(&frame, &control, entry, &sites, decider);
                self.depends(out.0, to, DependenceKind::Control);
            }
        }
        let resources = function.locals.len() + frame.resources.len();
        let definitions = ssa::connect(
            &control,
            resources,
            &entry_definitions,
            &frame.touches,
            &mut Meetings {
                builder: self,
                routine,
            },
        );
        self.parts[routine.index()] = Part {
            range: (start, self.vertices.len() as u32),
            ins,
            outs: frame.outs,
            blocks: frame.blocks,
            resources: frame.resources,
            definitions,
            entry: entry_definitions,
            control: Some(control),
        };
    }

    fn decider(
        &self,
        frame: &Frame<'_>,
        control: &Control,
        entry: u32,
        sites: &FxHashMap<(BlockId, u32), u32>,
        decider: Decider,
    ) -> u32 {
        match decider {
            Decider::Entry => entry,
            Decider::End(segment, _) => {
                let (block, position) = control.end_of(segment);
                let back = sites
                    .get(&(block, position))
                    .and_then(|&site| find(&self.sites[site as usize].outs, Slot::Return));
                back.map_or_else(|| frame.node(block, position), |vertex| vertex.0)
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn formal_ins(
        &mut self,
        frame: &mut Frame<'_>,
        entry: u32,
    ) -> (Vec<(Slot, VertexId)>, Vec<(Resource, u32)>) {
        let facts = self.facts;
        let routine = frame.routine;
        let mut ins = Vec::new();
        let mut definitions = Vec::new();
        for (index, parameter) in frame.function.parameters.iter().enumerate() {
            let slot = Slot::Parameter(index as u32);
            let vertex = self.vertex(Vertex::FormalIn(routine, slot));
            ins.push((slot, VertexId(vertex)));
            let local = LocalId(index as u32);
            match frame.function.local(local).kind {
                LocalKind::Register(_) => definitions.push((local.0, vertex)),
                LocalKind::Memory { .. } => {
                    let location = facts.points_to.find(Location::Local(routine, local));
                    if let Some(location) = location {
                        definitions.push((frame.resource(location.0), vertex));
                    }
                }
            }
            debug_assert!(parameter.ty != Type::Void);
        }
        if frame.function.variadic {
            let vertex = self.vertex(Vertex::FormalIn(routine, Slot::Rest));
            ins.push((Slot::Rest, VertexId(vertex)));
            if let Some(rest) = facts.points_to.find(Location::Rest(routine)) {
                definitions.push((frame.resource(rest.0), vertex));
            }
        }
        let seen = self.summary.seen_by_callers(facts, routine);
        let mut locations = seen.reads;
        locations.union(&seen.writes);
        for location in locations.iter() {
            let slot = Slot::Memory(LocationId(location));
            let vertex = self.vertex(Vertex::FormalIn(routine, slot));
            ins.push((slot, VertexId(vertex)));
            let resource = frame.resource(location);
            match definitions.iter().find(|(known, _)| *known == resource) {
                // A parameter of a recursive routine: that of this activation, or another one's.
                Some(&(_, parameter)) => self.depends(parameter, vertex, DependenceKind::Data),
                None => definitions.push((resource, vertex)),
            }
        }
        for &(_, vertex) in &ins {
            self.depends(vertex.0, entry, DependenceKind::Control);
        }
        (ins, definitions)
    }

    fn formal_outs(&mut self, frame: &mut Frame<'_>) -> Vec<(Slot, VertexId)> {
        let routine = frame.routine;
        let seen = self.summary.seen_by_callers(self.facts, routine);
        let mut slots: Vec<Slot> = seen
            .writes
            .iter()
            .map(|location| Slot::Memory(LocationId(location)))
            .collect();
        if frame.function.result != Type::Void {
            slots.push(Slot::Result);
        }
        if !self.facts.calls.always_returns(routine) {
            slots.push(Slot::Return);
        }
        let outs = slots.into_iter().map(|slot| {
            (
                slot,
                VertexId(self.vertex(Vertex::FormalOut(routine, slot))),
            )
        });
        outs.collect()
    }

    /// The vertices of a call of routines with a body.
    fn site(&mut self, frame: &mut Frame<'_>, site: &CallSite) -> u32 {
        let number = self.sites.len() as u32;
        let block = frame.function.block(site.block);
        let InstructionKind::Call {
            dst,
            arguments,
            result_address,
            ..
        } = &block.instructions[site.position as usize].kind
        else {
            unreachable!("a call site is a call");
        };
        let mut ins: Vec<Slot> = Vec::new();
        let mut outs: Vec<Slot> = Vec::new();
        let mut memory_in = Bits::default();
        let mut memory_out = Bits::default();
        for &callee in &site.bodies {
            let function = self.facts.program.function(callee);
            let count = function.parameters.len() as u32;
            let given = match site.own.contains(&callee) {
                true => arguments.len() as u32,
                false => count,
            };
            ins.extend((0..count.min(given)).map(Slot::Parameter));
            if function.variadic {
                ins.push(Slot::Rest);
            }
            let seen = self.summary.seen_by_callers(self.facts, callee);
            memory_in.union(&seen.reads);
            memory_in.union(&seen.writes);
            memory_out.union(&seen.writes);
            if !self.facts.calls.always_returns(callee) {
                outs.push(Slot::Return);
            }
            let used = dst.is_some() || result_address.is_some() || !site.own.contains(&callee);
            if used && function.result != Type::Void {
                outs.push(Slot::Result);
            }
        }
        ins.extend(memory_in.iter().map(|id| Slot::Memory(LocationId(id))));
        outs.extend(memory_out.iter().map(|id| Slot::Memory(LocationId(id))));
        for slots in [&mut ins, &mut outs] {
            slots.sort_unstable();
            slots.dedup();
        }
        let node = frame.node(site.block, site.position);
        let mut make = |slots: Vec<Slot>, kind: fn(u32, Slot) -> Vertex| -> Vec<(Slot, VertexId)> {
            let mut made = Vec::with_capacity(slots.len());
            for slot in slots {
                let vertex = self.vertex(kind(number, slot));
                self.depends(vertex, node, DependenceKind::Control);
                made.push((slot, VertexId(vertex)));
            }
            made
        };
        let ins = make(ins, Vertex::ActualIn);
        let outs = make(outs, Vertex::ActualOut);
        if !site.own.is_empty()
            && let Some(dst) = dst
            && let Some(result) = find(&outs, Slot::Result)
        {
            frame.temporaries[dst.index()] = Some(result.0);
        }
        self.sites.push(Site {
            node: VertexId(node),
            bodies: site.bodies.clone(),
            ins,
            outs,
        });
        number
    }

    fn operand(&mut self, frame: &Frame<'_>, from: u32, operand: Operand) {
        if let Value::Temp(id) = operand.value
            && let Some(definition) = frame.temporaries[id.index()]
        {
            self.depends(from, definition, DependenceKind::Data);
        }
    }

    fn instruction(
        &mut self,
        frame: &mut Frame<'_>,
        segment: usize,
        (block, position): (BlockId, u32),
        instruction: &Instruction,
        site: Option<u32>,
    ) {
        let facts = self.facts;
        let node = frame.node(block, position);
        match &instruction.kind {
            InstructionKind::Read { local, .. } => {
                frame.touches[segment].push((position, Touch::Use(local.0, node)));
                return;
            }
            InstructionKind::Write { local, value } => {
                self.operand(frame, node, *value);
                frame.touches[segment].push((position, Touch::Define(local.0, Some(node))));
                return;
            }
            InstructionKind::Live { local } | InstructionKind::Dead { local } => {
                let resource = match frame.function.local(*local).kind {
                    LocalKind::Register(_) => Some(local.0),
                    LocalKind::Memory { .. } if facts.calls.is_recursive(frame.routine) => None,
                    LocalKind::Memory { .. } => facts
                        .points_to
                        .find(Location::Local(frame.routine, *local))
                        .map(|location| frame.resource(location.0)),
                };
                if let Some(resource) = resource {
                    frame.touches[segment].push((position, Touch::Define(resource, None)));
                }
                return;
            }
            _ => {}
        }
        let place = (block, position);
        let unknown = self.summary.unknown();
        let effects = facts.of_instruction(frame.routine, place, instruction, unknown);
        match site {
            None => {
                for operand in instruction.operands() {
                    self.operand(frame, node, operand);
                }
                self.reads(frame, segment, position, node, &effects.reads);
                self.writes(frame, segment, position, node, &effects);
                if let Some((writes, overwrites)) = result_place(facts, frame.routine, instruction)
                {
                    let result = Effects {
                        writes,
                        overwrites,
                        ..Effects::default()
                    };
                    self.writes(frame, segment, position, node, &result);
                }
            }
            Some(number) => self.call(frame, segment, place, instruction, number, &effects),
        }
    }

    fn reads(
        &mut self,
        frame: &mut Frame<'_>,
        segment: usize,
        position: u32,
        by: u32,
        locations: &Bits,
    ) {
        for location in locations.iter() {
            let resource = frame.resource(location);
            frame.touches[segment].push((position, Touch::Use(resource, by)));
        }
    }

    fn writes(
        &mut self,
        frame: &mut Frame<'_>,
        segment: usize,
        position: u32,
        by: u32,
        effects: &Effects,
    ) {
        for location in effects.writes.iter() {
            let resource = frame.resource(location);
            let touch = match effects.overwrites == Some(LocationId(location)) {
                true => Touch::Define(resource, Some(by)),
                false => Touch::MayDefine(resource, by),
            };
            frame.touches[segment].push((position, touch));
        }
    }

    /// A call of routines with a body, and perhaps of library functions too.
    fn call(
        &mut self,
        frame: &mut Frame<'_>,
        segment: usize,
        (block, position): (BlockId, u32),
        instruction: &Instruction,
        number: u32,
        library: &Effects,
    ) {
        let facts = self.facts;
        let node = frame.node(block, position);
        let InstructionKind::Call {
            callee,
            arguments,
            result_address,
            ..
        } = &instruction.kind
        else {
            return;
        };
        let Some(site) = facts.calls.site(frame.routine, block, position) else {
            return;
        };
        let (ins, outs) = {
            let site = &self.sites[number as usize];
            (site.ins.clone(), site.outs.clone())
        };
        if let Callee::Indirect(address) = callee {
            self.operand(frame, node, *address);
        }
        if let Some(address) = result_address {
            self.operand(frame, node, *address);
        }
        let is_library = !site.libraries.is_empty();
        let called_back = site.own.is_empty();
        for (index, argument) in arguments.iter().enumerate() {
            if is_library {
                self.operand(frame, node, argument.value);
            }
            if called_back {
                continue;
            }
            let declared = find(&ins, Slot::Parameter(index as u32));
            for vertex in declared.into_iter().chain(find(&ins, Slot::Rest)) {
                self.operand(frame, vertex.0, argument.value);
                if matches!(argument.ty, Type::Aggregate { .. }) {
                    let from = aggregate_source(facts, frame.routine, argument.value);
                    self.reads(frame, segment, position, vertex.0, &from);
                }
            }
        }
        self.reads(frame, segment, position, node, &library.reads);
        for &(slot, vertex) in &ins {
            if let Slot::Memory(location) = slot {
                let resource = frame.resource(location.0);
                frame.touches[segment].push((position, Touch::Use(resource, vertex.0)));
            }
        }
        if is_library {
            // Between two calls back, the library and the calls before may change memory.
            for &(slot, vertex) in &ins {
                self.depends(vertex.0, node, DependenceKind::Data);
                if let Some(out) = find(&outs, slot) {
                    self.depends(vertex.0, out.0, DependenceKind::Data);
                }
            }
            for &(_, vertex) in &outs {
                self.depends(node, vertex.0, DependenceKind::Data);
            }
        }
        let only = match site.bodies[..] {
            [only] if !is_library => Some(only),
            _ => None,
        };
        for &(slot, vertex) in &outs {
            if let Slot::Memory(location) = slot {
                let resource = frame.resource(location.0);
                let touch = match only {
                    Some(_) => Touch::Define(resource, Some(vertex.0)),
                    None => Touch::MayDefine(resource, vertex.0),
                };
                frame.touches[segment].push((position, touch));
            }
        }
        self.writes(frame, segment, position, node, library);
        if let Some((writes, overwrites)) = result_place(facts, frame.routine, instruction) {
            let by = find(&outs, Slot::Result).map_or(node, |vertex| vertex.0);
            let overwrites = overwrites.filter(|_| !is_library);
            let result = Effects {
                writes,
                overwrites,
                ..Effects::default()
            };
            self.writes(frame, segment, position, by, &result);
        }
        if is_library && let Some(result) = find(&outs, Slot::Result) {
            self.depends(result.0, node, DependenceKind::Data);
        }
    }

    fn terminator(&mut self, frame: &mut Frame<'_>, segment: usize, place: (BlockId, u32)) {
        let (block, position) = place;
        let node = frame.node(block, position);
        let terminator = &frame.function.block(block).terminator;
        if let Some(operand) = terminator.operand() {
            self.operand(frame, node, operand);
        }
        if !matches!(
            terminator.kind,
            TerminatorKind::Return(_) | TerminatorKind::ReturnNothing
        ) {
            return;
        }
        if let TerminatorKind::Return(Some(value)) = terminator.kind
            && matches!(frame.function.result, Type::Aggregate { .. })
        {
            let from = aggregate_source(self.facts, frame.routine, value);
            self.reads(frame, segment, position, node, &from);
        }
        for (slot, vertex) in frame.outs.clone() {
            match slot {
                Slot::Memory(location) => {
                    let resource = frame.resource(location.0);
                    frame.touches[segment].push((position, Touch::Use(resource, vertex.0)));
                }
                Slot::Result => self.depends(vertex.0, node, DependenceKind::Data),
                _ => {}
            }
        }
    }

    /// Connects calls with the routines that they call.
    fn link(&mut self) {
        for index in 0..self.sites.len() {
            let site = self.sites[index].clone();
            for &callee in &site.bodies {
                let part = &self.parts[callee.index()];
                let (entry, ins, outs) = (part.range.0, part.ins.clone(), part.outs.clone());
                self.depends(entry, site.node.0, DependenceKind::In);
                for (slot, formal) in ins {
                    if let Some(actual) = find(&site.ins, slot) {
                        self.depends(formal.0, actual.0, DependenceKind::In);
                    }
                }
                for (slot, formal) in outs {
                    if let Some(actual) = find(&site.outs, slot) {
                        self.depends(actual.0, formal.0, DependenceKind::Out);
                    }
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
