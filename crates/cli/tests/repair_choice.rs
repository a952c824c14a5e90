//! Which of several changes that pass is reported, and first; and what is searched at all.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

/// The added lines of the patches, and what was told.
fn repaired(place: &Place, arguments: &[&str]) -> (Vec<String>, String) {
    let output = place.run(arguments);
    let told = stderr(&output);
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect(&told);
    let patches = report["patches"].as_array().unwrap().iter().map(|patch| {
        let diff = patch["diff"].as_str().unwrap();
        let lines = diff.lines().skip(2);
        let added = lines.filter_map(|line| line.strip_prefix('+').map(str::trim));
        added.collect::<Vec<_>>().join(" | ")
    });
    (patches.collect(), told)
}

const PROGRAM: [&str; 3] = ["repair", "project/program.c", "--json"];

#[test]
#[ignore = "nightly: 7 s; repair::of_candidates_with_equal_code_the_shortest_is_shown goes the same way"]
fn of_changes_with_equal_code_the_one_that_keeps_a_macro_is_shown() {
    let place = Place::new();
    place.write_program(
        "// case 8 => 1
// case 17 => 1
// case 18 => 2
// case 30 => 2
#include <stdio.h>
#include <stdlib.h>
#define GROWN_UP 18

int main(int argc, char **argv)
{
    int age = argc > 1 ? atoi(argv[1]) : 0;
    if (age > GROWN_UP)
        printf(\"2\\n\");
    else
        printf(\"1\\n\");
    return 0;
}
",
    );
    let output = place.run(["repair", "project/program.c"]);
    let text = stdout(&output);
    let first = text.split("patch 2 ").next().unwrap();
    assert!(first.contains("+    if (age >= GROWN_UP)"), "{text}");
    assert!(!first.contains("but the compiler does"), "{text}");
}

#[test]
#[ignore = "nightly: 6 s; the kind is tried on its examples"]
fn all_comparisons_of_a_chain_change_together() {
    let place = Place::new();
    place.write_program(
        "// case 1 2 => 2
// case 2 1 => 2
// case 2 2 => 2
// case 5 5 => 5
// case 0 3 => 3
// case 3 0 => 3
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int a = atoi(argv[1]), b = atoi(argv[2]);
    if (a > b && a > 0)
        printf(\"%d\\n\", a);
    else if (b > a && b > 0)
        printf(\"%d\\n\", b);
    return argc > 3;
}
",
    );
    let output = place.run([
        "repair",
        "project/program.c",
        "--schemas",
        "operator",
        "--json",
    ]);
    let text = stdout(&output);
    assert!(
        text.contains("if (a >= b && a >= 0)"),
        "{text}{}",
        stderr(&output)
    );
}

#[test]
#[ignore = "nightly: 7 s; patches_are_looked_at_as_they_come_and_one_is_chosen goes this way"]
fn a_library_that_is_one_header_is_searched_though_only_a_test_includes_it() {
    let place = Place::new();
    place.write(
        "queue.h",
        "#ifndef QUEUE_H
#define QUEUE_H
static int queue_next(int at, int size)
{
    return at + 1;
}
#endif
",
    );
    place.write(
        "tests/main.c",
        "#include <stdio.h>
#include <stdlib.h>
#include \"../queue.h\"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    printf(\"%d\\n\", queue_next(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
",
    );
    for (name, arguments, output) in [
        ("a", "0 4", "1\n"),
        ("b", "2 4", "3\n"),
        ("c", "3 4", "0\n"),
    ] {
        place.write(&format!("cases/{name}.args"), arguments);
        place.write(&format!("cases/{name}.out"), output);
    }
    let (patches, told) = repaired(
        &place,
        &[
            "repair",
            "project",
            "--build",
            "cc -g -o main tests/main.c",
            "--program",
            "main",
            "--cases",
            "cases",
            "--json",
        ],
    );
    assert!(
        patches.contains(&"return (at + 1) % size;".to_owned()),
        "{patches:#?}{told}"
    );
}

#[test]
#[ignore = "nightly: 7 s; patches_are_looked_at_as_they_come_and_one_is_chosen goes this way"]
fn a_function_that_a_macro_makes_is_named_at_the_use() {
    let place = Place::new();
    place.write_program(
        "// case 3 => 5
// case 0 => 2
// case 7 => 9
#include <stdio.h>
#include <stdlib.h>
#define ADDER(name, by) \\
  static int name(int a) { return a + (by); } \\
  static int name##_twice(int a) { return name(name(a)); }

ADDER(one, 1)
ADDER(three, 3)

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    printf(\"%d\\n\", argc > 4 ? three_twice(n) : one_twice(n) + 1);
    return 0;
}
",
    );
    let (patches, told) = repaired(&place, &PROGRAM);
    assert!(!patches.is_empty(), "{told}");
    assert!(
        told.contains("in one (program.c:10): its body comes from a macro that is used there"),
        "{told}"
    );
    assert!(!told.contains("several ways"), "{told}");
}

#[test]
#[ignore = "nightly: a minute of both cores; limits of processor time are tested in crate exec, kept bounds in repair/tests/put_off.rs"]
fn a_bound_that_makes_a_loop_much_longer_is_found_whatever_the_test_took_before() {
    let place = Place::new();
    place.write(
        "program.c",
        "#include <stdio.h>

int main(void)
{
    unsigned n, sum = 0;
    if (scanf(\"%u\", &n) != 1)
        return 1;
    unsigned last = 3000000;
    for (unsigned i = 0; i < 300; i++) {
        if (i > n)
            break;
        sum += i % 7;
    }
    printf(\"%u %u\\n\", sum, last / 3000000);
    return 0;
}
",
    );
    let sum = |n: u64| -> u64 { (0..=n).map(|i| i % 7).sum() };
    for n in [5, 250, 2_900_000] {
        place.write(&format!("cases/{n}.in"), format!("{n}\n"));
        place.write(&format!("cases/{n}.out"), format!("{} 1\n", sum(n)));
    }
    let (patches, told) = repaired(
        &place,
        &[
            "repair",
            "project/program.c",
            "--schemas",
            "expression",
            "--max-cost",
            "2",
            "--json",
        ],
    );
    let wanted = |patch: &String| patch.contains("i < last") || patch.contains("i < 3000000");
    assert!(patches.iter().any(wanted), "{patches:#?}{told}");
}

#[test]
fn patches_are_looked_at_as_they_come_and_one_is_chosen() {
    use std::io::Write;
    let place = Place::with_max2();
    let mut child = place
        .patchwright(["repair", "project/max.c", "--interactive"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let commands = "?\nnothing\nw\nl\n1\nn\np\n99\napply\nn\napply\ny\n";
    let mut to = child.stdin.take().unwrap();
    to.write_all(commands.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = crate::common::stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("`nothing` is no command"), "{said}");
    assert!(
        said.contains("> 1  max.c:8 · EXPRESSION · cost 1"),
        "{said}"
    );
    assert!(said.contains("there is no patch 99"), "{said}");
    assert!(said.contains("the patch is not applied"), "{said}");
    assert!(said.contains("the patch is applied to"), "{said}");
    let source = std::fs::read_to_string(place.project().join("max.c")).unwrap();
    assert!(!source.contains("if (a > b) {"), "{source}");
}
