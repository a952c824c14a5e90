//! `repair --apply`: a patch is written into the user's own files, because the user says so.

use std::path::PathBuf;

use patchwright_exec::{FileError, Project, files};
use patchwright_repair::Patch;
use patchwright_text::{apply_edits, unified_diff};

/// Why a patch is not applied.
#[derive(Debug, thiserror::Error)]
pub enum NotApplied {
    /// There are not so many.
    #[error("there is no patch {number} to apply: {found} were found")]
    NoSuch {
        /// Which was wanted.
        number: usize,
        /// How many there are.
        found: usize,
    },
    /// The file is another one now.
    #[error("the patch is not applied: {} has changed meanwhile", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Applies a patch of a report by its number, from 1; the file that was changed.
///
/// # Errors
/// See [`NotApplied`].
pub fn apply(project: &Project, patches: &[Patch], number: usize) -> Result<PathBuf, NotApplied> {
    let found = patches.len();
    let patch = number.checked_sub(1).and_then(|at| patches.get(at));
    let patch = patch.ok_or(NotApplied::NoSuch { number, found })?;
    apply_one(project, patch)
}

/// Applies a patch; the file that was changed.
///
/// # Errors
/// See [`NotApplied`].
pub fn apply_one(project: &Project, patch: &Patch) -> Result<PathBuf, NotApplied> {
    // The project of a single C file is a copy of it and of what it includes.
    let home = project
        .single_file
        .as_deref()
        .and_then(std::path::Path::parent);
    let file = home.unwrap_or(&project.root).join(&patch.file);
    let text = files::read(&file)?;
    let changed = apply_edits(&text, &patch.edits).unwrap_or_default();
    let path = patch.file.to_string_lossy();
    if unified_diff(path.as_bytes(), &text, &changed) != patch.diff {
        return Err(NotApplied::Changed { file });
    }
    files::write_atomic(&file, &changed)?;
    Ok(file)
}
