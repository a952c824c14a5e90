//! Models of `malloc` and its relatives, and of copying a known number of bytes.

use patchwright_ir::{Type, Undefined};
use patchwright_solve::{Sort, Term};

use super::model::{Given, Model, usual};
use crate::{
    calling::Call,
    content::Read,
    encoder::{Dead, Encoder, Go, World},
    encoding::Place,
    memory::{Kind, Object},
};

/// What is taken for granted where a program allocates memory.
pub const MEMORY_IS_THERE: &str = "no allocation fails: `malloc` and the like never return null";

/// Bytes of an object whose size depends on the input, at most.
const MOST: u64 = 1 << 16;
/// Bytes that are copied one by one at most, where the number is known.
const MOST_COPIED: u64 = 1 << 14;

/// Returns the model of a function on the heap, or of a copy of memory.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "malloc" | "xmalloc" | "valloc" => usual(malloc),
        "calloc" => usual(calloc),
        "realloc" => usual(realloc),
        "free" | "cfree" => usual(free),
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => usual(copy),
        "memset" | "__memset_chk" => usual(fill),
        "__errno_location" => usual(errno),
        "__patchwright_apart" => usual(apart),
        _ => None,
    }
}

fn size_of(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, index: usize) -> Go<Term> {
    match call.argument(index) {
        Some((_, value)) if encoder.terms.width(value) == 64 => Ok(value),
        Some((ty, value)) => {
            let width = encoder.terms.width(value);
            Ok(crate::meaning::resize(
                encoder.terms,
                value,
                width,
                64,
                ty.is_signed(),
            ))
        }
        None => Err(super::verifier::bad_argument(
            encoder,
            call,
            world,
            "an argument is missing",
        )),
    }
}

fn malloc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    encoder.note(MEMORY_IS_THERE.to_owned());
    let size = size_of(encoder, call, world, 0)?;
    let address = encoder.sized_object(world, Kind::Heap, size, false, call.place);
    Ok(Some(Some(address)))
}

fn calloc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    encoder.note(MEMORY_IS_THERE.to_owned());
    let count = size_of(encoder, call, world, 0)?;
    let each = size_of(encoder, call, world, 1)?;
    let size = encoder.terms.mul(count, each);
    let too_many = product_overflows(encoder, count, each);
    let zero = encoder.word(0);
    let size = encoder.terms.ite(too_many, zero, size);
    let address = encoder.sized_object(world, Kind::Heap, size, true, call.place);
    Ok(Some(Some(encoder.unless(world, too_many, address))))
}

/// The condition under which a product of two sizes is no size.
fn product_overflows(encoder: &mut Encoder<'_>, a: Term, b: Term) -> Term {
    let terms = &mut encoder.terms;
    for (known, other) in [(a, b), (b, a)] {
        match terms.as_constant(known) {
            Some(0) => return terms.truth(false),
            Some(known) => {
                let most = terms.constant(64, u128::from(u64::MAX) / known);
                return terms.ult(most, other);
            }
            None => {}
        }
    }
    let (a, b) = (terms.zero_extend(a, 128), terms.zero_extend(b, 128));
    let product = terms.mul(a, b);
    let high = terms.extract(product, 127, 64);
    let zero = terms.constant(64, 0);
    terms.ne(high, zero)
}

