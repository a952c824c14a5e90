//! Compares preprocessed sources, function by function.

use std::collections::BTreeSet;
use std::ops::Range;

use patchwright_csource::{Function, lex};
use patchwright_text::{Digest, Edit, Hasher, LineMap, Span};

/// A preprocessed source: the tokens that come from the source itself, with their lines, and a digest of
/// the headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The lines that come from the source itself, one behind the other.
    text: Vec<u8>,
    /// Their tokens.
    tokens: Vec<Token>,
    /// What comes from headers, blanks and lines aside.
    headers: Digest,
    /// The files that it names.
    pub files: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    /// In [`Expanded::text`].
    span: Span,
    /// The line of the source on which it stands; for what a macro expands to, that of its name.
    line: u32,
}

/// A pair of outermost braces: the tokens of `{` and `}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    open: usize,
    close: usize,
}

/// The tokens of one line of a group.
type Line = (u32, Range<usize>);

impl Expanded {
    /// Reads the output of a preprocessor (`-E`): `# LINE "FILE" FLAGS`, and text.
    pub fn read(output: &[u8]) -> Self {
        let (mut text, mut tokens, mut files) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut headers = Hasher::new();
        let mut source: Option<String> = None;
        let (mut is_own, mut line) = (false, 0u32);
        for piece in output.split(|byte| *byte == b'\n') {
            if let Some((next, name)) = marker(piece) {
                let source = source.get_or_insert_with(|| name.clone());
                (is_own, line) = (*source == name, next);
                files.insert(name);
                continue;
            }
            if is_own {
                own_line(piece, line, &mut text, &mut tokens);
            } else if !piece.trim_ascii().is_empty() {
                headers.field(piece.trim_ascii());
            }
            line = line.saturating_add(1);
        }
        Expanded {
            text,
            tokens,
            headers: headers.finish(),
            files,
        }
    }

    /// Whether both have the same tokens, headers included. Lines may differ.
    pub fn is_same_program(&self, other: &Self) -> bool {
        self.headers == other.headers
            && self.are_same(&(0..self.tokens.len()), other, &(0..other.tokens.len()))
    }

    /// Returns the pairs of groups whose contents differ, or `None` if anything outside of groups
    /// differs.
    pub fn differing_groups(&self, other: &Self) -> Option<Vec<(Group, Group)>> {
        let (own, others) = (self.groups()?, other.groups()?);
        if self.headers != other.headers || own.len() != others.len() {
            return None;
        }
        let (mut at, mut other_at) = (0, 0);
        let mut differing = Vec::new();
        for (group, in_other) in own.into_iter().zip(others) {
            let (outside, others) = (at..group.open, other_at..in_other.open);
            if !self.are_same(&outside, other, &others) {
                return None;
            }
            let (inside, others) = (group.open..group.close, in_other.open..in_other.close);
            if !self.are_same(&inside, other, &others) {
                differing.push((group, in_other));
            }
            (at, other_at) = (group.close, in_other.close);
        }
        let (rest, others) = (at..self.tokens.len(), other_at..other.tokens.len());
        self.are_same(&rest, other, &others).then_some(differing)
    }

    /// Returns the only function of the source whose body the group is.
    pub fn function(&self, group: Group, functions: &[Function], lines: &LineMap) -> Option<usize> {
        let (open, close) = (self.tokens[group.open].line, self.tokens[group.close].line);
        let mut found = functions.iter().enumerate().filter(|(_, function)| {
            let body = function.body_span;
            lines.line(body.start) == open && lines.line(body.end.saturating_sub(1)) == close
        });
        let (index, _) = found.next()?;
        // Others on the same lines: which of them is not known.
        found.next().is_none().then_some(index)
    }

