//! A traced process whose usual instructions are executed here; its own registers and memory follow when they have to.
//!
//! No instruction is trusted to us before the processor has executed it once and come to the same result.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use super::emulate::{self, Memory, Vectors};
use super::instruction::{Decoded, Trust};
use super::memory::Mapping;
use super::tracee::{Registers, Tracee};
use super::{RESUME_FLAG, STATUS_FLAGS};

const PAGE: u64 = 1 << 12;
/// Most pages that are held.
const MOST_PAGES: usize = 1 << 12;
/// The bytes of the vector registers, 16 each, in the saved state (Intel's manual, volume 1, table 10-2).
pub(super) const VECTORS: Range<usize> = 160..416;
/// The bytes that say which of the units are in use, and the unit of vectors' bit (section 13.4.2).
const USED_UNITS: usize = 512;
const VECTOR_UNIT: u8 = 2;

/// What an instruction would write: addresses and bytes.
type Writes = Vec<(u64, Vec<u8>)>;

/// A stopped process, perhaps some instructions ahead of what the kernel knows. It goes on by itself when this is dropped.
pub(super) struct Machine {
    tracee: Tracee,
    pub(super) registers: Registers,
    registers_are_ahead: bool,
    pages: Pages,
    extended: Option<Extended>,
}

/// The registers of the vector and the floating-point unit.
struct Extended {
    /// In the layout of `XSAVE`, but for the vectors.
    bytes: Vec<u8>,
    vectors: Vectors,
    is_ahead: bool,
}

/// Pages of its memory that have been read or written.
struct Pages {
    pages: HashMap<u64, Page>,
    mappings: Vec<Mapping>,
}

struct Page {
    bytes: Box<[u8; PAGE as usize]>,
    /// The process may read it; we may read it anyway.
    is_readable: bool,
    is_writable: bool,
    is_ahead: bool,
}

impl Machine {
    /// Makes a view of a stopped process. `mappings` are its regions of memory.
    pub(super) fn new(tracee: Tracee, mappings: &[Mapping]) -> io::Result<Self> {
        Ok(Machine {
            registers: tracee.registers()?,
            tracee,
            registers_are_ahead: false,
            pages: Pages {
                pages: HashMap::new(),
                mappings: mappings.to_vec(),
            },
            extended: None,
        })
    }

    /// Reads memory; an error when a part of it is not there.
    pub(super) fn read(&mut self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.pages.read(&self.tracee, address, into)
    }

    /// The registers of the vector and the floating-point unit, in the layout of `XSAVE`.
    pub(super) fn extended_registers(&mut self) -> io::Result<Vec<u8>> {
        self.load_extended()?.image()
    }

    fn load_extended(&mut self) -> io::Result<&mut Extended> {
        if self.extended.is_none() {
            self.extended = Some(Extended::read(&self.tracee)?);
        }
        self.extended.as_mut().ok_or(io::ErrorKind::NotFound.into())
    }

    /// Executes an instruction, or one iteration of a repeated one. `written` are the ranges of memory that it may write.
    pub(super) fn step(&mut self, decoded: &Decoded, written: &[Range<u64>]) -> io::Result<()> {
        match decoded.trust.get() {
            Trust::Ours => {
                let mut registers = self.registers;
                if self.execute(decoded, &mut registers, None)? {
                    self.registers = registers;
                    self.registers_are_ahead = true;
                    return Ok(());
                }
                self.step_by_processor(written)
            }
            Trust::Untried => self.try_out(decoded, written),
            Trust::Processor => self.step_by_processor(written),
        }
    }

    /// Executes an instruction here: on a copy, if `trial` gets what it would write. Says whether it could.
    fn execute(
        &mut self,
        decoded: &Decoded,
        registers: &mut Registers,
        trial: Option<(&mut Vectors, &mut Writes)>,
    ) -> io::Result<bool> {
        let instruction = &decoded.instruction;
        let mut none = Vectors::default();
        let mut memory = View {
            pages: &mut self.pages,
            tracee: &self.tracee,
            trial: None,
        };
        if let Some((vectors, writes)) = trial {
            memory.trial = Some(writes);
            let done = emulate::execute(instruction, registers, vectors, &mut memory);
            return Ok(done.is_some());
        }
        if !decoded.is_of_vectors {
            let done = emulate::execute(instruction, registers, &mut none, &mut memory);
            return Ok(done.is_some());
        }
        let extended = match &mut self.extended {
            Some(extended) => extended,
            none => none.insert(Extended::read(&self.tracee)?),
        };
        let vectors = &mut extended.vectors;
        let done = emulate::execute(instruction, registers, vectors, &mut memory);
        extended.is_ahead |= done.is_some();
        Ok(done.is_some())
    }

