//! Cuts functions at the heads of their loops. A segment from one head to the next has no loops, so the
//! encoding knows it as a whole.

use std::collections::BTreeSet;

use patchwright_ir::{
    Block, BlockId, Data, Edge, Function, FunctionId, Global, GlobalId, Instruction,
    InstructionKind, Linkage, Local, LocalId, LocalKind, LocalUse, Module, Operand, Origin,
    OriginId, Parameter, Target, TempId, Temporary, Terminator, TerminatorKind, Type, Value,
    Without,
};

use crate::{
    cells::{Base, Cell, Objects, cells},
    inputs,
    loops::{Head, heads},
    options::{Entry, ParameterShape, Shape},
};

/// The name of the global that says at which head a segment ends, counted from 1. It is 0 if the function
/// returns.
pub const AT: &str = "segment's end";
/// The prefix of the names of globals that hold values for the next round.
pub const KEPT: &str = "segment's variable ";
/// Bytes of globals at most whose values at the beginning of a round may be any.
const MOST_BYTES: u64 = 1024;

/// A value that goes into a round of a loop.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The input that stands for it.
    pub name: String,
    /// The variable's name in the source.
    pub variable: String,
    /// The global that holds it where a segment ends.
    pub kept: String,
    /// Its type.
    pub ty: Type,
}

/// What goes into the rounds of a loop in memory.
#[derive(Clone, Default)]
struct Passed {
    /// Objects of the function that live there.
    objects: Vec<LocalId>,
    /// Numbers of which the values are known, by their places in the list of all.
    cells: Vec<usize>,
}

/// A function of a module with the heads of its loops.
#[derive(Clone)]
pub struct Segments<'m> {
    module: &'m Module,
    id: FunctionId,
    shapes: &'m [ParameterShape],
    heads: Vec<Head>,
    side: &'static str,
    /// Numbers in memory of which it is known what goes into a round.
    cells: Vec<Cell>,
    /// What is passed on to the rounds of each loop, in memory.
    passed: Vec<Passed>,
}

