//! Removing trees that hostile programs have made: tens of thousands of folders in one another, folders whose modes forbid it.
//!
//! Everything is named from an open folder, so no path is too long and no link is followed. One folder is open at a time, and the way back
//! leads through `..`, so neither the stack nor the number of open files grows with the depth.

use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files::c_path;

/// Removes a folder with everything in it, or a file. One that does not exist is no error. No process may be at work in it.
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
    clear(open_folder(libc::AT_FDCWD, &name)?)?;
    unlink(libc::AT_FDCWD, &name, libc::AT_REMOVEDIR)
}

/// A folder on the way down.
struct Level {
    /// Its device and number, by which it is known on the way back.
    id: (u64, u64),
    /// The folders in it that are still there.
    folders: Vec<CString>,
}

impl Level {
    /// Removes the files in a folder; its folders are left.
    fn enter(folder: &OwnedFd) -> io::Result<Level> {
        let mut folders = Vec::new();
        for name in names(folder)? {
            let own = folder.as_raw_fd();
            let mut removed = unlink(own, &name, 0);
            if removed
                .as_ref()
                .is_err_and(|error| error.raw_os_error() == Some(libc::EACCES))
            {
                // The folder's mode forbids it.
                permit(folder)?;
                removed = unlink(own, &name, 0);
            }
            let Err(error) = removed else {
                continue;
            };
            match error.raw_os_error() {
                Some(libc::ENOENT) => {}
                Some(libc::EISDIR | libc::EPERM) => folders.push(name),
                _ => return Err(error),
            }
        }
        Ok(Level {
            id: id_of(folder)?,
            folders,
        })
    }
}

/// Removes what is in a folder.
fn clear(top: OwnedFd) -> io::Result<()> {
    let mut levels = vec![Level::enter(&top)?];
    let mut folder = top;
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.folders.last() {
            folder = open_folder(folder.as_raw_fd(), name)?;
            levels.push(Level::enter(&folder)?);
            continue;
        }
        levels.pop();
        let Some(around) = levels.last_mut() else {
            break;
        };
        folder = open_folder(folder.as_raw_fd(), c"..").or_else(|_| {
            // Its mode may forbid that.
            permit(&folder)?;
            open_folder(folder.as_raw_fd(), c"..")
        })?;
        if id_of(&folder)? != around.id {
            return Err(io::Error::other("it was moved meanwhile"));
        }
        if let Some(name) = around.folders.pop() {
            unlink(folder.as_raw_fd(), &name, libc::AT_REMOVEDIR)?;
        }
    }
    Ok(())
}

fn id_of(folder: &OwnedFd) -> io::Result<(u64, u64)> {
    let about = fs::metadata(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    Ok((about.dev(), about.ino()))
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
        fs::set_permissions(top.join("closed/inner"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&kept, top.join("closed/link")).unwrap();
        fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        remove(&top).unwrap();
        assert!(!top.exists() && kept.join("file").exists());
    }
}
