//! Why an execution ends.

use std::fmt;

/// What is undefined about what a program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Undefined {
    NullPointer,
    OutOfBounds,
    UseAfterFree,
    /// A local of a block or function that has been left.
    UseAfterScope,
    WildPointer,
    UninitializedRead,
    WriteToConstant,
    SignedOverflow,
    DivisionByZero,
    BadShift,
    /// A float that the integer type cannot hold.
    BadConversion,
    DoubleFree,
    InvalidFree,
    /// The difference of pointers into different objects, or not by whole elements.
    BadDifference,
    /// Arithmetic that leads from one object to another, or starts at a null pointer.
    BadPointerArithmetic,
    /// The value of a function that returned none is used.
    MissingReturn,
    /// The callee's type is not the one of the call.
    BadCall,
    /// `va_arg` of another type, or of an argument that was not passed.
    BadVariadic,
    Unreachable,
    /// A function of the library was called with what it does not take.
    BadArgument,
}

impl Undefined {
    /// A name that does not change, for scripts.
    pub fn code(self) -> &'static str {
        match self {
            Undefined::NullPointer => "null-pointer",
            Undefined::OutOfBounds => "out-of-bounds",
            Undefined::UseAfterFree => "use-after-free",
            Undefined::UseAfterScope => "use-after-scope",
            Undefined::WildPointer => "wild-pointer",
            Undefined::UninitializedRead => "uninitialized-read",
            Undefined::WriteToConstant => "write-to-constant",
            Undefined::SignedOverflow => "signed-overflow",
            Undefined::DivisionByZero => "division-by-zero",
            Undefined::BadShift => "bad-shift",
            Undefined::BadConversion => "bad-conversion",
            Undefined::DoubleFree => "double-free",
            Undefined::InvalidFree => "invalid-free",
            Undefined::BadDifference => "bad-pointer-difference",
            Undefined::BadPointerArithmetic => "bad-pointer-arithmetic",
            Undefined::MissingReturn => "missing-return",
            Undefined::BadCall => "bad-call",
            Undefined::BadVariadic => "bad-variadic-argument",
            Undefined::Unreachable => "unreachable",
            Undefined::BadArgument => "bad-argument",
        }
    }
}

/// Why an execution stopped before its end, without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Exit(i32),
    Abort,
    Undefined(Undefined, String),
    /// A construct that was not lowered, or a function that has no model.
    Unsupported(String),
    /// The limit of instructions.
    Limit,
    /// The limit of memory, or of nested calls.
    Memory(&'static str),
    /// `longjmp`: to the frame, with the value.
    Jump(u64, i32),
}

/// The result of what can stop an execution.
pub(crate) type Run<T> = Result<T, Stop>;

pub(crate) fn undefined<T>(kind: Undefined, message: impl Into<String>) -> Run<T> {
    Err(Stop::Undefined(kind, message.into()))
}

/// A place in the source.
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

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program ended, with this status.
    Exit(i32),
    /// `abort`, or a failed assertion.
    Abort,
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

/// The end of an execution, and where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How.
    pub ending: Ending,
    /// The calls that were active, the innermost first; empty after a normal exit.
    pub trace: Vec<Place>,
    /// IR instructions executed.
    pub instructions: u64,
}
