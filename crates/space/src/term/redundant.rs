//! Terms that say in a roundabout way what a smaller or canonical term says.
//!
//! A space that holds the simplification of a term does not need the term. What is recognised, at
//! the root of the term (x and y are operands, c and d constants; rules marked ° are for integers,
//! since they do not hold for floats):
//!
//! | terms | same as |
//! | --- | --- |
//! | `c op d`, `op c`, `(T)c`, where the result has a literal | that literal |
//! | `x / 0`°, `x % 0`°, a shift by a constant out of range | undefined |
//! | `x + 0`°, `0 + x`°, `x - 0`, `x * 1`, `1 * x`, `x / 1`, `x << 0`, `x >> 0`, `x \| 0`, `x ^ 0`, `x & ~0`; pointer `+ 0`, `- 0` | `x` |
//! | `x * 0`°, `x & 0`, `0 / x`°, `0 % x`, `x % 1`, `0 << x`, `0 >> x` | `0` |
//! | `x \| ~0` | `~0` |
//! | `x - x`°, `x ^ x`, `x % x`, `x / x`°, `x & x`, `x \| x`; `x < x`° and the other comparisons | `0`, `1` or `x` |
//! | unsigned `x < 0`, `x >= 0`, `0 > x`, `0 <= x` | `0` or `1` |
//! | `x + -y`, `x - -y`, unless a conversion comes in between | `x - y`, `x + y` |
//! | a commutative operator whose operands are not in the order of [`Term`]'s `Ord` (constants last); `index + pointer` | operands exchanged |
//! | `- -x`, `~~x` | `x` |
//! | `!(x == y)`, `!(x < y)`° and so on | `x != y`, `x >= y` |
//! | `!!x` of a truth value | `x` |
//! | a cast after which the value and the promoted type are the same | its operand |
//! | `&&` and `\|\|` with a constant or with equal operands | `0`, `1`, `x` or `x != 0` |
//! | `c ? x : y`, `x ? y : y`, `x ? 1 : 0`, `x ? 0 : 1`, `!x ? y : z` | `x`, `y`, `x != 0`, `!x`, `x ? z : y` |
//!
//! A comparison is not turned round (`a > b` stays): which of both is the smaller change depends on
//! what is being replaced.

use patchwright_semantics::{BinaryOp, Ty, UnaryOp, convert, evaluate, truth};

use super::compile::{Context, compile};
use super::ctype::{CType, Pointees, promote, usual_conversions};
use super::tree::{AtomTable, Kind, Term};

/// What a redundant term equals: a simpler term, or nothing because it is always undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simplification {
    /// Wherever the redundant term is defined, this one is too and has the same value, and their
    /// types are the same after the integer promotions.
    Equal(Term),
    /// The term is undefined in every state.
    Undefined,
}

use Simplification::{Equal, Undefined};

impl Term {
    /// Whether a [`simplification`](Term::simplification) of the term is known.
    pub fn is_redundant(&self, pointees: &Pointees) -> bool {
        self.simplification(pointees).is_some()
    }

    /// Returns what a rule of the module's table says that this term equals, or `None` if no rule applies. Rules look at the root and
    /// its direct operands only; operands are not simplified.
    ///
    /// Repeated simplification ends.
    ///
    /// # Panics
    /// When a pointee is not of this table.
    pub fn simplification(&self, pointees: &Pointees) -> Option<Simplification> {
        let found = match self.kind() {
            Kind::Atom(_) | Kind::Constant(..) => None,
            Kind::Unary(op, operand) => self
                .folded([operand, operand])
                .or_else(|| unary(*op, operand, pointees)),
            Kind::Cast(operand) => self
                .folded([operand, operand])
                .or_else(|| cast(self.ctype(), operand)),
            Kind::Binary(op, left, right) => self
                .folded([left, right])
                .or_else(|| binary(*op, left, right, self.ctype(), pointees)),
            Kind::LogicalAnd(left, right) => logical(left, right, true, pointees),
            Kind::LogicalOr(left, right) => logical(left, right, false, pointees),
            Kind::Conditional(condition, then, otherwise) => {
                conditional(condition, then, otherwise, pointees)
            }
        };
        found.filter(|found| match found {
            Equal(term) => promote(term.ctype()) == promote(self.ctype()),
            Undefined => true,
        })
    }

    /// The literal that this operator gives for constant operands.
    fn folded(&self, operands: [&Term; 2]) -> Option<Simplification> {
        if operands
            .iter()
            .any(|term| term.arithmetic_constant().is_none())
        {
            return None;
        }
        // Neither atoms nor pointers occur, so no table is looked at.
        let code = compile(self, Context::Same, &AtomTable::new(), &Pointees::new()).ok()?;
        match evaluate(&code, &[], &[]) {
            Some(value) => Term::literal(value, self.ctype()).ok().map(Equal),
            None => Some(Undefined),
        }
    }

