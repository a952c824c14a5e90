//! The types of values in the IR, and numbers that name things.

use std::fmt;

use patchwright_semantics::Ty;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index into the list of such things.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(/// Names a local of a function.
    LocalId, "l");
id!(/// Names a temporary of a function.
    TempId, "t");
id!(/// Names a block of a function; block 0 is the entry.
    BlockId, "b");
id!(/// Names a function of a module.
    FunctionId, "fn");
id!(/// Names a global of a module.
    GlobalId, "g");
id!(/// Names a source file of a module.
    FileId, "file");
id!(/// Names a function of a linked program.
    RoutineId, "r");
id!(/// Names an object of static storage duration of a linked program.
    ObjectId, "o");
id!(/// Names an origin of a function.
    OriginId, "!");

/// The type of a value in the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Void,
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    U128,
    F32,
    F64,
    /// `long double`: the x87 format of 80 bits, in 16 bytes.
    F80,
    Ptr,
    /// A structure or union, handed over by value in a call: its operand is the address of the
    /// object that is copied.
    Aggregate {
        /// Bytes.
        size: u64,
    },
}

impl Type {
    /// Returns the type of crate `semantics`, or `None` for types that it does not know.
    pub const fn scalar(self) -> Option<Ty> {
        Some(match self {
            Type::Bool => Ty::Bool,
            Type::I8 => Ty::I8,
            Type::U8 => Ty::U8,
            Type::I16 => Ty::I16,
            Type::U16 => Ty::U16,
            Type::I32 => Ty::I32,
            Type::U32 => Ty::U32,
            Type::I64 => Ty::I64,
            Type::U64 => Ty::U64,
            Type::F32 => Ty::F32,
            Type::F64 => Ty::F64,
            Type::Ptr => Ty::Ptr,
            Type::Void | Type::I128 | Type::U128 | Type::F80 | Type::Aggregate { .. } => {
                return None;
            }
        })
    }

    /// Returns the size in bytes of an object of this type. That of `void` is 0.
    pub const fn size(self) -> u64 {
        match self {
            Type::Void => 0,
            Type::Bool | Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::I64 | Type::U64 | Type::F64 | Type::Ptr => 8,
            Type::I128 | Type::U128 | Type::F80 => 16,
            Type::Aggregate { size } => size,
        }
    }

    /// Whether this is an integer type, `_Bool` and 128-bit integers included.
    pub const fn is_integer(self) -> bool {
        match self.scalar() {
            Some(ty) => ty.is_integer(),
            None => matches!(self, Type::I128 | Type::U128),
        }
    }

    /// Whether this is a floating type.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64 | Type::F80)
    }

    /// Whether a temporary or a register can have this type: all but `void` and aggregates.
    pub const fn is_value(self) -> bool {
        !matches!(self, Type::Void | Type::Aggregate { .. })
    }

    /// Whether this is an integer type with negative values.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::I128
        )
    }

    /// Returns what C calls the type, for messages: `int` for `i32`. A pointer is `void *`, a record `struct`.
    pub const fn in_c(self) -> &'static str {
        match self {
            Type::Void => "void",
            Type::Bool => "_Bool",
            Type::I8 => "signed char",
            Type::U8 => "unsigned char",
            Type::I16 => "short",
            Type::U16 => "unsigned short",
            Type::I32 => "int",
            Type::U32 => "unsigned int",
            Type::I64 => "long",
            Type::U64 => "unsigned long",
            Type::I128 => "__int128",
            Type::U128 => "unsigned __int128",
            Type::F32 => "float",
            Type::F64 => "double",
            Type::F80 => "long double",
            Type::Ptr => "void *",
            Type::Aggregate { .. } => "struct",
        }
    }

    /// Returns the type that `text` names, or `None`. It is the inverse of `Display`.
    pub fn parse(text: &str) -> Option<Type> {
        if let Some(size) = text.strip_prefix("agg") {
            return Some(Type::Aggregate {
                size: size.parse().ok()?,
            });
        }
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(ty, _)| *ty)
    }
}

impl From<Ty> for Type {
    fn from(ty: Ty) -> Type {
        match ty {
            Ty::Bool => Type::Bool,
            Ty::I8 => Type::I8,
            Ty::U8 => Type::U8,
            Ty::I16 => Type::I16,
            Ty::U16 => Type::U16,
            Ty::I32 => Type::I32,
            Ty::U32 => Type::U32,
            Ty::I64 => Type::I64,
            Ty::U64 => Type::U64,
            Ty::F32 => Type::F32,
            Ty::F64 => Type::F64,
            Ty::Ptr => Type::Ptr,
        }
    }
}

const NAMES: [(Type, &str); 16] = [
    (Type::Void, "void"),
    (Type::Bool, "bool"),
    (Type::I8, "i8"),
    (Type::U8, "u8"),
    (Type::I16, "i16"),
    (Type::U16, "u16"),
    (Type::I32, "i32"),
    (Type::U32, "u32"),
    (Type::I64, "i64"),
    (Type::U64, "u64"),
    (Type::I128, "i128"),
    (Type::U128, "u128"),
    (Type::F32, "f32"),
    (Type::F64, "f64"),
    (Type::F80, "f80"),
    (Type::Ptr, "ptr"),
];

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Aggregate { size } => write!(f, "agg{size}"),
            _ => {
                let name = NAMES.iter().find(|(ty, _)| ty == self);
                f.write_str(name.map_or("?", |(_, name)| name))
            }
        }
    }
}
