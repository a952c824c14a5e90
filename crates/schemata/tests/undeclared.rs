//! Patches that call what is not declared: only a linker can say whether that is an error.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

mod common;

use common::{Plain, Subject, plain, validate};
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
