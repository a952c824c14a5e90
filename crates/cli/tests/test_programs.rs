//! Programs and sources of tests that a build compiles beside the program: nothing is changed in them.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::collections::BTreeSet;

use crate::common::{Place, stderr, stdout};

/// The files that patches of a project change, and the messages.
fn changed(place: &Place, tests: &[&str]) -> (BTreeSet<String>, String) {
    changed_with(place, &[], tests)
}

/// The same, with further flags.
fn changed_with(place: &Place, flags: &[&str], tests: &[&str]) -> (BTreeSet<String>, String) {
    let mut arguments = vec![
        "repair", "project", "--build", "make", "--driver", "run.sh", "--json",
    ];
    arguments.extend(flags);
    arguments.push("--tests");
    arguments.extend(tests);
    let output = place.run(arguments);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let patches = report["patches"].as_array().unwrap().iter();
    let files = patches.map(|patch| patch["file"].as_str().unwrap().to_owned());
    (files.collect(), messages)
}

#[test]
#[ignore = "nightly: 11 s; the other test of this file tells programs of tests"]
fn a_source_that_includes_a_source_of_tests_is_one() {
    let place = Place::new();
    place.write(
        "age.c",
        "#include \"age.h\"\n\
         int is_age(int years)\n\
         {\n\
         \x20   return years >= 0 && years <= 151;\n\
         }\n",
    );
    place.write("age.h", "int is_age(int years);\n");
    place.write(
        "age_test.c",
        "#include \"age.h\"\n\
         static const int oldest = 150, too_old = 151;\n\
         static int none(void) { return is_age(-1); }\n\
         static int old(void) { return !is_age(oldest); }\n\
         static int older(void) { return is_age(too_old); }\n\
         static int young(void) { return !is_age(0); }\n",
    );
    place.write(
        "every.c",
        "#include <string.h>\n\
         #include \"age_test.c\"\n\
         int main(int argc, char **argv)\n\
         {\n\
         \x20   if (argc != 2) return 2;\n\
         \x20   if (!strcmp(argv[1], \"none\")) return none();\n\
         \x20   if (!strcmp(argv[1], \"old\")) return old();\n\
         \x20   if (!strcmp(argv[1], \"older\")) return older();\n\
         \x20   return young();\n\
         }\n",
    );
    place.write(
        "Makefile",
        "every: every.c age_test.c age.c age.h\n\t$(CC) -g every.c age.c -o every\n",
    );
    place.script("run.sh", "#!/bin/sh\nexec ./every \"$1\"\n");
    let (files, _) = changed(&place, &["none", "old", "older", "young"]);
    assert_eq!(files, BTreeSet::from(["age.c".to_owned()]));
}

#[test]
#[ignore = "nightly: 19 s; which programs are those of tests is unit-tested in crate localize"]
fn a_program_that_only_failing_tests_execute_is_one_of_tests_whatever_its_name() {
    let place = Place::new();
    place.write("half.h", "int half(int n);\n");
    place.write(
        "half.c",
        "#include \"half.h\"\n\
         int half(int n)\n\
         {\n\
         \x20   return n / 2 + (n > 8);\n\
         }\n",
    );
    place.write(
        "show.c",
        "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         #include \"half.h\"\n\
         int main(int argc, char **argv)\n\
         {\n\
         \x20   printf(\"%d\\n\", half(argc > 1 ? atoi(argv[1]) : 0));\n\
         \x20   return 0;\n\
         }\n",
    );
    place.write(
        "good.c",
        "#include \"half.h\"\n\
         int main(void)\n\
         {\n\
         \x20   int given = 10;\n\
         \x20   return half(given) == 5 ? 0 : 1;\n\
         }\n",
    );
    place.write(
        "Makefile",
        "all: show good\n\
         show: show.c half.c half.h\n\t$(CC) -g show.c half.c -o show\n\
         good: good.c half.c half.h\n\t$(CC) -g good.c half.c -o good\n",
    );
    place.script(
        "run.sh",
        "#!/bin/sh\n\
         case $1 in\n\
         ten) ./good;;\n\
         *) test `./show $1` = $(($1 / 2));;\n\
         esac\n",
    );
    let (files, messages) = changed(&place, &["ten", "0", "4", "7"]);
    assert_eq!(files, BTreeSet::from(["half.c".to_owned()]), "{messages}");
    assert!(
        messages.contains("good.c has a main function and no passing test executes it"),
        "{messages}"
    );
}

#[test]
#[ignore = "nightly: 13 s; the two other tests of this file tell programs of tests"]
fn a_program_that_passing_tests_start_too_is_none_of_tests_although_they_do_not_reach_all_of_it() {
    let place = Place::new();
    place.write(
        "half.h",
        "int half(int n), halved(int n), negative(int n);\n",
    );
    // So large that what tests execute is looked at first, and only the most suspicious places are searched.
    let filler: String = (0..700)
        .map(|n| format!("int filler_{n}(int number) {{ return number + {n}; }}\n"))
        .collect();
    place.write(
        "half.c",
        format!(
            "#include \"half.h\"\n\
             int half(int n)\n\
             {{\n\
             \x20   return n / 2;\n\
             }}\n\
             int halved(int n)\n\
             {{\n\
             \x20   if (n == 0)\n\
             \x20       return 0;\n\
             \x20   if (n < 0)\n\
             \x20       return negative(n);\n\
             \x20   return half(n);\n\
             }}\n\
             {filler}"
        ),
    );
    place.write(
        "show.c",
        "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         #include \"half.h\"\n\
         int negative(int n)\n\
         {\n\
         \x20   return half(n) + 1;\n\
         }\n\
         int main(int argc, char **argv)\n\
         {\n\
         \x20   printf(\"%d\\n\", halved(argc > 1 ? atoi(argv[1]) : 0));\n\
         \x20   return 0;\n\
         }\n",
    );
    place.write(
        "Makefile",
        "show: show.c half.c half.h\n\t$(CC) -g show.c half.c -o show\n",
    );
    place.script("run.sh", "#!/bin/sh\ntest `./show $1` = $(($1 / 2))\n");
    let (files, messages) = changed_with(
        &place,
        &["--locations", "12"],
        &["-10", "0", "00", "000", "4"],
    );
    assert!(files.contains("show.c"), "{files:?} {messages}");
    assert!(!messages.contains("main function"), "{messages}");
}
