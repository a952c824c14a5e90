//! Patches that do not compile, and some that do, found out for all of a file with few compilations.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Found, Subject, as_plainly};
use patchwright_schemata::Fate;

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

static int depth(int n);
static const int weights[4] = { 3, 1, 4, 1 };
static const char *const names[] = { \"even\", \"odd\" };

static int
depth(int n)
{
#ifdef DEEP
    n += 100;
#endif
    if (n > 1 && (n & 1) == 0)
        return 1 + depth(n / 2);
    return weights[(unsigned)n % 4];
}

#if 0
static int unused(int n)
{
    return n * 2;
}
#endif

static int last(int n) { return n - 1; }

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    printf(\"%d %s %d\\n\", depth(n), names[n & 1], last(n));
    return 0;
}
";

fn subject() -> Subject {
    Subject::new(PROGRAM, &[("8", "4 even 7\n"), ("3", "1 odd 2\n")])
}

/// The verdicts, which are those of plain builds, and how many patches do not compile.
fn validated(changes: &[&[(&str, &str)]]) -> (Found, usize) {
    let found = as_plainly(&subject(), changes);
    let fails = |fate: &&Fate| matches!(fate, Fate::DoesNotCompile { .. });
    let failing = found.fates.iter().filter(fails).count();
    (found, failing)
}

#[test]
fn what_surely_does_not_compile_is_found_together_wherever_it_stands() {
    let (found, failing) = validated(&[
        // Brackets, in a function that calls itself and has conditions in it.
        &[("(n & 1) == 0)", "(n & 1) == 0")],
        &[("if (n > 1 && (n", "if n > 1 && (n")],
        &[(
            "    return weights[(unsigned)n % 4];\n}",
            "    return weights[(unsigned)n % 4];\n}\n}",
        )],
        // Statements between functions, and between a head and its body.
        &[("static int last", "break;\nstatic int last")],
        &[("depth(int n)\n{", "depth(int n)\ncontinue;\n{")],
        // Heads and declarations.
        &[("static int depth(int n);", "static int depth(int -);")],
        &[("depth(int n)\n{", "depth(unt8 n)\n{")],
        &[("static int\ndepth(int n)\n{", "{")],
    ]);
    assert_eq!(failing, 8);
    // One with all of them, and another for what may be about the one before; not one for each.
    assert!(
        found.stats.compilations <= 4,
        "{}",
        found.stats.compilations
    );
}

#[test]
#[ignore = "nightly: 4 s; what_is_left_out_may_be_any_text goes this way"]
fn what_one_patch_redefines_says_nothing_of_the_others() {
    let source = "\
#include <stdio.h>
#include <stdlib.h>

typedef struct { int first; int second; } pair;
struct row { int cells; };
static const int limit = 9;

static int sum(pair *p, int by)
{
    struct row row = { by };
    return p->first + p->second * row.cells + limit;
}

int main(int argc, char **argv)
{
    pair p = { argc, atoi(argv[1]) };
    printf(\"%d\\n\", sum(&p, 2));
    return 0;
}
";
    let subject = Subject::new(source, &[("8", "27\n")]);
    let found = as_plainly(
        &subject,
        &[
            // Other types, members and kinds of names, of which some compile.
            &[("int first; int second; }", "int first; }")],
            &[("int first; int second; }", "int second; int first; }")],
            &[("typedef struct", "static struct")],
            &[("struct row { int cells; };", "struct row { long cells; };")],
            &[("struct row { int cells; };", "struct row { int; };")],
            &[("static const int limit", "static const pair limit")],
            &[("int limit = 9;", "int pair = 9;")],
            &[("int limit = 9;", "int limit = (9;")],
            // Heads of functions that mention them.
            &[("sum(pair *p, int by)", "sum(pair *p, long by)")],
            &[("sum(pair *p, int by)", "sum(pair *const p, int by)")],
            &[("sum(pair *p, int by)", "sum(pear *p, int by)")],
        ],
    );
    let fails = |fate: &Fate| matches!(fate, Fate::DoesNotCompile { .. });
    let failing: Vec<usize> = (0..11)
        .filter(|patch| fails(&found.fates[*patch]))
        .collect();
    assert_eq!(failing, [0, 2, 4, 5, 6, 7, 10]);
    // Of two, the one's head with the other's type.
    let head = [("sum(pair *p, int by)", "sum(pair *p, long by)")];
    let found = as_plainly(
        &subject,
        &[&[("int first; int second; }", "int first; }")], &head],
    );
    assert!(fails(&found.fates[0]) && !fails(&found.fates[1]));
}

#[test]
#[ignore = "nightly: 2 s; what_is_left_out_may_be_any_text goes this way"]
fn arrays_with_other_elements_are_compiled_together() {
    let (found, failing) = validated(&[
        &[("{ 3, 1, 4, 1 }", "{ 3, 1, 4, 2 }")],
        &[("{ 3, 1, 4, 1 }", "{ 3, 1, 4, n }")],
        &[("{ 3, 1, 4, 1 }", "{ 3, 1, 0x4g, 1 }")],
        &[("{ 3, 1, 4, 1 }", "{ 3, 4, 4, 1 }")],
        &[("\"odd\" };", "\"add\" };")],
        &[("\"odd\" };", "atoi(\"1\") };")],
        // Other types and sizes are compiled with what uses them.
        &[("\"odd\" };", "\"odd\", \"other\" };")],
        &[("weights[4] = {", "weights[3] = {")],
        &[(
            "static const int weights[4]",
            "static const struct none weights[4]",
        )],
    ]);
    assert_eq!(failing, 4);
    assert!(
        found.stats.compilations <= 7,
        "{}",
        found.stats.compilations
    );
}

#[test]
fn what_is_left_out_may_be_any_text() {
    let (found, failing) = validated(&[
        &[("return n * 2;", "return n *;")],
        &[("    return n * 2;\n", "")],
        &[("    n += 100;\n", "    n += ) 100\n    more text\n")],
        &[("    n += 100;\n", "#else\n    n -= 1;\n")],
        &[("    n += 100;\n", "    n += 100; /* open\n")],
        &[("    n += 100;\n#endif", "    n += 100; \\\n#endif")],
    ]);
    // The last two swallow the end of the condition.
    assert_eq!(failing, 2);
    let none_changes = &found.fates[..3];
    assert_eq!(none_changes, vec![Fate::Woven; 3]);
}