    /// Lets the processor execute an instruction, and compares what we would have done.
    fn try_out(&mut self, decoded: &Decoded, written: &[Range<u64>]) -> io::Result<()> {
        let mut registers = self.registers;
        let mut vectors = match decoded.is_of_vectors {
            true => self.load_extended()?.vectors,
            false => Vectors::default(),
        };
        let mut writes = Vec::new();
        let known = self.execute(decoded, &mut registers, Some((&mut vectors, &mut writes)))?;
        if !known {
            return self.step_by_processor(written);
        }
        let mut expected = Vec::new();
        for range in written {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            self.read(range.start, &mut bytes)?;
            expected.push(bytes);
        }
        let mut is_right = true;
        for (address, bytes) in &writes {
            let end = address.saturating_add(bytes.len() as u64);
            let mut ranges = written.iter().zip(&mut expected);
            let covering = ranges.find(|(range, _)| range.start <= *address && end <= range.end);
            match covering {
                Some((range, memory)) => {
                    let at = (address - range.start) as usize;
                    memory[at..at + bytes.len()].copy_from_slice(bytes);
                }
                None => is_right = false,
            }
        }
        self.step_by_processor(written)?;
        for (range, expected) in written.iter().zip(&expected) {
            let mut bytes = vec![0; expected.len()];
            self.read(range.start, &mut bytes)?;
            is_right &= bytes == *expected;
        }
        is_right &= is_same(&registers, &self.registers, decoded.undefined_flags);
        if decoded.is_of_vectors {
            is_right &= self.load_extended()?.vectors == vectors;
        }
        decoded.trust.set(match is_right {
            true => Trust::Ours,
            false => Trust::Processor,
        });
        Ok(())
    }

    fn step_by_processor(&mut self, written: &[Range<u64>]) -> io::Result<()> {
        self.catch_up()?;
        self.extended = None;
        for range in written {
            self.pages.forget(range);
        }
        self.tracee.step()?;
        self.registers = self.tracee.registers()?;
        Ok(())
    }

    /// Gives the process what has been done in its name.
    fn catch_up(&mut self) -> io::Result<()> {
        for (number, page) in &mut self.pages.pages {
            if page.is_ahead {
                self.tracee.write(number * PAGE, &page.bytes[..])?;
                page.is_ahead = false;
            }
        }
        if let Some(extended) = &mut self.extended
            && extended.is_ahead
        {
            self.tracee.set_extended_registers(&extended.image()?)?;
            extended.is_ahead = false;
        }
        if self.registers_are_ahead {
            // Lest the kernel takes it to be in a system call that was interrupted.
            self.registers.orig_rax = u64::MAX;
            self.tracee.set_registers(&self.registers)?;
            self.registers_are_ahead = false;
        }
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.catch_up().is_err() {
            // It has ended; if it has not, it is in no state that it could be in.
            self.tracee.kill();
        }
    }
}

/// Whether two states of the integer unit are the same, but for flags that are undefined.
fn is_same(one: &Registers, other: &Registers, undefined_flags: u64) -> bool {
    let flags = (one.eflags ^ other.eflags) & !RESUME_FLAG & !(undefined_flags & STATUS_FLAGS);
    flags == 0
        && one.rip == other.rip
        && super::integers(one) == super::integers(other)
        && (one.fs_base, one.gs_base) == (other.fs_base, other.gs_base)
}

impl Extended {
    fn read(tracee: &Tracee) -> io::Result<Self> {
        let bytes = tracee.extended_registers()?;
        let registers = bytes.get(VECTORS).ok_or(io::ErrorKind::Unsupported)?;
        let mut vectors = Vectors::default();
        for (vector, bytes) in vectors.iter_mut().zip(registers.chunks(16)) {
            *vector = u128::from_le_bytes(bytes.try_into().map_err(io::Error::other)?);
        }
        Ok(Extended {
            bytes,
            vectors,
            is_ahead: false,
        })
    }

    fn image(&self) -> io::Result<Vec<u8>> {
        let mut bytes = self.bytes.clone();
        for (place, vector) in bytes[VECTORS].chunks_mut(16).zip(&self.vectors) {
            place.copy_from_slice(&vector.to_le_bytes());
        }
        if self.is_ahead {
            *bytes
                .get_mut(USED_UNITS)
                .ok_or(io::ErrorKind::Unsupported)? |= VECTOR_UNIT;
        }
        Ok(bytes)
    }
}

