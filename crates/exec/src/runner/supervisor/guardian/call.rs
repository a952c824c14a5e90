//! A system call, and what its arguments mean.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStringExt;

use super::place::Target;
use crate::runner::supervisor::filter::FCHMODAT2;
use crate::runner::supervisor::sys::Pid;

/// A system call that waits for an answer.
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) pid: Pid,
    pub(super) number: libc::c_long,
    pub(super) arguments: [u64; 6],
}

impl Call {
    /// Reads the text that an argument points to; `None` if the memory cannot be read.
    pub(super) fn text(&self, index: usize) -> Option<OsString> {
        let address = self.arguments[index];
        let mut text = Vec::new();
        while text.len() < libc::PATH_MAX as usize {
            // To the end of the page: what lies behind may not be there.
            let at = address.checked_add(text.len() as u64)?;
            let bytes = read_memory(self.pid, at, 4096 - (at % 4096) as usize)?;
            if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&bytes[..end]);
                return Some(OsString::from_vec(text));
            }
            text.extend_from_slice(&bytes);
        }
        None
    }

    /// Whether the call opens a file.
    pub(super) fn opens(&self) -> bool {
        [
            libc::SYS_open,
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_creat,
        ]
        .contains(&self.number)
    }

    /// The path in an argument, with the folder in another one.
    pub(super) fn path(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        let folder = folder.map_or(libc::AT_FDCWD, |index| self.arguments[index] as RawFd);
        Some(Target::at(folder, self.text(path)?))
    }

    /// The path in an argument, with the folder in another one; a link at its end is not followed.
    pub(super) fn entry(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            follows: false,
            ..self.path(folder, path)?
        })
    }

    /// The path of an entry that the call makes, and which must not exist.
    pub(super) fn new_entry(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            makes: true,
            makes_only: true,
            ..self.entry(folder, path)?
        })
    }

    /// The path that the call opens for writing, with these flags of `open`.
    pub(super) fn opened(&self, folder: Option<usize>, path: usize, flags: u64) -> Option<Target> {
        let has = |flag: libc::c_int| flags & flag as u64 != 0;
        Some(Target {
            follows: !has(libc::O_NOFOLLOW),
            makes: has(libc::O_CREAT),
            makes_only: has(libc::O_EXCL) && has(libc::O_CREAT),
            opens: true,
            ..self.path(folder, path)?
        })
    }

    /// The open file whose descriptor is an argument.
    pub(super) fn descriptor(&self, index: usize) -> Target {
        Target {
            path: None,
            ..Target::at(self.arguments[index] as RawFd, OsString::new())
        }
    }

    /// Returns the paths and files that the call changes.
    pub(super) fn targets(&self) -> Vec<Target> {
        let no_follow = |index: usize, target: Option<Target>| {
            target.map(|target| Target {
                follows: self.arguments[index] & libc::AT_SYMLINK_NOFOLLOW as u64 == 0,
                ..target
            })
        };
        let a = self.arguments;
        let targets = match self.number {
            libc::SYS_open => [self.opened(None, 0, a[1]), None],
            libc::SYS_creat => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
                [self.opened(None, 0, flags as u64), None]
            }
            libc::SYS_openat => [self.opened(Some(0), 1, a[2]), None],
            libc::SYS_openat2 => {
                let flags = read_memory(self.pid, a[2], 8).and_then(|bytes| bytes.try_into().ok());
                let flags = flags.map_or(0, u64::from_ne_bytes);
                let writes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
                let target = (flags & writes as u64 != 0).then(|| self.opened(Some(0), 1, flags));
                [target.flatten(), None]
            }
            libc::SYS_unlink | libc::SYS_rmdir => [self.entry(None, 0), None],
            libc::SYS_unlinkat => [self.entry(Some(0), 1), None],
            libc::SYS_mkdir | libc::SYS_mknod => [self.new_entry(None, 0), None],
            libc::SYS_mkdirat | libc::SYS_mknodat => [self.new_entry(Some(0), 1), None],
            libc::SYS_rename => [self.entry(None, 0), self.renamed_to(None, 1)],
            libc::SYS_renameat | libc::SYS_renameat2 => {
                [self.entry(Some(0), 1), self.renamed_to(Some(2), 3)]
            }
            // A link is counted where it leads.
            libc::SYS_link => [self.new_entry(None, 1), self.entry(None, 0)],
            libc::SYS_linkat => [self.new_entry(Some(2), 3), self.entry(Some(0), 1)],
            libc::SYS_symlink => [self.new_entry(None, 1), None],
            libc::SYS_symlinkat => [self.new_entry(Some(1), 2), None],
            libc::SYS_truncate
            | libc::SYS_chmod
            | libc::SYS_chown
            | libc::SYS_utime
            | libc::SYS_utimes
            | libc::SYS_setxattr
            | libc::SYS_removexattr => [self.path(None, 0), None],
            libc::SYS_lchown | libc::SYS_lsetxattr | libc::SYS_lremovexattr => {
                [self.entry(None, 0), None]
            }
            libc::SYS_fchmod | libc::SYS_fchown => [Some(self.descriptor(0)), None],
            libc::SYS_fchmodat | libc::SYS_futimesat => [self.path(Some(0), 1), None],
            FCHMODAT2 => [no_follow(3, self.path(Some(0), 1)), None],
            libc::SYS_fchownat => [no_follow(4, self.path(Some(0), 1)), None],
            // Without a path it is the descriptor that is meant.
            libc::SYS_utimensat if a[1] == 0 => [Some(self.descriptor(0)), None],
            libc::SYS_utimensat => [no_follow(3, self.path(Some(0), 1)), None],
            _ => [None, None],
        };
        targets.into_iter().flatten().collect()
    }

    /// The new name of a renamed file, which may exist.
    pub(super) fn renamed_to(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            makes_only: false,
            ..self.new_entry(folder, path)?
        })
    }

    /// Returns the name of the system call, for messages.
    pub(super) fn name(&self) -> &'static str {
        NAMES
            .iter()
            .find(|(number, _)| *number == self.number)
            .map_or("a system call", |(_, name)| name)
    }
}

