//! The C types of terms, and C's typing rules.

use std::fmt;
use std::ops::Index;

use patchwright_semantics::{BinaryOp, Ty, UnaryOp};
use thiserror::Error;

/// The type of a C expression that can be part of a term.
///
/// A type name of the program stands for the type behind it, an enumeration for the integer type
/// that it is compatible with. A bit-field has the type it is promoted to, an array the type of the
/// pointer that it decays to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CType {
    /// `_Bool`
    Bool,
    /// `char`, which is signed
    Char,
    /// `signed char`
    SChar,
    /// `unsigned char`
    UChar,
    /// `short`
    Short,
    /// `unsigned short`
    UShort,
    /// `int`
    Int,
    /// `unsigned int`
    UInt,
    /// `long`
    Long,
    /// `unsigned long`
    ULong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    ULongLong,
    /// `float`
    Float,
    /// `double`
    Double,
    /// A pointer to an object, function or incomplete type.
    Pointer(PointeeId),
}

impl CType {
    /// All types other than pointers.
    pub const ARITHMETIC: [CType; 14] = [
        CType::Bool,
        CType::Char,
        CType::SChar,
        CType::UChar,
        CType::Short,
        CType::UShort,
        CType::Int,
        CType::UInt,
        CType::Long,
        CType::ULong,
        CType::LongLong,
        CType::ULongLong,
        CType::Float,
        CType::Double,
    ];

    /// Returns the type of the values in crate `semantics`.
    pub const fn value_type(self) -> Ty {
        match self {
            CType::Bool => Ty::Bool,
            CType::Char | CType::SChar => Ty::I8,
            CType::UChar => Ty::U8,
            CType::Short => Ty::I16,
            CType::UShort => Ty::U16,
            CType::Int => Ty::I32,
            CType::UInt => Ty::U32,
            CType::Long | CType::LongLong => Ty::I64,
            CType::ULong | CType::ULongLong => Ty::U64,
            CType::Float => Ty::F32,
            CType::Double => Ty::F64,
            CType::Pointer(_) => Ty::Ptr,
        }
    }

    /// Whether this is an integer type; `_Bool` is one.
    pub const fn is_integer(self) -> bool {
        self.value_type().is_integer()
    }

    /// Whether this is `float` or `double`.
    pub const fn is_floating(self) -> bool {
        self.value_type().is_float()
    }

    /// Whether this is an integer or floating type.
    pub const fn is_arithmetic(self) -> bool {
        !matches!(self, CType::Pointer(_))
    }

    /// Returns the keywords of the type. It is `None` for a pointer, whose spelling its [`Pointee`]
    /// has.
    pub const fn keywords(self) -> Option<&'static str> {
        Some(match self {
            CType::Bool => "_Bool",
            CType::Char => "char",
            CType::SChar => "signed char",
            CType::UChar => "unsigned char",
            CType::Short => "short",
            CType::UShort => "unsigned short",
            CType::Int => "int",
            CType::UInt => "unsigned int",
            CType::Long => "long",
            CType::ULong => "unsigned long",
            CType::LongLong => "long long",
            CType::ULongLong => "unsigned long long",
            CType::Float => "float",
            CType::Double => "double",
            CType::Pointer(_) => return None,
        })
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.keywords()) {
            (CType::Pointer(id), _) => write!(f, "pointer to {id}"),
            (_, keywords) => f.write_str(keywords.unwrap_or_default()),
        }
    }
}

/// The number of a pointed-to type in a [`Pointees`] table. Equal numbers mean the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointeeId(pub u32);

impl fmt::Display for PointeeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type{}", self.0)
    }
}

/// A type to which pointers point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The type as C spells it where a term is going to be inserted: `struct s`, `const char *`.
    pub spelling: String,
    /// The size of an object in bytes; `None` for `void`, functions and incomplete types.
    pub size: Option<u64>,
    /// Whether this is `void`, qualified or not.
    pub is_void: bool,
    /// Whether this is a function type.
    pub is_function: bool,
    /// Whether objects of the type are `const`.
    pub is_const: bool,
    /// Whether this is a structure or union of which no function subscripts or moves a pointer: behind one there is hardly
    /// another one.
    pub is_alone: bool,
    /// The same type without its qualifiers, if it has qualifiers and that type is in the table:
    /// pointers to both may be compared and subtracted.
    pub unqualified: Option<PointeeId>,
}

/// The types to which the pointers of a part of the program point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointees(Vec<Pointee>);

impl Pointees {
    /// Makes an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type that the table does not have, and returns its number.
    ///
    /// # Panics
    /// When 2³² types are in the table.
    pub fn add(&mut self, pointee: Pointee) -> PointeeId {
        let id = u32::try_from(self.0.len()).expect("fewer than 2^32 pointees");
        self.0.push(pointee);
        PointeeId(id)
    }