impl<'m> Segments<'m> {
    /// Cuts the function `name` at the heads of its loops into segments without loops. Returns `None` if rounds pass on anything but
    /// numbers in variables and memory behind arguments.
    pub fn of(
        module: &'m Module,
        name: &str,
        shapes: &'m [ParameterShape],
        side: &'static str,
    ) -> Option<Segments<'m>> {
        let all = Segments::cut(module, name, shapes, side)?;
        let has_objects = all
            .function()
            .locals
            .iter()
            .any(|local| is_object(local.kind));
        (all.heads.is_empty() || !has_objects).then_some(all)
    }

    /// As [`Segments::of`], but each number in a global, in an object of the function or behind a parameter is a value of its own, too.
    /// Returns `None` if there are none.
    pub fn with_memory(
        module: &'m Module,
        name: &str,
        shapes: &'m [ParameterShape],
        side: &'static str,
    ) -> Option<Segments<'m>> {
        let mut all = Segments::cut(module, name, shapes, side)?;
        let function = all.function();
        all.cells = cells(
            module,
            function,
            shapes,
            |global| is_variable(&module.globals[global.index()]),
            |local| all.is_as_given(local),
        );
        let objects = Objects::of(function, &all.cells);
        for head in &all.heads {
            let alive = objects.alive(function, head.block)?;
            let is_passed = |index: &usize| match all.cells[*index].base {
                Base::Global(_) => true,
                Base::Local(local) => {
                    alive.contains(&local) && objects.is_written(head.block, *index)
                }
                Base::Parameter(local) => head.live.contains(&local),
            };
            let cells = (0..all.cells.len()).filter(is_passed).collect();
            all.passed.push(Passed {
                objects: alive,
                cells,
            });
        }
        (!all.cells.is_empty()).then_some(all)
    }

    fn cut(
        module: &'m Module,
        name: &str,
        shapes: &'m [ParameterShape],
        side: &'static str,
    ) -> Option<Segments<'m>> {
        let mut found = module.functions.iter().enumerate();
        let (index, function) = found.find(|(_, one)| one.name == name && one.is_defined())?;
        let heads = heads(function)?;
        let is_plain = function.parameters.len() == shapes.len()
            && !function.variadic
            && !matches!(
                function.result,
                Type::Ptr | Type::Aggregate { .. } | Type::F80
            );
        if !is_plain {
            return None;
        }
        let mut all = Segments {
            module,
            id: FunctionId(index as u32),
            shapes,
            heads,
            side,
            cells: Vec::new(),
            passed: Vec::new(),
        };
        all.keep_targets();
        let mut live = all.heads.iter().flat_map(|head| &head.live);
        let goes_on = all.heads.is_empty() || live.all(|&local| all.can_be_carried(local));
        let is_known = all.heads.is_empty() || all.memory_is_plain();
        (goes_on && is_known).then_some(all)
    }

    fn function(&self) -> &'m Function {
        self.module.function(self.id)
    }

    /// Pointers that others may lead to live as long as these: where an array begins and ends depends on both.
    fn keep_targets(&mut self) {
        let shapes = self.shapes;
        for head in &mut self.heads {
            let mut at = 0;
            while let Some(&local) = head.live.get(at) {
                at += 1;
                let own = shapes.get(local.index());
                let ways = own.into_iter().flat_map(|own| &own.ways);
                for way in ways.flat_map(|(_, ways)| ways) {
                    let inputs::Target::Pointer { parameter, .. } = &way.to else {
                        continue;
                    };
                    let target = shapes.iter().position(|one| one.name == *parameter);
                    let target = target.map(|index| LocalId(index as u32));
                    head.live
                        .extend(target.filter(|target| !head.live.contains(target)));
                }
            }
            head.live.sort_unstable_by_key(|local| local.0);
        }
    }

    /// What goes into the rounds of loop `head` in memory.
    fn passed(&self, head: usize) -> (&[LocalId], impl Iterator<Item = (usize, Cell)>) {
        let passed = self.passed.get(head);
        let objects = passed.map_or(&[][..], |passed| &passed.objects);
        let cells = passed.map_or(&[][..], |passed| &passed.cells);
        (
            objects,
            cells.iter().map(|&index| (index, self.cells[index])),
        )
    }

    /// What a number in memory lies in, as the source calls it.
    fn base_name(&self, cell: Cell) -> &'m str {
        match cell.base {
            Base::Global(global) => &self.module.globals[global.index()].name,
            Base::Local(local) | Base::Parameter(local) => &self.function().local(local).name,
        }
    }

    fn cell_name(&self, index: usize) -> String {
        let name = self.base_name(self.cells[index]);
        format!("{} {name} in memory {index}", self.side)
    }

    fn kept_cell_name(index: usize) -> String {
        format!("{KEPT}in memory {index}")
    }

    /// Returns the number of loops.
    pub fn count(&self) -> usize {
        self.heads.len()
    }

    fn register(&self, local: LocalId) -> Option<Type> {
        match self.function().local(local).kind {
            LocalKind::Register(ty) => Some(ty),
            LocalKind::Memory { .. } => None,
        }
    }

    /// Numbers are; pointers only where they are what the caller gave.
    fn can_be_carried(&self, local: LocalId) -> bool {
        match self.register(local) {
            Some(Type::Ptr) => self.is_as_given(local),
            Some(Type::F80 | Type::I128 | Type::U128 | Type::Aggregate { .. } | Type::Void) => {
                false
            }
            Some(_) => true,
            None => false,
        }
    }

    /// A parameter that nothing writes to.
    fn is_as_given(&self, local: LocalId) -> bool {
        let function = self.function();
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        local.index() < function.parameters.len()
            && !instructions
                .into_iter()
                .any(|instruction| instruction.local() == Some((local, LocalUse::Write)))
    }

    /// No pointers lie in memory that outlives the function, it is not much, and all of it is looked at where a segment ends.
    fn memory_is_plain(&self) -> bool {
        let mut size = 0;
        for global in self.module.globals.iter().filter(|one| is_variable(one)) {
            size += global.size;
            let data = global.data.as_ref();
            let has_pointers = data.is_some_and(|data| !data.relocations.is_empty());
            if has_pointers || !is_seen(&global.name) {
                return false;
            }
        }
        let functions = self.module.functions.iter();
        let blocks = functions.flat_map(|function| &function.blocks);
        let mut instructions = blocks.flat_map(|block| &block.instructions);
        let moves_pointers = instructions.any(|instruction| {
            matches!(
                instruction.kind,
                InstructionKind::Store { ty: Type::Ptr, .. } | InstructionKind::Copy { .. }
            )
        });
        size <= MOST_BYTES
            && !moves_pointers
            && self.shapes.iter().all(|shape| match &shape.shape {
                Shape::Scalar(_) => true,
                Shape::Pointer {
                    to: Some(to),
                    count,
                    ..
                } => is_numbers(to) && to.size().saturating_mul(*count) <= MOST_BYTES,
                _ => false,
            })
    }

    /// Returns the names and sizes of the variables that outlive the function.
    pub fn globals(&self) -> Vec<(&'m str, u64)> {
        let globals = self.module.globals.iter().filter(|one| is_variable(one));
        let mut all: Vec<(&str, u64)> = globals.map(|one| (one.name.as_str(), one.size)).collect();
        all.sort_unstable();
        all
    }

    /// Returns the values that go into a round of loop `head`.
    pub fn carried(&self, head: usize) -> Vec<Carried> {
        let live = self.heads[head].live.iter();
        let numbers = live.filter_map(|&local| match self.register(local)? {
            Type::Ptr => None,
            ty => Some((local, ty)),
        });
        let carried = numbers.map(|(local, ty)| Carried {
            name: self.name(local),
            variable: self.function().local(local).name.clone(),
            kept: kept_name(local),
            ty,
        });
        let (_, cells) = self.passed(head);
        let cells = cells.map(|(index, cell)| Carried {
            name: self.cell_name(index),
            variable: self.base_name(cell).to_owned(),
            kept: Self::kept_cell_name(index),
            ty: cell.ty,
        });
        carried.chain(cells).collect()
    }

    fn name(&self, local: LocalId) -> String {
        let name = &self.function().local(local).name;
        format!("{} {name} {}", self.side, local.0)
    }

    /// Returns a module in which the function is the segment that begins at its start, or with `from`
    /// at a round of that loop, and the entry of the segment.
    pub fn segment(&self, from: Option<usize>) -> (Module, Entry) {
        let mut module = self.module.clone();
        if from.is_some() {
            // Nothing is known of what they hold.
            for global in module.globals.iter_mut().filter(|one| is_variable(one)) {
                global.data = Some(Data::default());
            }
        }
        let at = add_global(&mut module, AT, Type::I32);
        let registers: Vec<(LocalId, Type)> = (0..self.function().locals.len() as u32)
            .map(LocalId)
            .filter_map(|local| Some((local, self.register(local)?)))
            .collect();
        let mut kept: Vec<(LocalId, GlobalId)> = Vec::new();
        for (local, ty) in registers {
            if self.heads.iter().any(|head| head.live.contains(&local)) && ty != Type::Ptr {
                kept.push((local, add_global(&mut module, &kept_name(local), ty)));
            }
        }
        let cells =
            self.cells.iter().enumerate().map(|(index, cell)| {
                add_global(&mut module, &Self::kept_cell_name(index), cell.ty)
            });
        let cells: Vec<GlobalId> = cells.collect();
        let mut function = self.function().clone();
        for head in 0..self.heads.len() {
            self.end_at(&mut function, head, at, (&kept, &cells));
        }
        let parameters = match from {
            None => self.shapes.to_vec(),
            Some(head) => self.begin_at(&mut function, head),
        };
        let entry = Entry::Function {
            name: function.name.clone(),
            parameters,
        };
        module.functions[self.id.index()] = function;
        (module, entry)
    }

    /// All ways to the beginning of a loop keep what goes into the round, and return.
    fn end_at(
        &self,
        function: &mut Function,
        head: usize,
        at: GlobalId,
        (kept, cells): (&[(LocalId, GlobalId)], &[GlobalId]),
    ) {
        let own = &self.heads[head];
        let origin = function.block(own.block).terminator.origin;
        let end = BlockId(function.blocks.len() as u32);
        // What begins with it gets to it by another way, which is added later.
        for block in &mut function.blocks {
            block.terminator.for_each_edge_mut(&mut |edge| {
                if edge.target == own.block {
                    edge.target = end;
                }
            });
        }
        let mut instructions = Vec::new();
        for &local in &own.live {
            let Some(&(_, global)) = kept.iter().find(|(other, _)| *other == local) else {
                continue;
            };
            let Some(ty) = self.register(local) else {
                continue;
            };
            let dst = temporary(function, ty);
            let read = InstructionKind::Read { dst, local };
            instructions.push(Instruction { kind: read, origin });
            instructions.push(store(global, ty, Value::Temp(dst), origin));
        }
        for (index, cell) in self.passed(head).1 {
            let address = address_of(function, cell, origin, |local| local, &mut instructions);
            let dst = temporary(function, cell.ty);
            let load = InstructionKind::Load {
                dst,
                ty: cell.ty,
                address: Operand {
                    value: address,
                    origin,
                },
                volatile: false,
            };
            instructions.push(Instruction { kind: load, origin });
            instructions.push(store(cells[index], cell.ty, Value::Temp(dst), origin));
        }
        let number = Value::Constant {
            ty: Type::I32,
            bits: head as u128 + 1,
        };
        instructions.push(store(at, Type::I32, number, origin));
        let kind = match function.result {
            Type::Void => TerminatorKind::ReturnNothing,
            ty => TerminatorKind::Return(Some(Operand {
                value: Value::Constant { ty, bits: 0 },
                origin,
            })),
        };
        function.blocks.push(Block {
            instructions,
            terminator: Terminator {
                kind,
                origin,
                without: Without::Same,
                inside: None,
            },
        });
    }

    /// The function begins with a round, and what goes into it are its arguments, whose shapes are returned.
    fn begin_at(&self, function: &mut Function, head: usize) -> Vec<ParameterShape> {
        let own = &self.heads[head];
        let origin = function.block(own.block).terminator.origin;
        let (objects, cells) = self.passed(head);
        let cells: Vec<(usize, Cell)> = cells.collect();
        let added = (own.live.len() + cells.len()) as u32;
        let mut shapes = Vec::new();
        let mut locals = Vec::new();
        function.parameters.clear();
        for &local in &own.live {
            let Some(ty) = self.register(local) else {
                continue;
            };
            function.parameters.push(Parameter { ty });
            locals.push(Local::clone(function.local(local)));
            shapes.push(match ty {
                // What the rounds before have written may be anything.
                Type::Ptr => ParameterShape {
                    shape: without_end(&self.shapes[local.index()].shape),
                    ..self.shapes[local.index()].clone()
                },
                ty => ParameterShape {
                    name: self.name(local),
                    shape: Shape::Scalar(ty),
                    ways: Vec::new(),
                    before: Vec::new(),
                    outside: Vec::new(),
                },
            });
        }
        for &(index, cell) in &cells {
            function.parameters.push(Parameter { ty: cell.ty });
            locals.push(Local {
                name: String::new(),
                kind: LocalKind::Register(cell.ty),
                origin,
            });
            shapes.push(ParameterShape {
                name: self.cell_name(index),
                shape: Shape::Scalar(cell.ty),
                ways: Vec::new(),
                before: Vec::new(),
                outside: Vec::new(),
            });
        }
        // Parameters are the first locals.
        locals.append(&mut function.locals);
        function.locals = locals;
        let moved = |local: &mut LocalId| local.0 += added;
        for instruction in function
            .blocks
            .iter_mut()
            .flat_map(|one| &mut one.instructions)
        {
            if let Some(local) = instruction.local_mut() {
                moved(local);
            }
        }
        let mut instructions = Vec::new();
        for (index, &local) in own.live.iter().enumerate() {
            let Some(ty) = self.register(local) else {
                continue;
            };
            let dst = temporary(function, ty);
            let given = LocalId(index as u32);
            let mut to = local;
            moved(&mut to);
            let read = InstructionKind::Read { dst, local: given };
            let value = Operand {
                value: Value::Temp(dst),
                origin,
            };
            let write = InstructionKind::Write { local: to, value };
            instructions.extend([read, write].map(|kind| Instruction { kind, origin }));
        }
        let shifted = |mut local: LocalId| {
            moved(&mut local);
            local
        };
        for &object in objects {
            let kind = InstructionKind::Live {
                local: shifted(object),
            };
            instructions.push(Instruction { kind, origin });
        }
        for (index, &(_, cell)) in cells.iter().enumerate() {
            let address = address_of(function, cell, origin, shifted, &mut instructions);
            let dst = temporary(function, cell.ty);
            let given = LocalId((own.live.len() + index) as u32);
            let read = InstructionKind::Read { dst, local: given };
            instructions.push(Instruction { kind: read, origin });
            instructions.push(store_at(address, cell.ty, Value::Temp(dst), origin));
        }
        // The entry is the first block; what stood there moves to the end.
        let last = BlockId(function.blocks.len() as u32);
        let first = function.blocks[0].clone();
        function.blocks.push(first);
        for block in &mut function.blocks {
            block.terminator.for_each_edge_mut(&mut |edge| {
                if edge.target == BlockId(0) {
                    edge.target = last;
                }
            });
        }
        let target = match own.block {
            BlockId(0) => last,
            block => block,
        };
        function.blocks[0] = Block {
            instructions,
            terminator: Terminator {
                kind: TerminatorKind::Goto(Edge { target, origin }),
                origin,
                without: Without::Same,
                inside: None,
            },
        };
        shapes
    }
}

