//! Where warnings are errors, many patches are compiled together if the compiler does not optimize.

#![allow(clippy::disallowed_methods)] // Tests write into folders of their own.

use std::fs;
use std::process::Command;

use crate::common::{Found, Subject, as_plainly, driver_project, validate_texts};
use patchwright_schemata::{Apart, Fate, Options};

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
#[ignore = "nightly: 2 s; patches_of_different_functions_are_compiled_together goes this way"]
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
#[ignore = "nightly: 2 s; patches_of_different_functions_are_compiled_together goes this way"]
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

/// Two programs of the same text: one is made of an object that could be part of a library.
const TWICE: &str = "cc -O0 -Wall -Wextra -Wundef -Werror -o plain prog.c && \
    cc -O0 -Wall -Wextra -Wundef -Werror -fPIC -o shared prog.c";

const PIECES: &str = "\
#include <stdio.h>
#include <stdlib.h>

#define JOIN(high, low) (((high) << 4) + \\
    ((low) & 15))
#define CHECK(n) if ((n) < 0) \\
    exit(3)

#if defined(NEVER) || defined(NOT_THIS)
static const int extra = 2;
#else
static const int extra = 1;
#endif

static int joined(int n)
{
    CHECK(n);
    return JOIN(n, n + 3) + extra;
}

int main(int argc, char **argv)
{
    printf(\"%d\\n\", joined(argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
";

#[test]
#[ignore = "nightly: 4 s; patches_of_different_functions_are_compiled_together goes this way"]
fn what_the_preprocessor_makes_of_a_source_is_woven_though_it_is_compiled_twice_with_warnings_as_errors()
 {
    let changes = [
        ("(low) & 15", "(low) & 7"),
        ("((high) << 4)", "((high) * 16)"),
        ("if ((n) < 0)", "if ((n) > 6)"),
        // Nothing comes of it, or a warning does.
        ("defined(NOT_THIS)", "defined(NOT_THAT)"),
        ("defined(NOT_THIS)", "NOT_THAT"),
        // The name is another value.
        ("defined(NOT_THIS)", "1"),
        ("(low) & 15", "(low) & undeclared"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\ntest \"$(./$1 3)\" = 55 && test \"$(./$1 9)\" = 157\n";
    let files = [("prog.c", PIECES)];
    let tests = ["plain", "shared"];
    let project = driver_project(folder.path(), &files, TWICE, script, tests);
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    let texts = changes.map(|(from, to)| {
        assert!(PIECES.contains(from), "{from}");
        ("prog.c", PIECES, PIECES.replacen(from, to, 1))
    });
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let found = validate_texts(folder.path(), &project, &texts, options);
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        let output = command.args(["-c", script]).current_dir(&own).output();
        output.unwrap().status.success()
    };
    let mut words = Vec::new();
    for (patch, (_, _, text)) in texts.iter().enumerate() {
        fs::write(own.join("prog.c"), text).unwrap();
        let builds = shell(TWICE);
        words.push(match &found.fates[patch] {
            Fate::Woven => {
                assert!(builds, "{:?}", changes[patch]);
                for (number, test) in tests.iter().enumerate() {
                    let run = script.replace("$1", test);
                    let verdict = found.verdicts[&(patch, number)].is_pass();
                    assert_eq!(verdict, shell(&run), "{:?}", changes[patch]);
                }
                "woven"
            }
            Fate::DoesNotCompile { .. } => {
                assert!(!builds, "{:?}", changes[patch]);
                "does not compile"
            }
            Fate::Apart(reason) => {
                let is_outside = matches!(reason, Apart::OutsideOfFunctions(_));
                assert!(is_outside, "{:?}", changes[patch]);
                "apart"
            }
        });
    }
    let (woven, rejected, apart) = ("woven", "does not compile", "apart");
    assert_eq!(
        words,
        [woven, woven, woven, woven, rejected, apart, rejected]
    );
}
