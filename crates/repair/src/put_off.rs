//! Candidates whose exploration is postponed.

use patchwright_space::CandidateId;

/// Candidates of one cost at one location.
pub(crate) struct Deferred {
    pub(crate) cost: u32,
    pub(crate) unit: usize,
    /// `None` for all of them.
    pub(crate) candidates: Option<Vec<CandidateId>>,
}
