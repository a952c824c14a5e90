//! Terms over bit-vectors, truth values, arrays, floating-point numbers and uninterpreted functions, and a solver that
//! finds values for their variables.
//!
//! [`Terms`] is a pool: a term that is built twice is the same one, every constructor simplifies, and nothing is ever
//! dropped. Operations mean what SMT-LIB 2 says, division by zero and shifts by more than the width included. Floating point
//! rounds to nearest, ties to even. A NaN that an operation gives is the canonical one.
//!
//! This is the bottom layer: it knows nothing of C.

mod arithmetic;
mod arrays;
mod bits;
mod blast;
mod boolean;
mod circuit;
mod compare;
mod fold;
mod known;
mod overflow;
mod read;
mod real;
mod rings;
mod sat;
mod shape;
mod shifts;
pub mod smtlib;
mod solver;
mod sort;
mod terms;
mod value;
mod walk;

pub use fold::FloatOp;
pub use rings::Rings;
pub use sat::Backend;
pub use solver::{Answer, Budget, Solver, Statistics};
pub use sort::{Float, MOST_BITS, Sort};
pub use terms::{Arguments, Node, Symbol, Term, Terms};
pub use value::{ArrayValue, Assignment, Value};
