//! Keeps on disk what a long run has found out, so that `--resume` can go on after an interruption.
//!
//! A journal is a file of JSON lines, named by a digest of everything that what is kept depends
//! on: the contents of the project's tree, its commands, limits and options. The first line says
//! what the file is. A run that is killed loses what it was doing at that moment and no more.
//!
//! Each run has a file of its own, with a number behind the digest, so that no run takes anything away that another one has
//! kept, at the same time or before. A run that resumes reads those of all.

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

/// The folder of journals, and whether to read the earlier ones.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The folder of journals.
    pub folder: PathBuf,
    /// Use what earlier runs have kept; else it stays where it is and is not looked at.
    pub resume: bool,
    /// Whether a journal that cannot be used is an error; else it is a warning.
    pub required: bool,
}

/// What a journal keeps, and the version of its format. It stands in the first line of the file.
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
    /// What the run wanted: with that done, what is kept for it is of no more use.
    aim: String,
}

/// What a line survives once [`Journal::add`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives the end of this process, however it ends.
    Process,
    /// It survives the end of the system: it is on disk.
    System,
}

/// Why a journal cannot be used.
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

/// An open journal. One process at a time holds it.
#[derive(Debug)]
pub struct Journal {
    log: Mutex<(Log, u64)>,
    path: PathBuf,
    durability: Durability,
    /// The files of runs with the same aim that this one goes on with.
    resumed: Vec<PathBuf>,
}

impl Journal {
    /// Opens a new journal with the key `key`. With `resume` it also returns the lines of all earlier
    /// journals of the same key, in order. `aim` stands for what the run wants beyond that;
    /// [`Journal::remove`] uses it.
    ///
    /// # Errors
    /// When one is broken, or cannot be read or written.
    pub fn open<L: DeserializeOwned>(
        options: &JournalOptions,
        kind: JournalKind,
        key: Digest,
        aim: &str,
        durability: Durability,
    ) -> Result<(Self, Vec<L>), JournalError> {
        files::create_folder(&options.folder)?;
        let key = key.to_string();
        let aim = aim.to_owned();
        let name = &key[..32];
        remove_oldest(&options.folder, name, MOST_KEPT);
        let earlier = of_key(&options.folder, name)?;
        let start = Start {
            kind,
            key: key.clone(),
            aim,
        };
        let mut lines = Vec::new();
        let mut resumed = Vec::new();
        for path in earlier.iter().filter(|_| options.resume) {
            let mut text = files::read(path)?;
            // A line that is being written, or was when its run was killed.
            let whole = text.iter().rposition(|byte| *byte == b'\n');
            text.truncate(whole.map_or(0, |at| at + 1));
            let Some(first) = text
                .split(|byte| *byte == b'\n')
                .next()
                .filter(|line| !line.is_empty())
            else {
                continue;
            };
            let unusable = || JournalError::Unusable {
                path: path.clone(),
                reason: "line 1 is of another version or project; remove the file".into(),
            };
            let begun: Start = serde_json::from_slice(first).map_err(|_| unusable())?;
            if (&begun.kind, &begun.key) != (&start.kind, &start.key) {
                return Err(unusable());
            }
            lines.extend(parse(&text, path)?);
            if begun.aim == start.aim {
                resumed.push(path.clone());
            }
        }
        let (log, path) = fresh(&options.folder, name, &earlier)?;
        let journal = Journal {
            log: Mutex::new((log, 0)),
            path,
            durability,
            resumed,
        };
        journal.add(&start)?;
        Ok((journal, lines))
    }

    /// Returns all lines that this run has added, in order.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines<L: DeserializeOwned>(&self) -> Result<Vec<L>, JournalError> {
        let _held = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        parse(&files::read(&self.path)?, &self.path)
    }

    /// Returns the path of the journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Appends `line` as one line of JSON. What it survives is the journal's [`Durability`].
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

    /// Removes this journal and the resumed journals with the same aim, because nothing is left to
    /// resume.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove(self) -> Result<(), FileError> {
        for path in &self.resumed {
            // Whoever uses it holds its lock.
            if Log::open(path).is_ok() {
                files::remove_file(path)?;
            }
        }
        files::remove_file(&self.path)
    }
}

/// The largest number of journals of one key that are kept.
const MOST_OF_KEY: usize = 99;

/// The number behind the digest in the name of a journal of this key.
fn number_of(path: &Path, name: &str) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    let is_journal = path.extension().is_some_and(|kind| kind == "jsonl");
    let number = stem.strip_prefix(name)?.strip_prefix('-')?;
    number.parse().ok().filter(|_| is_journal)
}

/// The journals of a key, in the order in which they were begun.
fn of_key(folder: &Path, name: &str) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error: io::Error| FileError::new("read the folder", folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(number) = number_of(&path, name) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// A new journal of this key, which nobody else has.
fn fresh(folder: &Path, name: &str, earlier: &[PathBuf]) -> Result<(Log, PathBuf), JournalError> {
    if let Some(first) = earlier.first().filter(|_| earlier.len() >= MOST_OF_KEY)
        && Log::open(first).is_ok()
    {
        files::remove_file(first)?;
    }
    let last = earlier.last().and_then(|path| number_of(path, name));
    let mut number = last.map_or(1, |last| last.saturating_add(1));
    loop {
        let path = folder.join(format!("{name}-{number}.jsonl"));
        match Log::open(&path) {
            Ok((log, text)) if text.is_empty() => return Ok((log, path)),
            Err(error) if error.source.kind() != io::ErrorKind::WouldBlock => {
                return Err(error.into());
            }
            // Another run began at the same time.
            _ => number += 1,
        }
    }
}

/// The largest number of bytes of journals that are kept in a folder.
const MOST_KEPT: u64 = 512 << 20;

/// Removes journals that nobody uses, those first that were written longest ago, until what is left in the folder is no more than
/// so many bytes. Those of the key `wanted` are kept. What cannot be removed stays.
fn remove_oldest(folder: &Path, wanted: &str, most: u64) {
    let is_journal = |path: &PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str());
        let is_key = |name: &str| {
            // Former versions have no number.
            let (name, number) = name.split_once('-').unwrap_or((name, "1"));
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()) && is_number
        };
        path.extension().is_some_and(|kind| kind == "jsonl") && name.is_some_and(is_key)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut journals: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| is_journal(path) && number_of(path, wanted).is_none())
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

