//! `patchwright run`: executes a program in the interpreter.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    os::fd::{FromRawFd, OwnedFd},
    os::unix::{ffi::OsStringExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use patchwright_exec::files;
use patchwright_interpret::{
    Accepted, Ending, Limits, Machine, OpenHow, Outcome, Place, Status, Which, World,
};

use crate::{Exit, args::RunArgs, places::shown_path, sources};

/// Executes the program and returns the exit status: the program's own, or one that the help documents.
pub fn run(args: &RunArgs) -> u8 {
    match execute(args) {
        Ok(outcome) => report(&outcome),
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput as u8
        }
    }
}

/// The statuses of an execution that does not end by itself.
const ASSUMPTION: u8 = 120;
const UNDEFINED: u8 = 121;
const UNSUPPORTED: u8 = 122;
const LIMIT: u8 = 123;
const ABORT: u8 = 134;

fn report(outcome: &Outcome) -> u8 {
    let (status, message) = match &outcome.ending {
        Ending::Exit(status) => return *status as u8,
        Ending::Abort => return ABORT,
        Ending::Assumption => (ASSUMPTION, "an assumption does not hold".to_owned()),
        Ending::Undefined { kind, message } => (
            UNDEFINED,
            format!("undefined behaviour: {}: {message}", kind.code()),
        ),
        Ending::Unsupported(reason) => (UNSUPPORTED, format!("not supported: {reason}")),
        Ending::Limit(what) => (LIMIT, format!("the limit of {what} is reached")),
    };
    eprintln!("patchwright: {message}");
    for (index, place) in outcome.trace.iter().enumerate() {
        let word = if index == 0 { "at" } else { "called from" };
        eprintln!("  {word} {}", shown(place));
    }
    status
}

/// Returns a place with its file below the current folder, where it lies there.
fn shown(place: &Place) -> String {
    Place {
        file: shown_path(&place.file),
        ..place.clone()
    }
    .to_string()
}

/// Says what was accepted of what C does not define.
fn warn(accepted: &[Accepted]) {
    for one in accepted {
        let times = match one.times {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let place = one
            .place
            .as_ref()
            .map_or(String::new(), |place| format!(" at {}", shown(place)));
        eprintln!(
            "patchwright: warning: undefined behaviour was allowed: {}: {}{place}{times}",
            one.kind.code(),
            one.message
        );
    }
}

fn execute(args: &RunArgs) -> Result<Outcome, String> {
    let sources = sources::lower(&args.sources, args.cflags.as_deref(), &args.cache)?;
    let modules = sources.into_iter().map(|source| source.module).collect();
    let mut world = Host::new(args.time);
    let limits = Limits {
        instructions: args.max_instructions.unwrap_or(u64::MAX),
        memory: args.max_memory.saturating_mul(1 << 20),
        ..Limits::default()
    };
    let mut machine = Machine::link(modules, limits, &mut world).map_err(|e| e.to_string())?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => sources::program_name(&args.sources[0]),
    };
    let mut words = vec![name.into_vec()];
    words.extend(args.arguments.iter().cloned().map(OsStringExt::into_vec));
    machine.allow(&args.allow);
    let outcome = machine.run(&words, &environment());
    warn(machine.accepted());
    if args.stats {
        eprintln!("patchwright: {} IR instructions", outcome.instructions);
    }
    Ok(outcome)
}

/// Returns the environment as texts `NAME=VALUE`.
pub fn environment() -> Vec<Vec<u8>> {
    std::env::vars_os()
        .map(|(name, value)| {
            let mut entry = name.into_vec();
            entry.push(b'=');
            entry.extend(value.into_vec());
            entry
        })
        .collect()
}

/// The real world: files, standard streams, time and environment of this process.
pub struct Host {
    open: Vec<Option<File>>,
    time: Option<i64>,
    /// What the program prints stands among what this command tells, and is made safe to show as that is.
    is_shown: bool,
}

fn errno(error: &std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(5)
}

const EBADF: i32 = 9;