    /// Returns edits of whole lines in the body of a function of `source` that turn it into `group.1`
    /// of `other`. It is `None` if directives are among the lines.
    pub fn edits(
        &self,
        group: (Group, Group),
        other: &Self,
        (source, lines, body): (&[u8], &LineMap, Span),
    ) -> Option<Vec<Edit>> {
        let (own, others) = (self.lines(group.0), other.lines(group.1));
        let words = |text: &Self, lines: &[Line]| -> Vec<Vec<Vec<u8>>> {
            let line = |(_, tokens): &Line| tokens.clone().map(|at| text.word(at).to_vec());
            lines.iter().map(|known| line(known).collect()).collect()
        };
        let (own_words, other_words) = (words(self, &own), words(other, &others));
        let inside = Span::new(body.start + 1, body.end.checked_sub(1)?);
        let starts = |index: usize| {
            let at = own.get(index).and_then(|(line, _)| lines.line_span(*line));
            at.map_or(inside.end, |at| at.start)
                .clamp(inside.start, inside.end)
        };
        let mut edits = Vec::new();
        for op in similar::capture_diff_slices(similar::Algorithm::Myers, &own_words, &other_words)
        {
            if let similar::DiffOp::Equal { .. } = op {
                continue;
            }
            let (old, new) = (op.old_range(), op.new_range());
            let start = starts(old.start);
            let end = if old.is_empty() {
                start
            } else {
                starts(old.end)
            };
            let span = Span::new(start, end.max(start));
            let span = trimmed_end(source, span);
            if has_directive(span.slice(source)?) {
                return None;
            }
            let text = other.rendered(&others[new])?;
            edits.push(Edit::replace(span, text));
        }
        Some(edits)
    }

    /// Returns the single edit that replaces the whole body by the contents of `group`, or `None` if
    /// the body has directives.
    pub fn body_edit(&self, group: Group, body: Span) -> Option<Edit> {
        let text = self.rendered(&self.lines(group))?;
        let inside = Span::new(body.start + 1, body.end.checked_sub(1)?);
        Some(Edit::replace(inside, text))
    }

    fn word(&self, token: usize) -> &[u8] {
        self.tokens[token]
            .span
            .slice(&self.text)
            .unwrap_or_default()
    }

    fn are_same(&self, own: &Range<usize>, other: &Self, others: &Range<usize>) -> bool {
        own.len() == others.len()
            && own
                .clone()
                .zip(others.clone())
                .all(|(own, others)| self.word(own) == other.word(others))
    }

    /// `None` when brackets are not balanced.
    fn groups(&self) -> Option<Vec<Group>> {
        let (mut found, mut stack) = (Vec::new(), Vec::new());
        for at in 0..self.tokens.len() {
            match self.word(at) {
                bracket @ (b"(" | b"[" | b"{") => stack.push((bracket[0], at)),
                bracket @ (b")" | b"]" | b"}") => {
                    let (opened, open) = stack.pop()?;
                    if !matches!(
                        (opened, bracket[0]),
                        (b'(', b')') | (b'[', b']') | (b'{', b'}')
                    ) {
                        return None;
                    }
                    if stack.is_empty() && opened == b'{' {
                        found.push(Group { open, close: at });
                    }
                }
                _ => {}
            }
        }
        stack.is_empty().then_some(found)
    }

    /// The lines between the braces of a group.
    fn lines(&self, group: Group) -> Vec<Line> {
        let mut found: Vec<Line> = Vec::new();
        for at in group.open + 1..group.close {
            let line = self.tokens[at].line;
            match found.last_mut() {
                Some((last, tokens)) if *last == line => tokens.end = at + 1,
                _ => found.push((line, at..at + 1)),
            }
        }
        found
    }

    /// Lines as they can stand in a source; `None` when there are directives among them.
    fn rendered(&self, lines: &[Line]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for (number, (_, tokens)) in lines.iter().enumerate() {
            let first = self.tokens[tokens.start].span;
            let last = self.tokens[tokens.end - 1].span;
            let line = Span::new(first.start, last.end).slice(&self.text)?;
            if tokens.clone().any(|at| self.word(at).starts_with(b"#")) {
                return None;
            }
            if number > 0 {
                text.push(b'\n');
            }
            text.extend_from_slice(line);
        }
        Some(text)
    }
}

/// The line that follows a marker, and its file.
fn marker(line: &[u8]) -> Option<(u32, String)> {
    let line = std::str::from_utf8(line).ok()?;
    let (number, rest) = line.strip_prefix("# ")?.split_once(" \"")?;
    let (name, _) = rest.rsplit_once('"')?;
    Some((number.parse().ok()?, name.to_owned()))
}

