//! Walks over C text by tokens: blanks, comments, literals, line splices and directives.

use std::ops::Range;

/// Returns the offset of the first byte at or after `at` that is not part of a blank, a comment or a line
/// splice.
pub fn skip_blank(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => at += 1,
            Some(b'\\') => match splice(text, at) {
                Some(after) => at = after,
                None => return at,
            },
            Some(b'/') if text.get(at + 1) == Some(&b'*') => at = end_of_comment(text, at),
            Some(b'/') if text.get(at + 1) == Some(&b'/') => at = end_of_comment(text, at),
            _ => return at,
        }
    }
}

fn splice(text: &[u8], at: usize) -> Option<usize> {
    match (text.get(at + 1), text.get(at + 2)) {
        (Some(b'\n'), _) => Some(at + 2),
        (Some(b'\r'), Some(b'\n')) => Some(at + 3),
        _ => None,
    }
}

fn end_of_comment(text: &[u8], at: usize) -> usize {
    let mut i = at + 2;
    if text[at + 1] == b'*' {
        while i + 1 < text.len() {
            if text[i] == b'*' && text[i + 1] == b'/' {
                return i + 2;
            }
            i += 1;
        }
        return text.len();
    }
    while i < text.len() && text[i] != b'\n' {
        match splice(text, i).filter(|_| text[i] == b'\\') {
            Some(after) => i = after,
            None => i += 1,
        }
    }
    i
}

/// Returns the offset behind the token, comment or single blank that begins at `at`. Identifiers,
/// numbers, literals and comments are one step each; each byte of punctuation is a step.
pub fn step(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'/' if matches!(text.get(at + 1), Some(b'*' | b'/')) => end_of_comment(text, at),
        quote @ (b'"' | b'\'') => {
            let mut i = at + 1;
            while i < text.len() {
                match text[i] {
                    b'\\' => i += 2,
                    b'\n' => return i,
                    c if c == quote => return i + 1,
                    _ => i += 1,
                }
            }
            text.len()
        }
        c if is_word(c) => {
            let mut i = at + 1;
            while i < text.len() && is_word(text[i]) {
                i += 1;
            }
            i
        }
        _ => at + 1,
    }
}

/// Whether `c` can be part of an identifier or a number.
pub fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c >= 0x80
}

/// Returns the spans of the arguments of the call whose `(` stands at `text[open]`, and the offset behind
/// the matching `)`. It is `None` if no `)` matches.
pub fn arguments(text: &[u8], open: usize) -> Option<(Vec<(usize, usize)>, usize)> {
    let mut depth = 0usize;
    let mut i = open;
    let mut start = open + 1;
    let mut found = Vec::new();
    while i < text.len() {
        match text[i] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    found.push((start, i));
                    return Some((found, i + 1));
                }
            }
            b',' if depth == 1 => {
                found.push((start, i));
                start = i + 1;
            }
            _ => {}
        }
        i = step(text, i);
    }
    None
}

/// Whether parentheses, brackets and braces match, and no comma stands outside of them. With `commas`
/// such commas are allowed.
pub fn is_balanced(text: &[u8], commas: bool) -> bool {
    let mut open = Vec::new();
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            c @ (b'(' | b'[' | b'{') => open.push(c),
            b')' if open.pop() != Some(b'(') => return false,
            b']' if open.pop() != Some(b'[') => return false,
            b'}' if open.pop() != Some(b'{') => return false,
            b',' if open.is_empty() && !commas => return false,
            _ => {}
        }
        i = step(text, i);
    }
    open.is_empty()
}

/// Whether brackets match ([`is_balanced`], commas aside) in both texts of [`branches`].
pub fn is_balanced_in_branches(text: &[u8]) -> bool {
    branches(text).iter().all(|text| is_balanced(text, true))
}

/// Returns the text without directives twice: with the first branch of each conditional, and with the
/// last one (none if there is no `#else`).
pub fn branches(text: &[u8]) -> [Vec<u8>; 2] {
    [true, false].map(|first| with_branches(text, first))
}

