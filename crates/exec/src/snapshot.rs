//! Remembers the state of a copy and restores it after builds and tests.
//!
//! A [`Snapshot`] remembers every entry of a copy by what the kernel changes with it: kind, size,
//! mode, inode, times of modification and of *change*. The last one cannot be set by programs, so
//! whatever a program did to a file is seen, also if it put the other times back.
//!
//! Restoring compares the copy with the snapshot and copies what differs from a pristine tree, with
//! the times that it has there. The copy is then as it was, for `make` too: sources are older than
//! what was built of them, and nothing that was built of something else is left.
//!
//! What happened can also be kept: [`Changes`] are what differs, with contents, to
//! be compared with those of another copy, or done to it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::changes::{Changes, Left};
use crate::files::{self, Context, FileError};
use crate::sandbox::{Sandbox, finish};
use crate::test_records::is_record;

/// The state of a copy at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    root: Node,
}

/// The numbers of entries that [`Snapshot::restore`] removed and copied, without the records that runners of tests write for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restored {
    /// Files, links and folders that were removed.
    pub removed: usize,
    /// Files, links and folders that were copied anew.
    pub copied: usize,
}

#[derive(Debug, Clone)]
struct Node {
    stamp: Stamp,
    /// Of a folder.
    children: BTreeMap<OsString, Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    mode: u32,
    size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Stamp {
            mode: metadata.mode(),
            size: metadata.size(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn is_folder(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFDIR
    }

    /// Whether an entry that is like this now is the one that was remembered. What lies in a folder
    /// is another question, and which permissions it has. One that was removed and made again is the same one: nobody can tell, and
    /// its number is the same or not as the file system likes.
    fn is_still(&self, now: &Stamp) -> bool {
        match self.is_folder() {
            true => now.is_folder(),
            false => now == self,
        }
    }
}

/// Reads the attributes of an entry; links are not followed.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, FileError> {
    fs::symlink_metadata(path).context("read", path)
}

/// The entries of a folder; `None` for what vanished meanwhile.
pub(crate) fn entries(folder: &Path) -> Result<Vec<OsString>, FileError> {
    fs::read_dir(folder)
        .context("read the folder", folder)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()
        .context("read the folder", folder)
}

impl Node {
    fn take(path: &Path) -> Result<Self, FileError> {
        let stamp = Stamp::of(&metadata(path)?);
        let mut children = BTreeMap::new();
        if stamp.is_folder() {
            for name in entries(path)? {
                let child = Node::take(&path.join(&name))?;
                children.insert(name, child);
            }
        }
        Ok(Node { stamp, children })
    }
}

impl Snapshot {
    /// Remembers the present state of `sandbox`.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn take(sandbox: &Sandbox) -> Result<Self, FileError> {
        Ok(Snapshot {
            root: Node::take(sandbox.folder())?,
        })
    }

    /// Puts `sandbox` back into the state of this snapshot. `pristine` is a tree with the contents
    /// that the copy had then, such as the tree that it was copied from. No process may be at work in
    /// the copy.
    ///
    /// # Errors
    /// What cannot be read, removed or copied. The copy is of no use then.
    pub fn restore(&mut self, sandbox: &Sandbox, pristine: &Path) -> Result<Restored, FileError> {
        let mut restorer = Restorer {
            sandbox,
            pristine,
            restored: Restored::default(),
        };
        restorer.folder(Path::new(""), &mut self.root)?;
        Ok(restorer.restored)
    }

    /// Restores only `files` of `sandbox`, relative to its root, and their folders. Returns the files that had other contents or
    /// another mode. A file that was only touched is restored, but not returned. `pristine` is as for [`Snapshot::restore`]. No
    /// process may be at work in the copy.
    ///
    /// # Errors
    /// What cannot be read, removed or copied.
    pub fn put_back(
        &mut self,
        sandbox: &Sandbox,
        pristine: &Path,
        files: &[PathBuf],
    ) -> Result<Vec<PathBuf>, FileError> {
        let mut restorer = Restorer {
            sandbox,
            pristine,
            restored: Restored::default(),
        };
        let mut found = Vec::new();
        let mut folders = HashSet::new();
        for file in files {
            let Some(way) = differing(sandbox, file, &self.root, &mut folders) else {
                continue;
            };
            if restorer.file(&way, &mut self.root)? {
                found.push(file.clone());
            }
        }
        Ok(found)
    }

