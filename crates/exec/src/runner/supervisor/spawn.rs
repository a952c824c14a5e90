//! Starting a command: everything between the request and the running child.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::ptr;
use std::time::Instant;

use patchwright_probe_abi::SERVER_DESCRIPTOR;

use super::sys::{self, Pid};
use super::tree;
use crate::limits::Limits;
use crate::runner::{ANNOUNCED, NotStarted, Request, Sink, Stage, Stdin};

/// A command that is running.
pub(super) struct Command {
    /// The process, which is also the number of its session and process group.
    pub(super) pid: Pid,
    pub(super) started: Instant,
    /// A server made it.
    pub(super) forked: bool,
    /// Our ends of the pipes, non-blocking.
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

/// What every command inherits.
pub(super) struct Inherited {
    pub(super) environment: Vec<(OsString, OsString)>,
    /// The number of threads that the user may have, at the most, whatever happens.
    pub(super) threads: u64,
    /// Whether commands are kept from changing anything outside of their copy.
    pub(super) protected: bool,
    victim: Option<Victim>,
}

impl Inherited {
    /// Once this process is the one that starts commands.
    pub(super) fn settle(&mut self) {
        self.victim = Victim::open();
    }
}

/// Room for what the user starts elsewhere while commands run.
const OTHER_THREADS: u64 = 2048;

impl Inherited {
    /// Takes over what the supervisor has inherited: its environment, and the threads of its user.
    pub(super) fn take() -> Self {
        Inherited {
            environment: std::env::vars_os().collect(),
            threads: tree::threads_of_user() + OTHER_THREADS,
            protected: false,
            victim: None,
        }
    }
}

/// The standard streams of a command that is about to start.
pub(super) struct Wires {
    /// What it gets as its descriptors 0 to 2; all are above 2 here.
    pub(super) descriptors: [RawFd; 3],
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// Owns what the command gets.
    _theirs: Vec<OwnedFd>,
}

impl Wires {
    /// Opens the streams of a command.
    pub(super) fn open(request: &Request) -> Result<Self, NotStarted> {
        let resources = |error: io::Error| failure(Stage::Resources, &error);
        let null = sys::null().map_err(resources)?;
        let stdin = open_stdin(&request.stdin).map_err(|e| failure(Stage::Stdin, &e))?;
        let mut stdout = None;
        let mut stderr = None;
        let mut descriptors = [null; 3];
        let mut theirs = vec![];
        if let Some(file) = stdin {
            descriptors[0] = file.as_raw_fd();
            theirs.push(file.into());
        }
        if request.stdout != Sink::Null {
            let (ours, end) = capture().map_err(resources)?;
            descriptors[1] = end.as_raw_fd();
            stdout = Some(ours);
            theirs.push(end);
        }
        match request.stderr {
            Sink::Null => {}
            Sink::WithStdout => descriptors[2] = descriptors[1],
            Sink::Capture | Sink::Dump => {
                let (ours, end) = capture().map_err(resources)?;
                descriptors[2] = end.as_raw_fd();
                stderr = Some(ours);
                theirs.push(end);
            }
        }
        Ok(Wires {
            descriptors,
            stdout,
            stderr,
            _theirs: theirs,
        })
    }