fn realloc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, old)) = call.argument(0) else {
        return Ok(None);
    };
    encoder.note(MEMORY_IS_THERE.to_owned());
    let size = size_of(encoder, call, world, 1)?;
    let new = encoder.sized_object(world, Kind::Heap, size, false, call.place);
    let zero = encoder.word(0);
    let is_nothing = encoder.terms.eq(size, zero);
    let is_none = encoder.is_null(old);
    let is_old = encoder.terms.not(is_none);
    let targets = encoder.targets(world, old, call.place);
    let mut to_free = false;
    for leaf in &targets.leaves {
        if leaf.object == 0 {
            continue;
        }
        to_free = true;
        let Some(object) = world.memory.get(leaf.object).cloned() else {
            continue;
        };
        let (Some(before), Some(after), Some(true)) = (
            encoder.terms.as_constant(object.size),
            encoder.terms.as_constant(size),
            encoder.terms.as_truth(leaf.condition),
        ) else {
            encoder.take_over(world, new, &object, leaf.condition, call.place)?;
            continue;
        };
        let kept = before.min(after) as u64;
        encoder.copy(world, new, old, kept, call.place)?;
    }
    if to_free {
        release(encoder, call, world, old)?;
    }
    // The C library frees what is resized to nothing.
    let is_freed = encoder.terms.and(is_nothing, is_old);
    Ok(Some(Some(encoder.unless(world, is_freed, new))))
}

fn free(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, pointer)) = call.argument(0) else {
        return Ok(None);
    };
    release(encoder, call, world, pointer)?;
    Ok(Some(None))
}

fn release(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World, pointer: Term) -> Go<()> {
    let targets = encoder.targets(world, pointer, call.place);
    let place: &Place = call.place;
    for leaf in &targets.leaves {
        if leaf.object == 0 {
            let zero = encoder.word(0);
            let null = encoder.terms.eq(leaf.offset, zero);
            let other = encoder.terms.not(null);
            let bad = encoder.terms.and(leaf.condition, other);
            encoder.undefined(
                world,
                bad,
                Undefined::InvalidFree,
                || "free of a pointer that no allocation returned".to_owned(),
                place,
            );
            continue;
        }
        // Functions have no kind.
        let kind = encoder.numbers.get(leaf.object as usize);
        if encoder.handed_over.contains(&leaf.object) {
            let reason = "whether an argument leads to what an allocation returned".to_owned();
            encoder.unknown_where(world, leaf.condition, reason, place);
            continue;
        }
        if kind != Some(&Kind::Heap) {
            encoder.undefined(
                world,
                leaf.condition,
                Undefined::InvalidFree,
                || "free of a pointer that no allocation returned".to_owned(),
                place,
            );
            continue;
        }
        let alive = match world.memory.get(leaf.object) {
            Some(object) => object.alive,
            None => encoder.terms.truth(false),
        };
        let dead = encoder.terms.not(alive);
        let twice = encoder.terms.and(leaf.condition, dead);
        encoder.undefined(
            world,
            twice,
            Undefined::DoubleFree,
            || "an allocation is freed twice".to_owned(),
            place,
        );
        let zero = encoder.word(0);
        let start = encoder.terms.eq(leaf.offset, zero);
        let middle = encoder.terms.not(start);
        let bad = encoder.terms.and(leaf.condition, middle);
        encoder.undefined(
            world,
            bad,
            Undefined::InvalidFree,
            || "free of a pointer into the middle of an allocation".to_owned(),
            place,
        );
        if encoder.terms.as_truth(leaf.condition) == Some(true) {
            world.memory.forget(leaf.object);
        } else {
            let not = encoder.terms.not(leaf.condition);
            if let Some(object) = world.memory.change(leaf.object) {
                object.alive = encoder.terms.and(object.alive, not);
            }
        }
    }
    Ok(())
}

/// A known number of bytes; any other is copied by the body.
fn known(encoder: &Encoder<'_>, call: &Call<'_>, index: usize, most: u64) -> Option<u64> {
    let (_, size) = call.argument(index)?;
    let size = encoder.terms.as_constant(size)?;
    u64::try_from(size).ok().filter(|&size| size <= most)
}

