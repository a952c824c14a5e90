//! The C files of counterexamples for inputs of all types: they compile, and do what the answer says.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests compile and start programs"
)]

use crate::common::{Asked, Reader, deep, replayed, verdict};
use patchwright_prove::{For, Replay, Verdict, harness};

fn asked() -> Asked {
    Asked {
        function: Some("f".to_owned()),
        ..Asked::default()
    }
}

/// Checks that each of the programs fails in the last line, in the interpreter and as gcc compiles its harness.
fn fail_wherever_executed(programs: &[(&str, &str)]) {
    let mut reader = Reader::new();
    let library = reader.library();
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for (name, text) in programs {
        let text = format!("#include <assert.h>\n{text}\n");
        let sources = [reader.source(&format!("{name}.c"), &text)];
        let found = match deep(|| verdict(&sources, &library, &asked())) {
            Verdict::Failed(found) => found,
            other => {
                wrong.push(format!("{name}: {other:?}"));
                continue;
            }
        };
        let line = found.place.as_ref().map_or(0, |place| place.line);
        if line as usize != text.lines().count() {
            wrong.push(format!("{name}: {} in line {line}", found.message));
        }
        let replay = replayed(&mut reader, &sources, &asked(), &found);
        if replay != Replay::Agrees {
            wrong.push(format!("{name}: {replay:?} for {:?}", found.inputs));
        }
        let shapes = asked().shapes(&sources, "f");
        let file = folder.path().join(format!("{name}-harness.c"));
        let binary = folder.path().join(name);
        for shown in [true, false] {
            let path = &sources[0].path;
            let text = harness(
                &sources,
                "f",
                &shapes,
                &found.inputs,
                path,
                For::Compiler,
                shown,
            );
            let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
            std::fs::write(&file, &text).expect("written");
            let compiled = std::process::Command::new("gcc")
                .args([
                    "-w",
                    "-g",
                    "-O2",
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all",
                ])
                .args([
                    "-Werror=incompatible-pointer-types",
                    "-Werror=int-conversion",
                ])
                .arg("-o")
                .args([&binary, &file])
                .output()
                .expect("gcc is installed");
            if !compiled.status.success() {
                let complaints = String::from_utf8_lossy(&compiled.stderr);
                wrong.push(format!("{name}: {complaints}\n{text}"));
                break;
            }
            let ran = std::process::Command::new(&binary)
                .output()
                .expect("it starts");
            if ran.status.success() {
                wrong.push(format!("{name} ends well:\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "nightly: 8 s; old_style_definitions_get_promoted_arguments goes this way"]
fn arrays_of_arrays_are_made() {
    fail_wherever_executed(&[
        ("rows", "void f(int m[2][3]) {\n assert(m[1][2] != 7); }"),
        ("any_rows", "void f(int m[][3]) {\n assert(m[0][2] != 7); }"),
        ("pointer", "void f(int (*p)[3]) {\n assert((*p)[1] != 7); }"),
        (
            "constant",
            "void f(const int (*p)[3]) {\n assert((*p)[1] != 7); }",
        ),
        (
            "deep",
            "void f(int m[2][2][2]) {\n assert(m[1][1][1] != 7); }",
        ),
        (
            "named",
            "typedef int row[3];\nvoid f(row m) {\n assert(m[2] != 7); }",
        ),
        (
            "named_rows",
            "typedef int row[3];\nvoid f(row *m) {\n assert((*m)[2] != 7); }",
        ),
        (
            "named_constants",
            "typedef const int row[3];\nvoid f(row m) {\n assert(m[2] != 7); }",
        ),
        ("least", "void f(int a[static 3]) {\n assert(a[2] != 7); }"),
        (
            "of_structures",
            "struct s { const int a; int b; };\nvoid f(struct s m[2][2]) {\n assert(m[1][0].a != 7); }",
        ),
        (
            "returned",
            "int rows[2][3];\nint (*f(int n))[3] {\n assert(n != 7); return rows; }",
        ),
    ]);
}

#[test]
#[ignore = "nightly: 9 s; old_style_definitions_get_promoted_arguments goes this way"]
fn members_that_are_const_get_their_values() {
    fail_wherever_executed(&[
        (
            "by_value",
            "struct s { const int a; int b; };\nvoid f(const struct s s, const int k) {\n assert(s.a != 3 || k != 2); }",
        ),
        (
            "behind",
            "struct s { const int a; int b; };\nvoid f(const struct s *s) {\n assert(s->a != 3); }",
        ),
        (
            "array",
            "struct s { const int a[2]; };\nvoid f(struct s s) {\n assert(s.a[1] != 3); }",
        ),
        (
            "several",
            "struct s { const int a; };\nvoid f(struct s s[2]) {\n assert(s[1].a != 3); }",
        ),
        (
            "nested",
            "struct in { int a; };\nstruct s { const struct in in; };\nvoid f(struct s s) {\n assert(s.in.a != 3); }",
        ),
        (
            "array_of_nested",
            "struct in { const int a; };\nstruct s { struct in in[2]; };\nvoid f(struct s s) {\n assert(s.in[1].a != 3); }",
        ),
        (
            "volatile_one",
            "struct s { volatile int a; const volatile int b; };\nvoid f(struct s s) {\n assert(s.a != 3 || s.b != 2); }",
        ),
        (
            "bits",
            "struct s { const unsigned a : 3; unsigned b : 5; };\nvoid f(struct s s) {\n assert(s.a != 3); }",
        ),
        (
            "truth",
            "struct s { const _Bool a; };\nvoid f(struct s s, _Bool b) {\n assert(!s.a || b); }",
        ),
        (
            "real",
            "struct s { const double a; };\nvoid f(struct s s) {\n assert(s.a != 3.5); }",
        ),
        (
            "flexible",
            "struct s { const int n; const char t[]; };\nvoid f(struct s *s) {\n assert(s->n != 3 || s->t[1] != 'x'); }",
        ),
        (
            "unnamed",
            "struct s { int k; union { const int a; const float b; }; struct { const int c; }; };\nvoid f(struct s s) {\n assert(s.a != 3 || s.c != 2); }",
        ),
        (
            "choice",
            "struct s { enum { A, B, C } kind; const enum { D, E } other; };\nvoid f(struct s s) {\n assert(s.kind != C || s.other != E); }",
        ),
    ]);
}

#[test]
#[ignore = "nightly: 8 s; old_style_definitions_get_promoted_arguments goes this way"]
fn what_pointers_to_const_lead_to_is_made() {
    fail_wherever_executed(&[
        (
            "text",
            "struct s { const char *p; unsigned n; };\nvoid f(struct s s) { if (s.p)\n assert(s.p[1] != 'x'); }",
        ),
        (
            "texts",
            "void f(const char **p) { if (*p)\n assert((*p)[1] != 'x'); }",
        ),
        (
            "list",
            "void f(const int *t[2]) { if (t[1])\n assert(*t[1] != 3); }",
        ),
        (
            "fixed",
            "void f(const char *const *p) { if (*p)\n assert(**p != 'x'); }",
        ),
        (
            "member_list",
            "struct s { const int *t[2]; };\nvoid f(struct s *s) { if (s->t[1])\n assert(*s->t[1] != 3); }",
        ),
        (
            "fixed_pointer",
            "struct s { int *const p; };\nvoid f(struct s s) { if (s.p)\n assert(*s.p != 3); }",
        ),
        (
            "node",
            "struct s { const struct s *next; const int key; };\nvoid f(const struct s *s) { if (s->next)\n assert(s->next->key != 3); }",
        ),
        (
            "tagged",
            "struct s { int tag; union { const char *t; int i; } u; };\nvoid f(struct s s) { if (s.tag && s.u.t)\n assert(s.u.t[0] != 'x'); }",
        ),
        (
            "restricted",
            "void f(const int *restrict p, int *restrict q) {\n assert(*p != 3 || *q != 2); }",
        ),
        (
            "untyped",
            "void f(const void *p) {\n assert(((const int *)p)[0] != 3); }",
        ),
        (
            "untyped_member",
            "struct s { const void *p; };\nvoid f(struct s s) { if (s.p)\n assert(((const char *)s.p)[0] != 3); }",
        ),
    ]);
}

#[test]
#[ignore = "nightly: 4 s; old_style_definitions_get_promoted_arguments goes this way"]
fn enumerations_and_pointers_to_functions_are_made() {
    fail_wherever_executed(&[
        (
            "tag",
            "enum e { A, B, C };\nvoid f(enum e e) {\n assert(e != C); }",
        ),
        (
            "no_tag",
            "typedef enum { A, B, C } e;\nvoid f(e x, e *y) {\n assert(x != C || *y != B); }",
        ),
        (
            "member",
            "struct s { int (*const get)(int); };\nvoid f(struct s s) { if (s.get)\n assert(s.get(1) != 3); }",
        ),
        (
            "given",
            "void f(int (*get)(void)) {\n assert(get() != 3); }",
        ),
        (
            "table",
            "void f(int (*table[2])(void)) { if (table[0])\n assert(table[0]() != 3); }",
        ),
        (
            "result",
            "static int zero(void) { return 0; }\ntypedef int (*get)(void);\nget f(int n) {\n assert(n != 7); return zero; }",
        ),
    ]);
}

#[test]
fn old_style_definitions_get_promoted_arguments() {
    fail_wherever_executed(&[
        (
            "narrow",
            "void f(s, c) short s; char c; {\n assert(s != 3 || c != 7); }",
        ),
        (
            "floating",
            "void f(a, x) int a; float x; {\n assert(a != 2 || x != 1.5f); }",
        ),
        (
            "unsigned_one",
            "void f(b) unsigned char b; {\n assert(b != 200); }",
        ),
        (
            "mixed",
            "void f(p, s) const char *p; short s; {\n assert(*p != 'x' || s != 3); }",
        ),
    ]);
    let mut reader = Reader::new();
    let library = reader.library();
    let text = "#include <assert.h>\nvoid f(s) short s; { assert(s >= -32768 && s <= 32767); }\n";
    let sources = [reader.source("narrowed.c", text)];
    let verdict = deep(|| verdict(&sources, &library, &asked()));
    assert!(matches!(verdict, Verdict::Proved), "{verdict:?}");
}

#[test]
#[ignore = "nightly: 4 s; old_style_definitions_get_promoted_arguments goes this way"]
fn arrays_whose_length_is_a_parameter_lead_to_elements() {
    fail_wherever_executed(&[
        (
            "square",
            "void f(int n, int m[n][n]) { if (n == 2)\n assert(m[1][1] != 7); }",
        ),
        (
            "columns",
            "void f(int n, int m[][n]) { if (n == 2)\n assert(m[0][1] != 7); }",
        ),
        (
            "constant_rows",
            "void f(int n, const int m[2][n]) { if (n == 2)\n assert(m[1][0] != 7); }",
        ),
        (
            "row",
            "void f(int n, int v[n]) { if (n == 2)\n assert(v[0] != 7); }",
        ),
        (
            "structures",
            "struct s { int a; const int b; };\nvoid f(int n, struct s m[n][n]) { if (n == 1)\n assert(m[0][0].b != 7); }",
        ),
    ]);
    let mut reader = Reader::new();
    let library = reader.library();
    let text = "int f(int n, int m[n][n]) { return n == 1 ? m[0][0] : 0; }\n";
    let sources = [reader.source("first.c", text)];
    let verdict = deep(|| verdict(&sources, &library, &asked()));
    assert!(matches!(verdict, Verdict::Proved), "{verdict:?}");
}

#[test]
#[ignore = "nightly: 4 s; old_style_definitions_get_promoted_arguments goes this way"]
fn const_objects_of_other_files_begin_with_their_values() {
    fail_wherever_executed(&[
        (
            "number",
            "extern const int k;\nextern int n;\nvoid f(void) {\n assert(k != 3 || n != 2); }",
        ),
        (
            "table",
            "extern const short t[4];\nvoid f(void) {\n assert(t[1] != 3 || t[3] != -2); }",
        ),
        (
            "unknown_length",
            "extern const int t[];\nvoid f(void) {\n assert(t[1] != 3); }",
        ),
        (
            "structure",
            "extern const struct { char c; double d; int a[2]; } s;\nvoid f(void) {\n assert(s.c != 'x' || s.d != 1.5 || s.a[1] != 3); }",
        ),
        (
            "structures",
            "struct s { const int a; int b; };\nextern struct s s[2];\nvoid f(void) {\n assert(s[1].a != 3); }",
        ),
        (
            "rows",
            "extern const int m[2][3];\nvoid f(void) {\n assert(m[1][2] != 7); }",
        ),
    ]);
}
