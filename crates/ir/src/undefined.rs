//! Kinds of undefined behaviour.

/// What is undefined about what a program did. One list for those who execute the IR and those who encode it.
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
