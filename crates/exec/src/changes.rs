//! The differences between a copy and its [`Snapshot`](crate::Snapshot): which entries differ, and what
//! they are now.
//!
//! Times do not count: they are different after every run. Two copies in which the same things happened have the same
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use patchwright_text::{Digest, Hasher};

use crate::files::{self, Context, FileError};
use crate::sandbox::{Sandbox, finish};
use crate::snapshot::{entries, metadata};

/// The entries of a copy that differ from its snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// By paths relative to the root of the copy. Of a folder that is new, everything in it is listed too; of one that is
    /// gone nothing is.
    pub(crate) entries: BTreeMap<PathBuf, Left>,
}

impl Changes {
    /// Returns the paths of the entries that differ, relative to the root of the copy, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }
}

/// What stands now at a path that has changed: nothing, a file, a link, a folder or something special.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// Nothing any more.
    Nothing,
    /// A regular file, which may have these contents as before.
    File {
        /// Its kind and permissions.
        mode: u32,
        /// Names its contents.
        contents: Digest,
    },
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A folder, which is new or has other permissions.
    Folder {
        /// Its kind and permissions.
        mode: u32,
    },
    /// A FIFO, a socket or a device.
    Special {
        /// Its kind and permissions.
        mode: u32,
    },
}

impl Left {
    /// Adds what is at `relative` in the copy at `root`, and below.
    pub(crate) fn gather(
        root: &Path,
        relative: PathBuf,
        changes: &mut BTreeMap<PathBuf, Left>,
    ) -> Result<(), FileError> {
        let path = root.join(&relative);
        let about = metadata(&path)?;
        let (kind, mode) = (about.file_type(), about.mode());
        let left = if kind.is_dir() {
            for name in entries(&path)? {
                Left::gather(root, relative.join(name), changes)?;
            }
            Left::Folder { mode }
        } else if kind.is_symlink() {
            Left::Link(std::fs::read_link(&path).context("read the link", &path)?)
        } else if kind.is_file() {
            let contents = Hasher::new().field(files::read(&path)?).finish();
            Left::File { mode, contents }
        } else {
            Left::Special { mode }
        };
        changes.insert(relative, left);
        Ok(())
    }
}

