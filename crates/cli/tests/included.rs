//! Functions that stand in files which sources include: parts of one large source, libraries of one header.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::io::Write;
use std::process::{Output, Stdio};

use crate::common::{Place, stderr, stdout};

const MAIN: &str = "#include <stdio.h>\n#include \"list.h\"\n\nint main(void)\n{\n    int numbers[20], count = 0;\n    \
    while (count < 20 && scanf(\"%d\", &numbers[count]) == 1)\n        count++;\n    printf(\"%d\\n\", largest(numbers, count));\n    return 0;\n}\n";

const LIST: &str = "#ifndef LIST_H\n#define LIST_H\nstatic int largest(const int *numbers, int count)\n{\n    int best = numbers[0];\n    \
    for (int i = 1; i < count; i++) {\n        if (numbers[i] < best)\n            best = numbers[i];\n    }\n    return best;\n}\n#endif\n";

/// A program of `main.c`, which includes `list.h`; its makefile does not know that.
fn project() -> Place {
    let place = Place::new();
    place.write("main.c", MAIN);
    place.write("list.h", LIST);
    place.write("Makefile", "list: main.c\n\tcc -O1 -o list main.c\n");
    for (name, input, output) in [
        ("a", "1 5 3", "5"),
        ("b", "7", "7"),
        ("c", "-7 -9", "-7"),
        ("d", "4 2 9 9 1", "9"),
        ("e", "3 2 1", "3"),
    ] {
        place.write(&format!("cases/{name}.in"), format!("{input}\n"));
        place.write(&format!("cases/{name}.out"), format!("{output}\n"));
    }
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"make -s\"\n[tests]\nprogram = \"list\"\ncases = \"cases\"\n",
    );
    place
}

