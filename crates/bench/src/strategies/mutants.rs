//! Makes mutants of a source: one operator or number is replaced.

use patchwright_csource::lex::{Kind, Piece, Token, pieces};

/// A source with one change.
pub struct Mutant {
    /// The whole text.
    pub text: String,
    /// The line of the change, from 1.
    pub line: usize,
    /// What became what.
    pub change: String,
}

const OPERATORS: [(&str, &str); 14] = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    ("++", "--"),
    (" += ", " -= "),
    ("(!", "("),
];

/// Returns `count` mutants, spread evenly over all places. They are the same in each run.
pub fn mutants(source: &str, count: usize) -> Vec<Mutant> {
    let all = places(source);
    let count = count.min(all.len());
    (0..count)
        .map(|at| {
            let (from, old, new) = &all[at * all.len() / count];
            let text = format!("{}{new}{}", &source[..*from], &source[from + old.len()..]);
            Mutant {
                line: source[..*from].matches('\n').count() + 1,
                change: format!("`{}` → `{}`", old.trim(), new.trim()),
                text,
            }
        })
        .collect()
}

/// Where something can be changed: the offset, what is there, and what may be.
fn places(source: &str) -> Vec<(usize, String, String)> {
    let mut tokens: Vec<(usize, Token<'_>)> = Vec::new();
    for piece in pieces(source.as_bytes()) {
        match piece {
            Piece::Token(token) => tokens.push((token.start, token)),
            Piece::Directive(directive) if *directive.name() == *b"include" => {}
            Piece::Directive(directive) => {
                let inner = directive.arguments();
                tokens.extend(inner.map(|token| (directive.start + token.start, token)));
            }
        }
    }
    let mut all = Vec::new();
    // The source with `x` for what is no code.
    let blank = |byte: u8| {
        if byte.is_ascii_whitespace() {
            byte
        } else {
            b'x'
        }
    };
    let mut plain: Vec<u8> = source.bytes().map(blank).collect();
    for (at, token) in tokens {
        if matches!(token.kind, Kind::String | Kind::Character) {
            continue;
        }
        plain[at..at + token.raw.len()].copy_from_slice(token.raw);
        let text = String::from_utf8_lossy(token.raw);
        if let (Kind::Number, Ok(number)) = (token.kind, text.parse::<u32>()) {
            all.push((at, number.to_string(), (number + 1).to_string()));
        }
    }
    let plain = String::from_utf8_lossy(&plain);
    for (old, new) in OPERATORS {
        let found = plain.match_indices(old);
        all.extend(found.map(|(at, _)| (at, old.to_owned(), new.to_owned())));
    }
    all.retain(|(from, old, _)| source[*from..].starts_with(old.as_str()));
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_and_numbers_are_changed_and_no_text() {
        let source = "#include <a3.h>\n/* 1 + 1 */\nint f(int a1)\n{\n    return a1 < 7 ? '+' : \" 5 + \"[a1];\n}\n";
        let all = mutants(source, 10);
        let changes: Vec<(usize, &str)> = all
            .iter()
            .map(|one| (one.line, one.change.as_str()))
            .collect();
        assert_eq!(changes, [(5, "`<` → `<=`"), (5, "`7` → `8`")]);
        assert!(all[0].text.contains("a1 <= 7"), "{}", all[0].text);
    }
}
