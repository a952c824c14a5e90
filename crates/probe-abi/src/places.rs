//! The second kind of channel: which patch runs at the places where patches differ, and what the others would have done
//! there.
//!
//! A *place* is a run of statements or a condition that some patches replace; each different text is an *alternative*.
//! The host tells which patch, the *representative*, is executed and which other patches are *live*, so far not told
//! apart from it. At a visit of a place the probe has the alternatives evaluated one after the other, with every write undone.
//! Live patches whose alternative has another effect than the representative's are *split off*: they get the number of a group.
//! Those that are left when the test has ended share its verdict.

use crate::layout::align;
use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The first word of a channel of patches.
pub const PLACES_MAGIC: u64 = u64::from_le_bytes(*b"PWplaces");

/// The version of the layout and of [`PlaceUnit`].
pub const PLACES_VERSION: u32 = 1;

/// The name of the probe's entry point for units with places, of type [`AttachPlaces`].
pub const ATTACH_PLACES_SYMBOL: &str = "patchwright_attach_places";

/// The selection of a place at which the probe is to be asked.
pub const ASK: u32 = u32::MAX;

/// The flag that is added to the number of an alternative that is evaluated with its effects captured.
pub const CAPTURE: u32 = 1 << 30;

/// The control outcome of a captured alternative that could not be evaluated to its end.
pub const CONTROL_ABANDONED: u32 = 255;

/// The largest number of alternatives of a place.
pub const MAX_ALTERNATIVES: usize = 4096;

/// The number that means no alternative or no patch.
pub const NONE: u32 = u32::MAX;

/// The group of a patch that is live.
pub const LIVE: u32 = 0;

/// The group of a patch that takes no part in the run.
pub const ABSENT: u32 = u32::MAX;

/// The type of the function that connects a unit with the run. The channel's path is the value of
/// [`CHANNEL_VARIABLE`](crate::CHANNEL_VARIABLE) or null.
pub type AttachPlaces = unsafe extern "C" fn(unit: *mut PlaceUnit, channel: *const c_char);

/// The table by which a translation unit with places and the probe know each other. The glue in the woven
/// file declares the same structure in C.
#[repr(C)]
pub struct PlaceUnit {
    /// [`PLACES_VERSION`].
    pub version: u32,
    /// Number of places.
    pub count: u32,
    /// For each place the number of the alternative that runs, 0 for the original, or [`ASK`].
    pub selected: *mut u32,
    /// Ids of the places.
    pub ids: *const u32,
    /// Asks what to do at a place: a number to run, or [`CAPTURE`] and a number to evaluate. Filled in by the probe, as
    /// are the next three.
    pub enter: Option<unsafe extern "C" fn(place: u32, selected: *mut u32) -> u32>,
    /// Reports how an evaluation ended (control outcome, bytes of its value) and asks what is next.
    pub finish: Option<
        unsafe extern "C" fn(place: u32, control: u32, value: *const u8, size: usize) -> u32,
    >,
    /// Announces a write of an evaluation; not 0 when it must not be done.
    pub write: Option<unsafe extern "C" fn(start: *const c_void, size: usize) -> i32>,
    /// Not 0 when an evaluation must not read there.
    pub bad: Option<unsafe extern "C" fn(start: *const c_void, size: usize) -> i32>,
    /// AddressSanitizer's `__asan_region_is_poisoned` or null.
    pub poisoned: Option<crate::PoisonedFunction>,
    /// libc's `__libc_single_threaded` or null.
    pub single_threaded: *const u8,
}

/// What woven processes do in a run: report visited places, run a patch, or compare live patches, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PlacesMode {
    /// Run the original code and report nothing.
    Off = 0,
    /// Run the original code and mark the places that are visited.
    Visits = 1,
    /// Run the representative's alternatives.
    Select = 2,
    /// Run the representative's alternatives, and split off the live patches that do something else.
    Tree = 3,
}

impl PlacesMode {
    /// Returns the mode with this number, or `None`.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Off),
            1 => Some(Self::Visits),
            2 => Some(Self::Select),
            3 => Some(Self::Tree),
            _ => None,
        }
    }
}

/// Why a patch was split off from the representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum SplitReason {
    /// Its effect differs from the representative's.
    Effect = 0,
    /// Its alternative, or the representative's, is of a kind that is not captured.
    NotCaptured = 1,
    /// The evaluation was abandoned: it would have trapped, looped for long, or written too much.
    Abandoned = 2,
    /// The evaluations of the run exceeded their budget.
    Budget = 3,
}

