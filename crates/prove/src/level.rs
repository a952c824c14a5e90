//! The levels of mutations: which operators may replace one another.

use patchwright_csource::BinaryOperator::{self, *};

/// Which expressions a repair may change, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Operators, by near ones.
    One,
    /// Operators, by more of them; constants, by their neighbours, 0 and the opposite number.
    Two,
    /// Also any constant, variable, conjunct, index and comparison.
    Three,
}

impl Level {
    /// Returns the level with this number, from 1 to 3.
    pub fn from_number(number: u8) -> Option<Level> {
        match number {
            1 => Some(Level::One),
            2 => Some(Level::Two),
            3 => Some(Level::Three),
            _ => None,
        }
    }
}

/// The operators that stand for one another at a level, as sets. Those of levels 1 and 2 are table 1 of the paper.
fn sets(level: Level) -> &'static [&'static [BinaryOperator]] {
    match level {
        Level::One => &[
            &[Add, Sub],
            &[Div, Rem],
            &[Gt, Ge],
            &[Lt, Le],
            &[LogicalOr, LogicalAnd],
            &[Shr, Shl],
            &[And, Or, Xor],
        ],
        Level::Two => &[
            &[Add, Sub, Mul],
            &[Div, Rem],
            &[Gt, Ge, Lt, Le],
            &[Eq, Ne],
            &[LogicalOr, LogicalAnd],
            &[Shr, Shl],
            &[And, Or, Xor],
        ],
        Level::Three => &[
            &[Add, Sub, Mul],
            &[Div, Rem],
            &[Gt, Ge, Lt, Le, Eq, Ne],
            &[LogicalOr, LogicalAnd],
            &[Shr, Shl],
            &[And, Or, Xor],
        ],
    }
}

/// What the operands of an operator are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Integers.
    Integers,
    /// Arithmetic, one of them a float.
    Floats,
    /// A pointer first, an integer second.
    PointerAndInteger,
    /// Pointers.
    Pointers,
    /// Anything else.
    Others,
}

/// The operators that may stand for `operator`, in a fixed order.
pub(crate) fn others(
    operator: BinaryOperator,
    level: Level,
    operands: Operands,
) -> Vec<BinaryOperator> {
    let set = sets(level).iter().find(|set| set.contains(&operator));
    let all = set.copied().unwrap_or_default().iter().copied();
    all.filter(|&other| other != operator && applies(operator, other, operands))
        .collect()
}

fn applies(operator: BinaryOperator, other: BinaryOperator, operands: Operands) -> bool {
    let is_equality = |op| matches!(op, Eq | Ne);
    match operands {
        Operands::Integers => true,
        Operands::Floats => !matches!(other, Rem | And | Or | Xor | Shl | Shr),
        Operands::PointerAndInteger => matches!(other, Add | Sub),
        Operands::Pointers => {
            matches!(other, Lt | Le | Gt | Ge | Eq | Ne)
                && is_equality(operator) == is_equality(other)
        }
        Operands::Others => matches!(other, LogicalAnd | LogicalOr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_one_and_two_are_the_papers_table() {
        let others = |op, level| others(op, level, Operands::Integers);
        assert_eq!(others(Add, Level::One), [Sub]);
        assert_eq!(others(Add, Level::Two), [Sub, Mul]);
        assert_eq!(others(Mul, Level::One), []);
        assert_eq!(others(Lt, Level::One), [Le]);
        assert_eq!(others(Lt, Level::Two), [Gt, Ge, Le]);
        assert_eq!(others(Eq, Level::One), []);
        assert_eq!(others(Eq, Level::Two), [Ne]);
        assert_eq!(others(And, Level::One), [Or, Xor]);
        assert_eq!(others(LogicalOr, Level::One), [LogicalAnd]);
    }

    #[test]
    fn pointers_are_neither_multiplied_nor_ordered_against_null() {
        assert_eq!(others(Add, Level::Two, Operands::PointerAndInteger), [Sub]);
        assert_eq!(others(Eq, Level::Three, Operands::Pointers), [Ne]);
    }
}
