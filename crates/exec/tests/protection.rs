//! What programs under test cannot change.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, folder, program};
use patchwright_exec::{
    Baseline, BaselineOptions, CancelToken, Project, ProjectFlags, Scratch, Worker, WorkerOptions,
    record,
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
        "echo x > ../beside/new; rm -rf ../beside; mv ../beside ../moved; touch \"$HOME/.patchwright-test\" /usr/patchwright-test\n\
         echo x > own && f=$(mktemp) && echo x > $f && g=$(mktemp /tmp/XXXXXX) && echo x > $g && rm $g",
    );
    let mut worker = fixture.worker("worker");
    assert!(
        worker.runner.is_protected(),
        "{:?}",
        worker.runner.view_status()
    );
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert_eq!(baseline.passing().count(), 1, "{baseline:?}");
    assert!(!baseline.writes_outside && baseline.unprotected().is_none());
    assert_eq!(fixture.beside(), ["kept"]);
    assert!(worker.sandbox.folder().join("own").exists());
    let home = std::env::var_os("HOME").unwrap_or_default();
    assert!(!Path::new(&home).join(".patchwright-test").exists());
    assert!(!Path::new("/usr/patchwright-test").exists());
}

#[test]
fn tests_that_pass_only_if_they_write_outside_do_so_in_the_whole_run() {
    let fixture =
        Fixture::new("case $1 in\n log) echo x > ../beside/log;;\n fails) exit 1;;\nesac");
    let mut worker = fixture.worker("worker-0");
    let baseline = fixture.measured(&mut worker, &["fine", "log", "fails"]);
    assert!(baseline.writes_outside && baseline.unprotected().is_some());
    let passing: Vec<&str> = baseline.passing().map(|test| test.name.as_str()).collect();
    assert_eq!(passing, ["fine", "log"]);
    assert_eq!(fixture.beside(), ["kept", "log"]);
    assert!(!worker.runner.is_protected());
    assert!(!fixture.worker("worker-1").runner.is_protected());
}

#[test]
fn a_build_that_writes_outside_is_done_again_without_protection() {
    let fixture = Fixture::new("exit 0");
    let mut worker = fixture.worker("worker");
    record::run_in_copy(&mut worker, "echo x > ../beside/built".as_ref()).unwrap();
    assert_eq!(fixture.beside(), ["built", "kept"]);
    let baseline = fixture.measured(&mut worker, &["a"]);
    assert!(baseline.writes_outside);
}

#[test]
fn a_tree_that_was_built_before_tells_what_its_build_needs_when_something_is_compiled() {
    let fixture = Fixture::new("exit 0");
    let make = "prog: a.c\n\techo x > ../beside/cache\n\tcp a.c prog\n";
    for (name, text) in [("Makefile", make), ("a.c", ""), ("prog", "")] {
        fixture.around.write(&format!("project/{name}"), text);
    }
    let mut worker = fixture.worker("worker");
    record::run_in_copy(&mut worker, "make".as_ref()).unwrap();
    assert!(worker.runner.is_protected());
    let mut told = Vec::new();
    let mut tell = |text| told.push(text);
    record::try_new_text(&mut worker, Path::new("a.c"), "make".as_ref(), &mut tell).unwrap();
    assert!(!worker.runner.is_protected());
    assert_eq!(told.len(), 1);
    assert_eq!(fixture.beside(), ["cache", "kept"]);
}
