//! Encodes reads and writes of memory through pointers, and what can go wrong with them.

use std::rc::Rc;

use patchwright_ir::{Type, Undefined, bytes};
use patchwright_solve::Term;

use crate::{
    content::{Content, Read},
    encoder::{Dead, Encoder, Go, World},
    encoding::Place,
    extended,
    memory::{Kind, Object},
    pointer::{Leaf, Number, Targets},
};

/// Objects that a pointer of unknown origin is tried with.
const MOST_OBJECTS: usize = 64;

/// Bytes of an object at most that is read, along an input, at an offset that is not made known.
const MOST_TABLE: u64 = 1024;

/// Where an access goes, without what fails.
pub(crate) struct Reached {
    pub(crate) condition: Term,
    pub(crate) object: Number,
    pub(crate) offset: Term,
}

impl Encoder<'_> {
    /// Returns the targets of a pointer. A pointer from an integer, or from an array read at an unknown offset, may lead to any object.
    pub(crate) fn targets(&mut self, world: &World, pointer: Term, place: &Place) -> Rc<Targets> {
        if self.is_along() {
            return self.only_target(pointer, place);
        }
        let targets = self.pointers.targets(self.terms, pointer);
        let Some(opaque) = targets.opaque else {
            return targets;
        };
        let numbers: Vec<Number> = world.memory.numbers().collect();
        if numbers.len() > MOST_OBJECTS {
            self.unknown_where(
                world,
                opaque,
                "a pointer that may lead to too many objects",
                place,
            );
            return Rc::new(Targets {
                leaves: targets.leaves.clone(),
                opaque: None,
            });
        }
        let high = self.terms.extract(pointer, 63, 32);
        let low = self.terms.extract(pointer, 31, 0);
        let base = self.terms.constant(32, u128::from(crate::pointer::BASE));
        let from_base = self.terms.sub(low, base);
        let offset = self.terms.sign_extend(from_base, 64);
        let mut leaves = targets.leaves.clone();
        let mut rest = opaque;
        for number in numbers {
            let id = self.terms.constant(32, u128::from(number));
            let is = self.terms.eq(high, id);
            let condition = self.terms.and(opaque, is);
            if self.terms.as_truth(condition) == Some(false) {
                continue;
            }
            let not = self.terms.not(is);
            rest = self.terms.and(rest, not);
            match leaves.iter_mut().find(|leaf| leaf.object == number) {
                Some(leaf) => {
                    leaf.offset = self.terms.ite(condition, offset, leaf.offset);
                    leaf.condition = self.terms.or(leaf.condition, condition);
                }
                None => leaves.push(Leaf {
                    condition,
                    object: number,
                    offset,
                }),
            }
        }
        // What is none of them is no object.
        match leaves.iter_mut().find(|leaf| leaf.object == 0) {
            Some(leaf) => {
                leaf.offset = self.terms.ite(rest, pointer, leaf.offset);
                leaf.condition = self.terms.or(leaf.condition, rest);
            }
            None => leaves.push(Leaf {
                condition: rest,
                object: 0,
                offset: pointer,
            }),
        }
        let learned = Targets {
            leaves,
            opaque: None,
        };
        self.pointers.learn(pointer, learned.clone());
        Rc::new(learned)
    }

    /// The object of an address that is known to be the one of an object.
    pub(crate) fn number_of(&mut self, address: Term) -> Option<Number> {
        let targets = self.pointers.targets(self.terms, address);
        match targets.leaves.as_slice() {
            [leaf] if leaf.object != 0 => Some(leaf.object),
            _ => None,
        }
    }

    /// The objects that an access of `size` bytes reaches; what is wrong with it is recorded. `Err`
    /// where the access is wrong in any case.
    pub(crate) fn reach(
        &mut self,
        world: &World,
        pointer: Term,
        size: u64,
        write: bool,
        place: &Place,
    ) -> Go<Vec<Reached>> {
        let what = if write { "a write" } else { "a read" };
        let targets = self.targets(world, pointer, place);
        let mut reached = Vec::new();
        for leaf in &targets.leaves {
            let possible = self.terms.and(world.path.term(), leaf.condition);
            if self.terms.as_truth(possible) == Some(false) {
                continue;
            }
            let Some(object) = world.memory.get(leaf.object).cloned() else {
                let (kind, message) = self.nothing_there(leaf, size, what);
                self.undefined(world, leaf.condition, kind, || message, place);
                continue;
            };
            if let Kind::Function(_) | Kind::Callback(_) = object.kind {
                self.undefined(
                    world,
                    leaf.condition,
                    Undefined::WildPointer,
                    || format!("{what} of {} of a function", bytes(size)),
                    place,
                );
                continue;
            }
            if write && object.kind == Kind::Constant {
                self.undefined(
                    world,
                    leaf.condition,
                    Undefined::WriteToConstant,
                    || "a write to a constant object or string literal".to_owned(),
                    place,
                );
                continue;
            }
            let inside = self.inside(&object, leaf.offset, size);
            let inside = self.settled(inside, place);
            let outside = self.terms.not(inside);
            let bad = self.terms.and(leaf.condition, outside);
            if self.of_unknown_size.contains(&leaf.object) {
                let reason = format!("how large {} is", described(&object));
                self.unknown_where(world, bad, reason, place);
            } else {
                self.undefined(
                    world,
                    bad,
                    Undefined::OutOfBounds,
                    || {
                        format!(
                            "{what} of {} outside of {}",
                            bytes(size),
                            described(&object)
                        )
                    },
                    place,
                );
            }
            let dead = self.terms.not(object.alive);
            let gone = self.terms.and(leaf.condition, dead);
            let kind = match object.kind {
                Kind::Heap => Undefined::UseAfterFree,
                _ => Undefined::UseAfterScope,
            };
            self.undefined(
                world,
                gone,
                kind,
                || {
                    format!(
                        "{what} of {} of {}, which is no longer there",
                        bytes(size),
                        described(&object)
                    )
                },
                place,
            );
            let fine = self.terms.and(inside, object.alive);
            if self.terms.as_truth(fine) == Some(false) {
                continue;
            }
            // A write anywhere would make all that is read later depend on where it went, and a large table is no formula.
            let offset = match write || object.most > MOST_TABLE {
                true => self.concrete(leaf.offset, place),
                false => leaf.offset,
            };
            reached.push(Reached {
                condition: leaf.condition,
                object: leaf.object,
                offset,
            });
        }
        if let Some(opaque) = targets.opaque {
            self.unknown_where(world, opaque, "a pointer of unknown origin", place);
        }
        match reached.is_empty() {
            true => Err(Dead),
            false => Ok(reached),
        }
    }

    /// Whether `size` bytes at an offset are within an object.
    pub(crate) fn inside(&mut self, object: &Object, offset: Term, size: u64) -> Term {
        let offset = self.counted_from_start(object, offset);
        if let Some(whole) = self.terms.as_constant(object.size) {
            return match (whole as u64).checked_sub(size) {
                Some(last) => {
                    let last = self.word(last);
                    self.terms.ule(offset, last)
                }
                None => self.terms.truth(false),
            };
        }
        let needed = self.word(size);
        let last = self.terms.sub(object.size, needed);
        let large = self.terms.ule(needed, object.size);
        let before = self.terms.ule(offset, last);
        self.terms.and(large, before)
    }

    /// An offset, counted from an object's first byte.
    pub(crate) fn counted_from_start(&mut self, object: &Object, offset: Term) -> Term {
        match object.start {
            Some(start) => self.terms.sub(offset, start),
            None => offset,
        }
    }

    fn nothing_there(&self, leaf: &Leaf, size: u64, what: &str) -> (Undefined, String) {
        let size = bytes(size);
        match (leaf.object, self.numbers.get(leaf.object as usize)) {
            (0, _) => match self.terms.as_constant(leaf.offset) {
                Some(address) if address < 4096 => (
                    Undefined::NullPointer,
                    format!("{what} of {size} through a null pointer"),
                ),
                _ => (
                    Undefined::WildPointer,
                    format!("{what} of {size} through a pointer to no object"),
                ),
            },
            (_, Some(Kind::Heap)) => (
                Undefined::UseAfterFree,
                format!("{what} of {size} of memory that was freed"),
            ),
            (_, Some(_)) => (
                Undefined::UseAfterScope,
                format!("{what} of {size} of a local that is no longer there"),
            ),
            _ => (
                Undefined::WildPointer,
                format!("{what} of {size} through a pointer to no object"),
            ),
        }
    }

    /// Whether nothing is known of where a pointer comes from.
    pub(crate) fn is_vague(&mut self, pointer: Term) -> bool {
        self.pointers.targets(self.terms, pointer).opaque.is_some()
    }

    /// Records that a byte is read where no object is.
    pub(crate) fn nothing_read(&mut self, world: &World, leaf: &Leaf, place: &Place) {
        let (kind, message) = self.nothing_there(leaf, 1, "a read");
        self.undefined(world, leaf.condition, kind, || message, place);
    }

    /// Reads `width` bytes, at most 16.
    pub(crate) fn read(
        &mut self,
        world: &mut World,
        pointer: Term,
        width: u32,
        place: &Place,
    ) -> Go<Read> {
        let reached = self.reach(world, pointer, u64::from(width), false, place)?;
        let mut result: Option<Read> = None;
        for way in reached.iter().rev() {
            let here = self.read_object(world, way, width, place);
            result = Some(match result {
                None => here,
                Some(other) => Read {
                    value: self
                        .pointers
                        .ite(self.terms, way.condition, here.value, other.value),
                    written: self.terms.ite(way.condition, here.written, other.written),
                },
            });
        }
        result.ok_or(Dead)
    }

    fn read_object(&mut self, world: &mut World, way: &Reached, width: u32, place: &Place) -> Read {
        let Some(object) = world.memory.get(way.object).cloned() else {
            return Read {
                value: self.terms.constant(width * 8, 0),
                written: self.terms.truth(true),
            };
        };
        let offset = self.terms.as_constant(way.offset);
        // Behind the last byte is only the end.
        if self
            .arguments
            .get(&way.object)
            .is_some_and(|one| one.number > 0)
            && offset.is_none_or(|at| at as u64 + u64::from(width) + 1 >= object.most)
        {
            self.to_their_ends = true;
        }
        if let Some(offset) = offset {
            return object.content.read(self.terms, offset as u64, width);
        }
        let found = match world.memory.change(way.object) {
            // Reading may turn the content into an array, which is kept.
            Some(object) => {
                let most = object.most;
                object.content.read_at(self.terms, way.offset, width, most)
            }
            None => Err("an object that is not there"),
        };
        match found {
            Ok(read) => read,
            Err(reason) => {
                self.unknown_where(world, way.condition, reason, place);
                let name = self.internal("any");
                Read {
                    value: self
                        .terms
                        .variable(&name, patchwright_solve::Sort::Bits(width * 8)),
                    written: self.terms.truth(true),
                }
            }
        }
    }

    /// Writes `width` bytes, at most 16; `written` says whether they have a value.
    pub(crate) fn write(
        &mut self,
        world: &mut World,
        pointer: Term,
        width: u32,
        value: Read,
        place: &Place,
    ) -> Go<()> {
        let always = self.terms.truth(true);
        self.write_where(world, always, (pointer, width), value, place)
    }

    /// Writes where a condition holds. Elsewhere nothing is touched. `Err` where it would be wrong in any case.
    pub(crate) fn write_where(
        &mut self,
        world: &mut World,
        condition: Term,
        (pointer, width): (Term, u32),
        value: Read,
        place: &Place,
    ) -> Go<()> {
        let always = self.terms.as_truth(condition) == Some(true);
        let Some(path) = world.path.and(self.terms, condition) else {
            return Ok(());
        };
        let outside = std::mem::replace(&mut world.path, path);
        let reached = self.reach(world, pointer, u64::from(width), true, place);
        let result = reached.map(|reached| {
            let alone = always && reached.len() == 1;
            for way in &reached {
                let here = self.terms.and(condition, way.condition);
                self.write_object(world, way, (!alone).then_some(here), width, value, place);
            }
        });
        world.path = outside;
        if result.is_err() {
            // Only those executions go on that do not write.
            let not = self.terms.not(condition);
            world.path = world.path.and(self.terms, not).ok_or(Dead)?;
        }
        Ok(())
    }

    /// Writes to an object, where a condition holds if there is one.
    fn write_object(
        &mut self,
        world: &mut World,
        way: &Reached,
        condition: Option<Term>,
        width: u32,
        value: Read,
        place: &Place,
    ) {
        let Some(object) = world.memory.change(way.object) else {
            return;
        };
        let most = object.most;
        if let Some(offset) = self.terms.as_constant(way.offset) {
            let (mut new, mut written) = (value.value, value.written);
            if let Some(condition) = condition {
                let old = object.content.read(self.terms, offset as u64, width);
                new = self.pointers.ite(self.terms, condition, new, old.value);
                written = self.terms.ite(condition, written, old.written);
            }
            object
                .content
                .write(self.terms, offset as u64, width, new, written);
            return;
        }
        let mut new = value.value;
        let mut failed = None;
        if let Some(condition) = condition {
            match object.content.read_at(self.terms, way.offset, width, most) {
                Ok(old) => new = self.pointers.ite(self.terms, condition, new, old.value),
                Err(reason) => failed = Some(reason),
            }
        }
        if failed.is_none() {
            failed = object
                .content
                .write_at(self.terms, way.offset, width, new, most)
                .err();
        }
        if let Some(reason) = failed {
            self.unknown_where(world, way.condition, reason, place);
        }
    }

    /// Reads a value of a type.
    pub(crate) fn load(
        &mut self,
        world: &mut World,
        ty: Type,
        pointer: Term,
        place: &Place,
    ) -> Go<Option<Term>> {
        let Some(width) = extended::width(ty) else {
            self.unknown(world, crate::run::no_term(ty), place);
            return Err(Dead);
        };
        let read = self.read(world, pointer, width / 8, place)?;
        self.must_be_written(world, read.written, place);
        if ty == Type::Bool {
            let one = self.terms.constant(8, 1);
            let other = self.terms.ult(one, read.value);
            let other = self.terms.and(read.written, other);
            let reason = "what a `_Bool` is whose byte is neither 0 nor 1";
            self.unknown_where(world, other, reason, place);
        }
        if ty.is_integer() {
            self.sign_is_seen(world, read.value, place);
        }
        let value = self.number_read(ty, read.value);
        Ok(Some(self.canonical(ty, value)))
    }

    /// A byte that is read as `_Bool` is 1 unless it is 0.
    fn canonical(&mut self, ty: Type, value: Term) -> Term {
        if ty != Type::Bool {
            return value;
        }
        let (zero, one) = (self.terms.constant(8, 0), self.terms.constant(8, 1));
        let is_zero = self.terms.eq(value, zero);
        self.terms.ite(is_zero, zero, one)
    }

    /// Adds the failure of reading a value that was never written.
    pub(crate) fn must_be_written(&mut self, world: &World, written: Term, place: &Place) {
        let not = self.terms.not(written);
        self.tolerated(
            world,
            not,
            Undefined::UninitializedRead,
            || "a read of memory that has no value".to_owned(),
            place,
        );
    }

    /// Writes a value of a type.
    pub(crate) fn store(
        &mut self,
        world: &mut World,
        ty: Type,
        pointer: Term,
        value: Option<Term>,
        place: &Place,
    ) -> Go<()> {
        let (Some(width), Some(value)) = (extended::width(ty), value) else {
            self.unknown(world, crate::run::no_term(ty), place);
            return Err(Dead);
        };
        let written = self.terms.truth(true);
        self.write(world, pointer, width / 8, Read { value, written }, place)
    }

    /// Copies bytes with what is known of their values; the ranges may overlap.
    pub(crate) fn copy(
        &mut self,
        world: &mut World,
        to: Term,
        from: Term,
        size: u64,
        place: &Place,
    ) -> Go<()> {
        if size == 0 {
            return Ok(());
        }
        let sources = self.reach(world, from, size, false, place)?;
        self.reach(world, to, size, true, place)?;
        // The source's own cells, if it is one object at a known offset; else the same everywhere.
        let parts = match sources.as_slice() {
            [way] => match (
                self.terms.as_constant(way.offset),
                world.memory.get(way.object),
            ) {
                (Some(at), Some(object)) => {
                    let parts = object.content.layout(at as u64, size);
                    parts
                        .into_iter()
                        .map(|(offset, width)| (offset - at as u64, width))
                        .collect()
                }
                _ => even(size),
            },
            _ => even(size),
        };
        if parts.len() > MOST_PARTS {
            self.unknown(world, "a copy of too many parts", place);
            return Err(Dead);
        }
        let mut values = Vec::with_capacity(parts.len());
        for &(offset, width) in &parts {
            let at = self.moved(from, offset);
            values.push(self.quietly(|encoder| encoder.read(world, at, width, place))?);
        }
        for (&(offset, width), value) in parts.iter().zip(values) {
            let at = self.moved(to, offset);
            self.quietly(|encoder| encoder.write(world, at, width, value, place))?;
        }
        Ok(())
    }

    /// Does what has been checked as a whole already.
    fn quietly<T>(&mut self, work: impl FnOnce(&mut Self) -> Go<T>) -> Go<T> {
        let count = self.failures.len();
        let result = work(self);
        self.failures.truncate(count);
        result
    }

    /// Fills bytes with zeros.
    pub(crate) fn zero(
        &mut self,
        world: &mut World,
        pointer: Term,
        size: u64,
        place: &Place,
    ) -> Go<()> {
        if size == 0 {
            return Ok(());
        }
        let reached = self.reach(world, pointer, size, true, place)?;
        if let [way] = reached.as_slice()
            && let Some(offset) = self.terms.as_constant(way.offset)
            && let Some(object) = world.memory.change(way.object)
        {
            let most = object.most;
            object
                .content
                .clear_to_zero(self.terms, offset as u64, size, most);
            return Ok(());
        }
        let parts = even(size);
        if parts.len() > MOST_PARTS {
            self.unknown(world, "zeros for too many bytes at an unknown place", place);
            return Err(Dead);
        }
        for (offset, width) in parts {
            let at = self.moved(pointer, offset);
            let zero = Read {
                value: self.terms.constant(width * 8, 0),
                written: self.terms.truth(true),
            };
            self.quietly(|encoder| encoder.write(world, at, width, zero, place))?;
        }
        Ok(())
    }

    /// The address some bytes after another.
    pub(crate) fn moved(&mut self, pointer: Term, by: u64) -> Term {
        if by == 0 {
            return pointer;
        }
        let by = self.word(by);
        self.advanced(pointer, by)
    }

    /// The address `by` bytes (64 bits, with a sign) after another, wherever that is.
    pub(crate) fn advanced(&mut self, pointer: Term, by: Term) -> Term {
        let targets = self.pointers.targets(self.terms, pointer);
        if targets.opaque.is_some() {
            return self.terms.add(pointer, by);
        }
        let leaves: Vec<Leaf> = targets
            .leaves
            .iter()
            .map(|leaf| Leaf {
                offset: self.terms.add(leaf.offset, by),
                ..*leaf
            })
            .collect();
        self.pointers.of_leaves(self.terms, leaves)
    }

    /// A new local object.
    pub(crate) fn new_local(&mut self, world: &mut World, size: u64, name: &str) -> Term {
        let name = if name.is_empty() { "local" } else { name };
        self.new_object(world, Kind::Stack, size, name, false)
    }

    /// A new object of known size.
    pub(crate) fn new_object(
        &mut self,
        world: &mut World,
        kind: Kind,
        size: u64,
        name: &str,
        zeroed: bool,
    ) -> Term {
        let unique = self.internal(name);
        let object = Object {
            kind,
            name: name.into(),
            start: None,
            size: self.word(size),
            most: size,
            alive: self.terms.truth(true),
            content: match zeroed {
                true => Content::zero(&unique),
                false => Content::unwritten(&unique),
            },
        };
        let number = self.allocate(world, object);
        self.pointers.address(self.terms, number, 0)
    }
}

/// Parts of a copy or of zeros at most.
const MOST_PARTS: usize = 1 << 14;

/// Parts of eight bytes, then smaller ones.
fn even(size: u64) -> Vec<(u64, u32)> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < size {
        let mut width = 8;
        while width > size - at {
            width /= 2;
        }
        parts.push((at, width as u32));
        at += width;
    }
    parts
}

/// The name of what belongs to the models of the library: users know nothing of it.
pub(crate) const OF_LIBRARY: &str = ".library";

fn described(object: &Object) -> String {
    let kind = match object.kind {
        Kind::Heap => "an allocation",
        Kind::Stack => "a local object",
        _ => "a global object",
    };
    match object.kind {
        Kind::Heap => kind.to_owned(),
        _ if &*object.name == OF_LIBRARY => "a table of the C library".to_owned(),
        _ if object.name.is_empty() || object.name.starts_with('.') => kind.to_owned(),
        // A variable that is static within a function has a number behind its name.
        _ => {
            let name = object.name.split('.').next().unwrap_or_default();
            format!("`{name}`")
        }
    }
}
