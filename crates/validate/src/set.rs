//! Reads a set of patches and applies them to the project in memory.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use patchwright_patches::{
    Applied, Applier, BaseTree, Digest, FileChange, Origin, Patch, PatchId, RawPatch, Reading,
    Source, read_inputs,
};

use crate::error::ValidateError;
use crate::test_files::TestFiles;

/// A patch of a set, applied or with the reason why it does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What became of it when it was applied.
    pub applied: Applied,
    /// The tree that it makes, if it applies.
    pub tree: Option<Digest>,
    /// The number of the first patch of the set that makes the same tree, if that is another one.
    pub same_as: Option<usize>,
    /// The files of tests that it changes, and that were left as they are.
    pub left_out: Vec<PathBuf>,
    /// Files that are no part of the program, and what it changes of them is left out: they lie beside a single C file.
    pub beside: Vec<PathBuf>,
}

impl Entry {
    /// Returns the patch's name.
    pub fn id(&self) -> &PatchId {
        match &self.applied {
            Applied::Patch(patch) => &patch.id,
            Applied::DoesNotApply(not) => &not.id,
        }
    }

    /// Returns where the patch was read.
    pub fn origin(&self) -> &Origin {
        match &self.applied {
            Applied::Patch(patch) => &patch.origin,
            Applied::DoesNotApply(not) => &not.origin,
        }
    }

    /// Returns the applied patch, or `None` if it does not apply.
    pub fn patch(&self) -> Option<&Patch> {
        match &self.applied {
            Applied::Patch(patch) => Some(patch),
            Applied::DoesNotApply(_) => None,
        }
    }
}

/// The patches of a run, in the order of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchSet {
    /// The patches; at least one.
    pub entries: Vec<Entry>,
}

impl PatchSet {
    /// Adds a patch, without what it changes of `tests`.
    pub(crate) fn add(
        &mut self,
        mut applied: Applied,
        trees: &mut HashMap<Digest, usize>,
        tests: Option<&TestFiles<'_>>,
    ) {
        let (mut left_out, mut beside) = (Vec::new(), Vec::new());
        if let (Applied::Patch(patch), Some(tests)) = (&mut applied, tests) {
            left_out = without(patch, |path| tests.contain(path));
            beside = without(patch, |path| tests.is_beside(path));
        }
        let tree = match &applied {
            Applied::Patch(patch) => Some(patch.digest()),
            Applied::DoesNotApply(_) => None,
        };
        let number = self.entries.len();
        let first = tree.map(|tree| *trees.entry(tree).or_insert(number));
        self.entries.push(Entry {
            applied,
            tree,
            same_as: first.filter(|first| *first != number),
            left_out,
            beside,
        });
    }

    /// Returns the numbers of the patches that apply and make a tree that no earlier patch makes.
    pub fn distinct(&self) -> impl Iterator<Item = usize> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.tree.is_some() && entry.same_as.is_none())
            .map(|(number, _)| number)
    }
}

/// Takes out of a patch what it changes of such files, and tells which these are.
fn without(patch: &mut Patch, is_such: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let is_out = |change: &FileChange| {
        let mut paths = change.paths();
        paths.any(|path| is_such(path.as_path()))
    };
    if !patch.changes.iter().any(is_out) {
        return Vec::new();
    }
    let (out, kept): (Vec<_>, Vec<_>) = patch.changes.drain(..).partition(is_out);
    patch.changes = kept;
    let paths = out.iter().flat_map(FileChange::paths);
    paths.map(|path| path.as_path().to_path_buf()).collect()
}

/// Applies patches to `tree` that stand in no file. One that does not fit is an entry of the set.
pub fn set_of(tree: &dyn BaseTree, patches: impl IntoIterator<Item = RawPatch>) -> PatchSet {
    let applier = Applier::new(tree, Reading::default());
    let mut set = PatchSet::default();
    let mut trees = HashMap::new();
    for raw in patches {
        set.add(applier.apply(raw), &mut trees, None);
    }
    set
}

/// Reads the patches of `sources` and applies each to `tree`. What they change of `tests`, if given, is left out. `progress` is told the number of patches read so far.
///
/// # Errors
/// Input that cannot be read, and a set of which no patch can be understood. A patch that is broken
/// or does not fit is an entry of the set.
pub fn read_set(
    tree: &dyn BaseTree,
    sources: &[Source],
    stdin: &mut dyn Read,
    reading: Reading,
    tests: Option<&TestFiles<'_>>,
    mut progress: impl FnMut(usize),
) -> Result<PatchSet, ValidateError> {
    let applier = Applier::new(tree, reading);
    let mut set = PatchSet::default();
    let mut trees = HashMap::new();
    for raw in read_inputs(sources, stdin)? {
        set.add(applier.apply(raw?), &mut trees, tests);
        progress(set.entries.len());
    }
    let mut reasons = set.entries.iter().map(|entry| match &entry.applied {
        Applied::DoesNotApply(not) if not.reason.is_malformed() => Some(&not.reason),
        _ => None,
    });
    if let Some(Some(first)) = reasons.next()
        && reasons.all(|reason| reason.is_some())
    {
        return Err(ValidateError::NothingUsable {
            patches: set.entries.len(),
            first: first.clone(),
        });
    }
    Ok(set)
}
