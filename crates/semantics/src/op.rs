//! The operators of C that compute a value from values.

/// A binary operator that evaluates both of its operands (`&&` and `||` are control flow).
///
/// The discriminants are part of the format of [`Instruction`](crate::Instruction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum BinaryOp {
    /// `+`
    Add = 0,
    /// `-`
    Sub = 1,
    /// `*`
    Mul = 2,
    /// `/`
    Div = 3,
    /// `%`
    Rem = 4,
    /// `<<`
    Shl = 5,
    /// `>>`
    Shr = 6,
    /// `&`
    And = 7,
    /// `|`
    Or = 8,
    /// `^`
    Xor = 9,
    /// `<`
    Lt = 10,
    /// `<=`
    Le = 11,
    /// `>`
    Gt = 12,
    /// `>=`
    Ge = 13,
    /// `==`
    Eq = 14,
    /// `!=`
    Ne = 15,
}

impl BinaryOp {
    /// All binary operators, in the order of their discriminants.
    pub const ALL: [BinaryOp; 16] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
        BinaryOp::Eq,
        BinaryOp::Ne,
    ];

    /// The operator with this discriminant, if there is one.
    #[inline]
    pub fn from_u8(discriminant: u8) -> Option<BinaryOp> {
        Self::ALL.get(usize::from(discriminant)).copied()
    }

    /// Whether this is one of `<`, `<=`, `>`, `>=`, `==`, `!=`.
    #[inline(always)]
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        )
    }

    /// Whether this is `==` or `!=`.
    #[inline(always)]
    pub const fn is_equality(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ne)
    }

    /// Whether this is `<<` or `>>`.
    #[inline(always)]
    pub const fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }

    /// Whether this is `&`, `|` or `^`.
    #[inline(always)]
    pub const fn is_bitwise(self) -> bool {
        matches!(self, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
    }

    /// Whether exchanging the operands never changes the result.
    #[inline(always)]
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            BinaryOp::Add
                | BinaryOp::Mul
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Eq
                | BinaryOp::Ne
        )
    }

    /// Whether C has this operator on operands of floating type: `+`, `-`, `*`, `/` and the comparisons.
    #[inline(always)]
    pub const fn takes_floats(self) -> bool {
        self.is_comparison()
            || matches!(
                self,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div
            )
    }

    /// The operator that C spells so; `&&`, `||` and the comma are none.
    pub fn from_spelling(text: &str) -> Option<BinaryOp> {
        BinaryOp::ALL.into_iter().find(|op| op.spelling() == text)
    }

    /// The operator as C spells it.
    pub const fn spelling(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
        }
    }
}

/// A unary operator on a value.
///
/// The discriminants are part of the format of [`Instruction`](crate::Instruction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum UnaryOp {
    /// `-`
    Neg = 0,
    /// `~`
    Complement = 1,
    /// `!`
    Not = 2,
}

impl UnaryOp {
    /// All unary operators, in the order of their discriminants.
    pub const ALL: [UnaryOp; 3] = [UnaryOp::Neg, UnaryOp::Complement, UnaryOp::Not];

    /// The operator with this discriminant, if there is one.
    #[inline]
    pub fn from_u8(discriminant: u8) -> Option<UnaryOp> {
        Self::ALL.get(usize::from(discriminant)).copied()
    }

    /// The operator as C spells it.
    pub const fn spelling(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Complement => "~",
            UnaryOp::Not => "!",
        }
    }
}
