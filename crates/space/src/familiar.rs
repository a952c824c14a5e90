//! Finds which operators a function uses. Other operators are less likely to be missing.
//!
//! Each distinct value of an expression is a class of its own, so it takes an execution for nearly every operator with every operand.
//! Where a function calculates with sums only, few of its bugs are mended by `^` or `<<`, and these cost one node more.

use patchwright_csource::{BinaryOperator, CastKind, ExprKind, Function, UnaryOperator};
use patchwright_semantics::{BinaryOp, UnaryOp};

/// The kinds of operators that a function uses. Sums and comparisons are left out, because all functions
/// use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Familiar {
    /// `*`, `/`, `%`
    products: bool,
    /// `&`, `|`, `^`, `<<`, `>>`, `~`
    bits: bool,
    /// Casts to numbers.
    casts: bool,
    /// Sums of characters: `c - '0'`.
    characters: bool,
    /// Characters, wherever: `c == 'x'`.
    written_characters: bool,
}

/// Whether the operator works on bits.
pub(crate) fn is_of_bits(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, And | Or | Xor | Shl | Shr)
}

impl Familiar {
    /// Finds the operators that `function` uses.
    pub fn of(function: &Function) -> Self {
        let mut found = Familiar::default();
        for expr in function.exprs.iter().filter(|expr| expr.evaluated) {
            match &expr.kind {
                ExprKind::Binary {
                    operator: operator @ (BinaryOperator::Add | BinaryOperator::Sub),
                    left,
                    right,
                } => {
                    found.add(*operator);
                    let is_character = |id| {
                        let kind = &function.expr(function.stripped(id)).kind;
                        matches!(
                            kind,
                            ExprKind::Integer {
                                character: true,
                                ..
                            }
                        )
                    };
                    found.characters |= is_character(*left) || is_character(*right);
                }
                ExprKind::Binary { operator, .. }
                | ExprKind::Assign {
                    operator: Some(operator),
                    ..
                } => found.add(*operator),
                ExprKind::Unary { operator, .. } => {
                    found.bits |= *operator == UnaryOperator::Complement;
                }
                ExprKind::Cast {
                    implicit: false,
                    cast: CastKind::Arithmetic,
                    ..
                } => found.casts = true,
                ExprKind::Integer { character, .. } => found.written_characters |= *character,
                _ => {}
            }
        }
        found
    }

    fn add(&mut self, operator: BinaryOperator) {
        use BinaryOperator::*;
        self.products |= matches!(operator, Mul | Div | Rem);
        self.bits |= matches!(operator, And | Or | Xor | Shl | Shr);
    }

    /// Whether the function contains a character constant such as `'a'`.
    pub fn writes_characters(self) -> bool {
        self.written_characters
    }

    /// Returns the extra cost of `op`: 0 if the function uses such operators.
    pub fn binary(self, op: BinaryOp) -> u32 {
        use BinaryOp::*;
        u32::from(match op {
            Mul | Div | Rem => !self.products,
            op => is_of_bits(op) && !self.bits,
        })
    }

    /// Whether the function calculates with characters.
    pub fn calculates_with_characters(self) -> bool {
        self.characters
    }

    /// Returns the extra cost of `op`: 0 if the function uses such operators.
    pub fn unary(self, op: UnaryOp) -> u32 {
        u32::from(op == UnaryOp::Complement && !self.bits)
    }

    /// Returns the extra cost of a cast to an integer type.
    pub fn cast(self) -> u32 {
        u32::from(!self.casts)
    }
}
