//! Puts many variants of a one-file program into one program: each name of file scope gets the variant's
//! number. Patchwright's own weaving is not used.

use std::{collections::BTreeSet, fmt::Write, path::Path, sync::Arc};

use patchwright_csource::lex::{self, Kind, Piece};
use patchwright_exec::Case;

const DRIVER: &str = include_str!("driver.c");

const HEADERS: &str = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #include <string.h>\n#include <sys/resource.h>\n#include <sys/time.h>\n#include <sys/wait.h>\n\
    #include <unistd.h>\n";

const KEYWORDS: &[&str] = &[
    "auto", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "main",
    "register", "short", "signed", "static", "struct", "typedef", "union", "unsigned", "void",
    "volatile",
];

/// Returns the names that a source declares at file scope, except `main`: names outside of all brackets,
/// and enumerators.
pub fn file_scope_names(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut depth, mut in_enum, mut wants_enumerator) = (0u32, false, false);
    for token in tokens(source) {
        let first = token.as_bytes()[0];
        match token {
            "{" | "(" | "[" => {
                // A function whose type is an enumeration is none.
                in_enum &= depth > 0 || token == "{";
                if token == "{" && depth == 0 && in_enum {
                    wants_enumerator = true;
                }
                depth += 1;
            }
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token == "}" {
                    (in_enum, wants_enumerator) = (false, false);
                }
            }
            "," => wants_enumerator = in_enum && depth == 1,
            ";" if depth == 0 => in_enum = false,
            _ if first.is_ascii_alphabetic() || first == b'_' => {
                if token == "enum" && depth == 0 {
                    in_enum = true;
                }
                let is_name = !KEYWORDS.contains(&token) && !token.ends_with("_t");
                if is_name && (depth == 0 || (in_enum && depth == 1 && wants_enumerator)) {
                    names.insert(token.to_owned());
                }
                wants_enumerator = false;
            }
            _ => {}
        }
    }
    names
}

/// Words and signs of a source, without comments, directives, strings and characters.
fn tokens(source: &str) -> Vec<&str> {
    let tokens = lex::pieces(source.as_bytes()).filter_map(|piece| match piece {
        Piece::Token(token) if !matches!(token.kind, Kind::String | Kind::Character) => {
            source.get(token.start..token.end())
        }
        _ => None,
    });
    tokens.collect()
}

/// Returns a program of all variants, to be run by the `main` of [`DRIVER`].
pub fn program(variants: &[String], names: &BTreeSet<String>, cases: &[&Arc<Case>]) -> String {
    let is_include = |line: &&str| line.trim_start().starts_with("#include");
    let mut text = String::from(HEADERS);
    for line in variants
        .iter()
        .take(1)
        .flat_map(|text| text.lines())
        .filter(is_include)
    {
        text.push_str(line);
        text.push('\n');
    }
    for (number, variant) in variants.iter().enumerate() {
        for name in names.iter().map(String::as_str).chain(["main"]) {
            let _ = writeln!(text, "#define {name} {name}_{number}");
        }
        let _ = writeln!(text, "#line 1 \"{number}\"");
        for line in variant.lines() {
            if !is_include(&line) {
                text.push_str(line);
            }
            text.push('\n');
        }
        for name in names.iter().map(String::as_str).chain(["main"]) {
            let _ = writeln!(text, "#undef {name}");
        }
    }
    text.push_str("#line 1 \"driver.c\"\n");
    text.push_str(DRIVER);
    for (number, case) in cases.iter().enumerate() {
        let _ = write!(
            text,
            "static char *rerun_arguments_{number}[] = {{{}",
            quoted(case.program.as_os_str().as_encoded_bytes())
        );
        for argument in &case.arguments {
            let _ = write!(text, ", {}", quoted(argument.as_encoded_bytes()));
        }
        text.push_str(", 0};\n");
    }
    text.push_str("static const struct rerun_case rerun_cases[] = {\n");
    for (number, case) in cases.iter().enumerate() {
        let input = case.stdin.as_deref().map_or("0".to_owned(), path);
        let _ = writeln!(
            text,
            "  {{rerun_arguments_{number}, {}, {input}, {}, {}, {}}},",
            case.arguments.len() + 1,
            quoted(&case.expected_stdout),
            case.expected_stdout.len(),
            case.expected_code
        );
    }
    let _ = writeln!(
        text,
        "}};\nstatic const int rerun_case_count = {};\nstatic const int rerun_variant_count = {};\n\
         static int rerun_variant(int variant, int argc, char **argv) {{\n  int (*volatile run)() = 0;\n  switch (variant) {{",
        cases.len(),
        variants.len()
    );
    for number in 0..variants.len() {
        let _ = writeln!(
            text,
            "  case {number}: run = (int (*)())main_{number}; break;"
        );
    }
    text.push_str("  }\n  return run(argc, argv);\n}\n");
    text
}

fn path(path: &Path) -> String {
    quoted(path.as_os_str().as_encoded_bytes())
}

fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        let _ = write!(text, "\\{byte:03o}");
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::file_scope_names;

    #[test]
    fn names_of_file_scope_are_found_and_others_are_not() {
        let source = "#include <stdio.h>\n/* no */ enum { MOST = 16, LEAST };\nstruct ring { int first; };\n\
            static const char *const days[] = {\"a\", \"b\"};\nstatic int add(int value) { int sum = MOST; return sum; }\n\
            enum colour { RED = 1, GREEN } shade;\nstatic enum colour mix(enum colour by) { switch (by) { default: return by; } }\n\
            int main(void) { return add(1); }\n";
        let names: Vec<String> = file_scope_names(source).into_iter().collect();
        assert_eq!(
            names,
            [
                "GREEN", "LEAST", "MOST", "RED", "add", "colour", "days", "mix", "ring", "shade"
            ]
        );
    }
}
