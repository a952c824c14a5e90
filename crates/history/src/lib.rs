//! The history of a program: revisions as folders ([`export()`]), and the search for the commit that introduced a failure
//! ([`regression`]): commits are built and tested ([`trial`]), and chosen by bisection ([`bisect`]). Small fixes of the past show how people mend things ([`small_fixes`]).
//!
//! # Invariants
//! * The user's checkout is only read. Revisions are taken from the repository itself, and built in copies.
//! * Two commits with the same files are built once.
//! * A commit of which nothing can be told counts neither as good nor as bad; what then remains in doubt is said.

pub mod bisect;
pub mod export;
pub mod regression;
pub mod small_fixes;
pub mod trial;

pub use bisect::Search;
pub use export::{ExportError, Exported, export};
pub use regression::{Answer, Event, FixCheck, Hunt, Question, RegressionError, Tried, Verdict};
pub use trial::{Bench, Outcome, Taken, TrialError, TrialOptions, Trials};
