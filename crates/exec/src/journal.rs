//! What a long run knows, kept on disk, so that it can be resumed after an interruption.
//!
//! A journal is a file of JSON lines, named by a digest of everything that what is kept depends
//! on: the contents of the project's tree, its commands, limits and options. The first line says
//! what the file is. A run that is killed loses what it was doing at that moment and no more.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use patchwright_text::{Digest, Hasher};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::files::{self, FileError, Log};
use crate::project::Project;

/// Where journals are kept, and what is done with one that is there.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The folder of journals.
    pub folder: PathBuf,
    /// Use what is in the journal; else it is begun anew.
    pub resume: bool,
    /// Whether a journal that cannot be used is an error; else it is a warning.
    pub required: bool,
}

/// What a journal is of: the first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalKind {
    /// What is kept in it.
    pub journal: String,
    /// Of the format of its lines.
    pub version: u32,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Start {
    #[serde(flatten)]
    kind: JournalKind,
    key: String,
}

/// How safe a line is when [`Journal::add`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives the end of this process, however it ends.
    Process,
    /// It survives the end of the system: it is on disk.
    System,
}

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is in use or broken.
    #[error("the journal {} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
}

/// An open journal. One process at a time has it.
#[derive(Debug)]
pub struct Journal {
    log: Mutex<(Log, u64)>,
    path: PathBuf,
    durability: Durability,
}

impl Journal {
    /// Opens the journal with this key, and reads the lines that are to be used, in order.
    ///
    /// # Errors
    /// When it is in use, broken, or cannot be read or written.
    pub fn open<L: DeserializeOwned>(
        options: &JournalOptions,
        kind: JournalKind,
        key: Digest,
        durability: Durability,
    ) -> Result<(Self, Vec<L>), JournalError> {
        files::create_folder(&options.folder)?;
        let key = key.to_string();
        let path = options.folder.join(format!("{}.jsonl", &key[..32]));
        let unusable = |reason: String| JournalError::Unusable {
            path: path.clone(),
            reason,
        };
        remove_oldest(&options.folder, &path, MOST_KEPT);
        let (mut log, mut text) = match Log::open(&path) {
            Err(error) if error.source.kind() == io::ErrorKind::WouldBlock => {
                return Err(unusable(
                    "another run of the same project is using it; wait, or name another folder \
                     with --state"
                        .into(),
                ));
            }
            other => other?,
        };
        if !options.resume {
            log.clear()?;
            text.clear();
        }
        let start = Start { kind, key };
        let first = text.split(|byte| *byte == b'\n').next();
        if let Some(first) = first.filter(|line| !line.is_empty())
            && serde_json::from_slice::<Start>(first).ok().as_ref() != Some(&start)
        {
            return Err(unusable(
                "line 1 is of another version or project; remove the file".into(),
            ));
        }
        let lines = parse(&text, &path)?;
        let journal = Journal {
            log: Mutex::new((log, text.len() as u64)),
            path,
            durability,
        };
        if text.is_empty() {
            journal.add(&start)?;
        }
        Ok((journal, lines))
    }

    /// Reads everything that is in it now, also what this run has added, in order.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines<L: DeserializeOwned>(&self) -> Result<Vec<L>, JournalError> {
        let _held = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        parse(&files::read(&self.path)?, &self.path)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    pub fn size(&self) -> u64 {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, line: &impl Serialize) -> Result<(), FileError> {
        // Strings, numbers and sequences of them: this cannot fail.
        let text = serde_json::to_vec(line).unwrap_or_default();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.1 += text.len() as u64 + 1;
        match self.durability {
            Durability::Process => log.0.add(&text),
            Durability::System => log.0.add(&text).and_then(|()| log.0.sync()),
        }
    }

    /// Removes the file: nothing is left to resume.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), FileError> {
        files::remove_file(&self.path)
    }
}

/// So many bytes of journals are kept in a folder.
const MOST_KEPT: u64 = 512 << 20;

/// Removes journals that nobody uses, those first that were written longest ago, until what is left in the folder is no more than
/// so many bytes. `wanted` is kept. What cannot be removed stays.
fn remove_oldest(folder: &Path, wanted: &Path, most: u64) {
    let is_journal = |path: &PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str());
        let is_key = |name: &str| name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit());
        path.extension().is_some_and(|kind| kind == "jsonl") && name.is_some_and(is_key)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut journals: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| is_journal(path) && path != wanted)
        .filter_map(|path| {
            let data = fs::metadata(&path).ok()?;
            Some((data.modified().ok()?, data.len(), path))
        })
        .collect();
    journals.sort();
    let mut size: u64 = journals.iter().map(|(_, size, _)| size).sum();
    for (_, bytes, path) in journals {
        if size <= most {
            break;
        }
        // Whoever uses it holds its lock.
        if Log::open(&path).is_ok() && files::remove_file(&path).is_ok() {
            size -= bytes;
        }
    }
}

