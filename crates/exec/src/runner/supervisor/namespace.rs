//! A mount namespace in which copies appear at other paths.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::{protection, sys::check};
use crate::files::c_path;
use crate::view::{View, ViewStatus};

/// Moves this process into a namespace of its own with the view, if one is given. After a refusal
/// the process may be in a namespace whose mounts equal the old ones.
pub(super) fn enter(view: Option<View>) -> ViewStatus {
    let Some(view) = view else {
        return ViewStatus::NotRequested;
    };
    match set_up(&view) {
        Ok(true) => ViewStatus::Protected,
        Ok(false) => ViewStatus::Active,
        Err(reason) => ViewStatus::Refused { reason },
    }
}

/// Whether what was to be protected is: where the system cannot do that, copies are shown all the same.
fn set_up(view: &View) -> Result<bool, String> {
    for (source, target) in &view.shadow {
        if source.starts_with(target) {
            return Err(format!(
                "the copy {} lies inside {}, which it would hide",
                source.display(),
                target.display()
            ));
        }
    }
    unshare().map_err(|e| format!("a mount namespace is not permitted: {e}"))?;
    // Else the mounts below would show, or even spread, outside.
    mount(None, Path::new("/"), libc::MS_REC | libc::MS_PRIVATE)
        .map_err(|e| format!("mounts cannot be made private: {e}"))?;
    // Before the copies, which stay writable wherever they are shown.
    let is_protected = match &view.protection {
        None => false,
        Some(protection) => match protection::protect(protection) {
            Ok(()) => true,
            Err(error) => {
                tracing::info!("nothing outside of copies is protected: {error}");
                false
            }
        },
    };
    for (done, (source, target)) in view.shadow.iter().enumerate() {
        if let Err(error) = mount(Some(source), target, libc::MS_BIND | libc::MS_REC) {
            for (_, target) in view.shadow[..done].iter().rev() {
                unmount(target);
            }
            return Err(format!(
                "{} cannot be mounted at {}: {error}",
                source.display(),
                target.display()
            ));
        }
    }
    Ok(is_protected)
}

/// A mount namespace of our own; who is not root also needs a user namespace, in which user and
/// group keep their numbers.
fn unshare() -> io::Result<()> {
    // SAFETY: no pointers; these calls only read.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no pointers.
    let plain = check(unsafe { libc::unshare(libc::CLONE_NEWNS) });
    if plain.is_ok() {
        return Ok(());
    }
    // SAFETY: no pointers.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) })?;
    // Required before an unprivileged process may map its group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))
}

pub(super) fn mount(source: Option<&Path>, target: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map(c_path).transpose()?;
    let source = source.as_ref().map_or(ptr::null(), |s| s.as_ptr());
    let target = c_path(target)?;
    // SAFETY: the strings are NUL-terminated and alive; type and data may be null for these flags.
    check(unsafe { libc::mount(source, target.as_ptr(), ptr::null(), flags, ptr::null()) })
        .map(drop)
}

fn unmount(target: &Path) {
    debug_assert!(
        !target.as_os_str().as_bytes().contains(&0),
        "it has been mounted"
    );
    let Ok(target) = c_path(target) else { return };
    // SAFETY: the string is NUL-terminated and alive.
    unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
}
