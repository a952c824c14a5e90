//! Scans texts of statements for labels, jumps, cases and declarations.

use patchwright_csource::lex;
use patchwright_text::Span;

use crate::outside::skip_directive;

/// The first and the last token of a text.
pub struct Ends {
    /// Its first token, if that is a word.
    pub first_word: Option<String>,
    /// The last byte of its last token.
    pub last: Option<u8>,
}

impl Ends {
    /// Returns the ends of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut ends = Self {
            first_word: None,
            last: None,
        };
        let mut at = 0;
        loop {
            at = skip_directives(text, at);
            let Some(&byte) = text.get(at) else {
                return ends;
            };
            let next = lex::step(text, at);
            if ends.last.is_none() && lex::is_word(byte) {
                ends.first_word = Some(String::from_utf8_lossy(&text[at..next]).into_owned());
            }
            ends.last = Some(text[next.min(text.len()) - 1]);
            at = next;
        }
    }
}

/// Returns the offset of the next token outside of directives.
pub fn skip_directives(text: &[u8], mut at: usize) -> usize {
    loop {
        let next = lex::skip_blank(text, at);
        if text.get(next) != Some(&b'#') {
            return next;
        }
        at = skip_directive(text, next);
    }
}

/// Whether one of the bytes `wanted` is a token of the text outside of brackets.
pub fn has_outer(text: &[u8], wanted: &[u8]) -> bool {
    let (mut at, mut depth) = (0, 0i32);
    while at < text.len() {
        match text[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            byte if depth == 0 && wanted.contains(&byte) => return true,
            _ => {}
        }
        at = lex::step(text, at);
    }
    false
}

/// Whether a span of a source has the keyword `register`.
pub fn has_register(source: &[u8], span: Span) -> bool {
    contains_word(source, span, "register")
}

/// Whether a span of a source has `wanted` as a token.
pub fn contains_word(source: &[u8], span: Span, wanted: &str) -> bool {
    let words = lex::words(span.slice(source).unwrap_or_default());
    words.iter().any(|word| word == wanted)
}

/// Replaces each `register` by blanks, because the address of a register variable cannot be taken. Those
/// that name a register stay, and so do those beside `setjmp`, where they decide about values.
pub fn without_register(text: &mut [u8]) {
    const REGISTER: &str = "register";
    let words = lex::words_with_places(text);
    let matters =
        |word: &str| ["asm", "__asm", "__asm__"].contains(&word) || word.contains("setjmp");
    if words.iter().any(|(word, _)| matters(word)) {
        return;
    }
    let places = words.into_iter().filter(|(word, _)| *word == REGISTER);
    let places: Vec<usize> = places.map(|(_, at)| at).collect();
    for at in places {
        text[at..at + REGISTER.len()].fill(b' ');
    }
}

/// Whether a text has a `case` or `default` of a `switch` that begins before the text.
pub fn has_outer_case(text: &[u8]) -> bool {
    // For each open bracket, whether a `switch` has it as its body. Its condition's parenthesis is one of the others.
    let mut open: Vec<bool> = Vec::new();
    let mut switches: Vec<usize> = Vec::new();
    let mut at = 0;
    loop {
        at = skip_directives(text, at);
        let Some(&byte) = text.get(at) else {
            return false;
        };
        let next = lex::step(text, at);
        match byte {
            b'{' => {
                let is_body = switches.pop_if(|depth| *depth == open.len()).is_some();
                open.push(is_body);
            }
            b'(' | b'[' => open.push(false),
            b'}' | b')' | b']' => {
                open.pop();
            }
            _ => match &text[at..next] {
                b"switch" => switches.push(open.len()),
                b"case" if !open.contains(&true) => return true,
                b"default" if !open.contains(&true) => {
                    // That of a generic selection stands between parentheses.
                    let colon = text.get(lex::skip_blank(text, next)) == Some(&b':');
                    if colon && open.is_empty() {
                        return true;
                    }
                }
                _ => {}
            },
        }
        at = next;
    }
}

const TYPE_WORDS: &[&str] = &[
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "_Bool",
    "bool",
    "struct",
    "union",
    "enum",
    "const",
    "volatile",
    "static",
    "extern",
    "register",
    "auto",
    "typedef",
    "__typeof__",
    "typeof",
    "__auto_type",
    "_Alignas",
    "_Static_assert",
    "_Atomic",
    "inline",
    "__attribute__",
];

const STATEMENT_WORDS: &[&str] = &[
    "return", "goto", "else", "case", "sizeof", "if", "while", "for", "do", "switch", "break",
    "continue", "default",
];

