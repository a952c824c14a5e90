//! Translates the IR of a function to the code that is executed.

use patchwright_ir::{
    BlockId, Callee, Function, FunctionId, GlobalId, InstructionKind, LocalId, LocalKind, LocalUse,
    ObjectId, Operand, OriginId, Program, RoutineId, TerminatorKind, Type, Value,
};
use patchwright_semantics::Ty;
use rustc_hash::FxHashMap;

use crate::code::{CONSTANT, CallSite, Code, Incoming, Op, Reg, Table, Target};

/// What the names of a module mean in the program.
pub(crate) struct Linked<'a> {
    pub(crate) program: &'a Program,
    /// The module of the function.
    pub(crate) module: usize,
    /// The address of each object of the program.
    pub(crate) objects: &'a [u64],
    /// The address of each routine of the program.
    pub(crate) addresses: &'a [u64],
    /// Every instruction is executed by itself, so that an observer can follow.
    pub(crate) observed: bool,
}

impl Linked<'_> {
    fn object(&self, id: GlobalId) -> ObjectId {
        self.program.object_of(self.module, id)
    }

    fn routine(&self, id: FunctionId) -> RoutineId {
        self.program.routine_of(self.module, id)
    }
}

/// Translates a function of the IR into the interpreter's instructions.
pub(crate) fn decode(function: &Function, linked: &Linked<'_>) -> Code {
    let mut decoder = Decoder {
        function,
        linked,
        code: Code::default(),
        locals: Vec::new(),
        flags: vec![None; function.locals.len()],
        temporaries: vec![u32::MAX; function.temporaries.len()],
        uses: vec![0; function.temporaries.len()],
        copied: vec![false; function.temporaries.len()],
        constants: FxHashMap::default(),
        blocks: Vec::new(),
        begins: None,
    };
    decoder.run();
    decoder.code
}

struct Decoder<'a> {
    function: &'a Function,
    linked: &'a Linked<'a>,
    code: Code,
    locals: Vec<u32>,
    flags: Vec<Option<u32>>,
    temporaries: Vec<u32>,
    uses: Vec<u32>,
    /// Loaded to be stored only.
    copied: Vec<bool>,
    constants: FxHashMap<(u64, Option<u64>), u32>,
    blocks: Vec<u32>,
    /// The instruction whose first operation comes next.
    begins: Option<(u32, u32)>,
}

/// An assignment that copies has no more instructions than this between its load and its store.
const NEAR: usize = 24;

fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::F80 | Type::I128 | Type::U128)
}

