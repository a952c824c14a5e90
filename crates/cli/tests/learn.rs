//! What the history of a project teaches.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{git::Git, stderr, stdout};

/// A function with one condition.
fn text(condition: &str) -> String {
    format!("int f(char *p, int n)\n{{\n    if ({condition})\n        n = 0;\n    return n;\n}}\n")
}

/// A history in which each second commit mends a condition.
fn mended() -> Git {
    let mut history = Git::new();
    for number in 0..12 {
        let without = text(&format!("*p > {number}"));
        let with = text(&format!("p && *p > {number}"));
        history.commit("Take another number", &[("a.c", &without)]);
        history.commit("Fix a crash without a text", &[("a.c", &with)]);
    }
    history
}

#[test]
fn a_history_shifts_the_likelihoods_and_repair_reads_them() {
    let history = mended();
    let place = &history.place;
    let project = place.project().to_str().unwrap().to_owned();
    let output = place.run(["learn", &project]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        said.starts_with(
            "23 commits were read. 12 mend something, 12 of these are small, and 12 change one place of one function."
        ),
        "{said}"
    );
    assert!(said.contains("joined added-conjunct-truth"), "{said}");
    let file = place.project().join(".patchwright/likelihood.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written
            .starts_with("# How likely changes are here: `patchwright learn`, from 12 small fixes"),
        "{written}"
    );
    // What no longer holds likelihoods is named before anything else is done.
    std::fs::write(&file, "colour = 1\n").unwrap();
    let output = place.run(["repair", &project]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains(
            "likelihood.toml: no feature is called colour; `patchwright learn` writes it anew"
        ),
        "{said}"
    );
}

#[test]
fn with_print_nothing_is_written() {
    let history = mended();
    let place = &history.place;
    let project = place.project().to_str().unwrap().to_owned();
    let output = place.run(["learn", "--print", &project]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!place.project().join(".patchwright").exists());
}

#[test]
fn a_history_without_fixes_teaches_nothing() {
    let mut history = Git::new();
    history.commit("First version", &[("a.c", &text("n > 1"))]);
    let place = &history.place;
    let project = place.project().to_str().unwrap().to_owned();
    let output = place.run(["learn", &project]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("so nothing is written"));
    assert!(!place.project().join(".patchwright").exists());
}
