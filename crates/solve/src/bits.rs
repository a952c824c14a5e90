//! Terms for bitwise operations.

use crate::fold::mask;
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Returns `~a`.
    #[track_caller]
    pub fn bit_not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold_unary(width, a, |x| !x) {
            return folded;
        }
        match self.node(a) {
            Node::BitNot(x) => return x,
            Node::Neg(x) => {
                let minus_one = self.constant(width, u128::MAX);
                return self.add(x, minus_one);
            }
            Node::Add(x, k) => {
                if let Some(k) = self.as_constant(k) {
                    let (x, k) = (self.neg(x), self.constant(width, !k));
                    return self.add(x, k);
                }
            }
            Node::Concat(high, low) => {
                let (high, low) = (self.bit_not(high), self.bit_not(low));
                return self.concat(high, low);
            }
            Node::SignExtend(x) => {
                let inverted = self.bit_not(x);
                return self.sign_extend(inverted, width);
            }
            _ => {}
        }
        self.intern(Node::BitNot(a), Sort::Bits(width))
    }

    /// Whether one term is the bitwise complement of the other, as written.
    pub(crate) fn is_inverse(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::BitNot(b) || self.node(b) == Node::BitNot(a)
    }

    /// Returns `a & b`.
    #[track_caller]
    pub fn bit_and(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| x & y) {
            return folded;
        }
        let (a, b) = self.ordered(a, b);
        if a == b {
            return a;
        }
        if self.is_inverse(a, b) {
            return self.constant(width, 0);
        }
        if let Some(k) = self.as_constant(b) {
            if k == 0 {
                return b;
            }
            // Bits that are zero anyway need no mask.
            let possible = self.most(a);
            if possible & !k == 0 {
                return a;
            }
            if let Node::BitAnd(x, y) = self.node(a)
                && self.as_constant(y).is_some()
            {
                let both = self.bit_and(y, b);
                return self.bit_and(x, both);
            }
            // A run of ones cuts bits out.
            let (low, high) = (k.trailing_zeros(), 127 - k.leading_zeros());
            if (k >> low) == mask(high - low + 1) {
                let part = self.extract(a, high, low);
                let part = if low == 0 {
                    part
                } else {
                    let zeros = self.constant(low, 0);
                    self.concat(part, zeros)
                };
                return self.zero_extend(part, width);
            }
        } else {
            if let (Some(x), Some(y)) = (self.as_flag(a), self.as_flag(b)) {
                let both = self.and(x, y);
                return self.from_truth(both, width);
            }
            for (both, other) in [(a, b), (b, a)] {
                if let Node::BitAnd(x, y) = self.node(both) {
                    if x == other || y == other {
                        return both;
                    }
                    if self.is_inverse(x, other) || self.is_inverse(y, other) {
                        return self.constant(width, 0);
                    }
                }
            }
        }
        if let Some(parts) = self.by_parts(a, b, Terms::bit_and) {
            return parts;
        }
        self.intern(Node::BitAnd(a, b), Sort::Bits(width))
    }

    /// The operation on the parts of two concatenations that have a boundary in common.
    fn by_parts(
        &mut self,
        a: Term,
        b: Term,
        operation: fn(&mut Terms, Term, Term) -> Term,
    ) -> Option<Term> {
        for (one, other) in [(a, b), (b, a)] {
            let mut rest = one;
            while let Node::Concat(_, low) = self.node(rest) {
                let boundary = self.width(low);
                if let Some((high_other, low_other)) = self.split(other, boundary)
                    && let Some((high_one, low_one)) = self.split(one, boundary)
                {
                    let high = operation(self, high_one, high_other);
                    let low = operation(self, low_one, low_other);
                    return Some(self.concat(high, low));
                }
                rest = low;
            }
        }
        None
    }

    /// Returns `a | b`.
    #[track_caller]
    pub fn bit_or(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(disjoint) = self.disjoint(a, b) {
            return disjoint;
        }
        if let (Some(x), Some(y)) = (self.as_flag(a), self.as_flag(b)) {
            let either = self.or(x, y);
            return self.from_truth(either, width);
        }
        let (a, b) = (self.bit_not(a), self.bit_not(b));
        let neither = self.bit_and(a, b);
        self.bit_not(neither)
    }

    /// Returns `a ^ b`.
    #[track_caller]
    pub fn bit_xor(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| x ^ y) {
            return folded;
        }
        let (a, b) = self.ordered(a, b);
        if a == b {
            return self.constant(width, 0);
        }
        if self.is_inverse(a, b) {
            return self.constant(width, u128::MAX);
        }
        if let Some(k) = self.as_constant(b) {
            if k == 0 {
                return a;
            }
            if k == mask(width) {
                return self.bit_not(a);
            }
            match self.node(a) {
                Node::BitXor(x, y) if self.as_constant(y).is_some() => {
                    let differ = self.bit_xor(y, b);
                    return self.bit_xor(x, differ);
                }
                Node::BitNot(x) => {
                    let inverted = self.constant(width, !k);
                    return self.bit_xor(x, inverted);
                }
                _ => {}
            }
        } else {
            if let (Some(x), Some(y)) = (self.as_flag(a), self.as_flag(b)) {
                let differ = self.xor(x, y);
                return self.from_truth(differ, width);
            }
            for (inverted, other) in [(a, b), (b, a)] {
                match self.node(inverted) {
                    Node::BitNot(x) => {
                        let differ = self.bit_xor(x, other);
                        return self.bit_not(differ);
                    }
                    Node::BitXor(x, y) if x == other => return y,
                    Node::BitXor(x, y) if y == other => return x,
                    _ => {}
                }
            }
            if let Some(disjoint) = self.disjoint(a, b) {
                return disjoint;
            }
        }
        if let Some(parts) = self.by_parts(a, b, Terms::bit_xor) {
            return parts;
        }
        self.intern(Node::BitXor(a, b), Sort::Bits(width))
    }
}
