//! `string.h` and `strings.h`.

use super::{
    calling::{Args, Native, int, word},
    needed,
};
use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
};

/// Returns the model of a function of `string.h` or `strings.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "memcpy" | "__memcpy_chk" => memcpy,
        "mempcpy" | "__mempcpy" | "__mempcpy_chk" => mempcpy,
        "memmove" | "__memmove_chk" => memmove,
        "bcopy" => |m, a| {
            m.memory.copy(a.word(1)?, a.word(0)?, a.word(2)?)?;
            word(0)
        },
        "memset" | "__memset_chk" | "explicit_bzero" | "bzero" => memset_like(name),
        "memcmp" | "bcmp" => memcmp,
        "memchr" => |m, a| {
            let (at, c, n) = (a.word(0)?, a.word(1)? as u8, a.word(2)?);
            match scan(m, at, n, |b| b == c)? {
                Some(i) => word(at + i),
                None => word(0),
            }
        },
        "rawmemchr" | "__rawmemchr" => |m, a| {
            let (at, c) = (a.word(0)?, a.word(1)? as u8);
            let room = m.memory.room(at).unwrap_or(0);
            match scan(m, at, room + 1, |b| b == c)? {
                Some(i) => word(at + i),
                None => word(0),
            }
        },
        "memrchr" => |m, a| {
            let (at, c, n) = (a.word(0)?, a.word(1)? as u8, a.word(2)?);
            let found = m.memory.read(at, n)?.iter().rposition(|&b| b == c);
            word(found.map_or(0, |i| at + i as u64))
        },
        "memmem" => |m, a| {
            let (at, n, what, k) = (a.word(0)?, a.word(1)?, a.word(2)?, a.word(3)?);
            if k == 0 {
                return word(at);
            }
            let needle = m.memory.read(what, k)?.to_vec();
            let hay = m.memory.read(at, n)?;
            let found = hay.windows(needle.len()).position(|w| w == needle);
            word(found.map_or(0, |i| at + i as u64))
        },
        "strlen" => |m, a| word(m.memory.string(a.word(0)?)?.len() as u64),
        "strnlen" => |m, a| {
            let (at, n) = (a.word(0)?, a.word(1)?);
            word(scan(m, at, n, |b| b == 0)?.unwrap_or(n))
        },
        "strcpy" | "__strcpy_chk" => |m, a| {
            let text = m.text(a.word(1)?)?;
            must_be_apart(a, text.len() as u64 + 1)?;
            m.put_text(a.word(0)?, &text)?;
            word(a.word(0)?)
        },
        "stpcpy" | "__stpcpy" | "__stpcpy_chk" => |m, a| {
            let text = m.text(a.word(1)?)?;
            must_be_apart(a, text.len() as u64 + 1)?;
            m.put_text(a.word(0)?, &text)?;
            word(a.word(0)? + text.len() as u64)
        },
        "strncpy" | "__strncpy_chk" => |m, a| {
            padded_copy(m, a)?;
            word(a.word(0)?)
        },
        "stpncpy" => |m, a| {
            let length = padded_copy(m, a)?;
            word(a.word(0)? + length)
        },
        "strlcpy" => |m, a| {
            let text = m.text(a.word(1)?)?;
            let n = a.word(2)?;
            if n > 0 {
                let kept = text.len().min(n as usize - 1);
                m.put_text(a.word(0)?, &text[..kept])?;
            }
            word(text.len() as u64)
        },
        "strcat" | "__strcat_chk" => |m, a| {
            let at = a.word(0)?;
            let length = m.memory.string(at)?.len() as u64;
            let text = m.text(a.word(1)?)?;
            apart(at + length, a.word(1)?, text.len() as u64 + 1)?;
            m.put_text(at + length, &text)?;
            word(at)
        },
        "strncat" | "__strncat_chk" => |m, a| {
            let at = a.word(0)?;
            let length = m.memory.string(at)?.len() as u64;
            let text = bounded(m, a.word(1)?, a.word(2)?)?;
            apart(at + length, a.word(1)?, text.len() as u64 + 1)?;
            m.put_text(at + length, &text)?;
            word(at)
        },
        "strcmp" | "strcoll" | "__strcoll" => |m, a| {
            let texts = [a.word(0)?, a.word(1)?];
            int(needed::compare(m, texts, u64::MAX, |byte| byte)?)
        },
        "strncmp" => |m, a| {
            let texts = [a.word(0)?, a.word(1)?];
            int(needed::compare(m, texts, a.word(2)?, |byte| byte)?)
        },
        "strcasecmp" => |m, a| {
            let texts = [a.word(0)?, a.word(1)?];
            int(needed::compare(m, texts, u64::MAX, lower)?)
        },
        "strncasecmp" => |m, a| {
            let texts = [a.word(0)?, a.word(1)?];
            int(needed::compare(m, texts, a.word(2)?, lower)?)
        },
        "strverscmp" => |m, a| {
            let (x, y) = (m.text(a.word(0)?)?, m.text(a.word(1)?)?);
            int(version_compare(&x, &y))
        },
        "strchr" | "index" => |m, a| {
            let (at, c) = (a.word(0)?, a.word(1)? as u8);
            let length = needed::length(m, at, |byte| Ok(byte == c))?;
            let is_there = m.memory.read(at + length, 1)?[0] == c;
            word(if is_there { at + length } else { 0 })
        },
        "strchrnul" | "__strchrnul" => |m, a| {
            let (at, c) = (a.word(0)?, a.word(1)? as u8);
            word(at + needed::length(m, at, |byte| Ok(byte == c))?)
        },
        "strrchr" | "rindex" => |m, a| {
            let (at, c) = (a.word(0)?, a.word(1)? as u8);
            let text = m.memory.string(at)?;
            let found = match c {
                0 => Some(text.len()),
                _ => text.iter().rposition(|&b| b == c),
            };
            word(found.map_or(0, |i| at + i as u64))
        },
        "strstr" => |m, a| {
            let at = a.word(0)?;
            let needle = m.text(a.word(1)?)?;
            word(needed::find(m, at, &needle)?)
        },
        "strcasestr" => |m, a| {
            let at = a.word(0)?;
            let needle = m.text(a.word(1)?)?.to_ascii_lowercase();
            let hay = m.text(at)?.to_ascii_lowercase();
            word(position(&hay, &needle).map_or(0, |i| at + i as u64))
        },
        "strspn" => |m, a| {
            let set = a.word(1)?;
            word(needed::length(m, a.word(0)?, |byte| {
                Ok(!needed::contains(m, set, byte)?)
            })?)
        },
        "strcspn" => |m, a| {
            let set = a.word(1)?;
            word(needed::length(m, a.word(0)?, |byte| {
                needed::contains(m, set, byte)
            })?)
        },
        "strpbrk" => |m, a| {
            let at = a.word(0)?;
            let set = a.word(1)?;
            let length = needed::length(m, at, |byte| needed::contains(m, set, byte))?;
            let is_end = m.memory.read(at + length, 1)?[0] == 0;
            word(if is_end { 0 } else { at + length })
        },
        "strdup" | "__strdup" => |m, a| {
            let text = m.text(a.word(0)?)?;
            word(m.heap_text(&text)?)
        },
        "strndup" | "__strndup" => |m, a| {
            let text = bounded(m, a.word(0)?, a.word(1)?)?;
            word(m.heap_text(&text)?)
        },
        "strtok" => |m, a| {
            let start = match a.word(0)? {
                0 => m.library.token,
                start => start,
            };
            let (token, rest) = tokenize(m, start, a.word(1)?)?;
            m.library.token = rest;
            word(token)
        },
        "strtok_r" | "__strtok_r" => |m, a| {
            use patchwright_semantics::Ty;
            let start = match a.word(0)? {
                0 => m.memory.load(Ty::U64, a.word(2)?)?,
                start => start,
            };
            let (token, rest) = tokenize(m, start, a.word(1)?)?;
            m.memory.store(Ty::U64, a.word(2)?, rest)?;
            word(token)
        },
        "strsep" => |m, a| {
            use patchwright_semantics::Ty;
            let start = m.memory.load(Ty::U64, a.word(0)?)?;
            if start == 0 {
                return word(0);
            }
            let set = m.text(a.word(1)?)?;
            let text = m.text(start)?;
            let rest = match text.iter().position(|b| set.contains(b)) {
                Some(i) => {
                    m.put_bytes(start + i as u64, &[0])?;
                    start + i as u64 + 1
                }
                None => 0,
            };
            m.memory.store(Ty::U64, a.word(0)?, rest)?;
            word(start)
        },
        "strxfrm" => |m, a| {
            let text = m.text(a.word(1)?)?;
            let n = a.word(2)? as usize;
            if text.len() < n {
                m.put_text(a.word(0)?, &text)?;
            }
            word(text.len() as u64)
        },
        "__xpg_basename" => |m, a| split_path(m, a.word(0)?, true),
        "dirname" => |m, a| split_path(m, a.word(0)?, false),
        "basename" => |m, a| {
            let at = a.word(0)?;
            let found = m.memory.string(at)?.iter().rposition(|&b| b == b'/');
            word(found.map_or(at, |i| at + i as u64 + 1))
        },
        _ => return None,
    })
}

