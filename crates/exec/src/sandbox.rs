//! Copies of a project's tree, in which programs may write freely.
//!
//! A copy keeps contents, modes, times to the nanosecond and symbolic links (so that `make` finds
//! everything as up to date as it was), and, for root, owners. It shares blocks with the original
//! where the file system can, but never an inode: programs write in place. FIFOs, sockets and
//! devices are skipped. `.git` is copied like all else, because some tests use it.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::files::{self, Context, FileError};
use crate::runner::CancelToken;

/// How [`Sandbox::create`] copies a tree.
#[derive(Debug, Clone, Default)]
pub struct CopyOptions {
    /// The path at which programs will see the copy, if a view makes it appear somewhere else.
    /// Without a view, symbolic links that point into the original tree by an absolute path are
    /// made to point into the copy, and relative ones that leave the tree are made absolute.
    pub viewed: bool,
    /// Files and folders to leave out, relative to the tree's root.
    pub exclude: Vec<PathBuf>,
    /// Ends the copying, with an error.
    pub cancel: Option<CancelToken>,
}

/// A copy of a project's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    folder: PathBuf,
    project: PathBuf,
    viewed: bool,
    skipped: Vec<PathBuf>,
    unreadable: Vec<PathBuf>,
    copied: Copied,
}

/// The number of copied bytes, and the largest file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// Bytes; those that both trees share do not count, nor do holes.
    pub bytes: u64,
    /// The file with most of them, relative to the root, and how many.
    pub largest: Option<(PathBuf, u64)>,
}

impl Sandbox {
    /// Copies the tree `source` to `folder`, which is created unless it exists and is empty.
    /// `project` is the root that the copy stands for: the source itself, or what the source is a
    /// (built) copy of. All paths are absolute and without symbolic links.
    ///
    /// # Errors
    /// What cannot be read or written, by name; nothing is removed then.
    pub fn create(
        source: &Path,
        folder: &Path,
        project: &Path,
        options: &CopyOptions,
    ) -> Result<Self, FileError> {
        if folder.starts_with(source) {
            let inside = io::Error::new(
                io::ErrorKind::InvalidInput,
                "the copy would lie inside the tree; set PATCHWRIGHT_TMP to a folder outside it",
            );
            return Err(FileError::new("copy", source, inside));
        }
        let mut copier = Copier {
            source,
            folder,
            project,
            options,
            skipped: Vec::new(),
            unreadable: Vec::new(),
            copied: Copied::default(),
        };
        copier.copy_folder(source, folder)?;
        copier.skipped.sort();
        copier.unreadable.sort();
        Ok(Sandbox {
            folder: folder.to_path_buf(),
            project: project.to_path_buf(),
            viewed: options.viewed,
            skipped: copier.skipped,
            unreadable: copier.unreadable,
            copied: copier.copied,
        })
    }

    /// Returns the folder of the copy, as the host sees it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the root of the project that the copy stands for.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the root as programs in the sandbox see it: the project's own path if there is a view,
    /// else [`Sandbox::folder`].
    pub fn run_root(&self) -> &Path {
        if self.viewed {
            &self.project
        } else {
            &self.folder
        }
    }

    /// Returns the part of `path` below the project's root, where `path` is one that programs in the
    /// sandbox use. It is `None` for a path outside.
    pub fn below_root(&self, path: &Path) -> Option<PathBuf> {
        let path = normalize(path);
        path.strip_prefix(self.run_root())
            .ok()
            .map(Path::to_path_buf)
    }

