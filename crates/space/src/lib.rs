//! Spaces of candidates: where the schemas apply, what fills their holes, and how whole spaces
//! are evaluated at once.
//!
//! * [`term`]: the typed C expressions that fill holes, and their one meaning.
//! * [`mod@holes`]: the locations of a function; [`sites`]: the places inside of them that change.
//! * [`mod@choices`], [`registry`]: changes that are no terms (initialisation, calls, moved statements, operators that assign); [`exits`]: early exits.
//! * [`assign`]: where variables can be assigned, and what touches them.
//! * [`slots`], [`model`], [`mod@leaves`], [`mod@distant`]: which variables, members, elements and constants terms are
//!   made of, and how the tested process tells their values.
//! * [`familiar`]: which operators a function uses.
//! * [`pools`], [`space`]: candidates as blocks, by cost, never enumerated up front.
//! * [`partition`]: groups of candidates that have the same values in all states seen so far
//!   (f1x, section 3.3: the value projection).
//! * [`agreement`]: holes of a source that is compiled in several ways.
//! * [`edit`]: candidates as edits of the source.
//!
//! # Invariants
//! * Nothing here starts a process or touches a file.
//! * The value of a candidate in a state is what [`term::compile`]d code computes for its term:
//!   rows and single evaluation agree, and a test shows it.

pub mod agreement;
pub mod alternatives;
mod answers;
pub mod assign;
mod begin_again;
mod both_sides;
mod builder;
mod calls;
pub mod choices;
mod columns;
mod common_leaves;
mod connectives;
mod constants;
mod counterparts;
pub mod crash_free;
mod data_kinds;
mod directions;
pub mod distant;
pub mod edit;
mod else_joined;
mod else_reordered;
mod endings;
mod evaluators;
mod exchanged_names;
mod exclusion;
pub mod exits;
pub mod familiar;
mod first_values;
mod formats;
mod function_values;
pub mod holes;
mod impure;
mod initialization;
mod jumps;
mod labels;
mod lanes;
pub mod leaves;
mod limits;
mod links;
mod loops;
pub mod model;
mod moves;
mod neighbours;
mod operators;
mod others;
mod own_calls;
pub mod partition;
mod passed;
mod pool_rows;
pub mod pools;
mod predicates;
pub mod registry;
mod renames;
mod repetitions;
mod resets;
mod results;
pub mod schema;
mod second_calls;
mod selectors;
pub mod sites;
pub mod slots;
pub mod space;
mod spelling;
pub mod states;
mod targets;
pub mod term;
pub mod types;
mod ways_out;
mod widenings;
mod wording;
mod wraps;

pub use assign::{AssignmentAt, Assignments, Target, TouchPoint, assignments};
pub use builder::ASSIGNMENT_COST;
pub use choices::{Callees, Choice, Choices, Form};
pub use crash_free::{CrashFree, Demands};
pub use distant::{Leaves, Shown, distant};
pub use first_values::tables::writable as writable_tables;
pub use formats::{changed_argument, fitted_format};
pub use holes::{Added, Captured, Hole, HoleKind, holes};
pub use leaves::{LeafLimits, Mentions, leaves, mentions};
pub use partition::{Group, GroupId, Level, Part};
pub(crate) use patchwright_kinds::layout as insertion;
pub use patchwright_kinds::layout::delete_statement;
pub use registry::choices;
pub use sites::Parents;
pub use slots::{AtomBuilder, Slot, SlotSource};
pub use space::{Block, CandidateId, Schema, Schemas, Space, SpaceLimits, original};
pub use states::StateSet;
pub use types::TermTypes;
