//! What judges patches: the tests of the untouched tree, those that patches are meant to mend, and a sample of builds in the end.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

use crate::common::{CALC, DRIVER, Place, in_calc, replace};
use patchwright_exec::CancelToken;
use patchwright_validate::{
    Event, PatchVerdict, Reached, ValidateError, ValidateOptions, Validation,
};

fn words(outcome: &Validation) -> Vec<&'static str> {
    let verdicts = outcome.patches.iter().map(|patch| patch.verdict.as_ref());
    verdicts
        .map(|verdict| verdict.map_or("none", PatchVerdict::word))
        .collect()
}

/// The outcome, and what was warned of.
fn run(
    place: &Place,
    patches: &[(&str, String)],
    options: &ValidateOptions,
) -> (Result<Validation, ValidateError>, Vec<String>) {
    let warnings = Mutex::new(Vec::new());
    let events = |event: Event<'_>| {
        if let Event::Warning(text) = event {
            warnings.lock().unwrap().push(text);
        }
    };
    let cancel = CancelToken::new().unwrap();
    let outcome = place.run_with(patches, options, &place.flags(), cancel, &events);
    (outcome, warnings.into_inner().unwrap())
}

const TWICE: &str = "    return a * FACTOR;";
const ADD: &str = "    return a + b;";

#[test]
#[ignore = "nightly: 3 s; a_difference_that_an_audit_finds_is_told_and_the_class_is_built goes this way"]
fn patches_that_make_the_tests_succeed_mend_nothing() {
    let place = Place::new();
    let script = place.write("expect.sh", "twice=8\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let driver = DRIVER.replace("case $1", ". ./expect.sh\ncase $1");
    let driver = driver.replace("= 8", "= $twice");
    place.write("run.sh", &driver);
    let makefile = "calc: calc.c\n\tcc -w -o calc calc.c\n";
    let rule = "\tcc -w -o calc calc.c";
    let patches = [
        (
            "driver",
            replace("run.sh", &driver, "*) exit 2 ;;", "*) exit 0 ;;"),
        ),
        (
            "expected",
            replace("expect.sh", "twice=8\n", "twice=8", "twice=12"),
        ),
        (
            "build",
            replace(
                "Makefile",
                makefile,
                rule,
                &format!("{rule}\n\techo twice=12 > expect.sh"),
            ),
        ),
        (
            "program",
            in_calc(
                "    int a = atoi(argv[2]);",
                "    int a = atoi(argv[2]);\n    system(\"echo twice=12 > expect.sh\");",
            ),
        ),
        ("mends", in_calc(TWICE, "    return a * 2;")),
    ];
    for schemata in [false, true] {
        let options = ValidateOptions {
            schemata,
            ..place.options()
        };
        let outcome = run(&place, &patches, &options).0.unwrap();
        assert_eq!(
            words(&outcome),
            [
                "implausible",
                "implausible",
                "implausible",
                "implausible",
                "plausible"
            ]
        );
        let notes = &outcome.patches[1].notes;
        assert!(notes[0].contains("left out: expect.sh"), "{notes:?}");
    }
    let trusting = ValidateOptions {
        trust_test_changes: true,
        ..place.options()
    };
    let outcome = run(&place, &patches[1..2], &trusting).0.unwrap();
    assert_eq!(words(&outcome), ["plausible"]);
}

#[test]
#[ignore = "nightly: 7 s; a_difference_that_an_audit_finds_is_told_and_the_class_is_built goes this way"]
fn tests_that_fail_anyway_are_said_and_can_be_set_aside() {
    let place = Place::new();
    // Another test fails, which nobody can mend.
    let driver = DRIVER.replace("zero) test \"$(./calc add 0 0)\" = 0", "zero) false");
    place.write("run.sh", &driver);
    let patches = [
        ("mends", in_calc(TWICE, "    return a * 2;")),
        ("breaks", in_calc(ADD, "    return a - b;")),
        ("nothing", in_calc(ADD, "    return b + a;")),
    ];
    for schemata in [false, true] {
        let all = ValidateOptions {
            schemata,
            ..place.options()
        };
        let (outcome, warnings) = run(&place, &patches, &all);
        assert_eq!(words(&outcome.unwrap()), ["implausible"; 3]);
        let said = "2 tests (zero, twice) fail on the untouched program: a patch is plausible only if it mends all of \
                    them; --must-fix NAME keeps";
        assert!(
            warnings.iter().any(|text| text.starts_with(said)),
            "{warnings:?}"
        );
        let one = ValidateOptions {
            must_fix: vec!["twice".into()],
            ..all.clone()
        };
        let (outcome, warnings) = run(&place, &patches, &one);
        let outcome = outcome.unwrap();
        assert_eq!(words(&outcome), ["plausible", "implausible", "implausible"]);
        let zero = outcome.tests.names.iter().position(|name| name == "zero");
        assert_eq!(outcome.tests.set_aside.iter().copied().next(), zero);
        let said = "1 test (twice) fails on the untouched program: a patch is plausible only if it mends it; 1 test (zero) \
                    fails on the untouched program and is set aside";
        assert!(warnings.iter().any(|text| text == said), "{warnings:?}");
        let none = ValidateOptions {
            ignore_failing: true,
            ..all.clone()
        };
        let outcome = run(&place, &patches, &none).0.unwrap();
        assert_eq!(words(&outcome), ["plausible", "implausible", "plausible"]);
        let other = ValidateOptions {
            must_fix: vec!["thrice".into()],
            ..all
        };
        let error = run(&place, &patches, &other).0.unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no test thrice for --must-fix; the tests are add, zero, twice"
        );
    }
}

