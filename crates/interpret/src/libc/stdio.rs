//! `stdio.h`: the functions on streams.

use patchwright_semantics::Ty;

use super::{
    calling::{Args, Native, int, word},
    format::{Source, format},
    kept::{Buffering, Stream},
    scan::{Characters, Input, scan},
    stream::{
        flush, flush_all, free_name, get, how, new_stream, open, position, put, seek, standard,
        stream, temporary_file, unget, update_memory,
    },
};
use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
};

const EOF: i64 = -1;

/// The characters of a stream, for scanf.
struct FromStream(usize);

impl Input for FromStream {
    fn next(&mut self, machine: &mut Machine<'_>) -> Run<Option<u8>> {
        Ok(get(machine, self.0))
    }

    fn back(&mut self, machine: &mut Machine<'_>, byte: u8) {
        unget(machine, self.0, byte);
    }
}

/// Prints a format to a stream; its arguments begin at `rest`, or are those of a `va_list`.
fn print(m: &mut Machine<'_>, index: usize, a: &Args<'_>, at: usize, list: bool) -> Run<u128> {
    let text = formatted(m, a, at, list)?;
    match put(m, index, &text)? {
        true => int(text.len() as i64),
        false => int(-1),
    }
}

/// Returns the bytes that the format at argument `at` makes of the arguments behind it.
pub(super) fn formatted(m: &mut Machine<'_>, a: &Args<'_>, at: usize, list: bool) -> Run<Vec<u8>> {
    let text = m.text(a.word(at)?)?;
    let mut source = match list {
        true => Source::List(a.word(at + 1)?),
        false => Source::Call(a.0, at + 1),
    };
    format(m, &text, &mut source)
}

/// None of the texts that were formatted last lies in these bytes.
fn must_be_apart(m: &Machine<'_>, to: u64, size: u64) -> Run<()> {
    let mut read = m.library.formatted.iter();
    match read.any(|&(from, bytes)| from < to + size && to < from + bytes) {
        true => undefined(
            Undefined::BadArgument,
            "a text that is formatted lies where it is written",
        ),
        false => Ok(()),
    }
}

fn print_to_memory(m: &mut Machine<'_>, a: &Args<'_>, at: usize, list: bool) -> Run<u128> {
    let text = formatted(m, a, at, list)?;
    must_be_apart(m, a.word(0)?, text.len() as u64 + 1)?;
    m.put_text(a.word(0)?, &text)?;
    int(text.len() as i64)
}

fn print_bounded(m: &mut Machine<'_>, a: &Args<'_>, at: usize, list: bool) -> Run<u128> {
    let text = formatted(m, a, at, list)?;
    let size = a.word(1)? as usize;
    if size > 0 {
        let kept = text.len().min(size - 1);
        must_be_apart(m, a.word(0)?, kept as u64 + 1)?;
        m.put_text(a.word(0)?, &text[..kept])?;
    }
    int(text.len() as i64)
}

fn print_allocated(m: &mut Machine<'_>, a: &Args<'_>, at: usize, list: bool) -> Run<u128> {
    let text = formatted(m, a, at, list)?;
    let new = m.heap_text(&text)?;
    m.memory.store(Ty::U64, a.word(0)?, new)?;
    int(text.len() as i64)
}

fn scan_from(
    m: &mut Machine<'_>,
    input: &mut dyn Input,
    a: &Args<'_>,
    at: usize,
    list: bool,
) -> Run<u128> {
    let text = m.text(a.word(at)?)?;
    let mut source = match list {
        true => Source::List(a.word(at + 1)?),
        false => Source::Call(a.0, at + 1),
    };
    int(scan(m, &text, input, &mut source)?)
}

fn byte_or_end(byte: Option<u8>) -> Run<u128> {
    int(byte.map_or(EOF, i64::from))
}

