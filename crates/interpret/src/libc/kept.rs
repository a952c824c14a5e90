//! The state that the models keep between calls.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::random::{Random, Random48};

/// `setjmp`: the frame, and where it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    pub(crate) frame: u64,
    pub(crate) pc: usize,
    /// The signals that were blocked, where `sigsetjmp` keeps them.
    pub(crate) blocked: Option<u64>,
}

/// What the models keep.
#[derive(Default)]
pub(crate) struct Library {
    pub(crate) at_exit: Vec<u64>,
    /// The program ends without what it wants done at its end.
    pub(crate) at_once: bool,
    pub(crate) jumps: Vec<Jump>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) stream_at: FxHashMap<u64, usize>,
    /// The streams that were used since an observer was told, if there is one.
    pub(crate) used_streams: RefCell<Vec<u64>>,
    pub(crate) program: Vec<u8>,
    pub(crate) environment: u64,
    /// Objects that a model makes once, by name.
    pub(crate) made: FxHashMap<&'static str, u64>,
    pub(crate) random: Random,
    pub(crate) random48: Random48,
    pub(crate) token: u64,
    pub(crate) getopt: Scan,
    pub(crate) errors: u32,
    pub(crate) signals: Signals,
    pub(crate) mask: u32,
    /// How many names `tmpnam` has made up.
    pub(crate) names: u32,
    /// Where the texts lie that the last format read, and how many bytes of each.
    pub(crate) formatted: Vec<(u64, u64)>,
}

/// When a stream writes out what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Buffering {
    #[default]
    Full,
    Line,
    None,
}

/// A stream of `stdio.h` with its buffers and flags.
#[derive(Default)]
pub(crate) struct Stream {
    pub(super) descriptor: i32,
    pub(super) open: bool,
    pub(super) input: Vec<u8>,
    pub(super) input_at: usize,
    pub(super) output: Vec<u8>,
    pub(super) buffering: Buffering,
    pub(super) at_end: bool,
    pub(super) failed: bool,
    /// What `open_memstream` writes to: the places of the buffer and of its size.
    pub(super) memory: Option<(u64, u64)>,
    /// What `fmemopen` opened.
    pub(super) over: Option<Over>,
    /// It is one of wide characters, or of bytes, as the first output made it.
    pub(super) wide: Option<bool>,
}

/// A stream over an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over {
    /// All that is read is there as input.
    Read,
    /// What is written goes to so many bytes at an address, here to the next position.
    Write { at: u64, size: u64, next: u64 },
}

impl Stream {
    /// No descriptor belongs to it.
    pub(super) fn is_in_memory(&self) -> bool {
        self.memory.is_some() || self.over.is_some()
    }

    /// Drops what was not written yet.
    pub(crate) fn forget(&mut self) {
        self.output.clear();
    }
}

/// What is done on a signal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Action {
    pub(super) handler: u64,
    pub(super) flags: u64,
    /// What is blocked besides, while the handler runs.
    pub(super) mask: u64,
}

/// The signals of the program.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pub(super) actions: FxHashMap<i64, Action>,
    /// A bit for each signal, the lowest one for 1.
    pub(crate) blocked: u64,
    pub(super) pending: u64,
}

/// Where the scan of the arguments is.
#[derive(Default)]
pub(crate) struct Scan {
    /// Where in an argument of several letters; 0 when a new argument begins.
    pub(super) letter: usize,
    pub(super) first_operand: usize,
    pub(super) last_operand: usize,
    pub(super) started: bool,
}
