//! Models of assertions, assumptions, nondeterministic values, and the ends of a program.

use patchwright_clib::{Question, Statement, question, statement};
use patchwright_ir::{Type, Undefined};
use patchwright_solve::{Sort, Term};

use super::model::{Given, Model, always, usual};
use crate::{
    calling::Call,
    encoder::{Dead, Encoder, World},
    encoding::{FailureKind, InputKind},
    meaning,
    memory::Kind,
};

/// Returns the model of an assertion, an assumption, or an end of the program.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "__assert_fail" | "__assert" | "__assert_perror_fail" => always(assertion_failed),
        "reach_error" | "__VERIFIER_error" => always(assertion_failed),
        "abort" => usual(abort),
        "exit" => usual(exit),
        "err" | "errx" | "verr" | "verrx" => usual(end_with_message),
        "warn" | "warnx" | "vwarn" | "vwarnx" => usual(message),
        _ if patchwright_clib::leaves_at_once(name) => usual(leave),
        "__patchwright_choice" => always(choice),
        "__patchwright_constant" => always(constant),
        "time" => usual(time),
        _ if patchwright_clib::is_unpredictable(name) => usual(returned),
        _ => match statement(name) {
            Some(Statement::Any) => usual(returned),
            Some(Statement::Assert) => usual(assert),
            // One of several such functions has a body in every program.
            Some(Statement::Assume) if name != "assume_abort_if_not" => usual(assume),
            _ => match question(name)? {
                Question::Accessible => usual(accessible),
                Question::SameObject => usual(same_object),
                Question::ObjectSize => usual(|e, call, world| of_object(e, call, world, true)),
                Question::Offset => usual(|e, call, world| of_object(e, call, world, false)),
            },
        },
    }
}

/// A truth value as the call's result.
fn answer(encoder: &mut Encoder<'_>, call: &Call<'_>, holds: Term) -> Given {
    let value = meaning::int_of(encoder.terms, holds);
    number(encoder, call, value)
}

fn number(encoder: &mut Encoder<'_>, call: &Call<'_>, value: Term) -> Given {
    let Some(wanted) = meaning::width(call.result).filter(|_| call.result.is_integer()) else {
        return Ok(None);
    };
    let width = encoder.terms.width(value);
    let value = meaning::resize(encoder.terms, value, width, wanted, false);
    Ok(Some(Some(value)))
}

/// Whether so many bytes may be accessed.
fn accessible(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, pointer)) = call.argument(0) else {
        return Ok(None);
    };
    let size = match call.argument(1) {
        Some((ty, size)) => {
            let width = encoder.terms.width(size);
            meaning::resize(encoder.terms, size, width, 64, ty.is_signed())
        }
        None => encoder.word(1),
    };
    let targets = encoder.targets(world, pointer, call.place);
    if targets.opaque.is_some() {
        return Ok(None);
    }
    let is_write = call.name.contains('w');
    let mut holds = encoder.terms.truth(false);
    for leaf in &targets.leaves {
        let Some(object) = world.memory.get(leaf.object).cloned() else {
            continue;
        };
        if matches!(object.kind, Kind::Function(_)) || is_write && object.kind == Kind::Constant {
            continue;
        }
        let offset = encoder.counted_from_start(&object, leaf.offset);
        let whole = encoder.terms.ule(offset, object.size);
        let room = encoder.terms.sub(object.size, offset);
        let fits = encoder.terms.ule(size, room);
        let inside = encoder.terms.and(whole, fits);
        let there = encoder.terms.and(inside, object.alive);
        let here = encoder.terms.and(leaf.condition, there);
        holds = encoder.terms.or(holds, here);
    }
    answer(encoder, call, holds)
}

