//! The tests of `patchwright-ctext` from outside.

mod clang;
