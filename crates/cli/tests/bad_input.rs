//! What is wrong with the input is said in a message that tells what to do, and by the exit
//! status.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

mod common;

use std::fs;

use common::{Place, stderr, stdout};

/// Exit status and standard error, with the folder of the test called `[ROOT]` and scratch
/// folders `[SCRATCH]`.
fn report(place: &Place, arguments: &[&str]) -> String {
    let before = place.snapshot();
    let output = place.run([&["repair"], arguments].concat());
    assert_eq!(stdout(&output), "");
    assert_eq!(place.leftovers(), [""; 0]);
    assert_eq!(place.snapshot(), before);
    let mut text = stderr(&output);
    let scratch = format!("{}/scratch/", place.root.display());
    while let Some(at) = text.find(&scratch) {
        let name = at + scratch.len();
        let end = text[name..].find('/').map_or(text.len(), |n| name + n);
        text.replace_range(at..end, "[SCRATCH]");
    }
    let text = text.replace(place.root.to_str().unwrap(), "[ROOT]");
    let code = output.status.code();
    format!(
        "exit status {}\n{text}",
        code.map_or("none".to_owned(), |code| code.to_string())
    )
}

/// A project of a folder: `max.c`, and a driver that knows the tests `less`, `more`, `same`.
fn driven() -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script(
        "driver.sh",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
         more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\n\
         *) exit 2 ;;\nesac\n",
    );
    place
}

const BUILD: [&str; 2] = ["--build", "cc -o max max.c"];
const DRIVER: [&str; 2] = ["--driver", "driver.sh"];

fn with_driver(place: &Place, build: &[&str], tests: &[&str], more: &[&str]) -> String {
    report(
        place,
        &[&["project"], build, &DRIVER, &["--tests"], tests, more].concat(),
    )
}

#[test]
fn a_project_without_tests() {
    insta::assert_snapshot!(report(&driven(), &[&["project"], &BUILD[..]].concat()));
}

#[test]
fn a_project_without_a_build_command() {
    insta::assert_snapshot!(with_driver(&driven(), &[], &["less", "same"], &[]));
}

#[test]
fn a_build_that_fails() {
    let build = [
        "--build",
        "echo compiling; echo max.c is not nice >&2; exit 3",
    ];
    insta::assert_snapshot!(with_driver(&driven(), &build, &["less", "same"], &[]));
}

#[test]
fn a_driver_that_does_not_exist() {
    let place = driven();
    fs::remove_file(place.project().join("driver.sh")).unwrap();
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &[]));
}

#[test]
fn a_driver_that_is_not_executable() {
    let place = driven();
    place.write("plain.txt", "#!/bin/sh\n");
    let arguments = ["project", "--driver", "plain.txt", "--tests", "less"];
    insta::assert_snapshot!(report(&place, &[&arguments, &BUILD[..]].concat()));
}

#[test]
fn no_test_that_fails() {
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "more"], &[]));
}

#[test]
fn tests_that_all_fail() {
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["same", "unknown"], &[]));
}

#[test]
fn a_selected_file_that_no_build_compiles() {
    let place = driven();
    place.write("unused.c", "int unused(int a) { return a + 1; }\n");
    let files = ["--files", "unused.c"];
    insta::assert_snapshot!(with_driver(&place, &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selected_file_that_does_not_exist() {
    let files = ["--files", "other.c:3"];
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "same"], &files));
}

#[test]
fn a_selection_of_lines_without_a_location() {
    let files = ["--files", "max.c:1-2"];
    insta::assert_snapshot!(with_driver(&driven(), &BUILD, &["less", "same"], &files));
}

#[test]
fn a_source_that_is_not_valid_c() {
    let place = Place::with_max2();
    place.write("max.c", "int main(void) {\n  return 0\n}\n");
    let text = report(&place, &["project/max.c"]);
    // The compiler's own words differ from version to version.
    let own: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("exit status") || line.contains("patchwright"))
        .collect();
    insta::assert_snapshot!(own.join("\n"));
    assert!(text.contains("max.c:2:"), "{text}");
}

#[test]
fn a_folder_of_cases_that_is_empty() {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    fs::create_dir(place.project().join("cases")).unwrap();
    insta::assert_snapshot!(report(&place, &["project/max.c"]));
}

#[test]
fn a_folder_of_cases_that_does_not_exist() {
    let place = Place::with_max2();
    insta::assert_snapshot!(report(&place, &["project/max.c", "project/none"]));
}

#[test]
fn a_case_without_an_expected_output() {
    let place = Place::with_max2();
    fs::remove_file(place.project().join("cases/equal.out")).unwrap();
    insta::assert_snapshot!(report(&place, &["project/max.c"]));
}

#[test]
fn an_unknown_key_in_the_description() {
    let place = driven();
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"cc -o max max.c\"\n\n[tests]\ndrivers = \"driver.sh\"\n",
    );
    insta::assert_snapshot!(report(&place, &["project"]));
}

#[test]
fn a_project_that_does_not_exist() {
    insta::assert_snapshot!(report(&driven(), &["nowhere"]));
}

#[test]
fn a_file_that_is_not_c() {
    let place = Place::with_max2();
    place.write("notes.txt", "no program\n");
    insta::assert_snapshot!(report(&place, &["project/notes.txt", "project/cases"]));
}
