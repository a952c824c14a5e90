//! `patchwright repair` where tests crash, and the driver keeps to itself how: nothing but an exit status tells.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

/// What each test gives to the program, and what it must print.
type Cases<'a> = &'a [(&'a str, &'a str)];

/// The diff of the first patch of a program that is built with AddressSanitizer.
fn first_patch(source: &str, cases: Cases<'_>) -> String {
    let place = Place::new();
    place.write("program.c", source);
    for (given, printed) in cases {
        place.write(&format!("expected/{given}"), format!("{printed}\n"));
    }
    place.script(
        "run.sh",
        "#!/bin/sh\n[ \"$(./program $1 2>/dev/null)\" = \"$(cat expected/$1)\" ]\n",
    );
    let names: Vec<String> = cases
        .iter()
        .map(|(given, _)| format!("{given:?}"))
        .collect();
    place.write(
        "patchwright.toml",
        format!(
            "[project]\nbuild = \"cc -g -fsanitize=address -o program program.c\"\n\
             [tests]\ndriver = \"run.sh\"\nnames = [{}]\n",
            names.join(", ")
        ),
    );
    let output = place.run(["repair", "project", "--json", "-j1", "--first"]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    report["patches"][0]["diff"].as_str().unwrap().to_owned()
}

fn adds(diff: &str, line: &str) -> bool {
    diff.lines()
        .any(|added| added.strip_prefix('+').map(str::trim_start) == Some(line))
}

#[test]
fn an_index_from_the_input_becomes_the_last_one_where_it_is_greater() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
        static void label(const unsigned char *record) {\n\
        \x20 char text[4];\n\
        \x20 memcpy(text, record + 1, 4);\n\
        \x20 text[record[0]] = 0;\n\
        \x20 puts(text);\n}\n\
        int main(int argc, char **argv) {\n\
        \x20 unsigned char record[] = { 0, 'a', 'b', 'c', 'd' };\n\
        \x20 (void)argc;\n  record[0] = atoi(argv[1]);\n  label(record);\n  return 0; }\n";
    let cases = [
        ("0", ""),
        ("2", "ab"),
        ("3", "abc"),
        ("4", "abc"),
        ("200", "abc"),
    ];
    let found = first_patch(source, &cases);
    assert!(
        adds(&found, "text[record[0] < 3 ? record[0] : 3] = 0;"),
        "{found}"
    );
}

#[test]
#[ignore = "nightly: 8 s; the kind is tried on its examples, and the others of this file mend crashes"]
fn a_function_is_left_before_it_reads_behind_the_end_with_which_it_compares() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
        #define SHORT (2 << 3)\n#define MISSING (SHORT - 3)\n\
        static int number(const char *data, size_t size) {\n\
        \x20 const char *p = data;\n\
        \x20 if (size == 0)\n    return SHORT;\n\
        \x20 for (;;) {\n\
        \x20   if (p == data + size)\n      return MISSING;\n\
        \x20   if (*p == 'L') {\n\
        \x20     int tens = p[1] - '0', ones;\n\
        \x20     ones = p[2] - '0';\n\
        \x20     return tens * 10 + ones;\n    }\n\
        \x20   p++;\n  }\n}\n\
        int main(int argc, char **argv) {\n\
        \x20 size_t size = strlen(argv[1]);\n\
        \x20 char *data = malloc(size);\n  (void)argc;\n\
        \x20 memcpy(data, argv[1], size);\n\
        \x20 printf(\"%d\\n\", number(data, size));\n  free(data);\n  return 0; }\n";
    let cases = [
        ("xxL12", "12"),
        ("xL07x", "7"),
        ("xx", "13"),
        ("xxL1", "16"),
        ("L9", "16"),
        ("xyL2", "16"),
    ];
    let found = first_patch(source, &cases);
    assert!(
        adds(&found, "if (p + 2 >= data + size) return SHORT;"),
        "{found}"
    );
}

#[test]
#[ignore = "nightly: 6 s; the kind is tried on its examples, and an_index_from_the_input_becomes_the_last_one_where_it_is_greater mends a crash"]
fn an_allocation_that_is_one_too_small_gets_one_more() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
        static char *quoted(const char *text, int twice) {\n\
        \x20 char *all = malloc(strlen(text) + 3);\n\
        \x20 strcpy(all, twice ? \"''\" : \"'\");\n\
        \x20 strcat(all, text);\n  strcat(all, \"'\");\n  return all;\n}\n\
        int main(int argc, char **argv) {\n\
        \x20 char *all = quoted(argv[1], argv[1][0] == '#');\n\
        \x20 (void)argc;\n  puts(all);\n  free(all);\n  return 0; }\n";
    let cases = [
        ("ab", "'ab'"),
        ("abcdefgh", "'abcdefgh'"),
        ("#1", "''#1'"),
        ("#longer-one-1234", "''#longer-one-1234'"),
    ];
    let found = first_patch(source, &cases);
    assert!(
        adds(&found, "char *all = malloc(strlen(text) + 4);"),
        "{found}"
    );
}
