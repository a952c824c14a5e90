//! Reports of all commands: text for people, versioned JSON and JUnit XML for programs.
//!
//! # Invariants
//! * The JSON's shape is a promise: a field keeps its name and meaning within a version of the
//!   schema.
//! * Nothing here prints or writes: the caller does, and makes it safe to show ([`screen`]).

pub mod behaviour;
pub mod comparison;
pub mod complexity;
pub mod findings;
pub mod json;
pub mod kinds;
pub mod layered;
pub mod localization;
pub mod mutants;
pub mod page;
pub mod proof;
pub mod proofs;
pub mod proposals;
pub mod regression;
pub mod screen;
pub mod slice;
pub mod svg;
pub mod text;
pub mod validation;
