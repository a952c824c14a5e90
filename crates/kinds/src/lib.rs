//! Kinds of change as data: a language of C patterns, what they match, and the edits that they make.
//!
//! A kind is a text: what is looked for, what must hold, what is tried for its holes, what it becomes, and an example ([`read()`] describes
//! it). [`built_in`] has the list of this crate, one file for each subject in `kinds/`.
//!
//! Patterns are matched on the typed tree. Commuted operands, parentheses, braces, comments, `NULL` for `0` and `*(a + i)` for `a[i]` make no difference. The
//! change is the difference between the tree of the pattern and the tree of its replacement: what stands in both stays as it is written.
//!
//! # Invariants
//! * Nothing here starts a process or touches a file.
//! * The text that is compiled and the text that is reported come from the same edit.

mod ask;
mod built_in;
mod c_text;
mod clause;
mod difference;
mod domains;
mod find;
pub mod layout;
mod matches;
mod print;
mod read;
mod syntax;
mod together;
mod tree;

pub use built_in::{built_in, joined};
pub use find::{Change, Changes, Finder, Found, Target};
pub use read::{Example, Kind, ReadError, SCHEMAS, read};
pub use tree::Surroundings;
