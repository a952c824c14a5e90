//! What programs print: recorded, so that it can be compared.

use patchwright_ir::Type;
use patchwright_solve::Term;

use super::{Given, Model, usual};
use crate::{
    call::Call,
    encoder::{Dead, Encoder, Go, World},
    encoding::Piece,
};

/// Bytes of a string that is printed at most.
const MOST: u64 = 4096;

pub(super) fn find(name: &str) -> Option<Model> {
    match name {
        "printf" | "__printf_chk" | "fprintf" | "__fprintf_chk" => usual(printf),
        "puts" => usual(puts),
        "fputs" | "fputs_unlocked" => usual(fputs),
        "putchar" | "putchar_unlocked" => usual(putchar),
        "fputc" | "putc" | "_IO_putc" => usual(fputc),
        "fflush" | "setvbuf" | "setbuf" | "fclose" => usual(nothing),
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

fn nothing(encoder: &mut Encoder<'_>, _call: &Call<'_>, _world: &mut World) -> Given {
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
    put_string(encoder, call, world, text, false)?;
    encoder.print(world, false, Piece::Text(b"\n".to_vec()));
    done(encoder, 1)
}

fn fputs(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    let Some((_, text)) = call.argument(0) else {
        return Ok(None);
    };
    match is_error(encoder, call, world, 1) {
        Some(error) => put_string(encoder, call, world, text, error)?,
        None => return other_stream(encoder, call, world),
    }
    done(encoder, 1)
}

fn perror(encoder: &mut Encoder<'_>, call: &Call<'_>, world: &mut World) -> Given {
    if let Some((_, text)) = call.argument(0) {
        put_string(encoder, call, world, text, true)?;
    }
    encoder.print(world, true, Piece::Text(b": error\n".to_vec()));
    Ok(Some(None))
}

/// Prints a string byte by byte, up to its zero.
fn put_string(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    text: Term,
    error: bool,
) -> Go<()> {
    let before = world.path.clone();
    let mut known = Vec::new();
    for index in 0..MOST {
        let at = encoder.moved(text, index);
        let byte = encoder.load_word(world, Type::U8, at, call.place)?;
        if let Some(byte) = encoder.terms.as_constant(byte) {
            if byte == 0 {
                if !known.is_empty() {
                    encoder.print(world, error, Piece::Text(known));
                }
                world.path = before;
                return Ok(());
            }
            known.push(byte as u8);
            continue;
        }
        if !known.is_empty() {
            let known = std::mem::take(&mut known);
            encoder.print(world, error, Piece::Text(known));
        }
        let zero = encoder.terms.constant(8, 0);
        let ends = encoder.terms.eq(byte, zero);
        let goes_on = encoder.terms.not(ends);
        let goes_on = encoder.settled(goes_on, call.place);
        match world.path.and(encoder.terms, goes_on) {
            Some(path) => world.path = path,
            None => {
                world.path = before;
                return Ok(());
            }
        }
        encoder.print(world, error, Piece::Byte(byte));
    }
    encoder.unknown(world, "a string that is too long is printed", call.place);
    Err(Dead)
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
    let Some((_, format)) = call.argument(at) else {
        return Ok(None);
    };
    let Some(format) = constant_string(encoder, call, world, format)? else {
        encoder.unknown(world, "a format that depends on the input", call.place);
        return Err(Dead);
    };
    let mut next = at + 1;
    let mut text = Vec::new();
    let mut rest = format.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        let length = rest
            .iter()
            .position(|byte| {
                byte.is_ascii_alphabetic() && !b"hlLqjzt".contains(byte) || *byte == b'%'
            })
            .map_or(rest.len(), |end| end + 1);
        let (conversion, after) = rest.split_at(length);
        rest = after;
        let Some(&letter) = conversion.last() else {
            continue;
        };
        if letter == b'%' {
            text.push(b'%');
            continue;
        }
        if !text.is_empty() {
            encoder.print(world, error, Piece::Text(std::mem::take(&mut text)));
        }
        // A width or precision that is an argument.
        for _ in conversion.iter().filter(|byte| **byte == b'*') {
            if let Some((ty, value)) = call.argument(next) {
                encoder.print(world, error, Piece::Value("*".to_owned(), ty, value));
            }
            next += 1;
        }
        let Some((ty, value)) = call.argument(next) else {
            return Err(super::verifier::bad_argument(
                encoder,
                call,
                world,
                "the format has more conversions than there are arguments",
            ));
        };
        next += 1;
        let spelled = format!("%{}", String::from_utf8_lossy(conversion));
        match letter {
            b's' if conversion.len() == 1 => put_string(encoder, call, world, value, error)?,
            b'c' if conversion.len() == 1 => {
                let byte = encoder.terms.extract(value, 7, 0);
                encoder.print(world, error, Piece::Byte(byte));
            }
            b's' | b'n' => {
                encoder.unknown(world, format!("`{spelled}` in a format"), call.place);
                return Err(Dead);
            }
            _ => encoder.print(world, error, Piece::Value(spelled, ty, value)),
        }
    }
    if !text.is_empty() {
        encoder.print(world, error, Piece::Text(text));
    }
    if !call.used {
        return done(encoder, 0);
    }
    let length = encoder.anything(Type::I32);
    Ok(Some(length))
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
