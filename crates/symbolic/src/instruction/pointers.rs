//! Encodes calculations with pointers.

use patchwright_ir::{ObjectId, Subscript, Type, Undefined};
use patchwright_solve::{Sort, Term};

use crate::{
    encoder::{Encoder, Go, State, World},
    encoding::Place,
    meaning::{self},
    memory::{Kind, Object},
    pointer::{Leaf, Number},
};

/// How the names of string literals begin.
const STRING: &str = ".string";

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

    /// Returns the pointer `a` plus or minus an index times `size` bytes.
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

    /// Returns whether two pointers are equal. Pointers to different objects are not. It is unknown for a pointer behind the
    /// end of an object and one to the beginning of another, and for two into string literals.
    pub(super) fn same_address(&mut self, world: &World, a: Term, b: Term) -> Term {
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
                    false => match self.may_touch(world, one, other) {
                        Some(touch) => {
                            let bit = Sort::Bits(1);
                            let open = self.open("whether two objects lie next to each other", bit);
                            let yes = self.terms.constant(1, 1);
                            let open = self.terms.eq(open, yes);
                            self.terms.and(touch, open)
                        }
                        None => continue,
                    },
                };
                let both = self.terms.and(one.condition, other.condition);
                let here = self.terms.and(both, same);
                equal = self.terms.or(equal, here);
            }
        }
        equal
    }

    /// When two pointers into different objects may be equal, if they may.
    fn may_touch(&mut self, world: &World, one: &Leaf, other: &Leaf) -> Option<Term> {
        let x = world.memory.get(one.object).cloned()?;
        let y = world.memory.get(other.object).cloned()?;
        let is_code =
            |object: &Object| matches!(object.kind, Kind::Function(_) | Kind::Callback(_));
        if is_code(&x) || is_code(&y) {
            return None;
        }
        let behind = self.is_end_and_start((&x, one), (&y, other));
        let before = self.is_end_and_start((&y, other), (&x, one));
        let mut touch = self.terms.or(behind, before);
        if let (Some(a), Some(b)) = (self.literal(one.object), self.literal(other.object)) {
            let shared = self.same_tails((&a, one.offset), (&b, other.offset));
            touch = self.terms.or(touch, shared);
        }
        (self.terms.as_truth(touch) != Some(false)).then_some(touch)
    }

    /// Whether one pointer leads behind the end of its object, and the other to the beginning of its own.
    fn is_end_and_start(
        &mut self,
        (ended, end): (&Object, &Leaf),
        (begun, begin): (&Object, &Leaf),
    ) -> Term {
        let zero = self.word(0);
        let at_end = self.counted_from_start(ended, end.offset);
        let at_begin = self.counted_from_start(begun, begin.offset);
        let is_end = self.terms.eq(at_end, ended.size);
        let is_begin = self.terms.eq(at_begin, zero);
        let empty = self.terms.eq(ended.size, zero);
        let some = self.terms.not(empty);
        let is_end = self.terms.and(is_end, some);
        self.terms.and(is_end, is_begin)
    }

    /// The bytes of a string literal.
    fn literal(&self, number: Number) -> Option<Vec<u8>> {
        let index = self.globals.iter().position(|&own| own == number)?;
        let global = self.program.global(ObjectId(index as u32));
        let is_literal = global.constant && global.name.starts_with(STRING);
        let data = global.data.as_ref().filter(|_| is_literal)?;
        let mut bytes = data.bytes.clone();
        bytes.resize(usize::try_from(global.size).ok()?, 0);
        Some(bytes)
    }

    /// Whether two places in literals are followed by the same bytes.
    fn same_tails(&mut self, (a, at): (&[u8], Term), (b, other): (&[u8], Term)) -> Term {
        let alike = a.iter().rev().zip(b.iter().rev());
        let alike = alike.take_while(|(x, y)| x == y).count() as u64;
        let (x, y) = (self.word(a.len() as u64), self.word(b.len() as u64));
        let (x, y) = (self.terms.sub(x, at), self.terms.sub(y, other));
        let most = self.word(alike);
        let same = self.terms.eq(x, y);
        let near = self.terms.ule(x, most);
        self.terms.and(same, near)
    }

    /// Returns the number of elements between two pointers.
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
