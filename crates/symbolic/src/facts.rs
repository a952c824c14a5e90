//! The ranges of values that a path knows, from comparisons with constants.
//!
//! After `assume(n < 64)` the upper 26 bits of `n` are zero wherever the path goes on. Said in the
//! formula alone, this comes too late: circuits of 32 bits have been built for `x % n`. So a value
//! whose range is known is replaced by its low bits, extended, which is the same on this path.

use patchwright_solve::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// The values that a term can have, without sign and with: both bounds included.
#[derive(Clone, Copy, Debug)]
struct Range {
    unsigned: (u128, u128),
    signed: (i128, i128),
}

impl Range {
    fn of_width(width: u32) -> Range {
        let most = u128::MAX >> (128 - width);
        Range {
            unsigned: (0, most),
            signed: (i128::MIN >> (128 - width), i128::MAX >> (128 - width)),
        }
    }

    /// What each of the two says about the other.
    fn agreed(mut self, width: u32) -> Range {
        if self.signed.0 >= 0 {
            self.unsigned.0 = self.unsigned.0.max(self.signed.0 as u128);
            self.unsigned.1 = self.unsigned.1.min(self.signed.1 as u128);
        }
        let half = 1u128 << (width - 1);
        if self.unsigned.1 < half {
            self.signed.0 = self.signed.0.max(self.unsigned.0 as i128);
            self.signed.1 = self.signed.1.min(self.unsigned.1 as i128);
        }
        self
    }
}

/// Ranges of terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    ranges: FxHashMap<Term, Range>,
}

/// What a condition says: a term, and how its range becomes smaller.
type Fact = (Term, fn(&mut Range, u128, u32), u128);

fn signed(bits: u128, width: u32) -> i128 {
    (bits << (128 - width)) as i128 >> (128 - width)
}

impl Facts {
    /// Returns the facts together with a condition; `None` if the condition adds nothing.
    pub(crate) fn with(&self, terms: &Terms, condition: Term) -> Option<Facts> {
        let mut found = Vec::new();
        collect(terms, condition, 6, &mut found);
        if found.is_empty() {
            return None;
        }
        let mut facts = self.clone();
        facts.add(terms, found);
        Some(facts)
    }

    /// From here on the condition holds.
    pub(crate) fn learn(&mut self, terms: &Terms, condition: Term) {
        let mut found = Vec::new();
        collect(terms, condition, 6, &mut found);
        self.add(terms, found);
    }

    fn add(&mut self, terms: &Terms, found: Vec<Fact>) {
        for (term, change, constant) in found {
            let width = terms.width(term);
            let range = self
                .ranges
                .entry(term)
                .or_insert_with(|| Range::of_width(width));
            change(range, constant, width);
            *range = range.agreed(width);
        }
    }

    /// The only value that a term can have where the facts hold.
    pub(crate) fn constant(&self, terms: &mut Terms, term: Term) -> Option<Term> {
        let (least, most) = self.ranges.get(&term)?.unsigned;
        (least == most).then(|| terms.constant(terms.width(term), least))
    }

    /// Returns a simpler term that is equal where the facts hold.
    pub(crate) fn narrowed(&self, terms: &mut Terms, term: Term) -> Term {
        let Some(range) = self.ranges.get(&term) else {
            return term;
        };
        let (least, most) = range.unsigned;
        let width = terms.width(term);
        if least == most {
            return terms.constant(width, least);
        }
        let bits = 128 - most.leading_zeros();
        if bits >= width || bits == 0 {
            return term;
        }
        let low = terms.extract(term, bits - 1, 0);
        terms.zero_extend(low, width)
    }
}

