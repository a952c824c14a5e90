//! Checks the invariants of the IR.

use patchwright_semantics::BinaryOp;

use crate::{
    function::{Function, LocalKind},
    graph::Dominators,
    instruction::{Callee, Instruction, InstructionKind, Operand, TerminatorKind, Value, Without},
    module::{Module, Target},
    types::{BlockId, LocalId, OriginId, TempId, Type},
};

/// An invariant of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invariant {
    /// Every local, temporary, block, function, global, file and origin that is named exists.
    NamesExist,
    /// Every temporary is defined by exactly one instruction.
    DefinedOnce,
    /// The definition of a temporary dominates its uses, in reachable blocks.
    DefinedBeforeUse,
    /// Operands and results have the types that the instruction states.
    TypesAgree,
    /// Constants are in canonical form.
    CanonicalConstants,
    /// `read` and `write` name registers; `address` names memory; a scope of `allocate` is a
    /// memory local.
    LocalsByKind,
    /// Registers have value types; alignments are powers of two.
    LocalsWellFormed,
    /// Parameters are the first locals, and of their types.
    ParametersFirst,
    /// Operators are ones that crate `semantics` has for the type: arithmetic on promoted types,
    /// no shift among the others.
    OperatorsApply,
    /// Bit-fields fit in their type.
    BitFieldsFit,
    /// Cases of a switch do not overlap and are values of its type.
    CasesDisjoint,
    /// Returned values have the result type of the function.
    ReturnsAgree,
    /// Arguments of direct calls have the types of the parameters, where the callee has a
    /// prototype; results too.
    CallsAgree,
    /// Relocations lie within the data, in order, without overlap; data fit in the object.
    DataFits,
    /// The entry has no way into it.
    EntryFirst,
}

/// A violated invariant with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {invariant:?}: {message}")]
pub struct Violation {
    /// Which invariant.
    pub invariant: Invariant,
    /// The function or global, and the block.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

/// Checks all invariants of a module.
///
/// # Errors
/// All violations, if there are any.
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut found = Vec::new();
    globals(module, &mut found);
    for function in &module.functions {
        let mut checker = Checker {
            module,
            function,
            block: None,
            found: &mut found,
        };
        checker.function();
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn globals(module: &Module, found: &mut Vec<Violation>) {
    for global in &module.globals {
        let mut report = |invariant, message: &str| {
            found.push(Violation {
                invariant,
                place: global.name.clone(),
                message: message.to_owned(),
            });
        };
        if !global.align.is_power_of_two() {
            report(Invariant::LocalsWellFormed, "the alignment is odd");
        }
        let Some(data) = &global.data else { continue };
        if data.bytes.len() as u64 > global.size {
            report(Invariant::DataFits, "more data than the object has bytes");
        }
        let mut end = 0;
        for relocation in &data.relocations {
            if relocation.offset < end
                || relocation
                    .offset
                    .checked_add(8)
                    .is_none_or(|end| end > global.size)
            {
                report(Invariant::DataFits, "a relocation overlaps or lies outside");
            }
            end = relocation.offset.saturating_add(8);
            if !target_exists(module, relocation.target) {
                report(Invariant::NamesExist, "a relocation points to nothing");
            }
        }
    }
}

fn target_exists(module: &Module, target: Target) -> bool {
    match target {
        Target::Global(id) => id.index() < module.globals.len(),
        Target::Function(id) => id.index() < module.functions.len(),
    }
}

struct Checker<'a> {
    module: &'a Module,
    function: &'a Function,
    block: Option<BlockId>,
    found: &'a mut Vec<Violation>,
}

impl Checker<'_> {
    fn report(&mut self, invariant: Invariant, message: impl Into<String>) {
        let place = match self.block {
            Some(block) => format!("{} {block}", self.function.name),
            None => self.function.name.clone(),
        };
        self.found.push(Violation {
            invariant,
            place,
            message: message.into(),
        });
    }

    fn require(&mut self, holds: bool, invariant: Invariant, message: &str) {
        if !holds {
            self.report(invariant, message);
        }
    }

