//! Functions of `math.h` that compute a number from numbers.

use super::{
    calling::Native,
    math::{double, reported, single},
};

macro_rules! native {
    (one, $f:expr) => {
        |m, a| {
            let f: fn(f64) -> f64 = $f;
            let x = a.float(0)?;
            double(reported(m, &[x], f(x)))
        }
    };
    (onef, $f:expr) => {
        |m, a| {
            let f: fn(f32) -> f32 = $f;
            let x = a.float(0)? as f32;
            single(reported(m, &[f64::from(x)], f64::from(f(x))) as f32)
        }
    };
    (two, $f:expr) => {
        |m, a| {
            let f: fn(f64, f64) -> f64 = $f;
            let (x, y) = (a.float(0)?, a.float(1)?);
            double(reported(m, &[x, y], f(x, y)))
        }
    };
    (twof, $f:expr) => {
        |m, a| {
            let f: fn(f32, f32) -> f32 = $f;
            let (x, y) = (a.float(0)? as f32, a.float(1)? as f32);
            let given = [f64::from(x), f64::from(y)];
            single(reported(m, &given, f64::from(f(x, y))) as f32)
        }
    };
}

macro_rules! value {
    (one, $f:expr, $bits:expr) => {{
        let f: fn(f64) -> f64 = $f;
        let &[x] = $bits else { return None };
        u128::from(f(f64::from_bits(x as u64)).to_bits())
    }};
    (onef, $f:expr, $bits:expr) => {{
        let f: fn(f32) -> f32 = $f;
        let &[x] = $bits else { return None };
        u128::from(f(f32::from_bits(x as u32)).to_bits())
    }};
    (two, $f:expr, $bits:expr) => {{
        let f: fn(f64, f64) -> f64 = $f;
        let &[x, y] = $bits else { return None };
        u128::from(f(f64::from_bits(x as u64), f64::from_bits(y as u64)).to_bits())
    }};
    (twof, $f:expr, $bits:expr) => {{
        let f: fn(f32, f32) -> f32 = $f;
        let &[x, y] = $bits else { return None };
        u128::from(f(f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits())
    }};
}

macro_rules! functions {
    ($($($name:literal)|+ => $kind:ident($f:expr),)*) => {
        pub(crate) fn find(name: &str) -> Option<Native> {
            Some(match name {
                $($($name)|+ => native!($kind, $f),)*
                _ => return None,
            })
        }

        /// Returns the result of a floating-point function of `math.h`, as this machine computes
        /// it. Arguments and result are the bits of their types. It is `None` for other
        /// functions.
        pub fn real_value(function: &str, arguments: &[u128]) -> Option<u128> {
            Some(match function {
                $($($name)|+ => value!($kind, $f, arguments),)*
                _ => return None,
            })
        }
    };
}

functions! {
    "sqrt" => one(f64::sqrt),
    "sqrtf" => onef(f32::sqrt),
    "fabs" => one(f64::abs),
    "fabsf" => onef(f32::abs),
    "floor" => one(f64::floor),
    "floorf" => onef(f32::floor),
    "ceil" => one(f64::ceil),
    "ceilf" => onef(f32::ceil),
    "trunc" => one(f64::trunc),
    "truncf" => onef(f32::trunc),
    "round" => one(f64::round),
    "roundf" => onef(f32::round),
    "rint" | "nearbyint" => one(f64::round_ties_even),
    "rintf" | "nearbyintf" => onef(f32::round_ties_even),
    "sin" => one(f64::sin),
    "cos" => one(f64::cos),
    "tan" => one(f64::tan),
    "asin" => one(f64::asin),
    "acos" => one(f64::acos),
    "atan" => one(f64::atan),
    "sinh" => one(f64::sinh),
    "cosh" => one(f64::cosh),
    "tanh" => one(f64::tanh),
    "exp" => one(f64::exp),
    "exp2" => one(f64::exp2),
    "expm1" => one(f64::exp_m1),
    "log" => one(f64::ln),
    "log2" => one(f64::log2),
    "log10" => one(f64::log10),
    "log1p" => one(f64::ln_1p),
    "cbrt" => one(f64::cbrt),
    "sinf" => onef(f32::sin),
    "cosf" => onef(f32::cos),
    "tanf" => onef(f32::tan),
    "expf" => onef(f32::exp),
    "logf" => onef(f32::ln),
    "log10f" => onef(f32::log10),
    "pow" => two(f64::powf),
    "powf" => twof(f32::powf),
    "asinh" => one(f64::asinh),
    "acosh" => one(f64::acosh),
    "atanh" => one(f64::atanh),
    "asinf" => onef(f32::asin),
    "acosf" => onef(f32::acos),
    "atanf" => onef(f32::atan),
    "sinhf" => onef(f32::sinh),
    "coshf" => onef(f32::cosh),
    "tanhf" => onef(f32::tanh),
    "exp2f" => onef(f32::exp2),
    "log2f" => onef(f32::log2),
    "cbrtf" => onef(f32::cbrt),
    "atan2f" => twof(f32::atan2),
    "hypotf" => twof(f32::hypot),
    "fmaxf" => twof(f32::max),
    "fminf" => twof(f32::min),
    "copysignf" => twof(f32::copysign),
    "atan2" => two(f64::atan2),
    "fmod" => two(|x, y| x % y),
    "fmodf" => twof(|x, y| x % y),
    "hypot" => two(f64::hypot),
    "fmax" => two(f64::max),
    "fmin" => two(f64::min),
    "fdim" => two(|x, y| if x > y { x - y } else { 0.0 }),
    "copysign" => two(f64::copysign),
}
