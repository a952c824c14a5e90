//! Which objects a pointer may point to: Andersen's analysis, by waves.
//!
//! One set for each temporary, register and object; members of an object share one. Constraints
//! are gathered from all instructions once. Then, until nothing changes: cycles of copies become
//! one node, sets flow along copies in topological order, and loads, stores and calls through
//! pointers give new copies (F. Pereira and D. Berlin, "Wave propagation and deep propagation for
//! pointer analysis", 2009).

use patchwright_ir::{
    BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalKind, ObjectId, Operand,
    Program, RoutineId, Target, TempId, TerminatorKind, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    bits::Bits,
    library::{Effect, effects_of},
};

/// A part of memory that the analyses tell from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// All constant objects without pointers: string literals, tables of numbers.
    Constants,
    /// What the C library keeps and hands out: its static buffers, its variables.
    Library,
    /// `errno`.
    Errno,
    /// The state of the streams that are read, and of files.
    Streams,
    /// The objects behind `stdin`, `stdout` and `stderr`.
    StandardStream,
    /// What functions that are not known keep.
    Unknown,
    /// An object of static storage duration.
    Object(ObjectId),
    /// A local in memory.
    Local(RoutineId, LocalId),
    /// The arguments of a call that are not declared.
    Rest(RoutineId),
    /// What is allocated at a place: routine, block, position.
    Allocated(RoutineId, BlockId, u32),
    /// A function, which can only be called.
    Function(RoutineId),
}

/// Names a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

const CONSTANTS: LocationId = LocationId(0);
pub(crate) const LIBRARY: LocationId = LocationId(1);
pub(crate) const ERRNO: LocationId = LocationId(2);
pub(crate) const STREAMS: LocationId = LocationId(3);
const STANDARD_STREAM: LocationId = LocationId(4);
pub(crate) const UNKNOWN: LocationId = LocationId(5);

/// Objects of the library that hold standard streams.
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// A set of the analysis. 0 holds nothing and stays so.
type NodeId = u32;

/// The sets of all pointers of a program.
#[derive(Debug)]
pub struct PointsTo {
    locations: Vec<Location>,
    by_location: FxHashMap<Location, LocationId>,
    objects: Vec<LocationId>,
    /// For each routine with a body, where its temporaries, registers and its result are.
    frames: Vec<Frame>,
    parent: Vec<NodeId>,
    sets: Vec<Bits>,
    /// The node of each location's contents.
    contents: Vec<NodeId>,
    callees: FxHashMap<(RoutineId, BlockId, u32), Vec<RoutineId>>,
}

#[derive(Clone, Debug, Default)]
struct Frame {
    temporaries: Vec<NodeId>,
    locals: Vec<NodeId>,
    result: NodeId,
}

/// A value of this type may be an address.
pub(crate) fn holds_pointers(ty: Type) -> bool {
    matches!(ty, Type::Ptr | Type::I64 | Type::U64)
}

/// Arguments of one type may be taken for parameters of the other one.
pub(crate) fn compatible(a: Type, b: Type) -> bool {
    match (a, b) {
        (Type::Aggregate { .. }, Type::Aggregate { .. }) => a == b,
        (Type::Aggregate { .. }, _) | (_, Type::Aggregate { .. }) => false,
        _ => a.size() == b.size() && a.is_float() == b.is_float(),
    }
}

/// A function may be what a call of this form calls.
pub(crate) fn may_be_called(function: &Function, arguments: &[Type], result: Type) -> bool {
    let count = function.parameters.len();
    let counts = match (function.prototyped, function.variadic) {
        (false, _) => true,
        (true, true) => arguments.len() >= count,
        (true, false) => arguments.len() == count,
    };
    let results = result == Type::Void || compatible(function.result, result);
    counts
        && results
        && function
            .parameters
            .iter()
            .zip(arguments)
            .all(|(parameter, &argument)| compatible(parameter.ty, argument))
}

impl PointsTo {
    /// Analyses a program.
    pub fn of(program: &Program) -> PointsTo {
        let mut solver = Solver::new(program);
        solver.gather();
        solver.solve();
        solver.result
    }

    /// How many locations there are.
    pub fn location_count(&self) -> usize {
        self.locations.len()
    }

    /// What a location is.
    pub fn location(&self, id: LocationId) -> Location {
        self.locations[id.0 as usize]
    }

    /// The name of a location, if there is such a one.
    pub fn find(&self, location: Location) -> Option<LocationId> {
        match location {
            Location::Object(object) => Some(self.objects[object.index()]),
            _ => self.by_location.get(&location).copied(),
        }
    }

