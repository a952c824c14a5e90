//! The tests of `patchwright-dependence` from outside, as one program: each that is linked by itself takes seconds of every build.

mod common;
mod deletion;
mod figures;
mod jumps;
mod members;
mod programs;
