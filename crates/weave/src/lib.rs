//! Meta-programs: holes woven into C source.
//!
//! [`weave_file`] gives every woven function two bodies, and one test of a byte chooses: a copy in which the holes ask
//! the probe, and the original. If nothing is selected, the program runs its original code at the price of that test.
//! Everything that a compiler derives from the source stays as it was: `__LINE__`, `__func__`, warnings, debugging
//! information. A few lines of C in front of the file, the *glue*, hold the selection bytes and a constructor. The constructor maps
//! the probe into the process if there is a run to report to.
//!
//! [`mark_file`] does less: it puts a mark in front of statements and operands, which notes in shared memory that they are executed.
//! Bodies are not given twice, so that it takes functions that [`weave_file`] does not.
//!
//! Invariants:
//! - nothing here parses C. Spans and types come from the caller; the tokens and
//!   directives of `ctext` are all there is;
//! - every identifier that is added begins with `__pw_`;
//! - no line of the source moves: lines are only added between `#line` directives.

mod apart;
mod duplicate;
mod glue;
mod hook;
mod lines;
mod mark;
mod places;
mod watch;
mod weave;

pub use apart::{Apart, WovenPart};
pub use duplicate::{Refusal, can_duplicate};
pub use hook::{CapturedPart, Hook, HookKind, Moved, on_one_line};
pub use mark::{Mark, MarkKind, mark_file};
pub use patchwright_probe_abi::{FunctionId, HoleId, MAX_ALTERNATIVES, PlaceId};
pub use places::{
    Alternative, CONTROL_BREAK, CONTROL_CONTINUE, CONTROL_GOTO, CONTROL_RETURN, Captured,
    PlaceKind, PlacesError, WovenPlace, WovenPlaces, weave_places,
};
pub use watch::{AssignmentPlace, Store, StoreKind, Touch};
pub use weave::{WeaveError, WovenFunction, weave_file, weave_file_apart};
