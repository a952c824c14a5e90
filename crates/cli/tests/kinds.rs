//! The kinds of change that are data: listed, shown, and added by a user in one file.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

const OWN: &str = "\
kind bound-one-less: loop, cost 1
  about The bound of a loop is twice one less.
  find $i < $n
  where $i is variable
  where statement is loop
  replace $i < $n - 1 - 1
  example
    int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
  becomes
    int f(int n) { int s = 0; for (int i = 0; i < n - 1 - 1; i++) s += i; return s; }
";

const PROGRAM: &str = "\
// case 5 => 3
// case 9 => 21
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    printf(\"%d\\n\", sum);
    return 0;
}
";

#[test]
fn kinds_are_listed_by_schema_with_their_sentences() {
    let place = Place::new();
    let output = place.run(["kinds"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("\nSWAP\n") || text.starts_with("SWAP\n"),
        "{text}"
    );
    assert!(
        text.contains("Two indices of an element are exchanged."),
        "{text}"
    );
}

#[test]
fn a_kind_is_shown_as_its_file_writes_it() {
    let place = Place::new();
    let output = place.run(["kinds", "exchanged-subscripts"]);
    let text = stdout(&output);
    assert!(
        text.starts_with("kind exchanged-subscripts: swap, cost 2\n"),
        "{text}"
    );
    assert!(text.contains("  find $a[$i][$j]\n"), "{text}");
    let output = place.run(["kinds", "exchanged-subscripts", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["schema"], "patchwright-kinds");
    assert_eq!(json["kinds"][0]["of"], "swap");
    assert!(json["kinds"][0]["examples"][0]["before"].is_string());
    let output = place.run(["kinds", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "patchwright: error: there is no kind of change `nothing`; `patchwright kinds` lists them\n"
    );
}

#[test]
fn a_list_that_cannot_be_read_is_told_with_its_place_and_the_remedy() {
    let place = Place::new();
    place.write_program(PROGRAM);
    place.write("own.kinds", OWN.replace("$n - 1 - 1\n", "$m - 1\n"));
    for command in [
        &["kinds", "--kinds", "project/own.kinds"][..],
        &[
            "repair",
            "project/program.c",
            "--kinds",
            "project/own.kinds",
        ],
    ] {
        let output = place.run(command);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            stderr(&output),
            "patchwright: error: project/own.kinds:1:1: nothing fills the hole `m`; name it in `find` or in an `each` that comes before\n"
        );
    }
}

#[test]
fn a_kind_is_added_in_one_file() {
    let place = Place::new();
    place.write_program(PROGRAM);
    let schemas = ["--schemas", "loop", "--json"];
    let repaired = |more: &[&str]| {
        let arguments = [&["repair", "project/program.c"], &schemas[..], more].concat();
        let output = place.run(arguments);
        let json: serde_json::Value = serde_json::from_str(&stdout(&output))
            .unwrap_or_else(|_| panic!("{}", stderr(&output)));
        let first = &json["patches"][0];
        (first["kind"].clone(), first["diff"].clone())
    };
    assert!(repaired(&[]).0.is_null());
    let file = place.write("own.kinds", OWN);
    let (kind, diff) = repaired(&["--kinds", file.to_str().unwrap()]);
    assert_eq!(kind, "bound-one-less");
    assert!(
        diff.as_str()
            .unwrap()
            .contains("+    for (int i = 0; i < n - 1 - 1; i++)")
    );
}
