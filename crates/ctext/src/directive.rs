//! Directives of the preprocessor, and the text between them.

use std::borrow::Cow;
use std::ops::Range;

use crate::brackets;
use crate::token::{Kind, Token, Tokens, comment_end, scan, splice_end, without_splices};

/// A directive of the preprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'t> {
    /// Its bytes, from its `#` to the end of its last line. A comment that begins in it may have further lines.
    pub raw: &'t [u8],
    /// Offset of its `#`.
    pub start: usize,
}

impl<'t> Directive<'t> {
    /// Offset behind its last byte.
    pub fn end(&self) -> usize {
        self.start + self.raw.len()
    }

    /// Returns its name, such as `define`: empty for `#` alone, a number for a line marker.
    pub fn name(&self) -> Cow<'t, [u8]> {
        let name = self.name_token().map(|name| name.text());
        name.unwrap_or_default()
    }

    fn name_token(&self) -> Option<Token<'t>> {
        let name = Tokens::new(self.raw).nth(1);
        name.filter(|name| matches!(name.kind, Kind::Word | Kind::Number))
    }

    /// Returns the tokens behind its name.
    pub fn arguments(&self) -> impl Iterator<Item = Token<'t>> + use<'t> {
        Tokens::new(self.raw).skip(1 + usize::from(self.name_token().is_some()))
    }

    /// Returns its text without line splices and comments, with one space for all blanks.
    pub fn on_one_line(&self) -> String {
        let mut kept = Vec::with_capacity(self.raw.len());
        let mut at = 0;
        while at < self.raw.len() {
            let begin = at;
            if let Some(end) = splice_end(self.raw, at) {
                at = end;
            } else if let Some(end) = comment_end(self.raw, at) {
                kept.push(b' ');
                at = end;
            } else if self.raw[at].is_ascii_whitespace() {
                kept.push(b' ');
                at += 1;
            } else {
                (_, at) = scan(self.raw, at);
                kept.extend_from_slice(&without_splices(&self.raw[begin..at]));
            }
        }
        let text = String::from_utf8_lossy(&kept);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn opens(&self) -> bool {
        matches!(&*self.name(), b"if" | b"ifdef" | b"ifndef")
    }

    fn goes_on(&self) -> bool {
        matches!(&*self.name(), b"else" | b"elif" | b"elifdef" | b"elifndef")
    }

    fn closes(&self) -> bool {
        *self.name() == *b"endif"
    }
}

/// A token outside of directives, or a directive as a whole.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'t> {
    /// A token.
    Token(Token<'t>),
    /// A directive.
    Directive(Directive<'t>),
}

/// Returns the tokens and directives of a text, in order.
pub fn pieces(text: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut tokens = Tokens::new(text);
    std::iter::from_fn(move || {
        let token = tokens.next()?;
        if !token.begins_line || !token.is("#") && !token.is("%:") {
            return Some(Piece::Token(token));
        }
        let end = directive_end(text, token.end());
        tokens.skip_to(end);
        Some(Piece::Directive(Directive {
            raw: &text[token.start..end],
            start: token.start,
        }))
    })
}

/// Returns the directives of a text, in order.
pub fn directives(text: &[u8]) -> impl Iterator<Item = Directive<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Directive(directive) => Some(directive),
        Piece::Token(_) => None,
    })
}

/// The end of the line on which the rest of a directive stands.
fn directive_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        let blank = splice_end(text, at).or_else(|| comment_end(text, at));
        at = blank.unwrap_or_else(|| match text[at].is_ascii_whitespace() {
            true => at + 1,
            false => scan(text, at).1,
        });
    }
    at
}

/// What one `#line` directive says. The form `# 12 "f.y"` is one, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// Where the directive stands.
    pub range: Range<usize>,
    /// The line of the directive, counted from 1.
    pub at: u32,
    /// What the next line is called.
    pub next: u32,
    /// What the file is called from there on, as it is spelled between its quotation marks.
    pub file: Option<String>,
}

/// Returns the `#line` directives of a text, in order.
pub fn line_marks(text: &[u8]) -> Vec<LineMark> {
    let (mut line, mut counted) = (1, 0);
    let mut marks = Vec::new();
    for directive in directives(text) {
        let breaks = text[counted..directive.start].iter();
        line += breaks.filter(|&&c| c == b'\n').count() as u32;
        counted = directive.start;
        let mut said = Tokens::new(directive.raw).skip(1).peekable();
        if said.next_if(|token| token.is("line")).is_none()
            && said.peek().is_none_or(|token| token.kind != Kind::Number)
        {
            continue;
        }
        let number = said
            .next()
            .map(|token| String::from_utf8_lossy(&token.text()).into_owned());
        let Some(next) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        let file = said.next().filter(|token| token.kind == Kind::String);
        marks.push(LineMark {
            range: directive.start..directive.end(),
            at: line,
            next,
            file: file.map(|token| {
                let text = String::from_utf8_lossy(&token.text()).into_owned();
                text.trim_matches('"').to_owned()
            }),
        });
    }
    marks
}

/// Returns the directives of a text other than conditionals, each as a whole. Their effect lasts behind the text.
pub fn lasting_directives(text: &[u8]) -> Vec<&[u8]> {
    let lasting = directives(text).filter(|one| !one.opens() && !one.goes_on() && !one.closes());
    lasting
        .map(|directive| directive.raw.trim_ascii())
        .collect()
}

