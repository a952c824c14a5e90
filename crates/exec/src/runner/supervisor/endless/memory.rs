//! The memory of a stopped process: what is mapped, and what has been written since some moment.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;

use super::super::sys::Pid;
use super::machine::Machine;

/// Most bytes that are remembered.
const MOST_REMEMBERED: usize = 1 << 20;

/// A mapping of a process.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) addresses: Range<u64>,
    pub(super) is_readable: bool,
    pub(super) is_writable: bool,
    pub(super) is_code: bool,
    /// It is written where it comes from.
    pub(super) is_shared: bool,
    /// The file, or a name in brackets; empty if it has none.
    pub(super) name: String,
}

/// The mappings of a process.
pub(super) fn mappings(pid: Pid) -> io::Result<Vec<Mapping>> {
    let text = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mapping> {
    let mut parts = line.splitn(6, ' ');
    let (start, end) = parts.next()?.split_once('-')?;
    let rights = parts.next()?;
    Some(Mapping {
        addresses: u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?,
        is_readable: rights.contains('r'),
        is_writable: rights.contains('w'),
        is_code: rights.contains('x'),
        is_shared: rights.contains('s'),
        name: parts.nth(3).unwrap_or_default().trim_start().to_owned(),
    })
}

/// Whether somebody else than the process may write there at any time: devices, rings that it shares with the kernel.
pub(super) fn is_written_by_others(mapping: &Mapping) -> bool {
    let name = mapping.name.as_str();
    name.contains("io_uring")
        || name.contains("[aio]")
        || name.starts_with("/dev/") && !name.starts_with("/dev/shm/") && name != "/dev/zero"
}

/// The former contents of the bytes that a process has written since some moment.
#[derive(Default)]
pub(super) struct Before {
    bytes: BTreeMap<u64, u8>,
}

impl Before {
    /// Remembers the bytes of a range before they are written.
    ///
    /// # Errors
    /// The memory cannot be read, or too much would have to be remembered.
    pub(super) fn remember(&mut self, process: &mut Machine, range: Range<u64>) -> io::Result<()> {
        let known = self.bytes.range(range.clone()).count() as u64;
        if known == range.end - range.start {
            return Ok(());
        }
        let mut now = vec![0; (range.end - range.start) as usize];
        process.read(range.start, &mut now)?;
        for (address, byte) in range.zip(now) {
            self.bytes.entry(address).or_insert(byte);
        }
        match self.bytes.len() <= MOST_REMEMBERED {
            true => Ok(()),
            false => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }

    /// Whether the byte at an address is what it was.
    pub(super) fn is_back(&self, process: &mut Machine, address: u64) -> io::Result<bool> {
        let Some(before) = self.bytes.get(&address) else {
            return Ok(true);
        };
        let mut now = [0];
        process.read(address, &mut now)?;
        Ok(now[0] == *before)
    }

    /// The addresses of the bytes that are not what they were.
    pub(super) fn differing(&self, process: &mut Machine) -> io::Result<Vec<u64>> {
        const PIECE: u64 = 1 << 12;
        let mut found = Vec::new();
        let mut piece = (0..0, Vec::new());
        for (&address, before) in &self.bytes {
            if !piece.0.contains(&address) {
                // What is left of its page, which is there as a whole.
                let range = address..(address & !(PIECE - 1)) + PIECE;
                let mut bytes = vec![0; (range.end - range.start) as usize];
                process.read(range.start, &mut bytes)?;
                piece = (range, bytes);
            }
            if piece.1[(address - piece.0.start) as usize] != *before {
                found.push(address);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_have_addresses_rights_and_a_name() {
        let line =
            "7f00-7fa0 rw-s 00001000 00:1a 42                         /dev/shm/a file (deleted)";
        let mapping = parse(line).unwrap();
        assert_eq!(mapping.addresses, 0x7f00..0x7fa0);
        assert!(mapping.is_writable && mapping.is_shared && !mapping.is_code);
        assert_eq!(mapping.name, "/dev/shm/a file (deleted)");
        assert_eq!(parse("7f00-7fa0 r-xp 00001000 00:00 0").unwrap().name, "");
    }
}