/// Whether a function, or one that it may call, keeps state in variables of the library (`strtok`) or in
/// `errno`. What they hold at the beginning of a round is not known.
pub fn keeps_state(module: &Module, library: &Module, name: &str) -> bool {
    let defined = |wanted: &str| {
        let of = |module: &'_ Module| {
            let mut all = module.functions.iter();
            all.position(|one| one.name == wanted && one.is_defined())
        };
        match of(module) {
            Some(index) => Some((module, index, false)),
            None => of(library).map(|index| (library, index, true)),
        }
    };
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        if next == "__errno_location" {
            return true;
        }
        let Some((of, index, is_library)) = defined(&next) else {
            continue;
        };
        let blocks = of.functions[index].blocks.iter();
        for instruction in blocks.flat_map(|block| &block.instructions) {
            let mut called: Vec<FunctionId> = instruction.called().into_iter().collect();
            for operand in instruction.operands() {
                match operand.value {
                    Value::Address {
                        target: Target::Function(id),
                        ..
                    } => called.push(id),
                    Value::Address {
                        target: Target::Global(id),
                        ..
                    } if is_library && !of.globals[id.index()].constant => return true,
                    _ => {}
                }
            }
            for id in called {
                let name = &of.function(id).name;
                if seen.insert(name.clone()) {
                    open.push(name.clone());
                }
            }
        }
    }
    false
}

