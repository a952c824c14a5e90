//! The tests of `patchwright-semantics` from outside, as one program: each that is linked by itself takes seconds of every build.

mod bytecode;
mod rows;
mod scalar;
