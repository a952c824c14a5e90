//! What this process knows about its run. It is written once, when the first translation unit attaches.

use crate::system;
use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use patchwright_probe_abi::{
    Channel, INSTRUCTION_WORDS, MAX_CODE, MAX_SLOTS, MAX_SURVEY_CODE, Mode, PoisonedFunction,
    SlotDescriptor,
    window::{MAX_LOCATIONS, MAX_WATCHED_SLOTS, PlaceWord},
};
use patchwright_semantics::Instruction;

/// The description of the run, copied from the channel. So a process that outlives its run goes on as it
/// began.
pub struct Process {
    pub channel: Option<Channel<'static>>,
    pub mode: Mode,
    pub generation: u32,
    pub hole: u32,
    pub function: u32,
    /// Greatest depth of a slot.
    pub depth: u8,
    /// Records that may be used.
    pub record_capacity: u32,
    /// The process ends itself at a visit beyond so many.
    pub most_visits: u64,
    /// It ends itself where a state cannot be logged for want of room.
    pub ends_when_full: bool,
    /// In watch mode, the bit of the watched variable.
    pub watch: u64,
    slot_count: usize,
    code_length: usize,
    location_count: usize,
    /// Watched or surveyed places in ascending order of their ids.
    locations: [Location; MAX_LOCATIONS],
    slots: [SlotDescriptor; MAX_WATCHED_SLOTS],
    code: [Instruction; MAX_SURVEY_CODE],
}

/// A watched or surveyed place.
#[derive(Clone, Copy)]
struct Location {
    hole: u32,
    first_slot: u32,
    slots: u32,
    first_instruction: u32,
    instructions: u32,
}

impl Location {
    const NONE: Location = Location {
        hole: 0,
        first_slot: 0,
        slots: 0,
        first_instruction: 0,
        instructions: 0,
    };
}

impl Process {
    /// Returns the slots of the active hole.
    pub fn slots(&self) -> &[SlotDescriptor] {
        self.slots.get(..self.slot_count).unwrap_or(&[])
    }

    /// Returns the index and the slots of the watched or surveyed place `hole`.
    pub fn location(&self, hole: u32) -> Option<(u32, &[SlotDescriptor])> {
        let places = self.locations.get(..self.location_count)?;
        let index = places
            .binary_search_by_key(&hole, |place| place.hole)
            .ok()?;
        let place = places.get(index)?;
        let first = place.first_slot as usize;
        let slots = self.slots.get(first..first + place.slots as usize)?;
        Some((index as u32, slots))
    }

    /// Returns the code that computes the original's value at a surveyed place.
    pub fn original(&self, location: u32) -> &[Instruction] {
        let Some(place) = self.locations.get(location as usize) else {
            return &[];
        };
        let first = place.first_instruction as usize;
        let range = first..first + place.instructions as usize;
        self.code.get(range).unwrap_or(&[])
    }

    /// Returns the code of the candidate.
    pub fn code(&self) -> &[Instruction] {
        self.code.get(..self.code_length).unwrap_or(&[])
    }

    /// Reads the run from the channel; `None` when it makes no sense.
    fn read(&mut self, channel: Channel<'static>) -> Option<()> {
        let header = channel.header();
        self.mode = Mode::from_number(header.mode.load(Ordering::Acquire))?;
        self.generation = header.generation.load(Ordering::Relaxed);
        self.hole = header.hole.load(Ordering::Relaxed);
        self.function = header.function.load(Ordering::Relaxed);
        if matches!(self.mode, Mode::Candidate | Mode::Watch | Mode::Survey) {
            self.slot_count = header.slot_count.load(Ordering::Relaxed) as usize;
            self.code_length = header.code_length.load(Ordering::Relaxed) as usize;
            self.watch = header.watch.load(Ordering::Relaxed);
            let (most_slots, most_code) = match self.mode {
                Mode::Survey => (MAX_WATCHED_SLOTS, MAX_SURVEY_CODE),
                Mode::Watch => (MAX_WATCHED_SLOTS, MAX_CODE),
                _ => (MAX_SLOTS, MAX_CODE),
            };
            if self.slot_count > most_slots || self.code_length > most_code {
                return None;
            }
            if self.mode != Mode::Candidate {
                self.read_locations(channel)?;
            }
            self.record_capacity = channel
                .record_room(self.slot_count)
                .min(header.record_capacity.load(Ordering::Relaxed));
            self.most_visits = header.most_visits.load(Ordering::Relaxed);
            self.ends_when_full = header.ends_when_full.load(Ordering::Relaxed) != 0;
            let words = channel.slots().chunks_exact(SlotDescriptor::WORDS);
            for (slot, words) in self.slots.iter_mut().take(self.slot_count).zip(words) {
                *slot = SlotDescriptor::decode(core::array::from_fn(|i| {
                    words.get(i).map_or(0, |word| word.load(Ordering::Relaxed))
                }))?;
                self.depth = self.depth.max(slot.depth);
            }
            let words = channel.code().chunks_exact(INSTRUCTION_WORDS);
            for (instruction, words) in self.code.iter_mut().take(self.code_length).zip(words) {
                let word = |i: usize| words.get(i).map_or(0, |word| word.load(Ordering::Relaxed));
                let [opcode, op, ty, other_ty, ..] = word(0).to_le_bytes();
                *instruction = Instruction {
                    opcode,
                    op,
                    ty,
                    other_ty,
                    reserved: 0,
                    immediate: word(1),
                };
            }
        }
        self.channel = Some(channel);
        Some(())
    }

