//! Proofs and repairs of programs with assertions: for all inputs, within an unwinding bound.
//!
//! The paper is "Must Fault Localization for Program Repair" (AllRepair and FL-AllRepair).

mod arguments;
mod base;
mod compared;
mod decider;
mod defines;
mod enumerate;
mod exchange;
mod explicit;
mod harness;
mod induction;
pub mod inputs;
mod level;
mod locate;
mod mutation;
mod negation;
mod numbers;
mod operators;
mod paths;
mod pieces;
mod program_inputs;
mod question;
mod real;
mod repair;
mod repaired;
mod replay;
mod search;
mod shortest;
mod shown_inputs;
mod simple;
mod slice;
mod source;
mod spec;
mod syntax;
mod told;
mod tree;
mod trial;
mod trusted;
mod turn;
mod unordered;
mod value;
mod verdict;
mod wider;

pub use arguments::{ArgumentUses, ArgumentsRead, arguments_read, mixes_arguments};
pub use compared::compared;
pub use decider::OneByOne;
pub use enumerate::enumerate;
pub use harness::{
    For, HarnessError, Parts, harness, has_initial_values, initial_harness, main_harness,
    number_of_pointer, pointers, pointers_at_start, writable,
};
pub use induction::{Induction, Inductive};
pub use level::Level;
pub use locate::{MustSets, locate};
pub use mutation::{Change, Mutation, Mutations, Site, Unfit, changed};
pub use paths::{Followed, Paths, PathsFound};
pub use program_inputs::{arguments, standard_input};
pub use question::{
    Choosable, Counts, Decider, Extent, Found, Judged, NoDecider, Open, Question, Repair, Standing,
};
pub use real::Real;
pub use repair::{choices, mutations, patched, question};
pub use replay::{Replay, agreement, execute};
pub use search::Search;
pub use shown_inputs::shown_inputs;
pub use simple::simple;
pub use slice::deciding;
pub use source::{EntryError, Source, find, link, want};
pub use spec::{ASSUMING, Spec, Wrong, WrongKind, excuse, spec};
pub use told::{Told, beginning, told};
pub use tree::{Decision, Leaf, NodeId, Tree};
pub use trusted::{Trusted, unchanged};
pub use turn::{Turned, Turner};
pub use unordered::unordered;
pub use value::shown;
pub use verdict::{Counterexample, Given, Prover, TraceStep, Verdict, given};
