//! The operators on all types of the IR: crate `semantics` for the types that it knows, and the
//! same rules for integers of 128 bits and for the x87's `long double`.
//!
//! Values are `u128`s: the canonical form of crate `semantics` in the low half, the bits of a wide
//! integer, or the 80 bits of a `long double`. `None` is undefined behaviour.

use std::cmp::Ordering;

use patchwright_semantics::{self as semantics, BinaryOp, Ty, UnaryOp};
use rustc_apfloat::{Float, FloatConvert, Round, ieee};

use crate::types::Type;

type Extended = ieee::X87DoubleExtended;

fn extended(bits: u128) -> Extended {
    Extended::from_bits(bits)
}

/// Returns `a op b`, both of type `ty`. A shift takes its count in the same type.
pub fn binary(op: BinaryOp, ty: Type, a: u128, b: u128) -> Option<u128> {
    if let Some(scalar) = ty.scalar() {
        return semantics::binary(op, scalar, a as u64, b as u64).map(u128::from);
    }
    if op.is_shift() {
        return shift(op, ty, ty, a, b);
    }
    match ty {
        Type::F80 => float(op, a, b),
        Type::U128 => unsigned(op, a, b),
        Type::I128 => signed(op, a as i128, b as i128),
        _ => None,
    }
}

fn holds(op: BinaryOp, order: Option<Ordering>) -> bool {
    match op {
        BinaryOp::Lt => order == Some(Ordering::Less),
        BinaryOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        BinaryOp::Gt => order == Some(Ordering::Greater),
        BinaryOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        BinaryOp::Eq => order == Some(Ordering::Equal),
        _ => order != Some(Ordering::Equal),
    }
}

fn float(op: BinaryOp, a: u128, b: u128) -> Option<u128> {
    let (x, y) = (extended(a), extended(b));
    if op.is_comparison() {
        return Some(u128::from(holds(op, x.partial_cmp(&y))));
    }
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        _ => return None,
    };
    Some(result.value.to_bits())
}

fn unsigned(op: BinaryOp, a: u128, b: u128) -> Option<u128> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ => u128::from(holds(op, Some(a.cmp(&b)))),
    })
}

fn signed(op: BinaryOp, a: i128, b: i128) -> Option<u128> {
    Some(match op {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Sub => a.checked_sub(b)?,
        BinaryOp::Mul => a.checked_mul(b)?,
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ => return Some(u128::from(holds(op, Some(a.cmp(&b))))),
    } as u128)
}

/// Returns `a << b` or `a >> b`, with `a` of type `left` and `b` of type `right`.
pub fn shift(op: BinaryOp, left: Type, right: Type, a: u128, b: u128) -> Option<u128> {
    // A negative count is huge in the form of its type.
    let count = if right.is_signed() && right.scalar().is_some() {
        i128::from(b as u64 as i64) as u128
    } else {
        b
    };
    if let Some(scalar) = left.scalar() {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        return semantics::shift(op, scalar, Ty::U64, a as u64, count).map(u128::from);
    }
    if count >= 128 || !left.is_integer() {
        return None;
    }
    let count = count as u32;
    Some(match (op, left) {
        (BinaryOp::Shl, Type::U128) => a << count,
        (BinaryOp::Shl, _) => {
            let value = a as i128;
            let shifted = value.wrapping_shl(count);
            if value < 0 || shifted.wrapping_shr(count) != value {
                return None;
            }
            shifted as u128
        }
        (_, Type::U128) => a >> count,
        _ => ((a as i128) >> count) as u128,
    })
}

/// Returns the unsigned type of the same size, in which `op` on the signed type `ty` can be computed with
/// wrapping. It is `None` if `op` on `ty` cannot overflow. Values convert between both types without
/// loss.
pub fn wraps_in(op: BinaryOp, ty: Type) -> Option<Type> {
    let may_overflow = matches!(
        op,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl
    );
    let unsigned = match ty {
        Type::I32 => Type::U32,
        Type::I64 => Type::U64,
        Type::I128 => Type::U128,
        _ => return None,
    };
    may_overflow.then_some(unsigned)
}

/// Returns `op a` in type `ty`.
pub fn unary(op: UnaryOp, ty: Type, a: u128) -> Option<u128> {
    if let Some(scalar) = ty.scalar() {
        return semantics::unary(op, scalar, a as u64).map(u128::from);
    }
    Some(match (op, ty) {
        (UnaryOp::Not, _) => u128::from(!truth(ty, a)),
        (UnaryOp::Neg, Type::F80) => a ^ (1 << 79),
        (UnaryOp::Neg, Type::U128) => a.wrapping_neg(),
        (UnaryOp::Neg, Type::I128) => (a as i128).checked_neg()? as u128,
        (UnaryOp::Complement, Type::U128 | Type::I128) => !a,
        _ => return None,
    })
}

/// Whether a value compares unequal to zero.
pub fn truth(ty: Type, a: u128) -> bool {
    match (ty.scalar(), ty) {
        (Some(scalar), _) => semantics::truth(scalar, a as u64),
        (None, Type::F80) => !extended(a).is_zero(),
        _ => a != 0,
    }
}

