//! ASSIGNMENT and EXPRESSION for remainders of negative numbers, which C makes negative: `if (t < 0) t += n;` behind `t %= n;`, and
//! `((i - 1) % n + n) % n` for `(i - 1) % n`.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, StmtKind};
use patchwright_text::Edit;

use crate::{
    builder::ASSIGNMENT_COST,
    choices::{Alternative, Finder, Form},
    operators::LONGEST,
    remainders::has_effects,
    space::Schema,
    term::{CType, promote},
};

/// The statement and its condition, whose texts say nothing new.
const MENDED_COST: u32 = ASSIGNMENT_COST + 1;

/// The sum and the second remainder, whose texts say nothing new.
const EXPRESSION_COST: u32 = 3;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, statements: bool, expressions: bool) {
    if statements {
        find_statements(finder);
    }
    if expressions {
        find_expressions(finder);
    }
}

/// `t %= n;` and `t = … % n;`
fn find_statements(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
            continue;
        };
        let expr = finder.function.stripped(expr);
        let ExprKind::Assign {
            operator,
            target,
            value,
        } = finder.function.expr(expr).kind
        else {
            continue;
        };
        let divisor = match operator {
            Some(BinaryOperator::Rem) => Some(value),
            None => remainder(finder, value).map(|(_, divisor)| divisor),
            Some(_) => None,
        };
        let target = finder.function.stripped(target);
        let Some(divisor) = divisor else {
            continue;
        };
        if !is_signed(finder, target)
            || !finder.is_short(standing.span, LONGEST)
            || finder.has_statements(expr)
            || has_effects(finder, target)
            || has_effects(finder, divisor)
        {
            continue;
        }
        let function = finder.function;
        let place = |id: ExprId| function.expr(function.stripped(id)).place.editable();
        let (Some(target), Some(divisor)) = (place(target), place(divisor)) else {
            continue;
        };
        let (target, divisor) = (finder.plain(target), finder.plain(divisor));
        let text = format!("if ({target} < 0) {target} += {divisor};");
        finder.add_behind(&standing, MENDED_COST, vec![text]);
    }
}

fn find_expressions(finder: &mut Finder<'_, '_, '_>) {
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let ExprKind::Binary {
            operator: BinaryOperator::Rem,
            left: dividend,
            right: divisor,
        } = expr.kind
        else {
            continue;
        };
        let (Some(span), true, ty) = (expr.place.editable(), expr.evaluated, expr.ty) else {
            continue;
        };
        // What is asked of a remainder, as `n % 2 == 0`, holds for negative numbers, too.
        let dividend = finder.function.stripped(dividend);
        let may_be_negative = matches!(
            finder.function.expr(dividend).kind,
            ExprKind::Binary { .. } | ExprKind::Variable(_)
        );
        let ctype = finder.builder.ctype(ty);
        let (Some(ctype), true, true) = (ctype, may_be_negative, is_signed(finder, id)) else {
            continue;
        };
        if !finder.is_short(span, LONGEST)
            || finder.has_statements(id)
            || has_effects(finder, divisor)
        {
            continue;
        }
        let divisor = finder.function.without_parens(divisor);
        let divisor = finder.function.expr(divisor).place.editable();
        let Some(divisor) = divisor.map(|span| finder.plain(span)) else {
            continue;
        };
        let is_plain = divisor
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let operand = match is_plain {
            true => divisor.clone(),
            false => format!("({divisor})"),
        };
        let own = finder.text(span);
        let text = format!("(({own} + {operand}) % {operand})");
        let alternative = Alternative {
            schema: Schema::Expression,
            cost: EXPRESSION_COST,
            woven: text.clone(),
            edit: Edit::replace(span, text),
        };
        finder.add(
            span,
            Some(promote(ctype)),
            Form::Expression,
            vec![alternative],
        );
    }
}

/// The operands of `%`.
fn remainder(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<(ExprId, ExprId)> {
    match finder.function.expr(finder.function.stripped(id)).kind {
        ExprKind::Binary {
            operator: BinaryOperator::Rem,
            left,
            right,
        } => Some((left, right)),
        _ => None,
    }
}

fn is_signed(finder: &mut Finder<'_, '_, '_>, id: ExprId) -> bool {
    let ty = finder.function.expr(id).ty;
    let ctype = finder.builder.ctype(ty);
    let is_signed = |ctype: CType| ctype.is_integer() && ctype.value_type().is_signed_integer();
    ctype.is_some_and(is_signed)
}
