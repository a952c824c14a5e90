//! The types of values, and C's rules for the type of a result.

use crate::BinaryOp;

/// The type of a value, as far as C's arithmetic can tell types apart on LP64.
///
/// `long` and `long long` are both [`Ty::I64`]; which of the two a C type is matters for printing
/// and type checking only. The discriminants are part of the format of
/// [`Instruction`](crate::Instruction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Ty {
    /// `_Bool`
    Bool = 0,
    /// 8 bits, signed
    I8 = 1,
    /// 8 bits, unsigned
    U8 = 2,
    /// 16 bits, signed
    I16 = 3,
    /// 16 bits, unsigned
    U16 = 4,
    /// 32 bits, signed: `int`
    I32 = 5,
    /// 32 bits, unsigned: `unsigned int`
    U32 = 6,
    /// 64 bits, signed: `long` and `long long`
    I64 = 7,
    /// 64 bits, unsigned
    U64 = 8,
    /// IEEE 754 binary32: `float`
    F32 = 9,
    /// IEEE 754 binary64: `double`
    F64 = 10,
    /// An address
    Ptr = 11,
}

impl Ty {
    /// All types, in the order of their discriminants.
    pub const ALL: [Ty; 12] = [
        Ty::Bool,
        Ty::I8,
        Ty::U8,
        Ty::I16,
        Ty::U16,
        Ty::I32,
        Ty::U32,
        Ty::I64,
        Ty::U64,
        Ty::F32,
        Ty::F64,
        Ty::Ptr,
    ];

    /// The type with this discriminant, if there is one.
    #[inline]
    pub fn from_u8(discriminant: u8) -> Option<Ty> {
        Self::ALL.get(usize::from(discriminant)).copied()
    }

    /// The size of an object of this type, in bytes.
    #[inline(always)]
    pub const fn size(self) -> usize {
        match self {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 | Ty::Ptr => 8,
        }
    }

    /// Whether this is an integer type; `Bool` is one, `Ptr` is not.
    #[inline(always)]
    pub const fn is_integer(self) -> bool {
        !matches!(self, Ty::F32 | Ty::F64 | Ty::Ptr)
    }

    /// Whether this is a floating type.
    #[inline(always)]
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Whether this is an integer type with negative values.
    #[inline(always)]
    pub const fn is_signed_integer(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }

    /// The canonical form of the object whose bytes, read in little-endian order, are the low
    /// [`size`](Ty::size) bytes of `raw`; the other bytes of `raw` are ignored.
    ///
    /// A `_Bool` whose byte is neither 0 nor 1 (a trap representation) counts as 1.
    #[inline(always)]
    pub const fn canonical(self, raw: u64) -> u64 {
        match self {
            Ty::Bool => (raw as u8 != 0) as u64,
            Ty::I8 => raw as i8 as u64,
            Ty::U8 => raw as u8 as u64,
            Ty::I16 => raw as i16 as u64,
            Ty::U16 => raw as u16 as u64,
            Ty::I32 => raw as i32 as u64,
            Ty::U32 | Ty::F32 => raw as u32 as u64,
            Ty::I64 | Ty::U64 | Ty::F64 | Ty::Ptr => raw,
        }
    }
}

/// The integer promotion of `ty` (C17 6.3.1.1p2); types that are not promoted are given back.
#[inline(always)]
pub const fn promote(ty: Ty) -> Ty {
    match ty {
        Ty::Bool | Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 => Ty::I32,
        _ => ty,
    }
}

/// The common type of the usual arithmetic conversions (C17 6.3.1.8); `None` when one of the types
/// is a pointer.
pub const fn common(a: Ty, b: Ty) -> Option<Ty> {
    Some(match (promote(a), promote(b)) {
        (Ty::Ptr, _) | (_, Ty::Ptr) => return None,
        (Ty::F64, _) | (_, Ty::F64) => Ty::F64,
        (Ty::F32, _) | (_, Ty::F32) => Ty::F32,
        (Ty::U64, _) | (_, Ty::U64) => Ty::U64,
        // `long` holds every `unsigned int`, so it wins over it.
        (Ty::I64, _) | (_, Ty::I64) => Ty::I64,
        (Ty::U32, _) | (_, Ty::U32) => Ty::U32,
        _ => Ty::I32,
    })
}

/// The type of the result of `op` on operands of type `ty`: the common type of both, or, for a
/// shift, the promoted type of the left operand.
#[inline(always)]
pub const fn binary_result(op: BinaryOp, ty: Ty) -> Ty {
    if op.is_comparison() { Ty::I32 } else { ty }
}

/// Whether converting from `from` to `to` leaves every canonical value as it is, so that the
/// conversion need not be computed.
pub const fn conversion_is_identity(from: Ty, to: Ty) -> bool {
    if from as u8 == to as u8 {
        return true;
    }
    if from.is_float() || to.is_float() || to as u8 == Ty::Bool as u8 {
        return false;
    }
    match to {
        // Sign-extended is how a 64-bit unsigned type holds a converted negative value too.
        Ty::I64 | Ty::U64 | Ty::Ptr => true,
        _ if to.is_signed_integer() => from.size() < to.size() || matches!(from, Ty::Bool),
        _ => !from.is_signed_integer() && (from.size() < to.size() || matches!(from, Ty::Bool)),
    }
}
