//! Encodes calculations with pointers.

use patchwright_ir::{Subscript, Type, Undefined};
use patchwright_solve::Term;

use crate::{
    encoder::{Encoder, Go, State},
    encoding::Place,
    meaning::{self},
};

impl<'p> Encoder<'p> {
    /// An index within a part of an object must be one of that part's.
    pub(super) fn subscript(
        &mut self,
        state: &State,
        (ty, index): (Type, Term),
        of: Subscript,
        place: &Place,
    ) {
        let width = meaning::width(ty).unwrap_or(64);
        let index = meaning::resize(self.terms, index, width, 64, ty.is_signed());
        let greatest = self.word(of.greatest());
        let beyond = self.terms.ult(greatest, index);
        self.tolerated(
            &state.world,
            beyond,
            Undefined::OutOfBounds,
            || format!("an index outside of its array (0 to {})", of.greatest()),
            place,
        );
    }

    pub(super) fn pointer_add(
        &mut self,
        state: &State,
        a: Term,
        (ty, index): (Type, Term),
        size: Term,
        negative: bool,
        place: &Place,
    ) -> Go<Term> {
        let width = meaning::width(ty).unwrap_or(64);
        let index = meaning::resize(self.terms, index, width, 64, ty.is_signed());
        let mut by = self.terms.mul(index, size);
        if negative {
            by = self.terms.neg(by);
        }
        // Offsets are exact for indices of 32 bits; an access there is out of bounds in any case. The interpreter has the
        // same limit, and a huge number without a sign is no step back.
        let near = -(1i64 << 31)..1 << 31;
        let bounds = match self.terms.as_constant(index) {
            Some(bits)
                if near.contains(&(bits as u64 as i64))
                    && (ty.is_signed() || bits as u64 as i64 >= 0) =>
            {
                None
            }
            None if width <= 32 => None,
            _ => {
                let (low, high) = (self.word(near.start as u64), self.word(near.end as u64));
                let below = match ty.is_signed() {
                    true => self.terms.slt(index, high),
                    false => self.terms.ult(index, high),
                };
                let above = match ty.is_signed() {
                    true => self.terms.sle(low, index),
                    false => self.terms.truth(true),
                };
                Some(self.terms.and(above, below))
            }
        };
        if let Some(near) = bounds {
            let far = self.terms.not(near);
            self.undefined(
                &state.world,
                far,
                Undefined::BadPointerArithmetic,
                || "a pointer is moved far out of its object".to_owned(),
                place,
            );
        }
        let zero = self.word(0);
        let stays = self.terms.eq(by, zero);
        let moves = self.terms.not(stays);
        let null = self.is_null(a);
        let bad = self.terms.and(null, moves);
        self.tolerated(
            &state.world,
            bad,
            Undefined::BadPointerArithmetic,
            || "arithmetic on a null pointer".to_owned(),
            place,
        );
        Ok(self.advanced(a, by))
    }

    /// Whether a pointer is null.
    pub(crate) fn is_null(&mut self, pointer: Term) -> Term {
        let targets = self.pointers.targets(self.terms, pointer);
        if targets.opaque.is_none() {
            let zero = self.word(0);
            let mut null = self.terms.truth(false);
            for leaf in targets.leaves.iter().filter(|leaf| leaf.object == 0) {
                let at_zero = self.terms.eq(leaf.offset, zero);
                let here = self.terms.and(leaf.condition, at_zero);
                null = self.terms.or(null, here);
            }
            return null;
        }
        let zero = self.word(0);
        self.terms.eq(pointer, zero)
    }

    /// Whether two pointers are equal; those to different objects never are.
    pub(super) fn same_address(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.terms.truth(true);
        }
        let (x, y) = (
            self.pointers.targets(self.terms, a),
            self.pointers.targets(self.terms, b),
        );
        if x.opaque.is_some() || y.opaque.is_some() {
            return self.terms.eq(a, b);
        }
        let mut equal = self.terms.truth(false);
        for one in &x.leaves {
            for other in &y.leaves {
                let same = match one.object == other.object {
                    true => self.terms.eq(one.offset, other.offset),
                    // Some number may be where an object lies; null is not.
                    false if one.object == 0 || other.object == 0 => {
                        let number = if one.object == 0 { one } else { other };
                        if self.terms.as_constant(number.offset).is_some() {
                            continue;
                        }
                        let (a, b) = (self.number_of_leaf(one), self.number_of_leaf(other));
                        self.terms.eq(a, b)
                    }
                    false => continue,
                };
                let both = self.terms.and(one.condition, other.condition);
                let here = self.terms.and(both, same);
                equal = self.terms.or(equal, here);
            }
        }
        equal
    }

    pub(super) fn difference(
        &mut self,
        state: &State,
        a: Term,
        b: Term,
        size: Term,
        place: &Place,
    ) -> Term {
        let (x, y) = (
            self.pointers.targets(self.terms, a),
            self.pointers.targets(self.terms, b),
        );
        let (distance, same) = if x.opaque.is_some() || y.opaque.is_some() {
            let (high, other) = (self.terms.extract(a, 63, 32), self.terms.extract(b, 63, 32));
            (self.terms.sub(a, b), self.terms.eq(high, other))
        } else {
            let mut distance = self.word(0);
            let mut same = self.terms.truth(false);
            for one in &x.leaves {
                for other in y.leaves.iter().filter(|other| other.object == one.object) {
                    let both = self.terms.and(one.condition, other.condition);
                    let here = self.terms.sub(one.offset, other.offset);
                    distance = self.terms.ite(both, here, distance);
                    same = self.terms.or(same, both);
                }
            }
            (distance, same)
        };
        let different = self.terms.not(same);
        self.undefined(
            &state.world,
            different,
            Undefined::BadDifference,
            || "the difference of pointers into different objects".to_owned(),
            place,
        );
        if self.terms.as_constant(size) == Some(1) {
            return distance;
        }
        let zero = self.word(0);
        let rest = self.terms.srem(distance, size);
        let whole = self.terms.eq(rest, zero);
        let broken = self.terms.not(whole);
        let bad = self.terms.and(same, broken);
        self.undefined(
            &state.world,
            bad,
            Undefined::BadDifference,
            || "pointers that are not whole elements apart".to_owned(),
            place,
        );
        self.terms.sdiv(distance, size)
    }
}
