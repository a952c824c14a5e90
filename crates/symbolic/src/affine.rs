//! Finds of what number an offset is a multiple.
//!
//! `a[i].x` lies at `12 * i + 4`. Only cells at such offsets can be meant, and which one it is can be
//! asked of `i` alone, whose few bits cost less than the 64 of the offset.

use patchwright_solve::{Node, Term, Terms};

/// `factor * index + rest`, with no overflow in 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    /// What is multiplied; `None` for a constant offset.
    pub(crate) index: Option<Term>,
    /// Not zero if there is an index.
    pub(crate) factor: i64,
    /// What is added.
    pub(crate) rest: i64,
    /// A bound of the index's absolute value.
    bound: u64,
}

const DEPTH: u32 = 24;

/// Writes an offset, a signed term of 64 bits, as `factor * index + rest`.
pub(crate) fn affine(terms: &mut Terms, offset: Term) -> Affine {
    within(terms, offset, DEPTH)
}

fn signed(bits: u128) -> i64 {
    bits as u64 as i64
}

fn opaque(terms: &Terms, term: Term) -> Affine {
    Affine {
        index: Some(term),
        factor: 1,
        rest: 0,
        bound: bound(terms, term),
    }
}

/// The greatest absolute value that the term, read with a sign, can have, by its outermost shape.
fn bound(terms: &Terms, term: Term) -> u64 {
    match terms.node(term) {
        Node::SignExtend(inner) => 1 << (terms.width(inner) - 1).min(63),
        // Zero extension is a concatenation with zeros.
        Node::Concat(high, low) if terms.as_constant(high) == Some(0) => {
            1u64.checked_shl(terms.width(low)).unwrap_or(1 << 63)
        }
        _ => 1 << 63,
    }
}

fn within(terms: &mut Terms, term: Term, depth: u32) -> Affine {
    if let Some(bits) = terms.as_constant(term) {
        return Affine {
            index: None,
            factor: 0,
            rest: signed(bits),
            bound: 0,
        };
    }
    if depth == 0 {
        return opaque(terms, term);
    }
    let found = match terms.node(term) {
        Node::Add(a, b) => {
            let (constant, other) = match (terms.as_constant(a), terms.as_constant(b)) {
                (Some(bits), _) => (bits, b),
                (_, Some(bits)) => (bits, a),
                _ => return sum(terms, term, a, b, depth),
            };
            let inner = within(terms, other, depth - 1);
            inner
                .rest
                .checked_add(signed(constant))
                .map(|rest| Affine { rest, ..inner })
        }
        Node::Mul(a, b) => match (terms.as_constant(a), terms.as_constant(b)) {
            (Some(bits), _) => scaled(within(terms, b, depth - 1), signed(bits)),
            (_, Some(bits)) => scaled(within(terms, a, depth - 1), signed(bits)),
            _ => None,
        },
        Node::Shl(a, b) => match terms.as_constant(b) {
            Some(count) if count < 62 => scaled(within(terms, a, depth - 1), 1 << count),
            _ => None,
        },
        // `x * 4` may have become bits of x above two zeros.
        Node::Concat(high, low) if terms.as_constant(low) == Some(0) => {
            let count = terms.width(low);
            let index = terms.sign_extend(high, 64);
            match count < 62 {
                true => scaled(within(terms, index, depth - 1), 1 << count),
                false => None,
            }
        }
        _ => None,
    };
    let found = found.filter(|found| {
        let reach = i128::from(found.factor.unsigned_abs()) * i128::from(found.bound)
            + i128::from(found.rest.unsigned_abs());
        reach < 1 << 63
    });
    found.unwrap_or_else(|| opaque(terms, term))
}

fn scaled(inner: Affine, by: i64) -> Option<Affine> {
    if by == 0 {
        return None;
    }
    Some(Affine {
        factor: inner.factor.checked_mul(by)?,
        rest: inner.rest.checked_mul(by)?,
        ..inner
    })
}

/// A sum of two parts that vary: a multiple of what both are multiples of.
fn sum(terms: &mut Terms, whole: Term, a: Term, b: Term, depth: u32) -> Affine {
    let (x, y) = (within(terms, a, depth / 2), within(terms, b, depth / 2));
    let (Some(left), Some(right)) = (x.index, y.index) else {
        return opaque(terms, whole);
    };
    let common = gcd(x.factor.unsigned_abs(), y.factor.unsigned_abs()) as i64;
    let (Some(rest), true) = (x.rest.checked_add(y.rest), common > 1) else {
        return opaque(terms, whole);
    };
    let (p, q) = (x.factor / common, y.factor / common);
    let bound = i128::from(p.unsigned_abs()) * i128::from(x.bound)
        + i128::from(q.unsigned_abs()) * i128::from(y.bound);
    if bound * i128::from(common) + i128::from(rest.unsigned_abs()) >= 1 << 63 {
        return opaque(terms, whole);
    }
    let left = times(terms, left, p);
    let right = times(terms, right, q);
    Affine {
        index: Some(terms.add(left, right)),
        factor: common,
        rest,
        bound: bound as u64,
    }
}

fn times(terms: &mut Terms, term: Term, by: i64) -> Term {
    let factor = terms.constant(64, u128::from(by as u64));
    terms.mul(term, factor)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Affine {
    /// The offsets from 0 to `last` that it can be, in order, each with the value of the index
    /// there; no more than `most`.
    pub(crate) fn candidates(&self, last: u64, most: usize) -> Option<Vec<(u64, i64)>> {
        let (step, rest) = (self.factor.unsigned_abs(), self.rest);
        if step == 0 {
            let at = u64::try_from(rest).ok().filter(|&at| at <= last);
            return Some(at.map(|at| (at, 0)).into_iter().collect());
        }
        let first = rest.rem_euclid(step as i64) as u64;
        if first > last {
            return Some(Vec::new());
        }
        if ((last - first) / step) as usize >= most {
            return None;
        }
        let offsets = (first..=last).step_by(step as usize);
        Some(
            offsets
                .map(|at| (at, (at as i64 - rest) / self.factor))
                .collect(),
        )
    }
}