    fn function(&mut self) {
        let function = self.function;
        for parameter in &function.parameters {
            self.require(
                parameter.ty != Type::Void,
                Invariant::ParametersFirst,
                "a parameter has no type",
            );
        }
        if !function.is_defined() {
            return;
        }
        self.locals();
        let before = self.found.len();
        self.names();
        if self.found.len() > before {
            // What follows would look up what does not exist.
            return;
        }
        self.temporaries();
        for id in function.block_ids() {
            self.block = Some(id);
            let block = function.block(id);
            for instruction in &block.instructions {
                self.instruction(instruction);
            }
            self.terminator(id);
        }
        self.block = None;
    }

    fn locals(&mut self) {
        let function = self.function;
        for (index, parameter) in function.parameters.iter().enumerate() {
            let fits = match function.locals.get(index).map(|local| local.kind) {
                Some(LocalKind::Register(ty)) => ty == parameter.ty,
                Some(LocalKind::Memory { size, .. }) => size >= parameter.ty.size(),
                None => false,
            };
            self.require(
                fits,
                Invariant::ParametersFirst,
                "a parameter's local does not fit it",
            );
        }
        for local in &function.locals {
            let good = match local.kind {
                LocalKind::Register(ty) => ty.is_value(),
                LocalKind::Memory { align, .. } => align.is_power_of_two(),
            };
            self.require(
                good,
                Invariant::LocalsWellFormed,
                "a local's type is no value, or its alignment odd",
            );
            self.origin(local.origin);
        }
    }

    fn origin(&mut self, id: OriginId) {
        let exists = id.index() < self.function.origins.len();
        self.require(exists, Invariant::NamesExist, "an origin does not exist");
    }

    /// Everything that is named exists.
    fn names(&mut self) {
        let function = self.function;
        for id in function.block_ids() {
            self.block = Some(id);
            let block = function.block(id);
            for instruction in &block.instructions {
                self.origin(instruction.origin);
                for operand in instruction.operands() {
                    self.operand_exists(operand);
                }
                if let Some(dst) = instruction.defines() {
                    self.temp_exists(dst);
                }
                if let Some((local, _)) = instruction.local() {
                    self.local_exists(local);
                }
                if let Some(id) = instruction.called() {
                    let exists = id.index() < self.module.functions.len();
                    self.require(exists, Invariant::NamesExist, "no such function");
                }
            }
            self.origin(block.terminator.origin);
            if let Some(operand) = block.terminator.operand() {
                self.operand_exists(operand);
            }
            if let Some(origin) = block.terminator.inside {
                self.origin(origin);
            }
            if let Without::Block(target) = block.terminator.without {
                let exists = target.index() < function.blocks.len();
                self.require(exists, Invariant::NamesExist, "no such block");
            }
            for edge in block.terminator.edges() {
                self.origin(edge.origin);
                let exists = edge.target.index() < function.blocks.len();
                self.require(exists, Invariant::NamesExist, "no such block");
                self.require(
                    edge.target.0 != 0,
                    Invariant::EntryFirst,
                    "control goes back to the entry",
                );
            }
        }
        self.block = None;
    }

    fn operand_exists(&mut self, operand: Operand) {
        self.origin(operand.origin);
        match operand.value {
            Value::Temp(id) => self.temp_exists(id),
            Value::Constant { .. } => {}
            Value::Address { target, .. } => {
                let exists = target_exists(self.module, target);
                self.require(exists, Invariant::NamesExist, "an address of nothing");
            }
        }
    }

    fn temp_exists(&mut self, id: TempId) {
        let exists = id.index() < self.function.temporaries.len();
        self.require(exists, Invariant::NamesExist, "no such temporary");
    }

    fn local_exists(&mut self, id: LocalId) {
        let exists = id.index() < self.function.locals.len();
        self.require(exists, Invariant::NamesExist, "no such local");
    }

