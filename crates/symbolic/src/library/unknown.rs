//! Models of functions without a body: what is known of them, and what is not.

use std::collections::BTreeSet;

use patchwright_clib::{Extent, Fact, Size, facts};
use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use super::unsupported::unsupported;
use crate::{
    calling::Call,
    encoder::{Dead, Encoder, Go, World},
    memory::Kind,
    pointer::Number,
};

/// Bytes of an object at most that a function may have written to.
const MOST: u64 = 4096;
/// Objects at most that a function can reach through its arguments.
const MOST_OBJECTS: usize = 256;

/// Encodes a call of a function of which nothing is known: its value, and all that it can reach through its arguments, are free.
pub(crate) fn called(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Go<()> {
    if let Some(reason) = unsupported(call.name) {
        encoder.unknown(world, reason, call.place);
        return Err(Dead);
    }
    if let Type::Aggregate { .. } | Type::Ptr = call.result {
        let reason = format!(
            "`{}` has no body, and what it returns is not a number",
            call.name
        );
        encoder.unknown(world, reason, call.place);
        return Err(Dead);
    }
    match facts(call.name) {
        Some(known) => {
            if known.contains(&Fact::Errno) {
                encoder.errno_may_change(world, call);
            }
            for fact in &known {
                if let Fact::Write(to, Extent::Exactly(size) | Extent::AtMost(size)) = *fact {
                    let is_exact = *fact == Fact::Write(to, Extent::Exactly(size));
                    written(encoder, call, world, (to, size), is_exact)?;
                }
            }
            encoder.note(format!(
                "`{}` has no body: it is taken to return any value",
                call.name
            ));
        }
        None => {
            let reaches = leaves_behind(encoder, call, world)?;
            encoder.note(match reaches {
                false => format!(
                    "`{}` has no body: it is taken to return any value and to change nothing else",
                    call.name
                ),
                true => format!(
                    "`{}` has no body: it is taken to return any value and to change nothing else than what its arguments \
                     lead to{}",
                    call.name,
                    call.but_const()
                ),
            });
        }
    }
    Ok(())
}

/// A function of which nothing is known was called: what it can reach is not known from here on. Returns whether it reaches anything.
pub(crate) fn leaves_behind(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
) -> Go<bool> {
    encoder.has_unknown_callee = true;
    let reached = reachable(encoder, call, world)?;
    let what = format!("what `{}` writes", call.name);
    for &number in &reached {
        encoder.others_wrote(world, number, &what);
    }
    encoder.others_may_write(None, call, world)?;
    Ok(!reached.is_empty())
}

/// A function writes so many bytes, or fewer: they are not known afterwards.
fn written(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (to, size): (usize, Size),
    is_exact: bool,
) -> Go<()> {
    let not_known = |encoder: &mut Encoder<'_>, world: &World| {
        let reason = format!("what `{}` writes, and how much", call.name);
        encoder.unknown(world, reason, call.place);
        Dead
    };
    let bytes = match size {
        Size::Of(index) => call.argument(index),
        Size::Product(..) => None,
    };
    let bytes = bytes.and_then(|(_, size)| encoder.terms.as_constant(size));
    let (Some((_, pointer)), Some(bytes)) = (call.argument(to), bytes) else {
        return Err(not_known(encoder, world));
    };
    if bytes == 0 {
        return Ok(());
    }
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let targets = encoder.targets(world, pointer, call.place);
    if !is_exact {
        // Whether it needs all of the room is not known.
        for leaf in &targets.leaves {
            let outside = match world.memory.get(leaf.object).cloned() {
                Some(object) => {
                    let inside = encoder.inside(&object, leaf.offset, bytes);
                    let there = encoder.terms.and(inside, object.alive);
                    encoder.terms.not(there)
                }
                None => encoder.terms.truth(true),
            };
            let outside = encoder.terms.and(leaf.condition, outside);
            let reason = format!("how much `{}` writes", call.name);
            encoder.unknown_where(world, outside, reason, call.place);
        }
    }
    let reached = match is_exact {
        true => encoder.reach(world, pointer, bytes, true, call.place)?,
        false => Vec::new(),
    };
    let exact = reached.iter().map(|way| way.object);
    let any = targets.leaves.iter().map(|leaf| leaf.object);
    let objects: BTreeSet<Number> = exact.chain(any).collect();
    let what = format!("what `{}` writes", call.name);
    for number in objects {
        let is_large = world.memory.get(number).is_some_and(|object| {
            object.most > MOST || object.content.is_array() || object.kind == Kind::Constant
        });
        if is_large {
            return Err(not_known(encoder, world));
        }
        encoder.others_wrote(world, number, &what);
    }
    Ok(())
}

