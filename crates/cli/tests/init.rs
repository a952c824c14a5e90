//! `patchwright init` describes projects by looking at them, and `patchwright doctor` looks at the machine.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};

/// What init says of a project, and the description that it writes.
fn described(place: &Place, flags: &[&str]) -> (String, String) {
    let output = place.run(["init", "project"].iter().chain(flags));
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert_eq!(place.leftovers(), [""; 0]);
    let text = fs::read_to_string(place.project().join("patchwright.toml")).unwrap();
    (stdout(&output), text)
}

/// A library with a bug.
const MAX: &str = "int max(int a, int b) {\n  if (a > b)\n    return a;\n  return b - 1;\n}\n";

/// A test program that prints a line for each test.
const TESTS: &str = "#include <stdio.h>\nint max(int, int);\nstatic int fails;\n\
    static void test(const char *name, int ok) {\n  printf(\"%s: %s\\n\", ok ? \"PASS\" : \"FAIL\", name);\n  fails += !ok;\n}\n\
    int main(void) {\n  test(\"first\", max(2, 1) == 2);\n  test(\"second\", max(1, 2) == 2);\n  test(\"equal\", max(3, 3) == 3);\n  return fails;\n}\n";

#[test]
fn a_makefile_and_a_test_program_are_described_so_that_a_repair_needs_nothing_else() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write("test_max.c", TESTS);
    place.write(
        "Makefile",
        "test_max: max.c test_max.c\n\t$(CC) -g -o $@ $^\ncheck: test_max\n\t./test_max\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(said.contains("1 of 3 pass, 2 fail, 0 are flaky."), "{said}");
    assert!(text.contains("build = \"make\""), "{text}");
    assert!(text.contains("\"second\""), "{text}");
    let output = place.run(["repair", "project", "--first"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let again = place.run(["init", "project"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("is there already; --force writes over it"));
}

#[test]
fn a_target_that_only_builds_is_no_test_but_what_it_builds_is() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write("test_max.c", TESTS);
    place.write(
        "Makefile",
        "max.o: max.c\n\t$(CC) -g -c $<\n\
         test: test_max\ntest_max: max.o test_max.c\n\t$(CC) -g -o $@ $^\n",
    );
    let (said, _) = described(&place, &[]);
    assert!(said.contains("1 of 3 pass, 2 fail, 0 are flaky."), "{said}");
}

#[test]
fn a_program_that_prints_how_to_call_it_is_no_test() {
    let place = Place::new();
    place.write(
        "sorttest.c",
        "#include <stdio.h>\nint main(int n, char **v) { if (n < 2) { printf(\"usage: %s FILE\\n\", v[0]); return 0; } return 1; }\n",
    );
    place.write("Makefile", "sorttest: sorttest.c\n\t$(CC) -o $@ $<\n");
    let output = place.run(["init", "project"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("No tests were found"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_suite_that_lists_its_tests_is_split_by_its_own_list() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write(
        "suite.c",
        "#include <stdio.h>\n#include <string.h>\nint max(int, int);\n\
         static int alpha(void) { return max(2, 1) == 2; }\nstatic int beta(void) { return max(1, 2) == 2; }\n\
         int main(int argc, char **argv) {\n  if (argc > 1 && !strcmp(argv[1], \"--list\")) {\n    puts(\"alpha\\nbeta\");\n    return 0;\n  }\n\
         \x20 if (argc > 1 && !strcmp(argv[1], \"alpha\")) return !alpha();\n\
         \x20 if (argc > 1 && !strcmp(argv[1], \"beta\")) return !beta();\n\
         \x20 if (argc > 1) return 2;\n  return !(alpha() && beta());\n}\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(said.contains("by its own list"), "{said}");
    assert!(
        text.contains("\"alpha\"") && text.contains("\"beta\""),
        "{text}"
    );
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
#[ignore = "nightly: 2 s; a_makefile_and_a_test_program_are_described_so_that_a_repair_needs_nothing_else goes this way"]
fn tests_of_cmake_are_those_that_ctest_lists() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write(
        "check.c",
        "#include <stdlib.h>\nint max(int, int);\nint main(int argc, char **argv) {\n  return argc != 4 || max(atoi(argv[1]), atoi(argv[2])) != atoi(argv[3]);\n}\n",
    );
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(max C)\nenable_testing()\nadd_executable(check check.c max.c)\n\
         add_test(NAME first COMMAND check 2 1 2)\nadd_test(NAME second.one COMMAND check 1 2 2)\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(said.contains("2 of CTest"), "{said}");
    assert!(
        text.contains("compile-commands = \"build/compile_commands.json\""),
        "{text}"
    );
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
fn scripts_are_tests_and_are_run_from_where_they_pass() {
    let place = Place::new();
    let main = "#include <stdlib.h>\n#include <stdio.h>\nint main(int c, char **v) {\n\
        \x20 return c < 3 || !printf(\"%d\\n\", max(atoi(v[1]), atoi(v[2])));\n}\n";
    place.write("max.c", format!("{MAX}{main}"));
    place.write("Makefile", "max: max.c\n\t$(CC) -g -o $@ $<\n");
    place.script("tests/first.sh", "#!/bin/sh\n[ \"$(../max 2 1)\" = 2 ]\n");
    place.script(
        "tests/second.t",
        "#!/bin/sh\nif [ \"$(../max 1 2)\" = 2 ]; then echo ok 1; else echo not ok 1; fi\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(
        text.contains("\"tests/first.sh\"") && text.contains("\"tests/second.t\""),
        "{text}"
    );
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

/// A program that prints the greater of its two arguments.
const MAIN: &str = "#include <stdlib.h>\n#include <stdio.h>\nint max(int, int);\nint main(int c, char **v) {\n\
    \x20 return c < 3 || !printf(\"%d\\n\", max(atoi(v[1]), atoi(v[2])));\n}\n";

#[test]
fn commands_of_make_check_are_tests_with_their_arguments_and_their_programs_are_built() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write(
        "check.c",
        "#include <stdlib.h>\nint max(int, int);\nint main(int argc, char **argv) {\n  return argc != 4 || max(atoi(argv[1]), atoi(argv[2])) != atoi(argv[3]);\n}\n",
    );
    place.write(
        "Makefile",
        "max.o: max.c\n\t$(CC) -g -c -o $@ $<\nchecked: max.o check.c\n\t$(CC) -g -o $@ $^\n\
         check: checked\n\t@echo testing\n\t-rm -f out\n\t./checked 2 1 2\n\tfor t in '1 2 2'; do ./checked $$t; done\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(text.contains("build = \"make && make checked\""), "{text}");
    assert!(text.contains("\"checked 2 1 2\""), "{text}");
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
fn a_build_that_runs_the_tests_is_reduced_to_what_they_need() {
    let place = Place::new();
    place.write(
        "unit.c",
        "int max(int a, int b) { return a > b ? a : b; }\nint main(void) { return max(1, 2) != 2; }\n",
    );
    place.write(
        "Makefile",
        "test: unit\n\t./unit\nunit: unit.c\n\t$(CC) -g -o $@ $<\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(text.contains("build = \"make unit\""), "{text}");
    assert!(said.contains("1 of 1 pass"), "{said}");
}

#[test]
fn a_check_script_that_wants_arguments_is_run_as_make_runs_it() {
    let place = Place::new();
    place.write("max.c", format!("{MAX}{MAIN}"));
    place.write(
        "Makefile",
        "max: max.c\n\t$(CC) -g -o $@ $<\ncheck: max\n\t@./testsuite/check.sh ./testsuite 1.0\n",
    );
    place.write("testsuite/wanted", "2\n");
    place.script(
        "testsuite/check.sh",
        "#!/bin/sh\n./max 2 1 | diff - \"$1/wanted\"\n",
    );
    let (said, _) = described(&place, &[]);
    assert!(said.contains("1 of 1 pass"), "{said}");
    assert!(
        said.contains("how to run a part of `make check`: it runs one command"),
        "{said}"
    );
}

#[test]
fn inputs_with_expected_output_are_tests_whatever_their_names_are() {
    let place = Place::new();
    let main = "#include <stdio.h>\nint max(int, int);\nint main(void) {\n  int a, b;\n\
        \x20 return scanf(\"%d %d\", &a, &b) != 2 || !printf(\"%d\\n\", max(a, b));\n}\n";
    place.write("code/max.c", MAX);
    place.write("code/main.c", main);
    for (number, (input, output)) in [("2 1", "2"), ("1 2", "2"), ("4 3", "4")]
        .iter()
        .enumerate()
    {
        place.write(&format!("input{number}.txt"), format!("{input}\n"));
        place.write(&format!("expected{number}.txt"), format!("{output}\n"));
    }
    let (said, text) = described(&place, &[]);
    assert!(text.contains("cd code && cc"), "{text}");
    assert!(said.contains("2 of 3 pass, 1 fail"), "{said}");
}

#[test]
fn a_script_that_runs_all_tests_is_split_by_its_lines() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write("main.c", MAIN);
    place.script(
        "run_tests.sh",
        "#!/bin/sh\nfails=0\ncheck() { if [ \"$(./main $2)\" = $3 ]; then echo \"PASS: $1\"; else echo \"FAIL: $1\"; fails=1; fi; }\n\
         check first '2 1' 2\ncheck second '1 2' 2\nexit $fails\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(
        text.contains("\"first\"") && text.contains("\"second\""),
        "{text}"
    );
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
fn inputs_that_a_fuzzer_has_kept_are_tests_that_pass_if_nothing_crashes() {
    let place = Place::new();
    place.write(
        "parse.c",
        "#include <stddef.h>\n#include <stdint.h>\nstatic volatile int sink;\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n\
         \x20 if (size > 1 && data[0] == 'x')\n    sink = data[size];\n  return 0;\n}\n",
    );
    place.write("crash-01ab", "xx");
    place.write("corpus/good", "hello");
    let (said, text) = described(&place, &[]);
    assert!(text.contains("-fsanitize=address,undefined"), "{text}");
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
fn tests_of_a_program_that_prints_tap_may_have_signs_in_their_names() {
    let place = Place::new();
    place.write("max.c", MAX);
    place.write(
        "suite.c",
        "#include <stdio.h>\nint max(int, int);\nint main(void) {\n  puts(\"1..2\");\n\
         \x20 printf(\"%sok 1 - max(1, 2) + 0\\n\", max(1, 2) == 2 ? \"\" : \"not \");\n\
         \x20 printf(\"%sok 2 - max [2, 1]\\n\", max(2, 1) == 2 ? \"\" : \"not \");\n  return 0;\n}\n",
    );
    let (said, text) = described(&place, &[]);
    assert!(text.contains("\"max(1, 2) + 0\""), "{text}");
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
#[ignore = "nightly: 2 s; a_makefile_and_a_test_program_are_described_so_that_a_repair_needs_nothing_else goes this way"]
fn the_harness_of_a_fuzzer_is_built_where_the_makefile_only_makes_its_library() {
    let place = Place::new();
    place.write(
        "src/parse.h",
        "int parse(const unsigned char *, unsigned long);\n",
    );
    place.write(
        "src/parse.c",
        "#include \"parse.h\"\nint parse(const unsigned char *data, unsigned long size) {\n\
         \x20 return size > 1 && data[0] == 'x' ? data[size] : 0;\n}\n",
    );
    place.write(
        "Makefile",
        "libparse.a: src/parse.c\n\t$(CC) $(CFLAGS) -c -o parse.o $<\n\tar rcs $@ parse.o\n",
    );
    place.write(
        "fuzz/parse_fuzzer.c",
        "#include <stddef.h>\n#include <stdint.h>\n#include \"parse.h\"\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n  parse(data, size);\n  return 0;\n}\n",
    );
    place.write("fuzz/crashes/id:000000,sig:06", "xx");
    place.write("fuzz/corpus/good", "hello");
    let (said, text) = described(&place, &[]);
    assert!(
        said.contains("with a program of fuzz/parse_fuzzer.c"),
        "{said}"
    );
    assert!(
        text.contains("CFLAGS='-g -fsanitize=address,undefined'"),
        "{text}"
    );
    assert!(said.contains("1 of 2 pass, 1 fail"), "{said}");
}

#[test]
fn what_cannot_be_built_or_found_is_said() {
    let place = Place::new();
    let nothing = place.run(["init", "project"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(
        stderr(&nothing).contains("says how it is built"),
        "{}",
        stderr(&nothing)
    );
    place.write("Makefile", "all:\n\tfalse\n");
    let broken = place.run(["init", "project"]);
    assert_eq!(broken.status.code(), Some(3));
    assert!(stderr(&broken).contains("none of the ways to build the project works"));
    assert_eq!(stderr(&broken).matches("`make`").count(), 1);
    place.write("Makefile", "all:\n\ttrue\n");
    let output = place.run(["init", "project"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("Not found out: where the tests are"));
    assert!(!place.project().join("patchwright-test.sh").exists());
}

#[test]
fn the_doctor_names_what_is_there_and_what_mends_the_rest() {
    let place = Place::new();
    let output = place.run(["doctor"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let said = stdout(&output);
    for what in [
        "compiler",
        "clang",
        "protection",
        "shared memory",
        "space for copies",
    ] {
        assert!(said.contains(what), "{said}");
    }
    let output = place
        .patchwright(["doctor"])
        .env("PATCHWRIGHT_CLANG", "/usr/bin/no-clang-here")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("mend it: apt-get install clang-19"));
}
