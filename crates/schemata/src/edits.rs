//! Shortens the edits of a patch.

use patchwright_csource::lex;
use patchwright_text::{Edit, Span};

/// Returns the edit without the tokens at its start and end that it does not change, or `None` if nothing
/// is left.
pub fn trimmed(base: &[u8], edit: &Edit) -> Option<Edit> {
    let old = edit.span.slice(base).unwrap_or_default();
    let new = edit.text.as_slice();
    let (old_ends, new_ends) = (boundaries(old), boundaries(new));
    let common = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| -> usize {
        pairs.take_while(|(a, b)| a == b).count()
    };
    let prefix = common(&mut old.iter().zip(new));
    let start = old_ends
        .iter()
        .rev()
        .copied()
        .find(|at| *at <= prefix && new_ends.binary_search(at).is_ok())
        .unwrap_or(0);
    let shorter = old.len().min(new.len()) - start;
    let suffix = common(&mut old.iter().rev().zip(new.iter().rev()).take(shorter));
    let end = old_ends
        .iter()
        .copied()
        .find(|at| {
            *at + suffix >= old.len()
                && (*at + new.len())
                    .checked_sub(old.len())
                    .is_some_and(|at| at >= start && new_ends.binary_search(&at).is_ok())
                && *at >= start
        })
        .unwrap_or(old.len());
    let new_end = end + new.len() - old.len();
    if start == end && start == new_end {
        return None;
    }
    let offset = edit.span.start;
    Some(Edit::replace(
        Span::new(offset + start as u32, offset + end as u32),
        &new[start..new_end],
    ))
}

/// Offsets between tokens (comments and single blanks are tokens here), in ascending order, both ends included.
fn boundaries(text: &[u8]) -> Vec<usize> {
    let mut found = vec![0];
    let mut at = 0;
    while at < text.len() {
        at = lex::step(text, at).min(text.len());
        found.push(at);
    }
    found
}

/// Whether no comment and no literal is open at the end of a text.
pub fn is_closed(text: &[u8]) -> bool {
    let with_end = [text, b"\n__pw_end"].concat();
    let words = lex::words(&with_end);
    words.last().is_some_and(|word| word == "__pw_end")
}

/// Whether a text consists of blanks and comments.
pub fn is_blank(text: &[u8]) -> bool {
    lex::skip_blank(text, 0) >= text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(old: &str, new: &str) -> Option<(String, String)> {
        let edit = Edit::replace(Span::new(0, old.len() as u32), new);
        trimmed(old.as_bytes(), &edit).map(|edit| {
            let text = String::from_utf8(edit.text).unwrap();
            (old[edit.span.range()].to_owned(), text)
        })
    }

    #[test]
    fn edits_shrink_to_the_tokens_that_differ() {
        for (old, new, found) in [
            ("if (a < b)\n", "if (a <= b)\n", Some(("", "="))),
            ("x = count;\n", "x = counter;\n", Some(("count", "counter"))),
            ("x = 1;\n", "x = 1;\ny = 2;\n", Some(("", "y = 2;\n"))),
            ("f(\"ab\");\n", "f(\"ac\");\n", Some(("\"ab\"", "\"ac\""))),
            ("a();\nb();\n", "a();\n", Some(("b();\n", ""))),
            ("same\n", "same\n", None),
        ] {
            let found = found.map(|(a, b)| (a.to_owned(), b.to_owned()));
            assert_eq!(of(old, new), found, "{old}{new}");
        }
    }

    #[test]
    fn a_repeated_token_is_not_counted_from_both_ends() {
        assert_eq!(of("a a", "a a a").map(|pair| pair.0), Some(String::new()));
        assert_eq!(of("a a a", "a a").map(|pair| pair.1), Some(String::new()));
    }
}