/// What a value is kept in where a segment ends.
fn kept_name(local: LocalId) -> String {
    format!("{KEPT}{}", local.0)
}

/// It has a name in the source, also if it is static within a function.
fn is_seen(name: &str) -> bool {
    match name.split_once('.') {
        Some((base, number)) => !base.is_empty() && number.bytes().all(|one| one.is_ascii_digit()),
        None => true,
    }
}

/// The program can write to it.
fn is_variable(global: &Global) -> bool {
    !global.constant && global.data.is_some()
}

/// A pointer to bytes of which no one is known.
fn without_end(shape: &Shape) -> Shape {
    let mut shape = shape.clone();
    if let Shape::Pointer { text, .. } = &mut shape {
        *text = false;
    }
    shape
}

/// Numbers alone, none in the place of another.
fn is_numbers(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(ty) => *ty != Type::Ptr,
        Shape::Array { element, .. } => is_numbers(element),
        Shape::Record { members, .. } => {
            let mut end = 0;
            members.iter().all(|(offset, _, shape)| {
                let is_behind = *offset >= end;
                end = offset + shape.size();
                is_behind && is_numbers(shape)
            })
        }
        Shape::Pointer { .. } | Shape::Function { .. } => false,
    }
}

fn add_global(module: &mut Module, name: &str, ty: Type) -> GlobalId {
    let size = ty.size();
    module.globals.push(Global {
        name: name.to_owned(),
        linkage: Linkage::Internal,
        size,
        align: size.max(1),
        constant: false,
        thread_local: false,
        tentative: false,
        data: Some(Data {
            bytes: vec![0; size as usize],
            relocations: Vec::new(),
        }),
        unsupported: None,
        origin: Origin::default(),
    });
    GlobalId(module.globals.len() as u32 - 1)
}

