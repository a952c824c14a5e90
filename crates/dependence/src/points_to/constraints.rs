//! Gathers the constraints of a program's instructions on its pointers.

use patchwright_clib::Fact;
use patchwright_ir::{
    BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalKind, ObjectId, Operand,
    Program, RoutineId, Target, TerminatorKind, Type, VA_LIST, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    BaseId, CONSTANTS, Cells, ERRNO, Frame, LIBRARY, Location, NodeId, PointeeId, PointsTo,
    STANDARD, STANDARD_STREAM, STREAMS, UNKNOWN,
    contents::{Base, Place},
    holds_pointers,
    shape::{Move, Shape},
    sparse::Sparse,
};

/// A constraint that is applied to each location that a set gains.
#[derive(Clone, Debug)]
pub(super) enum Complex {
    /// The node holds what the objects hold.
    Load(NodeId),
    /// The objects hold what the node holds.
    Store(NodeId),
    /// The functions are called.
    Call(u32),
    /// The node holds what arithmetic makes of the pointers.
    Move(NodeId, Move),
    /// The first objects of a copy, which is one of those of the solver.
    CopyFrom(u32),
    /// The other ones.
    CopyTo(u32),
}

/// Bytes of objects are copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) size: Option<u64>,
    /// What all of the first objects hold, where there are too many pairs to go by offsets.
    pub(super) between: Option<NodeId>,
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
    /// The third argument, where it is a constant: how many bytes `memcpy` copies.
    pub(super) bytes: Option<u64>,
}

/// Andersen's analysis: sets of locations, one for each node, and constraints between them.
pub(super) struct Solver<'p> {
    pub(super) program: &'p Program,
    pub(super) result: PointsTo,
    pub(super) copies: Vec<FxHashSet<NodeId>>,
    pub(super) complex: Vec<Vec<Complex>>,
    /// What of a set its complex constraints have seen.
    pub(super) seen: Vec<Sparse>,
    pub(super) calls: Vec<IndirectCall>,
    pub(super) byte_copies: Vec<Bytes>,
    pub(super) bases: Vec<Base>,
    pub(super) places: FxHashMap<PointeeId, Place>,
    /// The copies between places that are known already.
    pub(super) copied: FxHashSet<(PointeeId, PointeeId, Option<u64>)>,
    /// The node of all that functions that are not known can reach.
    pub(super) unknown: NodeId,
    pub(super) changed: bool,
}

