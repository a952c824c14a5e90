//! Meta-programs: holes woven into C source.
//!
//! [`weave_file`] gives every woven function its body twice, behind one test of a byte: a copy in which the holes ask
//! the probe, and the original. So a program in which nothing is selected runs the code it always ran, at the price of
//! that test, and what a compiler derives from the source (`__LINE__`, `__func__`, warnings as errors, debugging
//! information) stays as it was. A few lines of C in front of the file, the *glue*, hold the selection bytes and a
//! constructor that loads the probe when the environment asks for it.
//!
//! Invariants:
//! - nothing here parses C. Spans and types come from the caller; a lexer that knows comments, literals, line splices
//!   and directives is all there is;
//! - every identifier that is added begins with `__pw_`;
//! - no line of the source moves: lines are only added between `#line` directives.

mod duplicate;
mod glue;
mod hook;
mod lexer;
mod lines;
mod weave;

pub use duplicate::{Refusal, can_duplicate};
pub use hook::{CapturedPart, Hook, HookKind};
pub use patchwright_probe_abi::{FunctionId, HoleId};
pub use weave::{WeaveError, WovenFunction, weave_file};
