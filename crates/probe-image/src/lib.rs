//! The probe as bytes to put beside a run, and the host's side of the channel that it reports through.
//!
//! A run needs a file with [`PROBE`], a [`Channel`], and both paths in the environment of the test (see
//! [`Channel::environment`]), or both files in the folder of the run that was woven into the program. Between runs the channel is told what to observe; after a run it is read.

mod candidate;
mod channel;
mod observation;

pub use candidate::{Candidate, CandidateError, Index, Load, Slot};
pub use channel::{Channel, ChannelError, Limits};
pub use observation::{Observation, States};
pub use patchwright_probe_abi::{
    CHANNEL_FILE, CHANNEL_VARIABLE, FunctionId, HoleId, ImageHeader, MAX_CODE, MAX_SLOTS,
    PROBE_FILE, PROBE_VARIABLE,
};

/// The probe: an image for x86-64 Linux that begins with an [`ImageHeader`].
pub static PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe.image"));
