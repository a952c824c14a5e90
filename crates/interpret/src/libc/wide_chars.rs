//! `wchar.h` and `wctype.h`, in the locale "C": every byte is a character.

use patchwright_semantics::Ty;

use super::calling::{Native, int, word};

/// Returns the model of a function of `wchar.h` or `wctype.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    macro_rules! class {
        ($test:expr) => {
            |_, a| {
                let test: fn(u8) -> bool = $test;
                let c = a.int(0)?;
                int(i64::from(u8::try_from(c).is_ok_and(|c| c < 128 && test(c))))
            }
        };
    }
    Some(match name {
        "mbsinit" => |_, _| int(1),
        "btowc" => |_, a| {
            let c = a.int(0)?;
            int(if (0..128).contains(&c) { c } else { -1 })
        },
        "wctob" => |_, a| {
            let c = a.int(0)?;
            int(if (0..128).contains(&c) { c } else { -1 })
        },
        "mbrtowc" | "mbrtoc32" => |m, a| {
            let (to, from, n) = (a.word(0)?, a.word(1)?, a.word(2)?);
            if from == 0 {
                return word(0);
            }
            if n == 0 {
                return int(-2);
            }
            let byte = m.memory.read(from, 1)?[0];
            if byte >= 128 {
                m.set_errno(84);
                return int(-1);
            }
            if to != 0 {
                m.memory.store(Ty::I32, to, u64::from(byte))?;
            }
            word(u64::from(byte != 0))
        },
        "mbtowc" => |m, a| {
            let (to, from, n) = (a.word(0)?, a.word(1)?, a.word(2)?);
            if from == 0 || n == 0 {
                return int(0);
            }
            let byte = m.memory.read(from, 1)?[0];
            if byte >= 128 {
                return m.fails(84);
            }
            if to != 0 {
                m.memory.store(Ty::I32, to, u64::from(byte))?;
            }
            int(i64::from(byte != 0))
        },
        "mblen" | "mbrlen" => |m, a| {
            let from = a.word(0)?;
            if from == 0 || a.word(1)? == 0 {
                return int(0);
            }
            let byte = m.memory.read(from, 1)?[0];
            int(i64::from(byte != 0))
        },
        "wcrtomb" | "wctomb" => |m, a| {
            let (to, c) = (a.word(0)?, a.int(1)?);
            if to == 0 {
                return word(1);
            }
            if !(0..128).contains(&c) {
                return m.fails(84);
            }
            m.put_bytes(to, &[c as u8])?;
            word(1)
        },
        "mbstowcs" => |m, a| {
            let (to, from, most) = (a.word(0)?, a.word(1)?, a.word(2)?);
            let mut count = 0;
            while to == 0 || count < most {
                let byte = m.memory.read(from + count, 1)?[0];
                if byte >= 128 {
                    return m.fails(84);
                }
                if to != 0 {
                    m.memory.store(Ty::I32, to + 4 * count, u64::from(byte))?;
                }
                if byte == 0 {
                    break;
                }
                count += 1;
            }
            word(count)
        },
        "wcstombs" => |m, a| {
            let (to, from, most) = (a.word(0)?, a.word(1)?, a.word(2)?);
            let mut count = 0;
            while to == 0 || count < most {
                let c = m.memory.load(Ty::U32, from + 4 * count)?;
                if c >= 128 {
                    return m.fails(84);
                }
                if to != 0 {
                    m.put_bytes(to + count, &[c as u8])?;
                }
                if c == 0 {
                    break;
                }
                count += 1;
            }
            word(count)
        },
        "wcwidth" => |_, a| {
            let c = a.int(0)?;
            int(match c {
                0 => 0,
                32..127 => 1,
                _ => -1,
            })
        },
        "wcslen" => |m, a| {
            let at = a.word(0)?;
            let mut length = 0;
            while m.memory.load(Ty::I32, at + 4 * length)? != 0 {
                length += 1;
            }
            word(length)
        },
        "iswalpha" => class!(|c| c.is_ascii_alphabetic()),
        "iswalnum" => class!(|c| c.is_ascii_alphanumeric()),
        "iswdigit" => class!(|c| c.is_ascii_digit()),
        "iswspace" => class!(|c| matches!(c, b' ' | 9..=13)),
        "iswblank" => class!(|c| matches!(c, b' ' | 9)),
        "iswprint" => class!(|c| (32..127).contains(&c)),
        "iswgraph" => class!(|c| (33..127).contains(&c)),
        "iswupper" => class!(|c| c.is_ascii_uppercase()),
        "iswlower" => class!(|c| c.is_ascii_lowercase()),
        "iswpunct" => class!(|c| c.is_ascii_punctuation()),
        "iswcntrl" => class!(|c| c.is_ascii_control()),
        "towlower" => |_, a| {
            let c = a.int(0)?;
            int(u8::try_from(c).map_or(c, |c| i64::from(c.to_ascii_lowercase())))
        },
        "towupper" => |_, a| {
            let c = a.int(0)?;
            int(u8::try_from(c).map_or(c, |c| i64::from(c.to_ascii_uppercase())))
        },
        _ => return None,
    })
}