/// Returns the names of the directives in a text, such as `define`, in order.
pub fn directives(text: &[u8]) -> Vec<&[u8]> {
    pieces(text).filter_map(|(_, name)| name).collect()
}

/// What one `#line` directive says: the line that it stands on, the number of the next line, and the name
/// of the file, if it gives one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// The line of the directive, counted from 1.
    pub at: u32,
    /// What the next line is called.
    pub next: u32,
    /// What the file is called from there on.
    pub file: Option<String>,
}

/// Returns the `#line` directives of a text, in order. The form `# 12 "f.y"` counts, too.
pub fn line_marks(text: &[u8]) -> Vec<LineMark> {
    let (mut line, mut counted) = (1, 0);
    let mut marks = Vec::new();
    for (piece, name) in pieces(text).filter(|(_, name)| name.is_some()) {
        let breaks = text[counted..piece.start].iter();
        line += breaks.filter(|&&c| c == b'\n').count() as u32;
        counted = piece.start;
        let name = name.unwrap_or_default();
        let words = String::from_utf8_lossy(&text[piece]).into_owned();
        let words = words.trim_start_matches('#').trim_start();
        let told = match name {
            b"line" => words.trim_start_matches("line").trim_start(),
            _ if name.first().is_some_and(u8::is_ascii_digit) => words,
            _ => continue,
        };
        let (number, rest) = told.split_once(char::is_whitespace).unwrap_or((told, ""));
        if let Ok(next) = number.trim().parse() {
            let file = rest.split('"').nth(1).map(str::to_owned);
            marks.push(LineMark {
                at: line,
                next,
                file,
            });
        }
    }
    marks
}

/// Returns the directives of a text other than conditionals, each as a whole. Their effect lasts behind
/// the text.
pub fn lasting_directives(text: &[u8]) -> Vec<&[u8]> {
    let is_condition =
        |name: &[u8]| name.starts_with(b"if") || name.starts_with(b"el") || name == b"endif";
    let lasting = pieces(text).filter(|(_, name)| name.is_some_and(|name| !is_condition(name)));
    lasting.map(|(piece, _)| text[piece].trim_ascii()).collect()
}

fn with_branches(text: &[u8], first: bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    // Whether each open condition's branch is kept.
    let mut open: Vec<bool> = Vec::new();
    for (piece, name) in pieces(text) {
        match name {
            Some(name) if name.starts_with(b"if") => open.push(first),
            Some(b"endif") => {
                open.pop();
            }
            Some(name) if name.starts_with(b"el") => {
                if let Some(kept) = open.last_mut() {
                    *kept = !first && name == b"else";
                }
            }
            Some(_) => {}
            None if open.iter().all(|kept| *kept) => kept.extend_from_slice(&text[piece]),
            None => {}
        }
    }
    kept
}