/// Whether a statement of the text outside of braces may be a declaration. It errs on the safe side: `a *
/// b;` counts.
pub fn looks_like_declaration(text: &[u8]) -> bool {
    let (mut at, mut depth, mut start) = (0, 0i32, true);
    loop {
        at = skip_directives(text, at);
        let Some(&byte) = text.get(at) else {
            return false;
        };
        let next = lex::step(text, at);
        let was_start = std::mem::replace(&mut start, false);
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                start = depth == 0;
            }
            b';' if depth == 0 => start = true,
            _ if was_start && depth == 0 && lex::is_word(byte) => {
                let word = &text[at..next];
                let is = |words: &[&str]| words.iter().any(|known| known.as_bytes() == word);
                if is(TYPE_WORDS) {
                    return true;
                }
                if !is(STATEMENT_WORDS) && !byte.is_ascii_digit() {
                    let mut behind = lex::skip_blank(text, next);
                    while text.get(behind) == Some(&b'*') {
                        behind = lex::skip_blank(text, behind + 1);
                    }
                    if text.get(behind).is_some_and(|byte| lex::is_word(*byte)) {
                        return true;
                    }
                }
            }
            _ => {}
        }
        at = next;
    }
}

/// Returns the labels to which a text jumps.
pub fn jumps(text: &[u8]) -> Vec<String> {
    let words = lex::words(text);
    let pairs = words.windows(2).filter(|pair| pair[0] == "goto");
    pairs.map(|pair| pair[1].clone()).collect()
}

/// Returns the labels that a text defines.
pub fn labels(text: &[u8]) -> Vec<String> {
    let (mut at, mut start) = (0, true);
    let mut found = Vec::new();
    loop {
        at = skip_directives(text, at);
        let Some(&byte) = text.get(at) else {
            return found;
        };
        let next = lex::step(text, at);
        let was_start = std::mem::replace(&mut start, matches!(byte, b';' | b'{' | b'}'));
        if was_start && lex::is_word(byte) && !byte.is_ascii_digit() {
            let word = &text[at..next];
            let colon = match word {
                b"case" => end_of_case(text, next),
                _ => lex::skip_blank(text, next),
            };
            if text.get(colon) == Some(&b':') {
                if word != b"default" && word != b"case" {
                    found.push(String::from_utf8_lossy(word).into_owned());
                }
                start = true;
                at = colon + 1;
                continue;
            }
        }
        at = next;
    }
}

/// Where the colon of a `case` stands whose value begins at `at`.
fn end_of_case(text: &[u8], mut at: usize) -> usize {
    let (mut depth, mut choices) = (0i32, 0i32);
    while let Some(&byte) = text.get(lex::skip_blank(text, at)) {
        at = lex::skip_blank(text, at);
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'?' => choices += 1,
            b':' if depth == 0 && choices == 0 => break,
            b':' => choices -= 1,
            b';' | b'{' | b'}' => break,
            _ => {}
        }
        at = lex::step(text, at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_words_before_a_colon_where_a_statement_begins() {
        let text = b"a: b: x = c ? d : e; { f: ; } switch (x) { case g: h(); default: ; }";
        assert_eq!(labels(text), ["a", "b", "f"]);
        let text = b"case 1: a: case X ? 2 : (3): b: default: c: case 'x': return d ? e : f;";
        assert_eq!(labels(text), ["a", "b", "c"]);
    }

    #[test]
    fn cases_are_those_of_a_switch_round_the_text_or_of_one_in_it() {
        for (text, is) in [
            ("case 1: f();", true),
            ("f(); default: g();", true),
            ("{ case 1: f(); }", true),
            ("switch (x) { case 1: f(); default: g(); }", false),
            (
                "switch (f(x)) { case 1: { h(); } case 2: ; } case 3: ;",
                true,
            ),
            (
                "switch (x) { case 1: switch (y) { case 2: ; } case 3: ; }",
                false,
            ),
            ("x = _Generic(y, int: 1, default: 2);", false),
            ("cases = default_value;", false),
        ] {
            assert_eq!(has_outer_case(text.as_bytes()), is, "{text}");
        }
    }

    #[test]
    fn declarations_are_recognised_at_the_start_of_statements() {
        for (text, is) in [
            ("int x;", true),
            ("x = 1; size_t n = 2;", true),
            ("struct s *p;", true),
            ("FILE *f = open();", true),
            ("{ int x; }", false),
            ("return x;", false),
            ("f(int_value); g = 2;", false),
            ("if (a) { int x; } b();", false),
        ] {
            assert_eq!(looks_like_declaration(text.as_bytes()), is, "{text}");
        }
    }
}
