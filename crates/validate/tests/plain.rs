//! Sets of patches of small projects, validated from end to end.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use crate::common::{CALC, DRIVER, Place, in_calc, replace};
use patchwright_exec::{CancelToken, ProjectFlags, TimeoutRule};
use patchwright_validate::{
    Confirm, Event, Failure, PatchVerdict, ValidateOptions, Validation, Way, outcome::Untouched,
    rebuild::Rebuild,
};

fn words(outcome: &Validation) -> Vec<&'static str> {
    let word = |verdict: &PatchVerdict| verdict.word();
    outcome
        .patches
        .iter()
        .map(|patch| patch.verdict.as_ref().map_or("-", word))
        .collect()
}

/// The test that speaks against each patch.
fn killers(outcome: &Validation) -> Vec<&str> {
    let name = |test: usize| &outcome.tests.names[test][..];
    outcome
        .patches
        .iter()
        .map(|patch| match &patch.verdict {
            Some(PatchVerdict::Implausible(killer)) => name(killer.test),
            _ => "-",
        })
        .collect()
}

const TWICE: &str = "    return a * FACTOR;";
const ADD: &str = "    return a + b;";

fn typical() -> Vec<(&'static str, String)> {
    vec![
        ("right", in_calc(TWICE, "    return a * 2;")),
        ("breaks", in_calc(TWICE, "    a = 4; exit(7);")),
        ("syntax", in_calc(TWICE, "    return a * 2")),
        ("missing", in_calc(TWICE, "    return helper(a);")),
        ("elsewhere", replace("calc.c", "x\n", "x", "y")),
        (
            "header",
            replace(
                "twice.h",
                "#define FACTOR 3\n",
                "#define FACTOR 3",
                "#define FACTOR 2",
            ),
        ),
        ("again", in_calc(TWICE, "    return a * 2;")),
        (
            "both",
            in_calc(TWICE, "    return a * 2;") + &in_calc(ADD, "    return a - b;"),
        ),
        ("hangs", in_calc(TWICE, "    for (;;);")),
        (
            "file",
            "--- /dev/null\n+++ b/extra.h\n@@ -0,0 +1 @@\n+#define FACTOR 2\n".to_owned()
                + &replace(
                    "calc.c",
                    CALC,
                    "#include \"twice.h\"",
                    "#include \"extra.h\"",
                ),
        ),
    ]
}

#[test]
fn each_kind_of_verdict_is_given_and_the_project_is_left_alone() {
    let place = Place::new();
    let before = place.state();
    let outcome = place.run(&typical(), &place.quick()).unwrap();
    assert_eq!(place.state(), before);
    assert_eq!(
        words(&outcome),
        [
            "plausible",
            "implausible",
            "does not compile",
            "does not compile",
            "does not apply",
            "plausible",
            "plausible",
            "implausible",
            "implausible",
            "plausible",
        ]
    );
    assert_eq!(
        killers(&outcome),
        ["-", "twice", "-", "-", "-", "-", "-", "add", "twice", "-"]
    );
    let Some(PatchVerdict::DoesNotCompile(failure)) = &outcome.patches[2].verdict else {
        panic!()
    };
    let first = failure.first_error.as_deref().unwrap();
    assert!(first.starts_with("calc.c:13:"), "{first}");
    let Some(PatchVerdict::Implausible(killer)) = &outcome.patches[8].verdict else {
        panic!()
    };
    assert_eq!(killer.failure.to_string(), "time-out (never ends)");
    assert_eq!(outcome.patches[6].same_as, Some(0));
    assert_eq!(outcome.stats.duplicates, 1);
    let ways: Vec<Option<Way>> = outcome.patches.iter().map(|patch| patch.way).collect();
    let way = |rebuild: Rebuild| Some(Way::Plain(rebuild));
    assert_eq!(ways[0], way(Rebuild::Incremental));
    assert_eq!(ways[4], None);
    assert_eq!((ways[5], ways[9]), (way(Rebuild::Full), way(Rebuild::Full)));
    assert!(!outcome.interrupted);
}

