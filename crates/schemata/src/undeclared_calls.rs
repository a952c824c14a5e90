//! Calls of functions that are not declared.

/// A function of a patch that calls one that is not declared.
pub struct UndeclaredCall {
    /// Index of the patch in the set.
    pub patch: usize,
    /// Index among the sources.
    pub file: usize,
    /// Index of the function in its unit.
    pub function: usize,
    /// Its body.
    pub body: Vec<u8>,
    /// The name that is called.
    pub name: String,
}