impl Host {
    /// Makes a world with the standard streams of this process. With `time` the clock stands still.
    pub fn new(time: Option<i64>) -> Host {
        let standard = (0..3).map(|descriptor| {
            // SAFETY: `fcntl` makes a new descriptor, which nothing else owns; that of a closed
            // one fails, and gives none.
            let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) };
            (copy >= 0).then(|| {
                // SAFETY: see above.
                File::from(unsafe { OwnedFd::from_raw_fd(copy) })
            })
        });
        Host {
            open: standard.collect(),
            time,
            is_shown: false,
        }
    }

    /// Sends the program's output to standard error, because standard output is the command's own.
    pub fn with_output_on_standard_error(mut self) -> Host {
        self.open[1] = self.open[2].as_ref().and_then(|file| file.try_clone().ok());
        self.is_shown = true;
        self
    }

    fn file(&mut self, descriptor: i32) -> Result<&mut File, i32> {
        usize::try_from(descriptor)
            .ok()
            .and_then(|index| self.open.get_mut(index)?.as_mut())
            .ok_or(EBADF)
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

fn status(metadata: &std::fs::Metadata) -> Status {
    Status {
        mode: metadata.mode(),
        size: metadata.len(),
        modified: metadata.mtime(),
        identity: (
            metadata.dev(),
            metadata.ino(),
            metadata.nlink(),
            metadata.uid(),
            metadata.gid(),
        ),
    }
}

impl World for Host {
    fn read(&mut self, descriptor: i32, buffer: &mut [u8]) -> Result<usize, i32> {
        self.file(descriptor)?.read(buffer).map_err(|e| errno(&e))
    }

    fn write(&mut self, descriptor: i32, bytes: &[u8]) -> Result<(), i32> {
        if self.is_shown && matches!(descriptor, 1 | 2) {
            self.file(descriptor)?;
            return crate::out::Errors.write_all(bytes).map_err(|e| errno(&e));
        }
        self.file(descriptor)?
            .write_all(bytes)
            .map_err(|e| errno(&e))
    }

    fn open(&mut self, path: &[u8], how: OpenHow) -> Result<i32, i32> {
        let access = files::Access {
            read: how.read,
            write: how.write,
            append: how.append,
            create: how.create,
            exclusive: how.exclusive,
            truncate: how.truncate,
            mode: how.mode,
        };
        let file = files::open(&path_of(path), access).map_err(|e| errno(&e))?;
        let free = self.open.iter().position(Option::is_none);
        let index = match free {
            Some(index) => {
                self.open[index] = Some(file);
                index
            }
            None => {
                self.open.push(Some(file));
                self.open.len() - 1
            }
        };
        i32::try_from(index).map_err(|_| EBADF)
    }

    fn close(&mut self, descriptor: i32) -> Result<(), i32> {
        self.file(descriptor)?;
        self.open[descriptor as usize] = None;
        Ok(())
    }

    fn seek(&mut self, descriptor: i32, offset: i64, whence: i32) -> Result<u64, i32> {
        const EINVAL: i32 = 22;
        let to = match whence {
            0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| EINVAL)?),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return Err(EINVAL),
        };
        self.file(descriptor)?.seek(to).map_err(|e| errno(&e))
    }

    fn status(&mut self, descriptor: i32) -> Result<Status, i32> {
        let metadata = self.file(descriptor)?.metadata();
        metadata.map(|m| status(&m)).map_err(|e| errno(&e))
    }

    fn status_of(&mut self, path: &[u8], follow: bool) -> Result<Status, i32> {
        let path = path_of(path);
        let metadata = match follow {
            true => std::fs::metadata(path),
            false => std::fs::symlink_metadata(path),
        };
        metadata.map(|m| status(&m)).map_err(|e| errno(&e))
    }

    fn remove(&mut self, path: &[u8]) -> Result<(), i32> {
        let path = path_of(path);
        std::fs::symlink_metadata(&path).map_err(|e| errno(&e))?;
        files::remove_file(&path).map_err(|e| errno(&e.source))
    }

    fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), i32> {
        let (from, to): (&Path, &Path) = (&path_of(from), &path_of(to));
        files::rename(from, to).map_err(|e| errno(&e))
    }

    fn set_times(&mut self, which: Which<'_>, times: [Option<(i64, u32)>; 2]) -> Result<(), i32> {
        let time = |(seconds, rest): (i64, u32)| {
            let whole = std::time::Duration::from_secs(seconds.unsigned_abs());
            let start = match seconds < 0 {
                true => std::time::UNIX_EPOCH - whole,
                false => std::time::UNIX_EPOCH + whole,
            };
            start + std::time::Duration::from_nanos(rest.into())
        };
        let [accessed, modified] = times.map(|wanted| wanted.map(time));
        let mut wanted = std::fs::FileTimes::new();
        if let Some(accessed) = accessed {
            wanted = wanted.set_accessed(accessed);
        }
        if let Some(modified) = modified {
            wanted = wanted.set_modified(modified);
        }
        let done = match which {
            Which::Descriptor(descriptor) => self.file(descriptor)?.set_times(wanted),
            Which::Path(path) => {
                let access = files::Access {
                    read: true,
                    ..files::Access::default()
                };
                files::open(&path_of(path), access).and_then(|file| file.set_times(wanted))
            }
        };
        done.map_err(|e| errno(&e))
    }

    fn is_terminal(&mut self, descriptor: i32) -> bool {
        use std::io::IsTerminal;
        self.file(descriptor).is_ok_and(|file| file.is_terminal())
    }

    fn now(&mut self) -> (i64, u32) {
        if let Some(time) = self.time {
            return (time, 0);
        }
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or((0, 0), |now| (now.as_secs() as i64, now.subsec_nanos()))
    }
}
