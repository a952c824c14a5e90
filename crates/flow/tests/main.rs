//! The tests of `patchwright-flow` from outside, as one program: each that is linked by itself takes seconds of every build.

mod graphs;
mod slices;
