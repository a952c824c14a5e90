//! Statements of C and what flows between them, read from a file as it stands: no compiler, no headers, no build.
//!
//! [`Directives`] finds the conditional directives of a file and leaves one branch of each; [`read`] makes an
//! [`Outline`] of the rest with tree-sitter's grammar of C. On a function of it stand the control-flow graph ([`Cfg`]),
//! and on that dominators and control dependence ([`dominators`]), reaching definitions and slices ([`dependence`]).
//!
//! # Invariants
//! * Every text has an outline. What is no C is there as plain statements, and the outline says where.
//! * Offsets and lines are those of the file as written.
//! * Types, macros and layouts are unknown here: what needs them belongs on `csource`.

mod access;
pub mod cfg;
mod declared;
pub mod dependence;
pub mod directives;
pub mod dominators;
pub mod headers;
mod macros;
pub mod outline;
mod read;

pub use cfg::{Cfg, Node};
pub use directives::Directives;
pub use macros::Macros;
pub use outline::*;
pub use read::{read, read_default, read_in};
