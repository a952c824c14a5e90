//! Builds that verdicts do not need, or that need to make less.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{CALC, Place, replace};
use patchwright_validate::rebuild::Rebuild;
use patchwright_validate::{ValidateOptions, Validation, Way};

fn words(outcome: &Validation) -> Vec<&'static str> {
    let verdicts = outcome.patches.iter().map(|patch| &patch.verdict);
    verdicts
        .map(|verdict| verdict.as_ref().map_or("none", |verdict| verdict.word()))
        .collect()
}

fn few(place: &Place) -> ValidateOptions {
    ValidateOptions {
        by_cost: true,
        ..place.quick()
    }
}

fn builds(outcome: &Validation) -> usize {
    outcome.stats.builds + outcome.stats.untouched_builds
}

/// Writes the number that the program prints to a file of the tests, and compares that.
const WRITING: &str = "\
#!/bin/sh
case $1 in
add) ./calc add 2 3 > tests/out.txt; test \"$(cat tests/out.txt)\" = 5 ;;
zero) ./calc add 0 0 > tests/out.txt; test \"$(cat tests/out.txt)\" = 0 ;;
twice) ./calc twice 4 > tests/out.txt; test \"$(cat tests/out.txt)\" = 8 ;;
esac
";

fn patches() -> Vec<(&'static str, String)> {
    let change = |from: &str, to: &str| replace("calc.c", CALC, from, to);
    vec![
        (
            "right",
            change("    return a * FACTOR;", "    return a + a;"),
        ),
        ("wrong", change("    return a * FACTOR;", "    return a;")),
        ("broken", change("    return a * FACTOR;", "    return a")),
        (
            "other",
            change("    return a * FACTOR;", "    return 2 * a;"),
        ),
    ]
}

fn with_driver(driver: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.project_folder().join("tests")).unwrap();
    place.write("tests/out.txt", "x\n");
    let driver = place.write("run.sh", driver);
    fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

#[test]
fn tests_that_write_to_a_file_of_the_tests_cost_few_patches_one_build_of_the_untouched_program() {
    let place = with_driver(WRITING);
    place.write("twice.h", "#define FACTOR 2\n");
    let outcome = place.run(&patches(), &few(&place)).unwrap();
    let expected = ["plausible", "implausible", "does not compile", "plausible"];
    assert_eq!(words(&outcome), expected);
    assert_eq!(outcome.stats.untouched_builds, 1);
    assert_eq!(builds(&outcome), patches().len() + 1);
}

#[test]
fn a_patch_whose_program_changes_the_tests_as_the_untouched_one_does_not_is_refused_among_few() {
    let place = with_driver(
        "#!/bin/sh\ncase $1 in\nadd) test \"$(./calc add 2 3)\" = 5 ;;\n*) test \"$(./calc twice 4)\" = \"$(cat tests/out.txt)\" ;;\nesac\n",
    );
    place.write("tests/out.txt", "8\n");
    place.write("twice.h", "#define FACTOR 2\n");
    let cheat = "    FILE *f = fopen(\"tests/out.txt\", \"w\"); fputs(\"7\\n\", f); fclose(f);\n    return 7;";
    let change = |to: &str| replace("calc.c", CALC, "    return a * FACTOR;", to);
    let patches = [
        ("cheat", change(cheat)),
        ("right", change("    return a + a;")),
    ];
    let outcome = place.run(&patches, &few(&place)).unwrap();
    assert_eq!(words(&outcome), ["implausible", "plausible"]);
}

fn ways(outcome: &Validation) -> Vec<Option<Way>> {
    outcome.patches.iter().map(|patch| patch.way).collect()
}

#[test]
fn what_the_build_does_not_open_needs_no_build_of_everything() {
    let place = Place::new();
    place.write("README", "calc adds\n");
    place.write("version", "1\n");
    place.write(
        "Makefile",
        "calc: calc.c version\n\tcc -w -DV=$$(cat version) -o calc calc.c\n",
    );
    let code = replace(
        "calc.c",
        CALC,
        "    return a * FACTOR;",
        "    return a + a;",
    );
    let with = |name: &str, old: &str, new: &str| {
        format!(
            "{code}{}",
            replace(name, old, old.trim_end(), new.trim_end())
        )
    };
    let patches = [
        (
            "readme",
            with("README", "calc adds\n", "calc adds and doubles\n"),
        ),
        ("version", with("version", "1\n", "2\n")),
        ("plain", code.clone()),
    ];
    let outcome = place.run(&patches, &place.options()).unwrap();
    assert_eq!(words(&outcome), ["plausible"; 3]);
    let plain = |rebuild| Some(Way::Plain(rebuild));
    let (incremental, clean) = (plain(Rebuild::Incremental), plain(Rebuild::Clean));
    assert_eq!(ways(&outcome), [incremental, clean, incremental]);
}

#[test]
fn sources_that_see_an_added_header_in_the_place_of_another_one_are_compiled_again() {
    let place = Place::new();
    // The makefile knows of no header, and no source changes.
    fs::create_dir(place.project_folder().join("include")).unwrap();
    place.write("include/twice.h", "#define FACTOR 3\n");
    fs::remove_file(place.project_folder().join("twice.h")).unwrap();
    place.write(
        "Makefile",
        "calc: calc.c\n\tcc -w -Iinclude -o calc calc.c\n",
    );
    let added =
        |name: &str, text: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,1 @@\n+{text}\n");
    let patches = [
        ("before", added("twice.h", "#define FACTOR 2")),
        ("beside", added("thrice.h", "#define FACTOR 2")),
    ];
    for schemata in [false, true] {
        let options = ValidateOptions {
            schemata,
            ..place.options()
        };
        let outcome = place.run(&patches, &options).unwrap();
        assert_eq!(words(&outcome), ["plausible", "implausible"]);
        assert_eq!(ways(&outcome)[0], Some(Way::Plain(Rebuild::Full)));
    }
}
