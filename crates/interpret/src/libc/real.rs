//! Functions of `math.h` that compute a number from numbers, and set `errno`: those of this machine's C library are called.
//!
//! They are called by the names that say how wide a number is. Rust brings functions of its own for some of the usual names
//! (`cbrt`, `fmin`), which give other results.

use patchwright_ir::{Type, wide};

use super::calling::{Arg, Args, Native};
use crate::{fault::Run, machine::Machine};

/// A type that functions of `math.h` take or give.
trait Number: Copy {
    /// The value of an argument, converted as a call does it.
    fn of(argument: Arg) -> Self;
    fn of_bits(bits: u128) -> Self;
    fn bits(self) -> u128;
}

impl Number for f64 {
    fn of(argument: Arg) -> f64 {
        f64::of_bits(wide::convert(argument.ty, Type::F64, argument.bits).unwrap_or(0))
    }

    fn of_bits(bits: u128) -> f64 {
        f64::from_bits(bits as u64)
    }

    fn bits(self) -> u128 {
        u128::from(self.to_bits())
    }
}

impl Number for f32 {
    fn of(argument: Arg) -> f32 {
        f32::of_bits(wide::convert(argument.ty, Type::F32, argument.bits).unwrap_or(0))
    }

    fn of_bits(bits: u128) -> f32 {
        f32::from_bits(bits as u32)
    }

    fn bits(self) -> u128 {
        u128::from(self.to_bits())
    }
}

impl Number for i64 {
    fn of(argument: Arg) -> i64 {
        i64::of_bits(wide::convert(argument.ty, Type::I64, argument.bits).unwrap_or(argument.bits))
    }

    fn of_bits(bits: u128) -> i64 {
        bits as u64 as i64
    }

    fn bits(self) -> u128 {
        u128::from(self as u64)
    }
}

impl Number for i32 {
    fn of(argument: Arg) -> i32 {
        i64::of(argument) as i32
    }

    fn of_bits(bits: u128) -> i32 {
        bits as u32 as i32
    }

    fn bits(self) -> u128 {
        i64::from(self).bits()
    }
}

/// What `call` gives. If it sets the host's `errno`, so does the program that is executed.
fn with_errno<N>(m: &mut Machine<'_>, call: impl FnOnce() -> N) -> N {
    let (value, errno) = noticing_errno(call);
    if errno != 0 {
        m.set_errno(errno);
    }
    value
}

/// Calls a C function, and returns its result and the `errno` that it has set, or 0.
pub(super) fn noticing_errno<N>(call: impl FnOnce() -> N) -> (N, i32) {
    let errno = __errno_location();
    // SAFETY: it is the `errno` of this thread, which lives as long as the thread.
    unsafe { errno.write(0) };
    let value = call();
    // SAFETY: as above.
    (value, unsafe { errno.read() })
}

unsafe extern "C" {
    safe fn __errno_location() -> *mut i32;
}

/// The argument `at`, which is counted up.
fn next<N: Number>(a: &Args<'_>, at: &mut usize) -> Run<N> {
    let argument = a.get(*at)?;
    *at += 1;
    Ok(N::of(argument))
}

macro_rules! functions {
    ($($($name:literal)|+ => $f:ident($($x:ident: $number:ty),+) -> $result:ty;)*) => {
        #[link(name = "m")]
        unsafe extern "C" {
            $(safe fn $f($($x: $number),+) -> $result;)*
        }

        /// Returns the model of a function that computes a number from numbers.
        pub(crate) fn find(name: &str) -> Option<Native> {
            Some(match name {
                $($($name)|+ => |m, a| {
                    let mut at = 0;
                    $(let $x: $number = next(a, &mut at)?;)+
                    Ok(with_errno(m, || $f($($x),+)).bits())
                },)*
                _ => return None,
            })
        }

        /// Returns the result of a floating-point function of `math.h`, as this machine computes
        /// it. Arguments and result are the bits of their types. It is `None` for other
        /// functions.
        pub fn real_value(function: &str, arguments: &[u128]) -> Option<u128> {
            Some(match function {
                $($($name)|+ => {
                    let &[$($x),+] = arguments else { return None };
                    let value = $f($(<$number>::of_bits($x)),+);
                    value.bits() & (u128::MAX >> (128 - 8 * size_of::<$result>()))
                })*
                _ => return None,
            })
        }
    };
}