    /// Returns those of `files`, relative to the root of `sandbox`, that now have other contents or
    /// another mode. `pristine` is as for [`Snapshot::restore`]. No process may be at work in the
    /// copy.
    pub fn changed_files(
        &self,
        sandbox: &Sandbox,
        pristine: &Path,
        files: &[PathBuf],
    ) -> BTreeSet<PathBuf> {
        let mut folders = HashSet::new();
        let changed = files.iter().filter(|file| {
            let way = differing(sandbox, file, &self.root, &mut folders);
            way.is_some_and(|way| !is_touched(sandbox, pristine, &way, &self.root))
        });
        changed.cloned().collect()
    }

    /// Whether an entry of `sandbox` was made, removed or written to since the snapshot. Records that runners of tests write for people do
    /// not count.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn has_changed(&self, sandbox: &Sandbox) -> Result<bool, FileError> {
        has_changed(sandbox.folder(), Path::new(""), &self.root)
    }

    /// Returns the differences between `sandbox` and this snapshot of it. No process may be at work
    /// in the copy.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn changes(&self, sandbox: &Sandbox) -> Result<Changes, FileError> {
        let mut changes = Changes::default();
        gather(
            sandbox.folder(),
            Path::new(""),
            &self.root,
            &mut changes.entries,
        )?;
        Ok(changes)
    }
}

/// The first entry on the way to a file that was there, or the file itself, that is not as it was; `None` if all are. `folders` are those of
/// which this is known already.
fn differing(
    sandbox: &Sandbox,
    file: &Path,
    root: &Node,
    folders: &mut HashSet<PathBuf>,
) -> Option<PathBuf> {
    let mut node = root;
    let mut way = PathBuf::new();
    for name in file {
        way.push(name);
        node = node.children.get(name)?;
        if folders.contains(&way) {
            continue;
        }
        let now = fs::symlink_metadata(sandbox.folder().join(&way)).ok();
        let now = now.map(|now| Stamp::of(&now));
        if !now.is_some_and(|now| node.stamp.is_still(&now)) {
            return Some(way);
        }
        if node.stamp.is_folder() {
            folders.insert(way.clone());
        }
    }
    None
}

/// Whether an entry that is not as it was has the contents and the mode that it had.
fn is_touched(sandbox: &Sandbox, pristine: &Path, way: &Path, root: &Node) -> bool {
    let node = way
        .iter()
        .try_fold(root, |node, name| node.children.get(name));
    let path = sandbox.folder().join(way);
    let mode = fs::symlink_metadata(&path)
        .ok()
        .map(|now| Stamp::of(&now).mode);
    let contents = files::read(&path).ok();
    mode.is_some()
        && mode == node.map(|node| node.stamp.mode)
        && contents.is_some()
        && contents == files::read(&pristine.join(way)).ok()
}

/// Whether something has happened to the folder `relative` of the copy at `root`, which was `node`, or below.
fn has_changed(root: &Path, relative: &Path, node: &Node) -> Result<bool, FileError> {
    let path = root.join(relative);
    if metadata(&path)?.mode() != node.stamp.mode {
        return Ok(true);
    }
    let mut missing: BTreeSet<&OsString> = node.children.keys().collect();
    for name in entries(&path)? {
        missing.remove(&name);
        let below = relative.join(&name);
        let changed = match node.children.get(&name) {
            Some(child)
                if child
                    .stamp
                    .is_still(&Stamp::of(&metadata(&root.join(&below))?)) =>
            {
                child.stamp.is_folder() && has_changed(root, &below, child)?
            }
            _ => !is_all_records(root, &below)?,
        };
        if changed {
            return Ok(true);
        }
    }
    let gone = |name: &OsString| !is_record_in(root, &relative.join(name));
    Ok(missing.into_iter().any(gone))
}

fn is_record_in(root: &Path, relative: &Path) -> bool {
    is_record(relative, |other| root.join(other).exists())
}

/// Whether `relative` in the copy at `root` is a record of a runner of tests, or a folder with nothing else in it.
fn is_all_records(root: &Path, relative: &Path) -> Result<bool, FileError> {
    let path = root.join(relative);
    if !metadata(&path)?.is_dir() {
        return Ok(is_record_in(root, relative));
    }
    let names = entries(&path)?;
    for name in &names {
        if !is_all_records(root, &relative.join(name))? {
            return Ok(false);
        }
    }
    Ok(!names.is_empty())
}

