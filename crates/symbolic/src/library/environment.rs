//! What later calculations and conversions mean: the direction of rounding, the locale. What a program starts with is encoded;
//! nothing is known of one that asks for something else.

use super::{
    model::{Given, Model, usual},
    output::constant_string,
};
use crate::{
    calling::Call,
    encoder::{Dead, Encoder, World},
    memory::Kind,
};

/// Returns the model of a function that sets the rounding or the locale.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "fesetround" => usual(direction),
        "fegetround" => usual(|e, _, _| Ok(Some(Some(e.terms.constant(32, 0))))),
        "setlocale" => usual(locale),
        _ => None,
    }
}

fn direction(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, direction)) = call.argument(0) else {
        return Ok(None);
    };
    let nearest = encoder.terms.constant(32, 0);
    let same = encoder.terms.eq(direction, nearest);
    let same = encoder.settled(same, call.place);
    let other = encoder.terms.not(same);
    let reason = "rounding in another direction than to the nearest number";
    encoder.unknown_where(world, other, reason, call.place);
    world.path = world.path.and(encoder.terms, same).ok_or(Dead)?;
    Ok(Some(Some(nearest)))
}

fn locale(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, name)) = call.argument(1) else {
        return Ok(None);
    };
    if encoder.terms.as_constant(name) != Some(0) {
        match constant_string(encoder, call, world, name)?.as_deref() {
            Some(b"C" | b"POSIX") => {}
            Some(b"") => encoder.note("the locale of the environment is \"C\"".to_owned()),
            _ => {
                encoder.unknown(world, "another locale than \"C\"", call.place);
                return Err(Dead);
            }
        }
    }
    let text = encoder.new_object(world, Kind::Constant, 2, ".locale", true);
    let letter = encoder.terms.constant(8, u128::from(b'C'));
    let written = encoder.terms.truth(true);
    if let Some(number) = encoder.number_of(text)
        && let Some(object) = world.memory.change(number)
    {
        object.content.write(encoder.terms, 0, 1, letter, written);
    }
    Ok(Some(Some(text)))
}
