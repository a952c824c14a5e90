//! Standard input: bytes, or what `scanf` makes of them.
//!
//! A program that reads bytes gets any bytes, up to a limit. One that reads by `scanf` gets any values
//! that its conversions can give ([`super::scanf`]). A program that does both is not encoded.

use patchwright_solve::{Sort, Term};

use super::model::{Given, Model, usual};
use crate::{
    calling::Call,
    content::Read,
    encoder::{Dead, Encoder, Go, World},
    encoding::InputKind,
};

/// Returns the model of a function that reads standard input.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "getchar" | "getchar_unlocked" => usual(getchar),
        "getc" | "fgetc" | "_IO_getc" => usual(getc),
        "fgets" => usual(fgets),
        "read" => usual(read),
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => usual(super::scanf::scanf),
        "ungetc" => usual(ungetc),
        _ => None,
    }
}

/// Gives up because standard input is read both by bytes and by `scanf`.
pub(super) fn mixed<T>(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World) -> Go<T> {
    encoder.unknown(
        world,
        "standard input is read both by bytes and by `scanf`",
        call.place,
    );
    Err(Dead)
}

/// How the note begins that says how long standard input is at most.
pub const INPUT_IS_LIMITED: &str = "standard input has at most";

/// The length of standard input; 32 bits.
fn length(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World) -> Term {
    if let Some(length) = encoder.length {
        return length;
    }
    let most = encoder.options.input;
    let any = encoder.input(
        "stdin.length",
        InputKind::Length,
        Sort::Bits(32),
        world,
        call.place.clone(),
    );
    encoder.note(format!("{INPUT_IS_LIMITED} {most} bytes"));
    let limit = encoder.terms.constant(32, u128::from(most));
    let fits = encoder.terms.ule(any, limit);
    let length = encoder.terms.ite(fits, any, limit);
    encoder.length = Some(length);
    length
}

/// The next byte as 32 bits, or -1 at the end.
fn next(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Go<Term> {
    if encoder.scanned {
        return mixed(encoder, call, world);
    }
    let length = length(encoder, call, world);
    let most = encoder.options.input;
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    let (first, last) = match encoder.terms.as_constant(world.input_at) {
        Some(at) => (at as u32, (at as u32).min(most)),
        None => (0, world.input_most.min(most)),
    };
    let mut byte = encoder.terms.constant(8, 0);
    for index in (first..=last).rev().filter(|&index| index < most) {
        while encoder.bytes.len() <= index as usize {
            let number = encoder.bytes.len() as u32;
            let name = format!("stdin[{number}]");
            let kind = InputKind::Byte(number);
            let term = encoder.input(&name, kind, Sort::Bits(8), world, call.place.clone());
            encoder.bytes.push(term);
        }
        let number = encoder.terms.constant(32, u128::from(index));
        let here = encoder.terms.eq(world.input_at, number);
        byte = encoder.terms.ite(here, encoder.bytes[index as usize], byte);
    }
    let there = encoder.terms.ult(world.input_at, length);
    let there = encoder.settled(there, call.place);
    let wide = encoder.terms.zero_extend(byte, 32);
    let one = encoder.terms.constant(32, 1);
    let after = encoder.terms.add(world.input_at, one);
    world.input_at = encoder.terms.ite(there, after, world.input_at);
    world.input_most = world.input_most.saturating_add(1);
    Ok(encoder.terms.ite(there, wide, end))
}

fn getchar(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let byte = next(encoder, call, world)?;
    Ok(Some(Some(byte)))
}

/// The stream must be standard input.
fn is_input(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, index: usize) -> Go<()> {
    if let Some((_, stream)) = call.argument(index) {
        let targets = encoder.targets(world, stream, call.place);
        if let [leaf] = targets.leaves.as_slice()
            && encoder.streams.get(&leaf.object) == Some(&None)
        {
            return Ok(());
        }
    }
    let reason = format!("`{}` from another stream than standard input", call.name);
    encoder.unknown(world, reason, call.place);
    Err(Dead)
}

fn getc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    is_input(encoder, call, world, 0)?;
    getchar(encoder, call, world)
}