impl Changes {
    /// Whether no entry differs.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns each path that differs and what stands there now, in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Left)> {
        self.entries
            .iter()
            .map(|(path, left)| (path.as_path(), left))
    }

    /// Returns what stands now at `path`, or `None` if the entry has not changed.
    pub fn get(&self, path: &Path) -> Option<&Left> {
        self.entries.get(path)
    }

    /// Whether [`Changes::repeat`] can make these changes in another copy. It cannot make FIFOs,
    /// sockets and devices.
    pub fn can_be_copied(&self) -> bool {
        let mut left = self.entries.values();
        !left.any(|left| matches!(left, Left::Special { .. }))
    }

    /// Makes the same changes in the copy `to`, which must be in the state that the snapshot had.
    /// `from` is a tree with the changes, from which contents and times are copied.
    ///
    /// # Errors
    /// What cannot be read, removed or copied. The copy is of no use then.
    pub fn repeat(&self, from: &Path, to: &Sandbox) -> Result<(), FileError> {
        let mut folders = BTreeSet::new();
        let mut whole: Option<&Path> = None;
        for (path, left) in self.iter() {
            if whole.is_some_and(|whole| path.starts_with(whole)) {
                continue;
            }
            if path.as_os_str().is_empty() {
                // The root itself stays where it is.
                folders.insert(path);
                continue;
            }
            let target = to.folder().join(path);
            match metadata(&target) {
                Ok(about) if about.is_dir() => files::remove_tree(&target)?,
                Ok(_) => files::remove_file(&target)?,
                Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            if *left != Left::Nothing {
                to.copy_entry(from, path)?;
            }
            whole = Some(path);
            folders.extend(path.parent());
        }
        // Their times were changed with their entries.
        for folder in folders {
            let source = from.join(folder);
            finish(&metadata(&source)?, &to.folder().join(folder))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::CopyOptions;
    use crate::snapshot::Snapshot;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Fixture {
        root: PathBuf,
        _guard: tempfile::TempDir,
    }

    impl Fixture {
        /// A tree with files, folders and a link.
        fn new() -> Self {
            let guard = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(guard.path()).unwrap();
            let project = root.join("project");
            for folder in ["src/deep", "logs"] {
                fs::create_dir_all(project.join(folder)).unwrap();
            }
            for file in ["src/a.c", "src/deep/b.c", "top"] {
                fs::write(project.join(file), file).unwrap();
            }
            symlink("top", project.join("link")).unwrap();
            Fixture {
                root,
                _guard: guard,
            }
        }

        fn copy(&self, name: &str) -> Sandbox {
            let project = self.root.join("project");
            let copy = self.root.join(name);
            Sandbox::create(&project, &copy, &project, &CopyOptions::default()).unwrap()
        }
    }

    /// A little of everything.
    fn work(copy: &Path, text: &str) {
        fs::write(copy.join("top"), text).unwrap();
        fs::remove_dir_all(copy.join("src/deep")).unwrap();
        fs::create_dir_all(copy.join("out/inner")).unwrap();
        fs::write(copy.join("out/inner/file"), "new").unwrap();
        fs::remove_file(copy.join("link")).unwrap();
        symlink("elsewhere", copy.join("link")).unwrap();
        fs::set_permissions(copy.join("logs"), Permissions::from_mode(0o750)).unwrap();
        fs::write(copy.join("logs/one"), "1").unwrap();
    }

    fn paths(changes: &Changes) -> Vec<&str> {
        let paths = changes.iter().map(|(path, _)| path.to_str().unwrap());
        paths.collect()
    }

    #[test]
    fn the_same_work_in_two_copies_is_the_same_change_and_other_contents_are_another() {
        let fixture = Fixture::new();
        let changed = |name: &str, text: &str| {
            let copy = fixture.copy(name);
            let snapshot = Snapshot::take(&copy).unwrap();
            assert!(snapshot.changes(&copy).unwrap().is_empty());
            assert!(!snapshot.has_changed(&copy).unwrap());
            work(copy.folder(), text);
            assert!(snapshot.has_changed(&copy).unwrap());
            snapshot.changes(&copy).unwrap()
        };
        let (one, same, other) = (changed("1", "x"), changed("2", "x"), changed("3", "y"));
        assert_eq!(
            paths(&one),
            [
                "link",
                "logs",
                "logs/one",
                "out",
                "out/inner",
                "out/inner/file",
                "src/deep",
                "top"
            ]
        );
        assert_eq!(one.get(Path::new("src/deep")), Some(&Left::Nothing));
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn a_file_that_is_written_anew_has_changed_though_its_contents_have_not() {
        let fixture = Fixture::new();
        let copy = fixture.copy("copy");
        let snapshot = Snapshot::take(&copy).unwrap();
        fs::write(copy.folder().join("top"), "top").unwrap();
        assert!(snapshot.has_changed(&copy).unwrap());
        assert_eq!(paths(&snapshot.changes(&copy).unwrap()), ["top"]);
    }

    #[test]
    fn changes_are_repeated_in_another_copy_with_their_times() {
        let fixture = Fixture::new();
        let (copy, other) = (fixture.copy("copy"), fixture.copy("other"));
        let (snapshot, mut before) = (
            Snapshot::take(&copy).unwrap(),
            Snapshot::take(&other).unwrap(),
        );
        work(copy.folder(), "x");
        let changes = snapshot.changes(&copy).unwrap();
        changes.repeat(copy.folder(), &other).unwrap();
        assert_eq!(before.changes(&other).unwrap(), changes);
        for path in ["", "logs", "logs/one", "out/inner", "src", "top"] {
            let time = |root: &Path| fs::metadata(root.join(path)).unwrap().modified().unwrap();
            assert_eq!(time(copy.folder()), time(other.folder()), "{path}");
        }
        // And they can be taken back.
        before
            .restore(&other, &fixture.root.join("project"))
            .unwrap();
        assert!(before.changes(&other).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_file_folder_or_link_cannot_be_copied() {
        let fixture = Fixture::new();
        let copy = fixture.copy("copy");
        let snapshot = Snapshot::take(&copy).unwrap();
        let _socket =
            std::os::unix::net::UnixListener::bind(copy.folder().join("src/socket")).unwrap();
        let changes = snapshot.changes(&copy).unwrap();
        assert_eq!(paths(&changes), ["src/socket"]);
        assert!(!changes.can_be_copied());
    }
}
