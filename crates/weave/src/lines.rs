//! The line numbers and file names that a compiler reports, which `#line` directives change.

use patchwright_ctext::line_marks;
use patchwright_text::LineMap;

/// `#line` directives of a file.
///
/// Those in groups that are not compiled are taken as if they were: nobody here evaluates conditions. What can go wrong
/// is a line number in a message.
pub(crate) struct Lines {
    map: LineMap,
    changes: Vec<Change>,
}

struct Change {
    /// Offset of the directive.
    start: u32,
    /// Line of the file in which the directive ends.
    directive_line: u32,
    /// Number of the next line.
    number: u32,
    /// The file name as it is spelled, with quotes.
    file: Option<Vec<u8>>,
}

impl Lines {
    /// Reads the line markers of a preprocessed text, and the lines of others.
    pub(crate) fn new(source: &[u8]) -> Self {
        let map = LineMap::new(source);
        let changes = line_marks(source)
            .into_iter()
            .map(|mark| Change {
                start: mark.range.start as u32,
                directive_line: map.line(mark.range.end.saturating_sub(1) as u32),
                number: mark.next,
                file: mark.file.map(|file| format!("\"{file}\"").into_bytes()),
            })
            .collect();
        Self { map, changes }
    }

    /// The number that a compiler gives to the line of `offset`.
    pub(crate) fn number(&self, offset: u32) -> u32 {
        let line = self.map.line(offset);
        match self.before(offset).last() {
            Some(change) => change
                .number
                .saturating_add(line.saturating_sub(change.directive_line + 1)),
            None => line,
        }
    }

    /// The file name in effect at `offset`, as spelled in the last directive that gives one.
    pub(crate) fn file(&self, offset: u32) -> Option<&[u8]> {
        self.before(offset)
            .iter()
            .rev()
            .find_map(|change| change.file.as_deref())
    }

    /// Whether a directive between two offsets gives a file name.
    pub(crate) fn file_changes(&self, start: u32, end: u32) -> bool {
        self.changes
            .iter()
            .any(|change| start <= change.start && change.start < end && change.file.is_some())
    }

    fn before(&self, offset: u32) -> &[Change] {
        let count = self.changes.partition_point(|change| change.start < offset);
        &self.changes[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_and_line_markers_change_numbers_and_names() {
        let source = b"a\nb\n#line 10\nc\n# 20 \"p.y\" 2\nd\ne\n#line 30 \"q.y\"\nf\n";
        let lines = Lines::new(source);
        let place = |byte: u8| source.iter().position(|b| *b == byte).unwrap() as u32;
        assert_eq!(lines.number(0), 1);
        assert_eq!(
            lines.number(source.iter().position(|b| *b == b'c').unwrap() as u32),
            10
        );
        let d = place(b'2') + 11;
        assert_eq!(
            (lines.number(d), lines.file(d)),
            (20, Some(&b"\"p.y\""[..]))
        );
        assert_eq!(lines.number(d + 2), 21);
        let f = source.len() as u32 - 2;
        assert_eq!(
            (lines.number(f), lines.file(f)),
            (30, Some(&b"\"q.y\""[..]))
        );
        assert_eq!(lines.file(2), None);
        assert!(lines.file_changes(d, f) && !lines.file_changes(0, 10));
    }
}
