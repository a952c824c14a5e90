//! `scanf`: any values that its conversions can give. Nothing is said of how they are written.
//!
//! A conversion reads a value, or finds the end of the input, or something else than it wants. The last is always a
//! sign without a number: nothing else is left of it for the next call, which may again find anything.
//!
//! How a character, a limit of digits or a text of the format divides what stands there is not encoded. What rests on
//! that is known only if an execution confirms it.

use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use super::{
    input::{mixed, put},
    model::Given,
    output::constant_string,
};
use crate::{
    calling::Call,
    content::Read,
    encoder::{Dead, Encoder, Go, World},
    encoding::InputKind,
    meaning,
};

/// Bytes of a word that are followed at most where its object or its limit is that long.
const LONGEST_WORD: u64 = 256;

/// A conversion of a format.
struct Conversion {
    /// Nothing is assigned.
    suppressed: bool,
    width: Option<u64>,
    /// How it is spelled without width.
    spelled: String,
    /// Blanks stand before it.
    spaced: bool,
    /// Something else stands before it, which has to be there.
    behind_text: bool,
}

/// What is taken for granted where the program does not look at what `scanf` returns.
pub const SCANF_SUCCEEDS: &str =
    "`scanf` succeeds wherever the program does not look at its result";

impl Conversion {
    fn is_word(&self) -> bool {
        self.spelled == "s"
    }

    fn is_character(&self) -> bool {
        self.spelled == "c"
    }

