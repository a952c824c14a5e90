//! FUNCTION round both sides of a comparison: `tolower(a[i]) != tolower(b[j])` for `a[i] != b[j]`.
//!
//! Letters that count as equal whatever their case are compared so; a call on one side alone mends nothing.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Callees, Finder, Form},
    operators::LONGEST,
    space::Schema,
    term::CType,
    wraps::{OF_CHARACTERS, call, characters, inner_text, names, wrapped},
};

/// One name, twice.
const COST: u32 = 3;

/// Adds calls such as `tolower` round both sides of a comparison.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let characters = characters(finder);
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let ExprKind::Binary {
            operator,
            left,
            right,
        } = expr.kind
        else {
            continue;
        };
        use BinaryOperator::{Eq, Ge, Gt, Le, Lt, Ne};
        let (Some(span), true, Eq | Ne | Lt | Le | Gt | Ge) =
            (expr.place.editable(), expr.evaluated, operator)
        else {
            continue;
        };
        if !finder.is_short(span, LONGEST) || finder.has_statements(id) {
            continue;
        }
        let mut sides = Vec::new();
        for side in [left, right] {
            let side = finder.function.stripped(side);
            let ty = finder.function.expr(side).ty;
            let is_constant = matches!(
                finder.function.expr(side).kind,
                ExprKind::Integer { .. } | ExprKind::Call { .. }
            );
            let ctype = finder.builder.ctype(ty).filter(|_| !is_constant);
            let Some(ctype) = ctype.filter(|_| wrapped(finder, side).is_none()) else {
                break;
            };
            let found = names(finder, side, ctype, &characters, callees);
            if finder.function.has_effects(side) || !found.contains(&OF_CHARACTERS[0]) {
                break;
            }
            let Some(own) = finder.function.expr(side).place.editable() else {
                break;
            };
            sides.push((side, ty, own, found));
        }
        let [(first, one, own, names), (second, two, other, _)] = &sides[..] else {
            continue;
        };
        if own.start < span.start || own.end > other.start || other.end > span.end {
            continue;
        }
        let source = &finder.builder.unit.source;
        let part =
            |from: u32, to: u32| String::from_utf8_lossy(&source[from as usize..to as usize]);
        let (before, between, behind) = (
            part(span.start, own.start),
            part(own.end, other.start),
            part(other.end, span.end),
        );
        let alternatives = names
            .iter()
            .filter(|name| OF_CHARACTERS.contains(name))
            .map(|name| {
                let (a, b) = (inner_text(finder, *first), inner_text(finder, *second));
                let (a, b) = (call(finder, name, *one, &a), call(finder, name, *two, &b));
                let text = format!("{before}{a}{between}{b}{behind}");
                Alternative {
                    schema: Schema::Function,
                    cost: COST,
                    woven: text.clone(),
                    edit: Edit::replace(span, text),
                }
            });
        let alternatives = alternatives.collect();
        finder.add(span, Some(CType::Int), Form::Expression, alternatives);
    }
}
