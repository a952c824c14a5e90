//! `stdlib.h`: allocation, conversion, sorting, random numbers, the end of the program.

use std::ffi::c_char;

use patchwright_ir::{Type, extended as exact};
use patchwright_semantics::Ty;

use super::{
    calling::{Args, Native, int, word},
    kept::Jump,
    random::Random48,
    real::noticing_errno,
    signals,
};
use crate::{
    fault::{Run, Stop, Undefined, undefined},
    machine::Machine,
};

/// Returns the model of a function of `stdlib.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "malloc" => |m, a| {
            let size = a.word(0)?;
            word(m.heap(size, false))
        },
        "calloc" => |m, a| match a.word(0)?.checked_mul(a.word(1)?) {
            Some(size) => word(m.heap(size, true)),
            None => {
                m.set_errno(12);
                word(0)
            }
        },
        "realloc" => |m, a| reallocate(m, a.word(0)?, a.word(1)?),
        "reallocarray" => |m, a| match a.word(1)?.checked_mul(a.word(2)?) {
            Some(size) => reallocate(m, a.word(0)?, size),
            None => {
                m.set_errno(12);
                word(0)
            }
        },
        "free" | "cfree" => |m, a| {
            let at = a.word(0)?;
            if at != 0 {
                m.memory.free(at)?;
            }
            word(0)
        },
        "aligned_alloc" | "memalign" => |m, a| {
            let (align, size) = (a.word(0)?, a.word(1)?);
            let kind = crate::memory::Kind::Heap;
            word(
                m.memory
                    .allocate(size, align.max(16), kind, false)
                    .unwrap_or(0),
            )
        },
        "posix_memalign" => |m, a| {
            let kind = crate::memory::Kind::Heap;
            match m
                .memory
                .allocate(a.word(2)?, a.word(1)?.max(16), kind, false)
            {
                Ok(address) => {
                    m.memory.store(Ty::U64, a.word(0)?, address)?;
                    int(0)
                }
                Err(_) => int(12),
            }
        },
        "malloc_usable_size" => |m, a| word(m.memory.allocation(a.word(0)?).unwrap_or(0)),
        "abs" => |_, a| match (a.int(0)? as i32).checked_abs() {
            Some(value) => int(i64::from(value)),
            None => undefined(Undefined::SignedOverflow, "abs of the least int"),
        },
        "labs" | "llabs" | "imaxabs" => |_, a| match a.int(0)?.checked_abs() {
            Some(value) => int(value),
            None => undefined(Undefined::SignedOverflow, "labs of the least long"),
        },
        "div" => |_, a| {
            let (x, y) = (a.int(0)? as i32, a.int(1)? as i32);
            match (x.checked_div(y), x.checked_rem(y)) {
                (Some(q), Some(r)) => word(u64::from(q as u32) | u64::from(r as u32) << 32),
                _ => undefined(Undefined::DivisionByZero, "div by zero"),
            }
        },
        "ldiv" | "lldiv" => |_, a| {
            let (x, y) = (a.int(0)?, a.int(1)?);
            match (x.checked_div(y), x.checked_rem(y)) {
                (Some(q), Some(r)) => Ok(u128::from(q as u64) | u128::from(r as u64) << 64),
                _ => undefined(Undefined::DivisionByZero, "ldiv by zero"),
            }
        },
        "atoi" => |m, a| {
            let text = m.text(a.word(0)?)?;
            int(i64::from(integer(&text, 10, false).0 as i32))
        },
        "atol" | "atoll" => |m, a| {
            let text = m.text(a.word(0)?)?;
            int(integer(&text, 10, false).0 as i64)
        },
        "atof" => |m, a| {
            let text = m.text(a.word(0)?)?;
            let ReadFloat { bits, errno, .. } = float(&text, Type::F64);
            if errno != 0 {
                m.set_errno(errno);
            }
            Ok(bits)
        },
        "strtol" | "strtoll" | "strtoimax" | "__isoc23_strtol" | "__isoc23_strtoll"
        | "__strtol_internal" => |m, a| to_integer(m, a, false),
        "strtoul" | "strtoull" | "strtoumax" | "__isoc23_strtoul" | "__isoc23_strtoull"
        | "__strtoul_internal" => |m, a| to_integer(m, a, true),
        "strtod" => |m, a| to_float(m, a, Type::F64),
        "strtof" => |m, a| to_float(m, a, Type::F32),
        "strtold" => |m, a| to_float(m, a, Type::F80),
        "qsort" => qsort,
        "qsort_r" => qsort,
        "bsearch" => |m, a| {
            let (key, base, mut n, size, f) =
                (a.word(0)?, a.word(1)?, a.word(2)?, a.word(3)?, a.word(4)?);
            let mut low = 0;
            while n > 0 {
                let middle = low + n / 2;
                let at = base.wrapping_add(middle.wrapping_mul(size));
                let order = compare(m, f, key, at, None)?;
                if order == 0 {
                    return word(at);
                }
                if order > 0 {
                    low = middle + 1;
                    n -= n / 2 + 1;
                } else {
                    n /= 2;
                }
            }
            word(0)
        },
        "rand" | "random" => |m, _| int(m.library.random.next()),
        "srand" | "srandom" => |m, a| {
            m.library.random.seed(a.word(0)? as u32);
            word(0)
        },
        "drand48" => |m, _| {
            let fraction = m.library.random48.next() as f64 / (1u64 << 48) as f64;
            Ok(u128::from(fraction.to_bits()))
        },
        "lrand48" => |m, _| int((m.library.random48.next() >> 17) as i64),
        "mrand48" => |m, _| int(i64::from((m.library.random48.next() >> 16) as i32)),
        "srand48" => |m, a| {
            m.library.random48 = Random48(u64::from(a.word(0)? as u32) << 16 | 0x330e);
            word(0)
        },
        "rand_r" => |m, a| {
            let at = a.word(0)?;
            let mut next = m.memory.load(Ty::U32, at)? as u32;
            let mut step = || {
                next = next.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                next / 65_536
            };
            let mut result = step() % 2048;
            result = (result << 10) ^ (step() % 1024);
            result = (result << 10) ^ (step() % 1024);
            m.memory.store(Ty::U32, at, u64::from(next))?;
            int(i64::from(result))
        },
        "exit" => |_, a| Err(Stop::Exit(a.int(0)? as i32)),
        "_exit" | "_Exit" | "quick_exit" => |m, a| {
            m.library.at_exit.clear();
            m.library.at_once = true;
            m.library.streams.iter_mut().for_each(|s| s.forget());
            Err(Stop::Exit(a.int(0)? as i32))
        },
        "atexit" => |m, a| {
            let handler = a.word(0)?;
            m.library.at_exit.push(handler);
            int(0)
        },
        "getenv" | "secure_getenv" => |m, a| {
            let name = m.text(a.word(0)?)?;
            word(variable(m, &name)?.map_or(0, |(_, value)| value))
        },
        "setenv" => |m, a| {
            let name = m.text(a.word(0)?)?;
            let value = m.text(a.word(1)?)?;
            let overwrite = a.int(2)? != 0;
            set_variable(m, &name, Some(&value), overwrite)
        },
        "unsetenv" => |m, a| {
            let name = m.text(a.word(0)?)?;
            set_variable(m, &name, None, true)
        },
        "putenv" => |m, a| {
            let text = m.text(a.word(0)?)?;
            let end = text.iter().position(|&b| b == b'=');
            match end {
                Some(end) => set_variable(m, &text[..end], Some(&text[end + 1..]), true),
                None => set_variable(m, &text, None, true),
            }
        },
        "setjmp" | "_setjmp" | "__builtin_setjmp" | "__sigsetjmp" | "sigsetjmp" => |m, a| {
            let Some(frame) = m.frames.last() else {
                return int(0);
            };
            let keeps = a.0.len() == 2 && a.int(1)? != 0;
            let jump = Jump {
                frame: frame.serial,
                pc: frame.pc,
                blocked: keeps.then_some(m.library.signals.blocked),
            };
            let handle = m.library.jumps.len() as u64;
            m.library.jumps.push(jump);
            m.memory.store(Ty::U64, a.word(0)?, handle)?;
            int(0)
        },
        "longjmp" | "_longjmp" | "siglongjmp" | "__builtin_longjmp" => |m, a| {
            let handle = m.memory.load(Ty::U64, a.word(0)?)?;
            let jump = m.library.jumps.get(handle as usize).copied();
            if let Some(blocked) = jump.and_then(|jump| jump.blocked) {
                signals::block(m, blocked)?;
            }
            Err(Stop::Jump(handle, a.int(1)? as i32))
        },
        "__builtin_clz" => |_, a| bits(a, 32, |x| u64::from((x as u32).leading_zeros())),
        "__builtin_clzl" | "__builtin_clzll" => {
            |_, a| bits(a, 64, |x| u64::from(x.leading_zeros()))
        }
        "__builtin_ctz" | "__builtin_ctzl" | "__builtin_ctzll" => {
            |_, a| bits(a, 64, |x| u64::from(x.trailing_zeros()))
        }
        "__builtin_popcount" | "__builtin_popcountl" | "__builtin_popcountll" => {
            |_, a| word(u64::from(a.word(0)?.count_ones()))
        }
        "__builtin_parity" | "__builtin_parityl" | "__builtin_parityll" => {
            |_, a| word(u64::from(a.word(0)?.count_ones() % 2))
        }
        "ffs" | "__builtin_ffs" | "ffsl" | "ffsll" | "__builtin_ffsl" | "__builtin_ffsll" => {
            |_, a| match a.word(0)? {
                0 => word(0),
                value => word(u64::from(value.trailing_zeros()) + 1),
            }
        }
        "__builtin_clrsb" => |_, a| {
            let x = a.int(0)? as i32;
            word(u64::from((if x < 0 { !x } else { x }).leading_zeros()) - 1)
        },
        "__builtin_clrsbl" | "__builtin_clrsbll" => |_, a| {
            let x = a.int(0)?;
            word(u64::from((if x < 0 { !x } else { x }).leading_zeros()) - 1)
        },
        "__builtin_bitreverse8" => |_, a| word(u64::from((a.word(0)? as u8).reverse_bits())),
        "__builtin_bitreverse16" => |_, a| word(u64::from((a.word(0)? as u16).reverse_bits())),
        "__builtin_bitreverse32" => |_, a| word(u64::from((a.word(0)? as u32).reverse_bits())),
        "__builtin_bitreverse64" => |_, a| word(a.word(0)?.reverse_bits()),
        "__builtin_bswap16" => |_, a| word(u64::from((a.word(0)? as u16).swap_bytes())),
        "__builtin_bswap32" => |_, a| word(u64::from((a.word(0)? as u32).swap_bytes())),
        "__builtin_bswap64" => |_, a| word(a.word(0)?.swap_bytes()),
        _ => return None,
    })
}