impl Decoder<'_> {
    fn new_register(&mut self, ty: Type) -> u32 {
        let register = self.code.registers;
        self.code.registers += 1 + u32::from(is_wide(ty));
        register
    }

    fn run(&mut self) {
        let function = self.function;
        for local in &function.locals {
            let register = match local.kind {
                LocalKind::Register(ty) => self.new_register(ty),
                LocalKind::Memory { .. } => {
                    let slot = self.new_register(Type::Ptr);
                    self.code.slots.push(slot);
                    slot
                }
            };
            self.locals.push(register);
        }
        for (index, parameter) in function.parameters.iter().enumerate() {
            let register = self.locals[index];
            let incoming = match function.locals[index].kind {
                LocalKind::Register(ty) => Incoming::Register { register, ty },
                LocalKind::Memory { size, align } => Incoming::Memory {
                    slot: register,
                    ty: parameter.ty,
                    size,
                    align,
                },
            };
            self.code.incoming.push(incoming);
        }
        for local in maybe_undefined(function) {
            let flag = self.new_register(Type::Bool);
            self.flags[local.index()] = Some(flag);
        }
        for block in &function.blocks {
            let operands = block
                .instructions
                .iter()
                .flat_map(|instruction| instruction.operands());
            for operand in operands.chain(block.terminator.operand()) {
                if let Value::Temp(id) = operand.value {
                    self.uses[id.index()] += 1;
                }
            }
        }
        for id in function.block_ids() {
            self.blocks.push(self.code.ops.len() as u32);
            self.block(id);
        }
        let blocks = std::mem::take(&mut self.blocks);
        let place = |target: &mut u32| *target = blocks[*target as usize];
        for op in &mut self.code.ops {
            match op {
                Op::Jump(target) => place(target),
                Op::Branch {
                    then, otherwise, ..
                }
                | Op::BranchWide {
                    then, otherwise, ..
                } => {
                    place(then);
                    place(otherwise);
                }
                _ => {}
            }
        }
        for table in &mut self.code.tables {
            for (_, _, target) in &mut table.arms {
                place(target);
            }
            place(&mut table.default);
        }
    }

    fn emit(&mut self, op: Op, origin: OriginId) {
        self.code.ops.push(op);
        self.code.origins.push(origin);
        if self.linked.observed {
            self.code.marks.steps.push(self.begins.take());
            self.code.marks.values.push(None);
        }
    }

    fn constant(&mut self, low: u64, high: Option<u64>) -> Reg {
        if let Some(&index) = self.constants.get(&(low, high)) {
            return Reg(index | CONSTANT);
        }
        let index = self.code.constants.len() as u32;
        self.code.constants.push(low);
        self.code.constants.extend(high);
        self.constants.insert((low, high), index);
        Reg(index | CONSTANT)
    }

    fn operand(&mut self, operand: Operand) -> Reg {
        match operand.value {
            Value::Temp(id) => Reg(self.temporaries[id.index()]),
            Value::Constant { ty, bits } => {
                let high = is_wide(ty).then_some((bits >> 64) as u64);
                self.constant(bits as u64, high)
            }
            Value::Address { target, addend } => {
                let address = match target {
                    patchwright_ir::Target::Global(id) => {
                        self.linked.objects[self.linked.object(id).index()]
                    }
                    patchwright_ir::Target::Function(id) => {
                        self.linked.addresses[self.linked.routine(id).index()]
                    }
                };
                self.constant(address.wrapping_add(addend as u64), None)
            }
        }
    }

    /// Returns the register of a temporary that the instruction at `position` defines. If the next instruction only writes the temporary to a
    /// local, it is the local's register.
    fn define(&mut self, block: BlockId, position: usize, dst: patchwright_ir::TempId) -> u32 {
        let function = self.function;
        let next = function.block(block).instructions.get(position + 1);
        if let Some(next) = next
            && !self.linked.observed
            && let InstructionKind::Write { local, value } = &next.kind
            && value.value == Value::Temp(dst)
            && self.uses[dst.index()] == 1
        {
            let register = self.locals[local.index()];
            self.temporaries[dst.index()] = register;
            return register;
        }
        let register = self.new_register(function.temporary(dst));
        self.temporaries[dst.index()] = register;
        register
    }

    /// A value that is loaded is only stored, in the same block and as the same type.
    fn is_copied(
        &self,
        block: BlockId,
        position: usize,
        dst: patchwright_ir::TempId,
        loaded: Type,
    ) -> bool {
        self.uses[dst.index()] == 1
            && loaded.scalar().is_some()
            && self.function.block(block).instructions[position + 1..]
                .iter()
                .take(NEAR)
                .any(|instruction| {
                    matches!(&instruction.kind, InstructionKind::Store { ty, value, .. }
                        if *ty == loaded && value.value == Value::Temp(dst))
                })
    }

    /// A read of a local whose value is used before the local changes, and in this block only,
    /// needs no copy.
    fn is_alias(
        &self,
        block: BlockId,
        position: usize,
        local: LocalId,
        dst: patchwright_ir::TempId,
    ) -> bool {
        let block = self.function.block(block);
        let mut left = self.uses[dst.index()];
        for instruction in &block.instructions[position + 1..] {
            if left == 0 {
                return true;
            }
            let used = instruction
                .operands()
                .iter()
                .filter(|operand| operand.value == Value::Temp(dst))
                .count();
            left -= used as u32;
            match instruction.kind {
                InstructionKind::Write { local: changed, .. } if changed == local => {
                    return left == 0;
                }
                // An instruction before may write to the local's register already.
                _ => {}
            }
        }
        let last = block.terminator.operand();
        left -= u32::from(last.is_some_and(|operand| operand.value == Value::Temp(dst)));
        left == 0
    }

    fn block(&mut self, id: BlockId) {
        let function = self.function;
        let block = function.block(id);
        for (position, instruction) in block.instructions.iter().enumerate() {
            self.begins = Some((id.0, position as u32));
            self.instruction(id, position);
            if let Some(dst) = instruction.defines()
                && let Some(value) = self.code.marks.values.last_mut()
            {
                let register = self.temporaries[dst.index()];
                *value = Some((register, function.temporary(dst)));
            }
        }
        self.begins = Some((id.0, block.instructions.len() as u32));
        let origin = block.terminator.origin;
        match &block.terminator.kind {
            TerminatorKind::Goto(edge) => self.emit(Op::Jump(edge.target.0), origin),
            TerminatorKind::Branch {
                condition,
                ty,
                then,
                otherwise,
            } => {
                let a = self.operand(*condition);
                let (then, otherwise) = (then.target.0, otherwise.target.0);
                let op = match ty.scalar() {
                    Some(ty) => Op::Branch {
                        a,
                        ty,
                        then,
                        otherwise,
                    },
                    None => Op::BranchWide {
                        a,
                        ty: *ty,
                        then,
                        otherwise,
                    },
                };
                self.emit(op, origin);
            }
            TerminatorKind::Switch {
                value,
                ty,
                cases,
                default,
            } => {
                let a = self.operand(*value);
                let mut arms: Vec<(i128, i128, u32)> = cases
                    .iter()
                    .map(|case| (case.low, case.high, case.edge.target.0))
                    .collect();
                arms.sort_unstable();
                let table = self.code.tables.len() as u32;
                self.code.tables.push(Table {
                    ty: *ty,
                    arms,
                    default: default.target.0,
                });
                self.emit(Op::Switch { a, table }, origin);
            }
            TerminatorKind::Return(Some(value)) => {
                let a = self.operand(*value);
                let ty = function.result;
                self.emit(Op::Return { a, ty }, origin);
            }
            TerminatorKind::Return(None) => self.emit(Op::ReturnVoid, origin),
            TerminatorKind::ReturnNothing => self.emit(Op::ReturnNothing, origin),
            TerminatorKind::Unreachable => self.emit(Op::Unreachable, origin),
        }
    }

    fn instruction(&mut self, block: BlockId, position: usize) {
        use InstructionKind::*;
        let function = self.function;
        let instruction = &function.block(block).instructions[position];
        let origin = instruction.origin;
        let op = match &instruction.kind {
            Read { dst, local } => {
                if let Some(flag) = self.flags[local.index()] {
                    let local = local.0;
                    self.emit(Op::Check { flag, local }, origin);
                }
                let source = self.locals[local.index()];
                if !self.linked.observed && self.is_alias(block, position, *local, *dst) {
                    self.temporaries[dst.index()] = source;
                    return;
                }
                let wide = is_wide(function.temporary(*dst));
                let dst = self.new_register_for(*dst);
                let a = Reg(source);
                match wide {
                    true => Op::MoveWide { dst, a },
                    false => Op::Move { dst, a },
                }
            }
            Write { local, value } => {
                let dst = self.locals[local.index()];
                let a = self.operand(*value);
                if a != Reg(dst) {
                    let wide = matches!(function.local(*local).kind,
                        LocalKind::Register(ty) if is_wide(ty));
                    let op = match wide {
                        true => Op::MoveWide { dst, a },
                        false => Op::Move { dst, a },
                    };
                    self.emit(op, origin);
                }
                match self.flags[local.index()] {
                    Some(flag) => Op::Flag { flag, value: true },
                    None => return,
                }
            }
            Live { local } | Dead { local } => match function.local(*local).kind {
                LocalKind::Memory { .. } => Op::Kill {
                    slot: self.locals[local.index()],
                },
                LocalKind::Register(_) => match self.flags[local.index()] {
                    Some(flag) => Op::Flag { flag, value: false },
                    None => return,
                },
            },
            Settle { local } => Op::Settle {
                slot: self.locals[local.index()],
            },
            LocalAddress { dst, local } => {
                let LocalKind::Memory { size, align } = function.local(*local).kind else {
                    return;
                };
                Op::Slot {
                    dst: self.define(block, position, *dst),
                    slot: self.locals[local.index()],
                    size,
                    align,
                }
            }
            Load {
                dst, ty, address, ..
            } => {
                let address = self.operand(*address);
                if self.is_copied(block, position, *dst, *ty) {
                    self.code.copies.push(self.code.ops.len() as u32);
                    self.copied[dst.index()] = true;
                }
                let dst = self.define(block, position, *dst);
                match ty.scalar() {
                    Some(ty) => Op::Load { dst, address, ty },
                    None => Op::LoadWide {
                        dst,
                        address,
                        ty: *ty,
                    },
                }
            }
            Store {
                ty, address, value, ..
            } => {
                let is_copy = match value.value {
                    Value::Temp(id) => self.copied[id.index()],
                    _ => false,
                };
                let (address, value) = (self.operand(*address), self.operand(*value));
                match ty.scalar() {
                    Some(ty) if is_copy => Op::StoreCopy { address, value, ty },
                    Some(ty) => Op::Store { address, value, ty },
                    None => Op::StoreWide {
                        address,
                        value,
                        ty: *ty,
                    },
                }
            }
            LoadBits {
                dst,
                ty,
                address,
                offset,
                width,
            } => Op::LoadBits {
                address: self.operand(*address),
                dst: self.define(block, position, *dst),
                offset: *offset,
                width: *width,
                ty: ty.scalar().unwrap_or(Ty::U64),
            },
            StoreBits {
                address,
                value,
                offset,
                width,
                ..
            } => Op::StoreBits {
                address: self.operand(*address),
                value: self.operand(*value),
                offset: *offset,
                width: *width,
            },
            Extend {
                dst,
                ty,
                value,
                width,
            } => Op::Extend {
                a: self.operand(*value),
                dst: self.define(block, position, *dst),
                width: *width,
                ty: ty.scalar().unwrap_or(Ty::U64),
            },
            Unary { dst, op, ty, a } => {
                let a = self.operand(*a);
                let dst = self.define(block, position, *dst);
                match ty.scalar() {
                    Some(ty) => Op::Unary {
                        op: *op,
                        ty,
                        dst,
                        a,
                    },
                    None => Op::WideUnary {
                        op: *op,
                        ty: *ty,
                        dst,
                        a,
                    },
                }
            }
            Binary { dst, op, ty, a, b } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                let dst = self.define(block, position, *dst);
                match ty.scalar() {
                    Some(ty) => Op::Binary {
                        op: *op,
                        ty,
                        dst,
                        a,
                        b,
                    },
                    None => Op::WideBinary {
                        op: *op,
                        ty: *ty,
                        dst,
                        a,
                        b,
                    },
                }
            }
            Shift {
                dst,
                op,
                ty,
                count,
                a,
                b,
            } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                let dst = self.define(block, position, *dst);
                match (ty.scalar(), count.scalar()) {
                    (Some(ty), Some(count)) => Op::Shift {
                        op: *op,
                        ty,
                        count,
                        dst,
                        a,
                        b,
                    },
                    _ => Op::WideShift {
                        op: *op,
                        ty: *ty,
                        count: *count,
                        dst,
                        a,
                        b,
                    },
                }
            }
            Convert { dst, from, to, a } => {
                let a = self.operand(*a);
                let dst = self.define(block, position, *dst);
                match (from.scalar(), to.scalar()) {
                    (Some(from), Some(to)) => Op::Convert { from, to, dst, a },
                    _ => Op::WideConvert {
                        from: *from,
                        to: *to,
                        dst,
                        a,
                    },
                }
            }
            PointerAdd {
                dst,
                a,
                index,
                ty,
                size,
                negative,
                subscript,
            } => Op::Advance {
                a: self.operand(*a),
                index: self.operand(*index),
                size: self.operand(*size),
                ty: ty.scalar().unwrap_or(Ty::I64),
                negative: *negative,
                greatest: subscript.map_or(u64::MAX, |of| of.greatest()),
                dst: self.define(block, position, *dst),
            },
            PointerDifference { dst, a, b, size } => Op::Distance {
                a: self.operand(*a),
                b: self.operand(*b),
                size: self.operand(*size),
                dst: self.define(block, position, *dst),
            },
            MemberAddress { dst, a, offset, .. } => Op::Member {
                a: self.operand(*a),
                offset: *offset,
                dst: self.define(block, position, *dst),
            },
            Copy { to, from, size } => Op::Copy {
                to: self.operand(*to),
                from: self.operand(*from),
                size: *size,
            },
            Zero { address, size } => Op::Zero {
                address: self.operand(*address),
                size: *size,
            },
            Call {
                dst,
                callee,
                arguments,
                result,
                result_address,
                ..
            } => {
                let callee = match callee {
                    Callee::Direct(id) => Target::Direct(self.linked.routine(*id).0),
                    Callee::Indirect(callee) => Target::Indirect(self.operand(*callee)),
                };
                let arguments = arguments
                    .iter()
                    .map(|argument| (argument.ty, self.operand(argument.value)))
                    .collect();
                let result_address = result_address.map(|address| self.operand(address));
                let used = dst.is_some_and(|dst| self.uses[dst.index()] > 0);
                let dst = dst.map(|dst| self.define(block, position, dst));
                let site = self.code.calls.len() as u32;
                self.code.calls.push(CallSite {
                    callee,
                    arguments,
                    result: *result,
                    dst,
                    used,
                    result_address,
                });
                Op::Call(site)
            }
            VaStart { list } => Op::VaStart {
                list: self.operand(*list),
            },
            VaArg { dst, ty, list } => Op::VaArg {
                list: self.operand(*list),
                dst: self.define(block, position, *dst),
                ty: *ty,
            },
            VaCopy { to, from } => Op::VaCopy {
                to: self.operand(*to),
                from: self.operand(*from),
            },
            Allocate { dst, size, scope } => Op::Allocate {
                slot: scope.map(|scope| self.locals[scope.index()]),
                size: self.operand(*size),
                dst: self.define(block, position, *dst),
            },
            Unsupported { dst, reason } => {
                if let Some(dst) = dst {
                    self.define(block, position, *dst);
                }
                let index = self.code.reasons.len() as u32;
                self.code.reasons.push(reason.clone());
                Op::Unsupported(index)
            }
        };
        self.emit(op, origin);
    }

    fn new_register_for(&mut self, dst: patchwright_ir::TempId) -> u32 {
        let register = self.new_register(self.function.temporary(dst));
        self.temporaries[dst.index()] = register;
        register
    }
}