impl Pages {
    fn page(&mut self, tracee: &Tracee, number: u64) -> io::Result<&mut Page> {
        if !self.pages.contains_key(&number) {
            if self.pages.len() >= MOST_PAGES {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            let mut bytes = Box::new([0; PAGE as usize]);
            tracee.read(number * PAGE, &mut bytes[..])?;
            let mut mappings = self.mappings.iter();
            let own = mappings.find(|mapping| mapping.addresses.contains(&(number * PAGE)));
            let page = Page {
                bytes,
                is_readable: own.is_some_and(|mapping| mapping.is_readable),
                is_writable: own.is_some_and(|mapping| mapping.is_writable),
                is_ahead: false,
            };
            self.pages.insert(number, page);
        }
        self.pages
            .get_mut(&number)
            .ok_or(io::ErrorKind::NotFound.into())
    }

    fn read(&mut self, tracee: &Tracee, address: u64, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let at = address
                .checked_add(done as u64)
                .ok_or(io::ErrorKind::InvalidInput)?;
            let offset = (at % PAGE) as usize;
            let length = (into.len() - done).min(PAGE as usize - offset);
            let page = self.page(tracee, at / PAGE)?;
            into[done..done + length].copy_from_slice(&page.bytes[offset..offset + length]);
            done += length;
        }
        Ok(())
    }

    /// An error unless so many bytes are there, and the process may use them so.
    fn check(
        &mut self,
        tracee: &Tracee,
        address: u64,
        length: usize,
        allows: impl Fn(&Page) -> bool,
    ) -> io::Result<()> {
        let last = address
            .checked_add(length as u64 - 1)
            .ok_or(io::ErrorKind::InvalidInput)?;
        for number in address / PAGE..=last / PAGE {
            if !allows(self.page(tracee, number)?) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        Ok(())
    }

    fn write(&mut self, tracee: &Tracee, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.check(tracee, address, bytes.len(), |page| page.is_writable)?;
        for (at, byte) in (address..).zip(bytes) {
            let page = self.page(tracee, at / PAGE)?;
            page.bytes[(at % PAGE) as usize] = *byte;
            page.is_ahead = true;
        }
        Ok(())
    }

    fn forget(&mut self, range: &Range<u64>) {
        for number in range.start / PAGE..=range.end / PAGE {
            self.pages.remove(&number);
        }
    }
}

/// The memory as an instruction sees it.
struct View<'a> {
    pages: &'a mut Pages,
    tracee: &'a Tracee,
    /// Where writes go, if they are not to be done.
    trial: Option<&'a mut Writes>,
}

