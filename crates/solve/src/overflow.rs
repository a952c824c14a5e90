//! Terms that tell whether the result of an operation fits its width.

use crate::fold;
use crate::fold::{least_signed, mask, signed, wrap};
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Returns whether the signed sum does not fit the width.
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

    /// Returns whether the signed difference does not fit the width.
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
        if let Node::Mul(x, y) = self.node(b)
            && self
                .quotient_times(x, y)
                .is_some_and(|(dividend, _)| dividend == a)
        {
            // It leaves the rest, whose sign is that of the dividend.
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

    /// Returns whether the signed product does not fit the width.
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
        if let Some((dividend, divisor)) = self.quotient_times(a, b) {
            // What comes out lies between zero and the dividend, but for the least number by -1.
            let (least, minus) = (wrap(width, least), mask(width));
            let (least, minus) = (self.constant(width, least), self.constant(width, minus));
            let (is_least, is_minus) = (self.eq(dividend, least), self.eq(divisor, minus));
            return self.and(is_least, is_minus);
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

    /// Of a quotient with sign and its divisor, in any order: the dividend and the divisor.
    fn quotient_times(&self, a: Term, b: Term) -> Option<(Term, Term)> {
        [(a, b), (b, a)].into_iter().find_map(|(quotient, by)| {
            match self.node(quotient) {
                Node::Sdiv(dividend, divisor) if divisor == by => Some((dividend, divisor)),
                // Without a sign there is one as well, if it is never set.
                Node::Udiv(dividend, divisor)
                    if divisor == by && self.known(dividend).leading > 0 =>
                {
                    Some((dividend, divisor))
                }
                _ => None,
            }
        })
    }

    /// Returns whether the unsigned product does not fit the width.
    #[track_caller]
    pub fn mul_overflows_unsigned(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (a, b) = self.ordered(a, b);
        let is_quotient = |quotient: Term, by: Term| matches!(self.node(quotient), Node::Udiv(_, divisor) if divisor == by);
        if is_quotient(a, b) || is_quotient(b, a) {
            // It is the dividend at most, and zero where that is divided by zero.
            return self.truth(false);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Assignment;

    #[test]
    fn a_quotient_times_its_divisor_hardly_overflows() {
        const WIDTH: u32 = 5;
        let mut terms = Terms::new();
        let [a, b, small] = ["a", "b", "small"].map(|name| {
            let width = if name == "small" { WIDTH - 1 } else { WIDTH };
            terms.variable(name, Sort::Bits(width))
        });
        let low = terms.zero_extend(small, WIDTH);
        let (signed, unsigned, positive) = (terms.sdiv(a, b), terms.udiv(a, b), terms.udiv(low, b));
        let product = |terms: &mut Terms, quotient: Term| terms.mul(b, quotient);
        let all = [(signed, a), (unsigned, a), (positive, low)].map(|(quotient, of)| {
            let product = product(&mut terms, quotient);
            [
                terms.mul_overflows_signed(quotient, b),
                terms.mul_overflows_unsigned(b, quotient),
                terms.sub_overflows_signed(of, product),
            ]
        });
        assert_eq!(terms.as_truth(all[0][2]), Some(false));
        assert_eq!(terms.as_truth(all[1][1]), Some(false));
        for (x, y) in (0..1 << WIDTH).flat_map(|x| (0..1 << WIDTH).map(move |y| (x, y))) {
            let mut assignment = Assignment::new();
            assignment.set_bits(&terms, a, x);
            assignment.set_bits(&terms, b, y);
            assignment.set_bits(&terms, small, x & 15);
            let quotients = [
                (fold::sdiv(WIDTH, x, y), x),
                (fold::udiv(WIDTH, x, y), x),
                (fold::udiv(WIDTH, x & 15, y), x & 15),
            ];
            for (found, (quotient, of)) in all.iter().zip(quotients) {
                let number = |bits| fold::signed(WIDTH, bits);
                let product = number(quotient) * number(y);
                let fits = |number: i128| (-16..16).contains(&number);
                let wrapped = number(wrap(WIDTH, product));
                let expected = [
                    !fits(product),
                    quotient * y > mask(WIDTH),
                    !fits(number(of) - wrapped),
                ];
                for (term, expected) in found.iter().zip(expected) {
                    let holds = terms.evaluate(*term, &assignment).truth();
                    assert_eq!(holds, expected, "{x} {y} {of}");
                }
            }
        }
    }
}