/// The last name of a path, or what comes before it, as POSIX has it: the path is written to.
fn split_path(m: &mut Machine<'_>, at: u64, last: bool) -> Run<u128> {
    let path = match at {
        0 => Vec::new(),
        at => m.text(at)?,
    };
    let without_slashes = |end: usize| {
        let names = path[..end].iter().rposition(|byte| *byte != b'/');
        names.map_or(0, |index| index + 1)
    };
    let end = without_slashes(path.len());
    if end == 0 {
        return match &path[..] {
            b"" => name_of(m, "."),
            // Two slashes may mean something else than one.
            b"//" if !last => word(at),
            _ => name_of(m, "/"),
        };
    }
    let start = path[..end].iter().rposition(|byte| *byte == b'/');
    let start = start.map_or(0, |slash| slash + 1);
    let (from, to) = match (last, start) {
        (true, _) => (start, end),
        (false, 0) => return name_of(m, "."),
        (false, _) => match without_slashes(start) {
            0 if start == 2 => (0, 2),
            to => (0, to.max(1)),
        },
    };
    if to < path.len() {
        m.put_bytes(at + to as u64, &[0])?;
    }
    word(at + from as u64)
}

/// An object of the library with this text, of one letter.
fn name_of(m: &mut Machine<'_>, text: &'static str) -> Run<u128> {
    let object = m.made(text, 2)?;
    m.put_text(object, text.as_bytes())?;
    word(object)
}

