//! EXPRESSION for digits beyond nine: `c - 'a' + 10` for `c - 'a'`, in a function that knows `c - '0'`, too.
//!
//! Ten is no number that such a function mentions, and any other one is wrong.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Function};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Finder, Form},
    operators::LONGEST,
    space::Schema,
    term::promote,
};

/// The sum and the number.
const COST: u32 = 2;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let count = finder.function.exprs.len() as u32;
    let differences = (0..count).filter_map(|number| {
        let id = ExprId(number);
        Some((id, without(finder.function, id)?))
    });
    let differences: Vec<(ExprId, i128)> = differences.collect();
    let is_digit = |(_, letter): &(ExprId, i128)| *letter == i128::from(b'0');
    if !differences.iter().any(is_digit) {
        return;
    }
    for (id, letter) in differences {
        let is_letter = letter == i128::from(b'a') || letter == i128::from(b'A');
        let expr = finder.function.expr(id);
        let (Some(span), true, true) = (expr.place.editable(), expr.evaluated, is_letter) else {
            continue;
        };
        let ty = expr.ty;
        let ctype = finder.builder.ctype(ty).filter(|ctype| ctype.is_integer());
        let Some(ctype) =
            ctype.filter(|_| finder.is_short(span, LONGEST) && !finder.has_statements(id))
        else {
            continue;
        };
        let source = &finder.builder.unit.source;
        let (before, behind) = (
            source[..span.start as usize].trim_ascii_end(),
            source[span.end as usize..].trim_ascii_start(),
        );
        // Nothing beside it can take the number away from it.
        let is_alone =
            (before.ends_with(b"return") || before.ends_with(b" =")) && behind.starts_with(b";");
        let own = finder.text(span);
        let text = match is_alone {
            true => format!("{own} + 10"),
            false => format!("({own} + 10)"),
        };
        let alternative = Alternative {
            schema: Schema::Expression,
            cost: COST,
            woven: format!("({own} + 10)"),
            edit: Edit::replace(span, text),
        };
        let form = Form::Expression;
        finder.add(span, Some(promote(ctype)), form, vec![alternative]);
    }
}

/// The character that is taken away from something that is none.
fn without(function: &Function, id: ExprId) -> Option<i128> {
    let ExprKind::Binary {
        operator: BinaryOperator::Sub,
        left,
        right,
    } = function.expr(id).kind
    else {
        return None;
    };
    let character = |id: ExprId| match function.expr(function.stripped(id)).kind {
        ExprKind::Integer {
            value,
            character: true,
            ..
        } => Some(value),
        _ => None,
    };
    match character(left) {
        None => character(right),
        Some(_) => None,
    }
}
