//! Makes unified diffs that `patch -p1` and `git apply` accept, and edits of whole lines.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::{Edit, Span};

/// Unchanged lines shown round a change.
const CONTEXT: usize = 3;

/// Returns the unified diff that turns `before` into `after`. The diff is empty if they are equal.
///
/// `path` is the file's path relative to the root of the tree, with `/` between its parts; the header names it
/// `a/PATH` and `b/PATH`. Both texts must be the contents of an existing file: the diff neither creates nor deletes.
/// Lines end with `\n` only, so that the `\r` of `\r\n` is part of the line and kept.
pub fn unified_diff(path: &[u8], before: &[u8], after: &[u8]) -> Vec<u8> {
    let old = lines(before);
    let new = lines(after);
    let operations = operations(&old, &new);
    let mut out = Vec::new();
    for hunk in group_diff_ops(operations, CONTEXT) {
        if !hunk
            .iter()
            .any(|operation| !matches!(operation, DiffOp::Equal { .. }))
        {
            continue;
        }
        if out.is_empty() {
            out.extend_from_slice(b"--- ");
            out.extend_from_slice(&header_name("a/", path));
            out.extend_from_slice(b"\n+++ ");
            out.extend_from_slice(&header_name("b/", path));
            out.push(b'\n');
        }
        write_hunk(&mut out, &hunk, &old, &new);
    }
    out
}

/// Returns the edits of whole lines that turn `before` into `after`: sorted, not overlapping, and each
/// with an effect.
pub fn line_edits(before: &[u8], after: &[u8]) -> Vec<Edit> {
    let (old, new) = (lines(before), lines(after));
    let offset = |line: usize| old[..line].iter().map(|line| line.len()).sum::<usize>() as u32;
    operations(&old, &new)
        .into_iter()
        .filter(|operation| !matches!(operation, DiffOp::Equal { .. }))
        .map(|operation| {
            let range = operation.old_range();
            let span = Span::new(offset(range.start), offset(range.end));
            Edit::replace(span, new[operation.new_range()].concat())
        })
        .collect()
}

/// How `old` becomes `new`, with each operation where the one before it ended on both sides. The library moves operations to
/// tidy the result. It leaves the index of the side that an operation does not touch where it was: the new one of a deletion,
/// the old one of an insertion.
fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let mut operations = capture_diff_slices(Algorithm::Patience, old, new);
    let (mut at_old, mut at_new) = (0, 0);
    for operation in &mut operations {
        match operation {
            DiffOp::Equal {
                old_index,
                new_index,
                ..
            }
            | DiffOp::Delete {
                old_index,
                new_index,
                ..
            }
            | DiffOp::Insert {
                old_index,
                new_index,
                ..
            }
            | DiffOp::Replace {
                old_index,
                new_index,
                ..
            } => (*old_index, *new_index) = (at_old, at_new),
        }
        (at_old, at_new) = (operation.old_range().end, operation.new_range().end);
    }
    operations
}

/// The lines of a text with their `\n`; the last one may lack it.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn write_hunk(out: &mut Vec<u8>, hunk: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let header = format!(
        "@@ -{} +{} @@\n",
        hunk_range(old_range),
        hunk_range(new_range)
    );
    out.extend_from_slice(header.as_bytes());
    for operation in hunk {
        if let DiffOp::Equal { .. } = operation {
            for line in &old[operation.old_range()] {
                write_line(out, b' ', line);
            }
            continue;
        }
        for line in &old[operation.old_range()] {
            write_line(out, b'-', line);
        }
        for line in &new[operation.new_range()] {
            write_line(out, b'+', line);
        }
    }
}

/// `first line,count` of a hunk's side; an empty side names the line before it.
fn hunk_range(range: std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

fn write_line(out: &mut Vec<u8>, sign: u8, line: &[u8]) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Returns a path as git writes it. A path with bytes that would confuse a reader of the header is quoted in C's way. A path
/// with blanks is followed by a tab, because readers end an unquoted name at a tab.
fn header_name(prefix: &str, path: &[u8]) -> Vec<u8> {
    let special = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\' | 0x7f..);
    let mut name = prefix.as_bytes().to_vec();
    if !path.iter().any(special) {
        name.extend_from_slice(path);
        if path.contains(&b' ') {
            name.push(b'\t');
        }
        return name;
    }
    name.insert(0, b'"');
    for byte in path {
        match byte {
            b'"' | b'\\' => name.extend_from_slice(&[b'\\', *byte]),
            b'\n' => name.extend_from_slice(b"\\n"),
            b'\t' => name.extend_from_slice(b"\\t"),
            byte if special(byte) => name.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => name.push(*byte),
        }
    }
    name.push(b'"');
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_three_lines_of_context() {
        let before = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let expected = "--- a/x.c\n+++ b/x.c\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        let diff = unified_diff(b"x.c", before, after);
        assert_eq!(String::from_utf8(diff).unwrap(), expected);
    }

    #[test]
    fn equal_texts_have_an_empty_diff() {
        assert!(unified_diff(b"x.c", b"a\nb\n", b"a\nb\n").is_empty());
        assert!(unified_diff(b"x.c", b"", b"").is_empty());
    }

    #[test]
    fn the_ranges_of_a_hunk_are_those_of_its_lines() {
        let expected = "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-0\n a\n+a\n 1\n 2\n 3\n";
        let diff = unified_diff(b"x", b"0\na\n1\n2\n3\n4\n", b"a\na\n1\n2\n3\n4\n");
        assert_eq!(String::from_utf8(diff).unwrap(), expected);
    }

    #[test]
    fn a_missing_newline_at_the_end_is_marked() {
        let expected = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        let diff = unified_diff(b"x", b"a", b"a\n");
        assert_eq!(String::from_utf8(diff).unwrap(), expected);
    }

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        assert_eq!(header_name("a/", b"src/x.c"), b"a/src/x.c");
        assert_eq!(header_name("a/", b"my file.c"), b"a/my file.c\t");
        assert_eq!(
            header_name("b/", "\u{e4}\"\n.c".as_bytes()),
            br#""b/\303\244\"\n.c""#
        );
    }
}
