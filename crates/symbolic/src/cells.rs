//! Finds the numbers in memory that rounds of a loop pass on: in globals, in objects of the function, and behind its parameters.

use patchwright_ir::{
    BlockId, Function, GlobalId, InstructionKind, LocalId, LocalKind, LocalUse, Module, Target,
    TempId, Type, Value,
};
use rustc_hash::FxHashMap;

use crate::options::{ParameterShape, Shape};

/// Numbers in memory at most that rounds pass on.
const MOST: usize = 16;

/// What a number lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// A global of the module.
    Global(GlobalId),
    /// An object of the function.
    Local(LocalId),
    /// What a parameter leads to.
    Parameter(LocalId),
}

/// A number in memory, at a place that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) base: Base,
    pub(crate) offset: u64,
    pub(crate) ty: Type,
}

impl Cell {
    fn end(&self) -> u64 {
        self.offset + self.ty.size()
    }

    fn overlaps(&self, other: &Cell) -> bool {
        self.base == other.base && self.offset < other.end() && other.offset < self.end()
    }
}

/// Whether rounds can pass on a number of this type.
fn is_number(ty: Type) -> bool {
    (ty.is_integer() || matches!(ty, Type::F32 | Type::F64)) && ty.size() <= 8
}

/// Returns the numbers that a function reads or writes at places that are known. Those of `globals` count in all functions of the
/// module, those behind `parameters` by their shapes.
pub(crate) fn cells(
    module: &Module,
    function: &Function,
    shapes: &[ParameterShape],
    is_variable: impl Fn(GlobalId) -> bool,
    is_as_given: impl Fn(LocalId) -> bool,
) -> Vec<Cell> {
    let mut all: Vec<Cell> = Vec::new();
    let mut add = |cell: Cell| {
        if is_number(cell.ty) && all.len() < MOST && !all.iter().any(|one| one.overlaps(&cell)) {
            all.push(cell);
        }
    };
    let places = Places::of(function);
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        let Some((ty, address)) = accessed(&instruction.kind) else {
            continue;
        };
        if let Some((local, offset)) = places.place(address)
            && let LocalKind::Memory { size, .. } = function.local(local).kind
            && offset + ty.size() <= size
        {
            let base = Base::Local(local);
            add(Cell { base, offset, ty });
        }
    }
    for (index, shape) in shapes.iter().enumerate() {
        let local = LocalId(index as u32);
        if let Shape::Pointer {
            to: Some(to),
            nullable: false,
            count: 1..,
            ..
        } = &shape.shape
            && is_as_given(local)
        {
            let mut numbers = Vec::new();
            collect(to, 0, &mut numbers);
            for (offset, ty) in numbers {
                let base = Base::Parameter(local);
                add(Cell { base, offset, ty });
            }
        }
    }
    let functions = module.functions.iter();
    let blocks = functions.flat_map(|function| &function.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        if let Some((ty, address)) = accessed(&instruction.kind)
            && let Value::Address {
                target: Target::Global(global),
                addend,
            } = address
            && let Ok(offset) = u64::try_from(addend)
            && offset + ty.size() <= module.globals[global.index()].size
            && is_variable(global)
        {
            let base = Base::Global(global);
            add(Cell { base, offset, ty });
        }
    }
    all
}

/// The type and address of an access that nobody else sees.
fn accessed(kind: &InstructionKind) -> Option<(Type, Value)> {
    match kind {
        InstructionKind::Load {
            ty,
            address,
            volatile: false,
            ..
        }
        | InstructionKind::Store {
            ty,
            address,
            volatile: false,
            ..
        } => Some((*ty, address.value)),
        _ => None,
    }
}

/// The numbers in an object of a shape, with their offsets. Members of a union lie in one place, and the first counts.
fn collect(shape: &Shape, at: u64, all: &mut Vec<(u64, Type)>) {
    match shape {
        Shape::Scalar(ty) => all.push((at, *ty)),
        Shape::Record { members, .. } => {
            for (offset, _, member) in members {
                collect(member, at + offset, all);
            }
        }
        Shape::Array { .. } | Shape::Pointer { .. } | Shape::Function { .. } => {}
    }
}

/// Which temporaries of a function are addresses within its objects.
struct Places {
    within: FxHashMap<TempId, (LocalId, u64)>,
}

