//! Evaluates constant expressions.

use patchwright_clib::{Special, special};
use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Storage, UnaryOperator,
    detail::Detail,
    types::{TypeId, TypeKind},
};
use patchwright_ir::{Target, Type, wide};
use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    types::{Class, integer},
    unit::Lowerer,
};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    /// A value, in the form of crate `ir`'s operands.
    Value(Type, u128),
    /// An address.
    Address(Target, i64),
}

/// Where a constant expression stands.
pub(crate) struct Scope<'l, 'a> {
    pub(crate) lowerer: &'l mut Lowerer<'a>,
    pub(crate) arena: &'a Function,
}

/// A shift of constants. What C leaves undefined and all compilers compute alike, one into or past the sign (`1 << 31`), has the value
/// that they give it; a constant is never executed.
fn shift(op: BinaryOp, ty: Type, count: Type, a: u128, b: u128) -> Option<u128> {
    let exact = wide::shift(op, ty, count, a, b);
    if exact.is_some() || op != BinaryOp::Shl || u128::from(ty.size()) * 8 <= b {
        return exact;
    }
    Some(wide::canonical(ty, a << b))
}

impl<'a> Scope<'_, 'a> {
    fn scalar(&self, id: ExprId) -> Option<Type> {
        match self.lowerer.class(self.arena.expr(id).ty) {
            Class::Scalar(ty) => Some(ty),
            _ => None,
        }
    }

    /// Returns what the tree says of an expression beyond its kind.
    pub(crate) fn detail(&self, id: ExprId) -> Option<&'a Detail> {
        self.arena.details.of.get(&id)
    }

    /// The value of an integer constant expression.
    pub(crate) fn integer(&mut self, id: ExprId) -> Option<i128> {
        match self.value(id)? {
            Constant::Value(Type::I128, bits) => Some(bits as i128),
            Constant::Value(Type::U128, bits) => i128::try_from(bits).ok(),
            Constant::Value(ty, bits) if ty.is_signed() => Some(i128::from(bits as u64 as i64)),
            Constant::Value(ty, bits) if ty.is_integer() => Some(bits as i128),
            _ => None,
        }
    }

    /// The size of the elements that a pointer points to.
    fn stride(&self, id: ExprId) -> Option<i64> {
        let element = self.lowerer.unit.types.element(self.arena.expr(id).ty)?;
        let (size, _) = self.lowerer.unit.types.size_and_align(element)?;
        i64::try_from(size).ok()
    }

    /// The value of a constant expression.
    pub(crate) fn value(&mut self, id: ExprId) -> Option<Constant> {
        let arena = self.arena;
        let expr = arena.expr(id);
        match &expr.kind {
            ExprKind::Integer { value, .. } => {
                let ty = self.scalar(id)?;
                Some(Constant::Value(ty, wide::canonical(ty, *value as u128)))
            }
            ExprKind::Float(_) => {
                let ty = self.scalar(id)?;
                let Some(Detail::Float(text)) = self.detail(id) else {
                    return None;
                };
                Some(Constant::Value(ty, wide::parse_float(ty, text)?))
            }
            ExprKind::Paren(inner) => self.value(*inner),
            ExprKind::CompilerConstant => {
                let types = &self.lowerer.unit.types;
                let value = match self.detail(id)? {
                    Detail::SizeOf(ty) => types.size_and_align(*ty)?.0,
                    Detail::AlignOf(ty) => types.size_and_align(*ty)?.1,
                    Detail::Alignment(bytes) => *bytes,
                    Detail::OffsetOf { value, indices, .. } if indices.is_empty() => (*value)?,
                    _ => return None,
                };
                Some(Constant::Value(Type::U64, u128::from(value)))
            }
            ExprKind::Cast { operand, cast, .. } => self.cast(id, *operand, *cast),
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::AddressOf => {
                    let (target, addend) = self.address(*operand)?;
                    Some(target.map_or(
                        Constant::Value(Type::Ptr, u128::from(addend as u64)),
                        |target| Constant::Address(target, addend),
                    ))
                }
                UnaryOperator::Plus | UnaryOperator::Extension => self.value(*operand),
                UnaryOperator::Minus | UnaryOperator::Complement | UnaryOperator::Not => {
                    let op = match operator {
                        UnaryOperator::Minus => UnaryOp::Neg,
                        UnaryOperator::Complement => UnaryOp::Complement,
                        _ => UnaryOp::Not,
                    };
                    match self.value(*operand)? {
                        Constant::Value(ty, bits) => Some(Constant::Value(
                            self.scalar(id)?,
                            wide::unary(op, ty, bits)?,
                        )),
                        Constant::Address(..) if op == UnaryOp::Not => {
                            Some(Constant::Value(Type::I32, 0))
                        }
                        Constant::Address(..) => None,
                    }
                }
                _ => None,
            },
            ExprKind::Binary {
                operator,
                left,
                right,
            } => self.binary(id, *operator, *left, *right),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                if self.truth(*condition)? {
                    self.value(*then)
                } else {
                    self.value(*otherwise)
                }
            }
            ExprKind::Other { kind, children, .. } => match (kind.as_str(), self.detail(id)) {
                (_, Some(Detail::Same(same))) => self.value(*same),
                (_, Some(Detail::Label(name))) => {
                    let index = arena.labels.iter().position(|label| label == name)?;
                    let global = self.lowerer.labels(arena);
                    Some(Constant::Address(Target::Global(global), index as i64))
                }
                (_, Some(Detail::Answer(answer))) => {
                    Some(Constant::Value(Type::I32, u128::from(*answer)))
                }
                ("ConstantExpr", _) => self.value(*children.first()?),
                ("ImplicitValueInitExpr", _) => Some(Constant::Value(self.scalar(id)?, 0)),
                ("ChooseExpr", _) => {
                    let chosen = if self.truth(*children.first()?)? {
                        1
                    } else {
                        2
                    };
                    self.value(*children.get(chosen)?)
                }
                // A scalar in braces.
                ("InitListExpr", Some(Detail::List { elements, .. })) => {
                    match elements.as_slice() {
                        [] | [None] => Some(Constant::Value(self.scalar(id)?, 0)),
                        [Some(only)] => {
                            self.scalar(id)?;
                            self.value(*only)
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            ExprKind::Call {
                callee, arguments, ..
            } => {
                // Constants that headers make of builtins.
                let ExprKind::Function(name) = &arena.expr(arena.stripped(*callee)).kind else {
                    return None;
                };
                let ty = self.scalar(id)?;
                match name.as_str() {
                    "__builtin_expect" => self.value(*arguments.first()?),
                    "__builtin_constant_p" => {
                        let known = self.value(*arguments.first()?).is_some();
                        Some(Constant::Value(ty, u128::from(known)))
                    }
                    name if name.starts_with("__builtin_") => {
                        let text = match special(name)? {
                            Special::Infinity => "inf",
                            Special::Nan => "nan",
                        };
                        Some(Constant::Value(ty, wide::parse_float(ty, text)?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn truth(&mut self, id: ExprId) -> Option<bool> {
        Some(match self.value(id)? {
            Constant::Value(ty, bits) => wide::truth(ty, bits),
            Constant::Address(..) => true,
        })
    }

    fn cast(&mut self, id: ExprId, operand: ExprId, cast: CastKind) -> Option<Constant> {
        match cast {
            CastKind::ArrayToPointer => match self.address(operand)? {
                (Some(target), addend) => Some(Constant::Address(target, addend)),
                (None, addend) => Some(Constant::Value(Type::Ptr, u128::from(addend as u64))),
            },
            CastKind::FunctionToPointer => {
                let (target, addend) = self.address(operand)?;
                Some(Constant::Address(target?, addend))
            }
            CastKind::NoOp | CastKind::Pointer => self.value(operand),
            CastKind::NullToPointer => Some(Constant::Value(Type::Ptr, 0)),
            CastKind::Arithmetic
            | CastKind::IntegerToPointer
            | CastKind::PointerToInteger
            | CastKind::PointerToBoolean => {
                let to = self.scalar(id)?;
                match self.value(operand)? {
                    Constant::Value(from, bits) => {
                        Some(Constant::Value(to, wide::convert(from, to, bits)?))
                    }
                    Constant::Address(..) if to == Type::Bool => {
                        Some(Constant::Value(Type::Bool, 1))
                    }
                    // It stays an address only in a type of its size.
                    address if to.size() == 8 => Some(address),
                    _ => None,
                }
            }
            // The values of constant objects are no constants, but clang folds them in some
            // places; compound literals are copied.
            _ => None,
        }
    }

    fn binary(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> Option<Constant> {
        match operator {
            BinaryOperator::LogicalAnd => {
                let value = self.truth(left)? && self.truth(right)?;
                return Some(Constant::Value(Type::I32, u128::from(value)));
            }
            BinaryOperator::LogicalOr => {
                let value = self.truth(left)? || self.truth(right)?;
                return Some(Constant::Value(Type::I32, u128::from(value)));
            }
            _ => {}
        }
        let op = BinaryOp::from_spelling(operator.spelling())?;
        match (self.value(left)?, self.value(right)?) {
            (Constant::Value(Type::Ptr, a), Constant::Value(Type::Ptr, b)) => {
                if op.is_comparison() {
                    let value = wide::binary(op, Type::Ptr, a, b)?;
                    return Some(Constant::Value(Type::I32, value));
                }
                let distance = (a as u64).wrapping_sub(b as u64) as i64;
                let elements = distance.checked_div(self.stride(left)?)?;
                Some(Constant::Value(Type::I64, u128::from(elements as u64)))
            }
            (Constant::Value(Type::Ptr, a), Constant::Value(ty, index)) if ty.is_integer() => {
                let offset = self.offset(op, left, index)?;
                let address = (a as u64).wrapping_add(offset as u64);
                Some(Constant::Value(Type::Ptr, u128::from(address)))
            }
            (Constant::Value(a_ty, a), Constant::Value(b_ty, b)) => {
                let wraps = wide::wraps_in(op, a_ty);
                let exact = wraps
                    .filter(|_| self.lowerer.unit.dialect.wraps)
                    .unwrap_or(a_ty);
                let a = wide::convert(a_ty, exact, a)?;
                let value = if op.is_shift() {
                    shift(op, exact, b_ty, a, b)?
                } else if a_ty == b_ty {
                    wide::binary(op, exact, a, wide::convert(b_ty, exact, b)?)?
                } else {
                    return None;
                };
                let value = match exact == a_ty {
                    true => value,
                    false => wide::convert(exact, a_ty, value)?,
                };
                Some(Constant::Value(self.scalar(id)?, value))
            }
            (Constant::Address(target, addend), Constant::Value(ty, index)) if ty.is_integer() => {
                let offset = self.offset(op, left, index)?;
                Some(Constant::Address(target, addend.checked_add(offset)?))
            }
            (Constant::Value(_, index), Constant::Address(target, addend))
                if op == BinaryOp::Add =>
            {
                let offset = self.offset(op, right, index)?;
                Some(Constant::Address(target, addend.checked_add(offset)?))
            }
            (Constant::Address(a, x), Constant::Address(b, y)) if a == b => {
                let stride = self.stride(left).unwrap_or(1);
                match op {
                    BinaryOp::Sub => Some(Constant::Value(
                        Type::I64,
                        u128::from(x.checked_sub(y)?.checked_div(stride)? as u64),
                    )),
                    _ if op.is_comparison() => Some(Constant::Value(
                        Type::I32,
                        wide::binary(op, Type::I64, x as u64 as u128, y as u64 as u128)?,
                    )),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Bytes that adding an index to a pointer (or, in integers, to an address) means.
    fn offset(&self, op: BinaryOp, pointer: ExprId, index: u128) -> Option<i64> {
        let is_pointer = self.scalar(pointer) == Some(Type::Ptr);
        let stride = if is_pointer { self.stride(pointer)? } else { 1 };
        let bytes = (index as u64 as i64).checked_mul(stride)?;
        match op {
            BinaryOp::Add => Some(bytes),
            BinaryOp::Sub => bytes.checked_neg(),
            _ => None,
        }
    }

    /// The address of an lvalue: an object and an offset, or an absolute one.
    pub(crate) fn address(&mut self, id: ExprId) -> Option<(Option<Target>, i64)> {
        let arena = self.arena;
        let expr = arena.expr(id);
        match &expr.kind {
            ExprKind::Paren(inner) => self.address(*inner),
            ExprKind::Variable(variable) => {
                let storage = self.lowerer.unit.variable(*variable).storage;
                if !matches!(storage, Storage::Global | Storage::StaticLocal) {
                    return None;
                }
                let global = self.lowerer.object(*variable);
                Some((Some(Target::Global(global)), 0))
            }
            ExprKind::Function(name) => {
                let function = self.lowerer.declare(name);
                Some((Some(Target::Function(function)), 0))
            }
            ExprKind::String => {
                let global = self.string_object(id)?;
                Some((Some(Target::Global(global)), 0))
            }
            ExprKind::Member { base, arrow, .. } => {
                let bits = match self.detail(id)? {
                    Detail::Member { record, index } => {
                        self.lowerer.unit.types.layout(*record)?.offsets[*index]
                    }
                    Detail::MemberAt(offset) => 8 * offset,
                    _ => return None,
                };
                let (target, addend) = if *arrow {
                    self.pointer(*base)?
                } else {
                    self.address(*base)?
                };
                Some((target, addend.checked_add(i64::try_from(bits / 8).ok()?)?))
            }
            ExprKind::Subscript { base, index } => {
                let (target, addend) = self.pointer(*base)?;
                let index = i64::try_from(self.integer(*index)?).ok()?;
                let offset = index.checked_mul(self.stride(*base)?)?;
                Some((target, addend.checked_add(offset)?))
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => self.pointer(*operand),
            ExprKind::Unary {
                operator: UnaryOperator::Extension,
                operand,
            } => self.address(*operand),
            ExprKind::Cast {
                operand,
                cast: CastKind::NoOp,
                ..
            } => self.address(*operand),
            ExprKind::Other { kind, children, .. } if kind == "CompoundLiteralExpr" => {
                // At file scope, or in the initialiser of a static object.
                let ty = expr.ty;
                let (size, align) = self.lowerer.unit.types.size_and_align(ty)?;
                let global = self.lowerer.anonymous("literal", size, align);
                self.lowerer
                    .initialize_object(global, ty, arena, *children.first()?);
                Some((Some(Target::Global(global)), 0))
            }
            _ => None,
        }
    }

    fn pointer(&mut self, id: ExprId) -> Option<(Option<Target>, i64)> {
        match self.value(id)? {
            Constant::Value(Type::Ptr, bits) => Some((None, bits as u64 as i64)),
            Constant::Value(..) => None,
            Constant::Address(target, addend) => Some((Some(target), addend)),
        }
    }

    /// The bytes of a string literal, without what its array adds.
    pub(crate) fn string_bytes(&self, id: ExprId) -> Option<(Vec<u8>, TypeId)> {
        let Some(Detail::String(characters)) = self.detail(id) else {
            return None;
        };
        let types = &self.lowerer.unit.types;
        let ty = self.arena.expr(id).ty;
        let TypeKind::Array(element, _) = types.kind(ty) else {
            return None;
        };
        let Class::Scalar(_) = self.lowerer.class(*element) else {
            return None;
        };
        let width = integer(types.integer_kind(*element)?).size() as usize;
        let bytes = characters
            .iter()
            .flat_map(|c| c.to_le_bytes().into_iter().take(width))
            .collect();
        Some((bytes, ty))
    }

    /// The object of a string literal.
    pub(crate) fn string_object(&mut self, id: ExprId) -> Option<patchwright_ir::GlobalId> {
        let (bytes, ty) = self.string_bytes(id)?;
        let (size, align) = self.lowerer.unit.types.size_and_align(ty)?;
        Some(self.lowerer.string(bytes, size, align))
    }
}
