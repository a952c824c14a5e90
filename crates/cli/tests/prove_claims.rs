//! `patchwright prove` claims nothing that an execution, or another compiler, makes untrue: what it cannot know is unknown, and
//! what it takes for granted is said.

use crate::common::{Place, prove};

/// The answer about a function or, without a name, a program.
fn answered(place: &Place, function: Option<&str>, text: &str, flags: &[&str]) -> String {
    let head = "#include <assert.h>\n#include <errno.h>\n#include <math.h>\n#include <stdio.h>\n\
                #include <stdlib.h>\n#include <string.h>\n";
    place.write("unit.c", format!("{head}{text}\n"));
    let entry = function.map_or(vec![], |name| vec!["--function", name]);
    let flags = [&["project/unit.c"], entry.as_slice(), flags].concat();
    let (status, told, errors) = prove(place, &flags);
    assert!(matches!(status, Some(0 | 1 | 5)), "{text}\n{told}{errors}");
    told
}

#[track_caller]
fn expect(text: &str, function: Option<&str>, flags: &[&str], expected: &[&str]) {
    let place = Place::new();
    let told = answered(&place, function, text, flags);
    for one in expected {
        assert!(told.contains(one), "{text}\n{one}\n{told}");
    }
}

#[test]
fn pointers_in_structures_are_said_to_lead_to_no_part_of_others() {
    for (body, expected) in [
        (
            "struct Box { int *top; int used; };\n\
             void f(struct Box *box) { if (!box->top) return; box->used = 2; *box->top = 7; assert(box->used == 2); }",
            "Assumed: `box->top` leads to no part of `*box`",
        ),
        (
            "struct Line { char *text; long size; };\n\
             void f(struct Line *line) { if (!line->text) return; line->size = 0; line->text[0] = 'x'; assert(!line->size); }",
            "Assumed: `line->text` leads to no part of `*line`",
        ),
        (
            "long total; struct Part { long *sum; };\n\
             void f(struct Part *part) { if (!part->sum) return; total = 4; *part->sum = 0; assert(total == 4); }",
            "Assumed: `part->sum` leads to no part of `total`",
        ),
    ] {
        expect(body, Some("f"), &[], &["Proved", expected]);
    }
}

#[test]
fn numbers_that_are_too_large_set_errno() {
    for call in ["strtol(v[1], NULL, 10)", "strtoll(v[1], 0, 10)"] {
        let text = format!(
            "int main(int n, char **v) {{ if (n != 2) return 1; errno = 0; long k = {call};\n\
             if (k < 0 && errno != 0) assert(k > -4000000000); return 0; }}"
        );
        expect(&text, None, &[], &["Fails: the assertion fails", "agrees"]);
    }
    let text = "int main(int n, char **v) { if (n != 2) return 1; errno = 0; long k = atol(v[1]);\n\
                assert(errno == 0 || k > 5); return 0; }";
    expect(text, None, &[], &["Unknown"]);
    // What fits leaves it alone.
    expect(
        "int main(int n, char **v) { if (n != 2) return 1; errno = 0; long k = strtol(v[1], NULL, 10);\n\
         if (errno) assert(k == 9223372036854775807 || k == -9223372036854775807 - 1); return 0; }",
        None,
        &[],
        &["Proved"],
    );
}

#[test]
fn the_environment_is_not_known() {
    for text in [
        "int main(int n, char **v, char **e) { int i = 0; while (e[i]) i++; assert(i < 3); return 0; }",
        "extern char **environ; int main(void) { assert(environ[0] == NULL); return 0; }",
    ] {
        expect(text, None, &[], &["Unknown"]);
    }
}

