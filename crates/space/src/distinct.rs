//! GUARD by a comparison of two subscripts: `if (i != n - 1 - i) sum += m[i][n - 1 - i];`, which counts what both diagonals have once.
//!
//! Conditions of variables alone are terms. What one of the subscripts calculates is a text of the program, and as a term it is too large.

use patchwright_csource::{ExprId, ExprKind, StmtKind};

use crate::{
    choices::{Alternative, Finder, Form},
    operators::LONGEST,
    remainders::has_effects,
    space::Schema,
};

/// The condition, whose two sides are there.
const COST: u32 = 3;

/// Most pairs of one statement.
const MOST_PAIRS: usize = 4;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
            continue;
        };
        if !finder.is_short(standing.span, LONGEST) || finder.has_statements(expr) {
            continue;
        }
        let mut indices: Vec<(u32, bool, String)> = Vec::new();
        collect(finder, expr, &mut indices);
        indices.sort_by_key(|index| index.0);
        let mut texts = Vec::new();
        for (number, (_, is_calculated, one)) in indices.iter().enumerate() {
            for (_, is_other_calculated, other) in &indices[..number] {
                if *is_calculated || *is_other_calculated {
                    texts.push(format!("{other} != {one}"));
                }
            }
        }
        texts.truncate(MOST_PAIRS);
        let own = finder.text(standing.span);
        let alternatives = texts
            .into_iter()
            .map(|condition| Alternative {
                schema: Schema::Guard,
                cost: COST,
                woven: format!("if ({condition}) {own}"),
                edit: crate::edit::guard_statement(
                    &finder.builder.unit.source,
                    standing.span,
                    standing.is_body,
                    &condition,
                ),
            })
            .collect();
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// The subscripts of an expression, where they stand, and whether they are calculated.
fn collect(finder: &Finder<'_, '_, '_>, id: ExprId, found: &mut Vec<(u32, bool, String)>) {
    let function = finder.function;
    if let ExprKind::Subscript { index, .. } = function.expr(id).kind {
        let bare = function.stripped(index);
        let expr = function.expr(bare);
        let is_calculated = matches!(expr.kind, ExprKind::Binary { .. });
        let is_name = matches!(expr.kind, ExprKind::Variable(_));
        if (is_calculated || is_name)
            && !has_effects(finder, bare)
            && let Some(span) = expr.place.editable()
        {
            let text = finder.plain(span);
            if !found.iter().any(|(_, _, known)| *known == text) {
                found.push((span.start, is_calculated, text));
            }
        }
    }
    for child in function.children(id) {
        collect(finder, child, found);
    }
}
