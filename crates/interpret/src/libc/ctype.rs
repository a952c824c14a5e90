//! `ctype.h`, in the locale "C".

use super::calling::{Native, int, word};
use crate::{fault::Run, machine::Machine, memory::Kind};

/// Returns the model of a function of `ctype.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    macro_rules! class {
        ($test:expr) => {
            |_, a| {
                let test: fn(u8) -> bool = $test;
                let c = a.int(0)?;
                int(i64::from(u8::try_from(c).is_ok_and(test)))
            }
        };
    }
    Some(match name {
        "isalpha" => class!(|c| c.is_ascii_alphabetic()),
        "isdigit" => class!(|c| c.is_ascii_digit()),
        "isalnum" => class!(|c| c.is_ascii_alphanumeric()),
        "isspace" => class!(|c| matches!(c, b' ' | 9..=13)),
        "isblank" => class!(|c| matches!(c, b' ' | 9)),
        "isupper" => class!(|c| c.is_ascii_uppercase()),
        "islower" => class!(|c| c.is_ascii_lowercase()),
        "ispunct" => class!(|c| c.is_ascii_punctuation()),
        "isprint" => class!(|c| (32..127).contains(&c)),
        "isgraph" => class!(|c| (33..127).contains(&c)),
        "iscntrl" => class!(|c| c.is_ascii_control()),
        "isxdigit" => class!(|c| c.is_ascii_hexdigit()),
        "isascii" => class!(|c| c < 128),
        "tolower" => |_, a| {
            let c = a.int(0)?;
            int(u8::try_from(c).map_or(c, |c| i64::from(c.to_ascii_lowercase())))
        },
        "toupper" => |_, a| {
            let c = a.int(0)?;
            int(u8::try_from(c).map_or(c, |c| i64::from(c.to_ascii_uppercase())))
        },
        "toascii" => |_, a| int(a.int(0)? & 127),
        "__ctype_b_loc" => |m, _| table(m, "__ctype_b_loc", 2, |c| u32::from(class_bits(c))),
        "__ctype_tolower_loc" => |m, _| {
            table(m, "__ctype_tolower_loc", 4, |c| {
                u32::from(c.to_ascii_lowercase())
            })
        },
        "__ctype_toupper_loc" => |m, _| {
            table(m, "__ctype_toupper_loc", 4, |c| {
                u32::from(c.to_ascii_uppercase())
            })
        },
        "__ctype_get_mb_cur_max" => |_, _| word(1),
        _ => return None,
    })
}

/// The bits that glibc's macros test.
fn class_bits(c: u8) -> u16 {
    let mut bits = 0;
    for (holds, bit) in [
        (c.is_ascii_uppercase(), 0),
        (c.is_ascii_lowercase(), 1),
        (c.is_ascii_alphabetic(), 2),
        (c.is_ascii_digit(), 3),
        (c.is_ascii_hexdigit(), 4),
        (matches!(c, b' ' | 9..=13), 5),
        ((32..127).contains(&c), 6),
        ((33..127).contains(&c), 7),
        (matches!(c, b' ' | 9), 8),
        (c.is_ascii_control(), 9),
        (c.is_ascii_punctuation(), 10),
        (c.is_ascii_alphanumeric(), 11),
    ] {
        if holds {
            // As little-endian machines number them.
            bits |= if bit < 8 {
                1 << (bit + 8)
            } else {
                1 << (bit - 8)
            };
        }
    }
    bits
}

/// The address of a pointer to the entry 0 of a table for -128 to 255.
fn table(m: &mut Machine<'_>, name: &'static str, width: u64, entry: fn(u8) -> u32) -> Run<u128> {
    if let Some(&address) = m.library.made.get(name) {
        return word(address);
    }
    let bytes = m.memory.allocate(384 * width, 16, Kind::Global, true)?;
    for i in 0..384u64 {
        let c = i as i64 - 128;
        let value = match u8::try_from(c) {
            Ok(c) if c < 128 => entry(c),
            // Outside of ASCII characters map to themselves and are in no class.
            _ if width == 4 => c as i32 as u32,
            _ => 0,
        };
        let value = value.to_le_bytes();
        m.put_bytes(bytes + i * width, &value[..width as usize])?;
    }
    let pointer = m.made(name, 8)?;
    let zero = bytes + 128 * width;
    m.memory
        .store(patchwright_semantics::Ty::U64, pointer, zero)?;
    word(pointer)
}
