//! Only crate `ctext` splits the text of C.

use std::path::Path;

use crate::architecture::{assert_none, is_product, product_code, read, root, rust_files};

/// Files that ask for letters, digits and `_` themselves, each with the reason why what they read is no text of C.
const OTHER_TEXTS: &[(&str, &str)] = &[
    ("crates/cli/src/init/parts.rs", "names of tests"),
    (
        "crates/compare/src/mutate.rs",
        "the bytes of a program's inputs",
    ),
    (
        "crates/repair/src/declarations/evidence.rs",
        "what tests expect on standard output",
    ),
    (
        "crates/space/src/distant.rs",
        "what tests hand to the program",
    ),
];

/// The places of a file where it says by itself what a word of C is: letters and digits beside `_`. With `-` beside them
/// they are names of files or of tests.
fn own_words(text: &str) -> Vec<usize> {
    const NEAR: usize = 120;
    let places = text.match_indices("alphanumeric()");
    let places = places.filter(|(at, _)| {
        let rest = text[*at..].bytes().take(NEAR);
        let near: Vec<u8> = rest.take_while(|byte| *byte != b';').collect();
        let near = String::from_utf8_lossy(&near).replace("b'", "'");
        let before = text[..*at].rsplit([';', '\n']).next().unwrap_or_default();
        let asks = |said: &str| said.contains("'_'") || said.contains("\"_");
        (asks(&near) || asks(before)) && !near.contains("'-'") && !near.contains("-.")
    });
    places
        .map(|(at, _)| text[..at].matches('\n').count() + 1)
        .collect()
}

#[test]
fn only_ctext_says_what_a_word_of_c_is() {
    let mut complaints = Vec::new();
    let mut excused = Vec::new();
    for path in rust_files() {
        if !is_product(&path) || path.starts_with("crates/ctext") || path.starts_with("crates/tidy")
        {
            continue;
        }
        let found = own_words(&product_code(&path));
        let name = path.to_str().unwrap();
        if found.is_empty() {
            continue;
        }
        match OTHER_TEXTS.iter().any(|(known, _)| *known == name) {
            true => excused.push(name.to_owned()),
            false => complaints.extend(
                found
                    .iter()
                    .map(|line| format!("{name}:{line}: ask `ctext` what a word is")),
            ),
        }
    }
    for (known, _) in OTHER_TEXTS {
        if !excused.iter().any(|name| name == known) {
            complaints.push(format!("{known} needs no exception any more"));
        }
    }
    assert_none(complaints);
}

#[test]
fn a_word_of_ones_own_is_seen() {
    assert_eq!(
        own_words("let a = |c: u8| c.is_ascii_alphanumeric()\n || c == b'_';"),
        [1]
    );
    assert_eq!(own_words("\nlet a = c == '_' || c.is_alphanumeric();"), [2]);
    assert!(own_words("c.is_ascii_alphanumeric() || b\"._-\".contains(c)").is_empty());
    assert!(own_words("c.is_ascii_alphanumeric(); d == '_'").is_empty());
}

/// Where operators are written in the order in which they bind.
#[test]
fn precedence_is_said_once() {
    let table = Path::new("crates/semantics/src/precedence.rs");
    assert!(read(&root().join(table)).contains("Multiplicative"));
    let all = rust_files().into_iter();
    let product = all.filter(|path| is_product(path) && path != table);
    let told = product.filter(|path| {
        let code: String = product_code(path).split_whitespace().collect();
        [
            "\"*\"|\"/\"|\"%\"=>",
            "Mul|Div|Rem=>Precedence::Mul",
            "Mul|Div|Rem=>1",
        ]
        .iter()
        .any(|line| code.contains(line))
    });
    let complaints = told.map(|path| format!("{}: ask `Precedence`", path.display()));
    assert_none(complaints.collect());
}
