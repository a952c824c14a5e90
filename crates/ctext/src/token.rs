//! Where tokens, comments and line splices begin and end.

use std::borrow::Cow;

use crate::words::{is_word, is_word_start};

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number as the preprocessor reads it: `1.5e+3`, `0x1p-3`, `10uL`.
    Number,
    /// A string literal, with its prefix.
    String,
    /// A character constant, with its prefix.
    Character,
    /// Punctuation: `->`, `<<=`, `{`, and the like.
    Sign,
    /// What is no token of C: a stray byte, a literal without an end, or `''`.
    Other,
}

/// A token of a text. Blanks and comments are none.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    /// What it is.
    pub kind: Kind,
    /// Its bytes as they stand in the text, line splices included.
    pub raw: &'t [u8],
    /// Offset of its first byte.
    pub start: usize,
    /// Whether only blanks and comments stand before it on its line.
    pub begins_line: bool,
}

impl<'t> Token<'t> {
    /// Offset behind its last byte.
    pub fn end(&self) -> usize {
        self.start + self.raw.len()
    }

    /// Returns the bytes of the token without line splices.
    pub fn text(&self) -> Cow<'t, [u8]> {
        without_splices(self.raw)
    }

    /// Whether it says this.
    pub fn is(&self, text: &str) -> bool {
        *self.text() == *text.as_bytes()
    }
}

/// The tokens of a text, in order. Those of directives are among them.
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    begins_line: bool,
}

impl<'t> Tokens<'t> {
    /// The tokens of a text that begins where a line begins.
    pub fn new(text: &'t [u8]) -> Self {
        Tokens {
            text,
            at: 0,
            begins_line: true,
        }
    }

    /// Goes on at an offset, as if no line began there.
    pub fn skip_to(&mut self, at: usize) {
        self.at = at;
        self.begins_line = false;
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let mut begins_line = std::mem::replace(&mut self.begins_line, false);
        let start = skip_noting(self.text, self.at, &mut begins_line);
        if start >= self.text.len() {
            self.at = start;
            return None;
        }
        let (kind, end) = scan(self.text, start);
        self.at = end;
        Some(Token {
            kind,
            raw: &self.text[start..end],
            start,
            begins_line,
        })
    }
}

/// Returns the tokens of a text as they stand there, each with its offset.
pub fn tokens(text: &str) -> Vec<(&str, usize)> {
    // Tokens are cut beside bytes of ASCII only.
    let tokens = Tokens::new(text.as_bytes());
    let tokens =
        tokens.filter_map(|token| Some((text.get(token.start..token.end())?, token.start)));
    tokens.collect()
}

/// Returns the offset of the first byte at or behind `at` that is not part of a blank, a comment or a line splice.
pub fn skip_blank(text: &[u8], at: usize) -> usize {
    skip_noting(text, at, &mut false)
}

/// As [`skip_blank`]; sets `begins_line` if there is the end of a line outside of comments.
fn skip_noting(text: &[u8], mut at: usize, begins_line: &mut bool) -> usize {
    loop {
        match text.get(at) {
            Some(b'\n') => {
                *begins_line = true;
                at += 1;
            }
            Some(byte) if is_blank(*byte) => at += 1,
            Some(b'\\') => match splice_end(text, at) {
                Some(end) => at = end,
                None => return at,
            },
            Some(b'/') => match comment_end(text, at) {
                Some(end) => at = end,
                None => return at,
            },
            _ => return at,
        }
    }
}

/// Returns the offset behind the token, comment, line splice or single blank at `at`. Each byte of a sign is a step of its own, so
/// a walk that counts brackets sees each of them.
pub fn step(text: &[u8], at: usize) -> usize {
    let blank = match text[at] {
        b'\\' => splice_end(text, at),
        b'/' => comment_end(text, at),
        byte if is_word(byte) || matches!(byte, b'"' | b'\'' | b'.') => match scan(text, at) {
            (Kind::Sign, _) => None,
            (_, end) => Some(end),
        },
        _ => None,
    };
    blank.unwrap_or(at + 1)
}

/// Returns the offset behind the comment that begins at `at`, if one does. The end of its line does not belong to a `//` comment.
pub fn comment_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'/') {
        return None;
    }
    let second = behind_splices(text, at + 1);
    let mut at = second + 1;
    match text.get(second)? {
        b'*' => loop {
            let Some(star) = text[at..].iter().position(|byte| *byte == b'*') else {
                return Some(text.len());
            };
            at += star + 1;
            let slash = behind_splices(text, at);
            if text.get(slash) == Some(&b'/') {
                return Some(slash + 1);
            }
        },
        b'/' => loop {
            at = behind_splices(text, at);
            match text.get(at) {
                None | Some(b'\n') => return Some(at),
                Some(_) => at += 1,
            }
        },
        _ => None,
    }
}

/// Returns a text without its line splices.
pub fn without_splices(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut kept = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = behind_splices(text, at);
        kept.extend(text.get(next));
        at = next + 1;
    }
    match kept.len() == text.len() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(kept),
    }
}

