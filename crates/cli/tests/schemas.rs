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
    ($(way $way:ident)* $(further $further:ident)*) => {
        $(#[test]
        fn $way() {
            repair(stringify!($way));
        })*
        $(#[test]
        #[ignore = "nightly: 200 s together; by default each kind is tried on its examples, and programs show each way through weaving"]
        fn $further() {
            repair(stringify!($further));
        })*

        #[test]
        fn every_program_of_the_folder_is_tried() {
            let mut names = [$(stringify!($way),)* $(stringify!($further),)*];
            names.sort_unstable();
            assert_eq!(programs_in("schemas"), names);
        }
    };
}

programs! {
    way exchanged_subscripts
    way first_value_of_a_global
    way forgotten_else
    way moved_statement
    further another_function
    further answer_of_its_own
    further back_into_its_range
    further both_compared
    further character_class
    further counted_once_more
    further counted_twice
    further direction_that_is_missing
    further dropped_argument
    further element_of_a_table
    further else_of_another_if
    further exchanged_arguments
    further exchanged_leaves
    further exchanged_operands
    further exchanged_results
    further first_of_all
    further first_of_an_array
    further forgotten_key
    further fresh_memory
    further function_as_value
    further grouped_otherwise
    further guarded_exit
    further kept_from_what_is_read
    further kept_in_order
    further left_before_a_crash
    further letters_behind_digits
    further macro_without_parentheses
    further member_that_begins_again
    further moved_to_its_label
    further number_printed_as_another
    further number_too_large
    further order_of_strings
    further other_jump
    further other_label
    further other_separator
    further other_table_entry
    further refused_initializations
    further statement_as_else
    further statement_of_the_other_branch
    further string_without_end
    further strings_compared_by_address
    further structure_used_again
    further uninitialized_array
    further value_given_elsewhere
    further variable_of_its_own_condition
    further variable_that_is_read
    further words_of_an_expected_line
}
