//! Thin safe wrappers of the system calls that the standard library does not offer.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

pub(super) type Pid = libc::pid_t;

/// Turns the result of a system call into a `Result`.
pub(super) fn check(result: impl Into<i64>) -> io::Result<i64> {
    let result = result.into();
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Makes this process the parent of all orphans among its descendants.
pub(super) fn become_subreaper() -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Duplicates a descriptor to a number; the copy is closed on exec.
pub(super) fn duplicate(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::dup3(from, to, libc::O_CLOEXEC) }).map(drop)
}

/// Duplicates a descriptor to a number; the copy stays open on exec.
pub(super) fn duplicate_inheritable(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::dup2(from, to) }).map(drop)
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: RawFd) -> io::Result<()> {
    // SAFETY: no pointers; the caller owns all descriptors of this young process.
    if unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) } == 0 {
        return Ok(());
    }
    // Kernels before 5.9.
    let open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for fd in open.into_iter().filter(|fd| *fd >= first) {
        // SAFETY: as above. The descriptor of the listing itself is closed already: EBADF.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// `/dev/null`, opened once for reading and writing, and for as long as this process lives.
pub(super) fn null() -> io::Result<RawFd> {
    static NULL: OnceLock<File> = OnceLock::new();
    if let Some(null) = NULL.get() {
        return Ok(null.as_raw_fd());
    }
    let null = open_null()?;
    Ok(NULL.get_or_init(|| null).as_raw_fd())
}

/// Opens `/dev/null` for reading and writing.
pub(super) fn open_null() -> io::Result<File> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
}

/// Gives every signal its default action and blocks those that would end the supervisor without
/// the clean-up. Children unblock them.
pub(super) fn reset_signals() {
    // The kernel's own structure, all zero: SIG_DFL, no flags, empty mask. The C library's wrapper
    // would not touch the two signals that it uses itself, which a parent may have ignored.
    let default = [0u64; 4];
    // SAFETY: `default` is as large as the kernel's structure on x86-64, no old action is asked
    // for, and the numbers that cannot be changed are refused by the kernel. The mask is
    // initialised by sigemptyset.
    unsafe {
        for signal in 1..=64 {
            let (new, old) = (default.as_ptr(), std::ptr::null_mut::<u64>());
            libc::syscall(libc::SYS_rt_sigaction, signal, new, old, size_of::<u64>());
        }
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
            libc::SIGPIPE,
        ] {
            libc::sigaddset(&mut mask, signal);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
    }
}

/// While alive, lets this process run before all commands, where that is permitted (for root, as
/// a rule), so that a fork bomb cannot keep it from acting. Not for longer: it makes starting a
/// command more than a millisecond slower.
pub(super) struct Precedence {
    _private: (),
}

impl Precedence {
    /// Takes precedence until it is dropped; without the permission, nothing happens.
    pub(super) fn take() -> Self {
        set_scheduling(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1);
        Precedence { _private: () }
    }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        set_scheduling(libc::SCHED_OTHER, 0);
    }
}

fn set_scheduling(policy: i32, priority: i32) {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the parameter is a live local. A refusal leaves everything as it was.
    unsafe {
        libc::sched_setscheduler(0, policy, &parameter);
    }
}

/// A pipe, both ends closed on exec: (reading, writing).
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: both were just opened and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Two connected sockets that keep messages apart, both closed on exec.
pub(super) fn message_sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: `ends` has room for the two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: both were just opened and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Sends a message; nobody at the other end is an error, not a signal.
pub(super) fn send(socket: &OwnedFd, message: &[u8]) -> io::Result<()> {
    let start = message.as_ptr().cast();
    // SAFETY: a live buffer of this length.
    check(
        unsafe { libc::send(socket.as_raw_fd(), start, message.len(), libc::MSG_NOSIGNAL) } as i64,
    )
    .map(drop)
}

