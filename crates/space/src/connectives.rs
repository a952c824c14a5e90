//! OPERATOR in conditions that call functions or have other effects: another connective (`a(x) || b(x) && c(x)` for
//! `a(x) || b(x) || c(x)`), an operand less, an operand negated.
//!
//! What has no effect is a term, and terms have all that already.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, UnaryOperator};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Finder, Form},
    operators::{LONGEST, operator_between, within},
    space::Schema,
    term::CType,
};

/// Another connective.
const CONNECTIVE_COST: u32 = 1;

/// An operand less, or an operand negated.
const OPERAND_COST: u32 = 2;

/// Most alternatives at one condition, each of which repeats its text.
const MOST: usize = 32;

/// Two operands with a connective between them.
struct Joined {
    operator: BinaryOperator,
    left: ExprId,
    right: ExprId,
    span: Span,
}

/// Finds the conditions with effects that consist of several.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    // An expression that stands in a condition has a larger number or a smaller one, as the compiler likes.
    let mut inner: FxHashSet<ExprId> = FxHashSet::default();
    let all: Vec<ExprId> = (0..finder.function.exprs.len() as u32)
        .map(ExprId)
        .collect();
    for &id in &all {
        if connective(finder, id).is_some() {
            let mut below = Vec::new();
            gather(finder, id, &mut below, &mut Vec::new());
            inner.extend(below.into_iter().filter(|&other| other != id));
        }
    }
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for id in all {
        let expr = finder.function.expr(id);
        let Some(span) = expr.place.editable() else {
            continue;
        };
        if inner.contains(&id)
            || connective(finder, id).is_none()
            || !expr.evaluated
            || !finder.is_short(span, LONGEST)
            || finder.has_statements(id)
            || !has_effects(finder, id)
            || !spans.insert(span)
        {
            continue;
        }
        let mut alternatives = alternatives(finder, id, span);
        alternatives.truncate(MOST);
        finder.add(span, Some(CType::Int), Form::Expression, alternatives);
    }
}

/// The connective of an expression, if it has one, and its operands.
fn connective(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<(BinaryOperator, ExprId, ExprId)> {
    match finder.function.expr(id).kind {
        ExprKind::Binary {
            operator: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
            left,
            right,
        } => Some((operator, left, right)),
        _ => None,
    }
}

/// The expressions with connectives that a condition consists of, from left to right, and the operands that have none.
fn gather(
    finder: &Finder<'_, '_, '_>,
    id: ExprId,
    joined: &mut Vec<ExprId>,
    operands: &mut Vec<ExprId>,
) {
    let bare = finder.function.stripped(id);
    match connective(finder, bare) {
        Some((_, left, right)) => {
            gather(finder, left, joined, operands);
            joined.push(bare);
            gather(finder, right, joined, operands);
        }
        None => operands.push(bare),
    }
}

/// Whether evaluating an expression calls a function or writes something.
fn has_effects(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    let function = finder.function;
    function.within(id).any(|id| {
        matches!(
            function.expr(id).kind,
            ExprKind::Call { .. }
                | ExprKind::Assign { .. }
                | ExprKind::Unary {
                    operator: UnaryOperator::Step,
                    ..
                }
        )
    })
}

fn alternatives(finder: &Finder<'_, '_, '_>, id: ExprId, whole: Span) -> Vec<Alternative> {
    let (mut joined, mut operands) = (Vec::new(), Vec::new());
    gather(finder, id, &mut joined, &mut operands);
    let joined: Vec<Joined> = joined
        .into_iter()
        .filter_map(|id| {
            let (operator, left, right) = connective(finder, id)?;
            let span = finder.function.expr(id).place.editable()?;
            Some(Joined {
                operator,
                left,
                right,
                span,
            })
        })
        .collect();
    let mut edits: Vec<(u32, Edit)> = Vec::new();
    for one in &joined {
        let others = other_connective(finder, one, whole).into_iter();
        edits.extend(others.map(|edit| (CONNECTIVE_COST, edit)));
    }
    let place = |id: ExprId| finder.function.expr(id).place.editable();
    for one in &joined {
        for kept in [one.left, one.right].into_iter().filter_map(place) {
            let text = finder.text(kept);
            edits.push((OPERAND_COST, Edit::replace(one.span, text.as_bytes())));
        }
    }
    for operand in operands {
        let Some(span) = place(operand) else {
            continue;
        };
        let text = finder.text(span);
        let is_negated = text.strip_prefix('!').filter(|rest| !rest.starts_with('='));
        let is_plain = matches!(
            finder.function.expr(operand).kind,
            ExprKind::Call { .. } | ExprKind::Variable(_) | ExprKind::Subscript { .. }
        );
        let negated = match (is_negated, is_plain) {
            (Some(rest), _) => rest.to_owned(),
            (None, true) => format!("!{text}"),
            (None, false) => format!("!({text})"),
        };
        edits.push((OPERAND_COST, Edit::replace(span, negated.as_bytes())));
    }
    let mut seen = FxHashSet::default();
    edits
        .into_iter()
        .map(|(cost, edit)| Alternative {
            schema: Schema::Operator,
            cost,
            woven: within(finder, whole, &edit),
            edit,
        })
        .filter(|one| seen.insert(one.woven.clone()))
        .collect()
}

/// The other connective: without parentheses, and with those that keep the operands as they are.
fn other_connective(finder: &Finder<'_, '_, '_>, one: &Joined, whole: Span) -> Vec<Edit> {
    let (own, other) = match one.operator {
        BinaryOperator::LogicalAnd => ("&&", "||"),
        _ => ("||", "&&"),
    };
    let Some(place) = operator_between(finder, one.left, one.right, own) else {
        return Vec::new();
    };
    let mut edits = vec![Edit::replace(place, other.as_bytes())];
    let before = finder.text(Span::new(one.span.start, place.start));
    let behind = finder.text(Span::new(place.end, one.span.end));
    let is_alternative = |id: ExprId| {
        // In parentheses it stays what it is.
        connective(finder, id).is_some_and(|(operator, ..)| operator == BinaryOperator::LogicalOr)
    };
    if other == "&&" && is_alternative(one.left) {
        let text = format!("({}) {other}{behind}", before.trim_end());
        edits.push(Edit::replace(one.span, text.as_bytes()));
    }
    if other == "||" && one.span != whole {
        let text = format!("({before}{other}{behind})");
        edits.push(Edit::replace(one.span, text.as_bytes()));
    }
    edits
}
