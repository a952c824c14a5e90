//! Removing trees that hostile programs have made: tens of thousands of folders in one another, folders whose modes forbid it.
//!
//! Everything is named from an open folder, so no path is too long and no link is followed. What lies deeper than some levels is moved up
//! and removed from there, so neither the stack nor the number of open files grows with the depth.

use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::files::c_path;

/// So many folders are open in one another at most.
const MOST_OPEN: usize = 32;

/// Removes a folder with everything in it, or a file. One that does not exist is no error.
///
/// # Errors
/// What cannot be removed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let name = c_path(path)?;
    match unlink(libc::AT_FDCWD, &name, 0) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Which error a folder gives depends on the file system.
        Err(error) if !fs::symlink_metadata(path).is_ok_and(|about| about.is_dir()) => {
            return Err(error);
        }
        Err(_) => {}
    }
    let top = open_folder(libc::AT_FDCWD, &name)?;
    let mut moved = Moved {
        top: &top,
        count: 0,
    };
    loop {
        let before = moved.count;
        clear(&top, MOST_OPEN, &mut moved)?;
        // What was moved up is removed with the rest of the folder.
        if moved.count == before {
            break;
        }
    }
    unlink(libc::AT_FDCWD, &name, libc::AT_REMOVEDIR)
}

/// Folders that were moved up.
struct Moved<'m> {
    top: &'m OwnedFd,
    count: u64,
}

impl Moved<'_> {
    /// Moves a folder up.
    fn take(&mut self, from: libc::c_int, name: &CStr) -> io::Result<()> {
        let mut is_permitted = false;
        loop {
            let up = CString::new(format!(".moved-up-{}", self.count))?;
            // SAFETY: both names are NUL-terminated and alive.
            let result =
                unsafe { libc::renameat(from, name.as_ptr(), self.top.as_raw_fd(), up.as_ptr()) };
            self.count += 1;
            if result == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                // The name is taken.
                Some(libc::EEXIST | libc::ENOTEMPTY | libc::ENOTDIR) => {}
                // A folder that moves is written to. Opening it gives the rights for that.
                Some(libc::EACCES) if !is_permitted => {
                    permit(&open_folder(from, name)?)?;
                    is_permitted = true;
                }
                _ => return Err(error),
            }
        }
    }
}

/// Removes what is in a folder, but for what lies deeper than so many levels, which is moved up.
fn clear(folder: &OwnedFd, levels: usize, moved: &mut Moved<'_>) -> io::Result<()> {
    for name in names(folder)? {
        let own = folder.as_raw_fd();
        let Err(error) = unlink(own, &name, 0) else {
            continue;
        };
        match error.raw_os_error() {
            Some(libc::ENOENT) => continue,
            Some(libc::EISDIR | libc::EPERM) => {}
            // In a folder whose mode forbids it.
            Some(libc::EACCES) => {
                permit(folder)?;
                if unlink(own, &name, 0).is_ok() {
                    continue;
                }
            }
            _ => return Err(error),
        }
        if levels == 0 {
            moved.take(own, &name)?;
            continue;
        }
        let inner = open_folder(own, &name)?;
        clear(&inner, levels - 1, moved)?;
        drop(inner);
        unlink(own, &name, libc::AT_REMOVEDIR)?;
    }
    Ok(())
}

/// The names in a folder.
fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            permit(folder)?;
            fs::read_dir(&path)?
        }
        other => other?,
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        let name: OsString = entry?.file_name();
        Ok(CString::new(name.into_vec())?)
    };
    entries.map(name).collect()
}

/// Gives the owner all rights on a folder.
fn permit(folder: &OwnedFd) -> io::Result<()> {
    let path = CString::new(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    // SAFETY: the path is NUL-terminated and alive.
    match unsafe { libc::chmod(path.as_ptr(), 0o700) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn open_folder(at: libc::c_int, name: &CStr) -> io::Result<OwnedFd> {
    let open = |flags| {
        let flags = flags | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the name is NUL-terminated and alive.
        match unsafe { libc::openat(at, name.as_ptr(), flags) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: just opened, no other owner.
            opened => Ok(unsafe { OwnedFd::from_raw_fd(opened) }),
        }
    };
    match open(libc::O_RDONLY) {
        // Its mode forbids to read it; what only names it may change that.
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
            permit(&open(libc::O_PATH)?)?;
            open(libc::O_RDONLY)
        }
        other => other,
    }
}

fn unlink(at: libc::c_int, name: &CStr, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the name is NUL-terminated and alive.
    match unsafe { libc::unlinkat(at, name.as_ptr(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn folders_in_one_another_are_removed_however_many_there_are() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("top");
        fs::create_dir(&top).unwrap();
        fs::write(top.join("file"), "").unwrap();
        let mut folder = open_folder(libc::AT_FDCWD, &c_path(&top).unwrap()).unwrap();
        for _ in 0..3000 {
            // SAFETY: the name is NUL-terminated and static.
            let made = unsafe { libc::mkdirat(folder.as_raw_fd(), c"d".as_ptr(), 0o700) };
            assert_eq!(made, 0);
            folder = open_folder(folder.as_raw_fd(), c"d").unwrap();
        }
        drop(folder);
        remove(&top).unwrap();
        assert!(!top.exists());
        remove(&top).unwrap();
    }

    #[test]
    fn links_are_removed_and_what_they_lead_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let (top, kept) = (place.path().join("top"), place.path().join("kept"));
        fs::create_dir_all(top.join("closed/inner")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&kept, top.join("closed/link")).unwrap();
        fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        remove(&top).unwrap();
        assert!(!top.exists() && kept.join("file").exists());
    }
}
