//! Sources beside the program that include what patches change: examples, tests of another build.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, replace};
use patchwright_validate::{PatchVerdict, ValidateOptions, Validation, Way};

/// A library that is one header.
const STACK: &str = "\
static int stack[9], depth;

static int push(int value)
{
    if (depth > 8)
        return 0;
    stack[depth++] = value;
    return 1;
}

static int pop(void)
{
    return depth ? stack[--depth] : -1;
}
";

const MAIN: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include \"stack.h\"
int main(int argc, char **argv)
{
    int count = atoi(argv[1]), kept = 0;
    for (int i = 0; i < count; i++)
        kept += push(i);
    printf(\"%d %d\\n\", kept, pop());
    return 0;
}
";

/// Compiled by nobody, or by a test.
const EXAMPLE: &str = "#include \"stack.h\"\nint main(void) { return push(1) ? pop() - 1 : 2; }\n";

fn validation(driver: &str) -> Validation {
    let place = Place::new();
    place.write("stack.h", STACK);
    place.write("main.c", MAIN);
    place.write("example.c", EXAMPLE);
    place.write("Makefile", "prog: main.c stack.h\n\tcc -o prog main.c\n");
    let driver = place.write("run.sh", driver);
    fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
    let mut flags = place.flags();
    flags.tests = ["few", "many", "example"].map(str::to_owned).to_vec();
    let change = |from: &str, to: &str| replace("stack.h", STACK, from, to);
    let patches = [
        ("right", change("    if (depth > 8)", "    if (depth >= 8)")),
        ("other", change("    if (depth > 8)", "    if (depth == 8)")),
        ("seven", change("    if (depth > 8)", "    if (depth > 7)")),
        ("less", change("    if (depth > 8)", "    if (depth >= 7)")),
        (
            "again",
            change(
                "    return depth ? stack[--depth] : -1;",
                "    return depth ? stack[depth] : -1;",
            ),
        ),
        ("twice", change("    return 1;", "    return 2;")),
    ];
    let options = ValidateOptions {
        schemata: true,
        by_cost: false,
        jobs: 1,
        ..place.options()
    };
    let cancel = patchwright_exec::CancelToken::new().unwrap();
    let outcome = place.run_with(&patches, &options, &flags, cancel, &|_| {});
    let outcome = outcome.unwrap();
    let plausible = |id: usize| outcome.patches[id].verdict == Some(PatchVerdict::Plausible);
    let found: Vec<bool> = (0..patches.len()).map(plausible).collect();
    assert_eq!(found, [true, true, true, false, false, false]);
    outcome
}

/// How many of the patches that are not plausible were refused woven with others.
fn woven(outcome: &Validation) -> usize {
    let patches = outcome.patches.iter();
    patches
        .filter(|patch| patch.way == Some(Way::Woven))
        .count()
}

const TESTS: &str = "\
few) test \"$(./prog 2)\" = '2 1' ;;
many) test \"$(./prog 12)\" = '8 7' ;;
";

#[test]
fn an_example_that_no_test_compiles_keeps_no_patch_of_a_header_from_being_woven() {
    let outcome = validation(&format!(
        "#!/bin/sh\ncase $1 in\n{TESTS}example) test -f example.c ;;\nesac\n"
    ));
    assert!(woven(&outcome) >= 2, "{:#?}", outcome.stats.woven);
}

#[test]
fn patches_of_a_header_that_a_test_compiles_in_a_source_of_its_own_are_built() {
    let outcome = validation(&format!(
        "#!/bin/sh\ncase $1 in\n{TESTS}example) cc -o example example.c && ./example; r=$?; rm -f example; exit $r ;;\nesac\n"
    ));
    assert_eq!(woven(&outcome), 0);
}
