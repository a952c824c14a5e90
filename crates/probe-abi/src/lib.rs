//! The layout of the memory that the host and the probe share, and of the table that a woven file hands to the probe.
//!
//! The host makes a file, the *channel*, writes into it what is to be observed (a [`Mode`], the active hole, its
//! slots, a candidate's bytecode) and starts a test. Every process of the test that was built from woven source maps
//! the same file and reports into it: which holes it visited, or which states it saw at the active hole.
//!
//! Invariants:
//! - Nobody waits for anybody. A record is reserved by a fetch-and-add, filled, and published by one store; a process
//!   killed in between leaves an unpublished record behind and nothing else.
//! - Nothing is cleared between runs but the coverage bytes: every published record and every entry of the table of
//!   states carries the *generation* of its run, and one from another generation counts as empty.
//! - Host and probe never read each other's memory through plain references, only through atomics.
#![no_std]

mod ids;
mod layout;
mod places;
mod server;
mod slot;
mod trace;
mod unit;
pub mod window;

pub use ids::{FunctionId, HoleId, PlaceId};
pub use layout::{
    Channel, FLAG_VALUE_UNDEFINED, Header, LAYOUT_VERSION, Layout, LayoutError, MAGIC, Mode,
    RECORD_FIXED_WORDS, Record, TableEntry,
};
pub use places::{
    ABSENT, ASK, ATTACH_PLACES_SYMBOL, AlternativeEntry, AttachPlaces, CAPTURE, CONTROL_ABANDONED,
    LIVE, MAX_ALTERNATIVES, NONE, PLACES_MAGIC, PLACES_VERSION, PatchEntry, PlaceEntry, PlaceUnit,
    PlacesChannel, PlacesHeader, PlacesLayout, PlacesMode, SplitReason,
};
pub use server::{NO_CPU_LIMIT, SERVER_ASK, SERVER_DESCRIPTOR, SERVER_START, ServerRun};
pub use slot::{SlotDescriptor, SlotKind};
pub use trace::{
    RegisterExit, RegisterFork, TRACE_FILE, TRACE_MAGIC, TRACE_SYMBOL, TRACE_VARIABLE,
    TRACE_VERSION, TRAIL_EXITED, TRAIL_FREE, TRAIL_LENGTH, TRAIL_RUNNING, TraceAttach, TraceHeader,
    TraceLayout, TraceMemory, TraceUnit, Trail,
};
pub use unit::{
    ATTACH_DONE, ATTACH_LOST, ATTACH_SYMBOL, Attach, BeginFunction, CHANNEL_FILE, CHANNEL_VARIABLE,
    ENTRY_SYMBOLS, EnterFunction, ImageTrailer, MarkFunction, PROBE_FILE, PROBE_VARIABLE,
    PoisonedFunction, RUN_FOLDER, SELECTED_CANDIDATE, SELECTED_COVERAGE, SELECTED_NOT,
    TouchFunction, UNIT_VERSION, UnitTable, ValueFunction, VisitFunction,
};

/// The largest number of slots of a hole.
pub const MAX_SLOTS: usize = 512;

/// The largest number of instructions of a candidate.
pub const MAX_CODE: usize = 1024;

/// The largest number of instructions of the originals of all holes in one survey.
pub const MAX_SURVEY_CODE: usize = 16 * 1024;

/// The number of 8-byte words of a bytecode instruction.
pub const INSTRUCTION_WORDS: usize = 2;
