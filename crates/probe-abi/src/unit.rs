//! The table through which a woven translation unit and the probe exchange functions and selections.

use core::ffi::{c_char, c_void};

/// The environment variable with the path of the probe's image, a file that ends with an
/// [`ImageTrailer`].
pub const PROBE_VARIABLE: &str = "PATCHWRIGHT_PROBE";

/// The environment variable with the path of the channel.
pub const CHANNEL_VARIABLE: &str = "PATCHWRIGHT_CHANNEL";

/// The path at which protected processes find the folder of their run. Their environment does not name
/// it, so it is the one that the program always has.
pub const RUN_FOLDER: &str = "/dev/patchwright";

/// The name of the probe's image in a run's folder. Processes without [`PROBE_VARIABLE`] look there.
pub const PROBE_FILE: &str = "probe";

/// The name of the channel in a run's folder.
pub const CHANNEL_FILE: &str = "channel";

/// The name of the probe's entry point for units with holes, of type [`Attach`].
pub const ATTACH_SYMBOL: &str = "patchwright_attach";

/// The version of [`UnitTable`]. The probe answers units of other versions with [`ATTACH_LOST`](crate::ATTACH_LOST): their process is
/// ended at its first hole.
pub const UNIT_VERSION: u32 = 3;

/// The entry points of the probe, in the order of [`ImageTrailer::entries`].
pub const ENTRY_SYMBOLS: [&str; 1] = [ATTACH_SYMBOL];

/// The last bytes of the probe's image, which is mapped as a whole, readable and executable, and then from `fixed` on
/// once more, private and writable. The words at `relocations` are offsets of words to which the address of the image
/// is to be added.
///
/// Woven programs map it themselves, by system calls: there is no loader in a program that is linked statically, and
/// the one of other programs would allocate memory in them. The glue declares the same structure in C. To loaders the
/// image is an ordinary shared library.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageTrailer {
    /// Offsets of the entry points.
    pub entries: [u64; ENTRY_SYMBOLS.len()],
    /// Offset of the relocations.
    pub relocations: u64,
    /// Number of relocations.
    pub relocation_count: u64,
    /// Bytes that are never written; a multiple of the page size.
    pub fixed: u64,
}

/// The result of [`Attach`] that lets the program go on: it reports, or there is no run.
pub const ATTACH_DONE: i32 = 0;

/// The result of [`Attach`] that a run exists to which the program cannot report. It must not reach a
/// hole.
pub const ATTACH_LOST: i32 = 1;

/// The selection byte of a function or hole whose original code runs.
pub const SELECTED_NOT: u8 = 0;

/// The selection byte of a function whose instrumented copy runs, and of the hole that the candidate
/// fills.
pub const SELECTED_CANDIDATE: u8 = 1;

/// The selection byte of a hole that is to be marked as visited and then runs the original code.
pub const SELECTED_COVERAGE: u8 = 2;

/// The type of the function that gives the candidate's value in the state of `count` entries.
pub type ValueFunction = unsafe extern "C" fn(hole: u32, entries: *const u64, count: u32) -> u64;

/// The type of the function that marks a hole as visited and clears its selection byte, so that each
/// process marks it once.
pub type MarkFunction = unsafe extern "C" fn(hole: u32, selection: *mut u8);

/// The type of the function that announces a visit of a watched place. It returns 1 if a pending value,
/// which it gives, must be stored first.
pub type EnterFunction = unsafe extern "C" fn(hole: u32, value: *mut u64) -> u32;

/// The type of the function that logs the state of `count` entries at a watched place.
pub type VisitFunction = unsafe extern "C" fn(hole: u32, entries: *const u64, count: u32);

/// The type of the function that announces a read or write of the watched variable. It returns 1 if a
/// pending value, which it gives, must be stored first.
pub type TouchFunction = unsafe extern "C" fn(value: *mut u64) -> u32;

/// The type of the function that announces that the watched function was entered.
pub type BeginFunction = unsafe extern "C" fn();

/// AddressSanitizer's `__asan_region_is_poisoned`: the first bad address of a region, or null.
pub type PoisonedFunction = unsafe extern "C" fn(start: *mut c_void, size: usize) -> *mut c_void;

/// The type of the function that connects a unit with the run. `channel` is the path of the channel or
/// null. It returns [`ATTACH_DONE`] or [`ATTACH_LOST`].
pub type Attach = unsafe extern "C" fn(unit: *mut UnitTable, channel: *const c_char) -> i32;

/// The table by which a translation unit with holes and the probe know each other. The glue in the woven
/// file declares the same structure in C.
#[repr(C)]
pub struct UnitTable {
    /// [`UNIT_VERSION`].
    pub version: u32,
    /// Number of woven functions.
    pub function_count: u32,
    /// Number of holes.
    pub hole_count: u32,
    /// 1 when the run was found by its folder, because the environment does not name it.
    pub found_by_path: u32,
    /// Selection bytes of the functions.
    pub functions: *mut u8,
    /// Ids of the functions.
    pub function_ids: *const u32,
    /// Selection bytes of the holes.
    pub holes: *mut u8,
    /// Ids of the holes.
    pub hole_ids: *const u32,
    /// Filled in by the probe.
    pub value: Option<ValueFunction>,
    /// Filled in by the probe.
    pub mark: Option<MarkFunction>,
    /// Filled in by the unit when its process runs with AddressSanitizer.
    pub poisoned: Option<PoisonedFunction>,
    /// Filled in by the probe: the bit of the watched variable, 0 when none is.
    pub watch: u64,
    /// Filled in by the probe.
    pub enter: Option<EnterFunction>,
    /// Filled in by the probe.
    pub visit: Option<VisitFunction>,
    /// Filled in by the probe.
    pub touch: Option<TouchFunction>,
    /// Filled in by the probe.
    pub begin: Option<BeginFunction>,
}