#[test]
fn what_a_patched_build_makes_no_more_is_not_there() {
    let place = Place::new();
    let makefile = "calc: calc.c\n\tcc -w -o calc calc.c\n";
    let other = "\tcc -w -o calc2 calc.c";
    let patches = [
        (
            "other",
            replace("Makefile", makefile, "\tcc -w -o calc calc.c", other),
        ),
        ("right", in_calc(TWICE, "    return a * 2;")),
    ];
    let before = place.state();
    let outcome = place.run(&patches, &place.quick()).unwrap();
    assert_eq!(words(&outcome), ["implausible", "plausible"]);
    assert_eq!(outcome.patches[0].way, Some(Way::Plain(Rebuild::Clean)));
    assert_eq!(before, place.state());
}

#[test]
fn cases_that_a_patch_changes_are_taken_as_they_are_then_if_that_is_trusted() {
    let place = Place::new();
    fs::create_dir(place.project_folder().join("cases")).unwrap();
    place.write("cases/sum.args", "add 2 3\n");
    place.write("cases/sum.out", "5\n");
    place.write("cases/twice.args", "twice 4\n");
    place.write("cases/twice.out", "8\n");
    let flags = ProjectFlags {
        build: Some("make -s".into()),
        program: Some("calc".into()),
        cases: Some("cases".into()),
        ..ProjectFlags::default()
    };
    let right = in_calc(TWICE, "    return a * 2;");
    let also = |change: String| right.clone() + &change;
    let gone = "--- a/cases/sum.out\n+++ /dev/null\n@@ -1 +0,0 @@\n-5\n";
    let patches = [
        ("right", right.clone()),
        (
            "other output",
            also(replace("cases/sum.out", "5\n", "5", "6")),
        ),
        (
            "other arguments and output",
            also(replace("cases/sum.out", "5\n", "5", "6"))
                + &replace("cases/sum.args", "add 2 3\n", "add 2 3", "add 2 4"),
        ),
        ("no output", also(gone.to_owned())),
    ];
    let cancel = CancelToken::new().unwrap();
    let trusting = ValidateOptions {
        trust_test_changes: true,
        ..place.quick()
    };
    let outcome = place
        .run_with(&patches, &trusting, &flags, cancel, &|_| {})
        .unwrap();
    assert_eq!(
        words(&outcome),
        ["plausible", "implausible", "plausible", "implausible"]
    );
    assert_eq!(killers(&outcome), ["-", "sum", "-", "sum"]);
    // As a rule they are those of the untouched tree.
    let cancel = CancelToken::new().unwrap();
    let outcome = place
        .run_with(&patches, &place.quick(), &flags, cancel, &|_| {})
        .unwrap();
    assert_eq!(words(&outcome), ["plausible"; 4]);
    assert_eq!(outcome.patches[3].same_as, Some(0));
    assert_eq!(
        outcome.patches[2].notes,
        [
            "its changes of tests are left out: cases/sum.args, cases/sum.out (--trust-test-changes takes them)"
        ]
    );
}

#[test]
#[ignore = "nightly: 6 s; woven_patches_have_the_verdicts_of_plain_validation goes this way"]
fn verdicts_do_not_depend_on_workers_or_on_what_came_before() {
    let place = Place::new();
    let patches = typical();
    let together = place.run(&patches, &place.quick()).unwrap();
    let options = ValidateOptions {
        jobs: 1,
        ..place.quick()
    };
    let mut backwards: Vec<_> = patches.clone();
    backwards.reverse();
    let mut other = place.run(&backwards, &options).unwrap();
    other.patches.reverse();
    assert_eq!(words(&other), words(&together));
    assert_eq!(killers(&other), killers(&together));
    for (number, patch) in patches.iter().enumerate() {
        let alone = place.run(std::slice::from_ref(patch), &options).unwrap();
        assert_eq!(words(&alone), words(&together)[number..=number]);
    }
}

#[test]
fn every_test_is_run_on_every_patch_if_asked() {
    let place = Place::new();
    let options = ValidateOptions {
        keep_going: true,
        ..place.quick()
    };
    let outcome = place.run(&typical()[..2], &options).unwrap();
    let row = |patch: usize| -> Vec<(usize, bool)> {
        let tests = outcome.patches[patch].tests.iter();
        let mut row: Vec<_> = tests
            .map(|test| (test.test, test.failure.is_none()))
            .collect();
        row.sort_unstable();
        row
    };
    assert_eq!(row(0), [(0, true), (1, true), (2, true)]);
    assert_eq!(row(1), [(0, true), (1, true), (2, false)]);
}