fn memset_like(name: &str) -> Native {
    match name {
        "bzero" | "explicit_bzero" => |m, a| {
            let (at, n) = (a.word(0)?, a.word(1)?);
            if n > 0 {
                m.memory.write(at, n)?.fill(0);
            }
            word(0)
        },
        _ => |m, a| {
            let (at, c, n) = (a.word(0)?, a.word(1)? as u8, a.word(2)?);
            if n > 0 {
                m.memory.write(at, n)?.fill(c);
            }
            word(at)
        },
    }
}

/// So many bytes that the second argument leads to are not among those that the first leads to, unless it is the same place.
fn must_be_apart(a: &Args<'_>, n: u64) -> Run<()> {
    apart(a.word(0)?, a.word(1)?, n)
}

fn apart(to: u64, from: u64, n: u64) -> Run<()> {
    if n > 0 && to != from && to >> 32 == from >> 32 && to.abs_diff(from) < n {
        let message = format!("a copy of {n} bytes between ranges that overlap");
        return undefined(Undefined::BadArgument, message);
    }
    Ok(())
}

fn memcpy(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    let (to, from, n) = (a.word(0)?, a.word(1)?, a.word(2)?);
    must_be_apart(a, n)?;
    m.memory.copy(to, from, n)?;
    word(to)
}