    /// Definitions: one each, before the uses.
    fn temporaries(&mut self) {
        let function = self.function;
        let mut definition: Vec<Option<(BlockId, usize)>> = vec![None; function.temporaries.len()];
        for id in function.block_ids() {
            for (position, instruction) in function.block(id).instructions.iter().enumerate() {
                if let Some(dst) = instruction.defines()
                    && definition[dst.index()].replace((id, position)).is_some()
                {
                    self.report(Invariant::DefinedOnce, format!("{dst} is defined twice"));
                }
            }
        }
        for (index, place) in definition.iter().enumerate() {
            if place.is_none() {
                self.report(Invariant::DefinedOnce, format!("t{index} is never defined"));
            }
        }
        let dominators = Dominators::of(function);
        for id in function.block_ids() {
            if !dominators.is_reachable(id) {
                continue;
            }
            self.block = Some(id);
            let block = function.block(id);
            let uses = block
                .instructions
                .iter()
                .enumerate()
                .flat_map(|(position, instruction)| {
                    let operands = instruction.operands();
                    operands.into_iter().map(move |operand| (position, operand))
                })
                .chain(
                    block
                        .terminator
                        .operand()
                        .map(|operand| (block.instructions.len(), operand)),
                );
            for (position, operand) in uses {
                let Value::Temp(temp) = operand.value else {
                    continue;
                };
                let dominated = match definition[temp.index()] {
                    None => true,
                    Some((in_block, at)) if in_block == id => at < position,
                    Some((in_block, _)) => dominators.dominates(in_block, id),
                };
                if !dominated {
                    self.report(
                        Invariant::DefinedBeforeUse,
                        format!("{temp} may be used before it is defined"),
                    );
                }
            }
        }
        self.block = None;
    }

    fn type_of(&self, operand: Operand) -> Type {
        match operand.value {
            Value::Temp(id) => self.function.temporary(id),
            Value::Constant { ty, .. } => ty,
            Value::Address { .. } => Type::Ptr,
        }
    }

    fn has_type(&mut self, operand: Operand, ty: Type) {
        let is = self.type_of(operand);
        // The operand of an aggregate is its address.
        let expected = match ty {
            Type::Aggregate { .. } => Type::Ptr,
            _ => ty,
        };
        if is != expected {
            self.report(
                Invariant::TypesAgree,
                format!("an operand is of type {is}, not {expected}"),
            );
        }
        if let Value::Constant { ty, bits } = operand.value {
            self.require(
                is_canonical(ty, bits),
                Invariant::CanonicalConstants,
                "a constant is not canonical",
            );
        }
    }

    fn defines(&mut self, dst: TempId, ty: Type) {
        let is = self.function.temporary(dst);
        if is != ty {
            self.report(
                Invariant::TypesAgree,
                format!("{dst} is of type {is}, not {ty}"),
            );
        }
    }

    fn register(&mut self, local: LocalId) -> Option<Type> {
        match self.function.local(local).kind {
            LocalKind::Register(ty) => Some(ty),
            LocalKind::Memory { .. } => {
                self.report(
                    Invariant::LocalsByKind,
                    format!("{local} is not a register"),
                );
                None
            }
        }
    }

    fn memory(&mut self, local: LocalId) {
        let is_memory = matches!(self.function.local(local).kind, LocalKind::Memory { .. });
        self.require(is_memory, Invariant::LocalsByKind, "a local is no memory");
    }

    fn bits(&mut self, ty: Type, width: u32) {
        self.require(
            ty.scalar().is_some_and(|ty| ty.is_integer())
                && width > 0
                && u64::from(width) <= ty.size() * 8,
            Invariant::BitFieldsFit,
            "a bit-field does not fit in its type",
        );
    }

