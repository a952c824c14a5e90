//! `patchwright compare` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

mod common;

use std::fs;

use common::{Place, stderr, stdout};
use serde_json::Value;

const OLD: &str = "static int calls;
int price(int amount, signed char discount)
{
    calls++;
    if (discount > 50)
        discount = 50;
    return amount / 100 * (100 - discount);
}
";

fn place(old: &str, new: &str) -> Place {
    let place = Place::new();
    fs::create_dir_all(place.project()).unwrap();
    fs::write(place.project().join("old.c"), old).unwrap();
    fs::write(place.project().join("new.c"), new).unwrap();
    place
}

fn compared(place: &Place, flags: &[&str], status: i32) -> Value {
    let files = ["compare", "project/old.c", "project/new.c", "--json"];
    let output = place.run(files.iter().chain(flags));
    assert_eq!(
        output.status.code(),
        Some(status),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["schema"], "patchwright-compare");
    report
}

#[test]
fn a_difference_is_shown_with_an_input_that_both_versions_executed() {
    let new = OLD
        .replace("discount > 50", "discount >= 50")
        .replace("calls++", "calls += 1");
    let new = new.replace("discount = 50", "discount = 49");
    let place = place(OLD, &new);
    let report = compared(&place, &["--function", "price"], 1);
    assert_eq!(report["verdict"], "different");
    assert_eq!(report["differences_complete"], true);
    let partitions = report["partitions"].as_array().unwrap();
    assert!(
        partitions.iter().all(|one| one["replay"] == "agrees"),
        "{partitions:#?}"
    );
    let first = &partitions[0];
    assert_eq!(first["kind"], "different");
    assert_ne!(
        first["old"]["observed"]["left"],
        first["new"]["observed"]["left"]
    );
    let lines = first["new"]["changed_lines"].as_array().unwrap();
    assert!(
        lines.contains(&5.into()) && lines.contains(&6.into()),
        "{lines:?}"
    );
    let text = place.run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "price",
    ]);
    assert!(stdout(&text).contains("For all other inputs both versions do the same: proved."));
}

#[test]
fn the_same_code_ends_the_work_at_once() {
    let place = place(OLD, &format!("/* Prices. */\n\n{OLD}"));
    let report = compared(&place, &["--function", "price"], 0);
    assert_eq!(report["verdict"], "same-code");
}

#[test]
fn tests_of_partitions_of_programs_are_cases() {
    let old = "#include <stdio.h>\nint main(void) { int c = getchar(); puts(c == 'a' ? \"yes\" : \"no\"); return 0; }\n";
    let new = old.replace("c == 'a'", "c == 'a' || c == 'A'");
    let place = place(old, &new);
    let report = compared(&place, &["--output", "project/tests", "--minimal"], 1);
    assert_eq!(report["partitions"][0]["kind"], "different");
    let folder = place.project().join("tests");
    assert_eq!(fs::read(folder.join("0001.in")).unwrap(), b"A");
    assert_eq!(fs::read(folder.join("0001.out")).unwrap(), b"no\n");
    assert_eq!(fs::read(folder.join("0001.new")).unwrap(), b"yes\n");
    assert!(folder.join("manifest.json").exists());
}

#[test]
fn parameters_of_other_types_and_missing_functions_are_told() {
    let place = place(OLD, &OLD.replace("signed char discount", "long discount"));
    let files = ["compare", "project/old.c", "project/new.c", "--function"];
    let output = place.run(files.iter().chain(&["price"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("the parameter `discount`"),
        "{}",
        stderr(&output)
    );
    let output = place.run(files.iter().chain(&["cost"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("old.c"), "{}", stderr(&output));
}
