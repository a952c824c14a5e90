//! The tests of `patchwright-exec` from outside, as one program: each that is linked by itself takes seconds of every build.

mod cache;
mod common;
mod endless;
mod executed;
mod hostile;
mod kept_build;
mod project;
mod protection;
mod runner;
mod servers;
mod workflow;