/// Sends a message with descriptors, three at most.
pub(super) fn send_with_descriptors(
    socket: &OwnedFd,
    message: &[u8],
    descriptors: &[RawFd],
) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: message.as_ptr().cast_mut().cast(),
        iov_len: message.len(),
    };
    debug_assert!(descriptors.len() <= 3, "there is room for three");
    let length = size_of_val(descriptors) as u32;
    // Words, so that the header in it is aligned.
    let mut control = [0u64; 8];
    // SAFETY: the header is plain data that points to live locals; `control` has room for one header and the three
    // descriptors, which is what the macros of the C library make of it.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(length) as usize;
        let entry = libc::CMSG_FIRSTHDR(&header);
        (*entry).cmsg_level = libc::SOL_SOCKET;
        (*entry).cmsg_type = libc::SCM_RIGHTS;
        (*entry).cmsg_len = libc::CMSG_LEN(length) as usize;
        let data = libc::CMSG_DATA(entry);
        std::ptr::copy_nonoverlapping(descriptors.as_ptr().cast(), data, length as usize);
        libc::sendmsg(socket.as_raw_fd(), &header, libc::MSG_NOSIGNAL)
    };
    check(sent as i64).map(drop)
}

/// Sends a message if there is room for it.
pub(super) fn send_now(socket: &OwnedFd, message: &[u8]) -> io::Result<()> {
    let (start, flags) = (
        message.as_ptr().cast(),
        libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
    );
    // SAFETY: a live buffer of this length.
    check(unsafe { libc::send(socket.as_raw_fd(), start, message.len(), flags) } as i64).map(drop)
}

/// The longest message that is received.
const LONGEST_MESSAGE: usize = 3 * 4096;

/// Receives a waiting message and the descriptor that may have come with it.
pub(super) fn receive_with_descriptor(socket: &OwnedFd) -> Option<(Vec<u8>, Option<OwnedFd>)> {
    let mut bytes = vec![0u8; LONGEST_MESSAGE];
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // Words, so that the header in it is aligned.
    let mut control = [0u64; 8];
    // SAFETY: the header is plain data that points to live locals; what the kernel puts into `control` is read by the macros
    // of the C library.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
        let received = libc::recvmsg(socket.as_raw_fd(), &mut header, flags);
        if received <= 0 {
            return None;
        }
        bytes.truncate(received as usize);
        let entry = libc::CMSG_FIRSTHDR(&header);
        let has_descriptor = !entry.is_null() && (*entry).cmsg_type == libc::SCM_RIGHTS;
        let descriptor = has_descriptor.then(|| {
            let number = std::ptr::read_unaligned(libc::CMSG_DATA(entry).cast::<RawFd>());
            OwnedFd::from_raw_fd(number)
        });
        Some((bytes, descriptor))
    }
}

/// Waits for a message that is a process id; `None` if none comes in this time, or ever.
pub(super) fn receive_pid(socket: &OwnedFd, patience: Duration) -> Option<Pid> {
    let mut fds = [libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    poll(&mut fds, patience);
    let mut message = [0; 4];
    let start = message.as_mut_ptr().cast();
    // SAFETY: a live buffer of this length.
    let received = unsafe { libc::recv(socket.as_raw_fd(), start, 4, libc::MSG_DONTWAIT) };
    (received == 4).then(|| Pid::from_le_bytes(message))
}

/// Makes reads from a descriptor return instead of waiting.
pub(super) fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }).map(drop)
}

/// Enlarges a pipe to this number of bytes, and returns whether that succeeded.
pub(super) fn make_roomy(pipe: &OwnedFd, bytes: usize) -> bool {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: no pointers.
    let room = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) };
    room >= bytes
}

/// An anonymous file in memory, closed on exec.
pub(super) fn memory_file(name: &str) -> io::Result<File> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `name` is NUL-terminated and alive.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: just opened, no other owner.
    Ok(unsafe { File::from_raw_fd(fd as RawFd) })
}

