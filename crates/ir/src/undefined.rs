//! The kinds of undefined behaviour.

/// A kind of undefined behaviour. The interpreter and the encoding share this list.
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
    /// Whether one mistake may be reported as either kind. The interpreter and the encoding know more
    /// or less about where a pointer comes from.
    pub fn may_stand_for(self, other: Undefined) -> bool {
        use Undefined::*;
        // A pointer that leads to where nothing may be accessed; what moves it there is a mistake already.
        const ACCESS: [Undefined; 6] = [
            NullPointer,
            OutOfBounds,
            UseAfterFree,
            UseAfterScope,
            WildPointer,
            BadPointerArithmetic,
        ];
        // What is freed is no allocation, or none any more.
        const FREE: [Undefined; 4] = [DoubleFree, InvalidFree, UseAfterFree, WildPointer];
        // A value that nobody gave.
        const VALUE: [Undefined; 2] = [UninitializedRead, MissingReturn];
        // What is called, or asked for, is not what is there.
        const CALL: [Undefined; 4] = [BadCall, BadVariadic, WildPointer, NullPointer];
        // A function of the library gets what it does not take, or touches it.
        const ARGUMENT: [Undefined; 4] = [BadArgument, OutOfBounds, NullPointer, WildPointer];
        self == other
            || [&ACCESS[..], &FREE, &VALUE, &CALL, &ARGUMENT]
                .iter()
                .any(|kinds| kinds.contains(&self) && kinds.contains(&other))
    }

    /// Returns the stable name of the kind for scripts, such as `null-pointer`.
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

/// Returns a size as messages say it: `1 byte`, `4 bytes`.
pub fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}
