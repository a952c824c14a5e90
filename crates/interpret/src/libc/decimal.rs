//! Exact decimal digits of binary floats, and their rounding.

use patchwright_ir::{Type, wide};

/// The value of a float: NaN, infinite, or mantissa and exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Float {
    Nan,
    Infinite,
    /// `mantissa · 2^exponent`
    Finite {
        mantissa: u64,
        exponent: i32,
    },
}

/// Sign and value of a float of any type.
pub(super) fn parts(ty: Type, bits: u128) -> (bool, Float) {
    let bits = wide::convert(ty, Type::F80, bits).unwrap_or(0);
    let negative = bits >> 79 & 1 == 1;
    let exponent = (bits >> 64 & 0x7fff) as i32;
    let mantissa = bits as u64;
    let value = match exponent {
        0x7fff if mantissa << 1 == 0 => Float::Infinite,
        0x7fff => Float::Nan,
        _ => Float::Finite {
            mantissa,
            exponent: exponent.max(1) - 16383 - 63,
        },
    };
    (negative, value)
}

/// Returns the decimal digits of a value without leading zeros, and the number of digits before the point. The number is negative when
/// zeros follow the point.
pub(super) fn digits(mantissa: u64, exponent: i32) -> (Vec<u8>, i32) {
    if mantissa == 0 {
        return (Vec::new(), 0);
    }
    // Limbs of nine decimal digits, the lowest first. A fraction is multiplied by ten as often
    // as it has binary places: then it is whole.
    let mut limbs: Vec<u32> = Vec::new();
    let mut rest = mantissa;
    while rest > 0 {
        limbs.push((rest % 1_000_000_000) as u32);
        rest /= 1_000_000_000;
    }
    let multiply = |limbs: &mut Vec<u32>, by: u32| {
        let mut carry = 0u64;
        for limb in limbs.iter_mut() {
            let value = u64::from(*limb) * u64::from(by) + carry;
            *limb = (value % 1_000_000_000) as u32;
            carry = value / 1_000_000_000;
        }
        while carry > 0 {
            limbs.push((carry % 1_000_000_000) as u32);
            carry /= 1_000_000_000;
        }
    };
    let mut places = 0;
    if exponent >= 0 {
        let mut left = exponent;
        while left > 0 {
            let step = left.min(29);
            multiply(&mut limbs, 1 << step);
            left -= step;
        }
    } else {
        // x / 2^n = x · 5^n / 10^n
        places = -exponent;
        let mut left = places;
        while left > 0 {
            let step = left.min(12);
            multiply(&mut limbs, 5u32.pow(step as u32));
            left -= step;
        }
    }
    let mut text = String::new();
    for (index, limb) in limbs.iter().rev().enumerate() {
        match index {
            0 => text.push_str(&limb.to_string()),
            _ => text.push_str(&format!("{limb:09}")),
        }
    }
    let digits: Vec<u8> = text.bytes().map(|b| b - b'0').collect();
    let point = digits.len() as i32 - places;
    (digits, point)
}

/// Digits rounded to `keep` of them (to even), and how many stand before the point then.
pub(super) fn round(mut digits: Vec<u8>, mut point: i32, keep: i64) -> (Vec<u8>, i32) {
    if keep < 0 {
        return (Vec::new(), point);
    }
    let keep = keep as usize;
    if digits.len() <= keep {
        return (digits, point);
    }
    let rest = &digits[keep..];
    let half = rest[0] == 5 && rest[1..].iter().all(|&d| d == 0);
    let odd = keep > 0 && digits[keep - 1] % 2 == 1;
    let up = rest[0] > 5 || (rest[0] == 5 && (!half || odd));
    digits.truncate(keep);
    if up {
        let mut at = keep;
        loop {
            if at == 0 {
                digits.insert(0, 1);
                point += 1;
                break;
            }
            at -= 1;
            if digits[at] < 9 {
                digits[at] += 1;
                break;
            }
            digits[at] = 0;
        }
    }
    (digits, point)
}

/// `%f`: with `precision` digits after the point.
pub(super) fn fixed(mantissa: u64, exponent: i32, precision: usize, point_always: bool) -> String {
    let (all, point) = digits(mantissa, exponent);
    let (all, point) = round(all, point, i64::from(point) + precision as i64);
    let digit = |position: i64| -> char {
        let index = usize::try_from(position).ok();
        let value = index.and_then(|index| all.get(index)).copied().unwrap_or(0);
        char::from(b'0' + value)
    };
    let mut out = String::new();
    if point <= 0 {
        out.push('0');
    }
    for position in 0..i64::from(point) {
        out.push(digit(position));
    }
    if precision > 0 || point_always {
        out.push('.');
    }
    for place in 0..precision as i64 {
        out.push(digit(i64::from(point) + place));
    }
    out
}

/// Digits of `%e` and the exponent of ten: one digit before the point, `precision` after it.
pub(super) fn scientific(mantissa: u64, exponent: i32, precision: usize) -> (Vec<u8>, i32) {
    if mantissa == 0 {
        return (vec![0; precision + 1], 0);
    }
    let (all, point) = digits(mantissa, exponent);
    let (mut all, point) = round(all, point, precision as i64 + 1);
    all.resize(precision + 1, 0);
    (all, point - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, precision: usize) -> String {
        match parts(Type::F64, u128::from(value.to_bits())) {
            (_, Float::Finite { mantissa, exponent }) => {
                fixed(mantissa, exponent, precision, false)
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn digits_are_exact_and_rounded_to_even() {
        assert_eq!(of(0.5, 0), "0");
        assert_eq!(of(1.5, 0), "2");
        assert_eq!(of(2.5, 0), "2");
        assert_eq!(of(0.1, 20), "0.10000000000000000555");
        assert_eq!(of(999.999, 2), "1000.00");
        assert_eq!(of(0.0004, 3), "0.000");
        assert_eq!(of(0.0005, 3), "0.001");
        assert_eq!(of(1e22, 1), "10000000000000000000000.0");
    }
}