    fn instruction(&mut self, instruction: &Instruction) {
        use InstructionKind::*;
        match &instruction.kind {
            Read { dst, local } => {
                if let Some(ty) = self.register(*local) {
                    self.defines(*dst, ty);
                }
            }
            Write { local, value } => {
                if let Some(ty) = self.register(*local) {
                    self.has_type(*value, ty);
                }
            }
            Live { .. } | Dead { .. } => {}
            Settle { local } => {
                self.memory(*local);
            }
            LocalAddress { dst, local } => {
                self.memory(*local);
                self.defines(*dst, Type::Ptr);
            }
            Load {
                dst, ty, address, ..
            } => {
                self.defines(*dst, *ty);
                self.has_type(*address, Type::Ptr);
                self.require(
                    ty.is_value(),
                    Invariant::TypesAgree,
                    "only values are loaded",
                );
            }
            Store {
                ty, address, value, ..
            } => {
                self.has_type(*address, Type::Ptr);
                self.has_type(*value, *ty);
                self.require(
                    ty.is_value(),
                    Invariant::TypesAgree,
                    "only values are stored",
                );
            }
            LoadBits {
                dst,
                ty,
                address,
                width,
                ..
            } => {
                self.defines(*dst, *ty);
                self.has_type(*address, Type::Ptr);
                self.bits(*ty, *width);
            }
            StoreBits {
                ty,
                address,
                value,
                width,
                ..
            } => {
                self.has_type(*address, Type::Ptr);
                self.has_type(*value, *ty);
                self.bits(*ty, *width);
            }
            Extend {
                dst,
                ty,
                value,
                width,
            } => {
                self.defines(*dst, *ty);
                self.has_type(*value, *ty);
                self.bits(*ty, *width);
            }
            Unary { dst, op, ty, a } => {
                use patchwright_semantics::UnaryOp;
                self.has_type(*a, *ty);
                let not = *op == UnaryOp::Not;
                self.defines(*dst, if not { Type::I32 } else { *ty });
                let applies = not || (is_promoted(*ty) && (ty.is_integer() || *op == UnaryOp::Neg));
                self.require(applies, Invariant::OperatorsApply, "C has no such operator");
            }
            Binary { dst, op, ty, a, b } => {
                self.has_type(*a, *ty);
                self.has_type(*b, *ty);
                let result = if op.is_comparison() { Type::I32 } else { *ty };
                self.defines(*dst, result);
                let applies = !op.is_shift()
                    && (op.is_comparison()
                        || (is_promoted(*ty) && (ty.is_integer() || op.takes_floats())));
                self.require(applies, Invariant::OperatorsApply, "C has no such operator");
            }
            Shift {
                dst,
                op,
                ty,
                count,
                a,
                b,
            } => {
                self.has_type(*a, *ty);
                self.has_type(*b, *count);
                self.defines(*dst, *ty);
                let applies = matches!(op, BinaryOp::Shl | BinaryOp::Shr)
                    && is_promoted(*ty)
                    && ty.is_integer()
                    && count.is_integer();
                self.require(applies, Invariant::OperatorsApply, "C has no such operator");
            }
            Convert { dst, from, to, a } => {
                self.has_type(*a, *from);
                self.defines(*dst, *to);
                let exists = !(from.is_float() && *to == Type::Ptr
                    || to.is_float() && *from == Type::Ptr)
                    && from.is_value()
                    && to.is_value();
                self.require(
                    exists,
                    Invariant::OperatorsApply,
                    "C has no such conversion",
                );
            }
            PointerAdd {
                dst,
                a,
                index,
                ty,
                size,
                negative,
                subscript,
            } => {
                self.defines(*dst, Type::Ptr);
                self.has_type(*a, Type::Ptr);
                self.has_type(*index, *ty);
                self.has_type(*size, Type::U64);
                let applies = ty.scalar().is_some_and(|ty| ty.is_integer());
                self.require(applies, Invariant::OperatorsApply, "no index");
                let subscripts =
                    subscript.is_none_or(|of| of.count > 0 && of.count < u64::MAX && !negative);
                self.require(subscripts, Invariant::OperatorsApply, "no subscript");
            }
            PointerDifference { dst, a, b, size } => {
                self.defines(*dst, Type::I64);
                self.has_type(*a, Type::Ptr);
                self.has_type(*b, Type::Ptr);
                self.has_type(*size, Type::U64);
            }
            MemberAddress { dst, a, .. } => {
                self.defines(*dst, Type::Ptr);
                self.has_type(*a, Type::Ptr);
            }
            Copy { to, from, .. } | VaCopy { to, from } => {
                self.has_type(*to, Type::Ptr);
                self.has_type(*from, Type::Ptr);
            }
            Zero { address, .. } => self.has_type(*address, Type::Ptr),
            Call { .. } => self.call(instruction),
            VaStart { list } => self.has_type(*list, Type::Ptr),
            VaArg { dst, ty, list } => {
                let defined = match ty {
                    Type::Aggregate { .. } => Type::Ptr,
                    _ => *ty,
                };
                self.defines(*dst, defined);
                self.has_type(*list, Type::Ptr);
            }
            Allocate { dst, size, scope } => {
                self.defines(*dst, Type::Ptr);
                self.has_type(*size, Type::U64);
                if let Some(scope) = scope {
                    self.memory(*scope);
                }
            }
            Unsupported { .. } => {}
        }
    }

