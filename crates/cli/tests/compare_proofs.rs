//! What `patchwright compare` proves of functions, and how far it comes.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use crate::common::{Place, stderr};

#[test]
fn a_result_of_another_type_is_shown_as_what_it_is() {
    let place = Place::with_versions(
        "int f(int x) { return x; }\n",
        "signed char f(int x) { return x > 0 ? 1 : -1; }\n",
    );
    let report = place.compared(&["--function", "f"], 1);
    let first = &report["partitions"][0];
    assert_eq!(first["differs"][0], "the result");
    assert_eq!(first["new"]["observed"]["left"][0][1], "-1", "{first:#}");
}

#[test]
fn a_function_without_a_body_is_told() {
    let place = Place::with_versions("int f(int x);\n", "int f(int x);\n");
    let output = place.run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "f",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("they define none: a declaration has no body"),
        "{message}"
    );
}

#[test]
#[ignore = "nightly: 3 s; loops_are_the_same_for_any_number_of_rounds_or_differ_beyond_the_bound goes this way"]
fn what_is_too_large_for_one_formula_is_explored_along_inputs() {
    let old = include_str!("../../../bench/compare/expression.c");
    let new = old.replace("if (operator == '%' && right != 0)", "if (operator == '%')");
    assert_ne!(old, new);
    let place = Place::with_versions(old, &new);
    let flags = ["--no-native", "--budget", "12s", "--different", "1"];
    let found = place.compared(&flags, 1);
    assert_eq!(found["verdict"], "different");
    let first = &found["partitions"][0];
    assert_eq!(first["kind"], "new-fails", "{found}");
    // Not all inputs are known, and nothing is claimed of the others.
    assert_eq!(found["differences_complete"], false);
}

#[test]
fn loops_are_the_same_for_any_number_of_rounds_or_differ_beyond_the_bound() {
    let old = "int f(int n)\n{\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s ^= i * 3;\n  return s;\n}\n";
    let new = "int f(int n)\n{\n  int s = 0, i = 0;\n  while (n > i) {\n    s = s ^ (i + i + i);\n    i++;\n  }\n  return s;\n}\n";
    let same = Place::with_versions(old, new).compared(&["--function", "f"], 0);
    assert_eq!(same["verdict"], "equal");
    let note = same["notes"][0].as_str().unwrap();
    assert!(note.contains("proved by induction"), "{note}");
    // The bound is 16 rounds.
    let late = new.replace("i++;", "if (i == 120) s++;\n    i++;");
    let place = Place::with_versions(old, &late);
    let report = place.compared(&["--function", "f", "--different", "1"], 1);
    assert_eq!(report["verdict"], "different", "{report:#}");
    assert_eq!(report["partitions"][0]["replay"], "agrees");
}

#[test]
fn a_parameter_that_was_only_given_another_name_is_the_same_input() {
    let place = Place::with_versions(
        "int least(int a, int b) { return a < b ? a : b; }\n",
        "int least(int x, int y) { return y ^ ((x ^ y) & -(x < y)); }\n",
    );
    let report = place.compared(&["--function", "least"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("`x` of NEW is called `a` here"), "{notes}");
}

#[test]
fn pointers_lead_to_as_many_objects_as_the_parameter_is_declared_to_have() {
    // One reads all of them, the other one stops early; and one says how many there are.
    let place = Place::with_versions(
        "int at(const int list[6]) { int found = -1; for (int i = 5; i >= 0; i--) if (list[i] == 7) found = i; return found; }\n",
        "int at(const int *list) { for (int i = 0; i < 6; i++) if (list[i] == 7) return i; return -1; }\n",
    );
    let report = place.compared(&["--function", "at"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
    assert!(
        report["inputs"].to_string().contains("6 objects"),
        "{report:#}"
    );
}

#[test]
fn loops_over_the_bits_of_a_number_are_followed_to_their_end_without_a_bound() {
    let place = Place::with_versions(
        "int odd(unsigned x) { int n = 0; for (int i = 0; i < 20; i++) n ^= x >> i & 1; return n; }\n",
        "int odd(unsigned x) { int n = 0, left = 20; while (left-- > 0) { n ^= x & 1; x >>= 1; } return n; }\n",
    );
    let report = place.compared(&["--function", "odd"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
}

#[test]
#[ignore = "nightly: 2 s; loops_are_the_same_for_any_number_of_rounds_or_differ_beyond_the_bound goes this way"]
fn a_budget_is_kept_where_conditions_would_be_endless_texts() {
    let kernighan =
        "int ones(unsigned x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }\n";
    let shifts =
        "int ones(unsigned x) { int n = 0; while (x) { n += x & 1; x >>= 1; } return n; }\n";
    let place = Place::with_versions(shifts, kernighan);
    let begin = std::time::Instant::now();
    let flags = ["--function", "ones", "--bound", "72", "--budget", "2s"];
    let report = place.compared(&flags, 0);
    assert_ne!(report["verdict"], "different", "{report:#}");
    // It took minutes, whatever was said.
    assert!(begin.elapsed().as_secs() < 30);
}

#[test]
#[ignore = "nightly: 2 s; loops_are_the_same_for_any_number_of_rounds_or_differ_beyond_the_bound goes this way"]
fn a_returned_structure_is_shown_by_its_members() {
    let old = "struct date { int year, month, day; };
struct date next(struct date today)
{
    static const int days[] = { 31, 28, 31 };
    today.day++;
    if (today.day > days[today.month - 1]) {
        today.month++;
        today.day = 1;
    }
    return today;
}
";
    let place = Place::with_versions(old, &old.replace("today.day = 1", "today.day = 0"));
    let report = place.compared(&["--function", "next"], 1);
    let mut partitions = report["partitions"].as_array().unwrap().iter();
    let differing = partitions.find(|one| one["kind"] == "different").unwrap();
    let text = format!("{}", differing["old"]["observed"]);
    assert!(text.contains("{.year = "), "{text}");
    assert!(text.contains(", .day = 1}"), "{text}");
    // A variable of the function is named as it is written.
    let place = Place::with_versions(old, &old.replace("today.month - 1]", "today.month]"));
    let report = place.compared(&["--function", "next"], 1);
    let mut partitions = report["partitions"].as_array().unwrap().iter();
    let failing = partitions.find(|one| one["kind"] == "new-fails").unwrap();
    let text = format!("{}", failing["new"]);
    assert!(text.contains("outside of `days`"), "{text}");
}

#[test]
fn what_is_said_of_the_bits_of_floating_point_numbers_is_not_said_of_their_values() {
    let old = "double larger(double a, double b) { return a < b ? b : a; }\n";
    let place = Place::with_versions(old, &old.replace("? b", "? -b"));
    let report = place.compared(&["--function", "larger"], 1);
    let partitions = report["partitions"].as_array().unwrap();
    // Of two negative numbers the one with the larger bits is the smaller one.
    for partition in partitions {
        let condition = partition["condition"].to_string();
        assert!(
            !condition.contains("(long)a") && !condition.contains("a >= b"),
            "{condition}"
        );
    }
    let text = report["partitions"].to_string();
    assert!(text.contains("returns -b"), "{text}");
    assert!(
        text.contains("signbit(") && text.contains("isnan("),
        "{text}"
    );
}
