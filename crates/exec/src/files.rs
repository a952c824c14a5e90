//! Reads, writes and removes files. No other module writes files.
//!
//! Every function reports a [`FileError`] that names the path, what was being done to it and, for
//! the usual causes, what to do about it.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::refusal::{MORE_DESCRIPTORS, is_of_descriptors};

/// A file or folder that could not be read, written, copied or removed. The message names the path, the
/// action and, for the usual causes, a remedy.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot {action} {}: {source}{}",
    shortened(path),
    remedy(action, source)
)]
pub struct FileError {
    /// What was being done, as a verb: "read", "copy", "create the folder", …
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

impl FileError {
    /// Makes the error that `action`, such as `read`, failed for `path` because of `source`.
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        FileError {
            action,
            path: path.into(),
            source,
        }
    }

    /// Whether the cause is a full disk or an exhausted quota.
    pub fn is_disk_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

/// A path as it is shown: of a very long one, which only hostile programs make, the beginning and the end.
fn shortened(path: &Path) -> String {
    const LONGEST: usize = 400;
    let text: Vec<char> = path.display().to_string().chars().collect();
    match text.len() > LONGEST {
        true => {
            let part = |chars: &[char]| chars.iter().collect::<String>();
            format!(
                "{}…{}",
                part(&text[..LONGEST / 2]),
                part(&text[text.len() - 40..])
            )
        }
        false => text.into_iter().collect(),
    }
}

const WRITE_PATCHES: &str = "write patches to";
/// The action of a [`FileError`] about the folder for temporary files.
pub(crate) const USE_TEMPORARY: &str = "use the temporary folder";

fn remedy(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        _ if action == WRITE_PATCHES => "; name another folder with --output",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if action == USE_TEMPORARY => {
            "; make it, or set PATCHWRIGHT_TMP to a folder that is there"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or set PATCHWRIGHT_TMP to a folder on a larger disk"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "; set PATCHWRIGHT_TMP to a folder that can be written"
        }
        _ if is_of_descriptors(error) => MORE_DESCRIPTORS,
        io::ErrorKind::PermissionDenied => "; check its owner and mode",
        _ => "",
    }
}

/// Attaches an action and a path to an I/O result.
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, FileError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|source| FileError::new(action, path, source))
    }
}

/// The size in bytes of the largest file that [`read`] reads.
pub const LARGEST_READ: u64 = 1 << 30;

/// Reads a whole file, a plain one of at most [`LARGEST_READ`] bytes: a device or a pipe may have no end.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let refused = |message: &str| {
        FileError::new(
            "read",
            path,
            io::Error::new(io::ErrorKind::InvalidInput, message),
        )
    };
    let about = fs::metadata(path).context("read", path)?;
    match about.is_file() {
        false if !about.is_dir() => Err(refused("it is no plain file")),
        true if about.len() > LARGEST_READ => Err(refused(&format!(
            "it has {} MiB, and files of at most {} MiB are read",
            about.len() >> 20,
            LARGEST_READ >> 20
        ))),
        _ => fs::read(path).context("read", path),
    }
}

/// Writes a file so that a reader sees either its old or its new contents. A new file gets mode
/// 0644 less the umask, an existing one keeps its mode. A symbolic link is followed.
pub fn write_atomic(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    // Renaming over a link would replace the link itself.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mode = fs::metadata(&target)
        .ok()
        .map(|m| m.permissions().mode() & 0o7777);
    let temporary = temporary_beside(&target);
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&temporary)
            .context("create", &temporary)?;
        file.write_all(contents).context("write", &target)?;
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))
                .context("write", &target)?;
        }
        fs::rename(&temporary, &target).context("write", &target)
    })();
    if written.is_err() {
        // Best effort: the error that matters is the first.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Makes a file with these contents, and a time of change in seconds since 1970; it must not exist yet. Folders above it are made.
pub fn create_at_time(
    path: &Path,
    contents: &[u8],
    executable: bool,
    time: i64,
) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if executable { 0o755 } else { 0o644 })
        .open(path)
        .context("create", path)?;
    file.write_all(contents).context("write", path)?;
    set_times(path, time, 0).context("set the time of", path)
}

/// Replaces a file's contents as [`write_atomic`] does and makes it newer than everything that was
/// built from it, so that `make` and its like build again.
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    write_atomic(path, contents)?;
    touch(path)
}

/// A file whose contents are exchanged for a while, for a compiler. Put back, it has its former time, so
/// that `make` does not build again.
pub struct Exchanged {
    path: PathBuf,
    contents: Vec<u8>,
    time: SystemTime,
}

