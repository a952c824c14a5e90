//! A later run on the same files knows what an earlier one has found out about the untouched program.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start processes"
)]

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use patchwright_exec::{Cache, CancelToken, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{Event, Kept, RepairOptions, RepairOutcome, Surroundings, repair};

/// Runs a repair; with it the notes.
fn run(
    folder: &std::path::Path,
    tests: &[&str],
    kept: Option<Kept>,
) -> (RepairOutcome, Vec<String>) {
    let flags = ProjectFlags {
        build: Some("make -s prog".into()),
        driver: Some("./test.sh".into()),
        tests: tests.iter().map(|name| (*name).to_owned()).collect(),
        ..ProjectFlags::default()
    };
    let project = Project::load(&folder.join("project"), &flags).unwrap();
    let scratch = Scratch::new(&folder.join("scratch")).unwrap();
    let notes = Mutex::new(Vec::new());
    let surroundings = Surroundings {
        program: &RunnerProgram::this_binary(),
        scratch: &scratch,
        cancel: CancelToken::new().unwrap(),
        events: &|event| {
            if let Event::Note(text) = event {
                notes.lock().unwrap().push(text);
            }
        },
    };
    let options = RepairOptions {
        kept,
        first: true,
        max_cost: 1,
        scrutinize: false,
        ..RepairOptions::default()
    };
    let outcome = repair(&project, &options, &surroundings).unwrap();
    (outcome, notes.into_inner().unwrap())
}

fn diffs(outcome: &RepairOutcome) -> Vec<String> {
    let text = |patch: &patchwright_repair::Patch| String::from_utf8(patch.diff.clone()).unwrap();
    outcome.patches.iter().map(text).collect()
}

#[test]
fn a_second_run_takes_over_the_build_and_the_verdicts_and_finds_the_same() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let project = folder.join("project");
    for name in ["project", "scratch"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n\
                  int a = atoi(argv[1]);\n  if (a > 3)\n    puts(\"large\");\n  else\n    puts(\"small\");\n  return argc - 2;\n}\n";
    let makefile = "prog: prog.c\n\t$(CC) -o $@ prog.c\n";
    let driver = "#!/bin/sh\ncase $1 in\n  one) [ \"$(./prog 1)\" = small ] ;;\n  three) [ \"$(./prog 3)\" = large ] ;;\n  \
                  nine) [ \"$(./prog 9)\" = large ] ;;\nesac\n";
    for (name, text) in [
        ("prog.c", source),
        ("Makefile", makefile),
        ("test.sh", driver),
    ] {
        fs::write(project.join(name), text).unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(project.join("test.sh"), mode).unwrap();
    let kept = Kept {
        cache: Arc::new(Cache::open(&folder.join("cache"), 1 << 26).unwrap()),
        least: Duration::ZERO,
    };
    let names = ["one", "three"];
    let (alone, _) = run(&folder, &names, None);
    let (first, told) = run(&folder, &names, Some(kept.clone()));
    assert!(
        !told.iter().any(|note| note.contains("an earlier run")),
        "{told:?}"
    );
    let (second, told) = run(&folder, &names, Some(kept.clone()));
    let knew =
        "an earlier run on the same files has left what the build made and the verdicts of 2 tests";
    assert!(told.iter().any(|note| note.starts_with(knew)), "{told:?}");
    assert!(!diffs(&alone).is_empty());
    assert_eq!(diffs(&alone), diffs(&first));
    assert_eq!(diffs(&first), diffs(&second));
    // Only the test that is new has to be run.
    let (_, told) = run(&folder, &["one", "three", "nine"], Some(kept.clone()));
    let knew =
        "an earlier run on the same files has left what the build made and the verdicts of 2 tests";
    assert!(told.iter().any(|note| note.starts_with(knew)), "{told:?}");
    assert!(
        told.iter().any(|note| note.contains("of 3 tests")),
        "{told:?}"
    );
    // Another program is not the same one.
    fs::write(project.join("prog.c"), source.replace("a > 3", "3 < a")).unwrap();
    let (_, told) = run(&folder, &names, Some(kept));
    assert!(
        !told.iter().any(|note| note.contains("an earlier run")),
        "{told:?}"
    );
}
