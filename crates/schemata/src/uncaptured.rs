//! The reasons why an evaluation cannot be captured.

/// Why a text cannot be tried and undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Uncaptured {
    Call,
    Volatile,
    Assembly,
    Declares,
    Labels,
    Macro,
    Register,
    BitField,
    ReturnType,
    Sanitized,
    Unread,
    Construct,
    Undefined,
    Ways,
}

impl Uncaptured {
    /// Returns the reason as a phrase for tables and messages.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Call => "calls a function",
            Self::Volatile => "reads or writes volatile or atomic memory",
            Self::Assembly => "contains assembly",
            Self::Declares => {
                "declares an array, a structure or a static variable, or takes the address of a variable of its own"
            }
            Self::Labels => "defines labels",
            Self::Macro => "reads or writes memory in the body of a macro",
            Self::Register => "its function has register variables that must stay",
            Self::BitField => "writes a bit-field",
            Self::ReturnType => "returns a structure",
            Self::Sanitized => "is compiled with a sanitizer that reports undefined values",
            Self::Unread => "its syntax tree could not be read",
            Self::Construct => "uses a construct that is not modelled",
            Self::Undefined => "may use a variable, or end a function, without a value",
            Self::Ways => "means something else where the source is compiled in another way",
        }
    }
}