    /// Returns the types with their numbers, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (PointeeId, &Pointee)> {
        (0..).map(PointeeId).zip(&self.0)
    }

    /// Whether two types differ at most in qualifiers.
    pub fn are_compatible(&self, a: PointeeId, b: PointeeId) -> bool {
        let unqualified = |id: PointeeId| self[id].unqualified.unwrap_or(id);
        a == b || unqualified(a) == unqualified(b)
    }

    /// Returns the spelling of a pointer to the type, such as `char *`. It is `None` for pointers to
    /// arrays and functions, whose spelling is more than the type and a star.
    pub fn pointer_spelling(&self, id: PointeeId) -> Option<String> {
        let pointee = &self[id];
        if pointee.is_function || pointee.spelling.contains(['(', '[']) {
            return None;
        }
        let space = if pointee.spelling.ends_with('*') {
            ""
        } else {
            " "
        };
        Some(format!("{}{space}*", pointee.spelling))
    }
}

/// The type with this id.
///
/// # Panics
/// When the id is not of this table.
impl Index<PointeeId> for Pointees {
    type Output = Pointee;

    fn index(&self, id: PointeeId) -> &Pointee {
        &self.0[id.0 as usize]
    }
}

/// Why an expression is not valid C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TypeError {
    /// An operator does not take an operand of this type.
    #[error("operator `{op}` takes no operand of type {operand}")]
    Unary {
        /// The operator's spelling.
        op: &'static str,
        /// The operand's type.
        operand: CType,
    },
    /// An operator does not take these two operands.
    #[error("operator `{op}` does not take operands of types {left} and {right}")]
    Binary {
        /// The operator's spelling.
        op: &'static str,
        /// The left operand's type.
        left: CType,
        /// The right operand's type.
        right: CType,
    },
    /// Pointer arithmetic needs to know the size of what is pointed to.
    #[error("operator `{op}` cannot move or subtract pointers to {pointee}, whose size is unknown")]
    UnknownSize {
        /// The operator's spelling.
        op: &'static str,
        /// The type without a size.
        pointee: PointeeId,
    },
    /// A value of one type does not become one of the other, explicitly or implicitly.
    #[error("a value of type {from} does not convert to type {to}")]
    Conversion {
        /// The type of the value.
        from: CType,
        /// The type asked for.
        to: CType,
    },
    /// C has no literal for this value in this type, or a term cannot name this type.
    #[error("type {ctype} or a value of it cannot be spelled here")]
    NoSpelling {
        /// The type.
        ctype: CType,
    },
}

/// What the typing rules need to know about an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its type.
    pub ctype: CType,
    /// Whether it is a null pointer constant, such as `0` or `(void *)0`.
    pub is_null_pointer_constant: bool,
}

impl From<CType> for Operand {
    fn from(ctype: CType) -> Self {
        Self {
            ctype,
            is_null_pointer_constant: false,
        }
    }
}

/// Returns the type after the integer promotions (C17 6.3.1.1p2).
pub const fn promote(ctype: CType) -> CType {
    match ctype {
        CType::Bool | CType::Char | CType::SChar | CType::UChar | CType::Short | CType::UShort => {
            CType::Int
        }
        _ => ctype,
    }
}

/// Returns the common type of two operands by the usual arithmetic conversions (C17 6.3.1.8). It is
/// `None` if one of them is a pointer.
pub fn usual_conversions(a: CType, b: CType) -> Option<CType> {
    if !a.is_arithmetic() || !b.is_arithmetic() {
        return None;
    }
    // `CType` declares the promoted types in the order of their ranks, the unsigned type after the
    // signed one of the same rank, the floating types last.
    let (low, high) = (promote(a).min(promote(b)), promote(a).max(promote(b)));
    Some(match (low, high) {
        // No `long long` holds every `unsigned long`.
        (CType::ULong, CType::LongLong) => CType::ULongLong,
        _ => high,
    })
}

/// Returns the type of `op operand`.
///
/// # Errors
/// When C does not have the expression.
pub fn unary_type(op: UnaryOp, operand: CType) -> Result<CType, TypeError> {
    match op {
        UnaryOp::Not => Ok(CType::Int),
        UnaryOp::Neg if operand.is_arithmetic() => Ok(promote(operand)),
        UnaryOp::Complement if operand.is_integer() => Ok(promote(operand)),
        _ => Err(TypeError::Unary {
            op: op.spelling(),
            operand,
        }),
    }
}

