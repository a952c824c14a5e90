//! A search that finds nothing says what of the code no schema changes.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

const MAIN: &str = r#"#include <stdio.h>
#include <string.h>
#include "scale.h"

#define LIMIT (9)
#define CLAMP(x) ((x) > LIMIT ? LIMIT : (x))

extern int base;
static const int weights[] = {3, 1, 4};
static const char *const names[] = {"low", "high"};

static int weigh(char kind) {
  static int calls = 1;
  switch (kind) {
    case 'a':
    case 'b':
      return weights[0];
    case 'c' ... 'e':
      return CLAMP(weights[2] + calls);
    default:
      return 0;
  }
}

static int fenced(int n) {
  __asm__("" : "+r"(n));
  return n;
}

int main(int argc, char **argv) {
  printf("%s %d\n", names[argc > 2], twice(weigh(argv[1][0])) + fenced(base));
  return strcmp(__func__, "main") != 0;
}
"#;

const HEADER: &str = "static inline int plus(int a, int b) { return a + b; }\n\
                      static inline int twice(int n) { return plus(n, n); }\n\
                      static inline int unused(int n) { return n; }\n";

/// A project of two sources and a header, in which no change gives what the second case wants.
fn project() -> Place {
    let place = Place::new();
    place.write("src/main.c", MAIN);
    place.write("src/scale.h", HEADER);
    place.write("src/data.c", "int other = 5;\nint base = 1;\n");
    for (name, arguments, output) in [("good", "a", "low 7\n"), ("bad", "c x", "medium 9\n")] {
        place.write(&format!("cases/{name}.args"), arguments);
        place.write(&format!("cases/{name}.out"), output);
    }
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"gcc -o weigh src/main.c src/data.c\"\n\
         [tests]\nprogram = \"weigh\"\ncases = \"cases\"\n",
    );
    place
}

#[test]
fn what_no_schema_changes_is_named_where_no_patch_was_found() {
    let place = project();
    let output = place.run(["repair", "project", "--max-cost", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let lines = text.lines().filter(|line| !line.starts_with("Explored "));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
#[ignore = "nightly: 2 s; what_no_schema_changes_is_named_where_no_patch_was_found goes this way"]
fn what_no_schema_changes_is_counted_on_the_selected_lines() {
    let place = project();
    let output = place.run([
        "repair",
        "project",
        "--max-cost",
        "1",
        "--json",
        "--files",
        "src/main.c:12-16",
        "src/main.c:30-33",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&report["stats"]["unchangeable"]).unwrap()
    );
}
