//! Terms for sums, products, quotients and remainders of bit-vectors.

use crate::fold;
use crate::fold::mask;
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Operands of an operation that does not care about their order, a constant to the right.
    pub(crate) fn ordered(&self, a: Term, b: Term) -> (Term, Term) {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(_), _) => (b, a),
            (_, Some(_)) => (a, b),
            _ if b < a => (b, a),
            _ => (a, b),
        }
    }

    /// Applies a function to a constant, or to both branches of a choice of two constants; `None` for other terms.
    pub(crate) fn fold_unary(
        &mut self,
        width: u32,
        a: Term,
        function: impl Fn(u128) -> u128,
    ) -> Option<Term> {
        if let Some(value) = self.as_constant(a) {
            return Some(self.constant(width, function(value)));
        }
        let (c, x, y) = self.as_constant_choice(a)?;
        let (x, y) = (
            self.constant(width, function(x)),
            self.constant(width, function(y)),
        );
        Some(self.ite(c, x, y))
    }

    /// Two constants, or one and a choice of two, through a function.
    pub(crate) fn fold_binary(
        &mut self,
        a: Term,
        b: Term,
        function: impl Fn(u128, u128) -> u128,
    ) -> Option<Term> {
        let width = self.width(a);
        if let Some(y) = self.as_constant(b) {
            return self.fold_unary(width, a, |x| function(x, y));
        }
        let x = self.as_constant(a)?;
        self.fold_unary(width, b, |y| function(x, y))
    }

    /// Returns `a + b`, modulo two to the width.
    #[track_caller]
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| x.wrapping_add(y)) {
            return folded;
        }
        let (a, b) = self.ordered(a, b);
        if let Some(k) = self.as_constant(b) {
            match self.node(a) {
                _ if k == 0 => return a,
                Node::Add(x, y) if self.as_constant(y).is_some() => {
                    let sum = self.add(y, b);
                    return self.add(x, sum);
                }
                Node::BitNot(x) => {
                    let negated = self.neg(x);
                    let less = self.constant(width, k.wrapping_sub(1));
                    return self.add(negated, less);
                }
                _ => {}
            }
        } else {
            // Constants go outward.
            for (sum, other) in [(a, b), (b, a)] {
                if let Node::Add(x, k) = self.node(sum)
                    && self.as_constant(k).is_some()
                {
                    let rest = self.add(x, other);
                    return self.add(rest, k);
                }
            }
            if a == b {
                let one = self.constant(width, 1);
                return self.shl(a, one);
            }
            if let Some(rest) = self.cancelled(a, b) {
                return rest;
            }
            if let Some(whole) = self.divided_whole(a, b) {
                return whole;
            }
        }
        if let Some(apart) = self.disjoint(a, b) {
            return apart;
        }
        self.intern(Node::Add(a, b), Sort::Bits(width))
    }

    /// One is minus a part of the other.
    fn cancelled(&mut self, a: Term, b: Term) -> Option<Term> {
        let opposite = |terms: &Terms, x: Term, y: Term| {
            terms.node(x) == Node::Neg(y) || terms.node(y) == Node::Neg(x)
        };
        let width = self.width(a);
        if opposite(self, a, b) {
            return Some(self.constant(width, 0));
        }
        for (sum, other) in [(a, b), (b, a)] {
            match self.node(sum) {
                Node::Add(x, y) if opposite(self, x, other) => return Some(y),
                Node::Add(x, y) if opposite(self, y, other) => return Some(x),
                _ => {}
            }
        }
        for (negated, other) in [(a, b), (b, a)] {
            if let Node::Neg(sum) = self.node(negated)
                && let Node::Add(x, y) = self.node(sum)
            {
                if x == other {
                    return Some(self.neg(y));
                }
                if y == other {
                    return Some(self.neg(x));
                }
            }
        }
        None
    }

    /// Dividend, quotient times divisor, and rest: two of them give the third. All this holds for divisors of zero, too.
    fn divided_whole(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        for (product, other) in [(a, b), (b, a)] {
            // Quotient and divisor, and whether their product is taken away.
            let (inner, mut taken) = match self.node(product) {
                Node::Neg(inner) => (inner, true),
                _ => (product, false),
            };
            let Node::Mul(x, y) = self.node(inner) else {
                continue;
            };
            for (quotient, divisor) in [(x, y), (y, x)] {
                let (Node::Udiv(whole, by) | Node::Sdiv(whole, by)) = self.node(quotient) else {
                    continue;
                };
                if by != divisor {
                    // With a constant the sign is in there.
                    match (self.as_constant(by), self.as_constant(divisor)) {
                        (Some(k), Some(l)) if k == l.wrapping_neg() & mask(width) => taken = true,
                        _ => continue,
                    }
                }
                let signed = matches!(self.node(quotient), Node::Sdiv(..));
                let rest = if signed {
                    self.srem(whole, by)
                } else {
                    self.urem(whole, by)
                };
                if taken && other == whole {
                    return Some(rest);
                }
                if !taken && other == rest {
                    return Some(whole);
                }
            }
        }
        None
    }

    /// A sum or a disjunction whose operands have no bit in common is wiring.
    pub(crate) fn disjoint(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        for (high, low) in [(a, b), (b, a)] {
            let boundary = width - u32::from(self.known(low).leading);
            if boundary > 0 && boundary < width && u32::from(self.known(high).trailing) >= boundary
            {
                let high = self.extract(high, width - 1, boundary);
                let low = self.extract(low, boundary - 1, 0);
                return Some(self.concat(high, low));
            }
        }
        None
    }

    /// Returns `a - b`, modulo two to the width.
    #[track_caller]
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if a == b {
            return self.constant(width, 0);
        }
        let b = self.neg(b);
        self.add(a, b)
    }

    /// Returns `-a`, modulo two to the width.
    #[track_caller]
    pub fn neg(&mut self, a: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.fold_unary(width, a, u128::wrapping_neg) {
            return folded;
        }
        match self.node(a) {
            Node::Neg(x) => return x,
            Node::BitNot(x) => {
                let one = self.constant(width, 1);
                return self.add(x, one);
            }
            Node::Add(x, k) => {
                if let Some(k) = self.as_constant(k) {
                    let (x, k) = (self.neg(x), self.constant(width, k.wrapping_neg()));
                    return self.add(x, k);
                }
            }
            Node::Mul(x, k) => {
                if let Some(k) = self.as_constant(k) {
                    let k = self.constant(width, k.wrapping_neg());
                    return self.mul(x, k);
                }
            }
            _ => {}
        }
        self.intern(Node::Neg(a), Sort::Bits(width))
    }

    /// Returns `a * b`, modulo two to the width.
    #[track_caller]
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| x.wrapping_mul(y)) {
            return folded;
        }
        let (a, b) = self.ordered(a, b);
        if let Some(k) = self.as_constant(b) {
            match k {
                0 => return b,
                1 => return a,
                _ if k == mask(width) => return self.neg(a),
                _ if k.is_power_of_two() => {
                    let count = self.constant(width, u128::from(k.ilog2()));
                    return self.shl(a, count);
                }
                _ => {}
            }
            match self.node(a) {
                Node::Mul(x, y) if self.as_constant(y).is_some() => {
                    let product = self.mul(y, b);
                    return self.mul(x, product);
                }
                Node::Add(x, y) if self.as_constant(y).is_some() => {
                    let product = self.mul(y, b);
                    let rest = self.mul(x, b);
                    return self.add(rest, product);
                }
                Node::Neg(x) => {
                    let k = self.constant(width, k.wrapping_neg());
                    return self.mul(x, k);
                }
                _ => {}
            }
        } else {
            for (choice, other) in [(a, b), (b, a)] {
                if let Some((c, x, y)) = self.as_constant_choice(choice)
                    && [x, y]
                        .iter()
                        .all(|&k| k == 0 || k == mask(width) || k.is_power_of_two())
                {
                    let (x, y) = (self.constant(width, x), self.constant(width, y));
                    let (x, y) = (self.mul(other, x), self.mul(other, y));
                    return self.ite(c, x, y);
                }
            }
        }
        self.intern(Node::Mul(a, b), Sort::Bits(width))
    }

    /// Returns the unsigned quotient. It is all ones if the divisor is zero, as in SMT-LIB 2.
    #[track_caller]
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| fold::udiv(width, x, y)) {
            return folded;
        }
        if let Some(k) = self.as_constant(b) {
            match k {
                0 => return self.constant(width, u128::MAX),
                1 => return a,
                _ if k > self.most(a) => return self.constant(width, 0),
                _ => {}
            }
            if let Some(quotient) = self.quotient_of_parts(a, k, false) {
                return quotient;
            }
            if k.is_power_of_two() {
                let count = self.constant(width, u128::from(k.ilog2()));
                return self.lshr(a, count);
            }
            if let Some((a, b)) = self.without_zeros(a, b) {
                let quotient = self.udiv(a, b);
                return self.zero_extend(quotient, width);
            }
        }
        self.intern(Node::Udiv(a, b), Sort::Bits(width))
    }

    /// Returns the unsigned remainder. It is the dividend if the divisor is zero, as in SMT-LIB 2.
    #[track_caller]
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, fold::urem) {
            return folded;
        }
        if a == b {
            return self.constant(width, 0);
        }
        if let Some(k) = self.as_constant(b) {
            match k {
                0 => return a,
                1 => return self.constant(width, 0),
                _ if k > self.most(a) => return a,
                _ if k.is_power_of_two() => {
                    let rest = self.extract(a, k.ilog2() - 1, 0);
                    return self.zero_extend(rest, width);
                }
                _ => {}
            }
            if let Some(rest) = self.rest_of_rest(a, k, false) {
                return rest;
            }
            if let Some((a, b)) = self.without_zeros(a, b) {
                let rest = self.urem(a, b);
                return self.zero_extend(rest, width);
            }
        }
        self.intern(Node::Urem(a, b), Sort::Bits(width))
    }

    /// Both without the upper bits that are zero in both; only where there are such.
    fn without_zeros(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        let width = self.width(a);
        let zeros = u32::from(self.known(a).leading.min(self.known(b).leading));
        (zeros > 0 && zeros < width).then(|| {
            let high = width - zeros - 1;
            (self.extract(a, high, 0), self.extract(b, high, 0))
        })
    }

    /// Returns the signed quotient, rounded towards zero. It is 1 or -1 if the divisor is zero, as in
    /// SMT-LIB 2.
    #[track_caller]
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| fold::sdiv(width, x, y)) {
            return folded;
        }
        if self.known(a).leading > 0 && self.known(b).leading > 0 {
            return self.udiv(a, b);
        }
        if let Some(k) = self.as_constant(b)
            && k != 0
        {
            if k == 1 {
                return a;
            }
            if k == mask(width) {
                return self.neg(a);
            }
            let least = fold::least_signed(width);
            if k != least {
                if k < least
                    && let Some(quotient) = self.quotient_of_parts(a, k, true)
                {
                    return quotient;
                }
                let size = fold::signed(width, k).unsigned_abs();
                if size.is_power_of_two() {
                    let quotient = self.sdiv_by_power(a, size.ilog2());
                    return if k > least {
                        self.neg(quotient)
                    } else {
                        quotient
                    };
                }
                if let Some((a, b)) = self.without_signs(a, b) {
                    let quotient = self.sdiv(a, b);
                    return self.sign_extend(quotient, width);
                }
            }
        }
        self.intern(Node::Sdiv(a, b), Sort::Bits(width))
    }

    /// What is negative is rounded up, by adding what a shift would round down.
    fn sdiv_by_power(&mut self, a: Term, power: u32) -> Term {
        let width = self.width(a);
        let sign = self.extract(a, width - 1, width - 1);
        let signs = self.sign_extend(sign, power);
        let bias = self.zero_extend(signs, width);
        let sum = self.add(a, bias);
        let count = self.constant(width, u128::from(power));
        self.ashr(sum, count)
    }

    /// Returns the signed remainder, with the sign of the dividend. It is the dividend if the divisor
    /// is zero.
    #[track_caller]
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(folded) = self.fold_binary(a, b, |x, y| fold::srem(width, x, y)) {
            return folded;
        }
        if a == b {
            return self.constant(width, 0);
        }
        if self.known(a).leading > 0 && self.known(b).leading > 0 {
            return self.urem(a, b);
        }
        if let Some(k) = self.as_constant(b) {
            if k == 0 {
                return a;
            }
            let size = fold::signed(width, k).unsigned_abs();
            if size == 1 {
                return self.constant(width, 0);
            }
            if k > fold::least_signed(width) {
                // The divisor's sign does not matter.
                let size = self.constant(width, size);
                return self.srem(a, size);
            }
            if k < fold::least_signed(width)
                && let Some(rest) = self.rest_of_rest(a, k, true)
            {
                return rest;
            }
            if size.is_power_of_two() && k != fold::least_signed(width) {
                let quotient = self.sdiv_by_power(a, size.ilog2());
                let count = self.constant(width, u128::from(size.ilog2()));
                let product = self.shl(quotient, count);
                return self.sub(a, product);
            }
            if let Some((a, b)) = self.without_signs(a, b) {
                let rest = self.srem(a, b);
                return self.sign_extend(rest, width);
            }
        }
        self.intern(Node::Srem(a, b), Sort::Bits(width))
    }

    /// The quotient of a quotient or a rest by constants, which is one quotient, or the rest of one: `x / c / k` is
    /// `x / (c * k)`, and `x % (c * k) / k` is `x / k % c`. Of numbers with a sign both constants are positive.
    fn quotient_of_parts(&mut self, a: Term, k: u128, signed: bool) -> Option<Term> {
        let width = self.width(a);
        let inner = self.divided(a, signed)?;
        let own = self.width(inner.term);
        let most = mask(if signed { own - 1 } else { own });
        let new = if inner.is_rest {
            if !inner.by.is_multiple_of(k) {
                return None;
            }
            let (k, by) = (self.constant(own, k), self.constant(own, inner.by / k));
            match signed {
                true => {
                    let quotient = self.sdiv(inner.of, k);
                    self.srem(quotient, by)
                }
                false => {
                    let quotient = self.udiv(inner.of, k);
                    self.urem(quotient, by)
                }
            }
        } else {
            match inner.by.checked_mul(k).filter(|by| *by <= most) {
                None => self.constant(own, 0),
                Some(by) => {
                    let by = self.constant(own, by);
                    match signed {
                        true => self.sdiv(inner.of, by),
                        false => self.udiv(inner.of, by),
                    }
                }
            }
        };
        Some(match signed {
            true => self.sign_extend(new, width),
            false => self.zero_extend(new, width),
        })
    }

    /// The rest of a rest by constants of which one divides the other: `x % (c * k) % k` is `x % k`.
    fn rest_of_rest(&mut self, a: Term, k: u128, signed: bool) -> Option<Term> {
        let width = self.width(a);
        let inner = self.divided(a, signed)?;
        if !inner.is_rest || !inner.by.is_multiple_of(k) {
            return None;
        }
        let own = self.width(inner.term);
        let k = self.constant(own, k);
        Some(match signed {
            true => {
                let rest = self.srem(inner.of, k);
                self.sign_extend(rest, width)
            }
            false => {
                let rest = self.urem(inner.of, k);
                self.zero_extend(rest, width)
            }
        })
    }

    /// A quotient or a rest by a constant that is not zero, and of numbers with a sign positive; more bits may stand
    /// above it.
    fn divided(&self, a: Term, signed: bool) -> Option<Divided> {
        let term = match self.node(a) {
            Node::Concat(high, low) if !signed && self.as_constant(high) == Some(0) => low,
            Node::SignExtend(low) if signed => low,
            _ => a,
        };
        let (of, by, is_rest) = match self.node(term) {
            Node::Udiv(of, by) if !signed => (of, by, false),
            Node::Urem(of, by) if !signed => (of, by, true),
            Node::Sdiv(of, by) if signed => (of, by, false),
            Node::Srem(of, by) if signed => (of, by, true),
            _ => return None,
        };
        let by = self.as_constant(by)?;
        let is_positive = !signed || by < fold::least_signed(self.width(term));
        (by > 0 && is_positive).then_some(Divided {
            term,
            of,
            by,
            is_rest,
        })
    }

    /// Both without the upper bits that only repeat the sign; the divisor is a constant other than 0 and -1.
    fn without_signs(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        let width = self.width(a);
        let copies = u32::from(self.known(a).signs.min(self.known(b).signs)) - 1;
        (copies > 0).then(|| {
            let high = width - copies - 1;
            (self.extract(a, high, 0), self.extract(b, high, 0))
        })
    }
}

