//! Circuits whose inputs are constants fold to their results, so they can be tried on all inputs.

use super::float::Format;
use super::gates::{Gates, Lit, Word};
use super::words::number;
use crate::fold;

fn value(word: &[Lit]) -> u128 {
    word.iter().enumerate().fold(0, |so_far, (at, &lit)| {
        assert!(lit.is_constant(), "constants give constants");
        so_far | u128::from(lit == Lit::TRUE) << at
    })
}

fn is(lit: Lit) -> bool {
    value(&[lit]) == 1
}

#[test]
fn circuits_of_integers_are_right_for_all_operands_of_small_widths() {
    let mut g = Gates::new();
    for width in 1..=6u32 {
        let size = width as usize;
        let mask = fold::mask(width);
        for x in 0..=mask {
            for y in 0..=mask {
                let (a, b) = (number(width, x), number(width, y));
                let s = |value| fold::signed(width, value);
                assert_eq!(value(&g.add(&a, &b)), x.wrapping_add(y) & mask);
                assert_eq!(value(&g.sub(&a, &b)), x.wrapping_sub(y) & mask);
                assert_eq!(is(g.less(&a, &b)), x < y);
                assert_eq!(is(g.less_signed(&a, &b)), s(x) < s(y));
                assert_eq!(is(g.equal(&a, &b)), x == y);
                assert_eq!(value(&g.product(&a, &b, size)), (x * y) & mask);
                let wide = value(&g.product(&a, &b, 2 * size));
                assert_eq!(fold::signed(2 * width, wide), s(x) * s(y));
                assert_eq!(
                    is(g.product_overflows_signed(&a, &b)),
                    fold::mul_overflows_signed(width, x, y),
                    "{x} {y} {width}"
                );
                assert_eq!(
                    is(g.product_overflows_unsigned(&a, &b)),
                    fold::mul_overflows_unsigned(width, x, y)
                );
                let (quotient, rest) = g.divided(&a, &b);
                assert_eq!(value(&quotient), fold::udiv(width, x, y), "{x} {y} {width}");
                assert_eq!(value(&rest), fold::urem(x, y));
                let (quotient, rest) = g.divided_signed(&a, &b);
                assert_eq!(value(&quotient), fold::sdiv(width, x, y));
                assert_eq!(value(&rest), fold::srem(width, x, y));
                assert_eq!(value(&g.shifted_left(&a, &b)), fold::shl(width, x, y));
                let right = g.shifted_right(&a, &b, Lit::FALSE);
                assert_eq!(value(&right), fold::lshr(width, x, y));
                let right = g.shifted_right(&a, &b, a[size - 1]);
                assert_eq!(value(&right), fold::ashr(width, x, y));
            }
            if width % 2 == 0 {
                let (root, inexact) = g.square_root(&number(width, x));
                assert_eq!(value(&root), x.isqrt());
                assert_eq!(is(inexact), x.isqrt().pow(2) != x);
            }
        }
    }
}

/// What an operation gives.
type Expected = Box<dyn Fn(u128, u128) -> u128>;

