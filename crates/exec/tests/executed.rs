//! Which sources tests execute, seen by breakpoints in the programs of a copy.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start processes"
)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use patchwright_exec::runner::Environment;
use patchwright_exec::{
    CancelToken, Project, ProjectFlags, Scratch, Worker, WorkerOptions, all_sources,
    executed_sources, files, record_build, run_test,
};

use crate::common::{Folder, folder, program, seconds};

/// A shell program for each test starts a program of two sources of four; a library is loaded by it, and a last source is not linked.
fn project() -> Folder {
    let project = folder();
    project.write("main.c", "int first(int); int loaded(int); int main(int n, char **a) { return n > 1 ? loaded(n) : first(n); }\n");
    project.write(
        "first.c",
        "int helper(int n) { return n - 1; }\nint first(int n) { return helper(n); }\n",
    );
    project.write(
        "loaded.c",
        "static int own(int n) { return n; }\nint loaded(int n) { return own(n); }\n",
    );
    project.write(
        "other.c",
        "static int own(int n) { return n; }\nint other(int n) { return own(n); }\n",
    );
    project.write(
        "Makefile",
        "prog: main.o first.o other.o libloaded.so\n\t$(CC) -o $@ main.o first.o other.o -L. -lloaded -Wl,-rpath,'$$ORIGIN'\n\
         libloaded.so: loaded.c\n\t$(CC) -fPIC -c loaded.c -o loaded.o && $(CC) -shared -o $@ loaded.o\n\
         %.o: %.c\n\t$(CC) -O0 -c $< -o $@\n",
    );
    project.script(
        "test.sh",
        "#!/bin/sh\ncase $1 in\n  plain) ./prog ;;\n  lib) (./prog more); ./prog more & wait $! ;;\n  \
         copied) cp prog new && ./new && rm new ;;\n  none) true ;;\nesac\n",
    );
    project
}

fn sources_of(wanted: &[&str]) -> Option<BTreeSet<PathBuf>> {
    let (project, base) = (project(), folder());
    let scratch = Scratch::new(&base.path).unwrap();
    let flags = ProjectFlags {
        build: Some("make -s prog".into()),
        driver: Some("./test.sh".into()),
        tests: ["plain", "lib", "copied", "none"]
            .map(String::from)
            .to_vec(),
        ..ProjectFlags::default()
    };
    let loaded = Project::load(&project.path, &flags).unwrap();
    let suite = loaded.require_tests().unwrap();
    let program = program();
    let cancel = CancelToken::new().unwrap();
    let options = WorkerOptions::new(&loaded, &project.path, &program, &scratch, &cancel);
    let mut worker = Worker::start(0, "worker", &options).unwrap();
    let commands = record_build(&mut worker, &loaded).unwrap();
    let sources: Vec<_> = all_sources(&commands, &worker.sandbox)
        .into_iter()
        .collect();
    assert_eq!(sources.len(), 4);
    let chosen: Vec<_> = suite
        .tests
        .iter()
        .filter(|test| wanted.contains(&test.name.as_str()))
        .map(|test| (test, seconds(20)))
        .collect();
    let environment = Environment::default();
    let prog = worker.sandbox.folder().join("prog");
    let before = files::read(&prog).unwrap();
    let found = executed_sources(&mut worker, &sources, &chosen, &environment).unwrap();
    assert!(
        files::read(&prog).unwrap() == before,
        "the program is as it was"
    );
    for (test, limits) in &chosen {
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            test,
            &environment,
            limits,
        );
        assert_eq!(
            run.unwrap().outcome.leftovers,
            0,
            "{:?}",
            OsStr::new(&test.name)
        );
    }
    found
}

fn paths(names: &[&str]) -> Option<BTreeSet<PathBuf>> {
    Some(names.iter().map(PathBuf::from).collect())
}

#[test]
fn sources_whose_functions_a_test_executes_are_found_in_all_its_processes() {
    assert_eq!(sources_of(&["plain"]), paths(&["first.c", "main.c"]));
    assert_eq!(sources_of(&["lib"]), paths(&["loaded.c", "main.c"]));
    assert_eq!(
        sources_of(&["plain", "lib"]),
        paths(&["first.c", "loaded.c", "main.c"])
    );
}

#[test]
fn nothing_is_known_where_a_test_makes_its_program_or_executes_nothing() {
    assert_eq!(sources_of(&["copied"]), None);
    assert_eq!(sources_of(&["plain", "copied"]), None);
    assert_eq!(sources_of(&["none"]), None);
}
