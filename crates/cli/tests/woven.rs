//! What stands in the way of one change costs that change, not its function, its tests or the run.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

struct Run {
    report: serde_json::Value,
    messages: String,
}

impl Run {
    fn diffs(&self) -> Vec<&str> {
        let patches = self.report["patches"].as_array().unwrap();
        patches
            .iter()
            .map(|patch| patch["diff"].as_str().unwrap())
            .collect()
    }
}

fn repair(place: &Place, arguments: &[&str]) -> Run {
    let output = place.run(["repair", "--json"].iter().chain(arguments));
    assert_eq!(place.leftovers(), [""; 0]);
    let (report, messages) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{report}{messages}");
    Run {
        report: serde_json::from_str(&report).unwrap(),
        messages,
    }
}

/// Repairs a single C file with the cases in its comments.
fn repair_program(source: &str, arguments: &[&str]) -> Run {
    let place = Place::new();
    place.write_program(source);
    repair(&place, &[&["project/program.c"], arguments].concat())
}

#[test]
#[ignore = "nightly: 7 s; what_the_compiler_does_not_accept_costs_no_more_than_itself goes this way"]
fn a_head_of_a_loop_with_blanks_before_its_semicolons_is_like_any_other() {
    let run = repair_program(
        "// case 0 => 0\n\
         // case 3 => 6\n\
         // case 5 => 15\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         static int sum(int n) {\n\
         \x20 int i, s = 0;\n\
         \x20 for (i = n - 1\n\
         \x20      ; i >= 0\n\
         \x20      ; i--)\n\
         \x20   s += i;\n\
         \x20 for (i = 0 ; i < n ; i++)\n\
         \x20   s += 0;\n\
         \x20 return s;\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 printf(\"%d\\n\", sum(n));\n\
         \x20 return 0;\n\
         }\n",
        &["--files", "project/program.c:6-15"],
    );
    assert!(!run.diffs().is_empty());
    assert!(
        !run.messages.contains("does not accept"),
        "{}",
        run.messages
    );
    let changes = &run.report["stats"]["refused_changes"];
    assert!(!changes.to_string().contains("compiler"), "{changes}");
}

/// The comparisons of the whole body can change together, and memory that the body's own variables lead to is watched to its end.
#[test]
#[ignore = "nightly: 15 s; crate weave lets bodies stand twice"]
fn a_body_that_changes_as_a_whole_keeps_the_names_of_its_variables_to_its_end() {
    let run = repair_program(
        "// case 7 => 7\n\
         // case 42 => 42\n\
         // case 305 => 305\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         static void decimal(int n, char *out) {\n\
         \x20 char kept[16];\n\
         \x20 int length = 0;\n\
         \x20 while (n > 0) {\n\
         \x20   kept[length++] = '1' + n % 10;\n\
         \x20   n /= 10;\n\
         \x20 }\n\
         \x20 int i = 0;\n\
         \x20 while (length > 0)\n\
         \x20   out[i++] = kept[--length];\n\
         \x20 out[i] = '\\0';\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 char text[16];\n\
         \x20 decimal(argc > 1 ? atoi(argv[1]) : 0, text);\n\
         \x20 puts(text);\n\
         \x20 return 0;\n\
         }\n",
        &[],
    );
    assert!(run.diffs()[0].contains("'0' + n % 10"), "{:?}", run.diffs());
    let changes = &run.report["stats"]["refused_changes"];
    assert!(!changes.to_string().contains("compiler"), "{changes}");
}

