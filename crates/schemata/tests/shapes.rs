//! Patches in the shapes in which people write them are woven, with the verdicts of plain builds.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Found, Subject, as_plainly};
use patchwright_schemata::Fate;

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

struct size { int width, height; };

static int kind(int c)
{
    switch (c) {
    case 'a':
        return 1;
    case 'b':
    case 'c':
        return 2;
    default: odd:
        if (c == '?')
            return 9;
    }
    if (c > 'x') {
        c = '?';
        goto odd;
    }
    return 0;
}

static int largest(struct size *s, int more)
{
    int n;
    n = MAX(s->width * 2, s->height + more);
    n = MAX(n, MAX(s->width, 4));
    return n;
}

static int digits(int n)
{
    int found = 0;
    while (n > 0) {
        found++;
        n /= 10;
    }
    return found;
}

static int checked(int n)
{
    int *copy = malloc(sizeof *copy);
    if (!copy)
        return -1;
    *copy = n;
    n = *copy + 1;
    free(copy);
    return n;
}

int main(int argc, char **argv)
{
    struct size s = {3, 5};
    const char *text = argc > 1 ? argv[1] : \"\";
    int sum = 0;
    for (const char *c = text; *c; c++)
        sum += kind(*c);
    int n = argc > 2 ? atoi(argv[2]) : 0;
    printf(\"%d %d %d %d\\n\", sum, largest(&s, n), digits(n), checked(n));
    return 0;
}
";

fn subject() -> Subject {
    Subject::new(
        PROGRAM,
        &[
            ("abcd 0", "5 6 1 1\n"),
            ("d? 12", "12 17 2 13\n"),
            ("zz 3", "18 8 1 4\n"),
        ],
    )
}

/// Each change is of several texts. All verdicts are those of plain builds.
fn validated(changes: &[&[(&str, &str)]]) -> Found {
    as_plainly(&subject(), changes)
}

/// Asserts that all are woven into one program.
fn all_are_woven(changes: &[&[(&str, &str)]]) {
    let found = validated(changes);
    assert_eq!(found.fates, vec![Fate::Woven; changes.len()]);
    assert_eq!(found.stats.builds, 1);
}

#[test]
#[ignore = "nightly: 2 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn cases_of_a_switch_are_added_and_taken_away() {
    all_are_woven(&[
        &[(
            "    default: odd:",
            "    case 'd':\n        return 3;\n    default: odd:",
        )],
        &[("    case 'b':\n", "    case 'b':\n    case 'd':\n")],
        &[(
            "    case 'c':\n        return 2;\n",
            "        return 2;\n    case 'c': { int r = 3; return r; }\n",
        )],
        &[("    case 'a':\n        return 1;\n", "")],
        &[("return 9;", "return 8;")],
        &[(
            "        return 2;\n",
            "        c++;\n        return c == 'c' ? 2 : 1;\n",
        )],
    ]);
}

#[test]
#[ignore = "nightly: 2 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn a_jump_comes_with_its_label_in_another_hunk() {
    all_are_woven(&[
        &[
            (
                "    if (!copy)\n        return -1;\n",
                "    if (!copy)\n        goto failed;\n",
            ),
            (
                "    free(copy);\n    return n;\n",
                "    free(copy);\n    return n;\nfailed:\n    return -1;\n",
            ),
        ],
        &[
            (
                "    *copy = n;\n",
                "    *copy = n;\n    if (n > 2)\n        goto out;\n",
            ),
            ("    free(copy);\n", "out:\n    free(copy);\n"),
        ],
        &[
            ("    default: odd:\n", "    default:\n"),
            (
                "    if (c > 'x') {\n",
                "odd:\n    if (c > 'x' && c < '~') {\n",
            ),
        ],
        &[("    n = *copy + 1;\n", "    n = *copy;\n")],
    ]);
}

#[test]
#[ignore = "nightly: 2 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn a_loop_becomes_another_kind_of_loop() {
    all_are_woven(&[
        &[
            ("    while (n > 0) {\n", "    do {\n"),
            (
                "        n /= 10;\n    }\n",
                "        n /= 10;\n    } while (n > 0);\n",
            ),
        ],
        &[(
            "    while (n > 0) {\n        found++;\n        n /= 10;\n    }\n",
            "    for (; n; n /= 10)\n        found++;\n",
        )],
        &[("        n /= 10;\n", "        n /= 8;\n")],
        &[("    int found = 0;\n", "    int found = n == 0;\n")],
    ]);
}

#[test]
#[ignore = "nightly: 2 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn an_argument_that_its_macro_repeats_is_tried_once_for_each_use() {
    let found = validated(&[
        &[("MAX(s->width * 2,", "MAX(s->width * 2 - 0,")],
        &[("MAX(s->width * 2,", "MAX(s->width * 3,")],
        &[("s->height + more)", "s->height + more / (s->width - 2))")],
        &[("s->height + more)", "(s->height += more))")],
        &[("MAX(n, MAX(s->width, 4))", "MAX(n, MAX(s->width + 2, 4))")],
    ]);
    assert_eq!(found.fates, vec![Fate::Woven; 5]);
    assert_eq!(found.stats.builds, 1);
    // The first does what the program does, and is not executed.
    assert!(found.stats.captured > 0, "{:?}", found.stats);
}

