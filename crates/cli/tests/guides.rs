//! What the guides show is what happens.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make files and start what they test"
)]

use std::{fs, path::Path, process::Command};

use crate::common::{Place, stderr, stdout};

/// The console blocks of a guide that execute one of the commands: what is typed, and what is shown.
fn blocks(guide: &str, commands: &[&str]) -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(guide)).unwrap();
    let mut all = Vec::new();
    for block in text.split("```console\n$ patchwright ").skip(1) {
        let block = block.split("```").next().unwrap();
        let (typed, shown) = block.split_once('\n').unwrap();
        if commands.contains(&typed.split(' ').next().unwrap()) {
            let shown = shown.lines().map(str::to_owned).collect();
            all.push((typed.to_owned(), shown));
        }
    }
    all
}

/// What of a line is the same each time. Which inputs are executed first depends on how long executions take, so of a search by
/// executions that is all but numbers and what stands in quotes.
fn steady(line: &str, is_search: bool) -> String {
    if !is_search {
        return line.to_owned();
    }
    let outside = line.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    outside.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether a block shows these lines, in order; what an ellipsis stands for may be anything.
fn shows(shown: &[String], lines: &[String], is_search: bool) -> bool {
    let is_gap = |line: &String| line == "..." || line == "…";
    let mut at = 0;
    for part in shown.split(is_gap).filter(|part| !part.is_empty()) {
        let found = lines[at..].windows(part.len()).position(|own| {
            let mut pairs = part.iter().zip(own);
            pairs.all(|(a, b)| steady(a, is_search) == steady(b, is_search))
        });
        match found {
            Some(found) => at += found + part.len(),
            None => return false,
        }
    }
    let ends_open = shown.last().is_none_or(is_gap);
    ends_open || at == lines.len()
}

fn every_block_is_shown(guide: &str, commands: &[&str], least: usize) {
    let place = Place::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let copied = Command::new("cp")
        .arg("-r")
        .args([&examples, &place.root])
        .status();
    assert!(copied.unwrap().success());
    let all = blocks(guide, commands);
    assert!(all.len() >= least, "{all:?}");
    for (typed, shown) in all {
        let output = place.run(typed.split(' '));
        let lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
        assert!(
            shows(&shown, &lines, typed.contains("--native")),
            "{typed}\n{}\n{}",
            lines.join("\n"),
            stderr(&output)
        );
    }
}

#[test]
#[ignore = "nightly: 7 s; the_guide_to_proving_shows_what_happens goes this way"]
fn the_guide_to_comparing_shows_what_happens() {
    every_block_is_shown("docs/guide/compare.md", &["compare"], 4);
}

#[test]
fn the_guide_to_proving_shows_what_happens() {
    every_block_is_shown("docs/guide/prove.md", &["prove"], 4);
    every_block_is_shown("README.md", &["prove"], 1);
}

#[test]
#[ignore = "nightly: 12 s; the_guide_to_proving_shows_what_happens goes this way"]
fn the_guides_to_repairing_show_what_happens() {
    every_block_is_shown("docs/guide/quick-start.md", &["repair"], 1);
    every_block_is_shown("docs/guide/repair.md", &["repair"], 1);
}

#[test]
#[ignore = "nightly: 4 s; the_guide_to_proving_shows_what_happens goes this way"]
fn the_guide_to_validating_shows_what_happens() {
    every_block_is_shown("docs/guide/validate.md", &["validate"], 1);
}

#[test]
#[ignore = "nightly: 4 s; the_guide_to_proving_shows_what_happens goes this way"]
fn the_guide_to_mutants_shows_what_happens() {
    every_block_is_shown("docs/guide/mutants.md", &["mutants"], 1);
}

#[test]
fn the_guide_to_localizing_shows_what_happens() {
    every_block_is_shown("docs/guide/localize.md", &["localize"], 1);
}

#[test]
fn the_guide_to_running_and_slicing_shows_what_happens() {
    every_block_is_shown("docs/guide/run.md", &["slice"], 1);
}
