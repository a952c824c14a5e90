//! The tests of `patchwright-schemata` from outside, as one program: each that is linked by itself takes seconds of every build.

mod cleared;
mod common;
mod culprits;
mod differential;
mod hazards;
mod macro_labels;
mod macros;
mod outside;
mod shapes;
mod slid;
mod small_projects;
mod states;
mod surroundings;
mod theorem;
mod uncompilable;
mod undeclared;
mod warnings;
mod ways;
