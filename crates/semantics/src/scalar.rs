//! The operators on single values.
//!
//! The rows are built from these functions. They are `#[inline(always)]` and branch on `op` and `ty` only at their outside. With both known at
//! compile time, a few machine instructions are left.

use crate::{BinaryOp, Ty, UnaryOp};

/// A Rust type that computes like a C type which arithmetic is done in, i.e. a promoted one.
trait Native: Copy + PartialOrd {
    fn from_canonical(value: u64) -> Self;
    fn to_canonical(self) -> u64;
    /// Arithmetic and bit operators, without shifts and comparisons.
    fn arithmetic(op: BinaryOp, a: Self, b: Self) -> Option<Self>;
    fn negate(self) -> Option<Self>;
    fn complement(self) -> Option<Self>;
}

/// `$add` and so on give an `Option`: the checked operations for signed types, the wrapping ones
/// for unsigned types.
macro_rules! native_integer {
    ($native:ty, $add:expr, $sub:expr, $mul:expr, $neg:expr) => {
        impl Native for $native {
            #[inline(always)]
            fn from_canonical(value: u64) -> Self {
                value as $native
            }
            #[inline(always)]
            fn to_canonical(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn arithmetic(op: BinaryOp, a: Self, b: Self) -> Option<Self> {
                match op {
                    BinaryOp::Add => $add(a, b),
                    BinaryOp::Sub => $sub(a, b),
                    BinaryOp::Mul => $mul(a, b),
                    BinaryOp::Div => a.checked_div(b),
                    BinaryOp::Rem => a.checked_rem(b),
                    BinaryOp::And => Some(a & b),
                    BinaryOp::Or => Some(a | b),
                    BinaryOp::Xor => Some(a ^ b),
                    _ => None,
                }
            }
            #[inline(always)]
            fn negate(self) -> Option<Self> {
                $neg(self)
            }
            #[inline(always)]
            fn complement(self) -> Option<Self> {
                Some(!self)
            }
        }
    };
    (signed $native:ty) => {
        native_integer!(
            $native,
            <$native>::checked_add,
            <$native>::checked_sub,
            <$native>::checked_mul,
            <$native>::checked_neg
        );
    };
    (unsigned $native:ty) => {
        native_integer!(
            $native,
            |a: $native, b| Some(a.wrapping_add(b)),
            |a: $native, b| Some(a.wrapping_sub(b)),
            |a: $native, b| Some(a.wrapping_mul(b)),
            |a: $native| Some(a.wrapping_neg())
        );
    };
}

macro_rules! native_float {
    ($native:ty, $bits:ty) => {
        impl Native for $native {
            #[inline(always)]
            fn from_canonical(value: u64) -> Self {
                <$native>::from_bits(value as $bits)
            }
            #[inline(always)]
            fn to_canonical(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline(always)]
            fn arithmetic(op: BinaryOp, a: Self, b: Self) -> Option<Self> {
                match op {
                    BinaryOp::Add => Some(a + b),
                    BinaryOp::Sub => Some(a - b),
                    BinaryOp::Mul => Some(a * b),
                    BinaryOp::Div => Some(a / b),
                    _ => None,
                }
            }
            #[inline(always)]
            fn negate(self) -> Option<Self> {
                Some(-self)
            }
            #[inline(always)]
            fn complement(self) -> Option<Self> {
                None
            }
        }
    };
}

native_integer!(signed i32);
native_integer!(unsigned u32);
native_integer!(signed i64);
native_integer!(unsigned u64);
native_float!(f32, u32);
native_float!(f64, u64);

#[inline(always)]
fn arithmetic<N: Native>(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    N::arithmetic(op, N::from_canonical(a), N::from_canonical(b)).map(N::to_canonical)
}

#[inline(always)]
fn compare<N: Native>(op: BinaryOp, a: u64, b: u64) -> u64 {
    let (a, b) = (N::from_canonical(a), N::from_canonical(b));
    u64::from(match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Ne => a != b,
        _ => a == b,
    })
}

