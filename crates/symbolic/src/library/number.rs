//! Numbers that a program reads from its arguments: any, without saying how they are written.
//!
//! Every value of `int` is what `atoi` gives for some text, so an argument that is only read as a number need not be
//! bytes. Where a program also looks at the bytes, two inputs stand for one argument, and whoever encodes has to notice
//! ([`Options::argument_numbers`](crate::Options::argument_numbers)).

use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use super::{Given, Model, usual};
use crate::{
    call::Call,
    encoder::{Encoder, World},
    encoding::InputKind,
};

pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "atoi" => usual(int),
        "atol" | "atoll" => usual(long),
        "strtol" | "strtoll" => usual(decimal),
        _ => None,
    }
}

fn int(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    Ok(number(encoder, call, world, Type::I32).map(Some))
}

fn long(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    Ok(number(encoder, call, world, Type::I64).map(Some))
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
    long(encoder, call, world)
}

/// The number that stands for an argument of the program, if the call reads one from its beginning.
fn number(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, ty: Type) -> Option<Term> {
    if !encoder.options.argument_numbers {
        return None;
    }
    let (_, text) = call.argument(0)?;
    let object = encoder.number_of(text)?;
    let argument = encoder.arguments.get(&object)?.clone();
    let number = argument.number;
    // What the program has written there is another text.
    let held = world.memory.get(object)?.clone();
    let untouched = argument.begins == text
        && (0..argument.bytes.len()).all(|at| {
            let read = held.content.read(encoder.terms, at as u64, 1);
            read.value == argument.bytes[at]
        });
    if !untouched {
        return None;
    }
    if let Some(&known) = encoder.argument_numbers.get(&(number, ty)) {
        return Some(known);
    }
    let name = match ty {
        Type::I32 => format!("argv[{number}] as int"),
        _ => format!("argv[{number}] as long"),
    };
    let sort = Sort::Bits(ty.size() as u32 * 8);
    let kind = InputKind::ArgumentNumber(number, ty);
    let term = encoder.input(&name, kind, sort, world, call.place.clone());
    encoder.argument_numbers.insert((number, ty), term);
    Some(term)
}
