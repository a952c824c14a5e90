//! Decides whether a candidate is what a developer wrote, apart from layout, comments, and brackets and
//! braces without effect.

use std::collections::BTreeSet;

use patchwright_repair::likelihood::tokens::{is_name, is_number, placed_tokens, tokens};
use patchwright_text::Span;
use tree_sitter::{Node, Parser};

/// How a candidate equals the developer's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    /// The same words and signs.
    Exactly,
    /// The same in another spelling, such as `!p` for `p == NULL`.
    Respelled,
}

/// What is put in the place of a statement or a condition has so many words and signs before and behind the change at most.
const NEAR: usize = 60;

/// A function before and after a change, to compare candidates with.
pub struct Wanted<'t> {
    before: &'t [u8],
    /// The words and signs of the function before, brackets and braces aside, each with where it begins and ends.
    old: Vec<(usize, usize)>,
    new: Vec<&'t [u8]>,
    /// So many are the same at the beginning, and at the end.
    begin: usize,
    end: usize,
    /// The words that stand near the change after it.
    new_words: BTreeSet<&'t [u8]>,
    exact: Vec<u8>,
    respelled: Vec<u8>,
    parser: Parser,
}

fn is_bracket(token: &[u8]) -> bool {
    matches!(token, b"(" | b")" | b"{" | b"}")
}

/// A word or number that another spelling keeps.
fn is_kept(token: &[u8]) -> bool {
    let is_left_out = matches!(
        token,
        b"NULL" | b"nullptr" | b"true" | b"false" | b"0" | b"1"
    );
    (is_name(token) || is_number(token) || token.starts_with(b"\"")) && !is_left_out
}

impl<'t> Wanted<'t> {
    /// Prepares the change from one text of a function to another.
    pub fn new(before: &'t [u8], after: &'t [u8]) -> Self {
        let placed: Vec<(&[u8], usize)> = placed_tokens(before)
            .into_iter()
            .filter(|(token, _)| !is_bracket(token))
            .collect();
        let new: Vec<&[u8]> = tokens(after)
            .into_iter()
            .filter(|token| !is_bracket(token))
            .collect();
        let old = placed
            .iter()
            .map(|(token, at)| (*at, at + token.len()))
            .collect();
        let begin = placed
            .iter()
            .zip(&new)
            .take_while(|((a, _), b)| a == *b)
            .count();
        let end = placed.iter().rev().zip(new.iter().rev());
        let end = end.take_while(|((a, _), b)| a == *b).count();
        // What both begin and end with alike may overlap.
        let behind = new.len() - end;
        let (first, last) = (begin.min(behind), begin.max(behind));
        let near = first.saturating_sub(NEAR)..(last + NEAR).min(new.len());
        let new_words = new[near].iter().filter(|token| is_kept(token));
        let new_words = new_words.copied().collect();
        let mut parser = parser();
        let [exact, respelled] =
            [false, true].map(|respelled| normal(&mut parser, after, respelled));
        Wanted {
            before,
            old,
            new,
            begin,
            end,
            new_words,
            exact,
            respelled,
            parser,
        }
    }

    /// Returns the span in the old text that contains what the change removes, and where it inserts.
    pub fn place(&self) -> Span {
        // What both begin and end with alike may overlap.
        let first = self.begin.min(self.old.len().saturating_sub(self.end));
        let last = self.old.len().saturating_sub(self.end).max(self.begin);
        let start = first.checked_sub(1).map_or(0, |at| self.old[at].1);
        let end = self
            .old
            .get(last)
            .map_or(self.before.len(), |token| token.0);
        Span::new(start.min(end) as u32, start.max(end) as u32)
    }

    /// How many words and signs stand before and behind a place, if something there can be the change.
    fn around(&self, span: Span) -> Option<(usize, usize)> {
        let (start, end) = (span.start as usize, span.end as usize);
        let ahead = self.old.partition_point(|token| token.1 <= start);
        let behind = self.old.len() - self.old.partition_point(|token| token.0 < end);
        let is_there =
            ahead <= self.begin && behind <= self.end && ahead + behind <= self.new.len();
        (end <= self.before.len() && is_there).then_some((ahead, behind))
    }

    /// Whether a replacement of `span` can be the change.
    pub fn can_be(&self, span: Span) -> bool {
        self.around(span).is_some()
    }

    /// Whether the function after the change has all names of a text.
    pub fn has_names_of(&self, text: &str) -> bool {
        let tokens = tokens(text.as_bytes()).into_iter();
        let mut names = tokens.filter(|token| is_kept(token));
        names.all(|name| self.new_words.contains(name))
    }

