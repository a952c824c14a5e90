//! Whatever C offers beside a bug, or round it: the bug is repaired, or the report says why its place is left alone.
//!
//! Each program is a file in `constructs`, which says in comments what it is about: `case ARGUMENTS => OUTPUT` for each
//! of its tests, `flags: FLAGS` for the compiler and `lines: FIRST-LAST` to change if it needs them, and `patch in: FUNCTION` or `refused: REASON`.
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let source = fs::read_to_string(folder.join(format!("{name}.c"))).unwrap();
    let place = Place::new();
    place.write("program.c", &source);
    for (number, case) in notes(&source, "case ").iter().enumerate() {
        let (arguments, output) = case.split_once(" => ").unwrap();
        place.write(&format!("cases/{number}.args"), arguments);
        place.write(&format!("cases/{number}.out"), format!("{output}\n"));
    }
    let mut arguments = vec!["repair", "project/program.c", "--first", "--json"];
    let flags = notes(&source, "flags: ");
    for flags in &flags {
        arguments.extend(["--cflags", flags]);
    }
    let lines = notes(&source, "lines: ");
    let files: Vec<String> = lines
        .iter()
        .map(|lines| format!("project/program.c:{lines}"))
        .collect();
    for files in &files {
        arguments.extend(["--files", files]);
    }
    let output = place.run(arguments);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(place.leftovers(), [""; 0]);
    if let [reason] = notes(&source, "refused: ")[..] {
        assert_ne!(output.status.code(), Some(0), "{report}");
        assert!(
            report.contains(reason) || messages.contains(reason),
            "{report}{messages}"
        );
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let patch = &report["patches"][0];
    let function = notes(&source, "patch in: ");
    assert_eq!(
        [patch["function"].as_str().unwrap()],
        function[..],
        "{patch}"
    );
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            repair(stringify!($name));
        })*

        #[test]
        fn every_program_of_the_folder_is_tried() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
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
    alloca_and_constructor
    bit_field
    cleared_environment
    computed_goto
    daemon_without_descriptors
    duffs_device
    fork_exec_and_vfork
    function_pointer
    generic_selection
    goto_into_and_out_of_blocks
    inline_assembly
    longjmp
    macro_with_half_a_statement
    nested_function
    old_style_definition
    seccomp
    signal_handler
    statement_expression_and_typeof
    static_executable
    switch_with_fall_through
    threads
    union_and_flexible_array
    variable_length_array
    volatile_object
    x_macro
}