/// Only the byte that was read last can be given back, which is what programs do.
fn ungetc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    is_input(encoder, call, world, 1)?;
    let Some((_, byte)) = call.argument(0) else {
        return Ok(None);
    };
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    let is_end = encoder.terms.eq(byte, end);
    let one = encoder.terms.constant(32, 1);
    let before = encoder.terms.sub(world.input_at, one);
    world.input_at = encoder.terms.ite(is_end, world.input_at, before);
    Ok(Some(Some(byte)))
}

fn fgets(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    is_input(encoder, call, world, 2)?;
    let (Some((_, to)), Some((_, size))) = (call.argument(0), call.argument(1)) else {
        return Ok(None);
    };
    let Some(size) = encoder.terms.as_constant(size) else {
        encoder.unknown(
            world,
            "`fgets` with a size that depends on the input",
            call.place,
        );
        return Err(Dead);
    };
    let size = (size as u32 as i32).max(0) as u64;
    let most = size.saturating_sub(1).min(u64::from(encoder.options.input));
    let null = encoder.word(0);
    let yes = encoder.terms.truth(true);
    let zero = encoder.terms.constant(8, 0);
    let newline = encoder.terms.constant(32, 10);
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    // Whether the line is still being read.
    let mut on = yes;
    let mut got = encoder.terms.truth(false);
    for index in 0..most {
        if encoder.terms.as_truth(on) == Some(false) {
            break;
        }
        let before = world.input_at;
        let byte = next(encoder, call, world)?;
        world.input_at = encoder.terms.ite(on, world.input_at, before);
        let over = encoder.terms.eq(byte, end);
        let there = encoder.terms.not(over);
        // The end of the input ends the line; with nothing before it, nothing is written.
        let ends = encoder.terms.and(on, over);
        let ends = encoder.terms.and(ends, got);
        put(encoder, call, world, (to, index), ends, zero)?;
        let here = encoder.terms.and(on, there);
        let here = encoder.settled(here, call.place);
        let value = encoder.terms.extract(byte, 7, 0);
        put(encoder, call, world, (to, index), here, value)?;
        got = encoder.terms.or(got, here);
        // A line ends with a zero behind the newline, or where the size ends it.
        let line = encoder.terms.eq(byte, newline);
        let last = match index + 1 == most {
            true => here,
            false => encoder.terms.and(here, line),
        };
        put(encoder, call, world, (to, index + 1), last, zero)?;
        let goes_on = encoder.terms.not(line);
        on = encoder.terms.and(here, goes_on);
        on = encoder.settled(on, call.place);
    }
    if size == 1 {
        put(encoder, call, world, (to, 0), yes, zero)?;
        got = yes;
    }
    Ok(Some(Some(encoder.pointers.ite(
        encoder.terms,
        got,
        to,
        null,
    ))))
}

fn read(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let (Some((_, descriptor)), Some((_, to)), Some((_, size))) =
        (call.argument(0), call.argument(1), call.argument(2))
    else {
        return Ok(None);
    };
    let known = (
        encoder.terms.as_constant(descriptor),
        encoder.terms.as_constant(size),
    );
    let (Some(0), Some(size)) = known else {
        encoder.unknown(
            world,
            "`read` of another descriptor than 0, or of a size that depends on the input",
            call.place,
        );
        return Err(Dead);
    };
    let mut count = encoder.word(0);
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    let one = encoder.word(1);
    for index in 0..(size as u64).min(u64::from(encoder.options.input)) {
        let byte = next(encoder, call, world)?;
        let over = encoder.terms.eq(byte, end);
        let there = encoder.terms.not(over);
        let there = encoder.settled(there, call.place);
        let low = encoder.terms.extract(byte, 7, 0);
        put(encoder, call, world, (to, index), there, low)?;
        let more = encoder.terms.add(count, one);
        count = encoder.terms.ite(there, more, count);
    }
    Ok(Some(Some(count)))
}

/// Writes a byte where a condition holds.
pub(super) fn put(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (to, index): (Term, u64),
    condition: Term,
    value: Term,
) -> Go<()> {
    let at = encoder.moved(to, index);
    let written = encoder.terms.truth(true);
    let value = Read { value, written };
    encoder.write_where(world, condition, (at, 1), value, call.place)
}