impl SplitReason {
    /// Returns the reason with this number, or `None`.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Effect),
            1 => Some(Self::NotCaptured),
            2 => Some(Self::Abandoned),
            3 => Some(Self::Budget),
            _ => None,
        }
    }

    /// Returns the reason as a phrase for tables.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Effect => "its effect was another one",
            Self::NotCaptured => {
                "its text, or the one it was compared with, cannot be tried and undone"
            }
            Self::Abandoned => "trying it would have trapped, looped for long, or written too much",
            Self::Budget => "too much was compared in this execution",
        }
    }
}

/// Start of the channel. The first part is written by the host between runs, the second by the processes of a run.
#[repr(C)]
pub struct PlacesHeader {
    /// [`PLACES_MAGIC`].
    pub magic: AtomicU64,
    /// [`PLACES_VERSION`].
    pub version: AtomicU32,
    /// A [`PlacesMode`].
    pub mode: AtomicU32,
    /// Number of places.
    pub place_count: AtomicU32,
    /// Number of alternatives of all places.
    pub alternative_count: AtomicU32,
    /// Number of patches.
    pub patch_count: AtomicU32,
    /// Number of pairs of a patch and one of its alternatives.
    pub pair_count: AtomicU32,
    /// Number of this run, never 0.
    pub generation: AtomicU32,
    /// The patch that is executed, or [`NONE`] for the original program.
    pub representative: AtomicU32,
    /// Most evaluations in this run.
    pub budget: AtomicU64,
    reserved: [AtomicU64; 9],

    /// Visits of places, counted as long as patches other than the representative are live.
    pub visits: AtomicU64,
    /// Evaluations of alternatives.
    pub evaluations: AtomicU64,
    /// Processes that found this channel.
    pub attached: AtomicU32,
    /// Live patches other than the representative.
    pub live: AtomicU32,
    /// Groups so far.
    pub groups: AtomicU32,
    /// 1 when a place was visited by a process that may have several threads.
    pub threads: AtomicU32,
    /// 1 when a place was visited during an evaluation (by a signal handler).
    pub nested: AtomicU32,
    /// Evaluations that were begun and not ended: not 0 when a process has ended amid one.
    pub evaluating: AtomicU32,
}

/// A place in the channel: its alternatives.
#[repr(C)]
pub struct PlaceEntry {
    /// Index of its first alternative.
    pub first: AtomicU32,
    /// Number of its alternatives.
    pub count: AtomicU32,
    /// Index of the representative's alternative, [`NONE`] for the original text.
    pub selected: AtomicU32,
    /// 1 when the original text can be evaluated.
    pub captured: AtomicU32,
    /// 1 when visited in this run.
    pub visited: AtomicU32,
    /// Padding.
    pub reserved: AtomicU32,
}

/// An alternative in the channel: its patches.
#[repr(C)]
pub struct AlternativeEntry {
    /// What the woven code calls it. 0 stands for the original text, inside of which the patches that have this
    /// alternative differ at other places.
    pub number: AtomicU32,
    /// 1 when it can be evaluated.
    pub captured: AtomicU32,
    /// Index of its first patch in the table of members.
    pub first: AtomicU32,
    /// Number of its patches.
    pub count: AtomicU32,
    /// How many of them are live, without the representative.
    pub live: AtomicU32,
    /// Its place.
    pub place: AtomicU32,
}

/// A patch in the channel: its alternatives and its group.
#[repr(C)]
pub struct PatchEntry {
    /// Index of its first alternative in the table of pairs.
    pub first: AtomicU32,
    /// Number of its alternatives.
    pub count: AtomicU32,
    /// [`LIVE`], [`ABSENT`] or the group that it was split off with.
    pub group: AtomicU32,
    /// A [`SplitReason`].
    pub reason: AtomicU32,
    /// The visit at which it was split off.
    pub visit: AtomicU64,
}

/// The sizes of a channel of patches, from which all offsets follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacesLayout {
    /// Number of places.
    pub places: u32,
    /// Number of alternatives.
    pub alternatives: u32,
    /// Number of patches.
    pub patches: u32,
    /// Number of pairs of a patch and an alternative.
    pub pairs: u32,
}

impl PlacesLayout {
    const PLACES: u64 = align(size_of::<PlacesHeader>() as u64);

    const fn alternatives(&self) -> u64 {
        align(Self::PLACES + self.places as u64 * size_of::<PlaceEntry>() as u64)
    }

    const fn patches(&self) -> u64 {
        align(self.alternatives() + self.alternatives as u64 * size_of::<AlternativeEntry>() as u64)
    }

