//! Converts between byte offsets and lines with columns.

use crate::Span;

/// A line and a column, as compilers print them: both count from 1, columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line number; the first line is 1.
    pub line: u32,
    /// Column in bytes; the first column is 1.
    pub column: u32,
}

/// The offsets at which the lines of one file begin.
///
/// A line ends with `\n` or `\r\n`. A `\r` alone ends no line, as in gcc.
#[derive(Clone, Debug)]
pub struct LineMap {
    /// Offset of the first byte of every line; never empty, begins with 0.
    starts: Vec<u32>,
    /// For every line, the offset behind its last byte before the line terminator.
    ends: Vec<u32>,
    length: u32,
}

impl LineMap {
    /// Finds the lines of `source`. Bytes beyond 4 GiB, which no span can name, are not mapped.
    pub fn new(source: &[u8]) -> Self {
        let length = u32::try_from(source.len()).unwrap_or(u32::MAX);
        let source = &source[..length as usize];
        let mut starts = vec![0];
        let mut ends = Vec::new();
        for (offset, _) in source.iter().enumerate().filter(|(_, b)| **b == b'\n') {
            let carriage_return = offset > 0 && source[offset - 1] == b'\r';
            ends.push((offset - usize::from(carriage_return)) as u32);
            starts.push(offset as u32 + 1);
        }
        ends.push(length);
        Self {
            starts,
            ends,
            length,
        }
    }

    /// Returns the number of lines. A file that ends with a newline has an empty last line; an empty
    /// file has one line.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Returns the line and column of the byte at `offset`. Offsets behind the end count as the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = offset.min(self.length);
        let index = self.starts.partition_point(|start| *start <= offset) - 1;
        LineColumn {
            line: index as u32 + 1,
            column: offset - self.starts[index] + 1,
        }
    }

    /// Returns the line, from 1, of the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_column(offset).line
    }

    /// Returns the byte offset of a line and column. The column just behind the line's text is valid.
    /// A column in or behind the line terminator gives `None`, and so does a line that does not
    /// exist.
    pub fn offset(&self, place: LineColumn) -> Option<u32> {
        let span = self.line_span(place.line)?;
        let offset = span.start.checked_add(place.column.checked_sub(1)?)?;
        (offset <= span.end).then_some(offset)
    }

    /// Returns the span of a line's text without its terminator. Lines count from 1.
    pub fn line_span(&self, line: u32) -> Option<Span> {
        let index = line.checked_sub(1)? as usize;
        Some(Span {
            start: *self.starts.get(index)?,
            end: self.ends[index],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_carriage_return_belongs_to_the_line_terminator() {
        let map = LineMap::new(b"ab\r\n\r\nc\rd\n");
        assert_eq!(map.line_count(), 4);
        assert_eq!(map.line_span(1), Some(Span::new(0, 2)));
        assert_eq!(map.line_span(2), Some(Span::new(4, 4)));
        assert_eq!(map.line_span(3), Some(Span::new(6, 9)));
        assert_eq!(map.line_span(4), Some(Span::new(10, 10)));
        assert_eq!(map.line_span(5), None);
        assert_eq!(map.offset(LineColumn { line: 1, column: 4 }), None);
    }

    #[test]
    fn an_empty_file_has_one_empty_line() {
        let map = LineMap::new(b"");
        assert_eq!(map.line_count(), 1);
        assert_eq!(map.line_column(7), LineColumn { line: 1, column: 1 });
    }

    proptest! {
        #[test]
        fn every_offset_outside_line_terminators_survives_the_way_to_line_and_column_and_back(
            source in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'\n'), Just(b'\r'), Just(0xc3)], 0..60),
        ) {
            let map = LineMap::new(&source);
            for offset in 0..=source.len() as u32 {
                let place = map.line_column(offset);
                let span = map.line_span(place.line).unwrap();
                if offset <= span.end {
                    prop_assert_eq!(map.offset(place), Some(offset));
                } else {
                    prop_assert_eq!(&source[offset as usize], &b'\n');
                }
                let newlines = source[..offset as usize].iter().filter(|b| **b == b'\n').count();
                prop_assert_eq!(place.line as usize, newlines + 1);
            }
        }
    }
}
