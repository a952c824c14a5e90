//! Keeps the results of executions on disk, so that an interrupted search can be resumed.
//!
//! An execution is named by a digest of what it depends on beside the project: the place, what is
//! observed there, the compiled term and the test. A resumed search asks for the same executions in
//! the same order and gets those that are known from here.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use patchwright_exec::{
    Baseline, Durability, FileError, JournalError, JournalKind, JournalOptions, Project,
    hash_project,
};
use patchwright_text::{Digest, Hasher};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{RepairOptions, rejection::Rejection, run::Run};

const VERSION: u32 = 4;

/// The largest number of bytes that are kept: some tens of times as much before compression. What is executed beyond is executed again by
/// a resumed run.
const MOST_BYTES: u64 = 128 << 20;

/// How hard compression tries: an execution takes a millisecond or more, and states repeat themselves.
const COMPRESSION: i32 = 1;

/// A line of the file.
#[derive(Serialize, Deserialize)]
enum Line {
    /// Of the untouched program.
    Baseline(Baseline),
    /// What an execution has shown, as [`packed`].
    Execution(String, String),
    /// What the final verification says of a diff.
    Verification(String, Option<Rejection>),
}

/// An open journal of executions.
pub struct Journal {
    file: patchwright_exec::Journal,
    baseline: Option<Baseline>,
    /// Of executions, the text: it is unpacked when it is needed.
    executions: FxHashMap<String, String>,
    verifications: FxHashMap<String, Option<Rejection>>,
}

impl Journal {
    /// Opens the journal of this project.
    ///
    /// # Errors
    /// When it is in use, broken, or cannot be read or written, and when the project cannot be read.
    pub fn open(
        project: &Project,
        wanted: &RepairOptions,
        options: &JournalOptions,
    ) -> Result<Self, JournalError> {
        let mut hasher = Hasher::new();
        hasher
            .field("patchwright-repair")
            .field(env!("CARGO_PKG_VERSION"));
        hash_project(project, &mut hasher)?;
        let kind = JournalKind {
            journal: "patchwright-repair".into(),
            version: VERSION,
        };
        let key = hasher.finish();
        let (file, lines) =
            patchwright_exec::Journal::open(options, kind, key, &aim(wanted), Durability::Process)?;
        let mut journal = Journal {
            file,
            baseline: None,
            executions: FxHashMap::default(),
            verifications: FxHashMap::default(),
        };
        journal.learn(lines);
        Ok(journal)
    }

    fn learn(&mut self, lines: Vec<Line>) {
        for line in lines {
            match line {
                Line::Baseline(baseline) => self.baseline = Some(baseline),
                Line::Execution(key, run) => drop(self.executions.insert(key, run)),
                Line::Verification(key, found) => {
                    self.verifications.insert(key, found);
                }
            }
        }
    }

    /// Reads what this run has added, so that a second search need not execute it again.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_again(&mut self) -> Result<(), JournalError> {
        let lines = self.file.lines()?;
        self.learn(lines);
        Ok(())
    }

    /// Returns the path of the journal's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the baseline, if it is known.
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// Keeps the baseline.
    pub(crate) fn keep_baseline(&self, baseline: &Baseline) -> Result<(), FileError> {
        self.add(&Line::Baseline(baseline.clone()))
    }

    /// Returns the kept result of an execution.
    pub(crate) fn execution(&self, key: Digest) -> Option<Run> {
        unpacked(self.executions.get(&key.to_string())?)
    }

    /// Keeps what an execution has shown.
    pub(crate) fn keep_execution(&self, key: Digest, run: &Run) -> Result<(), FileError> {
        if self.file.size() >= MOST_BYTES {
            return Ok(());
        }
        match packed(run) {
            Some(run) => self.add(&Line::Execution(key.to_string(), run)),
            None => Ok(()),
        }
    }

    /// Returns the kept result of the final verification of a diff.
    pub(crate) fn verification(&self, diff: &[u8]) -> Option<&Option<Rejection>> {
        self.verifications.get(&name_of(diff))
    }

    /// Keeps what the final verification has said of a diff.
    pub(crate) fn keep_verification(
        &self,
        diff: &[u8],
        found: &Option<Rejection>,
    ) -> Result<(), FileError> {
        self.add(&Line::Verification(name_of(diff), found.clone()))
    }

    fn add(&self, line: &Line) -> Result<(), FileError> {
        match self.file.size() < MOST_BYTES {
            true => self.file.add(line),
            false => Ok(()),
        }
    }

    /// Removes the journal, because nothing is left to resume.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), FileError> {
        self.file.remove()
    }
}

/// A digest of what is searched. Executions do not depend on it, but when all is done that was wanted, none of them is of use.
fn aim(wanted: &RepairOptions) -> String {
    let mut hasher = Hasher::new();
    // Their debug form shows every field.
    hasher.field(format!(
        "{:?}",
        (
            (wanted.all, wanted.first, wanted.max_patches),
            (wanted.max_cost, wanted.places, wanted.schemas),
            (wanted.locations, wanted.formula, &wanted.space),
            (&wanted.leaves, wanted.allow_all_failing, wanted.relations),
        )
    ));
    for kind in wanted.kinds.iter() {
        hasher.field(kind.text());
    }
    hasher.finish().to_string()
}

/// An execution as compressed text. `None`, and it is not kept, where no memory is left to compress it.
fn packed(run: &Run) -> Option<String> {
    let text = serde_json::to_vec(run).ok()?;
    let packed = zstd::bulk::compress(&text, COMPRESSION).ok()?;
    Some(STANDARD_NO_PAD.encode(packed))
}

/// What [`packed`] was made of.
fn unpacked(text: &str) -> Option<Run> {
    let packed = STANDARD_NO_PAD.decode(text).ok()?;
    let text = zstd::stream::decode_all(packed.as_slice()).ok()?;
    serde_json::from_slice(&text).ok()
}

fn name_of(diff: &[u8]) -> String {
    Hasher::new().field(diff).finish().to_string()
}
