//! For which inputs two versions of a program behave differently, how, and whether everything else is the same.
//!
//! Both versions are encoded in the same terms, with the same inputs ([`Pair`]). One question tells whether they are the
//! same for all inputs. If not, [`Explorer`] divides the inputs into differential partitions: chapter 3 of the thesis
//! "Automated Regression Testing and Verification of Complex Code Changes".
//!
//! # What is promised
//! - The condition of a partition implies what is said of it, for all inputs within the assumptions.
//! - When exploration ends by itself, every input that differs is in a partition, except those that a [`Reason`] names.
//! - Results of an interrupted exploration are as certain as those of a finished one.
//!
//! # What must not exist here
//! Files, processes, clang; a meaning of C of its own.

mod apart;
mod behaviour;
mod bounds;
mod code;
mod columns;
mod congruence;
mod coverage;
mod explore;
mod floats;
mod guess;
mod holders;
mod interactions;
mod leads;
mod mutate;
mod pair;
mod partition;
mod paths;
mod random;
mod rounds;
mod several;
mod shown;
mod specialise;
mod strongest;
mod text;
mod towards;
mod verdict;

pub use columns::Columns;
pub use coverage::{Share, covered};
pub use explore::Known;
pub use holders::{Holder, holders};
pub use interactions::{Sequence, executes_change, sequences};
pub use leads::spelled;
pub use mutate::{Case, Mutator, shrunk, words};
pub use pair::{ERRNO, ONE_NAN, Pair, Seen, Side, is_assumption};
pub use partition::{Behaviour, Explored, Explorer, Extent, Kind, Partition, Strategy};
pub use paths::{Followed, Found, Paths, Stop, Turning};
pub use rounds::{Rounds, Together};
pub use several::{Several, Shared, several};
pub use text::{changed_lines, is_same_code, renamed_parameters, same_parameters};
pub use towards::Compared;
pub use verdict::{Reason, Verdict, failing, reasons, verdict};
