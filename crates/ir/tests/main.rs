//! The tests of `patchwright-ir` from outside, as one program: each that is linked by itself takes seconds of every build.

mod roundtrip;
mod text;