#[test]
fn memory_that_a_function_loses_is_a_leak() {
    let flags = ["--check", "leak"];
    for (text, expected) in [
        (
            "int f(int n) { int *p = malloc(12); if (n > 99) return 2; free(p); return 0; }",
            "Fails: memory to which nothing leads any more",
        ),
        (
            "int f(int n) { char *p = malloc(n > 0); p = malloc(3); free(p); return 0; }",
            "Fails: memory to which nothing leads any more",
        ),
        ("char *f(void) { return malloc(9); }", "Proved"),
        ("char *kept; void f(void) { kept = malloc(9); }", "Proved"),
        (
            "struct Cell { struct Cell *next; };\n\
             struct Cell *f(void) { struct Cell *a = malloc(sizeof *a); a->next = malloc(sizeof *a); a->next->next = 0; return a; }",
            "Proved",
        ),
        (
            "struct Cell { struct Cell *next; };\n\
             int f(void) { struct Cell *a = malloc(sizeof *a); a->next = a; return 0; }",
            "Fails: memory to which nothing leads any more",
        ),
        (
            "void keep(char *p); void f(void) { keep(malloc(4)); }",
            "Unknown",
        ),
    ] {
        expect(text, Some("f"), &flags, &[expected]);
    }
}

#[test]
#[ignore = "nightly: 4 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn a_format_gets_arguments_of_its_types() {
    for text in [
        "void f(float x) { printf(\"%x\\n\", x); }",
        "void f(long x) { if (x == 12) printf(\"at %d\\n\", x); }",
        "void f(int x) { printf(\"%*d %g\\n\", 4, x, x); }",
        "void f(int x) { char b[9]; snprintf(b, sizeof b, \"%s\", x); }",
        "void f(int x) { printf(\"%d of %d\\n\", x); }",
    ] {
        expect(
            text,
            Some("f"),
            &[],
            &["Fails: `", "The interpreter agrees"],
        );
    }
    expect(
        "void f(unsigned x, short y, long long z, char *s) { printf(\"%d %x %hd %ld %c %p %.2f\\n\", x, y, y, z, y, (void *)s, 0.5f); }",
        Some("f"),
        &[],
        &["Proved"],
    );
}

#[test]
#[ignore = "nightly: 4 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn a_text_is_not_written_over_what_it_is_made_of() {
    for body in [
        "char b[40] = \"one\"; sprintf(b, \"%s!\", b);",
        "char b[40] = \"one\"; snprintf(b, 9, \"<%s\", b + 1);",
        "char b[40] = \"one\"; strcat(b, b);",
        "char b[40] = \"one\"; strncat(b, b + 1, 5);",
        "char b[40] = \"one\"; memcpy(b, b + 2, 5);",
    ] {
        let text = format!("void f(void) {{ {body} }}");
        expect(&text, Some("f"), &[], &["Fails:", "The interpreter agrees"]);
    }
    expect(
        "void f(void) { char b[40] = \"one\"; sprintf(b + 4, \"%s\", b); assert(b[4] == 'o'); }",
        Some("f"),
        &[],
        &["Proved"],
    );
}

#[test]
#[ignore = "nightly: 2 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn a_null_pointer_is_no_text() {
    for call in [
        "printf(\"%s\\n\", s)",
        "printf(\"(%s)\", s)",
        "char b[9]; sprintf(b, \"%s\", s)",
    ] {
        let text = format!("void f(int x) {{ const char *s = x > 6 ? NULL : \"b\"; {call}; }}");
        expect(
            &text,
            Some("f"),
            &[],
            &["Fails:", "null pointer", "The interpreter agrees"],
        );
    }
}

#[test]
fn truth_values_of_other_bytes_are_not_known() {
    let text = "int f(unsigned char c) { _Bool b; memcpy(&b, &c, 1); assert(b < 2); return 0; }";
    expect(text, Some("f"), &[], &["Unknown", "neither 0 nor 1"]);
    let text = "int f(unsigned char c) { _Bool b = c; assert(b == (c != 0)); return 0; }";
    expect(text, Some("f"), &[], &["Proved"]);
}

#[test]
fn where_objects_lie_is_not_known() {
    for (text, expected) in [
        (
            "void f(void) { char a[3], b[3]; assert(a + 3 != b); }",
            "Unknown",
        ),
        (
            "int m[2], n[2]; void f(int *q) { q = n + 2; assert(q != m); }",
            "Unknown",
        ),
        (
            "void f(void) { char a[3], b[3]; assert(a + 2 != b); }",
            "Proved",
        ),
        (
            "void f(void) { const char *a = \"second\" + 3, *b = \"ond\"; assert(a != b); }",
            "Unknown",
        ),
        (
            "void f(void) { const char *a = \"second\" + 2, *b = \"ond\"; assert(a != b); }",
            "Proved",
        ),
        (
            "int f(const int *p, int n) { int s = 0; for (const int *e = p + 4; p != e; p++) s |= *p; return s; }",
            "Proved",
        ),
    ] {
        expect(text, Some("f"), &[], &[expected]);
    }
}

