//! The tests of `patchwright-repair` from outside, as one program: each that is linked by itself takes seconds of every build.

mod again;
mod again_later;
mod bit_fields;
mod common;
mod differential;
mod differential_choices;
mod early;
mod equivalence;
mod paper;
mod put_off;
mod random_programs;
mod two_places;
mod widening;
