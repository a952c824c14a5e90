//! Watches which programs a build executes, whatever names them: for builds that do not look for their compiler in `PATH`.
//!
//! The build runs under `ptrace`, which stops each of its processes for a moment when it is made and when it becomes another
//! program. Signals are handed on.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::sys::{Pid, check};
use crate::intercept::is_compiler;

/// The variable whose value is the shell command to run and watch.
pub(crate) const COMMAND: &str = "PATCHWRIGHT_WATCHED_BUILD";

/// The variable that names the folder for the records.
pub(crate) const RECORDS: &str = "PATCHWRIGHT_WATCHED_RECORDS";

/// With an argument like these a compiler is one that another one has started.
const INNER: [&[u8]; 2] = [b"-cc1", b"-cc1as"];

/// Becomes the watcher of a build, if the environment asks for it: runs the command, and ends as that does.
pub(super) fn watch_if_asked() {
    let (Some(command), Some(records)) = (std::env::var_os(COMMAND), std::env::var_os(RECORDS))
    else {
        return;
    };
    let status = match watched(&command, Path::new(&records)) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("patchwright: the build cannot be watched: {error}");
            1
        }
    };
    std::process::exit(status)
}

fn watched(command: &OsStr, records: &Path) -> io::Result<i32> {
    let arguments = [b"/bin/sh", &b"-c"[..], command.as_bytes()];
    let arguments: Vec<CString> = arguments
        .map(CString::new)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let is_ours = |name: &OsStr| name == COMMAND || name == RECORDS;
    let environment: Vec<CString> = std::env::vars_os()
        .filter(|(name, _)| !is_ours(name))
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<Result<_, _>>()?;
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        let own = texts.iter().map(|text| text.as_ptr());
        own.chain([ptr::null()]).collect()
    };
    let (argument_pointers, environment_pointers) = (pointers(&arguments), pointers(&environment));
    // SAFETY: the process has one thread.
    let first = check(unsafe { libc::fork() })? as Pid;
    if first == 0 {
        // SAFETY: only calls that are safe after fork; the arrays end with null pointers and outlive the call.
        unsafe {
            // Where it is not permitted, the build runs all the same, and nothing is noted.
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
                libc::raise(libc::SIGSTOP);
            }
            libc::execve(
                arguments[0].as_ptr(),
                argument_pointers.as_ptr(),
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
    let mut number = 0;
    loop {
        let (pid, status) = wait(-1)?;
        if !libc::WIFSTOPPED(status) {
            known.remove(&pid);
            if pid == first {
                return Ok(code(status));
            }
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            libc::PTRACE_EVENT_EXEC => {
                number += 1;
                // What cannot be read has ended.
                if let Ok(Some(text)) = record(pid) {
                    fs::write(records.join(format!("watched-{number}")), text)?;
                }
                go_on(pid, 0);
            }
            0 if known.insert(pid) && signal == libc::SIGSTOP => go_on(pid, 0),
            0 => go_on(pid, signal),
            _ => go_on(pid, 0),
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

/// The program that a process has become, if it is a C compiler, in the form of the shims' records.
fn record(pid: Pid) -> io::Result<Option<Vec<u8>>> {
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    let words: Vec<&[u8]> = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|b| *b == 0)
        .collect();
    let Some((called, arguments)) = words.split_first() else {
        return Ok(None);
    };
    let name = called
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    if !is_compiler(name) || arguments.iter().any(|word| INNER.contains(word)) {
        return Ok(None);
    }
    let folder = fs::read_link(format!("/proc/{pid}/cwd"))?;
    let program: PathBuf = match called.contains(&b'/') {
        true => folder.join(OsStr::from_bytes(called)),
        false => fs::read_link(format!("/proc/{pid}/exe"))?,
    };
    let mut text = arguments.len().to_string().into_bytes();
    let head = [folder.as_os_str(), program.as_os_str()].map(OsStr::as_bytes);
    for word in head.iter().chain(arguments) {
        text.push(0);
        text.extend_from_slice(word);
    }
    text.push(0);
    Ok(Some(text))
}