    /// Hands the streams over to the started command.
    pub(super) fn into_command(self, pid: Pid, started: Instant) -> Command {
        Command {
            pid,
            started,
            forked: false,
            stdout: self.stdout,
            stderr: self.stderr,
        }
    }
}

/// Starts the command; on return its program is running. It finds `server` where servers take their orders.
pub(super) fn spawn(
    request: &Request,
    inherited: &Inherited,
    server: Option<&OwnedFd>,
) -> Result<Command, NotStarted> {
    let wires = Wires::open(request)?;
    let started = Instant::now();
    let start = Start {
        wires: wires.descriptors,
        server: server.map(AsRawFd::as_raw_fd),
        cpu: cpu_seconds(&request.limits),
    };
    let pid = execute(request, inherited, &start)?;
    Ok(wires.into_command(pid, started))
}

/// Starts the command as a server, without input, that prints into a file and may take all the time of the processor.
pub(super) fn spawn_server(
    request: &Request,
    inherited: &Inherited,
    server: &OwnedFd,
    printed: &File,
) -> Result<Pid, NotStarted> {
    let null = sys::null().map_err(|error| failure(Stage::Resources, &error))?;
    let start = Start {
        wires: [null, printed.as_raw_fd(), printed.as_raw_fd()],
        server: Some(server.as_raw_fd()),
        cpu: None,
    };
    execute(request, inherited, &start)
}

/// What a new process starts with besides what the request says.
struct Start {
    wires: [RawFd; 3],
    /// The socket at which a server takes its orders.
    server: Option<RawFd>,
    /// Limits of processor time: soft and hard.
    cpu: Option<(u64, u64)>,
}

fn execute(request: &Request, inherited: &Inherited, start: &Start) -> Result<Pid, NotStarted> {
    let mut image = Image::new(request, inherited).map_err(|e| failure(Stage::Execute, &e))?;
    let (mut report, report_end) = sys::pipe()
        .map(|(r, w)| (File::from(r), w))
        .map_err(|error| failure(Stage::Resources, &error))?;
    // SAFETY: no pointers.
    let parent = unsafe { libc::getpid() };
    let victim = inherited.victim.as_ref();
    victim.inspect(|victim| victim.prefer(true));
    // SAFETY: this process has one thread, so the child may do anything a process may; it does
    // nothing but system calls nonetheless and never returns from `become_command`.
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        victim.inspect(|victim| victim.prefer(false));
    }
    if pid == 0 {
        let (stage, errno) = become_command(
            parent,
            start,
            report_end.as_raw_fd(),
            &mut image,
            request,
            inherited,
        );
        let mut message = [0; 5];
        message[0] = stage as u8;
        message[1..].copy_from_slice(&errno.to_le_bytes());
        // SAFETY: writes a live buffer to an open descriptor, then ends the process at once.
        unsafe {
            libc::write(
                report_end.as_raw_fd(),
                message.as_ptr().cast(),
                message.len(),
            );
            libc::_exit(127)
        }
    }
    if pid < 0 {
        return Err(failure(Stage::Fork, &io::Error::last_os_error()));
    }
    drop(report_end);
    // The end of the pipe means that the program was executed: its end is closed on exec.
    let mut message = Vec::new();
    let _ = report.read_to_end(&mut message);
    if let [stage, errno @ ..] = message.as_slice()
        && let Ok(errno) = errno.try_into()
    {
        // SAFETY: waits for our own child, which is about to end; no status is asked for.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        let stages = [Stage::Session, Stage::Redirect, Stage::WorkingDirectory];
        let stage = stages
            .into_iter()
            .find(|s| *s as u8 == *stage)
            .unwrap_or(Stage::Execute);
        return Err(NotStarted {
            stage,
            errno: i32::from_le_bytes(errno),
        });
    }
    Ok(pid)
}

fn failure(stage: Stage, error: &io::Error) -> NotStarted {
    NotStarted {
        stage,
        errno: error.raw_os_error().unwrap_or(libc::EINVAL),
    }
}

fn open_stdin(stdin: &Stdin) -> io::Result<Option<File>> {
    match stdin {
        Stdin::Null => Ok(None),
        Stdin::File(path) => File::open(path).map(Some),
        Stdin::Bytes(bytes) => {
            let mut file = sys::memory_file("stdin")?;
            file.write_all(bytes)?;
            file.rewind()?;
            Ok(Some(file))
        }
    }
}

fn capture() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = sys::pipe()?;
    sys::set_nonblocking(&ours)?;
    Ok((ours, theirs))
}

/// Everything that `execve` needs, prepared before the fork.
struct Image {
    /// The paths to try, in order.
    candidates: Vec<CString>,
    /// `/bin/sh`, a place for the script, and the arguments: `execve`'s second argument is this
    /// from index 1 on, or all of it for a script without `#!`.
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    cwd: CString,
    /// Owns what the pointers point to.
    _strings: Vec<CString>,
}

impl Image {
    fn new(request: &Request, inherited: &Inherited) -> io::Result<Self> {
        let variables = variables(request, inherited);
        let path = variables.get(OsStr::new("PATH")).copied();
        let candidates = candidates(&request.command[0], path)?;
        let mut strings = vec![c_string(b"/bin/sh")?];
        for argument in &request.command {
            strings.push(c_string(argument.as_bytes())?);
        }
        let split = strings.len();
        for (name, value) in variables {
            strings.push(c_string(
                &[name.as_bytes(), b"=", value.as_bytes()].concat(),
            )?);
        }
        let pointers = |strings: &[CString]| {
            let pointers = strings.iter().map(|s| s.as_ptr());
            pointers.chain([ptr::null()]).collect::<Vec<_>>()
        };
        Ok(Image {
            candidates,
            arguments: pointers(&strings[..split]),
            environment: pointers(&strings[split..]),
            cwd: c_string(request.cwd.as_os_str().as_bytes())?,
            _strings: strings,
        })
    }

