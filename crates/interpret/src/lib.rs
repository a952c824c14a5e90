//! Executes whole programs in the IR.
//!
//! Memory consists of objects with bounds, lifetimes and initialisation by byte; pointers have
//! provenance. Undefined behaviour ends the execution with its kind and its place; so does what
//! was not lowered, and a function of the library that has no model. The library is modelled in
//! Rust, as far as programs of the command line use it.
//!
//! The arithmetic is that of crate `semantics`, for the wide types that of `ir::wide`: the one
//! meaning of C.
//!
//! # What counts as undefined, and what does not
//! * A read of bytes that have no value is, whatever is done with the value; copying structures
//!   and `memcpy` copy the lack of a value. The padding of bit-fields counts as written together
//!   with the byte it is in.
//! * Pointer arithmetic may leave its object, but not lead to another one: accesses are checked.
//! * Comparing pointers into different objects with `<` is allowed, as compilers have it; their
//!   difference is not.
//! * Objects may be accessed as any type (`-fno-strict-aliasing`), and at any alignment.
//! * What the user accepts ([`Machine::allow`]) ends nothing, and is noted.
//! * Unspecified orders of evaluation are the ones of crate `lower`.

mod allow;
mod answers;
mod code;
mod copies;
mod decode;
mod execute;
mod fault;
mod libc;
mod link;
mod machine;
mod memory;
mod observe;
mod operate;
mod run;
mod world;

pub use allow::{Accepted, CAN_BE_ALLOWED};
pub use answers::Answers;
pub use fault::{Ending, Outcome, Place, Undefined};
pub use libc::real::real_value;
pub use link::LinkError;
pub use machine::{Limits, Machine};
pub use memory::Access;
pub use observe::{Observer, Step};
pub use world::{Closed, OpenHow, Status, Which, World};
