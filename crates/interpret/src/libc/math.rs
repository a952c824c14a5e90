//! `math.h`: as the machine that runs the interpreter computes it.

use patchwright_clib::{Special, special};
use patchwright_ir::{
    Type,
    extended::{self as exact, Whole},
    wide,
};
use patchwright_semantics::BinaryOp;

use super::calling::{Arg, Args, Native, int};
use crate::{
    fault::{Run, Stop},
    machine::Machine,
};

/// Returns a `double` from a model.
pub(super) fn double(value: f64) -> Run<u128> {
    Ok(u128::from(value.to_bits()))
}

/// Returns a `float` from a model.
pub(super) fn single(value: f32) -> Run<u128> {
    Ok(u128::from(value.to_bits()))
}

/// Returns the model of a function of `math.h` that gives one number.
pub(super) fn find(name: &str) -> Option<Native> {
    if let Some(number) = special(name) {
        let kind = name.strip_prefix("__builtin_").unwrap_or(name);
        return Some(match (number, kind) {
            (Special::Infinity, "inff" | "huge_valf") => |_, _| single(f32::INFINITY),
            (Special::Infinity, "infl" | "huge_vall") => {
                |_, _| Ok(wide::parse_float(Type::F80, "inf").unwrap_or(0))
            }
            (Special::Infinity, _) => |_, _| double(f64::INFINITY),
            (Special::Nan, "nanf") => |_, _| single(f32::NAN),
            (Special::Nan, "nanl") => |_, _| Ok(wide::parse_float(Type::F80, "nan").unwrap_or(0)),
            (Special::Nan, _) => |_, _| double(f64::NAN),
        });
    }
    Some(match name {
        "frexp" => |m, a| {
            let (fraction, exponent) = split(a.float(0)?);
            let at = a.word(1)?;
            m.memory
                .store(patchwright_semantics::Ty::I32, at, exponent as u64)?;
            double(fraction)
        },
        "modf" => |m, a| {
            let x = a.float(0)?;
            let whole = x.trunc();
            let at = a.word(1)?;
            m.memory
                .store(patchwright_semantics::Ty::F64, at, whole.to_bits())?;
            let rest = if x.is_infinite() { 0.0 } else { x - whole };
            double(rest.copysign(x))
        },
        "sqrtl" => |m, a| {
            let root = exact::root(extended(a, 0)?);
            let given = a.float(0)?;
            if given < 0.0 {
                reported(m, &[given], f64::NAN);
            }
            Ok(root)
        },
        "floorl" => |_, a| Ok(exact::whole(extended(a, 0)?, Whole::Down)),
        "ceill" => |_, a| Ok(exact::whole(extended(a, 0)?, Whole::Up)),
        "truncl" => |_, a| Ok(exact::whole(extended(a, 0)?, Whole::ToZero)),
        "roundl" => |_, a| Ok(exact::whole(extended(a, 0)?, Whole::Nearest)),
        "rintl" | "nearbyintl" => |_, a| Ok(exact::whole(extended(a, 0)?, Whole::Even)),
        "fmodl" => |_, a| Ok(exact::remainder(extended(a, 0)?, extended(a, 1)?)),
        "copysignl" => |_, a| Ok(exact::with_sign_of(extended(a, 0)?, extended(a, 1)?)),
        "fmaxl" => |_, a| Ok(exact::extreme(extended(a, 0)?, extended(a, 1)?, true)),
        "fminl" => |_, a| Ok(exact::extreme(extended(a, 0)?, extended(a, 1)?, false)),
        "ldexpl" | "scalbnl" => |_, a| {
            Ok(exact::scaled(
                extended(a, 0)?,
                a.int(1)?.clamp(-40_000, 40_000) as i32,
            ))
        },
        "frexpl" => |m, a| {
            let (fraction, exponent) = exact::split(extended(a, 0)?);
            let exponent = i64::from(exponent) as u64;
            m.memory
                .store(patchwright_semantics::Ty::I32, a.word(1)?, exponent)?;
            Ok(fraction)
        },
        "modfl" => |m, a| {
            let x = extended(a, 0)?;
            let whole = exact::whole(x, Whole::ToZero);
            m.memory.store_wide(16, a.word(1)?, whole)?;
            let is_infinite = wide::binary(BinaryOp::Eq, Type::F80, x, whole) == Some(1);
            let rest = match is_infinite {
                true => 0,
                false => wide::binary(BinaryOp::Sub, Type::F80, x, whole).unwrap_or(0),
            };
            Ok(exact::with_sign_of(rest, x))
        },
        // One direction is modelled, the one that every program starts with.
        "fegetround" => |_, _| int(0),
        "fesetround" => |_, a| match a.int(0)? {
            0 => int(0),
            _ => Err(Stop::Unsupported(
                "rounding in another direction than to the nearest number".to_owned(),
            )),
        },
        "feclearexcept" => |_, _| int(0),
        "fetestexcept" | "feraiseexcept" | "fegetexceptflag" | "fesetexceptflag" => |_, _| {
            Err(Stop::Unsupported(
                "flags of floating-point exceptions".to_owned(),
            ))
        },
        "fabsl" => |_, a| Ok(extended(a, 0)? & !(1 << 79)),
        "isnan" | "__isnan" | "__isnanf" | "__isnanl" | "__builtin_isnan" => {
            |_, a| int(i64::from(a.float(0)?.is_nan()))
        }
        "isinf" | "__isinf" | "__isinff" | "__isinfl" => |_, a| {
            let x = wide_float(a)?;
            int(if x.is_infinite() {
                x.signum() as i64
            } else {
                0
            })
        },
        "__builtin_isinf" | "__builtin_isinf_sign" => |_, a| {
            let x = wide_float(a)?;
            int(if x.is_infinite() {
                x.signum() as i64
            } else {
                0
            })
        },
        "finite" | "__finite" | "__finitef" | "__finitel" | "__builtin_isfinite" => {
            |_, a| int(i64::from(wide_float(a)?.is_finite()))
        }
        "__builtin_isnormal" => |_, a| int(i64::from(a.float(0)?.is_normal())),
        "__signbit" | "__signbitf" | "__signbitl" | "__builtin_signbit" | "__builtin_signbitf"
        | "__builtin_signbitl" => |_, a| int(i64::from(a.float(0)?.is_sign_negative())),
        "__builtin_isless" => |_, a| int(i64::from(a.float(0)? < a.float(1)?)),
        "__builtin_isunordered" => {
            |_, a| int(i64::from(a.float(0)?.is_nan() || a.float(1)?.is_nan()))
        }
        "__builtin_fpclassify" => |_, a| {
            let x = wide_float(a)?;
            let arm = match x.classify() {
                std::num::FpCategory::Nan => 0,
                std::num::FpCategory::Infinite => 1,
                std::num::FpCategory::Normal => 2,
                std::num::FpCategory::Subnormal => 3,
                std::num::FpCategory::Zero => 4,
            };
            // The value is the last argument here and the first is its own name.
            int(a.int(arm)?)
        },
        _ => return None,
    })
}

