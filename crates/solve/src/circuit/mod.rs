//! Circuits of gates for the operations on bits.

mod divide;
mod float;
mod gates;
mod multiply;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use float::Format;
pub(crate) use gates::{Gate, Gates, Lit, Word};
