//! Patches that call what is not declared: only a linker can say whether that is an error.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Plain, Subject, plain, validate};
use patchwright_schemata::{Apart, Fate, Options};

const PROGRAM: &str = "\
#include <stdio.h>

static int own(int n)
{
    return n + 1;
}

int shared(int n)
{
    const char *word = \"nowhere\";
    return n + (word[0] == 'x');
}

int main(int argc, char **argv)
{
    (void)argv;
    printf(\"%d\\n\", own(argc) + shared(argc));
    return 0;
}
";

#[test]
fn what_nobody_defines_does_not_compile_and_all_else_is_built_by_itself() {
    let mut subject = Subject::new(PROGRAM, &[("1", "9\n")]);
    subject.cflags = vec!["-O1".into(), "-g".into()];
    let changes = [
        ("n + 1", "n + nowhere(1)", true),
        ("n + (", "n + nowhere(2) + (", true),
        ("n + (", "n + elsewhere(n) + (", true),
        // The compiler sees that it is not called.
        ("n + 1", "n + (0 ? nowhere(1) : 1)", false),
        ("n + (", "n + (0 ? elsewhere(1) : 1) + (", false),
        // Two names, of which one is called, and none.
        ("n + 1", "n + (0 ? nowhere(1) : 1) + nobody(2)", true),
        ("n + (", "n + (0 ? nobody(1) : 1) + nowhere(2) + (", true),
        (
            "n + 1",
            "n + (0 ? nowhere(1) : 1) + (0 ? nobody(1) : 0)",
            false,
        ),
        ("own(argc)", "own(argc > 0 ? 1 : 0)", false),
        // The library has it.
        ("n + (", "n + abs(n) + (", false),
        // The compiler makes something else of it than a call, and no library has it.
        ("n + 1", "n + (alloca(n) != 0)", false),
    ];
    let texts = changes.map(|(from, to, _)| {
        assert!(PROGRAM.contains(from), "{from}");
        PROGRAM.replacen(from, to, 1)
    });
    let found = validate(&subject, &texts, Options::default());
    let folder = tempfile::tempdir().unwrap();
    for ((fate, text), (_, to, fails)) in found.fates.iter().zip(&texts).zip(changes) {
        let is_wrong = plain(&subject, folder.path(), text) == Plain::DoesNotCompile;
        assert_eq!(is_wrong, fails, "{to}");
        match fails {
            true => assert!(
                matches!(fate, Fate::DoesNotCompile { .. }),
                "{to}: {fate:?}"
            ),
            false => assert!(
                matches!(fate, Fate::Woven | Fate::Apart(Apart::Undeclared)),
                "{to}: {fate:?}"
            ),
        }
    }
}

const STATIC_FUNCTIONS: &str = "\
#include <stdio.h>

static __attribute__((noinline)) int chosen(int mode, int n)
{
    int value1 = n, value2 = 3;
    if (mode == 7)
        value1 += value2;
    for (int i = 0; i < n; i++)
        if (i % 2)
            value1 = value2 + i;
        else if (mode > 1 && value1 > n)
            value1 = value2;
    switch (value1 & 3) {
    case 1:
        value2 = value1;
    }
    return value1 + value2;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf(\"%d\\n\", chosen(1, argc) + chosen(1, argc + 1));
    return 0;
}
";

#[test]
#[ignore = "nightly: 3 s; what_nobody_defines_does_not_compile_and_all_else_is_built_by_itself goes this way"]
fn calls_in_static_functions_stand_where_the_compiler_knows_of_a_caller_that_comes_there() {
    let mut subject = Subject::new(STATIC_FUNCTIONS, &[("1", "9\n")]);
    subject.cflags = vec!["-O2".into()];
    // Whether each of them links.
    let changes = [
        ("value1 += value2", "value1 += value(1+1)", true),
        ("value2 + i", "value(2+1) + i", false),
        ("value2 + i", "value2 + value(1)", false),
        ("value1 = value2;", "value1 = value(2-1);", true),
        ("value1 > n)", "value(1+1) > n)", true),
        ("(value1 & 3)", "(value(1-1) & 3)", false),
        ("value2 = value1", "value2 = value(1-1)", false),
        ("(i % 2)", "(i % 2 || value(1))", false),
        ("(i % 2)", "(i < 0 && value(1))", true),
        (
            "return value1 + value2",
            "return value1 + value(2+1)",
            false,
        ),
        (
            "return value1 + value2",
            "return value1 + (value2 ? value2 : value(2+1))",
            true,
        ),
    ];
    let texts = changes.map(|(from, to, _)| {
        assert!(STATIC_FUNCTIONS.contains(from), "{from}");
        STATIC_FUNCTIONS.replacen(from, to, 1)
    });
    let found = validate(&subject, &texts, Options::default());
    let folder = tempfile::tempdir().unwrap();
    for ((fate, text), (_, to, links)) in found.fates.iter().zip(&texts).zip(changes) {
        let built = plain(&subject, folder.path(), text) != Plain::DoesNotCompile;
        assert_eq!(built, links, "{to}");
        let is_said_to_link = !matches!(fate, Fate::DoesNotCompile { .. });
        assert_eq!(is_said_to_link, links, "{to}: {fate:?}");
    }
    // The linker, the compiler's own functions, marks, copies, and those behind conditions: not one for each.
    assert!(found.stats.compilations <= 10, "{:?}", found.stats);
}
