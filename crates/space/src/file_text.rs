//! What the text of a whole file tells. It is computed when it is asked for, and once.

use std::cell::OnceCell;

use patchwright_csource::lex;
use rustc_hash::FxHashMap;

/// The text of a file, with facts about it that are computed when they are asked for.
#[derive(Debug, Default)]
pub struct FileText {
    divisors: OnceCell<Vec<String>>,
    enumerated: OnceCell<FxHashMap<Vec<u8>, u32>>,
}

impl FileText {
    /// The words behind `%` and `%=`, in order; `source` is the file's text.
    pub(crate) fn divisors(&self, source: &[u8]) -> &[String] {
        self.divisors.get_or_init(|| divisors(source))
    }

    /// The byte at which an enumeration at file scope first has this name; `source` is the file's text.
    pub(crate) fn enumerated(&self, source: &[u8], name: &str) -> Option<u32> {
        let all = self.enumerated.get_or_init(|| enumerated(source));
        all.get(name.as_bytes()).copied()
    }
}

fn divisors(source: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < source.len() {
        if source[at] == b'%' {
            let rest = &source[at + 1..];
            let rest = rest.strip_prefix(b"=").unwrap_or(rest);
            let rest = &rest[lex::skip_blank(rest, 0)..];
            let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let word: Vec<u8> = rest.iter().take_while(is_word).copied().collect();
            found.extend(String::from_utf8(word).ok().filter(|word| !word.is_empty()));
        }
        // Not in literals and comments.
        at = lex::step(source, at);
    }
    found
}

/// The words in enumerations at file scope, each with the byte where it first begins.
fn enumerated(text: &[u8]) -> FxHashMap<Vec<u8>, u32> {
    let mut found = FxHashMap::default();
    let mut depth = 0_usize;
    let mut at = 0;
    let mut is_enumeration = false;
    let mut declaration = 0;
    while at < text.len() {
        let end = lex::step(text, at);
        match text[at] {
            b'{' => {
                if depth == 0 {
                    is_enumeration = heads_enumeration(&text[declaration..at]);
                }
                depth += 1;
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                declaration = at;
            }
            b';' if depth == 0 => declaration = at,
            byte if depth == 1 && is_enumeration && lex::is_word(byte) => {
                found.entry(text[at..end].to_vec()).or_insert(at as u32);
            }
            _ => {}
        }
        at = end;
    }
    found
}

/// Whether a text ends in `enum` or `enum` and a name.
fn heads_enumeration(text: &[u8]) -> bool {
    let words = lex::words_with_places(text);
    let mut last = words.iter().rev().take(2);
    last.any(|(word, at)| word == "enum" && !text[*at..].contains(&b'('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_percent_sign_is_a_divisor() {
        let source = b"x = a % MOD + b %= 1007; printf(\"%d\", y % (z)); // % w";
        assert_eq!(FileText::default().divisors(source), ["MOD", "1007"]);
    }

    #[test]
    fn enumerations_in_functions_are_not_seen() {
        let source = b"enum { A, B = 7 };\ntypedef enum { C } t;\nvoid f(void) { enum { D }; }\n";
        let text = FileText::default();
        for (name, expected) in [
            ("A", Some(7)),
            ("B", Some(10)),
            ("C", Some(34)),
            ("D", None),
        ] {
            assert_eq!(text.enumerated(source, name), expected, "{name}");
        }
    }
}