/// A quotient, or a rest, by a constant.
struct Divided {
    term: Term,
    of: Term,
    by: u128,
    is_rest: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Assignment;

    #[test]
    fn divisions_by_several_constants_are_what_one_after_the_other_gives() {
        const WIDTH: u32 = 5;
        let mut one = 0;
        for first in 1..1 << WIDTH {
            for second in 1..1 << WIDTH {
                let mut terms = Terms::new();
                let x = terms.variable("x", Sort::Bits(WIDTH));
                let (c, k) = (terms.constant(WIDTH, first), terms.constant(WIDTH, second));
                let unsigned = [terms.udiv(x, c), terms.urem(x, c)];
                let signed = [terms.sdiv(x, c), terms.srem(x, c)];
                let mut all = Vec::new();
                for (at, inner) in unsigned.into_iter().chain(signed).enumerate() {
                    all.push((at, false, false, terms.udiv(inner, k)));
                    all.push((at, false, true, terms.urem(inner, k)));
                    all.push((at, true, false, terms.sdiv(inner, k)));
                    all.push((at, true, true, terms.srem(inner, k)));
                }
                one += usize::from(matches!(terms.node(all[0].3), Node::Udiv(of, _) if of == x));
                for value in 0..1 << WIDTH {
                    let mut assignment = Assignment::new();
                    assignment.set_bits(&terms, x, value);
                    for &(at, signed, is_rest, term) in &all {
                        let inner = match at {
                            0 => fold::udiv(WIDTH, value, first),
                            1 => fold::urem(value, first),
                            2 => fold::sdiv(WIDTH, value, first),
                            _ => fold::srem(WIDTH, value, first),
                        };
                        let expected = match (signed, is_rest) {
                            (false, false) => fold::udiv(WIDTH, inner, second),
                            (false, true) => fold::urem(inner, second),
                            (true, false) => fold::sdiv(WIDTH, inner, second),
                            (true, true) => fold::srem(WIDTH, inner, second),
                        };
                        let found = terms.evaluate(term, &assignment).bits();
                        assert_eq!(
                            found, expected,
                            "{at} {signed} {is_rest}: {value}, {first}, {second}"
                        );
                    }
                }
            }
        }
        assert!(one > 0);
    }
}
