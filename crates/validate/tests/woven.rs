//! Sets of patches that are woven into one program, validated from end to end.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;

use crate::common::{CALC, Place, in_calc, replace};
use patchwright_exec::{CancelToken, ProjectFlags};
use patchwright_validate::{Confirm, PatchVerdict, Reached, ValidateOptions, Validation, Way};

/// The line that calls what doubles.
const CALL: &str = "        printf(\"%d\\n\", twice(a));";

fn woven(place: &Place, confirm: Confirm) -> ValidateOptions {
    ValidateOptions {
        schemata: true,
        confirm,
        ..place.options()
    }
}

/// Two ways to double, which no test can tell apart, one that only a test of other numbers could, and a wrong one.
fn patches() -> Vec<(&'static str, String)> {
    let body = "    return a * FACTOR;";
    vec![
        ("sum", in_calc(body, "    return a + a;")),
        ("product", in_calc(body, "    return 2 * a;")),
        ("wrong", in_calc(body, "    return a + 3;")),
        ("shift", in_calc(body, "    return a << 1;")),
    ]
}

fn words(outcome: &Validation) -> Vec<&'static str> {
    let verdicts = outcome.patches.iter().map(|patch| patch.verdict.as_ref());
    verdicts
        .map(|verdict| verdict.map_or("none", PatchVerdict::word))
        .collect()
}

#[test]
fn of_plausible_patches_that_did_the_same_one_is_confirmed_by_a_build() {
    let place = Place::new();
    let outcome = place
        .run(&patches(), &woven(&place, Confirm::Classes))
        .unwrap();
    assert_eq!(
        words(&outcome),
        ["plausible", "plausible", "implausible", "plausible"]
    );
    let by: Vec<Option<usize>> = outcome
        .patches
        .iter()
        .map(|patch| patch.confirmed_by)
        .collect();
    // Which one does not depend on the order of the set.
    let built = outcome
        .patches
        .iter()
        .position(|patch| patch.reached() == Some(Reached::Built));
    let built = built.expect("one is built");
    let wanted = [0, 1, 2, 3].map(|number| Some(built).filter(|_| number != built && number != 2));
    assert_eq!(by, wanted);
    assert_eq!(outcome.stats.builds, 1);
    let other = usize::from(built == 0);
    assert_eq!(outcome.patches[other].way, Some(Way::Woven));
    assert_eq!(
        outcome.patches[other].reached(),
        Some(Reached::Class(built))
    );
    assert_eq!(outcome.patches[2].reached(), Some(Reached::Woven));
    assert_eq!(outcome.stats.woven.unwrap().confirmed_by_others, 2);
    let names: Vec<&str> = outcome
        .stats
        .phases
        .iter()
        .map(|phase| phase.name)
        .collect();
    assert!(names.contains(&"weaving patches"), "{names:?}");
}

#[test]
#[ignore = "nightly: 2 s; hostile_patches_hurt_nobody goes this way"]
fn plausible_patches_of_different_functions_are_confirmed_by_one_build() {
    let place = Place::new();
    let mut patches = patches();
    patches.push(("call", in_calc(CALL, &CALL.replace("twice(a)", "a + a"))));
    let other = CALL.replace("twice(a)", "argc ? 2 * a : twice(a)");
    patches.push(("other", in_calc(CALL, &other)));
    let outcome = place
        .run(&patches, &woven(&place, Confirm::Together))
        .unwrap();
    assert_eq!(outcome.plausible(), 5);
    assert_eq!(outcome.stats.builds, 1);
    let woven = outcome.stats.woven.unwrap();
    assert_eq!(
        (woven.confirmed_together, woven.confirmed_by_others),
        (2, 3)
    );
    let together: Vec<usize> = (0..6)
        .filter(|number| outcome.patches[*number].reached() == Some(Reached::BuiltTogether))
        .collect();
    let [first, second] = together[..] else {
        panic!("{together:?}")
    };
    assert!(first < 4 && second >= 4);
    assert_eq!(outcome.patches[first].confirmed_with, [second]);
    assert_eq!(outcome.patches[second].confirmed_with, [first]);
    let other = 9 - second;
    assert_eq!(outcome.patches[other].confirmed_by, Some(second));
    assert_eq!(outcome.patches[other].way, Some(Way::Woven));
}

