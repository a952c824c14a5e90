//! A repair that was killed goes on where it was.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{fs, os::unix::process::ExitStatusExt, process::Command};

use crate::common::{Place, stderr, stdout};

/// A project whose driver counts its calls, and kills Patchwright at the call that `kill` names.
fn project() -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    let root = place.root.display();
    fs::create_dir(place.root.join("counts")).unwrap();
    place.script(
        "driver",
        &format!(
            "#!/bin/sh\necho $1 >>'{root}/counts/calls'\n\
             if [ -e '{root}/kill' ] && [ \"$(wc -l <'{root}/counts/calls')\" -eq \"$(cat '{root}/kill')\" ]; then\n\
             echo >'{root}/counts/asked'\nsleep 1000\nfi\n\
             case $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
             more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\n\
             *) exit 2 ;;\nesac\n"
        ),
    );
    place
}

/// Repairs it with one worker.
fn repair(place: &Place, more: &[&str]) -> Command {
    let arguments = [
        "repair",
        "--no-cache",
        "project",
        "--build",
        "cc -o max max.c",
        "--driver",
        "./driver",
        "--tests",
        "less",
        "more",
        "same",
        "--json",
        "-j",
        "1",
        "--max-cost",
        "2",
        "--all",
        "--allow-writes",
        "counts",
    ];
    let program = place.patchwright([""; 0]);
    let mut command = Command::new(program.get_program());
    command
        .args(arguments)
        .args(more)
        .current_dir(&place.root)
        // How many variables there are moves what candidates read that read behind arguments.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

fn calls(place: &Place) -> usize {
    fs::read_to_string(place.root.join("counts/calls"))
        .unwrap()
        .lines()
        .count()
}

/// What does not depend on how long something took, and on which run has executed what.
fn settled(output: &std::process::Output) -> (serde_json::Value, u64) {
    let mut report: serde_json::Value = serde_json::from_str(&stdout(output)).unwrap();
    let stats = report["stats"].as_object_mut().unwrap();
    let resumed = stats.remove("resumed").unwrap().as_u64().unwrap();
    for name in ["milliseconds", "peak_memory_bytes"] {
        stats
            .remove(name)
            .unwrap_or_else(|| panic!("{name} is in {stats:?}"));
    }
    (report, resumed)
}

#[test]
#[ignore = "nightly: 14 s; a killed run of `validate` is resumed by default"]
fn a_killed_search_that_is_resumed_executes_nothing_twice_and_finds_the_same() {
    let place = project();
    let output = repair(&place, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = calls(&place);
    let (expected, resumed) = settled(&output);
    assert_eq!(resumed, 0);
    let executions = expected["stats"]["executions"].as_u64().unwrap();
    assert!(executions > 4, "{expected}");

    // The untouched program's tests run twice; all once with marks, for a driver may keep a
    // crash to itself; and the woven program's once before the search.
    let preparation = 4 * 3;
    let known = 4;
    fs::write(
        place.root.join("kill"),
        (preparation + known + 1).to_string(),
    )
    .unwrap();
    fs::remove_file(place.root.join("counts/calls")).unwrap();
    let asked = place.root.join("counts/asked");
    let made = Command::new("mkfifo").arg(&asked).status().unwrap();
    assert!(made.success());
    let mut killed = repair(&place, &[]).spawn().unwrap();
    // Opens only when the test is running.
    fs::read(&asked).unwrap();
    killed.kill().unwrap();
    assert_eq!(killed.wait().unwrap().signal(), Some(9));
    fs::remove_file(place.root.join("kill")).unwrap();
    fs::remove_file(place.root.join("counts/calls")).unwrap();

    let output = repair(&place, &["--resume"]).output().unwrap();
    let (found, resumed) = settled(&output);
    assert_eq!(found, expected);
    assert_eq!(resumed, known);
    // The baseline is known, too.
    assert_eq!(calls(&place), whole - 6 - known as usize);
    // What is finished is not kept.
    let cache = place.root.join("cache/patchwright/repair");
    assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
}

#[test]
#[ignore = "nightly: 7 s; a_killed_search_that_is_resumed_executes_nothing_twice_and_finds_the_same goes the same way"]
fn without_a_run_to_resume_it_starts_from_the_beginning() {
    let place = project();
    let output = repair(&place, &["--resume", "--state", "kept"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(settled(&output).1, 0);
}
