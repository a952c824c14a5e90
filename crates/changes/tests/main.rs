//! The tests of `patchwright-changes` from outside, as one program: each that is linked by itself takes seconds of every build.

mod any_text;
mod common;
mod figures;
mod statements;
mod uses;
