//! The inputs of `patchwright prove`: what is given, assumed and shown.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use crate::common::{Place, prove};
use crate::prove::{DOSE, json};

#[test]
fn what_is_assumed_of_arguments_is_c() {
    let place = Place::new();
    place.write(
        "half.c",
        "#include <assert.h>\nint half(int n)\n{\n    int h = n / 2;\n    assert(h * 2 == n);\n    return h;\n}\n",
    );
    let flags = ["project/half.c", "--function", "half", "--assume"];
    let (status, text, errors) = prove(&place, &[&flags[..], &["n % 2 == 0"]].concat());
    assert_eq!(
        (status, text.as_str()),
        (
            Some(0),
            "Proved: `half` holds for all inputs.\nTaken for granted: n % 2 == 0 (--assume).\n"
        ),
        "{errors}"
    );
    let (status, text, _) = prove(&place, &[&flags[..], &["n > 2 && n < 2"]].concat());
    assert_eq!(status, Some(2));
    assert!(
        text.contains("no input satisfies the assumptions"),
        "{text}"
    );
    let (status, _, errors) = prove(&place, &[&flags[..], &["m == 0"]].concat());
    assert_eq!(status, Some(2));
    assert!(
        errors.contains("--assume must be a C expression over the parameters of `half`"),
        "{errors}"
    );
}