/// What a copy reads must not be what it writes, unless that is the same place.
fn must_be_apart(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, size: Term) {
    let (Some((_, to)), Some((_, from))) = (call.argument(0), call.argument(1)) else {
        return;
    };
    let x = encoder.targets(world, to, call.place);
    let y = encoder.targets(world, from, call.place);
    let mut overlap = encoder.terms.truth(false);
    for one in x.leaves.iter().filter(|one| one.object != 0) {
        for other in y.leaves.iter().filter(|other| other.object == one.object) {
            let both = encoder.terms.and(one.condition, other.condition);
            let distance = encoder.terms.sub(one.offset, other.offset);
            let back = encoder.terms.neg(distance);
            let zero = encoder.word(0);
            let same = encoder.terms.eq(distance, zero);
            let apart = encoder.terms.not(same);
            let before = encoder.terms.ult(distance, size);
            let behind = encoder.terms.ult(back, size);
            let near = encoder.terms.or(before, behind);
            let near = encoder.terms.and(near, apart);
            let here = encoder.terms.and(both, near);
            overlap = encoder.terms.or(overlap, here);
        }
    }
    encoder.undefined(
        world,
        overlap,
        Undefined::BadArgument,
        || "a copy between ranges that overlap".to_owned(),
        call.place,
    );
}

/// None of the bytes that are read may be among those that are written; each range is its beginning and its size.
pub(super) fn must_not_overlap(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    (to, written): (Term, Term),
    (from, read): (Term, Term),
) {
    let x = encoder.targets(world, to, call.place);
    let y = encoder.targets(world, from, call.place);
    let mut overlap = encoder.terms.truth(false);
    for one in x.leaves.iter().filter(|one| one.object != 0) {
        for other in y.leaves.iter().filter(|other| other.object == one.object) {
            let both = encoder.terms.and(one.condition, other.condition);
            let distance = encoder.terms.sub(other.offset, one.offset);
            let back = encoder.terms.neg(distance);
            let within = encoder.terms.ult(distance, written);
            let around = encoder.terms.ult(back, read);
            let zero = encoder.word(0);
            let none = encoder.terms.eq(written, zero);
            let some = encoder.terms.not(none);
            let around = encoder.terms.and(around, some);
            let near = encoder.terms.or(within, around);
            let here = encoder.terms.and(both, near);
            overlap = encoder.terms.or(overlap, here);
        }
    }
    encoder.undefined(
        world,
        overlap,
        Undefined::BadArgument,
        || format!("`{}`: a text that it reads lies where it writes", call.name),
        call.place,
    );
}

/// Asked by the functions that are written in C.
fn apart(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let size = size_of(encoder, call, world, 2)?;
    must_be_apart(encoder, call, world, size);
    Ok(Some(None))
}

fn copy(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if !call.name.contains("memmove") {
        let size = size_of(encoder, call, world, 2)?;
        must_be_apart(encoder, call, world, size);
    }
    let Some(size) = known(encoder, call, 2, MOST_COPIED) else {
        return Ok(None);
    };
    let (Some((_, to)), Some((_, from))) = (call.argument(0), call.argument(1)) else {
        return Ok(None);
    };
    encoder.copy(world, to, from, size, call.place)?;
    Ok(Some(Some(to)))
}

fn fill(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some(size) = known(encoder, call, 2, u64::MAX) else {
        return Ok(None);
    };
    let (Some((_, to)), Some((_, value))) = (call.argument(0), call.argument(1)) else {
        return Ok(None);
    };
    if encoder.terms.as_constant(value) == Some(0) {
        encoder.zero(world, to, size, call.place)?;
        return Ok(Some(Some(to)));
    }
    if size > MOST_COPIED {
        return Ok(None);
    }
    let byte = encoder.terms.extract(value, 7, 0);
    let written = encoder.terms.truth(true);
    for offset in 0..size {
        let at = encoder.moved(to, offset);
        let value = Read {
            value: byte,
            written,
        };
        encoder.write(world, at, 1, value, call.place)?;
    }
    Ok(Some(Some(to)))
}