/// Directives, with their names, and what stands between them, token by token.
fn pieces(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Option<&[u8]>)> {
    let (mut at, mut line_begins) = (0, true);
    std::iter::from_fn(move || {
        let start = at;
        let mut name = None;
        match *text.get(at)? {
            b'#' if line_begins => {
                (name, at) = {
                    let (name, end) = directive(text, at);
                    (Some(name), end)
                }
            }
            b'\n' => {
                line_begins = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'/' if matches!(text.get(at + 1), Some(b'*' | b'/')) => at = end_of_comment(text, at),
            _ => {
                line_begins = false;
                at = step(text, at);
            }
        }
        Some((start..at, name))
    })
}

/// Returns the spans of text between conditional directives (`#if`, `#else`, `#endif` …). A group is
/// compiled or skipped as a whole, apart from groups inside it. Inner groups come before outer ones.
pub fn conditional_groups(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (piece, name) in pieces(text) {
        let Some(name) = name else { continue };
        if (name == b"endif" || name.starts_with(b"el"))
            && let Some(start) = open.pop()
        {
            found.push((start, piece.start));
        }
        if name.starts_with(b"if") || name.starts_with(b"el") {
            open.push(piece.end);
        }
    }
    found
}

/// Returns `text`, a part of a source, without what belongs to an `#if` that was opened before it: `#else` and its branch, `#endif`.
/// The part must begin in a branch that is compiled. Removed lines become empty, so line numbers stay.
pub fn without_open_conditionals(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    // Conditions opened inside; while text is left out, those inside of it.
    let (mut depth, mut is_left_out) = (0usize, false);
    for (piece, name) in pieces(text) {
        let mut drops = is_left_out;
        if let Some(name) = name {
            if name.starts_with(b"if") {
                depth += 1;
            } else if name == b"endif" {
                drops |= depth == 0;
                is_left_out &= depth > 0;
                depth = depth.saturating_sub(1);
            } else if name.starts_with(b"el") && depth == 0 {
                drops = true;
                is_left_out = true;
            }
        }
        let text = &text[piece];
        match drops {
            true => kept.extend(text.iter().filter(|byte| **byte == b'\n')),
            false => kept.extend_from_slice(text),
        }
    }
    kept
}

/// The name of the directive whose `#` is at `at`, and the end of its last line.
fn directive(text: &[u8], at: usize) -> (&[u8], usize) {
    let start = skip_horizontal(text, at + 1);
    let mut end = start;
    while end < text.len() && is_word(text[end]) {
        end += 1;
    }
    let name = &text[start..end];
    while end < text.len() && text[end] != b'\n' {
        end = splice(text, end)
            .filter(|_| text[end] == b'\\')
            .unwrap_or_else(|| step(text, end));
    }
    (name, end)
}

fn skip_horizontal(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// Returns the identifiers and keywords of `text`, in order.
pub fn words(text: &[u8]) -> Vec<String> {
    let placed = words_with_places(text);
    placed.into_iter().map(|(word, _)| word).collect()
}

/// Returns the identifiers and keywords of `text` in order, each with its byte offset.
pub fn words_with_places(text: &[u8]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let next = step(text, i);
        if is_word(text[i]) && !text[i].is_ascii_digit() {
            found.push((String::from_utf8_lossy(&text[i..next]).into_owned(), i));
        }
        i = next;
    }
    found
}

/// Returns the words and signs of a text with their byte offsets. A sign is one byte. Blanks and comments
/// are skipped.
pub fn tokens(text: &str) -> Vec<(&str, usize)> {
    let bytes = text.as_bytes();
    let (mut at, mut found) = (0, Vec::new());
    loop {
        at = skip_blank(bytes, at);
        if at >= bytes.len() {
            return found;
        }
        let end = step(bytes, at).min(bytes.len());
        found.extend(text.get(at..end).map(|token| (token, at)));
        at = end;
    }
}

/// Returns the text on one line. A comment or a line break becomes one blank, or none beside a bracket
/// and before a comma or semicolon. Blanks within a line and literals stay.
pub fn on_one_line(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut line = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = skip_blank(bytes, at);
        if end == at {
            // A line splice inside of a word or a literal is left as it is.
            let end = step(bytes, at).min(bytes.len());
            line.push_str(text.get(at..end).unwrap_or_default());
            at = end;
            continue;
        }
        let gap = &text[at..end];
        at = end;
        let follows = bytes.get(at);
        if line.is_empty() || follows.is_none() {
            continue;
        }
        let is_plain = gap.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
        let is_tight = line.ends_with(['(', '['])
            || follows.is_some_and(|byte| matches!(byte, b')' | b']' | b',' | b';'));
        match (is_plain, is_tight) {
            (true, _) => line.push_str(gap),
            (false, true) => {}
            (false, false) => line.push(' '),
        }
    }
    line
}

