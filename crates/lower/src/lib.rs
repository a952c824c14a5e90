//! Lowers the tree of C to the IR, with a map back to the source.
//!
//! # What is promised
//! * The IR of a function means what C17 on x86-64 Linux means, as gcc and clang implement it (crate `semantics`). Otherwise it
//!   has an `unsupported` instruction that names the construct. An `unsupported` instruction is reached exactly when the
//!   construct would be executed.
//! * Every operator of the source is one instruction (or one branch, for `&&`, `||`, `?:`), whose
//!   origin is the operator's node. Conversions are instructions of their own.
//!
//! # Order of evaluation
//! Where C leaves the order open, this is what gcc 12 does without optimisation:
//! * operands of operators from left to right;
//! * an assigned value before its place, but after it if the value is a call;
//! * arguments of calls from the last to the first, after the function itself.
//!
//! # Lifetimes
//! A local comes to life, without a value, at its declaration, and dies where its block is left by
//! falling off its end, `break`, `continue` or `return`; `goto` out of a block leaves it alive
//! until the function returns. Compound literals live like that, too; in functions with labels, where control may come to one again
//! within one life of its block, they live until the function returns. A variable array is allocated at its declaration, with a local
//! that stands for its scope; its lengths are in registers.
//!
//! # Labels as values
//! The labels of a function are the bytes of an object of their own: `&&label` is the address of one, and a computed `goto` is a switch
//! over its offset in that object.
//!
//! # Calls that nobody writes
//! The functions of `cleanup` are called where their variables go out of scope, also by `goto`, `break`, `continue` and `return`, after
//! the returned value is computed. Those of `constructor` and `destructor` are listed in the module.

mod aggregate;
pub mod alternatives;
mod assembly;
mod atomic;
mod builtin;
mod call;
mod complex_division;
mod constant;
mod data;
mod edge;
mod expression;
mod function;
mod lengths;
mod operator;
mod parts;
mod place;
mod prune;
mod statement;
mod subscript;
mod types;
mod unit;
mod wide_fields;

pub use types::scalar;
pub use unit::{lower, lower_with};