/// Returns the model of a function of `stdio.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "printf" => |m, a| {
            let out = standard(m, "stdout")?;
            print(m, out, a, 0, false)
        },
        "__printf_chk" => |m, a| {
            let out = standard(m, "stdout")?;
            print(m, out, a, 1, false)
        },
        "vprintf" => |m, a| {
            let out = standard(m, "stdout")?;
            print(m, out, a, 0, true)
        },
        "fprintf" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 1, false)
        },
        "__fprintf_chk" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 2, false)
        },
        "vfprintf" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 1, true)
        },
        "__vfprintf_chk" => |m, a| {
            let out = stream(m, a.word(0)?)?;
            print(m, out, a, 2, true)
        },
        "sprintf" => |m, a| print_to_memory(m, a, 1, false),
        "vsprintf" => |m, a| print_to_memory(m, a, 1, true),
        "__sprintf_chk" => |m, a| print_to_memory(m, a, 3, false),
        "__vsprintf_chk" => |m, a| print_to_memory(m, a, 3, true),
        "snprintf" => |m, a| print_bounded(m, a, 2, false),
        "vsnprintf" => |m, a| print_bounded(m, a, 2, true),
        "__snprintf_chk" => |m, a| print_bounded(m, a, 4, false),
        "__vsnprintf_chk" => |m, a| print_bounded(m, a, 4, true),
        "asprintf" => |m, a| print_allocated(m, a, 1, false),
        "vasprintf" => |m, a| print_allocated(m, a, 1, true),
        "dprintf" => |m, a| {
            let text = formatted(m, a, 1, false)?;
            let descriptor = a.int(0)? as i32;
            match m.world.write(descriptor, &text) {
                Ok(()) => int(text.len() as i64),
                Err(errno) => m.fails(errno),
            }
        },
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => |m, a| {
            let input = standard(m, "stdin")?;
            scan_from(m, &mut FromStream(input), a, 0, false)
        },
        "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" => |m, a| {
            let input = stream(m, a.word(0)?)?;
            scan_from(m, &mut FromStream(input), a, 1, false)
        },
        "vfscanf" | "__isoc99_vfscanf" => |m, a| {
            let input = stream(m, a.word(0)?)?;
            scan_from(m, &mut FromStream(input), a, 1, true)
        },
        "sscanf" | "__isoc99_sscanf" | "__isoc23_sscanf" => |m, a| {
            let text = m.text(a.word(0)?)?;
            scan_from(m, &mut Characters(text, 0), a, 1, false)
        },
        "vsscanf" | "__isoc99_vsscanf" => |m, a| {
            let text = m.text(a.word(0)?)?;
            scan_from(m, &mut Characters(text, 0), a, 1, true)
        },
        "puts" => |m, a| {
            let mut text = m.text(a.word(0)?)?;
            text.push(b'\n');
            let out = standard(m, "stdout")?;
            int(if put(m, out, &text)? { 1 } else { EOF })
        },
        "fputs" | "fputs_unlocked" => |m, a| {
            let text = m.text(a.word(0)?)?;
            let out = stream(m, a.word(1)?)?;
            int(if put(m, out, &text)? { 1 } else { EOF })
        },
        "putchar" | "putchar_unlocked" => |m, a| {
            let byte = a.word(0)? as u8;
            let out = standard(m, "stdout")?;
            byte_or_end(put(m, out, &[byte])?.then_some(byte))
        },
        "fputc" | "putc" | "putc_unlocked" | "fputc_unlocked" | "_IO_putc" => |m, a| {
            let byte = a.word(0)? as u8;
            let out = stream(m, a.word(1)?)?;
            byte_or_end(put(m, out, &[byte])?.then_some(byte))
        },
        "__overflow" => |m, a| {
            let byte = a.word(1)? as u8;
            let out = stream(m, a.word(0)?)?;
            byte_or_end(put(m, out, &[byte])?.then_some(byte))
        },
        "getchar" | "getchar_unlocked" => |m, _| {
            let input = standard(m, "stdin")?;
            byte_or_end(get(m, input))
        },
        "fgetc" | "getc" | "getc_unlocked" | "fgetc_unlocked" | "_IO_getc" | "__uflow" => |m, a| {
            let input = stream(m, a.word(0)?)?;
            byte_or_end(get(m, input))
        },
        "ungetc" => |m, a| {
            let input = stream(m, a.word(1)?)?;
            match u8::try_from(a.int(0)?) {
                Ok(byte) => {
                    unget(m, input, byte);
                    int(i64::from(byte))
                }
                Err(_) => int(EOF),
            }
        },
        "fgets" | "fgets_unlocked" => |m, a| {
            let (at, size) = (a.word(0)?, a.int(1)?);
            let input = stream(m, a.word(2)?)?;
            let mut line = Vec::new();
            while (line.len() as i64) + 1 < size {
                match get(m, input) {
                    Some(byte) => line.push(byte),
                    None => break,
                }
                if line.last() == Some(&b'\n') {
                    break;
                }
            }
            if line.is_empty() {
                return word(0);
            }
            m.put_text(at, &line)?;
            word(at)
        },
        "gets" => |m, a| {
            let input = standard(m, "stdin")?;
            let mut line = Vec::new();
            let mut any = false;
            while let Some(byte) = get(m, input) {
                any = true;
                if byte == b'\n' {
                    break;
                }
                line.push(byte);
            }
            if !any {
                return word(0);
            }
            m.put_text(a.word(0)?, &line)?;
            word(a.word(0)?)
        },
        "getline" => |m, a| {
            let input = stream(m, a.word(2)?)?;
            get_delimited(m, a.word(0)?, a.word(1)?, b'\n', input)
        },
        "getdelim" | "__getdelim" => |m, a| {
            let input = stream(m, a.word(3)?)?;
            get_delimited(m, a.word(0)?, a.word(1)?, a.word(2)? as u8, input)
        },
        "fread" | "fread_unlocked" => |m, a| {
            let (at, size, count) = (a.word(0)?, a.word(1)?, a.word(2)?);
            let input = stream(m, a.word(3)?)?;
            let total = size.saturating_mul(count);
            let mut bytes = Vec::new();
            while (bytes.len() as u64) < total {
                match get(m, input) {
                    Some(byte) => bytes.push(byte),
                    None => break,
                }
            }
            m.put_bytes(at, &bytes)?;
            word((bytes.len() as u64).checked_div(size).unwrap_or(0))
        },
        "fwrite" | "fwrite_unlocked" => |m, a| {
            let (at, size, count) = (a.word(0)?, a.word(1)?, a.word(2)?);
            let out = stream(m, a.word(3)?)?;
            let total = size.saturating_mul(count);
            if total == 0 {
                return word(0);
            }
            let bytes = m.memory.image(at, total)?.to_vec();
            word(if put(m, out, &bytes)? { count } else { 0 })
        },
        "fopen" | "fopen64" => |m, a| {
            let path = m.text(a.word(0)?)?;
            let mode = m.text(a.word(1)?)?;
            open(m, &path, &mode)
        },
        "fdopen" => |m, a| {
            let descriptor = a.int(0)? as i32;
            word(new_stream(m, descriptor)?)
        },
        "freopen" | "freopen64" => |m, a| {
            let file = a.word(2)?;
            let index = stream(m, file)?;
            flush(m, index);
            if a.word(0)? == 0 {
                return word(file);
            }
            let path = m.text(a.word(0)?)?;
            let mode = m.text(a.word(1)?)?;
            let old = m.library.streams[index].descriptor;
            match m.world.open(&path, how(&mode)) {
                Ok(descriptor) => {
                    let _ = m.world.close(old);
                    m.library.streams[index] = Stream {
                        descriptor,
                        open: true,
                        ..Stream::default()
                    };
                    word(file)
                }
                Err(errno) => {
                    m.set_errno(errno);
                    word(0)
                }
            }
        },
        "fclose" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            let flushed = flush(m, index);
            let stream = &mut m.library.streams[index];
            stream.open = false;
            if stream.is_in_memory() {
                return int(0);
            }
            let descriptor = stream.descriptor;
            match m.world.close(descriptor) {
                Ok(()) if flushed => int(0),
                Ok(()) => int(EOF),
                Err(errno) => m.fails(errno),
            }
        },
        "fflush" | "fflush_unlocked" => |m, a| {
            if a.word(0)? == 0 {
                flush_all(m);
                return int(0);
            }
            let index = stream(m, a.word(0)?)?;
            int(if flush(m, index) { 0 } else { EOF })
        },
        "feof" | "feof_unlocked" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            int(i64::from(m.library.streams[index].at_end))
        },
        "ferror" | "ferror_unlocked" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            int(i64::from(m.library.streams[index].failed))
        },
        "clearerr" | "clearerr_unlocked" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            m.library.streams[index].at_end = false;
            m.library.streams[index].failed = false;
            word(0)
        },
        "fileno" | "fileno_unlocked" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            int(i64::from(m.library.streams[index].descriptor))
        },
        "fseek" | "fseeko" | "fseeko64" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            match seek(m, index, a.int(1)?, a.int(2)? as i32) {
                Ok(_) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "fgetpos" | "fgetpos64" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            match position(m, index) {
                Ok(position) => {
                    m.memory.store(Ty::I64, a.word(1)?, position as u64)?;
                    int(0)
                }
                Err(errno) => m.fails(errno),
            }
        },
        "fsetpos" | "fsetpos64" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            let position = m.memory.load(Ty::I64, a.word(1)?)? as i64;
            match seek(m, index, position, 0) {
                Ok(_) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "tmpnam" | "tmpnam_r" => |m, a| {
            let Some(name) = free_name(m) else {
                return word(0);
            };
            let at = match a.word(0)? {
                0 => m.made("tmpnam", 32)?,
                at => at,
            };
            m.put_text(at, &name)?;
            word(at)
        },
        "tmpfile" | "tmpfile64" => |m, _| temporary_file(m),
        "rewind" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            let _ = seek(m, index, 0, 0);
            m.library.streams[index].failed = false;
            word(0)
        },
        "ftell" | "ftello" | "ftello64" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            match position(m, index) {
                Ok(position) => int(position),
                Err(errno) => m.fails(errno),
            }
        },
        "setvbuf" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            m.library.streams[index].buffering = match a.int(2)? {
                0 => Buffering::Full,
                1 => Buffering::Line,
                _ => Buffering::None,
            };
            int(0)
        },
        "setbuf" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            if a.word(1)? == 0 {
                m.library.streams[index].buffering = Buffering::None;
            }
            word(0)
        },
        "setlinebuf" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            m.library.streams[index].buffering = Buffering::Line;
            word(0)
        },
        "flockfile" | "funlockfile" => |_, _| word(0),
        "ftrylockfile" | "fwide" => |_, _| int(0),
        "__fpending" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            word(m.library.streams[index].output.len() as u64)
        },
        "__freading" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            int(i64::from(!m.library.streams[index].input.is_empty()))
        },
        "__fwriting" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            int(i64::from(!m.library.streams[index].output.is_empty()))
        },
        "__fpurge" => |m, a| {
            let index = stream(m, a.word(0)?)?;
            let stream = &mut m.library.streams[index];
            stream.output.clear();
            stream.input.clear();
            stream.input_at = 0;
            word(0)
        },
        "open_memstream" => |m, a| {
            let file = new_stream(m, -1)?;
            let index = stream(m, file)?;
            m.library.streams[index].memory = Some((a.word(0)?, a.word(1)?));
            m.memory.store(Ty::U64, a.word(0)?, 0)?;
            update_memory(m, index)?;
            word(file)
        },
        "perror" => |m, a| {
            let text = super::error::message(m.errno());
            let mut line = match a.word(0)? {
                0 => Vec::new(),
                at => m.text(at)?,
            };
            if !line.is_empty() {
                line.extend_from_slice(b": ");
            }
            line.extend_from_slice(text.as_bytes());
            line.push(b'\n');
            let out = standard(m, "stderr")?;
            put(m, out, &line)?;
            word(0)
        },
        "remove" | "unlink" => |m, a| {
            let path = m.text(a.word(0)?)?;
            match m.world.remove(&path) {
                Ok(()) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        "rename" => |m, a| {
            let (from, to) = (m.text(a.word(0)?)?, m.text(a.word(1)?)?);
            match m.world.rename(&from, &to) {
                Ok(()) => int(0),
                Err(errno) => m.fails(errno),
            }
        },
        _ => return None,
    })
}

fn get_delimited(
    m: &mut Machine<'_>,
    place: u64,
    size: u64,
    delimiter: u8,
    input: usize,
) -> Run<u128> {
    let mut line = Vec::new();
    while let Some(byte) = get(m, input) {
        line.push(byte);
        if byte == delimiter {
            break;
        }
    }
    if line.is_empty() {
        return int(-1);
    }
    let mut buffer = m.memory.load(Ty::U64, place)?;
    let room = match buffer {
        0 => 0,
        _ => m.memory.load(Ty::U64, size)?,
    };
    if room < line.len() as u64 + 1 {
        if buffer != 0 {
            m.memory.free(buffer)?;
        }
        let new = (line.len() as u64 + 1).max(120).max(room * 2);
        buffer = m.heap(new, false);
        m.memory.store(Ty::U64, place, buffer)?;
        m.memory.store(Ty::U64, size, new)?;
    }
    m.put_text(buffer, &line)?;
    int(line.len() as i64)
}
