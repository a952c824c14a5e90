//! The tests of `patchwright-compare` from outside, as one program: each that is linked by itself takes seconds of every build.

mod common;
mod paths;
mod proofs;
mod random;
mod rounds;
mod thesis;
