//! How tightly C's operators bind.

use crate::BinaryOp;

/// How tightly an expression's outermost operator binds, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precedence {
    /// `,`; no term has it, but a place may.
    Comma,
    /// `=` and its relatives; no term has it, but an atom's text or a place may.
    Assignment,
    /// `?:`
    Conditional,
    /// `||`
    LogicalOr,
    /// `&&`
    LogicalAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `==` `!=`
    Equality,
    /// `<` `<=` `>` `>=`
    Relational,
    /// `<<` `>>`
    Shift,
    /// `+` `-`
    Additive,
    /// `*` `/` `%`
    Multiplicative,
    /// Casts and unary operators, which nest in either order.
    Unary,
    /// Calls, members, elements.
    Postfix,
    /// Names, literals and everything in parentheses.
    Primary,
}

impl Precedence {
    /// The precedence of a binary operator.
    pub const fn of(op: BinaryOp) -> Self {
        match op {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Self::Multiplicative,
            BinaryOp::Add | BinaryOp::Sub => Self::Additive,
            BinaryOp::Shl | BinaryOp::Shr => Self::Shift,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Self::Relational,
            BinaryOp::Eq | BinaryOp::Ne => Self::Equality,
            BinaryOp::And => Self::BitAnd,
            BinaryOp::Xor => Self::BitXor,
            BinaryOp::Or => Self::BitOr,
        }
    }

    /// The precedence of what is written between two operands, assignments and the comma included.
    pub fn of_sign(sign: &str) -> Option<Self> {
        Some(match sign {
            "&&" => Self::LogicalAnd,
            "||" => Self::LogicalOr,
            "=" | "*=" | "/=" | "%=" | "+=" | "-=" | "<<=" | ">>=" | "&=" | "^=" | "|=" => {
                Self::Assignment
            }
            "," => Self::Comma,
            _ => return BinaryOp::from_spelling(sign).map(Self::of),
        })
    }

    /// The next tighter precedence, for the right operands of operators that group to the left.
    pub const fn tighter(self) -> Self {
        match self {
            Self::Comma => Self::Assignment,
            Self::Assignment => Self::Conditional,
            Self::Conditional => Self::LogicalOr,
            Self::LogicalOr => Self::LogicalAnd,
            Self::LogicalAnd => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Equality,
            Self::Equality => Self::Relational,
            Self::Relational => Self::Shift,
            Self::Shift => Self::Additive,
            Self::Additive => Self::Multiplicative,
            Self::Multiplicative => Self::Unary,
            Self::Unary => Self::Postfix,
            Self::Postfix | Self::Primary => Self::Primary,
        }
    }
}
