//! Streams over the descriptors of the world, with their buffers.

use patchwright_semantics::Ty;

use super::{
    calling::word,
    kept::{Buffering, Over, Stream},
};
use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
    memory::Kind,
    world::OpenHow,
};

const FILE_SIZE: u64 = 216;
const BUFFER: usize = 4096;

/// The three streams that are open at the start.
pub(super) fn start(m: &mut Machine<'_>) -> Run<()> {
    for (descriptor, name) in [(0, "stdin"), (1, "stdout"), (2, "stderr")] {
        let file = new_stream(m, descriptor)?;
        let buffering = match descriptor {
            2 => Buffering::None,
            1 if m.world.is_terminal(1) => Buffering::Line,
            _ => Buffering::Full,
        };
        if let Some(stream) = m.library.streams.last_mut() {
            stream.buffering = buffering;
        }
        let object = m.made(name, 16)?;
        m.memory.store(Ty::U64, object, file)?;
    }
    Ok(())
}

/// Makes a stream on a descriptor, and returns its address (`FILE *`).
pub(super) fn new_stream(m: &mut Machine<'_>, descriptor: i32) -> Run<u64> {
    // Zero, so that macros that look into it find empty buffers.
    let file = m.memory.allocate(FILE_SIZE, 16, Kind::Global, true)?;
    let index = m.library.streams.len();
    m.library.streams.push(Stream {
        descriptor,
        open: true,
        ..Stream::default()
    });
    m.library.stream_at.insert(file, index);
    if m.is_observed() {
        m.library.used_streams.borrow_mut().push(file);
    }
    Ok(file)
}

/// Returns the number of the stream at an address; a closed one, or none, is undefined behaviour.
pub(super) fn stream(m: &Machine<'_>, file: u64) -> Run<usize> {
    if m.is_observed() {
        m.library.used_streams.borrow_mut().push(file);
    }
    match m.library.stream_at.get(&file) {
        Some(&index) if m.library.streams[index].open => Ok(index),
        Some(_) => undefined(Undefined::UseAfterFree, "a stream that has been closed"),
        None if file == 0 => undefined(Undefined::NullPointer, "a null pointer as a stream"),
        None => undefined(Undefined::BadArgument, "a pointer that is no stream"),
    }
}

/// Writes out what a stream holds; false if that fails.
pub(super) fn flush(m: &mut Machine<'_>, index: usize) -> bool {
    let stream = &mut m.library.streams[index];
    if stream.is_in_memory() || stream.output.is_empty() {
        return true;
    }
    let bytes = std::mem::take(&mut stream.output);
    let descriptor = stream.descriptor;
    match m.world.write(descriptor, &bytes) {
        Ok(()) => true,
        Err(errno) => {
            m.library.streams[index].failed = true;
            m.set_errno(errno);
            false
        }
    }
}

/// Writes out what all open streams hold.
pub(super) fn flush_all(m: &mut Machine<'_>) {
    for index in 0..m.library.streams.len() {
        if m.library.streams[index].open {
            flush(m, index);
        }
    }
}

/// Writes bytes to a stream; false if that fails.
pub(super) fn put(m: &mut Machine<'_>, index: usize, bytes: &[u8]) -> Run<bool> {
    put_as(m, index, bytes, false)
}

/// Writes characters as wide ones.
pub(super) fn put_wide(m: &mut Machine<'_>, index: usize, bytes: &[u8]) -> Run<bool> {
    put_as(m, index, bytes, true)
}

fn put_as(m: &mut Machine<'_>, index: usize, bytes: &[u8], wide: bool) -> Run<bool> {
    if *m.library.streams[index].wide.get_or_insert(wide) != wide {
        return undefined(
            Undefined::BadArgument,
            match wide {
                true => "wide characters are written to a stream of bytes",
                false => "bytes are written to a stream of wide characters",
            },
        );
    }
    match m.library.streams[index].over {
        Some(Over::Write { at, size, next }) => {
            return put_over(m, index, bytes, (at, size, next));
        }
        Some(Over::Read) => {
            m.library.streams[index].failed = true;
            m.set_errno(9);
            return Ok(false);
        }
        None => {}
    }
    let stream = &mut m.library.streams[index];
    // Reading and writing take turns.
    stream.input.clear();
    stream.input_at = 0;
    stream.output.extend_from_slice(bytes);
    if stream.memory.is_some() {
        update_memory(m, index)?;
        return Ok(true);
    }
    let now = match stream.buffering {
        Buffering::None => true,
        Buffering::Line => bytes.contains(&b'\n') || stream.output.len() >= BUFFER,
        Buffering::Full => stream.output.len() >= BUFFER,
    };
    Ok(!now || flush(m, index))
}

