//! Compares the texts of atoms by their tokens, to find their names and similar texts.

use patchwright_csource::lex::{is_name, tokens};

/// The names in which two texts differ, which are otherwise the same: `j` and `i` of `a[j]` and `a[i]`.
pub(crate) fn difference<'t>(left: &'t str, right: &'t str) -> Option<(&'t str, &'t str)> {
    let (left, right) = (tokens(left), tokens(right));
    if left.len() != right.len() {
        return None;
    }
    let mut found = None;
    for ((a, _), (b, _)) in left.into_iter().zip(right) {
        if a == b {
            continue;
        }
        if !is_name(a) || !is_name(b) || found.is_some_and(|known| known != (a, b)) {
            return None;
        }
        found = Some((a, b));
    }
    found
}

/// The text with one name in the place of another; `None` if it has not that name.
pub(crate) fn renamed(text: &str, old: &str, new: &str) -> Option<String> {
    let mut renamed = String::new();
    let mut rest = 0;
    for (_, at) in tokens(text).into_iter().filter(|(token, _)| *token == old) {
        renamed.push_str(&text[rest..at]);
        renamed.push_str(new);
        rest = at + old.len();
    }
    renamed.push_str(&text[rest..]);
    (rest > 0).then_some(renamed)
}

/// An element of a variable whose index is a variable, perhaps with a number added: `a[i]`, `a[i - 1]`.
#[derive(Debug, PartialEq)]
pub(crate) struct Element<'t> {
    pub(crate) base: &'t str,
    pub(crate) index: &'t str,
    pub(crate) shift: i64,
}

impl Element<'_> {
    /// Splits `base[index]` or `base[index + number]`; `None` for other texts.
    pub(crate) fn of(text: &str) -> Option<Element<'_>> {
        let (base, rest) = text.split_once('[')?;
        let inner = rest.strip_suffix(']')?;
        let (index, shift) = match inner.split_once(" + ") {
            Some((index, number)) => (index, number.parse().ok()?),
            None => match inner.split_once(" - ") {
                Some((index, number)) => (index, -number.parse::<i64>().ok()?),
                None => (inner, 0),
            },
        };
        (is_name(base) && is_name(index)).then_some(Element { base, index, shift })
    }

    /// The text of the element that is so many further on.
    pub(crate) fn shifted(&self, by: i64) -> String {
        let Element { base, index, shift } = self;
        match shift + by {
            0 => format!("{base}[{index}]"),
            n if n < 0 => format!("{base}[{index} - {}]", -n),
            n => format!("{base}[{index} + {n}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_one_name_are_alike() {
        assert_eq!(difference("a[j]", "a[i]"), Some(("j", "i")));
        assert_eq!(difference("x->n", "y->n"), Some(("x", "y")));
        assert_eq!(difference("a[j][j]", "a[i][i]"), Some(("j", "i")));
        assert_eq!(difference("a[j][k]", "a[i][i]"), None);
        assert_eq!(difference("a[j]", "b[i]"), None);
        assert_eq!(difference("a[1]", "a[2]"), None);
        assert_eq!(difference("a[j]", "a[j]"), None);
        assert_eq!(renamed("best[j]", "j", "i").as_deref(), Some("best[i]"));
        assert_eq!(renamed("jj->j1", "j", "i"), None);
    }

    #[test]
    fn elements_are_shifted() {
        let shifted = |text: &str, by| Element::of(text).map(|element| element.shifted(by));
        assert_eq!(shifted("s[i]", -1).as_deref(), Some("s[i - 1]"));
        assert_eq!(shifted("s[i - 1]", 1).as_deref(), Some("s[i]"));
        assert_eq!(shifted("s[i + 1]", 1).as_deref(), Some("s[i + 2]"));
        for text in ["s[1]", "p->s[i]", "s[i][j]", "s[t[i]]", "s"] {
            assert_eq!(shifted(text, 1), None, "{text}");
        }
    }
}
