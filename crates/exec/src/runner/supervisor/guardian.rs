//! The guardian of protected commands: outside of their namespaces, it is asked about each call that the filter picks out.
//!
//! - Calls that change files: the answer is always "go on". The mounts decide, and the guardian only notes what they will refuse. (If
//!   a second thread changes the path in memory between its look and the call, only the note is wrong.)
//! - Opening a named pipe that is read-only to the command: refused, because the kernel would permit it.
//! - Connections: the guardian makes them itself, so that nobody can change the address meanwhile.

mod call;
mod place;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::sys::{self, Pid, check};
use crate::attempts::{Attempt, AttemptKind};
use call::{Call, read_memory};
pub(super) use place::mount_at;
use place::{Place, Target};

/// `seccomp_notif`, `seccomp_notif_resp` and the commands for them.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
/// Sets flags; the one flag lets who is asked run where who asks has run, which waits.
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
const SYNC_WAKE_UP: u64 = 1;

/// The largest number of attempts that are noted between two runs.
const MOST_NOTED: usize = 24;
/// After so many calls in a run they are answered without a look at files.
const MOST_LOOKED_AT: u64 = 20_000;

/// The supervisor tells the guardian what to look after.
#[derive(Debug, Default, Clone)]
pub(super) struct Order {
    /// The mounts whose changes are thrown away.
    pub(super) private: Vec<u64>,
    /// Whether the network of the machine can be reached.
    pub(super) network: bool,
}

impl Order {
    /// Encodes the order for the pipe to the guardian.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.network)];
        bytes.extend(self.private.iter().flat_map(|mount| mount.to_le_bytes()));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (network, mounts) = bytes.split_first().unwrap_or((&0, &[]));
        let (mounts, _) = mounts.as_chunks::<8>();
        Order {
            network: *network != 0,
            private: mounts
                .iter()
                .map(|bytes| u64::from_le_bytes(*bytes))
                .collect(),
        }
    }
}

/// A message of the supervisor, besides the first one: another run begins.
pub(super) const NEXT_RUN: &[u8] = b"n";

/// Answers until the first process of the namespace has ended; its status.
pub(super) fn guard(first: Pid, control: &OwnedFd) -> i32 {
    let process = sys::open_process(first);
    let mut guardian = Guardian {
        first,
        control,
        listener: None,
        order: Order::default(),
        noted: BTreeSet::new(),
        asked: 0,
    };
    loop {
        if let Some(status) = guardian.ended() {
            return status;
        }
        let entry = |fd: RawFd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let raw = |fd: &Option<OwnedFd>| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let mut fds = [
            entry(raw(&guardian.listener)),
            entry(control.as_raw_fd()),
            entry(raw(&process)),
        ];
        // Without a descriptor for the process its end is seen as that of its socket.
        // SAFETY: three initialised entries.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as u64, -1) };
        if fds[1].revents & libc::POLLIN != 0 {
            guardian.hear();
        } else if fds[1].revents != 0 {
            return guardian.wait();
        }
        if fds[0].revents & libc::POLLIN != 0 {
            guardian.answer();
        } else if fds[0].revents != 0 {
            guardian.listener = None;
        }
    }
}

struct Guardian<'a> {
    first: Pid,
    control: &'a OwnedFd,
    listener: Option<OwnedFd>,
    order: Order,
    /// What was noted since the last run began.
    noted: BTreeSet<(AttemptKind, String)>,
    asked: u64,
}

/// What to answer: go on, or this result.
enum Answer {
    GoOn,
    Fail(libc::c_int),
    /// The connection is being made by a child.
    Later,
    Done,
}

