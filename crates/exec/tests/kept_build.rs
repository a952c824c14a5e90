//! What a build has made is had again by a later run.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start processes"
)]

use std::fs;
use std::time::Duration;

use patchwright_exec::{
    Cache, CancelToken, CompileCommand, Project, ProjectFlags, Scratch, Worker, WorkerOptions,
    program_key, record_kept_build,
};

use crate::common::{Folder, folder, program};

struct Fixture {
    project: Folder,
    base: Folder,
    cache: Cache,
}

/// What a run has found and left.
struct Built {
    commands: Vec<CompileCommand>,
    is_known: bool,
    /// How often the compiler has run in the copy, as the build notes it.
    compiled: usize,
    has_program: bool,
}

impl Fixture {
    fn new() -> Self {
        let (project, base) = (folder(), folder());
        let cache = Cache::open(&base.path.join("cache"), 1 << 24).unwrap();
        project.write("a.c", "int a(void) { return 1; }\n");
        project.write(
            "main.c",
            "int a(void); int main(void) { return a() - 1; }\n",
        );
        project.write(
            "Makefile",
            "prog: a.o main.o\n\t$(CC) -o $@ a.o main.o && mkdir -p made/in && ln -sf ../prog made/link && rm -f old\n\
             %.o: %.c\n\t$(CC) -c $< -o $@ && echo $< >> compiled\n",
        );
        project.write("old", "removed by the build\n");
        Fixture {
            project,
            base,
            cache,
        }
    }

    fn build(&self, name: &str) -> Built {
        let scratch = Scratch::new(&self.base.path).unwrap();
        let flags = ProjectFlags {
            build: Some("make -s prog".into()),
            ..ProjectFlags::default()
        };
        let project = Project::load(&self.project.path, &flags).unwrap();
        let (program, cancel) = (program(), CancelToken::new().unwrap());
        let options = WorkerOptions::new(&project, &project.root, &program, &scratch, &cancel);
        let mut worker = Worker::start(0, name, &options).unwrap();
        let key = program_key(&project).unwrap();
        let kept = Some((&self.cache, key));
        let (commands, taken) =
            record_kept_build(&mut worker, &project, kept, Duration::ZERO).unwrap();
        let copy = worker.sandbox.folder();
        assert!(!copy.join("old").exists() && copy.join("made/in").is_dir());
        assert_eq!(
            fs::read_link(copy.join("made/link")).unwrap().as_os_str(),
            "../prog"
        );
        let compiled = fs::read_to_string(copy.join("compiled")).unwrap();
        Built {
            commands,
            is_known: taken.is_some(),
            compiled: compiled.lines().count(),
            has_program: copy.join("prog").exists(),
        }
    }
}

#[test]
fn a_second_run_on_the_same_files_compiles_nothing() {
    let fixture = Fixture::new();
    let first = fixture.build("first");
    assert!(!first.is_known && first.has_program && first.compiled == 2);
    let second = fixture.build("second");
    assert!(second.is_known && second.has_program);
    assert_eq!((second.compiled, second.commands), (2, first.commands));
    // The description says what to do with the program, not what it is.
    fixture.project.write("patchwright.toml", "[project]\n");
    assert!(fixture.build("third").is_known);
}

#[test]
fn another_file_is_another_program() {
    let fixture = Fixture::new();
    fixture.build("first");
    fixture.project.write("a.c", "int a(void) { return 2; }\n");
    let changed = fixture.build("second");
    assert!(!changed.is_known && changed.compiled == 2);
}