#[test]
#[ignore = "nightly: 2 s; hostile_patches_hurt_nobody goes this way"]
fn where_patches_do_not_pass_together_halves_of_them_may() {
    let place = Place::new();
    let helpers = "static int shifted(int a)\n{\n    return a - a;\n}\n\n\
        static int first(int x, int a)\n{\n    return a ? x : x;\n}\n\n\
        static int second(int x, int a)\n{\n    return x + a - a;\n}\n\nint main(";
    let call = CALL.replace("twice(a)", "second(first(twice(a) + shifted(a), a), a)");
    let source = CALC.replace("int main(", helpers).replace(CALL, &call);
    place.write("calc.c", &source);
    let patch = |old, new| replace("calc.c", &source, old, new);
    let patches = [
        // These two mend nothing when both are there.
        (
            "twice",
            patch("    return a * FACTOR;", "    return 2 * a;"),
        ),
        ("shifted", patch("    return a - a;", "    return -a;")),
        // These mend only what is wrong.
        (
            "first",
            patch(
                "    return a ? x : x;",
                "    return x == 3 * a ? 2 * a : x;",
            ),
        ),
        (
            "second",
            patch("    return x + a - a;", "    return x - 3 * a ? x : 2 * a;"),
        ),
    ];
    let outcome = place
        .run(&patches, &woven(&place, Confirm::Together))
        .unwrap();
    assert_eq!(words(&outcome), ["plausible"; 4]);
    // All four, and two halves that pass.
    assert_eq!(outcome.stats.builds, 3);
    for patch in &outcome.patches {
        assert_eq!(patch.confirmed_with.len(), 1);
    }
}

#[test]
#[ignore = "nightly: 2 s; hostile_patches_hurt_nobody goes this way"]
fn patches_that_do_not_pass_together_are_confirmed_one_by_one() {
    let place = Place::new();
    let body = "    return a * FACTOR;";
    let call = CALL.replace("twice(a)", "twice(a) - a * FACTOR + 2 * a");
    let patches = [
        ("twice", in_calc(body, "    return 2 * a;")),
        ("call", in_calc(CALL, &call)),
    ];
    let outcome = place
        .run(&patches, &woven(&place, Confirm::Together))
        .unwrap();
    assert_eq!(words(&outcome), ["plausible", "plausible"]);
    assert_eq!(outcome.stats.builds, 3);
    for patch in &outcome.patches {
        assert!(patch.confirmed_with.is_empty());
        assert_ne!(patch.way, Some(Way::Woven));
        assert!(patch.notes.is_empty(), "{:?}", patch.notes);
    }
}

#[test]
#[ignore = "nightly: 4 s; hostile_patches_hurt_nobody goes this way"]
fn each_plausible_patch_is_built_or_none_if_the_run_is_told_so() {
    let place = Place::new();
    for (confirm, builds) in [(Confirm::Each, 3), (Confirm::Never, 0)] {
        let outcome = place.run(&patches(), &woven(&place, confirm)).unwrap();
        assert_eq!(outcome.plausible(), 3);
        assert_eq!(outcome.stats.builds, builds, "{confirm:?}");
    }
}

#[test]
fn a_patch_that_does_what_the_untouched_program_does_needs_no_build() {
    let place = Place::new();
    // Without the test that fails, the untouched program is plausible.
    let flags = ProjectFlags {
        tests: ["add", "zero"].map(String::from).to_vec(),
        ..place.flags()
    };
    let outcome = place
        .run_with(
            &patches(),
            &woven(&place, Confirm::Classes),
            &flags,
            CancelToken::new().unwrap(),
            &|_| {},
        )
        .unwrap();
    assert_eq!(outcome.plausible(), 4);
    assert_eq!(outcome.stats.builds, 0);
}

