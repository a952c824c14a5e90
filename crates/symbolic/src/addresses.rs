//! Addresses as numbers: what an execution does with them must not depend on where the encoding puts its objects.
//!
//! An object's address is some number that the program's environment chooses, so it is a value that is not encoded. A number
//! that was made of a pointer leads back to it; any other number is the address of no object.

use patchwright_ir::Type;
use patchwright_semantics::BinaryOp;
use patchwright_solve::{Node, Sort, Term};

use crate::{
    encoder::{Encoder, World},
    encoding::Place,
    memory::Kind,
    pointer::{Leaf, Number, Targets},
};

/// Parts of a number that are looked at to find the pointer that it was made of.
const MOST_PARTS: u32 = 64;

impl Encoder<'_> {
    /// The number that a pointer becomes, in 64 bits.
    pub(crate) fn as_number(&mut self, pointer: Term) -> Term {
        let targets = self.pointers.targets(self.terms, pointer);
        if targets.opaque.is_some() {
            if self.is_number_of_input(pointer) {
                return pointer;
            }
            let number = self.open_of("the address that is in memory", &[pointer], Sort::Bits(64));
            self.number_pointers.insert(number, pointer);
            return number;
        }
        let mut number: Option<Term> = None;
        for leaf in targets.leaves.iter().rev() {
            let here = self.number_of_leaf(leaf);
            number = Some(match number {
                None => here,
                Some(other) => self.terms.ite(leaf.condition, here, other),
            });
        }
        let number = number.unwrap_or(pointer);
        if number != pointer {
            self.number_pointers.insert(number, pointer);
        }
        number
    }

    /// A variable, which holds no address.
    fn is_number_of_input(&self, term: Term) -> bool {
        self.terms
            .name(term)
            .is_some_and(|name| name.starts_with("input."))
    }

    /// Returns the address of a leaf as a number; for null, the offset.
    pub(crate) fn number_of_leaf(&mut self, leaf: &Leaf) -> Term {
        match leaf.object {
            0 => leaf.offset,
            object => {
                let start = self.start_of(object);
                self.terms.add(start, leaf.offset)
            }
        }
    }

    /// Where an object begins, as a number: no small one, and one that leaves room behind it.
    fn start_of(&mut self, object: Number) -> Term {
        let kind = self.numbers.get(object as usize).copied();
        let name = self.names.get(object as usize).cloned().unwrap_or_default();
        let is_shared = matches!(
            kind,
            Some(Kind::Global | Kind::Constant | Kind::Function(_))
        ) && !name.is_empty()
            && !name.starts_with('.');
        // What is known to other files, or behind arguments, has one address in two versions of a program.
        let what = match is_shared {
            true => format!("where `{name}` lies"),
            false => "where an object lies".to_owned(),
        };
        let own = self
            .terms
            .constant(32, if is_shared { 0 } else { u128::from(object) });
        // The alignment that every allocation has; that of other objects is not used.
        let low = match kind {
            Some(Kind::Heap) => 4,
            _ => 0,
        };
        let sort = Sort::Bits(46 - low);
        let bits = match is_shared {
            true => self.open_for("", &what, &[own], sort),
            false => self.open_of(&what, &[own], sort),
        };
        let bits = match low {
            0 => bits,
            low => {
                let zeros = self.terms.constant(low, 0);
                self.terms.concat(bits, zeros)
            }
        };
        let bits = self.terms.zero_extend(bits, 64);
        let least = self.word(1 << 16);
        let start = self.terms.add(bits, least);
        let address = self.pointers.address(self.terms, object, 0);
        self.number_pointers.insert(start, address);
        start
    }

    /// The pointer that a number of 64 bits becomes.
    pub(crate) fn number_as_pointer(&mut self, world: &World, number: Term, place: &Place) -> Term {
        let mut parts = MOST_PARTS;
        if let Some(pointer) = self.pointer_in(number, &mut parts) {
            return pointer;
        }
        if let Some(bits) = self.terms.as_constant(number) {
            let object = (bits >> 32) as usize;
            if object != 0 && object < self.numbers.len() {
                self.unknown(world, "a pointer that is made of a number", place);
            }
            return number;
        }
        if self.is_plain(number) {
            // No number that comes from elsewhere is the address of an object.
            let always = self.terms.truth(true);
            let leaf = Leaf {
                condition: always,
                object: 0,
                offset: number,
            };
            let targets = Targets {
                leaves: vec![leaf],
                opaque: None,
            };
            self.pointers.learn(number, targets);
        }
        number
    }

    /// Whether no part of a number was an address.
    pub(crate) fn is_plain(&self, number: Term) -> bool {
        self.consists_of(number, |_| false)
    }

    /// Whether a number is no address that the program made: no part of it was one, or functions without a body wrote it. These
    /// know the addresses that they got, and no others.
    pub(crate) fn is_plain_or_written_by_others(&self, number: Term) -> bool {
        self.consists_of(number, |part| self.foreign.contains(&part))
    }

    /// Whether all parts of a number are constants, inputs, or what `accepts` takes.
    fn consists_of(&self, number: Term, accepts: impl Fn(Term) -> bool) -> bool {
        let mut open = vec![number];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            if seen.len() > 256 {
                return false;
            }
            if accepts(term) {
                continue;
            }
            match self.terms.node(term) {
                Node::Apply(..) | Node::Select(..) => return false,
                Node::Variable(_) if !self.is_number_of_input(term) => return false,
                _ => self.terms.for_each_part(term, |part| open.push(part)),
            }
        }
        true
    }

    fn pointer_in(&mut self, number: Term, parts: &mut u32) -> Option<Term> {
        if let Some(&pointer) = self.number_pointers.get(&number) {
            return Some(pointer);
        }
        *parts = parts.checked_sub(1)?;
        match self.terms.node(number) {
            Node::Add(a, b) => {
                if let Some(pointer) = self.pointer_in(a, parts) {
                    return Some(self.advanced(pointer, b));
                }
                let pointer = self.pointer_in(b, parts)?;
                Some(self.advanced(pointer, a))
            }
            Node::Ite(condition, a, b) => {
                let (x, y) = (self.pointer_in(a, parts), self.pointer_in(b, parts));
                if x.is_none() && y.is_none() {
                    return None;
                }
                let plain = |encoder: &Self, term: Term| {
                    encoder
                        .terms
                        .as_constant(term)
                        .is_some_and(|bits| bits >> 32 == 0)
                };
                let x = x.or_else(|| plain(self, a).then_some(a))?;
                let y = y.or_else(|| plain(self, b).then_some(b))?;
                Some(self.pointers.ite(self.terms, condition, x, y))
            }
            _ => None,
        }
    }

    /// A number that was read from memory: where a pointer was written there, it is an address.
    pub(crate) fn number_read(&mut self, ty: Type, value: Term) -> Term {
        if !ty.is_integer() || ty.size() != 8 {
            return value;
        }
        match self.pointers.known(value) {
            Some(targets)
                if targets.opaque.is_none()
                    && targets.leaves.iter().any(|leaf| {
                        leaf.object != 0 && (leaf.object as usize) < self.numbers.len()
                    }) =>
            {
                self.as_number(value)
            }
            _ => value,
        }
    }

    /// Compares two addresses. The order of two different objects is unknown.
    pub(crate) fn ordered_addresses(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let (x, y) = (
            self.pointers.targets(self.terms, a),
            self.pointers.targets(self.terms, b),
        );
        if x.opaque.is_some() || y.opaque.is_some() {
            let (high, other) = (self.terms.extract(a, 63, 32), self.terms.extract(b, 63, 32));
            let together = self.terms.eq(high, other);
            let (first, second) = (self.as_number(a), self.as_number(b));
            let apart = self.ordered(op, first, second, false);
            let here = self.ordered(op, a, b, false);
            return self.terms.ite(together, here, apart);
        }
        let mut holds = self.terms.truth(false);
        for one in &x.leaves {
            for other in &y.leaves {
                let both = self.terms.and(one.condition, other.condition);
                if self.terms.as_truth(both) == Some(false) {
                    continue;
                }
                let order = match one.object == other.object {
                    true => self.ordered(op, one.offset, other.offset, one.object != 0),
                    false => {
                        let first = self.number_of_leaf(one);
                        let second = self.number_of_leaf(other);
                        self.ordered(op, first, second, false)
                    }
                };
                let here = self.terms.and(both, order);
                holds = self.terms.or(holds, here);
            }
        }
        holds
    }

    fn ordered(&mut self, op: BinaryOp, a: Term, b: Term, signed: bool) -> Term {
        let (a, b) = match op {
            BinaryOp::Gt | BinaryOp::Ge => (b, a),
            _ => (a, b),
        };
        match (op, signed) {
            (BinaryOp::Lt | BinaryOp::Gt, true) => self.terms.slt(a, b),
            (BinaryOp::Lt | BinaryOp::Gt, false) => self.terms.ult(a, b),
            (_, true) => self.terms.sle(a, b),
            (_, false) => self.terms.ule(a, b),
        }
    }
}
