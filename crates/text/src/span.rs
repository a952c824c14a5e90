//! A half-open range of bytes of one file.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets, `start..end`, of one file.
///
/// `start <= end` holds for every span made by [`Span::new`]. The order is by start, then by end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Makes the span `start..end`. Offsets in the wrong order are swapped.
    pub fn new(start: u32, end: u32) -> Self {
        Self {
            start: start.min(end),
            end: start.max(end),
        }
    }

    /// Makes the empty span at `offset`, where an edit can insert.
    pub fn empty(offset: u32) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// Returns the number of bytes.
    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span has no byte.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Returns the span as a range for indexing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end.max(self.start) as usize
    }

    /// Whether the byte at `offset` lies in the span.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether every byte of `other` lies in this span. Equal spans contain each other.
    pub fn contains_span(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two spans have a byte in common.
    pub fn overlaps(self, other: Span) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }

    /// Returns the bytes of `source` in this span, or `None` if the span ends beyond `source`.
    pub fn slice(self, source: &[u8]) -> Option<&[u8]> {
        source.get(self.range())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
