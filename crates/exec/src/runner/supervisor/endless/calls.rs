//! System calls that a stopped process may make as often as it likes: they have no effect, and give the same each time.
//!
//! The probe makes calls that only ask which memory can be read. Endless programs often read on at the end of their input.
//! No other process of the run acts meanwhile, and none of these calls writes to a file. So a file keeps its contents, a read
//! depends on the position alone, and a pipe without writers stays at its end.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::super::sys::{self, Pid, check};
use super::give_up;
use super::memory::Mapping;
use super::tracee::Registers;

/// Most bytes that are read at once.
const MOST_READ: i64 = 1 << 20;

/// The kinds of file systems (`linux/magic.h`) whose files stay as they are unless somebody writes to them.
const STEADY_FILE_SYSTEMS: [i64; 8] = [
    0xef53,      // ext2, ext3, ext4
    0x9123_683e, // btrfs
    0x5846_5342, // xfs
    0x0102_1994, // tmpfs
    0x794c_7630, // overlayfs
    0x8584_58f6, // ramfs
    0x2fc1_2fc1, // zfs
    0xf2f5_2010, // f2fs
];

/// What a harmless call does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The memory that it writes, if any.
    pub(super) written: Option<Range<u64>>,
    /// It surely writes all of that.
    pub(super) writes_all: bool,
    /// Its result, where it is no harmless call otherwise.
    pub(super) result: Option<i64>,
}

/// Where the open files stand that calls have named, by their descriptors.
pub(super) type Positions = BTreeMap<RawFd, i64>;

/// The system calls of a stopped process.
pub(super) struct Calls {
    pid: Pid,
    /// What it writes to its memory may be what it reads of a file.
    maps_files: bool,
    files: BTreeMap<RawFd, OpenFile>,
}

enum OpenFile {
    /// A file with contents; the descriptor is ours and has the position of the process's.
    Regular(OwnedFd),
    /// Each time that it is read it says that it has ended.
    Ended,
}

impl Calls {
    /// Notes the open files of a process with these mappings, except the file that `is_ignored` selects.
    pub(super) fn of(
        pid: Pid,
        mappings: &[Mapping],
        is_ignored: impl Fn(&Mapping) -> bool,
    ) -> Self {
        let is_file = |mapping: &Mapping| {
            mapping.is_shared && mapping.is_writable && mapping.name.starts_with('/')
        };
        Calls {
            pid,
            maps_files: mappings.iter().any(|one| is_file(one) && !is_ignored(one)),
            files: BTreeMap::new(),
        }
    }

    /// Returns the effect of the call that these registers are about to make.
    ///
    /// # Errors
    /// The call is not harmless.
    pub(super) fn next(&mut self, registers: &Registers) -> io::Result<Call> {
        let descriptor = registers.rdi as RawFd;
        match registers.rax as i64 {
            libc::SYS_read => {
                let position = self.position(descriptor)?;
                self.reading(registers, descriptor, position)
            }
            libc::SYS_pread64 => self.reading(registers, descriptor, registers.r10 as i64),
            // It may move a position, which is compared.
            libc::SYS_lseek => self.file(descriptor).map(|_| Call::default()),
            _ => asking(registers),
        }
    }

    /// Returns the positions of the files.
    pub(super) fn positions(&self) -> io::Result<Positions> {
        let files = self.files.iter();
        files
            .map(|(descriptor, file)| Ok((*descriptor, file.position()?)))
            .collect()
    }

    fn position(&mut self, descriptor: RawFd) -> io::Result<i64> {
        self.file(descriptor)?.position()
    }

    fn reading(
        &mut self,
        registers: &Registers,
        descriptor: RawFd,
        position: i64,
    ) -> io::Result<Call> {
        let maps_files = self.maps_files;
        let left = match self.file(descriptor)? {
            OpenFile::Ended => 0,
            OpenFile::Regular(_) if maps_files => return give_up(),
            OpenFile::Regular(file) => status(file)?.st_size.saturating_sub(position).max(0),
        };
        let wanted = i64::try_from(registers.rdx).map_err(io::Error::other)?;
        let count = wanted.min(left);
        if position < 0 || count > MOST_READ {
            return give_up();
        }
        let to = registers.rsi..registers.rsi.saturating_add(count as u64);
        Ok(Call {
            written: (count > 0).then_some(to),
            writes_all: true,
            result: Some(count),
        })
    }

