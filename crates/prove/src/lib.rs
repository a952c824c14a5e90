//! Proofs and repairs of programs with assertions: for all inputs, within an unwinding bound.
//!
//! The paper is "Must Fault Localization for Program Repair" (AllRepair and FL-AllRepair).

mod enumerate;
mod level;
mod mutation;
mod search;
mod slice;
mod syntax;
mod trusted;
mod wider;

pub use enumerate::enumerate;
pub use level::Level;
pub use mutation::{Change, Mutation, Mutations, Site, Unfit, changed, edits};
pub use search::{Choosable, Counts, Extent, Found, Question, Repair, Search};
pub use slice::deciding;
pub use trusted::Trusted;