/// Returns the type of `left op right`.
///
/// # Errors
/// When C does not have the expression: also for what compilers accept as an extension, such as
/// arithmetic on pointers to `void`.
pub fn binary_type(
    op: BinaryOp,
    left: Operand,
    right: Operand,
    pointees: &Pointees,
) -> Result<CType, TypeError> {
    let error = TypeError::Binary {
        op: op.spelling(),
        left: left.ctype,
        right: right.ctype,
    };
    let sized = |id: PointeeId| match pointees[id].size {
        Some(_) => Ok(id),
        None => Err(TypeError::UnknownSize {
            op: op.spelling(),
            pointee: id,
        }),
    };
    match (left.ctype, right.ctype) {
        (CType::Pointer(a), CType::Pointer(b)) => {
            let compatible = pointees.are_compatible(a, b);
            let allowed = if op.is_equality() {
                let is_void_of = |void: PointeeId, other: PointeeId| {
                    pointees[void].is_void && !pointees[other].is_function
                };
                compatible
                    || is_void_of(a, b)
                    || is_void_of(b, a)
                    || left.is_null_pointer_constant
                    || right.is_null_pointer_constant
            } else if op.is_comparison() {
                compatible && !pointees[a].is_function
            } else {
                op == BinaryOp::Sub && compatible
            };
            if !allowed {
                Err(error)
            } else if op == BinaryOp::Sub {
                sized(a).and(sized(b)).map(|_| CType::Long)
            } else {
                Ok(CType::Int)
            }
        }
        (CType::Pointer(id), other) => match op {
            BinaryOp::Add | BinaryOp::Sub if other.is_integer() => sized(id).map(CType::Pointer),
            _ if op.is_equality() && right.is_null_pointer_constant => Ok(CType::Int),
            _ => Err(error),
        },
        (other, CType::Pointer(id)) => match op {
            BinaryOp::Add if other.is_integer() => sized(id).map(CType::Pointer),
            _ if op.is_equality() && left.is_null_pointer_constant => Ok(CType::Int),
            _ => Err(error),
        },
        (a, b) => {
            let floats = a.is_floating() || b.is_floating();
            if floats && !op.takes_floats() {
                Err(error)
            } else if op.is_comparison() {
                Ok(CType::Int)
            } else if op.is_shift() {
                Ok(promote(a))
            } else {
                usual_conversions(a, b).ok_or(error)
            }
        }
    }
}

/// Returns the type of `condition ? then : otherwise`. A condition of every scalar type is allowed.
///
/// # Errors
/// Unless both arms are arithmetic, or pointers to one type but for its qualifiers, or one is a
/// pointer and the other a null pointer constant. An object pointer with a `void *`, which C has
/// too, is not supported.
pub fn conditional_type(
    then: Operand,
    otherwise: Operand,
    pointees: &Pointees,
) -> Result<CType, TypeError> {
    let error = TypeError::Binary {
        op: "?:",
        left: then.ctype,
        right: otherwise.ctype,
    };
    if then.ctype == otherwise.ctype && !then.ctype.is_arithmetic() {
        return Ok(then.ctype);
    }
    match (then.ctype, otherwise.ctype) {
        (pointer @ CType::Pointer(_), _) if otherwise.is_null_pointer_constant => Ok(pointer),
        (_, pointer @ CType::Pointer(_)) if then.is_null_pointer_constant => Ok(pointer),
        // The result has the qualifiers of both arms, and the table can only name them if one of
        // the arms has them all.
        (CType::Pointer(a), CType::Pointer(b)) if pointees[a].unqualified == Some(b) => {
            Ok(then.ctype)
        }
        (CType::Pointer(a), CType::Pointer(b)) if pointees[b].unqualified == Some(a) => {
            Ok(otherwise.ctype)
        }
        (a, b) => usual_conversions(a, b).ok_or(error),
    }
}

/// Returns the type of a cast to `to`.
///
/// # Errors
/// When C does not have the cast (a pointer to or from a floating type, a function pointer to an
/// object pointer), and when the type cannot be spelled ([`Pointees::pointer_spelling`]).
pub fn cast_type(from: CType, to: CType, pointees: &Pointees) -> Result<CType, TypeError> {
    match (from, to) {
        (CType::Pointer(_), _) if to.is_floating() => Err(TypeError::Conversion { from, to }),
        (_, CType::Pointer(_)) if from.is_floating() => Err(TypeError::Conversion { from, to }),
        (_, CType::Pointer(id)) if pointees.pointer_spelling(id).is_none() => {
            Err(TypeError::NoSpelling { ctype: to })
        }
        // What can be spelled is no pointer to a function.
        (CType::Pointer(id), CType::Pointer(_)) if pointees[id].is_function => {
            Err(TypeError::Conversion { from, to })
        }
        _ => Ok(to),
    }
}

/// Whether a value of `from` may be assigned to, passed as or returned as `to` without a cast.
pub fn is_assignable(from: Operand, to: CType, pointees: &Pointees) -> bool {
    check_assignment(from, to, pointees).is_ok()
}

/// Checks that a value may be assigned to, passed as or returned as a `to` without a cast (C17
/// 6.5.16.1).
///
/// # Errors
/// When it may not.
pub(super) fn check_assignment(
    from: Operand,
    to: CType,
    pointees: &Pointees,
) -> Result<(), TypeError> {
    let allowed = match (from.ctype, to) {
        (CType::Pointer(_), CType::Bool) => true,
        (CType::Pointer(a), CType::Pointer(b)) => {
            let keeps_const = pointees[b].is_const || !pointees[a].is_const;
            let either_void = pointees[a].is_void || pointees[b].is_void;
            let neither_function = !pointees[a].is_function && !pointees[b].is_function;
            from.is_null_pointer_constant
                || keeps_const && (pointees.are_compatible(a, b) || either_void && neither_function)
        }
        (_, CType::Pointer(_)) => from.is_null_pointer_constant,
        (CType::Pointer(_), _) => false,
        _ => true,
    };
    if allowed {
        Ok(())
    } else {
        Err(TypeError::Conversion {
            from: from.ctype,
            to,
        })
    }
}
