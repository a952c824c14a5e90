//! Whether the result of an operation fits.

use crate::fold;
use crate::fold::{least_signed, mask, signed, wrap};
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// The sum does not fit, with sign.
    #[track_caller]
    pub fn add_overflows_signed(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let least = signed(width, least_signed(width));
        let most = !least;
        let (a, b) = self.ordered(a, b);
        let ((a0, a1), (b0, b1)) = (self.signed_bounds(a), self.signed_bounds(b));
        let fits = |sum: Option<i128>| sum.is_some_and(|sum| (least..=most).contains(&sum));
        if fits(a0.checked_add(b0)) && fits(a1.checked_add(b1)) {
            return self.truth(false);
        }
        if let Some(k) = self.as_constant(b) {
            let k = signed(width, k);
            return if k >= 0 {
                let last = self.constant(width, wrap(width, most - k));
                self.slt(last, a)
            } else {
                let first = self.constant(width, wrap(width, least - k));
                self.slt(a, first)
            };
        }
        // Both have one sign, and the sum has the other.
        let sum = self.add(a, b);
        let [x, y, s] = [a, b, sum].map(|term| self.is_negative(term));
        let (same, other) = (self.iff(x, y), self.xor(x, s));
        self.and(same, other)
    }

    /// The difference does not fit, with sign.
    #[track_caller]
    pub fn sub_overflows_signed(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let least = signed(width, least_signed(width));
        let most = !least;
        let ((a0, a1), (b0, b1)) = (self.signed_bounds(a), self.signed_bounds(b));
        let fits = |difference: Option<i128>| {
            difference.is_some_and(|difference| (least..=most).contains(&difference))
        };
        if a == b || fits(a0.checked_sub(b1)) && fits(a1.checked_sub(b0)) {
            return self.truth(false);
        }
        if let Some(k) = self.as_constant(b) {
            let k = signed(width, k);
            return if k >= 0 {
                let first = self.constant(width, wrap(width, least + k));
                self.slt(a, first)
            } else {
                let last = self.constant(width, wrap(width, most + k));
                self.slt(last, a)
            };
        }
        if let Some(k) = self.as_constant(a) {
            let k = signed(width, k);
            return if k >= 0 {
                // The least number that can be taken away.
                let first = self.constant(width, wrap(width, k - most));
                self.slt(b, first)
            } else {
                let last = self.constant(width, wrap(width, k - least));
                self.slt(last, b)
            };
        }
        // The signs differ, and the difference has not the first one's.
        let difference = self.sub(a, b);
        let [x, y, d] = [a, b, difference].map(|term| self.is_negative(term));
        let (differ, other) = (self.xor(x, y), self.xor(x, d));
        self.and(differ, other)
    }

    /// The product does not fit, with sign.
    #[track_caller]
    pub fn mul_overflows_signed(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.truth(fold::mul_overflows_signed(width, x, y));
        }
        let (a, b) = self.ordered(a, b);
        let least = signed(width, least_signed(width));
        let most = !least;
        if let Some(k) = self.as_constant(b) {
            let k = signed(width, k);
            // Quotients are cut towards zero, which is inward on both sides.
            let (first, last) = match k {
                0 | 1 => return self.truth(false),
                -1 => {
                    let least = self.constant(width, wrap(width, least));
                    return self.eq(a, least);
                }
                _ if k > 0 => (least / k, most / k),
                _ => (most / k, least / k),
            };
            let (first, last) = (
                self.constant(width, wrap(width, first)),
                self.constant(width, wrap(width, last)),
            );
            let (below, above) = (self.slt(a, first), self.slt(last, a));
            return self.or(below, above);
        }
        let ((a0, a1), (b0, b1)) = (self.signed_bounds(a), self.signed_bounds(b));
        let fits = |x: i128, y: i128| {
            x.checked_mul(y)
                .is_some_and(|product| (least..=most).contains(&product))
        };
        if fits(a0, b0) && fits(a0, b1) && fits(a1, b0) && fits(a1, b1) {
            return self.truth(false);
        }
        self.intern(Node::MulOverflowsSigned(a, b), Sort::Bool)
    }

    /// The product does not fit, without sign.
    #[track_caller]
    pub fn mul_overflows_unsigned(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (a, b) = self.ordered(a, b);
        if self
            .most(a)
            .checked_mul(self.most(b))
            .is_some_and(|product| product <= mask(width))
        {
            return self.truth(false);
        }
        if let Some(k) = self.as_constant(b) {
            // Zero never overflows, which was seen above.
            let last = self.constant(width, mask(width) / k);
            return self.ult(last, a);
        }
        self.intern(Node::MulOverflowsUnsigned(a, b), Sort::Bool)
    }
}
