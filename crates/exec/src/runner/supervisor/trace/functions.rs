//! Notes which functions a command executes, by breakpoints that stand in the programs and libraries already.
//!
//! At its first execution in a process a function is noted, and the process gets the byte back that stood where the breakpoint is.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::super::sys::{Pid, check};
use super::{Watcher, Watching};

/// The variable that names the file with the [`Request`].
pub(crate) const REQUEST: &str = "PATCHWRIGHT_WATCHED_FUNCTIONS";

/// The instruction of a breakpoint.
pub(crate) const BREAKPOINT: u8 = 0xcc;

/// The value of a function's byte in the notes after it was executed.
pub(crate) const EXECUTED: u8 = 1;

/// What to run, and where breakpoints stand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<F> {
    /// The file for the notes: one byte for each breakpoint, and a last one that tells whether something may have been missed.
    pub(crate) notes: PathBuf,
    /// A program in this folder that is not among the files, or one that has changed since, may have functions that are not seen.
    pub(crate) root: PathBuf,
    /// The command.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Programs and libraries with breakpoints.
    pub(crate) files: F,
}

/// A program or a library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WithBreakpoints {
    /// Where programs see it.
    pub(crate) path: PathBuf,
    /// Of each breakpoint the offset in the file, and the byte that stood there.
    pub(crate) places: Vec<(u64, u8)>,
}

impl<F: AsRef<[WithBreakpoints]>> Request<F> {
    /// The text of the request: fields, each ended by a NUL byte.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |text: &[u8]| {
            bytes.extend_from_slice(text);
            bytes.push(0);
        };
        field(self.notes.as_os_str().as_bytes());
        field(self.root.as_os_str().as_bytes());
        field(self.arguments.len().to_string().as_bytes());
        self.arguments.iter().for_each(|argument| field(argument));
        for file in self.files.as_ref() {
            field(file.path.as_os_str().as_bytes());
            let places = file.places.iter();
            let places: Vec<String> = places
                .map(|(offset, byte)| format!("{offset} {byte}"))
                .collect();
            field(places.join("\n").as_bytes());
        }
        bytes
    }
}

impl Request<Vec<WithBreakpoints>> {
    /// `None` if the text is no request.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let path = |field: &[u8]| PathBuf::from(OsStr::from_bytes(field));
        let notes = path(fields.next()?);
        let root = path(fields.next()?);
        let count: usize = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let arguments: Vec<Vec<u8>> = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        let mut files = Vec::new();
        while let Some(name) = fields.next() {
            let places = std::str::from_utf8(fields.next()?).ok()?.lines();
            let place = |line: &str| {
                let (offset, byte) = line.split_once(' ')?;
                Some((offset.parse().ok()?, byte.parse().ok()?))
            };
            files.push(WithBreakpoints {
                path: path(name),
                places: places.map(place).collect::<Option<_>>()?,
            });
        }
        Some(Request {
            notes,
            root,
            arguments,
            files,
        })
    }
}

/// Runs the command of a request, and notes the functions that it executes; its exit status.
pub(super) fn watched(request: &Path) -> io::Result<i32> {
    let about = fs::metadata(request)?;
    let request = Request::from_bytes(&fs::read(request)?).ok_or(io::ErrorKind::InvalidData)?;
    let arguments: Vec<CString> = request
        .arguments
        .iter()
        .map(|argument| CString::new(&argument[..]))
        .collect::<Result<_, _>>()?;
    let mut files = HashMap::new();
    let mut places = Vec::new();
    let mut first = 0;
    for file in &request.files {
        files.insert(file.path.as_path(), places.len());
        let numbers = first..first + file.places.len() as u64;
        first = numbers.end;
        let of_file = file.places.iter().zip(numbers);
        places.push(
            of_file
                .map(|(&(offset, byte), number)| (offset, (byte, number)))
                .collect(),
        );
    }
    let mut functions = Functions {
        notes: File::options().write(true).open(&request.notes)?,
        root: &request.root,
        since: (about.mtime(), about.mtime_nsec()),
        unseen: first,
        files,
        places,
        mappings: HashMap::new(),
    };
    Watching {
        arguments: &arguments,
        hidden: &[REQUEST],
        is_needed: true,
    }
    .run(&mut functions)
}

/// Watches the functions of a command.
struct Functions<'a> {
    notes: File,
    root: &'a Path,
    /// When the breakpoints stood.
    since: (i64, i64),
    /// The place in the notes that tells whether something may have been missed.
    unseen: u64,
    /// Programs and libraries, with their index in `places`.
    files: HashMap<&'a Path, usize>,
    /// Of each file the byte and the number of each breakpoint, by offset.
    places: Vec<HashMap<u64, (u8, u64)>>,
    /// What each process has mapped, as far as it was looked at.
    mappings: HashMap<Pid, Vec<Mapping>>,
}

/// Code of a file in the memory of a process.
struct Mapping {
    addresses: std::ops::Range<u64>,
    /// The offset in the file of the first address.
    offset: u64,
    /// The index of the file.
    file: usize,
}

