//! Which functions a compiler complains about.

use std::path::Path;

use patchwright_text::{LineMap, Span};

/// A file of which some functions are woven.
pub struct WovenFile<'a> {
    /// Relative to the project's root.
    pub relative: &'a Path,
    /// Its text before it was woven; `#line` directives keep the numbers of lines.
    pub source: &'a [u8],
    /// Number, name and body of each woven function.
    pub functions: Vec<(u32, &'a str, Span)>,
}

/// The woven functions in whose lines `message` reports errors: number and name, each once. An error
/// in no function's lines, as in a macro's text, is that of the function in which the compiler says
/// it is (`FILE: In function 'NAME':`).
pub fn blamed_functions(message: &str, files: &[WovenFile<'_>]) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut in_function = "";
    for line in message.lines() {
        if let Some((_, rest)) = line.split_once(": In function ") {
            in_function = rest.trim_matches([':', '\'', '‘', '’']);
        }
        let Some((name, number)) = place_of_error(line) else {
            continue;
        };
        let mut blamed = Vec::new();
        let mut named = Vec::new();
        for file in files {
            if Path::new(name).file_name() != file.relative.file_name() {
                continue;
            }
            let lines = LineMap::new(file.source);
            for &(id, function, body) in &file.functions {
                if (lines.line(body.start)..=lines.line(body.end)).contains(&number) {
                    blamed.push((id, function));
                } else if function == in_function {
                    named.push((id, function));
                }
            }
        }
        if blamed.is_empty() {
            blamed = named;
        }
        for (id, function) in blamed {
            if !found.iter().any(|(known, _)| *known == id) {
                found.push((id, function.to_owned()));
            }
        }
    }
    found
}

/// `FILE:LINE[:COLUMN]: error: …`
fn place_of_error(line: &str) -> Option<(&str, u32)> {
    let at = line
        .find(": error:")
        .or_else(|| line.find(": fatal error:"))?;
    let mut parts = line[..at].rsplit(':');
    let numbers: Vec<&str> = parts.by_ref().take(2).collect();
    let number = numbers.iter().rev().find_map(|n| n.parse().ok())?;
    Some((line[..at].split(':').next()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_blamed_on_the_function_in_whose_lines_they_are() {
        let files = [WovenFile {
            relative: Path::new("src/a.c"),
            source: b"int f(void)\n{\n return 1;\n}\nint g(void) { return 2; }\n",
            functions: vec![(3, "f", Span::new(12, 26)), (4, "g", Span::new(39, 52))],
        }];
        let blamed = |message| blamed_functions(message, &files);
        let f = [(3, "f".to_owned())];
        assert_eq!(blamed("../src/a.c:3:4: error: no\na.c:4: error: no"), f);
        assert_eq!(blamed("a.c:5:1: fatal error: x")[0].1, "g");
        // A macro's text stands outside of functions; the compiler says where it is used.
        let macros = "a.c: In function ‘g’:\na.c:9:4: error: no\na.c:5:1: note: here";
        assert_eq!(blamed(macros)[0].1, "g");
        assert_eq!(blamed("b.c:3:4: error: no\na.c:3:4: warning: w"), []);
    }
}