impl Places {
    fn of(function: &Function) -> Places {
        let mut all = Places {
            within: FxHashMap::default(),
        };
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            match &instruction.kind {
                InstructionKind::LocalAddress { dst, local } => {
                    all.within.insert(*dst, (*local, 0));
                }
                InstructionKind::MemberAddress { dst, a, offset, .. } => {
                    if let Some((local, at)) = all.place(a.value) {
                        all.within.insert(*dst, (local, at + offset));
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn place(&self, address: Value) -> Option<(LocalId, u64)> {
        match address {
            Value::Temp(temp) => self.within.get(&temp).copied(),
            _ => None,
        }
    }
}

/// What is known of a function's objects where blocks begin.
pub(crate) struct Objects {
    /// Objects that live on all ways to a block, by their locals.
    alive: Vec<Vec<bool>>,
    /// On some way.
    perhaps: Vec<Vec<bool>>,
    /// Numbers of the list of all that have a value on all ways.
    written: Vec<Vec<bool>>,
}

impl Objects {
    /// Follows lives and values of objects from block to block.
    pub(crate) fn of(function: &Function, cells: &[Cell]) -> Objects {
        let locals = function.locals.len();
        let begins = |local: usize| {
            let blocks = function.blocks.iter();
            let mut uses = blocks.flat_map(|block| &block.instructions);
            uses.any(|one| one.local() == Some((LocalId(local as u32), LocalUse::Begin)))
        };
        let parameters = function.parameters.len();
        let at_entry: Vec<bool> = (0..locals)
            .map(|local| local < parameters || !begins(local))
            .collect();
        let blocks = function.blocks.len();
        let mut all = Objects {
            alive: vec![vec![true; locals]; blocks],
            perhaps: vec![vec![false; locals]; blocks],
            written: vec![vec![true; cells.len()]; blocks],
        };
        let written = cells.iter().map(|cell| match cell.base {
            Base::Local(local) => local.index() < parameters,
            Base::Global(_) | Base::Parameter(_) => true,
        });
        if blocks > 0 {
            all.alive[0].clone_from(&at_entry);
            all.perhaps[0].clone_from(&at_entry);
            all.written[0] = written.collect();
        }
        let places = Places::of(function);
        let mut changed = true;
        while changed {
            changed = false;
            for id in function.block_ids() {
                let index = id.index();
                let mut now = (
                    all.alive[index].clone(),
                    all.perhaps[index].clone(),
                    all.written[index].clone(),
                );
                for instruction in &function.block(id).instructions {
                    if let Some((local, used)) = instruction.local()
                        && let LocalUse::Begin | LocalUse::End = used
                    {
                        let lives = used == LocalUse::Begin;
                        now.0[local.index()] = lives;
                        now.1[local.index()] = lives;
                        for (cell, written) in cells.iter().zip(&mut now.2) {
                            *written &= cell.base != Base::Local(local);
                        }
                    }
                    let (address, size) = match &instruction.kind {
                        InstructionKind::Store { ty, address, .. } => (address, ty.size()),
                        InstructionKind::Zero { address, size } => (address, *size),
                        _ => continue,
                    };
                    let Some((local, offset)) = places.place(address.value) else {
                        continue;
                    };
                    for (cell, written) in cells.iter().zip(&mut now.2) {
                        let is_inside = offset <= cell.offset && cell.end() <= offset + size;
                        *written |= cell.base == Base::Local(local) && is_inside;
                    }
                }
                for edge in function.block(id).terminator.edges() {
                    let next = edge.target.index();
                    changed |= meet(&mut all.alive[next], &now.0, |old, new| old && new);
                    changed |= meet(&mut all.perhaps[next], &now.1, |old, new| old || new);
                    changed |= meet(&mut all.written[next], &now.2, |old, new| old && new);
                }
            }
        }
        all
    }

    /// The objects that live where a block begins. `None` if that depends on the way there.
    pub(crate) fn alive(&self, function: &Function, block: BlockId) -> Option<Vec<LocalId>> {
        let (alive, perhaps) = (&self.alive[block.index()], &self.perhaps[block.index()]);
        let mut all = Vec::new();
        for (index, local) in function.locals.iter().enumerate() {
            if !matches!(local.kind, LocalKind::Memory { .. }) {
                continue;
            }
            if alive[index] != perhaps[index] {
                return None;
            }
            if alive[index] {
                all.push(LocalId(index as u32));
            }
        }
        Some(all)
    }

    /// Whether a number of the list has a value wherever a block begins.
    pub(crate) fn is_written(&self, block: BlockId, cell: usize) -> bool {
        self.written[block.index()][cell]
    }
}

fn meet(all: &mut [bool], new: &[bool], join: impl Fn(bool, bool) -> bool) -> bool {
    let mut changed = false;
    for (old, &new) in all.iter_mut().zip(new) {
        let joined = join(*old, new);
        changed |= joined != *old;
        *old = joined;
    }
    changed
}
