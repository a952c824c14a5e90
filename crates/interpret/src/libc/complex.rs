//! Multiplication and division of complex numbers, as the library of gcc 12 computes them: the functions that compilers call for
//! `*` and `/`.

use super::calling::{Args, Native};
use crate::fault::Run;

/// Returns the model of a function on complex numbers.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "__muldc3" => |_, a| {
            let [a, b, c, d] = given(a)?;
            let (x, y) = multiplied(a, b, c, d);
            Ok(u128::from(x.to_bits()) | u128::from(y.to_bits()) << 64)
        },
        "__divdc3" => |_, a| {
            let [a, b, c, d] = given(a)?;
            let (x, y) = divided(a, b, c, d);
            Ok(u128::from(x.to_bits()) | u128::from(y.to_bits()) << 64)
        },
        "__mulsc3" => |_, a| {
            let [a, b, c, d] = given(a)?.map(|x| x as f32);
            let rounded = |x: f32| f64::from(x);
            let (x, y) = (a * c - b * d, a * d + b * c);
            let (x, y) = match x.is_nan() && y.is_nan() {
                true => recovered(rounded(a), rounded(b), rounded(c), rounded(d), |x, y| {
                    f64::from(x as f32 * y as f32)
                })
                .unwrap_or((rounded(x), rounded(y))),
                false => (rounded(x), rounded(y)),
            };
            Ok(single(x, y))
        },
        "__divsc3" => |_, a| {
            // In a wider type.
            let [a, b, c, d] = given(a)?;
            let by = c * c + d * d;
            let (x, y) = ((a * c + b * d) / by, (b * c - a * d) / by);
            let (x, y) = (f64::from(x as f32), f64::from(y as f32));
            let (x, y) = without_nan((x, y), a, b, c, d);
            Ok(single(x, y))
        },
        _ => return None,
    })
}

fn given(a: &Args<'_>) -> Run<[f64; 4]> {
    Ok([a.float(0)?, a.float(1)?, a.float(2)?, a.float(3)?])
}

fn single(x: f64, y: f64) -> u128 {
    u128::from((x as f32).to_bits()) | u128::from((y as f32).to_bits()) << 32
}

/// 1 with the sign of an infinite number, 0 with that of others.
fn boxed(x: f64) -> f64 {
    f64::copysign(f64::from(u8::from(x.is_infinite())), x)
}

fn zero_if_nan(x: f64) -> f64 {
    match x.is_nan() {
        true => f64::copysign(0.0, x),
        false => x,
    }
}

fn multiplied(a: f64, b: f64, c: f64, d: f64) -> (f64, f64) {
    let (x, y) = (a * c - b * d, a * d + b * c);
    match x.is_nan() && y.is_nan() {
        true => recovered(a, b, c, d, |x, y| x * y).unwrap_or((x, y)),
        false => (x, y),
    }
}

/// Infinities that a product of parts has lost.
fn recovered(
    mut a: f64,
    mut b: f64,
    mut c: f64,
    mut d: f64,
    product: impl Fn(f64, f64) -> f64,
) -> Option<(f64, f64)> {
    let mut again = false;
    if a.is_infinite() || b.is_infinite() {
        (a, b) = (boxed(a), boxed(b));
        (c, d) = (zero_if_nan(c), zero_if_nan(d));
        again = true;
    }
    if c.is_infinite() || d.is_infinite() {
        (c, d) = (boxed(c), boxed(d));
        (a, b) = (zero_if_nan(a), zero_if_nan(b));
        again = true;
    }
    let products = [product(a, c), product(b, d), product(a, d), product(b, c)];
    if !again && products.iter().any(|product| product.is_infinite()) {
        (a, b) = (zero_if_nan(a), zero_if_nan(b));
        (c, d) = (zero_if_nan(c), zero_if_nan(d));
        again = true;
    }
    let infinity = f64::INFINITY;
    let product = (infinity * (a * c - b * d), infinity * (a * d + b * c));
    again.then_some(product)
}

/// M. Baudin and R. L. Smith, "A robust complex division in Scilab", 2012.
fn divided(mut a: f64, mut b: f64, mut c: f64, mut d: f64) -> (f64, f64) {
    const BIG: f64 = f64::MAX / 2.0;
    const LEAST: f64 = f64::MIN_POSITIVE;
    const SMALL: f64 = f64::EPSILON;
    const SCALE: f64 = 1.0 / f64::EPSILON;
    const LARGE: f64 = BIG * SMALL;
    let imaginary = c.abs() < d.abs();
    let by = if imaginary { d } else { c };
    let below = |x: f64, limit: f64| x.abs() < limit;
    let factor = if by.abs() >= BIG {
        0.5
    } else if below(by, SMALL)
        || (below(by, LARGE)
            && ((below(a, SMALL) && below(b, LARGE)) || (below(b, SMALL) && below(a, LARGE))))
    {
        SCALE
    } else {
        1.0
    };
    for value in [&mut a, &mut b, &mut c, &mut d] {
        *value *= factor;
    }
    let (x, y) = if imaginary {
        let ratio = c / d;
        let by = (c * ratio) + d;
        match ratio.abs() > LEAST {
            true => (((a * ratio) + b) / by, ((b * ratio) - a) / by),
            false => (((c * (a / d)) + b) / by, ((c * (b / d)) - a) / by),
        }
    } else {
        let ratio = d / c;
        let by = (d * ratio) + c;
        match ratio.abs() > LEAST {
            true => (((b * ratio) + a) / by, (b - (a * ratio)) / by),
            false => (((d * (b / c)) + a) / by, (b - (d * (a / c))) / by),
        }
    };
    without_nan((x, y), a, b, c, d)
}

/// A quotient whose parts are both no numbers, where the operands tell what it is.
fn without_nan((x, y): (f64, f64), a: f64, b: f64, c: f64, d: f64) -> (f64, f64) {
    if !(x.is_nan() && y.is_nan()) {
        return (x, y);
    }
    let infinity = f64::INFINITY;
    if c == 0.0 && d == 0.0 && (!a.is_nan() || !b.is_nan()) {
        let infinity = f64::copysign(infinity, c);
        (infinity * a, infinity * b)
    } else if (a.is_infinite() || b.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (boxed(a), boxed(b));
        (infinity * (a * c + b * d), infinity * (b * c - a * d))
    } else if (c.is_infinite() || d.is_infinite()) && a.is_finite() && b.is_finite() {
        let (c, d) = (boxed(c), boxed(d));
        (0.0 * (a * c + b * d), 0.0 * (b * c - a * d))
    } else {
        (x, y)
    }
}
