//! Finds out which files of a copy programs open while they run in it.
//!
//! A test may compile a source that the build does not, or read it as its input. Who wants to know watches the sources while
//! the tests run (`inotify(7)`): a file that nobody has opened was read by none of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// More files are not watched: the kernel holds memory for each.
const MOST_FILES: usize = 4096;

/// A set of watched files.
#[derive(Debug)]
pub struct Opened {
    events: File,
    /// The files by the numbers that the kernel gives them.
    watched: BTreeMap<i32, PathBuf>,
}

impl Opened {
    /// Begins to watch `files`, which are relative to `folder`.
    ///
    /// # Errors
    /// When there are too many, or the kernel refuses.
    pub fn watch<'f>(
        folder: &Path,
        files: impl IntoIterator<Item = &'f Path>,
    ) -> io::Result<Opened> {
        // SAFETY: The call takes no memory of ours, and what it returns is checked.
        let queue = unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) };
        if queue < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: The descriptor was just opened, and nobody else has it.
        let events = unsafe { File::from_raw_fd(queue) };
        let mut watched = BTreeMap::new();
        for file in files {
            if watched.len() == MOST_FILES {
                return Err(io::Error::other("these are too many files to watch"));
            }
            let path = CString::new(folder.join(file).as_os_str().as_bytes())?;
            // SAFETY: The path is a text that ends with a zero byte and lives during the call.
            let number = unsafe { libc::inotify_add_watch(queue, path.as_ptr(), libc::IN_OPEN) };
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            watched.insert(number, file.to_path_buf());
        }
        Ok(Opened { events, watched })
    }

    /// Ends watching, and returns the files that nobody has opened meanwhile. A file with two names
    /// counts under the last one only.
    ///
    /// # Errors
    /// When events were lost, or cannot be read.
    pub fn unopened(mut self) -> io::Result<BTreeSet<PathBuf>> {
        const HEAD: usize = size_of::<libc::inotify_event>();
        let mut buffer = [0; 1 << 16];
        loop {
            let length = match self.events.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut rest = &buffer[..length];
            while let Some((head, _)) = rest.split_at_checked(HEAD) {
                // SAFETY: So many bytes are there, any of them are an event, and no alignment is asked of them.
                let event: libc::inotify_event =
                    unsafe { std::ptr::read_unaligned(head.as_ptr().cast()) };
                if event.mask & libc::IN_Q_OVERFLOW != 0 {
                    return Err(io::Error::other("some events were lost"));
                }
                self.watched.remove(&event.wd);
                let whole = HEAD.saturating_add(event.len as usize);
                rest = rest.get(whole..).unwrap_or_default();
            }
        }
        Ok(self.watched.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_opens_is_not_among_those_that_nobody_has() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.c", "b.c", "c.c"] {
            std::fs::write(folder.path().join(name), "int x;\n").unwrap();
        }
        let watched = ["a.c", "b.c"].map(Path::new);
        let opened = Opened::watch(folder.path(), watched).unwrap();
        for _ in 0..3 {
            std::fs::read(folder.path().join("b.c")).unwrap();
            std::fs::read(folder.path().join("c.c")).unwrap();
        }
        assert_eq!(opened.unopened().unwrap(), BTreeSet::from(["a.c".into()]));
    }

    #[test]
    fn what_does_not_exist_cannot_be_watched() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Opened::watch(folder.path(), [Path::new("a.c")]).is_err());
    }
}
