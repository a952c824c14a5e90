//! The text form, which reads back to the same module.
//!
//! Every line is one thing; words are separated by blanks or commas; `!n` after an operand, an
//! edge or at the end of a line is its origin, an `origin` line of the function counted from 0.

mod print;
mod read;

pub use print::{print_function, print_module};
pub(crate) use print::{print_instruction, print_local, print_terminator};
pub use read::{ReadError, read_module};