functions! {
    "sqrt" => sqrtf64(x: f64) -> f64;
    "sqrtf" => sqrtf32(x: f32) -> f32;
    "fabs" => fabsf64(x: f64) -> f64;
    "fabsf" => fabsf32(x: f32) -> f32;
    "floor" => floorf64(x: f64) -> f64;
    "floorf" => floorf32(x: f32) -> f32;
    "ceil" => ceilf64(x: f64) -> f64;
    "ceilf" => ceilf32(x: f32) -> f32;
    "trunc" => truncf64(x: f64) -> f64;
    "truncf" => truncf32(x: f32) -> f32;
    "round" => roundf64(x: f64) -> f64;
    "roundf" => roundf32(x: f32) -> f32;
    "rint" => rintf64(x: f64) -> f64;
    "rintf" => rintf32(x: f32) -> f32;
    "nearbyint" => nearbyintf64(x: f64) -> f64;
    "nearbyintf" => nearbyintf32(x: f32) -> f32;
    "sin" => sinf64(x: f64) -> f64;
    "sinf" => sinf32(x: f32) -> f32;
    "cos" => cosf64(x: f64) -> f64;
    "cosf" => cosf32(x: f32) -> f32;
    "tan" => tanf64(x: f64) -> f64;
    "tanf" => tanf32(x: f32) -> f32;
    "asin" => asinf64(x: f64) -> f64;
    "asinf" => asinf32(x: f32) -> f32;
    "acos" => acosf64(x: f64) -> f64;
    "acosf" => acosf32(x: f32) -> f32;
    "atan" => atanf64(x: f64) -> f64;
    "atanf" => atanf32(x: f32) -> f32;
    "sinh" => sinhf64(x: f64) -> f64;
    "sinhf" => sinhf32(x: f32) -> f32;
    "cosh" => coshf64(x: f64) -> f64;
    "coshf" => coshf32(x: f32) -> f32;
    "tanh" => tanhf64(x: f64) -> f64;
    "tanhf" => tanhf32(x: f32) -> f32;
    "asinh" => asinhf64(x: f64) -> f64;
    "asinhf" => asinhf32(x: f32) -> f32;
    "acosh" => acoshf64(x: f64) -> f64;
    "acoshf" => acoshf32(x: f32) -> f32;
    "atanh" => atanhf64(x: f64) -> f64;
    "atanhf" => atanhf32(x: f32) -> f32;
    "exp" => expf64(x: f64) -> f64;
    "expf" => expf32(x: f32) -> f32;
    "exp2" => exp2f64(x: f64) -> f64;
    "exp2f" => exp2f32(x: f32) -> f32;
    "exp10" => exp10f64(x: f64) -> f64;
    "exp10f" => exp10f32(x: f32) -> f32;
    "expm1" => expm1f64(x: f64) -> f64;
    "expm1f" => expm1f32(x: f32) -> f32;
    "log" => logf64(x: f64) -> f64;
    "logf" => logf32(x: f32) -> f32;
    "log2" => log2f64(x: f64) -> f64;
    "log2f" => log2f32(x: f32) -> f32;
    "log10" => log10f64(x: f64) -> f64;
    "log10f" => log10f32(x: f32) -> f32;
    "log1p" => log1pf64(x: f64) -> f64;
    "log1pf" => log1pf32(x: f32) -> f32;
    "logb" => logbf64(x: f64) -> f64;
    "logbf" => logbf32(x: f32) -> f32;
    "cbrt" => cbrtf64(x: f64) -> f64;
    "cbrtf" => cbrtf32(x: f32) -> f32;
    "tgamma" => tgammaf64(x: f64) -> f64;
    "tgammaf" => tgammaf32(x: f32) -> f32;
    "pow" => powf64(x: f64, y: f64) -> f64;
    "powf" => powf32(x: f32, y: f32) -> f32;
    "atan2" => atan2f64(x: f64, y: f64) -> f64;
    "atan2f" => atan2f32(x: f32, y: f32) -> f32;
    "hypot" => hypotf64(x: f64, y: f64) -> f64;
    "hypotf" => hypotf32(x: f32, y: f32) -> f32;
    "fmod" => fmodf64(x: f64, y: f64) -> f64;
    "fmodf" => fmodf32(x: f32, y: f32) -> f32;
    "fmax" => fmaxf64(x: f64, y: f64) -> f64;
    "fmaxf" => fmaxf32(x: f32, y: f32) -> f32;
    "fmin" => fminf64(x: f64, y: f64) -> f64;
    "fminf" => fminf32(x: f32, y: f32) -> f32;
    "fdim" => fdimf64(x: f64, y: f64) -> f64;
    "fdimf" => fdimf32(x: f32, y: f32) -> f32;
    "copysign" => copysignf64(x: f64, y: f64) -> f64;
    "copysignf" => copysignf32(x: f32, y: f32) -> f32;
    "remainder" | "drem" => remainderf64(x: f64, y: f64) -> f64;
    "remainderf" | "dremf" => remainderf32(x: f32, y: f32) -> f32;
    "nextafter" => nextafterf64(x: f64, y: f64) -> f64;
    "nextafterf" => nextafterf32(x: f32, y: f32) -> f32;
    "fma" => fmaf64(x: f64, y: f64, z: f64) -> f64;
    "fmaf" => fmaf32(x: f32, y: f32, z: f32) -> f32;
    "ldexp" | "scalbn" => ldexpf64(x: f64, by: i32) -> f64;
    "ldexpf" | "scalbnf" => ldexpf32(x: f32, by: i32) -> f32;
    "scalbln" => scalblnf64(x: f64, by: i64) -> f64;
    "scalblnf" => scalblnf32(x: f32, by: i64) -> f32;
    "lround" | "llround" => lroundf64(x: f64) -> i64;
    "lroundf" | "llroundf" => lroundf32(x: f32) -> i64;
    "lrint" | "llrint" => lrintf64(x: f64) -> i64;
    "lrintf" | "llrintf" => lrintf32(x: f32) -> i64;
    "ilogb" => ilogbf64(x: f64) -> i32;
    "ilogbf" => ilogbf32(x: f32) -> i32;
}

/// `remquo`: the remainder, and the quotient with its sign, of which at least the last three bits are right.
pub(super) fn with_quotient(m: &mut Machine<'_>, x: f64, y: f64) -> (f64, i32) {
    let mut quotient = 0;
    // SAFETY: the pointer is to a number that lives during the call.
    let rest = with_errno(m, || unsafe { remquof64(x, y, &mut quotient) });
    (rest, quotient)
}

/// `remquof`, as [`with_quotient`] is `remquo`.
pub(super) fn with_quotient_single(m: &mut Machine<'_>, x: f32, y: f32) -> (f32, i32) {
    let mut quotient = 0;
    // SAFETY: the pointer is to a number that lives during the call.
    let rest = with_errno(m, || unsafe { remquof32(x, y, &mut quotient) });
    (rest, quotient)
}

#[link(name = "m")]
unsafe extern "C" {
    fn remquof64(x: f64, y: f64, quotient: *mut i32) -> f64;
    fn remquof32(x: f32, y: f32, quotient: *mut i32) -> f32;
}
