//! Finds the objects to which pointers may point: Andersen's analysis, by wave propagation.
//!
//! Each temporary and register has one set, and so has each place in an object to which pointers are stored. Pointers have
//! offsets, so members of structures are told apart, also those of the elements of arrays (`shape`). What uses the sets sees
//! *parts* of objects, between the borders of all that is accessed at known places (`cells`). Constraints are gathered from all
//! instructions once. Then, until nothing changes: cycles of copies become one node, sets flow along copies in topological
//! order, and loads, stores and calls through pointers give new copies (F. Pereira and D. Berlin, "Wave propagation and deep
//! propagation for pointer analysis", 2009).

mod cells;
mod constraints;
mod contents;
mod shape;
mod solve;
mod sparse;

use patchwright_ir::{
    BlockId, Function, LocalId, ObjectId, Operand, Program, RoutineId, Target, TempId, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Bits;
use cells::Cells;
use constraints::Solver;
use shape::Shape;
pub(crate) use sparse::Sparse;

/// An object, or several objects that are not told apart.
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

/// The number of a part of a location. The analyses tell the parts of a location apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

const CONSTANTS: BaseId = 0;
const LIBRARY: BaseId = 1;
const ERRNO: BaseId = 2;
const STREAMS: BaseId = 3;
const STANDARD_STREAM: BaseId = 4;
const UNKNOWN: BaseId = 5;

/// What the C library keeps, as one part each.
impl PointsTo {
    /// The one part of a location that has no others.
    fn only(&self, base: BaseId) -> LocationId {
        LocationId(self.cells.all(base).start)
    }

    /// The state of the library that has no part of its own.
    pub(crate) fn library(&self) -> LocationId {
        self.only(LIBRARY)
    }

    /// The object `errno`.
    pub(crate) fn errno(&self) -> LocationId {
        self.only(ERRNO)
    }

    /// The streams of the library.
    pub(crate) fn streams(&self) -> LocationId {
        self.only(STREAMS)
    }

    /// Everything that the analysis cannot tell apart, such as what comes from outside.
    pub(crate) fn unknown(&self) -> LocationId {
        self.only(UNKNOWN)
    }
}

/// Objects of the library that hold standard streams.
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// A set of the analysis. 0 holds nothing and stays so.
type NodeId = u32;

/// Names a location as a whole.
pub(crate) type BaseId = u32;

/// Names a location and a shape: what pointers point to.
pub(crate) type PointeeId = u32;

/// The points-to sets of all pointers of a program.
#[derive(Debug)]
pub struct PointsTo {
    bases: Vec<Location>,
    /// Bytes, where they are known.
    sizes: Vec<Option<u64>>,
    by_location: FxHashMap<Location, BaseId>,
    objects: Vec<BaseId>,
    pointees: Vec<(BaseId, Shape)>,
    by_shape: FxHashMap<(BaseId, Shape), PointeeId>,
    /// For each location, where pointers are stored in it, and the nodes of those.
    held: Vec<Vec<(Shape, NodeId)>>,
    /// For each location, the pointers that it holds from the start.
    initial: Vec<Vec<(u64, PointeeId)>>,
    cells: Cells,
    /// For each routine with a body, where its temporaries, registers and its result are.
    frames: Vec<Frame>,
    parent: Vec<NodeId>,
    sets: Vec<Sparse>,
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

/// Whether an argument of one type may arrive at a parameter of the other type.
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
    /// Computes the points-to sets of a linked program.
    pub fn of(program: &Program) -> PointsTo {
        let mut solver = Solver::new(program);
        solver.gather();
        solver.solve();
        let accesses = accesses(&mut solver);
        let Solver {
            mut result, bases, ..
        } = solver;
        for base in bases {
            let places = base.places.iter();
            let held = places.map(|place| (place.shape, place.stored));
            result.held.push(held.collect());
            result.initial.push(base.initial);
        }
        result.cells = Cells::of(&result, &mut accesses.into_iter());
        result
    }

    /// Returns the number of parts of all locations.
    pub fn location_count(&self) -> usize {
        self.cells.count()
    }

    /// Returns the location to which a part belongs.
    pub fn location(&self, id: LocationId) -> Location {
        self.bases[self.cells.base(id) as usize]
    }

    /// Returns the parts of a location. There is none if the program has no such location.
    pub fn parts(&self, location: Location) -> impl Iterator<Item = LocationId> + use<> {
        let base = match location {
            Location::Object(object) => Some(self.objects[object.index()]),
            _ => self.by_location.get(&location).copied(),
        };
        let parts = base.map_or(0..0, |base| self.cells.all(base));
        parts.map(LocationId)
    }

    fn root(&self, mut node: NodeId) -> NodeId {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    /// Returns the locations to which an operand of a routine's instructions may point.
    pub(crate) fn of_operand(
        &self,
        program: &Program,
        routine: RoutineId,
        operand: Operand,
    ) -> Sparse {
        match operand.value {
            Value::Temp(id) => self.of_temporary(routine, id).clone(),
            Value::Constant { .. } => Sparse::default(),
            Value::Address { target, addend } => {
                let module = program.routine(routine).module;
                let base = match target {
                    Target::Global(global) => {
                        Some(self.objects[program.object_of(module, global).index()])
                    }
                    Target::Function(function) => {
                        let callee = program.routine_of(module, function);
                        self.by_location.get(&Location::Function(callee)).copied()
                    }
                };
                let known = |shape| Some(*self.by_shape.get(&(base?, shape))?);
                let id = known(Shape::at(addend)).or_else(|| known(Shape::ANY));
                id.into_iter().collect()
            }
        }
    }

    fn of_temporary(&self, routine: RoutineId, id: TempId) -> &Sparse {
        let node = self.frames[routine.index()]
            .temporaries
            .get(id.index())
            .copied();
        &self.sets[self.root(node.unwrap_or(0)) as usize]
    }

    /// Returns the locations to which a register may point.
    pub(crate) fn of_register(&self, routine: RoutineId, local: LocalId) -> &Sparse {
        let node = self.frames[routine.index()].locals.get(local.index());
        &self.sets[self.root(node.copied().unwrap_or(0)) as usize]
    }

    /// Returns the parts of locations that an access of `size` bytes through these pointers may touch. Without a size, the access may have
    /// any length.
    pub(crate) fn touched(&self, pointers: &Sparse, size: Option<u64>) -> Bits {
        let mut found = Bits::default();
        for id in pointers.iter() {
            let (base, shape) = self.pointees[id as usize];
            let extent = match size {
                Some(size) => shape.extent(size),
                None => shape.range(None).extent(1),
            };
            self.cells.touched(base, extent, &mut found);
        }
        found
    }

    /// Returns the location and the parts that such an access certainly and wholly touches.
    pub(crate) fn covered(
        &self,
        pointers: &Sparse,
        size: u64,
    ) -> Option<(Location, std::ops::Range<u32>)> {
        let (base, shape) = self.pointees[pointers.single()? as usize];
        let offset = shape.offset()?;
        let bytes = (offset, offset + size);
        let parts = self.cells.exactly(base, bytes, self.sizes[base as usize])?;
        Some((self.bases[base as usize], parts))
    }

    /// Returns the locations to which pointers in these parts may point.
    pub(crate) fn held_in(&self, parts: &Bits) -> Sparse {
        let mut found = Sparse::default();
        for id in parts.iter() {
            found.union(&self.held_by(self.cells.base(LocationId(id))));
        }
        found
    }

    /// Returns the locations to which pointers in a location may point, in no order.
    pub fn targets(&self, location: Location) -> Vec<Location> {
        let parts = self.parts(location).map(|id| id.0).collect();
        let bases = self.bases_of(&self.held_in(&parts));
        bases.iter().map(|base| self.bases[base as usize]).collect()
    }

    /// Where the pointers point that a location holds.
    fn held_by(&self, base: BaseId) -> Sparse {
        let initial = self.initial[base as usize].iter();
        let mut found: Sparse = initial.map(|&(_, target)| target).collect();
        for &(_, node) in &self.held[base as usize] {
            found.union(&self.sets[self.root(node) as usize]);
        }
        found
    }

    /// For each location, the locations that pointers in it point to.
    pub(crate) fn held_bases(&self) -> Vec<Bits> {
        (0..self.bases.len() as BaseId)
            .map(|base| self.bases_of(&self.held_by(base)))
            .collect()
    }

    /// The locations that pointers point to.
    pub(crate) fn bases_of(&self, pointers: &Sparse) -> Bits {
        let bases = pointers.iter().map(|id| self.pointees[id as usize].0);
        bases.collect()
    }

    /// Returns what each location stands for, by its number.
    pub(crate) fn bases(&self) -> &[Location] {
        &self.bases
    }

    /// The parts of some locations.
    pub(crate) fn parts_of(&self, bases: &Bits) -> Bits {
        bases.iter().flat_map(|base| self.cells.all(base)).collect()
    }

    /// Returns the routines that the call at a place may call: through a pointer, or from a library
    /// function.
    pub fn callees(&self, routine: RoutineId, block: BlockId, position: u32) -> &[RoutineId] {
        self.callees
            .get(&(routine, block, position))
            .map_or(&[], Vec::as_slice)
    }
}

/// How memory is accessed: at which places, and how many bytes. What is copied or cleared as a whole has no parts.
fn accesses(solver: &mut Solver<'_>) -> Vec<(PointeeId, u64)> {
    let program = solver.program;
    let mut found: FxHashSet<(PointeeId, u64)> = FxHashSet::default();
    for routine in program.routine_ids() {
        let Some(function) = program.body(routine) else {
            continue;
        };
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        for instruction in instructions {
            let accesses = instruction.accesses().into_iter();
            for access in accesses.filter(|access| access.is_value) {
                let pointers = solver.result.of_operand(program, routine, access.address);
                found.extend(pointers.iter().map(|id| (id, access.end())));
            }
        }
    }
    let mut found: Vec<(PointeeId, u64)> = found.into_iter().collect();
    found.sort_unstable();
    found
}
