//! Whatever C offers beside a bug, or round it: the bug is repaired, or the report says why its place is left alone.
//!
//! Each program is a file in `constructs`, which says in comments what it is about: `case ARGUMENTS => OUTPUT` for each
//! of its tests, `flags: FLAGS` for the compiler and `lines: FIRST-LAST` to change if it needs them, and `patch in: FUNCTION` or `refused: REASON`.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, notes, program, programs_in, stderr, stdout};

/// The project of a program, and the flags that name it.
fn project(name: &str, place: &Place) -> (String, Vec<String>) {
    let source = program("constructs", name);
    place.write_program(&source);
    let mut flags = vec!["project/program.c".to_owned()];
    for note in notes(&source, "flags: ") {
        flags.extend(["--cflags".to_owned(), note.to_owned()]);
    }
    for lines in notes(&source, "lines: ") {
        flags.extend(["--files".to_owned(), format!("project/program.c:{lines}")]);
    }
    (source, flags)
}

fn repair(name: &str) {
    let place = Place::new();
    let (source, flags) = project(name, &place);
    let mut arguments = vec!["repair", "--first", "--json"];
    arguments.extend(flags.iter().map(String::as_str));
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

/// The kinds of change that are woven as alternatives: wherever a construct holds no repair, it must at least stand
/// them, and the instrumented program must do what the original does.
fn stand_alternatives(name: &str) {
    let place = Place::new();
    let (_, flags) = project(name, &place);
    let mut arguments = vec![
        "repair",
        "--max-cost",
        "4",
        "--schemas",
        "initialization,function,swap,move,exit",
        "--json",
    ];
    arguments.extend(flags.iter().map(String::as_str));
    let output = place.run(arguments);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(place.leftovers(), [""; 0]);
    if output.status.code() == Some(2) {
        // None of them applies at its lines, or the construct is refused.
        let nowhere = messages.contains("there is no location to change");
        assert!(nowhere, "{messages}");
        return;
    }
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{report}{messages}"
    );
    assert!(!report.contains("does not compile"), "{report}");
    assert!(!messages.contains("the instrumented program"), "{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        report["stats"]["rejected_by_verification"],
        serde_json::json!([])
    );
}

macro_rules! programs {
    ($(fast $name:ident)* $(slow $slow:ident)* $(way $way:ident)*) => {
        $(#[test]
        fn $name() {
            repair(stringify!($name));
        })*
        $(#[test]
        #[ignore = "nightly: 2 to 38 s each; crate weave compiles and executes these constructs woven"]
        fn $slow() {
            repair(stringify!($slow));
        })*

        mod alternatives {
            $(#[test]
            fn $way() {
                super::stand_alternatives(stringify!($way));
            })*

            mod of_all_constructs {
                $(#[test]
                #[ignore = "nightly: up to 2 min; the way through weaving is shown by six programs, the construct by its repair"]
                fn $name() {
                    super::super::stand_alternatives(stringify!($name));
                })*
                $(#[test]
                #[ignore = "nightly: up to 2 min; the way through weaving is shown by six programs"]
                fn $slow() {
                    super::super::stand_alternatives(stringify!($slow));
                })*
            }
        }

        #[test]
        fn every_program_of_the_folder_is_tried() {
            let mut names = [$(stringify!($name),)* $(stringify!($slow),)*];
            names.sort_unstable();
            assert_eq!(programs_in("constructs"), names);
        }
    };
}

programs! {
    fast bit_field
    fast goto_into_and_out_of_blocks
    fast macro_for_a_member
    fast nested_function
    fast x_macro
    slow alloca_and_constructor
    slow cleared_environment
    slow computed_goto
    slow constant_member
    slow daemon_without_descriptors
    slow duffs_device
    slow fork_exec_and_vfork
    slow function_pointer
    slow generic_selection
    slow inline_assembly
    slow longjmp
    slow macro_with_half_a_statement
    slow named_only_in_sizeof
    slow old_style_definition
    slow seccomp
    slow signal_handler
    slow statement_expression_and_typeof
    slow static_executable
    slow switch_with_fall_through
    slow threads
    slow union_and_flexible_array
    slow variable_length_array
    slow volatile_object
    way computed_goto
    way function_pointer
    way goto_into_and_out_of_blocks
    way longjmp
    way static_executable
    way switch_with_fall_through
}