    /// The value of an arithmetic constant.
    fn arithmetic_constant(&self) -> Option<u64> {
        match self.kind() {
            Kind::Constant(value, _) if self.ctype().is_arithmetic() => Some(*value),
            _ => None,
        }
    }

    /// The truth value of an arithmetic constant.
    fn constant_truth(&self) -> Option<bool> {
        let value = self.arithmetic_constant()?;
        Some(truth(self.ctype().value_type(), value))
    }
}

fn literal(value: u64, ctype: CType) -> Option<Simplification> {
    Term::literal(value, ctype).ok().map(Equal)
}

fn int(value: bool) -> Option<Simplification> {
    literal(u64::from(value), CType::Int)
}

/// `op(left, right)`, or nothing if C does not have it.
fn rebuilt(op: BinaryOp, left: &Term, right: &Term, pointees: &Pointees) -> Option<Simplification> {
    Term::binary(op, left.clone(), right.clone(), pointees)
        .ok()
        .map(Equal)
}

/// A term of type `int` that is 1 if `term` compares unequal to zero, else 0.
fn truth_of(term: &Term, pointees: &Pointees) -> Option<Simplification> {
    if term.is_truth_value() {
        return Some(Equal(term.clone()));
    }
    let zero = Term::literal(0, CType::Int).ok()?;
    rebuilt(BinaryOp::Ne, term, &zero, pointees)
}

fn unary(op: UnaryOp, operand: &Term, pointees: &Pointees) -> Option<Simplification> {
    match (op, operand.kind()) {
        (UnaryOp::Neg | UnaryOp::Complement, Kind::Unary(inner, x)) if *inner == op => {
            Some(Equal(x.clone()))
        }
        (UnaryOp::Not, Kind::Unary(UnaryOp::Not, x)) if x.is_truth_value() => {
            Some(Equal(x.clone()))
        }
        (UnaryOp::Not, Kind::Binary(compare, x, y)) => {
            let opposite = match compare {
                BinaryOp::Eq => BinaryOp::Ne,
                BinaryOp::Ne => BinaryOp::Eq,
                // With a NaN both an order and its opposite are false.
                _ if x.ctype().is_floating() || y.ctype().is_floating() => return None,
                BinaryOp::Lt => BinaryOp::Ge,
                BinaryOp::Ge => BinaryOp::Lt,
                BinaryOp::Gt => BinaryOp::Le,
                BinaryOp::Le => BinaryOp::Gt,
                _ => return None,
            };
            rebuilt(opposite, x, y, pointees)
        }
        _ => None,
    }
}

fn cast(to: CType, operand: &Term) -> Option<Simplification> {
    let (from_ty, to_ty) = (operand.ctype().value_type(), to.value_type());
    // The caller compares the promoted types.
    patchwright_semantics::conversion_is_identity(from_ty, to_ty).then(|| Equal(operand.clone()))
}

fn binary(
    op: BinaryOp,
    left: &Term,
    right: &Term,
    result: CType,
    pointees: &Pointees,
) -> Option<Simplification> {
    let swapped = || rebuilt(op, right, left, pointees);
    if left.pointee().is_some() || right.pointee().is_some() {
        return match op {
            BinaryOp::Add if right.pointee().is_some() => swapped(),
            BinaryOp::Add | BinaryOp::Sub if right.arithmetic_constant() == Some(0) => {
                Some(Equal(left.clone()))
            }
            _ if left == right => equal_operands(op, left, result),
            _ if op.is_equality() && left > right => swapped(),
            _ => None,
        };
    }
    if op.is_shift() {
        return shift(left, right, result);
    }
    let ty = usual_conversions(left.ctype(), right.ctype())?.value_type();
    with_constant(op, left, right, result, ty)
        .or_else(|| {
            if left == right && !ty.is_float() {
                equal_operands(op, left, result)
            } else {
                None
            }
        })
        .or_else(|| negated_right(op, left, right, ty, pointees))
        .or_else(|| {
            if op.is_commutative() && left > right {
                swapped()
            } else {
                None
            }
        })
}

/// Shifts by a constant, and of zero.
fn shift(left: &Term, right: &Term, result: CType) -> Option<Simplification> {
    let width = 8 * result.value_type().size() as u64;
    match right.arithmetic_constant() {
        // In canonical form a negative count is a huge one.
        Some(count) if count >= width => return Some(Undefined),
        Some(0) => return Some(Equal(left.clone())),
        _ => {}
    }
    match left.arithmetic_constant() {
        Some(0) => literal(0, result),
        _ => None,
    }
}