#[test]
fn the_sign_of_a_nan_that_is_made_is_not_known() {
    for (text, expected) in [
        (
            "void f(double x) { double n = x - x; assert(!signbit(n)); }",
            "Unknown",
        ),
        (
            "void f(float x) { union { float f; unsigned u; } n; n.f = x - x; assert(!(n.u >> 31)); }",
            "Unknown",
        ),
        (
            "void f(double x, double y) { if (x > 1 && y > 1 && x < 9 && y < 9) assert(!signbit(x * y)); }",
            "Proved",
        ),
    ] {
        expect(text, Some("f"), &[], &[expected]);
    }
}

#[test]
fn an_order_of_operands_that_is_taken_is_said() {
    let said = "operands are evaluated from left to right";
    for text in [
        "int k; int one(void) { return k = 1; } int two(void) { return k = 2; }\n\
         void f(void) { int s = one() + two(); assert(s == 3 && k == 2); }",
        "int k; int one(void) { return k = 1; } int sum(int a, int b) { return a + b; }\n\
         void f(void) { k = 5; assert(sum(k, one()) == 6); }",
        "void f(int i) { int a[9] = {0}; if (i < 0 || i > 7) return; a[i] = i++; assert(i > 0); }",
    ] {
        expect(text, Some("f"), &[], &[said, "unit.c:"]);
    }
    let place = Place::new();
    let text = "int k; int one(void) { return k = 1; } int sum(int a, int b) { return a + b; }\n\
                void f(int i, int *p) { assert(sum(one(), i) == i + 1 || i > 9); *p = i + one(); p[0] += sum(i, 2); }";
    let told = answered(&place, Some("f"), text, &[]);
    assert!(!told.contains(said), "{told}");
}

#[test]
fn the_headline_says_how_far_inputs_go() {
    for (text, expected) in [
        (
            "int main(void) { int n = 0; scanf(\"%d\", &n); assert(n <= n); return 0; }",
            "holds for all inputs, where `scanf` succeeds.",
        ),
        (
            "int main(void) { int b[70], n = 0, c; while ((c = getchar()) != EOF) b[n++] = c; return b[0] * 0; }",
            "Fails: ",
        ),
        (
            "int main(void) { int n = 0; while (getchar() != EOF) n++; assert(n >= 0); return 0; }",
            "as far as 64 bytes of standard input",
        ),
        (
            "int main(int n, char **v) { char b[100]; if (n == 2) strcpy(b, v[1]); return 0; }",
            "Fails: ",
        ),
        (
            "int main(int n, char **v) { if (n == 2) assert(strlen(v[1]) < 9999); return 0; }",
            "bytes of each argument",
        ),
        (
            "int main(void) { assert(getchar() < 256); return 0; }",
            "holds for all inputs.\n",
        ),
    ] {
        expect(text, None, &[], &[expected]);
    }
}

#[test]
fn a_proof_round_by_round_says_what_later_rounds_take_for_granted() {
    expect(
        "unsigned nondet_uint(void); int level(void);\n\
         int main(void) { unsigned n = nondet_uint(), s = 0;\n\
         for (unsigned i = 0; i < n; i++) { s += 2; if (i > 1000000) { int v = level(); if (v > 3) v = 3; assert(v <= 3); } }\n\
         assert(s == 2 * n); return 0; }",
        None,
        &[],
        &["By induction", "Taken for granted: `level` has no body"],
    );
}

