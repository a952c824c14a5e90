//! Where warnings are errors, many patches are compiled together if the compiler does not optimize.

mod common;

use common::{Found, Subject, as_plainly};
use patchwright_schemata::Fate;

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

#define SPARE(n) spare(n)

static int limit = 9;

static int spare(int n)
{
    return n > 4 ? n : 4;
}

static int doubled(int n)
{
    int twice = n * 2;
    return twice;
}

static int bounded(int n) { return n > limit ? limit : n; }

static int deep(int n)
{
    if (n > 3)
        return deep(n - 1);
    return n;
}

static int mixed(int n)
{
    int m = SPARE(n);
    m += doubled(n);
    switch (m) {
    case 4:
        m++;
        break;
    default:
        m--;
        break;
    }
    return m;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    printf(\"%d %d %d\\n\", mixed(n), bounded(n), deep(n));
    return 0;
}
";

fn subject(level: &str) -> Subject {
    let mut subject = Subject::new(PROGRAM, &[("2", "7 2 2\n"), ("5", "14 5 3\n")]);
    subject.cflags = [level, "-Wall", "-Wextra", "-Werror"]
        .map(String::from)
        .to_vec();
    subject
}

/// How many of these patches do not compile; their verdicts are those of plain builds.
fn failing(found: &Found) -> usize {
    let fails = |fate: &&Fate| matches!(fate, Fate::DoesNotCompile { .. });
    found.fates.iter().filter(fails).count()
}

const WITHOUT_WARNINGS: &[&[(&str, &str)]] = &[
    &[("n > 4 ? n : 4", "n > 3 ? n : 3")],
    &[("int twice = n * 2", "int twice = n * 3")],
    &[("n > limit ? limit : n", "n < limit ? limit : n")],
    &[("n > 3", "n > 2")],
    &[("case 4", "case 5")],
    &[("atoi(argv[1]) : 0", "atoi(argv[1]) : 1")],
];

#[test]
fn patches_of_different_functions_are_compiled_together() {
    let found = as_plainly(&subject("-O0"), WITHOUT_WARNINGS);
    assert_eq!(failing(&found), 0);
    let optimized = as_plainly(&subject("-O2"), WITHOUT_WARNINGS);
    assert_eq!(failing(&optimized), 0);
    let saved = optimized.stats.compilations - found.stats.compilations;
    // Six by themselves, or the preprocessor's text and one.
    assert_eq!(saved, 4, "{:?} {:?}", found.stats, optimized.stats);
}

#[test]
fn a_warning_is_told_of_the_patch_that_gives_it() {
    let changes: &[&[(&str, &str)]] = &[
        // Something is not used in the function.
        &[("return twice;", "return n;")],
        &[("n > 4 ? n : 4", "n > 3 ? n : 3")],
        // Nothing in the file uses these any more, one of them through a macro, one told at the line of another body.
        &[("    int m = SPARE(n);", "    int m = n;")],
        &[("m += doubled(n);", "m += n;")],
        &[("mixed(n), bounded(n), deep(n)", "mixed(n), n, deep(n)")],
        &[("n > limit ? limit : n", "n > 7 ? 7 : n")],
        // It falls through.
        &[("m++;\n        break;", "m++;")],
        &[("n > 3", "n > 2")],
    ];
    assert_eq!(failing(&as_plainly(&subject("-O0"), changes)), 6);
}

#[test]
fn what_one_patch_begins_to_use_is_missing_in_another() {
    let changes: &[&[(&str, &str)]] = &[
        &[("m += doubled(n);", "m += n;")],
        &[(
            "return n;\n}\n\nstatic int mixed",
            "return doubled(n);\n}\n\nstatic int mixed",
        )],
        &[("atoi(argv[1]) : 0", "atoi(argv[1]) : 1")],
    ];
    assert_eq!(failing(&as_plainly(&subject("-O0"), changes)), 1);
}