    /// What it reads depends on how the input is written.
    fn is_loose(&self) -> bool {
        self.behind_text || self.is_character() || self.width.is_some() && !self.is_word()
    }
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

/// The conversions of a format.
fn conversions(format: &[u8]) -> Option<Vec<Conversion>> {
    let text = std::str::from_utf8(format).ok()?;
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    let (mut spaced, mut behind_text) = (false, false);
    while let Some(letter) = rest.next() {
        if letter.is_ascii_whitespace() || letter == '\u{b}' {
            spaced = true;
            continue;
        }
        if letter != '%' || rest.next_if_eq(&'%').is_some() {
            (spaced, behind_text) = (false, true);
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
        found.push(Conversion {
            suppressed,
            width: width.parse().ok(),
            spelled,
            spaced,
            behind_text,
        });
        (spaced, behind_text) = (false, false);
    }
    Some(found)
}

/// Encodes `scanf`: each conversion gives any value, as an input.
pub(super) fn scanf(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
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
        encoder.note(SCANF_SUCCEEDS.to_owned());
    }
    let mut count = encoder.terms.constant(32, 0);
    let one = encoder.terms.constant(32, 1);
    let mut next = 1;
    // All conversions so far have read something.
    let mut on = encoder.terms.truth(true);
    let mut over = encoder.terms.truth(false);
    for conversion in &list {
        let to = match conversion.suppressed {
            true => None,
            false => {
                let Some((_, to)) = call.argument(next) else {
                    return Ok(None);
                };
                next += 1;
                Some(to)
            }
        };
        let (there, ends) = finds(encoder, call, world, conversion, on);
        over = encoder.terms.or(over, ends);
        on = there;
        match conversion.is_word() {
            true => word(encoder, call, world, (to, conversion.width), on)?,
            false => on = value(encoder, call, world, (to, conversion), on)?,
        }
        if !conversion.suppressed {
            let more = encoder.terms.add(count, one);
            count = encoder.terms.ite(on, more, count);
        }
    }
    // Nothing read at all is the end of the input.
    let zero = encoder.terms.constant(32, 0);
    let end = encoder.terms.constant(32, u128::from(u32::MAX));
    let none = encoder.terms.eq(count, zero);
    let over = encoder.terms.and(none, over);
    Ok(Some(Some(encoder.terms.ite(over, end, count))))
}

/// An input of a conversion, which is looked at where those before it have read something.
fn input(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    (name, kind, sort): (&str, InputKind, Sort),
    on: Term,
) -> Term {
    let any = encoder.input(name, kind, sort, world, call.place.clone());
    if let Some(input) = encoder.inputs.last_mut().filter(|input| input.term == any) {
        input.condition = encoder.terms.and(input.condition, on);
    }
    any
}

/// Whether a conversion finds what it wants, and whether the input ends instead.
fn finds(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    conversion: &Conversion,
    on: Term,
) -> (Term, Term) {
    if !call.used {
        return (on, encoder.terms.truth(false));
    }
    let asked = ("scanf.more", InputKind::Present, Sort::Bool);
    let more = input(encoder, call, world, asked, on);
    let not_over = encoder.terms.not(world.input_over);
    let more = encoder.terms.and(more, not_over);
    let is_end = encoder.terms.not(more);
    let ends = encoder.terms.and(on, is_end);
    let ends = encoder.settled(ends, call.place);
    world.input_over = encoder.terms.or(world.input_over, ends);
    let mut there = encoder.terms.and(on, more);
    // Blanks are all that a word does not take, and no character is refused.
    let refuses = !conversion.is_word() && !conversion.is_character() || conversion.behind_text;
    if refuses {
        let asked = ("scanf.other", InputKind::Unfit, Sort::Bool);
        let mut other = input(encoder, call, world, asked, there);
        if conversion.is_loose() {
            let may = may_be(encoder, conversion, other);
            other = encoder.terms.and(other, may);
        }
        let fits = encoder.terms.not(other);
        there = encoder.terms.and(there, fits);
    }
    (encoder.settled(there, call.place), ends)
}

/// Whether something can be what a conversion finds; nobody knows.
fn may_be(encoder: &mut Encoder<'_>, conversion: &Conversion, what: Term) -> Term {
    let name = format!("what the input holds where `%{}` reads", conversion.spelled);
    // Two versions that read the same read the same.
    encoder.open_for("", &name, &[what], Sort::Bool)
}

/// A number or a character, and whether it is read.
fn value(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (to, conversion): (Option<Term>, &Conversion),
    mut there: Term,
) -> Go<Term> {
    let Some(ty) = stored(&conversion.spelled) else {
        let reason = format!("the conversion `%{}` of `scanf`", conversion.spelled);
        encoder.unknown(world, reason, call.place);
        return Err(Dead);
    };
    let sort = Sort::Bits(meaning::width(ty).unwrap_or(32));
    let kind = InputKind::Scanned {
        conversion: conversion.spelled.clone(),
        ty,
    };
    let value = input(encoder, call, world, ("scanf", kind, sort), there);
    if conversion.is_character() && conversion.spaced {
        begins(encoder, call, world, value, there)?;
    }
    if conversion.is_loose() {
        let may = may_be(encoder, conversion, value);
        there = encoder.terms.and(there, may);
    }
    if let Some(to) = to {
        let bytes = ty.size() as u32;
        let written = encoder.terms.truth(true);
        let new = Read { value, written };
        encoder.write_where(world, there, (to, bytes), new, call.place)?;
    }
    Ok(there)
}

/// A word of `%s`: any bytes that are no blanks, as many as fit the object or the limit of input.
fn word(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (to, width): (Option<Term>, Option<u64>),
    there: Term,
) -> Go<()> {
    // What is longer than its object is written behind that by any longer word, too.
    let needed = width.or_else(|| to.and_then(|to| longest(encoder, world, to, call)));
    let usual = u64::from(encoder.options.input);
    let most = match needed {
        Some(needed) if needed <= LONGEST_WORD.max(usual) => needed,
        _ => {
            encoder.note(format!(
                "a word that `scanf` reads has at most {usual} bytes"
            ));
            usual
        }
    };
    let zero = encoder.terms.constant(8, 0);
    let name = encoder.unique("scanf.word");
    let mut on = there;
    for index in 0..=most {
        let (byte, ends) = match index == most {
            true => (zero, encoder.terms.truth(true)),
            false => {
                let kind = InputKind::Scanned {
                    conversion: "s".to_owned(),
                    ty: Type::U8,
                };
                let name = format!("{name}[{index}]");
                let any = input(encoder, call, world, (&name, kind, Sort::Bits(8)), there);
                if index == 0 {
                    begins(encoder, call, world, any, on)?;
                }
                // A zero is a byte like others.
                let blank = is_blank(encoder, any);
                (encoder.terms.ite(blank, zero, any), blank)
            }
        };
        // A word that is too long for its object is the program's fault.
        if let Some(to) = to {
            put(encoder, call, world, (to, index), on, byte)?;
        }
        let goes_on = encoder.terms.not(ends);
        on = encoder.terms.and(on, goes_on);
        on = encoder.settled(on, call.place);
        if encoder.terms.as_truth(on) == Some(false) {
            break;
        }
    }
    Ok(())
}

/// The size of the largest object to which a pointer may lead, where that is known.
fn longest(encoder: &mut Encoder<'_>, world: &World, to: Term, call: &Call<'_>) -> Option<u64> {
    let targets = encoder.targets(world, to, call.place);
    let mut longest = 0;
    for leaf in &targets.leaves {
        if leaf.object != 0 {
            let object = world.memory.get(leaf.object)?;
            longest = longest.max(encoder.terms.as_constant(object.size)? as u64);
        }
    }
    targets.opaque.is_none().then_some(longest)
}

/// What is read is no blank: executions whose input says otherwise are none.
fn begins(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    byte: Term,
    on: Term,
) -> Go<()> {
    let blank = is_blank(encoder, byte);
    let bad = encoder.terms.and(on, blank);
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
