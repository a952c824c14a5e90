//! Builds the system dependence graph, routine by routine.

use patchwright_ir::{
    BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalKind, Operand,
    RoutineId, TerminatorKind, Type, Value,
};
use rustc_hash::FxHashMap;

use super::{DependenceKind, Part, Site, Slot, Vertex, VertexId, find};
use crate::{
    bits::Bits,
    call_graph::CallSite,
    control::{Control, Decider},
    effects::{Effects, Facts, Summary, aggregate_source, result_place},
    points_to::{Location, LocationId},
    ssa::{self, Resource, Touch},
};

/// What has been built.
pub(super) struct Builder<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) summary: &'a Summary,
    pub(super) unknown: &'a Bits,
    pub(super) vertices: Vec<Vertex>,
    pub(super) edges: Vec<(u32, u32, DependenceKind)>,
    pub(super) parts: Vec<Part>,
    pub(super) sites: Vec<Site>,
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

    /// Adds the vertices and the dependences of a routine.
    pub(super) fn routine(&mut self, routine: RoutineId, function: &Function) {
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
                        self.left_by_jump(&mut frame, index, place);
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
                    for part in facts.parts(Location::Local(routine, local)) {
                        definitions.push((frame.resource(part.0), vertex));
                    }
                }
            }
            debug_assert!(parameter.ty != Type::Void);
        }
        if frame.function.variadic {
            let vertex = self.vertex(Vertex::FormalIn(routine, Slot::Rest));
            ins.push((Slot::Rest, VertexId(vertex)));
            for part in facts.parts(Location::Rest(routine)) {
                definitions.push((frame.resource(part.0), vertex));
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
            let seen = self
                .summary
                .seen_by_call(self.facts, frame.routine, site, callee);
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
                let location = Location::Local(frame.routine, *local);
                let resources: Vec<Resource> = match frame.function.local(*local).kind {
                    LocalKind::Register(_) => vec![local.0],
                    LocalKind::Memory { .. } if facts.has_one(frame.routine, location) => {
                        let parts = facts.parts(location);
                        parts.map(|part| frame.resource(part.0)).collect()
                    }
                    LocalKind::Memory { .. } => Vec::new(),
                };
                for resource in resources {
                    frame.touches[segment].push((position, Touch::Define(resource, None)));
                }
                return;
            }
            _ => {}
        }
        let place = (block, position);
        let effects = facts.of_instruction(frame.routine, place, instruction, self.unknown);
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
            let touch = match effects.overwrites.contains(location) {
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
                if let Type::Aggregate { size } = argument.ty {
                    let from = aggregate_source(facts, frame.routine, argument.value, size);
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
            let overwrites = match is_library {
                true => Bits::default(),
                false => overwrites,
            };
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

    /// Where a call may end by `longjmp`, the routine may be left with what is in memory then.
    fn left_by_jump(
        &mut self,
        frame: &mut Frame<'_>,
        segment: usize,
        (block, position): (BlockId, u32),
    ) {
        let facts = self.facts;
        let site = facts.calls.site(frame.routine, block, position);
        if !site.is_some_and(|site| facts.calls.site_may_jump(facts.program, site)) {
            return;
        }
        for (slot, vertex) in frame.outs.clone() {
            if let Slot::Memory(location) = slot {
                let resource = frame.resource(location.0);
                frame.touches[segment].push((position, Touch::Use(resource, vertex.0)));
            }
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
            && let Type::Aggregate { size } = frame.function.result
        {
            let from = aggregate_source(self.facts, frame.routine, value, size);
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
    pub(super) fn link(&mut self) {
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
