//! Patches of macros and directives, and what is not woven because the first test does not reach it.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Plain, PlainRun, Subject, as_plainly, plain, validate};
use patchwright_schemata::{Apart, Fate, Options, Outside};

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

#define LOW 2
#ifndef HIGH
#define HIGH 7
#endif
#define IS_LOW(n) ((n) <= LOW)
#define IN_RANGE(n) (!IS_LOW(n) && (n) < HIGH)
#define NAME(x) #x
#define LEVELS 3
#define STEPS 0
#define OFFSET 2
#define value(n) (value((n) + OFFSET))

#ifdef NEVER
static int never(void) { return 1; }
#endif

static const char *names[LEVELS] = {\"low\", \"mid\", \"top\"};

static int (value)(int n)
{
    return n * 2;
}

static int level(int n)
{
    if (IS_LOW(n))
        return 0;
#if LOW > 5
    return 2;
#else
    return IN_RANGE(n) ? 1
                       : 2;
#endif
}

static int weight(int n)
{
    int total;
    total = value(n);
#ifdef NEVER
    total += never();
#endif
#if STEPS
    total += STEPS;
#endif
    return total;
}

static int seldom(int n)
{
    int sum;
    sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n > 50)
        n = seldom(n);
    printf(\"%s %s %d %d\\n\", names[level(n)], NAME(LOW), weight(n), 1);
    return n > 90;
}
";

fn subject() -> Subject {
    Subject::new(
        PROGRAM,
        &[
            ("6", "top LOW 16 1\n"),
            ("2", "low LOW 8 1\n"),
            ("9", "top LOW 22 1\n"),
            ("60", "top LOW 3544 1\n"),
        ],
    )
}

#[test]
#[ignore = "nightly: 4 s; patches_that_the_first_test_does_not_reach_are_told_by_it_before_any_is_woven goes this way"]
fn macros_and_directives_are_woven_as_what_becomes_of_functions() {
    let found = as_plainly(
        &subject(),
        &[
            // Macros that other macros use, and that directives ask for.
            &[("#define LOW 2", "#define LOW 8")],
            &[("#define HIGH 7", "#define HIGH 5")],
            &[("((n) <= LOW)", "((n) < LOW)")],
            &[("#ifndef HIGH", "#ifdef LOW")],
            &[("#define STEPS 0", "#define STEPS LOW")],
            &[
                ("#if LOW > 5", "#if LOW < 5"),
                ("return 2;\n#else", "return 0;\n#else"),
            ],
            &[("#define NAME(x) #x", "#define NAME(x) #x \"!\"")],
            // With a function that changes, too.
            &[
                ("#define HIGH 7", "#define HIGH 5\n#define MORE 1"),
                ("return n * 2;", "return n * 2 + MORE;"),
            ],
            // What does not compile is said of its own patch.
            &[("#define HIGH 7", "#define HIGH (7")],
        ],
    );
    let (last, others) = found.fates.split_last().unwrap();
    assert!(matches!(last, Fate::DoesNotCompile { .. }));
    assert_eq!(others, vec![Fate::Woven; 8]);
    assert_eq!(found.stats.builds, 1);
}

#[test]
#[ignore = "nightly: 3 s; patches_that_the_first_test_does_not_reach_are_told_by_it_before_any_is_woven goes this way"]
fn text_that_is_not_compiled_changes_nothing() {
    let found = as_plainly(
        &subject(),
        &[
            &[("#ifdef NEVER\nstatic", "#if 0\nstatic")],
            &[("#define LEVELS 3", "#define LEVELS 3\n#define UNUSED 1")],
            &[("#define LEVELS 3", "#define LEVELS 3 /* Levels. */")],
        ],
    );
    assert_eq!(found.fates, vec![Fate::Woven; 3]);
    // That of the untouched program, in each test.
    assert_eq!(found.stats.executions, subject().cases.len());
    // In functions, too.
    as_plainly(
        &subject(),
        &[
            &[("return 1; }", "return 2; }")],
            &[("total += never();", "total -= never();")],
            &[("total += STEPS;", "total -= STEPS;")],
            &[("return 2;\n#else", "return 3;\n#else")],
        ],
    );
}

#[test]
fn what_is_not_of_functions_only_is_built_by_itself() {
    let found = as_plainly(
        &subject(),
        &[
            &[("#define LEVELS 3", "#define LEVELS 4")],
            // In the source, its text would be expanded once more.
            &[("#define OFFSET 2", "#define OFFSET 3")],
        ],
    );
    let of = |name: &str| {
        Fate::Apart(Apart::OutsideOfFunctions(Outside::Definition(
            name.to_owned(),
        )))
    };
    assert_eq!(found.fates, [of("LEVELS"), of("OFFSET")]);
}

#[test]
#[ignore = "nightly: 3 s; patches_that_the_first_test_does_not_reach_are_told_by_it_before_any_is_woven goes this way"]
fn what_c_does_not_define_counts_in_tests_that_reach_it() {
    let text = PROGRAM.replacen("    sum = 0;\n", "", 1);
    let options = Options::default();
    let found = validate(&subject(), &[text], options.clone());
    assert_eq!((found.fates, found.open), (vec![Fate::Woven], Vec::new()));
    // The first test fails, whatever the patch does in a function that it does not call.
    assert_eq!(PlainRun::of(&found.verdicts[&(0, 0)]), PlainRun::Output);
    let reached = Subject {
        cases: subject().cases.split_off(3),
        ..subject()
    };
    let text = PROGRAM.replacen("    sum = 0;\n", "", 1);
    let found = validate(&reached, &[text], options);
    assert_eq!((found.open, found.verdicts.len()), (vec![(0, 0)], 0));
}

#[test]
fn patches_that_the_first_test_does_not_reach_are_told_by_it_before_any_is_woven() {
    let change = |number: usize| {
        let from = ["sum += i;", "return n * 2;"][number % 2];
        let to = format!("{} + {number};", from.trim_end_matches(';'));
        PROGRAM.replacen(from, &to, 1)
    };
    let texts: Vec<String> = (0..210).map(change).collect();
    let options = Options::default();
    let found = validate(&subject(), &texts, options);
    let folder = tempfile::tempdir().unwrap();
    for patch in [0, 1, 2, 3, 208, 209] {
        let Plain::Ran(runs) = plain(&subject(), folder.path(), &texts[patch]) else {
            panic!("it does not compile");
        };
        let failing = runs.iter().position(|run| *run != PlainRun::Pass).unwrap();
        assert_eq!(
            PlainRun::of(&found.verdicts[&(patch, failing)]),
            runs[failing]
        );
    }
    // One with marks, one with what is reached; and only that is executed.
    assert_eq!(found.stats.builds, 2);
    assert!(found.stats.executions <= 1 + 1 + 105);
}
