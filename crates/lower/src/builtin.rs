//! Lowers calls of functions that the compiler itself knows (`__builtin_…`).

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, UnaryOperator, detail::Detail,
};
use patchwright_ir::{InstructionKind, Operand, Target, TerminatorKind, Type};
use patchwright_semantics::BinaryOp;

use crate::{
    function::FunctionLowerer,
    types::{Class, class},
};

/// What is known of the bytes behind a pointer.
enum Bytes {
    Known(u64),
    Unknown,
    /// A compiler may know them from the type of a member.
    Behind,
}

impl<'a> FunctionLowerer<'_, 'a> {
    /// Lowers a call of a builtin function. `None` for ordinary functions, else the value, if there is one.
    pub(crate) fn builtin(
        &mut self,
        id: ExprId,
        name: &str,
        arguments: &'a [ExprId],
    ) -> Option<Option<Operand>> {
        let origin = self.at_expr(id);
        let short = name.strip_prefix("__builtin_");
        if let Some(value) = self.complex_function(id, short.unwrap_or(name), arguments) {
            return Some(Some(value));
        }
        if short.is_none() {
            if ["__sync_", "__atomic_", "__c11_atomic_"]
                .iter()
                .any(|p| name.starts_with(p))
            {
                let value = self.atomic_call(id, name, arguments);
                return Some(value.unwrap_or_else(|| {
                    self.unsupported_effect_of(id, &format!("the atomic operation {name}"))
                }));
            }
            if name != "alloca" {
                return None;
            }
        }
        let value = match (short.unwrap_or(name), arguments) {
            ("expect" | "expect_with_probability" | "assume_aligned", [value, hints @ ..]) => {
                for &hint in hints.iter().rev() {
                    self.effect(hint);
                }
                Some(self.rvalue(*value))
            }
            ("constant_p", [value]) => {
                let known = self.scope().value(*value).is_some();
                Some(self.constant(Type::I32, u128::from(known), origin))
            }
            ("unreachable", _) => {
                self.jump(TerminatorKind::Unreachable, origin);
                None
            }
            ("trap", _) => {
                self.call_library(id, "abort", Vec::new(), Type::Void);
                self.jump(TerminatorKind::Unreachable, origin);
                None
            }
            ("va_start" | "c23_va_start", [list, ..]) => {
                let list = self.pointer(*list);
                self.emit(InstructionKind::VaStart { list }, origin);
                None
            }
            ("va_copy", [to, from]) => {
                let (to, from) = (self.pointer(*to), self.pointer(*from));
                self.emit(InstructionKind::VaCopy { to, from }, origin);
                None
            }
            ("va_end", [list]) => {
                self.effect(*list);
                None
            }
            ("alloca", [size]) => {
                let size = self.rvalue(*size);
                let size = self.as_type(size, Type::U64);
                Some(
                    self.emit_value(Type::Ptr, origin, |dst| InstructionKind::Allocate {
                        dst,
                        size,
                        scope: None,
                    }),
                )
            }
            ("prefetch", _) => {
                for &argument in arguments {
                    self.effect(argument);
                }
                None
            }
            ("object_size" | "dynamic_object_size", [pointer, kind]) => {
                let kind = self.scope().integer(*kind).unwrap_or(0);
                // Not known, as without optimisation, unless the object is named.
                let unknown = if kind & 2 == 0 { u64::MAX } else { 0 };
                Some(match self.bytes_behind(*pointer, kind & 1 == 1) {
                    Bytes::Known(bytes) => self.constant(Type::U64, bytes.into(), origin),
                    Bytes::Unknown => self.constant(Type::U64, unknown.into(), origin),
                    Bytes::Behind => {
                        let reason = "the size of a member behind a pointer";
                        self.unsupported_value(origin, reason, Type::U64)
                    }
                })
            }
            // Somewhere in the code, or on the stack: of what is there nothing can be read.
            ("return_address", [level]) if self.scope().integer(*level) == Some(0) => {
                let own = self.lowerer.declare(&self.source.name);
                Some(self.address_constant(Target::Function(own), origin))
            }
            ("frame_address", [level]) if self.scope().integer(*level) == Some(0) => {
                let local = self.temporary_object(16, 16, origin);
                Some(self.local_address(local, origin))
            }
            (other, [a, b, result]) if let Some(op) = overflow_test(other) => {
                Some(self.overflow(id, op, *a, *b, *result))
            }
            _ => {
                // What remains of the builtins are functions: those of the library under their
                // own names, the others (`clz`, `isnan`…) as the compiler names them.
                let own = match short {
                    Some(short) if is_library(name, short) => short.to_owned(),
                    Some(short) => match short.strip_prefix("__") {
                        Some(checked) if checked.ends_with("_chk") => format!("__{checked}"),
                        _ => name.to_owned(),
                    },
                    None => {
                        let value = self.unsupported_effect_of(id, "an atomic operation");
                        return Some(value);
                    }
                };
                let passed = self.arguments(arguments);
                let result = match self.class(id) {
                    Class::Void => Type::Void,
                    Class::Scalar(ty) => ty,
                    Class::Aggregate { size, .. } => Type::Aggregate { size },
                    _ => {
                        let value = self.unsupported_effect_of(id, "a builtin function");
                        return Some(value);
                    }
                };
                self.call_library(id, &own, passed, result)
            }
        };
        Some(value)
    }

    fn unsupported_effect_of(&mut self, id: ExprId, reason: &str) -> Option<Operand> {
        let origin = self.at_expr(id);
        let ty = self.scalar(id).unwrap_or(Type::I32);
        Some(self.unsupported_value(origin, reason, ty))
    }

    /// How many bytes there are from a place to the end of the object, or of the part that is named last.
    fn bytes_behind(&mut self, pointer: ExprId, of_part: bool) -> Bytes {
        let source = self.source;
        match &source.expr(pointer).kind {
            ExprKind::Paren(inner)
            | ExprKind::Cast {
                operand: inner,
                cast: CastKind::NoOp | CastKind::Pointer,
                ..
            } => self.bytes_behind(*inner, of_part),
            ExprKind::Cast {
                operand: object,
                cast: CastKind::ArrayToPointer,
                ..
            }
            | ExprKind::Unary {
                operator: UnaryOperator::AddressOf,
                operand: object,
            } => match self.bytes_of(*object) {
                Some(_) if of_part && self.is_behind_pointer(*object) => Bytes::Behind,
                Some((whole, part)) => Bytes::Known(if of_part { part } else { whole }),
                None if of_part && self.is_behind_pointer(*object) => Bytes::Behind,
                None => Bytes::Unknown,
            },
            // Of a part, gcc does not know that without optimisation.
            ExprKind::Binary {
                operator: BinaryOperator::Add,
                left,
                right,
            } if !of_part => {
                let is_pointer = |this: &Self, id| this.scalar(id) == Some(Type::Ptr);
                let (pointer, index) = match is_pointer(self, *left) {
                    true => (*left, *right),
                    false => (*right, *left),
                };
                let moved = self.scope().integer(index).zip(self.element_size(pointer));
                let moved =
                    moved.and_then(|(index, size)| u64::try_from(index).ok()?.checked_mul(size));
                match (self.bytes_behind(pointer, of_part), moved) {
                    (Bytes::Known(bytes), Some(moved)) => Bytes::Known(bytes.saturating_sub(moved)),
                    (Bytes::Behind, _) => Bytes::Behind,
                    _ => Bytes::Unknown,
                }
            }
            _ => Bytes::Unknown,
        }
    }

    /// The bytes of what a pointer points to.
    fn element_size(&self, pointer: ExprId) -> Option<u64> {
        let types = &self.lowerer.unit.types;
        let pointee = types.element(self.source.expr(pointer).ty)?;
        Some(types.size_and_align(pointee)?.0)
    }

    fn is_behind_pointer(&self, object: ExprId) -> bool {
        match &self.source.expr(object).kind {
            ExprKind::Paren(inner) => self.is_behind_pointer(*inner),
            ExprKind::Member { base, arrow, .. } => *arrow || self.is_behind_pointer(*base),
            _ => false,
        }
    }

    /// The bytes from where an lvalue begins to the end of its object, and to that of the part that it is or is an element of.
    fn bytes_of(&mut self, object: ExprId) -> Option<(u64, u64)> {
        let source = self.source;
        let expr = source.expr(object);
        let size = |this: &Self, ty| Some(this.lowerer.unit.types.size_and_align(ty)?.0);
        match &expr.kind {
            ExprKind::Paren(inner) => self.bytes_of(*inner),
            ExprKind::Variable(_) | ExprKind::String => {
                let bytes = size(self, expr.ty)?;
                Some((bytes, bytes))
            }
            ExprKind::Member { base, arrow, .. } if !arrow => {
                let (whole, _) = self.bytes_of(*base)?;
                let Some(&Detail::Member { record, index }) = source.details.of.get(&object) else {
                    return None;
                };
                let offset = self.lowerer.unit.types.layout(record)?.offsets[index] / 8;
                Some((whole.checked_sub(offset)?, size(self, expr.ty)?))
            }
            ExprKind::Subscript { base, index } => {
                let ExprKind::Cast {
                    operand: array,
                    cast: CastKind::ArrayToPointer,
                    ..
                } = source.expr(source.without_parens(*base)).kind
                else {
                    return None;
                };
                let (whole, _) = self.bytes_of(array)?;
                let part = size(self, source.expr(array).ty)?;
                let index = u64::try_from(self.scope().integer(*index)?).ok()?;
                let offset = index.checked_mul(size(self, expr.ty)?)?;
                Some((whole.saturating_sub(offset), part.saturating_sub(offset)))
            }
            _ => None,
        }
    }

    fn pointer(&mut self, id: ExprId) -> Operand {
        let value = self.rvalue(id);
        self.as_type(value, Type::Ptr)
    }

    /// `__builtin_add_overflow` and the like: computed in 128 bits, stored in the type of the
    /// result; whether that changed the value.
    fn overflow(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        result: ExprId,
    ) -> Operand {
        let origin = self.at_expr(id);
        let types = &self.lowerer.unit.types;
        let stored = types
            .element(self.source.expr(result).ty)
            .map(|ty| class(types, ty));
        let (Some(Class::Scalar(stored)), Some(left), Some(right)) =
            (stored, self.scalar(a), self.scalar(b))
        else {
            return self.unsupported_value(origin, "an overflow test", Type::Bool);
        };
        if [stored, left, right].iter().any(|ty| ty.size() > 8) {
            return self.unsupported_value(origin, "an overflow test of 128 bits", Type::Bool);
        }
        // Two unsigned factors of 64 bits need all bits, any other pair leaves room for a sign.
        let both_unsigned = op == BinaryOp::Mul && !left.is_signed() && !right.is_signed();
        let exact = if both_unsigned {
            Type::U128
        } else {
            Type::I128
        };
        let x = self.rvalue(a);
        let y = self.rvalue(b);
        let place = self.pointer(result);
        let x = self.convert(x, left, exact, origin);
        let y = self.convert(y, right, exact, origin);
        let value = self.emit_value(exact, origin, |dst| InstructionKind::Binary {
            dst,
            op,
            ty: exact,
            a: x,
            b: y,
        });
        let narrow = self.convert(value, exact, stored, origin);
        self.store(Self::at_address(place), stored, narrow, origin);
        // A negative value never equals one that was wrapped to unsigned: compare in a form
        // that keeps both apart.
        let back = self.convert(narrow, stored, exact, origin);
        let differs = self.emit_value(Type::I32, origin, |dst| InstructionKind::Binary {
            dst,
            op: BinaryOp::Ne,
            ty: exact,
            a: value,
            b: back,
        });
        self.convert(differs, Type::I32, Type::Bool, origin)
    }
}

/// The operator of a test for overflow: `add_overflow`, or one for a type, `sadd_overflow`, `umulll_overflow`.
fn overflow_test(name: &str) -> Option<BinaryOp> {
    let tested = name.strip_suffix("_overflow")?;
    let of_any = matches!(tested, "add" | "sub" | "mul");
    let operator = match of_any {
        true => tested,
        false => tested.strip_prefix(['s', 'u'])?.trim_end_matches('l'),
    };
    // The `l` of `mul` is no length.
    match operator {
        "add" => Some(BinaryOp::Add),
        "sub" => Some(BinaryOp::Sub),
        "mu" | "mul" => Some(BinaryOp::Mul),
        _ => None,
    }
}

/// Whether a builtin is the function of the C library that is called like the rest of its name. The library's table has
/// the builtins of which this is not so under their own names.
fn is_library(name: &str, short: &str) -> bool {
    patchwright_clib::is_known(short) && !patchwright_clib::is_known(name)
}
