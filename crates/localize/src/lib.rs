//! Spectrum-based fault localization: what failing tests execute, most suspicious first.
//!
//! [`localize`] builds the program once with a mark before every statement ([`patchwright_weave::mark_file`]) and runs
//! every test once; all processes of a test note what they execute in shared memory, which survives whatever ends them.
//! [`Localization::rank`] orders the statements, functions and files by one of four formulas ([`Formula`]) and by how
//! near they are to crashes ([`rank`]).
//!
//! # Invariants
//! * The built copy of the untouched program is only read; marks are put into a copy of it.
//! * A test whose verdict the marks change does not count.
//! * Ranks do not depend on time or on the order in which tests run.

pub mod blame;
pub mod crash;
mod error;
pub mod formula;
mod narrow;
mod observe;
pub mod rank;
mod statements;

pub use error::LocalizeError;
pub use formula::{Counts, Formula, UnknownFormula};
pub use observe::{Event, Localization, Subject, TestCoverage, first_line, lines_of, localize};
pub use rank::{Ranked, RankedGroup, Ranking};
pub use statements::{FunctionInfo, SourceFile, Statement};