/// The names of the calls that are looked at.
pub(super) const NAMES: &[(libc::c_long, &str)] = &[
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_openat2, "openat2"),
    (libc::SYS_creat, "creat"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_unlinkat, "unlinkat"),
    (libc::SYS_rmdir, "rmdir"),
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_mkdirat, "mkdirat"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_renameat, "renameat"),
    (libc::SYS_renameat2, "renameat2"),
    (libc::SYS_link, "link"),
    (libc::SYS_linkat, "linkat"),
    (libc::SYS_symlink, "symlink"),
    (libc::SYS_symlinkat, "symlinkat"),
    (libc::SYS_mknod, "mknod"),
    (libc::SYS_mknodat, "mknodat"),
    (libc::SYS_truncate, "truncate"),
    (libc::SYS_chmod, "chmod"),
    (libc::SYS_fchmod, "fchmod"),
    (libc::SYS_fchmodat, "fchmodat"),
    (FCHMODAT2, "fchmodat2"),
    (libc::SYS_chown, "chown"),
    (libc::SYS_lchown, "lchown"),
    (libc::SYS_fchown, "fchown"),
    (libc::SYS_fchownat, "fchownat"),
    (libc::SYS_utime, "utime"),
    (libc::SYS_utimes, "utimes"),
    (libc::SYS_futimesat, "futimesat"),
    (libc::SYS_utimensat, "utimensat"),
    (libc::SYS_setxattr, "setxattr"),
    (libc::SYS_lsetxattr, "lsetxattr"),
    (libc::SYS_removexattr, "removexattr"),
    (libc::SYS_lremovexattr, "lremovexattr"),
    (libc::SYS_connect, "connect"),
];

/// Reads the memory of another process; `None` if it cannot be read.
pub(super) fn read_memory(pid: Pid, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: length,
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: length,
    };
    // SAFETY: the local buffer is alive and has this length; the remote one is checked by the kernel.
    let read = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    (read == length as isize).then_some(bytes)
}