/// The address of a number; what computes it is added to the instructions. Locals have other numbers in the function.
fn address_of(
    function: &mut Function,
    cell: Cell,
    origin: OriginId,
    number: impl Fn(LocalId) -> LocalId,
    instructions: &mut Vec<Instruction>,
) -> Value {
    let base = match cell.base {
        Base::Global(global) => {
            return Value::Address {
                target: Target::Global(global),
                addend: cell.offset as i64,
            };
        }
        Base::Local(local) => {
            let dst = temporary(function, Type::Ptr);
            let local = number(local);
            let kind = InstructionKind::LocalAddress { dst, local };
            instructions.push(Instruction { kind, origin });
            dst
        }
        Base::Parameter(local) => {
            let dst = temporary(function, Type::Ptr);
            let local = number(local);
            let kind = InstructionKind::Read { dst, local };
            instructions.push(Instruction { kind, origin });
            dst
        }
    };
    let dst = temporary(function, Type::Ptr);
    let a = Operand {
        value: Value::Temp(base),
        origin,
    };
    let kind = InstructionKind::MemberAddress {
        dst,
        a,
        offset: cell.offset,
        array: None,
    };
    instructions.push(Instruction { kind, origin });
    Value::Temp(dst)
}

fn is_object(kind: LocalKind) -> bool {
    matches!(kind, LocalKind::Memory { .. })
}

fn temporary(function: &mut Function, ty: Type) -> TempId {
    function.temporaries.push(Temporary { ty });
    TempId(function.temporaries.len() as u32 - 1)
}

fn store(global: GlobalId, ty: Type, value: Value, origin: OriginId) -> Instruction {
    let address = Value::Address {
        target: Target::Global(global),
        addend: 0,
    };
    store_at(address, ty, value, origin)
}

fn store_at(address: Value, ty: Type, value: Value, origin: OriginId) -> Instruction {
    let operand = |value| Operand { value, origin };
    Instruction {
        kind: InstructionKind::Store {
            ty,
            address: operand(address),
            value: operand(value),
            volatile: false,
        },
        origin,
    }
}
