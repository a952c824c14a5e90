//! Converts the types of the C tree to the types of terms.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, UnaryOperator,
    types::{FloatKind, IntegerKind, TypeId, TypeKind, TypeTable},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{CType, Pointee, PointeeId, Pointees};

/// The types of a translation unit, converted to those of terms.
#[derive(Clone, Debug, Default)]
pub struct TermTypes {
    pointees: Pointees,
    index: FxHashMap<TypeId, PointeeId>,
    /// The structures and unions, without qualifiers, that stand in a row: a pointer to one is subscripted or moved.
    in_rows: FxHashSet<TypeId>,
}

impl TermTypes {
    /// Prepares the types of these functions of one translation unit.
    pub fn of(types: &mut TypeTable, functions: &[Function]) -> Self {
        let mut in_rows = FxHashSet::default();
        for function in functions {
            moved(function, &mut |id| {
                let (TypeKind::Pointer(to) | TypeKind::Array(to, _)) =
                    *types.kind(function.expr(id).ty)
                else {
                    return;
                };
                if matches!(types.kind(to), TypeKind::Record(_)) {
                    in_rows.insert(types.unqualified(to));
                }
            });
        }
        TermTypes {
            in_rows,
            ..TermTypes::default()
        }
    }

    /// Returns the types to which pointers point.
    pub fn pointees(&self) -> &Pointees {
        &self.pointees
    }

    /// Returns the type of terms for a C type. Arrays become the pointers to which they decay. It is
    /// `None` for types that terms do not have, and for volatile and atomic ones.
    pub fn ctype(&mut self, types: &mut TypeTable, ty: TypeId) -> Option<CType> {
        let qualifiers = types.qualifiers(ty);
        if qualifiers.is_volatile || qualifiers.is_atomic {
            return None;
        }
        if let Some(kind) = types.integer_kind(ty) {
            return integer(kind);
        }
        match types.kind(ty) {
            TypeKind::Float(FloatKind::Float) => Some(CType::Float),
            TypeKind::Float(FloatKind::Double) => Some(CType::Double),
            TypeKind::Pointer(to) | TypeKind::Array(to, _) => {
                let to = *to;
                self.pointee(types, to).map(CType::Pointer)
            }
            _ => None,
        }
    }

    /// Returns the type `void *`.
    pub fn void_pointer(&mut self, types: &mut TypeTable) -> Option<CType> {
        let void = types.plain(TypeKind::Void);
        self.pointee(types, void).map(CType::Pointer)
    }

    fn pointee(&mut self, types: &mut TypeTable, to: TypeId) -> Option<PointeeId> {
        if let Some(&id) = self.index.get(&to) {
            return Some(id);
        }
        let spelling = match types.kind(to) {
            TypeKind::Function => "void (void)".to_owned(),
            TypeKind::Other(_) => return None,
            _ => types.spelling(to)?,
        };
        let qualifiers = types.qualifiers(to);
        let plain = types.unqualified(to);
        let unqualified = if plain == to {
            None
        } else {
            self.pointee(types, plain)
        };
        let id = self.pointees.add(Pointee {
            spelling,
            size: types.size(to),
            is_void: matches!(types.kind(to), TypeKind::Void),
            is_function: matches!(types.kind(to), TypeKind::Function),
            is_const: qualifiers.is_const,
            is_alone: matches!(types.kind(to), TypeKind::Record(_))
                && !self.in_rows.contains(&plain),
            unqualified,
        });
        self.index.insert(to, id);
        Some(id)
    }
}

fn integer(kind: IntegerKind) -> Option<CType> {
    Some(match kind {
        IntegerKind::Bool => CType::Bool,
        IntegerKind::Char => CType::Char,
        IntegerKind::SignedChar => CType::SChar,
        IntegerKind::UnsignedChar => CType::UChar,
        IntegerKind::Short => CType::Short,
        IntegerKind::UnsignedShort => CType::UShort,
        IntegerKind::Int => CType::Int,
        IntegerKind::UnsignedInt => CType::UInt,
        IntegerKind::Long => CType::Long,
        IntegerKind::UnsignedLong => CType::ULong,
        IntegerKind::LongLong => CType::LongLong,
        IntegerKind::UnsignedLongLong => CType::ULongLong,
        IntegerKind::Int128 | IntegerKind::UnsignedInt128 => return None,
    })
}

/// Calls `each` for every pointer that a function subscripts, moves or adds to.
pub(crate) fn moved(function: &Function, each: &mut dyn FnMut(ExprId)) {
    for expr in &function.exprs {
        match &expr.kind {
            ExprKind::Subscript { base: one, .. }
            | ExprKind::Assign {
                operator: Some(_),
                target: one,
                ..
            }
            | ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand: one,
            } => each(*one),
            ExprKind::Binary {
                operator: BinaryOperator::Add | BinaryOperator::Sub,
                left,
                right,
            } => {
                each(*left);
                each(*right);
            }
            _ => {}
        }
    }
}
