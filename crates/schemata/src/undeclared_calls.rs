//! Calls of undeclared functions.

/// A call of an undeclared function in a patched function.
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