/// A descriptor that becomes readable when the process ends, and that names exactly this process
/// for good. `None` on kernels that have none.
pub(super) fn open_process(pid: Pid) -> Option<OwnedFd> {
    // SAFETY: no pointers.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) }).ok()?;
    // SAFETY: just opened, no other owner; pidfds are closed on exec.
    Some(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Sends a signal to the process that `process` names.
pub(super) fn signal_process(process: &OwnedFd, signal: i32) {
    // SAFETY: no siginfo is passed. A process that has ended is no error here.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            signal,
            std::ptr::null::<libc::siginfo_t>(),
            0,
        );
    }
}

/// Sends a signal by number: a process (positive) or a group (negative).
pub(super) fn signal_number(number: Pid, signal: i32) {
    // SAFETY: no pointers. One that has ended is no error here.
    unsafe { libc::kill(number, signal) };
}

/// Kills a child of ours and waits for its end.
pub(super) fn kill_child(pid: Pid) {
    // SAFETY: no pointers to anything that is read; a child that has not been waited for keeps its number.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL);
    }
}

/// What `wait` found.
pub(super) enum Reaped {
    /// A child has ended.
    Child {
        /// Its process id.
        pid: Pid,
        /// Its wait status.
        status: i32,
        /// Processor time of it and of the children it had waited for.
        cpu: Duration,
        /// Its largest resident memory, in bytes.
        peak: u64,
    },
    /// All children are alive.
    NoneEnded,
    /// There is no child.
    NoChild,
}

/// Reaps a child that has ended, if there is one.
pub(super) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: rusage is plain data; both pointers are to live locals.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (
            libc::wait4(-1, &mut status, libc::WNOHANG | libc::__WALL, &mut usage),
            usage,
        )
    };
    match pid {
        0 => Reaped::NoneEnded,
        pid if pid > 0 => {
            let time = |t: libc::timeval| {
                Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
            };
            let cpu = time(usage.ru_utime) + time(usage.ru_stime);
            Reaped::Child {
                pid,
                status,
                cpu,
                peak: usage.ru_maxrss as u64 * 1024,
            }
        }
        // ECHILD: there are no other errors for these arguments.
        _ => Reaped::NoChild,
    }
}

/// Waits until a descriptor is ready or the time is over. Interruptions count as time over.
pub(super) fn poll(fds: &mut [libc::pollfd], timeout: Duration) {
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs().min(1 << 30) as i64,
        tv_nsec: i64::from(timeout.subsec_nanos()),
    };
    // SAFETY: the slice and the timespec are alive; no signal mask is given.
    let ready = unsafe {
        libc::ppoll(
            fds.as_mut_ptr(),
            fds.len() as u64,
            &timeout,
            std::ptr::null(),
        )
    };
    if ready < 0 {
        for fd in fds {
            fd.revents = 0;
        }
    }
}

/// Sleeps for this time.
pub(super) fn pause(time: Duration) {
    poll(&mut [], time);
}

/// Opens what is at a path, without being able to read or write it: to name it when another thing is mounted there.
pub(super) fn open_place(path: &Path) -> io::Result<OwnedFd> {
    let path = crate::files::c_path(path)?;
    // SAFETY: a NUL-terminated path.
    let opened = check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })?;
    // SAFETY: just opened, no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// A path that leads to what is open.
pub(super) fn path_of(place: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", place.as_raw_fd()).into()
}

/// Lets programs that are in this network namespace reach each other.
pub(super) fn start_loopback() -> io::Result<()> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let socket = check(unsafe { libc::socket(libc::AF_INET, kind, 0) })?;
    // SAFETY: just opened, no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(socket as RawFd) };
    // SAFETY: the structure is plain data; its name is shorter than the room for it.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
            *place = *byte as libc::c_char;
        }
        check(libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCGIFFLAGS,
            &mut request,
        ))?;
        request.ifr_ifru.ifru_flags |= (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS,
            &mut request,
        ))
        .map(drop)
    }
}

/// Keeps other processes of the user from looking into this one's memory and files, or permits it.
pub(super) fn forbid_looking(forbid: bool) -> io::Result<()> {
    // SAFETY: no pointers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(!forbid), 0, 0, 0) })
        .map(drop)
}
