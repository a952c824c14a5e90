//! Windows: what the places where a variable can be assigned saw between two touches of it.
//!
//! A *touch* is whatever reads or writes the watched variable. An assignment inserted at any of the places that a
//! process passes between two touches has the same effect, if it gives the same value; so the places log what they
//! saw, and the value is stored at the next touch.
//!
//! The log of the channel is then a sequence of records of different lengths, found by their first word. Both kinds
//! begin with four words: commit, hash, info, and one of their own.

use crate::layout::{Channel, Layout};
use core::sync::atomic::{AtomicU64, Ordering};

/// Most places of one function that are watched at once, and most holes that are surveyed at once.
pub const MAX_LOCATIONS: usize = 1024;

/// Most slots of all watched places together.
pub const MAX_WATCHED_SLOTS: usize = 32768;

/// Most visits in a window; a longer one is cut, which is sound.
pub const MAX_VISITS: usize = 32;

/// Threads of a run that can have an open window at the same time.
pub const OPEN_WINDOWS: usize = 64;

/// Words of an open window: owner, visits, pending, value, then the visits.
pub const OPEN_WORDS: usize = 4 + MAX_VISITS;

/// Of a hole that is surveyed, a process logs at most so many states.
pub const MAX_SURVEYED_STATES: u32 = 48;

/// A process looks at the states of a hole that is surveyed at so many visits.
pub const MAX_SURVEYED_VISITS: u32 = 4096;

/// What the byte of a hole's coverage is when a survey has not logged all of its states.
pub const CUT_SHORT: u8 = 2;

/// Bit of a watch mask: calls count as touches.
pub const CALLS_TOUCH: u64 = 1 << 63;

/// Words of a record before its own: commit, hash, info, value (of states) or nothing.
pub const WINDOW_FIXED_WORDS: usize = 4;

/// A place in the section of places: which hole, how many slots it has, and how many instructions the value of the original there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceWord {
    /// Id of the hole.
    pub hole: u32,
    /// Its slots; those of all places follow each other.
    pub slots: u16,
    /// Its instructions; those of all places follow each other. None are needed to watch a variable.
    pub code: u16,
}

impl PlaceWord {
    /// Its form in the section.
    pub fn encode(self) -> u64 {
        u64::from(self.code) << 48 | u64::from(self.slots) << 32 | u64::from(self.hole)
    }

    /// Reads the form in the section.
    pub fn decode(word: u64) -> Self {
        Self {
            hole: word as u32,
            slots: (word >> 32) as u16,
            code: (word >> 48) as u16,
        }
    }
}

/// What a record of the log of windows is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRecord {
    /// The state at a place; the words that follow are undefined bits and slots.
    State {
        /// Index of the place.
        location: u32,
        /// The candidate's value in it is undefined.
        value_undefined: bool,
    },
    /// A window; the words that follow are the first words of the states that it consists of.
    Window {
        /// Number of visits.
        visits: u32,
    },
}

impl WindowRecord {
    /// Its form in the info word, with the length of the whole record in words.
    pub fn encode(self, words: u32) -> u64 {
        let words = u64::from(words) << 2;
        match self {
            WindowRecord::State {
                location,
                value_undefined,
            } => u64::from(location) << 32 | words | u64::from(value_undefined) << 1,
            WindowRecord::Window { visits } => u64::from(visits) << 32 | words | 1,
        }
    }

    /// Reads the info word: the record and its length in words.
    pub fn decode(info: u64) -> (Self, u32) {
        let (high, words) = ((info >> 32) as u32, (info as u32) >> 2);
        let record = if info & 1 == 0 {
            WindowRecord::State {
                location: high,
                value_undefined: info & 2 != 0,
            }
        } else {
            WindowRecord::Window { visits: high }
        };
        (record, words)
    }
}

/// The window that a thread has not closed yet. Only its thread writes it, while it lives.
#[derive(Clone, Copy)]
pub struct OpenWindow<'a> {
    words: &'a [AtomicU64],
}

impl<'a> OpenWindow<'a> {
    /// Generation and thread that own it.
    pub fn owner(&self) -> &'a AtomicU64 {
        &self.words[0]
    }

    /// Number of visits so far.
    pub fn visits(&self) -> &'a AtomicU64 {
        &self.words[1]
    }

    /// 1 when a value waits to be stored.
    pub fn pending(&self) -> &'a AtomicU64 {
        &self.words[2]
    }

    /// The value that waits.
    pub fn value(&self) -> &'a AtomicU64 {
        &self.words[3]
    }

    /// First words of the states visited so far.
    pub fn states(&self) -> &'a [AtomicU64] {
        let count = self.visits().load(Ordering::Relaxed) as usize;
        &self.words[4..4 + count.min(MAX_VISITS)]
    }

    /// All places for states.
    pub fn room(&self) -> &'a [AtomicU64] {
        &self.words[4..]
    }
}

impl<'a> Channel<'a> {
    /// Ids of the watched places, lowest first, each with its number of slots in the upper half.
    pub fn locations(&self) -> &'a [AtomicU64] {
        self.words(Layout::LOCATIONS, MAX_LOCATIONS)
    }

    /// The open windows.
    pub fn open_windows(&self) -> impl Iterator<Item = OpenWindow<'a>> {
        self.words(Layout::OPEN, OPEN_WINDOWS * OPEN_WORDS)
            .chunks_exact(OPEN_WORDS)
            .map(|words| OpenWindow { words })
    }

    /// The log as words.
    pub fn log_words(&self) -> &'a [AtomicU64] {
        let layout = self.layout();
        self.words(layout.log(), (layout.log_bytes / 8) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_and_length_of_a_record_survive_encoding() {
        for (record, words) in [
            (
                WindowRecord::State {
                    location: u32::MAX,
                    value_undefined: true,
                },
                4,
            ),
            (WindowRecord::Window { visits: 3 }, 7),
        ] {
            assert_eq!(WindowRecord::decode(record.encode(words)), (record, words));
        }
    }
}
