//! Watches a variable of a function: what a run is asked, and what it reports (f1x, section 3.4 and
//! appendix B).

use crate::candidate::{Candidate, CandidateError, Slot};
use crate::channel::write_code;
use patchwright_probe_abi::{
    self as abi, FunctionId, HoleId, MAX_CODE, Record, SlotDescriptor,
    window::{MAX_LOCATIONS, MAX_WATCHED_SLOTS, PlaceWord, WINDOW_FIXED_WORDS, WindowRecord},
};
use patchwright_semantics::Instruction;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// A place where the watched variable could be assigned, with its slots.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    /// The place.
    pub hole: HoleId,
    /// Its slots, in the order of the entries that were woven into the source.
    pub slots: &'a [Slot],
}

/// The request to watch a variable in a run.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// The function.
    pub function: FunctionId,
    /// Bit of the variable among those of the function, below 63.
    pub variable: u32,
    /// Calls count as touches: needed when the function is entered again before it has returned.
    pub calls_touch: bool,
    /// The places, in ascending order of their ids.
    pub locations: &'a [Location<'a>],
    /// The place where the variable is assigned and the compiled term; `None` lets the original program run.
    pub assigned: Option<(HoleId, &'a [Instruction])>,
}

/// A state that a place saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitedState {
    /// Index of the place.
    pub location: usize,
    /// Values of the slots, 0 where undefined.
    pub values: Vec<u64>,
    /// For every slot 1 when it is undefined.
    pub undefined: Vec<u8>,
    /// The value of the term, at the place where it is assigned; `None` is undefined behaviour.
    pub result: Option<u64>,
}

/// The report of a run about a watched variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Processes of woven programs that found the channel.
    pub attached: u32,
    /// Something was not logged, or logged only in part.
    pub overflow: bool,
    /// In some state the value of the term is undefined behaviour; the process has been killed.
    pub undefined: bool,
    /// The woven source and the channel do not belong together.
    pub mismatch: bool,
    /// The function was entered again before it had returned, and calls did not count as touches: nothing else that is
    /// reported may be used.
    pub reentered: bool,
    /// The states.
    pub states: Vec<VisitedState>,
    /// The distinct windows in the order in which they ended, those that did not end last: indices of states.
    pub windows: Vec<Vec<usize>>,
}

impl Watched {
    /// Whether [`windows`](Self::windows) has every window of the run.
    pub fn is_complete(&self) -> bool {
        !self.overflow && !self.mismatch && !self.reentered
    }
}

impl Watch<'_> {
    /// Writes the request; the number of slots of each place.
    pub(crate) fn write(&self, channel: abi::Channel<'_>) -> Result<Vec<usize>, CandidateError> {
        let (hole, code) = self.assigned.unwrap_or((HoleId(u32::MAX), &[]));
        let count: usize = self.locations.iter().map(|place| place.slots.len()).sum();
        if self.locations.len() > MAX_LOCATIONS || count > MAX_WATCHED_SLOTS {
            return Err(CandidateError::TooManySlots { hole, count });
        }
        if code.len() > MAX_CODE {
            let count = code.len();
            return Err(CandidateError::TooMuchCode { hole, count });
        }
        let mut words = channel.slots().chunks_exact(SlotDescriptor::WORDS);
        for (place, word) in self.locations.iter().zip(channel.locations()) {
            let descriptors = Candidate {
                hole: place.hole,
                function: self.function,
                slots: place.slots,
                code,
            }
            .descriptors()?;
            for descriptor in &descriptors {
                for (word, value) in words.next().unwrap_or(&[]).iter().zip(descriptor.encode()) {
                    word.store(value, Ordering::Relaxed);
                }
            }
            let place = PlaceWord {
                hole: place.hole.0,
                slots: descriptors.len() as u16,
                code: 0,
            };
            word.store(place.encode(), Ordering::Relaxed);
        }
        write_code(channel, code);
        let header = channel.header();
        let calls = if self.calls_touch {
            abi::window::CALLS_TOUCH
        } else {
            0
        };
        header
            .watch
            .store(1 << self.variable | calls, Ordering::Relaxed);
        header
            .location_count
            .store(self.locations.len() as u64, Ordering::Relaxed);
        for (field, value) in [
            (&header.hole, hole.0),
            (&header.function, self.function.0),
            (&header.slot_count, count as u32),
            (&header.code_length, code.len() as u32),
        ] {
            field.store(value, Ordering::Relaxed);
        }
        Ok(self
            .locations
            .iter()
            .map(|place| place.slots.len())
            .collect())
    }
}

/// Reads what a run has reported.
pub(crate) fn read(channel: abi::Channel<'_>, generation: u32, slot_counts: &[usize]) -> Watched {
    let header = channel.header();
    let words = channel.log_words();
    let word = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
    let end = (header.records.load(Ordering::Acquire) as usize).min(words.len());
    let mut found = Watched {
        attached: header.attached.load(Ordering::Relaxed),
        overflow: header.overflow.load(Ordering::Relaxed) != 0,
        undefined: header.undefined.load(Ordering::Relaxed) != 0,
        mismatch: header.mismatch.load(Ordering::Relaxed) != 0,
        reentered: header.reentered.load(Ordering::Relaxed) != 0,
        ..Watched::default()
    };
    let mut state_at = std::collections::HashMap::new();
    let mut windows: Vec<Vec<u64>> = Vec::new();
    let mut at = 0;
    while at + WINDOW_FIXED_WORDS <= end {
        let commit = words[at].load(Ordering::Acquire);
        let (record, length) = WindowRecord::decode(word(at + 2));
        let length = length as usize;
        if commit != Record::commit(generation)
            || length < WINDOW_FIXED_WORDS
            || at + length > words.len()
        {
            // A process was killed while it wrote this: what follows cannot be found.
            found.overflow = true;
            break;
        }
        let own = at + WINDOW_FIXED_WORDS..at + length;
        match record {
            WindowRecord::State {
                location,
                value_undefined,
            } => {
                let location = location as usize;
                let slots = slot_counts.get(location).copied().unwrap_or(0);
                let bits = slots.div_ceil(64);
                if own.len() != bits + slots {
                    found.mismatch = true;
                    break;
                }
                state_at.insert(at as u64, found.states.len());
                found.states.push(VisitedState {
                    location,
                    values: (own.start + bits..own.end).map(word).collect(),
                    undefined: (0..slots)
                        .map(|slot| (word(own.start + slot / 64) >> (slot % 64)) as u8 & 1)
                        .collect(),
                    result: (!value_undefined).then(|| word(at + WINDOW_FIXED_WORDS - 1)),
                });
            }
            WindowRecord::Window { .. } => windows.push(own.map(word).collect()),
        }
        at += length;
    }
    for open in channel.open_windows() {
        if (open.owner().load(Ordering::Acquire) >> 32) as u32 == generation {
            let states: Vec<u64> = open
                .states()
                .iter()
                .map(|state| state.load(Ordering::Relaxed))
                .collect();
            if !states.is_empty() {
                windows.push(states);
            }
        }
    }
    for window in windows {
        let states: Option<Vec<usize>> =
            window.iter().map(|at| state_at.get(at).copied()).collect();
        match states {
            Some(states) => found.windows.push(states),
            None => found.overflow = true,
        }
    }
    found
}
