//! Models of other requests to the system: times of files, names of users, semaphores, streams over
//! memory.

use patchwright_semantics::Ty;

use super::{
    calling::{Native, int, word},
    stream,
};
use crate::{
    fault::{Run, Stop},
    machine::Machine,
    world::{OpenHow, Which},
};

const EAGAIN: i32 = 11;
const EEXIST: i32 = 17;
const EINVAL: i32 = 22;
const EOVERFLOW: i32 = 75;
const ENOSYS: i32 = 38;
const ETIMEDOUT: i32 = 110;

/// The folder of the process, as `openat` and its like name it.
const HERE: i32 = -100;

/// Returns the model of a function that asks the system for something else, such as times of files.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "mkstemp" | "mkstemp64" => |m, a| unused_file(m, a.word(0)?, 0),
        "mkostemp" | "mkostemp64" => |m, a| unused_file(m, a.word(0)?, a.int(1)?),
        "utimensat" => |m, a| {
            let path = m.text(a.word(1)?)?;
            if a.int(0)? as i32 != HERE && !path.starts_with(b"/") {
                return m.fails(ENOSYS);
            }
            let times = times(m, a.word(2)?, 1)?;
            set_times(m, Which::Path(&path), times)
        },
        "futimens" => |m, a| {
            let times = times(m, a.word(1)?, 1)?;
            set_times(m, Which::Descriptor(a.int(0)? as i32), times)
        },
        "utimes" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let times = times(m, a.word(1)?, 1000)?;
            set_times(m, Which::Path(&path), times)
        },
        "utime" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let times = match a.word(1)? {
                0 => times(m, 0, 1)?,
                at => {
                    let second = |m: &Machine<'_>, at| m.memory.load(Ty::I64, at);
                    let (accessed, modified) = (second(m, at)?, second(m, at + 8)?);
                    [Some((accessed as i64, 0)), Some((modified as i64, 0))]
                }
            };
            set_times(m, Which::Path(&path), times)
        },
        "getpwuid" => |m, a| {
            let own = a.int(0)? as u32 == OWNER;
            user(m, own)
        },
        "getpwnam" => |m, a| {
            let name = m.text(a.word(0)?)?;
            let own = name == user_name(m)?;
            user(m, own)
        },
        "fmemopen" => open_memory,
        "sem_init" => |m, a| {
            let value = a.int(2)?;
            if !(0..=i64::from(i32::MAX)).contains(&value) {
                return m.fails(EINVAL);
            }
            m.memory.store(Ty::U32, a.word(0)?, value as u64)?;
            int(0)
        },
        "sem_destroy" => |m, a| {
            m.memory.load(Ty::U32, a.word(0)?)?;
            int(0)
        },
        "sem_getvalue" => |m, a| {
            let value = m.memory.load(Ty::U32, a.word(0)?)?;
            m.memory.store(Ty::I32, a.word(1)?, value)?;
            int(0)
        },
        "sem_post" => |m, a| {
            let value = m.memory.load(Ty::U32, a.word(0)?)?;
            if value >= i32::MAX as u64 {
                return m.fails(EOVERFLOW);
            }
            m.memory.store(Ty::U32, a.word(0)?, value + 1)?;
            int(0)
        },
        "sem_wait" => |m, a| {
            if take(m, a.word(0)?)? {
                return int(0);
            }
            // Nobody else could raise it.
            Err(Stop::Unsupported(
                "sem_wait of a semaphore at 0, which another thread would have to raise".to_owned(),
            ))
        },
        "sem_trywait" => |m, a| match take(m, a.word(0)?)? {
            true => int(0),
            false => m.fails(EAGAIN),
        },
        "sem_timedwait" => |m, a| match take(m, a.word(0)?)? {
            true => int(0),
            false => m.fails(ETIMEDOUT),
        },
        _ => return None,
    })
}

/// Lowers a semaphore; false if it is 0.
fn take(m: &mut Machine<'_>, at: u64) -> Run<bool> {
    let value = m.memory.load(Ty::U32, at)?;
    if value == 0 {
        return Ok(false);
    }
    m.memory.store(Ty::U32, at, value - 1)?;
    Ok(true)
}

