//! C's arithmetic on typed values, with undefined behaviour as a value: the one definition.
//!
//! Everything in Patchwright that computes what a C expression evaluates to goes through this
//! crate: the probe inside the tested process, the columns of the search in the host, and the
//! interpreter of the IR. It is checked against the C compiler in crate `space`, whose terms are
//! compiled to the [`Instruction`]s defined here.
//!
//! # Values
//! A value of type [`Ty`] is a `u64` in *canonical form*:
//! - a signed integer is sign-extended to 64 bits, an unsigned one zero-extended;
//! - a `Bool` is 0 or 1;
//! - an `F32` is its bits in the low half, an `F64` its bits;
//! - a `Ptr` is its address.
//!
//! One C value has exactly one canonical form. So values of one type are equal when their `u64`s are, with IEEE's usual
//! exceptions for floats. All functions expect canonical operands ([`Ty::canonical`] makes them) and give canonical results.
//!
//! *Undefined behaviour* (⊥) is `None` for one value and a nonzero byte in a row of values.
//!
//! # The dialect
//! C17 on x86-64 Linux (LP64) as gcc and clang implement it.
//!
//! Undefined are:
//! - signed overflow;
//! - integer division or remainder by zero;
//! - a shift by a negative count, or by at least the width;
//! - a signed left shift whose mathematical result does not fit, also one into the sign bit (C17 6.5.7p4);
//! - a conversion of a float to an integer type that cannot hold its integral part;
//! - pointer arithmetic that leaves the address space, or that moves away from or to a null pointer.
//!
//! Defined are:
//! - a conversion to a narrower signed integer wraps, and `>>` of a negative value copies the sign;
//! - floats are IEEE 754 in their own type (`FLT_EVAL_METHOD` 0), rounded to nearest after every operation. Division by zero and
//!   overflow are defined; sign and payload of a NaN are what the hardware gives. Code compiled for fused multiply-add may differ;
//! - pointers are flat addresses. Bounds of objects are not modelled, except by [`within`] for the index of an array.
//!
//! # What must not exist here
//! Allocation, `std`, dependencies, and panics in release builds: the crate runs inside programs
//! under test, with code and data that a broken program may have overwritten.
#![no_std]

mod bytecode;
mod op;
mod precedence;
pub mod rows;
mod scalar;
mod ty;

pub use bytecode::{Instruction, MAX_STACK, Opcode, evaluate};
pub use op::{BinaryOp, UnaryOp};
pub use precedence::Precedence;
pub use scalar::{
    binary, convert, pointer_add, pointer_difference, pointer_index, pointer_sub, shift, truth,
    unary, within,
};
pub use ty::{Ty, binary_result, common, conversion_is_identity, promote};