/// `a op b`, both operands already of type `ty`; `None` is ⊥.
///
/// The result has type [`binary_result`](crate::binary_result)`(op, ty)`. Comparisons work on every
/// type, pointers being compared as unsigned addresses. Everything else is done in promoted types:
/// what C does not have (arithmetic in a type narrower than `int` or on pointers, bit operators on
/// floats) gives `None`. A shift takes its count as a value of type `ty` too; see [`shift`].
#[inline(always)]
pub fn binary(op: BinaryOp, ty: Ty, a: u64, b: u64) -> Option<u64> {
    if op.is_comparison() {
        // Canonical integers of one signedness are ordered like their extensions to 64 bits.
        return Some(match ty {
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => compare::<i64>(op, a, b),
            Ty::Bool | Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 | Ty::Ptr => compare::<u64>(op, a, b),
            Ty::F32 => compare::<f32>(op, a, b),
            Ty::F64 => compare::<f64>(op, a, b),
        });
    }
    if op.is_shift() {
        return shift(op, ty, ty, a, b);
    }
    match ty {
        Ty::I32 => arithmetic::<i32>(op, a, b),
        Ty::U32 => arithmetic::<u32>(op, a, b),
        Ty::I64 => arithmetic::<i64>(op, a, b),
        Ty::U64 => arithmetic::<u64>(op, a, b),
        Ty::F32 => arithmetic::<f32>(op, a, b),
        Ty::F64 => arithmetic::<f64>(op, a, b),
        Ty::Bool | Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 | Ty::Ptr => None,
    }
}

/// `a << b` or `a >> b`, where `a` has the promoted type `left` and `b` has the type `right`;
/// `None` is ⊥.
///
/// The result has type `left`. Any other operator than a shift, and operands that C does not shift
/// (floats, pointers, a left operand narrower than `int`), give `None`.
#[inline(always)]
pub fn shift(op: BinaryOp, left: Ty, right: Ty, a: u64, b: u64) -> Option<u64> {
    let width = match left {
        Ty::I32 | Ty::U32 => 32,
        Ty::I64 | Ty::U64 => 64,
        _ => return None,
    };
    // A negative count is, in canonical form, a huge unsigned number.
    if !right.is_integer() || b >= width {
        return None;
    }
    let count = b as u32;
    match op {
        BinaryOp::Shl => {
            let shifted = left.canonical(a.wrapping_shl(count));
            if !left.is_signed_integer() {
                return Some(shifted);
            }
            // Representable exactly when nothing, the sign included, was shifted out.
            let back = (shifted as i64).wrapping_shr(count) as u64;
            ((a as i64) >= 0 && back == a).then_some(shifted)
        }
        // On canonical values a shift of all 64 bits is one of the low ones.
        BinaryOp::Shr if left.is_signed_integer() => Some((a as i64).wrapping_shr(count) as u64),
        BinaryOp::Shr => Some(a.wrapping_shr(count)),
        _ => None,
    }
}

/// `op a`, with `a` of the promoted type `ty`; `None` is ⊥.
///
/// [`UnaryOp::Not`] takes every type, gives an `int` and is always defined; the others have the
/// type `ty` as their result. What C does not have (`~` on floats, `-` and `~` on pointers or in a
/// type narrower than `int`) gives `None`.
#[inline(always)]
pub fn unary(op: UnaryOp, ty: Ty, a: u64) -> Option<u64> {
    #[inline(always)]
    fn apply<N: Native>(op: UnaryOp, a: u64) -> Option<u64> {
        let a = N::from_canonical(a);
        match op {
            UnaryOp::Neg => a.negate(),
            UnaryOp::Complement => a.complement(),
            UnaryOp::Not => None,
        }
        .map(N::to_canonical)
    }
    if let UnaryOp::Not = op {
        return Some(u64::from(!truth(ty, a)));
    }
    match ty {
        Ty::I32 => apply::<i32>(op, a),
        Ty::U32 => apply::<u32>(op, a),
        Ty::I64 => apply::<i64>(op, a),
        Ty::U64 => apply::<u64>(op, a),
        Ty::F32 => apply::<f32>(op, a),
        Ty::F64 => apply::<f64>(op, a),
        Ty::Bool | Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 | Ty::Ptr => None,
    }
}

/// Whether `a` compares unequal to zero, as a condition asks; a NaN does.
#[inline(always)]
pub fn truth(ty: Ty, a: u64) -> bool {
    match ty {
        Ty::F32 => f32::from_canonical(a) != 0.0,
        Ty::F64 => f64::from_canonical(a) != 0.0,
        _ => a != 0,
    }
}

