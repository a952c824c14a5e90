//! Patches whose differences begin elsewhere than what was written.

use std::fmt::Write as _;

use crate::common::{Found, Subject, as_plainly};
use patchwright_schemata::Fate;

const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>

struct pair
{
    int first;
};

static int half(int);

static int
half(int n)
{
    n = n / 2;
    return n;
}

int
main(int argc, char **argv)
{
    struct pair pair = {argc > 1 ? atoi(argv[1]) : 0};
    printf(\"%d\\n\", half(pair.first));
    return 0;
}
";

fn subject() -> Subject {
    Subject::new(SOURCE, &[("7", "3\n"), ("-8", "-4\n"), ("0", "0\n")])
}

fn all_are_woven(found: &Found) {
    let mut wrong = String::new();
    for (patch, fate) in found.fates.iter().enumerate() {
        if *fate != Fate::Woven {
            writeln!(wrong, "{patch}: {fate:?}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn a_helper_is_woven_wherever_the_difference_says_that_it_begins() {
    let helper = "static int\nless(int n)\n{\n    n = n - 1;\n    return n;\n}\n\n";
    let changed = SOURCE.replacen("n = n / 2", "n = less(n)", 1);
    let first = changed.replacen(
        "static int\nhalf(int n)",
        &format!("{helper}static int\nhalf(int n)"),
        1,
    );
    // The helper takes the head and the braces of the function in front of which, or behind which, it stands.
    let taken = "static int\nthird(int n)\n{\n    n = n / 3;\n    return n;\n}\n\n";
    let prototype = "static int third(int);\n\nstatic int\nhalf(int n)";
    let behind = SOURCE
        .replacen("static int\nhalf(int n)", prototype, 1)
        .replacen("n = n / 2", "n = third(n)", 1)
        .replacen("int\nmain(", &format!("{taken}int\nmain("), 1);
    // As a difference that finds the longest common lines shows it.
    let inside = SOURCE.replacen(
        "half(int n)\n{\n    n = n / 2;\n    return n;\n}",
        "less(int n)\n{\n    n = n - 2;\n    return n;\n}\n\nstatic int\nhalf(int n)\n{\n    n = less(n);\n    return n + 2;\n}",
        1,
    );
    let other_type = SOURCE
        .replacen(
            "struct pair\n{\n    int first;\n};",
            "struct one\n{\n    int first;\n};\n\nstruct pair\n{\n    int first;\n};",
            1,
        )
        .replacen(
            "n = n / 2;",
            "struct one one = {n / 4};\n    n = one.first;",
            1,
        );
    let texts = [first, behind, inside, other_type];
    let changes: Vec<[(&str, &str); 1]> =
        texts.iter().map(|text| [(SOURCE, text.as_str())]).collect();
    let changes: Vec<&[(&str, &str)]> = changes.iter().map(|change| change.as_slice()).collect();
    all_are_woven(&as_plainly(&subject(), &changes));
}

/// Says on which line it stands, and defines a macro in a function that the next function uses.
const LINES: &str = "\
#include <stdio.h>

#define BASE 3
#define TEXT \"n\"
#define twice(x) ((x) + (x))

static int one(int x)
{
    int v = 0;

    v = x;
    return v;
}

static int two(void)
{
#define LIMIT 20
    return LIMIT;
}

int main(void)
{
    printf(\"%s %d %d at %d\\n\", TEXT, one(BASE) + twice(two()), LIMIT, __LINE__);
    return 0;
}
";

fn lines() -> Subject {
    Subject::new(LINES, &[("", "n 43 20 at 22\n")])
}

#[test]
#[ignore = "nightly: 2 s; a_helper_is_woven_wherever_the_difference_says_that_it_begins goes this way"]
fn a_head_that_takes_fewer_lines_moves_what_says_on_which_line_it_stands() {
    let one = "static int one(int x)\n{\n    int v = 0;\n\n    v = x;\n    return v;\n}\n";
    as_plainly(
        &lines(),
        &[
            &[(
                one,
                "static int same(int x)\n{\n    return x;\n}\nstatic int one(int x) { return same(x);\n}\n",
            )],
            &[(
                one,
                "static int same(int x) { return x; }\nstatic int one(int x) {\n    int v = 0;\n\n    v = same(x);\n    return v;\n}\n",
            )],
            &[(
                one,
                "static int same(int x) { return x; }\nstatic int one(int x)\n{\n    int v = 0;\n    v = same(x);\n    return v;\n}\n",
            )],
        ],
    );
}

#[test]
#[ignore = "nightly: 2 s; a_helper_is_woven_wherever_the_difference_says_that_it_begins goes this way"]
fn a_macro_becomes_a_declaration_of_its_name() {
    as_plainly(
        &lines(),
        &[
            &[("#define BASE 3", "enum { BASE = 3 };")],
            &[("#define BASE 3", "static const int BASE = 4;")],
            &[("#define TEXT \"n\"", "static const char TEXT[] = \"n\";")],
            &[(
                "#define twice(x) ((x) + (x))",
                "static int twice(int x) { return x + x; }",
            )],
            &[(
                "#define twice(x) ((x) + (x))",
                "static int twice(int x) { return x + }",
            )],
        ],
    );
}

#[test]
#[ignore = "nightly: 2 s; a_helper_is_woven_wherever_the_difference_says_that_it_begins goes this way"]
fn a_macro_that_a_function_defines_is_that_of_what_stands_behind_it() {
    as_plainly(
        &lines(),
        &[
            &[("v = x;", "v = x + 0;")],
            &[(
                "#define LIMIT 20\n    return LIMIT",
                "#define LIMIT 30\n    return 20",
            )],
            &[("return LIMIT;", "return LIMIT + 1;")],
            &[(
                "#define LIMIT 20\n",
                "#define LIMIT 20\n#undef BASE\n#define BASE 4\n",
            )],
        ],
    );
}
