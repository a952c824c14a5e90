//! C's arithmetic on typed values, with undefined behaviour as a value: the one definition.
//!
//! Everything in Patchwright that computes what a C expression evaluates to goes through this
//! crate: the probe inside the tested process, the columns of the search in the host, and the
//! interpreter of the IR. It is checked against the C compiler in crate `space`, whose terms are
//! compiled to the [`Instruction`]s defined here.
//!
//! # Values
//! A value of type [`Ty`] is a `u64` in *canonical form*: signed integers sign-extended to 64
//! bits, unsigned integers zero-extended, `Bool` 0 or 1, `F32` as its bits in the low half, `F64`
//! as its bits, `Ptr` as its address. One C value has exactly one canonical form, so values of one
//! type are equal when their `u64`s are, with IEEE's usual exceptions for floats. All functions
//! expect canonical operands ([`Ty::canonical`] makes them) and give canonical results.
//!
//! *Undefined behaviour* (⊥) is `None` for one value and a nonzero byte in a row of values.
//!
//! # The dialect
//! C17 on x86-64 Linux (LP64) as gcc and clang implement it:
//! - signed overflow, integer division or remainder by zero, a shift by a negative count or by at
//!   least the width, a signed left shift whose mathematical result is not representable (C17
//!   6.5.7p4: also one into the sign bit), and a conversion of a float to an integer type that
//!   cannot hold its integral part are undefined;
//! - a conversion to a narrower signed integer wraps, `>>` of a negative value copies the sign;
//! - floats are IEEE 754 in their own type (`FLT_EVAL_METHOD` 0), rounded to nearest after every
//!   operation (code compiled for a processor with fused multiply-add may differ): division by
//!   zero and overflow are defined. Sign and payload of a NaN are whatever the hardware gives;
//! - pointers are flat addresses. Arithmetic that leaves the address space, or that starts or ends
//!   at a null pointer without staying there, is undefined; object bounds are not modelled; those of
//!   an array are where an index is said to be [`within`] them.
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
