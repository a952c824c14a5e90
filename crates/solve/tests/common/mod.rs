//! Random terms, each beside the values that it must have under some assignments, computed here with Rust's numbers.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code)] // each test uses a part of this

use patchwright_solve::{Assignment, Float, Sort, Term, Terms};

/// A small generator of random numbers, the same in each run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Bits as they are in programs: small ones, extremes, single bits, anything.
    pub fn bits(&mut self, width: u32) -> u128 {
        let any = (u128::from(self.next()) << 64) | u128::from(self.next());
        let value = match self.below(8) {
            0 => u128::from(self.next() % 4),
            1 => (self.next() % 4).wrapping_neg() as i64 as i128 as u128,
            2 => 1 << self.below(width as usize),
            3 => (1u128 << (width - 1)).wrapping_sub(u128::from(self.next() % 3)),
            4 => u128::from(self.next() % 100),
            _ => any,
        };
        value & mask(width)
    }

    /// Floating-point numbers, the strange ones often.
    pub fn float(&mut self, kind: Float) -> u128 {
        let fraction = kind.fraction_bits();
        let exponents = mask(kind.exponent_bits());
        let any = self.bits(kind.width());
        let sign = u128::from(self.next() & 1) << (kind.width() - 1);
        match self.below(10) {
            0 => sign,
            1 => sign | (exponents << fraction),
            2 => sign | (exponents << fraction) | (any & mask(fraction)) | 1,
            3 => sign | (any & mask(fraction)),
            4 => sign | (1 << fraction) | (any & mask(fraction) & 3),
            5 | 6 => {
                // Near one, where sums cancel and round.
                let exponent = (exponents >> 1) - 3 + u128::from(self.next() % 6);
                sign | (exponent << fraction) | (any & mask(fraction))
            }
            7 => match kind {
                Float::F32 => u128::from(((self.next() % 2000) as f32 - 1000.0).to_bits()),
                Float::F64 => u128::from(((self.next() % 2000) as f64 - 1000.0).to_bits()),
            },
            8 => sign | ((exponents - 1) << fraction) | mask(fraction) & !(any & 3),
            _ => any,
        }
    }
}

