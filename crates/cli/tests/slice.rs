//! `patchwright slice` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

const SUM: &str = "#include <stdio.h>
#include <stdlib.h>
int scale(int n);
int main(int argc, char **argv) {
  int total = 0;
  int count = 0;
  for (int i = 1; i < argc; i++) {
    count++;
    if (atoi(argv[i]) > 0)
      total += scale(atoi(argv[i]));
  }
  printf(\"%d\\n\", count);
  printf(\"%d\\n\", total);
  return 0;
}
";

const SCALE: &str = "int scale(int n) {
  return n * 2;
}
";

fn place() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.project()).unwrap();
    fs::write(place.project().join("sum.c"), SUM).unwrap();
    fs::write(place.project().join("scale.c"), SCALE).unwrap();
    place
}

/// The lines of the files of a slice.
fn lines(place: &Place, arguments: &[&str]) -> Vec<(String, Vec<u64>)> {
    let output = place.run(
        ["slice", "--json", "--with", "project/scale.c"]
            .iter()
            .chain(arguments),
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["schema"], "patchwright-slice");
    let files = report["slice"]["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let lines = file["lines"].as_array().unwrap().iter();
            let numbers = lines.map(|line| line["line"].as_u64().unwrap());
            let path = file["path"].as_str().unwrap();
            (
                path.rsplit('/').next().unwrap().to_owned(),
                numbers.collect(),
            )
        })
        .collect()
}

#[test]
fn a_slice_goes_through_the_files_of_a_program() {
    let place = place();
    assert_eq!(
        lines(&place, &["--cflags", "-w", "project/sum.c:13"]),
        [
            ("sum.c".to_owned(), vec![5, 7, 9, 10, 13]),
            ("scale.c".to_owned(), vec![2])
        ]
    );
    assert_eq!(
        lines(&place, &["project/sum.c:12:count"]),
        [("sum.c".to_owned(), vec![6, 7, 8, 12])]
    );
}

#[test]
fn an_execution_shows_what_contributed_and_what_was_decided() {
    let place = place();
    let dynamic = lines(&place, &["project/sum.c:13", "--dynamic", "--", "-4", "-5"]);
    assert_eq!(dynamic, [("sum.c".to_owned(), vec![5, 13])]);
    let relevant = lines(
        &place,
        &["project/sum.c:13", "--relevant", "--", "-4", "-5"],
    );
    assert_eq!(relevant, [("sum.c".to_owned(), vec![5, 7, 9, 13])]);
}

#[test]
fn what_means_nothing_is_explained() {
    let place = place();
    for (arguments, status, message) in [
        (vec!["project/sum.c"], 2, "is not a place: write FILE:LINE"),
        (vec!["project/none.c:3"], 2, "none.c"),
        (
            vec!["project/scale.c:1"],
            2,
            "the nearest lines with code: 2",
        ),
        (
            vec!["project/scale.c:2:x"],
            2,
            "variables of its function: n",
        ),
        (
            vec!["project/sum.c:10", "--with", "project/scale.c", "--dynamic"],
            1,
            "does not get to",
        ),
    ] {
        let output = place.run(["slice"].iter().chain(&arguments));
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn a_slice_names_what_was_not_lowered_and_says_that_it_may_miss_something() {
    let place = place();
    let source = "#include <stdio.h>
static int n = 1;
int plain(int k) {
  return k + 1;
}
static void change(void) {
  int v;
  __asm__(\"movl $5, %0\" : \"=r\"(v));
  n = v;
}
int main(void) {
  change();
  printf(\"%d\\n\", n);
  return 0;
}
";
    fs::write(place.project().join("gap.c"), source).unwrap();
    let output = place.run(["slice", "--json", "project/gap.c:13"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let slice = &report["slice"];
    assert_eq!(slice["may_be_incomplete"], true);
    let gap = &slice["gaps"][0];
    assert_eq!(
        (gap["name"].as_str(), gap["line"].as_u64()),
        (Some("change"), Some(8)),
        "{slice}"
    );
    let path = gap["path"].as_str().unwrap();
    assert!(path.ends_with("project/gap.c"), "{gap}");
    assert!(
        gap["reason"].as_str().unwrap().starts_with("not lowered: "),
        "{gap}"
    );
    let warning = "gap.c:8: change: not lowered: ";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    let text = place.run(["slice", "project/gap.c:13"]);
    assert!(stdout(&text).contains("lines may be missing"));

    // When the handlers of signals are executed is not followed either; and of what has no gap nothing is said.
    let handler = "#include <signal.h>
static int n;
static void note(int s) {
  n = s;
}
int main(void) {
  signal(SIGINT, note);
  return n;
}
";
    fs::write(place.project().join("handler.c"), handler).unwrap();
    let output = place.run(["slice", "--json", "project/handler.c:8"]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["slice"]["may_be_incomplete"], true, "{report}");
    assert!(stderr(&output).contains("handler.c:7: main: `signal`"));
    let output = place.run(["slice", "--json", "project/scale.c:2"]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["slice"]["may_be_incomplete"], false);
    assert_eq!(report["slice"]["gaps"], serde_json::json!([]));
    assert!(!stderr(&output).contains("warning"));
}
