//! The corpus: inputs from which others are made, and inputs that wait to be executed.

use std::{cmp::Reverse, collections::VecDeque};

use patchwright_compare::{Case, Mutator};

use super::{cover::Near, native::Built};

/// Cases with the most words of what has changed that others are made of more often.
const MOST_RELEVANT: usize = 12;
/// Entries whose inputs take turns at most.
const MOST_TURNS: usize = 4;

/// An input from which others are made.
pub struct Entry {
    /// The test that it comes from.
    pub of: String,
    /// The input itself.
    pub case: Case,
    /// How near its executions come to what has changed.
    pub near: Near,
    /// Places that each version went through.
    pub slots: Vec<Vec<u16>>,
    /// Inputs that were made of it.
    pub tries: usize,
    /// So many times something was changed since a test.
    pub depth: usize,
    /// Whether others were made of what its executions compare, and of its parts.
    pub is_used: bool,
}

/// The inputs from which others are made.
#[derive(Default)]
pub struct Corpus {
    /// All of them, in the order in which they came.
    pub entries: Vec<Entry>,
    /// How many words of what has changed they have, the most first, and which they are.
    relevant: Vec<(usize, usize)>,
}

impl Corpus {
    /// Adds an entry. `relevance` is the number of its words that stand near the change.
    pub fn add(&mut self, entry: Entry, relevance: usize) {
        if relevance > 0 {
            let place = (self.relevant).partition_point(|(other, _)| *other >= relevance);
            self.relevant.insert(place, (relevance, self.entries.len()));
        }
        self.entries.push(entry);
    }

    /// Chooses an entry to make another input of. It prefers entries that were found last and those
    /// near the change.
    pub fn choose(&mut self, mutator: &mut Mutator) -> usize {
        let count = self.entries.len();
        let nearest = self.entries.iter().map(|entry| entry.near).max();
        let nearest = nearest.unwrap_or_default();
        let at = match mutator.below(8) {
            0 => mutator.below(count),
            1..=4 if nearest > Near::Elsewhere => {
                // Of some of them the one that was used least.
                let near: Vec<usize> = (0..count)
                    .filter(|&at| self.entries[at].near == nearest)
                    .collect();
                let some = (0..3).map(|_| near[mutator.below(near.len())]);
                some.min_by_key(|&at| self.entries[at].tries).unwrap_or(0)
            }
            1..=5 if !self.relevant.is_empty() => {
                let best = self.relevant.len().min(MOST_RELEVANT);
                self.relevant[mutator.below(best)].1
            }
            _ => count - 1 - mutator.below(count.div_ceil(3)),
        };
        self.entries[at].tries += 1;
        at
    }

    /// Whether an entry near the change was not yet returned by [`Self::unused`].
    pub fn has_near_unused(&self) -> bool {
        let is = |entry: &Entry| !entry.is_used && entry.near > Near::Elsewhere;
        self.entries.iter().any(is)
    }

    /// Computes again how near entries come to the change, after the places of more code are known.
    pub fn look_again(&mut self, versions: &[Built]) {
        for entry in &mut self.entries {
            entry.near = nearest(versions, &entry.slots);
        }
    }

    /// Returns an entry whose comparisons were not used yet: the nearest to the change, and of these
    /// the most similar to tests.
    pub fn unused(&mut self) -> Option<usize> {
        let open = (0..self.entries.len()).filter(|&at| !self.entries[at].is_used);
        let at = open.min_by_key(|&at| {
            let entry = &self.entries[at];
            (Reverse(entry.near), entry.depth, at)
        })?;
        self.entries[at].is_used = true;
        Some(at)
    }
}

/// Returns how near the executed places of each version come to the change.
pub fn nearest(versions: &[Built], slots: &[Vec<u16>]) -> Near {
    let covers = versions.iter().map(|one| one.cover.as_ref());
    covers
        .zip(slots)
        .filter_map(|(cover, slots)| Some(cover?.nearest(slots)))
        .max()
        .unwrap_or_default()
}

/// Inputs that wait to be executed, one row for each entry. The rows take turns.
#[derive(Default)]
pub struct Turns {
    rows: VecDeque<VecDeque<Made>>,
}

/// An input that was made of an entry.
pub struct Made {
    /// The test that the entry comes from.
    pub of: String,
    /// The input.
    pub case: Case,
    /// So many times something was changed since that test.
    pub depth: usize,
}

impl Turns {
    /// Whether one more row can be added.
    pub fn has_room(&self) -> bool {
        self.rows.len() < MOST_TURNS
    }

    /// Adds the inputs made of one entry, the most promising first.
    pub fn add(&mut self, row: VecDeque<Made>) {
        if !row.is_empty() {
            self.rows.push_back(row);
        }
    }

    /// Removes and returns the next input.
    pub fn next(&mut self) -> Option<Made> {
        let mut row = self.rows.pop_front()?;
        let made = row.pop_front();
        self.add(row);
        made
    }
}
