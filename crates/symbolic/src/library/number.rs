//! Numbers that a program reads from its arguments: any, without saying how they are written.
//!
//! Every value of `int` is what `atoi` gives for some text, so an argument that is only read as a number need not be
//! bytes. Where a program also looks at the bytes, two inputs stand for one argument, and whoever encodes has to notice
//! ([`Options::argument_numbers`](crate::Options::argument_numbers)).

use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use super::model::{Given, Model, usual};
use crate::{
    calling::Call,
    encoder::{Argument, Encoder, World},
    encoding::InputKind,
};

/// Returns the model of a function that converts text to a number.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "atoi" => usual(int),
        "atol" | "atoll" => usual(long),
        "strtol" | "strtoll" | "__isoc23_strtol" | "__isoc23_strtoll" => usual(decimal),
        _ => None,
    }
}

fn int(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    Ok(number(encoder, call, world, Type::I32).map(Some))
}

/// What does not fit is not defined, and may set `errno`.
fn long(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let value = number(encoder, call, world, Type::I64);
    if let Some(value) = value.filter(|_| encoder.asks_for_errno()) {
        let least = encoder.terms.constant(64, i64::MIN as u64 as u128);
        let most = encoder.terms.constant(64, i64::MAX as u128);
        let (lowest, highest) = (
            encoder.terms.eq(value, least),
            encoder.terms.eq(value, most),
        );
        let over = encoder.terms.or(lowest, highest);
        let what = format!("what `{}` sets errno to", call.name);
        let open = encoder.open(&what, Sort::Bits(32));
        encoder.set_errno_where(world, over, open);
    }
    Ok(value.map(Some))
}

/// Where the program asks for `errno`, any number that a text may say: what does not fit sets `errno`.
fn fitting(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if !encoder.asks_for_errno() {
        return Ok(number(encoder, call, world, Type::I64).map(Some));
    }
    let Some(value) = number(encoder, call, world, Type::I128) else {
        return Ok(None);
    };
    let terms = &mut *encoder.terms;
    let least = terms.constant(128, i128::from(i64::MIN) as u128);
    let most = terms.constant(128, i64::MAX as u128);
    let (below, above) = (terms.slt(value, least), terms.slt(most, value));
    let over = terms.or(below, above);
    let fitting = terms.ite(above, most, value);
    let fitting = terms.ite(below, least, fitting);
    let fitting = terms.extract(fitting, 63, 0);
    let range = terms.constant(32, 34);
    encoder.set_errno_where(world, over, range);
    Ok(Some(Some(fitting)))
}

/// Only with base 10, and without asking where the number ends.
fn decimal(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let is = |encoder: &Encoder<'_>, index: usize, value: u128| {
        let argument = call.argument(index);
        argument.and_then(|(_, term)| encoder.terms.as_constant(term)) == Some(value)
    };
    if !is(encoder, 1, 0) || !is(encoder, 2, 10) {
        return Ok(None);
    }
    fitting(encoder, call, world)
}

/// The number that stands for an argument of the program, if the call reads one from its beginning.
fn number(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, ty: Type) -> Option<Term> {
    if !encoder.options.argument_numbers {
        return None;
    }
    let (_, text) = call.argument(0)?;
    // A pointer that was read at an unknown place may lead to any object, as far as that is known.
    let vague = encoder.is_vague(text);
    let targets = encoder.targets(world, text, call.place);
    let mut ways = Vec::new();
    let mut elsewhere = Vec::new();
    for leaf in &targets.leaves {
        let argument = encoder.arguments.get(&leaf.object).cloned();
        match argument.filter(|argument| is_untouched(encoder, world, leaf.object, argument)) {
            Some(argument) => ways.push((leaf, argument)),
            None if leaf.object == 0 || vague => elsewhere.push(leaf),
            None => return None,
        }
    }
    if ways.is_empty() {
        return None;
    }
    let zero = encoder.word(0);
    for (leaf, _) in &ways {
        let begins = encoder.terms.eq(leaf.offset, zero);
        match encoder.terms.as_truth(begins) {
            Some(true) => {}
            Some(false) => return None,
            None if vague => {
                let within = encoder.terms.not(begins);
                let within = encoder.terms.and(leaf.condition, within);
                encoder.unknown_where(world, within, WITHIN, call.place);
            }
            None => return None,
        }
    }
    for leaf in elsewhere {
        match leaf.object {
            0 => encoder.nothing_read(world, leaf, call.place),
            _ => encoder.unknown_where(world, leaf.condition, WITHIN, call.place),
        }
    }
    let mut value = encoder.terms.constant(ty.size() as u32 * 8, 0);
    for (leaf, argument) in ways {
        let number = given(encoder, call, world, &argument, ty);
        value = encoder.terms.ite(leaf.condition, number, value);
    }
    Some(value)
}

const WITHIN: &str = "a number that is read from a text that is not known";

/// What the program has written to an argument is another text.
fn is_untouched(
    encoder: &mut Encoder<'_>,
    world: &World,
    object: u32,
    argument: &Argument,
) -> bool {
    let Some(held) = world.memory.get(object).cloned() else {
        return false;
    };
    (0..argument.bytes.len()).all(|at| {
        let read = held.content.read(encoder.terms, at as u64, 1);
        read.value == argument.bytes[at]
    })
}

/// The number of one argument; that of the program's name is 0.
fn given(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    argument: &Argument,
    ty: Type,
) -> Term {
    let number = argument.number;
    let width = ty.size() as u32 * 8;
    if number == 0 {
        return encoder.terms.constant(width, 0);
    }
    if let Some(&known) = encoder.argument_numbers.get(&(number, ty)) {
        return known;
    }
    let name = match ty {
        Type::I32 => format!("atoi(argv[{number}])"),
        _ => format!("atol(argv[{number}])"),
    };
    let kind = InputKind::ArgumentNumber(number, ty);
    let place = call.place.clone();
    let term = encoder.input(&name, kind, Sort::Bits(width), world, place);
    encoder.argument_numbers.insert((number, ty), term);
    term
}
