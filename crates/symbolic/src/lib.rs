//! The bounded encoding: what a program in the IR does, as terms over its inputs.
//!
//! [`encode`] unwinds the loops of a linked program up to a bound and inlines its calls. For each failure it returns the
//! condition on the inputs under which it happens. Paths are merged where control flow joins, so the formula grows with the
//! program and not with the number of paths. Sources: Clarke, Kroening and Lerda, "A tool for checking ANSI-C programs", 2004;
//! "Must fault localization for program repair", section 3.2.
//!
//! # What is promised
//! - A failure's condition holds exactly for the inputs with which the interpreter fails there, as
//!   long as no [`Unknown`] holds before it.
//! - If no failure, no unwinding and no unknown can hold, the program does not fail for any input.
//! - What is not encoded is an [`Unknown`] with its place and the condition under which it is reached.
//!
//! # Meaning
//! Operators mean what crate `semantics` says ([`meaning`]). Memory consists of objects with bounds,
//! lifetimes and written bytes, pointers of an object and an offset, as in crate `interpret`. What has
//! no value may have any, the same each time. The library is C ([`library`]), but for what C
//! cannot say.
//!
//! # What must not exist here
//! Files, processes, clang; a second meaning of an operator.

mod access;
mod addresses;
mod affine;
mod along;
mod argument_function;
mod arguments;
mod asking;
mod buffer;
mod call;
mod callback;
mod calling;
mod cells;
mod choices;
mod content;
mod decided;
mod difference;
mod encoder;
mod encoding;
mod extended;
mod facts;
pub mod inputs;
mod instruction;
mod lasso;
mod leads;
mod library;
mod loops;
pub mod meaning;
mod memory;
pub mod naming;
mod options;
mod order;
mod outside;
mod path;
mod pointee;
mod pointer;
mod run;
pub mod segments;
mod signs;
mod start;
pub mod uses;
mod visible;

pub use buffer::LOST;
pub use difference::{Difference, Differences, difference, printed_differently, reads_otherwise};
pub use encoding::{
    Counts, EncodeError, Encoding, Failure, FailureKind, Input, InputKind, LEFT_OPEN, Location,
    Outcome, Output, Piece, Place, Step, Turn, Unknown, Unwinding, UnwindingKind,
};
pub use leads::is_near_null;
pub use library::{INPUT_IS_LIMITED, MEMORY_IS_THERE, SCANF_SUCCEEDS};
pub use loops::{Head, heads};
pub use options::{Check, Entry, Made, Options, ParameterShape, Shape};
pub use outside::{NOTHING_KEPT, SEEN, changing};
pub use pointee::{Leads, Pointee};

use patchwright_ir::{Module, Program, read_module};
use patchwright_solve::{Assignment, Terms};

/// Functions of the C library that are written in C (`library.c`), lowered: to be linked to a program. Its definitions are
/// weak, so that the program's own take precedence.
///
/// They stand here as IR, so that no compiler has to read them each time; a test holds them to the C.
pub fn library() -> Module {
    match read_module(include_str!("library.ir")) {
        Ok(module) => module,
        Err(error) => unreachable!("a test reads library.ir: {error}"),
    }
}

/// Encodes a program, or one of its functions. Calls nest on the thread's stack as they do in the
/// program: give it some hundred MiB. `interrupt` is asked now and then whether to end.
///
/// # Errors
/// When there is no such function, or somebody asked for the end.
pub fn encode(
    program: &Program,
    entry: &Entry,
    options: &Options,
    terms: &mut Terms,
    interrupt: &dyn Fn() -> bool,
) -> Result<Encoding, EncodeError> {
    encoder::Encoder::new(program, options, terms, interrupt).program(entry)
}

/// Encodes the path that the program takes for `input`, an assignment to the variables of inputs in which
/// everything else is zero. The result holds for all inputs that take this path. [`Encoding::turns`] has
/// the conditions of the path. Only [`Options::instructions`] and [`Options::recursion`] bound it.
///
/// # Errors
/// As those of [`encode`].
pub fn encode_along(
    program: &Program,
    entry: &Entry,
    options: &Options,
    terms: &mut Terms,
    input: &Assignment,
    interrupt: &dyn Fn() -> bool,
) -> Result<Encoding, EncodeError> {
    let mut encoder = encoder::Encoder::new(program, options, terms, interrupt);
    encoder.along = Some(decided::Along::new(input.clone()));
    encoder.program(entry)
}
