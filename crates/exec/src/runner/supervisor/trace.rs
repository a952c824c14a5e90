//! Runs a command under `ptrace`, which stops each of its processes when it is made, when it becomes another program, and at breakpoints.
//!
//! Our own program does that in a process of its own between the supervisor and the command, so that the supervisor need not wait for
//! stops. Signals are handed on.

pub(crate) mod compilers;
pub(crate) mod functions;

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::sys::{Pid, check};

/// Becomes the watcher of a command, if the environment asks for it: runs the command, and ends as that does.
pub(super) fn watch_if_asked() {
    let build = (
        std::env::var_os(compilers::COMMAND),
        std::env::var_os(compilers::RECORDS),
    );
    let watched = match (build, std::env::var_os(functions::REQUEST)) {
        ((Some(command), Some(records)), _) => compilers::watched(&command, Path::new(&records)),
        (_, Some(request)) => functions::watched(Path::new(&request)),
        _ => return,
    };
    let status = match watched {
        Ok(status) => status,
        Err(error) => {
            eprintln!("patchwright: the command cannot be watched: {error}");
            1
        }
    };
    std::process::exit(status)
}

/// Who wants to know what a command does.
trait Watcher {
    /// A process has become another program, and is stopped.
    fn executes(&mut self, pid: Pid) -> io::Result<()>;

    /// A process is stopped by a trap: whether it was a breakpoint of ours, so that the process goes on without a signal.
    fn is_trapped(&mut self, _pid: Pid) -> io::Result<bool> {
        Ok(false)
    }

    /// A process has ended.
    fn ends(&mut self, _pid: Pid) {}
}

/// A command that is watched.
struct Watching<'a> {
    /// The program and its arguments.
    arguments: &'a [CString],
    /// Variables that the command does not get.
    hidden: &'a [&'a str],
    /// The command is not executed where it cannot be watched.
    is_needed: bool,
}

/// The exit status of a command that was not executed because it cannot be watched.
const NOT_WATCHED: i32 = 126;

impl Watching<'_> {
    /// Runs the command; its exit status, as a shell tells it.
    fn run(&self, watcher: &mut impl Watcher) -> io::Result<i32> {
        let is_hidden = |name: &OsStr| self.hidden.iter().any(|hidden| name == *hidden);
        let environment: Vec<CString> = std::env::vars_os()
            .filter(|(name, _)| !is_hidden(name))
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<Result<_, _>>()?;
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            let own = texts.iter().map(|text| text.as_ptr());
            own.chain([ptr::null()]).collect()
        };
        let (arguments, environment_pointers) = (pointers(self.arguments), pointers(&environment));
        // SAFETY: the process has one thread.
        let first = check(unsafe { libc::fork() })? as Pid;
        if first == 0 {
            // SAFETY: only calls that are safe after fork; the arrays end with null pointers and outlive the call.
            unsafe {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
                    libc::raise(libc::SIGSTOP);
                } else if self.is_needed {
                    libc::_exit(NOT_WATCHED);
                }
                libc::execvpe(
                    arguments[0],
                    arguments.as_ptr(),
                    environment_pointers.as_ptr(),
                );
                libc::_exit(127)
            }
        }
        let (_, status) = wait(first)?;
        if !libc::WIFSTOPPED(status) {
            return Ok(code(status));
        }
        let options = libc::PTRACE_O_TRACEEXEC
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_EXITKILL;
        // SAFETY: the child is stopped, and the request takes no pointer.
        check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, first, 0, options) })?;
        go_on(first, 0);
        let mut known: BTreeSet<Pid> = BTreeSet::from([first]);
        loop {
            let (pid, status) = wait(-1)?;
            if !libc::WIFSTOPPED(status) {
                known.remove(&pid);
                watcher.ends(pid);
                if pid == first {
                    return Ok(code(status));
                }
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            match status >> 16 {
                libc::PTRACE_EVENT_EXEC => {
                    watcher.executes(pid)?;
                    go_on(pid, 0);
                }
                0 if known.insert(pid) && signal == libc::SIGSTOP => go_on(pid, 0),
                0 if signal == libc::SIGTRAP && watcher.is_trapped(pid)? => go_on(pid, 0),
                0 => go_on(pid, signal),
                _ => go_on(pid, 0),
            }
        }
    }
}

/// Waits for a process, or for any if it is -1.
fn wait(pid: Pid) -> io::Result<(Pid, libc::c_int)> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a place for the result.
        match check(unsafe { libc::waitpid(pid, &mut status, libc::__WALL) }) {
            Ok(pid) => return Ok((pid as Pid, status)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Lets a stopped process go on, with a signal unless it is 0. If it is there no more, that is all the same.
fn go_on(pid: Pid, signal: libc::c_int) {
    // SAFETY: the request takes no pointer.
    unsafe { libc::ptrace(libc::PTRACE_CONT, pid, 0, signal) };
}

/// The exit status of a shell whose command has ended so.
fn code(status: libc::c_int) -> i32 {
    match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => 128 + libc::WTERMSIG(status),
    }
}