/// Opens a journal by calling `open`, if `options` ask for one. If that fails and the journal is
/// required, the error is returned. Else `warn` gets the reason, and the result is `None`.
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

/// Adds to `hasher` everything on which the verdicts of a project's tests depend: its tree, its commands,
/// its tests and their limits.
///
/// # Errors
/// When the tree cannot be read.
pub fn hash_project(project: &Project, hasher: &mut Hasher) -> Result<(), FileError> {
    hash_tree(&project.root, Path::new(""), &project.exclude, hasher)?;
    for command in [&project.build, &project.prepare] {
        let command = command.as_deref().unwrap_or_default();
        hasher.field(command.as_bytes());
    }
    // Their debug form shows every field.
    hasher.field(format!("{:?}", project.tests));
    hasher.field(format!("{:?} {:?}", project.limits, project.build_memory));
    let allowed: Vec<&PathBuf> = project.allow_writes.iter().map(|(path, _)| path).collect();
    hasher.field(format!("{allowed:?}"));
    hasher.field(format!(
        "{} {}",
        project.network.is_some(),
        project.unprotected
    ));
    Ok(())
}

/// Adds the files of a project to a hasher: names, modes and contents.
///
/// # Errors
/// A tree that cannot be read.
pub fn hash_files(project: &Project, hasher: &mut Hasher) -> Result<(), FileError> {
    hash_tree(&project.root, Path::new(""), &project.exclude, hasher)
}

/// Adds names, modes and contents of a tree, but for git's own folder.
pub(crate) fn hash_tree(
    root: &Path,
    relative: &Path,
    exclude: &[PathBuf],
    hasher: &mut Hasher,
) -> Result<(), FileError> {
    let folder = match relative.as_os_str().is_empty() {
        true => root.to_path_buf(),
        false => root.join(relative),
    };
    let failed = |error: io::Error| FileError::new("read the folder", &folder, error);
    let entries = match fs::read_dir(&folder) {
        // It is in no copy.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    let mut names = entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(failed)?;
    names.sort();
    for name in names {
        if name == ".git" {
            continue;
        }
        let below = relative.join(&name);
        if exclude.contains(&below) {
            continue;
        }
        let path = root.join(&below);
        let failed = |error: io::Error| FileError::new("read", &path, error);
        let metadata = fs::symlink_metadata(&path).map_err(failed)?;
        hasher.field(below.as_os_str().as_bytes());
        hasher.number(metadata.permissions().mode().into());
        if metadata.is_dir() {
            hash_tree(root, &below, exclude, hasher)?;
        } else if metadata.is_symlink() {
            hasher.field(fs::read_link(&path).map_err(failed)?.as_os_str().as_bytes());
        } else if metadata.is_file() {
            hash_file(&path, hasher)?;
        }
    }
    Ok(())
}

/// Adds the contents of a file; of a large one, which may be all holes, its size and time.
fn hash_file(path: &Path, hasher: &mut Hasher) -> Result<(), FileError> {
    let failed = |error: io::Error| FileError::new("read", path, error);
    let about = fs::metadata(path).map_err(failed)?;
    if about.len() <= LARGEST_HASHED {
        hasher.field(files::read(path)?);
        return Ok(());
    }
    let time = about.modified().map_err(failed)?;
    hasher.number(about.len());
    hasher.field(format!("{time:?}"));
    Ok(())
}

/// Bytes of a file of which all are hashed, at most.
const LARGEST_HASHED: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
    struct Line(u32);

    fn open(folder: &Path, resume: bool, aim: &str) -> (Journal, Vec<Line>) {
        let options = JournalOptions {
            folder: folder.to_path_buf(),
            resume,
            required: true,
        };
        let kind = JournalKind {
            journal: "test".into(),
            version: 1,
        };
        let key = Hasher::new().field("project").finish();
        Journal::open(&options, kind, key, aim, Durability::Process).unwrap()
    }

    #[test]
    fn a_run_takes_nothing_away_that_others_have_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (night, _) = open(folder.path(), false, "all");
        night.add(&Line(1)).unwrap();
        // At the same time, and after it.
        let (second, none) = open(folder.path(), false, "all");
        second.add(&Line(2)).unwrap();
        assert_eq!(none, []);
        drop((night, second));
        let (short, none) = open(folder.path(), false, "first");
        assert_eq!(none, []);
        short.remove().unwrap();
        let (resumed, known) = open(folder.path(), true, "first");
        assert_eq!(known, [Line(1), Line(2)]);
        resumed.remove().unwrap();
        let (resumed, known) = open(folder.path(), true, "all");
        assert_eq!(known, [Line(1), Line(2)]);
        resumed.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_was_written_longest_ago_makes_room_unless_it_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let journal = |number: u32, age: u64| {
            let path = folder.path().join(format!("{number:032x}-1.jsonl"));
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
        remove_oldest(folder.path(), &format!("{:032x}", 5), 250);
        let left = [&used, &old, &older, &new, &wanted, &other].map(|path| path.exists());
        assert_eq!(left, [true, false, false, true, true, true]);
    }
}