/// The lines after the first.
fn parse<L: DeserializeOwned>(text: &[u8], path: &Path) -> Result<Vec<L>, JournalError> {
    text.split(|byte| *byte == b'\n')
        .enumerate()
        .skip(1)
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            serde_json::from_slice(line).map_err(|_| JournalError::Unusable {
                path: path.to_path_buf(),
                reason: format!("line {} cannot be understood; remove the file", number + 1),
            })
        })
        .collect()
}

/// Opens a journal with `open` where one is wanted. One that cannot be used ends the run if it is
/// required; else `warn` is told, and the run goes on without.
///
/// # Errors
/// What `open` says of a journal that is required.
pub fn open_wanted_journal<J>(
    options: Option<&JournalOptions>,
    open: impl FnOnce(&JournalOptions) -> Result<J, JournalError>,
    warn: impl FnOnce(String),
) -> Result<Option<J>, JournalError> {
    let Some(options) = options else {
        return Ok(None);
    };
    match open(options) {
        Ok(journal) => Ok(Some(journal)),
        Err(error) if options.required => Err(error),
        Err(error) => {
            warn(format!("this run cannot be resumed: {error}"));
            Ok(None)
        }
    }
}

/// Adds to `hasher` what the verdicts of a project's tests depend on: its tree, its commands, its
/// tests and their limits.
///
/// # Errors
/// When the tree cannot be read.
pub fn hash_project(project: &Project, hasher: &mut Hasher) -> Result<(), FileError> {
    hash_tree(&project.root, Path::new(""), hasher)?;
    for command in [&project.build, &project.prepare] {
        let command = command.as_deref().unwrap_or_default();
        hasher.field(command.as_bytes());
    }
    // Their debug form shows every field.
    hasher.field(format!("{:?}", project.tests));
    hasher.field(format!("{:?}", project.limits));
    let allowed: Vec<&PathBuf> = project.allow_writes.iter().map(|(path, _)| path).collect();
    hasher.field(format!("{allowed:?}"));
    hasher.field(format!(
        "{} {}",
        project.network.is_some(),
        project.unprotected
    ));
    Ok(())
}

/// Adds names, modes and contents of a tree, but for git's own folder.
fn hash_tree(root: &Path, relative: &Path, hasher: &mut Hasher) -> Result<(), FileError> {
    let folder = match relative.as_os_str().is_empty() {
        true => root.to_path_buf(),
        false => root.join(relative),
    };
    let failed = |error: io::Error| FileError::new("read the folder", &folder, error);
    let mut names = fs::read_dir(&folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(failed)?;
    names.sort();
    for name in names {
        if name == ".git" {
            continue;
        }
        let below = relative.join(&name);
        let path = root.join(&below);
        let failed = |error: io::Error| FileError::new("read", &path, error);
        let metadata = fs::symlink_metadata(&path).map_err(failed)?;
        hasher.field(below.as_os_str().as_bytes());
        hasher.number(metadata.permissions().mode().into());
        if metadata.is_dir() {
            hash_tree(root, &below, hasher)?;
        } else if metadata.is_symlink() {
            hasher.field(fs::read_link(&path).map_err(failed)?.as_os_str().as_bytes());
        } else if metadata.is_file() {
            hasher.field(files::read(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn what_was_written_longest_ago_makes_room_unless_it_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let journal = |number: u32, age: u64| {
            let path = folder.path().join(format!("{number:032x}.jsonl"));
            files::write_atomic(&path, &b"x\n".repeat(50)).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
            file.set_modified(time).unwrap();
            path
        };
        let other = folder.path().join("notes.jsonl");
        files::write_atomic(&other, &[b'x'; 1000]).unwrap();
        let [used, old, older, new, wanted] =
            [(1, 9), (2, 3), (3, 7), (4, 1), (5, 10)].map(|(number, age)| journal(number, age));
        let _held = Log::open(&used).unwrap();
        remove_oldest(folder.path(), &wanted, 250);
        let left = [&used, &old, &older, &new, &wanted, &other].map(|path| path.exists());
        assert_eq!(left, [true, false, false, true, true, true]);
    }
}