impl Guardian<'_> {
    /// Reaps children; the status of the first process if it has ended.
    fn ended(&self) -> Option<i32> {
        loop {
            let mut status = 0;
            // SAFETY: a pointer to a live local.
            match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                pid if pid == self.first => return Some(code(status)),
                pid if pid > 0 => {}
                _ => return None,
            }
        }
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        loop {
            // SAFETY: a pointer to a live local.
            let waited = unsafe { libc::waitpid(self.first, &mut status, 0) };
            if waited >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return code(status);
            }
        }
    }

    fn hear(&mut self) {
        let Some((message, descriptor)) = sys::receive_with_descriptor(self.control) else {
            return;
        };
        match descriptor {
            Some(listener) => {
                // Kernels before 6.6 do not know it.
                // SAFETY: a number is passed, no pointer.
                unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
                self.listener = Some(listener);
                self.order = Order::from_bytes(&message);
            }
            None => {
                self.noted.clear();
                self.asked = 0;
            }
        }
    }

    fn answer(&mut self) {
        let Some(listener) = self.listener.as_ref().map(AsRawFd::as_raw_fd) else {
            return;
        };
        // SAFETY: plain data, for which zeros are what the kernel wants.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure has the size that the command says.
        if unsafe { libc::ioctl(listener, RECEIVE, &raw mut asked) } != 0 {
            return;
        }
        self.asked += 1;
        let call = Call {
            id: asked.id,
            pid: asked.pid as Pid,
            number: libc::c_long::from(asked.data.nr),
            arguments: asked.data.args,
        };
        match self.judge(listener, &call) {
            Answer::GoOn => respond(listener, call.id, 0, true),
            Answer::Fail(error) => respond(listener, call.id, error, false),
            Answer::Done => respond(listener, call.id, 0, false),
            Answer::Later => {}
        }
    }

    fn judge(&mut self, listener: RawFd, call: &Call) -> Answer {
        if call.number == libc::SYS_connect {
            return self.connect(listener, call);
        }
        if self.asked > MOST_LOOKED_AT {
            // Pipes are refused all the same: a look at the one file decides.
            if !call.opens() {
                return Answer::GoOn;
            }
        }
        let Some(root) = Place::root(call.pid) else {
            return Answer::GoOn;
        };
        let mut answer = Answer::GoOn;
        for target in call.targets() {
            let Some(found) = target.look(call, &root) else {
                continue;
            };
            if !found.exists && !target.makes {
                continue;
            }
            if found.read_only {
                if found.is_device && target.opens {
                    continue;
                }
                if target.makes_only && found.exists {
                    continue;
                }
                if found.is_pipe && target.opens {
                    self.note(AttemptKind::Unreachable, call, &found.path);
                    answer = Answer::Fail(libc::EACCES);
                } else {
                    self.note(AttemptKind::Refused, call, &found.path);
                }
            } else if found.exists
                && !target.makes_only
                && !found.is_folder
                && self.order.private.contains(&found.mount)
                && fs::symlink_metadata(&found.path).is_ok()
                && !is_cache(&found.path)
            {
                self.note(AttemptKind::ThrownAway, call, &found.path);
            }
        }
        answer
    }

    fn note(&mut self, kind: AttemptKind, call: &Call, what: &Path) {
        self.note_text(kind, call, printable(what.as_os_str()));
    }

    fn note_text(&mut self, kind: AttemptKind, call: &Call, what: String) {
        if self.noted.len() >= MOST_NOTED || !self.noted.insert((kind, what.clone())) {
            return;
        }
        let program = fs::read(format!("/proc/{}/comm", call.pid)).unwrap_or_default();
        let attempt = Attempt {
            kind,
            call: call.name().to_owned(),
            program: printable(OsStr::from_bytes(program.trim_ascii_end())),
            what,
        };
        let _ = sys::send_now(self.control, &attempt.to_bytes());
    }

    /// Makes the connection that a process asks for, or refuses it.
    fn connect(&mut self, listener: RawFd, call: &Call) -> Answer {
        let length = (call.arguments[2] as usize).min(128);
        let Some(address) = read_memory(call.pid, call.arguments[1], length) else {
            return Answer::Fail(libc::EFAULT);
        };
        let Some(family) = address
            .first_chunk()
            .map(|bytes| u16::from_ne_bytes(*bytes))
        else {
            return Answer::Fail(libc::EINVAL);
        };
        let socket = match socket_of(call.pid, call.arguments[0] as RawFd) {
            Ok(socket) => socket,
            Err(error) => return Answer::Fail(error.raw_os_error().unwrap_or(libc::EACCES)),
        };
        let mut destination = Destination::Bytes(address.clone());
        match i32::from(family) {
            libc::AF_UNIX => match named(&address[2..]) {
                Name::Abstract if self.order.network => {
                    self.note_text(AttemptKind::Unreachable, call, "an abstract socket".into());
                    return Answer::Fail(libc::EACCES);
                }
                Name::Abstract | Name::None => {}
                Name::Path(path) => {
                    let target = Target::at(libc::AT_FDCWD, path);
                    let found = Place::root(call.pid).and_then(|root| target.look(call, &root));
                    let Some(found) = found.filter(|found| found.exists) else {
                        return Answer::Fail(libc::ENOENT);
                    };
                    if found.read_only {
                        self.note(AttemptKind::Unreachable, call, &found.path);
                        return Answer::Fail(libc::EACCES);
                    }
                    destination = Destination::File(found.file);
                }
            },
            libc::AF_INET | libc::AF_INET6 if !self.order.network => {
                if let Some(elsewhere) = elsewhere(&address) {
                    self.note_text(AttemptKind::NoNetwork, call, elsewhere);
                }
            }
            libc::AF_INET | libc::AF_INET6 | libc::AF_UNSPEC | libc::AF_NETLINK | libc::AF_ALG => {}
            _ => return Answer::Fail(libc::EAFNOSUPPORT),
        }
        // SAFETY: no pointers.
        let flags = unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_GETFL) };
        if flags & libc::O_NONBLOCK != 0 {
            return match destination.connect(&socket) {
                0 => Answer::Done,
                error => Answer::Fail(error),
            };
        }
        // It may take its time, and others ask meanwhile.
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: no pointers.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
                let error = destination.connect(&socket);
                respond(listener, call.id, error, false);
                // SAFETY: ends the process at once.
                unsafe { libc::_exit(0) }
            }
            pid if pid > 0 => Answer::Later,
            _ => Answer::Fail(libc::EAGAIN),
        }
    }
}