#[test]
#[ignore = "nightly: 4 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn what_a_variable_begins_with_is_a_place_of_its_own() {
    let program = "\
#include <stdio.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
enum state { LOW, HIGH };

static int twice(int n) { return 2 * n; }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, more = n + 1, rest[3] = {n, more, 4};
    const int fixed = n * 2;
    unsigned char small = n + 250;
    enum state state = n > 3 ? HIGH : LOW;
    double half = n / 2;
    const char *const word = n > 2 ? \"many\" : \"few\", *at = word + 1;
    int (*f)(int) = twice;
    int largest = MAX(n, more), sum = 0;
    for (int i = 0, step = 1; i < n; i += step) {
        int square = i * i;
        if (square == 4)
            continue;
        sum += square;
    }
    static int kept = 3;
    printf(\"%d %d %d %d %.1f %s %d %d %d\\n\", more, fixed, small, state, half, at,
           f(n), largest, sum + rest[2] + kept);
    return 0;
}
";
    let subject = Subject::new(
        program,
        &[
            ("2", "3 4 252 0 1.0 ew 4 3 8\n"),
            ("7", "8 14 1 1 3.0 any 14 8 94\n"),
        ],
    );
    let changes: &[&[(&str, &str)]] = &[
        &[("more = n + 1", "more = n + 2")],
        &[("more = n + 1", "more = (n + 1)")],
        // Another variable, and not the operator of that name.
        &[("more = n + 1", "more = n + 1, extra = 2")],
        &[(
            "more = n + 1, rest[3] = {n, more, 4}",
            "more = n, rest[3] = {n, more, 5}",
        )],
        &[("fixed = n * 2", "fixed = n + n")],
        &[("small = n + 250", "small = n + 506")],
        &[("small = n + 250", "small = n + 251")],
        &[("n > 3 ? HIGH : LOW", "n > 2 ? HIGH : LOW")],
        &[("half = n / 2", "half = n / 2.0")],
        &[("half = n / 2", "half = n / 2 / (n - 2)")],
        &[("at = word + 1", "at = word + 0 + 1")],
        &[("at = word + 1", "at = &word[2]")],
        &[("(int) = twice", "(int) = abs")],
        &[("MAX(n, more)", "MAX(n, more + 1)")],
        &[("MAX(n, more)", "MAX(n, n)")],
        &[("int i = 0", "int i = 1")],
        &[("step = 1", "step = 2")],
        &[("step = 1", "step = n ? 1 : 2")],
        &[("square = i * i", "square = i * i + (i == 2)")],
        &[("square = i * i", "square = i * abs(i)")],
        &[("kept = 3", "kept = 4")],
        &[("more = n + 1", "more")],
    ];
    let found = as_plainly(&subject, changes);
    let woven = found.fates.iter().filter(|fate| **fate == Fate::Woven);
    assert!(woven.count() + 1 >= changes.len(), "{:?}", found.fates);
    assert_eq!(found.stats.builds, 1);
    assert!(found.stats.captured > 20, "{:?}", found.stats);
}

#[test]
fn what_cannot_be_woven_leaves_the_others_together() {
    let found = validated(&[
        // A label that the rest of the function still jumps to.
        &[("    default: odd:\n", "    default:\n")],
        &[("    *copy = n;\n", "    *copy = n + 1;\n")],
        &[("        found++;\n", "        found += 2;\n")],
    ]);
    assert!(matches!(found.fates[0], Fate::DoesNotCompile { .. }));
    assert_eq!(found.fates[1..], vec![Fate::Woven; 2]);
    assert_eq!(found.stats.builds, 1);
}

#[test]
#[ignore = "nightly: 4 s; what_cannot_be_woven_leaves_the_others_together goes this way"]
fn a_function_whose_branches_of_directives_close_the_same_brace_is_woven() {
    const BRANCHES: &str = "\
#include <stdio.h>
#include <stdlib.h>

static int kind(int n)
{
    int r = 0;
    if (n > 3) {
        r = 1;
#ifdef STRICT
        if (n > 4)
            r = 2;
    }
#else
        n++;
    }
    if (n == 6)
        return 9;
#endif
    return r + n;
}

int main(int argc, char **argv)
{
    printf(\"%d\\n\", kind(argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
";
    for flag in ["-DLAX", "-DSTRICT"] {
        let mut subject = Subject::new(BRANCHES, &[("2", "2\n"), ("5", "8\n"), ("7", "9\n")]);
        subject.cflags = vec![flag.into()];
        let found = as_plainly(
            &subject,
            &[
                &[("r = 1;", "r = 3;")],
                &[("n > 3", "n > 1")],
                &[("n++;", "n--;")],
                &[("r = 2;", "r = 4;")],
                &[("return r + n;", "return r - n;")],
                &[("#ifdef STRICT", "#ifndef STRICT")],
            ],
        );
        assert_eq!(found.fates, vec![Fate::Woven; 6], "{flag}");
    }
}
