//! What is kept of an output.

use std::io::Write;

use memchr::memchr;

/// How hard is tried to make it small: dumps of compilers shrink to a tenth with the least effort.
const LEVEL: i32 = 1;

/// The bytes of an output, as they come, or without indentation and compressed on their way.
pub(super) enum Kept {
    Plain(Vec<u8>),
    Dump {
        encoder: Box<zstd::Encoder<'static, Vec<u8>>>,
        /// Nothing but blanks has come of the line.
        at_start: bool,
        /// What one piece of the output has without its indentation.
        rest: Vec<u8>,
    },
}

impl Kept {
    pub(super) fn new(is_dump: bool) -> Kept {
        let encoder = is_dump.then(|| zstd::Encoder::new(Vec::new(), LEVEL));
        match encoder {
            Some(encoder) => Kept::Dump {
                encoder: Box::new(encoder.expect("there is memory for a compressor")),
                at_start: true,
                rest: Vec::new(),
            },
            None => Kept::Plain(Vec::new()),
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        match self {
            Kept::Plain(data) => data.extend_from_slice(bytes),
            Kept::Dump {
                encoder,
                at_start,
                rest,
            } => {
                rest.clear();
                without_indentation(bytes, at_start, rest);
                encoder
                    .write_all(rest)
                    .expect("writing into memory does not fail");
            }
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self {
            Kept::Plain(data) => data,
            Kept::Dump { encoder, .. } => {
                encoder.finish().expect("writing into memory does not fail")
            }
        }
    }
}

/// Appends the text without the blanks at the beginning of its lines; three quarters of a deep tree are such blanks. `at_start` is
/// handed on from one piece of a text to the next.
fn without_indentation(mut text: &[u8], at_start: &mut bool, kept: &mut Vec<u8>) {
    loop {
        if *at_start {
            match text.iter().position(|&byte| byte != b' ') {
                Some(blanks) => text = &text[blanks..],
                None => return,
            }
            *at_start = false;
        }
        match memchr(b'\n', text) {
            Some(end) => {
                kept.extend_from_slice(&text[..=end]);
                text = &text[end + 1..];
                *at_start = true;
            }
            None => {
                kept.extend_from_slice(text);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_indentation;

    #[test]
    fn lines_lose_the_blanks_before_them_wherever_pieces_end() {
        let text = b"{\n  \"a\": [ 1 ],\n\n     \n    \"b\": \"  c\" \n}";
        for size in 1..text.len() {
            let (mut kept, mut at_start) = (Vec::new(), true);
            for piece in text.chunks(size) {
                without_indentation(piece, &mut at_start, &mut kept);
            }
            let kept = String::from_utf8(kept).unwrap();
            assert_eq!(kept, "{\n\"a\": [ 1 ],\n\n\n\"b\": \"  c\" \n}");
        }
    }
}
