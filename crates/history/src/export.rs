//! Writes a revision to a folder. The files come from the repository itself, and the checkout is not
//! touched.

use std::io;
use std::path::{Component, Path, PathBuf};

use patchwright_changes::git::{GitError, History, Item};
use patchwright_exec::files::{self, FileError};

/// Why a revision cannot be written to a folder.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The revision does not have the folder.
    #[error("commit {commit} has no folder {}", folder.display())]
    NoFolder {
        /// The revision.
        commit: String,
        /// The folder, relative to the root of the repository.
        folder: PathBuf,
    },
}

/// What [`export`] has written and left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of files and links.
    pub entries: usize,
    /// Places of other repositories, of which there is nothing.
    pub submodules: Vec<PathBuf>,
}

/// Writes the files of `commit` (a full name) below its folder `below` to `folder`, which is made if it
/// does not exist, and must else be empty. All files get the time `time` in seconds since 1970, so that
/// none is newer than another.
///
/// # Errors
/// See [`ExportError`].
pub fn export(
    history: &History,
    commit: &str,
    below: &Path,
    folder: &Path,
    time: i64,
) -> Result<Exported, ExportError> {
    files::create_folder(folder)?;
    let mut exported = Exported::default();
    let mut links = Vec::new();
    let found = history.visit_tree(commit, below, |path, item| {
        let plain = |part| matches!(part, Component::Normal(_));
        if !path.components().all(plain) {
            let leaves = io::Error::new(io::ErrorKind::InvalidInput, "the path leaves the tree");
            return Err(ExportError::File(FileError::new("create", path, leaves)));
        }
        let target = folder.join(path);
        match item {
            Item::File {
                contents,
                executable,
            } => {
                files::create_at_time(&target, &contents, executable, time)?;
                exported.entries += 1;
            }
            Item::Link(to) => links.push((to, target)),
            Item::Submodule => {
                files::create_folder(&target)?;
                exported.submodules.push(path.to_path_buf());
            }
        }
        Ok(())
    })?;
    if !found {
        return Err(ExportError::NoFolder {
            commit: commit.to_owned(),
            folder: below.to_path_buf(),
        });
    }
    // Last, so that nothing is written through one of them.
    for (_, link) in &links {
        if let Some(folder) = link.parent() {
            files::create_folder(folder)?;
        }
    }
    for (to, link) in links {
        files::create_link(&to, &link)?;
        exported.entries += 1;
    }
    Ok(exported)
}