#[test]
#[ignore = "nightly: 14 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn a_loop_that_never_ends_is_found_along_paths_too() {
    let endless = "Fails: the loop never ends";
    for (body, flags) in [
        (
            "int x = __VERIFIER_nondet_int(); while (x == 3) { } return 0;",
            &["--paths"][..],
        ),
        (
            "int x = __VERIFIER_nondet_int(), s = 0; for (int i = 0; i < 10; i++) { while (x == 5 + i); s += i; } return s;",
            &["--paths"],
        ),
        ("while (getchar() != '\\n'); return 0;", &[]),
        (
            "for (;;) { int c = getchar(); putchar('>'); if (c == 'q') return 0; }",
            &["--paths"],
        ),
    ] {
        let text = format!("int __VERIFIER_nondet_int(void);\nint main(void) {{ {body} }}");
        let flags = [flags, &["--check", "termination"]].concat();
        expect(&text, None, &flags, &[endless, "agrees"]);
    }
}

#[test]
fn that_allocations_succeed_is_said() {
    for call in [
        "malloc(4)",
        "calloc(4, 1)",
        "realloc(NULL, 4)",
        "strdup(\"a\")",
    ] {
        let text = format!("int main(void) {{ char *p = {call}; assert(p); free(p); return 0; }}");
        let note = "Taken for granted: no allocation fails";
        expect(&text, None, &[], &["Proved", note]);
    }
}

#[test]
#[ignore = "nightly: 2 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn what_pointers_and_unions_in_structures_are_is_said() {
    for (body, expected) in [
        (
            "struct Token { int kind; union { char *word; long number; } of; };\n\
             void f(struct Token t) { assert(t.of.number != 6); }",
            "Assumed: the union `t.of` has a value of its member `word`",
        ),
        (
            "struct Name { const char *first; };\n\
             void f(struct Name n) { if (n.first) assert(strlen(n.first) < 8); }",
            "Inputs: `n.first` leads to a text of at most 7 bytes in an array of 8, or is null",
        ),
        (
            "struct Row { int *cells; };\n\
             int f(struct Row *row) { return row->cells ? row->cells[2] : 0; }",
            "`row->cells` leads to 4 objects, or is null",
        ),
        (
            "int once(int x) { return x; }\n\
             void f(int (*step)(int)) { assert(step != once); }",
            "`step` is any function, but none of this program",
        ),
        (
            "static const char NONE[] = \"\";\n\
             void f(const char *name) { assert(name != NONE); }",
            "Assumed: `name` leads to no part of `NONE`",
        ),
    ] {
        let shapes = "Proved: `f` holds for all inputs of these shapes";
        expect(body, Some("f"), &[], &[shapes, expected]);
    }
}

#[test]
fn what_is_resized_to_nothing_is_freed() {
    let body = "void f(void) { char *p = malloc(4); char *q = realloc(p, 0); assert(q == NULL); }";
    expect(body, Some("f"), &["--check", "leak"], &["Proved"]);
    let body = "void f(void) { char *p = realloc(NULL, 0); assert(p == NULL); }";
    expect(body, Some("f"), &[], &["Fails", "The interpreter agrees"]);
}

#[test]
fn products_of_sizes_that_are_no_size_are_not_allocated() {
    let body = "void f(size_t n) { if (n >= (size_t)1 << 60) assert(calloc(n, 16) == NULL); }";
    expect(body, Some("f"), &[], &["Proved"]);
    let body = "void f(size_t n, size_t m) { if (n < 4 || m <= (size_t)-1 / 4) return; assert(calloc(n, m) != NULL); }";
    expect(body, Some("f"), &[], &["Fails", "The interpreter agrees"]);
}

#[test]
fn a_base_that_there_is_not_leaves_the_end_of_a_number_alone() {
    let body = "void f(int base) { char *end = NULL; strtol(\"12\", &end, base); assert(end || base < 0 || base == 1 || base > 36); }";
    expect(body, Some("f"), &[], &["Proved"]);
    let body = "void f(int base) { char *end = NULL; strtoul(\"12\", &end, base); assert(end); }";
    expect(body, Some("f"), &[], &["Fails", "The interpreter agrees"]);
}

