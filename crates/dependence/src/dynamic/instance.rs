//! The executed instructions of a recorded execution.

/// An executed instruction, by its number in the order of execution.
pub(super) type Instance = u32;

/// The number that stands for no instruction.
pub(super) const NONE: Instance = u32::MAX;
