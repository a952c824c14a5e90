//! Edits of a text. An edit is data; [`apply_edits`] applies a list of them.

use serde::{Deserialize, Serialize};

use crate::Span;

/// Replaces the bytes of `span` by `text`. An empty span inserts; an empty text deletes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What is replaced, in the text before any edit.
    pub span: Span,
    /// What comes in its place.
    pub text: Vec<u8>,
}

impl Edit {
    /// Makes the edit that replaces `span` by `text`.
    pub fn replace(span: Span, text: impl Into<Vec<u8>>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }

    /// Makes the edit that inserts `text` before the byte at `offset`.
    pub fn insert(offset: u32, text: impl Into<Vec<u8>>) -> Self {
        Self::replace(Span::empty(offset), text)
    }
}

/// Where a statement is inserted, seen from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// In front of it.
    Before,
    /// Behind it.
    Behind,
    /// As the `else` of an `if` that has none.
    Else,
}

/// Why [`apply_edits`] refuses a list of edits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// An edit reaches behind the end of the text, or its span is turned round.
    #[error("the edit of bytes {span} does not lie in the text of {length} bytes")]
    OutOfBounds {
        /// The edit's span.
        span: Span,
        /// Length of the text in bytes.
        length: usize,
    },
    /// Two edits change the same byte, or one inserts inside what the other replaces.
    #[error("the edits of bytes {first} and {second} conflict")]
    Conflict {
        /// The edit that begins first.
        first: Span,
        /// The other edit.
        second: Span,
    },
}

/// Returns `source` with all `edits` applied. They may come in any order.
///
/// Edits must not overlap or lie in each other; edits that only touch are fine. Insertions at one place keep the order
/// in which they are given and come before a replacement that begins there.
///
/// # Errors
/// An edit that lies outside the text, and edits that conflict.
pub fn apply_edits(source: &[u8], edits: &[Edit]) -> Result<Vec<u8>, EditError> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut result = Vec::with_capacity(source.len());
    let mut copied = 0;
    let mut previous: Option<Span> = None;
    for edit in sorted {
        let span = edit.span;
        if span.start > span.end || span.end as usize > source.len() {
            return Err(EditError::OutOfBounds {
                span,
                length: source.len(),
            });
        }
        if let Some(first) = previous.filter(|first| span.start < first.end) {
            return Err(EditError::Conflict {
                first,
                second: span,
            });
        }
        result.extend_from_slice(&source[copied..span.start as usize]);
        result.extend_from_slice(&edit.text);
        copied = span.end as usize;
        previous = Some(span);
    }
    result.extend_from_slice(&source[copied..]);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edits_in_any_order_are_applied_by_position() {
        let edits = [
            Edit::replace(Span::new(4, 5), "Y"),
            Edit::insert(0, "<"),
            Edit::insert(0, "-"),
            Edit::replace(Span::new(0, 1), "X"),
            Edit::insert(5, ">"),
        ];
        assert_eq!(apply_edits(b"a + b", &edits).unwrap(), b"<-X + Y>");
    }

    #[test]
    fn an_edit_inside_another_is_refused() {
        let outer = Edit::replace(Span::new(0, 5), "x");
        for inner in [Span::new(1, 2), Span::new(0, 5), Span::empty(3)] {
            let edits = [Edit::replace(inner, "y"), outer.clone()];
            let error = apply_edits(b"a + b", &edits).unwrap_err();
            assert!(matches!(error, EditError::Conflict { .. }), "{inner}");
        }
    }

    #[test]
    fn an_edit_behind_the_end_is_refused() {
        let error = apply_edits(b"ab", &[Edit::insert(3, "x")]).unwrap_err();
        let span = Span::empty(3);
        assert_eq!(error, EditError::OutOfBounds { span, length: 2 });
    }

    /// A text cut into pieces, some of which are replaced.
    fn pieces() -> impl Strategy<Value = Vec<(Vec<u8>, Option<Vec<u8>>)>> {
        let text = || proptest::collection::vec(any::<u8>(), 0..5);
        proptest::collection::vec((text(), proptest::option::of(text())), 0..12)
    }

    proptest! {
        #[test]
        fn replacing_pieces_equals_joining_their_replacements(pieces in pieces(), seed in any::<u64>()) {
            let (mut source, mut expected, mut edits) = (Vec::new(), Vec::new(), Vec::new());
            for (old, new) in &pieces {
                let start = source.len() as u32;
                source.extend_from_slice(old);
                expected.extend_from_slice(new.as_ref().unwrap_or(old));
                if let Some(new) = new {
                    edits.push(Edit::replace(Span::new(start, source.len() as u32), new.clone()));
                }
            }
            // Insertions at one place keep their order, so only edits that start apart may be shuffled.
            edits.sort_by_key(|edit| (u64::from(edit.span.start) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            prop_assert_eq!(apply_edits(&source, &edits).unwrap(), expected);
        }

        #[test]
        fn edits_are_applied_exactly_when_no_two_of_them_conflict(
            spans in proptest::collection::vec((0u32..12, 0u32..12), 0..5),
        ) {
            let spans: Vec<Span> = spans.iter().map(|(a, b)| Span::new(*a, *b)).collect();
            let conflict = spans.iter().enumerate().any(|(i, a)| spans[..i].iter().any(|b| {
                a.overlaps(*b)
                    || (a.is_empty() && b.start < a.start && a.start < b.end)
                    || (b.is_empty() && a.start < b.start && b.start < a.end)
            }));
            let edits: Vec<Edit> = spans.iter().map(|span| Edit::replace(*span, "x")).collect();
            prop_assert_eq!(apply_edits(b"hello world!", &edits).is_ok(), !conflict);
        }
    }
}
