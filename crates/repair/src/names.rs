//! Derives from the names in a change how likely it is meant.

use std::collections::BTreeSet;

use crate::change_text::without_blanks;

/// Words that name no variable.
const WORDS: [&[u8]; 16] = [
    b"char",
    b"const",
    b"double",
    b"float",
    b"int",
    b"long",
    b"short",
    b"signed",
    b"sizeof",
    b"struct",
    b"unsigned",
    b"void",
    b"if",
    b"else",
    b"return",
    b"break",
];

/// Whether a variable or a member comes in that the function mentions nowhere: what a function works with, it mostly names elsewhere, too.
pub(crate) fn is_unmentioned(function: &BTreeSet<&[u8]>, before: &[u8], after: &[u8]) -> bool {
    let gone: BTreeSet<&[u8]> = names(before).into_iter().collect();
    let is_new = |name: &&[u8]| !function.contains(name) && !gone.contains(name);
    names(after).iter().any(is_new)
}

/// The names of variables and members in a text. Those in capitals are constants, and those before a bracket are functions.
pub(crate) fn names(text: &[u8]) -> Vec<&[u8]> {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < text.len() && text[at] != quote {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at += 1;
            }
            byte if is_of_word(byte) => {
                let length = text[at..].iter().take_while(|byte| is_of_word(**byte));
                let end = at + length.count();
                let word = &text[at..end];
                let is_called = text[end..].trim_ascii_start().starts_with(b"(");
                let is_name = !byte.is_ascii_digit()
                    && word.iter().any(u8::is_ascii_lowercase)
                    && !word.ends_with(b"_t")
                    && !WORDS.contains(&word);
                if is_name && !is_called {
                    found.push(word);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// Whether a text has the head of a loop whose variable begins with what it is
/// (`for (i = i; …)`).
pub(crate) fn begins_with_itself(text: &[u8]) -> bool {
    let text = without_blanks(text);
    let mut rest = &text[..];
    while let Some(at) = rest.windows(4).position(|four| four == b"for(") {
        rest = &rest[at + 4..];
        let end = rest.iter().position(|byte| *byte == b';');
        let first = &rest[..end.unwrap_or(rest.len())];
        if first.split(|byte| *byte == b',').any(uses_itself) {
            return true;
        }
    }
    false
}

fn uses_itself(assignment: &[u8]) -> bool {
    let Some(at) = assignment.iter().position(|byte| *byte == b'=') else {
        return false;
    };
    let (target, value) = (&assignment[..at], &assignment[at + 1..]);
    names(target) == [target] && names(value).contains(&target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_variables_and_members() {
        let of = |text: &'static str| -> Vec<String> {
            let names = names(text.as_bytes()).into_iter();
            names
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect()
        };
        assert_eq!(of("p->next + (int)n2 * 0x1f"), ["p", "next", "n2"]);
        assert!(of("f(1) == 'a' + '\\'' && g (\"x\") < LIMIT && (size_t)1").is_empty());
    }

    #[test]
    fn a_name_that_the_function_does_not_have_is_seen() {
        let function: BTreeSet<&[u8]> = names(b"int f(struct s *j) { int del = j->at; }")
            .into_iter()
            .collect();
        let is = |before: &str, after: &str| {
            is_unmentioned(&function, before.as_bytes(), after.as_bytes())
        };
        assert!(is("j->at", "j->last") && is("'x'", "other"));
        assert!(!is("'x'", "del") && !is("k", "k + 1") && !is("1", "LIMIT") && !is("1", "f(1)"));
    }

    #[test]
    fn a_loop_that_begins_with_its_own_variable_is_seen() {
        assert!(begins_with_itself(b"  for (i = i; i < n; i++)"));
        assert!(begins_with_itself(b"for (n = 0, i = i + 1; ; )"));
        assert!(!begins_with_itself(b"for (i = ii; i < n; i++)"));
        assert!(!begins_with_itself(b"for (; i == i; i++) i = i;"));
        assert!(!begins_with_itself(b"for (int i = 0; i < n; i = i + 1)"));
    }
}
