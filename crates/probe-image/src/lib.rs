//! The probe as bytes to put beside a run, and the host's side of the channel that it reports through, and of the
//! trace in which programs note the statements that they execute.
//!
//! A run needs a file with [`PROBE`], a [`Channel`], and both paths in the environment of the test (see
//! [`Channel::environment`]). Between runs the channel is told what to observe; after a run it is read.

mod candidate;
mod channel;
mod observation;
mod patches;
mod shared;
mod trace;
mod watch;

pub use candidate::{Candidate, CandidateError, Index, Load, Slot};
pub use channel::{Channel, ChannelError, Limits};
pub use observation::{Observation, States};
pub use patches::{
    PatchChannel, PatchReport, PatchTable, SplitGroup, TableAlternative, TableError, TablePlace,
};
pub use patchwright_probe_abi::{
    CHANNEL_VARIABLE, FunctionId, HoleId, MAX_ALTERNATIVES, MAX_CODE, MAX_SLOTS, PROBE_VARIABLE,
    PlaceId, SplitReason, TRACE_VARIABLE,
};
pub use shared::SharedFileError;
pub use trace::{ProcessEnd, Trace};
pub use watch::{Location, VisitedState, Watch, Watched};

/// The probe: a shared library for x86-64 Linux that needs no other library.
pub static PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libpatchwright_probe.so"));
