//! Records what programs print, so that it can be compared.

use patchwright_ir::Type;
use patchwright_solve::Term;

use super::{
    format::{Formatted, MOST, formatted, printed},
    model::{Given, Model, usual},
};
use crate::{
    calling::Call,
    encoder::{Dead, Encoder, Go, World},
    encoding::Piece,
};

/// Returns the model of a function that prints.
pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "printf" | "__printf_chk" | "fprintf" | "__fprintf_chk" => usual(printf),
        "sprintf" | "snprintf" | "__sprintf_chk" | "__snprintf_chk" => usual(sprintf),
        "puts" => usual(puts),
        "fputs" | "fputs_unlocked" => usual(fputs),
        "putchar" | "putchar_unlocked" => usual(putchar),
        "fputc" | "putc" | "_IO_putc" => usual(fputc),
        "fflush" | "fflush_unlocked" | "fclose" => usual(flush),
        "setvbuf" | "setbuf" => usual(buffering),
        "perror" => usual(perror),
        _ => None,
    }
}

/// Whether a stream is standard error; `None` if it is neither that nor standard output.
fn is_error(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    index: usize,
) -> Option<bool> {
    let (_, stream) = call.argument(index)?;
    let targets = encoder.targets(world, stream, call.place);
    match targets.leaves.as_slice() {
        [leaf] => encoder.streams.get(&leaf.object).copied().flatten(),
        _ => None,
    }
}

fn other_stream<T>(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World) -> Go<T> {
    let reason = format!("`{}` to another stream than the standard ones", call.name);
    encoder.unknown(world, reason, call.place);
    Err(Dead)
}

/// What a function that prints returns where somebody looks: it has worked.
fn done(encoder: &mut Encoder<'_>, value: u32) -> Given {
    Ok(Some(Some(encoder.terms.constant(32, u128::from(value)))))
}

/// What was printed is not lost any more.
fn flush(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let is_all = call
        .argument(0)
        .is_some_and(|(_, stream)| encoder.terms.as_constant(stream) == Some(0));
    if is_all || is_error(encoder, call, world, 0) == Some(false) {
        encoder
            .buffer
            .flush(world.path.term(), encoder.output.len(), false);
    }
    done(encoder, 0)
}

/// `setbuf`, `setvbuf`: what is printed may be written at once from here on.
fn buffering(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    const UNBUFFERED: u128 = 2;
    let constant = |encoder: &Encoder<'_>, at: usize| {
        let (_, value) = call.argument(at)?;
        encoder.terms.as_constant(value)
    };
    let is_unbuffered = match call.name {
        "setbuf" => constant(encoder, 1) == Some(0),
        _ => constant(encoder, 2) == Some(UNBUFFERED),
    };
    if is_unbuffered && is_error(encoder, call, world, 0) == Some(false) {
        encoder
            .buffer
            .flush(world.path.term(), encoder.output.len(), true);
    }
    done(encoder, 0)
}

fn putchar(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    put_byte(encoder, call, world, false)
}

fn fputc(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    match is_error(encoder, call, world, 1) {
        Some(error) => put_byte(encoder, call, world, error),
        None => other_stream(encoder, call, world),
    }
}

fn put_byte(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &World, error: bool) -> Given {
    let Some((_, value)) = call.argument(0) else {
        return Ok(None);
    };
    let byte = encoder.terms.extract(value, 7, 0);
    encoder.print(world, error, Piece::Byte(byte));
    Ok(Some(Some(encoder.terms.zero_extend(byte, 32))))
}

fn puts(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, text)) = call.argument(0) else {
        return Ok(None);
    };
    printed(encoder, call, world, text, false)?;
    encoder.print(world, false, Piece::Text(b"\n".to_vec()));
    done(encoder, 1)
}

fn fputs(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, text)) = call.argument(0) else {
        return Ok(None);
    };
    match is_error(encoder, call, world, 1) {
        Some(error) => printed(encoder, call, world, text, error)?,
        None => return other_stream(encoder, call, world),
    }
    done(encoder, 1)
}

fn perror(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if let Some((_, text)) = call.argument(0) {
        printed(encoder, call, world, text, true)?;
    }
    encoder.print(world, true, Piece::Text(b": error\n".to_vec()));
    Ok(Some(None))
}

/// The text that the format in this argument gives, with those behind it.
fn text_of(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    at: usize,
    stream: Option<bool>,
) -> Go<Formatted> {
    let format = match call.argument(at) {
        Some((_, format)) => constant_string(encoder, call, world, format)?,
        None => None,
    };
    let Some(format) = format else {
        encoder.unknown(world, "a format that depends on the input", call.place);
        return Err(Dead);
    };
    formatted(encoder, call, world, &format, at + 1, stream)
}

fn printf(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let to_file = call.name.contains("fprintf");
    let checked = usize::from(call.name.ends_with("_chk"));
    let error = match to_file {
        false => false,
        true => match is_error(encoder, call, world, 0) {
            Some(error) => error,
            None => return other_stream(encoder, call, world),
        },
    };
    let at = usize::from(to_file) + checked;
    let text = text_of(encoder, call, world, at, Some(error))?;
    if !call.used {
        return done(encoder, 0);
    }
    Ok(Some(Some(text.count(encoder))))
}

fn sprintf(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let is_limited = call.name.contains("snprintf");
    let checked = call.name.ends_with("_chk");
    let Some((_, to)) = call.argument(0) else {
        return Ok(None);
    };
    let size = match call.argument(1).filter(|_| is_limited) {
        Some((_, size)) if encoder.terms.width(size) == 64 => Some(size),
        None if !is_limited => None,
        _ => return Ok(None),
    };
    let at = 1 + usize::from(is_limited) + if checked { 2 } else { 0 };
    let text = text_of(encoder, call, world, at, None)?;
    text.must_be_apart(encoder, call, world, to, size);
    text.write(encoder, call, world, to, size)?;
    Ok(Some(Some(text.count(encoder))))
}

/// The bytes of a string that does not depend on the input.
pub(super) fn constant_string(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    text: Term,
) -> Go<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    for index in 0..MOST {
        let at = encoder.moved(text, index);
        let byte = encoder.load_word(world, Type::U8, at, call.place)?;
        match encoder.terms.as_constant(byte) {
            Some(0) => return Ok(Some(bytes)),
            Some(byte) => bytes.push(byte as u8),
            None => return Ok(None),
        }
    }
    Ok(None)
}
