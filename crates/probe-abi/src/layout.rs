//! The sections of the channel, and typed access to them.

use crate::window::{MAX_LOCATIONS, MAX_WATCHED_SLOTS, OPEN_WINDOWS, OPEN_WORDS};
use crate::{INSTRUCTION_WORDS, MAX_SURVEY_CODE, SlotDescriptor};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The first word of a channel.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PWchannl");

/// The version of the layout. Host and probe of different versions ignore each other.
pub const LAYOUT_VERSION: u32 = 4;

/// The number of words of a record before its undefined bits: commit, hash, value, flags.
pub const RECORD_FIXED_WORDS: usize = 4;

/// The flag of a record that the candidate's value is undefined in its state.
pub const FLAG_VALUE_UNDEFINED: u64 = 1;

/// Sections begin at multiples of this.
const ALIGNMENT: u64 = 4096;

/// What woven processes do in a run: report visited holes, run a candidate, watch a variable, or survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Run the original code and report nothing.
    Off = 0,
    /// Run the original code and mark the holes that are visited.
    Coverage = 1,
    /// Run the candidate at the active hole and log its states.
    Candidate = 2,
    /// Watch a variable of the active function: log the windows between its touches, and assign the candidate to it at
    /// the active hole, if there is one.
    Watch = 3,
    /// Run the original code and log the states at many holes at once. The host says what the original's value is at each, as it
    /// says what a candidate's is.
    Survey = 4,
}

impl Mode {
    /// Returns the mode with this number, or `None`.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Mode::Off),
            1 => Some(Mode::Coverage),
            2 => Some(Mode::Candidate),
            3 => Some(Mode::Watch),
            4 => Some(Mode::Survey),
            _ => None,
        }
    }
}

/// Start of the channel. The first part is written by the host between runs, the second by the processes of a run.
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// [`LAYOUT_VERSION`].
    pub version: AtomicU32,
    /// A [`Mode`].
    pub mode: AtomicU32,
    /// Number of this run, never 0.
    pub generation: AtomicU32,
    /// Id of the active hole.
    pub hole: AtomicU32,
    /// Id of the function that has the active hole.
    pub function: AtomicU32,
    /// Holes have ids below this.
    pub hole_count: AtomicU32,
    /// Slots of the active hole.
    pub slot_count: AtomicU32,
    /// Instructions of the candidate.
    pub code_length: AtomicU32,
    /// Records that may be used; a run with more states overflows.
    pub record_capacity: AtomicU32,
    /// Number of entries of the table of states: a power of two.
    pub table_length: AtomicU32,
    /// Length of the log in bytes.
    pub log_bytes: AtomicU64,
    /// In [`Mode::Watch`], the bit of the watched variable, and [`CALLS_TOUCH`](crate::window::CALLS_TOUCH).
    pub watch: AtomicU64,
    /// In [`Mode::Watch`] and [`Mode::Survey`], the number of places.
    pub location_count: AtomicU64,
    /// A process ends itself at a visit beyond so many of the run.
    pub most_visits: AtomicU64,
    /// 1 when a process ends itself where a state cannot be logged for want of room.
    pub ends_when_full: AtomicU64,
    /// Keeps what the processes write off the cache line of what they read.
    reserved: [AtomicU64; 3],

    /// Visits of the active hole.
    pub visits: AtomicU64,
    /// Records reserved; may exceed the capacity.
    pub records: AtomicU32,
    /// Programs and shared libraries of processes that found this channel.
    pub attached: AtomicU32,
    /// 1 when a state was not logged for want of room.
    pub overflow: AtomicU32,
    /// 1 when the candidate's value was undefined in some state; that process has ended itself.
    pub undefined: AtomicU32,
    /// 1 when a visit handed over another number of entries than the host described slots; that process has ended
    /// itself.
    pub mismatch: AtomicU32,
    /// Those of `attached` that found it by the run's folder.
    pub found_by_path: AtomicU32,
    /// 1 when a process has ended itself because of [`most_visits`](Self::most_visits) or
    /// [`ends_when_full`](Self::ends_when_full).
    pub ended: AtomicU32,
    /// 1 when the watched function was entered while one of its windows was open: calls must count as touches.
    pub reentered: AtomicU32,
}

