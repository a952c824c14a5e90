//! Windows: what places saw between two touches of a variable that they could assign.
//!
//! A *touch* is any read or write of the watched variable. Between two touches a process passes several places. An assignment
//! of the same value has the same effect at each of them. So the places log their states, and the value is stored at the next
//! touch.
//!
//! The log of the channel is then a sequence of records of different lengths, found by their first word. Both kinds
//! begin with four words: commit, hash, info, and one of their own.

use crate::layout::{Channel, Layout};
use core::sync::atomic::{AtomicU64, Ordering};

/// The largest number of places of a function that are watched at once, and of holes in one survey.
pub const MAX_LOCATIONS: usize = 1024;

/// The largest number of slots of all watched places together.
pub const MAX_WATCHED_SLOTS: usize = 32768;

/// The largest number of visits in a window. A longer window is cut, which is sound.
pub const MAX_VISITS: usize = 32;

/// The number of threads of a run that can have an open window at the same time.
pub const OPEN_WINDOWS: usize = 64;

/// The number of words of an open window: owner, number of visits, pending flag, value, then one word for each visit.
pub const OPEN_WORDS: usize = 4 + MAX_VISITS;

/// The largest number of states that a process logs of a surveyed hole.
pub const MAX_SURVEYED_STATES: u32 = 48;

/// The largest number of visits of a surveyed hole at which a process looks at the state.
pub const MAX_SURVEYED_VISITS: u32 = 4096;

/// The coverage byte of a hole of which a survey has not logged all states.
pub const CUT_SHORT: u8 = 2;

/// The bit of a watch mask that lets calls count as touches.
pub const CALLS_TOUCH: u64 = 1 << 63;

/// The number of words of a record before its own: commit, hash, info, value (of states) or nothing.
pub const WINDOW_FIXED_WORDS: usize = 4;

/// A word in the section of places: the hole, the number of its slots, and the number of instructions of
/// its original value.
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
    /// Returns the fields packed into a word of the section.
    pub fn encode(self) -> u64 {
        u64::from(self.code) << 48 | u64::from(self.slots) << 32 | u64::from(self.hole)
    }

    /// Reads a word of the section.
    pub fn decode(word: u64) -> Self {
        Self {
            hole: word as u32,
            slots: (word >> 32) as u16,
            code: (word >> 48) as u16,
        }
    }
}

/// The kind of a record in the log of windows.
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
    /// Returns the info word of a record of `words` words.
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

    /// Reads the info word: the kind of record and its length in words.
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
    /// Returns the generation and the thread that own the window.
    pub fn owner(&self) -> &'a AtomicU64 {
        &self.words[0]
    }

    /// Returns the number of visits so far.
    pub fn visits(&self) -> &'a AtomicU64 {
        &self.words[1]
    }

    /// Returns the word that is 1 while a value waits to be stored into the variable.
    pub fn pending(&self) -> &'a AtomicU64 {
        &self.words[2]
    }

    /// Returns the word with the value that waits to be stored, in canonical form.
    pub fn value(&self) -> &'a AtomicU64 {
        &self.words[3]
    }

    /// Returns the first words of the states visited so far.
    pub fn states(&self) -> &'a [AtomicU64] {
        let count = self.visits().load(Ordering::Relaxed) as usize;
        &self.words[4..4 + count.min(MAX_VISITS)]
    }

    /// Returns all words for states, used or not.
    pub fn room(&self) -> &'a [AtomicU64] {
        &self.words[4..]
    }
}

impl<'a> Channel<'a> {
    /// Returns the ids of the watched places, lowest first, each with its number of slots in the
    /// upper half.
    pub fn locations(&self) -> &'a [AtomicU64] {
        self.words(Layout::LOCATIONS, MAX_LOCATIONS)
    }

    /// Returns the windows of all threads.
    pub fn open_windows(&self) -> impl Iterator<Item = OpenWindow<'a>> {
        self.words(Layout::OPEN, OPEN_WINDOWS * OPEN_WORDS)
            .chunks_exact(OPEN_WORDS)
            .map(|words| OpenWindow { words })
    }

    /// Returns the log as words.
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