fn collect(terms: &Terms, condition: Term, depth: u32, found: &mut Vec<Fact>) {
    let (shape, holds) = match terms.node(condition) {
        Node::Not(inner) => (terms.node(inner), false),
        shape => (shape, true),
    };
    match (shape, holds) {
        (Node::And(a, b), true) if depth > 0 => {
            collect(terms, a, depth - 1, found);
            collect(terms, b, depth - 1, found);
        }
        (Node::Eq(a, b), true) => {
            let (term, constant) = match (terms.as_constant(a), terms.as_constant(b)) {
                (None, Some(constant)) => (a, constant),
                (Some(constant), None) => (b, constant),
                _ => return,
            };
            found.push((
                term,
                |range, constant, width| {
                    range.unsigned = (constant, constant);
                    let constant = signed(constant, width);
                    range.signed = (constant, constant);
                },
                constant,
            ));
        }
        (Node::Ult(a, b), _) => match (terms.as_constant(a), terms.as_constant(b), holds) {
            (None, Some(constant), true) => found.push((a, below, constant)),
            (None, Some(constant), false) => found.push((a, at_least, constant)),
            (Some(constant), None, true) => found.push((b, above, constant)),
            (Some(constant), None, false) => found.push((b, at_most, constant)),
            _ => {}
        },
        (Node::Slt(a, b), _) => match (terms.as_constant(a), terms.as_constant(b), holds) {
            (None, Some(constant), true) => found.push((a, signed_below, constant)),
            (None, Some(constant), false) => found.push((a, signed_at_least, constant)),
            (Some(constant), None, true) => found.push((b, signed_above, constant)),
            (Some(constant), None, false) => found.push((b, signed_at_most, constant)),
            _ => {}
        },
        _ => {}
    }
}

fn below(range: &mut Range, constant: u128, _: u32) {
    range.unsigned.1 = range.unsigned.1.min(constant.saturating_sub(1));
}

fn at_most(range: &mut Range, constant: u128, _: u32) {
    range.unsigned.1 = range.unsigned.1.min(constant);
}

fn above(range: &mut Range, constant: u128, _: u32) {
    range.unsigned.0 = range.unsigned.0.max(constant.saturating_add(1));
}

fn at_least(range: &mut Range, constant: u128, _: u32) {
    range.unsigned.0 = range.unsigned.0.max(constant);
}

fn signed_below(range: &mut Range, constant: u128, width: u32) {
    let constant = signed(constant, width).saturating_sub(1);
    range.signed.1 = range.signed.1.min(constant);
}

fn signed_at_most(range: &mut Range, constant: u128, width: u32) {
    range.signed.1 = range.signed.1.min(signed(constant, width));
}

fn signed_above(range: &mut Range, constant: u128, width: u32) {
    let constant = signed(constant, width).saturating_add(1);
    range.signed.0 = range.signed.0.max(constant);
}

fn signed_at_least(range: &mut Range, constant: u128, width: u32) {
    range.signed.0 = range.signed.0.max(signed(constant, width));
}

#[cfg(test)]
mod tests {
    use patchwright_solve::{Sort, Terms};

    use super::*;

    #[test]
    fn what_two_comparisons_leave_are_the_low_bits() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(32));
        let (zero, limit) = (terms.constant(32, 0), terms.constant(32, 64));
        let (above, below) = (terms.sle(zero, x), terms.slt(x, limit));
        let both = terms.and(above, below);
        let facts = Facts::default().with(&terms, both).expect("facts");
        let low = terms.extract(x, 5, 0);
        let expected = terms.zero_extend(low, 32);
        assert_eq!(facts.narrowed(&mut terms, x), expected);
    }

    #[test]
    fn one_side_alone_says_nothing_of_the_bits() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(32));
        let limit = terms.constant(32, 64);
        let below = terms.slt(x, limit);
        let facts = Facts::default().with(&terms, below).expect("facts");
        assert_eq!(facts.narrowed(&mut terms, x), x);
    }

    #[test]
    fn what_is_equal_to_a_constant_is_one() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(8));
        let five = terms.constant(8, 5);
        let equal = terms.eq(x, five);
        let facts = Facts::default().with(&terms, equal).expect("facts");
        assert_eq!(facts.narrowed(&mut terms, x), five);
    }
}
