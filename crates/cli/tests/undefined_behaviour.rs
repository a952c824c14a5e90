//! What passes by undefined behaviour is set aside, or marked where there is nothing else.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

/// Repairs a single C file with the cases in its comments.
fn report(source: &str) -> serde_json::Value {
    let place = Place::new();
    place.write_program(source);
    let output = place.run(["repair", "project/program.c", "--json"]);
    assert_eq!(place.leftovers(), [""; 0]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    serde_json::from_str(&report).unwrap()
}

#[test]

fn a_patch_that_passes_by_what_a_sanitizer_reports_is_marked_if_there_is_no_other() {
    let report = report(
        "// case 0 => 0\n\
         // case 1 => 4\n\
         // case 4 => 10\n\
         // case 1073741823 => -2147483648\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         static int twice(int n) { return 2 * n; }\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 printf(\"%d\\n\", n == 0 ? 0 : twice(n - 1));\n\
         \x20 return 0;\n\
         }\n",
    );
    let patches = report["patches"].as_array().unwrap();
    assert!(!patches.is_empty());
    for patch in patches {
        let objection = patch["undefined_behaviour"].as_str().unwrap();
        assert!(objection.contains("signed integer overflow"), "{objection}");
    }
    let set_aside = report["stats"]["undefined_by_sanitizers"].as_u64();
    assert!(set_aside >= Some(patches.len() as u64), "{set_aside:?}");
}

#[test]
#[ignore = "nightly: 27 s; a_patch_that_reads_fresh_memory_is_set_aside goes the same way"]
fn a_patch_that_reads_beside_an_array_does_not_come_before_one_that_does_not() {
    let report = report(
        "// case abcd xy => dcba yx\n\
         // case a => a\n\
         // case ab cd => ba dc\n\
         // case abc x yz => cba x zy\n\
         #include <stdio.h>\n\
         #include <string.h>\n\
         static char reversed[64];\n\
         static void reverse(const char *text) {\n\
         \x20 int length = (int)strlen(text);\n\
         \x20 for (int i = 0; i < length && i < 63; i++)\n\
         \x20   reversed[i] = text[length - 1 - i];\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 for (int i = 1; i < argc; i++) {\n\
         \x20   char word[64] = \"\";\n\
         \x20   strncpy(word, argv[i], 63);\n\
         \x20   reverse(word);\n\
         \x20   printf(\"%s%s\", reversed, i + 1 < argc ? \" \" : \"\\n\");\n\
         \x20 }\n\
         \x20 return 0;\n\
         }\n",
    );
    let first = &report["patches"][0];
    assert_eq!(first["undefined_behaviour"], serde_json::Value::Null);
    let diff = first["diff"].as_str().unwrap();
    assert!(!diff.contains("i <= length"), "{diff}");
}

#[test]
#[ignore = "nightly: 38 s; a_patch_that_reads_fresh_memory_is_set_aside goes the same way"]
fn a_patch_that_mends_what_sanitizers_report_in_some_tests_only_is_set_aside() {
    let report = report(
        "// case 3 x => 6 0\n\
         // case 3 => 6\n\
         // case 4 => 10\n\
         // case 1 => 1\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         struct row { int cell[4]; int spare; int end; };\n\
         static struct row row;\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;\n\
         \x20 for (int i = 0; i < n + 2; i++)\n\
         \x20   row.cell[i] = i + 1;\n\
         \x20 for (int i = 0; i < n; i++)\n\
         \x20   sum += row.cell[i];\n\
         \x20 printf(argc > 2 ? \"%d %d\\n\" : \"%d\\n\", sum, row.spare);\n\
         \x20 return 0;\n\
         }\n",
    );
    // It still writes behind the cells where there are four.
    let patches = report["patches"].as_array().unwrap();
    assert!(!patches.is_empty());
    for patch in patches {
        let diff = patch["diff"].as_str().unwrap();
        assert!(!diff.contains("i < n + 1;"), "{diff}");
        assert_eq!(patch["undefined_behaviour"], serde_json::Value::Null);
    }
    let set_aside = report["stats"]["undefined_by_sanitizers"].as_u64();
    assert!(set_aside > Some(0), "{set_aside:?}");
}

#[test]
#[ignore = "nightly: 13 s; crate validate looks at such patches with sanitizers"]
fn a_patch_that_reads_fresh_memory_is_set_aside() {
    let report = report(
        "// case 3 => 3\n\
         // case 9 => none\n\
         // case 10 => none\n\
         // case 99 => none\n\
         // case 0 => 0\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         struct seat { int row; int number; };\n\
         static struct seat *seat(int number) {\n\
         \x20 struct seat *made;\n\
         \x20 if (number > 9)\n\
         \x20   return NULL;\n\
         \x20 made = malloc(sizeof *made);\n\
         \x20 if (made == NULL)\n\
         \x20   return NULL;\n\
         \x20 made->number = number;\n\
         \x20 made->row = 1;\n\
         \x20 return made;\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 struct seat *made = seat(argc > 1 ? atoi(argv[1]) : 0);\n\
         \x20 if (made) printf(\"%d\\n\", made->number); else puts(\"none\");\n\
         \x20 free(made);\n\
         \x20 return 0;\n\
         }\n",
    );
    let patches = report["patches"].as_array().unwrap();
    assert!(!patches.is_empty());
    for patch in patches {
        let diff = patch["diff"].as_str().unwrap();
        assert!(!diff.contains("+  if (made->"), "{diff}");
    }
    let set_aside = report["stats"]["undefined_by_sanitizers"].as_u64();
    assert!(set_aside > Some(0), "{set_aside:?}");
}

#[test]
#[ignore = "nightly: 12 s; crate validate looks at such patches with sanitizers"]
fn patches_of_a_project_with_a_build_and_a_driver_are_looked_at_with_sanitizers() {
    let place = Place::new();
    place.write(
        "twice.c",
        "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         static int twice(int n) { return 2 * n; }\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 printf(\"%d\\n\", n == 0 ? 0 : twice(n - 1));\n\
         \x20 return 0;\n\
         }\n",
    );
    place.write("Makefile", "twice: twice.c\n\t$(CC) -g twice.c -o twice\n");
    place.script(
        "run.sh",
        "#!/bin/sh\n\
         case $1 in\n\
         none) test `./twice 0` = 0;;\n\
         one) test `./twice 1` = 4;;\n\
         four) test `./twice 4` = 10;;\n\
         most) test `./twice 1073741823` = -2147483648;;\n\
         esac\n",
    );
    let output = place.run([
        "repair", "project", "--build", "make", "--driver", "run.sh", "--tests", "none", "one",
        "four", "most", "--json",
    ]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let patches = report["patches"].as_array().unwrap();
    assert!(!patches.is_empty());
    for patch in patches {
        let objection = patch["undefined_behaviour"].as_str().unwrap();
        assert!(objection.contains("test most"), "{objection}");
    }
}

#[test]

fn that_a_build_takes_no_further_flags_is_said() {
    let place = Place::new();
    place.write(
        "add.c",
        "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
         \x20 printf(\"%d\\n\", atoi(argv[1]) + argc);\n\
         \x20 return 0;\n\
         }\n",
    );
    let compiler = std::process::Command::new("sh")
        .args(["-c", "command -v cc"])
        .output()
        .unwrap();
    let compiler = String::from_utf8(compiler.stdout).unwrap();
    place.write("cases/a.args", "1");
    place.write("cases/a.out", "4\n");
    place.write("cases/b.args", "5");
    place.write("cases/b.out", "8\n");
    let build = format!("{} add.c -o add", compiler.trim());
    let output = place.run([
        "repair",
        "project",
        "--build",
        &build,
        "--program",
        "add",
        "--cases",
        "cases",
        "--first",
    ]);
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let told = "does not compile with -fsanitize=address,undefined, so patches are not looked at";
    assert!(messages.contains(told), "{messages}");
}

#[test]
#[ignore = "nightly: 13 s; a_patch_that_reads_fresh_memory_is_set_aside goes the same way"]
fn a_patch_that_compares_what_was_never_written_is_set_aside() {
    // Two members of fresh memory are equal whatever pattern it holds, and no compiler sees that it is fresh.
    let place = Place::new();
    place.write_program(
        "// case 3 => open\n\
         // case 9 => open\n\
         // case 12 => open\n\
         // case -2 => open\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         struct seat { int row; int number; };\n\
         static struct seat *fresh(void);\n\
         static int wanted;\n\
         static int taken(void) {\n\
         \x20 struct seat *made = fresh();\n\
         \x20 int same;\n\
         \x20 same = made != NULL;\n\
         \x20 made->number = wanted;\n\
         \x20 made->row = wanted / 7;\n\
         \x20 same += made->number == made->row - 100;\n\
         \x20 free(made);\n\
         \x20 return same;\n\
         }\n\
         __attribute__((noinline)) static struct seat *fresh(void) {\n\
         \x20 struct seat *made = malloc(sizeof *made);\n\
         \x20 if (made == NULL)\n\
         \x20   exit(3);\n\
         \x20 return made;\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 wanted = n;\n\
         \x20 puts(taken() ? \"taken\" : \"open\");\n\
         \x20 return 0;\n\
         }\n",
    );
    let output = place.run([
        "repair",
        "project/program.c",
        "--json",
        "--files",
        "program.c:13",
        "--max-patches",
        "12",
    ]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let patches = report["patches"].as_array().unwrap();
    assert!(!patches.is_empty());
    for patch in patches {
        let diff = patch["diff"].as_str().unwrap();
        let added = diff.lines().filter(|line| line.starts_with("+ "));
        for line in added.filter(|line| line.contains("same =")) {
            assert!(!line.contains("made->row"), "{diff}");
        }
    }
    let set_aside = report["stats"]["undefined_by_sanitizers"].as_u64();
    assert!(set_aside > Some(0), "{set_aside:?}");
}