impl Exchanged {
    /// Gives the file at `path` other contents, and keeps the former ones.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn put(path: &Path, contents: &[u8]) -> Result<Self, FileError> {
        let metadata = fs::metadata(path).context("read", path)?;
        let before = Exchanged {
            path: path.to_path_buf(),
            contents: read(path)?,
            time: metadata.modified().context("read the time of", path)?,
        };
        write_atomic(path, contents)?;
        Ok(before)
    }

    /// Gives the file its former contents and its former time.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put_back(self) -> Result<(), FileError> {
        write_atomic(&self.path, &self.contents)?;
        set_modified(&self.path, self.time).context("set the time of", &self.path)
    }
}

/// Sets a file's modification time to now.
///
/// "Now" is read from the precise clock. The kernel stamps writes with a clock that ticks every few milliseconds. A file
/// touched by that clock right after its object file was written can have an equal time, and `make` would keep the stale
/// object.
pub fn touch(path: &Path) -> Result<(), FileError> {
    set_modified(path, SystemTime::now()).context("set the time of", path)
}

/// Sets the modification time of a file, folder or symbolic link to the nanosecond. Links are not
/// followed.
pub fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    let (seconds, nanoseconds) = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after.as_secs() as i64, i64::from(after.subsec_nanos())),
        Err(before) => {
            let before = before.duration();
            let nanos = i64::from(before.subsec_nanos());
            let borrow = i64::from(nanos > 0);
            (
                -(before.as_secs() as i64) - borrow,
                (1_000_000_000 - nanos) % 1_000_000_000,
            )
        }
    };
    set_times(path, seconds, nanoseconds)
}

/// Sets the time of the last change of a file; links are not followed.
pub(crate) fn set_times(path: &Path, seconds: i64, nanoseconds: i64) -> io::Result<()> {
    let times = [
        libc::timespec {
            tv_sec: 0,
            tv_nsec: libc::UTIME_OMIT,
        },
        libc::timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds,
        },
    ];
    let path = c_path(path)?;
    // SAFETY: `path` is a NUL-terminated string and `times` an array of two, both alive here.
    let result = unsafe {
        libc::utimensat(
            libc::AT_FDCWD,
            path.as_ptr(),
            times.as_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Converts a path for a system call.
pub(crate) fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path contains a NUL byte"))
}

/// Creates a folder for patches unless it is there, and makes sure that files can be written to it.
pub fn create_output_folder(path: &Path) -> Result<(), FileError> {
    create_folder(path).map_err(|error| FileError::new(WRITE_PATCHES, path, error.source))?;
    let file = temporary_beside(&path.join("x"));
    fs::write(&file, "")
        .and_then(|()| fs::remove_file(&file))
        .context(WRITE_PATCHES, path)
}

/// Creates a folder and all missing folders above it.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).context("create the folder", path)
}

/// Creates a folder that only its owner may enter; it must not exist yet.
pub fn create_private_folder(path: &Path) -> Result<(), FileError> {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .context("create the folder", path)
}

/// Removes a file or a symbolic link. One that does not exist is no error.
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FileError::new("remove", path, error))
        }
        _ => Ok(()),
    }
}

/// Removes a folder with everything in it, also folders whose mode forbids that. One that does not
/// exist is no error. Symbolic links are removed, never followed.
pub fn remove_tree(path: &Path) -> Result<(), FileError> {
    crate::removal::remove(path).context("remove", path)
}

/// Returns the regular files below `folder`, in no order. Links are not followed, and folders that may
/// not be read are skipped.
///
/// # Errors
/// A folder that cannot be read.
pub fn regular_files_below(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            entries => entries.context("read the folder", &folder)?,
        };
        for entry in entries {
            let entry = entry.context("read the folder", &folder)?;
            let kind = entry.file_type().context("read the folder", &folder)?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// Removes everything in a folder. A missing folder is made.
pub fn empty_folder(path: &Path) -> Result<(), FileError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return create_private_folder(path);
        }
        Err(error) => return Err(FileError::new("read", path, error)),
    };
    for entry in entries {
        let entry = entry.context("read", path)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree(&entry.path())?;
        } else {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

/// Makes a symbolic link at `path` to `target`. `path` must not exist yet.
pub fn create_link(target: &Path, path: &Path) -> Result<(), FileError> {
    std::os::unix::fs::symlink(target, path).context("create", path)
}

/// Bytes that this user may still write to the file system of a folder.
///
/// # Errors
/// When the system does not tell.
pub fn free_space(folder: &Path) -> Result<u64, FileError> {
    let failed = |error| FileError::new("look at the room in", folder, error);
    let path = CString::new(folder.as_os_str().as_bytes())
        .map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
    // SAFETY: zeroes are a value of this type.
    let mut about: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and the structure may be written.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut about) } < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Lets everybody who may read a file execute it.
