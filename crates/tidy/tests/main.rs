//! The tests of `patchwright-tidy` from outside, as one program: each that is linked by itself takes seconds of every build.

mod architecture;
mod documents;
mod json;
mod modules;
mod one_lexer;
mod one_walk;
mod project;
mod troubleshooting;