#[test]
fn what_cannot_be_woven_and_does_not_compile_is_known_without_a_build() {
    let place = Place::new();
    let head = in_calc("static int twice(int a)", "static int twice(int -a)");
    let brace = in_calc("    return a * FACTOR;", "    return a * FACTOR; }");
    let outcome = place
        .run(
            &[("head", head), ("brace", brace)],
            &woven(&place, Confirm::Classes),
        )
        .unwrap();
    assert_eq!(words(&outcome), ["does not compile", "does not compile"]);
    assert_eq!(outcome.stats.builds, 0);
    for patch in &outcome.patches {
        let Some(PatchVerdict::DoesNotCompile(failure)) = &patch.verdict else {
            panic!("{:?}", patch.verdict);
        };
        let first = failure.first_error.as_deref().unwrap_or_default();
        assert!(first.starts_with("calc.c:"), "{first}");
    }
}

#[test]
fn hostile_patches_hurt_nobody() {
    let place = Place::new();
    let outside = place.root.join("project/calc.c");
    let body = "    return a * FACTOR;";
    let call = |code: &str| in_calc(body, &format!("    {code}\n    return a * 2;"));
    let patches = vec![
        ("removes", call("system(\"rm -rf $PWD/*\");")),
        (
            "writes",
            call(&format!("system(\"echo x > {}\");", outside.display())),
        ),
        (
            "beside",
            call("system(\"rm -f ../beside/kept; echo x > ../beside/new; rm -rf ../*\");"),
        ),
        (
            "daemon",
            call("if (fork() == 0) { setsid(); for (;;) pause(); }"),
        ),
        ("endless", call("for (;;) a++;")),
        ("forks", call("for (;;) fork();")),
        ("good", call(";")),
    ];
    let kept = place.root.join("beside/kept");
    fs::create_dir(place.root.join("beside")).unwrap();
    fs::write(&kept, "").unwrap();
    let before = place.state();
    for schemata in [false, true] {
        let options = ValidateOptions {
            schemata,
            ..place.quick()
        };
        let outcome = place.run(&patches, &options).unwrap();
        assert_eq!(place.state(), before);
        assert!(kept.exists() && !kept.with_file_name("new").exists());
        assert_eq!(
            words(&outcome)[4..],
            ["implausible", "implausible", "plausible"]
        );
        assert_eq!(fs::read_dir(place.root.join("scratch")).unwrap().count(), 0);
    }
}

/// What a patch leaves behind in a test that passes all the same must not reach the next patch.
#[test]
#[ignore = "nightly: 2 s; hostile_patches_hurt_nobody goes this way"]
fn a_patch_that_spoils_its_copy_does_not_spoil_others() {
    let place = Place::new();
    let spoils = |code: &str| {
        in_calc(
            "    return a + b;",
            &format!("    system(\"{code}\");\n    return a + b;"),
        )
    };
    let patches = vec![
        ("removes", spoils("rm -f $PWD/run.sh")),
        ("empties", spoils(": > $PWD/calc.c")),
        ("good", spoils("true")),
    ];
    let flags = ProjectFlags {
        tests: ["add", "zero"].map(String::from).to_vec(),
        ..place.flags()
    };
    let mut found = Vec::new();
    for schemata in [false, true] {
        let options = ValidateOptions {
            schemata,
            jobs: 1,
            ..place.options()
        };
        let fresh = CancelToken::new().unwrap();
        let outcome = place
            .run_with(&patches, &options, &flags, fresh, &|_| {})
            .unwrap();
        found.push(words(&outcome));
    }
    assert_eq!(found[0], ["implausible", "plausible", "plausible"]);
    assert_eq!(found[0], found[1]);
}

#[test]
#[ignore = "nightly: 2 s; hostile_patches_hurt_nobody goes this way"]
fn helpers_of_one_name_in_several_patches_do_not_meet() {
    let place = Place::new();
    let with_helper = |code: &str| {
        in_calc(
            "static int twice(int a)",
            &format!(
                "static int helper(int a)\n{{\n    return {code};\n}}\n\nstatic int twice(int a)"
            ),
        )
    };
    // The first changes nothing that runs; the second does not compile.
    let patches = [
        ("one", with_helper("a + 1")),
        ("other", with_helper("a + 2")),
        ("broken", with_helper("b")),
    ];
    let outcome = place
        .run(&patches, &woven(&place, Confirm::Classes))
        .unwrap();
    assert_eq!(
        words(&outcome),
        ["implausible", "implausible", "does not compile"]
    );
}
