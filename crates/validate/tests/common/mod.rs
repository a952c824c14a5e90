//! A small project and patches of it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::Duration;

use patchwright_exec::{
    CancelToken, JournalOptions, Project, ProjectFlags, RunnerProgram, Scratch,
};
use patchwright_patches::{FolderTree, Reading, Source};
use patchwright_validate::{
    Event, Surroundings, TestFiles, ValidateError, ValidateOptions, Validation, read_set, validate,
};

/// A project in a folder of its own: `calc` adds, subtracts and doubles, the last one wrongly.
pub struct Place {
    pub root: PathBuf,
    _guard: tempfile::TempDir,
}

pub const CALC: &str = "\
#include \"twice.h\"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(int a, int b)
{
    return a + b;
}

static int twice(int a)
{
    return a * FACTOR;
}

int main(int argc, char **argv)
{
    int a = atoi(argv[2]);
    int b = argc > 3 ? atoi(argv[3]) : 0;
    if (strcmp(argv[1], \"add\") == 0)
        printf(\"%d\\n\", add(a, b));
    else
        printf(\"%d\\n\", twice(a));
    return 0;
}
";

/// Writes the number of the run to a file outside of the project, for tests that count runs.
pub const DRIVER: &str = "\
#!/bin/sh
test -z \"$COUNT\" || echo \"$1\" >> \"$COUNT\" || exit 1
case $1 in
add) test \"$(./calc add 2 3)\" = 5 ;;
zero) test \"$(./calc add 0 0)\" = 0 ;;
twice) test \"$(./calc twice 4)\" = 8 ;;
*) exit 2 ;;
esac
";

impl Place {
    pub fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let place = Place {
            root: fs::canonicalize(guard.path()).unwrap(),
            _guard: guard,
        };
        for folder in ["project", "scratch", "state"] {
            fs::create_dir(place.root.join(folder)).unwrap();
        }
        place.write("calc.c", CALC);
        place.write("twice.h", "#define FACTOR 3\n");
        // As makefiles are: it does not know that calc.c includes twice.h.
        place.write("Makefile", "calc: calc.c\n\tcc -w -o calc calc.c\n");
        let driver = place.write("run.sh", DRIVER);
        fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    pub fn project_folder(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project_folder().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn options(&self) -> ValidateOptions {
        ValidateOptions {
            jobs: 2,
            // These are about plain validation.
            schemata: false,
            ..ValidateOptions::default()
        }
    }

    /// For patches that never end.
    pub fn quick(&self) -> ValidateOptions {
        let mut options = self.options();
        options.timeouts.slack = Duration::from_millis(1500);
        options
    }

    pub fn journal(&self, resume: bool) -> Option<JournalOptions> {
        Some(JournalOptions {
            folder: self.root.join("state"),
            resume,
            required: true,
        })
    }

    pub fn flags(&self) -> ProjectFlags {
        ProjectFlags {
            build: Some("make -s".into()),
            driver: Some("run.sh".into()),
            tests: ["add", "zero", "twice"].map(String::from).to_vec(),
            ..ProjectFlags::default()
        }
    }

    pub fn run(
        &self,
        patches: &[(&str, String)],
        options: &ValidateOptions,
    ) -> Result<Validation, ValidateError> {
        self.run_with(
            patches,
            options,
            &self.flags(),
            CancelToken::new().unwrap(),
            &|_| {},
        )
    }

    pub fn run_with(
        &self,
        patches: &[(&str, String)],
        options: &ValidateOptions,
        flags: &ProjectFlags,
        cancel: CancelToken,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Validation, ValidateError> {
        let scratch = Scratch::new(&self.root.join("scratch")).unwrap();
        let project = Project::load(&self.project_folder(), flags).unwrap();
        let lines: String = patches
            .iter()
            .map(|(id, diff)| {
                let (id, diff) = (json(id), json(diff));
                format!("{{\"id\": {id}, \"patch\": {diff}}}\n")
            })
            .collect();
        let tree = FolderTree::new(&project.root);
        let set = read_set(
            &tree,
            &[Source::Stdin],
            &mut lines.as_bytes(),
            Reading::default(),
            Some(&TestFiles::of(&project)?).filter(|_| !options.trust_test_changes),
            |_| {},
        )?;
        validate(
            &project,
            &set,
            options,
            &Surroundings {
                program: &RunnerProgram::this_binary(),
                scratch: &scratch,
                cancel,
                events,
            },
        )
    }

    /// Everything in the project's folder.
    pub fn state(&self) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
        let entries = fs::read_dir(self.project_folder()).unwrap();
        entries
            .map(|entry| {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                let text = fs::read(&path).unwrap_or_default();
                (
                    path,
                    (about.mode(), about.mtime(), about.mtime_nsec(), text),
                )
            })
            .collect()
    }
}

/// A text as a JSON string.
pub fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The diff that replaces the only line `old` of a file.
pub fn replace(file: &str, text: &str, old: &str, new: &str) -> String {
    let number = text
        .lines()
        .position(|line| line == old)
        .expect("the line is there")
        + 1;
    let removed = format!("-{old}\n");
    let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
    let count = new.lines().count();
    format!("--- a/{file}\n+++ b/{file}\n@@ -{number} +{number},{count} @@\n{removed}{added}")
}

pub fn in_calc(old: &str, new: &str) -> String {
    replace("calc.c", CALC, old, new)
}

/// The diff between two texts: one hunk from the first line that differs to the last one.
pub fn diff(file: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new);
    let before = pairs.take_while(|(old, new)| old == new).count();
    let pairs = old[before..].iter().rev().zip(new[before..].iter().rev());
    let behind = pairs.take_while(|(old, new)| old == new).count();
    // With a line of context at each end.
    let before = before.saturating_sub(1);
    let behind = behind.saturating_sub(1);
    let (old, new) = (
        &old[before..old.len() - behind],
        &new[before..new.len() - behind],
    );
    let lines = |lines: &[&str], sign: char| -> String {
        lines.iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    let (removed, added) = (&old[1..old.len() - 1], &new[1..new.len() - 1]);
    format!(
        "--- a/{file}\n+++ b/{file}\n@@ -{first},{} +{first},{} @@\n {}\n{}{} {}\n",
        old.len(),
        new.len(),
        old[0],
        lines(removed, '-'),
        lines(added, '+'),
        old[old.len() - 1],
        first = before + 1,
    )
}
