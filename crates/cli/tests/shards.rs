//! `--shard` of `validate`, `mutants`, `repair`, `prove` and `compare`, and `patchwright merge`.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use serde_json::Value;

use crate::common::{Place, stderr, stdout};

/// The diff of `max.c` that makes this its condition.
fn condition(text: &str) -> String {
    format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({text}) {{\n")
}

/// A place with a set of patches of all kinds, some of which are the same.
fn place() -> Place {
    let place = Place::with_max2();
    let lines: String = (0..24)
        .map(|number| {
            let patch = match number % 6 {
                0 => condition(&format!("a >= b + 0 * {}", number / 12)),
                1 => condition(&format!("a > b + {number}")),
                2 => condition("a < b"),
                3 => condition(&format!("a >=< {number}")),
                4 => condition("a >= b").replace("a > b", "a == b"),
                _ => condition(&format!("a >= b || a == {number}")),
            };
            let line = serde_json::json!({ "id": format!("p{number}"), "patch": patch });
            format!("{line}\n")
        })
        .collect();
    fs::write(place.root.join("set.jsonl"), lines).unwrap();
    // The test that fails now is the last one of the suite, and yet the first that runs.
    for end in ["args", "out"] {
        let [old, new] =
            ["equal", "the-equal"].map(|name| place.project().join(format!("cases/{name}.{end}")));
        fs::rename(old, new).unwrap();
    }
    place
}

fn validated(place: &Place, flags: &[&str]) {
    let arguments = ["validate", "project/max.c", "set.jsonl"];
    let output = place.run(arguments.iter().chain(flags));
    let status = output.status.code();
    assert!(matches!(status, Some(0 | 1)), "{}", stderr(&output));
}

fn merged(place: &Place, files: &[String], status: i32) -> Value {
    let arguments: Vec<&str> = ["merge", "--json"]
        .into_iter()
        .chain(files.iter().map(|file| &file[..]))
        .collect();
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// What is said of each patch, in order, and of all together.
fn told(report: &Value) -> (Vec<[Value; 5]>, Value, Value) {
    let patches = report["patches"].as_array().unwrap().iter();
    let patches = patches.map(|patch| {
        let mut told =
            ["id", "verdict", "reason", "same_as", "notes"].map(|key| patch[key].clone());
        // The build of a patch and the build of many word an error differently. Measured times decide which of them is made.
        if told[1] == "does_not_compile" {
            let reason = told[2].as_str().unwrap();
            assert!(reason.contains("max.c:8"), "{reason}");
            told[2] = Value::Null;
        }
        told
    });
    (
        patches.collect(),
        report["summary"].clone(),
        report["tests"].clone(),
    )
}

fn part(number: usize, of: usize) -> String {
    format!("patchwright-{number}-of-{of}.json")
}

#[test]
#[ignore = "nightly: 8 s; parts_may_be_lost_repeated_and_late goes this way"]
fn parts_that_are_merged_say_what_one_machine_says() {
    let place = place();
    let arguments = ["validate", "project/max.c", "set.jsonl"];
    let flags = ["--json", "--ask-first"];
    let output = place.run(arguments.iter().chain(&flags));
    let whole: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for of in [1, 2, 7] {
        let mut files = Vec::new();
        for number in 1..=of {
            validated(&place, &["--shard", &format!("{number}/{of}")]);
            files.push(part(number, of));
        }
        // In any order.
        files.reverse();
        let all = merged(&place, &files, 0);
        assert_eq!(told(&all), told(&whole), "{of} parts");
        assert_eq!(all["interrupted"], false);
        assert_eq!(all["stats"]["duplicates"], whole["stats"]["duplicates"]);
    }
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn parts_may_be_lost_repeated_and_late() {
    let place = place();
    for number in [1, 2] {
        validated(&place, &["--shard", &format!("{number}/3")]);
    }
    // The machine of the third one was switched off.
    fs::write(place.root.join(part(3, 3)), "").unwrap();
    let files = [1, 2, 3].map(|number| part(number, 3));
    let some = merged(&place, &files, 4);
    assert_eq!(some["interrupted"], true);
    let output = place.run(
        ["merge"]
            .into_iter()
            .chain(files.iter().map(|file| &file[..])),
    );
    let said = stderr(&output);
    assert!(
        said.contains("part 3/3 is missing or unfinished; run `patchwright validate project/max.c set.jsonl --shard 3/3`"),
        "{said}"
    );
    assert!(
        !stdout(&output).contains("Interrupted"),
        "{}",
        stdout(&output)
    );
    let some = some["patches"].as_array().unwrap().len();
    assert!(some > 0 && some < 24, "{some}");
    validated(&place, &["--shard", "3/3"]);
    validated(&place, &["--shard", "2/3", "--shard-result", "again.json"]);
    let mut files = files.to_vec();
    files.push("again.json".to_owned());
    let all = merged(&place, &files, 0);
    assert_eq!(all["patches"].as_array().unwrap().len(), 24);
    assert_eq!(all["interrupted"], false);
}

#[test]
#[ignore = "nightly: 3 s; parts_may_be_lost_repeated_and_late goes this way"]
fn parts_of_different_runs_are_not_merged() {
    let place = place();
    validated(&place, &["--shard", "1/2"]);
    validated(&place, &["--shard", "2/2", "--keep-going"]);
    let output = place.run(["merge", &part(1, 2), &part(2, 2)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("are of different runs"));
    let output = place.run(["merge", "set.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("set.jsonl: it is no result of --shard"));
}

/// Runs all parts of a command, each of which ends with one of these statuses; the files in the order from last to first.
fn parts(place: &Place, command: &[&str], of: usize, statuses: &[i32]) -> Vec<String> {
    let mut files = Vec::new();
    for number in 1..=of {
        let shard = format!("{number}/{of}");
        let output = place.run(command.iter().chain(&["--shard", &shard]));
        let status = output.status.code();
        let is_usual = statuses.iter().any(|usual| status == Some(*usual));
        assert!(is_usual, "{}", stderr(&output));
        files.push(part(number, of));
    }
    files.reverse();
    files
}

#[test]
#[ignore = "nightly: 7 s; parts_that_are_merged_say_what_one_machine_says goes the same way"]
fn a_repair_in_parts_reports_the_patches_of_one_machine_in_its_order() {
    let place = Place::with_max2();
    let command = ["repair", "project/max.c", "--max-cost", "1"];
    let output = place.run(command.iter().chain(&["--json", "--places", "1"]));
    let whole: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let diffs = |report: &Value| -> Vec<Value> {
        let patches = report["patches"].as_array().unwrap().iter();
        patches.map(|patch| patch["diff"].clone()).collect()
    };
    assert!(!diffs(&whole).is_empty());
    let mut files = parts(&place, &command, 2, &[0, 1]);
    let all = merged(&place, &files, 0);
    assert_eq!(diffs(&all), diffs(&whole));
    for number in [
        "candidates",
        "explored",
        "plausible",
        "locations",
        "failing_tests",
    ] {
        assert_eq!(all["stats"][number], whole["stats"][number], "{number}");
    }
    // The same part again, and then one that is lost.
    files.push(files[0].clone());
    assert_eq!(diffs(&merged(&place, &files, 0)), diffs(&whole));
    let some = merged(&place, &files[..1], 4);
    assert_eq!(some["stats"]["interrupted"], true);
}

/// The limits of a number; no case has the upper one.
const LIMITED: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int limited(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        printf("%d\n", atoi(argv[2]) + 1);
    printf("%d\n", limited(atoi(argv[1]), 10, 100));
    return 0;
}
// case 50 => 50
// case 3 => 10
"#;

#[test]
#[ignore = "nightly: 28 s; parts_may_be_lost_repeated_and_late goes this way"]
fn mutants_in_parts_have_the_numbers_and_fates_of_one_machine() {
    let place = Place::new();
    place.write_program(LIMITED);
    let command = [
        "mutants",
        "project/program.c",
        "--limit",
        "12",
        "--no-answers",
    ];
    let output = place.run(command.iter().chain(&["--json"]));
    // Seconds, and the work that each part does, are not those of one machine.
    let told = |mut report: Value| {
        for own in ["seconds", "builds", "executions"] {
            report[own] = Value::Null;
        }
        report
    };
    let whole = told(serde_json::from_str(&stdout(&output)).unwrap());
    assert_eq!(whole["summary"]["mutants"], 12);
    assert!(whole["summary"]["not_executed"].as_u64().unwrap() > 0);
    for of in [1, 7] {
        let mut files = parts(&place, &command, of, &[0, 1]);
        assert_eq!(told(merged(&place, &files, 1)), whole, "{of} parts");
        files.push(files[0].clone());
        assert_eq!(told(merged(&place, &files, 1)), whole, "repeated");
    }
    let some = merged(&place, &[part(2, 7), part(7, 7)], 4);
    assert_eq!(some["interrupted"], true);
    let numbers = some["mutants"].as_array().unwrap().iter();
    let numbers: Vec<&Value> = numbers.map(|one| &one["number"]).collect();
    assert_eq!(numbers, [2, 7, 9]);
}

const ASSERTIONS: &str = "#include <assert.h>
int f(int a, int b) {
  assert(a != 3);
  int c = b / 2;
  if (a > b)
    assert(c < 2000000000);
  int t[4] = {0};
  if (a >= 0 && a < 4)
    t[a] = c;
  return t[0];
}
int g(int a) {
  int s = 0;
  for (int i = 0; i < 4; i++)
    s += i;
  assert(s == 6);
  return s + a;
}
";

#[test]
#[ignore = "nightly: 5 s; parts_may_be_lost_repeated_and_late goes this way"]
fn a_proof_in_parts_holds_if_all_parts_hold_and_fails_if_one_fails() {
    let place = Place::new();
    place.write("a.c", ASSERTIONS);
    for of in [1, 2, 7] {
        let command = ["prove", "project/a.c", "--function", "g"];
        let files = parts(&place, &command, of, &[0]);
        let all = merged(&place, &files, 0);
        assert_eq!(all["verdict"], "proved");
        assert_eq!(all["part"], Value::Null);
        if of > 1 {
            // The rest is not known to hold.
            let some = merged(&place, &files[1..], 4);
            assert_eq!(some["verdict"], "interrupted");
        }
        let command = ["prove", "project/a.c", "--function", "f"];
        let files = parts(&place, &command, of, &[0, 1]);
        let all = merged(&place, &files, 1);
        assert_eq!(all["verdict"], "failed");
        assert_eq!(all["counterexample"]["replay"], "agrees");
    }
    let output = place.run(["prove", "project/a.c", "--function", "g", "--shard", "2/3"]);
    assert!(stdout(&output).contains("This is part 2/3: others look for the rest"));
}

#[test]
#[ignore = "nightly: 9 s; parts_may_be_lost_repeated_and_late goes this way"]
fn a_comparison_in_parts_prints_what_one_machine_prints() {
    let old = "int f(int a) { return a + 1; }\nint g(int a) { return a > 2 ? a : 2; }\nint h(unsigned a) { return a > 7; }\n";
    let new = "int f(int a) { return 1 + a; }\nint g(int a) { return a >= 3 ? a : 2; }\nint h(unsigned a) { return a > 8; }\n";
    let place = Place::with_versions(old, new);
    let command = ["compare", "project/old.c", "project/new.c"];
    let whole = place.run(command);
    for of in [1, 2, 7] {
        let files = parts(&place, &command, of, &[0, 1]);
        let output = place.run(std::iter::once("merge").chain(files.iter().map(|file| &file[..])));
        assert_eq!(stdout(&output), stdout(&whole), "{of} parts");
        assert_eq!(output.status.code(), Some(1));
    }
    let one = ["--function", "f", "--shard", "1/2"];
    let output = place.run(command.iter().chain(&one));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--shard divides the functions of two versions"));
    // What belongs to another command is not put to it.
    place.write("a.c", ASSERTIONS);
    parts(
        &place,
        &["prove", "project/a.c", "--function", "g"],
        1,
        &[0],
    );
    let output = place.run(["merge", &part(1, 1), &part(1, 7)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("merge the parts of one command"));
}
