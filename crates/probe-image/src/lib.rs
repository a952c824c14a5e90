//! This crate holds the probe as bytes to put beside a run, and the host's side of two files that the program writes. Through
//! the channel the probe reports. In the trace a program notes the statements that it executes.
//!
//! A run needs a file with [`PROBE`], a [`Channel`], and both paths in the environment of the test (see
//! [`Channel::environment`]), or both files in the folder of the run that was woven into the program.
//! Between runs the channel is told what to observe; after a run it is read.

mod candidate;
mod channel;
mod observation;
mod patches;
mod shared;
mod survey;
mod trace;
mod watch;

pub use candidate::{Bits, Candidate, CandidateError, Index, Load, Slot};
pub use channel::{Channel, ChannelError, Limits, Patience};
pub use observation::{Observation, States};
pub use patches::{
    PatchChannel, PatchReport, PatchTable, SplitGroup, TableAlternative, TableError, TablePlace,
};
pub use patchwright_probe_abi::{
    CHANNEL_FILE, CHANNEL_VARIABLE, FunctionId, HoleId, ImageTrailer, MAX_ALTERNATIVES, MAX_CODE,
    MAX_SLOTS, PROBE_FILE, PROBE_VARIABLE, PlaceId, SplitReason, TRACE_FILE, TRACE_VARIABLE,
};
pub use shared::SharedFileError;
pub use survey::{Seen, SurveyedHole, surveys_at_once};
pub use trace::{ProcessEnd, Trace};
pub use watch::{Location, VisitedState, Watch, Watched};

/// The probe: an image for x86-64 Linux that ends with an [`ImageTrailer`].
pub static PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe.image"));

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn the_image_says_where_its_entries_are_and_is_a_shared_library_too() {
        let trailer = PROBE.len() - size_of::<ImageTrailer>();
        // SAFETY: the structure consists of numbers.
        let trailer: ImageTrailer = unsafe {
            PROBE[trailer..]
                .as_ptr()
                .cast::<ImageTrailer>()
                .read_unaligned()
        };
        assert!(PROBE.len().is_multiple_of(4096) && trailer.fixed.is_multiple_of(4096));
        assert!(trailer.fixed < PROBE.len() as u64);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file.as_file(), PROBE).unwrap();
        let path = CString::new(file.path().as_os_str().as_encoded_bytes()).unwrap();
        for (entry, symbol) in trailer
            .entries
            .iter()
            .zip(patchwright_probe_abi::ENTRY_SYMBOLS)
        {
            let symbol = CString::new(symbol).unwrap();
            // SAFETY: the library runs nothing when it is loaded, and stays loaded.
            unsafe {
                let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
                assert!(!library.is_null());
                let base = libc::dlsym(library, symbol.as_ptr()) as u64 - entry;
                assert!(base != 0 && base.is_multiple_of(4096));
                assert_eq!((base as *const [u8; 4]).read(), *b"\x7fELF");
            }
        }
    }
}