#[test]
fn a_run_stops_after_enough_plausible_patches_in_their_order() {
    let place = Place::new();
    let mut patches = typical();
    patches.swap(0, 1);
    let options = ValidateOptions {
        stop_after: Some(2),
        ..place.quick()
    };
    let told = Mutex::new(Vec::new());
    let tell = |event: Event<'_>| {
        if let Event::Verdict { index, .. } = event {
            told.lock().unwrap().push(index);
        }
    };
    let cancel = CancelToken::new().unwrap();
    let outcome = place
        .run_with(&patches, &options, &place.flags(), cancel, &tell)
        .unwrap();
    assert_eq!(*told.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(outcome.plausible(), 2);
    assert!(
        outcome.patches[6..]
            .iter()
            .all(|patch| patch.verdict.is_none())
    );
    assert!(!outcome.interrupted);
}

/// The runs of tests so far, by the file that the driver writes.
fn runs(count: &Path) -> usize {
    fs::read_to_string(count)
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let place = Place::new();
    let count = place.root.join("counts/runs");
    let mut flags = place.flags();
    flags.test_timeout = Some(Duration::from_secs(20));
    // The driver finds the file in its environment.
    place.write(
        "patchwright.toml",
        &format!(
            "[tests]\nenvironment = {{ COUNT = {:?} }}\n",
            count.display().to_string()
        ),
    );
    let patches: Vec<_> = (0..6)
        .map(|n| {
            (
                ["a", "b", "c", "d", "e", "f"][n],
                in_calc(TWICE, &format!("    return a * {n} / 1;")),
            )
        })
        .collect();
    let options = |resume| ValidateOptions {
        jobs: 1,
        journal: place.journal(resume),
        ..place.options()
    };
    let cancel = CancelToken::new().unwrap();
    let verdicts = Mutex::new(0);
    let stop = cancel.clone();
    let interrupt = move |event: Event<'_>| {
        if let Event::Verdict { .. } = event {
            let mut verdicts = verdicts.lock().unwrap();
            *verdicts += 1;
            if *verdicts == 3 {
                stop.cancel();
            }
        }
    };
    let first = place
        .run_with(&patches, &options(false), &flags, cancel, &interrupt)
        .unwrap();
    assert!(first.interrupted);
    assert_eq!(words(&first)[3..], ["-", "-", "-"]);
    let before = runs(&count);
    let fresh = || CancelToken::new().unwrap();
    let second = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(
        words(&second),
        [
            "implausible",
            "implausible",
            "plausible",
            "implausible",
            "implausible",
            "implausible"
        ]
    );
    assert_eq!(second.stats.resumed, 3);
    // Three patches fail their first test; the baseline is known.
    assert_eq!(runs(&count) - before, 3);
    let third = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(words(&third), words(&second));
    assert_eq!(killers(&third), killers(&second));
    assert_eq!(runs(&count) - before, 3);
    // Another project is another journal.
    place.write("twice.h", "#define FACTOR 4\n");
    let fourth = place
        .run_with(&patches, &options(true), &flags, fresh(), &|_| {})
        .unwrap();
    assert_eq!(fourth.stats.resumed, 0);
}

#[test]
fn a_patch_whose_tests_change_their_mind_is_unstable() {
    let place = Place::new();
    // Where programs may write that everybody shares.
    let name = format!("/tmp/patchwright-test-{}-moody", std::process::id());
    let memory = std::path::PathBuf::from(name);
    // Passes all tests once.
    let code = format!(
        "    if (a == 4 && fopen(\"{0}\", \"r\")) return 0;\n    fopen(\"{0}\", \"w\");\n    return a * 2;",
        memory.display()
    );
    let outcome = place
        .run(
            &[("moody", in_calc(TWICE, &code))],
            &ValidateOptions {
                confirm: Confirm::Each,
                ..place.quick()
            },
        )
        .unwrap();
    let _ = fs::remove_file(&memory);
    let Some(PatchVerdict::Unstable(killer)) = &outcome.patches[0].verdict else {
        panic!("{outcome:?}")
    };
    assert_eq!(outcome.tests.names[killer.test], "twice");
    assert!(matches!(killer.failure, Failure::Ran(_)));
}