/// Adds what has happened to the folder `relative` of the copy at `root`, which was `node`, and below.
fn gather(
    root: &Path,
    relative: &Path,
    node: &Node,
    changes: &mut BTreeMap<PathBuf, Left>,
) -> Result<(), FileError> {
    let path = root.join(relative);
    let now = metadata(&path)?;
    if now.mode() != node.stamp.mode {
        changes.insert(relative.to_path_buf(), Left::Folder { mode: now.mode() });
    }
    let mut missing: BTreeSet<&OsString> = node.children.keys().collect();
    for name in entries(&path)? {
        missing.remove(&name);
        let below = relative.join(&name);
        match node.children.get(&name) {
            Some(child)
                if child
                    .stamp
                    .is_still(&Stamp::of(&metadata(&root.join(&below))?)) =>
            {
                if child.stamp.is_folder() {
                    gather(root, &below, child, changes)?;
                }
            }
            _ => Left::gather(root, below, changes)?,
        }
    }
    let gone = missing.into_iter().map(|name| relative.join(name));
    changes.extend(gone.map(|path| (path, Left::Nothing)));
    Ok(())
}

struct Restorer<'a> {
    sandbox: &'a Sandbox,
    pristine: &'a Path,
    restored: Restored,
}

impl Restorer<'_> {
    fn path(&self, relative: &Path) -> PathBuf {
        match relative.as_os_str().is_empty() {
            true => self.sandbox.folder().to_path_buf(),
            false => self.sandbox.folder().join(relative),
        }
    }

    /// Removes an entry of the copy, and counts it unless it is a record.
    fn remove(&mut self, relative: &Path, now: &Stamp) -> Result<(), FileError> {
        let path = &self.path(relative);
        self.restored.removed +=
            usize::from(!is_all_records(self.sandbox.folder(), relative).unwrap_or(false));
        if now.is_folder() {
            files::remove_tree(path)
        } else {
            files::remove_file(path)
        }
    }

    /// Restores an entry that is not as it was. Whether its contents or its mode were others.
    fn file(&mut self, way: &Path, root: &mut Node) -> Result<bool, FileError> {
        let is_touched = is_touched(self.sandbox, self.pristine, way, root);
        let path = self.path(way);
        if let Ok(now) = fs::symlink_metadata(&path) {
            self.remove(way, &Stamp::of(&now))?;
        }
        self.sandbox.copy_entry(self.pristine, way)?;
        self.restored.copied += 1;
        let mut children = way.iter();
        let node = children.try_fold(root, |node, name| node.children.get_mut(name));
        if let Some(node) = node {
            *node = Node::take(&path)?;
        }
        Ok(!is_touched)
    }

    /// Restores a folder that exists and was one.
    fn folder(&mut self, relative: &Path, node: &mut Node) -> Result<(), FileError> {
        let path = self.path(relative);
        let before = metadata(&path)?;
        if before.mode() != node.stamp.mode {
            // It may not even be readable.
            let mode = Permissions::from_mode((node.stamp.mode | 0o700) & 0o7777);
            fs::set_permissions(&path, mode).context("set the mode of", &path)?;
        }
        let mut missing: BTreeSet<OsString> = node.children.keys().cloned().collect();
        for name in entries(&path)? {
            let (inner, below) = (path.join(&name), relative.join(&name));
            let now = Stamp::of(&metadata(&inner)?);
            let Some(child) = node.children.get_mut(&name) else {
                self.remove(&below, &now)?;
                continue;
            };
            if !child.stamp.is_still(&now) {
                self.remove(&below, &now)?;
                continue;
            }
            if now.is_folder() {
                self.folder(&below, child)?;
            }
            missing.remove(&name);
        }
        for name in missing {
            let below = relative.join(&name);
            self.sandbox.copy_entry(self.pristine, &below)?;
            let is_counted = !is_record_in(self.pristine, &below);
            self.restored.copied += usize::from(is_counted);
            node.children.insert(name, Node::take(&self.path(&below))?);
        }
        let after = Stamp::of(&metadata(&path)?);
        if (after.mode, after.modified) != (node.stamp.mode, node.stamp.modified) {
            finish(&metadata(&self.pristine.join(relative))?, &path)?;
            node.stamp = Stamp::of(&metadata(&path)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::CopyOptions;
    use std::os::unix::fs::symlink;

    /// Everything of a tree that must be as before, in words.
    fn state(root: &Path) -> Vec<String> {
        fn walk(root: &Path, path: &Path, lines: &mut Vec<String>) {
            let about = fs::symlink_metadata(path).unwrap();
            let contents = match about.file_type() {
                kind if kind.is_file() => format!("{:?}", fs::read(path).unwrap()),
                kind if kind.is_symlink() => format!("{:?}", fs::read_link(path).unwrap()),
                _ => String::new(),
            };
            let name = path.strip_prefix(root).unwrap().display();
            let time = about.modified().unwrap();
            lines.push(format!("{name} {:o} {time:?} {contents}", about.mode()));
            if about.is_dir() {
                let mut names = entries(path).unwrap();
                names.sort();
                for name in names {
                    walk(root, &path.join(name), lines);
                }
            }
        }
        let mut lines = Vec::new();
        walk(root, root, &mut lines);
        lines
    }

    #[test]
    fn records_of_test_runners_are_taken_back_and_do_not_count() {
        let guard = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(guard.path()).unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join("tests")).unwrap();
        fs::write(project.join("tests/one.log"), "old").unwrap();
        fs::write(project.join("tests/one.trs"), "old").unwrap();
        let options = CopyOptions::default();
        let copy = Sandbox::create(&project, &root.join("copy"), &project, &options).unwrap();
        let mut snapshot = Snapshot::take(&copy).unwrap();
        let before = state(copy.folder());
        let records = copy.folder().join("build/Testing/Temporary");
        fs::create_dir_all(&records).unwrap();
        fs::write(records.join("LastTest.log"), "0.01 sec").unwrap();
        fs::write(copy.folder().join("tests/one.log"), "new").unwrap();
        assert!(!snapshot.has_changed(&copy).unwrap());
        let restored = snapshot.restore(&copy, &project).unwrap();
        assert_eq!(restored, Restored::default());
        assert_eq!(state(copy.folder()), before);
        // Beside something else they count.
        fs::create_dir_all(&records).unwrap();
        fs::write(records.join("other"), "").unwrap();
        assert!(snapshot.has_changed(&copy).unwrap());
        assert_eq!(snapshot.restore(&copy, &project).unwrap().removed, 1);
        fs::write(copy.folder().join("tests/one.txt"), "").unwrap();
        assert!(snapshot.has_changed(&copy).unwrap());
    }

    #[test]
    fn whatever_happens_to_a_copy_is_taken_back() {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let (project, copy) = (root.join("project"), root.join("copy"));
        for folder in ["src/deep", "build", "empty"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        for file in ["src/a.c", "src/deep/b.c", "build/a.o", "build/run", "top"] {
            fs::write(project.join(file), file).unwrap();
        }
        symlink("src/a.c", project.join("link")).unwrap();
        let sandbox = Sandbox::create(&project, &copy, &project, &CopyOptions::default()).unwrap();
        let before = state(&copy);
        let mut snapshot = Snapshot::take(&sandbox).unwrap();
        for _ in 0..2 {
            let untouched = snapshot.restore(&sandbox, &project).unwrap();
            assert_eq!(untouched, Restored::default());
            // Another text of the same length with the old times; nobody sees it but the kernel.
            let path = copy.join("src/a.c");
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "src/X.c").unwrap();
            files::set_modified(&path, time).unwrap();
            // What came, went, and became something else.
            fs::create_dir_all(copy.join("new/folder")).unwrap();
            fs::write(copy.join("new/folder/file"), "").unwrap();
            fs::remove_dir_all(copy.join("src/deep")).unwrap();
            fs::remove_file(copy.join("build/a.o")).unwrap();
            fs::remove_file(copy.join("link")).unwrap();
            symlink("elsewhere", copy.join("link")).unwrap();
            fs::remove_dir(copy.join("empty")).unwrap();
            fs::write(copy.join("empty"), "a file now").unwrap();
            fs::remove_file(copy.join("top")).unwrap();
            fs::create_dir(copy.join("top")).unwrap();
            // Modes, also of a folder that nobody may enter then.
            fs::set_permissions(copy.join("build/run"), Permissions::from_mode(0o755)).unwrap();
            fs::set_permissions(copy.join("build"), Permissions::from_mode(0o000)).unwrap();
            let restored = snapshot.restore(&sandbox, &project).unwrap();
            assert_eq!(state(&copy), before);
            assert_eq!((restored.removed, restored.copied), (6, 7));
        }
    }

    #[test]
    fn a_folder_that_is_removed_and_made_again_has_not_changed() {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let (project, copy) = (root.join("project"), root.join("copy"));
        fs::create_dir_all(project.join("out")).unwrap();
        fs::create_dir_all(project.join("data/deep")).unwrap();
        fs::write(project.join("data/deep/a"), "a").unwrap();
        let sandbox = Sandbox::create(&project, &copy, &project, &CopyOptions::default()).unwrap();
        let before = state(&copy);
        let mut snapshot = Snapshot::take(&sandbox).unwrap();
        let again = |name: &str| {
            // Beside the old one, so that it has another number for sure.
            let mode = fs::metadata(copy.join(name)).unwrap().permissions();
            fs::create_dir(copy.join("new")).unwrap();
            fs::set_permissions(copy.join("new"), mode).unwrap();
            fs::remove_dir_all(copy.join(name)).unwrap();
            fs::rename(copy.join("new"), copy.join(name)).unwrap();
        };
        again("out");
        assert!(!snapshot.has_changed(&sandbox).unwrap());
        assert!(snapshot.changes(&sandbox).unwrap().is_empty());
        let restored = snapshot.restore(&sandbox, &project).unwrap();
        assert_eq!(restored, Restored::default());
        assert_eq!(state(&copy), before);
        // What lay in it counts.
        again("data/deep");
        assert!(snapshot.has_changed(&sandbox).unwrap());
        let changes = snapshot.changes(&sandbox).unwrap();
        let paths: Vec<&Path> = changes.paths().collect();
        assert_eq!(paths, [Path::new("data/deep/a")]);
        snapshot.restore(&sandbox, &project).unwrap();
        assert_eq!(state(&copy), before);
    }

    #[test]
    fn a_copy_of_which_nothing_is_left_is_made_anew() {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let (project, copy) = (root.join("project"), root.join("copy"));
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/a.c"), "a").unwrap();
        let sandbox = Sandbox::create(&project, &copy, &project, &CopyOptions::default()).unwrap();
        let before = state(&copy);
        let mut snapshot = Snapshot::take(&sandbox).unwrap();
        fs::remove_dir_all(copy.join("src")).unwrap();
        snapshot.restore(&sandbox, &project).unwrap();
        assert_eq!(state(&copy), before);
    }

    #[test]
    fn a_file_that_was_only_touched_is_put_back_and_is_none_of_those_that_were_changed() {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let (project, copy) = (root.join("project"), root.join("copy"));
        fs::create_dir_all(project.join("tests")).unwrap();
        for name in ["touched.c", "written.c", "left.c"] {
            fs::write(project.join("tests").join(name), name).unwrap();
        }
        let sandbox = Sandbox::create(&project, &copy, &project, &CopyOptions::default()).unwrap();
        let written = |file: &str| {
            let path = copy.join("tests").join(file);
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            (fs::read(&path).unwrap(), time)
        };
        let before = ["touched.c", "written.c"].map(written);
        let mut snapshot = Snapshot::take(&sandbox).unwrap();
        files::touch(&copy.join("tests/touched.c")).unwrap();
        fs::write(copy.join("tests/written.c"), "another").unwrap();
        let named = ["touched.c", "written.c", "left.c", "none.c"];
        let named = named.map(|name| Path::new("tests").join(name));
        let found = snapshot.put_back(&sandbox, &project, &named).unwrap();
        assert_eq!(found, [Path::new("tests/written.c")]);
        assert_eq!(["touched.c", "written.c"].map(written), before);
    }

    #[test]
    fn files_are_changed_in_the_copy_only() {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let (project, copy) = (root.join("project"), root.join("copy"));
        fs::create_dir(&project).unwrap();
        fs::write(project.join("a.c"), "old").unwrap();
        symlink(&project, project.join("itself")).unwrap();
        let viewed = CopyOptions {
            viewed: true,
            ..CopyOptions::default()
        };
        let sandbox = Sandbox::create(&project, &copy, &project, &viewed).unwrap();
        sandbox.write(Path::new("a.c"), b"new", Some(true)).unwrap();
        sandbox.write(Path::new("sub/b.c"), b"b", None).unwrap();
        assert_eq!(fs::read(copy.join("a.c")).unwrap(), b"new");
        assert_eq!(
            fs::metadata(copy.join("a.c")).unwrap().mode() & 0o111,
            0o111
        );
        sandbox.set_executable(Path::new("a.c"), false).unwrap();
        assert_eq!(fs::metadata(copy.join("a.c")).unwrap().mode() & 0o111, 0);
        for path in ["itself/a.c", "../project/a.c"] {
            assert!(sandbox.write(Path::new(path), b"new", None).is_err());
            assert!(sandbox.remove_file(Path::new(path)).is_err());
        }
        sandbox.remove_file(Path::new("a.c")).unwrap();
        assert!(!copy.join("a.c").exists());
        assert_eq!(fs::read(project.join("a.c")).unwrap(), b"old");
    }
}
