//! Errors: `errno`, `strerror`, `error`, `err.h`, `assert`.

use super::{
    calling::{Args, Native, int, word},
    stdio::formatted,
};
use crate::{
    fault::{Run, Stop},
    machine::Machine,
};

/// Returns the model of a function about errors, such as `strerror` or `err`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "__errno_location" => |m, _| word(m.made("errno", 16)?),
        "strerror" | "strerror_l" => |m, a| {
            let text = message(a.int(0)? as i32);
            let at = m.made("strerror", 64)?;
            m.put_text(at, &text.as_bytes()[..text.len().min(63)])?;
            word(at)
        },
        "strerror_r" | "__xpg_strerror_r" => |m, a| {
            let text = message(a.int(0)? as i32);
            let size = a.word(2)? as usize;
            if size > 0 {
                m.put_text(a.word(1)?, &text.as_bytes()[..text.len().min(size - 1)])?;
            }
            word(a.word(1)?)
        },
        "error" => |m, a| {
            let text = formatted(m, a, 2, false)?;
            report(m, a.int(0)?, a.int(1)?, &text)
        },
        "verror" => |m, a| {
            let text = formatted(m, a, 2, true)?;
            report(m, a.int(0)?, a.int(1)?, &text)
        },
        "error_at_line" => |m, a| {
            let text = formatted(m, a, 4, false)?;
            let mut place = m.text(a.word(2)?)?;
            place.extend_from_slice(format!(":{}: ", a.int(3)?).as_bytes());
            place.extend_from_slice(&text);
            report(m, a.int(0)?, a.int(1)?, &place)
        },
        "err" => |m, a| warn(m, a, 1, true, Some(a.int(0)?)),
        "errx" => |m, a| warn(m, a, 1, false, Some(a.int(0)?)),
        "warn" => |m, a| warn(m, a, 0, true, None),
        "warnx" => |m, a| warn(m, a, 0, false, None),
        "__assert_fail" | "__assert" => |m, a| {
            let expression = m.text(a.word(0)?)?;
            let file = m.text(a.word(1)?)?;
            let line = a.int(2)?;
            let function = match a.0.get(3) {
                Some(arg) if arg.bits != 0 => m.text(arg.bits as u64)?,
                _ => b"?".to_vec(),
            };
            let program = m.library.program.clone();
            let short = program.rsplit(|&b| b == b'/').next().unwrap_or_default();
            let text = format!(
                "{}: {}:{line}: {}: Assertion `{}' failed.\n",
                String::from_utf8_lossy(short),
                String::from_utf8_lossy(&file),
                String::from_utf8_lossy(&function),
                String::from_utf8_lossy(&expression),
            );
            super::stream::complain(m, text.as_bytes())?;
            super::signals::abort(m)
        },
        _ => return None,
    })
}

fn report(m: &mut Machine<'_>, status: i64, errno: i64, text: &[u8]) -> Run<u128> {
    let mut line = m.library.program.clone();
    line.extend_from_slice(b": ");
    line.extend_from_slice(text);
    if errno != 0 {
        line.extend_from_slice(b": ");
        line.extend_from_slice(message(errno as i32).as_bytes());
    }
    line.push(b'\n');
    super::stream::complain(m, &line)?;
    m.library.errors += 1;
    let count = u64::from(m.library.errors);
    let at = m.made("error_message_count", 16)?;
    m.memory.store(patchwright_semantics::Ty::U32, at, count)?;
    match status {
        0 => word(0),
        status => Err(Stop::Exit(status as i32)),
    }
}

fn warn(
    m: &mut Machine<'_>,
    a: &Args<'_>,
    at: usize,
    with_errno: bool,
    status: Option<i64>,
) -> Run<u128> {
    let errno = m.errno();
    let program = m.library.program.clone();
    let short = program.rsplit(|&b| b == b'/').next().unwrap_or_default();
    let mut line = short.to_vec();
    line.extend_from_slice(b": ");
    if a.word(at)? != 0 {
        line.extend_from_slice(&formatted(m, a, at, false)?);
        if with_errno {
            line.extend_from_slice(b": ");
        }
    }
    if with_errno {
        line.extend_from_slice(message(errno).as_bytes());
    }
    line.push(b'\n');
    super::stream::complain(m, &line)?;
    match status {
        Some(status) => Err(Stop::Exit(status as i32)),
        None => int(0),
    }
}

/// Returns glibc's text for an error number.
pub(super) fn message(errno: i32) -> String {
    let known = match errno {
        0 => "Success",
        1 => "Operation not permitted",
        2 => "No such file or directory",
        3 => "No such process",
        4 => "Interrupted system call",
        5 => "Input/output error",
        7 => "Argument list too long",
        8 => "Exec format error",
        9 => "Bad file descriptor",
        10 => "No child processes",
        11 => "Resource temporarily unavailable",
        12 => "Cannot allocate memory",
        13 => "Permission denied",
        14 => "Bad address",
        16 => "Device or resource busy",
        17 => "File exists",
        18 => "Invalid cross-device link",
        19 => "No such device",
        20 => "Not a directory",
        21 => "Is a directory",
        22 => "Invalid argument",
        23 => "Too many open files in system",
        24 => "Too many open files",
        25 => "Inappropriate ioctl for device",
        27 => "File too large",
        28 => "No space left on device",
        29 => "Illegal seek",
        30 => "Read-only file system",
        31 => "Too many links",
        32 => "Broken pipe",
        33 => "Numerical argument out of domain",
        34 => "Numerical result out of range",
        36 => "File name too long",
        38 => "Function not implemented",
        39 => "Directory not empty",
        40 => "Too many levels of symbolic links",
        75 => "Value too large for defined data type",
        84 => "Invalid or incomplete multibyte or wide character",
        95 => "Operation not supported",
        _ => return format!("Unknown error {errno}"),
    };
    known.to_owned()
}
