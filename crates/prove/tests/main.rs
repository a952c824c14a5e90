//! The tests of `patchwright-prove` from outside, as one program: each that is linked by itself takes seconds of every build.

mod all_mutants;
mod assertions;
mod bounded;
mod common;
mod cost;
mod exhaustive;
mod harnesses;
mod induction;
mod kinds;
mod level_three;
mod library;
mod mutants;
mod paper;
mod programs;
mod search;