/// Writes to an object as far as there is room; behind it a zero, if that fits.
fn put_over(
    m: &mut Machine<'_>,
    index: usize,
    bytes: &[u8],
    (at, size, next): (u64, u64, u64),
) -> Run<bool> {
    const ENOSPC: i32 = 28;
    let room = (size - next).min(bytes.len() as u64);
    m.put_bytes(at + next, &bytes[..room as usize])?;
    let next = next + room;
    if next < size {
        m.put_bytes(at + next, &[0])?;
    }
    let fits = room == bytes.len() as u64;
    let stream = &mut m.library.streams[index];
    stream.over = Some(Over::Write { at, size, next });
    stream.failed |= !fits;
    if !fits {
        m.set_errno(ENOSPC);
    }
    Ok(fits)
}

/// Opens a stream that reads these bytes.
pub(super) fn reading(m: &mut Machine<'_>, bytes: Vec<u8>) -> Run<u64> {
    let file = new_stream(m, -1)?;
    if let Some(stream) = m.library.streams.last_mut() {
        stream.input = bytes;
        stream.over = Some(Over::Read);
    }
    Ok(file)
}

/// A stream that writes so many bytes at an address.
pub(super) fn writing(m: &mut Machine<'_>, (at, size): (u64, u64)) -> Run<u64> {
    let file = new_stream(m, -1)?;
    if let Some(stream) = m.library.streams.last_mut() {
        stream.over = Some(Over::Write { at, size, next: 0 });
    }
    Ok(file)
}

/// Where a stream over an object is, and how far it goes.
fn extent(stream: &Stream) -> Option<(u64, u64)> {
    match stream.over? {
        Over::Read => Some((stream.input_at as u64, stream.input.len() as u64)),
        Over::Write { size, next, .. } => Some((next, size)),
    }
}

/// Updates the text and the size that a stream of `open_memstream` has given to the program.
pub(super) fn update_memory(m: &mut Machine<'_>, index: usize) -> Run<()> {
    let Some((place, size)) = m.library.streams[index].memory else {
        return Ok(());
    };
    let old = m.memory.load(Ty::U64, place)?;
    if old != 0 {
        m.memory.free(old)?;
    }
    let text = m.library.streams[index].output.clone();
    let new = m.heap_text(&text)?;
    m.memory.store(Ty::U64, place, new)?;
    m.memory.store(Ty::U64, size, text.len() as u64)
}

fn fill(m: &mut Machine<'_>, index: usize) -> bool {
    // What a program prompts for should be seen.
    if m.library.streams[index].descriptor == 0 {
        flush(m, 1);
    }
    flush(m, index);
    match m.library.streams[index].over {
        Some(Over::Read) => {
            m.library.streams[index].at_end = true;
            return false;
        }
        Some(Over::Write { .. }) => {
            m.library.streams[index].failed = true;
            m.set_errno(9);
            return false;
        }
        None => {}
    }
    let descriptor = m.library.streams[index].descriptor;
    let mut buffer = vec![0; BUFFER];
    match m.world.read(descriptor, &mut buffer) {
        Ok(0) => {
            m.library.streams[index].at_end = true;
            false
        }
        Ok(count) => {
            buffer.truncate(count);
            let stream = &mut m.library.streams[index];
            stream.input = buffer;
            stream.input_at = 0;
            true
        }
        Err(errno) => {
            m.library.streams[index].failed = true;
            m.set_errno(errno);
            false
        }
    }
}

/// Reads a byte from a stream; `None` at its end.
pub(super) fn get(m: &mut Machine<'_>, index: usize) -> Option<u8> {
    let stream = &m.library.streams[index];
    if stream.input_at >= stream.input.len() && !fill(m, index) {
        return None;
    }
    let stream = &mut m.library.streams[index];
    let byte = stream.input[stream.input_at];
    stream.input_at += 1;
    Some(byte)
}

/// Puts a byte back, to be read next.
pub(super) fn unget(m: &mut Machine<'_>, index: usize, byte: u8) {
    let stream = &mut m.library.streams[index];
    stream.at_end = false;
    if stream.input_at > 0 {
        stream.input_at -= 1;
        stream.input[stream.input_at] = byte;
    } else {
        stream.input.insert(0, byte);
    }
}