/// The value `a` of type `from` converted to type `to`; `None` is ⊥.
///
/// Conversions to `Bool` ask for [`truth`]. Conversions between floats and pointers, which C does
/// not have, give `None`.
#[inline(always)]
pub fn convert(from: Ty, to: Ty, a: u64) -> Option<u64> {
    match (from, to) {
        (_, Ty::Bool) => Some(u64::from(truth(from, a))),
        (Ty::F32, Ty::F32) | (Ty::F64, Ty::F64) => Some(a),
        (Ty::F32, Ty::F64) => Some(f64::from(f32::from_canonical(a)).to_canonical()),
        (Ty::F64, Ty::F32) => Some((f64::from_canonical(a) as f32).to_canonical()),
        (Ty::F32 | Ty::F64, Ty::Ptr) | (Ty::Ptr, Ty::F32 | Ty::F64) => None,
        // Every binary32 value is a binary64 value, so one case serves both.
        (Ty::F32, _) => float_to_integer(f64::from(f32::from_canonical(a)), to),
        (Ty::F64, _) => float_to_integer(f64::from_canonical(a), to),
        // Not through binary64, which would round twice.
        (_, Ty::F32) if from.is_signed_integer() => Some((a as i64 as f32).to_canonical()),
        (_, Ty::F32) => Some((a as f32).to_canonical()),
        (_, Ty::F64) if from.is_signed_integer() => Some((a as i64 as f64).to_canonical()),
        (_, Ty::F64) => Some((a as f64).to_canonical()),
        // A canonical value is already extended as its own signedness asks.
        _ => Some(to.canonical(a)),
    }
}

/// `value` with its fraction dropped, or `None` if `to` cannot hold that (C17 6.3.1.4p1).
#[inline(always)]
fn float_to_integer(value: f64, to: Ty) -> Option<u64> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    // Bounds below are exclusive and exactly representable, but for -2^63 itself, which is a
    // value of `long` whose predecessor in binary64 is -2^63 - 2048. A NaN fails every test.
    let fits = match to {
        Ty::I8 => value > -129.0 && value < 128.0,
        Ty::U8 => value > -1.0 && value < 256.0,
        Ty::I16 => value > -32_769.0 && value < 32_768.0,
        Ty::U16 => value > -1.0 && value < 65_536.0,
        Ty::I32 => value > -2_147_483_649.0 && value < 2_147_483_648.0,
        Ty::U32 => value > -1.0 && value < 4_294_967_296.0,
        Ty::I64 => (-TWO_TO_63..TWO_TO_63).contains(&value),
        Ty::U64 => value > -1.0 && value < TWO_TO_64,
        Ty::Bool | Ty::F32 | Ty::F64 | Ty::Ptr => false,
    };
    if !fits {
        return None;
    }
    Some(if let Ty::U64 = to {
        value as u64
    } else {
        value as i64 as u64
    })
}

/// The value `a` of the integer type `ty` as an index to a pointer; `None` is ⊥.
///
/// ⊥ for an unsigned value that no object is large enough for (2^63 and more), and when `ty` is no
/// integer type.
#[inline(always)]
pub fn pointer_index(ty: Ty, a: u64) -> Option<i64> {
    match ty {
        Ty::U64 => i64::try_from(a).ok(),
        _ if ty.is_integer() => Some(a as i64),
        _ => None,
    }
}

/// The address of the element `index` places after the one of `size` bytes at address `a`; `None`
/// is ⊥.
///
/// ⊥ when the address would leave the address space, and when exactly one of the two addresses is
/// null; `index` 0 gives `a` back.
#[inline(always)]
pub fn pointer_add(a: u64, index: i64, size: u64) -> Option<u64> {
    let size = i64::try_from(size).ok()?;
    let offset = index.checked_mul(size)?;
    let address = a.checked_add_signed(offset)?;
    ((a == 0) == (address == 0)).then_some(address)
}

/// The address of the element `index` places before the one of `size` bytes at address `a`; `None`
/// is ⊥, under the conditions of [`pointer_add`].
#[inline(always)]
pub fn pointer_sub(a: u64, index: i64, size: u64) -> Option<u64> {
    pointer_add(a, index.checked_neg()?, size)
}

/// The index `a`, an `I64`, of one of `count` elements; `None` is ⊥: it is negative, or too large.
#[inline(always)]
pub fn within(a: u64, count: u64) -> Option<u64> {
    // Negative ones are huge ones without a sign.
    (a < count).then_some(a)
}

/// `a - b` in elements of `size` bytes, as an `I64`; `None` is ⊥.
///
/// ⊥ when `size` is 0, when the distance in bytes is no multiple of it (the pointers cannot be to
/// elements of one array), and when the distance exceeds the range of `long`.
#[inline(always)]
pub fn pointer_difference(a: u64, b: u64, size: u64) -> Option<u64> {
    let distance = a.wrapping_sub(b) as i64;
    // The signs disagree exactly when the true distance does not fit.
    if (a >= b) != (distance >= 0) {
        return None;
    }
    let size = i64::try_from(size).ok()?;
    (distance.checked_rem(size)? == 0).then_some((distance / size) as u64)
}