#[test]
#[ignore = "nightly: 2 s; memory_that_a_function_loses_is_a_leak goes this way"]
fn how_large_the_result_of_a_comparison_is_is_taken_for_granted_where_that_matters() {
    let place = Place::new();
    let taken = "Taken for granted: `strcmp`: its result is the difference";
    for (body, is_taken) in [
        ("if (strcmp(a, \"b\") == 0) assert(a[0] == 'b');", false),
        (
            "int order = strcmp(a, \"b\"); if (order < 0) assert(a[0] < 'b');",
            false,
        ),
        ("if (!strcmp(a, \"b\")) assert(a[0] == 'b');", false),
        ("if (a[0] == 'a') assert(strcmp(a, \"b\") == -1);", true),
        (
            "int order = strcmp(a, \"b\"); if (a[0] == 'a') assert(order + 1 == 0);",
            true,
        ),
    ] {
        let text =
            format!("void f(const unsigned char *u) {{ const char *a = (const char *)u; {body} }}");
        let told = answered(&place, Some("f"), &text, &["--text", "u"]);
        assert_eq!(told.contains(taken), is_taken, "{body}\n{told}");
    }
    let body = "void f(void) { double z = fmin(0.0, -0.0); assert(signbit(z)); }";
    let expected = "`fmin`: of two zeros it gives the second";
    expect(body, Some("f"), &[], &["Proved", expected]);
}

#[test]
fn nobody_knows_whether_an_argument_can_be_freed() {
    let body = "void f(char *p) { free(p); }";
    expect(
        body,
        Some("f"),
        &[],
        &[
            "Unknown",
            "whether an argument leads to what an allocation returned",
        ],
    );
}

#[test]
fn a_program_may_return_or_exit_with_its_status() {
    let place = Place::new();
    place.write(
        "reference.c",
        "static int seen; int main(void) { seen = 1; return 3; }\n",
    );
    for (status, verdict) in [(3, "Proved"), (259, "Proved"), (2, "Fails: the result")] {
        let text = format!("int main(void) {{ exit({status}); }}");
        let told = answered(&place, None, &text, &["--like", "project/reference.c"]);
        assert!(told.contains(verdict), "{status}: {told}");
    }
}

#[test]
fn bytes_of_the_input_are_not_compared_with_what_scanf_finds() {
    let place = Place::new();
    place.write(
        "reference.c",
        "#include <stdio.h>\nint main(void) { char c; return scanf(\"%c\", &c) == 1 && c == 'q'; }\n",
    );
    let text = "int main(void) { return getchar() == 'q'; }";
    let told = answered(&place, None, text, &["--like", "project/reference.c"]);
    let reason = "one reads standard input by bytes, and the other one by `scanf`";
    assert!(told.contains("Unknown") && told.contains(reason), "{told}");
}

#[test]
fn others_write_later_to_what_they_got_earlier_or_inside_a_structure() {
    let known = "Proved: the program holds for all inputs";
    for (text, expected) in [
        (
            "struct job { int *done; }; void start(struct job job);\n\
             int main(void) { int done = 1; struct job job = { &done }; start(job); assert(done == 1); return 0; }",
            "Unknown",
        ),
        (
            "void watch(int *place); void wait_for_it(void);\n\
             int main(void) { int n = 1; watch(&n); n = 1; wait_for_it(); assert(n == 1); return 0; }",
            "Unknown",
        ),
        (
            "void fill(void **list); int next(void);\n\
             int main(void) { void *list[2] = { 0, 0 }; int own = 3; fill(list); next(); assert(own == 3); return 0; }",
            known,
        ),
        (
            "int *shared; void others(void);\n\
             int main(void) { int own = 1; shared = &own; others(); assert(own == 1); return 0; }",
            "Unknown",
        ),
        (
            "void look(const int *place); void others(void);\n\
             int main(void) { int own = 1; look(&own); others(); assert(own == 1); return 0; }",
            known,
        ),
        (
            "void watch(const char *text); int next(void);\n\
             int main(void) { int n = next(); watch(\"here\"); assert(n == n); next(); return 0; }",
            known,
        ),
    ] {
        expect(text, None, &[], &[expected]);
    }
}

