//! The tests of `patchwright-interpret` from outside, as one program: each that is linked by itself takes seconds of every build.

mod examples;
mod instructions;
mod language;
mod programs;
mod student;
mod subscripts;
mod written;