/// With the operands as free bits the circuits are others than with constants; then the bits are set.
#[test]
fn circuits_of_free_bits_are_right_for_all_operands_of_small_widths() {
    for width in [1, 2, 3, 4, 5, 8u32] {
        let size = width as usize;
        let mask = fold::mask(width);
        let mut g = Gates::new();
        let (a, b) = (g.inputs(width), g.inputs(width));
        let mut outputs: Vec<(Word, Expected)> = vec![
            (
                g.add(&a, &b),
                Box::new(move |x, y| x.wrapping_add(y) & mask),
            ),
            (
                g.sub(&a, &b),
                Box::new(move |x, y| x.wrapping_sub(y) & mask),
            ),
            (vec![g.less(&a, &b)], Box::new(|x, y| u128::from(x < y))),
            (
                vec![g.less_signed(&a, &b)],
                Box::new(move |x, y| u128::from(fold::signed(width, x) < fold::signed(width, y))),
            ),
            (vec![g.equal(&a, &b)], Box::new(|x, y| u128::from(x == y))),
            (
                g.product(&a, &b, size),
                Box::new(move |x, y| (x * y) & mask),
            ),
            (
                g.product(&a, &b, 2 * size),
                Box::new(move |x, y| {
                    let product = fold::signed(width, x) * fold::signed(width, y);
                    fold::wrap(2 * width, product)
                }),
            ),
            (
                vec![g.product_overflows_signed(&a, &b)],
                Box::new(move |x, y| u128::from(fold::mul_overflows_signed(width, x, y))),
            ),
            (
                vec![g.product_overflows_unsigned(&a, &b)],
                Box::new(move |x, y| u128::from(fold::mul_overflows_unsigned(width, x, y))),
            ),
            (
                g.shifted_left(&a, &b),
                Box::new(move |x, y| fold::shl(width, x, y)),
            ),
            (
                g.shifted_right(&a, &b, a[size - 1]),
                Box::new(move |x, y| fold::ashr(width, x, y)),
            ),
        ];
        let (quotient, rest) = g.divided(&a, &b);
        outputs.push((quotient, Box::new(move |x, y| fold::udiv(width, x, y))));
        outputs.push((rest, Box::new(fold::urem)));
        let (quotient, rest) = g.divided_signed(&a, &b);
        outputs.push((quotient, Box::new(move |x, y| fold::sdiv(width, x, y))));
        outputs.push((rest, Box::new(move |x, y| fold::srem(width, x, y))));
        // One operand a constant, the other free.
        // All constants of small widths, some of the greater one.
        for k in (0..=mask).step_by(if width == 8 { 7 } else { 1 }) {
            let c = number(width, k);
            outputs.push((
                g.product(&a, &c, size),
                Box::new(move |x, _| (x * k) & mask),
            ));
            outputs.push((
                g.product(&c, &a, 2 * size),
                Box::new(move |x, _| {
                    let product = fold::signed(width, x) * fold::signed(width, k);
                    fold::wrap(2 * width, product)
                }),
            ));
            let (quotient, rest) = g.divided(&a, &c);
            outputs.push((quotient, Box::new(move |x, _| fold::udiv(width, x, k))));
            outputs.push((rest, Box::new(move |x, _| fold::urem(x, k))));
            let (quotient, rest) = g.divided(&c, &a);
            outputs.push((quotient, Box::new(move |x, _| fold::udiv(width, k, x))));
            outputs.push((rest, Box::new(move |x, _| fold::urem(k, x))));
        }
        // Pairs of operands, 64 at once.
        let pairs: Vec<(u128, u128)> = (0..=mask)
            .flat_map(|x| (0..=mask).map(move |y| (x, y)))
            .collect();
        for pairs in pairs.chunks(64) {
            let inputs: Vec<u64> = (0..2 * width)
                .map(|at| {
                    let bit = |&(x, y): &(u128, u128)| {
                        let shifted = if at < width {
                            x >> at
                        } else {
                            y >> (at - width)
                        };
                        shifted as u64 & 1
                    };
                    let lanes = pairs.iter().enumerate();
                    lanes.fold(0, |so_far, (lane, pair)| so_far | bit(pair) << lane)
                })
                .collect();
            let values = g.simulated(&inputs);
            for law in &g.laws {
                let holds = law.iter().fold(0, |so_far, lit| {
                    let value = values[lit.gate()];
                    so_far | if lit.is_negated() { !value } else { value }
                });
                assert_eq!(holds, u64::MAX, "a law of {width} bits does not hold");
            }
            for (place, (word, expected)) in outputs.iter().enumerate() {
                for (lane, &(x, y)) in pairs.iter().enumerate() {
                    let found = word.iter().enumerate().fold(0u128, |so_far, (at, lit)| {
                        let bit = values[lit.gate()] >> lane & 1 ^ u64::from(lit.is_negated());
                        so_far | u128::from(bit) << at
                    });
                    assert_eq!(found, expected(x, y), "{place}: {x} {y} {width}");
                }
            }
        }
    }
}

/// All values of a small format, each as a number of Rust, which holds it exactly.
struct Small {
    format: Format,
    values: Vec<(u128, f64)>,
}