    fn call(&mut self, instruction: &Instruction) {
        let InstructionKind::Call {
            dst,
            callee,
            arguments,
            result,
            result_address,
            ..
        } = &instruction.kind
        else {
            return;
        };
        for argument in arguments {
            self.has_type(argument.value, argument.ty);
        }
        let aggregate = matches!(result, Type::Aggregate { .. });
        self.require(
            result_address.is_some() == aggregate,
            Invariant::CallsAgree,
            "an aggregate result needs a place, and only that",
        );
        if let Some(address) = result_address {
            self.has_type(*address, Type::Ptr);
        }
        if let Some(dst) = dst {
            self.defines(*dst, *result);
            self.require(
                result.is_value(),
                Invariant::CallsAgree,
                "the call has no value",
            );
        }
        match callee {
            Callee::Indirect(address) => self.has_type(*address, Type::Ptr),
            Callee::Direct(id) => {
                let callee = self.module.function(*id);
                if !callee.prototyped {
                    return;
                }
                let count = callee.parameters.len();
                let agrees = if callee.variadic {
                    arguments.len() >= count
                } else {
                    arguments.len() == count
                } && callee.result == *result
                    && callee
                        .parameters
                        .iter()
                        .zip(arguments)
                        .all(|(parameter, argument)| parameter.ty == argument.ty);
                self.require(
                    agrees,
                    Invariant::CallsAgree,
                    &format!("a call of {} does not fit it", callee.name),
                );
            }
        }
    }

    fn terminator(&mut self, id: BlockId) {
        let function = self.function;
        match &function.block(id).terminator.kind {
            TerminatorKind::Branch { condition, ty, .. } => self.has_type(*condition, *ty),
            TerminatorKind::Switch {
                value, ty, cases, ..
            } => {
                self.has_type(*value, *ty);
                let mut ranges: Vec<(i128, i128)> =
                    cases.iter().map(|case| (case.low, case.high)).collect();
                ranges.sort_unstable();
                let disjoint = ranges.iter().all(|(low, high)| low <= high)
                    && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
                self.require(disjoint, Invariant::CasesDisjoint, "cases overlap");
            }
            TerminatorKind::Return(Some(value)) => {
                if function.result == Type::Void {
                    self.report(Invariant::ReturnsAgree, "a value is returned from void");
                } else {
                    self.has_type(*value, function.result);
                }
            }
            TerminatorKind::Return(None) => self.require(
                function.result == Type::Void,
                Invariant::ReturnsAgree,
                "a value is missing",
            ),
            TerminatorKind::ReturnNothing => self.require(
                function.result != Type::Void,
                Invariant::ReturnsAgree,
                "there is no value to miss",
            ),
            TerminatorKind::Goto(_) | TerminatorKind::Unreachable => {}
        }
    }
}

/// A type that arithmetic is done in.
fn is_promoted(ty: Type) -> bool {
    matches!(
        ty,
        Type::I32
            | Type::U32
            | Type::I64
            | Type::U64
            | Type::I128
            | Type::U128
            | Type::F32
            | Type::F64
            | Type::F80
    )
}

fn is_canonical(ty: Type, bits: u128) -> bool {
    match ty.scalar() {
        Some(scalar) => u64::try_from(bits).is_ok_and(|bits| scalar.canonical(bits) == bits),
        None => match ty {
            Type::I128 | Type::U128 => true,
            Type::F80 => bits >> 80 == 0,
            _ => false,
        },
    }
}
