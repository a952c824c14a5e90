//! The functions of `math.h` that are exact on `long double`, the 80-bit format of the x87. Values are
//! its bits.

use rustc_apfloat::{Float, Round, Status, ieee};

type Extended = ieee::X87DoubleExtended;

/// The bit in front of the point, which this format writes down.
const LEADING: u128 = 1 << 63;
const FRACTION: u128 = (1 << 64) - 1;
const BIAS: i32 = 16383;
/// The least number that has a leading bit.
const LEAST_NORMAL: u128 = 1 << 64 | LEADING;
/// The quadruple less than that by half of the distance to the next number, if exponents had no limit.
const ROUNDED_TO_LEAST_NORMAL: u128 = (1 << 112) - (1 << 47);

/// The direction in which a number is rounded to a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// `floorl`
    Down,
    /// `ceill`
    Up,
    /// `truncl`
    ToZero,
    /// `roundl`: halves away from zero.
    Nearest,
    /// `rintl`: halves to even numbers.
    Even,
}

/// Returns `a` rounded to a whole number.
pub fn whole(a: u128, how: Whole) -> u128 {
    let round = match how {
        Whole::Down => Round::TowardNegative,
        Whole::Up => Round::TowardPositive,
        Whole::ToZero => Round::TowardZero,
        Whole::Nearest => Round::NearestTiesToAway,
        Whole::Even => Round::NearestTiesToEven,
    };
    Extended::from_bits(a)
        .round_to_integral(round)
        .value
        .to_bits()
}

/// Returns the remainder of `a / b`, with the sign of `a` (`fmodl`).
pub fn remainder(a: u128, b: u128) -> u128 {
    let (a, b) = (Extended::from_bits(a), Extended::from_bits(b));
    a.c_fmod(b).value.to_bits()
}

/// Returns `a` with the sign of `b` (`copysignl`).
pub fn with_sign_of(a: u128, b: u128) -> u128 {
    a & !(1 << 79) | b & 1 << 79
}

/// Returns the greater operand (`fmaxl`) or the smaller one (`fminl`). If one operand is not a number,
/// the result is the other one.
pub fn extreme(a: u128, b: u128, greatest: bool) -> u128 {
    let (x, y) = (Extended::from_bits(a), Extended::from_bits(b));
    let first = match greatest {
        _ if x.is_nan() => false,
        _ if y.is_nan() => true,
        true => x >= y,
        false => x <= y,
    };
    if first { a } else { b }
}

/// Returns `a` times 2 to the power of `by` (`ldexpl`).
pub fn scaled(a: u128, by: i32) -> u128 {
    Extended::from_bits(a).scalbn(by).to_bits()
}

/// Returns a fraction from 0.5 to below 1 and the exponent of 2 (`frexpl`).
pub fn split(a: u128) -> (u128, i32) {
    let value = Extended::from_bits(a);
    if value.is_zero() || !value.is_finite() {
        return (a, 0);
    }
    let mut exponent = 0;
    let fraction = value.frexp(&mut exponent);
    (fraction.to_bits(), exponent)
}

/// Returns the square root, rounded to nearest (`sqrtl`).
pub fn root(a: u128) -> u128 {
    let value = Extended::from_bits(a);
    if value.is_zero() || value.is_nan() || (value.is_infinite() && !value.is_negative()) {
        return a;
    }
    if value.is_negative() {
        // What the processor gives where there is no result.
        return 0xffff << 64 | 0b11 << 62;
    }
    let mut fraction = a & FRACTION;
    let mut exponent = (a >> 64 & 0x7fff) as i32;
    // Those without a leading bit have the exponent of the least that have one.
    exponent = exponent.max(1) - BIAS - 63;
    while fraction & LEADING == 0 {
        fraction <<= 1;
        exponent -= 1;
    }
    let shift = if exponent % 2 == 0 { 64 } else { 63 };
    let square = fraction << shift;
    let mut root = square.isqrt();
    // Half a unit more has no root that is a whole number, so there are no ties.
    if square - root * root > root {
        root += 1;
    }
    let mut exponent = (exponent - shift) / 2 + 63;
    if root > FRACTION {
        root >>= 1;
        exponent += 1;
    }
    ((exponent + BIAS) as u128) << 64 | root
}

