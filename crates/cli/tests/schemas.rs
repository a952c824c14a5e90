//! Kinds of change: each alone repairs a bug of its kind, and what it leaves alone has a reason.
//!
//! Each program is a file in `schemas`, which says in comments what it is about: `case ARGUMENTS => OUTPUT` for each of
//! its tests, `schemas: NAMES` to try, `patch in: FUNCTION` and `added: LINE` of the first patch, and
//! `left alone: REASON` for what is refused.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

mod common;

use std::{fs, path::Path};

use common::{Place, stderr, stdout};

/// The rest of the comments that begin with this word.
fn notes<'a>(source: &'a str, word: &str) -> Vec<&'a str> {
    let start = format!("// {word}");
    let lines = source.lines();
    lines.filter_map(|line| line.strip_prefix(&start)).collect()
}

fn repair(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let source = fs::read_to_string(folder.join(format!("{name}.c"))).unwrap();
    let place = Place::new();
    place.write("program.c", &source);
    for (number, case) in notes(&source, "case ").iter().enumerate() {
        let (arguments, output) = case.split_once(" => ").unwrap();
        place.write(&format!("cases/{number}.args"), arguments);
        place.write(&format!("cases/{number}.out"), format!("{output}\n"));
    }
    let schemas = notes(&source, "schemas: ");
    let output = place.run([
        "repair",
        "project/program.c",
        "--schemas",
        schemas[0],
        "--json",
        "--allow-all-failing",
    ]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(place.leftovers(), [""; 0]);
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let (patch, stats) = (&report["patches"][0], &report["stats"]);
    let function = notes(&source, "patch in: ");
    assert_eq!(
        [patch["function"].as_str().unwrap()],
        function[..],
        "{patch}"
    );
    for line in notes(&source, "added: ") {
        let diff = patch["diff"].as_str().unwrap();
        assert!(
            diff.lines().any(|added| added == format!("+{line}")),
            "{diff}"
        );
    }
    for reason in notes(&source, "left alone: ") {
        assert!(
            stats["refused_changes"][reason].as_u64() > Some(0),
            "{reason}: {stats}"
        );
    }
    assert_eq!(stats["rejected_by_verification"], serde_json::json!([]));
    assert_eq!(stats["refused_functions"], serde_json::json!({}));
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            repair(stringify!($name));
        })*

        #[test]
        fn every_program_of_the_folder_is_tried() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
            let mut names: Vec<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

programs! {
    another_function
    dropped_argument
    exchanged_arguments
    fresh_memory
    guarded_exit
    moved_statement
    refused_initializations
    structure_used_again
    uninitialized_array
}
