//! Answers to the questions of meta-programs and verifiers.

use std::collections::BTreeMap;

/// The values for what a program asks from outside: choices, constants and nondeterministic values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// What `__VERIFIER_nondet_int()` and the like give, call by call: bits, of which each call takes those that its
    /// type has.
    pub inputs: Vec<u128>,
    /// Which alternative is meant at each place of a meta-program; at others it is the original.
    pub choices: BTreeMap<u32, u32>,
    /// The numbers that a meta-program leaves open; others are 0.
    pub constants: BTreeMap<u32, i64>,
}
