//! Texts in another layout, and statements whatever their layout.

use crate::directive::{Piece, pieces};
use crate::token::{comment_end, skip_blank, step};

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
            let end = step(bytes, at);
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
        let comment = comment_end(bytes, at);
        let mut end = comment.unwrap_or_else(|| step(bytes, at));
        if comment.is_some() {
            kept.truncate(kept.trim_end_matches([' ', '\t']).len());
            let rest = &text[end..];
            let after = rest.trim_start_matches([' ', '\t', '\r']);
            if kept.ends_with('\n') && after.starts_with('\n') {
                end += rest.len() - after.len() + 1;
            }
        } else {
            kept.push_str(text.get(at..end).unwrap_or_default());
        }
        at = end;
    }
    kept
}

/// Returns the statements of a source as lists of tokens, without directives. A piece ends with a `;` outside of parentheses or at a
/// brace, so the head of an `if` or a loop forms one piece with a statement behind it.
pub fn statements(source: &str) -> Vec<Vec<&str>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut piece: Vec<&str> = Vec::new();
    let mut depth = 0_usize;
    for part in pieces(source.as_bytes()) {
        let Piece::Token(token) = part else { continue };
        let Some(token) = source.get(token.start..token.end()) else {
            continue;
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

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
                "for ( i = 0 ; i < 3 ; i ++ ) a = 2 ;"
            ]
        );
    }
}
