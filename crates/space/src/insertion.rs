//! Finds where a statement is inserted beside another one.

use patchwright_text::{Edit, Span};

/// How far round a statement the way in which a file is written is looked at. There are very many insertions, and sources of megabytes.
const NEAR: usize = 8 << 10;

/// The text round a part of a source.
fn nearby(source: &[u8], span: Span) -> &[u8] {
    let start = (span.start as usize).saturating_sub(NEAR);
    let end = (span.end as usize).saturating_add(NEAR);
    &source[start..end.min(source.len())]
}

/// How lines end at a place of a source.
pub(crate) fn newline(source: &[u8], at: usize) -> &'static str {
    let is_end = |byte: &u8| *byte == b'\n';
    let behind = source[at..].iter().position(is_end).map(|end| at + end);
    let end = behind.or_else(|| source[..at].iter().rposition(is_end));
    match end {
        Some(end) if source[..end].ends_with(b"\r") => "\r\n",
        _ => "\n",
    }
}

/// The insertion of a statement before another one, on a line of its own when the statement
/// begins its line.
pub(crate) fn insertion(source: &[u8], span: Span, is_body: bool, statement: &str) -> Edit {
    let start = span.start as usize;
    let line = source[..start]
        .iter()
        .rposition(|&c| c == b'\n')
        .map_or(0, |newline| newline + 1);
    let indent = &source[line..start];
    if is_body {
        let mut new = format!("{{ {statement} ").into_bytes();
        new.extend_from_slice(&source[span.range()]);
        new.extend_from_slice(b" }");
        return Edit::replace(span, new);
    }
    let mut new = statement.as_bytes().to_vec();
    if indent.iter().all(|c| matches!(c, b' ' | b'\t')) {
        // Further lines of the statement are indented like its first one.
        let own = String::from_utf8_lossy(indent);
        new = statement.replace('\n', &format!("\n{own}")).into_bytes();
        new.extend_from_slice(newline(source, start).as_bytes());
        new.extend_from_slice(indent);
    } else {
        new.push(b' ');
    }
    Edit::insert(span.start, new)
}

/// A statement behind another one: on a line of its own, unless the statement shares its line with what is before it.
pub(crate) fn insertion_after(source: &[u8], span: Span, is_body: bool, statement: &str) -> Edit {
    if is_body {
        let mut new = b"{ ".to_vec();
        new.extend_from_slice(&source[span.range()]);
        new.extend_from_slice(format!(" {statement} }}").as_bytes());
        return Edit::replace(span, new);
    }
    let (start, end) = (span.start as usize, span.end as usize);
    let line = source[..start]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let indentation = &source[line..start];
    if !indentation.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
        return Edit::insert(span.end, format!(" {statement}"));
    }
    let rest = &source[end..];
    let rest = &rest[..rest
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(rest.len())];
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    // A comment behind the statement stays there.
    let comment = rest.trim_ascii();
    let stays = comment.is_empty()
        || comment.starts_with(b"//") && !comment.ends_with(b"\\")
        || comment.starts_with(b"/*")
            && comment.windows(2).position(|two| two == b"*/") == Some(comment.len() - 2);
    let at = if stays { end + rest.len() } else { end };
    let newline = newline(source, start).as_bytes();
    let text = [newline, indentation, statement.as_bytes()].concat();
    Edit::insert(at as u32, text)
}

/// What a line has more in front than the one that it belongs to.
pub(crate) fn indentation_step(indentation: &[u8]) -> &'static [u8] {
    if indentation.contains(&b'\t') && !indentation.contains(&b' ') {
        b"\t"
    } else if indentation.len().is_multiple_of(4) {
        b"    "
    } else {
        b"  "
    }
}

/// A statement as the `else` of an `if` that has none, the way the file writes such.
pub(crate) fn insertion_as_else(
    source: &[u8],
    span: Span,
    _is_body: bool,
    statement: &str,
) -> Edit {
    let start = span.start as usize;
    let line = source[..start]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let text = &source[span.range()];
    if !text.contains(&b'\n') {
        return Edit::insert(span.end, format!(" else {statement}"));
    }
    // That of the `if`, or of `else if`.
    let blanks = source[line..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let indentation = &source[line..line + blanks];
    let newline = newline(source, start).as_bytes();
    // As far in as what the `if` governs.
    let step = text
        .split(|&byte| byte == b'\n')
        .skip(1)
        .filter_map(|line| line.strip_prefix(indentation))
        .map(|line| &line[..line.len() - line.trim_ascii_start().len()])
        .filter(|deeper| !deeper.is_empty())
        .min_by_key(|deeper| deeper.len())
        .unwrap_or_else(|| indentation_step(indentation));
    let inner = [newline, indentation, step].concat();
    let near = nearby(source, span);
    let begins_line = |what: &[u8]| {
        let mut lines = near.split(|&byte| byte == b'\n');
        lines.any(|line| line.trim_ascii_start().starts_with(what))
    };
    let shares_line = near.windows(6).any(|text| text == b"} else")
        || !begins_line(b"else") && !begins_line(b"{");
    let last = text.rsplit(|&byte| byte == b'\n').next();
    let closes = last.and_then(|line| line.strip_suffix(b"}")) == Some(indentation);
    let parts: Vec<&[u8]> = match closes && shares_line {
        true => vec![
            b" else {",
            &inner,
            statement.as_bytes(),
            newline,
            indentation,
            b"}",
        ],
        false => vec![newline, indentation, b"else", &inner, statement.as_bytes()],
    };
    Edit::insert(span.end, parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_else(source: &str) -> String {
        let start = source.find("if").unwrap();
        let span = Span::new(start as u32, source.trim_end().len() as u32);
        let edit = insertion_as_else(source.as_bytes(), span, false, "in = 0;");
        let text = patchwright_text::apply_edits(source.as_bytes(), &[edit]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn an_else_stands_where_a_person_would_write_it() {
        assert_eq!(
            with_else("    if (a) {\n        b();\n    }\n"),
            "    if (a) {\n        b();\n    } else {\n        in = 0;\n    }\n"
        );
        assert_eq!(
            with_else("  if (a)\n    b();\n"),
            "  if (a)\n    b();\n  else\n    in = 0;\n"
        );
        assert_eq!(with_else("\tif (a) b();\n"), "\tif (a) b(); else in = 0;\n");
        assert_eq!(
            with_else("if (a)\n  {\n    b();\n  }\n"),
            "if (a)\n  {\n    b();\n  }\nelse\n  in = 0;\n"
        );
    }

    fn with_break(source: &str, statement: &str) -> String {
        let start = source.find(statement).unwrap();
        let span = Span::new(start as u32, (start + statement.len()) as u32);
        let edit = insertion_after(source.as_bytes(), span, false, "break;");
        let text = patchwright_text::apply_edits(source.as_bytes(), &[edit]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_break_stands_where_a_person_would_write_it() {
        assert_eq!(
            with_break("case 1:\n\ta();\ncase 2:", "a();"),
            "case 1:\n\ta();\n\tbreak;\ncase 2:"
        );
        assert_eq!(
            with_break("  a(); // one\n  case 2:", "a();"),
            "  a(); // one\n  break;\n  case 2:"
        );
        assert_eq!(
            with_break("case 1: a(); /* b */ case 2:", "a();"),
            "case 1: a(); break; /* b */ case 2:"
        );
        assert_eq!(
            with_break("case 1:\r\n a();\r\ncase 2:", "a();"),
            "case 1:\r\n a();\r\n break;\r\ncase 2:"
        );
    }
}