impl<'p> Solver<'p> {
    /// Makes a solver without constraints.
    pub(super) fn new(program: &'p Program) -> Self {
        let result = PointsTo {
            bases: Vec::new(),
            sizes: Vec::new(),
            pointees: Vec::new(),
            by_shape: FxHashMap::default(),
            held: Vec::new(),
            initial: Vec::new(),
            cells: Cells::default(),
            by_location: FxHashMap::default(),
            objects: Vec::new(),
            frames: vec![Frame::default(); program.routines.len()],
            parent: Vec::new(),
            sets: Vec::new(),
            callees: FxHashMap::default(),
        };
        let mut solver = Solver {
            program,
            result,
            copies: Vec::new(),
            complex: Vec::new(),
            seen: Vec::new(),
            calls: Vec::new(),
            byte_copies: Vec::new(),
            bases: Vec::new(),
            places: FxHashMap::default(),
            copied: FxHashSet::default(),
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

    /// Adds a node with an empty set.
    pub(super) fn node(&mut self) -> NodeId {
        let id = self.result.sets.len() as NodeId;
        self.result.sets.push(Sparse::default());
        self.result.parent.push(id);
        self.copies.push(FxHashSet::default());
        self.complex.push(Vec::new());
        self.seen.push(Sparse::default());
        id
    }

    fn location(&mut self, location: Location) -> BaseId {
        if let Some(&id) = self.result.by_location.get(&location) {
            return id;
        }
        let id = self.result.bases.len() as BaseId;
        self.result.bases.push(location);
        self.result.by_location.insert(location, id);
        let size = match location {
            Location::Object(object) => Some(self.program.global(object).size),
            Location::Local(routine, local) => {
                match self.program.function(routine).local(local).kind {
                    LocalKind::Memory { size, .. } => Some(size),
                    LocalKind::Register(_) => None,
                }
            }
            _ => None,
        };
        self.result.sizes.push(size);
        self.bases.push(Base::default());
        id
    }

    /// A pointer to the start of an object.
    fn start_of(&mut self, base: BaseId) -> PointeeId {
        self.pointee(base, Shape::at(0))
    }

    /// What is stored at the start of an object: all that an object without parts holds.
    fn stored_in(&mut self, base: BaseId) -> NodeId {
        let start = self.start_of(base);
        self.place(start).stored
    }

    /// Adds a location to the set of a node.
    pub(super) fn add(&mut self, node: NodeId, id: PointeeId) {
        if node != 0 {
            let root = self.result.root(node);
            self.changed |= self.result.sets[root as usize].insert(id);
        }
    }

    fn add_start(&mut self, node: NodeId, base: BaseId) {
        let start = self.start_of(base);
        self.add(node, start);
    }

    /// Makes the set of `to` contain the set of `from`.
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
            self.seen[root] = Sparse::default();
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
    fn copy_objects(&mut self, to: NodeId, from: NodeId, size: Option<u64>) {
        let number = self.byte_copies.len() as u32;
        self.byte_copies.push(Bytes {
            from,
            to,
            size,
            between: None,
        });
        self.constrain(from, Complex::CopyFrom(number));
        self.constrain(to, Complex::CopyTo(number));
    }

    /// A node holds what arithmetic makes of the pointers of another one.
    fn shift(&mut self, to: NodeId, from: NodeId, by: Move) {
        if to != 0 {
            self.constrain(from, Complex::Move(to, by));
        }
    }

    /// Reads the constraints of all data and instructions of the program.
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
                let node = self.stored_in(id);
                self.add_start(node, STANDARD_STREAM);
            }
            self.result.objects.push(id);
        }
        let library = self.stored_in(LIBRARY);
        self.add_start(library, LIBRARY);
        self.unknown = self.stored_in(UNKNOWN);
        let unknown = self.unknown;
        self.add_start(unknown, UNKNOWN);
        self.load(unknown, unknown);
        self.store(unknown, unknown);
        self.shift(unknown, unknown, Move::Widen);
        for (index, object) in program.objects.iter().enumerate() {
            let id = ObjectId(index as u32);
            let Some(data) = program.global(id).data.as_ref().filter(|_| object.defined) else {
                continue;
            };
            for relocation in &data.relocations {
                let to = self.target(object.module, relocation.target, relocation.addend);
                self.initial(id, relocation.offset, to);
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
                self.add_start(node, LIBRARY);
            }
        }
    }

    fn target(&mut self, module: usize, target: Target, addend: i64) -> PointeeId {
        let base = match target {
            Target::Global(global) => {
                self.result.objects[self.program.object_of(module, global).index()]
            }
            Target::Function(function) => {
                let routine = self.program.routine_of(module, function);
                self.location(Location::Function(routine))
            }
        };
        self.pointee(base, Shape::at(addend))
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
                    self.stored_in(id)
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
            Value::Address { target, addend } => {
                let module = self.program.routine(routine).module;
                let id = self.target(module, target, addend);
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
                // Of an aggregate the addresses of what is returned.
                let result = self.result.frames[routine.index()].result;
                let value = self.operand(routine, value);
                self.copy(result, value);
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
                self.add_start(dst, id);
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
            Convert { a, .. } => {
                let a = self.operand(routine, *a);
                self.copy(dst, a);
            }
            Extend { value: a, .. } | Unary { a, .. } => {
                let a = self.operand(routine, *a);
                self.shift(dst, a, Move::Widen);
            }
            MemberAddress {
                a, offset, array, ..
            } => {
                let a = self.operand(routine, *a);
                let (offset, array) = (*offset, *array);
                self.shift(dst, a, Move::Member { offset, array });
            }
            // Pointers as numbers may become any others.
            Binary { a, b, .. } | Shift { a, b, .. } => {
                for operand in [a, b] {
                    let node = self.operand(routine, *operand);
                    self.shift(dst, node, Move::Widen);
                }
            }
            PointerAdd {
                a,
                index,
                size,
                negative,
                ..
            } => {
                let by = movement(*index, *size, *negative);
                let a = self.operand(routine, *a);
                self.shift(dst, a, by);
                let index = self.operand(routine, *index);
                self.shift(dst, index, Move::Widen);
            }
            Copy { to, from, size } => {
                let (to, from) = (self.operand(routine, *to), self.operand(routine, *from));
                self.copy_objects(to, from, Some(*size));
            }
            VaCopy { to, from } => {
                let (to, from) = (self.operand(routine, *to), self.operand(routine, *from));
                self.copy_objects(to, from, Some(VA_LIST));
            }
            VaStart { list } => {
                let rest = self.location(Location::Rest(routine));
                let node = self.node();
                self.add_start(node, rest);
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
                self.add_start(dst, id);
            }
            Call {
                callee,
                arguments,
                result,
                result_address,
                ..
            } => {
                let bytes = arguments
                    .get(2)
                    .and_then(|argument| constant(argument.value));
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
                    bytes,
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
            | Settle { .. }
            | PointerDifference { .. }
            | Zero { .. }
            | Unsupported { .. } => {}
        }
    }

    /// Adds the constraints of an indirect call that may reach a routine.
    pub(super) fn called(&mut self, callee: RoutineId, call: &IndirectCall) {
        if self.program.routine(callee).defined {
            self.enter(callee, call);
        } else {
            let name = &self.program.routine(callee).name;
            match patchwright_clib::facts(name) {
                Some(facts) => self.library_call(&facts, call),
                None => self.unknown_call(call),
            }
        }
    }

    fn enter(&mut self, callee: RoutineId, call: &IndirectCall) {
        let (variadic, parameters) = self.parameters(callee);
        let all = call.arguments.iter().zip(&parameters).enumerate();
        for (index, (&(ty, value), &(_, node))) in all {
            match ty {
                Type::Aggregate { size } => {
                    let local = Location::Local(callee, LocalId(index as u32));
                    if let Some(&local) = self.result.by_location.get(&local) {
                        let to = self.node();
                        self.add_start(to, local);
                        self.copy_objects(to, value, Some(size));
                    }
                }
                _ => self.copy(node, value),
            }
        }
        if variadic && let Some(&rest) = self.result.by_location.get(&Location::Rest(callee)) {
            let node = self.stored_in(rest);
            for &(ty, value) in call.arguments.iter().skip(parameters.len()) {
                match ty {
                    Type::Aggregate { .. } => self.load(node, value),
                    _ => self.copy(node, value),
                }
            }
        }
        let result = self.result.frames[callee.index()].result;
        match call.result {
            Type::Aggregate { size } => self.copy_objects(call.to, result, Some(size)),
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
            bytes: None,
        });
        self.constrain(unknown, Complex::Call(number));
    }

    fn library_call(&mut self, facts: &[Fact], call: &IndirectCall) {
        let argument =
            |index: usize| -> NodeId { call.arguments.get(index).map_or(0, |&(_, node)| node) };
        let (routine, block, position) = call.place;
        for &fact in facts {
            match fact {
                // An object keeps its parts when it moves; else the value may point into the argument.
                Fact::Gives(index)
                    if facts.iter().any(|fact| matches!(fact, Fact::GivesNew(..))) =>
                {
                    self.copy(call.to, argument(index));
                }
                Fact::Gives(index) => self.shift(call.to, argument(index), Move::Step(1)),
                Fact::GivesNew(..) => {
                    let id = self.location(Location::Allocated(routine, block, position));
                    self.add_start(call.to, id);
                }
                Fact::GivesLibrary => self.add_start(call.to, LIBRARY),
                Fact::GivesStream => self.add_start(call.to, STREAMS),
                Fact::GivesErrno => self.add_start(call.to, ERRNO),
                Fact::CopyPointers(to, from) => {
                    self.copy_objects(argument(to), argument(from), call.bytes);
                }
                Fact::StoresNew(index) => {
                    let id = self.location(Location::Allocated(routine, block, position));
                    let node = self.node();
                    self.add_start(node, id);
                    self.store(argument(index), node);
                }
                // The end of a number that was read, or the rest of a string.
                Fact::Stores(to, what) => {
                    let within = self.node();
                    self.shift(within, argument(what), Move::Step(1));
                    self.store(argument(to), within);
                }
                Fact::StoresLibrary(index) => {
                    let node = self.node();
                    self.add_start(node, LIBRARY);
                    self.store(argument(index), node);
                    // `getopt` moves the arguments that it was given; they may also be kept.
                    let library = self.stored_in(LIBRARY);
                    self.load(library, argument(index));
                }
                Fact::Calls(function, given) => {
                    let arguments = given.map(|index| (Type::Ptr, index.map_or(0, argument)));
                    let number = self.calls.len() as u32;
                    self.calls.push(IndirectCall {
                        place: call.place,
                        arguments: arguments.to_vec(),
                        strict: false,
                        result: Type::Void,
                        to: 0,
                        bytes: None,
                    });
                    self.constrain(argument(function), Complex::Call(number));
                }
                _ => {}
            }
        }
    }
}

/// The value of a constant operand.
pub(super) fn constant(operand: Operand) -> Option<u64> {
    match operand.value {
        Value::Constant { bits, .. } => u64::try_from(bits).ok(),
        _ => None,
    }
}

/// Returns the move of a `PointerAdd`. Arithmetic in bytes goes to a known place, because programs compute the places of members so. Other
/// arithmetic walks over the elements of an array.
fn movement(index: Operand, size: Operand, negative: bool) -> Move {
    let Some(size) = constant(size) else {
        return Move::Step(1);
    };
    let Some(count) = constant(index).map(|count| count as i64) else {
        return Move::Step(size);
    };
    match (count, size) {
        (0, _) => Move::Displace(0),
        (-1 | 1, _) => Move::Step(size),
        (_, 1) if negative => Move::Displace(count.saturating_neg()),
        (_, 1) => Move::Displace(count),
        _ => Move::Step(size),
    }
}
