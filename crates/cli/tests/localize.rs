//! `patchwright localize` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

/// Runs `localize --json` with these further arguments.
fn localize(place: &Place, arguments: &[&str]) -> Value {
    let output = place.run(["localize", "--json", "--top", "0"].iter().chain(arguments));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Line and rank of each statement, most suspicious first.
fn ranks(report: &Value) -> Vec<(u64, u64)> {
    let statements = report["statements"].as_array().unwrap().iter();
    let number = |one: &Value, key: &str| one[key].as_u64().unwrap();
    statements
        .map(|one| (number(one, "line"), number(one, "rank")))
        .collect()
}

/// The stack of the only crash: lines with functions.
fn stack(report: &Value) -> Vec<(u64, String)> {
    let crashes = report["crashes"].as_array().unwrap();
    assert_eq!(crashes.len(), 1, "{report:#}");
    let frames = crashes[0]["stack"].as_array().unwrap().iter();
    frames
        .map(|frame| {
            let function = frame["function"].as_str().unwrap().to_owned();
            (frame["line"].as_u64().unwrap(), function)
        })
        .collect()
}

/// A project of one program, whose tests `good` and `bad` are its only argument.
fn project(place: &Place, source: &str, flags: &str) {
    place.write("main.c", source);
    place.write(
        "Makefile",
        format!("main: main.c\n\tgcc -g {flags} -o main main.c\n"),
    );
    place.script("test.sh", "#!/bin/sh\n./main \"$1\"\n");
}

const FLAGS: [&str; 8] = [
    "project",
    "--build",
    "make -s",
    "--driver",
    "./test.sh",
    "--tests",
    "good",
    "bad",
];

#[test]
fn what_failing_tests_execute_and_passing_ones_do_not_comes_first() {
    let place = Place::with_max2();
    let report = localize(&place, &["project/max.c"]);
    assert_eq!(report["schema"], "patchwright-localize");
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["formula"], "ochiai");
    assert_eq!(ranks(&report), [(11, 1), (6, 2), (8, 2), (13, 2)]);
    let first = &report["statements"][0];
    assert_eq!(first["text"], "puts(\"1\");");
    assert_eq!(
        (&first["failing"], &first["passing"]),
        (&1.into(), &1.into())
    );
    assert_eq!(report["functions"][0]["function"], "main");
    assert_eq!(report["files"][0]["file"], "max.c");
}

#[test]
fn a_program_is_seen_though_the_driver_clears_its_environment() {
    let source = "#include <string.h>\n\
        int main(int argc, char **argv) {\n\
        \x20 if (argc > 1 && !strcmp(argv[1], \"bad\"))\n\
        \x20   return 1;\n\
        \x20 return 0;\n\
        }\n";
    let place = Place::new();
    project(&place, source, "");
    place.script("test.sh", "#!/bin/sh\nexec env -i ./main \"$1\"\n");
    let report = localize(&place, &FLAGS);
    // What only the failing test executes comes before what both do.
    let order = ranks(&report);
    assert_eq!(order[0], (4, 1), "{order:?}");
    assert!(order[1].1 > 1, "{order:?}");
}

