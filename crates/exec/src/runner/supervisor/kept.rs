//! What is kept of an output.

use std::io::Write;

/// How hard is tried to make it small: dumps of compilers shrink to a thirtieth with the least effort.
const LEVEL: i32 = 1;

/// The bytes of an output, as they come or compressed on their way.
pub(super) enum Kept {
    Plain(Vec<u8>),
    Compressed(Box<zstd::Encoder<'static, Vec<u8>>>),
}

impl Kept {
    pub(super) fn new(compressed: bool) -> Kept {
        let encoder = compressed.then(|| zstd::Encoder::new(Vec::new(), LEVEL));
        match encoder {
            Some(encoder) => {
                Kept::Compressed(Box::new(encoder.expect("there is memory for a compressor")))
            }
            None => Kept::Plain(Vec::new()),
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        match self {
            Kept::Plain(data) => data.extend_from_slice(bytes),
            Kept::Compressed(encoder) => encoder
                .write_all(bytes)
                .expect("writing into memory does not fail"),
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self {
            Kept::Plain(data) => data,
            Kept::Compressed(encoder) => {
                encoder.finish().expect("writing into memory does not fail")
            }
        }
    }
}