/// The sizes of a channel's sections, from which all offsets follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Holes have ids below this.
    pub hole_count: u32,
    /// Entries of the table of states: a power of two.
    pub table_length: u32,
    /// Bytes of the log.
    pub log_bytes: u64,
}

/// Why sizes do not make a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The table's length is no power of two.
    TableLength,
    /// The channel would exceed the address space.
    TooLarge,
}

impl Layout {
    const SLOTS: u64 = align(size_of::<Header>() as u64);
    const CODE: u64 = align(Self::SLOTS + (MAX_WATCHED_SLOTS * SlotDescriptor::WORDS * 8) as u64);
    /// The offset of the numbers of the locations that a survey looks at.
    pub(crate) const LOCATIONS: u64 =
        align(Self::CODE + (MAX_SURVEY_CODE * INSTRUCTION_WORDS * 8) as u64);
    /// The offset of the windows that are open.
    pub(crate) const OPEN: u64 = align(Self::LOCATIONS + (MAX_LOCATIONS * 8) as u64);
    const COVERAGE: u64 = align(Self::OPEN + (OPEN_WINDOWS * OPEN_WORDS * 8) as u64);

    fn table(&self) -> u64 {
        align(Self::COVERAGE + u64::from(self.hole_count))
    }

    /// The offset of the log of records.
    pub(crate) fn log(&self) -> u64 {
        align(self.table() + u64::from(self.table_length) * 8)
    }

    /// Returns the number of bytes of the whole channel.
    ///
    /// # Errors
    /// A table whose length is no power of two, and sizes beyond the address space.
    pub fn size(&self) -> Result<u64, LayoutError> {
        if !self.table_length.is_power_of_two() {
            return Err(LayoutError::TableLength);
        }
        if self.log_bytes > 1 << 46 {
            return Err(LayoutError::TooLarge);
        }
        Ok(align(self.log() + self.log_bytes))
    }

    /// Returns the number of words of a record with `slot_count` slots.
    pub fn record_words(slot_count: usize) -> usize {
        RECORD_FIXED_WORDS + slot_count.div_ceil(64) + slot_count
    }
}

/// The next multiple of the alignment of sections.
pub(crate) const fn align(offset: u64) -> u64 {
    offset.div_ceil(ALIGNMENT) * ALIGNMENT
}

/// An entry of the table of states, which leads from a hash to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Run that wrote the entry; an entry of another run is empty.
    pub generation: u32,
    /// Number of the record.
    pub record: u32,
}

impl TableEntry {
    /// Returns the word that stands in the table.
    pub fn encode(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.record)
    }

    /// Reads a word of the table.
    pub fn decode(word: u64) -> Self {
        Self {
            generation: (word >> 32) as u32,
            record: word as u32,
        }
    }
}

/// A channel that is mapped into this process, with typed access to its sections.
#[derive(Clone, Copy)]
pub struct Channel<'a> {
    base: *mut u8,
    layout: Layout,
    memory: PhantomData<&'a Header>,
}

// SAFETY: every access goes through atomics.
unsafe impl Send for Channel<'_> {}
// SAFETY: as above.
unsafe impl Sync for Channel<'_> {}

impl<'a> Channel<'a> {
    /// A channel of the host's own making in `length` bytes at `base`, whose header is still to be written. `None` when
    /// they are too few or not aligned to 8 bytes.
    ///
    /// # Safety
    /// The memory must be readable and writable for `'a`, and only be used through channels.
    pub unsafe fn new(base: *mut u8, length: usize, layout: Layout) -> Option<Self> {
        let good = base.cast::<Header>().is_aligned() && layout.size().ok()? <= length as u64;
        good.then_some(Self {
            base,
            layout,
            memory: PhantomData,
        })
    }

