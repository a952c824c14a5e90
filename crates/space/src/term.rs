//! Terms: the typed C expressions that fill holes.
//!
//! A [`Term`] is built by constructors that apply C's typing rules, so every term that exists is
//! valid C with a known type ([`CType`]). There are three operations:
//!
//! - [`compile`] returns [`Instruction`](patchwright_semantics::Instruction)s that compute what the compiler's code computes;
//! - [`Term::display`] prints the C that a person would write;
//! - [`Term::simplification`] finds a simpler term with the same value.
//!
//! Terms have no side effects: their operators are the pure ones, and their leaves are constants
//! and atoms, whose values are observed before the term is evaluated.
//!
//! The target is LP64 with a signed `char`, like x86-64 Linux.

mod compile;
mod ctype;
mod literal;
mod print;
mod redundant;
mod tree;

pub use compile::{CompileError, Context, compile};
pub use ctype::{
    CType, Operand, Pointee, PointeeId, Pointees, TypeError, binary_type, cast_type,
    conditional_type, is_assignable, promote, unary_type, usual_conversions,
};
pub use print::Precedence;
pub use redundant::Simplification;
pub use tree::{Atom, AtomId, AtomTable, Kind, Term};