/// The end of the line splice that begins at `at`, if one does. Compilers allow blanks between its backslash and the end of the line.
pub(crate) fn splice_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'\\') {
        return None;
    }
    let rest = &text[at + 1..];
    let blanks = rest
        .iter()
        .take_while(|byte| is_blank(**byte) && **byte != b'\n');
    let newline = at + 1 + blanks.count();
    (text.get(newline) == Some(&b'\n')).then_some(newline + 1)
}

/// The offset of the first byte at or behind `at` that belongs to no line splice.
fn behind_splices(text: &[u8], mut at: usize) -> usize {
    while let Some(end) = splice_end(text, at) {
        at = end;
    }
    at
}

/// Whether a byte is white space in C.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns the kind of the token that begins at `at`, and the offset behind it. Neither blank nor comment may begin at `at`.
pub(crate) fn scan(text: &[u8], at: usize) -> (Kind, usize) {
    let first = text[at];
    if is_word_start(first) {
        let end = run_end(text, at + 1, is_word);
        let quote = behind_splices(text, end);
        // `u8'c'` is one token since C23 only, and two before.
        let is_prefix = match text.get(quote) {
            Some(b'"') => matches!(
                &*without_splices(&text[at..end]),
                b"L" | b"u" | b"U" | b"u8"
            ),
            Some(b'\'') => matches!(text[at..end], [b'L' | b'u' | b'U']),
            _ => false,
        };
        return match is_prefix {
            true => literal(text, quote),
            false => (Kind::Word, end),
        };
    }
    if matches!(first, b'"' | b'\'') {
        return literal(text, at);
    }
    let digit = match first {
        b'.' => text.get(behind_splices(text, at + 1)).copied(),
        _ => Some(first),
    };
    match digit.is_some_and(|byte| byte.is_ascii_digit()) {
        true => (Kind::Number, number_end(text, at)),
        false => sign(text, at),
    }
}

/// The end of a run of bytes that goes on at `at`, without line splices behind it.
fn run_end(text: &[u8], at: usize, mut belongs: impl FnMut(u8) -> bool) -> usize {
    let mut end = at;
    loop {
        match text.get(end) {
            Some(b'\\') => {}
            Some(&byte) if belongs(byte) => {
                end += 1;
                continue;
            }
            _ => return end,
        }
        let next = behind_splices(text, end);
        match text.get(next) {
            Some(&byte) if next > end && belongs(byte) => end = next + 1,
            _ => return end,
        }
    }
}

fn number_end(text: &[u8], at: usize) -> usize {
    let mut last = b'.';
    run_end(text, at, |byte| {
        let after_exponent = matches!(last, b'e' | b'E' | b'p' | b'P');
        last = byte;
        match byte {
            b'+' | b'-' => after_exponent,
            b'.' => true,
            byte => is_word(byte) && byte != b'$',
        }
    })
}

/// The literal whose quotation mark stands at `quote`. One without an end ends before the end of its line.
fn literal(text: &[u8], quote: usize) -> (Kind, usize) {
    let kind = match text[quote] {
        b'"' => Kind::String,
        _ => Kind::Character,
    };
    let mut end = quote + 1;
    loop {
        let at = behind_splices(text, end);
        match text.get(at) {
            None | Some(b'\n') => return (Kind::Other, end),
            Some(b'\'') if kind == Kind::Character && end == quote + 1 => {
                return (Kind::Other, at + 1);
            }
            Some(byte) if *byte == text[quote] => return (kind, at + 1),
            Some(b'\\') => {
                let escaped = behind_splices(text, at + 1);
                end = match text.get(escaped) {
                    None | Some(b'\n') => at + 1,
                    Some(_) => escaped + 1,
                };
            }
            Some(_) => end = at + 1,
        }
    }
}

/// The longest sign that begins at `at`.
fn sign(text: &[u8], at: usize) -> (Kind, usize) {
    let goes_on = |byte: &u8| is_sign_byte(*byte) || *byte == b'\\';
    if is_sign_byte(text[at]) && !text.get(at + 1).is_some_and(goes_on) {
        return (Kind::Sign, at + 1);
    }
    let (mut bytes, mut ends) = ([0; 4], [at; 4]);
    let mut next = at;
    for (byte, end) in bytes.iter_mut().zip(&mut ends) {
        next = behind_splices(text, next);
        match text.get(next) {
            Some(found) if is_sign_byte(*found) => *byte = *found,
            _ => break,
        }
        next += 1;
        *end = next;
    }
    let longest = (1..=4).rev().find(|length| is_sign(&bytes[..*length]));
    match longest {
        Some(length) => (Kind::Sign, ends[length - 1]),
        None => (Kind::Other, at + 1),
    }
}

fn is_sign_byte(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'#' | b'%'..=b'&' | b'('..=b'/' | b':'..=b'?' | b'['  | b']' | b'^' | b'{'..=b'~'
    )
}

