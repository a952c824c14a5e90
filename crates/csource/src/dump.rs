//! Reads the compiler's dump as a stream of declarations. The dump of a large file has hundreds of megabytes; only one
//! declaration at a time is held as a tree.

use std::io::{self, Read};

use memchr::memchr;
use serde::Deserialize;

use crate::raw::Node;

/// Why a dump cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    /// It cannot be decompressed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A declaration is not what is expected.
    #[error(transparent)]
    Declaration(#[from] serde_json::Error),
    /// The text ends too early.
    #[error("it ends in the middle")]
    Cut,
}

/// Clang's dump of a source, compressed.
pub(crate) struct Dump {
    compressed: Vec<u8>,
    /// The source, where clang has read a text in its place from standard input.
    in_place_of: Option<String>,
}

/// The name that clang has for standard input.
pub(crate) const STANDARD_INPUT: &str = "/dev/stdin";

/// Bytes that are decompressed at once.
const CHUNK: usize = 1 << 18;

impl Dump {
    /// The dump that this frame of zstd holds.
    pub(crate) fn new(compressed: Vec<u8>) -> Dump {
        Dump {
            compressed,
            in_place_of: None,
        }
    }

    /// Returns the dump with this file in place of standard input.
    pub(crate) fn in_place_of(self, file: &str) -> Dump {
        Dump {
            in_place_of: Some(file.to_owned()),
            ..self
        }
    }

    /// Hands over the declarations of the file, in order.
    pub(crate) fn declarations(&self, visit: &mut dyn FnMut(Node)) -> Result<(), DumpError> {
        let mut reader = zstd::Decoder::with_buffer(self.compressed.as_slice())?;
        let mut chunk = vec![0; CHUNK];
        let mut splitter = Splitter::default();
        let mut is_ended = false;
        loop {
            let count = reader.read(&mut chunk)?;
            let mut rest = match count {
                // The last line may have no end.
                0 if is_ended => break,
                0 => {
                    is_ended = true;
                    &b"\n"[..]
                }
                count => &chunk[..count],
            };
            while let Some(after) = splitter.next(rest) {
                rest = &rest[after..];
                let mut text = std::mem::take(&mut splitter.element);
                if let Some(file) = &self.in_place_of {
                    text = renamed(&text, file);
                }
                let mut deserializer = serde_json::Deserializer::from_slice(&text);
                deserializer.disable_recursion_limit();
                visit(Node::deserialize(&mut deserializer)?);
            }
        }
        match splitter.depth {
            0 => Ok(()),
            _ => Err(DumpError::Cut),
        }
    }
}

/// The text with the name of a file in place of that of standard input.
fn renamed(text: &[u8], file: &str) -> Vec<u8> {
    let member = |name: &str| format!("\"file\": {}", serde_json::Value::from(name)).into_bytes();
    let (before, now) = (member(STANDARD_INPUT), member(file));
    let mut new = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(before.len()).position(|part| part == before) {
        new.extend_from_slice(&rest[..at]);
        new.extend_from_slice(&now);
        rest = &rest[at + before.len()..];
    }
    new.extend_from_slice(rest);
    new
}

/// Cuts the text of an object that has one array of objects, among other members, into the elements of this array. The compiler prints
/// each bracket at the end or at the beginning of a line, and nothing else there looks like one: strings stand in quotes.
#[derive(Default)]
struct Splitter {
    depth: usize,
    in_array: bool,
    in_element: bool,
    element: Vec<u8>,
    /// The line that the last piece of the text has begun.
    line: Vec<u8>,
}

impl Splitter {
    /// Goes on with the text. `Some(n)` where the first `n` bytes complete an element.
    fn next(&mut self, text: &[u8]) -> Option<usize> {
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &text[start..]) {
            let end = start + length + 1;
            let is_whole = match self.line.is_empty() {
                true => self.ends_with(&text[start..end]),
                false => {
                    let mut line = std::mem::take(&mut self.line);
                    line.extend_from_slice(&text[start..end]);
                    self.ends_with(&line)
                }
            };
            if is_whole {
                return Some(end);
            }
            start = end;
        }
        self.line.extend_from_slice(&text[start..]);
        None
    }

    /// Adds a line; tells whether it completes an element.
    fn ends_with(&mut self, line: &[u8]) -> bool {
        let trimmed = line.trim_ascii();
        let (first, last) = (trimmed.first(), trimmed.last());
        let is_closed = matches!(trimmed, b"}" | b"]" | b"}," | b"],");
        let is_open = matches!(last, Some(b'{' | b'['));
        if is_closed {
            self.depth = self.depth.saturating_sub(1);
        }
        if is_open {
            if self.depth == 1 {
                self.in_array = last == Some(&b'[');
            } else if self.depth == 2 && self.in_array && first == Some(&b'{') {
                self.in_element = true;
            }
            self.depth += 1;
        }
        if !self.in_element {
            return false;
        }
        if is_closed && self.depth == 2 {
            self.in_element = false;
            self.element.push(trimmed[0]);
            return true;
        }
        self.element.extend_from_slice(line);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
"id": "0x1",
"range": {
"begin": {},
"end": {}
},
"inner": [
{
"id": "0x2",
"name": "a",
"inner": [
{
"name": "in"
}
]
},
{
"id": "0x3",
"name": "b } \" ] {",
"loc": {
"file": "x.c"
}
}
]
}"#;

    fn names(text: &str) -> Result<Vec<String>, DumpError> {
        let frame = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let mut names = Vec::new();
        Dump::new(frame).declarations(&mut |node| names.push(node.name))?;
        Ok(names)
    }

    #[test]
    fn a_dump_is_cut_into_its_declarations() {
        assert_eq!(names(TEXT).unwrap(), ["a", "b } \" ] {"]);
        assert!(matches!(names(&TEXT[..130]), Err(DumpError::Cut)));
        assert!(names("{\n\"inner\": [\n{\n\"id\": 3\n}\n]\n}").is_err());
    }

    #[test]
    fn what_stands_in_place_of_a_file_has_its_name() {
        let text = br#"{"loc": {"file": "/dev/stdin"}, "value": "\"file\": \"/dev/stdin\""}"#;
        let new = String::from_utf8(renamed(text, "a b.c")).unwrap();
        assert_eq!(
            new,
            r#"{"loc": {"file": "a b.c"}, "value": "\"file\": \"/dev/stdin\""}"#
        );
    }

    #[test]
    fn pieces_may_end_anywhere() {
        for size in 1..20 {
            let mut splitter = Splitter::default();
            let mut found = Vec::new();
            for piece in TEXT.as_bytes().chunks(size) {
                let mut rest = piece;
                while let Some(after) = splitter.next(rest) {
                    rest = &rest[after..];
                    found.push(std::mem::take(&mut splitter.element));
                }
            }
            assert_eq!(found.len(), 2);
            for text in found {
                serde_json::from_slice::<serde_json::Value>(&text).unwrap();
            }
        }
    }
}