    /// Writes the header, by which processes recognize the channel and its sizes.
    pub fn write_header(&self) {
        let Layout {
            hole_count,
            table_length,
            log_bytes,
        } = self.layout;
        let header = self.header();
        header.hole_count.store(hole_count, Ordering::Relaxed);
        header.table_length.store(table_length, Ordering::Relaxed);
        header.log_bytes.store(log_bytes, Ordering::Relaxed);
        header.version.store(LAYOUT_VERSION, Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
    }

    /// The channel in `length` bytes at `base`, or `None` when there is none of this version.
    ///
    /// # Safety
    /// As for [`Channel::new`].
    pub unsafe fn open(base: *mut u8, length: usize) -> Option<Self> {
        if !base.cast::<Header>().is_aligned() || length < size_of::<Header>() {
            return None;
        }
        // SAFETY: the memory is long enough, aligned and only used through atomics.
        let header = unsafe { &*base.cast::<Header>() };
        let good = header.magic.load(Ordering::Acquire) == MAGIC
            && header.version.load(Ordering::Relaxed) == LAYOUT_VERSION;
        let layout = Layout {
            hole_count: header.hole_count.load(Ordering::Relaxed),
            table_length: header.table_length.load(Ordering::Relaxed),
            log_bytes: header.log_bytes.load(Ordering::Relaxed),
        };
        (good && layout.size().ok()? <= length as u64).then_some(Self {
            base,
            layout,
            memory: PhantomData,
        })
    }

    /// Returns the sizes of the channel's sections.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the header, which both sides read and write.
    pub fn header(&self) -> &'a Header {
        // SAFETY: `new` and `open` checked length and alignment.
        unsafe { &*self.base.cast::<Header>() }
    }

    /// Returns the words of the slot descriptors, [`SlotDescriptor::WORDS`] for each.
    pub fn slots(&self) -> &'a [AtomicU64] {
        self.words(Layout::SLOTS, MAX_WATCHED_SLOTS * SlotDescriptor::WORDS)
    }

    /// Returns the words of the candidate's code, [`INSTRUCTION_WORDS`] for each instruction.
    pub fn code(&self) -> &'a [AtomicU64] {
        self.words(Layout::CODE, MAX_SURVEY_CODE * INSTRUCTION_WORDS)
    }

    /// Returns one byte for each hole: 1 if it was visited, [`CUT_SHORT`](crate::window::CUT_SHORT)
    /// if a survey has not logged all of its states.
    pub fn coverage(&self) -> &'a [AtomicU8] {
        let start = self.base.wrapping_add(Layout::COVERAGE as usize);
        // SAFETY: the section lies inside the channel, and is only used through atomics.
        unsafe {
            core::slice::from_raw_parts(start.cast::<AtomicU8>(), self.layout.hole_count as usize)
        }
    }

    /// Returns the table of states. It uses open addressing, and each word is a [`TableEntry`].
    pub fn table(&self) -> &'a [AtomicU64] {
        self.words(self.layout.table(), self.layout.table_length as usize)
    }

    /// Returns the record `number` of a log whose records have `slot_count` slots, or `None` behind
    /// the end of the log.
    pub fn record(&self, number: u32, slot_count: usize) -> Option<Record<'a>> {
        let words = Layout::record_words(slot_count);
        let start = (number as u64).checked_mul(words as u64 * 8)?;
        if start + words as u64 * 8 > self.layout.log_bytes {
            return None;
        }
        Some(Record {
            words: self.words(self.layout.log() + start, words),
            slot_count,
        })
    }

    /// Returns the number of records with `slot_count` slots for which the log has room.
    pub fn record_room(&self, slot_count: usize) -> u32 {
        let words = Layout::record_words(slot_count) as u64;
        u32::try_from(self.layout.log_bytes / (words * 8)).unwrap_or(u32::MAX)
    }

    /// Returns `count` words of the channel from an offset on.
    pub(crate) fn words(&self, offset: u64, count: usize) -> &'a [AtomicU64] {
        let start = self.base.wrapping_add(offset as usize);
        // SAFETY: callers pass sections inside the channel at offsets that are multiples of 8.
        unsafe { core::slice::from_raw_parts(start.cast::<AtomicU64>(), count) }
    }
}

/// The record of a distinct state, with the value of the candidate in it.
///
/// Words: commit, hash, value, flags, one bit for each undefined slot, the slots' values (0 when undefined).
#[derive(Clone, Copy)]
pub struct Record<'a> {
    words: &'a [AtomicU64],
    slot_count: usize,
}