    /// Returns where the host finds a file of the project. `path` is relative to the project's root,
    /// or absolute in the project or the copy. Other paths stay as they are.
    pub fn host_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.project) {
            Ok(relative) => join(&self.folder, relative),
            Err(_) => self.folder.join(path),
        }
    }

    /// Returns the path in the project that a path in the copy stands for. Other paths stay as they
    /// are.
    pub fn project_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.folder) {
            Ok(relative) => join(&self.project, relative),
            Err(_) => self.project.join(path),
        }
    }

    /// Returns the FIFOs, sockets and devices that were not copied, relative to the root.
    pub fn skipped(&self) -> &[PathBuf] {
        &self.skipped
    }

    /// Returns the folders that the user has no permission to read, so that they are not in the copy, relative to the root.
    pub fn unreadable(&self) -> &[PathBuf] {
        &self.unreadable
    }

    /// Returns how many bytes the copy took when it was made, and its largest file.
    pub fn copied(&self) -> &Copied {
        &self.copied
    }

    /// Copies this copy in its present state to `folder`, for the same project.
    ///
    /// # Errors
    /// As [`Sandbox::create`].
    pub fn duplicate(&self, folder: &Path, options: &CopyOptions) -> Result<Self, FileError> {
        Sandbox::create(&self.folder, folder, &self.project, options)
    }

    /// Writes `contents` to the regular file `relative` of the copy, which becomes newer than
    /// everything that was built from it. `executable` sets the mode, if given. A missing file is
    /// made, with the folders above it. A path through a symbolic link is refused, so nothing outside
    /// of the copy can be written.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(
        &self,
        relative: &Path,
        contents: &[u8],
        executable: Option<bool>,
    ) -> Result<(), FileError> {
        let path = self.inside(relative)?;
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        files::replace(&path, contents)?;
        executable.map_or(Ok(()), |executable| {
            self.set_executable(relative, executable)
        })
    }

    /// Removes the file `relative` of the copy.
    ///
    /// # Errors
    /// When it cannot be removed, or its path leads through a symbolic link.
    pub fn remove_file(&self, relative: &Path) -> Result<(), FileError> {
        files::remove_file(&self.inside(relative)?)
    }

    /// Sets whether everybody who may read the file `relative` of the copy may execute it.
    ///
    /// # Errors
    /// When its mode cannot be set, or its path leads through a symbolic link.
    pub fn set_executable(&self, relative: &Path, executable: bool) -> Result<(), FileError> {
        let path = self.inside(relative)?;
        if executable {
            return files::make_executable(&path);
        }
        let mode = fs::metadata(&path)
            .context("read the mode of", &path)?
            .mode()
            & 0o7666;
        fs::set_permissions(&path, Permissions::from_mode(mode)).context("set the mode of", &path)
    }

    /// A path in the copy of which no part that exists is a symbolic link.
    fn inside(&self, relative: &Path) -> Result<PathBuf, FileError> {
        let mut path = self.folder.clone();
        for component in relative.components() {
            path.push(component);
            let plain = matches!(component, Component::Normal(_));
            let link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
            if !plain || link {
                let leaves = io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is a symbolic link or leaves the copy",
                );
                return Err(FileError::new("change", path, leaves));
            }
        }
        Ok(path)
    }

    /// Copies one entry of the tree `source` into this copy, where nothing is in its place. The
    /// source is another copy of the same project.
    pub(crate) fn copy_entry(&self, source: &Path, relative: &Path) -> Result<(), FileError> {
        let options = CopyOptions {
            viewed: self.viewed,
            ..CopyOptions::default()
        };
        let mut copier = Copier {
            source,
            folder: &self.folder,
            project: &self.project,
            options: &options,
            skipped: Vec::new(),
            unreadable: Vec::new(),
            copied: Copied::default(),
        };
        let (from, to) = (source.join(relative), self.folder.join(relative));
        let kind = fs::symlink_metadata(&from)
            .context("read", &from)?
            .file_type();
        if kind.is_dir() {
            copier.copy_folder(&from, &to)
        } else if kind.is_symlink() {
            copier.copy_link(&from, &to)
        } else {
            copy_file(&from, &to).map(drop)
        }
    }

    /// Removes the folder of the copy with everything in it.
    ///
    /// # Errors
    /// What cannot be removed.
    pub fn remove(self) -> Result<(), FileError> {
        files::remove_tree(&self.folder)
    }
}

/// `join` leaves a slash at the end when there is nothing to join.
fn join(root: &Path, relative: &Path) -> PathBuf {
    if relative.as_os_str().is_empty() {
        root.to_path_buf()
    } else {
        root.join(relative)
    }
}

struct Copier<'a> {
    source: &'a Path,
    folder: &'a Path,
    project: &'a Path,
    options: &'a CopyOptions,
    skipped: Vec<PathBuf>,
    unreadable: Vec<PathBuf>,
    copied: Copied,
}

