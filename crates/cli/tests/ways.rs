//! `patchwright repair` on a source that is compiled in several ways.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

/// A project in which `foo.c` goes into a program and, wider, into a shared library.
fn project(source: &str) -> Place {
    let place = Place::new();
    place.write("foo.c", source);
    place.write(
        "main.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint clamp(int, int);\n\
         int main(int argc, char **argv) {\n\
         printf(\"%d\\n\", clamp(atoi(argv[1]), atoi(argv[argc - 1])));\n return 0; }\n",
    );
    place.write(
        "Makefile",
        "all: plain wide\n\
         plain: main.c foo.c\n\tcc -o plain main.c foo.c\n\
         libfoo.so: foo.c\n\tcc -DWIDE -fPIC -shared -o libfoo.so foo.c\n\
         wide: main.c libfoo.so\n\tcc -o wide main.c ./libfoo.so\n",
    );
    place.script(
        "run.sh",
        "#!/bin/sh\nset -- $(echo $1 | tr _ ' ')\n[ \"$(./$1 $2 $3)\" = $4 ]\n",
    );
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"make -s\"\n[tests]\ndriver = \"run.sh\"\nnames = [\"plain_1_5_1\", \
         \"plain_6_5_5\", \"plain_9_5_5\", \"wide_1_5_1\", \"wide_6_5_5\", \"wide_9_5_5\"]\n\
         [repair]\nfiles = [\"foo.c\"]\n",
    );
    place
}

fn repaired(place: &Place) -> serde_json::Value {
    let output = place.run(["repair", "project", "--json"]);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{all}");
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        report["stats"]["rejected_by_verification"],
        serde_json::json!([]),
        "{all}"
    );
    report
}

fn lines(report: &serde_json::Value) -> Vec<u64> {
    let patches = report["patches"].as_array().unwrap();
    patches
        .iter()
        .map(|patch| patch["line"].as_u64().unwrap())
        .collect()
}

const SHARED_BUG: &str = "#ifdef WIDE\ntypedef long number;\n#define STEP 2\n#else\n\
typedef int number;\n#define STEP 1\n#endif\n\
int clamp(int value, int limit) {\n\
  number scaled = value * STEP;\n\
  if (value > limit + 1)\n\
    scaled = limit * STEP;\n\
  return (int)(scaled / STEP);\n\
}\n";

#[test]
#[ignore = "nightly: 15 s; crate schemata weaves sources that are compiled in several ways"]
fn what_all_ways_agree_on_is_repaired_in_all_of_them() {
    let report = repaired(&project(SHARED_BUG));
    assert_eq!(lines(&report)[0], 10, "{report}");
    // What differs is not changed, nor put into a patch.
    for patch in report["patches"].as_array().unwrap() {
        let diff = patch["diff"].as_str().unwrap();
        let added = diff.lines().filter(|line| line.starts_with("+if"));
        assert!(
            !added.into_iter().any(|line| line.contains("scaled")),
            "{diff}"
        );
        // `value` is the same in both ways, and the product is not.
        assert!(patch["line"] != 9 || diff.contains(" * STEP;\n"), "{diff}");
    }
    let left_out = &report["stats"]["compiled_in_ways_that_disagree"];
    assert!(left_out.as_u64().unwrap() > 0, "{left_out}");
}

#[test]
#[ignore = "nightly: 16 s; what_all_ways_agree_on_is_repaired_in_all_of_them goes the same way"]
fn what_only_one_way_has_is_repaired_there() {
    let source = "int clamp(int value, int limit) {\n#ifdef WIDE\n\
         if (value > limit + 1)\n    return limit;\n#else\n\
         if (value > limit)\n    return limit;\n#endif\n  return value;\n}\n\
         #ifdef WIDE\nint more(int a) { return a + 1; }\n#endif\n";
    let report = repaired(&project(source));
    assert_eq!(lines(&report)[0], 3, "{report}");
    // A function that only the second way has is looked at, too.
    assert_eq!(report["stats"]["functions"], 1);
    assert_eq!(report["stats"]["refused_functions"], serde_json::json!({}));
}

#[test]
#[ignore = "nightly: 11 s; crate schemata weaves sources that are compiled in several ways"]
fn what_a_header_defines_for_clang_only_is_not_called() {
    let place = Place::new();
    // Clang reads the source, and gcc builds it.
    place.write(
        "bound.h",
        "int clamp(int n, int most);\nint bounded(int n);\n\
         #ifdef __clang__\nstatic inline int only_here(int n) { return n & 7; }\n#else\nint only_here(int n);\n#endif\n",
    );
    place.write(
        "bound.c",
        "#include \"bound.h\"\n\
         int clamp(int n, int most) {\n  if (n > most)\n    return n;\n  return n;\n}\n\
         int bounded(int n) {\n  return clamp(n, 5);\n}\n",
    );
    place.write(
        "main.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include \"bound.h\"\n\
         int main(int argc, char **argv) {\n  (void)argc;\n  printf(\"%d\\n\", bounded(atoi(argv[1])));\n  return 0;\n}\n",
    );
    place.script(
        "run.sh",
        "#!/bin/sh\n[ \"$(./bound ${1%_*})\" = ${1#*_} ]\n",
    );
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"gcc -O1 -o bound main.c bound.c\"\n[tests]\ndriver = \"run.sh\"\n\
         names = [\"1_1\", \"5_5\", \"6_5\", \"9_5\"]\n",
    );
    let report = repaired(&place);
    let diff = report["patches"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("+    return most;"), "{diff}");
    assert!(!report.to_string().contains("only_here"), "{report}");
}
