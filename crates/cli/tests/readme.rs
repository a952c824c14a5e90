//! What the README shows of its example is what happens.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make files and start what they test"
)]

use std::{fs, path::Path};

use crate::common::{Place, stderr, stdout};

/// The block of the README that begins with this command, without it.
fn block(command: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = fs::read_to_string(readme).unwrap();
    let start = text.find(&format!("```console\n$ {command}\n")).unwrap();
    let lines = text[start..].lines().skip(2);
    let block: Vec<&str> = lines.take_while(|line| *line != "```").collect();
    block.join("\n")
}

#[test]
fn the_first_patch_of_the_readme_is_the_first_patch() {
    let place = Place::with_max2();
    let output = place.run(["repair", "project/max.c", "--max-patches", "1"]);
    let all = stderr(&output) + &stdout(&output);
    let shown = block("patchwright repair examples/max2/max.c");
    let missing: Vec<&str> = shown.lines().filter(|line| !all.contains(line)).collect();
    assert!(
        missing.is_empty() && shown.lines().count() > 10,
        "{missing:?}\n{all}"
    );
}
