//! Where a statement stands that is inserted beside another one.

use patchwright_text::{Edit, Span};

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
        let newline: &[u8] = if source.windows(2).any(|pair| pair == b"\r\n") {
            b"\r\n"
        } else {
            b"\n"
        };
        new.extend_from_slice(newline);
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
    let newline: &[u8] = if source.windows(2).any(|two| two == b"\r\n") {
        b"\r\n"
    } else {
        b"\n"
    };
    let text = [newline, indentation, statement.as_bytes()].concat();
    Edit::insert(at as u32, text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
