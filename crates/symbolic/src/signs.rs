//! Tells where a function asks of a value only whether it is less than zero, zero, or more.

use std::collections::BTreeSet;

use patchwright_ir::{
    Function, InstructionKind, LocalId, Operand, TempId, TerminatorKind, Type, Value,
};
use patchwright_semantics::{BinaryOp, UnaryOp};

/// What a value has come to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Temporary(TempId),
    Local(LocalId),
}

/// Whether a function asks only for the sign of a temporary, and of the variables that hold its value.
pub(crate) fn asks_for_sign_only(function: &Function, value: TempId) -> bool {
    let mut seen = BTreeSet::from([Holder::Temporary(value)]);
    let mut open = vec![Holder::Temporary(value)];
    while let Some(holder) = open.pop() {
        let is_it = |operand: &Operand| match (holder, operand.value) {
            (Holder::Temporary(id), Value::Temp(temp)) => id == temp,
            _ => false,
        };
        for block in &function.blocks {
            for instruction in &block.instructions {
                let next = match &instruction.kind {
                    InstructionKind::Read { dst, local } if holder == Holder::Local(*local) => {
                        Holder::Temporary(*dst)
                    }
                    _ if !instruction.operands().iter().any(is_it) => continue,
                    InstructionKind::Write { local, .. } => Holder::Local(*local),
                    InstructionKind::Convert { to: Type::Bool, .. }
                    | InstructionKind::Unary {
                        op: UnaryOp::Not, ..
                    } => continue,
                    InstructionKind::Convert { dst, from, to, .. }
                        if to.is_signed() && to.size() >= from.size() =>
                    {
                        Holder::Temporary(*dst)
                    }
                    InstructionKind::Binary { op, a, b, .. }
                        if compares(*op) && (is_zero(a) || is_zero(b)) =>
                    {
                        continue;
                    }
                    _ => return false,
                };
                if seen.insert(next) {
                    open.push(next);
                }
            }
            let end = &block.terminator;
            let is_used = end.operand().is_some_and(|operand| is_it(&operand));
            if is_used && !matches!(end.kind, TerminatorKind::Branch { .. }) {
                return false;
            }
        }
    }
    true
}

fn is_zero(operand: &Operand) -> bool {
    matches!(operand.value, Value::Constant { bits: 0, .. })
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}
