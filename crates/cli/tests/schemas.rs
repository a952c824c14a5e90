//! Kinds of change: each alone repairs a bug of its kind, and what it leaves alone has a reason.
//!
//! Each program is a file in `schemas`, which says in comments what it is about: `case ARGUMENTS => OUTPUT` for each of
//! its tests, `schemas: NAMES` to try (without, those that are tried by default), `lines: FIRST-LAST` to change if all take long,
//! `patch in: FUNCTION` and `added: LINE` of the first patch, and `left alone: REASON` for what is refused.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, notes, program, programs_in, stderr, stdout};

fn repair(name: &str) {
    let source = program("schemas", name);
    let place = Place::new();
    place.write_program(&source);
    let schemas = notes(&source, "schemas: ");
    let mut arguments = vec![
        "repair",
        "project/program.c",
        "--json",
        "--allow-all-failing",
    ];
    for names in schemas {
        arguments.extend(["--schemas", names]);
    }
    let lines = notes(&source, "lines: ");
    let lines: Vec<String> = lines
        .iter()
        .map(|lines| format!("project/program.c:{lines}"))
        .collect();
    for lines in &lines {
        arguments.extend(["--files", lines]);
    }
    // What is left alone is counted where the whole space is searched; else the way to the patch is what is shown.
    if notes(&source, "left alone: ").is_empty() {
        arguments.push("--first");
    }
    let output = place.run(arguments);
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
            let names = programs_in("schemas");
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

programs! {
    another_function
    answer_of_its_own
    back_into_its_range
    both_compared
    character_class
    counted_once_more
    counted_twice
    direction_that_is_missing
    dropped_argument
    element_of_a_table
    else_of_another_if
    exchanged_arguments
    exchanged_leaves
    exchanged_operands
    exchanged_results
    exchanged_subscripts
    first_of_all
    first_of_an_array
    first_value_of_a_global
    forgotten_else
    forgotten_key
    fresh_memory
    function_as_value
    grouped_otherwise
    guarded_exit
    kept_from_what_is_read
    kept_in_order
    left_before_a_crash
    letters_behind_digits
    macro_without_parentheses
    member_that_begins_again
    moved_statement
    moved_to_its_label
    number_printed_as_another
    number_too_large
    order_of_strings
    other_jump
    other_label
    other_separator
    other_table_entry
    refused_initializations
    statement_as_else
    statement_of_the_other_branch
    string_without_end
    strings_compared_by_address
    structure_used_again
    uninitialized_array
    value_given_elsewhere
    variable_of_its_own_condition
    variable_that_is_read
    words_of_an_expected_line
}