impl Copier<'_> {
    fn copy_folder(&mut self, from: &Path, to: &Path) -> Result<(), FileError> {
        let metadata = fs::symlink_metadata(from).context("read", from)?;
        let entries = match fs::read_dir(from) {
            // The root is asked for; what lies below it may be somebody else's, and of no use to a build.
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && from != self.source =>
            {
                let relative = from.strip_prefix(self.source).unwrap_or(from);
                self.unreadable.push(relative.to_path_buf());
                return Ok(());
            }
            entries => entries.context("read the folder", from)?,
        };
        match files::create_private_folder(to) {
            Err(error)
                if error.source.kind() == io::ErrorKind::AlreadyExists && to == self.folder => {}
            other => other?,
        }
        for entry in entries {
            let entry = entry.context("read the folder", from)?;
            let source = entry.path();
            if self
                .options
                .cancel
                .as_ref()
                .is_some_and(CancelToken::is_cancelled)
            {
                let interrupted = io::Error::from(io::ErrorKind::Interrupted);
                return Err(FileError::new("copy", source, interrupted));
            }
            let relative = source.strip_prefix(self.source).unwrap_or(&source);
            if self
                .options
                .exclude
                .iter()
                .any(|excluded| excluded == relative)
            {
                continue;
            }
            let kind = entry.file_type().context("read", &source)?;
            let target = to.join(entry.file_name());
            if kind.is_dir() {
                self.copy_folder(&source, &target)?;
            } else if kind.is_file() {
                let bytes = copy_file(&source, &target)?;
                self.copied.bytes += bytes;
                let largest = self.copied.largest.as_ref().map_or(0, |(_, most)| *most);
                if bytes > largest {
                    self.copied.largest = Some((relative.to_path_buf(), bytes));
                }
            } else if kind.is_symlink() {
                self.copy_link(&source, &target)?;
            } else {
                self.skipped.push(relative.to_path_buf());
            }
        }
        // Last: entries would change the time, and the mode may forbid to add any.
        finish(&metadata, to)
    }

    fn copy_link(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        let metadata = fs::symlink_metadata(from).context("read", from)?;
        let target = fs::read_link(from).context("read the link", from)?;
        let target = self.retarget(from, target);
        std::os::unix::fs::symlink(&target, to).context("create the link", to)?;
        keep_owner(&metadata, to);
        files::set_times(to, metadata.mtime(), metadata.mtime_nsec()).context("set the time of", to)
    }

    /// What a link must point to in the copy.
    fn retarget(&self, link: &Path, target: PathBuf) -> PathBuf {
        if self.options.viewed {
            return target;
        }
        if target.is_absolute() {
            let roots = [self.project, self.source];
            let inside = roots.iter().find_map(|root| target.strip_prefix(root).ok());
            return inside
                .map(|relative| join(self.folder, relative))
                .unwrap_or(target);
        }
        let folder = link.parent().unwrap_or(self.source);
        let absolute = normalize(&folder.join(&target));
        if absolute.starts_with(self.source) {
            return target;
        }
        // It leaves the tree: what it meant is relative to the project.
        let folder = folder.strip_prefix(self.source).unwrap_or(folder);
        normalize(&self.project.join(folder).join(target))
    }
}

/// Returns `path` without `.` and `..`, resolved by the text of the path alone.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    normal.push(component);
                }
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Copies a file. The result is how many bytes were copied.
fn copy_file(from: &Path, to: &Path) -> Result<u64, FileError> {
    // A FIFO that took the file's place since the listing must not block us.
    let mut source = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(from)
        .context("copy", from)?;
    let metadata = source.metadata().context("copy", from)?;
    let mut target: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .context("create", to)?;
    let copied = files::copy_contents(&mut source, &mut target).context("copy", from)?;
    drop(target);
    finish(&metadata, to)?;
    Ok(copied)
}

/// Gives a copied file or folder the owner, mode and time of the original, in the order in which
/// each survives the next.
pub(crate) fn finish(metadata: &Metadata, path: &Path) -> Result<(), FileError> {
    keep_owner(metadata, path);
    let mode = Permissions::from_mode(metadata.permissions().mode() & 0o7777);
    fs::set_permissions(path, mode).context("set the mode of", path)?;
    files::set_times(path, metadata.mtime(), metadata.mtime_nsec()).context("set the time of", path)
}

/// Root copies the trees of others; programs such as git distrust a tree whose owner changed.
/// File systems without owners are no reason to stop.
fn keep_owner(metadata: &Metadata, path: &Path) {
    // SAFETY: no pointers.
    let user = unsafe { libc::geteuid() };
    if user == 0 && (metadata.uid(), metadata.gid()) != (0, 0) {
        let _ = std::os::unix::fs::lchown(path, Some(metadata.uid()), Some(metadata.gid()));
    }
}

