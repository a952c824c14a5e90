//! Remembers the work of a search for later rounds at the same locations.

use std::collections::BTreeMap;

/// What was done where the search will come again, by unit and cost.
pub(crate) type DoneBefore = BTreeMap<(usize, u32), Done>;

/// What was done at one unit and cost.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) candidates: u64,
    pub(crate) explored: u64,
    pub(crate) undefined: u64,
    pub(crate) plausible: u64,
    pub(crate) classes: usize,
    pub(crate) reportable: usize,
}