#[test]
fn a_function_in_a_header_is_repaired_though_the_makefile_does_not_know_the_header() {
    let place = project();
    let output = place.run(["repair", "project", "--first", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let patch = &report["patches"][0];
    assert_eq!(patch["file"], "list.h", "{patch}");
    let diff = patch["diff"].as_str().unwrap();
    assert!(diff.contains("+        if (numbers[i] >"), "{diff}");
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 4 s; ways::what_all_ways_agree_on_is_repaired_in_all_of_them goes the same way"]
fn a_header_with_functions_that_two_sources_include_is_repaired_in_both() {
    let place = project();
    place.write(
        "twice.c",
        "#include \"list.h\"\nint twice(int n)\n{\n    int one[] = {n, n};\n    return largest(one, 2) * 2;\n}\n",
    );
    place.write(
        "Makefile",
        "list: main.c twice.c\n\tcc -O1 -o list main.c twice.c\n",
    );
    let output = place.run([
        "repair", "project", "--first", "--json", "--files", "list.h",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let diff = report["patches"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("+        if (numbers[i] >"), "{diff}");
}

#[test]
#[ignore = "nightly: 3 s; a_function_in_a_header_is_repaired_though_the_makefile_does_not_know_the_header goes this way"]
fn what_stands_behind_a_header_is_declared_nowhere_in_it() {
    let place = project();
    let arguments = ["--schemas", "declaration", "--places", "1"];
    let project = ["repair", "project", "--files", "list.h"];
    let output = place.run(project.into_iter().chain(arguments));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 18 s; projects::a_static_function_in_a_header_of_several_files_is_repaired_or_left_alone_with_a_reason goes the same way"]
fn a_file_that_is_included_once_for_each_type_is_left_alone_with_a_reason() {
    let place = project();
    let template = LIST
        .replace("#ifndef LIST_H\n#define LIST_H\n", "")
        .replace("#endif\n", "")
        .replace("largest", "NAME(largest)")
        .replace("const int *", "const TYPE *");
    place.write("largest.inc", template);
    place.write(
        "list.h",
        "#define NAME(name) name\n#define TYPE int\n#include \"largest.inc\"\n#undef NAME\n#undef TYPE\n\
         #define NAME(name) name##_long\n#define TYPE long\n#include \"largest.inc\"\n",
    );
    let output = place.run(["repair", "project", "--json", "--budget", "20s"]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{report}{messages}"
    );
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let patches = report["patches"].as_array().unwrap();
    assert!(patches.iter().all(|patch| patch["file"] != "largest.inc"));
    assert!(report.to_string().contains("several ways"), "{report}");
}

#[test]
#[ignore = "nightly: 5 s; a_function_in_a_header_is_repaired_though_the_makefile_does_not_know_the_header goes this way"]
fn patches_of_included_files_are_woven_and_have_the_verdicts_of_their_own_builds() {
    let place = project();
    place.write("all.c", "#include \"list.c\"\n#include \"main.c\"\n");
    place.write("list.c", LIST);
    place.write("list.h", "int largest(const int *numbers, int count);\n");
    place.write("list.c", LIST.replace("static int", "int"));
    place.write(
        "Makefile",
        "list: all.c main.c list.c list.h\n\tcc -O1 -o list all.c\n",
    );
    let change = |id: &str, old: &str, new: &str, line: usize| {
        let diff = format!("--- a/list.c\n+++ b/list.c\n@@ -{line} +{line} @@\n-{old}\n+{new}\n");
        serde_json::json!({"id": id, "patch": diff}).to_string() + "\n"
    };
    let patches = change(
        "right",
        "        if (numbers[i] < best)",
        "        if (numbers[i] > best)",
        7,
    ) + &change(
        "wrong",
        "    int best = numbers[0];",
        "    int best = 0;",
        5,
    ) + &change("broken", "    return best;", "    return bes;", 10)
        + &change(
            "last",
            "            best = numbers[i];",
            "            best = numbers[count - 1];",
            8,
        );
    // Each of its files has an error without the other.
    let both = "--- a/list.c\n+++ b/list.c\n@@ -3 +3 @@\n-int largest(const int *numbers, int count)\n\
        +int greatest(const int *numbers, int count)\n--- a/list.h\n+++ b/list.h\n@@ -1 +1 @@\n\
        -int largest(const int *numbers, int count);\n+int greatest(const int *numbers, int count);\n\
        --- a/main.c\n+++ b/main.c\n@@ -9 +9 @@\n-    printf(\"%d\\n\", largest(numbers, count));\n\
        +    printf(\"%d\\n\", greatest(numbers, count));\n";
    let both = serde_json::json!({"id": "both", "patch": both}).to_string() + "\n";
    let patches = patches + &both;
    let report = |more: &[&str]| -> serde_json::Value {
        let arguments = [&["validate", "project", "-", "--json"], more].concat();
        let output = run_with_input(&place, &arguments, &patches);
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let verdicts = |report: &serde_json::Value| -> Vec<(String, String)> {
        let patches = report["patches"].as_array().unwrap().iter();
        let word = |patch: &serde_json::Value, key: &str| patch[key].as_str().unwrap().to_owned();
        patches
            .map(|patch| (word(patch, "id"), word(patch, "verdict")))
            .collect()
    };
    let (woven, plain) = (report(&["--weave-few"]), report(&["--no-schemata"]));
    assert_eq!(verdicts(&woven), verdicts(&plain));
    assert_eq!(verdicts(&woven)[0].1, "plausible");
    assert_eq!(verdicts(&woven)[4].1, "implausible");
    // What may use a variable without a value is built by itself.
    let count = woven["stats"]["woven"]["patches"].as_u64();
    assert!(count.is_some_and(|count| count > 0), "{woven}");
}

fn run_with_input(place: &Place, arguments: &[&str], input: &str) -> Output {
    let mut child = place
        .patchwright(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut standard_input = child.stdin.take().unwrap();
    standard_input.write_all(input.as_bytes()).unwrap();
    drop(standard_input);
    child.wait_with_output().unwrap()
}

#[test]
#[ignore = "nightly: 4 s; a_function_in_a_header_is_repaired_though_the_makefile_does_not_know_the_header goes this way"]
fn a_source_of_another_language_that_nothing_builds_does_not_take_a_header_away() {
    let place = project();
    place.write(
        "fuzz/list.cc",
        "#include \"../list.h\"\nextern \"C\" int fuzz(const int *data, int n) { return largest(data, n); }\n",
    );
    let output = place.run(["repair", "project", "--first", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["patches"][0]["file"], "list.h", "{report}");
}
