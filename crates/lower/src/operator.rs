//! Lowers operators: arithmetic, comparisons, pointers, compound assignments.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, UnaryOperator, detail::Detail};
use patchwright_ir::{InstructionKind, Operand, OriginId, Type, wide};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    function::FunctionLowerer,
    types::Class,
    wide_fields::{Precision, Wide},
};

impl FunctionLowerer<'_, '_> {
    /// Emits an operation on one operand, and returns its value.
    pub(crate) fn unary(
        &mut self,
        id: ExprId,
        operator: UnaryOperator,
        operand: ExprId,
    ) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let op = match operator {
            UnaryOperator::Plus | UnaryOperator::Extension => return self.rvalue(operand),
            UnaryOperator::Dereference => return self.value_at(id),
            UnaryOperator::AddressOf => {
                let inner = source.expr(source.without_parens(operand));
                return match &inner.kind {
                    ExprKind::Function(_) => self.rvalue(operand),
                    _ => self.pointer_to(operand),
                };
            }
            UnaryOperator::Step => return self.step(id, operand),
            UnaryOperator::Minus => UnaryOp::Neg,
            UnaryOperator::Complement => UnaryOp::Complement,
            UnaryOperator::Not => UnaryOp::Not,
            UnaryOperator::Other => return self.part(id, operand),
        };
        if op == UnaryOp::Not && self.parts_of(operand).is_some() {
            return self.is_zero(operand, origin);
        }
        let a = self.rvalue(operand);
        let ty = self.type_of(a);
        let Some(result) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        if op == UnaryOp::Neg && self.wraps_in(BinaryOp::Sub, ty).is_some() {
            let zero = self.constant(ty, 0, origin);
            return self.arithmetic(BinaryOp::Sub, ty, zero, a, origin);
        }
        let value = self.emit_value(result, origin, |dst| InstructionKind::Unary {
            dst,
            op,
            ty,
            a,
        });
        match self.precision(operand) {
            Precision::Field(width, false) if op != UnaryOp::Not => {
                self.low_bits(value, width, origin)
            }
            _ => value,
        }
    }

    /// Emits `++` or `--`.
    pub(crate) fn step(&mut self, id: ExprId, operand: ExprId) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Some(&Detail::Step { increment, prefix }) = source.details.of.get(&id) else {
            return self.unsupported_expr(id);
        };
        let Some(ty) = self.scalar(operand) else {
            return self.unsupported_expr(id);
        };
        let location = self.location(operand);
        let old = self.load(location, ty, origin);
        let new = self.step_or_other(id, operand, old, increment, ty);
        let stored = self.store(location, ty, new, origin);
        if prefix { stored } else { old }
    }

    /// `a op b` for values of the right types.
    pub(crate) fn operate(
        &mut self,
        op: BinaryOp,
        a: Operand,
        b: Operand,
        result: Type,
        origin: OriginId,
    ) -> Operand {
        let ty = self.type_of(a);
        if op.is_shift() {
            let count = self.type_of(b);
            let a = self.as_type(a, result);
            let ty = self.wraps_in(op, result).unwrap_or(result);
            let a = self.convert(a, result, ty, origin);
            let shifted = self.emit_value(ty, origin, |dst| InstructionKind::Shift {
                dst,
                op,
                ty,
                count,
                a,
                b,
            });
            return self.convert(shifted, ty, result, origin);
        }
        let b = self.as_type(b, ty);
        let value = self.arithmetic(op, ty, a, b, origin);
        self.as_type(value, result)
    }

    /// The type in which an operator on values of `ty` wraps around, where the dialect lets it.
    fn wraps_in(&self, op: BinaryOp, ty: Type) -> Option<Type> {
        wide::wraps_in(op, ty).filter(|_| self.lowerer.unit.dialect.wraps)
    }

    /// Emits `a op b` for two operands of type `ty`, shifts excluded. Where signed arithmetic wraps, the operation is that of the unsigned
    /// type.
    pub(crate) fn arithmetic(
        &mut self,
        op: BinaryOp,
        ty: Type,
        a: Operand,
        b: Operand,
        origin: OriginId,
    ) -> Operand {
        let exact = self.wraps_in(op, ty).unwrap_or(ty);
        let a = self.convert(a, ty, exact, origin);
        let b = self.convert(b, ty, exact, origin);
        let gives = if op.is_comparison() { Type::I32 } else { exact };
        let value = self.emit_value(gives, origin, |dst| InstructionKind::Binary {
            dst,
            op,
            ty: exact,
            a,
            b,
        });
        match exact == ty {
            true => value,
            false => self.convert(value, exact, ty, origin),
        }
    }

    /// Emits an operation on two operands, and returns its value.
    pub(crate) fn binary(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> Operand {
        let Some(op) = BinaryOp::from_spelling(operator.spelling()) else {
            if operator == BinaryOperator::Comma {
                self.effect(left);
                return self.rvalue(right);
            }
            return self.logical(id);
        };
        let Some(result) = self.scalar(id) else {
            return self.unsupported_expr(id);
        };
        if self.parts_of(left).is_some() || self.parts_of(right).is_some() {
            return self.compare_complex(id, op, left, right);
        }
        let wide = self.wide(op, left, right);
        let mut a = self.rvalue(left);
        let mut b = self.rvalue(right);
        let Wide::Plain = wide else {
            let origin = self.at_expr(id);
            let Wide::Bits(width) = wide else {
                let reason = "arithmetic on a wide bit-field and a signed value";
                return self.unsupported_value(origin, reason, result);
            };
            a = self.low_bits(a, width, origin);
            if !op.is_shift() {
                b = self.low_bits(b, width, origin);
            }
            let value = self.combine_or_other(id, op, (left, a), (right, b), result);
            return match op.is_comparison() {
                true => value,
                false => self.low_bits(value, width, origin),
            };
        };
        self.combine_or_other(id, op, (left, a), (right, b), result)
    }

    /// A binary operator on evaluated operands, pointers included.
    pub(crate) fn combine(
        &mut self,
        op: BinaryOp,
        (left, a): (ExprId, Operand),
        (right, b): (ExprId, Operand),
        result: Type,
        origin: OriginId,
    ) -> Operand {
        let source = self.source;
        match (self.type_of(a), self.type_of(b)) {
            (Type::Ptr, Type::Ptr) if op == BinaryOp::Sub => {
                let size = self.stride(source.expr(left).ty, origin);
                self.emit_value(Type::I64, origin, |dst| {
                    InstructionKind::PointerDifference { dst, a, b, size }
                })
            }
            (Type::Ptr, ty) if ty.is_integer() && !op.is_comparison() => {
                let size = self.stride(source.expr(left).ty, origin);
                self.advance(a, b, size, op == BinaryOp::Sub, origin)
            }
            (ty, Type::Ptr) if ty.is_integer() && op == BinaryOp::Add => {
                let size = self.stride(source.expr(right).ty, origin);
                self.advance(b, a, size, false, origin)
            }
            _ => self.operate(op, a, b, result, origin),
        }
    }

    /// `target op= value`: the value first, then the target.
    pub(crate) fn compound(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        target: ExprId,
        value: ExprId,
    ) -> Operand {
        let source = self.source;
        let origin = self.at_expr(id);
        let Some(&Detail::Compute { left, result }) = source.details.of.get(&id) else {
            return self.unsupported_expr(id);
        };
        let (Some(ty), Class::Scalar(left), Class::Scalar(result), Some(op)) = (
            self.scalar(target),
            self.class_of(left),
            self.class_of(result),
            BinaryOp::from_spelling(operator.spelling()),
        ) else {
            return self.unsupported_expr(id);
        };
        if self.is_unknown_compound(op, target, value) {
            let reason = "arithmetic on a wide bit-field and a signed value";
            return self.unsupported_value(origin, reason, ty);
        }
        let b = self.rvalue(value);
        let location = self.location(target);
        let old = self.load(location, ty, origin);
        let a = self.convert(old, ty, left, origin);
        let new = self.combine_or_other(id, op, (target, a), (value, b), result);
        let new = self.convert(new, result, ty, origin);
        self.store(location, ty, new, origin)
    }
}
