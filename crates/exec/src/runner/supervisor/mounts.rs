//! Mounting and unmounting.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::sys::check;
use crate::files::c_path;

/// Mounts `source` at `target`; without one, changes what is mounted there.
///
/// # Errors
/// What the system said.
pub(super) fn mount(source: Option<&Path>, target: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map(c_path).transpose()?;
    let source = source.as_ref().map_or(ptr::null(), |s| s.as_ptr());
    let target = c_path(target)?;
    // SAFETY: the strings are NUL-terminated and alive; type and data may be null for these flags.
    check(unsafe { libc::mount(source, target.as_ptr(), ptr::null(), flags, ptr::null()) })
        .map(drop)
}

/// Takes away what is mounted at `target`, which stays usable for those who have it open.
pub(super) fn unmount(target: &Path) {
    debug_assert!(
        !target.as_os_str().as_bytes().contains(&0),
        "it has been mounted"
    );
    let Ok(target) = c_path(target) else { return };
    // SAFETY: the string is NUL-terminated and alive.
    unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
}