pub fn make_executable(path: &Path) -> Result<(), FileError> {
    let mode = fs::metadata(path)
        .context("read the mode of", path)?
        .permissions()
        .mode();
    let mode = mode | ((mode & 0o444) >> 2);
    fs::set_permissions(path, Permissions::from_mode(mode)).context("set the mode of", path)
}

/// Whether `path` is a file that somebody may execute.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.mode() & 0o111 != 0)
}

/// Creates a file of `length` zero bytes, opened for reading and writing; it must not exist yet. Tested
/// processes share it as memory.
pub fn create_zeroed(path: &Path, length: u64) -> Result<File, FileError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .context("create", path)?;
    file.set_len(length).context("write", path)?;
    Ok(file)
}

/// A file to which lines are appended. One process at a time holds it.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens or makes a log and returns it with its contents: whole lines. A last line without a
    /// newline was cut short by a crash and is removed.
    ///
    /// # Errors
    /// What cannot be read or written; [`io::ErrorKind::WouldBlock`] if another process has it.
    pub fn open(path: &Path) -> Result<(Self, Vec<u8>), FileError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .context("open", path)?;
        // SAFETY: no pointers.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            return Err(FileError::new("lock", path, io::Error::last_os_error()));
        }
        let mut text = fs::read(path).context("read", path)?;
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        if whole < text.len() {
            text.truncate(whole);
            file.set_len(whole as u64).context("write", path)?;
        }
        let path = path.to_path_buf();
        Ok((Log { file, path }, text))
    }

    /// Removes all lines from the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn clear(&mut self) -> Result<(), FileError> {
        self.file.set_len(0).context("write", &self.path)
    }

    /// Appends a line, given without its newline. The line survives the end of this process.
    ///
    /// # Errors
    /// When it cannot be written; a part of the line may have been.
    pub fn add(&mut self, line: &[u8]) -> Result<(), FileError> {
        let mut text = line.to_vec();
        text.push(b'\n');
        self.file.write_all(&text).context("write", &self.path)
    }

    /// Waits until all lines are on disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.file.sync_data().context("write", &self.path)
    }
}

/// Copies the contents of an open file into an empty one: shares the blocks where the file system
/// can (`FICLONE`), else copies inside the kernel. Holes stay holes. The result is how many bytes were copied.
pub(crate) fn copy_contents(from: &mut File, to: &mut File) -> io::Result<u64> {
    // SAFETY: both descriptors are open; FICLONE takes the source descriptor by value.
    if unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONE, from.as_raw_fd()) } == 0 {
        return Ok(0);
    }
    let about = from.metadata()?;
    // Blocks have 512 bytes here, whatever the file system's have.
    if about.blocks().saturating_mul(512) >= about.len() {
        return io::copy(from, to);
    }
    let mut copied = 0;
    let mut at = 0;
    while let Some(start) = seek_to(from, at, libc::SEEK_DATA)? {
        let end = seek_to(from, start, libc::SEEK_HOLE)?.unwrap_or(about.len());
        from.seek(SeekFrom::Start(start))?;
        to.seek(SeekFrom::Start(start))?;
        copied += io::copy(&mut from.take(end - start), to)?;
        at = end;
    }
    to.set_len(about.len())?;
    Ok(copied)
}

/// Where data (`SEEK_DATA`) or a hole (`SEEK_HOLE`) begins from `at` on; none behind the last.
fn seek_to(file: &File, at: u64, what: libc::c_int) -> io::Result<Option<u64>> {
    // SAFETY: no pointers, and the descriptor is open.
    let found = unsafe { libc::lseek(file.as_raw_fd(), at as i64, what) };
    match u64::try_from(found) {
        Ok(found) => Ok(Some(found)),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            error => Err(error),
        },
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".patchwright-{}-{number}.tmp", std::process::id());
    path.with_file_name(name)
}

/// The access with which [`open`] opens a file, as the flags of `open(2)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// Made if it is not there.
    pub create: bool,
    /// It must not be there.
    pub exclusive: bool,
    /// Emptied.
    pub truncate: bool,
    /// Permissions of a new file, less the umask.
    pub mode: u32,
}

