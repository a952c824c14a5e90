//! The language, and the list of kinds.

mod examples;
mod reading;
mod reference;
mod source;
