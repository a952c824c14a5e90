//! Everything outside of a copy is made read-only, in a mount namespace of our own.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::namespace::mount;
use super::sys::check;
use crate::files::c_path;
use crate::view::Protection;

/// What the kernel shows of itself: no files of anybody, or devices, which can be written to wherever they are.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// So many folders beside others in a folder for temporary files are kept from changes, each by a mount of its own.
const MOST_FOLDERS: usize = 1000;

/// A place where something is mounted.
struct Mounted {
    at: PathBuf,
    is_read_only: bool,
}

impl Mounted {
    /// It has files of somebody, and can be written to.
    fn is_protected(&self) -> bool {
        !self.is_read_only && !KERNEL.iter().any(|kernel| self.at.starts_with(kernel))
    }
}

/// Makes what is mounted read-only, but for what stays writable. After an error it is as it was.
pub(super) fn protect(protection: &Protection) -> io::Result<()> {
    let mut made_read_only = Vec::new();
    let result = protect_all(protection, &mut made_read_only);
    if let Err(error) = &result {
        tracing::debug!("everything is made writable again: {error}");
        for path in made_read_only.iter().rev() {
            set_read_only(path, false)?;
        }
    }
    result
}

fn protect_all(protection: &Protection, made_read_only: &mut Vec<PathBuf>) -> io::Result<()> {
    let mounted = mounted(&fs::read("/proc/self/mountinfo")?);
    for one in mounted.iter().filter(|one| one.is_protected()) {
        match set_read_only(&one.at, true) {
            Ok(()) => made_read_only.push(one.at.clone()),
            // It is hidden by what is mounted above it, or out of reach for this user.
            Err(error) if one.at != Path::new("/") && is_hidden(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let was_writable = |path: &Path| {
        let around = mounted.iter().filter(|one| path.starts_with(&one.at));
        let nearest = around.max_by_key(|one| one.at.components().count());
        nearest.is_some_and(|one| !one.is_read_only)
    };
    let permit = |folders: &[PathBuf]| -> io::Result<()> {
        for folder in folders {
            // Where nothing is, nothing is to be written.
            if let Ok(folder) = fs::canonicalize(folder)
                && was_writable(&folder)
                && folder != Path::new("/")
            {
                mount(Some(&folder), &folder, libc::MS_BIND | libc::MS_REC)?;
                set_read_only(&folder, false)?;
            }
        }
        Ok(())
    };
    permit(&protection.temporary)?;
    for folder in &protection.temporary {
        protect_folders_in(folder, made_read_only);
    }
    permit(&protection.writable)
}

/// Makes the folders in `folder` read-only.
fn protect_folders_in(folder: &Path, made_read_only: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for entry in folders.take(MOST_FOLDERS) {
        let path = entry.path();
        // One that is gone meanwhile needs no protection.
        let protected = mount(Some(&path), &path, libc::MS_BIND | libc::MS_REC)
            .and_then(|()| set_read_only(&path, true));
        match protected {
            Ok(()) => made_read_only.push(path),
            Err(error) => tracing::debug!("{} is not protected: {error}", path.display()),
        }
    }
}

fn is_hidden(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINVAL | libc::ENOENT | libc::EACCES | libc::ENOTDIR)
    )
}

fn set_read_only(path: &Path, read_only: bool) -> io::Result<()> {
    let path = c_path(path)?;
    let (set, clear) = match read_only {
        true => (libc::MOUNT_ATTR_RDONLY, 0),
        false => (0, libc::MOUNT_ATTR_RDONLY),
    };
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: clear,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is NUL-terminated, and it and the structure are alive; the size is that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            0,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// The mounts that a `mountinfo` lists.
fn mounted(text: &[u8]) -> Vec<Mounted> {
    let lines = text.split(|&byte| byte == b'\n');
    let fields = lines.map(|line| line.split(|&byte| byte == b' '));
    fields
        .filter_map(|mut fields| {
            let (at, options) = (fields.nth(4)?, fields.next()?);
            Some(Mounted {
                at: unescaped(at),
                is_read_only: options.split(|&byte| byte == b',').any(|one| one == b"ro"),
            })
        })
        .collect()
}

/// A path in which blanks and the like are written as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| byte == b'\\');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match value {
            Some(value) => {
                path.push(value);
                rest = &behind[3..];
            }
            None => {
                path.push(byte);
                rest = behind;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_names_and_whether_they_can_be_written_to() {
        let text = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            30 21 0:5 / /my\\040disk ro,nosuid - vfat /dev/sdb1 rw\n";
        let found = mounted(text);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.at.to_str().unwrap(), one.is_read_only))
            .collect();
        assert_eq!(found, [("/", false), ("/my disk", true)]);
    }
}