/// Opens a file for a program in the interpreter, which may do to files what a process of the user may do.
///
/// # Errors
/// As `open(2)`.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(access.read)
        .write(access.write)
        .append(access.append)
        .mode(access.mode);
    let mut flags = 0;
    for (holds, flag) in [
        (access.create, libc::O_CREAT),
        (access.exclusive, libc::O_EXCL),
        (access.truncate, libc::O_TRUNC),
    ] {
        if holds {
            flags |= flag;
        }
    }
    options.custom_flags(flags).open(path)
}

/// Renames a file for a program in the interpreter.
///
/// # Errors
/// As `rename(2)`.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_keeps_the_mode_of_an_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
        write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writing_through_a_link_keeps_the_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomic(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_replaced_file_is_newer_than_a_file_written_just_before() {
        let folder = tempfile::tempdir().unwrap();
        let (source, object) = (folder.path().join("a.c"), folder.path().join("a.o"));
        fs::write(&source, "old").unwrap();
        for _ in 0..50 {
            fs::write(&object, "object").unwrap();
            replace(&source, b"new").unwrap();
            let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
            assert!(time(&source) > time(&object));
        }
    }

    #[test]
    fn a_log_keeps_whole_lines_and_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (mut log, text) = Log::open(&path).unwrap();
        assert!(text.is_empty());
        log.add(b"one").unwrap();
        let taken = Log::open(&path).unwrap_err();
        assert_eq!(taken.source.kind(), io::ErrorKind::WouldBlock);
        drop(log);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"cut sho").unwrap();
        let (mut log, text) = Log::open(&path).unwrap();
        assert_eq!(text, b"one\n");
        log.add(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        log.clear().unwrap();
        log.add(b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three\n");
    }

    #[test]
    fn a_file_with_other_contents_for_a_while_is_as_old_afterwards_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "own").unwrap();
        let time = UNIX_EPOCH + std::time::Duration::new(1_000_000, 250);
        set_modified(&path, time).unwrap();
        let exchanged = Exchanged::put(&path, b"other").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
        exchanged.put_back().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"own");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    }

    #[test]
    fn holes_are_copied_as_holes() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let mut file = create_zeroed(&from, 8 << 30).unwrap();
        for (at, text) in [(1 << 20, "first"), (5 << 30, "second")] {
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        let mut copy = create_zeroed(&to, 0).unwrap();
        let copied = copy_contents(&mut file, &mut copy).unwrap();
        assert!(copied <= 1 << 20, "{copied} bytes");
        let about = copy.metadata().unwrap();
        assert_eq!(about.len(), 8 << 30);
        assert!(about.blocks() * 512 <= 1 << 20, "{}", about.blocks());
        for (at, text) in [(1 << 20, "first"), (5 << 30, "second"), (3 << 30, "\0\0")] {
            copy.seek(SeekFrom::Start(at)).unwrap();
            let mut read = vec![0; text.len()];
            copy.read_exact(&mut read).unwrap();
            assert_eq!(read, text.as_bytes());
        }
    }

    #[test]
    fn what_has_no_end_or_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        create_zeroed(&path, LARGEST_READ + 1).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("it has 1024 MiB, and files of at most 1024 MiB are read"),
            "{error}"
        );
        let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(error, "cannot read /dev/zero: it is no plain file");
    }

    #[test]
    fn times_before_1970_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old");
        fs::write(&path, "").unwrap();
        let time = UNIX_EPOCH - std::time::Duration::new(5, 250_000_000);
        set_modified(&path, time).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    }

    #[test]
    fn a_tree_with_unwritable_folders_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::write(tree.join("a/b/file"), "").unwrap();
        for closed in ["a/b", "a"] {
            fs::set_permissions(tree.join(closed), Permissions::from_mode(0o000)).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        remove_tree(&tree).unwrap();
    }

    #[test]
    fn an_error_names_the_file_and_a_remedy() {
        let full = FileError::new("copy", "/x y", io::Error::from_raw_os_error(libc::ENOSPC));
        assert!(full.is_disk_full());
        assert_eq!(
            full.to_string(),
            "cannot copy /x y: No space left on device (os error 28); free some space, \
             or set PATCHWRIGHT_TMP to a folder on a larger disk"
        );
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/file");
        let error = write_atomic(&missing, b"").unwrap_err();
        assert!(error.to_string().starts_with("cannot create "));
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
    }
}
