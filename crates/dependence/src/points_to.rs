//! Which objects a pointer may point to: Andersen's analysis, by waves.
//!
//! One set for each temporary, register and object; members of an object share one. Constraints
//! are gathered from all instructions once. Then, until nothing changes: cycles of copies become
//! one node, sets flow along copies in topological order, and loads, stores and calls through
//! pointers give new copies (F. Pereira and D. Berlin, "Wave propagation and deep propagation for
//! pointer analysis", 2009).

mod constraints;
mod solve;

use patchwright_ir::{
    BlockId, Function, LocalId, ObjectId, Operand, Program, RoutineId, Target, TempId, Type, Value,
};
use rustc_hash::FxHashMap;

use crate::bits::Bits;
use constraints::Solver;

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

    /// The locations that a register may point to.
    pub(crate) fn of_register(&self, routine: RoutineId, local: LocalId) -> &Bits {
        let node = self.frames[routine.index()].locals.get(local.index());
        &self.sets[self.root(node.copied().unwrap_or(0)) as usize]
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
