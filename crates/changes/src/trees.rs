//! Finds the C files that differ between two trees of a repository. Folders that are equal in both are not opened, so the time depends on the
//! size of the change and not of the repository.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{Error, ObjectType, Oid, Repository, Tree};

use crate::git::is_c;

/// Returns the paths of C files that only one tree has, or that differ in text or mode.
pub(crate) fn changed_files(
    repository: &Repository,
    old: Option<&Tree>,
    new: &Tree,
) -> Result<Vec<PathBuf>, Error> {
    changed_of(repository, [old, Some(new)], &is_c)
}

/// Returns the `wanted` paths whose files differ between two trees.
pub(crate) fn changed_of(
    repository: &Repository,
    trees: [Option<&Tree>; 2],
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    compare(repository, trees, Path::new(""), wanted, &mut found)?;
    Ok(found)
}

/// An entry of a tree: what it is, its mode, and which.
type Entry = (Option<ObjectType>, i32, Oid);

fn entries(tree: Option<&Tree>) -> BTreeMap<Vec<u8>, Entry> {
    let entries = tree.into_iter().flat_map(Tree::iter);
    entries
        .map(|entry| {
            let is = (entry.kind(), entry.filemode(), entry.id());
            (entry.name_bytes().to_vec(), is)
        })
        .collect()
}

fn compare(
    repository: &Repository,
    trees: [Option<&Tree>; 2],
    folder: &Path,
    wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let sides = trees.map(entries);
    let only_new = sides[1].keys().filter(|name| !sides[0].contains_key(*name));
    for name in sides[0].keys().chain(only_new) {
        let here = [sides[0].get(name), sides[1].get(name)];
        if here[0] == here[1] {
            continue;
        }
        let path = folder.join(std::ffi::OsStr::from_bytes(name));
        let is = |kind: ObjectType| here.map(|entry| entry.filter(|is| is.0 == Some(kind)));
        if wanted(&path) && is(ObjectType::Blob).iter().any(Option::is_some) {
            found.push(path.clone());
        }
        let [before, after] = is(ObjectType::Tree);
        if before.is_some() || after.is_some() {
            let open = |entry: Option<&Entry>| {
                entry.map(|entry| repository.find_tree(entry.2)).transpose()
            };
            let (before, after) = (open(before)?, open(after)?);
            let trees = [before.as_ref(), after.as_ref()];
            compare(repository, trees, &path, wanted, found)?;
        }
    }
    Ok(())
}