/// Where a socket is to be connected to.
enum Destination {
    Bytes(Vec<u8>),
    File(OwnedFd),
}

impl Destination {
    /// Connects; the error, or 0.
    fn connect(&self, socket: &OwnedFd) -> libc::c_int {
        let bytes = match self {
            Destination::Bytes(bytes) => bytes.clone(),
            Destination::File(file) => {
                let mut bytes = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
                bytes.extend(format!("/proc/self/fd/{}\0", file.as_raw_fd()).bytes());
                bytes
            }
        };
        let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u32);
        // SAFETY: a live buffer of this length.
        match check(unsafe { libc::connect(socket.as_raw_fd(), start, length) }) {
            Ok(_) => 0,
            Err(error) => error.raw_os_error().unwrap_or(libc::EACCES),
        }
    }
}

fn respond(listener: RawFd, id: u64, error: libc::c_int, go_on: bool) {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: -error,
        flags: match go_on {
            true => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            false => 0,
        },
    };
    // SAFETY: the structure has the size that the command says. Who asked may be gone.
    unsafe { libc::ioctl(listener, SEND, &raw mut answer) };
}

fn code(status: libc::c_int) -> i32 {
    match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => 1,
    }
}

/// The socket that a process has under a number.
fn socket_of(pid: Pid, number: RawFd) -> io::Result<OwnedFd> {
    // Only the leader of a group of threads has such a descriptor.
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let leader = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    let leader = leader
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(pid);
    let process = sys::open_process(leader).ok_or(io::ErrorKind::NotFound)?;
    // SAFETY: no pointers.
    let socket =
        check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })?;
    // SAFETY: just opened, no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(socket as RawFd) })
}

enum Name {
    None,
    Abstract,
    Path(OsString),
}

/// The name in an address of the file system.
fn named(name: &[u8]) -> Name {
    match name.first() {
        None => Name::None,
        Some(0) => Name::Abstract,
        Some(_) => {
            let end = name
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(name.len());
            Name::Path(OsStr::from_bytes(&name[..end]).to_owned())
        }
    }
}

/// The address of another machine.
fn elsewhere(address: &[u8]) -> Option<String> {
    let family = u16::from_ne_bytes(*address.first_chunk()?);
    let port = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    let host = match i32::from(family) {
        libc::AF_INET => {
            let bytes: [u8; 4] = address.get(4..8)?.try_into().ok()?;
            IpAddr::from(Ipv4Addr::from(bytes))
        }
        _ => {
            let bytes: [u8; 16] = address.get(8..24)?.try_into().ok()?;
            IpAddr::from(Ipv6Addr::from(bytes))
        }
    };
    (!host.is_loopback() && !host.is_unspecified()).then(|| match host {
        IpAddr::V4(host) => format!("{host}:{port}"),
        IpAddr::V6(host) => format!("[{host}]:{port}"),
    })
}

/// What lies in a cache is made again.
fn is_cache(path: &Path) -> bool {
    let names = [".cache", ".ccache"];
    path.components()
        .any(|part| names.iter().any(|name| part.as_os_str() == *name))
}

/// Text of strangers, without what moves a terminal's cursor.
fn printable(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    text.chars()
        .map(|c| match c.is_control() {
            true => c.escape_default().to_string(),
            false => c.to_string(),
        })
        .collect()
}
