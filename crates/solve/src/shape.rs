//! Terms that cut bits out, join them or widen them.

use crate::fold::{mask, signed, wrap};
use crate::sort::{MOST_BITS, Sort};
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Returns the bits `low` to `high` of a term, both included, counted from the lowest.
    #[track_caller]
    pub fn extract(&mut self, of: Term, high: u32, low: u32) -> Term {
        let width = self.width(of);
        assert!(
            low <= high && high < width,
            "bits {low} to {high} of {width}"
        );
        let result = high - low + 1;
        if result == width {
            return of;
        }
        match self.node(of) {
            Node::Constant(value) => return self.constant(result, value >> low),
            Node::Extract {
                of: inner,
                low: below,
                ..
            } => return self.extract(inner, high + below, low + below),
            Node::Concat(upper, lower) => {
                let below = self.width(lower);
                if high < below {
                    return self.extract(lower, high, low);
                }
                if low >= below {
                    return self.extract(upper, high - below, low - below);
                }
                let upper = self.extract(upper, high - below, 0);
                let lower = self.extract(lower, below - 1, low);
                return self.concat(upper, lower);
            }
            Node::SignExtend(inner) => {
                let narrow = self.width(inner);
                if high < narrow {
                    return self.extract(inner, high, low);
                }
                let part = self.extract(inner, narrow - 1, low.min(narrow - 1));
                return self.sign_extend(part, result);
            }
            // The low bits of these depend on low bits only, and where the operands get smaller, so does the circuit.
            Node::Add(a, b) if low == 0 && self.shrinks(a) && self.shrinks(b) => {
                let (a, b) = (self.extract(a, high, 0), self.extract(b, high, 0));
                return self.add(a, b);
            }
            Node::Mul(a, b) if low == 0 && self.shrinks(a) && self.shrinks(b) => {
                let (a, b) = (self.extract(a, high, 0), self.extract(b, high, 0));
                return self.mul(a, b);
            }
            Node::Neg(a) if low == 0 && self.shrinks(a) => {
                let a = self.extract(a, high, 0);
                return self.neg(a);
            }
            Node::BitNot(a) if self.shrinks(a) => {
                let a = self.extract(a, high, low);
                return self.bit_not(a);
            }
            Node::BitAnd(a, b) if self.shrinks(a) || self.shrinks(b) => {
                let (a, b) = (self.extract(a, high, low), self.extract(b, high, low));
                return self.bit_and(a, b);
            }
            Node::BitXor(a, b) if self.shrinks(a) || self.shrinks(b) => {
                let (a, b) = (self.extract(a, high, low), self.extract(b, high, low));
                return self.bit_xor(a, b);
            }
            Node::Ite(c, a, b) if self.shrinks(a) && self.shrinks(b) => {
                let (a, b) = (self.extract(a, high, low), self.extract(b, high, low));
                return self.ite(c, a, b);
            }
            _ => {}
        }
        self.intern(Node::Extract { of, high, low }, Sort::Bits(result))
    }

    /// Cutting bits out of it makes it simpler.
    fn shrinks(&self, term: Term) -> bool {
        matches!(
            self.node(term),
            Node::Constant(_) | Node::Concat(..) | Node::SignExtend(_) | Node::Extract { .. }
        )
    }

    /// Returns the bits of `high` above those of `low`.
    #[track_caller]
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (above, below) = (self.width(high), self.width(low));
        let width = above + below;
        assert!(width <= MOST_BITS, "{width} bits are not supported");
        // Parts hang to the right, and those that belong together are joined.
        if let Node::Concat(first, second) = self.node(high) {
            let rest = self.concat(second, low);
            return self.concat(first, rest);
        }
        if let Some(joined) = self.joined(high, low) {
            return joined;
        }
        if let Node::Concat(second, third) = self.node(low)
            && let Some(joined) = self.joined(high, second)
        {
            return self.concat(joined, third);
        }
        self.intern(Node::Concat(high, low), Sort::Bits(width))
    }

    /// Two neighbours as one term that is no concatenation.
    fn joined(&mut self, high: Term, low: Term) -> Option<Term> {
        let (above, below) = (self.width(high), self.width(low));
        let width = above + below;
        let both = |x: u128, y: u128| (x << below) | y;
        if let Some((of, sign)) = self.copies_of_bit(high) {
            // Copies of the sign above what has it.
            let narrow = match self.node(low) {
                Node::SignExtend(narrow) => narrow,
                _ => low,
            };
            let widened = match self.node(narrow) {
                Node::Extract {
                    of: x, high: top, ..
                } => x == of && top == sign,
                _ => narrow == of && sign + 1 == self.width(of),
            };
            if widened {
                return Some(self.sign_extend(low, width));
            }
        }
        match (self.node(high), self.node(low)) {
            (Node::Constant(x), Node::Constant(y)) => Some(self.constant(width, both(x, y))),
            (
                Node::Extract {
                    of: x,
                    high: top,
                    low: a,
                },
                Node::Extract {
                    of: y,
                    high: b,
                    low: bottom,
                },
            ) if x == y && a == b + 1 => Some(self.extract(x, top, bottom)),
            (Node::Constant(x), _) => {
                let (c, y, z) = self.as_constant_choice(low)?;
                let (y, z) = (
                    self.constant(width, both(x, y)),
                    self.constant(width, both(x, z)),
                );
                Some(self.ite(c, y, z))
            }
            (_, Node::Constant(y)) => {
                let (c, x, z) = self.as_constant_choice(high)?;
                let (x, z) = (
                    self.constant(width, both(x, y)),
                    self.constant(width, both(z, y)),
                );
                Some(self.ite(c, x, z))
            }
            _ => None,
        }
    }

    /// The bit of a term of which this one consists.
    fn copies_of_bit(&self, term: Term) -> Option<(Term, u32)> {
        let bit = match self.node(term) {
            Node::SignExtend(bit) => bit,
            _ => term,
        };
        match self.node(bit) {
            Node::Extract { of, high, low } if high == low => Some((of, low)),
            _ => None,
        }
    }

    /// Returns `a` widened to `width` bits by zeros. An equal width gives `a`.
    #[track_caller]
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        let narrow = self.width(a);
        assert!(
            (narrow..=MOST_BITS).contains(&width),
            "{narrow} bits cannot be widened to {width}"
        );
        if width == narrow {
            return a;
        }
        let zeros = self.constant(width - narrow, 0);
        self.concat(zeros, a)
    }

    /// Returns `a` widened to `width` bits by copies of its sign. An equal width gives `a`.
    #[track_caller]
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        let narrow = self.width(a);
        assert!(
            (narrow..=MOST_BITS).contains(&width),
            "{narrow} bits cannot be widened to {width}"
        );
        if width == narrow {
            return a;
        }
        match self.node(a) {
            Node::Constant(value) => {
                return self.constant(width, wrap(width, signed(narrow, value)));
            }
            Node::SignExtend(inner) => return self.sign_extend(inner, width),
            _ if self.known(a).leading > 0 => return self.zero_extend(a, width),
            _ => {}
        }
        if let Some((c, x, y)) = self.as_constant_choice(a) {
            let [x, y] = [x, y].map(|value| wrap(width, signed(narrow, value)));
            let (x, y) = (self.constant(width, x), self.constant(width, y));
            return self.ite(c, x, y);
        }
        self.intern(Node::SignExtend(a), Sort::Bits(width))
    }

    /// The parts above and below that boundary, where they can be had without new nodes.
    pub(crate) fn split(&mut self, term: Term, boundary: u32) -> Option<(Term, Term)> {
        let width = self.width(term);
        match self.node(term) {
            Node::Constant(value) => Some((
                self.constant(width - boundary, value >> boundary),
                self.constant(boundary, value & mask(boundary)),
            )),
            Node::Concat(..) => {
                // Parts hang to the right.
                let mut rest = term;
                while let Node::Concat(high, low) = self.node(rest) {
                    let below = self.width(low);
                    if below == boundary || (below < boundary && self.as_constant(high).is_some()) {
                        return Some((
                            self.extract(term, width - 1, boundary),
                            self.extract(term, boundary - 1, 0),
                        ));
                    }
                    if below < boundary {
                        return None;
                    }
                    rest = low;
                }
                match self.node(rest) {
                    Node::Constant(_) => Some((
                        self.extract(term, width - 1, boundary),
                        self.extract(term, boundary - 1, 0),
                    )),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