    /// Decides whether the old text with `text` in place of `span` is the new text.
    pub fn is(&mut self, span: Span, text: &[u8]) -> Option<Same> {
        let (ahead, behind) = self.around(span)?;
        let new = &self.new[ahead..self.new.len() - behind];
        // Most are told apart by a word that they lack.
        let readable = std::str::from_utf8(text).ok()?;
        let lacks = |token: &&&[u8]| {
            std::str::from_utf8(token).is_ok_and(|token| !readable.contains(token))
        };
        if new
            .iter()
            .filter(|token| is_kept(token))
            .any(|token| lacks(&token))
        {
            return None;
        }
        let kept = |tokens: &[&'_ [u8]]| -> Vec<Vec<u8>> {
            let kept = tokens.iter().filter(|token| is_kept(token));
            let mut kept: Vec<Vec<u8>> = kept.map(|token| token.to_vec()).collect();
            kept.sort_unstable();
            kept
        };
        if kept(&tokens(text)) != kept(new) {
            return None;
        }
        let (start, end) = (span.start as usize, span.end as usize);
        let whole = [&self.before[..start], text, &self.before[end..]].concat();
        if normal(&mut self.parser, &whole, false) == self.exact {
            return Some(Same::Exactly);
        }
        (normal(&mut self.parser, &whole, true) == self.respelled).then_some(Same::Respelled)
    }
}

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .expect("the grammar is of the library's version");
    parser
}

/// A text as a tree in brackets, in which layout, comments, brackets and braces are no more. `respelled` also takes several spellings of one thing
/// together.
fn normal(parser: &mut Parser, text: &[u8], respelled: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    match parser.parse(text, None) {
        Some(tree) => write(tree.root_node(), text, respelled, &mut out),
        None => out.extend_from_slice(text),
    }
    out
}

fn write(node: Node<'_>, text: &[u8], respelled: bool, out: &mut Vec<u8>) {
    let own = &text[node.byte_range()];
    match node.kind() {
        "comment" => return,
        "string_literal" | "char_literal" | "number_literal" | "null" | "true" | "false" => {
            return leaf(own, respelled, out);
        }
        _ => {}
    }
    if node.child_count() == 0 {
        return leaf(own, respelled, out);
    }
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node
        .children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect();
    let named: Vec<Node<'_>> = children
        .iter()
        .filter(|child| child.is_named())
        .copied()
        .collect();
    match (node.kind(), &named[..]) {
        ("parenthesized_expression", [only]) => return write(*only, text, respelled, out),
        ("compound_statement", [only]) if is_body(node) && only.kind() != "declaration" => {
            return write(*only, text, respelled, out);
        }
        _ => {}
    }
    let operator = node.child_by_field_name("operator");
    let operator = operator
        .map(|operator| &text[operator.byte_range()])
        .unwrap_or_default();
    let side = |name: &str| {
        let mut side = Vec::new();
        if let Some(node) = node.child_by_field_name(name) {
            write(node, text, respelled, &mut side);
        }
        side
    };
    if node.kind() == "binary_expression" {
        let (left, right) = (side("left"), side("right"));
        let together = |sign: &[u8], one: &[u8], other: &[u8]| {
            [b"(", sign, b" ", one, b" ", other, b")"].concat()
        };
        // `a && (b && c)` is `(a && b) && c`.
        if matches!(operator, b"&&" | b"||") {
            let head = [b"(", operator, b" "].concat();
            let bare = |side: &[u8]| match side.strip_prefix(&head[..]) {
                Some(rest) => rest[..rest.len() - 1].to_vec(),
                None => side.to_vec(),
            };
            out.extend(together(operator, &bare(&left), &bare(&right)));
            return;
        }
        if respelled {
            let is_zero = |side: &[u8]| side == b"0";
            match operator {
                b">" => return out.extend(together(b"<", &right, &left)),
                b">=" => return out.extend(together(b"<=", &right, &left)),
                b"==" if is_zero(&right) => return out.extend([b"(! ", &left[..], b")"].concat()),
                b"==" if is_zero(&left) => return out.extend([b"(! ", &right[..], b")"].concat()),
                b"!=" if is_zero(&right) => return out.extend(left),
                b"!=" if is_zero(&left) => return out.extend(right),
                b"==" | b"!=" if right < left => {
                    return out.extend(together(operator, &right, &left));
                }
                _ => {}
            }
        }
        out.extend(together(operator, &left, &right));
        return;
    }
    if respelled {
        match (node.kind(), operator) {
            ("unary_expression", b"!") => {
                return out.extend([b"(! ", &side("argument")[..], b")"].concat());
            }
            ("update_expression", _) => {
                return out.extend([b"(", operator, b" ", &side("argument")[..], b")"].concat());
            }
            ("assignment_expression", b"+=" | b"-=") if side("right") == b"1" => {
                let sign: &[u8] = if operator == b"+=" { b"++" } else { b"--" };
                return out.extend([b"(", sign, b" ", &side("left")[..], b")"].concat());
            }
            _ => {}
        }
    }
    out.push(b'(');
    out.extend_from_slice(node.kind().as_bytes());
    let is_error = node.is_error();
    for child in children {
        let is_punctuation = matches!(child.kind(), "(" | ")" | "{" | "}" | ";" | ",");
        if is_punctuation && !is_error {
            continue;
        }
        out.push(b' ');
        write(child, text, respelled, out);
    }
    out.push(b')');
}

