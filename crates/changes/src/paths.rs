//! Makes a change of two files or two folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::compare::{FileChange, Source};
use crate::definitions::Disk;
use crate::git::is_c;
use crate::measure::Change;

/// Why two paths cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}; check the path, its owner and mode", path.display())]
    Read {
        /// The path that was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no plain file.
    #[error("{} is no plain file; give two files or two folders", path.display())]
    NotPlain {
        /// The path that was given.
        path: PathBuf,
    },
    /// It is too large for a source.
    #[error(
        "{} has {} MiB, and sources of at most {} MiB are read",
        path.display(), size >> 20, LARGEST >> 20
    )]
    TooLarge {
        /// The path that was given.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// One is a file, the other a folder.
    #[error(
        "{} and {} cannot be compared: one is a folder, the other is not; give two files or two folders",
        old.display(),
        new.display()
    )]
    FileAndFolder {
        /// The first.
        old: PathBuf,
        /// The second.
        new: PathBuf,
    },
}

/// Bytes of a source at most.
const LARGEST: u64 = 256 << 20;

fn read(path: &Path, shown: String) -> Result<Source, PathError> {
    let failed = |source| PathError::Read {
        path: path.to_path_buf(),
        source,
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(PathError::NotPlain {
            path: path.to_path_buf(),
        });
    }
    if about.len() > LARGEST {
        return Err(PathError::TooLarge {
            path: path.to_path_buf(),
            size: about.len(),
        });
    }
    let text = fs::read(path).map_err(failed)?;
    Ok(Source { path: shown, text })
}

/// Returns the change between two files, or between the C files of two folders. For folders, files that
/// do not differ are the rest of the program.
pub fn between(old: &Path, new: &Path) -> Result<Change, PathError> {
    // What is not there is neither a file nor a folder.
    for path in [old, new] {
        fs::metadata(path).map_err(|source| PathError::Read {
            path: path.to_path_buf(),
            source,
        })?;
    }
    if old.is_dir() != new.is_dir() {
        return Err(PathError::FileAndFolder {
            old: old.to_path_buf(),
            new: new.to_path_buf(),
        });
    }
    if !old.is_dir() {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let file = FileChange {
            old: Some(read(old, shown(old))?),
            new: Some(read(new, shown(new))?),
        };
        return Ok(Change {
            files: vec![file],
            versions: Some([
                Rc::new(Disk::new(Some(Path::new("")))),
                Rc::new(Disk::new(Some(Path::new("")))),
            ]),
            ..Change::default()
        });
    }
    let (before, after) = (c_files(old)?, c_files(new)?);
    let mut change = Change {
        files: Vec::new(),
        rest: Some(Vec::new()),
        versions: Some([Rc::new(Disk::new(Some(old))), Rc::new(Disk::new(Some(new)))]),
        ..Change::default()
    };
    for path in before.union(&after) {
        let side = |files: &BTreeSet<PathBuf>, root: &Path| {
            files
                .contains(path)
                .then(|| read(&root.join(path), path.to_string_lossy().into_owned()))
                .transpose()
        };
        let (old, new) = (side(&before, old)?, side(&after, new)?);
        if old != new {
            change.files.push(FileChange { old, new });
        } else if let (Some(rest), Some(new)) = (&mut change.rest, new) {
            rest.push(Arc::new(new));
        }
    }
    Ok(change)
}

/// The C files below a folder, relative to it. Links are not followed; folders whose names begin with a dot are left out.
fn c_files(root: &Path) -> Result<BTreeSet<PathBuf>, PathError> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let path = root.join(&folder);
        let error = |source| PathError::Read {
            path: path.clone(),
            source,
        };
        for entry in fs::read_dir(&path).map_err(error)? {
            let entry = entry.map_err(error)?;
            let kind = entry.file_type().map_err(error)?;
            let relative = folder.join(entry.file_name());
            if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push(relative);
            } else if kind.is_file() && is_c(&relative) {
                found.insert(relative);
            }
        }
    }
    Ok(found)
}
