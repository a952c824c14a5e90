//! What programs under test cannot change.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::path::Path;

use crate::common::{Folder, folder, program};
use patchwright_exec::{
    Baseline, BaselineOptions, CancelToken, Project, ProjectFlags, Rules, Scratch, Worker,
    WorkerOptions, record,
};

/// A project whose driver does this, with another folder beside it.
struct Fixture {
    around: Folder,
    scratch: Scratch,
    _base: Folder,
}

impl Fixture {
    fn new(driver: &str) -> Self {
        let (around, base) = (folder(), folder());
        around.script("project/driver", &format!("#!/bin/sh\n{driver}\n"));
        around.write("beside/kept", "kept");
        Fixture {
            around,
            scratch: Scratch::new(&base.path).unwrap(),
            _base: base,
        }
    }

    fn worker(&self, name: &str) -> Worker {
        let (program, project) = (program(), self.around.path.join("project"));
        let options = WorkerOptions {
            program: &program,
            scratch: &self.scratch,
            project: &project,
            source: &project,
            prepare: None,
            view: true,
            exclude: vec![],
            build_timeout: None,
            cancel: CancelToken::new().unwrap(),
        };
        Worker::start(0, name, &options).unwrap()
    }

    fn measured(&self, worker: &mut Worker, tests: &[&str]) -> Baseline {
        let flags = ProjectFlags {
            driver: Some("driver".into()),
            tests: tests.iter().map(|name| (*name).to_owned()).collect(),
            ..ProjectFlags::default()
        };
        let project = Project::load(&self.around.path.join("project"), &flags).unwrap();
        let suite = project.require_tests().unwrap();
        let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
        let options = BaselineOptions::default();
        Baseline::measure(runner, sandbox, suite, &options, |_| ()).unwrap()
    }

    fn beside(&self) -> Vec<String> {
        names(&self.around.path.join("beside"))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn what_lies_beside_a_copy_is_not_changed_and_the_copy_and_temporary_files_are() {
    let fixture = Fixture::new(
        "echo x > ../beside/new; rm -rf ../beside; mv ../beside ../moved; touch /usr/patchwright-test\n\
         echo x > own && f=$(mktemp) && echo x > $f && g=$(mktemp /tmp/XXXXXX) && echo x > $g && rm $g",
    );
    let mut worker = fixture.worker("worker");
    assert!(worker.runner.is_protected());
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert_eq!(baseline.passing().count(), 1, "{baseline:?}");
    assert_eq!(fixture.beside(), ["kept"]);
    assert!(worker.sandbox.folder().join("own").exists());
    assert!(!Path::new("/usr/patchwright-test").exists());
    let told = fixture.scratch.attempts().news();
    let around = fixture.around.path.display();
    for tried in [
        format!(
            "test a tried to change {around}/beside/new outside of the copy (openat, by driver)"
        ),
        format!(
            "test a tried to change {around}/beside/kept outside of the copy (unlinkat, by rm)"
        ),
        "test a tried to change /usr/patchwright-test".to_owned(),
    ] {
        assert!(
            told.iter().any(|told| told.starts_with(&tried)),
            "{tried}: {told:#?}"
        );
    }
}

#[test]
fn a_failing_test_is_not_run_without_protection_to_see_why_it_fails() {
    let fixture = Fixture::new(
        "case $1 in\n log) echo x > ../beside/log;;\n fails) rm ../beside/kept; exit 1;;\nesac",
    );
    let mut worker = fixture.worker("worker-0");
    let baseline = fixture.measured(&mut worker, &["fine", "log", "fails"]);
    let passing: Vec<&str> = baseline.passing().map(|test| test.name.as_str()).collect();
    assert_eq!(passing, ["fine"]);
    assert_eq!(fixture.beside(), ["kept"]);
    assert!(worker.runner.is_protected());
    let told = fixture.scratch.attempts().news().join("\n");
    assert!(
        told.contains("test log, which fails, tried to change"),
        "{told}"
    );
    assert!(told.contains("beside/log"), "{told}");
    assert!(told.contains("--allow-writes DIR"), "{told}");
}

#[test]
fn a_build_that_writes_outside_fails_and_is_not_repeated_without_protection() {
    let fixture = Fixture::new("exit 0");
    let mut worker = fixture.worker("worker");
    let command = "cd .. && rm -rf beside && echo x > beside";
    record::run_in_copy(&mut worker, command.as_ref()).unwrap_err();
    assert_eq!(fixture.beside(), ["kept"]);
    let told = fixture.scratch.attempts().news().join("\n");
    assert!(told.contains("the build tried to change"), "{told}");
    assert!(told.contains("beside/kept"), "{told}");
}

#[test]
fn what_the_user_allows_is_written_and_results_that_are_kept_in_it_are_not() {
    let mut fixture = Fixture::new(
        "cd ..\necho x > beside/log\necho x > beside/cache/state/journal\nmv beside/cache beside/moved\n\
         rm -rf beside/cache; mkdir beside/cache\nexit 0",
    );
    let state = fixture.around.write("beside/cache/state/journal", "kept");
    fixture.scratch.set_rules(Rules {
        allowed: vec![fixture.around.path.join("beside")],
        kept: vec![state.parent().unwrap().to_owned()],
        ..Rules::default()
    });
    let mut worker = fixture.worker("worker");
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert_eq!(baseline.passing().count(), 1, "{baseline:?}");
    assert_eq!(fixture.beside(), ["cache", "kept", "log"]);
    assert_eq!(fs::read_to_string(state).unwrap(), "kept");
}

#[test]
fn what_is_left_in_a_layer_that_is_thrown_away_can_be_forgotten() {
    let name = format!("/tmp/patchwright-left-{}", std::process::id());
    let fixture = Fixture::new(&format!("[ ! -e {name} ] || exit 1\necho x > {name}"));
    let mut worker = fixture.worker("worker");
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert!(baseline.tests[0].verdict.is_pass() && baseline.tests[0].flaky);
    worker.runner.forget_private();
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert!(baseline.tests[0].verdict.is_pass(), "{baseline:?}");
    assert!(!Path::new(&name).exists());
}

#[test]
fn only_the_user_switches_protection_off() {
    let mut fixture = Fixture::new("echo x > ../beside/log");
    fixture.scratch.set_rules(Rules {
        unprotected: true,
        ..Rules::default()
    });
    let mut worker = fixture.worker("worker");
    assert!(!worker.runner.is_protected());
    fixture.measured(&mut worker, &["a"]);
    assert_eq!(fixture.beside(), ["kept", "log"]);
}
