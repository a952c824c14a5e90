//! A changed file to build and test.

use std::{collections::BTreeSet, path::Path};

use patchwright_csource::Function;

/// A changed file.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'c> {
    /// It, relative to the project's root.
    pub(crate) file: &'c Path,
    /// What it holds.
    pub(crate) text: &'c [u8],
    /// What that changes.
    pub(crate) diff: &'c [u8],
    /// By index, the tests that execute what is changed, if that is known.
    pub(crate) visited_by: Option<&'c BTreeSet<usize>>,
    /// The function of the untouched file in which it changes something, if that is known.
    pub(crate) function: Option<&'c Function>,
}