fn own_line(piece: &[u8], line: u32, text: &mut Vec<u8>, tokens: &mut Vec<Token>) {
    let start = text.len();
    text.extend_from_slice(piece);
    text.push(b'\n');
    let end = start + piece.len();
    let is_directive = piece.trim_ascii_start().starts_with(b"#");
    let mut at = start;
    loop {
        at += lex::skip_blank(&text[at..end], 0);
        if at >= end {
            return;
        }
        let next = match is_directive {
            true => end,
            // Whether `- -` or `--` is written makes a difference.
            false if is_operator(&text[at]) => {
                let length = text[at..end].iter().take_while(|byte| is_operator(byte));
                at + length.count()
            }
            false => at + lex::step(&text[at..end], 0).max(1),
        };
        let next = next.min(end);
        let span = Span::new(at as u32, next as u32);
        tokens.push(Token { span, line });
        at = next;
    }
}

fn is_operator(byte: &u8) -> bool {
    b"+-*/%&|^<>=!.#".contains(byte)
}

fn trimmed_end(source: &[u8], span: Span) -> Span {
    let text = span.slice(source).unwrap_or_default();
    Span::new(span.start, span.start + text.trim_ascii_end().len() as u32)
}

/// Whether a line of the text is a directive.
fn has_directive(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii_start().starts_with(b"#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Expanded {
        let text = format!(
            "# 0 \"a.c\"\n# 1 \"a.c\"\n# 1 \"/h/s.h\" 1 3 4\nint s;\n# 2 \"a.c\" 2\n{body}"
        );
        Expanded::read(text.as_bytes())
    }

    #[test]
    fn the_same_tokens_are_the_same_program_wherever_they_stand() {
        assert!(read("int a;\nint b;\n").is_same_program(&read("int   a ;\n\n\nint b;\n")));
        assert!(!read("int a;\n").is_same_program(&read("int b;\n")));
        assert!(!read("char *s = \"a  b\";\n").is_same_program(&read("char *s = \"a b\";\n")));
        assert!(!read("int a = - -1;\n").is_same_program(&read("int a = --1;\n")));
    }

    #[test]
    fn only_the_insides_of_braces_may_differ() {
        let before = read("int f(void) { return 1; }\nint t[] = { 1 };\n");
        let groups = |text: &str| {
            let groups = before.differing_groups(&read(text));
            groups.map(|groups| groups.len())
        };
        assert_eq!(
            groups("int f(void) { return 2; }\nint t[] = { 1 };\n"),
            Some(1)
        );
        assert_eq!(
            groups("int f(void) { return 2; }\nint t[] = { 2, 3 };\n"),
            Some(2)
        );
        assert_eq!(groups("int f(int) { return 1; }\nint t[] = { 1 };\n"), None);
        assert_eq!(groups("int f(void) { return 1; }\n"), None);
        assert_eq!(groups("int f(void) { return 1; \nint t[] = { 1 };\n"), None);
    }

    #[test]
    fn edits_replace_the_lines_of_the_source_that_become_others() {
        let source = b"#include <s.h>\nint f(void) {\n  int x = 0;\n  x += ONE;\n  return x;\n}\n";
        let lines = LineMap::new(source);
        let body = Span::new(27, source.len() as u32 - 1);
        assert_eq!(&source[27..28], b"{");
        let before = read("int f(void) {\n  int x = 0;\n  x += 1;\n  return x;\n}\n");
        let after = read("int f(void) {\n  int x = 0;\n  x += (1 + 1);\n  return x;\n}\n");
        let groups = before.differing_groups(&after).unwrap();
        let edits = before
            .edits(groups[0], &after, (source, &lines, body))
            .unwrap();
        let [edit] = &edits[..] else {
            panic!("{edits:?}")
        };
        assert_eq!(edit.span.slice(source).unwrap(), b"  x += ONE;");
        assert_eq!(edit.text, b"x += (1 + 1);");
        let whole = after.body_edit(groups[0].1, body).unwrap();
        assert_eq!(whole.text, b"int x = 0;\nx += (1 + 1);\nreturn x;");
        let pragma = read("int f(void) {\n#pragma GCC poison x\n}\n");
        let groups = before.differing_groups(&pragma).unwrap();
        assert_eq!(pragma.body_edit(groups[0].1, body), None);
    }
}
