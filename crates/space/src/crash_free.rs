//! Crash-free constraints: what would have to hold where failing tests crash, so that they do not.
//!
//! An index is below the length of its array, a pointer that is followed is no null pointer, what is divided by is not zero.
//! These conditions and their negations are tried in the function that crashes: as guards, as parts of conditions, and as the
//! reason to leave (`if (index >= length) return -1;`). Where the length behind a pointer is unknown, each number of the
//! function may be the length. Each pointer of that type with which the function compares may be the end. Where the length is
//! known, the index itself may be the lesser of what it was and the last one.
//!
//! Source of the idea: X. Gao, B. Wang, G. J. Duck, R. Ji, Y. Xiong, A. Roychoudhury, *Beyond Tests: Program Vulnerability Repair
//! via Crash Constraint Extraction*, TOSEM 30(2), 2021, section 4.1.

mod demands;

use patchwright_csource::{BinaryOperator, ExprKind, Function};
use patchwright_semantics::{BinaryOp, UnaryOp};

pub use self::demands::Demands;
use self::demands::{Demand, LengthType, Operand};
use crate::{
    holes::Hole,
    leaves::{Visible, variables_below},
    slots::{AtomBuilder, Atoms},
    term::{CType, Kind, Pointees, Term},
};

/// Most ends of what a pointer points to.
const MOST_ENDS: usize = 3;

/// Crash-free constraints as terms of a hole.
#[derive(Clone, Debug, Default)]
pub struct CrashFree {
    /// Conditions with nothing left to choose, each with its negation.
    pub(crate) whole: Vec<(Term, Term)>,
    /// What is to be below a limit that is not known.
    pub(crate) limited: Vec<Limited>,
    /// Indices and numbers of bytes, and the greatest that each may be.
    pub(crate) greatest: Vec<(Term, Term)>,
}

/// See [`CrashFree::limited`].
#[derive(Clone, Debug)]
pub(crate) struct Limited {
    pub(crate) term: Term,
    /// It may be the limit itself: a number of bytes.
    pub(crate) inclusive: bool,
}

impl CrashFree {
    /// Returns the conditions of `demands` that can be written at `hole` with the values visible there. `near` has the hole's leaves.
    /// Atoms that the conditions need are added to the hole's table.
    pub fn at(
        builder: &mut AtomBuilder<'_>,
        function: &Function,
        demands: &Demands,
        hole: &mut Hole,
        near: &[Term],
    ) -> CrashFree {
        let mut found = CrashFree::default();
        if demands.is_empty() {
            return found;
        }
        let visible = Visible::at(builder.unit, hole);
        let mut atoms = std::mem::take(&mut hole.atoms);
        for demand in &demands.0 {
            let operands = match demand {
                Demand::NotZero(operand)
                | Demand::NotNegative(operand)
                | Demand::Before(operand)
                | Demand::Count { count: operand, .. } => vec![*operand],
                Demand::Index { index, .. } => index.clone(),
                Demand::End { pointer, index } => [&[*pointer], &index[..]].concat(),
            };
            let terms: Option<Vec<Term>> = operands
                .iter()
                .map(|&operand| modelled(builder, function, operand, &visible, &mut atoms))
                .collect();
            let Some(term) = terms.and_then(|terms| sum(terms, builder.types.pointees())) else {
                continue;
            };
            let length = match demand {
                Demand::Index { length, .. } | Demand::Count { length, .. } => length.as_ref(),
                _ => None,
            };
            let named = length
                .and_then(|length| length.name.as_ref())
                .and_then(|(name, ty)| {
                    let ctype = match ty {
                        LengthType::Enumerator => CType::Int,
                        LengthType::Macro(ty) => builder.ctype(*ty)?,
                    };
                    Some(Term::constant(length?.value, ctype, name.as_str()))
                });
            // Perhaps the function has a name for it.
            let is_length = |leaf: &&Term| match leaf.kind() {
                Kind::Constant(value, _) => {
                    leaf.ctype().is_integer() && length.is_some_and(|one| one.value == *value)
                }
                _ => false,
            };
            let length = named
                .or_else(|| near.iter().find(is_length).cloned())
                .or_else(|| Term::literal(length?.value, CType::Int).ok());
            if let (Demand::Index { .. } | Demand::Count { .. }, Some(length)) = (demand, &length) {
                let is_count = matches!(demand, Demand::Count { .. });
                let greatest = if is_count {
                    Some(length.clone())
                } else {
                    last(length)
                };
                found
                    .greatest
                    .extend(greatest.map(|greatest| (term.clone(), greatest)));
            }
            if let Demand::End { .. } = demand {
                let ends = ends(builder, function, &term, &visible, &mut atoms);
                let pointees = builder.types.pointees();
                for end in ends {
                    found.compared(BinaryOp::Lt, &term, end, pointees);
                }
                continue;
            }
            let pointees = builder.types.pointees();
            match demand {
                Demand::End { .. } => {}
                Demand::NotZero(_) => found.not_zero(term),
                Demand::NotNegative(_) => {
                    if is_signed(&term) {
                        let zero = Term::constant(0, CType::Int, "0");
                        found.compared(BinaryOp::Ge, &term, zero, pointees);
                    }
                }
                Demand::Before(_) => found.limited.push(Limited {
                    term,
                    inclusive: false,
                }),
                Demand::Index { .. } => {
                    if is_signed(&term) {
                        let zero = Term::constant(0, CType::Int, "0");
                        found.compared(BinaryOp::Ge, &term, zero, pointees);
                    }
                    found.limit(BinaryOp::Lt, term, length, pointees);
                }
                Demand::Count { .. } => {
                    found.limit(BinaryOp::Le, term, length, pointees);
                }
            }
        }
        if let Some(permitted) = &atoms.permitted {
            let pointees = builder.types.pointees();
            let is_permitted = |term: &Term| permitted.permits_term(term, &atoms, pointees);
            found.whole.retain(|(holds, _)| is_permitted(holds));
            found.limited.retain(|limited| is_permitted(&limited.term));
            found.greatest.retain(|(term, _)| is_permitted(term));
        }
        hole.atoms = atoms;
        found
    }