/// Whether braces stand where one statement could stand.
fn is_body(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "if_statement" | "else_clause" | "while_statement" | "for_statement" | "do_statement"
        )
    })
}

fn leaf(own: &[u8], respelled: bool, out: &mut Vec<u8>) {
    let own = match own {
        b"NULL" | b"nullptr" | b"false" | b"'\\0'" | b"0L" | b"0U" | b"0u" if respelled => b"0",
        b"true" if respelled => b"1",
        own => own,
    };
    out.extend_from_slice(own);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "int f(struct item *p, int n)\n{\n  if (n > 9)\n    return 0;\n  free(p);\n  return n;\n}\n";

    /// `part` of the function replaced by `by` is compared with it replaced by `developer`'s text.
    fn same(part: &str, by: &str, developer: &str) -> Option<Same> {
        let start = BEFORE.find(part).unwrap();
        let after = BEFORE.replacen(part, developer, 1);
        let mut wanted = Wanted::new(BEFORE.as_bytes(), after.as_bytes());
        let span = Span::new(start as u32, (start + part.len()) as u32);
        assert!(wanted.place().start as usize <= start + part.len());
        wanted.is(span, by.as_bytes())
    }

    #[test]
    fn layout_comments_brackets_and_braces_make_no_difference() {
        let exactly = Some(Same::Exactly);
        assert_eq!(same("n > 9", "n>=9", "n >= 9"), exactly);
        assert_eq!(
            same("n > 9", "n > 9 && p", "(n > 9) /* why */ && (p)"),
            exactly
        );
        assert_eq!(
            same("free(p);", "if (p) free(p);", "if (p) {\n    free(p);\n  }"),
            exactly
        );
        assert_eq!(same("n > 9", "a && b && c", "a && (b && c)"), exactly);
    }

    #[test]
    fn brackets_that_mean_something_make_a_difference() {
        assert_eq!(same("n > 9", "a + b * c", "(a + b) * c"), None);
        assert_eq!(same("n > 9", "f(a)", "f[a]"), None);
        assert_eq!(
            same(
                "free(p);",
                "if (p) free(p); n = 0;",
                "if (p) { free(p); n = 0; }"
            ),
            None
        );
    }

    #[test]
    fn other_spellings_are_told_apart_from_the_same_text() {
        let respelled = Some(Same::Respelled);
        assert_eq!(same("n > 9", "n > 9 && p", "n > 9 && p != NULL"), respelled);
        assert_eq!(same("n > 9", "!p", "p == NULL"), respelled);
        assert_eq!(same("n > 9", "9 <= n", "n >= 9"), respelled);
        assert_eq!(
            same("free(p);", "n++; free(p);", "++n; free(p);"),
            respelled
        );
        assert_eq!(same("n > 9", "n > 9 && q", "n > 9 && p != NULL"), None);
    }

    #[test]
    fn a_statement_that_stands_twice_afterwards_is_found() {
        let once = format!("{{\n{}}}\n", "  step(n);\n".repeat(100));
        let twice = format!("{{\n{}}}\n", "  step(n);\n".repeat(101));
        let mut wanted = Wanted::new(once.as_bytes(), twice.as_bytes());
        let exactly = Some(Same::Exactly);
        assert_eq!(wanted.is(Span::new(2, 2), b"  step(n);\n"), exactly);
        assert!(wanted.has_names_of("step(n)"));
    }

    #[test]
    fn a_change_at_another_place_is_another_one() {
        let after = BEFORE.replacen("return n;", "return n + 1;", 1);
        let mut wanted = Wanted::new(BEFORE.as_bytes(), after.as_bytes());
        let at = BEFORE.find("return 0;").unwrap();
        assert_eq!(
            wanted.is(Span::new(at as u32, at as u32 + 9), b"return n + 1;"),
            None
        );
        let at = BEFORE.find("return n;").unwrap();
        let exactly = Some(Same::Exactly);
        assert_eq!(
            wanted.is(Span::new(at as u32, at as u32 + 9), b"return n + 1;"),
            exactly
        );
        assert_eq!(
            wanted.is(Span::new(at as u32 + 7, at as u32 + 8), b"n + 1"),
            exactly
        );
    }
}
