//! Small projects from end to end.

use crate::common::{PlainRun, Subject, validate};
use patchwright_exec::Verdict;
use patchwright_schemata::{Apart, Fate, Options, Outside};

const MAX: &str = "\
#include <stdio.h>
#include <stdlib.h>

static int calls;

static int max(int a, int b)
{
    calls++;
    if (a > b)
        return a;
    return a;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int m = max(atoi(argv[1]), atoi(argv[2]));
    printf(\"%d %d\\n\", m, calls);
    return 0;
}
";

fn subject() -> Subject {
    Subject::new(MAX, &[("1 2", "2 1\n"), ("2 1", "2 1\n"), ("3 3", "3 1\n")])
}

fn replaced(from: &str, to: &str) -> String {
    assert!(MAX.contains(from));
    MAX.replacen(from, to, 1)
}

fn passes(verdict: Option<&Verdict>) -> Option<bool> {
    verdict.map(Verdict::is_pass)
}

#[test]
fn patches_of_one_function_get_their_verdicts_in_one_build() {
    let texts = [
        replaced("    return a;\n}", "    return b;\n}"),
        replaced("a > b", "a >= b"),
        replaced("a > b", "a < b"),
        replaced("    calls++;\n", "    calls += 1;\n"),
        replaced("    calls++;\n", "    calls += 2;\n"),
        replaced(
            "    calls++;\n",
            "    int t = a; if (b > t) a = b;\n    calls++;\n",
        ),
        replaced("    return a;\n}", "    retrun b;\n}"),
        replaced("    return a;\n}", "    return undeclared;\n}"),
        replaced("    return a;\n}", "    return also_undeclared;\n}"),
        replaced("    return a;\n}", "    abort();\n}"),
    ];
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let found = validate(&subject(), &texts, options);
    for (patch, line) in [(6, 11), (7, 11), (8, 11)] {
        let Fate::DoesNotCompile {
            line: at, message, ..
        } = &found.fates[patch]
        else {
            panic!("patch {patch}: {:?}", found.fates[patch]);
        };
        assert_eq!(*at, line, "{message}");
    }
    let expected = [
        (0, [true, true, true]),
        (1, [false, true, true]),
        (2, [false, true, true]),
        (3, [false, true, true]),
        (4, [false, false, false]),
        (5, [true, true, true]),
        (9, [false, true, false]),
    ];
    for (patch, tests) in expected {
        assert_eq!(found.fates[patch], Fate::Woven, "patch {patch}");
        for (test, pass) in tests.into_iter().enumerate() {
            let verdict = found.verdicts.get(&(patch, test));
            assert_eq!(passes(verdict), Some(pass), "patch {patch} in test {test}");
        }
    }
    assert_eq!(PlainRun::of(&found.verdicts[&(9, 0)]), PlainRun::Signal(6));
    assert!(found.open.is_empty());
    assert_eq!(found.stats.builds, 1);
    // Patches that a test cannot tell apart are executed once.
    assert!(found.stats.executions < 7 * 3, "{:?}", found.stats);
}

#[test]
fn what_is_no_edit_of_a_body_is_handed_back_with_its_reason() {
    let texts = [
        replaced("static int calls;", "int calls;"),
        replaced("    calls++;\n", "    calls++; missing_function(a);\n"),
        replaced("    calls++;\n", "    /* counts */ calls++;\n"),
        replaced("int argc, char **argv", "int argc, char *argv[]"),
        replaced("#include <stdlib.h>\n", ""),
    ];
    let found = validate(&subject(), &texts, Options::default());
    let outside = Apart::OutsideOfFunctions(Outside::Definition("calls".to_owned()));
    assert_eq!(
        outside.told(),
        "changes what `calls` is, outside of functions"
    );
    assert_eq!(found.fates[0], Fate::Apart(outside));
    assert_eq!(found.fates[1], Fate::Apart(Apart::Undeclared));
    assert_eq!(found.fates[2], Fate::Woven);
    let told = |patch: usize| match &found.fates[patch] {
        Fate::Apart(reason) => reason.told(),
        other => format!("{other:?}"),
    };
    assert_eq!(told(3), "changes the head of `main`");
    assert_eq!(told(4), "changes the directive `#include <stdlib.h>`");
}