impl Small {
    fn new(exponent: u32, fraction: u32) -> Self {
        let format = Format { exponent, fraction };
        let bias = (1i32 << (exponent - 1)) - 1;
        let mut values = Vec::new();
        for bits in 0..1u128 << format.width() {
            let field = (bits >> fraction) as i32 & ((1 << exponent) - 1);
            let part = (bits & ((1 << fraction) - 1)) as f64 / f64::from(1 << fraction);
            let sign = if bits >> (exponent + fraction) & 1 == 1 {
                -1.0
            } else {
                1.0
            };
            let magnitude = if field == (1 << exponent) - 1 {
                if part == 0.0 { f64::INFINITY } else { f64::NAN }
            } else if field == 0 {
                part * 2f64.powi(1 - bias)
            } else {
                (1.0 + part) * 2f64.powi(field - bias)
            };
            values.push((bits, sign * magnitude));
        }
        Small { format, values }
    }

    /// The encoding nearest to a number, which may be between encodings.
    fn nearest(&self, number: f64) -> u128 {
        let Format { exponent, fraction } = self.format;
        let sign = u128::from(number.is_sign_negative()) << (exponent + fraction);
        let infinity = ((1u128 << exponent) - 1) << fraction;
        if number.is_nan() {
            return infinity | 1 << (fraction - 1);
        }
        let size = number.abs();
        // Magnitudes rise with their encodings. The first that is not less:
        let above = (0..infinity)
            .find(|&bits| self.values[bits as usize].1 >= size)
            .unwrap_or(infinity);
        if above == 0 || self.values[above as usize].1 == size {
            return sign | above;
        }
        let below = above - 1;
        let low = self.values[below as usize].1;
        let high = if above == infinity {
            // Rounding does not know the end of the exponents.
            low + (low - self.values[below as usize - 1].1)
        } else {
            self.values[above as usize].1
        };
        let middle = low + (high - low) / 2.0;
        let up = size > middle || size == middle && below % 2 == 1;
        sign | if up { above } else { below }
    }
}

#[test]
fn circuits_of_floats_are_right_for_all_operands_of_small_formats() {
    for (exponent, fraction) in [(3, 2), (2, 3), (3, 3), (4, 2)] {
        let small = Small::new(exponent, fraction);
        let format = small.format;
        let width = format.width() as u32;
        let mut g = Gates::new();
        for &(x, a) in &small.values {
            let word = number(width, x);
            let root = value(&g.float_root(format, &word));
            assert_eq!(root, small.nearest(a.sqrt()), "√{a}");
            for &(y, b) in &small.values {
                let other = number(width, y);
                let sum = value(&g.float_sum(format, &word, &other));
                assert_eq!(sum, small.nearest(a + b), "{a} + {b}");
                let product = value(&g.float_product(format, &word, &other));
                assert_eq!(product, small.nearest(a * b), "{a} * {b}");
                let quotient = value(&g.float_quotient(format, &word, &other));
                assert_eq!(quotient, small.nearest(a / b), "{a} / {b}");
            }
            for bits in 1..=10u32 {
                let most = (1i128 << (bits - 1)) - 1;
                let expected = (a as i128).clamp(-most - 1, most) as u128 & fold::mask(bits);
                let integer = g.integer_of_float(format, &word, bits as usize, true);
                assert_eq!(value(&integer), expected, "{a} to {bits} bits");
                let expected = (a as u128).min(fold::mask(bits));
                let integer = g.integer_of_float(format, &word, bits as usize, false);
                assert_eq!(value(&integer), expected, "{a} to {bits} bits without sign");
            }
            for (e, f) in [(3, 2), (4, 3), (2, 4)] {
                let target = Small::new(e, f);
                let converted = g.float_converted(format, target.format, &word);
                assert_eq!(value(&converted), target.nearest(a), "{a} to {e} {f}");
            }
        }
        for bits in 1..=9u32 {
            for x in 0..1u128 << bits {
                let word = number(bits, x);
                let number = fold::signed(bits, x) as f64;
                let found = value(&g.float_of_integer(format, &word, true));
                assert_eq!(found, small.nearest(number), "{number}");
                let found = value(&g.float_of_integer(format, &word, false));
                assert_eq!(found, small.nearest(x as f64), "{x}");
            }
        }
    }
}
