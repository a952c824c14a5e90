//! Maps C types to types of the IR.

use patchwright_csource::types::{FloatKind, IntegerKind, TypeId, TypeKind, TypeTable};
use patchwright_ir::Type;

/// How values of a type are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// No value.
    Void,
    /// In temporaries.
    Scalar(Type),
    /// In memory: a structure or union.
    Aggregate {
        /// Bytes.
        size: u64,
        /// Bytes.
        align: u64,
    },
    /// In memory; decays to a pointer.
    Array,
    /// Decays to a pointer.
    Function,
    /// Not known: why.
    Unknown(&'static str),
}

/// Returns the IR type of an integer type.
pub(crate) fn integer(kind: IntegerKind) -> Type {
    use IntegerKind::*;
    match kind {
        Bool => Type::Bool,
        Char | SignedChar => Type::I8,
        UnsignedChar => Type::U8,
        Short => Type::I16,
        UnsignedShort => Type::U16,
        Int => Type::I32,
        UnsignedInt => Type::U32,
        Long | LongLong => Type::I64,
        UnsignedLong | UnsignedLongLong => Type::U64,
        Int128 => Type::I128,
        UnsignedInt128 => Type::U128,
    }
}

/// How values of the type are handled.
pub(crate) fn class(types: &TypeTable, ty: TypeId) -> Class {
    if types.qualifiers(ty).is_atomic && matches!(types.kind(ty), TypeKind::Record(_)) {
        return Class::Unknown("an atomic structure");
    }
    match types.kind(ty) {
        TypeKind::Void => Class::Void,
        TypeKind::Integer(kind) => Class::Scalar(integer(*kind)),
        TypeKind::Enum { .. } => match types.integer_kind(ty) {
            Some(kind) => Class::Scalar(integer(kind)),
            None => Class::Unknown("an enumeration"),
        },
        TypeKind::Float(FloatKind::Float) => Class::Scalar(Type::F32),
        TypeKind::Float(FloatKind::Double) => Class::Scalar(Type::F64),
        TypeKind::Float(FloatKind::LongDouble) => Class::Scalar(Type::F80),
        TypeKind::Float(FloatKind::Other) => Class::Unknown("a floating type of GNU C"),
        TypeKind::Pointer(_) => Class::Scalar(Type::Ptr),
        TypeKind::Array(of, _) | TypeKind::VariableArray(of, Some(_)) if types.is_variable(ty) => {
            match class(types, *of) {
                Class::Unknown(reason) => Class::Unknown(reason),
                _ => Class::Array,
            }
        }
        TypeKind::Array(..) if types.size_and_align(ty).is_none() => {
            Class::Unknown("an array of elements of unknown size")
        }
        TypeKind::Array(..) => Class::Array,
        TypeKind::VariableArray(..) => Class::Unknown("a variable array"),
        TypeKind::Record(_) => match types.size_and_align(ty) {
            Some((size, align)) => Class::Aggregate { size, align },
            None => Class::Unknown("a record whose layout is not known"),
        },
        TypeKind::Complex(_) | TypeKind::Vector(..) => {
            match (parts(types, ty), types.size_and_align(ty)) {
                (Some(_), Some((size, align))) => Class::Aggregate { size, align },
                _ => Class::Unknown("a complex number or vector of an unknown type"),
            }
        }
        TypeKind::Function => Class::Function,
        TypeKind::Other(_) => Class::Unknown("a type that the view of C cannot express"),
    }
}

/// The numbers that a value of a type consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The type of each.
    pub(crate) of: Type,
    /// How many there are.
    pub(crate) count: u64,
    /// It is a complex number, of two; else a vector.
    pub(crate) complex: bool,
}

/// The parts of a complex number or a vector.
pub(crate) fn parts(types: &TypeTable, ty: TypeId) -> Option<Parts> {
    let (of, count, complex) = match *types.kind(ty) {
        TypeKind::Complex(of) => (of, 2, true),
        TypeKind::Vector(of, count) => (of, count, false),
        _ => return None,
    };
    let of = scalar(types, of)?;
    Some(Parts { of, count, complex })
}

/// Returns the IR type of values of a scalar C type. It is `None` for arrays, records and types that are
/// not known.
pub fn scalar(types: &TypeTable, ty: TypeId) -> Option<Type> {
    match class(types, ty) {
        Class::Scalar(ty) => Some(ty),
        _ => None,
    }
}