impl Watcher for Functions<'_> {
    fn executes(&mut self, pid: Pid) -> io::Result<()> {
        self.mappings.remove(&pid);
        let link = format!("/proc/{pid}/exe");
        // What cannot be read has ended.
        let Ok(program) = fs::read_link(&link) else {
            return Ok(());
        };
        if self.files.contains_key(program.as_path()) {
            return Ok(());
        }
        let about = fs::metadata(&link);
        let is_new = about.is_ok_and(|about| (about.mtime(), about.mtime_nsec()) >= self.since);
        match is_new || program.starts_with(self.root) {
            true => self.note_unseen(),
            false => Ok(()),
        }
    }

    fn is_trapped(&mut self, pid: Pid) -> io::Result<bool> {
        // The process may have been killed, or the trap is that of a copy of a library.
        let is_ours = matches!(self.at_breakpoint(pid), Ok(Some(())));
        if !is_ours {
            self.note_unseen()?;
        }
        Ok(is_ours)
    }

    fn ends(&mut self, pid: Pid) {
        self.mappings.remove(&pid);
    }
}

impl Functions<'_> {
    /// Notes that something may be executed that is not seen.
    fn note_unseen(&self) -> io::Result<()> {
        self.notes.write_all_at(&[EXECUTED], self.unseen)
    }

    /// Notes a breakpoint at which a process is stopped, and takes it away; `None` if there is none of ours.
    fn at_breakpoint(&mut self, pid: Pid) -> io::Result<Option<()>> {
        let mut registers = registers(pid)?;
        let address = registers.rip.wrapping_sub(1);
        let Some((byte, number)) = self.place(pid, address) else {
            return Ok(None);
        };
        self.notes.write_all_at(&[EXECUTED], number)?;
        let memory = File::options()
            .write(true)
            .open(format!("/proc/{pid}/mem"))?;
        memory.write_all_at(&[byte], address)?;
        registers.rip = address;
        set_registers(pid, &registers)?;
        Ok(Some(()))
    }

    /// What stood at an address before the breakpoint did, and the number of that.
    fn place(&mut self, pid: Pid, address: u64) -> Option<(u8, u64)> {
        let is_known = |mappings: &Vec<Mapping>| {
            let mut mappings = mappings.iter();
            mappings.any(|mapping| mapping.addresses.contains(&address))
        };
        if !self.mappings.get(&pid).is_some_and(is_known) {
            let read = self.read_mappings(pid);
            self.mappings.insert(pid, read);
        }
        let mut mappings = self.mappings.get(&pid)?.iter();
        let mapping = mappings.find(|mapping| mapping.addresses.contains(&address))?;
        let offset = address - mapping.addresses.start + mapping.offset;
        self.places[mapping.file].get(&offset).copied()
    }

    fn read_mappings(&self, pid: Pid) -> Vec<Mapping> {
        let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter_map(|line| self.mapping(line)).collect()
    }

    /// A line of `/proc/PID/maps`: `55d0-55e0 r-xp 00001000 fe:00 123   /p/prog`.
    fn mapping(&self, line: &[u8]) -> Option<Mapping> {
        let mut words = line.splitn(6, |byte| *byte == b' ');
        let mut number = |until: u8| {
            let word = words.next()?;
            let at = word.iter().position(|byte| *byte == until);
            let (first, rest) = word.split_at(at.unwrap_or(word.len()));
            let hexadecimal =
                |text: &[u8]| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok();
            Some((hexadecimal(first), rest.get(1..).and_then(hexadecimal)))
        };
        let (start, end) = number(b'-')?;
        number(b' ')?;
        let (offset, _) = number(b' ')?;
        let path = words.last()?.trim_ascii_start();
        Some(Mapping {
            addresses: start?..end?,
            offset: offset?,
            file: *self.files.get(Path::new(OsStr::from_bytes(path)))?,
        })
    }
}

fn registers(pid: Pid) -> io::Result<libc::user_regs_struct> {
    // SAFETY: the structure is plain data, and the kernel fills it.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        check(libc::ptrace(
            libc::PTRACE_GETREGS,
            pid,
            0,
            &raw mut registers,
        ))?;
        Ok(registers)
    }
}

fn set_registers(pid: Pid, registers: &libc::user_regs_struct) -> io::Result<()> {
    // SAFETY: the structure outlives the call, and the process is stopped.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, &raw const *registers) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = Request {
            notes: "/s/notes".into(),
            root: "/p".into(),
            arguments: vec![b"sh".to_vec(), b"".to_vec(), b"a b\n\xff".to_vec()],
            files: vec![
                WithBreakpoints {
                    path: "/p/a b".into(),
                    places: vec![(4096, 0xf3), (1 << 40, 0x55)],
                },
                WithBreakpoints {
                    path: "/p/l.so".into(),
                    places: Vec::new(),
                },
            ],
        };
        assert_eq!(Request::from_bytes(&request.to_bytes()), Some(request));
        assert_eq!(Request::from_bytes(b"/s\0/p\0x\0"), None);
    }
}
