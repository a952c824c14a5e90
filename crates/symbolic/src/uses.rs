//! Finds what a function does with its pointer parameters, which tells what they are meant to point to.

use patchwright_ir::{
    Function, InstructionKind, LocalId, LocalKind, Operand, TempId, TerminatorKind, Type, Value,
};
use patchwright_semantics::{BinaryOp, UnaryOp};

/// Whether a function compares a pointer parameter with null, moves it, or hands it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// It asks whether it is null.
    pub tested: bool,
    /// It goes on from where it leads: the parameter is one of an array.
    pub moves: bool,
    /// It hands it on, or keeps it: somebody else may go on from there.
    pub hands_on: bool,
}

/// Returns the use of each parameter.
pub fn uses(function: &Function) -> Vec<Use> {
    let count = function.parameters.len();
    let mut all = vec![Use::default(); count];
    for (index, one) in all.iter_mut().enumerate() {
        let kind = &function.local(LocalId(index as u32)).kind;
        // Who takes its address may do anything.
        one.hands_on = matches!(kind, LocalKind::Memory { .. });
    }
    let mut read: Vec<Option<usize>> = vec![None; function.temporaries.len()];
    for block in &function.blocks {
        for instruction in &block.instructions {
            if let InstructionKind::Read { dst, local } = instruction.kind
                && local.index() < count
            {
                read[dst.index()] = Some(local.index());
            }
        }
    }
    let of = |operand: &Operand| match operand.value {
        Value::Temp(TempId(temp)) => read[temp as usize],
        _ => None,
    };
    let is_zero = |operand: &Operand| matches!(operand.value, Value::Constant { bits: 0, .. });
    for block in &function.blocks {
        for instruction in &block.instructions {
            match &instruction.kind {
                InstructionKind::Binary {
                    op: BinaryOp::Eq | BinaryOp::Ne,
                    a,
                    b,
                    ..
                } if is_zero(a) || is_zero(b) => {
                    for index in [of(a), of(b)].into_iter().flatten() {
                        all[index].tested = true;
                    }
                }
                // Whether two lead to the same place says nothing of arrays.
                InstructionKind::Binary {
                    op: BinaryOp::Eq | BinaryOp::Ne,
                    ..
                } => {}
                InstructionKind::Unary {
                    op: UnaryOp::Not,
                    a,
                    ..
                } => {
                    if let Some(index) = of(a) {
                        all[index].tested = true;
                    }
                }
                InstructionKind::Convert {
                    to: Type::Bool, a, ..
                } => {
                    if let Some(index) = of(a) {
                        all[index].tested = true;
                    }
                }
                InstructionKind::PointerAdd { a, index, .. } => {
                    if let Some(at) = of(a) {
                        all[at].moves |= !is_zero(index);
                    }
                }
                InstructionKind::Store { value, .. } | InstructionKind::StoreBits { value, .. } => {
                    if let Some(index) = of(value) {
                        all[index].hands_on = true;
                    }
                }
                // These only look at what it leads to.
                InstructionKind::MemberAddress { .. }
                | InstructionKind::Load { .. }
                | InstructionKind::LoadBits { .. }
                | InstructionKind::Zero { .. }
                | InstructionKind::Copy { .. } => {}
                _ => {
                    for operand in instruction.operands() {
                        if let Some(index) = of(&operand) {
                            all[index].hands_on = true;
                        }
                    }
                }
            }
        }
        match &block.terminator.kind {
            TerminatorKind::Branch { condition, .. } => {
                if let Some(index) = of(condition) {
                    all[index].tested = true;
                }
            }
            TerminatorKind::Return(Some(operand)) => {
                if let Some(index) = of(operand) {
                    all[index].hands_on = true;
                }
            }
            _ => {}
        }
    }
    all
}
