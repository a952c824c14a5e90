//! The tests of `patchwright-symbolic` from outside, as one program: each that is linked by itself takes seconds of every build.

mod closed;
mod common;
mod difference;
mod input;
mod library;
mod limits;
mod meaning;
mod memory;
mod random;
