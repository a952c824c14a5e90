//! What `patchwright prove` says of the inputs for which something is proved, and that it looks at all of them.

use crate::common::{Place, prove};

/// Proves a program, with lines in front that all of them need.
fn answered(place: &Place, text: &str, flags: &[&str]) -> String {
    let head = "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n";
    place.write("unit.c", format!("{head}{text}\n"));
    let flags = [&["project/unit.c"], flags].concat();
    let (status, text, errors) = prove(place, &flags);
    assert!(matches!(status, Some(0 | 1 | 5)), "{text}{errors}");
    text
}

#[test]
fn what_scanf_may_find_is_any_number_something_else_or_the_end() {
    let place = Place::new();
    for (body, expected) in [
        // No number stands there, and the input has not ended.
        (
            "int x = 5; if (scanf(\"%d\", &x) == 0) assert(x == 6);",
            "Fails: the assertion fails",
        ),
        // A zero is a byte of a word, and a word is longer than any array.
        (
            "char b[8]; if (scanf(\"%7s\", b) == 1) assert(strlen(b) > 0);",
            "Fails: the assertion fails",
        ),
        (
            "char b[100]; if (scanf(\"%s\", b) == 1) return b[0];",
            "Fails: a write of 1 byte outside of `b`",
        ),
        (
            "char b[100]; if (scanf(\"%99s\", b) == 1) return b[0];",
            "Proved",
        ),
        // What is passed over is written nowhere.
        (
            "int x = 1; if (scanf(\"%*s%d\", &x) != 1) assert(x == 1);",
            "Proved",
        ),
        // Only executions tell what a character behind a number can be.
        (
            "int a; char c; if (scanf(\"%d%c\", &a, &c) == 2) assert(c < '0' || c > '9');",
            "Unknown",
        ),
        (
            "int a; char c; if (scanf(\"%d %c\", &a, &c) == 2) assert(c != '+');",
            "Fails: the assertion fails",
        ),
        (
            "char c; if (scanf(\" %c\", &c) == 1) assert(c != ' ');",
            "Proved",
        ),
    ] {
        let found = answered(
            &place,
            &format!("int main(void) {{ {body} return 0; }}"),
            &[],
        );
        assert!(found.starts_with(expected), "{body}\n{found}");
    }
}

#[test]
fn a_program_that_looks_at_the_number_of_its_arguments_is_proved_for_other_numbers_too() {
    let place = Place::new();
    let main = |body: &str| format!("int main(int argc, char **argv) {{ {body} return 0; }}");
    let text = main("if (argc < 2) return 1; return argv[2][0];");
    let found = answered(&place, &text, &[]);
    assert!(
        found.starts_with("Fails: a read of 1 byte through a null pointer"),
        "{found}"
    );
    assert!(
        found.contains("Taken for granted: the program gets 1 argument,"),
        "{found}"
    );
    let text = main("if (argc < 3) return 1; return argv[2][0];");
    let found = answered(&place, &text, &[]);
    assert!(
        found.starts_with("Proved: the program holds for all inputs with at most 2 arguments."),
        "{found}"
    );
    // Nobody who looks at no number expects another one.
    let found = answered(&place, &main("return argv[1][0];"), &[]);
    assert!(found.contains("for all inputs with 1 argument."), "{found}");
}

#[test]
fn what_a_function_finds_in_variables_and_members_is_said() {
    let place = Place::new();
    let flags = ["--function", "f"];
    let text = "static int calls; int f(void) { assert(calls < 5); return calls++; }";
    let found = answered(&place, text, &flags);
    assert!(
        found.contains("Assumed: `calls` holds what the program starts with; `--havoc` drops this"),
        "{found}"
    );
    let text = "struct s { int a, b; }; static struct s kept;\n\
                void f(struct s *s, int *p) { s->b = kept.a = 1; *p = 2; assert(s->b == 1 && kept.a == 1); }";
    let found = answered(&place, text, &flags);
    assert!(
        found.contains("Assumed: `p` leads to no part of `*s`, `kept`."),
        "{found}"
    );
}

#[test]
fn a_loop_is_proved_to_end_only_if_it_ends() {
    let place = Place::new();
    let flags = ["--function", "f", "--check", "termination"];
    let found = answered(
        &place,
        "int f(unsigned n) { while (n != 0) n += 2; return 0; }",
        &flags,
    );
    assert!(!found.starts_with("Proved"), "{found}");
    let found = answered(
        &place,
        "int f(unsigned n) { while (n != 0) n -= 1; return 0; }",
        &flags,
    );
    assert!(found.starts_with("Proved"), "{found}");
}
