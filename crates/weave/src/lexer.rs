//! A raw scan of C source: enough to know what is a comment, a literal, a directive or a word.

/// Kind of a [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A preprocessing number.
    Number,
    /// A string or character literal without its prefix.
    Literal,
    /// A whole directive, from its `#` to the end of the line.
    Directive,
    /// One byte of punctuation, or a byte that C gives no meaning.
    Punctuation,
}

/// A token; blanks and comments are none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind,
    /// The text after line splices were removed.
    pub text: &'a [u8],
    /// Offset of the first byte in the source.
    pub start: u32,
    /// Offset behind the last byte in the source.
    pub end: u32,
}

/// A source without its line splices, and where each byte was.
///
/// Trigraphs and raw strings are not known: a `??/` at the end of a line is no splice.
pub(crate) struct Text {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Text {
    pub(crate) fn new(source: &[u8]) -> Self {
        let mut text = Self {
            bytes: Vec::with_capacity(source.len()),
            offsets: Vec::with_capacity(source.len() + 1),
        };
        let mut at = 0;
        while let Some(byte) = source.get(at) {
            if *byte == b'\\'
                && let Some(length) = splice(&source[at + 1..])
            {
                at += 1 + length;
                continue;
            }
            text.bytes.push(*byte);
            text.offsets.push(at as u32);
            at += 1;
        }
        text.offsets.push(source.len() as u32);
        text
    }

    pub(crate) fn tokens(&self) -> Tokens<'_> {
        Tokens {
            text: self,
            at: 0,
            line_start: true,
        }
    }
}

/// Length of the rest of a line splice, when a backslash before `rest` begins one. Compilers allow blanks before the
/// newline.
fn splice(rest: &[u8]) -> Option<usize> {
    let blanks = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
        .count();
    (rest.get(blanks) == Some(&b'\n')).then_some(blanks + 1)
}

/// Iterator over the tokens of a [`Text`].
pub(crate) struct Tokens<'a> {
    text: &'a Text,
    at: usize,
    /// Whether only blanks and comments stand between the last newline and here.
    line_start: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes: &'a [u8] = &self.text.bytes;
        self.skip_blanks();
        let start = self.at;
        let byte = *bytes.get(start)?;
        let hash = byte == b'#' || bytes[start..].starts_with(b"%:");
        let kind = if hash && self.line_start {
            self.skip_directive();
            TokenKind::Directive
        } else if is_word_start(byte) {
            self.at += count(&bytes[start..], is_word);
            TokenKind::Word
        } else if byte.is_ascii_digit()
            || (byte == b'.' && bytes.get(start + 1).is_some_and(u8::is_ascii_digit))
        {
            self.at += number_length(&bytes[start..]);
            TokenKind::Number
        } else if byte == b'"' || byte == b'\'' {
            self.at += literal_length(&bytes[start..]);
            TokenKind::Literal
        } else {
            self.at += 1;
            TokenKind::Punctuation
        };
        self.line_start = false;
        Some(Token {
            kind,
            text: &bytes[start..self.at],
            start: self.text.offsets[start],
            // A splice behind the last byte does not belong to the token.
            end: self.text.offsets[self.at - 1] + 1,
        })
    }
}

impl Tokens<'_> {
    fn skip_blanks(&mut self) {
        let bytes = &self.text.bytes;
        while let Some(byte) = bytes.get(self.at) {
            if *byte == b'\n' {
                self.line_start = true;
                self.at += 1;
            } else if byte.is_ascii_whitespace() || *byte == 0x0b {
                self.at += 1;
            } else if let Some(length) = comment_length(&bytes[self.at..]) {
                self.at += length;
            } else {
                break;
            }
        }
    }

    /// Goes to the newline that ends a directive; one inside a comment does not.
    fn skip_directive(&mut self) {
        let bytes = &self.text.bytes;
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'\n' => return,
                b'"' | b'\'' => literal_length(&bytes[self.at..]),
                _ => comment_length(&bytes[self.at..]).unwrap_or(1),
            };
        }
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

fn count(bytes: &[u8], good: fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| good(**byte)).count()
}

