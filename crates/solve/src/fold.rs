//! Computes operations on concrete bits, for the folding of constants and for evaluation.
//!
//! Bits of a vector stand in the low bits of a `u128`; those above its width are zero, in operands and in results.

use crate::sort::Float;

/// The bits below `width`.
pub(crate) fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

/// Returns the value as a signed number.
pub(crate) fn signed(width: u32, value: u128) -> i128 {
    let shift = 128 - width;
    ((value << shift) as i128) >> shift
}

/// The bits of a number with sign.
pub(crate) fn wrap(width: u32, value: i128) -> u128 {
    value as u128 & mask(width)
}

/// The least signed number of `width` bits, as bits.
pub(crate) fn least_signed(width: u32) -> u128 {
    1 << (width - 1)
}

/// Unsigned division. A division by 0 gives all ones, as in SMT-LIB.
pub(crate) fn udiv(width: u32, a: u128, b: u128) -> u128 {
    a.checked_div(b).unwrap_or(mask(width))
}

/// Unsigned remainder. Of a division by 0 it is the dividend, as in SMT-LIB.
pub(crate) fn urem(a: u128, b: u128) -> u128 {
    a.checked_rem(b).unwrap_or(a)
}

/// Signed division towards 0. A division by 0 gives 1 or −1, as in SMT-LIB.
pub(crate) fn sdiv(width: u32, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(width, a), signed(width, b));
    if y == 0 {
        return if x < 0 { 1 } else { mask(width) };
    }
    wrap(width, x.wrapping_div(y))
}

/// Signed remainder with the sign of the dividend. Of a division by 0 it is the dividend.
pub(crate) fn srem(width: u32, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(width, a), signed(width, b));
    if y == 0 {
        return a;
    }
    wrap(width, x.wrapping_rem(y))
}

/// Shift to the left; 0 if the count is the width or more.
pub(crate) fn shl(width: u32, a: u128, count: u128) -> u128 {
    if count >= u128::from(width) {
        0
    } else {
        (a << count) & mask(width)
    }
}

/// Shift to the right with zeros; 0 if the count is the width or more.
pub(crate) fn lshr(width: u32, a: u128, count: u128) -> u128 {
    if count >= u128::from(width) {
        0
    } else {
        a >> count
    }
}

/// Shift to the right with copies of the sign.
pub(crate) fn ashr(width: u32, a: u128, count: u128) -> u128 {
    let count = count.min(u128::from(width - 1)) as u32;
    wrap(width, signed(width, a) >> count)
}

/// Whether a signed product does not fit `width` bits.
pub(crate) fn mul_overflows_signed(width: u32, a: u128, b: u128) -> bool {
    match signed(width, a).checked_mul(signed(width, b)) {
        None => true,
        Some(product) => signed(width, wrap(width, product)) != product,
    }
}

/// Whether an unsigned product does not fit `width` bits.
pub(crate) fn mul_overflows_unsigned(width: u32, a: u128, b: u128) -> bool {
    a.checked_mul(b).is_none_or(|product| product > mask(width))
}

/// An operation on one or two floating-point numbers of one format.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FloatOp {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Quotient.
    Div,
}

fn bits32(value: f32) -> u128 {
    if value.is_nan() {
        Float::F32.canonical_nan()
    } else {
        u128::from(value.to_bits())
    }
}

fn bits64(value: f64) -> u128 {
    if value.is_nan() {
        Float::F64.canonical_nan()
    } else {
        u128::from(value.to_bits())
    }
}

/// The `float` of these bits.
pub(crate) fn float32(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

/// The `double` of these bits.
pub(crate) fn float64(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

/// Calculates with two floating-point numbers, given and returned as bits.
pub(crate) fn float_op(kind: Float, op: FloatOp, a: u128, b: u128) -> u128 {
    match kind {
        Float::F32 => {
            let (a, b) = (float32(a), float32(b));
            bits32(match op {
                FloatOp::Add => a + b,
                FloatOp::Mul => a * b,
                FloatOp::Div => a / b,
            })
        }
        Float::F64 => {
            let (a, b) = (float64(a), float64(b));
            bits64(match op {
                FloatOp::Add => a + b,
                FloatOp::Mul => a * b,
                FloatOp::Div => a / b,
            })
        }
    }
}

/// The square root of a floating-point number, given and returned as bits.
pub(crate) fn float_sqrt(kind: Float, a: u128) -> u128 {
    match kind {
        Float::F32 => bits32(float32(a).sqrt()),
        Float::F64 => bits64(float64(a).sqrt()),
    }
}

/// Converts a signed number of `width` bits to a floating-point number.
pub(crate) fn float_from_signed(kind: Float, width: u32, a: u128) -> u128 {
    match kind {
        Float::F32 => bits32(signed(width, a) as f32),
        Float::F64 => bits64(signed(width, a) as f64),
    }
}

/// Converts an unsigned number to a floating-point number.
pub(crate) fn float_from_unsigned(kind: Float, a: u128) -> u128 {
    match kind {
        // 2^128 rounds to nothing that the format lacks: the greatest binary32 is just below, and rounding up from
        // there is infinity, as it must be.
        Float::F32 => bits32(a as f32),
        Float::F64 => bits64(a as f64),
    }
}

/// The value without its fraction; what is out of range gives the nearest number, and NaN zero.
pub(crate) fn float_to_signed(kind: Float, a: u128, width: u32) -> u128 {
    let value = match kind {
        Float::F32 => float32(a) as i128,
        Float::F64 => float64(a) as i128,
    };
    let least = signed(width, least_signed(width));
    wrap(width, value.clamp(least, !least))
}

/// The value without its fraction; what is out of range gives the nearest number, and NaN zero.
pub(crate) fn float_to_unsigned(kind: Float, a: u128, width: u32) -> u128 {
    let value = match kind {
        Float::F32 => float32(a) as u128,
        Float::F64 => float64(a) as u128,
    };
    value.min(mask(width))
}

/// Converts between two formats of floating-point numbers.
pub(crate) fn float_convert(from: Float, to: Float, a: u128) -> u128 {
    match (from, to) {
        (Float::F32, Float::F32) => bits32(float32(a)),
        (Float::F64, Float::F64) => bits64(float64(a)),
        (Float::F32, Float::F64) => bits64(f64::from(float32(a))),
        (Float::F64, Float::F32) => bits32(float64(a) as f32),
    }
}
