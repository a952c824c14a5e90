//! Keeps verdicts on disk, so that an interrupted run can be resumed: the baseline, and one line for each
//! patched tree.

use std::collections::HashMap;
use std::path::Path;

use patchwright_exec::{
    Durability, FileError, JournalError, JournalKind, JournalOptions, Project, hash_project,
};
use patchwright_patches::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::ValidateOptions;
use crate::plain::{Checked, Way};
use crate::prepare::UntouchedTests;
use crate::verdict::{PatchVerdict, TestResult};

const VERSION: u32 = 5;

#[derive(Serialize, Deserialize)]
enum Line {
    Untouched(UntouchedTests),
    Tree(Record),
}

/// The verdict of a patched tree and how it was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    tree: String,
    /// The verdict.
    pub verdict: PatchVerdict,
    /// The tests that were run.
    pub tests: Vec<TestResult>,
    /// How it was built.
    pub way: Way,
    /// How long the build took.
    pub build: std::time::Duration,
    /// How long everything took.
    pub total: std::time::Duration,
}

/// An open journal of verdicts.
pub struct Journal {
    file: patchwright_exec::Journal,
    known: HashMap<String, Record>,
    untouched: Option<UntouchedTests>,
}

impl Journal {
    /// Opens the journal of this project and these options.
    ///
    /// # Errors
    /// When it is in use, broken, or cannot be read or written, and when the project cannot be read.
    pub fn open(
        project: &Project,
        options: &ValidateOptions,
        place: &JournalOptions,
    ) -> Result<Self, JournalError> {
        let kind = JournalKind {
            journal: "patchwright-validate".into(),
            version: VERSION,
        };
        let key = key(project, options)?;
        let (file, lines) =
            patchwright_exec::Journal::open(place, kind, key, "", Durability::System)?;
        let mut known = HashMap::new();
        let mut untouched = None;
        for line in lines {
            match line {
                Line::Untouched(found) => untouched = Some(found),
                Line::Tree(record) => drop(known.insert(record.tree.clone(), record)),
            }
        }
        Ok(Journal {
            file,
            known,
            untouched,
        })
    }

    /// Returns the path of the journal's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the results of the tests on the untouched program, if they are known.
    pub fn untouched(&self) -> Option<&UntouchedTests> {
        self.untouched.as_ref()
    }

    /// Returns the record of a patched tree, if it is known.
    pub fn known(&self, tree: Digest) -> Option<&Record> {
        self.known.get(&tree.to_string())
    }

    /// Keeps the results of the tests on the untouched program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_untouched(&self, untouched: &UntouchedTests) -> Result<(), FileError> {
        self.file.add(&Line::Untouched(untouched.clone()))
    }

    /// Keeps the verdict of a patched tree.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, tree: Digest, checked: &Checked) -> Result<(), FileError> {
        self.file.add(&Line::Tree(Record {
            tree: tree.to_string(),
            verdict: checked.verdict.clone(),
            tests: checked.tests.clone(),
            way: checked.way,
            build: checked.build,
            total: checked.total,
        }))
    }
}

/// A digest of everything that verdicts depend on.
fn key(project: &Project, options: &ValidateOptions) -> Result<Digest, FileError> {
    let mut hasher = Hasher::new();
    hasher
        .field("patchwright-validate")
        .field(env!("CARGO_PKG_VERSION"));
    hash_project(project, &mut hasher)?;
    // Their debug form shows every field.
    hasher.field(format!(
        "{:?}",
        (
            options.keep_going,
            options.prioritize,
            options.schemata,
            options.dedup,
            options.virtualize,
            options.prove_endless,
            options.confirm,
            options.build_timeout,
            options.timeouts,
            options.ignore_failing,
            &options.must_fix,
            options.trust_test_changes,
        )
    ));
    Ok(hasher.finish())
}