    fn not_zero(&mut self, term: Term) {
        if !matches!(term.kind(), Kind::Constant(..))
            && let Ok(zero) = Term::unary(UnaryOp::Not, term.clone())
        {
            self.whole.push((term, zero));
        }
    }

    fn limit(&mut self, op: BinaryOp, term: Term, length: Option<Term>, pointees: &Pointees) {
        match length {
            Some(length) => self.compared(op, &term, length, pointees),
            None => self.limited.push(Limited {
                inclusive: op == BinaryOp::Le,
                term,
            }),
        }
    }

    /// A comparison and its negation.
    fn compared(&mut self, op: BinaryOp, term: &Term, with: Term, pointees: &Pointees) {
        let compared = |op| Term::binary(op, term.clone(), with.clone(), pointees).ok();
        if let (Some(holds), Some(fails)) = (compared(op), compared(negated(op)))
            && !self.whole.iter().any(|(known, _)| *known == holds)
        {
            self.whole.push((holds, fails));
        }
    }
}

/// The last index into what has so many elements.
fn last(length: &Term) -> Option<Term> {
    match length.kind() {
        Kind::Constant(value, spelling) if spelling.starts_with(|c: char| c.is_ascii_digit()) => {
            Term::literal(value.checked_sub(1)?, length.ctype()).ok()
        }
        _ => {
            let one = Term::constant(1, CType::Int, "1");
            Term::binary(BinaryOp::Sub, length.clone(), one, &Pointees::default()).ok()
        }
    }
}

/// What the function compares pointers of the type of `term` with, but what `term` is calculated from.
fn ends(
    builder: &mut AtomBuilder<'_>,
    function: &Function,
    term: &Term,
    visible: &Visible,
    atoms: &mut Atoms,
) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for expr in &function.exprs {
        let ExprKind::Binary {
            operator:
                BinaryOperator::Lt
                | BinaryOperator::Le
                | BinaryOperator::Gt
                | BinaryOperator::Ge
                | BinaryOperator::Eq
                | BinaryOperator::Ne,
            left,
            right,
        } = expr.kind
        else {
            continue;
        };
        for side in [left, right] {
            let end = modelled(builder, function, Operand::Value(side), visible, atoms);
            if let Some(end) = end
                && end.ctype() == term.ctype()
                && !mentions(term, &end)
                && !matches!(end.kind(), Kind::Constant(..))
                && !found.contains(&end)
                && found.len() < MOST_ENDS
            {
                found.push(end);
            }
        }
    }
    found
}

/// Whether `part` is what `term` is calculated from.
fn mentions(term: &Term, part: &Term) -> bool {
    term == part
        || match term.kind() {
            Kind::Binary(_, left, right) => mentions(left, part) || mentions(right, part),
            _ => false,
        }
}

/// Returns the comparison that holds where `op` does not. (Indices and lengths are no floating-point values.)
pub(crate) fn negated(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        other => other,
    }
}

fn is_signed(term: &Term) -> bool {
    let ctype = term.ctype();
    ctype.is_integer() && ctype.value_type().is_signed_integer()
}

/// The sum of terms, its constants in one.
fn sum(terms: Vec<Term>, pointees: &Pointees) -> Option<Term> {
    let constant = |term: &Term| match term.kind() {
        Kind::Constant(value, _) if term.ctype().is_integer() => Some(*value as i64),
        _ => None,
    };
    if let [_] = terms[..] {
        return terms.into_iter().next();
    }
    let (constants, varying): (Vec<Term>, Vec<Term>) =
        terms.into_iter().partition(|term| constant(term).is_some());
    let total = constants
        .iter()
        .filter_map(constant)
        .try_fold(0i64, i64::checked_add)?;
    let last = match &constants[..] {
        // Perhaps it has a name.
        [only] if total != 0 => Some(only.clone()),
        _ if total != 0 || varying.is_empty() => {
            let ctype = i32::try_from(total).map_or(CType::Long, |_| CType::Int);
            Some(Term::literal(total as u64, ctype).ok()?)
        }
        _ => None,
    };
    let mut all = varying.into_iter().chain(last);
    let first = all.next()?;
    all.try_fold(first, |sum, term| {
        Term::binary(BinaryOp::Add, sum, term, pointees).ok()
    })
}

/// An operand as a term at a hole where all that it names is visible and has a value.
fn modelled(
    builder: &mut AtomBuilder<'_>,
    function: &Function,
    operand: Operand,
    visible: &Visible,
    atoms: &mut Atoms,
) -> Option<Term> {
    let mut variables = Vec::new();
    variables_below(function, operand.expr(), &mut variables);
    variables
        .iter()
        .all(|&id| visible.has_value(builder.unit, id))
        .then_some(())?;
    match operand {
        Operand::Value(id) => builder.model(atoms, function, id),
        Operand::Stepped(id, added) => {
            let atom = builder.read(atoms, function, id)?;
            let term = Term::atom(atom, &atoms.table);
            if added == 0 {
                return Some(term);
            }
            let one = Term::constant(1, CType::Int, "1");
            let op = match added > 0 {
                true => BinaryOp::Add,
                false => BinaryOp::Sub,
            };
            Term::binary(op, term, one, builder.types.pointees()).ok()
        }
    }
}
