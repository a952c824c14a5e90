//! The tests of `patchwright-solve` from outside, as one program: each that is linked by itself takes seconds of every build.

mod common;
mod other_solver;
mod solver;
mod terms;
