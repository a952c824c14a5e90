//! The tree that patches are applied to: an interface, and folders on disk.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::path::RelativePath;

/// A tree of files that can only be read.
pub trait BaseTree {
    /// Returns what stands at `path`. A missing file is [`Entry::Missing`], not an error.
    ///
    /// # Errors
    /// What keeps it from being read, other than that it is not there.
    fn look_up(&self, path: &RelativePath) -> io::Result<Entry>;
}

/// A file, something else, or nothing at a path of a tree.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A regular file.
    File(BaseFile),
    /// Something else; what it is, as a predicate: "is a folder".
    Other(&'static str),
}

/// The text and the mode of a file of the tree.
#[derive(Clone, Debug)]
pub struct BaseFile {
    /// Its text.
    pub text: Arc<[u8]>,
    /// The offsets at which its lines begin, and the length of the text.
    pub(crate) starts: Arc<[u32]>,
    /// Whether it may be executed.
    pub executable: bool,
}

impl BaseFile {
    /// Makes a file of `text`.
    pub fn new(text: impl Into<Arc<[u8]>>, executable: bool) -> Self {
        let text = text.into();
        BaseFile {
            starts: line_starts(&text).into(),
            text,
            executable,
        }
    }
}

/// The offsets at which lines begin, and the length of the text.
pub(crate) fn line_starts(text: &[u8]) -> Vec<u32> {
    let mut starts = vec![0];
    starts.extend(
        text.iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at as u32 + 1),
    );
    if *starts.last().unwrap_or(&0) as usize != text.len() {
        starts.push(text.len() as u32);
    }
    starts
}

/// A folder on disk as a [`BaseTree`]. Each file is read once and kept.
#[derive(Debug)]
pub struct FolderTree {
    root: PathBuf,
    left_out: Vec<PathBuf>,
    read: Mutex<HashMap<RelativePath, Entry>>,
}

impl FolderTree {
    /// Makes the tree of the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        FolderTree {
            root: root.into(),
            left_out: Vec::new(),
            read: Mutex::default(),
        }
    }

    /// Returns the tree with these files and folders left out, which no patch may change.
    pub fn without(mut self, paths: &[PathBuf]) -> Self {
        self.left_out = paths.to_vec();
        self
    }

    fn read(&self, path: &RelativePath) -> io::Result<Entry> {
        let mut left_out = self.left_out.iter();
        if left_out.any(|out| path.as_path().starts_with(out)) {
            return Ok(Entry::Other("is left out by `exclude`"));
        }
        // A link may lead out of the tree, also one above the file.
        let mut above = self.root.clone();
        let components: Vec<_> = path.as_path().components().collect();
        for (at, component) in components.iter().enumerate() {
            above.push(component);
            let last = at + 1 == components.len();
            let kind = match std::fs::symlink_metadata(&above) {
                Ok(metadata) => metadata.file_type(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Entry::Missing);
                }
                Err(error) => return Err(error),
            };
            if kind.is_symlink() {
                return Ok(Entry::Other(if last {
                    "is a symbolic link"
                } else {
                    "lies beyond a symbolic link"
                }));
            }
            if !last && !kind.is_dir() {
                return Ok(Entry::Other("lies below a file"));
            }
            if last && kind.is_dir() {
                return Ok(Entry::Other("is a folder"));
            }
            if last && !kind.is_file() {
                return Ok(Entry::Other("is no regular file"));
            }
        }
        let metadata = std::fs::metadata(&above)?;
        if u32::try_from(metadata.len()).is_err() {
            return Ok(Entry::Other("is larger than 4 GiB"));
        }
        let mode = metadata.permissions().mode();
        Ok(Entry::File(BaseFile::new(
            std::fs::read(&above)?,
            mode & 0o100 != 0,
        )))
    }
}

impl BaseTree for FolderTree {
    fn look_up(&self, path: &RelativePath) -> io::Result<Entry> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = read.get(path) {
            return Ok(entry.clone());
        }
        let entry = self.read(path)?;
        // What is missing is not remembered: patches may name anything.
        if !matches!(entry, Entry::Missing) {
            read.insert(path.clone(), entry.clone());
        }
        Ok(entry)
    }
}