/// Returns the number of a standard stream, such as `stdout`.
pub(super) fn standard(m: &mut Machine<'_>, name: &'static str) -> Run<usize> {
    let object = m.made(name, 16)?;
    let file = m.memory.load(Ty::U64, object)?;
    stream(m, file)
}

/// Writes to standard error, after what standard output holds.
pub(super) fn complain(m: &mut Machine<'_>, text: &[u8]) -> Run<()> {
    let out = standard(m, "stdout")?;
    flush(m, out);
    let out = standard(m, "stderr")?;
    put(m, out, text)?;
    Ok(())
}

/// Moves the position of a stream, and returns the new one; else the number of the error.
pub(super) fn seek(
    m: &mut Machine<'_>,
    index: usize,
    offset: i64,
    whence: i32,
) -> Result<u64, i32> {
    flush(m, index);
    let stream = &mut m.library.streams[index];
    if let Some((now, end)) = extent(stream) {
        let start = [0, now, end].get(whence as usize).copied();
        let to = start.and_then(|start| start.checked_add_signed(offset));
        let to = to.filter(|&to| to <= end).ok_or(22)?;
        stream.at_end = false;
        match &mut stream.over {
            Some(Over::Write { next, .. }) => *next = to,
            _ => stream.input_at = to as usize,
        }
        return Ok(to);
    }
    let ahead = (stream.input.len() - stream.input_at) as i64;
    stream.input.clear();
    stream.input_at = 0;
    stream.at_end = false;
    let descriptor = stream.descriptor;
    let offset = if whence == 1 { offset - ahead } else { offset };
    m.world.seek(descriptor, offset, whence)
}

/// Returns how `fopen` opens a file in a mode such as `r+`.
pub(super) fn how(mode: &[u8]) -> OpenHow {
    let first = mode.first().copied().unwrap_or(b'r');
    let plus = mode.contains(&b'+');
    OpenHow {
        read: first == b'r' || plus,
        write: first != b'r' || plus,
        append: first == b'a',
        create: first != b'r',
        truncate: first == b'w',
        exclusive: mode.contains(&b'x'),
        mode: 0o666,
    }
}

/// Opens a file as `fopen` does, and returns the address of the stream, or null.
pub(super) fn open(m: &mut Machine<'_>, path: &[u8], mode: &[u8]) -> Run<u128> {
    if !matches!(mode.first(), Some(b'r' | b'w' | b'a')) {
        m.set_errno(22);
        return word(0);
    }
    match m.world.open(path, how(mode)) {
        Ok(descriptor) => word(new_stream(m, descriptor)?),
        Err(errno) => {
            m.set_errno(errno);
            word(0)
        }
    }
}

/// Returns the offset at which the next byte of a stream is read or written.
pub(super) fn position(m: &mut Machine<'_>, index: usize) -> Result<i64, i32> {
    flush(m, index);
    let stream = &m.library.streams[index];
    if let Some((now, _)) = extent(stream) {
        return Ok(now as i64);
    }
    let ahead = (stream.input.len() - stream.input_at) as i64;
    let descriptor = stream.descriptor;
    let position = m.world.seek(descriptor, 0, 1)?;
    Ok(position as i64 - ahead)
}

/// Returns a file name that is not in use, as `tmpnam` makes it; `None` if all are in use.
pub(super) fn free_name(m: &mut Machine<'_>) -> Option<Vec<u8>> {
    const MOST: u32 = 100_000;
    while m.library.names < MOST {
        let path = format!("/tmp/file{:06}", m.library.names).into_bytes();
        m.library.names += 1;
        if m.world.status_of(&path, false).is_err() {
            return Some(path);
        }
    }
    None
}

/// A stream of a new file without a name.
pub(super) fn temporary_file(m: &mut Machine<'_>) -> Run<u128> {
    const EEXIST: i32 = 17;
    let how = OpenHow {
        exclusive: true,
        mode: 0o600,
        ..how(b"w+")
    };
    for number in 0..100_000 {
        let path = format!("/tmp/tmpfile-{number}").into_bytes();
        match m.world.open(&path, how) {
            Ok(descriptor) => {
                // It stays as long as it is open.
                let _ = m.world.remove(&path);
                return word(new_stream(m, descriptor)?);
            }
            Err(EEXIST) => {}
            Err(errno) => {
                m.set_errno(errno);
                break;
            }
        }
    }
    word(0)
}
