//! Keeps with each term what is known of its bits without solving.

use crate::fold::mask;
use crate::sort::Sort;
use crate::terms::{Node, Terms};

/// Lower bounds, for bits; all zero for other sorts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Known {
    /// This many of the highest bits are zero.
    pub leading: u8,
    /// This many of the highest bits are equal; at least one.
    pub signs: u8,
    /// This many of the lowest bits are zero.
    pub trailing: u8,
}

impl Known {
    fn nothing() -> Self {
        Known {
            leading: 0,
            signs: 1,
            trailing: 0,
        }
    }

    fn constant(width: u32, value: u128) -> Self {
        let leading = (value.leading_zeros() - (128 - width)) as u8;
        let ones = ((!value & mask(width)).leading_zeros() - (128 - width)) as u8;
        Known {
            leading,
            signs: leading.max(ones),
            trailing: value.trailing_zeros().min(width) as u8,
        }
    }

    /// Computes which bits of a node are known, from what is known of its operands.
    pub(crate) fn of(terms: &Terms, node: Node, sort: Sort) -> Self {
        let Sort::Bits(width) = sort else {
            return Known::default();
        };
        let full = width as u8;
        let mut known = match node {
            Node::Constant(value) => return Known::constant(width, value),
            Node::Ite(_, a, b) => {
                let (a, b) = (terms.known(a), terms.known(b));
                Known {
                    leading: a.leading.min(b.leading),
                    signs: a.signs.min(b.signs),
                    trailing: a.trailing.min(b.trailing),
                }
            }
            Node::Neg(a) => {
                let a = terms.known(a);
                Known {
                    leading: 0,
                    signs: a.signs.saturating_sub(1).max(1),
                    trailing: a.trailing,
                }
            }
            Node::Add(a, b) => {
                let (a, b) = (terms.known(a), terms.known(b));
                Known {
                    leading: a.leading.min(b.leading).saturating_sub(1),
                    signs: a.signs.min(b.signs).saturating_sub(1).max(1),
                    trailing: a.trailing.min(b.trailing),
                }
            }
            Node::Mul(a, b) => {
                let (a, b) = (terms.known(a), terms.known(b));
                let sum = |x: u8, y: u8| (u32::from(x) + u32::from(y)).saturating_sub(width) as u8;
                Known {
                    leading: sum(a.leading, b.leading),
                    // With sign, w-s+1 bits times w-t+1 bits need their sum.
                    signs: sum(a.signs, b.signs).saturating_sub(1).max(1),
                    trailing: a.trailing.saturating_add(b.trailing).min(full),
                }
            }
            Node::Urem(a, b) => {
                let leading = match terms.as_constant(b) {
                    Some(0) | None => terms.known(a).leading,
                    Some(k) => terms
                        .known(a)
                        .leading
                        .max(Known::constant(width, k - 1).leading),
                };
                Known {
                    leading,
                    ..Known::nothing()
                }
            }
            Node::Udiv(a, b) => match terms.as_constant(b) {
                Some(0) | None => Known::nothing(),
                Some(k) => Known {
                    leading: (u32::from(terms.known(a).leading) + k.ilog2()).min(width) as u8,
                    ..Known::nothing()
                },
            },
            Node::Sdiv(a, b) => match terms.as_constant(b) {
                Some(0) | None => Known::nothing(),
                // The least number divided by -1 is itself, all else loses no copy of the sign.
                Some(_) => Known {
                    signs: terms.known(a).signs.saturating_sub(1).max(1),
                    ..Known::nothing()
                },
            },
            Node::Srem(a, b) => {
                let a = terms.known(a).signs;
                let signs = match terms.as_constant(b) {
                    Some(0) | None => a,
                    Some(k) => a.max(Known::constant(width, k).signs),
                };
                Known {
                    signs,
                    ..Known::nothing()
                }
            }
            Node::BitNot(a) => Known {
                signs: terms.known(a).signs,
                ..Known::nothing()
            },
            Node::BitAnd(a, b) => {
                let (a, b) = (terms.known(a), terms.known(b));
                Known {
                    leading: a.leading.max(b.leading),
                    signs: a.signs.min(b.signs),
                    trailing: a.trailing.max(b.trailing),
                }
            }
            Node::BitXor(a, b) => {
                let (a, b) = (terms.known(a), terms.known(b));
                Known {
                    leading: a.leading.min(b.leading),
                    signs: a.signs.min(b.signs),
                    trailing: a.trailing.min(b.trailing),
                }
            }
            Node::Shl(a, _) => Known {
                trailing: terms.known(a).trailing,
                ..Known::nothing()
            },
            Node::Lshr(a, _) => Known {
                leading: terms.known(a).leading,
                ..Known::nothing()
            },
            Node::Ashr(a, _) => Known {
                leading: terms.known(a).leading,
                signs: terms.known(a).signs,
                ..Known::nothing()
            },
            Node::Extract { of, high, low } => {
                let cut = terms.width(of) - 1 - high;
                let of = terms.known(of);
                let rest = |count: u8| u32::from(count).saturating_sub(cut).min(width) as u8;
                Known {
                    leading: rest(of.leading),
                    signs: rest(of.signs).max(1),
                    trailing: u32::from(of.trailing).saturating_sub(low).min(width) as u8,
                }
            }
            Node::Concat(high, low) => {
                let (above, below) = (terms.width(high), terms.width(low));
                let (high, low) = (terms.known(high), terms.known(low));
                Known {
                    leading: if u32::from(high.leading) == above {
                        high.leading + low.leading
                    } else {
                        high.leading
                    },
                    signs: high.signs,
                    trailing: if u32::from(low.trailing) == below {
                        low.trailing + high.trailing
                    } else {
                        low.trailing
                    },
                }
            }
            Node::SignExtend(a) => {
                let more = width - terms.width(a);
                let a = terms.known(a);
                Known {
                    leading: if a.leading > 0 {
                        a.leading + more as u8
                    } else {
                        0
                    },
                    signs: a.signs + more as u8,
                    trailing: a.trailing,
                }
            }
            _ => Known::nothing(),
        };
        known.signs = known.signs.max(known.leading).max(1);
        known
    }
}

impl Terms {
    /// No value of the term is greater, without sign.
    pub(crate) fn most(&self, term: crate::Term) -> u128 {
        match self.as_constant(term) {
            Some(value) => value,
            None => {
                let width = self.width(term);
                let known = self.known(term);
                let bits = width - u32::from(known.leading);
                if bits == 0 {
                    return 0;
                }
                mask(bits)
                    & !(mask(u32::from(known.trailing).max(1)) * u128::from(known.trailing > 0))
            }
        }
    }

    /// Returns a lower bound of the number of zero bits at the low end of `term`.
    pub fn trailing_zeros(&self, term: crate::Term) -> u32 {
        match self.as_constant(term) {
            Some(bits) => bits.trailing_zeros().min(self.width(term)),
            None => u32::from(self.known(term).trailing),
        }
    }

    /// No value of the term is less, without sign.
    pub(crate) fn least(&self, term: crate::Term) -> u128 {
        self.as_constant(term).unwrap_or(0)
    }

    /// The least and the greatest value of the term, with sign.
    pub(crate) fn signed_bounds(&self, term: crate::Term) -> (i128, i128) {
        let width = self.width(term);
        if let Some(value) = self.as_constant(term) {
            let value = crate::fold::signed(width, value);
            return (value, value);
        }
        let known = self.known(term);
        let most = (mask(width - u32::from(known.signs) + 1) >> 1) as i128;
        if known.leading > 0 {
            (0, most)
        } else {
            (!most, most)
        }
    }
}
