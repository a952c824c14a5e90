//! The ends of an execution.

use std::fmt;

pub use patchwright_ir::Undefined;

/// Why an execution stopped before its end, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Exit(i32),
    Abort,
    Undefined(Undefined, String),
    /// A construct that was not lowered, or a function that has no model.
    Unsupported(String),
    /// An assumption does not hold.
    Assumption,
    /// The limit of instructions.
    Limit,
    /// The limit of memory, or of nested calls.
    Memory(&'static str),
    /// `longjmp`: to the frame, with the value.
    Jump(u64, i32),
}

/// The result of what can stop an execution.
pub(crate) type Run<T> = Result<T, Stop>;

/// Stops the execution because of undefined behaviour.
pub(crate) fn undefined<T>(kind: Undefined, message: impl Into<String>) -> Run<T> {
    Err(Stop::Undefined(kind, message.into()))
}

/// A place in the source: file, line and function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The function.
    pub function: String,
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, counted from 1; 0 when it is not known.
    pub line: u32,
    /// The node of the C tree, and its span in the main file.
    pub origin: Option<patchwright_ir::Origin>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} in {}", self.file, self.line, self.function)
    }
}

/// How an execution ended: by itself, by undefined behaviour, or at a limit of the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program ended, with this status.
    Exit(i32),
    /// `abort`, or a failed assertion.
    Abort,
    /// An assumption (`__VERIFIER_assume`) does not hold: the execution is none of those that are meant.
    Assumption,
    /// Undefined behaviour.
    Undefined {
        /// What kind.
        kind: Undefined,
        /// What happened.
        message: String,
    },
    /// What the interpreter cannot do.
    Unsupported(String),
    /// A limit was reached.
    Limit(&'static str),
}

/// How an execution ended, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the execution ended.
    pub ending: Ending,
    /// The calls that were active, the innermost first; empty after a normal exit.
    pub trace: Vec<Place>,
    /// IR instructions executed.
    pub instructions: u64,
}
