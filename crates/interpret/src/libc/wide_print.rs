//! Printing wide characters, in the locale "C": what is not ASCII cannot be printed there, and is not supported.

use patchwright_semantics::Ty;

use super::{
    calling::{Args, Native, int, word},
    format::{Source, format},
    stream::{get, put_wide, standard, stream},
};
use crate::{
    fault::{Run, Stop},
    machine::Machine,
};

/// What the functions of wide characters give at the end, and for what cannot be converted.
const WEOF: i64 = 0xffff_ffff;

/// A wide string as bytes, `most` characters of it at the most.
pub(super) fn narrow(m: &Machine<'_>, address: u64, most: usize) -> Run<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < most {
        let c = m.memory.load(Ty::U32, address + 4 * text.len() as u64)?;
        if c == 0 {
            break;
        }
        text.push(narrow_character(c)?);
    }
    Ok(text)
}

/// A wide character as a byte.
pub(super) fn narrow_character(c: u64) -> Run<u8> {
    match u8::try_from(c).ok().filter(u8::is_ascii) {
        Some(byte) => Ok(byte),
        None => Err(Stop::Unsupported(
            "wide characters that the locale \"C\" cannot print".to_owned(),
        )),
    }
}

fn formatted(m: &mut Machine<'_>, a: &Args<'_>, at: usize, list: bool) -> Run<Vec<u8>> {
    let text = narrow(m, a.word(at)?, usize::MAX)?;
    let mut source = match list {
        true => Source::List(a.word(at + 1)?),
        false => Source::Call(a.0, at + 1),
    };
    format(m, &text, &mut source)
}

fn print(m: &mut Machine<'_>, index: usize, a: &Args<'_>, at: usize, list: bool) -> Run<u128> {
    let text = formatted(m, a, at, list)?;
    match put_wide(m, index, &text)? {
        true => int(text.len() as i64),
        false => int(-1),
    }
}

fn print_bounded(m: &mut Machine<'_>, a: &Args<'_>, list: bool) -> Run<u128> {
    let text = formatted(m, a, 2, list)?;
    let (to, size) = (a.word(0)?, a.word(1)?);
    if size == 0 {
        return int(-1);
    }
    let kept = text.len().min(size as usize - 1);
    for (index, &byte) in text[..kept].iter().enumerate() {
        m.memory
            .store(Ty::I32, to + 4 * index as u64, byte.into())?;
    }
    m.memory.store(Ty::I32, to + 4 * kept as u64, 0)?;
    int(if kept < text.len() { -1 } else { kept as i64 })
}

fn put_character(m: &mut Machine<'_>, index: usize, c: u64) -> Run<u128> {
    let byte = narrow_character(c & 0xffff_ffff)?;
    int(match put_wide(m, index, &[byte])? {
        true => i64::from(byte),
        false => WEOF,
    })
}

fn get_character(m: &mut Machine<'_>, index: usize) -> Run<u128> {
    match get(m, index) {
        Some(byte) => int(i64::from(narrow_character(byte.into())?)),
        None => int(WEOF),
    }
}

/// Returns the model of a function that prints wide characters.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "wprintf" => |m, a| {
            let out = standard(m, "stdout")?;
            print(m, out, a, 0, false)
        },
        "vwprintf" => |m, a| {
            let out = standard(m, "stdout")?;
            print(m, out, a, 0, true)
        },
        "fwprintf" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 1, false)
        },
        "vfwprintf" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 1, true)
        },
        "swprintf" => |m, a| print_bounded(m, a, false),
        "vswprintf" => |m, a| print_bounded(m, a, true),
        "putwchar" | "putwchar_unlocked" => |m, a| {
            let out = standard(m, "stdout")?;
            put_character(m, out, a.word(0)?)
        },
        "putwc" | "fputwc" | "putwc_unlocked" | "fputwc_unlocked" => |m, a| {
            let out = stream(m, a.word(1)?)?;
            put_character(m, out, a.word(0)?)
        },
        "fputws" | "fputws_unlocked" => |m, a| {
            let text = narrow(m, a.word(0)?, usize::MAX)?;
            let out = stream(m, a.word(1)?)?;
            int(if put_wide(m, out, &text)? { 1 } else { -1 })
        },
        "getwchar" | "getwchar_unlocked" => |m, _| {
            let input = standard(m, "stdin")?;
            get_character(m, input)
        },
        "getwc" | "fgetwc" | "getwc_unlocked" | "fgetwc_unlocked" => |m, a| {
            let input = stream(m, a.word(0)?)?;
            get_character(m, input)
        },
        "fgetws" => |m, a| {
            let (to, most) = (a.word(0)?, a.int(1)?);
            let input = stream(m, a.word(2)?)?;
            let mut count = 0;
            while count + 1 < most {
                let Some(byte) = get(m, input) else { break };
                let byte = narrow_character(byte.into())?;
                m.memory
                    .store(Ty::I32, to + 4 * count as u64, byte.into())?;
                count += 1;
                if byte == b'\n' {
                    break;
                }
            }
            if count == 0 {
                return word(0);
            }
            m.memory.store(Ty::I32, to + 4 * count as u64, 0)?;
            word(to)
        },
        "wcscpy" => |m, a| {
            copy(m, a.word(0)?, a.word(1)?, u64::MAX)?;
            word(a.word(0)?)
        },
        "wcscat" => |m, a| {
            let end = a.word(0)? + 4 * length(m, a.word(0)?)?;
            copy(m, end, a.word(1)?, u64::MAX)?;
            word(a.word(0)?)
        },
        "wcscmp" => |m, a| compare(m, a.word(0)?, a.word(1)?, u64::MAX),
        "wcsncmp" => |m, a| compare(m, a.word(0)?, a.word(1)?, a.word(2)?),
        "wcschr" => |m, a| {
            let wanted = a.word(1)? & 0xffff_ffff;
            let mut at = a.word(0)?;
            loop {
                match m.memory.load(Ty::U32, at)? {
                    c if c == wanted => return word(at),
                    0 => return word(0),
                    _ => at += 4,
                }
            }
        },
        "wmemcpy" | "wmemmove" => |m, a| {
            if a.word(2)? > 0 {
                let bytes = a.word(2)?.saturating_mul(4);
                m.memory.copy(a.word(0)?, a.word(1)?, bytes)?;
            }
            word(a.word(0)?)
        },
        "wmemset" => |m, a| {
            for index in 0..a.word(2)? {
                m.memory
                    .store(Ty::I32, a.word(0)?.wrapping_add(4 * index), a.word(1)?)?;
            }
            word(a.word(0)?)
        },
        _ => return None,
    })
}

fn length(m: &Machine<'_>, at: u64) -> Run<u64> {
    let mut length = 0;
    while m.memory.load(Ty::I32, at + 4 * length)? != 0 {
        length += 1;
    }
    Ok(length)
}

fn copy(m: &mut Machine<'_>, to: u64, from: u64, most: u64) -> Run<()> {
    for index in 0..most {
        let c = m.memory.load(Ty::I32, from + 4 * index)?;
        m.memory.store(Ty::I32, to + 4 * index, c)?;
        if c == 0 {
            break;
        }
    }
    Ok(())
}

fn compare(m: &Machine<'_>, a: u64, b: u64, most: u64) -> Run<u128> {
    for index in 0..most {
        let x = m.memory.load(Ty::I32, a + 4 * index)? as i64;
        let y = m.memory.load(Ty::I32, b + 4 * index)? as i64;
        if x != y {
            return int(if x < y { -1 } else { 1 });
        }
        if x == 0 {
            break;
        }
    }
    int(0)
}
