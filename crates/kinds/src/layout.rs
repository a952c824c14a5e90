//! Lays out a statement that is inserted beside another one, put under a condition, or taken out.

use patchwright_csource::lex;
use patchwright_text::{Edit, Span};

/// How far round a statement the way in which a file is written is looked at. There are very many insertions, and sources of megabytes.
const NEAR: usize = 8 << 10;

/// The text round a part of a source.
fn nearby(source: &[u8], span: Span) -> &[u8] {
    let start = (span.start as usize).saturating_sub(NEAR);
    let end = (span.end as usize).saturating_add(NEAR);
    &source[start..end.min(source.len())]
}

/// Returns the line ending used around byte `at` of a source: `"\r\n"` or `"\n"`.
pub fn newline(source: &[u8], at: usize) -> &'static str {
    let is_end = |byte: &u8| *byte == b'\n';
    let behind = source[at..].iter().position(is_end).map(|end| at + end);
    let end = behind.or_else(|| source[..at].iter().rposition(is_end));
    match end {
        Some(end) if source[..end].ends_with(b"\r") => "\r\n",
        _ => "\n",
    }
}

/// Returns the edit that inserts `statement` before the one at `span`. The new statement gets a line of its own if the old
/// one begins its line. `is_body` says that the old one is the body of an `if` or a loop; then braces come round both.
pub fn insertion(source: &[u8], span: Span, is_body: bool, statement: &str) -> Edit {
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

/// Returns the edit that inserts `statement` behind the one at `span`. The new statement gets a line of its own, unless text
/// stands before the old one on its line. `is_body` says that the old one is the body of an `if` or a loop; then braces come
/// round both.
pub fn insertion_after(source: &[u8], span: Span, is_body: bool, statement: &str) -> Edit {
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
    let line_end = source[end..].iter().position(|&byte| byte == b'\n');
    let line_end = line_end.map_or(source.len(), |length| end + length);
    let rest = &source[end..line_end];
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    // A comment behind the statement stays there.
    let comment = rest.trim_ascii();
    let begin = end + (rest.len() - rest.trim_ascii_start().len());
    let stays = comment.is_empty()
        || lex::comment_end(source, begin)
            .is_some_and(|behind| (begin + comment.len()..=line_end).contains(&behind));
    let at = if stays { end + rest.len() } else { end };
    let newline = newline(source, start).as_bytes();
    // Further lines of the statement are indented like its first one.
    let own = format!("\n{}", String::from_utf8_lossy(indentation));
    let statement = statement.replace('\n', &own);
    let text = [newline, indentation, statement.as_bytes()].concat();
    Edit::insert(at as u32, text)
}

/// Returns one step of indentation in the style of `indentation`: a tab, four blanks or two blanks.
pub fn indentation_step(indentation: &[u8]) -> &'static [u8] {
    if indentation.contains(&b'\t') && !indentation.contains(&b' ') {
        b"\t"
    } else if indentation.len().is_multiple_of(4) {
        b"    "
    } else {
        b"  "
    }
}

/// Returns the edit that adds `statement` as the `else` of the `if` at `span`, which has none. Braces and line breaks follow the style of
/// nearby code.
pub fn insertion_as_else(source: &[u8], span: Span, _is_body: bool, statement: &str) -> Edit {
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

fn line_start(source: &[u8], at: usize) -> usize {
    source[..at]
        .iter()
        .rposition(|&c| c == b'\n')
        .map_or(0, |newline| newline + 1)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|c| matches!(c, b' ' | b'\t' | b'\r'))
}

/// Takes a statement out: with its line, if nothing else stands there.
pub fn delete_statement(source: &[u8], span: Span, is_body: bool) -> Edit {
    if is_body {
        return Edit::replace(span, ";");
    }
    let (start, end) = (span.start as usize, span.end as usize);
    let line = line_start(source, start);
    let after = source[end..]
        .iter()
        .position(|&c| c == b'\n')
        .map_or(source.len(), |n| end + n);
    if is_blank(&source[line..start]) && is_blank(&source[end..after]) {
        let next = (after + 1).min(source.len());
        Edit::replace(Span::new(line as u32, next as u32), "")
    } else {
        Edit::replace(span, "")
    }
}