fn bits(a: &Args<'_>, width: u32, count: fn(u64) -> u64) -> Run<u128> {
    let value = a.word(0)?;
    let value = if width == 32 {
        value & 0xffff_ffff
    } else {
        value
    };
    match value {
        0 => undefined(Undefined::BadArgument, "__builtin_clz or _ctz of zero"),
        value => word(count(value)),
    }
}

fn reallocate(m: &mut Machine<'_>, old: u64, size: u64) -> Run<u128> {
    if old == 0 {
        return word(m.heap(size, false));
    }
    let Some(known) = m.memory.allocation(old) else {
        // Says what is wrong with the pointer.
        m.memory.free(old)?;
        return word(0);
    };
    if size == 0 {
        m.memory.free(old)?;
        return word(0);
    }
    let new = m.heap(size, false);
    if new != 0 {
        m.memory.copy(new, old, known.min(size))?;
        m.memory.free(old)?;
    }
    word(new)
}

/// Reads the longest prefix that is an integer. Returns its value, its number of bytes, and whether it fits a `long` (or `unsigned long`).
pub(super) fn integer(text: &[u8], base: u32, unsigned: bool) -> (i128, usize, bool) {
    let mut at = text
        .iter()
        .position(|b| !matches!(b, b' ' | 9..=13))
        .unwrap_or(text.len());
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(negative || text.get(at) == Some(&b'+'));
    let hex = text.get(at) == Some(&b'0')
        && matches!(text.get(at + 1), Some(b'x' | b'X'))
        && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
    let mut base = base;
    if hex && (base == 16 || base == 0) {
        at += 2;
        base = 16;
    } else if base == 0 {
        base = if text.get(at) == Some(&b'0') { 8 } else { 10 };
    }
    let start = at;
    let mut value = 0i128;
    while let Some(digit) = text.get(at).and_then(|&b| char::from(b).to_digit(base)) {
        value = (value * i128::from(base) + i128::from(digit)).min(1 << 100);
        at += 1;
    }
    if at == start {
        return (0, 0, true);
    }
    let (low, high) = match unsigned {
        true => (-i128::from(u64::MAX), i128::from(u64::MAX)),
        false => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    let value = if negative { -value } else { value };
    if value < low || value > high {
        let limit = if negative && !unsigned { low } else { high };
        return (limit, at, false);
    }
    (value, at, true)
}

fn to_integer(m: &mut Machine<'_>, a: &Args<'_>, unsigned: bool) -> Run<u128> {
    let (at, end) = (a.word(0)?, a.word(1)?);
    let base = a.int(2)?;
    if !(base == 0 || (2..=36).contains(&base)) {
        m.set_errno(22);
        return int(0);
    }
    let text = m.text(at)?;
    let (value, used, fits) = integer(&text, base as u32, unsigned);
    if end != 0 {
        m.memory.store(Ty::U64, end, at + used as u64)?;
    }
    if !fits {
        m.set_errno(34);
    }
    word(value as u64)
}

/// A text read as a float.
pub(super) struct ReadFloat {
    pub(super) bits: u128,
    /// How many bytes of the text are the float: none where there is no float.
    pub(super) used: usize,
    /// What `errno` becomes; 0 where it stays.
    pub(super) errno: i32,
}

/// Reads the longest prefix that is a float, as this machine's C library does.
pub(super) fn float(text: &[u8], ty: Type) -> ReadFloat {
    let length = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    let mut text = text[..length].to_vec();
    text.push(0);
    let mut end = std::ptr::null_mut();
    let start = text.as_ptr().cast();
    let (bits, errno) = match ty {
        Type::F32 => {
            // SAFETY: the text ends with 0, and the end is written to a variable that lives during the call.
            let (value, errno) = noticing_errno(|| unsafe { strtof32(start, &mut end) });
            (u128::from(value.to_bits()), errno)
        }
        _ => {
            // SAFETY: as above.
            let (value, errno) = noticing_errno(|| unsafe { strtof64(start, &mut end) });
            (u128::from(value.to_bits()), errno)
        }
    };
    let used = end as usize - start as usize;
    match ty {
        Type::F80 => {
            let (bits, is_in_range) = long_double(&text[..used], bits);
            let errno = if is_in_range { 0 } else { ERANGE };
            ReadFloat { bits, used, errno }
        }
        _ => ReadFloat { bits, used, errno },
    }
}

/// Linux's number of the error "result too large".
pub(super) const ERANGE: i32 = 34;

unsafe extern "C" {
    fn strtof32(text: *const c_char, end: *mut *mut c_char) -> f32;
    fn strtof64(text: *const c_char, end: *mut *mut c_char) -> f64;
}

/// The `long double` of a text that `strtod` has read completely as `double`, and whether it is in the range of its type.
fn long_double(text: &[u8], double: u128) -> (u128, bool) {
    let space = text.iter().take_while(|b| matches!(b, b' ' | 9..=13));
    let number = &text[space.count()..];
    let negative = number.first() == Some(&b'-');
    let number = match number.first() {
        Some(b'+' | b'-') => &number[1..],
        _ => number,
    };
    let (bits, is_in_range) = match number.first() {
        None => (0, true),
        // What tells one `nan(TEXT)` from the others stands in the lowest bits, in both types.
        Some(b'n' | b'N') => (0x7fff << 64 | 0b11 << 62 | double & ((1 << 51) - 1), true),
        Some(b'i' | b'I') => (0x7fff << 64 | 1 << 63, true),
        Some(_) => exact::read(&String::from_utf8_lossy(number)).unwrap_or((0, true)),
    };
    (bits | u128::from(negative) << 79, is_in_range)
}

fn to_float(m: &mut Machine<'_>, a: &Args<'_>, ty: Type) -> Run<u128> {
    let (at, end) = (a.word(0)?, a.word(1)?);
    let text = m.text(at)?;
    let ReadFloat { bits, used, errno } = float(&text, ty);
    if end != 0 {
        m.memory.store(Ty::U64, end, at + used as u64)?;
    }
    if errno != 0 {
        m.set_errno(errno);
    }
    Ok(bits)
}

fn compare(m: &mut Machine<'_>, f: u64, x: u64, y: u64, more: Option<u64>) -> Run<i32> {
    let pointer = |value: u64| (Type::Ptr, u128::from(value));
    let result = match more {
        Some(more) => m.call_address(f, &[pointer(x), pointer(y), pointer(more)])?,
        None => m.call_address(f, &[pointer(x), pointer(y)])?,
    };
    Ok(result as u32 as i32)
}

/// A merge sort, as glibc's is: stable.
fn qsort(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    let (base, n, size, f) = (a.word(0)?, a.word(1)?, a.word(2)?, a.word(3)?);
    let more = match a.0.len() {
        5 => Some(a.word(4)?),
        _ => None,
    };
    if n < 2 || size == 0 {
        return word(0);
    }
    let total = n.saturating_mul(size);
    if m.memory.room(base).is_none_or(|room| room < total) {
        m.memory.read(base, total)?;
    }
    // Elements stay where they are while they are compared.
    let copy = m.heap(total, false);
    m.memory.copy(copy, base, total)?;
    let mut order: Vec<u64> = (0..n).collect();
    let mut width = 1;
    while width < order.len() {
        let mut merged = Vec::with_capacity(order.len());
        for chunk in order.chunks(2 * width) {
            let (left, right) = chunk.split_at(width.min(chunk.len()));
            let (mut i, mut j) = (0, 0);
            while i < left.len() && j < right.len() {
                let (x, y) = (copy + left[i] * size, copy + right[j] * size);
                if compare(m, f, x, y, more)? <= 0 {
                    merged.push(left[i]);
                    i += 1;
                } else {
                    merged.push(right[j]);
                    j += 1;
                }
            }
            merged.extend_from_slice(&left[i..]);
            merged.extend_from_slice(&right[j..]);
        }
        order = merged;
        width *= 2;
    }
    for (position, &from) in order.iter().enumerate() {
        m.memory
            .copy(base + position as u64 * size, copy + from * size, size)?;
    }
    m.memory.free(copy)?;
    word(0)
}

/// The place of a variable in the environment, and the address of its value.
pub(super) fn variable(m: &mut Machine<'_>, name: &[u8]) -> Run<Option<(u64, u64)>> {
    let pointer = m.made("environ", 16)?;
    let vector = m.memory.load(Ty::U64, pointer)?;
    if vector == 0 {
        return Ok(None);
    }
    for index in 0.. {
        let place = vector + 8 * index;
        let at = m.memory.load(Ty::U64, place)?;
        if at == 0 {
            break;
        }
        let entry = m.memory.string(at)?;
        if entry.get(name.len()) == Some(&b'=') && entry.starts_with(name) {
            return Ok(Some((place, at + name.len() as u64 + 1)));
        }
    }
    Ok(None)
}

fn set_variable(
    m: &mut Machine<'_>,
    name: &[u8],
    value: Option<&[u8]>,
    overwrite: bool,
) -> Run<u128> {
    if name.is_empty() || name.contains(&b'=') {
        return m.fails(22);
    }
    let known = variable(m, name)?;
    if known.is_some() && !overwrite {
        return int(0);
    }
    let pointer = m.made("environ", 16)?;
    let vector = m.memory.load(Ty::U64, pointer)?;
    let mut entries = Vec::new();
    if vector != 0 {
        for index in 0.. {
            let at = m.memory.load(Ty::U64, vector + 8 * index)?;
            if at == 0 {
                break;
            }
            if known.is_none_or(|(place, _)| place != vector + 8 * index) {
                entries.push(at);
            }
        }
    }
    if let Some(value) = value {
        let mut text = name.to_vec();
        text.push(b'=');
        text.extend_from_slice(value);
        entries.push(m.new_string(&text)?);
    }
    let size = 8 * (entries.len() as u64 + 1);
    let new = m
        .memory
        .allocate(size, 16, crate::memory::Kind::Global, true)?;
    for (index, entry) in entries.iter().enumerate() {
        m.memory.store(Ty::U64, new + 8 * index as u64, *entry)?;
    }
    m.memory.store(Ty::U64, pointer, new)?;
    int(0)
}
