//! What tests share: sources of C that clang reads, and random numbers.
//!
//! This crate is a dependency of tests only. What goes wrong here ends the test.

mod random;
mod source;

pub use random::{Random, cases, check};
pub use source::{Reader, module, unit};