impl Memory for View<'_> {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Option<()> {
        let readable = |page: &Page| page.is_readable;
        self.pages
            .check(self.tracee, address, into.len(), readable)
            .ok()?;
        self.pages.read(self.tracee, address, into).ok()
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        match &mut self.trial {
            Some(writes) => {
                let length = bytes.len();
                let writable = |page: &Page| page.is_writable;
                self.pages
                    .check(self.tracee, address, length, writable)
                    .ok()?;
                writes.push((address, bytes.to_vec()));
            }
            None => self.pages.write(self.tracee, address, bytes).ok()?,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{influence, memory, tracee};
    use super::*;

    /// Numbers that look random and are always the same ones.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn of<T: Copy>(&mut self, from: &[T]) -> T {
            from[(self.next() % from.len() as u64) as usize]
        }
    }

    /// A child that computes for ever, and pages of code and data that it has.
    struct Child {
        pid: libc::pid_t,
        code: u64,
        data: u64,
    }

    impl Child {
        fn start() -> Self {
            // SAFETY: the pages are used through the child's memory only; the child does nothing but compute.
            unsafe {
                let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
                let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let map = || libc::mmap(std::ptr::null_mut(), 8192, all, private, -1, 0) as u64;
                let (code, data) = (map(), map());
                let pid = libc::fork();
                if pid == 0 {
                    loop {
                        std::hint::spin_loop();
                    }
                }
                assert!(pid > 0);
                Child { pid, code, data }
            }
        }
    }

    impl Drop for Child {
        fn drop(&mut self) {
            // SAFETY: it is our child.
            unsafe {
                libc::kill(self.pid, libc::SIGKILL);
                libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL);
            }
        }
    }

    /// The bytes of an instruction, perhaps of none that there is.
    fn instruction(numbers: &mut Numbers) -> Vec<u8> {
        let mut bytes = Vec::new();
        let is_vector = numbers.next().is_multiple_of(8);
        match numbers.next() % 6 {
            0 => bytes.push(0x66),
            1 if is_vector => bytes.push(0xf2),
            2 if is_vector => bytes.push(0xf3),
            _ => {}
        }
        let arithmetic = (numbers.next() % 8 * 8 + numbers.next() % 6) as u8;
        let one = [
            arithmetic, 0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8d,
            0x63, 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff, 0x69, 0x6b, 0x98,
            0x99, 0x50, 0x53, 0x58, 0x5b, 0x68, 0x6a, 0xc3, 0xc9, 0xe8, 0xe9, 0xeb, 0xc6, 0xc7,
            0xb0, 0xb4, 0xb8, 0x74, 0x7c, 0x7f, 0x77, 0xa4, 0xa5, 0xaa, 0xab,
        ];
        let two = [
            0x44, 0x4c, 0x42, 0x47, 0x85, 0x8e, 0x94, 0x9f, 0x92, 0x9a, 0xaf, 0xb6, 0xb7, 0xbe,
            0xbf, 0x1e, 0x1f,
        ];
        let of_vectors = [
            0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f, 0x6e, 0x7e, 0xd6, 0xef, 0x57,
        ];
        let opcode = numbers.of(&one);
        if !is_vector && opcode & 0xfc >= 0xa4 && opcode < 0xac && numbers.next().is_multiple_of(2)
        {
            bytes.push(0xf3);
        }
        if numbers.next().is_multiple_of(2) {
            bytes.push(numbers.of(&[0x48, 0x48, 0x40, 0x41, 0x44, 0x4d, 0x42]));
        }
        match numbers.next() % 3 {
            _ if is_vector => bytes.extend([0x0f, numbers.of(&of_vectors)]),
            0 => bytes.extend([0x0f, numbers.of(&two)]),
            _ => bytes.push(opcode),
        }
        let rest = numbers.next().to_le_bytes();
        bytes.extend(rest);
        // Small distances, so that memory is there.
        if numbers.next().is_multiple_of(2) {
            let at = bytes.len() - 7;
            bytes[at..].copy_from_slice(&[rest[1] & 0x3f, 0, 0, 0, rest[5], 0, 0]);
        }
        bytes.resize(15, 0x90);
        bytes
    }

    #[test]
    fn instructions_do_here_what_they_do_on_the_processor() {
        let child = Child::start();
        let tracee = tracee::Tracee::seize(child.pid).unwrap();
        let mappings = memory::mappings(child.pid).unwrap();
        let mut machine = Machine::new(tracee, &mappings).unwrap();
        let usual = machine.registers;
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let (mut known, mut mnemonics) = (0, std::collections::BTreeSet::new());
        for _ in 0..25_000 {
            let bytes = instruction(&mut numbers);
            let Some(decoded) = Decoded::read(&bytes, child.code) else {
                continue;
            };
            // What a prefix for 16 bits means for a jump is not the same on all processors.
            if bytes[0] == 0x66 && decoded.decides {
                continue;
            }
            let mut registers = usual;
            let small = [
                0,
                1,
                2,
                5,
                31,
                63,
                0x7f,
                0x80,
                0xff,
                u64::MAX,
                1 << 31,
                1 << 63,
            ];
            let mut value = || match numbers.next() % 4 {
                0 => numbers.of(&small),
                1 => numbers.next(),
                _ => child.data + 2048 + numbers.next() % 64,
            };
            registers.rax = value();
            registers.rbx = value();
            registers.rcx = value();
            registers.rdx = value();
            registers.rsi = value();
            registers.rdi = value();
            registers.rbp = value();
            registers.r8 = value();
            registers.r9 = value();
            registers.r12 = value();
            registers.r13 = value();
            registers.r15 = value();
            registers.rsp = child.data + 4096 + numbers.next() % 32 * 8;
            registers.rip = child.code;
            registers.eflags = 0x202 | numbers.next() & STATUS_FLAGS;
            machine.tracee.write(child.code, &bytes).unwrap();
            machine.registers = registers;
            machine.registers_are_ahead = true;
            let mut vectors = machine.load_extended().unwrap().vectors;
            let trial = Some((&mut vectors, &mut Vec::new()));
            let mut expected = registers;
            if !machine.execute(&decoded, &mut expected, trial).unwrap() {
                continue;
            }
            let written: Option<Vec<_>> = influence::written(&decoded, &registers).collect();
            let Some(written) = written else { continue };
            machine.step(&decoded, &written).unwrap_or_else(|error| {
                panic!("{error}: {:?} {bytes:x?}", decoded.instruction.mnemonic())
            });
            assert_eq!(
                decoded.trust.get(),
                Trust::Ours,
                "{:?} {bytes:x?}\nbefore {registers:x?}\nhere {expected:x?}\nthere {:x?}",
                decoded.instruction.mnemonic(),
                machine.registers
            );
            known += 1;
            mnemonics.insert(format!("{:?}", decoded.instruction.mnemonic()));
        }
        assert!(known > 6_000, "{known}");
        assert!(mnemonics.len() > 70, "{} {mnemonics:?}", mnemonics.len());
    }
}
