//! What the instructions of a program say about its pointers.

use patchwright_ir::{
    BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalKind, ObjectId, Operand,
    Program, RoutineId, Target, TerminatorKind, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    CONSTANTS, ERRNO, Frame, LIBRARY, Location, LocationId, NodeId, PointsTo, STANDARD,
    STANDARD_STREAM, STREAMS, UNKNOWN, holds_pointers,
};
use crate::{
    bits::Bits,
    library::{Effect, effects_of},
};

/// What becomes of a set when it grows.
#[derive(Clone, Debug)]
pub(super) enum Complex {
    /// The node holds what the objects hold.
    Load(NodeId),
    /// The objects hold what the node holds.
    Store(NodeId),
    /// The functions are called.
    Call(u32),
}

/// A call through a pointer.
#[derive(Clone, Debug)]
pub(super) struct IndirectCall {
    pub(super) place: (RoutineId, BlockId, u32),
    /// Type, and the node of the value (of the address, for an aggregate).
    pub(super) arguments: Vec<(Type, NodeId)>,
    /// The form of the call is what the callee must fit; a library calls what it is given.
    pub(super) strict: bool,
    pub(super) result: Type,
    /// The temporary, or the place for an aggregate.
    pub(super) to: NodeId,
}

pub(super) struct Solver<'p> {
    pub(super) program: &'p Program,
    pub(super) result: PointsTo,
    pub(super) copies: Vec<FxHashSet<NodeId>>,
    pub(super) complex: Vec<Vec<Complex>>,
    /// What of a set its complex constraints have seen.
    pub(super) seen: Vec<Bits>,
    pub(super) calls: Vec<IndirectCall>,
    /// The node of all that functions that are not known can reach.
    pub(super) unknown: NodeId,
    pub(super) changed: bool,
}