    /// Becomes the program; returns why it could not, the way `execvpe` does.
    fn execute(&mut self) -> i32 {
        let mut error = libc::ENOENT;
        for candidate in &self.candidates {
            // SAFETY: null-terminated arrays of NUL-terminated strings that `self` keeps alive;
            // index 1 exists because a command has at least its program.
            unsafe {
                let arguments = self.arguments.as_ptr().add(1);
                libc::execve(candidate.as_ptr(), arguments, self.environment.as_ptr());
                match *libc::__errno_location() {
                    libc::ENOEXEC => {
                        self.arguments[1] = candidate.as_ptr();
                        let shell = self.arguments[0];
                        libc::execve(shell, self.arguments.as_ptr(), self.environment.as_ptr());
                        return *libc::__errno_location();
                    }
                    libc::ENOENT | libc::ENOTDIR => {}
                    libc::EACCES => error = libc::EACCES,
                    other => return other,
                }
            }
        }
        error
    }
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn variables<'a>(request: &'a Request, inherited: &'a Inherited) -> BTreeMap<&'a OsStr, &'a OsStr> {
    let environment = &request.environment;
    let mut variables = BTreeMap::new();
    if !environment.clear {
        // What is said to Patchwright is not for programs.
        let is_ours = |name: &OsString| name.as_bytes().starts_with(b"PATCHWRIGHT_");
        let kept = inherited
            .environment
            .iter()
            .filter(|(name, _)| !environment.remove.contains(name) && !is_ours(name));
        variables.extend(kept.map(|(name, value)| (name.as_os_str(), value.as_os_str())));
    }
    variables.insert(OsStr::new("PWD"), request.cwd.as_os_str());
    // Where a run has its folder, programs find there what these say.
    let is_found = |name: &OsString| {
        inherited.protected && ANNOUNCED.iter().any(|(variable, _)| name == variable)
    };
    let set = environment.set.iter().filter(|(name, _)| !is_found(name));
    variables.extend(set.map(|(n, v)| (n.as_os_str(), v.as_os_str())));
    variables
}

/// Where to look for a program.
fn candidates(program: &OsStr, path: Option<&OsStr>) -> io::Result<Vec<CString>> {
    if program.as_bytes().contains(&b'/') {
        return Ok(vec![c_string(program.as_bytes())?]);
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(path)
        .map(|folder| {
            let folder = if folder.as_os_str().is_empty() {
                ".".into()
            } else {
                folder
            };
            c_string(&folder.join(program).into_os_string().into_vec())
        })
        .collect()
}

/// In the child: gives up what the supervisor is and becomes the command. Returns only on failure.
fn become_command(
    parent: Pid,
    start: &Start,
    report: RawFd,
    image: &mut Image,
    request: &Request,
    inherited: &Inherited,
) -> (Stage, i32) {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: system calls on live locals and open descriptors only; see each.
    unsafe {
        if libc::setsid() < 0 {
            return (Stage::Session, errno());
        }
        // If the supervisor is killed, the command goes too.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if libc::getppid() != parent {
            libc::_exit(127);
        }
        // All sources are above 2: descriptors 0 to 2 are always open in the supervisor.
        for (target, source) in start.wires.into_iter().enumerate() {
            if libc::dup2(source, target as RawFd) < 0 {
                return (Stage::Redirect, errno());
            }
        }
        if let Some(server) = start.server {
            // A program that does not find it is not a server.
            libc::dup2(server, SERVER_DESCRIPTOR);
        }
        if libc::chdir(image.cwd.as_ptr()) < 0 {
            return (Stage::WorkingDirectory, errno());
        }
        set_limits(request, inherited, start.cpu);
        if inherited.protected {
            let spared = [report, start.server.map_or(report, |_| SERVER_DESCRIPTOR)];
            close_but(spared);
            if let Err(error) = give_up_capabilities() {
                return (Stage::Session, error.raw_os_error().unwrap_or(0));
            }
            let _ = sys::forbid_looking(false);
        }
        // Addresses that do not vary make runs repeatable; where that is forbidden, they vary.
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut mask);
        libc::sigprocmask(libc::SIG_SETMASK, &mask, ptr::null_mut());
    }
    (Stage::Execute, image.execute())
}

