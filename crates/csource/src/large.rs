//! Finds functions whose syntax trees are too large. Clang indents each level of an expression one step further, so an
//! expression with thousands of levels has a dump of gigabytes. Such a function is left out, and the rest of its file is read.

use patchwright_text::Span;

use patchwright_ctext::{self as lex, Kind, Piece};

/// Bytes of a dump that are printed for a body that is nested so deeply, as a factor of the square of its levels.
const BYTES: u64 = 90;
/// A body with a larger dump is not even tried.
const LARGEST: u64 = 1 << 30;
/// Bodies with fewer levels are not what a dump fails for.
const LEAST: u64 = 200;

/// A source whose too large function bodies are empty. Everything else stands where it stood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduced {
    /// The text; `None` if it is that of the file.
    pub(crate) text: Option<Vec<u8>>,
    /// The bodies that were left out, from `{` to `}`.
    left_out: Vec<Span>,
    bodies: Vec<Body>,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    span: Span,
    /// How deeply an expression or a statement in it is nested, at most.
    levels: u64,
}

impl Reduced {
    /// The text without the bodies that are certainly too large.
    pub(crate) fn new(source: &[u8]) -> Reduced {
        let mut reduced = Reduced {
            bodies: bodies(source),
            ..Reduced::default()
        };
        while reduced
            .largest()
            .is_some_and(|body| body.levels.pow(2).saturating_mul(BYTES) > LARGEST)
        {
            reduced.leave_out_largest(source);
        }
        reduced
    }

    fn largest(&self) -> Option<Body> {
        let rest = self
            .bodies
            .iter()
            .filter(|body| !self.is_left_out(body.span));
        rest.max_by_key(|body| body.levels).copied()
    }

    /// Leaves out the most deeply nested body that is left. Returns whether there was a body for which the parser may have failed.
    pub(crate) fn leave_out_largest(&mut self, source: &[u8]) -> bool {
        match self.largest().filter(|body| body.levels >= LEAST) {
            Some(body) => {
                self.leave_out(body.span, source);
                true
            }
            None => false,
        }
    }

    /// Leaves out the body around this line, from 1; tells whether there is one.
    pub(crate) fn leave_out_at(&mut self, line: u32, source: &[u8]) -> bool {
        let lines = source.split_inclusive(|&byte| byte == b'\n');
        let before: usize = lines
            .take(line.saturating_sub(1) as usize)
            .map(<[u8]>::len)
            .sum();
        let end = source[before..].iter().position(|&byte| byte == b'\n');
        let end = before + end.unwrap_or(source.len() - before);
        let line = Span::new(before as u32, end as u32);
        let mut around = self
            .bodies
            .iter()
            .filter(|body| body.span.overlaps(line) && !self.is_left_out(body.span));
        // Of several on one line the one that is nested most.
        let found = around
            .by_ref()
            .max_by_key(|body| body.levels)
            .map(|body| body.span);
        match found {
            Some(body) => {
                self.leave_out(body, source);
                true
            }
            None => false,
        }
    }

    fn leave_out(&mut self, body: Span, source: &[u8]) {
        let text = self.text.get_or_insert_with(|| source.to_vec());
        let inside = body.start as usize + 1..body.end as usize - 1;
        for byte in &mut text[inside] {
            // Lines stay lines.
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        self.left_out.push(body);
    }

    /// Whether this body was left out.
    pub(crate) fn is_left_out(&self, body: Span) -> bool {
        self.left_out.contains(&body)
    }
}

/// The bodies of functions, as far as that is seen without a parser: braces at the outermost level behind a parenthesis, or behind the
/// declarations of old parameters.
fn bodies(source: &[u8]) -> Vec<Body> {
    let mut found = Vec::new();
    // Each bracket that is open, with the levels that the operators and brackets around it and in it are worth.
    let mut open: Vec<u64> = Vec::new();
    let mut begin = None;
    let mut levels = 0;
    let mut last = 0;
    // A directive ends with its line, and opens and closes nothing.
    for piece in lex::pieces(source) {
        let Piece::Token(token) = piece else { continue };
        let (at, byte) = (token.start, token.raw[0]);
        match byte {
            b'(' | b'[' | b'{' => {
                if open.is_empty() && byte == b'{' && matches!(last, b')' | b';') {
                    begin = Some(at);
                    levels = 0;
                }
                open.push(1);
            }
            b')' | b']' | b'}' => {
                open.pop();
                if let (Some(start), b'}', true) = (begin, byte, open.is_empty()) {
                    let span = Span::new(start as u32, at as u32 + 1);
                    found.push(Body { span, levels });
                    begin = None;
                }
            }
            b',' | b';' => {
                if let Some(own) = open.last_mut() {
                    *own = 1;
                }
            }
            _ if token.kind == Kind::Sign => {
                if let Some(own) = open.last_mut() {
                    *own += token.raw.len() as u64;
                }
            }
            _ => {}
        }
        if begin.is_some() {
            levels = levels.max(open.iter().sum());
        }
        last = byte;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_body_that_is_nested_deeply_is_left_out() {
        let deep = format!(
            "int f(int x) {{ return {}x{}; }}\n",
            "(".repeat(6000),
            ")".repeat(6000)
        );
        let source = format!(
            "#define M(a) {{ a\n{deep}int g(void)\n{{ return 1 + 2; }}\nstruct s {{ int a; }} t = {{ 1 }};\n"
        );
        let reduced = Reduced::new(source.as_bytes());
        let text = String::from_utf8(reduced.text.clone().unwrap()).unwrap();
        assert_eq!(text.len(), source.len());
        assert!(
            text.contains("{ return 1 + 2; }") && !text.contains("((((x"),
            "{text}"
        );
        let body = text.find("int f(int x) {").unwrap() as u32 + 13;
        let end = text.find("}\nint g").unwrap() as u32 + 1;
        assert!(reduced.is_left_out(Span::new(body, end)));
        assert!(Reduced::new(b"int g(void) { return 1; }").text.is_none());
    }

    #[test]
    fn long_lists_are_not_nested_and_long_sums_are() {
        let levels = |text: String| bodies(text.as_bytes())[0].levels;
        let list = format!(
            "int f(void) {{ int a[] = {{ {} }}; return a[0]; }}",
            "1 | 2, ".repeat(5000)
        );
        assert!(levels(list) < 20);
        let sum = format!("int f(a) int a; {{ return a{}; }}", " + a".repeat(5000));
        assert!(levels(sum) > 5000);
    }

    #[test]
    fn the_body_around_a_line_can_be_left_out() {
        let source = b"int f(void) {\n  return 1;\n}\nint g(void) {\n  return 2;\n}\n";
        let mut reduced = Reduced::new(source);
        assert!(reduced.leave_out_at(5, source));
        assert_eq!(
            reduced.text.as_deref(),
            Some(&b"int f(void) {\n  return 1;\n}\nint g(void) {\n           \n}\n"[..])
        );
        assert!(!reduced.leave_out_at(5, source));
        assert!(!reduced.leave_out_largest(source));
    }
}
