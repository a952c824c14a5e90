//! Bit-fields that are wider than `int`. C leaves open which type they have in arithmetic. Clang takes the declared type. Gcc
//! takes a type of just their width, in which unsigned arithmetic wraps. This module does what gcc does.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{InstructionKind, Operand, OriginId, Type};
use patchwright_semantics::BinaryOp;

use crate::function::FunctionLowerer;

/// How many bits the type of an integer has for gcc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// As many as `int` at most.
    Narrow,
    /// A bit-field that is wider than `int`, and its sign.
    Field(u32, bool),
    /// As many as its type.
    Full,
}

/// The meaning of an operator on such a bit-field.
pub(crate) enum Wide {
    /// What it means for clang.
    Plain,
    /// Operands and result have so many bits, without a sign.
    Bits(u32),
    /// It is not modelled.
    Unknown,
}

impl FunctionLowerer<'_, '_> {
    fn of_type(&self, id: ExprId) -> Precision {
        match self.scalar(id) {
            Some(ty) if ty.size() <= 4 => Precision::Narrow,
            _ => Precision::Full,
        }
    }

    /// The precision of an expression of an integer type.
    pub(crate) fn precision(&self, id: ExprId) -> Precision {
        let source = self.source;
        match source.expr(id).kind {
            ExprKind::Paren(inner)
            | ExprKind::Cast {
                operand: inner,
                implicit: true,
                cast: CastKind::LValueToRValue | CastKind::NoOp | CastKind::Arithmetic,
            }
            | ExprKind::Unary {
                operator:
                    UnaryOperator::Minus
                    | UnaryOperator::Plus
                    | UnaryOperator::Complement
                    | UnaryOperator::Step
                    | UnaryOperator::Extension,
                operand: inner,
            }
            | ExprKind::Binary {
                operator: BinaryOperator::Shl | BinaryOperator::Shr,
                left: inner,
                ..
            }
            | ExprKind::Binary {
                operator: BinaryOperator::Comma,
                right: inner,
                ..
            }
            | ExprKind::Assign { target: inner, .. } => match self.precision(inner) {
                // A floating value is no integer of its size.
                _ if self.scalar(inner).is_some_and(Type::is_float) => self.of_type(id),
                found => found,
            },
            ExprKind::Member { .. } => match source.details.of.get(&id) {
                Some(&Detail::Member { record, index }) => {
                    let fields = self.lowerer.unit.types.record(record).fields.as_ref();
                    let field = fields.and_then(|fields| fields.get(index));
                    match (field.and_then(|field| field.bit_width), self.scalar(id)) {
                        (Some(width), Some(ty))
                            if width > 32 && u64::from(width) < ty.size() * 8 =>
                        {
                            Precision::Field(width, ty.is_signed())
                        }
                        _ => self.of_type(id),
                    }
                }
                _ => self.of_type(id),
            },
            ExprKind::Binary {
                operator:
                    BinaryOperator::Add
                    | BinaryOperator::Sub
                    | BinaryOperator::Mul
                    | BinaryOperator::Div
                    | BinaryOperator::Rem
                    | BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::Xor,
                left,
                right,
            }
            | ExprKind::Conditional {
                then: left,
                otherwise: right,
                ..
            } => match (self.precision(left), self.precision(right)) {
                (Precision::Field(a, s), Precision::Field(b, t)) => match a.cmp(&b) {
                    std::cmp::Ordering::Equal => Precision::Field(a, s && t),
                    std::cmp::Ordering::Greater => Precision::Field(a, s),
                    std::cmp::Ordering::Less => Precision::Field(b, t),
                },
                (Precision::Full, _) | (_, Precision::Full) => Precision::Full,
                (field @ Precision::Field(..), _) | (_, field @ Precision::Field(..)) => field,
                _ => self.of_type(id),
            },
            _ => self.of_type(id),
        }
    }

    fn is_declared_signed(&self, mut id: ExprId) -> bool {
        while let ExprKind::Paren(inner)
        | ExprKind::Cast {
            operand: inner,
            implicit: true,
            cast: CastKind::Arithmetic,
        } = self.source.expr(id).kind
        {
            id = inner;
        }
        self.scalar(id).is_some_and(Type::is_signed)
    }

    /// Returns the meaning of a binary operator on these operands.
    pub(crate) fn wide(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Wide {
        let pair = (self.precision(left), self.precision(right));
        if op.is_shift() {
            return match pair.0 {
                Precision::Field(width, false) => Wide::Bits(width),
                _ => Wide::Plain,
            };
        }
        let computes_signed = self.scalar(left).is_some_and(Type::is_signed);
        let (width, signed) = match pair {
            (Precision::Field(a, s), Precision::Field(b, t)) => match a.cmp(&b) {
                std::cmp::Ordering::Equal => (a, s && t),
                std::cmp::Ordering::Greater => (a, s),
                std::cmp::Ordering::Less => (b, t),
            },
            (Precision::Field(width, signed), Precision::Narrow)
            | (Precision::Narrow, Precision::Field(width, signed)) => (width, signed),
            (Precision::Field(..), Precision::Full) | (Precision::Full, Precision::Field(..)) => {
                let full = match pair.0 {
                    Precision::Full => left,
                    _ => right,
                };
                return match self.is_declared_signed(full) == computes_signed {
                    true => Wide::Plain,
                    false => Wide::Unknown,
                };
            }
            _ => return Wide::Plain,
        };
        match (signed, computes_signed) {
            (true, true) => Wide::Plain,
            (false, false) => Wide::Bits(width),
            _ => Wide::Unknown,
        }
    }

    /// The low bits of a value, without a sign.
    pub(crate) fn low_bits(&mut self, value: Operand, width: u32, origin: OriginId) -> Operand {
        let ty = self.type_of(value);
        if !ty.is_integer() || ty.scalar().is_none() || u64::from(width) >= ty.size() * 8 {
            return value;
        }
        self.emit_value(ty, origin, |dst| InstructionKind::Extend {
            dst,
            ty,
            value,
            width,
        })
    }

    /// A compound assignment computes in the width of a field: what its operator leaves of the difference is not modelled.
    pub(crate) fn is_unknown_compound(
        &mut self,
        op: BinaryOp,
        target: ExprId,
        value: ExprId,
    ) -> bool {
        if !matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            return false;
        }
        let pair = (self.precision(target), self.precision(value));
        if !matches!(
            pair,
            (Precision::Field(..), _) | (_, Precision::Field(_, false))
        ) {
            return false;
        }
        let is_natural = self.scope().integer(value).is_some_and(|value| value >= 0);
        let unsigned = !self.is_declared_signed(value) && !self.is_declared_signed(target);
        !(is_natural || unsigned)
    }

    /// Whether gcc and clang give the arms of a conditional different types because of a bit-field.
    pub(crate) fn is_unknown_conditional(&mut self, then: ExprId, otherwise: ExprId) -> bool {
        let narrow = match (self.precision(then), self.precision(otherwise)) {
            (Precision::Field(_, false), Precision::Narrow) => otherwise,
            (Precision::Narrow, Precision::Field(_, false)) => then,
            _ => return false,
        };
        let is_natural = self.scope().integer(narrow).is_some_and(|value| value >= 0);
        self.is_declared_signed(narrow) && !is_natural
    }
}
