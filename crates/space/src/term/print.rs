//! Prints terms as C text.
//!
//! The text reads back as the same tree. Parentheses are written where the grammar needs them and
//! where people (and the compilers' `-Wparentheses` and its relatives) expect them. Binary
//! operators have spaces around them, so that no two tokens grow together (`a - -1`, `x / *p`).

use std::fmt;

pub use patchwright_semantics::Precedence;
use patchwright_semantics::{BinaryOp, UnaryOp};

use super::ctype::{CType, Pointees};
use super::tree::{AtomTable, Kind, Term};

impl Term {
    /// Returns how tightly the outermost operator of the term's text binds.
    pub fn precedence(&self, atoms: &AtomTable) -> Precedence {
        match self.kind() {
            Kind::Atom(id) => atoms[*id].precedence,
            Kind::Constant(_, spelling) if spelling.starts_with('-') => Precedence::Unary,
            Kind::Constant(..) => Precedence::Primary,
            Kind::Unary(..) | Kind::Cast(_) => Precedence::Unary,
            Kind::Binary(op, ..) => Precedence::of(*op),
            Kind::LogicalAnd(..) => Precedence::LogicalAnd,
            Kind::LogicalOr(..) => Precedence::LogicalOr,
            Kind::Conditional(..) => Precedence::Conditional,
        }
    }

    /// Returns the term as C text.
    ///
    /// # Panics
    /// When formatted, if an atom or a pointee is not of these tables.
    pub fn display<'a>(
        &'a self,
        atoms: &'a AtomTable,
        pointees: &'a Pointees,
    ) -> impl fmt::Display + 'a {
        Printer {
            term: self,
            atoms,
            pointees,
            parentheses: false,
        }
    }

    /// Returns the term as C text for a place that needs the precedence `least` or a tighter one. It
    /// has parentheses if it binds more loosely.
    ///
    /// # Panics
    /// When formatted, if an atom or a pointee is not of these tables.
    pub fn display_within<'a>(
        &'a self,
        least: Precedence,
        atoms: &'a AtomTable,
        pointees: &'a Pointees,
    ) -> impl fmt::Display + 'a {
        Printer {
            term: self,
            atoms,
            pointees,
            parentheses: self.precedence(atoms) < least,
        }
    }
}

struct Printer<'a> {
    term: &'a Term,
    atoms: &'a AtomTable,
    pointees: &'a Pointees,
    parentheses: bool,
}

impl<'a> Printer<'a> {
    /// An operand of this term, in parentheses if it binds more loosely than `least` or if
    /// `parentheses` says so for other reasons.
    fn operand(&self, term: &'a Term, least: Precedence, parentheses: bool) -> Printer<'a> {
        Printer {
            term,
            parentheses: parentheses || term.precedence(self.atoms) < least,
            ..*self
        }
    }

    fn type_name(&self, ctype: CType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ctype {
            // A cast to a pointer that has no spelling is not built.
            CType::Pointer(id) => {
                f.write_str(&self.pointees.pointer_spelling(id).unwrap_or_default())
            }
            _ => write!(f, "{ctype}"),
        }
    }

    fn starts_with_minus(&self, term: &Term) -> bool {
        match term.kind() {
            Kind::Unary(UnaryOp::Neg, _) => true,
            Kind::Constant(_, spelling) => spelling.starts_with('-'),
            Kind::Atom(id) => self.atoms[*id].spelling.starts_with('-'),
            // What binds more loosely than `-` is in parentheses, a cast is one.
            _ => false,
        }
    }
}

/// Whether people want parentheses round this operand although the grammar does not.
fn is_confusing(op: BinaryOp, operand: &Term, is_left: bool) -> bool {
    match operand.kind() {
        Kind::Binary(inner, ..) => {
            if op.is_bitwise() {
                *inner != op
            } else if op.is_comparison() {
                inner.is_comparison() || inner.is_shift()
            } else {
                op.is_shift() && matches!(inner, BinaryOp::Add | BinaryOp::Sub)
            }
        }
        // `!a == b` looks as if it meant `!(a == b)`.
        Kind::Unary(UnaryOp::Not, _) => is_left && (op.is_comparison() || op.is_bitwise()),
        _ => false,
    }
}

/// Whether `a op b ? c : d` looks as if it meant `a op (b ? c : d)`.
fn is_confusing_condition(condition: &Term) -> bool {
    matches!(condition.kind(), Kind::Binary(op, ..) if !op.is_comparison())
}

impl fmt::Display for Printer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parentheses {
            f.write_str("(")?;
        }
        let own = self.term.precedence(self.atoms);
        match self.term.kind() {
            Kind::Atom(id) => f.write_str(&self.atoms[*id].spelling)?,
            Kind::Constant(_, spelling) => f.write_str(spelling)?,
            Kind::Unary(op, operand) => {
                let minuses = *op == UnaryOp::Neg && self.starts_with_minus(operand);
                let operand = self.operand(operand, own, minuses);
                write!(f, "{}{operand}", op.spelling())?;
            }
            Kind::Cast(operand) => {
                f.write_str("(")?;
                self.type_name(self.term.ctype(), f)?;
                write!(f, "){}", self.operand(operand, own, false))?;
            }
            Kind::Binary(op, left, right) => {
                let left = self.operand(left, own, is_confusing(*op, left, true));
                let right = self.operand(right, own.tighter(), is_confusing(*op, right, false));
                write!(f, "{left} {} {right}", op.spelling())?;
            }
            Kind::LogicalAnd(left, right) => {
                let left = self.operand(left, own, false);
                let right = self.operand(right, own.tighter(), false);
                write!(f, "{left} && {right}")?;
            }
            Kind::LogicalOr(left, right) => {
                let and = |term: &Term| matches!(term.kind(), Kind::LogicalAnd(..));
                let (left, right) = (
                    self.operand(left, own, and(left)),
                    self.operand(right, own.tighter(), and(right)),
                );
                write!(f, "{left} || {right}")?;
            }
            Kind::Conditional(condition, then, otherwise) => {
                let confusing = is_confusing_condition(condition);
                let condition = self.operand(condition, own.tighter(), confusing);
                let then = self.operand(then, own.tighter(), false);
                let otherwise = self.operand(otherwise, own, false);
                write!(f, "{condition} ? {then} : {otherwise}")?;
            }
        }
        if self.parentheses {
            f.write_str(")")?;
        }
        Ok(())
    }
}