impl<'p> Solver<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let result = PointsTo {
            locations: Vec::new(),
            by_location: FxHashMap::default(),
            objects: Vec::new(),
            frames: vec![Frame::default(); program.routines.len()],
            parent: Vec::new(),
            sets: Vec::new(),
            contents: Vec::new(),
            callees: FxHashMap::default(),
        };
        let mut solver = Solver {
            program,
            result,
            copies: Vec::new(),
            complex: Vec::new(),
            seen: Vec::new(),
            calls: Vec::new(),
            unknown: 0,
            changed: false,
        };
        solver.node();
        for location in [
            Location::Constants,
            Location::Library,
            Location::Errno,
            Location::Streams,
            Location::StandardStream,
            Location::Unknown,
        ] {
            solver.location(location);
        }
        solver
    }

    fn node(&mut self) -> NodeId {
        let id = self.result.sets.len() as NodeId;
        self.result.sets.push(Bits::default());
        self.result.parent.push(id);
        self.copies.push(FxHashSet::default());
        self.complex.push(Vec::new());
        self.seen.push(Bits::default());
        id
    }

    fn location(&mut self, location: Location) -> LocationId {
        if let Some(&id) = self.result.by_location.get(&location) {
            return id;
        }
        let id = LocationId(self.result.locations.len() as u32);
        self.result.locations.push(location);
        self.result.by_location.insert(location, id);
        let node = self.node();
        self.result.contents.push(node);
        id
    }

    pub(super) fn contents(&self, id: LocationId) -> NodeId {
        self.result.contents[id.0 as usize]
    }

    fn add(&mut self, node: NodeId, id: LocationId) {
        if node != 0 {
            let root = self.result.root(node);
            self.changed |= self.result.sets[root as usize].insert(id.0);
        }
    }

    pub(super) fn copy(&mut self, to: NodeId, from: NodeId) {
        let (to, from) = (self.result.root(to), self.result.root(from));
        if to != from && to != 0 && from != 0 {
            self.changed |= self.copies[from as usize].insert(to);
        }
    }

    fn constrain(&mut self, node: NodeId, complex: Complex) {
        if node != 0 {
            let root = self.result.root(node) as usize;
            self.complex[root].push(complex);
            // It has not seen what the set holds already.
            self.seen[root] = Bits::default();
            self.changed = true;
        }
    }

    fn load(&mut self, to: NodeId, address: NodeId) {
        if to != 0 {
            self.constrain(address, Complex::Load(to));
        }
    }

    fn store(&mut self, address: NodeId, from: NodeId) {
        if from != 0 {
            self.constrain(address, Complex::Store(from));
        }
    }

    /// Objects that one address leads to hold what those of the other do.
    fn copy_objects(&mut self, to: NodeId, from: NodeId) {
        let between = self.node();
        self.load(between, from);
        self.store(to, between);
    }

    pub(super) fn gather(&mut self) {
        let program = self.program;
        for (index, object) in program.objects.iter().enumerate() {
            let global = program.global(ObjectId(index as u32));
            let is_plain = |data: &patchwright_ir::Data| data.relocations.is_empty();
            let id = if !object.defined {
                match STANDARD.contains(&object.name.as_str()) {
                    true => self.location(Location::Object(ObjectId(index as u32))),
                    false => LIBRARY,
                }
            } else if global.constant && global.data.as_ref().is_some_and(is_plain) {
                CONSTANTS
            } else {
                self.location(Location::Object(ObjectId(index as u32)))
            };
            if !object.defined && id != LIBRARY {
                let node = self.contents(id);
                self.add(node, STANDARD_STREAM);
            }
            self.result.objects.push(id);
        }
        let library = self.contents(LIBRARY);
        self.add(library, LIBRARY);
        self.unknown = self.contents(UNKNOWN);
        let unknown = self.unknown;
        self.add(unknown, UNKNOWN);
        self.load(unknown, unknown);
        self.store(unknown, unknown);
        for (index, object) in program.objects.iter().enumerate() {
            let id = ObjectId(index as u32);
            let Some(data) = program.global(id).data.as_ref().filter(|_| object.defined) else {
                continue;
            };
            for relocation in &data.relocations {
                let to = self.target(object.module, relocation.target);
                let node = self.contents(self.result.objects[index]);
                self.add(node, to);
            }
        }
        for routine in program.routine_ids() {
            if let Some(function) = program.body(routine) {
                self.frame(routine, function);
            }
        }
        for routine in program.routine_ids() {
            if let Some(function) = program.body(routine) {
                self.body(routine, function);
            }
        }
        if let Some(main) = program.routine_named("main")
            && program.routine(main).defined
        {
            let (_, nodes) = self.parameters(main);
            for (_, node) in nodes {
                self.add(node, LIBRARY);
            }
        }
    }

    fn target(&mut self, module: usize, target: Target) -> LocationId {
        match target {
            Target::Global(global) => {
                self.result.objects[self.program.object_of(module, global).index()]
            }
            Target::Function(function) => {
                let routine = self.program.routine_of(module, function);
                self.location(Location::Function(routine))
            }
        }
    }

    fn frame(&mut self, routine: RoutineId, function: &Function) {
        let mut frame = Frame::default();
        for temporary in &function.temporaries {
            let node = match holds_pointers(temporary.ty) {
                true => self.node(),
                false => 0,
            };
            frame.temporaries.push(node);
        }
        for (index, local) in function.locals.iter().enumerate() {
            let node = match local.kind {
                LocalKind::Register(ty) if holds_pointers(ty) => self.node(),
                LocalKind::Register(_) => 0,
                LocalKind::Memory { .. } => {
                    let id = self.location(Location::Local(routine, LocalId(index as u32)));
                    self.contents(id)
                }
            };
            frame.locals.push(node);
        }
        frame.result = self.node();
        if function.variadic {
            self.location(Location::Rest(routine));
        }
        self.result.frames[routine.index()] = frame;
    }

    /// The types of the parameters of a routine, and where their values go.
    fn parameters(&self, routine: RoutineId) -> (bool, Vec<(Type, NodeId)>) {
        let function = self.program.function(routine);
        let frame = &self.result.frames[routine.index()];
        let nodes = function
            .parameters
            .iter()
            .zip(&frame.locals)
            .map(|(parameter, &node)| (parameter.ty, node))
            .collect();
        (function.variadic, nodes)
    }

    fn operand(&mut self, routine: RoutineId, operand: Operand) -> NodeId {
        match operand.value {
            Value::Temp(id) => self.result.frames[routine.index()].temporaries[id.index()],
            Value::Constant { .. } => 0,
            Value::Address { target, .. } => {
                let module = self.program.routine(routine).module;
                let id = self.target(module, target);
                let node = self.node();
                self.add(node, id);
                node
            }
        }
    }

    fn body(&mut self, routine: RoutineId, function: &Function) {
        for id in function.block_ids() {
            let block = function.block(id);
            for (position, instruction) in block.instructions.iter().enumerate() {
                self.instruction(routine, (id, position as u32), instruction);
            }
            if let TerminatorKind::Return(Some(value)) = block.terminator.kind {
                let result = self.result.frames[routine.index()].result;
                let value = self.operand(routine, value);
                match function.result {
                    Type::Aggregate { .. } => self.load(result, value),
                    _ => self.copy(result, value),
                }
            }
        }
    }

    fn instruction(
        &mut self,
        routine: RoutineId,
        (block, position): (BlockId, u32),
        instruction: &Instruction,
    ) {
        use InstructionKind::*;
        let dst = match instruction.defines() {
            Some(dst) => self.result.frames[routine.index()].temporaries[dst.index()],
            None => 0,
        };
        match &instruction.kind {
            Read { local, .. } => {
                let from = self.result.frames[routine.index()].locals[local.index()];
                self.copy(dst, from);
            }
            Write { local, value } => {
                let to = self.result.frames[routine.index()].locals[local.index()];
                let from = self.operand(routine, *value);
                self.copy(to, from);
            }
            LocalAddress { local, .. } => {
                let id = self.location(Location::Local(routine, *local));
                self.add(dst, id);
            }
            Load { address, .. } | LoadBits { address, .. } => {
                let address = self.operand(routine, *address);
                self.load(dst, address);
            }
            Store { address, value, .. } | StoreBits { address, value, .. } => {
                let (address, value) = (
                    self.operand(routine, *address),
                    self.operand(routine, *value),
                );
                self.store(address, value);
            }
            Extend { value: a, .. }
            | Unary { a, .. }
            | Convert { a, .. }
            | MemberAddress { a, .. } => {
                let a = self.operand(routine, *a);
                self.copy(dst, a);
            }
            Binary { a, b, .. } | Shift { a, b, .. } => {
                for operand in [a, b] {
                    let node = self.operand(routine, *operand);
                    self.copy(dst, node);
                }
            }
            PointerAdd { a, index, .. } => {
                for operand in [a, index] {
                    let node = self.operand(routine, *operand);
                    self.copy(dst, node);
                }
            }
            Copy { to, from, .. } | VaCopy { to, from } => {
                let (to, from) = (self.operand(routine, *to), self.operand(routine, *from));
                self.copy_objects(to, from);
            }
            VaStart { list } => {
                let rest = self.location(Location::Rest(routine));
                let node = self.node();
                self.add(node, rest);
                let list = self.operand(routine, *list);
                self.store(list, node);
            }
            VaArg { ty, list, .. } => {
                let list = self.operand(routine, *list);
                let rest = self.node();
                self.load(rest, list);
                match ty {
                    // The copy holds what was passed.
                    Type::Aggregate { .. } => self.copy(dst, rest),
                    _ => self.load(dst, rest),
                }
            }
            Allocate { .. } => {
                let id = self.location(Location::Allocated(routine, block, position));
                self.add(dst, id);
            }
            Call {
                callee,
                arguments,
                result,
                result_address,
                ..
            } => {
                let arguments: Vec<(Type, NodeId)> = arguments
                    .iter()
                    .map(|argument| (argument.ty, self.operand(routine, argument.value)))
                    .collect();
                let to = match result_address {
                    Some(address) => self.operand(routine, *address),
                    None => dst,
                };
                let call = IndirectCall {
                    place: (routine, block, position),
                    arguments,
                    strict: true,
                    result: *result,
                    to,
                };
                match callee {
                    Callee::Direct(id) => {
                        let module = self.program.routine(routine).module;
                        let callee = self.program.routine_of(module, *id);
                        self.called(callee, &call);
                    }
                    Callee::Indirect(address) => {
                        let address = self.operand(routine, *address);
                        let number = self.calls.len() as u32;
                        self.calls.push(call);
                        self.constrain(address, Complex::Call(number));
                    }
                }
            }
            Live { .. }
            | Dead { .. }
            | PointerDifference { .. }
            | Zero { .. }
            | Unsupported { .. } => {}
        }
    }

    /// A routine is called.
    pub(super) fn called(&mut self, callee: RoutineId, call: &IndirectCall) {
        if self.program.routine(callee).defined {
            self.enter(callee, call);
        } else {
            let name = &self.program.routine(callee).name;
            match effects_of(name) {
                Some(effects) => self.library_call(&effects, call),
                None => self.unknown_call(call),
            }
        }
    }

    fn enter(&mut self, callee: RoutineId, call: &IndirectCall) {
        let (variadic, parameters) = self.parameters(callee);
        for (&(ty, value), &(_, node)) in call.arguments.iter().zip(&parameters) {
            match ty {
                Type::Aggregate { .. } => self.load(node, value),
                _ => self.copy(node, value),
            }
        }
        if variadic && let Some(&rest) = self.result.by_location.get(&Location::Rest(callee)) {
            let node = self.contents(rest);
            for &(ty, value) in call.arguments.iter().skip(parameters.len()) {
                match ty {
                    Type::Aggregate { .. } => self.load(node, value),
                    _ => self.copy(node, value),
                }
            }
        }
        let result = self.result.frames[callee.index()].result;
        match call.result {
            Type::Aggregate { .. } => self.store(call.to, result),
            _ => self.copy(call.to, result),
        }
    }

    /// A function that is not known may keep, change and return all it can reach.
    fn unknown_call(&mut self, call: &IndirectCall) {
        let unknown = self.unknown;
        for &(ty, value) in &call.arguments {
            match ty {
                Type::Aggregate { .. } => self.load(unknown, value),
                _ => self.copy(unknown, value),
            }
        }
        match call.result {
            Type::Aggregate { .. } => self.store(call.to, unknown),
            _ => self.copy(call.to, unknown),
        }
        // It may call the functions that it can reach.
        let number = self.calls.len() as u32;
        self.calls.push(IndirectCall {
            place: call.place,
            arguments: vec![(Type::Ptr, unknown); 8],
            strict: false,
            result: Type::Void,
            to: unknown,
        });
        self.constrain(unknown, Complex::Call(number));
    }

    fn library_call(&mut self, effects: &[Effect], call: &IndirectCall) {
        let argument =
            |index: usize| -> NodeId { call.arguments.get(index).map_or(0, |&(_, node)| node) };
        let (routine, block, position) = call.place;
        for &effect in effects {
            match effect {
                Effect::Gives(index) => self.copy(call.to, argument(index)),
                Effect::GivesNew => {
                    let id = self.location(Location::Allocated(routine, block, position));
                    self.add(call.to, id);
                }
                Effect::GivesLibrary => self.add(call.to, LIBRARY),
                Effect::GivesStream => self.add(call.to, STREAMS),
                Effect::GivesErrno => self.add(call.to, ERRNO),
                Effect::CopyPointers(to, from) => {
                    self.copy_objects(argument(to), argument(from));
                }
                Effect::StoresNew(index) => {
                    let id = self.location(Location::Allocated(routine, block, position));
                    let node = self.node();
                    self.add(node, id);
                    self.store(argument(index), node);
                }
                Effect::Stores(to, what) => self.store(argument(to), argument(what)),
                Effect::StoresLibrary(index) => {
                    let node = self.node();
                    self.add(node, LIBRARY);
                    self.store(argument(index), node);
                    // `getopt` moves the arguments that it was given; they may also be kept.
                    let library = self.contents(LIBRARY);
                    self.load(library, argument(index));
                }
                Effect::Calls(function, given) => {
                    let arguments = given.map(|index| (Type::Ptr, argument(index)));
                    let number = self.calls.len() as u32;
                    self.calls.push(IndirectCall {
                        place: call.place,
                        arguments: arguments.to_vec(),
                        strict: false,
                        result: Type::Void,
                        to: 0,
                    });
                    self.constrain(argument(function), Complex::Call(number));
                }
                _ => {}
            }
        }
    }
}
