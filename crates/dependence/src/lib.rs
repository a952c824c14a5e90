//! Dependence in programs of the IR: who calls, points to and depends on what, and slices.
//!
//! # Static
//! * [`PointsTo`]: which objects a pointer may point to, and which of their members (Andersen's
//!   analysis: inclusion, by offsets, no contexts).
//! * [`CallGraph`]: who calls whom; calls through pointers by the points-to sets, or by type only.
//! * [`Graph`]: the system dependence graph of Horwitz, Reps and Binkley ("Interprocedural slicing
//!   using dependence graphs", 1990). It has a vertex for each instruction, and for each value or
//!   memory location that goes into or comes out of a routine or a call. Edges are control
//!   dependence and reaching definitions, in the form of static single assignment. Its
//!   [slices](Graph::backward) respect calling contexts.
//! * [`reduce()`]: a program without what is not in a slice, which can be executed.
//!
//! # Dynamic
//! [`Recorder`] follows an execution in the interpreter and keeps on what each executed instruction
//! depended. Its dynamic slices hold what contributed to a value in this execution; its relevant
//! slices also the branches that would have, had they gone another way.
//!
//! # What is taken for granted
//! * Arithmetic on a pointer does not leave an array inside of a structure, unless by a constant
//!   number of bytes or because the array is the last member.
//! * Pointers live in pointers and in integers of 64 bits. Copying one byte by byte in a loop of
//!   the program's own loses it (`memcpy` and structure copies do not).
//! * An unknown function is one that no module defines and crate `clib` does not list. It reads and
//!   writes all memory reachable from arguments of unknown functions, and it may call functions
//!   among these arguments. It does not know the program's variables by their names.
//! * What a program writes to a file it does not read back by another stream.
//! * Signal handlers are no ways of control ([`gaps`] names them, with what was not
//!   lowered); `longjmp` leads to any `setjmp` of the routines that may be active. Slices are about executions that come to
//!   their end: that a loop ends is no dependence.

mod bits;
mod call_graph;
mod classes;
mod control;
mod dynamic;
mod effects;
mod gaps;
mod graph;
mod points_to;
mod private;
mod reduce;
mod slice;
mod source;
mod ssa;

pub use bits::Bits;
pub use call_graph::{CallGraph, CallSite};
pub use dynamic::{DynamicSlice, Occurrence, Recorder};
pub use effects::Effects;
pub use gaps::{Gap, gaps};
pub use graph::{DependenceKind, Graph, Slot, Vertex, VertexId};
pub use points_to::{Location, LocationId, PointsTo};
pub use reduce::{Reduced, reduce};
pub use source::{Criterion, CriterionError, Line};
