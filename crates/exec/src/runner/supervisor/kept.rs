//! The kept part of an output.

use std::io::Write;

use memchr::memchr;

/// How hard is tried to make it small: dumps of compilers shrink to a tenth with the least effort.
const LEVEL: i32 = 1;

/// The bytes of an output, as they come, or as a dump.
pub(super) enum Kept {
    Plain(Vec<u8>),
    Dump(Box<Dump>),
}

/// Text without the blanks at the beginning of its lines (three quarters of a deep tree are such blanks), compressed on its way. Each of
/// several trees is a frame of its own.
pub(super) struct Dump {
    encoder: zstd::Encoder<'static, Vec<u8>>,
    /// Nothing but blanks has come of the line.
    at_start: bool,
    /// A bracket at the beginning of the line, of which no more has come.
    bracket: bool,
    /// What one piece of the output has without its indentation.
    rest: Vec<u8>,
}

impl Kept {
    /// Starts to keep an output, as it is or as a compressed dump.
    pub(super) fn new(is_dump: bool) -> Kept {
        match is_dump {
            true => Kept::Dump(Box::new(Dump {
                encoder: encoder(Vec::new()),
                at_start: true,
                bracket: false,
                rest: Vec::new(),
            })),
            false => Kept::Plain(Vec::new()),
        }
    }

    /// Adds output.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        match self {
            Kept::Plain(data) => data.extend_from_slice(bytes),
            Kept::Dump(dump) => {
                dump.add(bytes);
                dump.flush();
            }
        }
    }

    /// Returns what was kept; a dump is complete then.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self {
            Kept::Plain(data) => data,
            Kept::Dump(mut dump) => {
                if dump.bracket {
                    dump.rest.push(b'}');
                    dump.flush();
                }
                dump.encoder
                    .finish()
                    .expect("writing into memory does not fail")
            }
        }
    }
}

fn encoder(data: Vec<u8>) -> zstd::Encoder<'static, Vec<u8>> {
    zstd::Encoder::new(data, LEVEL).expect("there is memory for a compressor")
}

impl Dump {
    fn add(&mut self, mut text: &[u8]) {
        loop {
            if self.at_start {
                match text.iter().position(|&byte| byte != b' ') {
                    Some(blanks) => text = &text[blanks..],
                    None => return,
                }
                self.at_start = false;
                if text[0] == b'}' {
                    self.bracket = true;
                    text = &text[1..];
                }
            }
            if self.bracket {
                let Some(next) = text.first() else { return };
                self.bracket = false;
                self.rest.push(b'}');
                // Where one tree ends, the next one begins on the same line.
                if *next == b'{' {
                    self.rest.push(b'\n');
                    self.end_frame();
                }
            }
            match memchr(b'\n', text) {
                Some(end) => {
                    self.rest.extend_from_slice(&text[..=end]);
                    text = &text[end + 1..];
                    self.at_start = true;
                }
                None => {
                    self.rest.extend_from_slice(text);
                    return;
                }
            }
        }
    }

    fn flush(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.encoder
            .write_all(&rest)
            .expect("writing into memory does not fail");
        self.rest = rest;
        self.rest.clear();
    }

    fn end_frame(&mut self) {
        self.flush();
        let ended = std::mem::replace(&mut self.encoder, encoder(Vec::new()));
        let data = ended.finish().expect("writing into memory does not fail");
        self.encoder = encoder(data);
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    fn kept(text: &[u8], size: usize) -> Vec<u8> {
        let mut kept = Kept::new(true);
        for piece in text.chunks(size) {
            kept.add(piece);
        }
        kept.into_bytes()
    }

    #[test]
    fn lines_lose_the_blanks_before_them_wherever_pieces_end() {
        let text = b"{\n  \"a\": [ 1 ],\n\n     \n    \"b\": \"  c\" \n  }\n}";
        for size in 1..text.len() {
            let text = zstd::decode_all(&kept(text, size)[..]).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text, "{\n\"a\": [ 1 ],\n\n\n\"b\": \"  c\" \n}\n}");
        }
    }

    #[test]
    fn each_of_several_trees_is_a_frame() {
        let text = b"{\n  \"a\": \"}{\"\n}{\n  \"b\": {}\n}\n";
        for size in 1..text.len() {
            let frames = kept(text, size);
            let first = zstd::zstd_safe::find_frame_compressed_size(&frames).unwrap();
            let read = |frame: &[u8]| zstd::decode_all(frame).unwrap();
            assert_eq!(read(&frames[..first]), b"{\n\"a\": \"}{\"\n}\n");
            assert_eq!(read(&frames[first..]), b"{\n\"b\": {}\n}\n");
        }
    }
}
