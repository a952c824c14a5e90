//! Resolves a path as another process sees it, and finds what is there.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::call::Call;
use crate::runner::supervisor::sys::{Pid, check};
use crate::sandbox::normalize;

/// What a call changes: a path, or what is open.
pub(super) struct Target {
    pub(super) folder: RawFd,
    /// `None`: the descriptor itself.
    pub(super) path: Option<OsString>,
    /// A link at the end of the path is followed.
    pub(super) follows: bool,
    /// It need not exist.
    pub(super) makes: bool,
    /// It must not exist.
    pub(super) makes_only: bool,
    /// A file is opened for writing.
    pub(super) opens: bool,
}

impl Target {
    /// A path below an open folder, which must exist, and whose links are followed.
    pub(super) fn at(folder: RawFd, path: OsString) -> Self {
        Target {
            folder,
            path: Some(path),
            follows: true,
            makes: false,
            makes_only: false,
            opens: false,
        }
    }

    /// Finds the file or folder as the process sees it; `None` if that cannot be said.
    pub(super) fn look(&self, call: &Call, root: &Place) -> Option<Found> {
        let Some(path) = &self.path else {
            let file = Place::of_descriptor(call.pid, self.folder)?;
            return Found::of(file, true);
        };
        let path = own_path(call.pid, Path::new(path));
        let absolute = match path.is_absolute() {
            true => path,
            false => {
                let start = match self.folder {
                    libc::AT_FDCWD => format!("/proc/{}/cwd", call.pid),
                    folder => format!("/proc/{}/fd/{folder}", call.pid),
                };
                fs::read_link(start).ok()?.join(path)
            }
        };
        if let Ok(file) = root.open(&absolute, self.follows) {
            return Found::of(file, true);
        }
        if !self.makes {
            return None;
        }
        let mut parent = absolute;
        // A path may end in a slash, or in a link to nothing.
        if self.follows
            && let Ok(link) = root.open(&parent, false)
            && let Ok(target) = fs::read_link(format!("/proc/self/fd/{}", link.as_raw_fd()))
                .and_then(|_| read_link_at(&link))
        {
            parent.pop();
            parent = parent.join(target);
        }
        let name = parent.file_name()?.to_owned();
        parent.pop();
        let mut found = Found::of(root.open(&parent, true).ok()?, false)?;
        found.path.push(name);
        found.path = normalize(&found.path);
        Some(found)
    }
}

/// The target of the link that is open.
pub(super) fn read_link_at(link: &OwnedFd) -> io::Result<PathBuf> {
    let mut buffer = vec![0u8; 4096];
    let start = buffer.as_mut_ptr().cast();
    // SAFETY: an empty path means the descriptor; the buffer has this length.
    let length =
        check(
            unsafe { libc::readlinkat(link.as_raw_fd(), c"".as_ptr(), start, buffer.len()) } as i64,
        )?;
    buffer.truncate(length as usize);
    Ok(OsString::from_vec(buffer).into())
}

/// Returns the path by which another process can use a path such as `/proc/self`, which each process sees differently.
pub(super) fn own_path(pid: Pid, path: &Path) -> PathBuf {
    let own = |name: &str| path.strip_prefix(name).ok();
    let fixed = [("/dev/stdin", 0), ("/dev/stdout", 1), ("/dev/stderr", 2)];
    let descriptor = fixed
        .iter()
        .find(|(name, _)| path == Path::new(name))
        .map(|(_, number)| PathBuf::from(number.to_string()))
        .or_else(|| Some(own("/dev/fd").or_else(|| own("/proc/self/fd"))?.to_owned()));
    let link = match (
        descriptor,
        own("/proc/self").or_else(|| own("/proc/thread-self")),
    ) {
        (Some(number), _) => Path::new("/proc")
            .join(pid.to_string())
            .join("fd")
            .join(number),
        (None, Some(rest)) => Path::new("/proc").join(pid.to_string()).join(rest),
        (None, None) => return path.to_owned(),
    };
    // `exe`, `cwd`, `root` and descriptors lead somewhere; what is beside them is the process's own.
    let parts: Vec<_> = link.components().collect();
    for length in (4..=parts.len()).rev() {
        let start: PathBuf = parts[..length].iter().collect();
        if let Ok(target) = fs::read_link(&start) {
            let rest: PathBuf = parts[length..].iter().collect();
            return match rest.as_os_str().is_empty() {
                true => target,
                false => target.join(rest),
            };
        }
    }
    link
}