    fn read_locations(&mut self, channel: Channel<'static>) -> Option<()> {
        let count = channel.header().location_count.load(Ordering::Relaxed) as usize;
        let (mut first_slot, mut first_instruction) = (0u32, 0u32);
        let words = channel.locations().get(..count)?;
        for (place, word) in self.locations.iter_mut().zip(words) {
            let word = PlaceWord::decode(word.load(Ordering::Relaxed));
            *place = Location {
                hole: word.hole,
                first_slot,
                slots: u32::from(word.slots),
                first_instruction,
                instructions: u32::from(word.code),
            };
            first_slot = first_slot.checked_add(place.slots)?;
            first_instruction = first_instruction.checked_add(place.instructions)?;
        }
        self.location_count = count;
        let fits = first_slot as usize <= self.slot_count
            && first_instruction as usize <= self.code_length;
        fits.then_some(())
    }
}

/// The error that there is a run to which this process cannot report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

const UNATTACHED: u32 = 0;
const ATTACHING: u32 = 1;
const ATTACHED: u32 = 2;
const ABSENT: u32 = 3;
const LOST: u32 = 4;

static STATUS: AtomicU32 = AtomicU32::new(UNATTACHED);
static PROCESS: Once = Once(UnsafeCell::new(Process {
    channel: None,
    mode: Mode::Off,
    generation: 0,
    hole: 0,
    function: 0,
    depth: 0,
    record_capacity: 0,
    most_visits: u64::MAX,
    ends_when_full: false,
    watch: 0,
    slot_count: 0,
    code_length: 0,
    location_count: 0,
    locations: [Location::NONE; MAX_LOCATIONS],
    slots: [SlotDescriptor::VALUE; MAX_WATCHED_SLOTS],
    code: [Instruction {
        opcode: 0,
        op: 0,
        ty: 0,
        other_ty: 0,
        reserved: 0,
        immediate: 0,
    }; MAX_SURVEY_CODE],
}));

/// Written by the one thread that took `STATUS` from `UNATTACHED` to `ATTACHING`, read after `ATTACHED`.
struct Once(UnsafeCell<Process>);

// SAFETY: see the type.
unsafe impl Sync for Once {}

/// Returns the run. The first call in a program or library attaches to it. It is `None` if there is no
/// run.
///
/// # Safety
/// `channel` must be null or a string that ends with a zero byte.
pub unsafe fn attach(
    channel: *const c_char,
    found_by_path: bool,
) -> Result<Option<&'static Process>, Lost> {
    let taken =
        STATUS.compare_exchange(UNATTACHED, ATTACHING, Ordering::Acquire, Ordering::Acquire);
    if taken.is_ok() {
        if !channel.is_null() {
            crate::server::obey();
        }
        // SAFETY: only this thread has come here, and readers wait for `ATTACHED`.
        let process = unsafe { &mut *PROCESS.0.get() };
        // SAFETY: the caller answers for the path.
        let status = match unsafe { open(channel) } {
            Ok(None) => ABSENT,
            Ok(Some(channel)) => process.read(channel).map_or(LOST, |()| ATTACHED),
            Err(Lost) => LOST,
        };
        STATUS.store(status, Ordering::Release);
        if let Some(channel) = process.channel {
            let header = channel.header();
            header.attached.fetch_add(1, Ordering::Relaxed);
            header
                .found_by_path
                .fetch_add(u32::from(found_by_path), Ordering::Relaxed);
        }
    }
    // The loader runs constructors one after the other, so this waits only where a program loads plugins in parallel
    // with a loader that does not.
    loop {
        match STATUS.load(Ordering::Acquire) {
            ATTACHING => core::hint::spin_loop(),
            LOST => return Err(Lost),
            _ => return Ok(current()),
        }
    }
}

/// Returns the run to which this process has attached.
pub fn current() -> Option<&'static Process> {
    // SAFETY: nobody writes any more.
    (STATUS.load(Ordering::Acquire) == ATTACHED).then(|| unsafe { &*PROCESS.0.get() })
}

/// The channel; `None` when there is no file of this name, as after the end of a run.
///
/// # Safety
/// As for [`attach`].
unsafe fn open(path: *const c_char) -> Result<Option<Channel<'static>>, Lost> {
    if path.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller answers for the path.
    match unsafe { system::map_file(path) } {
        // SAFETY: the mapping stays until the process ends.
        Ok((address, length)) => unsafe { Channel::open(address, length) }
            .map(Some)
            .ok_or(Lost),
        Err(system::ENOENT | system::ENOTDIR) => Ok(None),
        Err(_) => Err(Lost),
    }
}

/// Address of [`PoisonedFunction`], or 0.
static POISONED: AtomicUsize = AtomicUsize::new(0);

/// Remembers AddressSanitizer's function that tells whether memory is poisoned.
pub fn set_poisoned(function: Option<PoisonedFunction>) {
    if let Some(function) = function {
        POISONED.store(function as usize, Ordering::Relaxed);
    }
}

/// Returns AddressSanitizer's function, if the process has it.
pub fn poisoned() -> Option<PoisonedFunction> {
    let address = POISONED.load(Ordering::Relaxed);
    // SAFETY: the type is a nullable function pointer, and a nonzero address came from one.
    unsafe { core::mem::transmute::<usize, Option<PoisonedFunction>>(address) }
}
