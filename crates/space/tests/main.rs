//! The tests of `patchwright-space` from outside, as one program: each that is linked by itself takes seconds of every build.

mod alternatives;
mod alternatives_of_statements;
mod candidate_costs;
mod candidates;
#[path = "common/changes.rs"]
mod changes;
mod common;
mod differential;
mod endings;
mod layout;
mod links;
mod rows_agree;
mod small_faults;
mod term;