/// Operators of which one operand is a constant, the common type of both being `ty`.
fn with_constant(
    op: BinaryOp,
    left: &Term,
    right: &Term,
    result: CType,
    ty: Ty,
) -> Option<Simplification> {
    let constant =
        |term: &Term| convert(term.ctype().value_type(), ty, term.arithmetic_constant()?);
    let (left_value, right_value) = (constant(left), constant(right));
    let one = convert(Ty::I32, ty, 1);
    let is_integer = !ty.is_float();
    let (left_is, right_is) = (
        |value: u64| left_value == Some(value),
        |value: u64| right_value == Some(value),
    );
    let all_ones = ty.canonical(u64::MAX);
    match op {
        BinaryOp::Add if is_integer && right_is(0) => Some(Equal(left.clone())),
        BinaryOp::Add if is_integer && left_is(0) => Some(Equal(right.clone())),
        // The bits 0 are a positive zero, whose subtraction changes no float either.
        BinaryOp::Sub if right_is(0) => Some(Equal(left.clone())),
        BinaryOp::Mul if is_integer && (left_is(0) || right_is(0)) => literal(0, result),
        BinaryOp::Mul if left_value.is_some() && left_value == one => Some(Equal(right.clone())),
        BinaryOp::Mul | BinaryOp::Div if right_value.is_some() && right_value == one => {
            Some(Equal(left.clone()))
        }
        BinaryOp::Div | BinaryOp::Rem if is_integer && right_is(0) => Some(Undefined),
        BinaryOp::Div | BinaryOp::Rem if is_integer && left_is(0) => literal(0, result),
        BinaryOp::Rem if right_is(1) => literal(0, result),
        BinaryOp::And if left_is(0) || right_is(0) => literal(0, result),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            let neutral = if op == BinaryOp::And { all_ones } else { 0 };
            if right_is(neutral) {
                Some(Equal(left.clone()))
            } else if left_is(neutral) {
                Some(Equal(right.clone()))
            } else if op == BinaryOp::Or && (left_is(all_ones) || right_is(all_ones)) {
                literal(all_ones, result)
            } else {
                None
            }
        }
        _ if !is_integer || ty.is_signed_integer() => None,
        BinaryOp::Lt if right_is(0) => int(false),
        BinaryOp::Ge if right_is(0) => int(true),
        BinaryOp::Gt if left_is(0) => int(false),
        BinaryOp::Le if left_is(0) => int(true),
        _ => None,
    }
}

/// An operator on an operand and itself, which is no float.
fn equal_operands(op: BinaryOp, operand: &Term, result: CType) -> Option<Simplification> {
    match op {
        BinaryOp::Sub | BinaryOp::Xor | BinaryOp::Rem => literal(0, result),
        BinaryOp::Div => literal(1, result),
        BinaryOp::And | BinaryOp::Or => Some(Equal(operand.clone())),
        BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge => int(true),
        BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt => int(false),
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Shr => None,
    }
}

/// `x + -y` and `x - -y`, the common type of `x` and `-y` being `ty`.
fn negated_right(
    op: BinaryOp,
    left: &Term,
    right: &Term,
    ty: Ty,
    pointees: &Pointees,
) -> Option<Simplification> {
    let opposite = match op {
        BinaryOp::Add => BinaryOp::Sub,
        BinaryOp::Sub => BinaryOp::Add,
        _ => return None,
    };
    let Kind::Unary(UnaryOp::Neg, y) = right.kind() else {
        return None;
    };
    // Negating before a conversion is not negating after it when an unsigned number is widened or
    // an integer zero, which has no negative, becomes a float.
    let negated_in = right.ctype().value_type();
    let commutes = negated_in == ty
        || negated_in.is_float()
        || negated_in.is_signed_integer() && ty.is_integer();
    if commutes {
        rebuilt(opposite, left, y, pointees)
    } else {
        None
    }
}

/// `left && right` if `is_and`, else `left || right`.
fn logical(left: &Term, right: &Term, is_and: bool, pointees: &Pointees) -> Option<Simplification> {
    // The operand that decides by itself is false for `&&`, true for `||`.
    match (left.constant_truth(), right.constant_truth()) {
        (Some(left), _) if left != is_and => int(left),
        (Some(_), _) => truth_of(right, pointees),
        (None, Some(right)) if right != is_and => int(right),
        (None, Some(_)) => truth_of(left, pointees),
        (None, None) if left == right => truth_of(left, pointees),
        (None, None) => None,
    }
}

fn conditional(
    condition: &Term,
    then: &Term,
    otherwise: &Term,
    pointees: &Pointees,
) -> Option<Simplification> {
    if let Some(truth) = condition.constant_truth() {
        return Some(Equal(if truth { then } else { otherwise }.clone()));
    }
    if then == otherwise {
        return Some(Equal(then.clone()));
    }
    let is_int = |term: &Term, value: u64| {
        term.ctype().is_integer() && term.arithmetic_constant() == Some(value)
    };
    if is_int(then, 1) && is_int(otherwise, 0) {
        return truth_of(condition, pointees);
    }
    if is_int(then, 0) && is_int(otherwise, 1) {
        return Term::unary(UnaryOp::Not, condition.clone()).ok().map(Equal);
    }
    match condition.kind() {
        Kind::Unary(UnaryOp::Not, inner) => {
            Term::conditional(inner.clone(), otherwise.clone(), then.clone(), pointees)
                .ok()
                .map(Equal)
        }
        _ => None,
    }
}
