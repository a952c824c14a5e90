//! The interface between an executed program and the world: files, time, environment. The interpreter
//! itself touches none of them.

use std::collections::BTreeMap;

/// The way in which a file is opened, as flags of `open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenHow {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// Made if it is not there.
    pub create: bool,
    /// It must not be there.
    pub exclusive: bool,
    /// Emptied.
    pub truncate: bool,
    /// Permissions of a new file.
    pub mode: u32,
}

/// The facts about a file that `stat` gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `st_mode`
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Seconds since 1970 of the last change.
    pub modified: i64,
    /// Device, inode, links, owner and group.
    pub identity: (u64, u64, u64, u32, u32),
}

/// A file, by descriptor or by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// By its path.
    Path(&'a [u8]),
    /// An open one.
    Descriptor(i32),
}

/// The world of an executed program. Errors are numbers of `errno`.
pub trait World {
    /// Reads bytes from a descriptor, and returns how many. 0 is the end.
    ///
    /// # Errors
    /// `errno`.
    fn read(&mut self, descriptor: i32, buffer: &mut [u8]) -> Result<usize, i32>;
    /// Writes all bytes to a descriptor.
    ///
    /// # Errors
    /// `errno`.
    fn write(&mut self, descriptor: i32, bytes: &[u8]) -> Result<(), i32>;
    /// Opens a file, and returns its descriptor.
    ///
    /// # Errors
    /// `errno`.
    fn open(&mut self, path: &[u8], how: OpenHow) -> Result<i32, i32>;
    /// Closes a descriptor of the program.
    ///
    /// # Errors
    /// `errno`.
    fn close(&mut self, descriptor: i32) -> Result<(), i32>;
    /// Moves the position of a descriptor, and returns the new one. `whence` is that of `lseek`.
    ///
    /// # Errors
    /// `errno`.
    fn seek(&mut self, descriptor: i32, offset: i64, whence: i32) -> Result<u64, i32>;
    /// Returns the facts about an open file.
    ///
    /// # Errors
    /// `errno`.
    fn status(&mut self, descriptor: i32) -> Result<Status, i32>;
    /// Returns the facts about a named file. Without `follow` a symbolic link is not followed.
    ///
    /// # Errors
    /// `errno`.
    fn status_of(&mut self, path: &[u8], follow: bool) -> Result<Status, i32>;
    /// Removes the file at `path`, as `unlink` does.
    ///
    /// # Errors
    /// `errno`.
    fn remove(&mut self, path: &[u8]) -> Result<(), i32>;
    /// Renames a file, and replaces a file at `to`, as `rename` does.
    ///
    /// # Errors
    /// `errno`.
    fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), i32>;
    /// Sets the times of access and change of a file, in seconds and nanoseconds since 1970. `None`
    /// leaves a time as it is.
    ///
    /// # Errors
    /// `errno`.
    fn set_times(&mut self, which: Which<'_>, times: [Option<(i64, u32)>; 2]) -> Result<(), i32>;
    /// Whether a descriptor is a terminal.
    fn is_terminal(&mut self, descriptor: i32) -> bool;
    /// Returns the time in seconds and nanoseconds since 1970.
    fn now(&mut self) -> (i64, u32);
}

const ENOENT: i32 = 2;
const EBADF: i32 = 9;
const EEXIST: i32 = 17;
const ESPIPE: i32 = 29;

/// A world without a system: standard input is given, output is kept, files are in memory, and
/// the time stands still.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    /// What is left of standard input.
    pub input: Vec<u8>,
    input_at: usize,
    /// What was written to standard output.
    pub output: Vec<u8>,
    /// What was written to standard error.
    pub errors: Vec<u8>,
    /// Files by name.
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
    open: BTreeMap<i32, (Vec<u8>, usize, OpenHow)>,
    /// Seconds since 1970.
    pub time: i64,
}

impl Closed {
    /// Makes a world with this standard input.
    pub fn with_input(input: impl Into<Vec<u8>>) -> Closed {
        Closed {
            input: input.into(),
            ..Closed::default()
        }
    }
}

