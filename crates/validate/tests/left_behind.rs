//! Tests that leave files for later tests, and patches that do: woven together they get the verdicts that they get by
//! themselves. And patches that end what runs them.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, replace};
use patchwright_exec::{CancelToken, ProjectFlags};
use patchwright_validate::{Confirm, PatchVerdict, ValidateOptions, Validation, Way};

/// Saves a number in a file, and loads it; without the file it loads what the untouched program would have saved.
const STORE: &str = "\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int scale(int v)
{
    return v * 2;
}

static int save(int v)
{
    FILE *f = fopen(\"state.txt\", \"w\");
    fprintf(f, \"%d\\n\", scale(v));
    fclose(f);
    return 0;
}

static int load(void)
{
    int v;
    FILE *f = fopen(\"state.txt\", \"r\");
    if (!f)
        return 42;
    if (fscanf(f, \"%d\", &v) != 1)
        v = -2;
    fclose(f);
    return v;
}

static void note(void)
{
    FILE *f = fopen(\"log.txt\", \"a\");
    fprintf(f, \"process %d\\n\", (int)getpid());
    fclose(f);
}

static int plain(int v)
{
    return scale(v);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    if (!strcmp(what, \"save\"))
        return save(atoi(argv[2]));
    if (!strcmp(what, \"load\"))
        printf(\"%d\\n\", load());
    if (!strcmp(what, \"note\"))
        note();
    if (!strcmp(what, \"plain\"))
        printf(\"%d\\n\", plain(atoi(argv[2])));
    return 0;
}
";

/// How the tests are described.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tests {
    Cases,
    Driver,
}

/// A place with the program and tests of these names, arguments and outputs.
fn store(how: Tests, tests: &[(&str, &str, &str)]) -> (Place, ProjectFlags) {
    let place = Place::new();
    for old in ["calc.c", "twice.h", "run.sh"] {
        fs::remove_file(place.project_folder().join(old)).unwrap();
    }
    place.write("store.c", STORE);
    place.write("Makefile", "store: store.c\n\tcc -w -o store store.c\n");
    let mut flags = ProjectFlags {
        build: Some("make -s".into()),
        ..ProjectFlags::default()
    };
    match how {
        Tests::Cases => {
            fs::create_dir(place.project_folder().join("cases")).unwrap();
            for (name, arguments, output) in tests {
                place.write(&format!("cases/{name}.args"), arguments);
                place.write(&format!("cases/{name}.out"), output);
            }
            flags.program = Some("store".into());
            flags.cases = Some("cases".into());
        }
        Tests::Driver => {
            let mut driver = "#!/bin/sh\ncase $1 in\n".to_owned();
            for (name, arguments, output) in tests {
                let output = output.trim_end();
                driver += &format!("{name}) test \"$(./store {arguments})\" = '{output}' ;;\n");
                flags.tests.push((*name).to_owned());
            }
            let driver = place.write("run.sh", &(driver + "*) exit 2 ;;\nesac\n"));
            fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
            flags.driver = Some("run.sh".into());
        }
    }
    (place, flags)
}

fn in_store(old: &str, new: &str) -> String {
    replace("store.c", STORE, old, new)
}

fn run(
    (place, flags): &(Place, ProjectFlags),
    patches: &[(&str, String)],
    options: &ValidateOptions,
) -> Validation {
    let cancel = CancelToken::new().unwrap();
    let outcome = place
        .run_with(patches, options, flags, cancel, &|_| {})
        .unwrap();
    assert_eq!(fs::read_dir(place.root.join("scratch")).unwrap().count(), 0);
    outcome
}

fn woven(outcome: &Validation) -> &patchwright_validate::WovenStats {
    outcome.stats.woven.as_ref().unwrap()
}

/// Verdicts, and the tests that speak against patches.
fn verdicts(outcome: &Validation) -> Vec<(&'static str, &str)> {
    let name = |test: usize| &outcome.tests.names[test][..];
    let patches = outcome.patches.iter();
    patches
        .map(|patch| match patch.verdict.as_ref().unwrap() {
            PatchVerdict::Implausible(killer) => ("implausible", name(killer.test)),
            PatchVerdict::Unstable(killer) => ("unstable", name(killer.test)),
            other => (other.word(), ""),
        })
        .collect()
}

/// The verdicts of patches, which are the same in every way to find them.
fn same_verdicts(
    project: &(Place, ProjectFlags),
    patches: &[(&str, String)],
) -> Vec<(&'static str, String)> {
    let mut found = None;
    for keep_going in [false, true] {
        let ways = [
            (false, true, true),
            (true, true, true),
            (true, false, true),
            (true, true, false),
        ];
        // How woven programs are executed is the same question in both.
        for (schemata, dedup, virtualize) in ways.into_iter().take(if keep_going { 2 } else { 4 }) {
            let options = ValidateOptions {
                schemata,
                dedup,
                virtualize,
                keep_going,
                jobs: 2,
                ..project.0.options()
            };
            let outcome = run(project, patches, &options);
            let verdicts: Vec<_> = verdicts(&outcome)
                .into_iter()
                .map(|(verdict, test)| (verdict, test.to_owned()))
                .collect();
            let results: Vec<_> = outcome.patches.iter().map(|patch| &patch.tests).collect();
            let expected = found.get_or_insert_with(|| verdicts.clone());
            assert_eq!(
                *expected, verdicts,
                "schemata {schemata}, dedup {dedup}, virtualize {virtualize}, keep going {keep_going}: {results:?}"
            );
        }
    }
    found.unwrap()
}

fn of_one_state() -> Vec<(&'static str, String)> {
    let missing = "        return 42;";
    vec![
        ("add", in_store("    return v * 2;", "    return v + v;")),
        ("default-1", in_store(missing, "        return -1;")),
        ("default-abort", in_store(missing, "        abort();")),
        ("default-exit", in_store(missing, "        exit(9);")),
        ("times3", in_store("    return v * 2;", "    return v * 3;")),
    ]
}

const SAVE: (&str, &str, &str) = ("a_save", "save 21", "");
const LOAD: (&str, &str, &str) = ("b_load", "load", "42\n");
const NONE: (&str, &str, &str) = ("c_none", "none", "");

#[test]
#[ignore = "nightly: 25 s; the others of this file leave files too"]
fn a_test_finds_what_the_tests_of_the_same_patch_before_it_have_left() {
    for how in [Tests::Cases, Tests::Driver] {
        let project = store(how, &[SAVE, LOAD, NONE]);
        let found = same_verdicts(&project, &of_one_state());
        let found: Vec<&str> = found.iter().map(|(verdict, _)| *verdict).collect();
        let expected = [
            "plausible",
            "plausible",
            "plausible",
            "plausible",
            "implausible",
        ];
        assert_eq!(found, expected, "{how:?}");
    }
}

#[test]
fn only_patches_that_leave_something_else_are_validated_by_themselves() {
    let project = store(Tests::Cases, &[SAVE, LOAD, NONE]);
    let options = ValidateOptions {
        schemata: true,
        ..project.0.options()
    };
    let outcome = run(&project, &of_one_state(), &options);
    let apart = &woven(&outcome).apart;
    assert_eq!(
        apart.iter().collect::<Vec<_>>(),
        [(
            &"leaves other files behind than the untouched program".to_owned(),
            &1
        )]
    );
    assert_eq!(outcome.patches[0].way, Some(Way::Woven));
    assert_eq!(outcome.patches[0].confirmed_by, None);
    // Those that did what the untouched program does need none: a call of abort() or exit() is not compared.
    // Those two are of one function, and all their tests ended alike.
    assert_eq!(outcome.patches[3].confirmed_by, Some(2));
    assert_eq!(outcome.stats.builds, 2);
    assert_ne!(outcome.patches[4].way, Some(Way::Woven));
}

#[test]
#[ignore = "nightly: 11 s; a_resumed_run_knows_that_tests_leave_something goes this way"]
fn a_file_that_one_test_leaves_and_another_removes_is_met_by_those_between() {
    let mut project = store(Tests::Driver, &[SAVE, LOAD, NONE]);
    let driver = project.0.project_folder().join("run.sh");
    let text = fs::read_to_string(&driver).unwrap();
    let cleans = "z_clean) rm -f state.txt ;;\n*) exit";
    fs::write(&driver, text.replace("*) exit", cleans)).unwrap();
    project.1.tests.push("z_clean".into());
    let found = same_verdicts(&project, &of_one_state());
    assert_eq!(found[1].0, "plausible");
    assert_eq!(found[4], ("implausible", "b_load".to_owned()));
}

#[test]
#[ignore = "nightly: 15 s; the other tests of this file leave files too"]
fn a_log_with_process_numbers_keeps_no_patch_from_being_woven() {
    let tests = [
        ("a_note", "note", ""),
        ("b_note", "note", ""),
        ("c_plain", "plain 4", "8\n"),
    ];
    let patches = [
        ("add", in_store("    return v * 2;", "    return v + v;")),
        ("other", in_store("    return scale(v);", "    return 8;")),
        ("wrong", in_store("    return v * 2;", "    return v * 3;")),
    ];
    for how in [Tests::Cases, Tests::Driver] {
        let project = store(how, &tests);
        let found = same_verdicts(&project, &patches);
        assert_eq!(found[0].0, "plausible");
        assert_eq!(found[2], ("implausible", "c_plain".to_owned()));
        let options = ValidateOptions {
            schemata: true,
            ..project.0.options()
        };
        let outcome = run(&project, &patches, &options);
        assert!(woven(&outcome).apart.is_empty(), "{:?}", woven(&outcome));
        // One patch did something else than the untouched program, and its verdict was confirmed.
        assert_eq!(outcome.stats.builds, 1, "{how:?}");
    }
}

/// Of plausible patches the tests are run twice, also of those that do what the untouched program does.
#[test]
#[ignore = "nightly: 14 s; the others of this file leave files too"]
fn a_patch_that_fails_when_its_tests_are_run_once_more_is_unstable_woven_or_not() {
    let project = store(
        Tests::Cases,
        &[("a_load", "load", "42\n"), ("b_save", "save 21", "")],
    );
    let patches = [
        ("same", in_store("    return v;", "    return v + 0;")),
        ("more", in_store("    return v;", "    return v + 1;")),
        ("twice", in_store("    return v * 2;", "    return v * 3;")),
    ];
    let found = same_verdicts(&project, &patches);
    let unstable = ("unstable", "a_load".to_owned());
    assert_eq!(found[0].0, "plausible");
    assert_eq!(found[1..], [unstable.clone(), unstable]);
    let options = ValidateOptions {
        schemata: true,
        confirm: Confirm::Never,
        ..project.0.options()
    };
    assert_eq!(run(&project, &patches, &options).plausible(), 3);
}

#[test]
#[ignore = "nightly: 12 s; the others of this file leave files too"]
fn a_patch_that_leaves_a_file_where_the_untouched_program_leaves_none_meets_it() {
    let tests = [
        ("a_plain", "plain 4", "8\n"),
        ("b_plain", "plain 5", "10\n"),
    ];
    let body = "    return scale(v);";
    let leave = |code: &str| {
        in_store(
            body,
            &format!("    FILE *f;\n    {code}\n    fclose(f);\n{body}"),
        )
    };
    let patches = [
        (
            "exclusive",
            leave("if (fopen(\"left\", \"r\")) exit(7); f = fopen(\"left\", \"w\");"),
        ),
        (
            "third",
            leave("f = fopen(\"left\", \"a\"); fputc(1, f); if (ftell(f) > 2) exit(7);"),
        ),
        (
            "fifth",
            leave("f = fopen(\"left\", \"a\"); fputc(1, f); if (ftell(f) > 4) exit(7);"),
        ),
        ("fine", in_store(body, "    return v + v;")),
    ];
    let project = store(Tests::Cases, &tests);
    let found = same_verdicts(&project, &patches);
    assert_eq!(found[0], ("implausible", "b_plain".to_owned()));
    assert_eq!(found[1], ("unstable", "a_plain".to_owned()));
    assert_eq!([found[2].0, found[3].0], ["plausible"; 2]);
}

#[test]
fn a_resumed_run_knows_that_tests_leave_something() {
    let project = store(Tests::Cases, &[SAVE, LOAD, NONE]);
    let patches = of_one_state();
    let with_journal = |resume| ValidateOptions {
        schemata: true,
        journal: project.0.journal(resume),
        ..project.0.options()
    };
    run(&project, &patches[..1], &with_journal(false));
    let outcome = run(&project, &patches, &with_journal(true));
    assert!(outcome.patches[0].resumed);
    assert_eq!(verdicts(&outcome)[1].0, "plausible");
    assert_eq!(verdicts(&outcome)[4], ("implausible", "b_load"));
}

#[test]
#[ignore = "nightly: 6 s; a_resumed_run_knows_that_tests_leave_something goes this way"]
fn a_patch_that_ends_what_runs_it_takes_no_other_with_it() {
    let body = "    return scale(v);";
    let call = |code: &str| in_store(body, &format!("    {code}\n{body}"));
    let patches = [
        ("add", in_store("    return v * 2;", "    return v + v;")),
        ("kills", call("kill(getppid(), 9);")),
        ("kills-too", call("if (v == 5) kill(getppid(), SIGKILL);")),
        ("wrong", in_store("    return v * 2;", "    return v * 3;")),
        ("eight", in_store(body, "    return 8 + 2 * (v == 5);")),
    ];
    let tests = [
        ("a_plain", "plain 4", "8\n"),
        ("b_plain", "plain 5", "10\n"),
    ];
    let project = store(Tests::Cases, &tests);
    for virtualize in [false, true] {
        let mut found = Vec::new();
        for schemata in [false, true] {
            let options = ValidateOptions {
                schemata,
                virtualize,
                ..project.0.options()
            };
            let outcome = run(&project, &patches, &options);
            let words: Vec<_> = verdicts(&outcome).into_iter().map(|one| one.0).collect();
            found.push(words);
            if schemata {
                let ways = [0, 3].map(|patch: usize| outcome.patches[patch].way);
                assert_eq!(ways, [Some(Way::Woven); 2]);
                let apart = &woven(&outcome).apart;
                // In a process namespace of its own the supervisor is out of reach.
                let reasons: Vec<&str> = apart.keys().map(|reason| &**reason).collect();
                assert!(
                    reasons.is_empty() || reasons == ["ends what runs it"],
                    "{apart:?}"
                );
            }
        }
        assert_eq!(found[0], found[1], "virtualize {virtualize}");
        assert_eq!([found[0][0], found[0][4]], ["plausible"; 2]);
        assert_eq!(found[0][3], "implausible");
    }
}
