//! The tests of `patchwright-csource` from outside, as one program: each that is linked by itself takes seconds of every build.

mod common;
mod ctype;
mod large;
mod variants;
mod view_of_c;
