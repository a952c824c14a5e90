//! Memory: objects with bounds, lifetimes, and initialisation by byte.
//!
//! An address names its object in its upper 32 bits: that is its provenance, which no arithmetic
//! within 4 GiB changes. The lower half is the offset, counted from the object's base, which is a
//! multiple of its alignment and differs between objects, so that programs that hash addresses
//! find them spread.

use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
};

use patchwright_ir::bytes;
use patchwright_semantics::Ty;

use crate::fault::{Run, Stop, Undefined, undefined};

/// A range of bytes that is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its first address: the object in the upper 32 bits, the offset in the lower ones.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// It is written.
    pub write: bool,
    /// Only these bits of it, a bit-field: the first one, counted from the lowest of the first byte, and how many.
    pub bits: Option<(u32, u32)>,
}

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Global,
    Constant,
    Stack,
    /// A local that is `const` and has its value.
    Settled,
    Heap,
    /// The function with this number in the program; no bytes.
    Function(u32),
    /// No longer alive.
    DeadStack,
    DeadHeap,
}

impl Kind {
    fn is_constant(self) -> bool {
        matches!(self, Kind::Constant | Kind::Settled)
    }
}

struct Object {
    bytes: Vec<u8>,
    /// One byte for each: which of its bits have a value. `None` when all have one.
    written: Option<Vec<u8>>,
    base: u32,
    kind: Kind,
    /// Bytes that it had when it was alive.
    size: u64,
}

/// All bits of a byte have values.
const WRITTEN: u8 = 0xff;

fn has_unwritten(written: &[u8]) -> bool {
    written.iter().any(|&bits| bits != WRITTEN)
}