/// How often the tests of the untouched program were run, for plausible patches.
fn runs_of_untouched(
    place: &Place,
    patches: &[(&'static str, String)],
    options: &ValidateOptions,
) -> usize {
    let testing = Mutex::new((false, 0));
    let events = |event: Event<'_>| {
        let mut testing = testing.lock().unwrap();
        match event {
            Event::Phase(name) => testing.0 = name.starts_with("running the tests"),
            Event::Progress { done, total } if testing.0 => {
                assert!(done <= total);
                testing.1 = done;
            }
            _ => {}
        }
    };
    let cancel = CancelToken::new().unwrap();
    let outcome = place.run_with(patches, options, &place.flags(), cancel, &events);
    let outcome = outcome.unwrap();
    assert!(words(&outcome).iter().all(|word| *word == "plausible"));
    let testing = testing.lock().unwrap();
    testing.1 / outcome.tests.names.len()
}

fn doubling(sums: std::ops::Range<usize>) -> Vec<(&'static str, String)> {
    const NAMES: [&str; 14] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
    ];
    let code = |number: usize| format!("    return a + a + {number} - {number};");
    sums.map(|number| (NAMES[number], in_calc(TWICE, &code(number))))
        .collect()
}

#[test]
#[ignore = "nightly: 5 s; woven_patches_have_the_verdicts_of_plain_validation goes this way"]
fn few_patches_that_pass_are_validated_without_the_tests_of_the_untouched_program() {
    let place = Place::new();
    let options = ValidateOptions {
        by_cost: true,
        ..place.quick()
    };
    for patches in [1, 2, 12] {
        let patches = doubling(0..patches);
        assert_eq!(runs_of_untouched(&place, &patches, &options), 0);
    }
    assert_eq!(runs_of_untouched(&place, &doubling(0..13), &options), 2);
    let asking = ValidateOptions {
        ask_first: true,
        ..options.clone()
    };
    assert_eq!(runs_of_untouched(&place, &doubling(0..1), &asking), 1);
    assert_eq!(runs_of_untouched(&place, &doubling(0..3), &asking), 2);
    // What a journal has of few patches is enough for them, and not for more.
    let resumed = ValidateOptions {
        journal: place.journal(true),
        ..options
    };
    assert_eq!(runs_of_untouched(&place, &doubling(0..2), &resumed), 0);
    assert_eq!(runs_of_untouched(&place, &doubling(0..2), &resumed), 0);
    let asking = ValidateOptions {
        ask_first: true,
        ..resumed
    };
    assert_eq!(runs_of_untouched(&place, &doubling(0..5), &asking), 2);
    assert_eq!(runs_of_untouched(&place, &doubling(0..6), &asking), 0);
}

#[test]
#[ignore = "nightly: 6 s; few_patches_that_pass_are_validated_without_the_tests_of_the_untouched_program goes the same way"]
fn few_patches_have_the_verdicts_that_they_have_where_the_untouched_program_is_asked_first() {
    let place = Place::new();
    let all = typical();
    let asked = place.run(&all, &place.quick()).unwrap();
    let options = ValidateOptions {
        by_cost: true,
        ..place.quick()
    };
    for (patch, asked) in all.iter().zip(&asked.patches) {
        let alone = place.run(std::slice::from_ref(patch), &options).unwrap();
        assert_eq!(words(&alone), [asked.verdict.as_ref().unwrap().word()]);
    }
    for few in all.chunks(5) {
        let few_asked = place.run(few, &place.quick()).unwrap();
        let few = place.run(few, &options).unwrap();
        assert_eq!(words(&few), words(&few_asked));
    }
}

#[test]
fn a_project_that_does_not_build_is_an_error_for_a_single_patch_too() {
    let place = Place::new();
    place.write("calc.c", &format!("{CALC}int broken(\n"));
    let options = ValidateOptions {
        by_cost: true,
        ..place.quick()
    };
    let other = [(
        "other",
        replace("run.sh", DRIVER, "*) exit 2 ;;", "*) exit 3 ;;"),
    )];
    let trusting = ValidateOptions {
        trust_test_changes: true,
        ..options
    };
    let error = place.run(&other, &trusting).unwrap_err().to_string();
    assert!(error.contains("the build"), "{error}");
}

