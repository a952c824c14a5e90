//! The result of a search: classes of plausible candidates, and all verdicts if they are wanted.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use patchwright_space::Schema;
use patchwright_text::Edit;

use crate::{
    classes::ClassVerdict,
    instrumented::{HoleEntry, SourceFile},
    outcome::Stats,
    patch::Patch,
};

/// A family, and the class of a candidate in each test.
pub(crate) type SharedClass = (usize, BTreeMap<usize, usize>);

/// A class of plausible candidates.
#[derive(Clone, Debug)]
pub struct FoundClass {
    /// Index of the hole.
    pub entry: usize,
    /// Cost of its candidates.
    pub cost: u32,
    /// Number of candidates.
    pub count: usize,
    /// The first of them, as edits of the hole's file, with the kind of change.
    pub members: Vec<(Edit, Schema)>,
    /// For places of a variable: the family, and the class in each test.
    pub(crate) shared: Option<SharedClass>,
    /// The change is one of the body of the hole's function.
    pub is_local: bool,
    /// They put a statement under conditions that never hold in a test: for the tests it is not there.
    pub is_never: bool,
    /// The file that the edits are of, if that is not the hole's file but one that it includes.
    pub header: Option<Arc<Header>>,
}

/// A file that a source includes.
#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    /// Relative to the project's root.
    pub relative: PathBuf,
    /// Its text.
    pub text: Vec<u8>,
}

impl FoundClass {
    /// Returns the path and the text of the file that the candidates change. The path is relative to
    /// the project's root.
    pub fn changed<'f>(
        &'f self,
        holes: &[HoleEntry],
        files: &'f [SourceFile],
    ) -> (&'f Path, &'f [u8]) {
        match &self.header {
            Some(header) => (&header.relative, &header.text),
            None => {
                let file = &files[holes[self.entry].file];
                (&file.relative, &file.unit.source)
            }
        }
    }
}

/// Candidates that share a verdict, kept for
/// [`RepairOptions::keep_verdicts`](crate::RepairOptions::keep_verdicts).
#[derive(Clone, Debug)]
pub struct Explored {
    /// Index of the hole.
    pub entry: usize,
    /// Cost of the candidates.
    pub cost: u32,
    /// What all tests together say about each of them.
    pub verdict: ClassVerdict,
    /// The candidates.
    pub candidates: Vec<ExploredCandidate>,
}

/// A candidate with its verdict.
#[derive(Clone, Debug)]
pub struct ExploredCandidate {
    /// It, as an edit of the hole's file.
    pub edit: Edit,
    /// The candidate reads elements behind a pointer that the original does not read. The size of the object is unknown, so
    /// nobody notices a read past its end.
    pub reads_unbounded: bool,
}

/// The work of exploring a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Candidates whose cost was reached.
    pub candidates: u64,
    /// Candidates whose verdict is known.
    pub explored: u64,
    /// Executions of tests.
    pub executions: u64,
    /// Classes of the failing tests. Those of a variable count at the first place of its assignments.
    pub classes: u64,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Of a search that began with the likeliest candidates: all with fewer bits have been executed.
    pub(crate) executed_bits: f64,
    /// What each hole has taken, by its index.
    pub effort: BTreeMap<usize, Effort>,
    /// The verdicts of all explored candidates, if they are to be kept.
    pub verdicts: Vec<Explored>,
    /// Plausible classes in the order of the search.
    pub classes: Vec<FoundClass>,
    /// Verified patches of two places, which were found while no change of one place was.
    pub pairs: Vec<Patch>,
    /// Patches of two places were sought when the search had come to its end.
    pub(crate) has_sought_pairs: bool,
    /// What was done.
    pub stats: Stats,
    /// The search was interrupted.
    pub interrupted: bool,
}
