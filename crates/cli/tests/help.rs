//! `--help`, `--help-all`, manual pages and completions.
#![allow(clippy::disallowed_methods, reason = "tests read what was written")]

use std::{collections::BTreeSet, fs};

use crate::common::{Place, stdout};

const COMMANDS: [&str; 10] = [
    "repair",
    "run",
    "ir",
    "slice",
    "localize",
    "prove",
    "validate",
    "compare",
    "complexity",
    "regression",
];

fn printed(place: &Place, arguments: &[&str]) -> String {
    let mut command = place.patchwright(arguments);
    let output = command.env("COLUMNS", "80").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    stdout(&output)
}

/// Words that begin with `--`.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "`[]<>=,.;:()'\"".contains(c));
    let flags = words.filter(|word| word.starts_with("--") && word.len() > 2);
    flags.map(str::to_owned).collect()
}

#[test]
fn help_is_a_page_of_few_flags() {
    let place = Place::new();
    let mut pages = printed(&place, &["--help"]);
    for name in COMMANDS {
        pages += &format!("\n=== {name}\n{}", printed(&place, &[name, "--help"]));
    }
    insta::assert_snapshot!(pages);
}

#[test]
fn the_full_page_the_manual_page_and_the_completions_have_the_same_flags() {
    let place = Place::new();
    let completions = printed(&place, &["completions", "bash"]);
    place.run(["man", "pages"]);
    for name in COMMANDS {
        let full = printed(&place, &[name, "--help-all"]);
        assert_eq!(full, printed(&place, &["help", name]));
        // As roff writes them, a minus sign is `\-`.
        let file = place.root.join(format!("pages/patchwright-{name}.1"));
        let manual = fs::read_to_string(file).unwrap();
        let manual = manual.replace("\\-", "-").replace("\\fR", " ");
        let manual = manual.replace("\\fB", " ").replace("\\fI", " ");
        for flag in flags(&full) {
            assert!(flags(&manual).contains(&flag), "{flag}:\n{manual}");
            assert!(completions.contains(&flag), "{flag}");
        }
    }
}