#[test]
fn numbers_on_the_command_line_are_inputs_and_programs_are_repaired_towards_a_reference() {
    let place = Place::new();
    place.write("good.c", DOSE);
    place.write("bad.c", DOSE.replace("age < 12", "age <= 13"));
    let flags = ["project/bad.c", "--like", "project/good.c", "--json"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    let example = &json(&text)["counterexample"];
    assert_eq!(example["replay"], "agrees", "{text}");
    let age = example["arguments"][1].as_str().expect("a number");
    assert!(["12", "13"].contains(&age), "{age}");
    let more = ["--repair", "--level", "3", "--max-edits", "1"];
    let (status, text, errors) = prove(&place, &[&flags[..], &more].concat());
    assert_eq!(status, Some(0), "{text}{errors}");
    let repairs = json(&text)["repairs"].clone();
    assert_eq!(repairs["complete"], true);
    let all = repairs["repairs"].as_array().expect("repairs");
    let diff = |one: &serde_json::Value| one["diff"].as_str().unwrap_or_default().to_owned();
    assert!(
        all.iter().any(|one| diff(one).contains("age <= 11 ")),
        "{text}"
    );
}

#[test]
fn what_depends_on_the_bytes_of_an_argument_gets_bytes() {
    let place = Place::new();
    place.write(
        "sign.c",
        "#include <assert.h>\n#include <stdlib.h>\n
int main(int argc, char *argv[])
{
    int n = atoi(argv[1]);
    if (argv[1][0] == '-')
        assert(n <= 0);
    return argc - 2;
}
",
    );
    let flags = ["project/sign.c", "--longest", "3", "--arguments", "1"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
}

#[test]
fn a_counterexample_has_small_numbers_where_small_ones_fail() {
    let place = Place::new();
    let source = "#include <assert.h>\n\
                  void between(int low, int high, double share) {\n\
                  \x20   int at = low + (int)((high - low) * share);\n\
                  \x20   assert(at <= high);\n\
                  }\n";
    place.write("between.c", source);
    let flags = [
        "project/between.c",
        "--function",
        "between",
        "--assume",
        "low > 40 && high >= low && high < 1000 && share > 0",
        "--json",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{errors}");
    let inputs = json(&text)["counterexample"]["inputs"].clone();
    let value = |name: &str| -> f64 {
        let all = inputs.as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        one["value"].as_str().unwrap().parse().unwrap()
    };
    assert!(value("low") <= 160.0 && value("high") <= 160.0, "{inputs}");
    assert!(value("share") <= 4.0, "{inputs}");
}

#[test]
fn what_happens_names_members_and_elements_as_the_source_does() {
    let place = Place::new();
    let source = "#include <assert.h>\n\
                  struct queue { int waiting[4]; int used; };\n\
                  static struct queue all;\n\
                  static void put(struct queue *q, int who) { q->waiting[q->used] = who; q->used++; }\n\
                  void twice(int a, int b) {\n\
                  \x20   put(&all, a);\n\
                  \x20   put(&all, b);\n\
                  \x20   assert(all.waiting[0] + all.used != 9);\n\
                  }\n";
    place.write("queue.c", source);
    let (status, text, errors) = prove(&place, &["project/queue.c", "--function", "twice"]);
    assert_eq!(status, Some(1), "{text}{errors}");
    for step in ["  q->waiting[q->used] = 7 ", "  q->used = 2 "] {
        assert!(text.contains(step), "{text}");
    }
}

#[test]
fn objects_of_other_files_hold_any_value_and_are_given_it_when_it_is_executed() {
    let place = Place::new();
    let source = "extern float scale;\n\
                  extern struct { int kind; char mark; } entry;\n\
                  extern int table[];\n\
                  int by_entry(int n) {\n\
                  \x20   return scale > 1.5f && entry.mark == 'x' && entry.kind == 77 ? 10 / n : 0;\n\
                  }\n\
                  int by_table(int n) { return 10 / (table[n & 1] - 3); }\n\
                  int beyond(int n) { return table[n & 7]; }\n";
    place.write("elsewhere.c", source);
    for function in ["by_entry", "by_table"] {
        let flags = ["project/elsewhere.c", "--function", function, "--json"];
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(1), "{errors}");
        let found = &json(&text)["counterexample"];
        assert_eq!(found["kind"], "division-by-zero", "{text}");
        assert_eq!(found["replay"], "agrees", "{text}");
    }
    let flags = ["project/elsewhere.c", "--function", "beyond"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(5), "{text}{errors}");
    assert!(text.contains("how large `table` is"), "{text}");
}

#[test]
fn a_program_whose_globals_hold_anything_is_executed_with_what_they_hold() {
    let place = Place::new();
    let source = "#include <assert.h>\n\
                  float ratio;\n\
                  static struct { short low, high; } pair;\n\
                  int main(void) { if (pair.high == 9) assert(ratio < 2.0f); return 0; }\n";
    place.write("globals.c", source);
    let flags = ["project/globals.c", "--havoc", "--json"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert_eq!(json(&text)["counterexample"]["replay"], "agrees", "{text}");
}

#[test]
fn what_a_program_leaves_in_its_variables_when_it_ends_is_nobodys_concern() {
    let place = Place::new();
    let program = |left: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint state;\nint main(int argc, char **argv)\n{{\n    if (argc < 2)\n\
             \x20       return 2;\n    printf(\"%d\\n\", atoi(argv[1]) / 2);\n    state = {left};\n    return 0;\n}}\n"
        )
    };
    place.write("one.c", program("1"));
    place.write("two.c", program("2"));
    let (status, text, errors) = prove(&place, &["project/one.c", "--like", "project/two.c"]);
    assert_eq!(status, Some(0), "{text}{errors}");
}

#[test]
fn an_assumption_that_cannot_be_evaluated_does_not_hold() {
    let place = Place::new();
    let source = "#include <assert.h>\nvoid f(int x, int y) {\n  assert(y != 0);\n  assert(x != 0);\n  assert(y > 0);\n}\n";
    place.write("ratio.c", source);
    let flags = ["project/ratio.c", "--function", "f", "--assume"];
    let (status, text, errors) = prove(&place, &[&flags[..], &["x / y > 2"]].concat());
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("ratio.c:5 in f"), "{text}");
    assert!(!text.contains("Not confirmed"), "{text}");
    let (status, text, errors) = prove(&place, &[&flags[..], &["x / y > 2 && y > 0"]].concat());
    assert_eq!(status, Some(0), "{text}{errors}");
    let flags = ["--assume", "x / y > 2", "--function", "f"];
    place.write("old.c", source);
    place.write("new.c", source.replace("y != 0", "y"));
    let report = place.compared(&flags, 0);
    assert_eq!(report["verdict"], "equal", "{report}");
}

#[test]
fn an_assumption_must_not_assign() {
    let place = Place::new();
    place.write(
        "three.c",
        "#include <assert.h>\nvoid f(int x) { assert(x != 3); }\n",
    );
    let flags = ["project/three.c", "--function", "f", "--assume"];
    for (condition, hint) in [
        ("x = 3", "an assumption must not assign; did you mean `==`?"),
        ("x++ < 3", "must not change anything, and `++` does"),
        ("(x += 3) > 3", "must not change anything, and `+=` does"),
    ] {
        let (status, text, errors) = prove(&place, &[&flags[..], &[condition]].concat());
        assert_eq!(status, Some(2), "{text}{errors}");
        assert!(errors.contains(hint), "{errors}");
        assert!(
            errors.contains(&format!("--assume '{condition}'")),
            "{errors}"
        );
    }
    let (status, text, errors) = prove(&place, &[&flags[..], &["x == '=' || x >= 4"]].concat());
    assert_eq!(status, Some(0), "{text}{errors}");
}

#[test]
fn assumptions_are_made_of_all_types_of_parameters() {
    let place = Place::new();
    for (name, source, condition) in [
        (
            "old",
            "void f(s, x) short s; float x; { assert(s > 2 && x < 1); }",
            "s > 2 && x < 1",
        ),
        (
            "rows",
            "void f(int m[2][3]) { assert(m[1][2] == 7); }",
            "m[1][2] == 7",
        ),
        (
            "square",
            "void f(int n, int m[n][n]) { assert(n < 3); }",
            "n < 3",
        ),
        (
            "given",
            "void f(int (*get)(void), int n) { assert(n < 3); }",
            "n < 3",
        ),
        (
            "row",
            "int rows[2][3]; int (*f(int n))[3] { assert(n < 3); return rows; }",
            "n < 3",
        ),
    ] {
        let file = format!("{name}.c");
        place.write(&file, format!("#include <assert.h>\n{source}\n"));
        let path = format!("project/{file}");
        let flags = [path.as_str(), "--function", "f", "--assume", condition];
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(0), "{name}: {text}{errors}");
    }
}

#[test]
#[ignore = "nightly: 2 s; an_assumption_that_cannot_be_evaluated_does_not_hold goes this way"]
fn pointers_that_may_lead_anywhere_are_no_fault_of_the_tool() {
    let place = Place::new();
    for (name, source, flag) in [
        (
            "global",
            "const char *g; int f(void) { return g ? g[2] : 0; }",
            "--havoc",
        ),
        (
            "member",
            "struct { int n; int *v; } g; int f(void) { int s = 0; for (int i = 0; i < g.n; i++) s += g.v[i]; return s; }",
            "--havoc",
        ),
        (
            "function",
            "static int (*hook)(int); void set(int (*h)(int)) { hook = h; } int f(int x) { return hook ? hook(x) : 0; }",
            "--havoc",
        ),
        (
            "elsewhere",
            "extern int *p; int f(void) { return p ? *p : 0; }",
            "--json",
        ),
        (
            "names",
            "extern char *const names[3]; int f(unsigned i) { return i < 3 && names[i] ? names[i][0] : 0; }",
            "--json",
        ),
    ] {
        let file = format!("{name}.c");
        place.write(&file, format!("{source}\n"));
        let path = format!("project/{file}");
        let (status, text, errors) = prove(&place, &[path.as_str(), "--function", "f", flag]);
        assert!(
            matches!(status, Some(1 | 2)),
            "{name}: {status:?} {text}{errors}"
        );
        assert!(!errors.contains("bug"), "{name}: {errors}");
    }
}