#[test]
fn any_function_writes_behind_its_arguments() {
    let text =
        "int f(int (*visit)(int *), int x) { int y = x; visit(&y); assert(y == x); return y; }";
    expect(text, Some("f"), &[], &["Unknown"]);
    let text =
        "int f(int (*look)(const int *), int x) { int y = x; look(&y); assert(y == x); return y; }";
    let told = "`look` is any function: it gives any value and leaves anything behind its arguments (it writes nothing \
                behind pointers to `const`)";
    expect(text, Some("f"), &[], &["Proved", told]);
}

#[test]
fn a_function_that_never_returns_ends_the_program() {
    for head in [
        "_Noreturn void stop(const char *why);",
        "void stop(const char *why) __attribute__((noreturn));",
    ] {
        let text = format!(
            "{head}\nint f(int n) {{ if (n < 0) stop(\"negative\"); assert(n >= 0); return n; }}"
        );
        let told = "`stop` has no body: it is taken not to return";
        expect(&text, Some("f"), &[], &["Proved", told]);
    }
    // This one goes on elsewhere.
    let text = "#include <setjmp.h>\nstatic jmp_buf back;\n\
                int main(int n, char **v) { if (setjmp(back)) assert(n != 2); if (n == 2) longjmp(back, 1); return 0; }";
    let place = Place::new();
    assert!(
        !answered(&place, None, text, &[]).contains("Proved"),
        "{text}"
    );
    let text = "#include <err.h>\nint f(int n) { if (n < 0) errx(2, \"%d\", n); if (n == 1) warnx(\"one\"); assert(n >= 0); return n; }";
    expect(text, Some("f"), &[], &["Proved"]);
}

#[test]
fn that_volatile_objects_keep_their_values_is_said() {
    let text =
        "volatile int port; int f(void) { int a = port, b = port; assert(a == b); return a; }";
    let told = "`volatile` objects keep their values until the program writes to them";
    expect(text, Some("f"), &[], &["Proved", told]);
    let place = Place::new();
    let text = "int f(int n) { volatile int own = n; assert(own == n); return own; }";
    assert!(!answered(&place, Some("f"), text, &[]).contains("volatile"));
}

#[test]
fn what_is_no_character_is_outside_of_a_table_of_the_library() {
    let text = "#include <ctype.h>\nint f(int n) { return n > 255 && n < 300 && isalpha(n); }";
    expect(
        text,
        Some("f"),
        &[],
        &["Fails", "outside of a table of the C library"],
    );
}

#[test]
fn numbers_in_memory_are_carried_from_round_to_round() {
    let by_induction = ["Proved: the program holds for all inputs", "By induction"];
    let ask = "int nondet_int(void);\n";
    let lock = "static int lock;\n\
                int main(void) { while (nondet_int()) { assert(lock == 0); lock = 1; assert(lock == 1); lock = 0; } return 0; }";
    expect(&format!("{ask}{lock}"), None, &[], &by_induction);
    let step = "struct machine { int state; int rounds; };\n\
                static void step(struct machine *m, int n) { if (m->state == 0 && n == 1) m->state = 1; else if (m->state == 1) m->state = 0; }\n";
    let of_main = "int main(void) { struct machine m = { 0, 0 }; while (nondet_int()) { step(&m, nondet_int());\n\
                   assert(m.state == 0 || m.state == 1); } return 0; }";
    expect(&format!("{ask}{step}{of_main}"), None, &[], &by_induction);
    // A number that has no value yet is no number to carry.
    let unwritten = "struct machine { int state; int rounds; };\n\
                     static void set(struct machine *m, int n) { m->state = n; }\n\
                     int main(void) { struct machine m; while (nondet_int()) { if (nondet_int()) set(&m, 1);\n\
                     assert(m.state == 1); } return 0; }";
    expect(&format!("{ask}{unwritten}"), None, &[], &["Fails"]);
    // What leaves its range after 1,000 rounds is not proved.
    let late = "static int rounds;\n\
                int main(void) { while (nondet_int()) { rounds++; assert(rounds < 1000); } return 0; }";
    let place = Place::new();
    let told = answered(&place, None, &format!("{ask}{late}"), &["--budget", "5s"]);
    assert!(!told.contains("Proved"), "{told}");
}
