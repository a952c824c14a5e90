//! Standard input: bytes, or what `scanf` makes of them.
//!
//! A program that reads bytes gets any bytes, up to a limit. One that reads by `scanf` gets any values
//! that its conversions can give; nothing is said of how they are written. A program that does both is
//! not encoded.

use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use super::{
    model::{Given, Model, usual},
    output::constant_string,
};
use crate::{
    calling::Call,
    content::Read,
    encoder::{Dead, Encoder, Go, World},
    encoding::InputKind,
    meaning,
};

pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "getchar" | "getchar_unlocked" => usual(getchar),
        "getc" | "fgetc" | "_IO_getc" => usual(getc),
        "fgets" => usual(fgets),
        "read" => usual(read),
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => usual(scanf),
        "ungetc" => usual(ungetc),
        _ => None,
    }
}

fn mixed<T>(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World) -> Go<T> {
    encoder.unknown(
        world,
        "standard input is read both by bytes and by `scanf`",
        call.place,
    );
    Err(Dead)
}

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
    encoder.note(format!("standard input has at most {most} bytes"));
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
fn put(
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

/// The type of the object that a conversion of `scanf` stores.
fn stored(conversion: &str) -> Option<Type> {
    let letter = conversion.chars().last()?;
    let size = &conversion[..conversion.len() - 1];
    Some(match (letter, size) {
        ('d' | 'i', "") => Type::I32,
        ('d' | 'i', "l" | "ll" | "j" | "z" | "t" | "q") => Type::I64,
        ('d' | 'i', "h") => Type::I16,
        ('d' | 'i', "hh") => Type::I8,
        ('u' | 'x' | 'X' | 'o', "") => Type::U32,
        ('u' | 'x' | 'X' | 'o', "l" | "ll" | "j" | "z" | "t" | "q") => Type::U64,
        ('u' | 'x' | 'X' | 'o', "h") => Type::U16,
        ('u' | 'x' | 'X' | 'o', "hh") => Type::U8,
        ('f' | 'g' | 'e' | 'a', "") => Type::F32,
        ('f' | 'g' | 'e' | 'a', "l") => Type::F64,
        ('c', "") => Type::I8,
        _ => return None,
    })
}

/// The conversions of a format: suppressed or not, and how they are spelled without width.
fn conversions(format: &[u8]) -> Option<Vec<(bool, Option<u64>, String)>> {
    let text = std::str::from_utf8(format).ok()?;
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            continue;
        }
        if rest.peek() == Some(&'%') {
            rest.next();
            continue;
        }
        let suppressed = rest.next_if_eq(&'*').is_some();
        let mut width = String::new();
        while let Some(digit) = rest.next_if(char::is_ascii_digit) {
            width.push(digit);
        }
        let mut spelled = String::new();
        while let Some(size) = rest.next_if(|letter| "hlLjztq".contains(*letter)) {
            spelled.push(size);
        }
        let last = rest.next()?;
        if last == '[' {
            return None;
        }
        spelled.push(last);
        found.push((suppressed, width.parse().ok(), spelled));
    }
    Some(found)
}

