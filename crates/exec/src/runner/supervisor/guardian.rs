//! The guardian of protected commands: outside of their namespaces, it is asked about each call that the filter picks out.
//!
//! What it answers to calls that change files is always "go on": mounts decide about them, and it only notes what will be refused.
//! (Between its look and the call a second thread may write another path into memory; only the note would be wrong then.) A pipe
//! that is read-only to the command would be opened by the kernel all the same; that it refuses. And connections it makes itself,
//! with an address that nobody can change meanwhile.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::filter::FCHMODAT2;
use super::sys::{self, Pid, check};
use crate::attempts::{Attempt, AttemptKind};
use crate::sandbox::normalize;

/// `seccomp_notif`, `seccomp_notif_resp` and the commands for them.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
/// Sets flags; the one flag lets who is asked run where who asks has run, which waits.
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
const SYNC_WAKE_UP: u64 = 1;

/// So many attempts are noted between two runs.
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

/// A system call that waits for an answer.
struct Call {
    id: u64,
    pid: Pid,
    number: libc::c_long,
    arguments: [u64; 6],
}

/// What a call changes: a path, or what is open.
struct Target {
    folder: RawFd,
    /// `None`: the descriptor itself.
    path: Option<OsString>,
    /// A link at the end of the path is followed.
    follows: bool,
    /// It need not exist.
    makes: bool,
    /// It must not exist.
    makes_only: bool,
    /// A file is opened for writing.
    opens: bool,
}

impl Target {
    fn at(folder: RawFd, path: OsString) -> Self {
        Target {
            folder,
            path: Some(path),
            follows: true,
            makes: false,
            makes_only: false,
            opens: false,
        }
    }

    /// What is there, in the eyes of the process; `None` if that cannot be said.
    fn look(&self, call: &Call, root: &Place) -> Option<Found> {
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
fn read_link_at(link: &OwnedFd) -> io::Result<PathBuf> {
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

/// Names by which a process means itself stand for others when somebody else looks.
fn own_path(pid: Pid, path: &Path) -> PathBuf {
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
struct Place(OwnedFd);

impl Place {
    /// The root of a process.
    fn root(pid: Pid) -> Option<Self> {
        let path = c_string(OsStr::new(&format!("/proc/{pid}/root")))?;
        open_path(&path).map(Place)
    }

    /// What a process has open.
    fn of_descriptor(pid: Pid, number: RawFd) -> Option<OwnedFd> {
        let path = c_string(OsStr::new(&format!("/proc/{pid}/fd/{number}")))?;
        open_path(&path)
    }

    /// Opens a path as the process would that has this root, without being able to read or write.
    fn open(&self, path: &Path, follows: bool) -> io::Result<OwnedFd> {
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

fn c_string(text: &OsStr) -> Option<CString> {
    CString::new(text.as_bytes()).ok()
}

fn open_path(path: &CString) -> Option<OwnedFd> {
    // SAFETY: a NUL-terminated path.
    let opened =
        check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }).ok()?;
    // SAFETY: just opened, no other owner.
    Some(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// What is at a path.
struct Found {
    file: OwnedFd,
    /// Its true path.
    path: PathBuf,
    /// Else what is found is the folder in which it would be made.
    exists: bool,
    read_only: bool,
    is_device: bool,
    is_pipe: bool,
    is_folder: bool,
    mount: u64,
}

impl Found {
    fn of(file: OwnedFd, exists: bool) -> Option<Self> {
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
pub(super) fn mount_at(path: &Path) -> Option<u64> {
    let file = open_path(&c_string(path.as_os_str())?)?;
    Some(Found::of(file, true)?.mount)
}

impl Call {
    fn text(&self, index: usize) -> Option<OsString> {
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

    fn opens(&self) -> bool {
        [
            libc::SYS_open,
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_creat,
        ]
        .contains(&self.number)
    }

    /// The path in an argument, with the folder in another one.
    fn path(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        let folder = folder.map_or(libc::AT_FDCWD, |index| self.arguments[index] as RawFd);
        Some(Target::at(folder, self.text(path)?))
    }

    /// The same, of an entry itself: a link is not followed.
    fn entry(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            follows: false,
            ..self.path(folder, path)?
        })
    }

    fn new_entry(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            makes: true,
            makes_only: true,
            ..self.entry(folder, path)?
        })
    }

    fn opened(&self, folder: Option<usize>, path: usize, flags: u64) -> Option<Target> {
        let has = |flag: libc::c_int| flags & flag as u64 != 0;
        Some(Target {
            follows: !has(libc::O_NOFOLLOW),
            makes: has(libc::O_CREAT),
            makes_only: has(libc::O_EXCL) && has(libc::O_CREAT),
            opens: true,
            ..self.path(folder, path)?
        })
    }

    fn descriptor(&self, index: usize) -> Target {
        Target {
            path: None,
            ..Target::at(self.arguments[index] as RawFd, OsString::new())
        }
    }

    /// What the call changes.
    fn targets(&self) -> Vec<Target> {
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

    fn renamed_to(&self, folder: Option<usize>, path: usize) -> Option<Target> {
        Some(Target {
            makes_only: false,
            ..self.new_entry(folder, path)?
        })
    }

    fn name(&self) -> &'static str {
        NAMES
            .iter()
            .find(|(number, _)| *number == self.number)
            .map_or("a system call", |(_, name)| name)
    }
}

/// The names of the calls that are looked at.
const NAMES: &[(libc::c_long, &str)] = &[
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

/// What the memory of a process holds.
fn read_memory(pid: Pid, address: u64, length: usize) -> Option<Vec<u8>> {
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