/// A new file whose name is the template with other letters for its last six.
fn unused_file(m: &mut Machine<'_>, at: u64, flags: i64) -> Run<u128> {
    const PLACES: &[u8] = b"XXXXXX";
    const APPEND: i64 = 0o2000;
    let mut path = m.text(at)?;
    let Some(start) = path.len().checked_sub(PLACES.len()) else {
        return m.fails(EINVAL);
    };
    if !path.ends_with(PLACES) {
        return m.fails(EINVAL);
    }
    let how = OpenHow {
        read: true,
        write: true,
        append: flags & APPEND != 0,
        create: true,
        exclusive: true,
        truncate: false,
        mode: 0o600,
    };
    for _ in 0..100_000 {
        let name = format!("{:06}", m.library.names % 1_000_000);
        m.library.names += 1;
        path[start..].copy_from_slice(name.as_bytes());
        match m.world.open(&path, how) {
            Ok(descriptor) => {
                m.put_text(at, &path)?;
                return int(i64::from(descriptor));
            }
            Err(EEXIST) => {}
            Err(errno) => return m.fails(errno),
        }
    }
    m.fails(EEXIST)
}

type Times = [Option<(i64, u32)>; 2];

/// Two `struct timespec`, or `struct timeval` whose fractions are so many nanoseconds each; null means now.
fn times(m: &mut Machine<'_>, at: u64, fraction: u64) -> Run<Times> {
    const NOW: u64 = 0x3fff_ffff;
    const OMIT: u64 = 0x3fff_fffe;
    let now = m.world.now();
    if at == 0 {
        return Ok([Some(now); 2]);
    }
    let mut found = [None; 2];
    for (index, time) in found.iter_mut().enumerate() {
        let at = at + 16 * index as u64;
        let seconds = m.memory.load(Ty::I64, at)? as i64;
        let rest = m.memory.load(Ty::I64, at + 8)?;
        *time = match rest {
            NOW if fraction == 1 => Some(now),
            OMIT if fraction == 1 => None,
            _ => Some((
                seconds,
                (rest.wrapping_mul(fraction) % 1_000_000_000) as u32,
            )),
        };
    }
    Ok(found)
}

fn set_times(m: &mut Machine<'_>, which: Which<'_>, times: Times) -> Run<u128> {
    match m.world.set_times(which, times) {
        Ok(()) => int(0),
        Err(errno) => m.fails(errno),
    }
}

/// The user that the program runs as.
const OWNER: u32 = 1000;

/// The name of the user: that of the environment.
fn user_name(m: &mut Machine<'_>) -> Run<Vec<u8>> {
    for name in [&b"LOGNAME"[..], b"USER"] {
        if let Some(value) = environment(m, name)? {
            return Ok(value);
        }
    }
    Ok(b"user".to_vec())
}

fn environment(m: &mut Machine<'_>, name: &[u8]) -> Run<Option<Vec<u8>>> {
    match super::stdlib::variable(m, name)? {
        Some((_, value)) => m.text(value).map(Some),
        None => Ok(None),
    }
}

/// `struct passwd` of the user; null for all others.
fn user(m: &mut Machine<'_>, own: bool) -> Run<u128> {
    if !own {
        return word(0);
    }
    let name = user_name(m)?;
    let home = environment(m, b"HOME")?.unwrap_or_else(|| b"/".to_vec());
    let at = m.made("passwd", 48)?;
    let mut texts = Vec::new();
    for text in [&name[..], b"x", &name, &home, b"/bin/sh"] {
        texts.push(m.new_string(text)?);
    }
    for (offset, text) in [0, 8, 24, 32, 40].into_iter().zip(texts) {
        m.memory.store(Ty::U64, at + offset, text)?;
    }
    m.memory.store(Ty::U32, at + 16, OWNER.into())?;
    m.memory.store(Ty::U32, at + 20, OWNER.into())?;
    word(at)
}

/// `fmemopen`: a stream that reads an object, or writes it.
fn open_memory(m: &mut Machine<'_>, a: &super::calling::Args<'_>) -> Run<u128> {
    let (at, size, mode) = (a.word(0)?, a.word(1)?, m.text(a.word(2)?)?);
    if size == 0 {
        m.set_errno(EINVAL);
        return word(0);
    }
    match &mode[..] {
        b"r" | b"rb" if at != 0 => {
            let bytes = m.memory.read(at, size)?.to_vec();
            word(stream::reading(m, bytes)?)
        }
        b"w" | b"wb" if at != 0 => {
            m.put_bytes(at, &[0])?;
            word(stream::writing(m, (at, size))?)
        }
        _ => Err(Stop::Unsupported(format!(
            "fmemopen in mode {}, or without an object",
            String::from_utf8_lossy(&mode)
        ))),
    }
}
