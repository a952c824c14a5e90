//! Models of functions that count and exchange bits, which compilers offer and C cannot express.

use patchwright_solve::Term;

use super::{
    model::{Given, Model, usual},
    verifier::bad_argument,
};
use crate::{
    calling::Call,
    encoder::{Encoder, World},
    meaning,
};

/// Returns the model of a function on bits.
pub(super) fn find(name: &str) -> Option<Model> {
    let builtin = name.strip_prefix("__builtin_");
    match builtin.unwrap_or(name) {
        "ffs" | "ffsl" | "ffsll" => usual(first_set),
        _ => match builtin? {
            "popcount" | "popcountl" | "popcountll" => usual(|e, call, _| count(e, call, false)),
            "parity" | "parityl" | "parityll" => usual(|e, call, _| count(e, call, true)),
            "clz" | "clzl" | "clzll" => usual(|e, call, world| zeros(e, call, world, true)),
            "ctz" | "ctzl" | "ctzll" => usual(|e, call, world| zeros(e, call, world, false)),
            "bswap16" | "bswap32" | "bswap64" => usual(|e, call, _| reversed(e, call, 8)),
            "bitreverse8" | "bitreverse16" | "bitreverse32" | "bitreverse64" => {
                usual(|e, call, _| reversed(e, call, 1))
            }
            _ => None,
        },
    }
}

/// The argument, if it and the result are numbers.
fn operand(call: &Call<'_>) -> Option<Term> {
    let (ty, value) = call.argument(0)?;
    (ty.is_integer() && call.result.is_integer()).then_some(value)
}

/// A small number as the call's result.
fn result(encoder: &mut Encoder<'_>, call: &Call<'_>, value: Term) -> Given {
    let width = encoder.terms.width(value);
    let wanted = call.result.size() as u32 * 8;
    let value = meaning::resize(encoder.terms, value, width, wanted, false);
    Ok(Some(Some(value)))
}

/// How many bits are set; only whether that is odd.
fn count(encoder: &mut Encoder<'_>, call: &Call<'_>, parity: bool) -> Given {
    let Some(value) = operand(call) else {
        return Ok(None);
    };
    let mut sum = encoder.terms.constant(8, 0);
    for at in 0..encoder.terms.width(value) {
        let bit = encoder.terms.extract(value, at, at);
        let bit = encoder.terms.zero_extend(bit, 8);
        sum = encoder.terms.add(sum, bit);
    }
    if parity {
        let low = encoder.terms.extract(sum, 0, 0);
        sum = encoder.terms.zero_extend(low, 8);
    }
    result(encoder, call, sum)
}

/// The number of the lowest or highest set bit, counted from there; `none` is what zero gives.
fn place_of_first(encoder: &mut Encoder<'_>, value: Term, highest: bool, none: u128) -> Term {
    let width = encoder.terms.width(value);
    let mut found = encoder.terms.constant(8, none);
    for distance in (0..width).rev() {
        let at = if highest {
            width - 1 - distance
        } else {
            distance
        };
        let bit = encoder.terms.extract(value, at, at);
        let one = encoder.terms.constant(1, 1);
        let set = encoder.terms.eq(bit, one);
        let here = encoder.terms.constant(8, u128::from(distance));
        found = encoder.terms.ite(set, here, found);
    }
    found
}

/// How many zeros stand before the first one; of zero that is undefined.
fn zeros(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World, highest: bool) -> Given {
    let Some(value) = operand(call) else {
        return Ok(None);
    };
    let width = encoder.terms.width(value);
    let zero = encoder.terms.constant(width, 0);
    let none = encoder.terms.eq(value, zero);
    let none = encoder.settled(none, call.place);
    let defined = encoder.terms.not(none);
    let Some(other) = world.path.and(encoder.terms, none) else {
        let found = place_of_first(encoder, value, highest, 0);
        return result(encoder, call, found);
    };
    let undefined = World {
        path: other,
        ..world.clone()
    };
    let dead = bad_argument(encoder, call, &undefined, "of zero");
    world.path = world.path.and(encoder.terms, defined).ok_or(dead)?;
    let found = place_of_first(encoder, value, highest, 0);
    result(encoder, call, found)
}

/// The number of the lowest set bit, from one; zero has none.
fn first_set(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let Some(value) = operand(call) else {
        return Ok(None);
    };
    let width = encoder.terms.width(value);
    let zero = encoder.terms.constant(width, 0);
    let none = encoder.terms.eq(value, zero);
    let found = place_of_first(encoder, value, false, 0);
    let one = encoder.terms.constant(8, 1);
    let found = encoder.terms.add(found, one);
    let nothing = encoder.terms.constant(8, 0);
    let found = encoder.terms.ite(none, nothing, found);
    result(encoder, call, found)
}

/// The parts of so many bits in the other order.
fn reversed(encoder: &mut Encoder<'_>, call: &Call<'_>, part: u32) -> Given {
    let Some(value) = operand(call) else {
        return Ok(None);
    };
    let bits = call.name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let width: u32 = bits.parse().unwrap_or(0);
    if width == 0 || encoder.terms.width(value) < width {
        return Ok(None);
    }
    let mut turned: Option<Term> = None;
    for at in (0..width).step_by(part as usize) {
        let piece = encoder.terms.extract(value, at + part - 1, at);
        turned = Some(match turned {
            None => piece,
            Some(high) => encoder.terms.concat(high, piece),
        });
    }
    match turned {
        Some(turned) => result(encoder, call, turned),
        None => Ok(None),
    }
}