    const fn members(&self) -> u64 {
        align(self.patches() + self.patches as u64 * size_of::<PatchEntry>() as u64)
    }

    const fn pairs(&self) -> u64 {
        align(self.members() + self.pairs as u64 * 4)
    }

    /// Returns the number of bytes of the whole channel.
    pub const fn size(&self) -> u64 {
        align(self.pairs() + self.pairs as u64 * 4)
    }
}

/// A mapped channel of patches.
#[derive(Clone, Copy)]
pub struct PlacesChannel<'a> {
    base: *mut u8,
    layout: PlacesLayout,
    memory: PhantomData<&'a PlacesHeader>,
}

// SAFETY: every access goes through atomics.
unsafe impl Send for PlacesChannel<'_> {}
// SAFETY: as above.
unsafe impl Sync for PlacesChannel<'_> {}

impl<'a> PlacesChannel<'a> {
    /// A channel of the host's own making in `length` bytes at `base`, whose header is still to be written. `None` when
    /// they are too few or not aligned to 8 bytes.
    ///
    /// # Safety
    /// The memory must be readable and writable for `'a`, and only be used through channels.
    pub unsafe fn new(base: *mut u8, length: usize, layout: PlacesLayout) -> Option<Self> {
        let good = base.cast::<PlacesHeader>().is_aligned() && layout.size() <= length as u64;
        good.then_some(Self {
            base,
            layout,
            memory: PhantomData,
        })
    }

    /// The channel in `length` bytes at `base`, or `None` when there is none of this version.
    ///
    /// # Safety
    /// As for [`PlacesChannel::new`].
    pub unsafe fn open(base: *mut u8, length: usize) -> Option<Self> {
        if !base.cast::<PlacesHeader>().is_aligned() || length < size_of::<PlacesHeader>() {
            return None;
        }
        // SAFETY: the memory is long enough, aligned and only used through atomics.
        let header = unsafe { &*base.cast::<PlacesHeader>() };
        let good = header.magic.load(Ordering::Acquire) == PLACES_MAGIC
            && header.version.load(Ordering::Relaxed) == PLACES_VERSION;
        let layout = PlacesLayout {
            places: header.place_count.load(Ordering::Relaxed),
            alternatives: header.alternative_count.load(Ordering::Relaxed),
            patches: header.patch_count.load(Ordering::Relaxed),
            pairs: header.pair_count.load(Ordering::Relaxed),
        };
        (good && layout.size() <= length as u64).then_some(Self {
            base,
            layout,
            memory: PhantomData,
        })
    }

    /// Writes the header, by which processes recognize the channel and its sizes.
    pub fn write_header(&self) {
        let header = self.header();
        for (field, value) in [
            (&header.place_count, self.layout.places),
            (&header.alternative_count, self.layout.alternatives),
            (&header.patch_count, self.layout.patches),
            (&header.pair_count, self.layout.pairs),
            (&header.version, PLACES_VERSION),
        ] {
            field.store(value, Ordering::Relaxed);
        }
        header.magic.store(PLACES_MAGIC, Ordering::Release);
    }

    /// Returns the header, which both sides read and write.
    pub fn header(&self) -> &'a PlacesHeader {
        // SAFETY: `new` and `open` checked length and alignment.
        unsafe { &*self.base.cast::<PlacesHeader>() }
    }

    /// Returns the places, by their ids.
    pub fn places(&self) -> &'a [PlaceEntry] {
        self.table(PlacesLayout::PLACES, self.layout.places)
    }

    /// Returns the alternatives. Those of one place lie together.
    pub fn alternatives(&self) -> &'a [AlternativeEntry] {
        self.table(self.layout.alternatives(), self.layout.alternatives)
    }

    /// Returns the patches, by their numbers.
    pub fn patches(&self) -> &'a [PatchEntry] {
        self.table(self.layout.patches(), self.layout.patches)
    }

    /// Returns the patches of each alternative, one list behind the other.
    pub fn members(&self) -> &'a [AtomicU32] {
        self.table(self.layout.members(), self.layout.pairs)
    }

    /// Returns the alternatives of each patch, one list behind the other.
    pub fn pairs(&self) -> &'a [AtomicU32] {
        self.table(self.layout.pairs(), self.layout.pairs)
    }

    fn table<T>(&self, offset: u64, count: u32) -> &'a [T] {
        let start = self.base.wrapping_add(offset as usize).cast::<T>();
        // SAFETY: the sections lie inside the channel at offsets that are multiples of 4096; all their entries consist of
        // atomics.
        unsafe { core::slice::from_raw_parts(start, count as usize) }
    }
}
