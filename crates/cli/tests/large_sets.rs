//! Sets of patches that are too large to be woven at once.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

#[test]
#[ignore = "nightly: 20 s; validate::plain::verdicts_do_not_depend_on_workers_or_on_what_came_before has several workers"]
fn every_portion_of_a_large_set_is_woven_by_several_workers() {
    let place = Place::new();
    place.write(
        "scale.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint scale(int x) {\n  return x * 3 + 1;\n}\n\
         int main(int argc, char **argv) { printf(\"%d\\n\", scale(atoi(argv[1]))); return 0; }\n",
    );
    for number in [1, 2, 5] {
        place.write(&format!("cases/{number}.args"), format!("{number}\n"));
        place.write(
            &format!("cases/{number}.out"),
            format!("{}\n", number * 3 + 1),
        );
    }
    // The first portion has 500; what is left is two more.
    let patches: Vec<String> = (2..3002)
        .map(|number| {
            let diff = format!(
                "--- a/scale.c\n+++ b/scale.c\n@@ -4 +4 @@\n-  return x * 3 + 1;\n+  return x * 3 + {number};\n"
            );
            serde_json::json!({"id": number.to_string(), "patch": diff}).to_string()
        })
        .collect();
    place.write("patches.jsonl", patches.join("\n"));
    let output = place.run([
        "validate",
        "project/scale.c",
        "project/patches.jsonl",
        "-j",
        "2",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["summary"]["implausible"], 3000);
    assert_eq!(report["stats"]["woven"]["patches"], 3000);
    assert_eq!(report["stats"]["full_builds"], 0);
}