pub fn mask(width: u32) -> u128 {
    if width == 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

pub fn signed(width: u32, value: u128) -> i128 {
    // Two's complement: the highest bit counts negative.
    let low = value & (mask(width) >> 1);
    if low == value {
        value as i128
    } else {
        low as i128
            + if width == 128 {
                i128::MIN
            } else {
                -(1i128 << (width - 1))
            }
    }
}

/// A random pool of terms with their values under `assignments`.
pub struct Pool {
    pub terms: Terms,
    pub random: Random,
    pub variables: Vec<Term>,
    pub assignments: Vec<Assignment>,
    pub made: Vec<(Term, Vec<u128>)>,
    pub widths: Vec<u32>,
    pub floats: bool,
    pub hard: bool,
}

impl Pool {
    pub fn new(seed: u64, widths: &[u32], count: usize) -> Self {
        let mut pool = Pool {
            terms: Terms::new(),
            random: Random::new(seed),
            variables: Vec::new(),
            assignments: vec![Assignment::new(); count],
            made: Vec::new(),
            widths: widths.to_vec(),
            floats: false,
            hard: true,
        };
        for i in 0..2 {
            pool.variable(&format!("p{i}"), Sort::Bool);
            for &width in widths {
                pool.variable(&format!("x{i}_{width}"), Sort::Bits(width));
            }
        }
        pool
    }

    /// With floating-point numbers of both formats.
    pub fn of_floats(seed: u64, count: usize) -> Self {
        let mut pool = Pool::new(seed, &[8, 32, 64, 128], 0);
        pool.floats = true;
        pool.assignments = vec![Assignment::new(); count];
        pool.made.clear();
        for variable in std::mem::take(&mut pool.variables) {
            let name = pool.terms.name(variable).unwrap().to_owned();
            pool.variable(&name, pool.terms.sort(variable));
        }
        pool
    }

    /// All values of the variables, of which there are two truth values and two numbers of this width.
    pub fn all_values(&mut self, width: u32) {
        let count = 4 << (2 * width);
        self.assignments = vec![Assignment::new(); count];
        for (place, (term, values)) in self.made.iter_mut().enumerate() {
            *values = (0..count)
                .map(|at| {
                    let at = at as u128;
                    match place {
                        0 => at & 1,
                        2 => at >> 1 & 1,
                        1 => at >> 2 & mask(width),
                        _ => at >> (2 + width),
                    }
                })
                .collect();
            for (assignment, &value) in self.assignments.iter_mut().zip(values.iter()) {
                assignment.set_bits(&self.terms, *term, value);
            }
        }
    }

    pub fn variable(&mut self, name: &str, sort: Sort) {
        let term = self.terms.variable(name, sort);
        let mut values = Vec::new();
        for assignment in &mut self.assignments {
            let value = match sort {
                Sort::Bool => u128::from(self.random.next() & 1),
                Sort::Bits(32) if self.floats => self.random.float(Float::F32),
                Sort::Bits(64) if self.floats => self.random.float(Float::F64),
                Sort::Bits(width) => self.random.bits(width),
                Sort::Array { .. } => unreachable!(),
            };
            assignment.set_bits(&self.terms, term, value);
            values.push(value);
        }
        self.variables.push(term);
        self.made.push((term, values));
    }

    /// One of the terms of that sort; the newer, the more likely.
    pub fn any(&mut self, sort: Sort) -> (Term, Vec<u128>) {
        if let Sort::Bits(width) = sort
            && self.random.below(6) == 0
        {
            let value = self.random.bits(width);
            let term = self.terms.constant(width, value);
            return (term, vec![value; self.assignments.len()]);
        }
        let places: Vec<usize> = (0..self.made.len())
            .filter(|&at| self.terms.sort(self.made[at].0) == sort)
            .collect();
        let last = if self.random.below(2) == 0 {
            places.len().saturating_sub(6)
        } else {
            0
        };
        let at = last + self.random.below(places.len() - last);
        self.made[places[at]].clone()
    }

    /// Makes one more term.
    pub fn grow(&mut self) -> Term {
        let width = {
            let widths = self.widths.clone();
            self.random.pick(&widths)
        };
        let (term, values) = if self.floats && self.random.below(3) == 0 {
            self.float_step()
        } else {
            match self.random.below(10) {
                0 | 1 => self.truth_step(),
                2 | 3 => self.comparison(width),
                4 => self.shape_step(width),
                5 => self.choice(width),
                _ => self.arithmetic(width),
            }
        };
        self.made.push((term, values));
        term
    }

    fn zip(a: &[u128], b: &[u128], f: impl Fn(u128, u128) -> u128) -> Vec<u128> {
        a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
    }

    fn truth_step(&mut self) -> (Term, Vec<u128>) {
        let (a, x) = self.any(Sort::Bool);
        let (b, y) = self.any(Sort::Bool);
        let t = &mut self.terms;
        match self.random.below(7) {
            0 => (t.not(a), x.iter().map(|x| x ^ 1).collect()),
            1 => (t.and(a, b), Self::zip(&x, &y, |x, y| x & y)),
            2 => (t.or(a, b), Self::zip(&x, &y, |x, y| x | y)),
            3 => (t.xor(a, b), Self::zip(&x, &y, |x, y| x ^ y)),
            4 => (t.implies(a, b), Self::zip(&x, &y, |x, y| (x ^ 1) | y)),
            5 => (t.iff(a, b), Self::zip(&x, &y, |x, y| x ^ y ^ 1)),
            _ => {
                let (c, z) = self.any(Sort::Bool);
                let values = (0..x.len())
                    .map(|i| if x[i] == 1 { y[i] } else { z[i] })
                    .collect();
                (self.terms.ite(a, b, c), values)
            }
        }
    }

    fn choice(&mut self, width: u32) -> (Term, Vec<u128>) {
        let (a, x) = self.any(Sort::Bool);
        let (b, y) = self.any(Sort::Bits(width));
        let (c, z) = self.any(Sort::Bits(width));
        let values = (0..x.len())
            .map(|i| if x[i] == 1 { y[i] } else { z[i] })
            .collect();
        (self.terms.ite(a, b, c), values)
    }

    fn comparison(&mut self, width: u32) -> (Term, Vec<u128>) {
        let (a, x) = self.any(Sort::Bits(width));
        let (b, y) = self.any(Sort::Bits(width));
        let s = |x: u128| signed(width, x);
        let (least, most) = if width == 128 {
            (i128::MIN, i128::MAX)
        } else {
            (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        };
        let out = move |r: Option<i128>| u128::from(r.is_none_or(|r| r < least || r > most));
        let t = &mut self.terms;
        match self.random.below(if self.hard { 9 } else { 7 }) {
            0 => (t.eq(a, b), Self::zip(&x, &y, |x, y| u128::from(x == y))),
            1 => (t.ult(a, b), Self::zip(&x, &y, |x, y| u128::from(x < y))),
            2 => (t.ule(a, b), Self::zip(&x, &y, |x, y| u128::from(x <= y))),
            3 => (
                t.slt(a, b),
                Self::zip(&x, &y, |x, y| u128::from(s(x) < s(y))),
            ),
            4 => (
                t.sle(a, b),
                Self::zip(&x, &y, |x, y| u128::from(s(x) <= s(y))),
            ),
            5 => (
                t.add_overflows_signed(a, b),
                Self::zip(&x, &y, |x, y| out(s(x).checked_add(s(y)))),
            ),
            6 => (
                t.sub_overflows_signed(a, b),
                Self::zip(&x, &y, |x, y| out(s(x).checked_sub(s(y)))),
            ),
            7 => (
                t.mul_overflows_signed(a, b),
                Self::zip(&x, &y, |x, y| out(s(x).checked_mul(s(y)))),
            ),
            _ => (
                t.mul_overflows_unsigned(a, b),
                Self::zip(&x, &y, |x, y| {
                    u128::from(x.checked_mul(y).is_none_or(|r| r > mask(width)))
                }),
            ),
        }
    }

    fn shape_step(&mut self, width: u32) -> (Term, Vec<u128>) {
        let (from, into) = {
            let widths = self.widths.clone();
            (self.random.pick(&widths), self.random.pick(&widths))
        };
        let (small, large) = (from.min(into), from.max(into));
        match self.random.below(4) {
            0 => {
                let (a, x) = self.any(Sort::Bits(small));
                let term = self.terms.zero_extend(a, large);
                (term, x)
            }
            1 => {
                let (a, x) = self.any(Sort::Bits(small));
                let values = x
                    .iter()
                    .map(|&x| signed(small, x) as u128 & mask(large))
                    .collect();
                (self.terms.sign_extend(a, large), values)
            }
            2 => {
                let (a, x) = self.any(Sort::Bits(large));
                let low = self.random.below((large - small + 1) as usize) as u32;
                let values = x.iter().map(|&x| x >> low & mask(small)).collect();
                (self.terms.extract(a, low + small - 1, low), values)
            }
            _ => {
                // Cut in two and put together again, perhaps with another half.
                if width == 1 {
                    return self.choice(width);
                }
                let low = 1 + self.random.below(width as usize - 1) as u32;
                let (a, x) = self.any(Sort::Bits(width));
                let (b, y) = self.any(Sort::Bits(width));
                let (h, l) = (
                    self.terms.extract(a, width - 1, low),
                    self.terms.extract(b, low - 1, 0),
                );
                let values = Self::zip(&x, &y, |x, y| (x >> low << low) | (y & mask(low)));
                (self.terms.concat(h, l), values)
            }
        }
    }

    fn arithmetic(&mut self, width: u32) -> (Term, Vec<u128>) {
        let (a, x) = self.any(Sort::Bits(width));
        let (b, y) = self.any(Sort::Bits(width));
        let m = mask(width);
        let s = |x: u128| signed(width, x);
        let w = u128::from(width);
        let t = &mut self.terms;
        let op = self.random.below(if self.hard { 14 } else { 9 });
        let (term, values) = match op {
            0 => (t.add(a, b), Self::zip(&x, &y, |x, y| x.wrapping_add(y))),
            1 => (t.sub(a, b), Self::zip(&x, &y, |x, y| x.wrapping_sub(y))),
            2 => (t.neg(a), x.iter().map(|x| x.wrapping_neg()).collect()),
            3 => (t.bit_and(a, b), Self::zip(&x, &y, |x, y| x & y)),
            4 => (t.bit_or(a, b), Self::zip(&x, &y, |x, y| x | y)),
            5 => (t.bit_xor(a, b), Self::zip(&x, &y, |x, y| x ^ y)),
            6 => (t.bit_not(a), x.iter().map(|x| !x).collect()),
            7 | 8 => {
                // Counts that matter.
                let (b, y) = if self.random.below(2) == 0 {
                    let k = u128::from(self.random.next() % (2 * u64::from(width))) & m;
                    (t.constant(width, k), vec![k; x.len()])
                } else {
                    (b, y)
                };
                match self.random.below(3) {
                    0 => (
                        t.shl(a, b),
                        Self::zip(&x, &y, |x, y| if y >= w { 0 } else { x << y }),
                    ),
                    1 => (
                        t.lshr(a, b),
                        Self::zip(&x, &y, |x, y| if y >= w { 0 } else { x >> y }),
                    ),
                    _ => (
                        t.ashr(a, b),
                        Self::zip(&x, &y, |x, y| (s(x) >> y.min(w - 1)) as u128),
                    ),
                }
            }
            9 => (t.mul(a, b), Self::zip(&x, &y, |x, y| x.wrapping_mul(y))),
            10 => (
                t.udiv(a, b),
                Self::zip(&x, &y, |x, y| x.checked_div(y).unwrap_or(m)),
            ),
            11 => (
                t.urem(a, b),
                Self::zip(&x, &y, |x, y| x.checked_rem(y).unwrap_or(x)),
            ),
            12 => (
                t.sdiv(a, b),
                Self::zip(&x, &y, |x, y| match (s(x), s(y)) {
                    (x, 0) if x < 0 => 1,
                    (_, 0) => m,
                    (x, y) => x.wrapping_div(y) as u128,
                }),
            ),
            _ => (
                t.srem(a, b),
                Self::zip(&x, &y, |x, y| match (s(x), s(y)) {
                    (x, 0) => x as u128,
                    (x, y) => x.wrapping_rem(y) as u128,
                }),
            ),
        };
        (term, values.into_iter().map(|value| value & m).collect())
    }

    fn float_step(&mut self) -> (Term, Vec<u128>) {
        let kind = self.random.pick(&[Float::F32, Float::F64]);
        let other = if kind == Float::F32 {
            Float::F64
        } else {
            Float::F32
        };
        let (a, x) = self.any(Sort::Bits(kind.width()));
        let (b, y) = self.any(Sort::Bits(kind.width()));
        let t = &mut self.terms;
        let two = |f: fn(f64, f64) -> f64, g: fn(f32, f32) -> f32| {
            Self::zip(&x, &y, |x, y| match kind {
                Float::F32 => from32(g(to32(x), to32(y))),
                Float::F64 => from64(f(to64(x), to64(y))),
            })
        };
        let test = |f: fn(f64, f64) -> bool| {
            Self::zip(&x, &y, |x, y| {
                u128::from(f(number(kind, x), number(kind, y)))
            })
        };
        match self.random.below(14) {
            0 => (t.float_add(kind, a, b), two(|x, y| x + y, |x, y| x + y)),
            1 => (t.float_sub(kind, a, b), two(|x, y| x - y, |x, y| x - y)),
            2 => (t.float_mul(kind, a, b), two(|x, y| x * y, |x, y| x * y)),
            3 => (t.float_div(kind, a, b), two(|x, y| x / y, |x, y| x / y)),
            4 => (t.float_lt(kind, a, b), test(|x, y| x < y)),
            5 => (t.float_le(kind, a, b), test(|x, y| x <= y)),
            6 => (t.float_eq(kind, a, b), test(|x, y| x == y)),
            7 => (t.float_is_nan(kind, a), test(|x, _| x.is_nan())),
            8 => {
                let sign = 1 << (kind.width() - 1);
                (t.float_neg(kind, a), x.iter().map(|x| x ^ sign).collect())
            }
            9 => {
                let values = x
                    .iter()
                    .map(|&x| match kind {
                        Float::F32 => from64(f64::from(to32(x))),
                        Float::F64 => from32(to64(x) as f32),
                    })
                    .collect();
                (t.float_convert(kind, other, a), values)
            }
            10 => (t.float_sqrt(kind, a), two(|x, _| x.sqrt(), |x, _| x.sqrt())),
            11 => {
                let widths = self.widths.clone();
                let width = self.random.pick(&widths);
                let (a, x) = self.any(Sort::Bits(width));
                if self.random.below(2) == 0 {
                    let values = x
                        .iter()
                        .map(|&x| match kind {
                            Float::F32 => from32(signed(width, x) as f32),
                            Float::F64 => from64(signed(width, x) as f64),
                        })
                        .collect();
                    (self.terms.float_from_signed(kind, a), values)
                } else {
                    let values = x
                        .iter()
                        .map(|&x| match kind {
                            Float::F32 => from32(x as f32),
                            Float::F64 => from64(x as f64),
                        })
                        .collect();
                    (self.terms.float_from_unsigned(kind, a), values)
                }
            }
            12 => {
                let widths = self.widths.clone();
                let width = self.random.pick(&widths);
                let most = (mask(width) >> 1) as i128;
                let values = x
                    .iter()
                    .map(|&x| {
                        (number(kind, x) as i128).clamp(-most - 1, most) as u128 & mask(width)
                    })
                    .collect();
                (self.terms.float_to_signed(kind, a, width), values)
            }
            _ => {
                let widths = self.widths.clone();
                let width = self.random.pick(&widths);
                let values = x
                    .iter()
                    .map(|&x| (number(kind, x) as u128).min(mask(width)))
                    .collect();
                (self.terms.float_to_unsigned(kind, a, width), values)
            }
        }
    }

    /// What the terms evaluate to must be what was computed beside them.
    #[track_caller]
    pub fn check(&self) {
        let all: Vec<Term> = self.made.iter().map(|(term, _)| *term).collect();
        for (at, assignment) in self.assignments.iter().enumerate() {
            let found = self.terms.evaluate_all(&all, assignment);
            for ((term, values), found) in self.made.iter().zip(found) {
                assert_eq!(found.bits(), values[at], "{:?}", self.terms.node(*term));
            }
        }
    }
}

fn to32(x: u128) -> f32 {
    f32::from_bits(x as u32)
}

fn to64(x: u128) -> f64 {
    f64::from_bits(x as u64)
}

fn number(kind: Float, x: u128) -> f64 {
    match kind {
        Float::F32 => f64::from(to32(x)),
        Float::F64 => to64(x),
    }
}

fn from32(x: f32) -> u128 {
    if x.is_nan() {
        0x7FC0_0000
    } else {
        u128::from(x.to_bits())
    }
}

fn from64(x: f64) -> u128 {
    if x.is_nan() {
        0x7FF8_0000_0000_0000
    } else {
        u128::from(x.to_bits())
    }
}
