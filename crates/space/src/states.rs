//! The distinct states that executions have met at a hole.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The distinct states of a hole: the values of its slots. Each state is kept once, because executions
/// meet millions.
#[derive(Clone, Debug, Default)]
pub struct StateSet {
    /// Numbers of states, by what is in them.
    index: HashTable<u32>,
    count: u32,
    slots: usize,
    /// The value of each slot of each state; 0 if it is undefined.
    values: Vec<u64>,
    /// For each of them 1 if it is undefined.
    undefined: Vec<u8>,
}

impl StateSet {
    /// Returns the number of the state with these values, and whether it is new. Values of undefined
    /// slots do not count.
    pub fn insert(&mut self, values: &[u64], undefined: &[u8]) -> (u32, bool) {
        self.slots = values.len();
        let (start, next) = (self.values.len(), self.count);
        self.undefined
            .extend(undefined.iter().map(|&u| u8::from(u != 0)));
        self.values.extend(
            values
                .iter()
                .zip(undefined)
                .map(|(&value, &undefined)| if undefined != 0 { 0 } else { value }),
        );
        let slots = self.slots;
        let (all, flags) = (&self.values, &self.undefined);
        let row = |id: u32| {
            let range = id as usize * slots..(id as usize + 1) * slots;
            (&all[range.clone()], &flags[range])
        };
        let hash = |id: u32| FxBuildHasher.hash_one(row(id));
        let known = self
            .index
            .find(hash(next), |&id| row(id) == row(next))
            .copied();
        if let Some(known) = known {
            self.values.truncate(start);
            self.undefined.truncate(start);
            return (known, false);
        }
        self.index.insert_unique(hash(next), next, |&id| hash(id));
        self.count += 1;
        (next, true)
    }

    /// Returns the values of a state, and 1 for each undefined one.
    pub fn get(&self, id: u32) -> (&[u64], &[u8]) {
        let range = id as usize * self.slots..(id as usize + 1) * self.slots;
        (&self.values[range.clone()], &self.undefined[range])
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no state.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<u64>()
            + self.undefined.capacity()
            + self.index.allocation_size()
    }
}