#[test]
#[ignore = "nightly: 2 s; a_test_that_never_ends_is_seen_where_it_is goes this way"]
fn every_formula_has_its_own_scores() {
    let place = Place::with_max2();
    for (formula, score) in [
        ("ochiai", 0.5f64.sqrt()),
        ("tarantula", 1.0 / 1.5),
        ("dstar", 1.0),
        ("op2", 1.0 - 1.0 / 3.0),
    ] {
        let report = localize(&place, &["project/max.c", "--formula", formula]);
        let found = report["statements"][0]["score"].as_f64().unwrap();
        assert!((found - score).abs() < 1e-9, "{formula}: {found}");
    }
    let output = place.run(["localize", "project/max.c", "--formula", "jaccard"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there are ochiai, tarantula, dstar and op2"));
}

#[test]
fn the_annotated_source_and_the_page_have_every_line() {
    let place = Place::with_max2();
    let output = place.run([
        "localize",
        "project/max.c",
        "--annotate",
        "--html",
        "page.html",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("     1      0.707        1        1    11      puts(\"1\");"),
        "{text}"
    );
    assert!(text.contains("  4  /* Prints 1 when"), "{text}");
    let page = std::fs::read_to_string(place.root.join("page.html")).unwrap();
    assert!(
        page.contains("<td class=\"code\">  if (a &gt; b) {</tr>"),
        "{page}"
    );
}

#[test]
fn a_segmentation_fault_is_found_behind_a_driver_that_hides_it() {
    let place = Place::new();
    let source = "#include <string.h>\n\
        static const char *name(int known)\n{\n  return known ? \"x\" : 0;\n}\n\
        static int first(const char *text)\n{\n  return *text;\n}\n\
        int main(int argc, char **argv)\n{\n\
        \x20 const char *text = name(strcmp(argv[1], \"good\") == 0);\n\
        \x20 int c = first(text);\n  return argc > 5 && c;\n}\n";
    project(&place, source, "-O0");
    // The status of the program is that of a shell in the background, and nothing is printed.
    place.script("test.sh", "#!/bin/sh\n(./main \"$1\" 2>/dev/null; echo $? >/dev/null) & wait\n./main \"$1\" >/dev/null 2>&1 || exit 1\n");
    let report = localize(&place, &FLAGS);
    assert_eq!(stack(&report)[0], (8, "first".to_owned()));
    assert_eq!(ranks(&report)[0], (8, 1));
    assert_eq!(report["statements"][0]["nearness"], 1.0);
}

#[test]
fn the_stack_of_an_address_sanitizer_is_the_crash() {
    let place = Place::new();
    let source = "#include <stdlib.h>\n#include <string.h>\n\
        static void fill(char *text, int count)\n{\n  for (int i = 0; i < count; i++)\n    text[i] = 'x';\n}\n\
        int main(int argc, char **argv)\n{\n\
        \x20 char *text = malloc(4);\n\
        \x20 fill(text, strcmp(argv[1], \"good\") ? 5 : 4);\n  int first = text[0];\n  free(text);\n  return argc > 5 && first;\n}\n";
    project(&place, source, "-O0 -fsanitize=address");
    let report = localize(&place, &FLAGS);
    let frames = stack(&report);
    assert_eq!(frames[0], (6, "fill".to_owned()));
    assert_eq!(frames[1], (11, "main".to_owned()));
    assert_eq!(ranks(&report)[0], (6, 1));
}

#[test]
fn undefined_behaviour_that_a_sanitizer_reports_has_its_place() {
    let place = Place::new();
    let source = "#include <limits.h>\n#include <string.h>\n\
        static int next(int x)\n{\n  return x + 1;\n}\n\
        int main(int argc, char **argv)\n{\n\
        \x20 return next(strcmp(argv[1], \"good\") ? INT_MAX : -1) && argc;\n}\n";
    project(
        &place,
        source,
        "-fsanitize=undefined -fno-sanitize-recover=all",
    );
    let report = localize(&place, &FLAGS);
    assert_eq!(stack(&report), [(5, "next".to_owned())]);
}

#[test]
fn all_processes_of_a_test_and_shared_libraries_are_seen() {
    let place = Place::new();
    place.write(
        "lib.c",
        "int twice(int x)\n{\n  if (x == 3)\n    return 7;\n  return 2 * x;\n}\n",
    );
    place.write(
        "main.c",
        "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint twice(int);\n\
         int main(int argc, char **argv)\n{\n  int status = 0;\n  pid_t child = fork();\n  if (child == 0)\n\
         \x20   _exit(twice(atoi(argv[1])));\n  waitpid(child, &status, 0);\n\
         \x20 return WEXITSTATUS(status) != 2 * atoi(argv[1]) || argc > 5;\n}\n",
    );
    place.write(
        "Makefile",
        "main: main.c libtwice.so\n\tgcc -o main main.c ./libtwice.so\n\
         libtwice.so: lib.c\n\tgcc -O2 -shared -fPIC -o libtwice.so lib.c\n",
    );
    place.script(
        "test.sh",
        "#!/bin/sh\n[ \"$1\" = bad ] && n=3 || n=4\n./main 1 && ./main $n\n",
    );
    let report = localize(&place, &FLAGS);
    let first = &report["statements"][0];
    assert_eq!(
        (first["file"].as_str(), first["line"].as_u64()),
        (Some("lib.c"), Some(4))
    );
    assert_eq!(
        (&first["failing"], &first["passing"]),
        (&1.into(), &0.into())
    );
    // The children leave by `_exit`, which is no crash.
    assert_eq!(report["crashes"], serde_json::json!([]));
}

#[test]
fn a_test_that_never_ends_is_seen_where_it_is() {
    let place = Place::new();
    let source = "#include <string.h>\n\
        int main(int argc, char **argv)\n{\n  volatile int x = strcmp(argv[1], \"good\") == 0;\n\
        \x20 while (!x)\n    x = 0;\n  return argc > 5;\n}\n";
    project(&place, source, "-O1");
    let arguments: Vec<&str> = FLAGS
        .into_iter()
        .chain(["--test-timeout", "300ms"])
        .collect();
    let report = localize(&place, &arguments);
    assert_eq!(stack(&report), [(6, "main".to_owned())]);
}

#[test]
fn what_c_allows_around_statements_still_compiles_without_a_warning() {
    let place = Place::new();
    let source = r#"#include <stdio.h>
#include <string.h>
#define BOTH(a, b) a; b
#define EACH(i, n) for (i = 0; i < (n); i++)
#define CHECK(x) do { if (!(x)) failed = 1; } while (0)
static int failed;
static int old(x, y)
  int x, y;
{ return x > y ? x : y; }
static void duff(char *to, const char *from, int count)
{
  int rounds = (count + 3) / 4;
  switch (count % 4) {
  case 0: do { *to++ = *from++; /* fall through */
  case 3: *to++ = *from++; /* fall through */
  case 2: *to++ = *from++; /* fall through */
  case 1: *to++ = *from++;
             } while (--rounds > 0);
  }
}
static int jumps(int x)
{
  int i, sum = 0;
again:
  if (x > 0) if (x > 5) sum += 2; else sum++; else goto out;
  EACH(i, 3) { sum += i; }
  EACH(i, 2) sum += i;
  for (;;) { if (sum > 3 && x || !x) break; else sum++; }
  x--;
  BOTH(sum++, sum--);
  goto again;
out:
  switch (x) { case 0: case 1: sum += 10; break; default: ; }
  { int inner = 2; sum += inner; }
  while (sum > 50) sum--;
  return sum;
}
int main(int argc, char **argv)
{
  char to[8] = "";
  duff(to, "abcdefg", 7);
  CHECK(strcmp(to, "abcdefg") == 0);
  CHECK(old(1, 2) == 2); CHECK(jumps(2) == 22);
  if (argc > 1 && strcmp(argv[1], "good")) { failed = 1; }
  return failed;
}
"#;
    project(
        &place,
        source,
        "-std=c89 -Wall -Wno-parentheses -Wno-old-style-definition -Werror -pedantic-errors -O2",
    );
    let report = localize(&place, &FLAGS);
    assert_eq!(report["refused_functions"], serde_json::json!({}));
    let statements = report["statements"].as_array().unwrap();
    let first = &statements[0];
    assert_eq!(first["text"], "failed = 1;", "{first:#}");
    let functions = report["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 4, "{functions:#?}");
}

#[test]
fn a_program_without_a_failing_test_is_no_basis() {
    let place = Place::with_max2();
    for name in ["equal.out", "equal.args"] {
        std::fs::remove_file(place.project().join("cases").join(name)).unwrap();
    }
    let output = place.run(["localize", "project/max.c"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(stderr(&output).contains("pass"), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 17 s; a_test_that_never_ends_is_seen_where_it_is goes this way"]
fn a_large_program_is_repaired_at_its_most_suspicious_locations_only() {
    let place = Place::new();
    let mut source = String::from("#include <stdlib.h>\n");
    for i in 0..300 {
        source += &format!(
            "int unused_{i}(int first, int second)\n{{\n  if (first > second + {i})\n    return first - second;\n\
             \x20 return second * {i} - first;\n}}\n"
        );
    }
    for i in 0..60 {
        source += &format!("int used_{i}(int x)\n{{\n  x += {i};\n  return x * 2;\n}}\n");
    }
    // Meant is `x > 25`.
    source += "int limit(int x)\n{\n  if (x < 25)\n    return 25;\n  return x;\n}\n\
        int main(int argc, char **argv)\n{\n  int n = atoi(argv[1]), sum = argc;\n";
    for i in 0..60 {
        source += &format!("  sum += used_{i}(n);\n");
    }
    source += "  if (n > 20)\n    n = limit(n);\n  return n != atoi(argv[2]);\n}\n";
    place.write("main.c", &source);
    place.write("Makefile", "main: main.c\n\tgcc -O0 -o main main.c\n");
    place.script(
        "test.sh",
        "#!/bin/sh\ncase $1 in\n  small) ./main 3 3 ;;\n  ten) ./main 10 10 ;;\n  big) ./main 30 25 ;;\n  more) ./main 22 22 ;;\nesac\n",
    );
    let arguments = [
        "repair",
        "project",
        "--build",
        "make -s",
        "--driver",
        "./test.sh",
        "--tests",
        "small",
        "ten",
        "big",
        "more",
        "--locations",
        "5",
        "--first",
    ];
    let output = place.run(arguments.into_iter().chain(["--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["patches"][0]["function"], "limit", "{report:#}");
    let left_out = &report["stats"]["less_suspicious"];
    let (statements, of) = (&left_out["statements_left_out"], &left_out["of_statements"]);
    assert!(statements.as_u64().unwrap() > 50 && of.as_u64() > statements.as_u64());
    let text = stdout(&place.run(arguments));
    assert!(text.contains("--locations 0 takes all"), "{text}");
}