fn is_sign(bytes: &[u8]) -> bool {
    match bytes {
        [byte] => is_sign_byte(*byte),
        b"->" | b"++" | b"--" | b"<<" | b">>" | b"<=" | b">=" | b"==" | b"!=" | b"&&" | b"||"
        | b"*=" | b"/=" | b"%=" | b"+=" | b"-=" | b"&=" | b"^=" | b"|=" | b"##" | b"<:" | b":>"
        | b"<%" | b"%>" | b"%:" | b"::" => true,
        b"..." | b"<<=" | b">>=" | b"%:%:" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(Kind, String)> {
        let tokens = Tokens::new(text.as_bytes());
        let said = |token: Token<'_>| String::from_utf8_lossy(&token.text()).into_owned();
        tokens.map(|token| (token.kind, said(token))).collect()
    }

    fn texts(text: &str) -> Vec<String> {
        read(text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn comments_and_literals_hide_what_they_contain() {
        let text = "a /* # b ' */ \"/* \\\" */\" // asm '\n'\"' c";
        assert_eq!(texts(text), ["a", "\"/* \\\" */\"", "'\"'", "c"]);
    }

    #[test]
    fn numbers_and_prefixed_literals_are_whole() {
        assert_eq!(
            read("1.5e+3-2 .5f 0x1p-3 L\"x\" u'c' Lx 1..2"),
            [
                (Kind::Number, "1.5e+3"),
                (Kind::Sign, "-"),
                (Kind::Number, "2"),
                (Kind::Number, ".5f"),
                (Kind::Number, "0x1p-3"),
                (Kind::String, "L\"x\""),
                (Kind::Character, "u'c'"),
                (Kind::Word, "Lx"),
                (Kind::Number, "1..2"),
            ]
            .map(|(kind, text)| (kind, text.to_owned()))
        );
    }

    #[test]
    fn the_longest_sign_is_read() {
        assert_eq!(
            texts("a+++b->c<<=d...e..f"),
            [
                "a", "++", "+", "b", "->", "c", "<<=", "d", "...", "e", ".", ".", "f"
            ]
        );
    }

    #[test]
    fn a_literal_without_an_end_ends_with_its_line() {
        let found = read("don't ; x\ny @");
        let kinds: Vec<Kind> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [Kind::Word, Kind::Other, Kind::Word, Kind::Other]);
        assert_eq!(found[1].1, "'t ; x");
    }

    #[test]
    fn a_line_splice_may_stand_in_a_token_or_a_comment() {
        assert_eq!(texts("as\\\nm -\\ \r\n> x"), ["asm", "->", "x"]);
        assert_eq!(
            texts("a // b \\\r\n c\nd /\\\n* e *\\\n/ f"),
            ["a", "d", "f"]
        );
        assert_eq!(texts("\"a\\\\\\\n\" b"), ["\"a\\\\\"", "b"]);
    }

    #[test]
    fn steps_count_each_sign_and_pass_over_the_rest() {
        let text = b"ab /*)*/ ->\"(\" 1.5 \\\n;";
        let mut ends = vec![];
        let mut at = 0;
        while at < text.len() {
            at = step(text, at);
            ends.push(at);
        }
        assert_eq!(ends, [2, 3, 8, 9, 10, 11, 14, 15, 18, 19, 21, 22]);
    }

    /// Bytes among which those that matter are frequent.
    fn any_text() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop_oneof![
            any::<u8>(),
            prop::sample::select(&b"\\\n\"'/*#aLu8.1e+-<%:= "[..]),
            prop::sample::select(&b"\\\n\"'/*#aLu8.1e+-<%:= "[..]),
        ];
        prop::collection::vec(bytes, 0..80)
    }

    proptest! {
        #[test]
        fn tokens_and_blanks_make_up_any_text(text in any_text()) {
            let mut end = 0;
            for token in Tokens::new(&text) {
                prop_assert_eq!(skip_blank(&text, end), token.start);
                prop_assert!(!token.raw.is_empty() && !token.text().is_empty());
                prop_assert_eq!(&text[token.start..token.end()], token.raw);
                end = token.end();
            }
            prop_assert_eq!(skip_blank(&text, end), text.len());
        }

        #[test]
        fn steps_go_to_the_end_of_any_text(text in any_text()) {
            let mut at = 0;
            while at < text.len() {
                let next = step(&text, at);
                prop_assert!(at < next && next <= text.len());
                at = next;
            }
        }

        #[test]
        fn line_splices_change_no_token(text in "[a-cLu8 \n\"'/*#.1e+<%:=>-]{0,40}", places in prop::collection::vec(0..40usize, 1..6)) {
            let mut spliced = Vec::new();
            for (at, byte) in text.bytes().enumerate() {
                let here = places.iter().filter(|place| **place == at);
                here.for_each(|_| spliced.extend(b"\\\n"));
                spliced.push(byte);
            }
            let plain = read(&text);
            prop_assert_eq!(read(std::str::from_utf8(&spliced).unwrap()), plain);
            prop_assert_eq!(&*without_splices(&spliced), text.as_bytes());
        }
    }
}
