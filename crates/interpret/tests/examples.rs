//! Every test of the example programs, in the interpreter and compiled: they print the same and end the same.
#![allow(clippy::disallowed_methods, reason = "the examples are files")]

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use patchwright_exec::runner::Ending as HowEnded;
use patchwright_exec::{Limits as ProcessLimits, Request};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::Module;
use patchwright_testkit::Reader;

/// A program in both forms.
struct Program {
    reader: Reader,
    modules: Vec<Module>,
    executable: PathBuf,
}

impl Program {
    fn of(sources: &[PathBuf]) -> Self {
        let mut reader = Reader::new();
        let folder = reader.folder();
        let executable = folder.join("program");
        let build = Request::new("gcc", &folder)
            .args(["-w", "-o", "program"])
            .args(sources)
            .limits(ProcessLimits::for_build());
        let built = reader.runner.run(&build).expect("gcc is installed");
        assert!(built.ending.is_success(), "{sources:?}");
        let modules = sources.iter().map(|file| reader.lowered(file, ""));
        let modules = modules.collect();
        Program {
            reader,
            modules,
            executable,
        }
    }

    /// Runs both in this folder, whose files both see.
    fn compare(&mut self, folder: &Path, words: &str) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let run = Request::new(&self.executable, folder)
            .args(words.iter().map(OsString::from))
            .limits(ProcessLimits::with_wall(Duration::from_secs(60)));
        let expected = self.reader.runner.run(&run).expect("it runs");
        let HowEnded::Exited(status) = expected.ending else {
            panic!("{}: {:?}", folder.display(), expected.ending);
        };
        let mut world = Closed::default();
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.path().is_file() {
                let name = entry.file_name().into_encoded_bytes();
                world
                    .files
                    .insert(name, fs::read(entry.path()).expect("it is there"));
            }
        }
        let mut machine = Machine::link(self.modules.clone(), Limits::default(), &mut world)
            .expect("they are one program");
        let mut arguments = vec![self.executable.as_os_str().as_encoded_bytes().to_vec()];
        arguments.extend(words.iter().map(|word| word.as_bytes().to_vec()));
        let ending = machine.run(&arguments, &[]).ending;
        let name = folder.display();
        assert_eq!(ending, Ending::Exit(status), "{name}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&world.output), text(&expected.stdout), "{name}");
        assert_eq!(text(&world.errors), text(&expected.stderr), "{name}");
    }
}

/// The files of a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("one").path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

#[test]
fn every_test_of_the_examples_runs_as_it_does_compiled() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let ledger = examples.join("ledger");
    let mut sources = entries(&ledger.join("src"));
    sources.retain(|path| has_extension(path, "c"));
    let mut program = Program::of(&sources);
    let mut compared = 0;
    for folder in entries(&ledger.join("tests")) {
        if let Ok(words) = fs::read_to_string(folder.join("arguments")) {
            program.compare(&folder, &words);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} tests");
    let max = examples.join("max2");
    let mut program = Program::of(&[max.join("max.c")]);
    for case in entries(&max.join("cases")) {
        if has_extension(&case, "args") {
            let words = fs::read_to_string(&case).expect("it is there");
            program.compare(&max, &words);
        }
    }
}
