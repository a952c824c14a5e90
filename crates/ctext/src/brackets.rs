//! Brackets and what stands between them.

use crate::token::{Kind, Tokens, step};

/// Returns the spans of the arguments of the call whose `(` stands at `text[open]`, and the offset behind the matching `)`. It is
/// `None` if no `)` matches.
pub fn arguments(text: &[u8], open: usize) -> Option<(Vec<(usize, usize)>, usize)> {
    let mut depth = 0usize;
    let mut i = open;
    let mut start = open + 1;
    let mut found = Vec::new();
    while i < text.len() {
        match text[i] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    found.push((start, i));
                    return Some((found, i + 1));
                }
            }
            b',' if depth == 1 => {
                found.push((start, i));
                start = i + 1;
            }
            _ => {}
        }
        i = step(text, i);
    }
    None
}

/// Whether parentheses, brackets and braces match, and no comma stands outside of them. With `commas`
/// such commas are allowed.
pub fn is_balanced(text: &[u8], commas: bool) -> bool {
    let mut open = Vec::new();
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            c @ (b'(' | b'[' | b'{') => open.push(c),
            b')' if open.pop() != Some(b'(') => return false,
            b']' if open.pop() != Some(b'[') => return false,
            b'}' if open.pop() != Some(b'{') => return false,
            b',' if open.is_empty() && !commas => return false,
            _ => {}
        }
        i = step(text, i);
    }
    open.is_empty()
}

/// Returns where a sign stands in a text that has nothing else but parentheses: what stands between two operands.
pub fn sign_between(text: &str, sign: &str) -> Option<usize> {
    let tokens = Tokens::new(text.as_bytes());
    let mut signs = tokens.filter(|token| !token.is("(") && !token.is(")"));
    let only = signs.next().filter(|only| only.kind == Kind::Sign)?;
    (only.raw == sign.as_bytes() && signs.next().is_none()).then_some(only.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_at_outer_commas_only() {
        let text = b"(a, f(b, c), \"x,)\", ',')z";
        let (found, end) = arguments(text, 0).expect("closed");
        assert_eq!(found.len(), 4);
        assert_eq!(text[end], b'z');
    }

    #[test]
    fn a_sign_is_found_between_two_operands() {
        assert_eq!(sign_between(") /* < */ <= (", "<="), Some(10));
        assert_eq!(sign_between(" <= ", "<"), None);
        assert_eq!(sign_between(" + a + ", "+"), None);
    }

    #[test]
    fn balance_sees_through_literals() {
        assert!(is_balanced(b"a[(1)] + ')'", false));
        assert!(!is_balanced(b"a, b", false));
        assert!(!is_balanced(b"a)(", true));
    }
}