fn number_length(bytes: &[u8]) -> usize {
    let mut length = 1;
    while let Some(byte) = bytes.get(length) {
        let after_exponent = matches!(bytes[length - 1], b'e' | b'E' | b'p' | b'P');
        let sign = matches!(byte, b'+' | b'-') && after_exponent;
        if !(is_word(*byte) || *byte == b'.' || sign) {
            break;
        }
        length += 1;
    }
    length
}

/// Length of the literal whose quote `bytes` begin with. A literal without end ends before the newline.
fn literal_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => at += 2,
            byte if *byte == bytes[0] => return at + 1,
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

/// Length of the comment that `bytes` begin with, without the newline behind a `//` comment.
fn comment_length(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"//") {
        return Some(count(bytes, |byte| byte != b'\n'));
    }
    let inside = bytes.strip_prefix(b"/*")?;
    let end = inside.windows(2).position(|pair| pair == b"*/");
    Some(end.map_or(bytes.len(), |end| end + 4))
}

/// The name of a directive (empty for `#` alone, a number for a line marker) and what follows it.
pub(crate) fn directive_parts(directive: &[u8]) -> (&[u8], &[u8]) {
    let rest = directive
        .strip_prefix(b"#")
        .or_else(|| directive.strip_prefix(b"%:"))
        .unwrap_or(directive);
    let rest = skip_blanks_and_comments(rest);
    let (name, rest) = rest.split_at(count(rest, is_word));
    (name, skip_blanks_and_comments(rest))
}

fn skip_blanks_and_comments(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = rest.trim_ascii_start();
        match comment_length(rest) {
            Some(length) => rest = &rest[length..],
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(source: &str) -> Vec<String> {
        Text::new(source.as_bytes())
            .tokens()
            .map(|token| String::from_utf8_lossy(token.text).into_owned())
            .collect()
    }

    #[test]
    fn comments_and_literals_hide_what_they_contain() {
        let source = "a /* # b ' */ \"/* \\\" */\" // asm '\n'\"' c";
        assert_eq!(texts(source), ["a", "\"/* \\\" */\"", "'\"'", "c"]);
    }

    #[test]
    fn a_line_splice_may_stand_inside_a_word_a_comment_or_a_directive() {
        assert_eq!(texts("as\\\nm x"), ["asm", "x"]);
        assert_eq!(texts("a // b \\\r\n c\nd"), ["a", "d"]);
        assert_eq!(texts("#define X \\ \n 1\ny"), ["#define X  1", "y"]);
    }

    #[test]
    fn a_hash_begins_a_directive_only_where_a_line_begins() {
        assert_eq!(texts("a # b"), ["a", "#", "b"]);
        assert_eq!(texts(" /* c */ # if X\nb"), ["# if X", "b"]);
        assert_eq!(
            texts("#if X /* two\nlines */ + 1\nb"),
            ["#if X /* two\nlines */ + 1", "b"]
        );
        assert_eq!(texts("#error don't\nb"), ["#error don't", "b"]);
        assert_eq!(texts("%:define x\ny"), ["%:define x", "y"]);
    }

    #[test]
    fn numbers_are_whole() {
        assert_eq!(
            texts("1e+5 .5f 0x1p-3+x 1+2"),
            ["1e+5", ".5f", "0x1p-3", "+", "x", "1", "+", "2"]
        );
    }

    #[test]
    fn a_directive_has_a_name_and_arguments() {
        assert_eq!(
            directive_parts(b"# /* c */ pragma  omp"),
            (&b"pragma"[..], &b"omp"[..])
        );
        assert_eq!(
            directive_parts(b"# 12 \"x.y\""),
            (&b"12"[..], &b"\"x.y\""[..])
        );
        assert_eq!(directive_parts(b"#"), (&b""[..], &b""[..]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_scanned_in_order_to_their_end(
            source in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(b'\\'), Just(b'\n'), Just(b'"'), Just(b'/'), Just(b'*'), Just(b'#'), Just(b'a'),
            ], 0..80),
        ) {
            let mut end = 0;
            for token in Text::new(&source).tokens() {
                prop_assert!(end <= token.start && token.start < token.end);
                prop_assert!(!token.text.is_empty());
                end = token.end;
            }
            prop_assert!(end as usize <= source.len());
        }
    }
}
