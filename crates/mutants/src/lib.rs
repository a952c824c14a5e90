//! Mutants of a program: changes that undo a likely fix, and which of them the tests notice.
//!
//! A fix and the mistake that it mends are one change, read forwards and backwards. A mutant `m` of right code `c` is as likely
//! a mistake as the change from `m` to `c` is a likely fix. So the weights that order patches also order mutants
//! ([`generate`]).
//!
//! 1. [`generate`]: the candidates of each function, each with the bits of the change that undoes it.
//! 2. [`choose`]: an order in which no line and no function takes all; those with the same machine code are left out ([`code`]).
//! 3. [`covered`]: which of them stand in statements that no test executes.
//! 4. [`run`](mod@run): the others are validated as patches; whatever survives is shown to the caller, who may know whether it is equivalent.
//!
//! # Invariants
//! * The user's tree is only read.
//! * The same program with the same options has the same mutants in the same order.
//! * A mutant is called killed only if a test fails in its build, or in a woven program that does what it does, and passes in the untouched
//!   program. That no test executes it is said only if all tests were seen.

pub mod choose;
pub mod code;
pub mod covered;
pub mod error;
pub mod generate;
pub mod journal;
pub mod outcome;
pub mod run;
pub mod shard;

pub use error::MutantsError;
pub use generate::{Mistake, Mutant};
pub use outcome::{Answer, Fate, Judged, MutantsOutcome, Tally};
pub use run::{Asked, MutantsOptions, mutate};
