//! Terms for shifts. A count is an unsigned number of the same width.

use crate::fold;
use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

impl Terms {
    /// Returns `a` shifted to the left. A count of at least the width gives zero.
    #[track_caller]
    pub fn shl(&mut self, a: Term, count: Term) -> Term {
        let width = self.common_width(a, count);
        self.shifted(a, count, Node::Shl, |terms, a, count| {
            if count >= width {
                return terms.constant(width, 0);
            }
            let kept = terms.extract(a, width - 1 - count, 0);
            let zeros = terms.constant(count, 0);
            terms.concat(kept, zeros)
        })
    }

    /// Returns `a` shifted to the right, filled with zeros. A count of at least the width gives zero.
    #[track_caller]
    pub fn lshr(&mut self, a: Term, count: Term) -> Term {
        let width = self.common_width(a, count);
        self.shifted(a, count, Node::Lshr, |terms, a, count| {
            if count >= width {
                return terms.constant(width, 0);
            }
            let kept = terms.extract(a, width - 1, count);
            terms.zero_extend(kept, width)
        })
    }

    /// Returns `a` shifted to the right, filled with copies of the sign. A count of at least the
    /// width gives only these.
    #[track_caller]
    pub fn ashr(&mut self, a: Term, count: Term) -> Term {
        let width = self.common_width(a, count);
        if self.known(a).leading > 0 {
            return self.lshr(a, count);
        }
        self.shifted(a, count, Node::Ashr, |terms, a, count| {
            let kept = terms.extract(a, width - 1, count.min(width - 1));
            terms.sign_extend(kept, width)
        })
    }

    fn shifted(
        &mut self,
        a: Term,
        count: Term,
        node: fn(Term, Term) -> Node,
        by_constant: impl Fn(&mut Terms, Term, u32) -> Term,
    ) -> Term {
        let width = self.width(a);
        let few = |count: u128| count.min(u128::from(width)) as u32;
        if let Some(k) = self.as_constant(count) {
            return if k == 0 {
                a
            } else if let Some(value) = self.as_constant(a) {
                let value = match node(a, count) {
                    Node::Shl(..) => fold::shl(width, value, k),
                    Node::Lshr(..) => fold::lshr(width, value, k),
                    _ => fold::ashr(width, value, k),
                };
                self.constant(width, value)
            } else {
                by_constant(self, a, few(k))
            };
        }
        if self.as_constant(a) == Some(0) {
            return a;
        }
        if let Some((c, x, y)) = self.as_constant_choice(count) {
            let mut side = |k: u128| match few(k) {
                0 => a,
                k => by_constant(self, a, k),
            };
            let (x, y) = (side(x), side(y));
            return self.ite(c, x, y);
        }
        self.intern(node(a, count), Sort::Bits(width))
    }
}
