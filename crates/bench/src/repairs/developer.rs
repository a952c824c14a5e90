//! Recognizes patches that have the effect of the developer's fix.

use std::{
    collections::BTreeMap,
    error::Error,
    path::{Path, PathBuf},
};

use patchwright_exec::{all_sources, files};
use patchwright_patches::{Applied, Applier, Body, FolderTree, Origin, PatchId, RawPatch, Reading};
use patchwright_repair::{Patch, prepare::Prepared};

use super::list::{Entry, SameEffect};
use crate::compiled::object;

/// The texts of the files that a patch changes.
pub type Texts = BTreeMap<PathBuf, Vec<u8>>;

/// Compares patches with the developer's fix.
pub struct Developer<'a> {
    same_effect: &'a [SameEffect],
    root: &'a Path,
    texts: Texts,
}

impl<'a> Developer<'a> {
    /// Reads the developer's fix and applies it in memory.
    pub fn new(entry: &'a Entry, root: &'a Path) -> Result<Self, Box<dyn Error>> {
        let texts = texts(root, files::read(&entry.fix)?, &entry.fix)?;
        Ok(Self::of(&entry.listed.same_effect, root, texts))
    }

    /// Notes the texts that the developer's fix makes of the tree at `root`. A person has marked the patches of `same_effect` as equal to
    /// the fix.
    pub fn of(same_effect: &'a [SameEffect], root: &'a Path, texts: Texts) -> Self {
        Developer {
            same_effect,
            root,
            texts,
        }
    }

    /// Returns how a patch shows that it has the developer's effect, or `None`.
    pub fn recognizes(
        &self,
        patch: &Patch,
        prepared: &mut Prepared,
    ) -> Result<Option<String>, Box<dyn Error>> {
        let own = texts(self.root, patch.diff.clone(), &patch.file)?;
        if self
            .texts
            .iter()
            .map(normalized)
            .eq(own.iter().map(normalized))
        {
            return Ok(Some("the same text".to_owned()));
        }
        if self.texts.keys().eq(own.keys()) {
            let (theirs, ours) = (objects(&self.texts, prepared)?, objects(&own, prepared)?);
            if !theirs.is_empty() && theirs == ours {
                return Ok(Some("the same object code at -O2".to_owned()));
            }
        }
        let text = String::from_utf8_lossy(&patch.diff);
        let lines = |sign: char| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(sign));
            lines.map(without_blanks).collect()
        };
        let (added, removed) = (lines('+'), lines('-'));
        let mut marks = self.same_effect.iter();
        let mark = marks.find(|mark| {
            added.contains(&without_blanks(&mark.adds))
                && removed.contains(&without_blanks(&mark.removes))
        });
        Ok(mark.map(|mark| format!("by hand: {}", mark.why)))
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn normalized((path, text): (&PathBuf, &Vec<u8>)) -> (PathBuf, Vec<u8>) {
    let kept = text.iter().copied().filter(|c| !c.is_ascii_whitespace());
    (path.clone(), kept.collect())
}

/// The texts of the files that a diff changes, changed, in the tree at `root`. `origin` names the diff in messages.
pub fn texts(root: &Path, diff: Vec<u8>, origin: &Path) -> Result<Texts, Box<dyn Error>> {
    let tree = FolderTree::new(root);
    let raw = RawPatch {
        id: PatchId("fix".to_owned()),
        origin: Origin {
            file: origin.to_path_buf(),
            line: 1,
            lines_are_of_file: true,
        },
        body: Body::Diff(diff),
    };
    match Applier::new(&tree, Reading::default()).apply(raw) {
        Applied::Patch(patch) => Ok(patch
            .changes
            .iter()
            .filter_map(|change| {
                let path = change.path().as_path().to_path_buf();
                Some((path, change.text()?.to_vec()))
            })
            .collect()),
        Applied::DoesNotApply(problem) => {
            Err(format!("{}: {}", origin.display(), problem.reason).into())
        }
    }
}

/// The object code of the changed files; nothing where there is none.
fn objects(texts: &Texts, prepared: &mut Prepared) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let sources = all_sources(&prepared.commands, &prepared.worker.sandbox);
    let mut found = Vec::new();
    for (path, text) in texts {
        let Some(command) = sources.get(path).and_then(|commands| commands.first()) else {
            return Ok(Vec::new());
        };
        let host = prepared.worker.sandbox.folder().join(path);
        let before = files::read(&host)?;
        files::replace(&host, text)?;
        let code = object(&mut prepared.worker, command, "-O2");
        files::replace(&host, &before)?;
        match code? {
            Ok(code) => found.push(code),
            Err(_) => return Ok(Vec::new()),
        }
    }
    Ok(found)
}