/// A program that looks at itself is another one when it is woven, which no class can vouch for: its file is larger.
fn place_that_looks() -> Place {
    let place = Place::new();
    let text = CALC.replace(
        "static int twice",
        "static long size(void)\n{\n    FILE *self = fopen(\"calc\", \"r\");\n    fseek(self, 0, SEEK_END);\n    \
         return ftell(self);\n}\n\nstatic int twice",
    );
    place.write("calc.c", &text);
    place
}

#[test]
#[ignore = "nightly: 6 s; a_difference_that_an_audit_finds_is_told_and_the_class_is_built goes this way"]
fn a_sample_of_what_was_not_built_is_built_in_the_end() {
    let place = Place::new();
    let numbers = 1..=30;
    let texts: Vec<(String, String)> = numbers
        .map(|number| {
            let text = format!("    return a * 2 + {number} - {number};");
            (format!("p{number:02}"), in_calc(TWICE, &text))
        })
        .collect();
    let patches: Vec<(&str, String)> = texts
        .iter()
        .map(|(id, text)| (&id[..], text.clone()))
        .collect();
    let options = ValidateOptions {
        schemata: true,
        audit: Some(10.0),
        ..place.options()
    };
    let outcome = run(&place, &patches, &options).0.unwrap();
    assert_eq!(outcome.plausible(), 30);
    // One of the class was built anyway.
    assert_eq!((outcome.stats.audited, outcome.stats.audits_failed), (3, 0));
    assert_eq!(outcome.stats.builds, 4);
    let audited = |outcome: &Validation| -> Vec<String> {
        let audited = outcome.patches.iter().zip(&patches);
        let audited = audited.filter(|(patch, _)| patch.audited == Some(true));
        audited.map(|(_, (_, text))| text.clone()).collect()
    };
    // The same ones whatever the order of the set and the names.
    let mut turned = patches.clone();
    turned.reverse();
    let again = run(&place, &turned, &options).0.unwrap();
    let audited_again = again.patches.iter().zip(&turned);
    let audited_again = audited_again.filter(|(patch, _)| patch.audited == Some(true));
    let mut audited_again: Vec<String> = audited_again.map(|(_, (_, text))| text.clone()).collect();
    audited_again.reverse();
    assert_eq!(audited(&outcome), audited_again);
    // Nothing is audited of small sets, unless it is asked for.
    let quiet = ValidateOptions {
        schemata: true,
        ..place.options()
    };
    let outcome = run(&place, &patches, &quiet).0.unwrap();
    assert_eq!((outcome.stats.audited, outcome.stats.builds), (0, 1));
}

#[test]
#[ignore = "nightly: 2 s; a_difference_that_an_audit_finds_is_told_and_the_class_is_built goes this way"]
fn the_sample_of_a_large_set_is_built_a_few_together() {
    let place = Place::new();
    let texts: Vec<(String, String)> = (1..=51)
        .flat_map(|number| {
            let twice = format!("    return a * FACTOR + {number} - {number};");
            let add = format!("    return b + a + {number} - {number};");
            [
                (format!("t{number:02}"), in_calc(TWICE, &twice)),
                (format!("a{number:02}"), in_calc(ADD, &add)),
            ]
        })
        .collect();
    let patches: Vec<(&str, String)> = texts
        .iter()
        .map(|(id, text)| (&id[..], text.clone()))
        .collect();
    let options = ValidateOptions {
        schemata: true,
        ignore_failing: true,
        ..place.options()
    };
    let outcome = run(&place, &patches, &options).0.unwrap();
    assert_eq!(outcome.plausible(), 102);
    assert_eq!((outcome.stats.audited, outcome.stats.audits_failed), (6, 0));
    // One of each function is built with one of the other.
    assert!(outcome.stats.builds < 6, "{}", outcome.stats.builds);
    let audited = outcome.patches.iter();
    let audited = audited.filter(|patch| patch.audited == Some(true));
    assert_eq!(audited.count(), 6);
}

#[test]
fn a_difference_that_an_audit_finds_is_told_and_the_class_is_built() {
    let place = place_that_looks();
    let text = fs::read_to_string(place.project_folder().join("calc.c")).unwrap();
    // The last one mends only what is woven.
    let patches: Vec<(String, String)> = (0..12)
        .map(|number| {
            let line = match number {
                11 => "    return a * (size() > 20000 ? 2 : 3);".to_owned(),
                _ => format!("    return a * 2 + {number} - {number};"),
            };
            (format!("p{number}"), replace("calc.c", &text, TWICE, &line))
        })
        .collect();
    let patches: Vec<(&str, String)> = patches
        .iter()
        .map(|(id, text)| (&id[..], text.clone()))
        .collect();
    let options = ValidateOptions {
        schemata: true,
        ..place.options()
    };
    let without = run(&place, &patches, &options).0.unwrap();
    assert_eq!(without.plausible(), 12, "the class vouches for it");
    let options = ValidateOptions {
        audit: Some(100.0),
        ..options
    };
    let (outcome, warnings) = run(&place, &patches, &options);
    let outcome = outcome.unwrap();
    let mut wanted = ["plausible"; 12];
    wanted[11] = "implausible";
    assert_eq!(words(&outcome), wanted);
    assert_eq!(outcome.stats.audits_failed, 1);
    assert_eq!(outcome.patches[11].reached(), Some(Reached::Built));
    assert_eq!(outcome.patches[11].audited, Some(false));
    let told = "AUDIT FAILED: p11 is plausible in a woven program, where it did the same as p";
    assert!(
        warnings.iter().any(|text| text.starts_with(told)),
        "{warnings:?}"
    );
    // A sample that is smaller finds it, or not; what it makes doubtful is built.
    let notes = &outcome.patches[11].notes;
    assert!(notes[0].contains("an audit found otherwise"), "{notes:?}");
}
