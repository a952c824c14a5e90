//! The tests of `patchwright-graph` from outside, as one program: each that is linked by itself takes seconds of every build.

mod graphs;
