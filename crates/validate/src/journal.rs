//! What is known, kept on disk, so that an interrupted run can be resumed.
//!
//! A journal is a file of JSON lines, named by a digest of everything that verdicts depend on: the
//! contents of the project's tree, the build command, the tests, limits and options. The first line
//! says what the file is; then come the baseline and one line for each tree whose verdict is known.
//! Each is on disk before the run goes on, so a run that is killed loses what it was doing at that
//! moment and no more.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use patchwright_exec::{Baseline, FileError, Log, Project, files};
use patchwright_patches::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::error::ValidateError;
use crate::plain::{Checked, Way};
use crate::verdict::{PatchVerdict, TestResult};
use crate::{JournalOptions, ValidateOptions};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
enum Line {
    Start { version: u32, key: String },
    Baseline(Baseline),
    Tree(Record),
}

/// What is known of a patched tree.
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

/// An open journal.
pub struct Journal {
    log: Mutex<Log>,
    path: PathBuf,
    known: HashMap<String, Record>,
    baseline: Option<Baseline>,
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
    ) -> Result<Self, ValidateError> {
        let key = key(project, options)?.to_string();
        files::create_folder(&place.folder)?;
        let path = place.folder.join(format!("{}.jsonl", &key[..32]));
        let failed = |reason: String| ValidateError::Journal {
            path: path.clone(),
            reason,
        };
        let (mut log, text) = match Log::open(&path) {
            Err(error) if error.source.kind() == io::ErrorKind::WouldBlock => {
                return Err(failed(
                    "another run of the same project is using it; wait, or name another folder \
                     with --state"
                        .into(),
                ));
            }
            other => other?,
        };
        let mut known = HashMap::new();
        let mut baseline = None;
        if place.resume {
            for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
                if line.is_empty() {
                    continue;
                }
                let broken =
                    |what: &str| failed(format!("line {} {what}; remove the file", number + 1));
                let line: Line =
                    serde_json::from_slice(line).map_err(|_| broken("cannot be understood"))?;
                match line {
                    Line::Start {
                        version,
                        key: other,
                    } => {
                        if (version, &other) != (VERSION, &key) {
                            return Err(broken("is of another version or project"));
                        }
                    }
                    Line::Baseline(found) => baseline = Some(found),
                    Line::Tree(record) => drop(known.insert(record.tree.clone(), record)),
                }
            }
        } else {
            log.clear()?;
        }
        let journal = Journal {
            log: Mutex::new(log),
            path,
            known,
            baseline,
        };
        if !place.resume || text.is_empty() {
            journal.add(&Line::Start {
                version: VERSION,
                key,
            })?;
        }
        Ok(journal)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The baseline, if it is known.
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// What is known of a tree.
    pub fn known(&self, tree: Digest) -> Option<&Record> {
        self.known.get(&tree.to_string())
    }

    /// Keeps the baseline.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_baseline(&self, baseline: &Baseline) -> Result<(), FileError> {
        self.add(&Line::Baseline(baseline.clone()))
    }

    /// Keeps what is known of a tree.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, tree: Digest, checked: &Checked) -> Result<(), FileError> {
        self.add(&Line::Tree(Record {
            tree: tree.to_string(),
            verdict: checked.verdict.clone(),
            tests: checked.tests.clone(),
            way: checked.way,
            build: checked.build,
            total: checked.total,
        }))
    }

    fn add(&self, line: &Line) -> Result<(), FileError> {
        // Strings and numbers only: this cannot fail.
        let text = serde_json::to_vec(line).unwrap_or_default();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.add(&text)
    }
}

/// A digest of everything that verdicts depend on.
fn key(project: &Project, options: &ValidateOptions) -> Result<Digest, FileError> {
    let mut hasher = Hasher::new();
    hasher
        .field("patchwright-validate")
        .field(env!("CARGO_PKG_VERSION"));
    hash_tree(&project.root, Path::new(""), &mut hasher)?;
    for command in [&project.build, &project.prepare] {
        let command = command.as_deref().unwrap_or_default();
        hasher.field(command.as_bytes());
    }
    // Their debug form shows every field.
    hasher.field(format!("{:?}", project.tests));
    hasher.field(format!("{:?}", project.limits));
    hasher.field(format!(
        "{:?}",
        (
            options.keep_going,
            options.prioritize,
            options.schemata,
            options.dedup,
            options.confirm,
            options.build_timeout,
            options.timeouts
        )
    ));
    Ok(hasher.finish())
}

/// Adds names, modes and contents of a tree, but for git's own folder.
fn hash_tree(root: &Path, relative: &Path, hasher: &mut Hasher) -> Result<(), FileError> {
    let folder = match relative.as_os_str().is_empty() {
        true => root.to_path_buf(),
        false => root.join(relative),
    };
    let failed = |error: io::Error| FileError::new("read the folder", &folder, error);
    let mut names = fs::read_dir(&folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(failed)?;
    names.sort();
    for name in names {
        if name == ".git" {
            continue;
        }
        let below = relative.join(&name);
        let path = root.join(&below);
        let failed = |error: io::Error| FileError::new("read", &path, error);
        let metadata = fs::symlink_metadata(&path).map_err(failed)?;
        hasher.field(below.as_os_str().as_bytes());
        hasher.number(metadata.permissions().mode().into());
        if metadata.is_dir() {
            hash_tree(root, &below, hasher)?;
        } else if metadata.is_symlink() {
            hasher.field(fs::read_link(&path).map_err(failed)?.as_os_str().as_bytes());
        } else if metadata.is_file() {
            hasher.field(files::read(&path)?);
        }
    }
    Ok(())
}
