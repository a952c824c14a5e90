//! Finds what the caller of a function can see of its effects.

/// An object that the caller of the function can see.
pub(crate) struct Visible {
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) size: u64,
    /// Bytes before the one that its name speaks of.
    pub(crate) origin: u64,
    /// Bytes of one of its elements, where an argument points to it.
    pub(crate) element: Option<u64>,
}
