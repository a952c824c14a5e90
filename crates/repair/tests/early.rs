//! Patches that are verified while the search goes on.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::{
    fs,
    path::Path,
    sync::{Mutex, atomic::AtomicBool, atomic::Ordering},
};

use patchwright_exec::{CancelToken, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{Event, RepairOptions, RepairOutcome, Surroundings, repair};
use patchwright_space::SpaceLimits;

const AGES: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int is_adult(int age) { return age > 18; }

int main(int argc, char **argv) {
  int age = atoi(argv[1]), sum = 0;
  for (int i = 0; i < age; i++)
    sum += i * age % 7;
  printf("%d %d\n", is_adult(age), sum);
  return 0;
}
"#;

const CASES: [(&str, &str); 4] = [
    ("3", "0 9\n"),
    ("17", "0 51\n"),
    ("18", "1 52\n"),
    ("19", "1 57\n"),
];

/// Behind the list of its arguments, it finds what it should find.
const MARK: &str = r#"#include <stdio.h>

int main(int argc, char **argv) {
  const char *text = argv[1];
  int far = 40, at = 0;
  printf("%d\n", text[at] == 'x');
  return far - 38 - argc + at;
}
"#;

const MARKS: [(&str, &str); 3] = [("xa", "0\n"), ("xb", "0\n"), ("ab", "0\n")];

/// Repairs the program about ages. `listen` may end the run.
fn repaired(
    change: impl Fn(&mut RepairOptions),
    listen: &(dyn Fn(&Event, &CancelToken) + Sync),
) -> RepairOutcome {
    repaired_program(AGES, &CASES, change, listen)
}

/// Repairs a program with cases: arguments, and what is expected.
fn repaired_program(
    text: &str,
    tests: &[(&str, &str)],
    change: impl Fn(&mut RepairOptions),
    listen: &(dyn Fn(&Event, &CancelToken) + Sync),
) -> RepairOutcome {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let cases = folder.join("cases");
    fs::create_dir(&cases).unwrap();
    for (number, (arguments, expected)) in tests.iter().enumerate() {
        fs::write(cases.join(format!("{number}.args")), arguments).unwrap();
        fs::write(cases.join(format!("{number}.out")), expected).unwrap();
    }
    let file = folder.join("ages.c");
    fs::write(&file, text).unwrap();
    let temporary = folder.join("scratch");
    fs::create_dir(&temporary).unwrap();
    let scratch = Scratch::new(Path::new(&temporary)).unwrap();
    let flags = ProjectFlags::default();
    let project = Project::single_file(&file, &cases, &[], &scratch, &flags).unwrap();
    let program = RunnerProgram::this_binary();
    let cancel = CancelToken::new().unwrap();
    let events = |event: Event| listen(&event, &cancel);
    let mut options = RepairOptions {
        jobs: 2,
        scrutinize: false,
        space: SpaceLimits {
            wanted: 300,
            term_size: 3,
            ..Default::default()
        },
        ..Default::default()
    };
    change(&mut options);
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: cancel.clone(),
        events: &events,
    };
    repair(&project, &options, &surroundings).unwrap()
}

#[test]
fn a_patch_is_verified_while_the_search_goes_on_and_an_interruption_keeps_it() {
    let (early, verifying) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    // All candidates would take much longer.
    let outcome = repaired(|options| options.all = true, &|event, cancel| match event {
        Event::Phase("verifying patches on a clean copy") => {
            verifying.store(true, Ordering::SeqCst);
        }
        Event::Passed { patch, .. } => {
            assert!(!verifying.load(Ordering::SeqCst));
            early.lock().unwrap().push(patch.diff.clone());
            cancel.cancel();
        }
        _ => {}
    });
    let early = early.into_inner().unwrap();
    assert!(outcome.stats.interrupted);
    assert!(!early.is_empty());
    for diff in early {
        assert!(outcome.patches.iter().any(|patch| patch.diff == diff));
    }
}

#[test]
#[ignore = "nightly: 4 s; a_patch_is_verified_while_the_search_goes_on_and_an_interruption_keeps_it goes this way"]
fn what_is_verified_early_changes_nothing_in_the_report() {
    let reported = |early: bool| -> Vec<(Vec<u8>, usize)> {
        let outcome = repaired(
            |options| (options.early, options.max_cost) = (early, 1),
            &|_, _| {},
        );
        let patches = outcome.patches.into_iter();
        patches.map(|patch| (patch.diff, patch.class)).collect()
    };
    let late = reported(false);
    assert!(!late.is_empty());
    assert_eq!(reported(true), late);
}

#[test]
#[ignore = "nightly: 3 s; a_patch_is_verified_while_the_search_goes_on_and_an_interruption_keeps_it goes this way"]
fn an_interruption_before_anything_is_verified_verifies_the_best_of_what_was_found() {
    let finishing = AtomicBool::new(false);
    let outcome = repaired(
        |options| {
            options.early = false;
            options.all = true;
        },
        &|event, cancel| match event {
            Event::Search { plausible: 1.., .. } => cancel.cancel(),
            Event::Finishing(_) => finishing.store(true, Ordering::SeqCst),
            _ => {}
        },
    );
    assert!(outcome.stats.interrupted);
    assert!(finishing.into_inner());
    assert_eq!(outcome.patches.len(), 1);
    assert!(outcome.stats.unverified > 0 || outcome.stats.plausible_classes == 1);
}

#[test]
#[ignore = "nightly: 19 s; the sanitizers' word is tested by undefined_behaviour, early verification by the others of this file"]
fn a_patch_that_reads_behind_the_arguments_is_not_told_as_one_that_passes() {
    let reads_outside = |diff: &[u8]| String::from_utf8_lossy(diff).contains("= argv[3");
    let told = Mutex::new(Vec::new());
    let outcome = |scrutinize: bool| {
        repaired_program(
            MARK,
            &MARKS,
            |options| {
                (options.scrutinize, options.max_cost, options.max_patches) = (scrutinize, 1, 100);
            },
            &|event, _| {
                if let (Event::Passed { patch, .. }, true) = (event, scrutinize) {
                    told.lock().unwrap().push(patch.diff.clone());
                }
            },
        )
    };
    let careless = outcome(false);
    assert!(
        careless
            .patches
            .iter()
            .any(|patch| reads_outside(&patch.diff))
    );
    let careful = outcome(true);
    assert!(!careful.patches.is_empty());
    let told = told.into_inner().unwrap();
    let patches = careful.patches.iter().map(|patch| &patch.diff);
    assert!(!patches.chain(&told).any(|diff| reads_outside(diff)));
}
