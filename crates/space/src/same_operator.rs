//! OPERATOR in all comparisons of one form: `a >= b && a >= c` for `a > b && a > c`, and so in all conditions of a chain of `if`s.
//!
//! Who takes the wrong one of `<` and `<=` takes it in all places that are alike, and no single one of these can be mended by itself.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Place, StmtId, StmtKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    else_joined::{LONGEST, is_repeatable},
    operators::{operator_between, within},
    space::Schema,
};

/// One decision, and that it holds in several places.
const COST: u32 = 2;

/// Most places in one function.
const MOST_PLACES: usize = 12;

/// What people take for each other.
const MIXED_UP: [(BinaryOperator, BinaryOperator); 4] = [
    (BinaryOperator::Lt, BinaryOperator::Le),
    (BinaryOperator::Le, BinaryOperator::Lt),
    (BinaryOperator::Gt, BinaryOperator::Ge),
    (BinaryOperator::Ge, BinaryOperator::Gt),
];

/// A comparison: its operator, and where that stands.
type Comparison = (BinaryOperator, Span);

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut places = 0;
    let mut links: Vec<StmtId> = Vec::new();
    for standing in finder.statements.clone() {
        let rows = match &finder.function.stmt(standing.id).kind {
            StmtKind::Compound(inner) => {
                let is_if =
                    |id: &StmtId| matches!(finder.function.stmt(*id).kind, StmtKind::If { .. });
                let rows = inner.chunk_by(|one, other| is_if(one) && is_if(other));
                rows.map(<[StmtId]>::to_vec).collect()
            }
            _ if standing.is_body => vec![vec![standing.id]],
            _ => continue,
        };
        for row in rows {
            let Some(whole) = around(finder, &row) else {
                continue;
            };
            // An `else if` belongs to the chain that it is in.
            if row.iter().any(|id| links.contains(id))
                || !finder.is_short(whole, LONGEST)
                || !is_repeatable(finder.function, whole)
            {
                continue;
            }
            for id in &row {
                add_links(finder, *id, &mut links);
            }
            let alternatives = alternatives(finder, &row, whole);
            if alternatives.is_empty() {
                continue;
            }
            if places == MOST_PLACES {
                finder
                    .found
                    .refuse("OPERATOR in all comparisons of one form in further places");
                return;
            }
            places += 1;
            finder.add(whole, None, Form::Instead, alternatives);
        }
    }
}

/// Adds what stands behind an `else`.
fn add_links(finder: &Finder<'_, '_, '_>, id: StmtId, links: &mut Vec<StmtId>) {
    let mut at = id;
    while let StmtKind::If {
        otherwise: Some(otherwise),
        ..
    } = finder.function.stmt(at).kind
    {
        links.push(otherwise);
        at = otherwise;
    }
}

/// What stands from the first of some statements to the end of the last one.
fn around(finder: &Finder<'_, '_, '_>, row: &[StmtId]) -> Option<Span> {
    let written = |id: &StmtId| match finder.function.stmt(*id).place {
        Place::Written(span) => Some(span),
        _ => None,
    };
    let (first, last) = (written(row.first()?)?, written(row.last()?)?);
    (first.start < last.end).then(|| Span::new(first.start, last.end))
}

fn alternatives(finder: &Finder<'_, '_, '_>, row: &[StmtId], whole: Span) -> Vec<Alternative> {
    let mut conditions: Vec<Vec<Comparison>> = Vec::new();
    for id in row {
        of_statement(finder, *id, &mut conditions);
    }
    let all: Vec<Comparison> = conditions.iter().flatten().copied().collect();
    let mut sets: Vec<&[Comparison]> = vec![&all];
    if conditions.len() > 1 {
        sets.extend(conditions.iter().map(|condition| &condition[..]));
    }
    let mut found: Vec<Alternative> = Vec::new();
    for set in sets {
        for (old, new) in MIXED_UP {
            let alike = set.iter().filter(|(operator, _)| *operator == old);
            let mut spans: Vec<Span> = alike.map(|(_, span)| *span).collect();
            spans.sort_by_key(|span| span.start);
            let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
                continue;
            };
            // One by itself is an expression with another operator.
            if spans.len() < 2 {
                continue;
            }
            let mut text = String::new();
            let mut from = first.start;
            for span in &spans {
                text.push_str(&finder.text(Span::new(from, span.start)));
                text.push_str(new.spelling());
                from = span.end;
            }
            let edit = Edit::replace(Span::new(first.start, last.end), text);
            if found.iter().all(|known| known.edit != edit) {
                found.push(Alternative {
                    schema: Schema::Operator,
                    cost: COST,
                    woven: within(finder, whole, &edit),
                    edit,
                });
            }
        }
    }
    found
}

/// The comparisons of each condition of a statement that stand where they are written: those of a chain of `if`s, of a loop's head, and what
/// is returned or assigned.
fn of_statement(finder: &Finder<'_, '_, '_>, id: StmtId, found: &mut Vec<Vec<Comparison>>) {
    let mut at = Some(id);
    while let Some(id) = at {
        let (root, next) = match finder.function.stmt(id).kind {
            StmtKind::If {
                condition,
                otherwise,
                ..
            } => (condition, otherwise),
            StmtKind::While { condition, .. }
            | StmtKind::Do { condition, .. }
            | StmtKind::For {
                condition: Some(condition),
                ..
            } => (condition, None),
            StmtKind::Return(Some(value)) | StmtKind::Expression(value) => (value, None),
            _ => return,
        };
        let mut own = Vec::new();
        of_expression(finder, root, &mut own);
        if !own.is_empty() {
            found.push(own);
        }
        at = next;
    }
}

fn of_expression(finder: &Finder<'_, '_, '_>, id: ExprId, found: &mut Vec<Comparison>) {
    let function = finder.function;
    if let ExprKind::Binary {
        operator,
        left,
        right,
    } = function.expr(id).kind
        && MIXED_UP.iter().any(|(old, _)| *old == operator)
        && let Some(span) = operator_between(finder, left, right, operator.spelling())
        && matches!(function.expr(id).place, Place::Written(_))
    {
        found.push((operator, span));
    }
    for child in function.children(id) {
        of_expression(finder, child, found);
    }
}
