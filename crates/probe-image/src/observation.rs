//! The report of a run about a candidate.

use serde::{Deserialize, Serialize};

/// The distinct states seen at the active hole, in the order in which they were first seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    slot_count: usize,
    values: Vec<u64>,
    undefined: Vec<u8>,
    results: Vec<Option<u64>>,
}

impl States {
    /// Makes an empty list of states with `slot_count` slots.
    pub fn new(slot_count: usize) -> Self {
        Self {
            slot_count,
            ..Self::default()
        }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there is no state: the hole was not visited, or nothing could be logged.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns the number of slots of every state.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Returns the values of the slots in a state, in canonical form. Undefined slots have 0.
    ///
    /// # Panics
    /// When there is no such state.
    pub fn values(&self, state: usize) -> &[u64] {
        assert!(state < self.len(), "state {state} of {}", self.len());
        &self.values[state * self.slot_count..][..self.slot_count]
    }

    /// Returns 1 for each undefined slot of a state, else 0.
    ///
    /// # Panics
    /// When there is no such state.
    pub fn undefined(&self, state: usize) -> &[u8] {
        assert!(state < self.len(), "state {state} of {}", self.len());
        &self.undefined[state * self.slot_count..][..self.slot_count]
    }

    /// Returns the candidate's value in each state. `None` is undefined behaviour.
    pub fn results(&self) -> &[Option<u64>] {
        &self.results
    }

    /// Returns the values of one slot in all states, and 1 for each state in which it is undefined.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn column(&self, slot: usize) -> (Vec<u64>, Vec<u8>) {
        assert!(slot < self.slot_count, "slot {slot} of {}", self.slot_count);
        let rows = 0..self.len();
        rows.map(|state| {
            let place = state * self.slot_count + slot;
            (self.values[place], self.undefined[place])
        })
        .unzip()
    }

    /// Adds a state: the values of its slots, which of them are undefined, and the candidate's value.
    ///
    /// # Panics
    /// When the iterators do not give one item for each slot.
    pub fn push(
        &mut self,
        values: impl IntoIterator<Item = u64>,
        undefined: impl IntoIterator<Item = u8>,
        result: Option<u64>,
    ) {
        self.values.extend(values);
        self.undefined.extend(undefined);
        self.results.push(result);
        let expected = self.results.len() * self.slot_count;
        assert_eq!(
            (self.values.len(), self.undefined.len()),
            (expected, expected)
        );
    }

    /// Keeps the first of equal states. Equal states have equal hashes; `hashes` has one for each state.
    pub(crate) fn remove_duplicates(&mut self, hashes: &[u64]) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|state| (hashes[*state], *state));
        let mut duplicate = vec![false; self.len()];
        for group in order.chunk_by(|a, b| hashes[*a] == hashes[*b]) {
            for (place, state) in group.iter().enumerate() {
                duplicate[*state] = group[..place].iter().any(|earlier| {
                    self.values(*earlier) == self.values(*state)
                        && self.undefined(*earlier) == self.undefined(*state)
                });
            }
        }
        if !duplicate.contains(&true) {
            return;
        }
        let mut kept = States::new(self.slot_count);
        for state in (0..self.len()).filter(|state| !duplicate[*state]) {
            kept.push(
                self.values(state).iter().copied(),
                self.undefined(state).iter().copied(),
                self.results[state],
            );
        }
        *self = kept;
    }
}

/// Everything that the processes of a run have reported about a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Programs and shared libraries of processes that found the channel. 0 means that the run observed nothing: the
    /// test did not start the program, or where it could not see the files of the run.
    pub attached: u32,
    /// How often the hole was visited.
    pub visits: u64,
    /// Some state was not logged because there were too many.
    pub overflow: bool,
    /// A process has ended itself because the run took longer than the host has [patience](crate::Patience) for:
    /// the test has no verdict.
    pub ended: bool,
    /// States that were being logged when their process was killed; their candidate's value was never used.
    pub incomplete: u32,
    /// In some state the candidate's value is undefined behaviour. The process has been killed; whatever the test made
    /// of that, the candidate does not pass.
    pub undefined: bool,
    /// The program handed over other slots than described: the woven source and the channel do not belong together.
    pub mismatch: bool,
    /// The distinct states.
    pub states: States,
}

impl Observation {
    /// Whether every distinct state at which the candidate's value was used is among [`states`](Self::states), which
    /// is what makes a test-equivalence class sound.
    pub fn is_complete(&self) -> bool {
        !self.overflow && !self.ended && !self.mismatch && self.incomplete == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_states_is_kept_and_the_order_stays() {
        let mut states = States::new(2);
        states.push([1, 2], [0, 0], Some(10));
        states.push([3, 0], [0, 1], None);
        states.push([1, 2], [0, 0], Some(10));
        states.push([3, 0], [0, 0], Some(11));
        // The last state has the hash of the second without being equal to it.
        states.remove_duplicates(&[7, 5, 7, 5]);
        assert_eq!(states.results(), [Some(10), None, Some(11)]);
        assert_eq!(states.values(2), [3, 0]);
        assert_eq!(states.column(1), (vec![2, 0, 0], vec![0, 1, 0]));
    }
}