fn same_object(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let (Some((_, a)), Some((_, b))) = (call.argument(0), call.argument(1)) else {
        return Ok(None);
    };
    let x = encoder.targets(world, a, call.place);
    let y = encoder.targets(world, b, call.place);
    if x.opaque.is_some() || y.opaque.is_some() {
        return Ok(None);
    }
    let mut holds = encoder.terms.truth(false);
    for one in &x.leaves {
        for other in y.leaves.iter().filter(|other| other.object == one.object) {
            let both = encoder.terms.and(one.condition, other.condition);
            holds = encoder.terms.or(holds, both);
        }
    }
    answer(encoder, call, holds)
}

/// The size of the object that a pointer leads to, or where in it.
fn of_object(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World, size: bool) -> Given {
    let Some((_, pointer)) = call.argument(0) else {
        return Ok(None);
    };
    let targets = encoder.targets(world, pointer, call.place);
    if targets.opaque.is_some() {
        return Ok(None);
    }
    let mut value = encoder.word(0);
    for leaf in &targets.leaves {
        let here = match (size, world.memory.get(leaf.object).cloned()) {
            (false, Some(object)) => encoder.counted_from_start(&object, leaf.offset),
            (false, None) => leaf.offset,
            (true, Some(object)) => object.size,
            (true, None) => encoder.word(0),
        };
        value = encoder.terms.ite(leaf.condition, here, value);
    }
    number(encoder, call, value)
}

/// Where the time is also stored, the call is one of a function that is not encoded.
fn time(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let stored = call.argument(0).map(|(_, pointer)| pointer);
    match stored.is_some_and(|pointer| encoder.terms.as_constant(pointer) == Some(0)) {
        true => returned(encoder, call, world),
        false => Ok(None),
    }
}

fn assertion_failed(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let yes = encoder.terms.truth(true);
    let message = match call.name.starts_with("__assert") {
        true => "the assertion fails".to_owned(),
        false => format!("`{}` is reached", call.name),
    };
    encoder.lose_output(world);
    encoder.fail(world, yes, FailureKind::Assertion, || message, call.place);
    Err(Dead)
}

/// The first argument as a truth value.
fn condition(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World) -> Result<Term, Dead> {
    let truth = call
        .argument(0)
        .and_then(|(ty, value)| meaning::truth(encoder.terms, ty, value));
    match truth {
        Some(truth) => Ok(encoder.settled(truth, call.place)),
        None => {
            let reason = format!("a call of `{}` without a condition", call.name);
            encoder.unknown(world, reason, call.place);
            Err(Dead)
        }
    }
}

fn assert(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let holds = condition(encoder, call, world)?;
    encoder.reached.push(world.path.term());
    let not = encoder.terms.not(holds);
    encoder.fail(
        world,
        not,
        FailureKind::Assertion,
        || "the assertion fails".to_owned(),
        call.place,
    );
    world.path = world.path.and(encoder.terms, holds).ok_or(Dead)?;
    Ok(Some(None))
}

fn assume(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let holds = condition(encoder, call, world)?;
    let not = encoder.terms.not(holds);
    let violated = encoder.terms.and(world.path.term(), not);
    encoder.violated.push(violated);
    world.path = world.path.and(encoder.terms, holds).ok_or(Dead)?;
    Ok(Some(None))
}

fn abort(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    encoder.lose_output(world);
    if encoder.options.abort_fails {
        let yes = encoder.terms.truth(true);
        encoder.fail(
            world,
            yes,
            FailureKind::Abort,
            || "`abort` is called".to_owned(),
            call.place,
        );
    } else {
        encoder.gave_up = true;
    }
    Err(Dead)
}

/// `_exit` and the like: what is in buffers is lost.
fn leave(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    encoder.lose_output(world);
    exit(encoder, call, world)
}

fn exit(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let status = call
        .argument(0)
        .map(|(_, value)| value)
        .unwrap_or_else(|| encoder.terms.constant(32, 0));
    let low = encoder.terms.extract(status, 7, 0);
    let status = encoder.terms.zero_extend(low, 32);
    if encoder.has_ended() {
        return Err(Dead);
    }
    encoder
        .exits
        .push((world.path.term(), status, world.clone()));
    Err(Dead)
}