impl<'a> Record<'a> {
    /// Whether a process of this run has written the record completely.
    pub fn is_published(&self, generation: u32) -> bool {
        self.words[0].load(Ordering::Acquire) == Self::commit(generation)
    }

    /// Makes a filled record visible to others.
    pub fn publish(&self, generation: u32) {
        self.words[0].store(Self::commit(generation), Ordering::Release);
    }

    /// Returns the word that marks a published record of this generation.
    pub fn commit(generation: u32) -> u64 {
        u64::from(generation) << 32 | 1
    }

    /// Returns the hash of the state.
    pub fn hash(&self) -> &'a AtomicU64 {
        &self.words[1]
    }

    /// Returns the candidate's value in canonical form.
    pub fn value(&self) -> &'a AtomicU64 {
        &self.words[2]
    }

    /// Returns the flags: [`FLAG_VALUE_UNDEFINED`] or 0.
    pub fn flags(&self) -> &'a AtomicU64 {
        &self.words[3]
    }

    /// Returns one bit for each slot: 1 if it is undefined. The first slot is the lowest bit of the
    /// first word.
    pub fn undefined(&self) -> &'a [AtomicU64] {
        &self.words[RECORD_FIXED_WORDS..RECORD_FIXED_WORDS + self.slot_count.div_ceil(64)]
    }

    /// Returns the values of the slots.
    pub fn slots(&self) -> &'a [AtomicU64] {
        &self.words[RECORD_FIXED_WORDS + self.slot_count.div_ceil(64)..]
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const LAYOUT: Layout = Layout {
        hole_count: 5000,
        table_length: 8,
        log_bytes: 1000,
    };

    #[test]
    fn what_one_side_creates_the_other_opens() {
        let mut memory: Vec<u64> = vec![0; LAYOUT.size().unwrap() as usize / 8];
        let (base, length) = (memory.as_mut_ptr().cast::<u8>(), memory.len() * 8);
        // SAFETY: the memory outlives both channels and is only used through them.
        let host = unsafe { Channel::new(base, length, LAYOUT) }.unwrap();
        host.write_header();
        // SAFETY: as above.
        let probe = unsafe { Channel::open(base, length) }.unwrap();
        assert_eq!(probe.layout(), LAYOUT);
        assert_eq!(probe.coverage().len(), 5000);
        assert_eq!(probe.table().len(), 8);
        probe.coverage()[4999].store(1, Ordering::Relaxed);
        assert_eq!(host.coverage()[4999].load(Ordering::Relaxed), 1);

        let record = probe.record(0, 70).unwrap();
        assert_eq!(record.undefined().len(), 2);
        assert_eq!(record.slots().len(), 70);
        record.slots()[69].store(7, Ordering::Relaxed);
        record.publish(3);
        let seen = host.record(0, 70).unwrap();
        assert!(host.record(1, 70).is_none());
        assert!(seen.is_published(3) && !seen.is_published(4));
        assert_eq!(seen.slots()[69].load(Ordering::Relaxed), 7);
        assert_eq!(seen.hash().load(Ordering::Relaxed), 0);
        // 76 words of 8 bytes: the second record would end at byte 1216.
        assert!(host.record_room(70) == 1 && host.record_room(1) == 20);
    }

    #[test]
    fn memory_that_is_no_channel_or_too_short_is_refused() {
        let mut memory: Vec<u64> = vec![0; LAYOUT.size().unwrap() as usize / 8];
        let (base, length) = (memory.as_mut_ptr().cast::<u8>(), memory.len() * 8);
        // SAFETY: the memory outlives the channels and is only used through them.
        unsafe {
            assert!(Channel::open(base, length).is_none());
            assert!(Channel::new(base, length - 8, LAYOUT).is_none());
            Channel::new(base, length, LAYOUT).unwrap().write_header();
            assert!(Channel::open(base, length).is_some());
            assert!(Channel::open(base, length - 8).is_none());
            assert!(Channel::open(base, 16).is_none());
        }
    }

    #[test]
    fn a_table_entry_survives_encoding() {
        let entry = TableEntry {
            generation: u32::MAX,
            record: 12,
        };
        assert_eq!(TableEntry::decode(entry.encode()), entry);
    }
}
