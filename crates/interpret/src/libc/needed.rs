//! Reads texts no further than the answer needs. Bytes behind the first difference, or behind what was
//! looked for, need not exist.

use crate::{fault::Run, machine::Machine};

/// The byte at an address.
fn byte(m: &Machine<'_>, at: u64) -> Run<u8> {
    Ok(m.memory.read(at, 1)?[0])
}

/// Compares two texts as `strcmp`, at most `most` bytes, each byte passed through `folded`. Bytes behind the first difference are not read.
pub(super) fn compare(
    m: &Machine<'_>,
    texts: [u64; 2],
    most: u64,
    folded: fn(u8) -> u8,
) -> Run<i64> {
    for i in 0..most {
        let (x, y) = (
            folded(byte(m, texts[0] + i)?),
            folded(byte(m, texts[1] + i)?),
        );
        if x != y || x == 0 {
            return Ok(i64::from(x) - i64::from(y));
        }
    }
    Ok(0)
}

/// Returns the number of bytes before the first for which `stops` holds, or before the NUL.
pub(super) fn length(m: &Machine<'_>, at: u64, stops: impl Fn(u8) -> Run<bool>) -> Run<u64> {
    for i in 0.. {
        let byte = byte(m, at + i)?;
        if byte == 0 || stops(byte)? {
            return Ok(i);
        }
    }
    unreachable!("no object has so many bytes")
}

/// Whether a text has a byte, which is not its end.
pub(super) fn contains(m: &Machine<'_>, text: u64, wanted: u8) -> Run<bool> {
    let length = length(m, text, |byte| Ok(byte == wanted))?;
    Ok(byte(m, text + length)? == wanted)
}

/// The address of the first place of `needle` in a text; 0 if there is none.
pub(super) fn find(m: &Machine<'_>, text: u64, needle: &[u8]) -> Run<u64> {
    for at in text.. {
        let mut same = 0;
        while same < needle.len() && byte(m, at + same as u64)? == needle[same] {
            same += 1;
        }
        if same == needle.len() {
            return Ok(at);
        }
        if byte(m, at)? == 0 {
            return Ok(0);
        }
    }
    unreachable!("no object has so many bytes")
}
