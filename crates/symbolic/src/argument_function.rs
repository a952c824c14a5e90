//! Encodes calls of functions to which an argument points: any function of its type.

use patchwright_ir::Type;

/// A function that an argument leads to.
pub(crate) struct Known {
    /// The pointer that leads to it.
    pub(crate) name: String,
    /// How it is called, once it has been.
    pub(crate) signature: Option<(Vec<Type>, Type)>,
    /// What its calls give, as inputs: their places in the list of all.
    pub(crate) given: Vec<usize>,
}
