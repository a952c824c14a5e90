//! What the tests of the command line share.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod git;

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A folder with a `project` in it, a place for scratch folders and one for results.
pub struct Place {
    pub root: PathBuf,
    _guard: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(guard.path()).unwrap();
        fs::create_dir(root.join("project")).unwrap();
        fs::create_dir(root.join("scratch")).unwrap();
        Place {
            root,
            _guard: guard,
        }
    }

    /// A place whose project is the example `max2`.
    pub fn with_max2() -> Self {
        let place = Place::new();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/max2");
        place.write("max.c", fs::read(example.join("max.c")).unwrap());
        for entry in fs::read_dir(example.join("cases")).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("cases/{}", path.file_name().unwrap().to_str().unwrap());
            place.write(&name, fs::read(&path).unwrap());
        }
        place
    }

    /// A place with two versions of a C file, `old.c` and `new.c`, as its project.
    pub fn with_versions(old: &str, new: &str) -> Self {
        let place = Place::new();
        place.write("old.c", old);
        place.write("new.c", new);
        place
    }

    /// What `compare` says of the two versions, as JSON; it ends with this status.
    pub fn compared(&self, flags: &[&str], status: i32) -> serde_json::Value {
        let files = ["compare", "project/old.c", "project/new.c", "--json"];
        let output = self.run(files.iter().chain(flags));
        assert_eq!(
            output.status.code(),
            Some(status),
            "{}{}",
            stdout(&output),
            stderr(&output)
        );
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(report["schema"], "patchwright-compare");
        report
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// A single-file project: the program, and a case for each comment `case ARGUMENTS => OUTPUT` in it.
    pub fn write_program(&self, source: &str) {
        self.write("program.c", source);
        for (number, case) in notes(source, "case ").iter().enumerate() {
            let (arguments, output) = case.split_once(" => ").unwrap();
            self.write(&format!("cases/{number}.args"), arguments);
            self.write(&format!("cases/{number}.out"), format!("{output}\n"));
        }
    }

    pub fn script(&self, name: &str, contents: &str) {
        let path = self.write(name, contents);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `patchwright` with its scratch folders in this place, run from the place's root.
    pub fn patchwright<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patchwright"));
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("PATCHWRIGHT_TMP", self.root.join("scratch"))
            .env("XDG_CACHE_HOME", self.root.join("cache"))
            .env_remove("PATCHWRIGHT_LOG");
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.patchwright(arguments).output().unwrap()
    }

    /// The names in the place for scratch folders.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("scratch")).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// The project's tree: path, mode, time of change and contents of each entry.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.project()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                let contents = if about.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                if about.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(
                    path,
                    (about.mode(), about.mtime(), about.mtime_nsec(), contents),
                );
            }
        }
        found
    }
}

/// What `patchwright prove` ends with and says. It leaves nothing behind.
pub fn prove(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = place.run([&["prove"], arguments].concat());
    assert_eq!(place.leftovers(), [""; 0]);
    (output.status.code(), stdout(&output), stderr(&output))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The text of a program in a folder of the tests.
pub fn program(folder: &str, name: &str) -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    fs::read_to_string(tests.join(folder).join(format!("{name}.c"))).unwrap()
}

/// The names of the programs in a folder of the tests, in order.
pub fn programs_in(folder: &str) -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut names: Vec<String> = fs::read_dir(tests.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// The rest of the comments of a program that begin with this word.
pub fn notes<'a>(source: &'a str, word: &str) -> Vec<&'a str> {
    let start = format!("// {word}");
    let lines = source.lines();
    lines.filter_map(|line| line.strip_prefix(&start)).collect()
}
