//! Locale, messages, descriptors and files.

use patchwright_semantics::Ty;

use super::calling::{Native, int, word};
use crate::{
    fault::Run,
    machine::Machine,
    world::{OpenHow, Status},
};

/// The process number that the program sees.
pub(super) const PROCESS: i64 = 4242;

/// Returns the model of a function on locales, messages, descriptors or files.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "setlocale" => |m, a| {
            if a.word(1)? != 0 {
                let wanted = m.text(a.word(1)?)?;
                if !matches!(wanted.as_slice(), b"" | b"C" | b"POSIX") {
                    return word(0);
                }
            }
            let at = m.made("locale", 16)?;
            m.put_text(at, b"C")?;
            word(at)
        },
        "localeconv" => localeconv,
        "nl_langinfo" => |m, a| {
            let (name, text): (&'static str, &[u8]) = match a.int(0)? {
                14 => ("codeset", b"ANSI_X3.4-1968"),
                0x10000 => ("radix", b"."),
                0x50000 => ("yes", b"^[yY]"),
                0x50001 => ("no", b"^[nN]"),
                _ => ("nothing", b""),
            };
            let at = m.made(name, 32)?;
            m.put_text(at, text)?;
            word(at)
        },
        "gettext" | "dgettext" | "dcgettext" | "ngettext" | "dngettext" | "dcngettext" => {
            translation(name)
        }
        "textdomain" | "bindtextdomain" | "bind_textdomain_codeset" => |_, a| word(a.word(0)?),
        "read" | "__read_chk" => |m, a| {
            let size = a.word(2)?.min(1 << 20) as usize;
            let mut buffer = vec![0; size];
            let descriptor = a.int(0)? as i32;
            match m.world.read(descriptor, &mut buffer) {
                Ok(count) => {
                    m.put_bytes(a.word(1)?, &buffer[..count])?;
                    int(count as i64)
                }
                Err(errno) => m.fails(errno),
            }
        },
        "write" => |m, a| {
            let size = a.word(2)?;
            if size == 0 {
                return int(0);
            }
            let bytes = m.memory.image(a.word(1)?, size)?.to_vec();
            let descriptor = a.int(0)? as i32;
            match m.world.write(descriptor, &bytes) {
                Ok(()) => int(size as i64),
                Err(errno) => m.fails(errno),
            }
        },
        "open" | "open64" | "__open_2" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let flags = a.int(1)?;
            let mode = a.0.get(2).map_or(0, |arg| arg.bits as u32);
            open(m, &path, flags, mode)
        },
        "openat" | "openat64" => |m, a| {
            let path = m.text(a.word(1)?)?;
            let flags = a.int(2)?;
            let mode = a.0.get(3).map_or(0, |arg| arg.bits as u32);
            if a.int(0)? as i32 != -100 && !path.starts_with(b"/") {
                return m.fails(38);
            }
            open(m, &path, flags, mode)
        },
        "close" => |m, a| {
            let descriptor = a.int(0)? as i32;
            match m.world.close(descriptor) {
                Ok(()) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "lseek" | "lseek64" => |m, a| {
            let (descriptor, offset, whence) = (a.int(0)? as i32, a.int(1)?, a.int(2)? as i32);
            match m.world.seek(descriptor, offset, whence) {
                Ok(position) => int(position as i64),
                Err(errno) => m.fails(errno),
            }
        },
        "isatty" => |m, a| {
            let descriptor = a.int(0)? as i32;
            if m.world.is_terminal(descriptor) {
                return int(1);
            }
            m.set_errno(25);
            int(0)
        },
        "fstat" | "fstat64" => |m, a| {
            let descriptor = a.int(0)? as i32;
            let status = m.world.status(descriptor);
            put_status(m, a.word(1)?, status)
        },
        "stat" | "stat64" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let status = m.world.status_of(&path, true);
            put_status(m, a.word(1)?, status)
        },
        "lstat" | "lstat64" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let status = m.world.status_of(&path, false);
            put_status(m, a.word(1)?, status)
        },
        "fstatat" | "fstatat64" => |m, a| {
            let path = m.text(a.word(1)?)?;
            let follow = a.int(3)? & 0x100 == 0;
            let status = m.world.status_of(&path, follow);
            put_status(m, a.word(2)?, status)
        },
        "access" | "euidaccess" | "eaccess" => |m, a| {
            let path = m.text(a.word(0)?)?;
            match m.world.status_of(&path, true) {
                Ok(_) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "unlinkat" => |m, a| {
            let path = m.text(a.word(1)?)?;
            match m.world.remove(&path) {
                Ok(()) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "getpid" | "getppid" | "getpgrp" => |_, _| int(PROCESS),
        "getuid" | "geteuid" | "getgid" | "getegid" => |_, _| int(1000),
        "getpagesize" => |_, _| int(4096),
        "sysconf" => |_, a| {
            int(match a.int(0)? {
                30 => 4096,
                2 => 100,
                4 => 1024,
                0 => 2_097_152,
                83 | 84 => 1,
                _ => -1,
            })
        },
        "umask" => |m, a| {
            let old = m.library.mask;
            m.library.mask = a.word(0)? as u32 & 0o777;
            int(i64::from(old))
        },
        "posix_fadvise" | "fadvise" | "fdatasync" | "fsync" | "fflush_all" => |_, _| int(0),
        "pthread_mutex_lock"
        | "pthread_mutex_unlock"
        | "pthread_mutex_init"
        | "pthread_mutex_destroy" => |_, _| int(0),
        _ => return None,
    })
}

fn translation(name: &str) -> Native {
    match name {
        "gettext" => |_, a| word(a.word(0)?),
        "dgettext" | "dcgettext" => |_, a| word(a.word(1)?),
        "ngettext" => |_, a| word(a.word(if a.word(2)? == 1 { 0 } else { 1 })?),
        _ => |_, a| word(a.word(if a.word(3)? == 1 { 1 } else { 2 })?),
    }
}

fn localeconv(m: &mut Machine<'_>, _: &super::calling::Args<'_>) -> Run<u128> {
    if let Some(&at) = m.library.made.get("lconv") {
        return word(at);
    }
    let at = m.made("lconv", 96)?;
    let point = m.new_string(b".")?;
    let empty = m.new_string(b"")?;
    for index in 0..10 {
        let text = if index == 0 { point } else { empty };
        m.memory.store(Ty::U64, at + 8 * index, text)?;
    }
    m.memory.write(at + 80, 14)?.fill(127);
    word(at)
}

fn open(m: &mut Machine<'_>, path: &[u8], flags: i64, mode: u32) -> Run<u128> {
    let access = flags & 3;
    let how = OpenHow {
        read: access != 1,
        write: access != 0,
        append: flags & 0o2000 != 0,
        create: flags & 0o100 != 0,
        exclusive: flags & 0o200 != 0,
        truncate: flags & 0o1000 != 0,
        mode,
    };
    match m.world.open(path, how) {
        Ok(descriptor) => int(i64::from(descriptor)),
        Err(errno) => m.fails(errno),
    }
}

/// `struct stat` of x86-64.
fn put_status(m: &mut Machine<'_>, at: u64, status: Result<Status, i32>) -> Run<u128> {
    let status = match status {
        Ok(status) => status,
        Err(errno) => return m.fails(errno),
    };
    m.memory.write(at, 144)?.fill(0);
    let (device, inode, links, owner, group) = status.identity;
    for (offset, ty, value) in [
        (0, Ty::U64, device),
        (8, Ty::U64, inode),
        (16, Ty::U64, links),
        (24, Ty::U32, u64::from(status.mode)),
        (28, Ty::U32, u64::from(owner)),
        (32, Ty::U32, u64::from(group)),
        (48, Ty::U64, status.size),
        (56, Ty::U64, 4096),
        (64, Ty::U64, status.size.div_ceil(512)),
        (72, Ty::U64, status.modified as u64),
        (88, Ty::U64, status.modified as u64),
        (104, Ty::U64, status.modified as u64),
    ] {
        m.memory.store(ty, at + offset, value)?;
    }
    int(0)
}
