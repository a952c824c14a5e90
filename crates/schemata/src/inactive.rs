//! Finds changes of text that the preprocessor skips, so that the program stays as it is.
//!
//! The stretch between two conditional directives is compiled or left out as a whole. A macro that is defined at the
//! beginning of each such stretch shows which: in what is left out no directive is followed.

use patchwright_csource::lex;
use patchwright_exec::Worker;
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::compiler::{Compiler, CompilerError};
use crate::edits::{is_closed, trimmed};

/// Returns the spans of a source that its compiler skips.
///
/// # Errors
/// A compiler that cannot be run, and files that cannot be written.
pub fn left_out(
    compiler: &Compiler,
    worker: &mut Worker,
    source: &[u8],
) -> Result<Vec<Span>, CompilerError> {
    let mut groups = lex::conditional_groups(source);
    groups.sort_unstable();
    let mut text = Vec::with_capacity(source.len());
    let mut copied = 0;
    for (number, (start, _)) in groups.iter().enumerate() {
        text.extend_from_slice(&source[copied..*start]);
        text.extend_from_slice(format!("\n#define {}\n", marker(number)).as_bytes());
        copied = *start;
    }
    text.extend_from_slice(&source[copied..]);
    let Some(said) = compiler.preprocess(worker, &text)? else {
        return Ok(Vec::new());
    };
    let said = String::from_utf8_lossy(&said);
    let compiled: FxHashSet<&str> = said
        .lines()
        .filter_map(|line| {
            line.strip_prefix("#define ")?
                .split_ascii_whitespace()
                .next()
        })
        .collect();
    // Else it does not say what is defined.
    if compiled.is_empty() {
        return Ok(Vec::new());
    }
    let groups = groups.iter().enumerate();
    let left_out = groups.filter(|(number, _)| !compiled.contains(marker(*number).as_str()));
    let spans = left_out.map(|(_, (start, end))| Span::new(*start as u32, *end as u32));
    Ok(spans.collect())
}

fn marker(number: usize) -> String {
    format!("__pw_compiled_{number}")
}

/// Whether edits change only text inside these spans, and not the directives around them.
pub fn are_within(source: &[u8], edits: &[Edit], left_out: &[Span]) -> bool {
    let mut edits = edits.iter().filter_map(|edit| trimmed(source, edit));
    edits.all(|edit| {
        let groups = left_out.iter();
        // Inner ones come with the outer ones.
        let mut groups = groups.filter(|group| group.contains_span(edit.span));
        groups.any(|group| is_within(source, &edit, *group))
    })
}

fn is_within(source: &[u8], edit: &Edit, group: Span) -> bool {
    let old = edit.span.slice(source).unwrap_or_default();
    let before = Span::new(group.start, edit.span.start);
    let behind = Span::new(edit.span.end, group.end);
    let has_break = |span: Span| span.slice(source).is_some_and(|text| text.contains(&b'\n'));
    // The lines of the directives are none of its.
    let begins = has_break(before) || edit.text.starts_with(b"\n");
    let is_line = |text: &[u8]| text.ends_with(b"\n");
    let ends = has_break(behind)
        || is_line(&edit.text)
        || edit.text.is_empty() && before.slice(source).is_some_and(is_line);
    begins && ends && says_nothing(old) && says_nothing(&edit.text)
}

/// Whether a text means nothing where it is left out: no directive, nothing that goes on behind it.
fn says_nothing(text: &[u8]) -> bool {
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    is_closed(text) && !text.contains(&b'#') && !text.contains(&b'\\') && !has(b"%:") && !has(b"??")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_left_out_with_the_lines_between_two_directives_only() {
        let source = b"a;\n#if 0\nb;\nc;\n#endif\nd;\n";
        let groups = lex::conditional_groups(source);
        let groups: Vec<Span> = groups
            .into_iter()
            .map(|(start, end)| Span::new(start as u32, end as u32))
            .collect();
        let change = |old: &[u8], new: &[u8]| {
            let at = source
                .windows(old.len())
                .position(|window| window == old)
                .unwrap();
            let edit = Edit::replace(Span::new(at as u32, (at + old.len()) as u32), new);
            are_within(source, &[edit], &groups)
        };
        assert!(change(b"b;", b"e;"));
        assert!(change(b"c;\n", b"c();\nd();\n"));
        assert!(change(b"c;\n", b""));
        assert!(change(b"b;\nc;\n", b"{\n"));
        assert!(!change(b"b;\nc;\n", b"{"));
        assert!(!change(b"d;", b"e;"));
        assert!(!change(b"c;\n", b"c;"));
        assert!(!change(b"b;", b"#else\n"));
        assert!(!change(b"b;", b"/* e;"));
        assert!(!change(b"c;", b"c; \\"));
        assert!(!change(b"0\n", b"1\n"));
        assert!(!change(b"c;\n#endif\nd;", b"c;"));
    }
}