/// Returns `a`, of type `from`, converted to type `to`.
pub fn convert(from: Type, to: Type, a: u128) -> Option<u128> {
    if let (Some(from), Some(to)) = (from.scalar(), to.scalar()) {
        return semantics::convert(from, to, a as u64).map(u128::from);
    }
    if to == Type::Bool {
        return Some(u128::from(truth(from, a)));
    }
    let mut exact = true;
    match (from, to) {
        _ if from == to => Some(a),
        (Type::F80, Type::F64) => {
            let value: ieee::Double = extended(a).convert(&mut exact).value;
            Some(value.to_bits())
        }
        (Type::F80, Type::F32) => {
            let value: ieee::Single = extended(a).convert(&mut exact).value;
            Some(value.to_bits())
        }
        (Type::F64, Type::F80) => {
            let value: Extended = ieee::Double::from_bits(a).convert(&mut exact).value;
            Some(value.to_bits())
        }
        (Type::F32, Type::F80) => {
            let value: Extended = ieee::Single::from_bits(a).convert(&mut exact).value;
            Some(value.to_bits())
        }
        (_, Type::Ptr) | (Type::Ptr, _) if from.is_float() || to.is_float() => None,
        (_, Type::F80) => Some(match mathematical(from, a) {
            Integer::Signed(value) => Extended::from_i128(value).value.to_bits(),
            Integer::Unsigned(value) => Extended::from_u128(value).value.to_bits(),
        }),
        (Type::F80, _) => float_to_integer(extended(a), to),
        (_, Type::F64) => Some(match mathematical(from, a) {
            Integer::Signed(value) => u128::from((value as f64).to_bits()),
            Integer::Unsigned(value) => u128::from((value as f64).to_bits()),
        }),
        (_, Type::F32) => Some(match mathematical(from, a) {
            Integer::Signed(value) => u128::from((value as f32).to_bits()),
            Integer::Unsigned(value) => u128::from((value as f32).to_bits()),
        }),
        (Type::F32 | Type::F64, _) => {
            let wider = convert(from, Type::F80, a)?;
            float_to_integer(extended(wider), to)
        }
        _ => {
            let bits = match mathematical(from, a) {
                Integer::Signed(value) => value as u128,
                Integer::Unsigned(value) => value,
            };
            Some(match to.scalar() {
                Some(scalar) => u128::from(scalar.canonical(bits as u64)),
                None => bits,
            })
        }
    }
}

enum Integer {
    Signed(i128),
    Unsigned(u128),
}

/// The value of an integer or pointer.
fn mathematical(ty: Type, a: u128) -> Integer {
    match ty {
        Type::I128 => Integer::Signed(a as i128),
        Type::U128 => Integer::Unsigned(a),
        _ if ty.is_signed() => Integer::Signed(i128::from(a as u64 as i64)),
        _ => Integer::Unsigned(a),
    }
}

fn float_to_integer(value: Extended, to: Type) -> Option<u128> {
    let width = (to.size() * 8) as usize;
    let mut exact = true;
    if !value.is_finite() {
        return None;
    }
    let signed = to.is_signed();
    let (result, invalid) = if signed {
        let converted = value.to_i128_r(width, Round::TowardZero, &mut exact);
        (
            converted.value as u128,
            converted.status.contains(rustc_apfloat::Status::INVALID_OP),
        )
    } else {
        let converted = value.to_u128_r(width, Round::TowardZero, &mut exact);
        (
            converted.value,
            converted.status.contains(rustc_apfloat::Status::INVALID_OP),
        )
    };
    if invalid {
        return None;
    }
    Some(match to.scalar() {
        Some(scalar) => u128::from(scalar.canonical(result as u64)),
        None => result,
    })
}

/// Returns the value of type `ty` that a decimal text means, `inf` and `nan` included, or `None`.
pub fn parse_float(ty: Type, text: &str) -> Option<u128> {
    match ty {
        Type::F32 => Some(u128::from(text.parse::<f32>().ok()?.to_bits())),
        Type::F64 => Some(u128::from(text.parse::<f64>().ok()?.to_bits())),
        Type::F80 => Some(match text.parse::<f64>() {
            Ok(value) if !value.is_finite() && !text.contains(|c: char| c.is_ascii_digit()) => {
                convert(Type::F64, Type::F80, u128::from(value.to_bits()))?
            }
            _ => text.parse::<Extended>().ok()?.to_bits(),
        }),
        _ => None,
    }
}

/// Returns `bits` in the canonical form of `ty`: bits above its size are dropped or extended.
pub fn canonical(ty: Type, bits: u128) -> u128 {
    match ty.scalar() {
        Some(scalar) => u128::from(scalar.canonical(bits as u64)),
        None if ty == Type::F80 => bits & ((1 << 80) - 1),
        None => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_double_has_64_bits_of_precision() {
        let one = convert(Type::I32, Type::F80, 1).unwrap();
        let tiny = parse_float(Type::F80, "1e-19").unwrap();
        let sum = binary(BinaryOp::Add, Type::F80, one, tiny).unwrap();
        assert_ne!(sum, one);
        assert_eq!(
            convert(Type::F80, Type::F64, sum),
            Some(u128::from(1f64.to_bits()))
        );
        assert_eq!(convert(Type::F80, Type::I32, sum), Some(1));
    }

    #[test]
    fn wide_integers_overflow_as_c_has_it() {
        let most = i128::MAX as u128;
        assert_eq!(binary(BinaryOp::Add, Type::I128, most, 1), None);
        assert_eq!(binary(BinaryOp::Add, Type::U128, u128::MAX, 1), Some(0));
        assert_eq!(
            convert(Type::I32, Type::I128, u128::from(-1i64 as u64)),
            Some(u128::MAX)
        );
        assert_eq!(
            shift(BinaryOp::Shl, Type::U128, Type::I32, 1, 127),
            Some(1 << 127)
        );
        assert_eq!(shift(BinaryOp::Shl, Type::U128, Type::I32, 1, 128), None);
    }
}