fn little_endian(bytes: &[u8]) -> u128 {
    let mut raw = [0; 16];
    raw[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(raw)
}

#[cold]
fn to_constant<T>() -> Run<T> {
    undefined(
        Undefined::WriteToConstant,
        "a write to a constant object or string literal",
    )
}

/// Dead objects whose names are not used again: this many at least, so that uses of them are
/// noticed.
const QUARANTINE: usize = 1 << 16;

/// The program's memory: objects, each with its bytes and which of them are written.
pub(crate) struct Memory {
    objects: Vec<Object>,
    dead: VecDeque<u32>,
    /// Bytes that are alive.
    live: u64,
    /// The most that may be.
    limit: u64,
    /// Accesses are logged.
    logging: bool,
    accesses: RefCell<Vec<Access>>,
    /// Why the values that objects begin with are not known.
    refused: HashMap<u64, String>,
    /// Reads of bytes without a value give what the bytes hold, and the first one is noted.
    lenient: bool,
    lenient_read: RefCell<Option<String>>,
}

impl Memory {
    /// Makes a memory that holds at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Memory {
        // Object 0 is where null pointers point.
        let null = Object {
            bytes: Vec::new(),
            written: None,
            base: 0,
            kind: Kind::DeadHeap,
            size: 0,
        };
        Memory {
            objects: vec![null],
            dead: VecDeque::new(),
            live: 0,
            limit,
            logging: false,
            accesses: RefCell::default(),
            refused: HashMap::new(),
            lenient: false,
            lenient_read: RefCell::default(),
        }
    }

    /// A new object; its bytes have no value, unless `zeroed`.
    pub(crate) fn allocate(&mut self, size: u64, align: u64, kind: Kind, zeroed: bool) -> Run<u64> {
        if size > self.limit.saturating_sub(self.live) || size >= 1 << 31 {
            return Err(Stop::Memory("memory"));
        }
        self.live += size;
        let id = if self.dead.len() > QUARANTINE {
            self.dead.pop_front()
        } else {
            None
        };
        let id = id.unwrap_or(self.objects.len() as u32);
        let base = match align <= 16 {
            true => 0x1_0000 + ((id.wrapping_mul(0x30)) & 0xfff0),
            false => (align as u32).max(0x1_0000),
        };
        let object = Object {
            bytes: vec![0; size as usize],
            written: (!zeroed && size > 0).then(|| vec![0; size as usize]),
            base,
            kind,
            size,
        };
        match self.objects.get_mut(id as usize) {
            Some(slot) => *slot = object,
            None => self.objects.push(object),
        }
        Ok(u64::from(id) << 32 | u64::from(base))
    }

    /// The values that the object at an address begins with are not known: a read of them ends the execution.
    pub(crate) fn refuse(&mut self, address: u64, reason: String) {
        self.refused.insert(address >> 32, reason);
    }

    /// From now on, accesses are logged, or no longer.
    pub(crate) fn log(&mut self, on: bool) {
        self.logging = on;
    }

    /// The accesses since the last time.
    pub(crate) fn logged(&mut self) -> Vec<Access> {
        std::mem::take(self.accesses.get_mut())
    }

    #[cold]
    fn note(&self, address: u64, size: u64, write: bool) {
        self.accesses.borrow_mut().push(Access {
            address,
            size,
            write,
            bits: None,
        });
    }

    #[cold]
    fn note_bits(&self, address: u64, (offset, width): (u32, u32), write: bool) {
        self.accesses.borrow_mut().push(Access {
            address,
            size: u64::from((offset + width).div_ceil(8)),
            write,
            bits: Some((offset, width)),
        });
    }

    fn end(&mut self, id: usize, kind: Kind) {
        let object = &mut self.objects[id];
        self.live -= object.size;
        object.bytes = Vec::new();
        object.written = None;
        object.kind = kind;
        self.dead.push_back(id as u32);
    }

    /// Ends the life of a local.
    pub(crate) fn end_local(&mut self, address: u64) {
        let id = (address >> 32) as usize;
        let kind = self.objects.get(id).map(|object| object.kind);
        if matches!(kind, Some(Kind::Stack | Kind::Settled)) {
            self.end(id, Kind::DeadStack);
        }
    }

    /// Frees an allocation as `free` does.
    pub(crate) fn free(&mut self, address: u64) -> Run<()> {
        let id = (address >> 32) as usize;
        match self.objects.get(id) {
            Some(object) if object.kind == Kind::Heap => {
                if address as u32 != object.base {
                    return undefined(
                        Undefined::InvalidFree,
                        "free of a pointer into the middle of an allocation",
                    );
                }
                self.end(id, Kind::DeadHeap);
                Ok(())
            }
            Some(object) if object.kind == Kind::DeadHeap && id != 0 => undefined(
                Undefined::DoubleFree,
                format!("an allocation of {} is freed twice", bytes(object.size)),
            ),
            _ => undefined(
                Undefined::InvalidFree,
                "free of a pointer that no allocation returned",
            ),
        }
    }

    /// The size of the allocation that begins at an address.
    pub(crate) fn allocation(&self, address: u64) -> Option<u64> {
        let object = self.objects.get((address >> 32) as usize)?;
        (object.kind == Kind::Heap && object.base == address as u32).then_some(object.size)
    }

    /// The function at an address.
    pub(crate) fn function_at(&self, address: u64) -> Option<u32> {
        let object = self.objects.get((address >> 32) as usize)?;
        match object.kind {
            Kind::Function(index) if object.base == address as u32 => Some(index),
            _ => None,
        }
    }

    /// From now on the local is constant.
    pub(crate) fn settle(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut((address >> 32) as usize)
            && object.kind == Kind::Stack
        {
            object.kind = Kind::Settled;
        }
    }

    /// From now on the object is constant.
    pub(crate) fn freeze(&mut self, address: u64) {
        self.objects[(address >> 32) as usize].kind = Kind::Constant;
    }

    /// Bytes from an address to the end of its object; `None` when there is no such object.
    pub(crate) fn room(&self, address: u64) -> Option<u64> {
        let object = self.objects.get((address >> 32) as usize)?;
        let offset = u64::from((address as u32).wrapping_sub(object.base));
        (object.bytes.len() as u64).checked_sub(offset)
    }

    /// Returns the offset of an address in its object and the size of the object; `None` when there is no such object.
    pub(crate) fn within(&self, address: u64) -> Option<(u64, u64)> {
        let object = self.objects.get((address >> 32) as usize)?;
        let offset = i64::from((address as u32).wrapping_sub(object.base) as i32);
        (address >> 32 != 0).then_some((offset as u64, object.size))
    }

    #[cold]
    fn fault<T>(&self, address: u64, size: u64, what: &str) -> Run<T> {
        if let Some(reason) = self.refused.get(&(address >> 32)) {
            return Err(Stop::Unsupported(reason.clone()));
        }
        let Some(object) = self.objects.get((address >> 32) as usize) else {
            return undefined(
                Undefined::WildPointer,
                format!(
                    "{what} of {} through {address:#x}, which points to no object",
                    bytes(size)
                ),
            );
        };
        if address >> 32 == 0 {
            let place = match address {
                0 => "a null pointer".to_owned(),
                _ => format!("{address:#x}, which points to no object"),
            };
            let kind = match address < 4096 {
                true => Undefined::NullPointer,
                false => Undefined::WildPointer,
            };
            return undefined(kind, format!("{what} of {} through {place}", bytes(size)));
        }
        let offset = (address as u32).wrapping_sub(object.base) as i32;
        let (kind, whose) = match object.kind {
            Kind::DeadHeap => (Undefined::UseAfterFree, "a freed allocation"),
            Kind::DeadStack => (Undefined::UseAfterScope, "a local that is no longer alive"),
            Kind::Function(_) => (Undefined::WildPointer, "a function"),
            Kind::Heap => (Undefined::OutOfBounds, "an allocation"),
            Kind::Stack | Kind::Settled => (Undefined::OutOfBounds, "a local object"),
            Kind::Global | Kind::Constant => (Undefined::OutOfBounds, "a global object"),
        };
        undefined(
            kind,
            format!(
                "{what} of {} at offset {offset} of {whose} of {}",
                bytes(size),
                bytes(object.size)
            ),
        )
    }

    #[inline(always)]
    fn find(&self, address: u64, size: u64) -> Option<(usize, usize)> {
        let id = (address >> 32) as usize;
        let object = self.objects.get(id)?;
        let offset = (address as u32).wrapping_sub(object.base) as usize;
        let end = offset.checked_add(size as usize)?;
        (end <= object.bytes.len()).then_some((id, offset))
    }

    /// The bytes of a range whose values are all known.
    #[inline(always)]
    pub(crate) fn read(&self, address: u64, size: u64) -> Run<&[u8]> {
        let Some((id, offset)) = self.find(address, size) else {
            return self.fault(address, size, "a read");
        };
        let object = &self.objects[id];
        let range = offset..offset + size as usize;
        if let Some(written) = &object.written
            && has_unwritten(&written[range.clone()])
        {
            self.lenient_or(address, size)?;
        }
        if self.logging {
            self.note(address, size, false);
        }
        Ok(&object.bytes[range])
    }

    /// What a read of bytes without a value means.
    #[cold]
    fn lenient_or(&self, address: u64, size: u64) -> Run<()> {
        match (self.uninitialized(address, size), self.lenient) {
            (Stop::Undefined(_, message), true) => {
                self.lenient_read.borrow_mut().get_or_insert(message);
                Ok(())
            }
            (stop, _) => Err(stop),
        }
    }

    /// Sets whether reads of bytes without a value give what the bytes hold, instead of being undefined. Returns the former setting.
    pub(crate) fn set_lenient(&mut self, lenient: bool) -> bool {
        std::mem::replace(&mut self.lenient, lenient)
    }

    /// Takes the message about the first read without a value since the last call.
    pub(crate) fn take_lenient_read(&mut self) -> Option<String> {
        self.lenient_read.get_mut().take()
    }

    /// Returns the bytes of a range that leaves the program, such as a record with padding. Unwritten bytes are zeros, unless all are
    /// unwritten.
    pub(crate) fn image(&self, address: u64, size: u64) -> Run<&[u8]> {
        let Some((id, offset)) = self.find(address, size) else {
            return self.fault(address, size, "a read");
        };
        let object = &self.objects[id];
        let range = offset..offset + size as usize;
        match &object.written {
            Some(written) if written[range.clone()].iter().any(|&bits| bits != 0) => {
                if self.logging {
                    self.note(address, size, false);
                }
                Ok(&object.bytes[range])
            }
            _ => self.read(address, size),
        }
    }

    fn uninitialized(&self, address: u64, size: u64) -> Stop {
        if let Some(reason) = self.refused.get(&(address >> 32)) {
            return Stop::Unsupported(reason.clone());
        }
        let object = &self.objects[(address >> 32) as usize];
        let offset = (address as u32).wrapping_sub(object.base);
        let whose = match object.kind {
            Kind::Heap => "an allocation",
            _ => "a local object",
        };
        Stop::Undefined(
            Undefined::UninitializedRead,
            format!(
                "a read of {} at offset {offset} of {whose} of {}, without a value",
                bytes(size),
                bytes(object.size)
            ),
        )
    }

    /// The bytes of a range, to be written all.
    #[inline(always)]
    pub(crate) fn write(&mut self, address: u64, size: u64) -> Run<&mut [u8]> {
        let Some((id, offset)) = self.find(address, size) else {
            return self.fault(address, size, "a write");
        };
        if self.logging {
            self.note(address, size, true);
        }
        let object = &mut self.objects[id];
        if object.kind.is_constant() {
            return to_constant();
        }
        let range = offset..offset + size as usize;
        if let Some(written) = &mut object.written {
            written[range.clone()].fill(WRITTEN);
            if offset == 0 && range.end == object.bytes.len() {
                object.written = None;
            }
        }
        Ok(&mut object.bytes[range])
    }

    /// Reads a number of type `ty`, sign- or zero-extended.
    #[inline(always)]
    pub(crate) fn load(&self, ty: Ty, address: u64) -> Run<u64> {
        let size = ty.size();
        let bytes = self.read(address, size as u64)?;
        let raw = match bytes {
            [a] => u64::from(*a),
            [a, b] => u64::from(u16::from_le_bytes([*a, *b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            _ => {
                let mut raw = [0; 8];
                raw[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(raw)
            }
        };
        Ok(ty.canonical(raw))
    }

    /// Writes the low bytes of `value` as a number of type `ty`.
    #[inline(always)]
    pub(crate) fn store(&mut self, ty: Ty, address: u64, value: u64) -> Run<()> {
        let size = ty.size();
        let bytes = self.write(address, size as u64)?;
        let raw = value.to_le_bytes();
        match bytes {
            [a] => *a = raw[0],
            [a, b, c, d] => {
                [*a, *b, *c, *d] = [raw[0], raw[1], raw[2], raw[3]];
            }
            _ => bytes.copy_from_slice(&raw[..size]),
        }
        Ok(())
    }

    /// Returns the bytes of an allocation, and which of their bits have a value; `None` for memory that no allocation gave.
    pub(crate) fn with_written(&self, address: u64, size: usize) -> Option<(u64, u64)> {
        let (id, at) = self.find(address, size as u64)?;
        let object = &self.objects[id];
        let written = object
            .written
            .as_ref()
            .filter(|_| object.kind == Kind::Heap)?;
        if self.logging {
            self.note(address, size as u64, false);
        }
        let raw = little_endian(&object.bytes[at..at + size]) as u64;
        Some((raw, little_endian(&written[at..at + size]) as u64))
    }

    /// Marks which bits of a number that was just stored have a value.
    pub(crate) fn mark(&mut self, address: u64, size: usize, bits: u64) {
        let Some((id, at)) = self.find(address, size as u64) else {
            return;
        };
        let object = &mut self.objects[id];
        let length = object.bytes.len();
        let written = object.written.get_or_insert_with(|| vec![WRITTEN; length]);
        written[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// Reads a number of `size` bytes, at most 16.
    pub(crate) fn load_wide(&self, size: u64, address: u64) -> Run<u128> {
        let bytes = self.read(address, size)?;
        let mut raw = [0; 16];
        raw[..bytes.len()].copy_from_slice(bytes);
        Ok(u128::from_le_bytes(raw))
    }

    /// Writes a number of `size` bytes, at most 16.
    pub(crate) fn store_wide(&mut self, size: u64, address: u64, value: u128) -> Run<()> {
        let raw = value.to_le_bytes();
        self.write(address, size)?
            .copy_from_slice(&raw[..size as usize]);
        Ok(())
    }

    /// Reads bits of a bit-field.
    pub(crate) fn load_bits(&self, address: u64, offset: u32, width: u32) -> Run<u64> {
        let count = u64::from((offset + width).div_ceil(8));
        let Some((id, at)) = self.find(address, count) else {
            return self.fault(address, count, "a read");
        };
        let object = &self.objects[id];
        let range = at..at + count as usize;
        let mask = (1u128 << width) - 1;
        if let Some(written) = &object.written
            && little_endian(&written[range.clone()]) >> offset & mask != mask
        {
            self.lenient_or(address, count)?;
        }
        if self.logging {
            self.note_bits(address, (offset, width), false);
        }
        Ok((little_endian(&object.bytes[range]) >> offset & mask) as u64)
    }

    /// Writes bits; those around them keep their values, or have none as before.
    pub(crate) fn store_bits(
        &mut self,
        address: u64,
        offset: u32,
        width: u32,
        value: u64,
    ) -> Run<()> {
        let count = u64::from((offset + width).div_ceil(8));
        let mask = ((1u128 << width) - 1) << offset;
        let Some((id, at)) = self.find(address, count) else {
            return self.fault(address, count, "a write");
        };
        if self.logging {
            self.note_bits(address, (offset, width), true);
        }
        let object = &mut self.objects[id];
        if object.kind.is_constant() {
            return to_constant();
        }
        let range = at..at + count as usize;
        let bytes = &mut object.bytes[range.clone()];
        let new = little_endian(bytes) & !mask | (u128::from(value) << offset) & mask;
        bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
        if let Some(written) = &mut object.written {
            let written = &mut written[range];
            let all = little_endian(written) | mask;
            written.copy_from_slice(&all.to_le_bytes()[..written.len()]);
        }
        Ok(())
    }

    /// Copies bytes with what is known of their values; the ranges may overlap.
    pub(crate) fn copy(&mut self, to: u64, from: u64, size: u64) -> Run<()> {
        if size == 0 {
            return Ok(());
        }
        let Some((source, start)) = self.find(from, size) else {
            return self.fault(from, size, "a read");
        };
        let Some((target, at)) = self.find(to, size) else {
            return self.fault(to, size, "a write");
        };
        if self.objects[target].kind.is_constant() {
            return to_constant();
        }
        if self.logging {
            self.note(from, size, false);
            self.note(to, size, true);
        }
        let size = size as usize;
        if source == target {
            let object = &mut self.objects[source];
            object.bytes.copy_within(start..start + size, at);
            if let Some(written) = &mut object.written {
                written.copy_within(start..start + size, at);
            }
            return Ok(());
        }
        let [source, target] = self
            .objects
            .get_disjoint_mut([source, target])
            .unwrap_or_else(|_| unreachable!("the objects differ and exist"));
        target.bytes[at..at + size].copy_from_slice(&source.bytes[start..start + size]);
        match (&source.written, &mut target.written) {
            (None, None) => {}
            (Some(from), Some(to)) => {
                to[at..at + size].copy_from_slice(&from[start..start + size]);
            }
            (None, Some(to)) => {
                to[at..at + size].fill(WRITTEN);
                if size == to.len() {
                    target.written = None;
                }
            }
            (Some(from), None) => {
                if has_unwritten(&from[start..start + size]) {
                    let mut written = vec![WRITTEN; target.bytes.len()];
                    written[at..at + size].copy_from_slice(&from[start..start + size]);
                    target.written = Some(written);
                }
            }
        }
        Ok(())
    }

    /// A string that ends with a zero byte, without it.
    pub(crate) fn string(&self, address: u64) -> Run<&[u8]> {
        let Some((id, offset)) = self.find(address, 1) else {
            return self.fault(address, 1, "a read");
        };
        let object = &self.objects[id];
        let bytes = &object.bytes[offset..];
        let written = object.written.as_ref().map(|written| &written[offset..]);
        for (index, byte) in bytes.iter().enumerate() {
            if written.is_some_and(|written| written[index] != WRITTEN) {
                self.lenient_or(address + index as u64, 1)?;
            }
            if *byte == 0 {
                if self.logging {
                    self.note(address, index as u64 + 1, false);
                }
                return Ok(&bytes[..index]);
            }
        }
        self.fault(address + bytes.len() as u64, 1, "a read")
    }
}