/// Clang accepts calls of `third`, the compiler of the build does not.
const POISONED: &str = "// case 1 => 3\n\
    // case 2 => 5\n\
    // case 5 => 11\n\
    #include <stdio.h>\n\
    #include <stdlib.h>\n\
    static int twice(int x) { return 2 * x; }\n\
    static int third(int x) { return x / 3; }\n\
    int both(int x) { return twice(x) + third(x); }\n\
    #ifndef __clang__\n\
    #pragma GCC poison third\n\
    #endif\n\
    static int odd(int x) {\n\
    \x20 return twice(x) + 2;\n\
    }\n\
    int main(int argc, char **argv) {\n\
    \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
    \x20 printf(\"%d\\n\", odd(n));\n\
    \x20 return 0;\n\
    }\n";

fn finds_what_is_not_poisoned(run: &Run) {
    let found = run.diffs();
    assert!(
        found.iter().any(|diff| diff.contains("twice(x) + 1")),
        "{found:?}"
    );
    let refused = &run.report["stats"]["refused_functions"];
    assert_eq!(refused, &serde_json::json!({}));
    let changes = &run.report["stats"]["refused_changes"];
    let told = "changes whose woven text the compiler does not accept";
    assert!(changes[told].as_u64() > Some(0), "{changes}");
}

#[test]
fn what_the_compiler_does_not_accept_costs_no_more_than_itself() {
    finds_what_is_not_poisoned(&repair_program(POISONED, &["--first"]));
}

#[test]
#[ignore = "nightly: 7 s; what_the_compiler_does_not_accept_costs_no_more_than_itself goes this way"]
fn where_no_message_tells_what_does_not_compile_it_is_found_by_halves() {
    let place = Place::new();
    place.write_program(POISONED);
    let build = "cc program.c -o program 2>/dev/null";
    finds_what_is_not_poisoned(&repair(
        &place,
        &[
            "project",
            "--build",
            build,
            "--program",
            "program",
            "--cases",
            "cases",
            "--first",
        ],
    ));
}

#[test]
#[ignore = "nightly: 7 s; crate schemata weaves an argument that its macro repeats"]
fn a_macros_argument_that_is_used_several_times_changes_in_all_its_uses() {
    let run = repair_program(
        "// case 1 5 => 7\n\
         // case 5 1 => 7\n\
         // case 3 3 => 5\n\
         // case -1 0 => 2\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         #define LEAST(x, y) ((x) < (y) ? (x) : (y))\n\
         static int room(int a, int b) {\n\
         \x20 return 2 - LEAST(-a, -a);\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 if (argc != 3) return 2;\n\
         \x20 printf(\"%d\\n\", room(atoi(argv[1]), atoi(argv[2])));\n\
         \x20 return 0;\n\
         }\n",
        &["--files", "project/program.c:9"],
    );
    let first = run.diffs()[0];
    assert!(
        first.contains("LEAST(-b, -a)") || first.contains("LEAST(-a, -b)"),
        "{first}"
    );
    assert_eq!(
        run.report["stats"]["rejected_by_verification"],
        serde_json::json!([])
    );
}

/// What the stack holds differs between the program as it is and the instrumented one: there it is what makes tests pass, as do
/// negative numbers.
#[test]
#[ignore = "nightly: 20 s; undefined_behaviour::a_patch_that_reads_fresh_memory_is_set_aside goes the same way"]
fn where_tests_pass_by_what_was_never_written_another_pattern_makes_them_fail_again() {
    let run = repair_program(
        "// case 0 => 0\n\
         // case 1 => 0\n\
         // case 2 => 1\n\
         // case 3 => 2\n\
         // case 4 => 2\n\
         // case 7 => 4\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         #ifdef __PW_GLUE\n\
         #define LEFT -1\n\
         #else\n\
         #define LEFT 1000\n\
         #endif\n\
         static void leave(void) {\n\
         \x20 volatile int junk[512];\n\
         \x20 for (int i = 0; i < 512; i++)\n\
         \x20   junk[i] = LEFT;\n\
         }\n\
         static int rises(int n) {\n\
         \x20 int height[64];\n\
         \x20 int count = 0;\n\
         \x20 for (int i = 0; i < n; i++)\n\
         \x20   height[i] = i % 3;\n\
         \x20 for (int i = 0; i < n; i++)\n\
         \x20   if (height[i] < height[i + 1])\n\
         \x20     count++;\n\
         \x20 return count;\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 if (argc != 2) return 2;\n\
         \x20 int n = atoi(argv[1]);\n\
         \x20 leave();\n\
         \x20 printf(\"%d\\n\", rises(n));\n\
         \x20 return 0;\n\
         }\n",
        &["--files", "project/program.c:19-28"],
    );
    let found = run.diffs();
    assert!(
        found
            .iter()
            .any(|diff| diff.contains("i + 1 < n") || diff.contains("i < n - 1")),
        "{found:?}"
    );
}

#[test]
#[ignore = "nightly: 3 s; what_the_compiler_does_not_accept_costs_no_more_than_itself goes this way"]
fn a_failing_test_that_does_not_get_to_the_program_is_set_aside_out_loud() {
    let place = Place::new();
    place.write(
        "double.c",
        "#include <stdio.h>\n\
         #include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
         \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
         \x20 printf(\"%d\\n\", 3 * n);\n\
         \x20 return 0;\n\
         }\n",
    );
    place.script(
        "run.sh",
        "#!/bin/sh\n\
         case $1 in\n\
         none) ./double | grep -qx 0;;\n\
         four) ./double 4 | grep -qx 8;;\n\
         seven) ./double 7 more | grep -qx 14;;\n\
         away) grep -q never double.c;;\n\
         esac\n",
    );
    let run = repair(
        &place,
        &[
            "project",
            "--build",
            "cc double.c -o double",
            "--driver",
            "run.sh",
            "--tests",
            "none",
            "four",
            "seven",
            "away",
            "--first",
        ],
    );
    let found = run.diffs();
    assert!(found[0].contains("2 * n"), "{found:?}");
    assert!(
        run.messages.contains("no patch has to pass them: away"),
        "{}",
        run.messages
    );
}

#[test]
#[ignore = "nightly: 3 s; what_the_compiler_does_not_accept_costs_no_more_than_itself goes this way"]
fn a_function_in_which_no_change_is_sought_is_named_with_the_reason_and_the_place() {
    let run = repair_program(
        "// case 3 => low\n\
         // case 6 => high\n\
         // case 9 => high\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         static const char *level(int n) {\n\
         #undef IS_HIGH\n\
         #define IS_HIGH(n) ((n) > 6)\n\
         \x20 return IS_HIGH(n) ? \"high\" : \"low\";\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 if (argc != 2) return 2;\n\
         \x20 puts(level(atoi(argv[1])));\n\
         \x20 return 0;\n\
         }\n",
        &["--first"],
    );
    let told = "no change is sought in level (program.c:6): it contains the directive `#undef`";
    assert!(run.messages.contains(told), "{}", run.messages);
}

#[test]
#[ignore = "nightly: 8 s; constructs::constant_member has a member that is constant"]
fn a_constant_local_structure_costs_its_function_no_more_than_what_would_assign_to_it() {
    let run = repair_program(
        "// case 1 2 => 3\n\
         // case 4 2 => 9\n\
         // case 0 5 => 1\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         struct size { int width; int border; };\n\
         static struct size make(int width) { struct size s = { width, 1 }; return s; }\n\
         static int whole(int n, const struct size *s) { return n * s->width + s->border; }\n\
         static int room(int n, int width) {\n\
         \x20 struct size const s = make(width);\n\
         \x20 return whole(n, &s) + 1;\n\
         }\n\
         int main(int argc, char **argv) {\n\
         \x20 if (argc != 3) return 2;\n\
         \x20 printf(\"%d\\n\", room(atoi(argv[1]), atoi(argv[2])));\n\
         \x20 return 0;\n\
         }\n",
        &["--files", "project/program.c:9-12"],
    );
    assert!(run.diffs()[0].contains("whole(n, &s)"), "{:?}", run.diffs());
    assert_eq!(
        run.report["stats"]["refused_functions"],
        serde_json::json!({})
    );
}

#[test]
#[ignore = "nightly: 9 s; what_the_compiler_does_not_accept_costs_no_more_than_itself goes this way"]
fn an_expression_of_a_thousand_terms_is_searched_in_parts() {
    let terms: Vec<String> = (0..1000).map(|n| format!("v{}", n % 4)).collect();
    let source = format!(
        "// case 1 => 2250\n\
         // case 3 => 4750\n\
         #include <stdio.h>\n\
         #include <stdlib.h>\n\
         static int sum(int v0) {{\n\
         \x20 int v1 = 2 * v0, v2 = v0 + 3, v3 = v0 + 1;\n\
         \x20 return {} + 1;\n\
         }}\n\
         int main(int argc, char **argv) {{\n\
         \x20 if (argc != 2) return 2;\n\
         \x20 printf(\"%d\\n\", sum(atoi(argv[1])));\n\
         \x20 return 0;\n\
         }}\n",
        terms.join(" + ")
    );
    let run = repair_program(&source, &["--first"]);
    assert_eq!(run.diffs().len(), 1);
}