/// Closes all descriptors but the standard streams and these two: what the supervisor has open is nobody's to look at, not even
/// until the program is executed.
fn close_but(mut spared: [RawFd; 2]) {
    spared.sort_unstable();
    let [low, high] = spared.map(|fd| fd as libc::c_uint);
    for (first, last) in [
        (3, low - 1),
        (low + 1, high.saturating_sub(1)),
        (high + 1, libc::c_uint::MAX),
    ] {
        if first <= last {
            // SAFETY: no pointers; nothing here uses what is closed.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// What root keeps that only concerns files that can be reached, processes that can be seen, and itself.
const KEPT_CAPABILITIES: [libc::c_ulong; 13] = [
    0,  // CHOWN
    1,  // DAC_OVERRIDE
    3,  // FOWNER
    4,  // FSETID
    5,  // KILL
    6,  // SETGID
    7,  // SETUID
    8,  // SETPCAP
    10, // NET_BIND_SERVICE
    14, // IPC_LOCK
    18, // SYS_CHROOT
    24, // SYS_RESOURCE
    31, // SETFCAP
];

/// Root could undo the protection; what is executed from now on cannot.
fn give_up_capabilities() -> io::Result<()> {
    /// The third version of the structure, with two halves of each set: effective, permitted, inheritable.
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let mut sets = [0u32; 6];
    // SAFETY: both buffers are as the kernel wants them for this version, and alive.
    unsafe {
        sys::check(libc::syscall(
            libc::SYS_capget,
            header.as_ptr(),
            sets.as_mut_ptr(),
        ))?;
        // Nothing is handed on but by the rules of execution.
        (sets[2], sets[5]) = (0, 0);
        sys::check(libc::syscall(
            libc::SYS_capset,
            header.as_ptr(),
            sets.as_ptr(),
        ))?;
    }
    for capability in 0..64 {
        if KEPT_CAPABILITIES.contains(&capability) {
            continue;
        }
        // SAFETY: no pointers.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        match sys::check(dropped) {
            // The kernel has no more of them.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
            other => other?,
        };
    }
    Ok(())
}

fn set_limits(request: &Request, inherited: &Inherited, cpu: Option<(u64, u64)>) {
    let limits = &request.limits;
    limit(libc::RLIMIT_CORE, 0, 0);
    if let Some(bytes) = limits.file_size {
        limit(libc::RLIMIT_FSIZE, bytes, bytes);
    }
    if let Some(bytes) = limits.address_space {
        limit(libc::RLIMIT_AS, bytes, bytes);
    }
    if limits.stack_factor > 1 {
        widen_stack(limits.stack_factor);
    }
    if let Some(processes) = limits.processes {
        // The sampled limit comes first. This one counts all threads of the user, so it can only
        // keep a fork bomb from filling the system; and the kernel does not apply it to root.
        let threads = inherited.threads.saturating_add(u64::from(processes));
        limit(libc::RLIMIT_NPROC, threads, threads);
    }
    if let Some((soft, hard)) = cpu {
        limit(libc::RLIMIT_CPU, soft, hard);
    }
}

/// The limits of processor time that the kernel gets, soft and hard, in seconds.
pub(super) fn cpu_seconds(limits: &Limits) -> Option<(u64, u64)> {
    // The sampled limit comes first; this one holds if the supervisor gets no time to sample.
    let seconds = limits.cpu?.as_secs().saturating_add(2);
    Some((seconds, seconds.saturating_add(1)))
}

/// Lowers a limit; one that is lower already stays.
fn limit(resource: libc::__rlimit_resource_t, soft: u64, hard: u64) {
    let mut current = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both pointers are to live locals.
    unsafe {
        if libc::getrlimit(resource, &mut current) == 0 {
            current.rlim_max = current.rlim_max.min(hard);
            current.rlim_cur = current.rlim_cur.min(soft).min(current.rlim_max);
            libc::setrlimit(resource, &current);
        }
    }
}

/// Raises the soft limit of the stack, to the hard one at most. None at all is as large already.
fn widen_stack(factor: u64) {
    let mut current = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both pointers are to live locals.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_STACK, &mut current) == 0
            && current.rlim_cur != libc::RLIM_INFINITY
        {
            let wanted = current.rlim_cur.saturating_mul(factor);
            current.rlim_cur = wanted.min(current.rlim_max);
            libc::setrlimit(libc::RLIMIT_STACK, &current);
        }
    }
}

/// When the system runs out of memory, the kernel shall pick the command, not the supervisor. A command inherits what the
/// supervisor has at that moment: to open a file for each is more than to write to one that is open.
struct Victim {
    file: File,
    usual: Vec<u8>,
}

impl Victim {
    fn open() -> Option<Self> {
        let path = "/proc/self/oom_score_adj";
        let usual = std::fs::read(path).ok()?;
        let file = std::fs::OpenOptions::new().write(true).open(path).ok()?;
        Some(Victim { file, usual })
    }

    fn prefer(&self, prefer: bool) {
        let value = if prefer { b"500" } else { &self.usual[..] };
        // Failures are of no consequence.
        let _ = self.file.write_at(value, 0);
    }
}
