//! A process namespace of the supervisor's own: commands see nobody but each other.
//!
//! A program that is changed at random signals at random: `kill(-1, …)` reaches every process of the user, and another number whoever has
//! it. In a namespace of their own commands cannot name anybody else. The supervisor is its first process, so that the kernel ends
//! all others with it. Where the system does not permit that, everything works as before, but for this protection.

use std::fs;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr;

use super::sys::{self, Pid, check};
use crate::refusal::Refusal;

/// Goes on in a child that is the first process of a new namespace. The calling process becomes the
/// [guardian](super::guardian): it waits for the child and ends with its status. The socket is the one to the guardian. Returns
/// in the calling process, with why, if there can be no such namespace.
pub(super) fn move_into_own_namespace() -> Result<OwnedFd, Refusal> {
    match begin() {
        Ok(Role::Inside(guardian)) => Ok(guardian),
        Ok(Role::Outside(first, control)) => std::process::exit(guard_alone(first, control)),
        Err(error) => {
            tracing::info!("no namespace for processes: {error}");
            Err(Refusal::of_namespace(
                "a namespace of processes is not permitted",
                &error,
            ))
        }
    }
}

/// What the first process says when it has taken its place; any other number is an error of the system.
const READY: i32 = 0;

enum Role {
    /// The first process of the namespace, with the socket to the one outside.
    Inside(OwnedFd),
    /// The one that has made it.
    Outside(Pid, OwnedFd),
}

fn begin() -> io::Result<Role> {
    const PLAIN: libc::c_int = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
    // Who is not root needs a user namespace, in which user and group keep their numbers.
    match begin_with(PLAIN) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            begin_with(PLAIN | libc::CLONE_NEWUSER)
        }
        other => other,
    }
}

fn begin_with(namespaces: libc::c_int) -> io::Result<Role> {
    // SAFETY: no pointers; these calls only read.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let (permission, permit) = sys::pipe()?;
    let (control, guardian) = sys::message_sockets()?;
    let (answer, ready) = sys::pipe()?;
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    let null = ptr::null_mut::<libc::c_void>();
    // SAFETY: without a stack of its own the child goes on with a copy of this one, as after fork; the process has one thread.
    let child = check(unsafe { libc::syscall(libc::SYS_clone, flags, null, null, null, null) })?;
    if child == 0 {
        drop((permit, answer, control));
        let mut ready = File::from(ready);
        let Err(error) =
            take_place(permission).and_then(|()| ready.write_all(&READY.to_ne_bytes()))
        else {
            return Ok(Role::Inside(guardian));
        };
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        let _ = ready.write_all(&number.to_ne_bytes());
        // SAFETY: no pointers.
        unsafe { libc::_exit(1) }
    }
    drop((permission, ready, guardian));
    let child = child as Pid;
    let told = (|| {
        if namespaces & libc::CLONE_NEWUSER != 0 {
            // Required before an unprivileged process may map its group.
            fs::write(format!("/proc/{child}/setgroups"), "deny")?;
            fs::write(
                format!("/proc/{child}/uid_map"),
                format!("{user} {user} 1\n"),
            )?;
            fs::write(
                format!("/proc/{child}/gid_map"),
                format!("{group} {group} 1\n"),
            )?;
        }
        File::from(permit).write_all(b"m")?;
        let mut number = [0; size_of::<i32>()];
        File::from(answer).read_exact(&mut number)?;
        match i32::from_ne_bytes(number) {
            READY => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    })();
    if let Err(error) = told {
        sys::kill_child(child);
        return Err(error);
    }
    Ok(Role::Outside(child, control))
}

/// In the first process of the namespace: waits until its user is mapped, and has the files of `/proc` show who is in it.
fn take_place(permission: OwnedFd) -> io::Result<()> {
    File::from(permission).read_exact(&mut [0])?;
    // SAFETY: no pointers. If the process outside is killed, all go.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        check(libc::setsid())?;
    }
    // What is mounted outside later shows, and nothing that is mounted here.
    super::mounts::mount(None, Path::new("/"), libc::MS_REC | libc::MS_SLAVE)?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: the strings are NUL-terminated and static.
    check(unsafe {
        let (kind, at) = (c"proc".as_ptr(), c"/proc".as_ptr());
        libc::mount(kind, at, kind, flags, ptr::null())
    })
    .map(drop)
}

/// Closes everything else and guards until the namespace has ended; its status.
fn guard_alone(first: Pid, control: OwnedFd) -> i32 {
    const CONTROL: RawFd = 0;
    // The other end of the channel would not learn that the supervisor is gone.
    if sys::duplicate(control.as_raw_fd(), CONTROL).is_err() {
        return 1;
    }
    std::mem::forget(control);
    let _ = sys::close_from(CONTROL + 1);
    // SAFETY: the descriptor was just made, and the one that it was made of is forgotten.
    let control = unsafe { OwnedFd::from_raw_fd(CONTROL) };
    super::guardian::guard(first, &control)
}