/// Returns the result after setting `errno` as the C library does. A NaN from numbers is a domain error. An infinite result from finite
/// numbers is a range error.
pub(super) fn reported(m: &mut Machine<'_>, given: &[f64], result: f64) -> f64 {
    const EDOM: i32 = 33;
    const ERANGE: i32 = 34;
    if result.is_nan() && !given.iter().any(|x| x.is_nan()) {
        m.set_errno(EDOM);
    } else if result.is_infinite() && given.iter().all(|x| x.is_finite()) {
        m.set_errno(ERANGE);
    }
    result
}

/// The last argument, which classifications ask about; a `long double` that is finite stays so.
fn wide_float(a: &Args<'_>) -> Run<f64> {
    let last = a.0.len().saturating_sub(1);
    let Arg { ty, bits } = a.get(last)?;
    if ty == Type::F80 {
        let exponent = bits >> 64 & 0x7fff;
        let value = f64::from_bits(wide::convert(ty, Type::F64, bits).unwrap_or(0) as u64);
        if value.is_infinite() && exponent != 0x7fff {
            return Ok(f64::MAX.copysign(value));
        }
        return Ok(value);
    }
    a.float(last)
}

/// Returns an argument as the bits of a `long double`.
pub(super) fn extended(a: &Args<'_>, index: usize) -> Run<u128> {
    let arg = a.get(index)?;
    Ok(wide::convert(arg.ty, Type::F80, arg.bits).unwrap_or(0))
}

/// A fraction from 0.5 to 1, and the exponent of 2.
pub(super) fn split(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    if exponent == 0 {
        let (fraction, exponent) = split(x * 2f64.powi(64));
        return (fraction, exponent - 64);
    }
    let fraction = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (fraction, exponent - 1022)
}