/// Returns the text in its layout, without comments, the blanks before them, and lines that have only
/// comments.
pub fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = step(bytes, at).min(bytes.len());
        let token = text.get(at..end).unwrap_or_default();
        if token.starts_with("//") || token.starts_with("/*") {
            kept.truncate(kept.trim_end_matches([' ', '\t']).len());
            let rest = &text[end..];
            let after = rest.trim_start_matches([' ', '\t', '\r']);
            if kept.ends_with('\n') && after.starts_with('\n') {
                end += rest.len() - after.len() + 1;
            }
        } else {
            kept.push_str(token);
        }
        at = end;
    }
    kept
}

/// Returns the statements of a source as lists of words and signs, without directives and comments. A
/// piece ends with a `;` outside of parentheses or at a brace, so the head of an `if` or a loop forms one
/// piece with a statement behind it.
pub fn statements(source: &str) -> Vec<Vec<&str>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut piece: Vec<&str> = Vec::new();
    let mut depth = 0_usize;
    for (range, directive) in pieces(source.as_bytes()) {
        let Some(token) = source.get(range).filter(|_| directive.is_none()) else {
            continue;
        };
        let is_comment = token.starts_with("//") || token.starts_with("/*");
        if is_comment || token.trim().is_empty() {
            continue;
        }
        match token {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_brace = matches!(token, "{" | "}");
        if is_brace {
            depth = 0;
        } else {
            piece.push(token);
        }
        if is_brace || token == ";" && depth == 0 {
            found.push(std::mem::take(&mut piece));
        }
    }
    found.push(piece);
    found.retain(|piece| !piece.is_empty());
    found
}

/// How often a preprocessed text defines each tag of a structure, union or enumeration.
pub(crate) fn defined_tags(text: &str) -> std::collections::HashMap<&str, usize> {
    let mut found = std::collections::HashMap::new();
    // What has been seen of a definition: the keyword, then its tag.
    let (mut after_keyword, mut tag) = (false, None);
    let mut attribute = false;
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut line_begins = true;
    while at < bytes.len() {
        let c = bytes[at];
        if c == b'\n' {
            line_begins = true;
            at += 1;
            continue;
        }
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if c == b'#' && line_begins {
            at += text[at..].find('\n').unwrap_or(bytes.len() - at);
            continue;
        }
        line_begins = false;
        if c == b'"' || c == b'\'' {
            at = literal_end(bytes, at);
            (after_keyword, tag) = (false, None);
            continue;
        }
        if c.is_ascii_alphabetic() || c == b'_' {
            let start = at;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            match &text[start..at] {
                _ if attribute => {}
                "struct" | "union" | "enum" => (after_keyword, tag) = (true, None),
                "__attribute__" | "__attribute" if after_keyword && tag.is_none() => {
                    attribute = true
                }
                word if after_keyword && tag.is_none() => tag = Some(word),
                _ => (after_keyword, tag) = (false, None),
            }
            continue;
        }
        at += 1;
        if attribute {
            depth += usize::from(c == b'(');
            depth -= usize::from(c == b')').min(depth);
            attribute = depth > 0;
            continue;
        }
        if let (b'{', Some(tag)) = (c, tag) {
            *found.entry(tag).or_default() += 1;
        }
        (after_keyword, tag) = (false, None);
    }
    found
}