/// Reads a number, decimal or with `0x`, from a text without a sign, as `strtold` does. Returns the number rounded to nearest,
/// and whether it is in the range of the type. A number that is too large is not, nor one so small that digits are lost.
pub fn read(text: &str) -> Option<(u128, bool)> {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let has_exponent = text.contains(['p', 'P']);
    let with_exponent = match is_hexadecimal && !has_exponent {
        true => Some(format!("{text}p0")),
        false => None,
    };
    let text = with_exponent.as_deref().unwrap_or(text);
    let read = Extended::from_str_r(text, Round::NearestTiesToEven).ok()?;
    let bits = read.value.to_bits();
    let mut out_of_range = read.status.intersects(Status::OVERFLOW | Status::UNDERFLOW);
    if bits == LEAST_NORMAL && read.status.contains(Status::INEXACT) {
        // It is too small if it would also be rounded to something less with exponents without limits. The wider type has
        // as large ones.
        let below = ieee::Quad::from_str_r(text, Round::TowardZero).ok()?;
        out_of_range |= below.value.to_bits() < ROUNDED_TO_LEAST_NORMAL;
    }
    Some((bits, !out_of_range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{types::Type, wide};

    fn of(text: &str) -> u128 {
        wide::parse_float(Type::F80, text).expect("a number")
    }

    #[test]
    fn roots_are_the_nearest_numbers() {
        for (square, expected) in [
            ("4", "2"),
            ("2.25", "1.5"),
            ("0", "0"),
            ("1e4000", "1e2000"),
        ] {
            assert_eq!(root(of(square)), of(expected), "{square}");
        }
        // 64 bits of the root of 2, as the x87 computes it.
        assert_eq!(root(of("2")), 0x3fff << 64 | 0xb504_f333_f9de_6484);
        // The least number of all is 2 to the power of -16445.
        assert_eq!(
            split(root(1)),
            (of("0.70710678118654752438189403651591646"), -8222)
        );
        assert!(Extended::from_bits(root(of("-1"))).is_nan());
    }

    #[test]
    fn whole_numbers_are_found_in_all_directions() {
        let all = [
            Whole::Down,
            Whole::Up,
            Whole::ToZero,
            Whole::Nearest,
            Whole::Even,
        ];
        let expected = [
            ("2.5", ["2", "3", "2", "3", "2"]),
            ("-1.5", ["-2", "-1", "-1", "-2", "-2"]),
        ];
        for (text, results) in expected {
            for (how, result) in all.into_iter().zip(results) {
                assert_eq!(whole(of(text), how), of(result), "{how:?} {text}");
            }
        }
        assert_eq!(remainder(of("7.5"), of("-2")), of("1.5"));
        assert_eq!(scaled(of("0.75"), 3), of("6"));
        assert_eq!(split(of("6")), (of("0.75"), 3));
        assert_eq!(extreme(of("nan"), of("3"), true), of("3"));
        assert_eq!(with_sign_of(of("3"), of("-0")), of("-3"));
    }
    #[test]
    fn texts_are_read_with_the_range_of_the_type() {
        for (text, expected, is_in_range) in [
            ("0x1.8p3", "12", true),
            ("0x.8", "0.5", true),
            ("1e-4940", "1e-4940", false),
            ("0x1p-16445", "3.6e-4951", true),
            ("1e5000", "inf", false),
            ("1e-99999", "0", false),
            ("0e99999", "0", true),
            ("0x0.ffffffffffffffffp-16382", "0x1p-16382", false),
            ("0x0.ffffffffffffffff8p-16382", "0x1p-16382", true),
        ] {
            assert_eq!(read(text), Some((of(expected), is_in_range)), "{text}");
        }
    }
}
