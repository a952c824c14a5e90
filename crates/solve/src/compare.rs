//! Terms for comparisons of bit-vectors.

use crate::fold::{least_signed, mask, signed, wrap};
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

/// The number of choices of a chain that are looked through.
const FUEL: u32 = 16;

#[derive(Copy, Clone, PartialEq, Eq)]
enum Relation {
    Eq,
    Ult,
    Slt,
}

impl Terms {
    /// Returns whether two truth values, or two bit-vectors, are equal.
    #[track_caller]
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        if self.sort(a) == Sort::Bool {
            return self.iff(a, b);
        }
        self.common_width(a, b);
        self.related(Relation::Eq, a, b, FUEL)
    }

    /// Returns whether two truth values, or two bit-vectors, differ.
    #[track_caller]
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    /// Returns whether `a < b`, both unsigned.
    #[track_caller]
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        self.common_width(a, b);
        self.related(Relation::Ult, a, b, FUEL)
    }

    /// Returns whether `a <= b`, both unsigned.
    #[track_caller]
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let greater = self.ult(b, a);
        self.not(greater)
    }

    /// Returns whether `a < b`, both signed.
    #[track_caller]
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        self.common_width(a, b);
        self.related(Relation::Slt, a, b, FUEL)
    }

    /// Returns whether `a <= b`, both signed.
    #[track_caller]
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let greater = self.slt(b, a);
        self.not(greater)
    }

    fn related(&mut self, relation: Relation, a: Term, b: Term, fuel: u32) -> Term {
        let width = self.width(a);
        if a == b {
            return self.truth(relation == Relation::Eq);
        }
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.truth(match relation {
                Relation::Eq => x == y,
                Relation::Ult => x < y,
                Relation::Slt => signed(width, x) < signed(width, y),
            });
        }
        let simpler = if fuel == 0 {
            None
        } else {
            self.through_choices(relation, a, b, fuel - 1)
                .or_else(|| match relation {
                    Relation::Eq => self.simpler_eq(a, b, fuel - 1),
                    Relation::Ult => self.simpler_ult(a, b, fuel - 1),
                    Relation::Slt => self.simpler_slt(a, b, fuel - 1),
                })
        };
        if let Some(simpler) = simpler {
            return simpler;
        }
        let node = match relation {
            Relation::Eq => {
                // A constant stands to the right.
                let swap = match (self.as_constant(a), self.as_constant(b)) {
                    (Some(_), _) => true,
                    (_, Some(_)) => false,
                    _ => b < a,
                };
                if swap { Node::Eq(b, a) } else { Node::Eq(a, b) }
            }
            Relation::Ult => Node::Ult(a, b),
            Relation::Slt => Node::Slt(a, b),
        };
        self.intern(node, Sort::Bool)
    }

    /// A comparison with choices becomes a choice of comparisons, where most of these are decided.
    fn through_choices(&mut self, relation: Relation, a: Term, b: Term, fuel: u32) -> Option<Term> {
        if let (Node::Ite(c, x, y), Node::Ite(d, u, v)) = (self.node(a), self.node(b))
            && c == d
        {
            // Both sides may be such pairs again.
            let then = self.related(relation, x, u, fuel / 2);
            let otherwise = self.related(relation, y, v, fuel / 2);
            return Some(self.ite(c, then, otherwise));
        }
        for (choice, other, left) in [(a, b, true), (b, a, false)] {
            let Node::Ite(c, x, y) = self.node(choice) else {
                continue;
            };
            let decided = |terms: &Terms, side: Term| {
                side == other
                    || (terms.as_constant(side).is_some() && terms.as_constant(other).is_some())
            };
            if !decided(self, x) && !decided(self, y) {
                continue;
            }
            let side = |terms: &mut Terms, side: Term| {
                if left {
                    terms.related(relation, side, other, fuel)
                } else {
                    terms.related(relation, other, side, fuel)
                }
            };
            let (then, otherwise) = (side(self, x), side(self, y));
            return Some(self.ite(c, then, otherwise));
        }
        None
    }

    /// The two have no value in common, as their bounds tell.
    fn bounds_apart(&self, a: Term, b: Term) -> bool {
        let ((a0, a1), (b0, b1)) = (self.signed_bounds(a), self.signed_bounds(b));
        self.most(a) < self.least(b) || self.most(b) < self.least(a) || a1 < b0 || b1 < a0
    }

    fn simpler_eq(&mut self, a: Term, b: Term, fuel: u32) -> Option<Term> {
        let width = self.width(a);
        if self.apart(a, b) || self.bounds_apart(a, b) {
            return Some(self.truth(false));
        }
        if let Some(k) = self.as_constant(b) {
            return self.simpler_eq_constant(width, a, k, fuel);
        }
        if let Some(k) = self.as_constant(a) {
            return self.simpler_eq_constant(width, b, k, fuel);
        }
        match (self.node(a), self.node(b)) {
            (Node::Add(x, y), Node::Add(u, v)) => {
                for (shared, same, rest, others) in
                    [(x, u, y, v), (x, v, y, u), (y, u, x, v), (y, v, x, u)]
                {
                    if shared == same {
                        return Some(self.related(Relation::Eq, rest, others, fuel));
                    }
                }
                None
            }
            (Node::Neg(x), Node::Neg(y)) | (Node::BitNot(x), Node::BitNot(y)) => {
                Some(self.related(Relation::Eq, x, y, fuel))
            }
            (Node::SignExtend(x), Node::SignExtend(y)) if self.width(x) == self.width(y) => {
                Some(self.related(Relation::Eq, x, y, fuel))
            }
            (Node::Concat(x, y), Node::Concat(u, v)) if self.width(y) == self.width(v) => {
                let high = self.related(Relation::Eq, x, u, fuel);
                let low = self.related(Relation::Eq, y, v, fuel);
                Some(self.and(high, low))
            }
            _ => {
                for (sum, other) in [(a, b), (b, a)] {
                    if let Node::Add(x, y) | Node::BitXor(x, y) = self.node(sum) {
                        let rest = if x == other {
                            y
                        } else if y == other {
                            x
                        } else {
                            continue;
                        };
                        let zero = self.constant(width, 0);
                        return Some(self.related(Relation::Eq, rest, zero, fuel));
                    }
                }
                None
            }
        }
    }

    fn simpler_eq_constant(&mut self, width: u32, a: Term, k: u128, fuel: u32) -> Option<Term> {
        let (x, k) = match self.node(a) {
            Node::Add(x, c) => (x, k.wrapping_sub(self.as_constant(c)?)),
            Node::BitXor(x, c) => (x, k ^ self.as_constant(c)?),
            Node::Neg(x) => (x, k.wrapping_neg()),
            Node::BitNot(x) => (x, !k),
            Node::Mul(x, c) => {
                let c = self.as_constant(c)?;
                if c % 2 == 0 {
                    return None; // trailing zeros were compared already
                }
                (x, k.wrapping_mul(inverse(c)))
            }
            Node::BitAnd(_, m) => {
                let m = self.as_constant(m)?;
                return (k & !m != 0).then(|| self.truth(false));
            }
            Node::SignExtend(x) => {
                let inner = self.width(x);
                // It fits, else the bounds had told.
                let k = self.constant(inner, k);
                return Some(self.related(Relation::Eq, x, k, fuel));
            }
            Node::Concat(high, low) => {
                let below = self.width(low);
                let above = self.constant(width - below, k >> below);
                let least = self.constant(below, k);
                let high = self.related(Relation::Eq, high, above, fuel);
                let low = self.related(Relation::Eq, low, least, fuel);
                return Some(self.and(high, low));
            }
            Node::Extract { of, high, low } if high == low && high + 1 == self.width(of) => {
                let negative = self.is_negative(of);
                return Some(self.not_if(k == 0, negative));
            }
            _ => {
                let trailing = u32::from(self.known(a).trailing);
                return (k & !(u128::MAX << trailing.min(127)) != 0).then(|| self.truth(false));
            }
        };
        let k = self.constant(width, k);
        Some(self.related(Relation::Eq, x, k, fuel))
    }

    /// Returns whether the highest bit of `a` is set.
    #[track_caller]
    pub fn is_negative(&mut self, a: Term) -> Term {
        let width = self.width(a);
        let zero = self.constant(width, 0);
        self.slt(a, zero)
    }

    /// Whether two terms differ for all values of their variables, as far as their form tells: constants, or one base with two distances.
    pub(crate) fn apart(&self, a: Term, b: Term) -> bool {
        let split = |term: Term| match self.node(term) {
            Node::Constant(value) => (None, value),
            Node::Add(x, c) => match self.as_constant(c) {
                Some(value) => (Some(x), value),
                None => (Some(term), 0),
            },
            _ => (Some(term), 0),
        };
        let ((base, distance), (other, far)) = (split(a), split(b));
        base == other && distance != far
    }

    fn simpler_ult(&mut self, a: Term, b: Term, fuel: u32) -> Option<Term> {
        let width = self.width(a);
        let all = mask(width);
        if self.most(a) < self.least(b) {
            return Some(self.truth(true));
        }
        if self.least(a) >= self.most(b) {
            return Some(self.truth(false));
        }
        let equal = |terms: &mut Terms, x: Term, k: u128| {
            let k = terms.constant(width, k);
            terms.related(Relation::Eq, x, k, fuel)
        };
        match (self.as_constant(a), self.as_constant(b)) {
            (_, Some(1)) => return Some(equal(self, a, 0)),
            (Some(0), _) => {
                let zero = equal(self, b, 0);
                return Some(self.not(zero));
            }
            (_, Some(k)) if k == all => {
                let most = equal(self, a, all);
                return Some(self.not(most));
            }
            (Some(k), _) if k == all - 1 => return Some(equal(self, b, all)),
            _ => {}
        }
        if let Some(simpler) = self.narrower(Relation::Ult, a, b, fuel) {
            return Some(simpler);
        }
        match (self.node(a), self.node(b)) {
            // Widening with copies of the sign keeps the order, also this one.
            (Node::SignExtend(x), Node::SignExtend(y)) if self.width(x) == self.width(y) => {
                Some(self.related(Relation::Ult, x, y, fuel))
            }
            (Node::Concat(x, y), Node::Concat(u, v))
                if self.width(y) == self.width(v) && x == u =>
            {
                Some(self.related(Relation::Ult, y, v, fuel))
            }
            _ => None,
        }
    }

    fn simpler_slt(&mut self, a: Term, b: Term, fuel: u32) -> Option<Term> {
        let width = self.width(a);
        let ((a0, a1), (b0, b1)) = (self.signed_bounds(a), self.signed_bounds(b));
        if a1 < b0 {
            return Some(self.truth(true));
        }
        if a0 >= b1 {
            return Some(self.truth(false));
        }
        if a0 >= 0 && b0 >= 0 {
            return Some(self.related(Relation::Ult, a, b, fuel));
        }
        let least = signed(width, least_signed(width));
        // Beside the ends only one value is left, or all but one.
        let end = if width == 1 {
            None
        } else if a0 == a1 && a0 == least {
            Some((b, least, true))
        } else if a0 == a1 && a0 == !least - 1 {
            Some((b, !least, false))
        } else if b0 == b1 && b0 == !least {
            Some((a, !least, true))
        } else if b0 == b1 && b0 == least + 1 {
            Some((a, least, false))
        } else {
            None
        };
        if let Some((other, k, negated)) = end {
            let k = self.constant(width, wrap(width, k));
            let equal = self.related(Relation::Eq, other, k, fuel);
            return Some(self.not_if(negated, equal));
        }
        match (self.node(a), self.node(b)) {
            (Node::SignExtend(x), Node::SignExtend(y)) if self.width(x) == self.width(y) => {
                Some(self.related(Relation::Slt, x, y, fuel))
            }
            // The other fits, else the bounds had told.
            (Node::SignExtend(x), Node::Constant(k)) => {
                let inner = self.width(x);
                let k = self.constant(inner, k);
                Some(self.related(Relation::Slt, x, k, fuel))
            }
            (Node::Constant(k), Node::SignExtend(x)) => {
                let inner = self.width(x);
                let k = self.constant(inner, k);
                Some(self.related(Relation::Slt, k, x, fuel))
            }
            // The sign of a wider vector is that of its upper part.
            (Node::Concat(x, _), Node::Constant(0)) => {
                let zero = self.width(x);
                let zero = self.constant(zero, 0);
                Some(self.related(Relation::Slt, x, zero, fuel))
            }
            (Node::BitNot(x), Node::Constant(0)) => {
                let negative = self.related(Relation::Slt, x, b, fuel);
                Some(self.not(negative))
            }
            _ => None,
        }
    }

    /// Both without the upper bits that are zero in both.
    fn narrower(&mut self, relation: Relation, a: Term, b: Term, fuel: u32) -> Option<Term> {
        let wide = |terms: &Terms, term: Term| match terms.node(term) {
            Node::Constant(_) => Some(u32::from(terms.known(term).leading)),
            Node::Concat(high, _) if terms.as_constant(high) == Some(0) => Some(terms.width(high)),
            _ => None,
        };
        let width = self.width(a);
        let zeros = wide(self, a)?.min(wide(self, b)?);
        if zeros == 0 || zeros >= width {
            return None;
        }
        let a = self.extract(a, width - zeros - 1, 0);
        let b = self.extract(b, width - zeros - 1, 0);
        Some(self.related(relation, a, b, fuel))
    }
}

/// The number that an odd one gives one with, modulo 2^128 and therefore modulo any smaller power.
fn inverse(odd: u128) -> u128 {
    let mut x = odd;
    for _ in 0..7 {
        x = x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}