/// Puts a statement under a condition: on a line of its own above it, one step further in, when the statement begins its
/// line. Several lines, and what an `else` could attach to, get braces.
pub fn guard_statement(source: &[u8], span: Span, is_body: bool, condition: &str) -> Edit {
    let (start, end) = (span.start as usize, span.end as usize);
    let text = &source[start..end];
    if is_body {
        let mut new = format!("{{ if ({condition}) ").into_bytes();
        new.extend_from_slice(text);
        new.extend_from_slice(b" }");
        return Edit::replace(span, new);
    }
    let line = line_start(source, start);
    let indent = &source[line..start];
    let is_block = text.first() == Some(&b'{');
    let in_lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // What begins a line may be a part of a string, of a macro or of a directive.
    let is_kept = |line: &&[u8]| {
        line.trim_ascii_end().ends_with(b"\\") || line.trim_ascii_start().starts_with(b"#")
    };
    let stays = in_lines.len() > 1 && in_lines.iter().any(is_kept);
    if !is_blank(indent) || is_block || stays {
        let mut new = format!("if ({condition}) ").into_bytes();
        new.extend_from_slice(text);
        return Edit::replace(span, new);
    }
    let newline = newline(source, span.start as usize).as_bytes();
    let step = indentation_step(indent);
    let needs_braces = in_lines.len() > 1;
    let mut new = format!("if ({condition})").into_bytes();
    if needs_braces {
        new.extend_from_slice(b" {");
    }
    new.extend_from_slice(newline);
    new.extend_from_slice(indent);
    for (number, line) in in_lines.into_iter().enumerate() {
        if number > 0 {
            new.push(b'\n');
        }
        if !is_blank(line) {
            new.extend_from_slice(step);
        }
        new.extend_from_slice(line);
    }
    if needs_braces {
        new.extend_from_slice(newline);
        new.extend_from_slice(indent);
        new.push(b'}');
    }
    Edit::replace(span, new)
}

/// Returns the text at `span` with the indentation of its first line removed from all further lines.
pub fn undented(source: &[u8], span: Span) -> String {
    let before = &source[..span.start as usize];
    let line = before.iter().rposition(|&byte| byte == b'\n');
    let line = line.map_or(0, |at| at + 1);
    let blanks = before[line..]
        .iter()
        .take_while(|byte| b" \t".contains(byte))
        .count();
    let indentation = String::from_utf8_lossy(&before[line..line + blanks]).into_owned();
    let text = String::from_utf8_lossy(&source[span.range()]).into_owned();
    text.replace(&format!("\n{indentation}"), "\n")
}

/// Puts a statement under a condition with another one as its `else`: each on a line of its own, when the statement begins its line and is one line.
pub fn choice_of_statements(
    source: &[u8],
    span: Span,
    is_body: bool,
    (condition, otherwise): (&str, &str),
) -> Edit {
    let own = String::from_utf8_lossy(&source[span.range()]);
    let line = line_start(source, span.start as usize);
    let indentation = &source[line..span.start as usize];
    if is_body || own.contains('\n') {
        let text = format!("{{ if ({condition}) {own} else {otherwise} }}");
        return Edit::replace(span, text);
    }
    if !is_blank(indentation) {
        let text = format!("if ({condition}) {own} else {otherwise}");
        return Edit::replace(span, text);
    }
    let newline = newline(source, span.start as usize);
    let step = String::from_utf8_lossy(indentation_step(indentation));
    let indentation = String::from_utf8_lossy(indentation);
    let inner = format!("{newline}{indentation}{step}");
    let text = format!("if ({condition}){inner}{own}{newline}{indentation}else{inner}{otherwise}");
    Edit::replace(span, text)
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