fn scanf(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if !encoder.bytes.is_empty() {
        return mixed(encoder, call, world);
    }
    encoder.scanned = true;
    let Some((_, format)) = call.argument(0) else {
        return Ok(None);
    };
    let format = constant_string(encoder, call, world, format)?;
    let Some(list) = format.as_deref().and_then(conversions) else {
        encoder.unknown(world, "a format of `scanf` that is not encoded", call.place);
        return Err(Dead);
    };
    if !call.used {
        encoder
            .note("`scanf` succeeds wherever the program does not look at its result".to_owned());
    }
    let mut count = encoder.terms.constant(32, 0);
    let one = encoder.terms.constant(32, 1);
    let mut next = 1;
    for (suppressed, width, conversion) in list {
        let there = match call.used {
            false => encoder.terms.truth(true),
            true => {
                let name = "scanf.more";
                let kind = InputKind::Present;
                let more = encoder.input(name, kind, Sort::Bool, world, call.place.clone());
                let not_over = encoder.terms.not(world.input_over);
                let there = encoder.terms.and(more, not_over);
                encoder.settled(there, call.place)
            }
        };
        let over = encoder.terms.not(there);
        world.input_over = encoder.terms.or(world.input_over, over);
        if conversion == "s" {
            let Some((_, to)) = call.argument(next) else {
                return Ok(None);
            };
            next += 1;
            word(encoder, call, world, to, width, there)?;
        } else {
            let Some(ty) = stored(&conversion) else {
                let reason = format!("the conversion `%{conversion}` of `scanf`");
                encoder.unknown(world, reason, call.place);
                return Err(Dead);
            };
            let sort = Sort::Bits(meaning::width(ty).unwrap_or(32));
            let kind = InputKind::Scanned {
                conversion: conversion.clone(),
                ty,
            };
            let value = encoder.input("scanf", kind, sort, world, call.place.clone());
            if suppressed {
                continue;
            }
            let Some((_, to)) = call.argument(next) else {
                return Ok(None);
            };
            next += 1;
            let bytes = ty.size() as u32;
            let written = encoder.terms.truth(true);
            let new = Read { value, written };
            encoder.write_where(world, there, (to, bytes), new, call.place)?;
        }
        if !suppressed {
            let more = encoder.terms.add(count, one);
            count = encoder.terms.ite(there, more, count);
        }
    }
    // Nothing read at all is the end of the input.
    let zero = encoder.terms.constant(32, 0);
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    let none = encoder.terms.eq(count, zero);
    let over = encoder.terms.and(none, world.input_over);
    Ok(Some(Some(encoder.terms.ite(over, end, count))))
}

/// A word of `%s`: any bytes that are no blanks, as many as fit the object or the limit of input.
fn word(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    to: Term,
    width: Option<u64>,
    there: Term,
) -> Go<()> {
    let most = width
        .unwrap_or(u64::MAX)
        .min(u64::from(encoder.options.input));
    let name = encoder.unique("scanf.word");
    let mut on = there;
    for index in 0..=most {
        let zero = encoder.terms.constant(8, 0);
        let byte = match index == most {
            true => zero,
            false => {
                let kind = InputKind::Scanned {
                    conversion: "s".to_owned(),
                    ty: Type::U8,
                };
                let name = format!("{name}[{index}]");
                let any = encoder.input(&name, kind, Sort::Bits(8), world, call.place.clone());
                let blank = is_blank(encoder, any);
                if index == 0 {
                    begins(encoder, call, world, (any, blank), on)?;
                }
                encoder.terms.ite(blank, zero, any)
            }
        };
        // A word that is too long for its object is the program's fault.
        put(encoder, call, world, (to, index), on, byte)?;
        let ends = encoder.terms.eq(byte, zero);
        let goes_on = encoder.terms.not(ends);
        on = encoder.terms.and(on, goes_on);
        on = encoder.settled(on, call.place);
        if encoder.terms.as_truth(on) == Some(false) {
            break;
        }
    }
    Ok(())
}

/// A word begins with a letter: executions whose input says otherwise are none.
fn begins(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (byte, blank): (Term, Term),
    on: Term,
) -> Go<()> {
    let zero = encoder.terms.constant(8, 0);
    let empty = encoder.terms.eq(byte, zero);
    let none = encoder.terms.or(empty, blank);
    let bad = encoder.terms.and(on, none);
    let bad = encoder.settled(bad, call.place);
    let violated = encoder.terms.and(world.path.term(), bad);
    encoder.violated.push(violated);
    let good = encoder.terms.not(bad);
    world.path = world.path.and(encoder.terms, good).ok_or(Dead)?;
    Ok(())
}

/// Whether a byte ends a word.
fn is_blank(encoder: &mut Encoder<'_>, byte: Term) -> Term {
    let space = encoder.terms.constant(8, u128::from(b' '));
    let (tab, carriage) = (encoder.terms.constant(8, 9), encoder.terms.constant(8, 13));
    let is_space = encoder.terms.eq(byte, space);
    let above = encoder.terms.ule(tab, byte);
    let below = encoder.terms.ule(byte, carriage);
    let control = encoder.terms.and(above, below);
    encoder.terms.or(is_space, control)
}