    fn root(&self, mut node: NodeId) -> NodeId {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    /// The locations that an operand of a routine's instructions may point to.
    pub fn of_operand(&self, program: &Program, routine: RoutineId, operand: Operand) -> Bits {
        match operand.value {
            Value::Temp(id) => self.of_temporary(routine, id).clone(),
            Value::Constant { .. } => Bits::default(),
            Value::Address { target, .. } => {
                let module = program.routine(routine).module;
                let id = match target {
                    Target::Global(global) => {
                        Some(self.objects[program.object_of(module, global).index()])
                    }
                    Target::Function(function) => {
                        let callee = program.routine_of(module, function);
                        self.find(Location::Function(callee))
                    }
                };
                id.iter().map(|id| id.0).collect()
            }
        }
    }

    fn of_temporary(&self, routine: RoutineId, id: TempId) -> &Bits {
        let node = self.frames[routine.index()]
            .temporaries
            .get(id.index())
            .copied();
        &self.sets[self.root(node.unwrap_or(0)) as usize]
    }

    /// The locations that pointers in a location may point to.
    pub fn in_location(&self, id: LocationId) -> &Bits {
        &self.sets[self.root(self.contents[id.0 as usize]) as usize]
    }

    /// The routines that a call through a pointer may call, or that a library function may call
    /// back, by the place of the call.
    pub fn callees(&self, routine: RoutineId, block: BlockId, position: u32) -> &[RoutineId] {
        self.callees
            .get(&(routine, block, position))
            .map_or(&[], Vec::as_slice)
    }
}

/// What becomes of a set when it grows.
#[derive(Clone, Debug)]
enum Complex {
    /// The node holds what the objects hold.
    Load(NodeId),
    /// The objects hold what the node holds.
    Store(NodeId),
    /// The functions are called.
    Call(u32),
}

/// A call through a pointer.
#[derive(Clone, Debug)]
struct IndirectCall {
    place: (RoutineId, BlockId, u32),
    /// Type, and the node of the value (of the address, for an aggregate).
    arguments: Vec<(Type, NodeId)>,
    /// The form of the call is what the callee must fit; a library calls what it is given.
    strict: bool,
    result: Type,
    /// The temporary, or the place for an aggregate.
    to: NodeId,
}

struct Solver<'p> {
    program: &'p Program,
    result: PointsTo,
    copies: Vec<FxHashSet<NodeId>>,
    complex: Vec<Vec<Complex>>,
    /// What of a set its complex constraints have seen.
    seen: Vec<Bits>,
    calls: Vec<IndirectCall>,
    /// The node of all that functions that are not known can reach.
    unknown: NodeId,
    changed: bool,
}

impl<'p> Solver<'p> {
    fn new(program: &'p Program) -> Self {
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

    fn contents(&self, id: LocationId) -> NodeId {
        self.result.contents[id.0 as usize]
    }

    fn add(&mut self, node: NodeId, id: LocationId) {
        if node != 0 {
            let root = self.result.root(node);
            self.changed |= self.result.sets[root as usize].insert(id.0);
        }
    }

    fn copy(&mut self, to: NodeId, from: NodeId) {
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

    fn gather(&mut self) {
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
    fn called(&mut self, callee: RoutineId, call: &IndirectCall) {
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

    fn solve(&mut self) {
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
            for id in new.iter().map(LocationId) {
                match constraint {
                    Complex::Load(to) => self.copy(to, self.contents(id)),
                    // What is constant is not written.
                    Complex::Store(_) if id == CONSTANTS => {}
                    Complex::Store(from) => self.copy(self.contents(id), from),
                    Complex::Call(number) => {
                        if let Location::Function(callee) = self.result.location(id) {
                            self.indirect(callee, number);
                        }
                    }
                }
            }
        }
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
        let mut index = vec![0u32; count];
        let mut low = vec![0u32; count];
        let mut on_stack = vec![false; count];
        let mut next = 1;
        let mut stack: Vec<NodeId> = Vec::new();
        let mut order = Vec::new();
        for start in 1..count as NodeId {
            if index[start as usize] != 0 || self.result.parent[start as usize] != start {
                continue;
            }
            // Tarjan's algorithm, with the calls on a stack of its own.
            let mut calls: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
            let mut entered = Some(start);
            loop {
                if let Some(node) = entered.take() {
                    index[node as usize] = next;
                    low[node as usize] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[node as usize] = true;
                    let targets = self.copies[node as usize].iter();
                    let targets = targets.map(|&target| self.result.root(target)).collect();
                    calls.push((node, targets));
                }
                let Some((node, targets)) = calls.last_mut() else {
                    break;
                };
                let node = *node;
                if let Some(target) = targets.pop() {
                    if index[target as usize] == 0 {
                        entered = Some(target);
                    } else if on_stack[target as usize] {
                        low[node as usize] = low[node as usize].min(index[target as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((above, _)) = calls.last() {
                    let above = *above as usize;
                    low[above] = low[above].min(low[node as usize]);
                }
                if low[node as usize] == index[node as usize] {
                    while let Some(member) = stack.pop() {
                        on_stack[member as usize] = false;
                        if member == node {
                            break;
                        }
                        self.merge(node, member);
                    }
                    order.push(node);
                }
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
            self.seen[into as usize] = Bits::default();
        }
    }
}