/// Sets the modification time of every file below `folder` with this extension to now, so that a
/// build compiles it again. Symbolic links are left alone.
///
/// # Errors
/// A folder that cannot be read or a file whose time cannot be set.
pub fn touch_all(folder: &Path, extension: &OsStr) -> Result<(), FileError> {
    for entry in fs::read_dir(folder).context("read the folder", folder)? {
        let entry = entry.context("read the folder", folder)?;
        let path = entry.path();
        let kind = entry.file_type().context("read", &path)?;
        if kind.is_dir() {
            touch_all(&path, extension)?;
        } else if kind.is_file() && path.extension() == Some(extension) {
            files::touch(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, UNIX_EPOCH};

    struct Fixture {
        _base: tempfile::TempDir,
        project: PathBuf,
        copy: PathBuf,
    }

    fn fixture() -> Fixture {
        let base = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(base.path()).unwrap();
        let project = root.join("it's a \"project\"");
        fs::create_dir(&project).unwrap();
        Fixture {
            project,
            copy: root.join("copy"),
            _base: base,
        }
    }

    fn copy(fixture: &Fixture, options: &CopyOptions) -> Sandbox {
        Sandbox::create(&fixture.project, &fixture.copy, &fixture.project, options).unwrap()
    }

    #[test]
    fn a_copy_keeps_contents_modes_and_times() {
        let fixture = fixture();
        let odd = OsString::from_vec(b"caf\xe9 \n'x'".to_vec());
        let folder = fixture.project.join("sub folder");
        fs::create_dir(&folder).unwrap();
        let file = folder.join(&odd);
        fs::write(&file, "contents").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o4751)).unwrap();
        let time = UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
        files::set_modified(&file, time).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
        files::set_modified(&folder, time).unwrap();
        let sandbox = copy(&fixture, &CopyOptions::default());
        let copied = fixture.copy.join("sub folder").join(&odd);
        assert_eq!(fs::read(&copied).unwrap(), b"contents");
        for path in [&copied, &fixture.copy.join("sub folder")] {
            let original = fixture
                .project
                .join(path.strip_prefix(&fixture.copy).unwrap());
            let (left, right) = (fs::metadata(path).unwrap(), fs::metadata(original).unwrap());
            assert_eq!(left.mode(), right.mode());
            assert_eq!(left.modified().unwrap(), time);
            assert_ne!(left.ino(), right.ino());
        }
        sandbox.remove().unwrap();
        assert!(!fixture.copy.exists());
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn hard_links_of_the_original_are_not_linked_with_the_copy() {
        let fixture = fixture();
        fs::write(fixture.project.join("a"), "old").unwrap();
        fs::hard_link(fixture.project.join("a"), fixture.project.join("b")).unwrap();
        copy(&fixture, &CopyOptions::default());
        fs::write(fixture.copy.join("a"), "new").unwrap();
        assert_eq!(fs::read(fixture.project.join("a")).unwrap(), b"old");
        assert_eq!(fs::read(fixture.copy.join("b")).unwrap(), b"old");
    }

    #[test]
    fn links_stay_in_the_tree_that_they_are_seen_in() {
        for viewed in [false, true] {
            let fixture = fixture();
            let project = &fixture.project;
            fs::write(project.join("file"), "").unwrap();
            symlink("file", project.join("relative")).unwrap();
            symlink(project.join("file"), project.join("absolute")).unwrap();
            symlink("../sibling", project.join("leaving")).unwrap();
            symlink("/etc/passwd", project.join("outside")).unwrap();
            symlink("nowhere", project.join("dangling")).unwrap();
            copy(
                &fixture,
                &CopyOptions {
                    viewed,
                    ..CopyOptions::default()
                },
            );
            let target = |name: &str| fs::read_link(fixture.copy.join(name)).unwrap();
            assert_eq!(target("relative"), Path::new("file"));
            assert_eq!(target("outside"), Path::new("/etc/passwd"));
            assert_eq!(target("dangling"), Path::new("nowhere"));
            if viewed {
                assert_eq!(target("absolute"), project.join("file"));
                assert_eq!(target("leaving"), Path::new("../sibling"));
            } else {
                assert_eq!(target("absolute"), fixture.copy.join("file"));
                assert_eq!(target("leaving"), project.parent().unwrap().join("sibling"));
            }
        }
    }

    #[test]
    fn a_folder_that_may_not_be_read_is_left_out_and_named() {
        const NOBODY: u32 = 65_534;
        let fixture = fixture();
        let closed = fixture.project.join("sub/closed");
        fs::create_dir_all(closed.join("inner")).unwrap();
        fs::write(fixture.project.join("sub/file"), "x").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        // SAFETY: no pointers.
        let is_root = unsafe { libc::geteuid() } == 0;
        if is_root {
            let base = fixture.project.parent().unwrap();
            for path in [
                base,
                &fixture.project,
                &fixture.project.join("sub"),
                &closed,
            ] {
                std::os::unix::fs::lchown(path, Some(NOBODY), None).unwrap();
            }
            // Root may read everything; for this thread that ends.
            // SAFETY: no pointers.
            unsafe { libc::setfsuid(NOBODY) };
        }
        let sandbox = Sandbox::create(
            &fixture.project,
            &fixture.copy,
            &fixture.project,
            &CopyOptions::default(),
        );
        let files = files::regular_files_below(&fixture.project);
        if is_root {
            // SAFETY: no pointers.
            unsafe { libc::setfsuid(0) };
        }
        fs::set_permissions(&closed, Permissions::from_mode(0o755)).unwrap();
        let sandbox = sandbox.unwrap();
        assert_eq!(sandbox.unreadable(), [PathBuf::from("sub/closed")]);
        assert_eq!(sandbox.copied().bytes, 1);
        assert_eq!(
            sandbox.copied().largest,
            Some((PathBuf::from("sub/file"), 1))
        );
        assert!(fixture.copy.join("sub/file").exists());
        assert!(!fixture.copy.join("sub/closed").exists());
        assert_eq!(files.unwrap(), [fixture.project.join("sub/file")]);
    }

    #[test]
    fn fifos_and_excluded_folders_are_left_out() {
        let fixture = fixture();
        let fifo = files::c_path(&fixture.project.join("fifo")).unwrap();
        // SAFETY: a NUL-terminated path.
        assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
        fs::create_dir_all(fixture.project.join("data/huge")).unwrap();
        let exclude = vec![PathBuf::from("data/huge")];
        let sandbox = copy(
            &fixture,
            &CopyOptions {
                viewed: false,
                exclude,
                cancel: None,
            },
        );
        assert_eq!(sandbox.skipped(), [PathBuf::from("fifo")]);
        assert!(fixture.copy.join("data").exists());
        assert!(!fixture.copy.join("data/huge").exists());
        assert!(!fixture.copy.join("fifo").exists());
    }

    #[test]
    fn a_copy_inside_the_tree_is_refused() {
        let fixture = fixture();
        let inside = fixture.project.join("tmp");
        let options = CopyOptions::default();
        let error = Sandbox::create(&fixture.project, &inside, &fixture.project, &options);
        assert!(error.unwrap_err().to_string().contains("PATCHWRIGHT_TMP"));
    }

    #[test]
    fn a_missing_tree_is_named_in_the_error() {
        let fixture = fixture();
        let missing = fixture.project.join("missing");
        let options = CopyOptions::default();
        let error = Sandbox::create(&missing, &fixture.copy, &missing, &options).unwrap_err();
        assert!(error.to_string().contains("missing"), "{error}");
    }

    #[test]
    fn paths_are_mapped_between_project_and_copy() {
        let fixture = fixture();
        let sandbox = copy(&fixture, &CopyOptions::default());
        let (project, folder) = (&fixture.project, &fixture.copy);
        assert_eq!(sandbox.run_root(), folder);
        assert_eq!(sandbox.host_path(Path::new("a/b.c")), folder.join("a/b.c"));
        assert_eq!(sandbox.host_path(&project.join("a.c")), folder.join("a.c"));
        assert_eq!(
            sandbox.host_path(Path::new("/usr/x.h")),
            Path::new("/usr/x.h")
        );
        assert_eq!(
            sandbox.project_path(&folder.join("a.c")),
            project.join("a.c")
        );
        assert_eq!(sandbox.project_path(folder), *project);
    }

    #[test]
    fn normalizing_resolves_dots() {
        assert_eq!(normalize(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normalize(Path::new("../a")), Path::new("../a"));
    }
}
