//! Describes what pointers point to, in words that mean the same in another version of the program.

use patchwright_solve::Term;

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// An object that the caller can see.
    Object {
        /// Its name, as in [`crate::Outcome::objects`].
        name: String,
        /// Bytes of one of its elements, where an argument points to it; nothing for globals.
        element: Option<u64>,
    },
    /// A constant, such as a string literal: its bytes from there on.
    Constant(Vec<u8>),
    /// A function of this name.
    Function(String),
}

/// The possible targets of a pointer that is not null, with offsets and conditions.
#[derive(Clone, Debug, Default)]
pub struct Leads {
    /// What it may lead to: under which condition, and how many bytes behind the first, with a sign, in 64 bits (0 for
    /// constants and functions). The conditions exclude each other.
    pub to: Vec<(Term, Pointee, Term)>,
    /// The condition under which the pointer leads to other memory, such as that of `malloc`, or is a number that is no known
    /// address.
    pub elsewhere: Option<Term>,
    /// The condition under which nobody knows where.
    pub unknown: Option<Term>,
}
