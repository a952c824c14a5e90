//! Finds the functions about which a compiler complains.

use std::path::Path;

use patchwright_text::{LineMap, Span};

/// A file of which some functions are woven, with their lines.
pub struct WovenFile<'a> {
    /// Relative to the project's root.
    pub relative: &'a Path,
    /// Its text before it was woven; `#line` directives keep the numbers of lines.
    pub source: &'a [u8],
    /// Number, name and body of each woven function.
    pub functions: Vec<(u32, &'a str, Span)>,
}

/// Returns the number and the name of each woven function in whose lines `message` reports errors. An
/// error in the body of a macro is blamed on the functions that use the macro. An error outside of all
/// functions is blamed on the function that the compiler names (`FILE: In function 'NAME':`).
pub fn blamed_functions(message: &str, files: &[WovenFile<'_>]) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for (name, number, in_function) in blamed_places(message) {
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

/// Returns the file and the line of each error in a compiler's message, and the function that the
/// compiler names. For an error inside a macro it is the place where the macro is used.
pub fn blamed_places(message: &str) -> Vec<(&str, u32, &str)> {
    let mut found = Vec::new();
    let mut in_function = "";
    let mut lines = message.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        if let Some((_, rest)) = line.split_once(": In function ") {
            in_function = rest.trim_matches([':', '\'', '‘', '’']);
        }
        let Some((name, number)) = place_of_error(line) else {
            continue;
        };
        let (start, function) = (found.len(), in_function);
        // Notes behind a warning are about that.
        let mut is_of_error = true;
        while let Some(note) = lines.next_if(|line| place_of_error(line).is_none()) {
            is_of_error &= !note.contains(": warning:");
            let expansion = place_before(note, ": note: in expansion of macro");
            let expansion = expansion.filter(|_| is_of_error);
            found.extend(expansion.map(|(name, number)| (name, number, function)));
            if let Some((_, rest)) = note.split_once(": In function ") {
                in_function = rest.trim_matches([':', '\'', '‘', '’']);
            }
        }
        if found.len() == start {
            found.push((name, number, function));
        }
    }
    found
}

/// Returns the names that a compiler's message calls undeclared, each with the file and the line at which it is
/// first used. Compilers tell each of them once for each function.
pub fn undeclared_names(message: &str) -> Vec<(&str, u32, &str)> {
    let names = message.lines().filter_map(|line| {
        let (file, number) = place_before(line.trim_start(), ": error:")?;
        let (_, said) = line.split_once(": error:")?;
        let says_it = ["undeclared", "implicit declaration of function"];
        if !says_it.iter().any(|words| said.contains(words)) {
            return None;
        }
        let name = said
            .split(['\'', '‘', '’'])
            .nth(1)
            .filter(|name| !name.is_empty())?;
        Some((file, number, name))
    });
    names.collect()
}

fn place_of_error(line: &str) -> Option<(&str, u32)> {
    [": error:", ": fatal error:", ": undefined reference to "]
        .into_iter()
        .find_map(|mark| place_before(line, mark))
}

/// `FILE:LINE[:COLUMN]` before the mark.
fn place_before<'l>(line: &'l str, mark: &str) -> Option<(&'l str, u32)> {
    let mut parts = line[..line.find(mark)?].split(':');
    let name = parts.next()?;
    let number = parts.find_map(|part| part.trim().parse().ok())?;
    Some((name, number))
}

#[cfg(test)]
mod tests {
    #[test]
    fn undeclared_names_are_found_in_messages_of_both_compilers() {
        let message = "a.c: In function ‘f’:\na.c:3:9: error: ‘table’ undeclared (first use in this function)\n\
            b.c:7:1: error: use of undeclared identifier 'size'\n\
            c.c:1:2: error: implicit declaration of function ‘g’\nd.c:4:1: error: expected ‘;’ before ‘}’\n";
        let found = super::undeclared_names(message);
        assert_eq!(
            found,
            [("a.c", 3, "table"), ("b.c", 7, "size"), ("c.c", 1, "g")]
        );
    }

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
        assert_eq!(blamed("src/a.c:3: undefined reference to `x'"), f);
    }

    #[test]
    fn errors_in_the_body_of_a_macro_are_blamed_on_its_expansions() {
        let message = "first error: a.c:3:1: error: expected ';'\n  a.c:9:2: warning: unused\n\
             \x20 src/a.c:1705:31: error: lvalue required as unary '&' operand\n  1705 |   }}\n       | ^~~\n\
             \x20 src/a.c:9083:79: note: in expansion of macro 'COPY'\n  9083 | text\n\
             \x20 b.c:7: fatal error: no\nmake: *** [Makefile:726: a.o] Error 1\n";
        let found = blamed_places(message);
        assert!(found.contains(&("src/a.c", 9083, "")), "{found:?}");
        assert!(found.contains(&("b.c", 7, "")), "{found:?}");
        assert!(!found.contains(&("src/a.c", 1705, "")), "{found:?}");
    }

    #[test]
    fn notes_behind_a_warning_do_not_move_the_error_before_it() {
        let message = "a.c: In function 'f':\na.c:9:4: error: 'x' undeclared\n\
             a.c:9:4: note: each undeclared identifier is reported only once\na.c: In function 'g':\n\
             a.c:2:9: warning: unused value\na.c:30:5: note: in expansion of macro 'HALF'\n";
        assert_eq!(blamed_places(message), [("a.c", 9, "f")]);
    }
}