#[test]
#[ignore = "nightly: 8 s; crate exec tests how long a test may take"]
fn how_long_a_test_may_take_is_told_by_another_patch_that_passes_it_or_by_the_untouched_program() {
    let place = Place::new();
    let waits = ("waits", in_calc(TWICE, "    sleep(3);\n    return a + a;"));
    let good = ("good", in_calc(TWICE, "    return a + a;"));
    let bad = ("bad", in_calc(TWICE, "    return a;"));
    let options = ValidateOptions {
        by_cost: true,
        timeouts: TimeoutRule {
            floor: Duration::from_millis(300),
            factor: 1.5,
            slack: Duration::ZERO,
        },
        ..place.quick()
    };
    let outcome = place.run(&[waits.clone(), good], &options).unwrap();
    assert_eq!(words(&outcome), ["implausible", "plausible"]);
    assert!(!outcome.tests.untouched.contains(&Untouched::Passes));
    let outcome = place.run(&[waits.clone(), bad], &options).unwrap();
    assert_eq!(words(&outcome), ["implausible", "implausible"]);
    assert!(outcome.tests.untouched.contains(&Untouched::Passes));
    // A single patch takes as long as it takes.
    let outcome = place.run(&[waits], &options).unwrap();
    assert_eq!(words(&outcome), ["plausible"]);
}

#[test]
fn a_test_that_fails_once_with_the_only_patch_is_run_again_before_it_counts() {
    let place = Place::new();
    place.write("twice.h", "#define FACTOR 2\n");
    let name = format!("/tmp/patchwright-test-{}-grudging", std::process::id());
    let memory = std::path::PathBuf::from(name);
    let code = format!(
        "    if (!fopen(\"{0}\", \"r\")) {{ fopen(\"{0}\", \"w\"); return 0; }}\n    return a + b;",
        memory.display()
    );
    let options = ValidateOptions {
        by_cost: true,
        ..place.quick()
    };
    let outcome = place.run(&[("grudging", in_calc(ADD, &code))], &options);
    let _ = fs::remove_file(&memory);
    let outcome = outcome.unwrap();
    let Some(PatchVerdict::Unstable(killer)) = &outcome.patches[0].verdict else {
        panic!("{outcome:?}")
    };
    assert_eq!(outcome.tests.names[killer.test], "add");
}

#[test]
fn patches_of_the_build_and_the_tests_are_validated_and_named() {
    let place = Place::new();
    let makefile = "calc: calc.c\n\tcc -w -o calc calc.c\n";
    let patches = vec![
        (
            "build",
            replace(
                "Makefile",
                makefile,
                "\tcc -w -o calc calc.c",
                "\tcc -w -DFACTOR=2 -o calc calc.c",
            ),
        ),
        (
            "driver",
            replace("run.sh", DRIVER, "*) exit 2 ;;", "*) exit 3 ;;"),
        ),
    ];
    let trusting = ValidateOptions {
        trust_test_changes: true,
        ..place.quick()
    };
    let outcome = place.run(&patches, &trusting).unwrap();
    assert_eq!(outcome.patches[0].notes, ["it changes the build: Makefile"]);
    assert_eq!(outcome.patches[1].notes, ["it changes the tests: run.sh"]);
    assert_eq!(words(&outcome), ["implausible", "implausible"]);
}

#[test]
fn a_set_that_nobody_can_understand_is_an_error() {
    let place = Place::new();
    let patches = [("a", "hello\n".to_owned()), ("b", String::new())];
    let error = place.run(&patches, &place.options()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("none of the 2 patches can be understood"),
        "{text}"
    );
}

#[test]
fn woven_patches_have_the_verdicts_of_plain_validation() {
    let place = Place::new();
    let patches = typical();
    let plain = place.run(&patches, &place.quick()).unwrap();
    for (dedup, keep_going) in [(true, false), (false, true)] {
        let options = ValidateOptions {
            schemata: true,
            dedup,
            keep_going,
            ..place.quick()
        };
        let woven = place.run(&patches, &options).unwrap();
        assert_eq!(words(&woven), words(&plain));
        assert_eq!(killers(&woven), killers(&plain));
        let stats = woven.stats.woven.unwrap();
        assert!(stats.patches >= 3, "{stats:?}");
        assert_eq!(stats.overruled, 0);
    }
}