    /// The file with this descriptor, which the process cannot close without a call that is not harmless.
    fn file(&mut self, descriptor: RawFd) -> io::Result<&OpenFile> {
        let file = match self.files.remove(&descriptor) {
            Some(file) => file,
            None => OpenFile::of(self.pid, descriptor)?,
        };
        Ok(self.files.entry(descriptor).or_insert(file))
    }
}

impl OpenFile {
    fn of(pid: Pid, descriptor: RawFd) -> io::Result<Self> {
        let process = sys::open_process(pid).ok_or(io::ErrorKind::Unsupported)?;
        // SAFETY: no pointers; the kernel checks that we may do so.
        let file = check(unsafe {
            libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0)
        })?;
        // SAFETY: just opened, no other owner; it is closed on exec.
        let file = unsafe { OwnedFd::from_raw_fd(file as RawFd) };
        // SAFETY: no pointers.
        let flags = check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) })?;
        if flags & i64::from(libc::O_ACCMODE) == i64::from(libc::O_WRONLY) {
            return give_up();
        }
        let status = status(&file)?;
        match status.st_mode & libc::S_IFMT {
            libc::S_IFREG if is_steady(&file)? => Ok(OpenFile::Regular(file)),
            libc::S_IFCHR if status.st_rdev == libc::makedev(1, 3) => Ok(OpenFile::Ended),
            // No name by which it could be opened for writing.
            libc::S_IFIFO if is_nameless(pid, descriptor)? && has_ended(&file) => {
                Ok(OpenFile::Ended)
            }
            _ => give_up(),
        }
    }

    fn position(&self) -> io::Result<i64> {
        match self {
            OpenFile::Regular(file) => {
                // SAFETY: no pointers.
                check(unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_CUR) })
            }
            OpenFile::Ended => Ok(0),
        }
    }
}

/// Calls whose result depends on nothing but their arguments and which memory there is.
fn asking(registers: &Registers) -> io::Result<Call> {
    const MOST_KNOWN: u64 = libc::SIG_SETMASK as u64;
    let (how, set, old) = (registers.rdi & 0xffff_ffff, registers.rsi, registers.rdx);
    match registers.rax as i64 {
        libc::SYS_getpid | libc::SYS_gettid => Ok(Call::default()),
        // Without signals, or without anything to do with them.
        libc::SYS_rt_sigprocmask if set == 0 || how > MOST_KNOWN => Ok(Call {
            written: (old != 0).then(|| old..old.saturating_add(8)),
            ..Call::default()
        }),
        _ => give_up(),
    }
}

fn status(file: &OwnedFd) -> io::Result<libc::stat> {
    // SAFETY: the structure is plain data and alive, and the kernel fills it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        check(libc::fstat(file.as_raw_fd(), &mut status))?;
        Ok(status)
    }
}

fn is_steady(file: &OwnedFd) -> io::Result<bool> {
    // SAFETY: the structure is plain data and alive, and the kernel fills it.
    let system = unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        check(libc::fstatfs(file.as_raw_fd(), &mut system))?;
        system
    };
    Ok(STEADY_FILE_SYSTEMS.contains(&system.f_type))
}

fn is_nameless(pid: Pid, descriptor: RawFd) -> io::Result<bool> {
    let name = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}"))?;
    let name = name.to_str();
    Ok(name.is_some_and(|name| name.starts_with("pipe:")))
}

/// Whether nothing is left in a pipe, and nobody can write to it.
fn has_ended(pipe: &OwnedFd) -> bool {
    let mut descriptors = [libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    sys::poll(&mut descriptors, std::time::Duration::ZERO);
    descriptors[0].revents == libc::POLLHUP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_only_ask_are_harmless() {
        // SAFETY: plain data.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        registers.rax = libc::SYS_rt_sigprocmask as u64;
        (registers.rdi, registers.rsi) = (u64::MAX, 0x7000);
        assert_eq!(asking(&registers).unwrap(), Call::default());
        (registers.rdi, registers.rsi, registers.rdx) = (0, 0, 0x8000);
        let written = asking(&registers).unwrap().written;
        assert_eq!(written, Some(0x8000..0x8008));
        registers.rsi = 0x7000;
        assert!(asking(&registers).is_err());
        registers.rax = libc::SYS_write as u64;
        assert!(asking(&registers).is_err());
    }
}
