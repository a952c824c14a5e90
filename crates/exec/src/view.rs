//! Makes a copy appear at the project's own path, and finds build trees for which that is needed.
//!
//! Build trees have absolute paths baked in: `CMakeCache.txt`, `config.status`, libtool archives.
//! A build in a plain copy at another path could therefore read from, or write into, the user's
//! own tree. A [`View`] mounts the copy over the original path, for the runner's processes only.
//! Where the system forbids that, [`absolute_references`] finds the trees that must be refused.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::files::{Context, FileError};
use crate::refusal::Refusal;

/// Folders that appear at other paths to the processes of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Pairs of (what appears, where); both absolute, without symbolic links, and existing.
    /// Mounted in this order.
    pub shadow: Vec<(PathBuf, PathBuf)>,
    /// What else is kept from changes.
    pub protection: Option<Protection>,
}

/// Keeps everything outside of a copy from being changed. It fails closed: if it cannot be set up, the
/// view is [refused](ViewStatus::Refused).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Folders of the worker that stay writable, with all that is in them; absolute and existing.
    pub writable: Vec<PathBuf>,
    /// Folders that the user lets be written to.
    pub allowed: Vec<PathBuf>,
    /// Folders whose changes go to a layer of their own, which is thrown away: the user's home and caches.
    pub private: Vec<PathBuf>,
    /// Folders that are empty at first, in memory.
    pub empty: Vec<PathBuf>,
    /// Folders for temporary files of everybody: as the private ones, but folders in them are only read.
    pub temporary: Vec<PathBuf>,
    /// Never writable, even in what the user allows.
    pub kept: Vec<PathBuf>,
    /// An empty folder for the layers.
    pub layers: PathBuf,
    /// Whether the network of the machine can be reached.
    pub network: bool,
}

impl View {
    /// Makes the view in which `copy` appears at the path `original`.
    pub fn of_copy(copy: impl Into<PathBuf>, original: impl Into<PathBuf>) -> Self {
        View {
            shadow: vec![(copy.into(), original.into())],
            protection: None,
        }
    }
}

/// Whether a [`View`] is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewStatus {
    /// None was asked for.
    NotRequested,
    /// It is in force, its protection aside.
    Active,
    /// It is in force, and what it protects cannot be changed.
    Protected,
    /// It, or the protection that was asked for with it, could not be set up; processes see the real paths, and nothing is
    /// protected.
    Refused(Refusal),
}

/// A place in a build tree that names the original tree by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsoluteReference {
    /// The file, relative to the tree's root.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// Finds references to `root` (and to other names of it in `aliases`) in the files of the tree
/// `copy` that steer a build: makefiles, `CMakeCache.txt`, `build.ninja`, `config.status`,
/// `libtool` and libtool archives; the first of each file. In path order.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn absolute_references(
    copy: &Path,
    root: &Path,
    aliases: &[&Path],
) -> Result<Vec<AbsoluteReference>, FileError> {
    let names: Vec<&[u8]> = [&root]
        .into_iter()
        .chain(aliases)
        .map(|path| path.as_os_str().as_bytes())
        .collect();
    let mut found = Vec::new();
    let mut folders = vec![copy.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context("read the folder", &folder)? {
            let entry = entry.context("read the folder", &folder)?;
            let path = entry.path();
            let kind = entry.file_type().context("read", &path)?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && steers_a_build(&path)
                && let Some(line) = first_reference(&path, &names)?
            {
                let file = path.strip_prefix(copy).unwrap_or(&path).to_path_buf();
                found.push(AbsoluteReference { file, line });
            }
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

fn steers_a_build(path: &Path) -> bool {
    let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    let extension = path.extension().map(OsStrExt::as_bytes).unwrap_or_default();
    matches!(
        name,
        b"Makefile"
            | b"makefile"
            | b"GNUmakefile"
            | b"Makefile2"
            | b"CMakeCache.txt"
            | b"config.status"
            | b"libtool"
            | b"link.txt"
    ) || matches!(
        extension,
        b"la" | b"lai" | b"mk" | b"mak" | b"make" | b"ninja"
    ) || name.ends_with(b"cmake_install.cmake")
}

fn first_reference(path: &Path, names: &[&[u8]]) -> Result<Option<usize>, FileError> {
    let mut reader = BufReader::new(fs::File::open(path).context("read", path)?);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).context("read", path)? == 0 {
            return Ok(None);
        }
        number += 1;
        if names.iter().any(|name| contains_path(&line, name)) {
            return Ok(Some(number));
        }
    }
}

/// Whether the line names this path or something below it, rather than a longer name.
fn contains_path(line: &[u8], path: &[u8]) -> bool {
    let continues = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !path.is_empty()
        && line.windows(path.len()).enumerate().any(|(start, window)| {
            window == path && !line.get(start + path.len()).is_some_and(continues)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_the_original_tree_are_found_in_build_files_only() {
        let tree = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Makefile", "all:\n\tcc -I/home/me/project-2/include a.c\n");
        write("build/CMakeCache.txt", "# x\nHOME:PATH=/home/me/project\n");
        write("lib/libfoo.la", "libdir='/home/me/project/lib'\n");
        write("notes.txt", "/home/me/project\n");
        write("sub/Makefile", "top = /data/project/x\n");
        let root = Path::new("/home/me/project");
        let found = absolute_references(tree.path(), root, &[Path::new("/data/project")]).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|r| format!("{}:{}", r.file.display(), r.line))
            .collect();
        assert_eq!(
            found,
            [
                "build/CMakeCache.txt:2",
                "lib/libfoo.la:1",
                "sub/Makefile:1"
            ]
        );
    }
}
