//! `math.h`: remainders, neighbours, exponents, and the functions of `float` that those of `double` compute exactly.

use patchwright_ir::{
    Type,
    extended::{self as exact, Whole},
    wide,
};
use patchwright_semantics::Ty;

use super::{
    calling::{Native, int},
    math::{double, extended, reported, scale, single, split},
};
use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
};

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "remainder" | "drem" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            double(reported(m, &[x, y], remainder(x, y)))
        },
        "remainderf" | "dremf" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            single(reported(m, &[x, y], remainder(x, y)) as f32)
        },
        "remquo" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            let (rest, quotient) = with_quotient(x, y);
            store_int(m, a.word(2)?, quotient)?;
            double(reported(m, &[x, y], rest))
        },
        "remquof" => |m, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            let (rest, quotient) = with_quotient(x, y);
            store_int(m, a.word(2)?, quotient)?;
            single(reported(m, &[x, y], rest) as f32)
        },
        "nextafter" | "nexttoward" => |_, a| {
            let (x, y) = (a.float(0)?, a.float(1)?);
            double(match x.partial_cmp(&y) {
                None => f64::NAN,
                Some(std::cmp::Ordering::Equal) => y,
                Some(std::cmp::Ordering::Less) => x.next_up(),
                Some(std::cmp::Ordering::Greater) => x.next_down(),
            })
        },
        "nextafterf" => |_, a| {
            let (x, y) = (a.float(0)? as f32, a.float(1)? as f32);
            single(match x.partial_cmp(&y) {
                None => f32::NAN,
                Some(std::cmp::Ordering::Equal) => y,
                Some(std::cmp::Ordering::Less) => x.next_up(),
                Some(std::cmp::Ordering::Greater) => x.next_down(),
            })
        },
        "logb" => |m, a| {
            let x = a.float(0)?;
            double(reported(m, &[x], exponent(x)))
        },
        "logbf" => |m, a| {
            let x = a.float(0)?;
            single(reported(m, &[x], exponent(x)) as f32)
        },
        "ilogbf" => |_, a| int(split(a.float(0)?).1 - 1),
        // Exact in `double`, and rounded once.
        "ldexpf" | "scalbnf" | "scalblnf" => |_, a| single(scale(a.float(0)?, a.int(1)?) as f32),
        "frexpf" => |m, a| {
            let (fraction, exponent) = split(a.float(0)?);
            store_int(m, a.word(1)?, exponent)?;
            single(fraction as f32)
        },
        "modff" => |m, a| {
            let x = a.float(0)? as f32;
            let whole = x.trunc();
            m.memory
                .store(Ty::F32, a.word(1)?, u64::from(whole.to_bits()))?;
            let rest = if x.is_infinite() { 0.0 } else { x - whole };
            single(rest.copysign(x))
        },
        "fmaf" => |_, a| {
            let (x, y, z) = (a.float(0)? as f32, a.float(1)? as f32, a.float(2)? as f32);
            single(x.mul_add(y, z))
        },
        "fdimf" => |_, a| {
            let (x, y) = (a.float(0)? as f32, a.float(1)? as f32);
            single(match (x.is_nan() || y.is_nan(), x > y) {
                (true, _) => f32::NAN,
                (_, true) => x - y,
                _ => 0.0,
            })
        },
        "expm1f" => |_, a| single((a.float(0)? as f32).exp_m1()),
        "log1pf" => |_, a| single((a.float(0)? as f32).ln_1p()),
        "sincos" => |m, a| {
            let x = a.float(0)?;
            m.memory.store(Ty::F64, a.word(1)?, x.sin().to_bits())?;
            m.memory.store(Ty::F64, a.word(2)?, x.cos().to_bits())?;
            int(0)
        },
        "lrintf" | "llrintf" => |_, a| int(a.float(0)?.round_ties_even() as i64),
        "lrintl" | "llrintl" => |_, a| long(exact::whole(extended(a, 0)?, Whole::Even)),
        "lroundl" | "llroundl" => |_, a| long(exact::whole(extended(a, 0)?, Whole::Nearest)),
        "__builtin_isgreater" => |_, a| int(i64::from(a.float(0)? > a.float(1)?)),
        "__builtin_isgreaterequal" => |_, a| int(i64::from(a.float(0)? >= a.float(1)?)),
        "__builtin_islessequal" => |_, a| int(i64::from(a.float(0)? <= a.float(1)?)),
        "__builtin_islessgreater" => |_, a| {
            int(i64::from(
                a.float(0)? < a.float(1)? || a.float(0)? > a.float(1)?,
            ))
        },
        _ => return None,
    })
}

fn store_int(m: &mut Machine<'_>, at: u64, value: i64) -> Run<()> {
    m.memory.store(Ty::I32, at, value as u64)
}

/// A `long double` without a fraction as a `long`.
fn long(bits: u128) -> Run<u128> {
    match wide::convert(Type::F80, Type::I64, bits) {
        Some(value) => Ok(value),
        None => undefined(Undefined::BadConversion, "a number that is no `long`"),
    }
}

fn exponent(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        x if x.is_infinite() => f64::INFINITY,
        x if x.is_nan() => x,
        x => (split(x).1 - 1) as f64,
    }
}

/// `x - n * y` for the whole `n` that is nearest to `x / y`, the even one of two.
fn remainder(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f64::NAN;
    }
    let y = y.abs();
    let mut rest = x.abs();
    if y <= f64::MAX / 2.0 {
        rest %= y + y;
    }
    rest = nearest(rest, y).0;
    if x.is_sign_negative() { -rest } else { rest }
}

/// The remainder, and the quotient with its sign, of which at least the last three bits are right.
fn with_quotient(x: f64, y: f64) -> (f64, i64) {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (f64::NAN, 0);
    }
    let negative = x.is_sign_negative() != y.is_sign_negative();
    let by = y.abs();
    let mut rest = x.abs();
    if by <= f64::MAX / 8.0 {
        rest %= 8.0 * by;
    }
    let mut quotient = 0;
    for times in [4, 2] {
        let multiple = times as f64 * by;
        if multiple.is_finite() && rest >= multiple {
            rest -= multiple;
            quotient += times;
        }
    }
    let (nearest, more) = nearest(rest, by);
    quotient += more;
    let signed = match x.is_sign_negative() {
        true => -nearest,
        false => nearest,
    };
    (signed, if negative { -quotient } else { quotient })
}

/// Takes `y` away at most twice from what is less than twice as much, so that what is left is at most its half.
fn nearest(mut rest: f64, y: f64) -> (f64, i64) {
    let more = |rest: f64, or_equal: bool| {
        let (twice, half) = (rest + rest, 0.5 * y);
        match (y < 2.0 * f64::MIN_POSITIVE, or_equal) {
            (true, false) => twice > y,
            (true, true) => twice >= y,
            (false, false) => rest > half,
            (false, true) => rest >= half,
        }
    };
    let mut taken = 0;
    if more(rest, false) {
        rest -= y;
        taken += 1;
        if more(rest, true) {
            rest -= y;
            taken += 1;
        }
    }
    (rest, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_nearest_to_zero_and_of_even_quotients() {
        for (x, y, rest, quotient) in [
            (7.0, 4.0, -1.0, 2),
            (5.0, 2.0, 1.0, 2),
            (7.0, 2.0, -1.0, 4),
            (-7.0, 4.0, 1.0, -2),
            (31.0, 4.0, -1.0, 8),
        ] {
            assert_eq!(remainder(x, y), rest);
            assert_eq!(with_quotient(x, y), (rest, quotient));
        }
        assert!(remainder(1.0, 0.0).is_nan());
    }
}
