//! Measures changes of C code: change sequence graphs (CSG) and the cyclomatic complexity of changes
//! (CyCC).
//!
//! From two versions of files ([`compare`]) to changed statements ([`align`]), to the graph of the sequences in which
//! they can be executed ([`graph`]), to figures ([`mod@measure`]). [`git`] finds the versions in a repository. The terms,
//! definitions and algorithms are those of chapters 4 and 5 of the thesis "Automated Regression Testing and Verification
//! of Complex Code Changes".
//!
//! # Invariants
//! * Nothing is built or preprocessed, and nothing is written: sources are read as they stand.
//! * What could not be read is named in the measurement, never passed over.
//! * The same change gives the same graph, vertices in the order of files and lines.

pub mod align;
pub mod compare;
mod configure;
mod definitions;
pub mod git;
pub mod graph;
pub mod interaction;
pub mod measure;
pub mod paths;
mod program;
pub mod rank;
mod sequence;
mod trees;
mod uses;

pub use compare::{FileChange, Note, Outside, Source, Status};
pub use definitions::{Definitions, Disk, Flags, Version};
pub use graph::{Graph, Role, Vertex};
pub use measure::{Change, MeasuredFunction, Measurement, measure, measure_with};
pub use program::Outlines;