impl World for Closed {
    fn read(&mut self, descriptor: i32, buffer: &mut [u8]) -> Result<usize, i32> {
        let (bytes, at) = match descriptor {
            0 => (&self.input, &mut self.input_at),
            _ => {
                let (name, at, _) = self.open.get_mut(&descriptor).ok_or(EBADF)?;
                (self.files.get(name).ok_or(EBADF)?, at)
            }
        };
        let rest = bytes.get(*at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        *at += count;
        Ok(count)
    }

    fn write(&mut self, descriptor: i32, bytes: &[u8]) -> Result<(), i32> {
        match descriptor {
            1 => self.output.extend_from_slice(bytes),
            2 => self.errors.extend_from_slice(bytes),
            _ => {
                let (name, at, how) = self.open.get_mut(&descriptor).ok_or(EBADF)?;
                let file = self.files.get_mut(name).ok_or(EBADF)?;
                if how.append {
                    *at = file.len();
                }
                let end = *at + bytes.len();
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[*at..end].copy_from_slice(bytes);
                *at = end;
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &[u8], how: OpenHow) -> Result<i32, i32> {
        if !self.files.contains_key(path) {
            if !how.create {
                return Err(ENOENT);
            }
            self.files.insert(path.to_owned(), Vec::new());
        } else if how.exclusive {
            return Err(EEXIST);
        } else if how.truncate {
            self.files.insert(path.to_owned(), Vec::new());
        }
        let descriptor = (3..)
            .find(|fd| !self.open.contains_key(fd))
            .unwrap_or(i32::MAX);
        self.open.insert(descriptor, (path.to_owned(), 0, how));
        Ok(descriptor)
    }

    fn close(&mut self, descriptor: i32) -> Result<(), i32> {
        if descriptor > 2 {
            self.open.remove(&descriptor).ok_or(EBADF)?;
        }
        Ok(())
    }

    fn seek(&mut self, descriptor: i32, offset: i64, whence: i32) -> Result<u64, i32> {
        let (name, at, _) = self.open.get_mut(&descriptor).ok_or(ESPIPE)?;
        let size = self.files.get(name).map_or(0, Vec::len) as i64;
        let from = match whence {
            0 => 0,
            1 => *at as i64,
            _ => size,
        };
        *at = usize::try_from(from + offset).map_err(|_| 22)?;
        Ok(*at as u64)
    }

    fn status(&mut self, descriptor: i32) -> Result<Status, i32> {
        match self.open.get(&descriptor) {
            Some((name, _, _)) => {
                let name = name.clone();
                self.status_of(&name, true)
            }
            None if descriptor <= 2 => Ok(Status {
                mode: 0o010_600,
                ..Status::default()
            }),
            None => Err(EBADF),
        }
    }

    fn status_of(&mut self, path: &[u8], _follow: bool) -> Result<Status, i32> {
        let size = self.files.get(path).ok_or(ENOENT)?.len() as u64;
        Ok(Status {
            mode: 0o100_644,
            size,
            ..Status::default()
        })
    }

    fn remove(&mut self, path: &[u8]) -> Result<(), i32> {
        let file = self.files.remove(path).ok_or(ENOENT)?;
        // Who has it open keeps it, under a name that no path is.
        let open = self.open.iter().filter(|(_, open)| open.0 == path);
        let holders: Vec<i32> = open.map(|(descriptor, _)| *descriptor).collect();
        if let Some(first) = holders.iter().min() {
            let nameless = [path, &[0], &first.to_le_bytes()].concat();
            for holder in &holders {
                if let Some((name, _, _)) = self.open.get_mut(holder) {
                    name.clone_from(&nameless);
                }
            }
            self.files.insert(nameless, file);
        }
        Ok(())
    }

    fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), i32> {
        let file = self.files.remove(from).ok_or(ENOENT)?;
        self.files.insert(to.to_owned(), file);
        Ok(())
    }

    /// Its files have no times.
    fn set_times(&mut self, which: Which<'_>, _: [Option<(i64, u32)>; 2]) -> Result<(), i32> {
        match which {
            Which::Path(path) => self.status_of(path, true).map(|_| ()),
            Which::Descriptor(descriptor) => self.status(descriptor).map(|_| ()),
        }
    }

    fn is_terminal(&mut self, _descriptor: i32) -> bool {
        false
    }

    fn now(&mut self) -> (i64, u32) {
        (self.time, 0)
    }
}
