//! Reads the files of a revision.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{FileMode, ObjectType, Oid, Tree};

use super::{GitError, History, failed};
use crate::trees::changed_of;

/// A file, a link or a submodule at a path of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A file.
    File {
        /// Its contents, as they are kept: no filter, such as one for ends of lines, was asked.
        contents: Vec<u8>,
        /// It may be executed.
        executable: bool,
    },
    /// A symbolic link to this target.
    Link(PathBuf),
    /// Another repository, whose files are not here.
    Submodule,
}

impl History {
    /// Calls `visit` with everything that a revision has below the folder `below`, until a call
    /// fails. Paths are relative to `below`. The result is whether the folder exists.
    ///
    /// # Errors
    /// When the repository cannot be read, or what `visit` says.
    pub fn visit_tree<E: From<GitError>>(
        &self,
        commit: &str,
        below: &Path,
        mut visit: impl FnMut(&Path, Item) -> Result<(), E>,
    ) -> Result<bool, E> {
        let tree = self.tree(commit, below)?;
        let Some(tree) = tree else {
            return Ok(false);
        };
        self.visit_folder(&tree, Path::new(""), &mut visit)?;
        Ok(true)
    }

    /// Returns the name of the tree object of the folder `below` in a revision. Equal names mean
    /// equal contents. It is `None` if the folder does not exist.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn tree_name(&self, commit: &str, below: &Path) -> Result<Option<String>, GitError> {
        Ok(self.tree(commit, below)?.map(|tree| tree.id().to_string()))
    }

    /// Returns what a revision has at a path, or `None` for a folder and for nothing.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn item(&self, commit: &str, path: &Path) -> Result<Option<Item>, GitError> {
        let Some(tree) = self.tree(commit, Path::new(""))? else {
            return Ok(None);
        };
        let entry = match tree.get_path(path) {
            Ok(entry) => entry,
            Err(error) if error.code() == git2::ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(failed("read a tree")(error)),
        };
        match entry.kind() {
            Some(ObjectType::Blob) => {}
            Some(ObjectType::Commit) => return Ok(Some(Item::Submodule)),
            _ => return Ok(None),
        }
        let blob = self.repository.find_blob(entry.id());
        let contents = blob.map_err(failed("read a file"))?.content().to_vec();
        Ok(Some(match entry.filemode() {
            mode if mode == i32::from(FileMode::Link) => {
                Item::Link(PathBuf::from(OsStr::from_bytes(&contents)))
            }
            mode => Item::File {
                contents,
                executable: mode == i32::from(FileMode::BlobExecutable),
            },
        }))
    }

    /// Returns the paths at which two revisions have different files.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn paths_between(&self, old: &str, new: &str) -> Result<Vec<PathBuf>, GitError> {
        let root = Path::new("");
        let (old, new) = (self.tree(old, root)?, self.tree(new, root)?);
        changed_of(&self.repository, [old.as_ref(), new.as_ref()], &|_| true)
            .map_err(failed("compare two trees"))
    }

    fn tree(&self, commit: &str, below: &Path) -> Result<Option<Tree<'_>>, GitError> {
        let find = || {
            let tree = self
                .repository
                .find_commit(Oid::from_str(commit)?)?
                .tree()?;
            if below.as_os_str().is_empty() {
                return Ok(Some(tree));
            }
            match tree.get_path(below) {
                Ok(entry) if entry.kind() == Some(ObjectType::Tree) => {
                    self.repository.find_tree(entry.id()).map(Some)
                }
                Err(error) if error.code() != git2::ErrorCode::NotFound => Err(error),
                _ => Ok(None),
            }
        };
        find().map_err(failed("read a tree"))
    }

    fn visit_folder<E: From<GitError>>(
        &self,
        tree: &Tree<'_>,
        folder: &Path,
        visit: &mut impl FnMut(&Path, Item) -> Result<(), E>,
    ) -> Result<(), E> {
        for entry in tree {
            let path = folder.join(OsStr::from_bytes(entry.name_bytes()));
            let contents = || {
                let blob = self.repository.find_blob(entry.id());
                let blob = blob.map_err(failed("read a file"));
                blob.map(|blob| blob.content().to_vec())
            };
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    let tree = self.repository.find_tree(entry.id());
                    self.visit_folder(&tree.map_err(failed("read a tree"))?, &path, visit)?;
                }
                Some(ObjectType::Blob) if entry.filemode() == i32::from(FileMode::Link) => {
                    let target = PathBuf::from(OsStr::from_bytes(&contents()?));
                    visit(&path, Item::Link(target))?;
                }
                Some(ObjectType::Blob) => {
                    let item = Item::File {
                        contents: contents()?,
                        executable: entry.filemode() == i32::from(FileMode::BlobExecutable),
                    };
                    visit(&path, item)?;
                }
                _ => visit(&path, Item::Submodule)?,
            }
        }
        Ok(())
    }
}