/// Splits a text into pieces that a conditional keeps or leaves out as a whole: the text before each directive, the directive
/// itself, and the text behind the last one.
fn parts(text: &[u8]) -> impl Iterator<Item = (&[u8], Option<Directive<'_>>)> {
    let mut from = 0;
    let directives: Vec<Directive<'_>> = directives(text).collect();
    let parts = directives.into_iter().map(Some).chain([None]);
    parts.map(move |directive| {
        let before = &text[from..directive.map_or(text.len(), |directive| directive.start)];
        from = directive.map_or(text.len(), |directive| directive.end());
        (before, directive)
    })
}

/// Returns the text without directives twice: with the first branch of each conditional, and with the last one (none if there is no
/// `#else`).
pub fn branches(text: &[u8]) -> [Vec<u8>; 2] {
    [true, false].map(|first| with_branches(text, first))
}

fn with_branches(text: &[u8], first: bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    // Whether each open condition's branch is kept.
    let mut open: Vec<bool> = Vec::new();
    for (before, directive) in parts(text) {
        if open.iter().all(|kept| *kept) {
            kept.extend_from_slice(before);
        }
        let Some(directive) = directive else { break };
        if directive.opens() {
            open.push(first);
        } else if directive.closes() {
            open.pop();
        } else if directive.goes_on()
            && let Some(kept) = open.last_mut()
        {
            *kept = !first && *directive.name() == *b"else";
        }
    }
    kept
}

/// Whether brackets match, commas aside, in both texts of [`branches`].
pub fn is_balanced_in_branches(text: &[u8]) -> bool {
    branches(text)
        .iter()
        .all(|text| brackets::is_balanced(text, true))
}

/// Returns the spans of text between conditional directives (`#if`, `#else`, `#endif` …). A group is compiled or skipped as a whole,
/// apart from groups inside it. Inner groups come before outer ones.
pub fn conditional_groups(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for directive in directives(text) {
        if (directive.closes() || directive.goes_on())
            && let Some(start) = open.pop()
        {
            found.push((start, directive.start));
        }
        if directive.opens() || directive.goes_on() {
            open.push(directive.end());
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
    let mut keep = |text: &[u8], drops: bool| match drops {
        true => kept.extend(text.iter().filter(|byte| **byte == b'\n')),
        false => kept.extend_from_slice(text),
    };
    for (before, directive) in parts(text) {
        keep(before, is_left_out);
        let Some(directive) = directive else { break };
        let mut drops = is_left_out;
        if directive.opens() {
            depth += 1;
        } else if directive.closes() {
            drops |= depth == 0;
            is_left_out &= depth > 0;
            depth = depth.saturating_sub(1);
        } else if directive.goes_on() && depth == 0 {
            drops = true;
            is_left_out = true;
        }
        keep(directive.raw, drops);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_begins_a_directive_only_where_a_line_begins() {
        let directives = |text: &str| -> Vec<String> {
            let found = directives(text.as_bytes());
            found.map(|directive| directive.on_one_line()).collect()
        };
        assert!(directives("a # b\nc \\\n#if X\n").is_empty());
        assert_eq!(directives(" /* c\n */ # if X\nb"), ["# if X"]);
        assert_eq!(directives("#if X /* two\nlines */ + 1\nb"), ["#if X + 1"]);
        assert_eq!(
            directives("#error don't\n#undef x // y \\\n z\n"),
            ["#error don't", "#undef x"]
        );
        assert_eq!(directives("%:de\\\nfine x  1\ny"), ["%:define x 1"]);
    }

    #[test]
    fn a_directive_has_a_name_and_arguments() {
        let read = |text: &'static str| {
            let directive = directives(text.as_bytes()).next().unwrap();
            let arguments: Vec<String> = directive
                .arguments()
                .map(|token| String::from_utf8_lossy(&token.text()).into_owned())
                .collect();
            (
                String::from_utf8_lossy(&directive.name()).into_owned(),
                arguments.join(" "),
            )
        };
        assert_eq!(
            read("# /* c */ pragma  omp for"),
            ("pragma".into(), "omp for".into())
        );
        assert_eq!(read("# 12 \"x.y\""), ("12".into(), "\"x.y\"".into()));
        assert_eq!(read("#\\\n un\\\ndef x"), ("undef".into(), "x".into()));
        assert_eq!(read("#"), (String::new(), String::new()));
    }

    #[test]
    fn line_directives_are_found_with_what_they_say() {
        let text = b"int a;\n#line 10 \"gram.y\"\nint b;\n/*\n#line 3\n*/\n# 7\n#if 1\n#  line 20\n#endif\n";
        let mark = |range, at, next, file: Option<&str>| LineMark {
            range,
            at,
            next,
            file: file.map(str::to_owned),
        };
        let expected = [
            mark(7..24, 2, 10, Some("gram.y")),
            mark(46..49, 7, 7, None),
            mark(56..66, 9, 20, None),
        ];
        assert_eq!(line_marks(text), expected);
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
    fn brackets_of_several_branches_are_balanced_if_those_of_each_are() {
        let ends = b"if (a) {\n#ifdef B\n  b();\n}\n#else\n  c();\n}\n#endif\nd();\n";
        assert!(is_balanced_in_branches(ends) && !brackets::is_balanced(ends, true));
        assert!(!is_balanced_in_branches(b"#if B\n{\n#endif\nd();\n"));
        assert!(is_balanced_in_branches(
            b"#if B\n{\n#endif\nd();\n#if B\n}\n#endif\n"
        ));
        assert!(!is_balanced_in_branches(
            b"{ d();\n#if B\n}\n#else\n#endif\n"
        ));
    }
}