/// The place behind a literal that begins at `at`.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != bytes[at] && bytes[end] != b'\n' {
        end += 1 + usize::from(bytes[end] == b'\\');
    }
    (end + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_are_found_with_what_they_say() {
        let text = b"int a;\n#line 10 \"gram.y\"\nint b;\n/*\n#line 3\n*/\n# 7\n#if 1\n#  line 20\n#endif\n";
        let mark = |at, next, file: Option<&str>| LineMark {
            at,
            next,
            file: file.map(str::to_owned),
        };
        let expected = [
            mark(2, 10, Some("gram.y")),
            mark(7, 7, None),
            mark(9, 20, None),
        ];
        assert_eq!(line_marks(text), expected);
    }

    #[test]
    fn layout_and_comments_do_not_change_what_a_text_says() {
        let laid_out = "f (a, // first\n   b /* second */\n   + \"/* c */\" );";
        assert_eq!(on_one_line(laid_out), "f (a, b + \"/* c */\" );");
        assert_eq!(on_one_line("if (x)\r\n  y; // end\n"), "if (x) y;");
        assert_eq!(on_one_line("a  =  b;"), "a  =  b;");
        let lines = "if (x) // why\n  /* so */\n  y; /* end */";
        assert_eq!(without_comments(lines), "if (x)\n  y;");
        let words = |text| -> Vec<String> {
            let tokens = tokens(text).into_iter();
            tokens.map(|(token, _)| token.to_owned()).collect()
        };
        assert_eq!(words(laid_out), words("f(a, b + \"/* c */\");"));
    }

    #[test]
    fn statements_are_found_however_they_are_laid_out() {
        let source = "#define X 3;\nint a = 1; /* b; */\nvoid f(void) {\n  for (i = 0; i < 3; i++)\n    a\n      = 2;\n}\n";
        let found: Vec<String> = statements(source)
            .iter()
            .map(|piece| piece.join(" "))
            .collect();
        assert_eq!(
            found,
            [
                "int a = 1 ;",
                "void f ( void )",
                "for ( i = 0 ; i < 3 ; i + + ) a = 2 ;"
            ]
        );
    }

    #[test]
    fn definitions_of_tags_are_counted_in_all_places() {
        let text = "# 1 \"a.c\"\n#define X struct m { int a; };\nstruct s { int a; }; struct s x;\n\
                    enum __attribute__((packed)) e { A };\nint f(struct s { char c; } *p, struct t *q) \
                    { return sizeof(union u { int i; }) + '{'; }\nchar *z = \"struct q {\";";
        let found = defined_tags(text);
        let counts = ["s", "e", "u", "t", "q", "m"].map(|tag| found.get(tag).copied());
        assert_eq!(counts, [Some(2), Some(1), Some(1), None, None, None]);
    }

    #[test]
    fn comments_and_splices_are_blank() {
        let text = b"  /* a */ // b \\\n still b\n \\\n x";
        assert_eq!(text[skip_blank(text, 0)], b'x');
    }

    #[test]
    fn arguments_are_split_at_outer_commas_only() {
        let text = b"(a, f(b, c), \"x,)\", ',')z";
        let (found, end) = arguments(text, 0).expect("closed");
        assert_eq!(found.len(), 4);
        assert_eq!(text[end], b'z');
    }

    #[test]
    fn branches_of_conditions_that_were_opened_before_are_left_out() {
        let without = |text: &str| {
            let kept = without_open_conditionals(text.as_bytes());
            String::from_utf8(kept).expect("the same characters")
        };
        assert_eq!(
            without("int f(int n)\n#else\nint f(n)\n#if A\nint n;\n#endif\n#endif\n{"),
            "int f(int n)\n\n\n\n\n\n\n{"
        );
        assert_eq!(
            without("int f(n) int n;\n#endif\n{"),
            "int f(n) int n;\n\n{"
        );
        let balanced = "int f(\n#if A\nint n\n#else\nlong n\n#endif\n) /* #else\n */ {";
        assert_eq!(without(balanced), balanced);
    }

    #[test]
    fn balance_sees_through_literals() {
        assert!(is_balanced(b"a[(1)] + ')'", false));
        assert!(!is_balanced(b"a, b", false));
        assert!(!is_balanced(b"a)(", true));
    }

    #[test]
    fn brackets_of_several_branches_are_balanced_if_those_of_each_are() {
        let ends = b"if (a) {\n#ifdef B\n  b();\n}\n#else\n  c();\n}\n#endif\nd();\n";
        assert!(is_balanced_in_branches(ends) && !is_balanced(ends, true));
        assert!(!is_balanced_in_branches(b"#if B\n{\n#endif\nd();\n"));
        assert!(is_balanced_in_branches(
            b"#if B\n{\n#endif\nd();\n#if B\n}\n#endif\n"
        ));
        assert!(!is_balanced_in_branches(
            b"{ d();\n#if B\n}\n#else\n#endif\n"
        ));
    }
}
