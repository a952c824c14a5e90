//! Keeps what was found out about survivors, so that a resumed run does not seek it again.

use std::collections::HashMap;

use patchwright_exec::{
    Durability, FileError, JournalError, JournalKind, JournalOptions, Project, hash_project,
};
use patchwright_text::Hasher;
use serde::{Deserialize, Serialize};

use crate::outcome::{Answer, Judged};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Line {
    mutant: String,
    answer: Answer,
}

/// An open journal of answers. The verdicts have one of their own.
pub struct Journal {
    file: patchwright_exec::Journal,
    known: HashMap<String, Answer>,
}

impl Journal {
    /// Opens the journal of this project, for answers that are asked for in this way.
    ///
    /// # Errors
    /// When it is broken, or cannot be read or written, and when the project cannot be read.
    pub fn open(
        project: &Project,
        asking: &str,
        place: &JournalOptions,
    ) -> Result<Self, JournalError> {
        let kind = JournalKind {
            journal: "patchwright-mutants".into(),
            version: VERSION,
        };
        let mut hasher = Hasher::new();
        hasher
            .field("patchwright-mutants")
            .field(env!("CARGO_PKG_VERSION"))
            .field(asking);
        hash_project(project, &mut hasher)?;
        let key = hasher.finish();
        let (file, lines) =
            patchwright_exec::Journal::open(place, kind, key, "", Durability::Process)?;
        let lines = lines.into_iter();
        Ok(Journal {
            file,
            known: lines
                .map(|Line { mutant, answer }| (mutant, answer))
                .collect(),
        })
    }

    /// Returns what is known of a mutant.
    pub fn known(&self, judged: &Judged) -> Option<&Answer> {
        self.known.get(&name(judged))
    }

    /// Keeps what is known of a mutant.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, judged: &Judged, answer: &Answer) -> Result<(), FileError> {
        self.file.add(&Line {
            mutant: name(judged),
            answer: answer.clone(),
        })
    }
}

fn name(judged: &Judged) -> String {
    let mut hasher = Hasher::new();
    hasher.field(&judged.diff);
    hasher.finish().to_string()
}
