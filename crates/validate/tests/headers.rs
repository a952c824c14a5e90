//! Patches of headers: what is built again, and that verdicts are those of a build of everything.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, replace};
use patchwright_validate::{PatchVerdict, ValidateOptions, Validation, Way, rebuild::Rebuild};

const COMMON: &str = "#define LEFT 1\n#define RIGHT 2\n";

/// Notes what it compiles. It knows of no header, but makes one.
const MAKEFILE: &str = "\
prog: left.o right.o main.o
\tcc -o prog left.o right.o main.o
left.o: left.c
\techo left >> built.txt
\tcc -c left.c
right.o: right.c made.h
\techo right >> built.txt
\tcc -c right.c
main.o: main.c
\tcc -c main.c
made.h: seed.h
\tcp seed.h made.h
";

/// Numbers that headers say, and whether `right.c` was compiled once only.
const DRIVER: &str = "\
#!/bin/sh
case $1 in
left) test \"$(./prog | cut -d' ' -f1)\" = 5 ;;
right) test \"$(./prog | cut -d' ' -f2)\" = 2 ;;
made) test \"$(./prog | cut -d' ' -f3)\" = 7 ;;
right_once) test \"$(grep -c right built.txt)\" = 1 ;;
*) exit 2 ;;
esac
";

fn place() -> Place {
    let place = Place::new();
    for (name, text) in [
        ("common.h", COMMON),
        ("seed.h", "#define SEED 7\n"),
        (
            "left.c",
            "#include \"common.h\"\nint left(void) { return LEFT; }\n",
        ),
        (
            "right.c",
            "#include \"common.h\"\n#include \"made.h\"\nint right(void) { return RIGHT; }\nint seed(void) { return SEED; }\n",
        ),
        (
            "main.c",
            "#include <stdio.h>\nint left(void), right(void), seed(void);\n\
             int main(void) { printf(\"%d %d %d\\n\", left(), right(), seed()); return 0; }\n",
        ),
        ("Makefile", MAKEFILE),
    ] {
        place.write(name, text);
    }
    let driver = place.write("run.sh", DRIVER);
    fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

fn run(place: &Place, tests: &[&str], schemata: bool, patches: &[(&str, String)]) -> Validation {
    let mut flags = place.flags();
    flags.tests = tests.iter().map(|test| (*test).to_owned()).collect();
    let options = ValidateOptions {
        schemata,
        jobs: 1,
        ..place.options()
    };
    let cancel = patchwright_exec::CancelToken::new().unwrap();
    place
        .run_with(patches, &options, &flags, cancel, &|_| {})
        .unwrap()
}

fn common(from: &str, to: &str) -> String {
    replace("common.h", COMMON, from, to)
}

fn is_plausible(outcome: &Validation, patch: usize) -> bool {
    let patch = &outcome.patches[patch];
    assert_eq!(patch.way, Some(Way::Plain(Rebuild::Full)));
    patch.verdict == Some(PatchVerdict::Plausible)
}

#[test]
fn a_source_that_reads_the_same_text_is_not_compiled_again() {
    let tests = ["left", "right", "right_once"];
    let patches = [
        ("left", common("#define LEFT 1", "#define LEFT 5")),
        (
            "longer",
            common("#define LEFT 1", "\n/* Five. */\n#define LEFT 5"),
        ),
        (
            "both",
            common(
                "#define RIGHT 2",
                "#define RIGHT (1 + 1)\n#undef LEFT\n#define LEFT 5",
            ),
        ),
    ];
    let outcome = run(&place(), &tests, true, &patches);
    assert!(is_plausible(&outcome, 0) && is_plausible(&outcome, 1));
    // The compiler sees another text of right.c, whatever it makes of it.
    assert!(!is_plausible(&outcome, 2));
}

#[test]
#[ignore = "nightly: 3 s; a_source_that_reads_the_same_text_is_not_compiled_again goes this way"]
fn what_a_build_makes_of_a_header_is_read_by_all() {
    let seed = |to: &str| replace("seed.h", "#define SEED 7\n", "#define SEED 7", to);
    let patches = [
        ("other", seed("#define SEED 8")),
        ("same", seed("#define SEED (6 + 1)")),
        ("left", common("#define LEFT 1", "#define LEFT 5")),
    ];
    let tests = ["right", "made"];
    let place = place();
    let (narrow, full) = (
        run(&place, &tests, true, &patches),
        run(&place, &tests, false, &patches),
    );
    let both = narrow.patches.iter().zip(&full.patches);
    for ((narrow, full), (name, _)) in both.zip(&patches) {
        assert_eq!(narrow.verdict, full.verdict, "{name}");
    }
    let plausible: Vec<bool> = (0..3).map(|patch| is_plausible(&narrow, patch)).collect();
    assert_eq!(plausible, [false, true, true]);
}