fn errno(encoder: &mut Encoder<'_>, _call: &Call<'_>, _world: &mut World) -> Given {
    let caller = encoder.stack.last().map(|(routine, _)| *routine);
    if caller.is_some_and(|routine| !encoder.is_of_library(routine)) {
        encoder.uses_errno = true;
    }
    Ok(encoder.errno.map(Some))
}

impl Encoder<'_> {
    /// Makes `errno`, which is zero when a program starts; when a function is called, it is what somebody left there.
    pub(crate) fn make_errno(&mut self, world: &mut World, is_program: bool) {
        let address = self.new_object(world, Kind::Global, 4, "errno", true);
        self.errno = Some(address);
        if !is_program {
            let value = match self.options.outside.is_some() {
                // Both versions find the same.
                true => self.input_variable("errno", Sort::Bits(32)),
                false => self.open("what `errno` is at the start", Sort::Bits(32)),
            };
            self.set_errno(world, value);
        }
    }

    /// Null where a condition holds, and an allocation elsewhere.
    fn unless(&mut self, world: &mut World, condition: Term, address: Term) -> Term {
        if self.terms.as_truth(condition) == Some(false) {
            return address;
        }
        let not = self.terms.not(condition);
        if let Some(number) = self.number_of(address)
            && let Some(object) = world.memory.change(number)
        {
            object.alive = self.terms.and(object.alive, not);
        }
        let null = self.word(0);
        self.pointers.ite(self.terms, condition, null, address)
    }

    /// A new object whose size, 64 bits, may depend on the input.
    pub(crate) fn sized_object(
        &mut self,
        world: &mut World,
        kind: Kind,
        size: Term,
        zeroed: bool,
        place: &Place,
    ) -> Term {
        let size = self.concrete(size, place);
        let name = match kind {
            Kind::Heap => "heap",
            _ => "local",
        };
        if let Some(size) = self.terms.as_constant(size)
            && size < 1 << 31
        {
            return self.new_object(world, kind, size as u64, name, zeroed);
        }
        // Larger sizes than the limit: not known.
        let reason = match self.terms.as_constant(size) {
            Some(size) => format!("an object of {size} bytes"),
            None => format!(
                "an object whose size depends on the input and may be more than {MOST} bytes"
            ),
        };
        let most = self.word(MOST);
        let small = self.terms.ule(size, most);
        let large = self.terms.not(small);
        self.unknown_where(world, large, reason, place);
        if let Some(path) = world.path.and(self.terms, small) {
            world.path = path;
        }
        let address = self.new_object(world, kind, MOST, name, zeroed);
        if let Some(number) = self.number_of(address)
            && let Some(object) = world.memory.change(number)
        {
            object.size = size;
        }
        address
    }

    /// A new object begins with the content of an old one, where a condition holds. What lies behind the old one's end
    /// has no value, as all that nothing has written.
    fn take_over(
        &mut self,
        world: &mut World,
        new: Term,
        old: &Object,
        condition: Term,
        place: &Place,
    ) -> Go<()> {
        let taken = match old.content.is_unwritten_beyond() {
            false => Err("`realloc` of zeroed memory whose size depends on the input"),
            true => match self
                .number_of(new)
                .and_then(|number| world.memory.change(number))
            {
                None => Err("an object that is not there"),
                Some(object) => {
                    let most = object.most.max(old.most);
                    let merged = old
                        .content
                        .merge(&object.content, self.terms, condition, most);
                    merged.map(|merged| object.content = merged)
                }
            },
        };
        if let Err(reason) = taken {
            self.unknown_where(world, condition, reason, place);
            let other = self.terms.not(condition);
            world.path = world.path.and(self.terms, other).ok_or(Dead)?;
        }
        Ok(())
    }

    /// A word of the program's own memory, of a type.
    pub(crate) fn load_word(
        &mut self,
        world: &mut World,
        ty: Type,
        pointer: Term,
        place: &Place,
    ) -> Go<Term> {
        self.load(world, ty, pointer, place)?.ok_or(Dead)
    }
}