/// The register locals that some way reads without having written them.
fn maybe_undefined(function: &Function) -> Vec<LocalId> {
    let count = function.locals.len();
    let words = count.div_ceil(64).max(1);
    let has =
        |set: &[u64], local: LocalId| set[local.index() / 64] >> (local.index() % 64) & 1 == 1;
    let mut entry: Vec<Option<Vec<u64>>> = vec![None; function.blocks.len()];
    let mut start = vec![0; words];
    for index in 0..function.parameters.len() {
        start[index / 64] |= 1 << (index % 64);
    }
    entry[0] = Some(start);
    let mut found = vec![false; count];
    let mut todo = vec![BlockId(0)];
    while let Some(id) = todo.pop() {
        let Some(mut state) = entry[id.index()].clone() else {
            continue;
        };
        let block = function.block(id);
        for instruction in &block.instructions {
            match instruction.local() {
                Some((local, LocalUse::Write)) => {
                    state[local.index() / 64] |= 1 << (local.index() % 64);
                }
                Some((local, LocalUse::Begin)) => {
                    state[local.index() / 64] &= !(1 << (local.index() % 64));
                }
                Some((local, LocalUse::Read)) if !has(&state, local) => {
                    // States only shrink, so what is found stays true.
                    found[local.index()] = true;
                }
                _ => {}
            }
        }
        for edge in block.terminator.edges() {
            let known = &mut entry[edge.target.index()];
            let changed = match known {
                None => {
                    *known = Some(state.clone());
                    true
                }
                Some(known) => {
                    let mut changed = false;
                    for (known, state) in known.iter_mut().zip(&state) {
                        changed |= *known & !state != 0;
                        *known &= state;
                    }
                    changed
                }
            };
            if changed {
                todo.push(edge.target);
            }
        }
    }
    (0..count as u32)
        .map(LocalId)
        .filter(|local| found[local.index()])
        .collect()
}