/// A folder at which paths begin.
pub(super) struct Place(OwnedFd);

impl Place {
    /// The root of a process.
    pub(super) fn root(pid: Pid) -> Option<Self> {
        let path = c_string(OsStr::new(&format!("/proc/{pid}/root")))?;
        open_path(&path).map(Place)
    }

    /// Opens the file that a process has open under this number.
    pub(super) fn of_descriptor(pid: Pid, number: RawFd) -> Option<OwnedFd> {
        let path = c_string(OsStr::new(&format!("/proc/{pid}/fd/{number}")))?;
        open_path(&path)
    }

    /// Opens a path as the process would that has this root, without being able to read or write.
    pub(super) fn open(&self, path: &Path, follows: bool) -> io::Result<OwnedFd> {
        let path = c_string(path.as_os_str()).ok_or(io::ErrorKind::InvalidInput)?;
        let link = if follows { 0 } else { libc::O_NOFOLLOW };
        // SAFETY: plain data, for which zeros are what the kernel wants.
        let mut how: libc::open_how = unsafe { std::mem::zeroed() };
        how.flags = (libc::O_PATH | libc::O_CLOEXEC | link) as u64;
        how.resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_MAGICLINKS;
        // SAFETY: the path is NUL-terminated, the structure alive and of this size.
        let opened = check(unsafe {
            libc::syscall(
                libc::SYS_openat2,
                self.0.as_raw_fd(),
                path.as_ptr(),
                &raw const how,
                size_of::<libc::open_how>(),
            )
        })?;
        // SAFETY: just opened, no other owner.
        Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
    }
}

/// Converts a text for a system call; `None` if it has a NUL byte.
pub(super) fn c_string(text: &OsStr) -> Option<CString> {
    CString::new(text.as_bytes()).ok()
}

/// Opens a path without access to its content (`O_PATH`).
pub(super) fn open_path(path: &CString) -> Option<OwnedFd> {
    // SAFETY: a NUL-terminated path.
    let opened =
        check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }).ok()?;
    // SAFETY: just opened, no other owner.
    Some(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// What is at a path.
pub(super) struct Found {
    pub(super) file: OwnedFd,
    /// Its true path.
    pub(super) path: PathBuf,
    /// Else what is found is the folder in which it would be made.
    pub(super) exists: bool,
    pub(super) read_only: bool,
    pub(super) is_device: bool,
    pub(super) is_pipe: bool,
    pub(super) is_folder: bool,
    pub(super) mount: u64,
}

impl Found {
    /// Looks at an open file: its true path, its kind and its mount.
    pub(super) fn of(file: OwnedFd, exists: bool) -> Option<Self> {
        let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
        if !path.is_absolute() {
            return None;
        }
        // SAFETY: plain data that the calls fill; the descriptor is open, an empty path means itself.
        let (about, system) = unsafe {
            let mut about: libc::statx = std::mem::zeroed();
            let mut system: libc::statvfs = std::mem::zeroed();
            let raw = file.as_raw_fd();
            let wanted = libc::STATX_TYPE | libc::STATX_MNT_ID;
            check(libc::statx(
                raw,
                c"".as_ptr(),
                libc::AT_EMPTY_PATH,
                wanted,
                &mut about,
            ))
            .ok()?;
            check(libc::fstatvfs(raw, &mut system)).ok()?;
            (about, system)
        };
        let kind = u32::from(about.stx_mode) & libc::S_IFMT;
        Some(Found {
            path,
            exists,
            read_only: system.f_flag & libc::ST_RDONLY != 0,
            is_device: matches!(kind, libc::S_IFCHR | libc::S_IFBLK),
            is_pipe: matches!(kind, libc::S_IFIFO | libc::S_IFSOCK),
            is_folder: kind == libc::S_IFDIR,
            mount: about.stx_mnt_id,
            file,
        })
    }
}

/// The number of the mount at a path.
pub(in crate::runner::supervisor) fn mount_at(path: &Path) -> Option<u64> {
    let file = open_path(&c_string(path.as_os_str())?)?;
    Some(Found::of(file, true)?.mount)
}