/// `err` and the like: a message on standard error, and the end.
fn end_with_message(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let _ = message(encoder, call, world)?;
    exit(encoder, call, world)
}

/// `warn` and the like: a message on standard error.
fn message(encoder: &mut Encoder<'_>, call: &Call<'_>, _: &mut World) -> Given {
    encoder.see_not(format!("the message of `{}`", call.name));
    Ok(Some(None))
}

/// A value that may be anything: an input.
fn returned(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let ty = call.result;
    if let Type::Ptr = ty {
        let reason = format!("the pointer that `{}` returns", call.name);
        encoder.unknown(world, reason, call.place);
        return Err(Dead);
    }
    let Some(sort) = meaning::sort(ty) else {
        return match ty {
            // What it makes anything of is behind its arguments.
            Type::Void if call.arguments.iter().any(|(ty, _)| *ty == Type::Ptr) => Ok(None),
            Type::Void => Ok(Some(None)),
            Type::F80 => Ok(Some(Some(encoder.open("a `long double`", Sort::Bits(128))))),
            _ => {
                encoder.unknown(world, crate::run::no_term(ty), call.place);
                Err(Dead)
            }
        };
    };
    let kind = InputKind::Returned {
        function: call.name.to_owned(),
        ty,
    };
    let value = encoder.input(call.name, kind, sort, world, call.place.clone());
    if let "rand" | "random" = call.name {
        // Neither is ever negative.
        let width = encoder.terms.width(value);
        let low = encoder.terms.extract(value, 30, 0);
        return Ok(Some(Some(encoder.terms.zero_extend(low, width))));
    }
    Ok(Some(Some(encoder.narrowed(ty, value))))
}

/// The number of the alternative that is chosen at a place of a meta-program; 0 is the original.
fn choice(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let number = call
        .argument(0)
        .and_then(|(_, value)| encoder.terms.as_constant(value))
        .unwrap_or(u128::MAX);
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    if let Some(made) = &encoder.options.made {
        let alternative = made.choices.get(&number).copied().unwrap_or(0);
        return Ok(Some(Some(
            encoder.terms.constant(32, u128::from(alternative)),
        )));
    }
    let count = match encoder.options.single && encoder.rests_on_other(&world.path, number) {
        true => 0,
        false => encoder.options.choices.get(&number).copied().unwrap_or(0),
    };
    let mut value = encoder.terms.constant(32, 0);
    for alternative in (1..=count).rev() {
        let chosen = encoder.chosen(number, alternative);
        let this = encoder.terms.constant(32, u128::from(alternative));
        value = encoder.terms.ite(chosen, this, value);
    }
    if encoder.terms.as_constant(value).is_none() {
        encoder.choice_values.insert(value, number);
    }
    Ok(Some(Some(value)))
}

/// The constant that stands at a place of a meta-program.
fn constant(encoder: &mut Encoder<'_>, call: &Call<'_>, _world: &mut World) -> Given {
    let number = call
        .argument(0)
        .and_then(|(_, value)| encoder.terms.as_constant(value))
        .unwrap_or(u128::MAX);
    if let Some(made) = &encoder.options.made
        && let Some(&value) = u32::try_from(number)
            .ok()
            .and_then(|number| made.constants.get(&number))
    {
        return Ok(Some(Some(
            encoder.terms.constant(64, u128::from(value as u64)),
        )));
    }
    let name = format!("constant.{number}");
    Ok(Some(Some(encoder.terms.variable(&name, Sort::Bits(64)))))
}

/// The program's end by a wrong argument of the library.
pub(super) fn bad_argument(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    message: &str,
) -> Dead {
    bad_call(encoder, call, world, (Undefined::BadArgument, message))
}

/// Adds the failure of a bad call of this kind, and ends the path.
pub(super) fn bad_call(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    (kind, message): (Undefined, &str),
) -> Dead {
    let yes = encoder.terms.truth(true);
    encoder.undefined(
        world,
        yes,
        kind,
        || format!("`{}`: {message}", call.name),
        call.place,
    );
    Dead
}