/// The objects that a function can write to. They are behind its arguments, behind what an earlier call got, and behind globals that
/// other files know. Pointers in these objects are followed.
fn reachable(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
) -> Go<BTreeSet<Number>> {
    let lost = |encoder: &mut Encoder<'_>, world: &World| {
        let reason = format!(
            "`{}` has no body, and what it may write to is not known",
            call.name
        );
        encoder.unknown(world, reason, call.place);
        Dead
    };
    let mut found = BTreeSet::new();
    let given = encoder.given.iter().copied();
    let mut inside: Vec<(Number, bool)> = given.map(|number| (number, false)).collect();
    let exposed = encoder.exposed_numbers();
    inside.extend(exposed.iter().map(|&number| (number, false)));
    // Whether it must be known where a pointer leads: what was given away before may hold what others have put there.
    let mut open: Vec<(Term, bool)> = Vec::new();
    for (index, &(_, value)) in call.arguments.iter().enumerate() {
        if call.may_write_behind(index) {
            open.extend(value.map(|value| (value, true)));
        }
    }
    loop {
        if let Some((number, is_own)) = inside.pop() {
            let Some(object) = world.memory.get(number).cloned() else {
                continue;
            };
            // It may call it.
            if matches!(object.kind, Kind::Function(_)) {
                return Err(lost(encoder, world));
            }
            let is_written = matches!(object.kind, Kind::Global | Kind::Stack | Kind::Heap);
            let is_stream = encoder.streams.contains_key(&number);
            if !is_written || is_stream || !found.insert(number) {
                continue;
            }
            if object.most > MOST || object.content.is_array() || found.len() > MOST_OBJECTS {
                if is_own {
                    return Err(lost(encoder, world));
                }
                continue;
            }
            for (at, width) in object.content.layout(0, object.most) {
                if width == 8 {
                    let value = object.content.read(encoder.terms, at, width).value;
                    open.push((value, is_own));
                }
            }
        } else if let Some((pointer, is_own)) = open.pop() {
            let targets = encoder.pointers.targets(encoder.terms, pointer);
            let is_known = targets.opaque.is_none()
                || !is_own
                || encoder.is_plain_or_written_by_others(pointer);
            if !is_known {
                return Err(lost(encoder, world));
            }
            let leaves = targets.leaves.iter();
            inside.extend(leaves.map(|leaf| (leaf.object, is_own)));
        } else {
            break;
        }
    }
    // Those are looked at by [`Encoder::others_may_write`].
    found.retain(|number| !exposed.contains(number));
    encoder.given.extend(&found);
    Ok(found)
}

impl Encoder<'_> {
    /// A function of which nothing is known wrote to an object.
    pub(crate) fn others_wrote(&mut self, world: &mut World, number: Number, what: &str) {
        for value in self.forget_content(world, number, what) {
            self.foreign.insert(value);
        }
    }

    /// From here on an object holds what is not known: the values that are returned.
    pub(crate) fn forget_content(
        &mut self,
        world: &mut World,
        number: Number,
        what: &str,
    ) -> Vec<Term> {
        let mut values = Vec::new();
        let Some(object) = world.memory.get(number).cloned() else {
            return values;
        };
        let written = self.terms.truth(true);
        for (at, width) in object.content.layout(0, object.most) {
            let value = self.open(what, Sort::Bits(width * 8));
            values.push(value);
            if let Some(object) = world.memory.change(number) {
                object.content.write(self.terms, at, width, value, written);
            }
        }
        values
    }

    /// A function of the library that may fail was called: `errno` may be another one.
    pub(crate) fn errno_may_change(&mut self, world: &mut World, call: &Call<'_>) {
        let what = format!("what `{}` sets errno to", call.name);
        let value = self.open(&what, Sort::Bits(32));
        self.set_errno(world, value);
    }

    /// Whether the program looks at `errno`.
    pub(crate) fn asks_for_errno(&self) -> bool {
        let mut modules = self.program.modules.iter();
        modules.any(|module| {
            let file = module.files.first();
            let is_own = !file.is_some_and(|file| crate::encoder::is_library(&file.path));
            is_own
                && module
                    .functions
                    .iter()
                    .any(|one| one.name == "__errno_location")
        })
    }

    /// Sets the program's `errno`.
    pub(crate) fn set_errno(&mut self, world: &mut World, value: Term) {
        let always = self.terms.truth(true);
        self.set_errno_where(world, always, value);
    }

    /// Sets the program's `errno` where a condition holds.
    pub(crate) fn set_errno_where(&mut self, world: &mut World, condition: Term, value: Term) {
        if self.terms.as_truth(condition) == Some(false) {
            return;
        }
        let Some(number) = self.errno.and_then(|address| self.number_of(address)) else {
            return;
        };
        if let Some(object) = world.memory.change(number) {
            let old = object.content.read(self.terms, 0, 4);
            let value = self.terms.ite(condition, value, old.value);
            let written = self.terms.truth(true);
            object.content.write(self.terms, 0, 4, value, written);
        }
    }
}
