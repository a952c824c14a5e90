//! `patchwright prove` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use std::{fs, path::Path, process::Command};

use crate::common::{Place, prove, stderr};

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/prove");
    fs::read_to_string(folder.join(name)).expect("an example")
}

pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn an_assertion_that_fails_is_shown_with_an_input_and_all_minimal_repairs_are_listed() {
    let place = Place::new();
    place.write("clamp.c", example("clamp.c"));
    let flags = ["project/clamp.c", "--function", "clamp"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{errors}");
    assert!(
        text.starts_with(
            "Fails: the assertion fails at project/clamp.c:10 in clamp.\nInputs:\n  value = "
        ),
        "{text}"
    );
    assert!(text.contains("The interpreter agrees."), "{text}");
    let flags = [&flags[..], &["--repair", "--level", "1", "--json"]].concat();
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert_eq!(json(&text)["repairs"]["complete"], true);
    let flags = [
        &flags[..3],
        &["--repair", "--json", "--stats", "--output", "patches"],
    ]
    .concat();
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    let report = json(&text);
    assert_eq!(report["verdict"], "failed");
    assert_eq!(report["counterexample"]["replay"], "agrees");
    let repairs = &report["repairs"];
    assert_eq!(repairs["complete"], true);
    let all = repairs["repairs"].as_array().unwrap();
    let diffs: Vec<&str> = all
        .iter()
        .map(|one| one["diff"].as_str().unwrap())
        .collect();
    assert!(
        diffs
            .iter()
            .any(|diff| diff.contains("+    if (value > high)\n")),
        "{diffs:?}"
    );
    assert!(
        all.iter()
            .any(|one| one["same_as"] == 1 || one["same_as"] == 2),
        "{all:?}"
    );
    assert!(report["stats"]["calls"].as_u64() > Some(0));
    assert!(place.root.join("patches/0001.patch").exists());
    // A repaired program is proved.
    let clamp = example("clamp.c").replace("value < high", "value > high");
    place.write("clamp.c", clamp);
    let (status, text, errors) = prove(&place, &flags[..3]);
    assert_eq!(status, Some(0), "{errors}");
    assert_eq!(text, "Proved: `clamp` holds for all inputs.\n");
}

#[test]
fn a_function_is_compared_with_a_reference() {
    let place = Place::new();
    place.write("median.c", example("median.c"));
    place.write("reference.c", example("median_reference.c"));
    let flags = [
        "project/median.c",
        "--function",
        "median",
        "--like",
        "project/reference.c",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(
        text.starts_with("Fails: the result is not that of the reference.\n"),
        "{text}"
    );
    assert!(text.contains("The interpreter agrees."), "{text}");
    let (status, text, errors) = prove(&place, &[&flags[..], &["--repair"]].concat());
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(text.contains("+    return a < c ? c : a;\n"), "{text}");
    place.write(
        "reference.c",
        "int median(int a, int b) { return a < b ? a : b; }\n",
    );
    let (status, _, errors) = prove(&place, &flags);
    assert_eq!(status, Some(2));
    assert!(
        errors.contains("takes other parameters than `median`"),
        "{errors}"
    );
}

#[test]
fn the_first_must_set_is_of_what_the_shown_counterexample_executes() {
    let place = Place::new();
    place.write(
        "ways.c",
        "#include <assert.h>\nint g;\nint f(int a, int b)\n{\n    int r = 0;\n    if (a > 10)\n        r = b + b;\n    \
         else if (a > 0)\n        r = b - 1;\n    else\n        r = b + 1;\n    for (int i = 0; i < 3; i++) {\n        \
         if (b == i)\n            r += 7;\n        else\n            g++;\n    }\n    assert(r != 5);\n    \
         assert(r != 12);\n    return r;\n}\n",
    );
    let flags = ["project/ways.c", "--function", "f", "--locate", "--json"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    let report = json(&text);
    let found = &report["counterexample"];
    let sets = report["must_sets"].as_array().expect("must sets");
    assert_eq!(sets.len(), 2, "{text}");
    assert_eq!(sets[0]["inputs"], found["inputs"]);
    assert_ne!(sets[1]["place"], found["place"]);
    for set in sets {
        let input = |name: &str| -> i64 {
            let all = set["inputs"].as_array().expect("inputs").iter();
            let mut own = all.filter(|one| one["name"] == name);
            let value = own.next().expect("it is one")["value"].as_str();
            value.expect("text").parse().expect("a number")
        };
        // The line that gives `r` its value, of three.
        let (first, others) = match input("a") {
            11.. => (7, [9, 11]),
            1..=10 => (9, [7, 11]),
            _ => (11, [7, 9]),
        };
        for kind in ["slice", "core"] {
            let lines = set[kind].as_array().expect("places").iter();
            let lines: Vec<i64> = lines.filter_map(|one| one["line"].as_i64()).collect();
            assert!(lines.contains(&first), "{kind}: {lines:?}\n{text}");
            assert!(
                !lines.iter().any(|line| others.contains(line)),
                "{kind}: {lines:?}\n{text}"
            );
        }
    }
}

#[test]
#[ignore = "nightly: 2 s; a_function_is_compared_with_a_reference goes this way"]
fn the_test_of_undefined_behaviour_says_how_it_is_compiled_and_fails_then() {
    for (name, body, check) in [
        (
            "member",
            "struct { int a[3]; int b; } x; x.a[n & 3] = n; return 0;",
            "bounds",
        ),
        ("shift", "return 1 << (n & 63);", "shift"),
        ("real", "double d = n; return (int)(d * 3);", "conversion"),
        (
            "null",
            "int v = 1, *p = n == 7 ? 0 : &v; return *p;",
            "null",
        ),
    ] {
        let place = Place::new();
        place.write("unit.c", format!("int f(int n)\n{{\n    {body}\n}}\n"));
        let flags = [
            "project/unit.c",
            "--function",
            "f",
            "--check",
            check,
            "--test",
            "tests",
        ];
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(1), "{name}: {text}{errors}");
        let file = place.root.join("tests/counterexample.c");
        let written = fs::read_to_string(&file).expect("it was written");
        let named = written.lines().find_map(|line| {
            let line = line.trim();
            line.strip_suffix(" */")
                .filter(|line| line.contains("-fsanitize="))
        });
        let command = named.expect("how to compile it").to_owned();
        assert!(text.contains(&command), "{name}: {text}");
        let mut words = command.split(' ').map(str::to_owned);
        let compiled = Command::new(words.next().expect("a compiler"))
            .args(words)
            .args(["-w", "-o", "failing"])
            .current_dir(place.root.join("tests"))
            .output()
            .expect("the compiler is installed");
        assert!(compiled.status.success(), "{name}: {compiled:?}");
        let binary = place.root.join("tests/failing");
        let ended = Command::new(binary).output().expect("it starts");
        assert!(!ended.status.success(), "{name}: {written}");
        assert!(stderr(&ended).contains("rror"), "{name}: {ended:?}");
    }
}

#[test]
fn the_least_number_by_minus_one_is_found_without_looking_for_overflows() {
    for operator in ["/", "%"] {
        let place = Place::new();
        place.write(
            "unit.c",
            format!("int f(int a, int b)\n{{\n    int sum = a + b;\n    return b == 0 ? sum : a {operator} b;\n}}\n"),
        );
        let flags = ["project/unit.c", "--function", "f"];
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(1), "{text}{errors}");
        assert!(text.contains("b = -1"), "{text}");
        assert!(text.contains("unit.c:4"), "{text}");
        let (status, text, errors) =
            prove(&place, &[flags.as_slice(), &["--check", "bounds"]].concat());
        assert_ne!(status, Some(1), "{text}{errors}");
    }
}

#[test]
fn an_alternative_that_makes_a_loop_of_constants_endless_hides_no_repair() {
    let place = Place::new();
    // With `<=` or `--` the loop never ends, and nothing that depends on the input decides that.
    place.write(
        "sum.c",
        "#include <assert.h>\nint f(unsigned char a, unsigned char b)\n{\n    int sum = 0;\n    for (int i = 0; i < 30; i++)\n        \
         sum += a - b;\n    for (int once = 0; once < 1; once = 1)\n        sum = sum + 0;\n    assert(sum == 30 * (a + b));\n    return sum;\n}\n",
    );
    let flags = [
        "project/sum.c",
        "--function",
        "f",
        "--repair",
        "--level",
        "1",
        "--max-edits",
        "1",
        "--json",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    let report = json(&text);
    // Of the loop that counts down nobody knows that it has no end.
    assert_eq!(report["repairs"]["undecided"], 1, "{text}");
    let diffs = report["repairs"]["repairs"]
        .as_array()
        .expect("repairs")
        .iter();
    let mut added = diffs.filter_map(|one| {
        let diff = one["diff"].as_str()?;
        diff.lines()
            .find(|line| line.starts_with('+') && !line.starts_with("+++"))
            .map(str::to_owned)
    });
    assert!(
        added.any(|line| line.trim() == "+        sum += a + b;"),
        "{text}"
    );
}

#[test]
fn where_patches_lead_to_what_is_not_encoded_the_list_is_not_complete() {
    let place = Place::new();
    place.write(
        "wide.c",
        "#include <assert.h>\nint f(int a)\n{\n    int n = a & 15, least = 0;\n    if (n < 0) {\n        long double d = n;\n        \
         least = d + 1 > 0;\n    }\n    assert(n != 3 || least);\n    return n;\n}\n",
    );
    let flags = [
        "project/wide.c",
        "--function",
        "f",
        "--repair",
        "--level",
        "1",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(text.contains("The list is not complete"), "{text}");
    assert!(
        text.contains("what is calculated with `long double`"),
        "{text}"
    );
}

#[test]
fn an_index_is_repaired_and_the_counterexample_becomes_a_test() {
    let place = Place::new();
    let file = place.write("buffer.c", example("buffer.c"));
    let flags = ["project/buffer.c", "--function", "put", "--test", "tests"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("at = 4\n"), "{text}");
    let test = place.root.join("tests/counterexample.c");
    let text = fs::read_to_string(&test).expect("it was written");
    assert!(text.contains(file.to_str().unwrap()), "{text}");
    let binary = place.root.join("test");
    let compiled = Command::new("gcc")
        .args(["-w", "-fsanitize=address", "-o"])
        .args([&binary, &test])
        .status()
        .expect("gcc is installed");
    assert!(compiled.success());
    assert!(
        !Command::new(&binary)
            .output()
            .expect("it starts")
            .status
            .success()
    );
    let flags = [
        "project/buffer.c",
        "--function",
        "put",
        "--repair",
        "--level",
        "3",
        "--max-edits",
        "1",
        "--json",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    let report = json(&text);
    let all = report["repairs"]["repairs"].as_array().unwrap();
    // `at > C` with any constant that excludes 4: what is left of the table shrinks.
    let ranges: Vec<&serde_json::Value> = all.iter().map(|one| &one["constants"]).collect();
    assert!(
        ranges.iter().any(|ranges| ranges
            .as_array()
            .is_some_and(|all| all.iter().any(|range| range[1] == 3))),
        "{all:?}"
    );
}

#[test]
fn lines_of_which_every_repair_changes_one_are_named() {
    let place = Place::new();
    place.write("clamp.c", example("clamp.c"));
    let flags = ["project/clamp.c", "--function", "clamp", "--locate"];
    let (status, text, errors) = prove(&place, &[&flags[..], &["--json"]].concat());
    assert_eq!(status, Some(1), "{errors}");
    let report = json(&text);
    let sets = &report["must_sets"][0];
    let lines = |name: &str| -> Vec<u64> {
        let all = sets[name].as_array().unwrap();
        all.iter()
            .map(|place| place["line"].as_u64().unwrap())
            .collect()
    };
    assert!(lines("slice").contains(&8), "{sets}");
    assert!(!lines("slice").contains(&10), "{sets}");
    assert!(
        lines("core")
            .iter()
            .all(|line| lines("slice").contains(line)),
        "{sets}"
    );
    let (_, text, _) = prove(&place, &[&flags[..], &["--annotate"]].concat());
    assert!(text.contains("*     8      if (value < high)\n"), "{text}");
}

#[test]
fn what_is_wrong_with_the_input_is_said() {
    let place = Place::new();
    place.write("twice.c", "int twice(int n) { return 2 * n; }\n");
    place.write(
        "other.c",
        "int twice(int n) { return n + n; }\nint main(void) { return twice(0); }\n",
    );
    place.write(
        "endless.c",
        "#include <assert.h>\nint main(void) { int n[1] = {0}; for (;;) { assert(n[0] >= 0); n[0] ^= 1; } }\n",
    );
    place.write(
        "deep.c",
        "#include <assert.h>\nint f(int n) { return f(n + 1) + 1; }\nint main(void) { assert(f(0)); return 0; }\n",
    );
    place.write(
        "missing.c",
        "#include <assert.h>\nint mystery(int);\nint main(void) { assert(mystery(1) != 5); return 0; }\n",
    );
    for (flags, status, message) in [
        (
            &["project/twice.c"][..],
            2,
            "no file that was given defines `main`; name a function with --function, one of: twice",
        ),
        (
            &["project/twice.c", "--function", "twice"],
            2,
            "there is nothing to prove about `twice`: it has no assertion",
        ),
        (
            &["project/twice.c", "--function", "thrice"],
            2,
            "no function `thrice` is defined in the files that were given; defined are: twice",
        ),
        (
            &["project/twice.c", "project/other.c", "--function", "twice"],
            2,
            "several files define a function `twice`",
        ),
        (
            &["project/twice.c", "--function", "twice", "--length", "n=3"],
            2,
            "`--length n=3`: `twice` has no such pointer input",
        ),
        (
            &["project/twice.c", "--function", "twice", "--check", "bound"],
            2,
            "there is no such check",
        ),
        (
            &["project/other.c", "--trusted", "thrice"],
            2,
            "is neither a file that was given nor a function",
        ),
        (
            &["project/endless.c", "--bound", "5"],
            5,
            "It never ends, whatever its input is",
        ),
        (
            &["project/deep.c", "--bound", "5"],
            5,
            "executions go on beyond that",
        ),
        (
            &["project/missing.c"],
            1,
            "`mystery` has no body, and is taken to return anything",
        ),
        (&["project/none.c"], 2, "No such file"),
    ] {
        let (found, text, errors) = prove(&place, flags);
        assert_eq!(found, Some(status), "{flags:?}: {text}{errors}");
        let all = format!("{text}{errors}");
        assert!(all.contains(message), "{flags:?}: {all}");
    }
}

/// A program whose inputs are numbers on its command line, and one with a wrong comparison.
pub const DOSE: &str = "#include <stdio.h>\n#include <stdlib.h>\n
int weight, age;
int dose(void) { int d = weight / 2; if (age < 12 && d > 30) d = 30; return d; }
int main(int argc, char *argv[])
{
    if (argc < 3) { fprintf(stderr, \"usage: dose WEIGHT AGE\\n\"); exit(1); }
    weight = atoi(argv[1]);
    age = atoi(argv[2]);
    printf(\"%d\\n\", dose());
    return 0;
}
";

#[test]
fn at_level_three_repairs_of_one_change_come_before_those_of_two() {
    let place = Place::new();
    let program = |condition: &str| {
        format!(
            "int price(int age, int members)\n{{\n    if ({condition})\n        return 80;\n    return 100;\n}}\n"
        )
    };
    place.write("good.c", program("members > 2 && age >= 18"));
    place.write("bad.c", program("members > 2"));
    let flags = [
        "project/bad.c",
        "--function",
        "price",
        "--like",
        "project/good.c",
        "--repair",
        "--level",
        "3",
        "--json",
    ];
    let found = |edits: &str| {
        let flags = [&flags[..], &["--max-edits", edits]].concat();
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(0), "{text}{errors}");
        let repairs = json(&text)["repairs"].clone();
        assert_eq!(repairs["complete"], true);
        repairs["repairs"].as_array().unwrap().clone()
    };
    let one = found("1");
    let two = found("2");
    let added = |repair: &serde_json::Value| {
        repair["diff"]
            .as_str()
            .unwrap()
            .contains("age >= 18 && members > 2")
    };
    assert!(one.iter().any(added), "{one:?}");
    assert_eq!(two[..one.len()], one);
}

#[test]
fn a_file_is_read_by_two_starts_of_the_compiler() {
    let place = Place::new();
    let program =
        "#include <stdio.h>\n#define MOST 3\nint f(int n)\n{\n    return n > MOST ? MOST : n;\n}\n";
    place.write("one.c", program);
    place.write("two.c", program);
    let starts = place.project().join("starts");
    place.script(
        "compiler",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] || echo start >>'{}'\n\
             for compiler in clang-19 clang-22 clang-21 clang-20 clang-18 clang-17 clang-16 clang; do\n\
             \x20   command -v $compiler >/dev/null && exec $compiler \"$@\"\ndone\nexit 1\n",
            starts.display()
        ),
    );
    let flags = ["prove", "project/one.c", "--function", "f"];
    let output = place
        .patchwright([&flags[..], &["--like", "project/two.c"]].concat())
        .env("PATCHWRIGHT_CLANG", place.project().join("compiler"))
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let starts = fs::read_to_string(starts).expect("it was started");
    assert_eq!(starts.lines().count(), 4);
}

#[test]
fn reaching_the_error_is_the_failure_whatever_the_programs_own_function_does_there() {
    let place = Place::new();
    place.write(
        "wrap.c",
        "extern char __VERIFIER_nondet_char(void);\nvoid reach_error(void) {}\nint main(void)\n{\n    \
         char a = __VERIFIER_nondet_char();\n    char b = -a;\n    if (a < 0 && b < 0)\n        reach_error();\n    return 0;\n}\n",
    );
    let (status, text, errors) = prove(&place, &["project/wrap.c"]);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("__VERIFIER_nondet_char = -128"), "{text}");
    assert!(text.contains("The interpreter agrees."), "{text}");
}

#[test]
fn what_only_seems_to_fail_because_something_is_not_encoded_is_unknown() {
    let place = Place::new();
    place.write(
        "grow.c",
        "#include <assert.h>\n#include <stdlib.h>\nint main(void)\n{\n    unsigned n = rand() & 7;\n    \
         int *p = calloc(n + 1, sizeof *p);\n    int *q = realloc(p, (n + 2) * sizeof *q);\n    assert(q[n] == 0);\n    \
         free(q);\n    return 0;\n}\n",
    );
    let (status, text, errors) = prove(&place, &["project/grow.c"]);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.contains("`realloc` of zeroed memory"), "{text}");
}

#[test]
fn a_loop_that_constants_keep_going_for_ever_holds_as_far_as_it_is_followed() {
    let place = Place::new();
    place.write(
        "ring.c",
        "#include <assert.h>\nint main(void)\n{\n    int i[1] = {0};\n    while (i[0] >= 0) {\n        i[0] = (i[0] + 1) % 10;\n        \
         assert(i[0] < 10);\n    }\n    return 0;\n}\n",
    );
    let flags = ["project/ring.c", "--max-instructions", "20000"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.starts_with("Bounded: "), "{text}");
    assert!(
        text.contains("It never ends, whatever its input is"),
        "{text}"
    );
    // Of several paths it is not known how far each was followed. (Pointers are not carried from round to round.)
    place.write(
        "two.c",
        "#include <assert.h>\nextern int nondet_int(void);\nint main(void)\n{\n    int own[1] = {0}, *i = own;\n    if (nondet_int() > 3)\n        \
         while (*i >= 0) {\n            *i = (*i + 1) % 10;\n            assert(*i < 10);\n        }\n    else\n        \
         while (*i >= 0) {\n            *i = (*i + 1) % 20;\n            assert(*i < 20);\n        }\n    return 0;\n}\n",
    );
    let flags = ["project/two.c", "--max-instructions", "20000"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.starts_with("Bounded: "), "{text}");
    assert!(text.contains("It never ends, for example for"), "{text}");
}

#[test]
#[ignore = "nightly: 9 s; a_function_is_compared_with_a_reference goes this way"]
fn without_a_bound_loops_are_followed_further_as_long_as_that_is_little_work() {
    let place = Place::new();
    let program = "#include <assert.h>\nextern int nondet_int(void);\nint main(void)\n{\n    int n = nondet_int(), i = 0, s = 0;\n    \
                   while (i < n) {\n        s += 3;\n        i++;\n    }\n    assert(s != 120);\n    return 0;\n}\n";
    place.write("deep.c", program);
    let (status, text, errors) = prove(&place, &["project/deep.c"]);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("nondet_int = 40\n"), "{text}");
    place.write("deep.c", program.replace("s != 120", "s != 3000"));
    let (status, text, errors) = prove(&place, &["project/deep.c", "--bound", "16"]);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.contains("as far as 16 rounds of each loop"), "{text}");
    place.write("deep.c", program.replace("s += 3", "s = s * 5 + 3"));
    let (status, text, errors) = prove(&place, &["project/deep.c"]);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.contains("as far as 256 rounds of each loop"), "{text}");
    // What holds in each round is found, so that their number does not matter.
    place.write("deep.c", program.replace("s != 120", "n < 0 || s == 3 * n"));
    let (status, text, errors) = prove(&place, &["project/deep.c"]);
    assert_eq!(status, Some(0), "{text}{errors}");
    let expected =
        "Proved: the program holds for all inputs.\nBy induction over the rounds of 1 loop.\n";
    assert!(text.starts_with(expected), "{text}");
}
