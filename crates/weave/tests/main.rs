//! The tests of `patchwright-weave` from outside, as one program: each that is linked by itself takes seconds of every build.

mod alternatives;
mod common;
mod compilers;
mod forked;
mod impure;
mod kinds;
mod marks;
mod memory;
mod places;
mod processes;
mod refusals;
mod survey;