fn mempcpy(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    memcpy(m, a)?;
    word(a.word(0)? + a.word(2)?)
}

fn memmove(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    m.memory.copy(a.word(0)?, a.word(1)?, a.word(2)?)?;
    word(a.word(0)?)
}

fn memcmp(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    let n = a.word(2)?;
    if n == 0 {
        return int(0);
    }
    let x = m.memory.read(a.word(0)?, n)?;
    let y = m.memory.read(a.word(1)?, n)?;
    int(match x.cmp(y) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    })
}

fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn compare(x: &[u8], y: &[u8]) -> i64 {
    let differ = x.iter().zip(y).position(|(a, b)| a != b);
    let at = differ.unwrap_or(x.len().min(y.len()));
    let byte = |text: &[u8]| text.get(at).copied().map_or(0, i64::from);
    byte(x) - byte(y)
}

/// Digits count as numbers; leading zeros as fractions, as glibc has it.
fn version_compare(x: &[u8], y: &[u8]) -> i64 {
    let differ = x.iter().zip(y).position(|(a, b)| a != b);
    let mut at = differ.unwrap_or(x.len().min(y.len()));
    let plain = compare(x, y);
    if plain == 0 {
        return 0;
    }
    while at > 0 && x[at - 1].is_ascii_digit() {
        at -= 1;
    }
    let digits = |text: &[u8]| text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let (m, n) = (digits(x), digits(y));
    let fraction = x.get(at) == Some(&b'0') || y.get(at) == Some(&b'0');
    if m > 0 && n > 0 && !fraction && m != n {
        return m as i64 - n as i64;
    }
    plain
}

/// At most `n` bytes of a string.
fn bounded(m: &Machine<'_>, at: u64, n: u64) -> Run<Vec<u8>> {
    match scan(m, at, n, |b| b == 0)? {
        Some(0) => Ok(Vec::new()),
        Some(length) => Ok(m.memory.read(at, length)?.to_vec()),
        None if n == 0 => Ok(Vec::new()),
        None => Ok(m.memory.read(at, n)?.to_vec()),
    }
}

/// The first of `n` bytes for which `test` holds; those after it are not read.
fn scan(m: &Machine<'_>, at: u64, n: u64, test: impl Fn(u8) -> bool) -> Run<Option<u64>> {
    for i in 0..n {
        if test(m.memory.read(at + i, 1)?[0]) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

fn position(hay: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    hay.windows(needle.len()).position(|w| w == needle)
}

fn padded_copy(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u64> {
    let n = a.word(2)?;
    must_be_apart(a, n)?;
    let mut text = bounded(m, a.word(1)?, n)?;
    let length = text.len() as u64;
    let to = a.word(0)?;
    if m.memory.room(to).is_none_or(|room| room < n) {
        // It does not fit, however large it is.
        m.memory.write(to, n)?;
    }
    text.resize(n as usize, 0);
    m.put_bytes(a.word(0)?, &text)?;
    Ok(length)
}

fn tokenize(m: &mut Machine<'_>, start: u64, set: u64) -> Run<(u64, u64)> {
    if start == 0 {
        return Ok((0, 0));
    }
    let set = m.text(set)?;
    let text = m.text(start)?;
    let Some(begin) = text.iter().position(|b| !set.contains(b)) else {
        return Ok((0, start + text.len() as u64));
    };
    let token = start + begin as u64;
    match text[begin..].iter().position(|b| set.contains(b)) {
        Some(length) => {
            let end = token + length as u64;
            m.put_bytes(end, &[0])?;
            Ok((token, end + 1))
        }
        None => Ok((token, start + text.len() as u64)),
    }
}
