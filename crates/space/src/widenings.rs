//! EXPRESSION that is calculated in a wider type: `sum += (long long)a * b;`, `1LL << k`, `(long long)x * y % m`.
//!
//! A calculation in `int` may overflow although its result is used as a wider number, or made small again by a remainder, a quotient or
//! a comparison. One cast prevents that. The cast changes the type of the value, so such candidates are no terms of the hole. Each is
//! executed by itself.

use patchwright_csource::{BinaryOperator, CastKind, ExprId, ExprKind, StmtKind, Storage, lex};
use patchwright_text::{Edit, Span, apply_edits};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Finder, Form},
    operators::LONGEST,
    own_calls::innermost,
    sites::Parents,
    space::Schema,
    term::CType,
};

/// The type and the cast.
const WIDENED_COST: u32 = 2;

/// Most places in one function.
const MOST_PLACES: usize = 40;

/// Adds calculations in a wider type.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let function = finder.function;
    let parents = Parents::of(function);
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    let mut places = 0;
    for number in 0..function.exprs.len() {
        let id = ExprId(number as u32);
        let Some((span, wide)) = calculated(finder, &parents, id) else {
            continue;
        };
        if !seen.insert(span) {
            continue;
        }
        if places == MOST_PLACES {
            finder
                .found
                .refuse("EXPRESSION in a wider type at further places");
            return;
        }
        places += 1;
        let mut starts = Vec::new();
        factors(finder, id, &mut starts);
        starts.push(span.start);
        let mut edits: Vec<Edit> = Vec::new();
        for start in starts {
            let edit = widened(&finder.builder.unit.source, start, wide);
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        let own = finder.text(span);
        let woven = |edit: &Edit| {
            let moved = edit.span.start - span.start;
            let text =
                apply_edits(own.as_bytes(), &[Edit::insert(moved, edit.text.clone())]).ok()?;
            String::from_utf8(text).ok()
        };
        let alternatives = edits
            .iter()
            .filter_map(|edit| {
                Some(Alternative {
                    schema: Schema::Expression,
                    cost: WIDENED_COST,
                    woven: woven(edit)?,
                    edit: edit.clone(),
                })
            })
            .collect();
        finder.add(span, Some(wide), Form::Expression, alternatives);
    }
}

/// The text of a calculation whose value may be lost before it is used, and the type in which it would not.
fn calculated(
    finder: &mut Finder<'_, '_, '_>,
    parents: &Parents,
    id: ExprId,
) -> Option<(Span, CType)> {
    let function = finder.function;
    let expr = function.expr(id);
    let is_calculation = matches!(
        expr.kind,
        ExprKind::Binary {
            operator: BinaryOperator::Add
                | BinaryOperator::Sub
                | BinaryOperator::Mul
                | BinaryOperator::Shl,
            ..
        }
    );
    if !expr.evaluated || !is_calculation {
        return None;
    }
    let narrow = finder.builder.ctype(expr.ty)?;
    if !matches!(narrow, CType::Int | CType::UInt) {
        return None;
    }
    let mut inner = id;
    let mut around = parents.of_expr(id)?;
    while let ExprKind::Paren(_) = function.expr(around).kind {
        inner = around;
        around = parents.of_expr(around)?;
    }
    let outer = function.expr(around);
    let wide = match outer.kind {
        ExprKind::Cast {
            cast: CastKind::Arithmetic,
            ..
        } => finder.builder.ctype(outer.ty)?,
        ExprKind::Binary {
            operator,
            left,
            right,
        } => {
            let other = if left == inner { right } else { left };
            let other = finder.builder.ctype(function.expr(other).ty)?;
            let is_brought_back = match operator {
                BinaryOperator::Rem | BinaryOperator::Div => left == inner,
                BinaryOperator::Lt
                | BinaryOperator::Gt
                | BinaryOperator::Le
                | BinaryOperator::Ge
                | BinaryOperator::Eq
                | BinaryOperator::Ne => true,
                _ => false,
            };
            if !is_brought_back || (narrow, other) != (CType::Int, CType::Int) {
                return None;
            }
            CType::LongLong
        }
        _ => return None,
    };
    let is_wide = matches!(
        wide,
        CType::Long | CType::LongLong | CType::ULong | CType::ULongLong
    );
    let span = expr.place.editable()?;
    (is_wide
        && finder.is_short(span, LONGEST)
        && !finder.has_statements(id)
        && is_executed(finder, span))
    .then_some((span, wide))
}

/// Whether a text stands where the program calculates: not in the size of an array, nor where something static begins.
fn is_executed(finder: &Finder<'_, '_, '_>, span: Span) -> bool {
    let Some(standing) = innermost(finder, span) else {
        return false;
    };
    let function = finder.function;
    match &function.stmt(standing.id).kind {
        StmtKind::Declaration(variables) => variables.iter().any(|&id| {
            let variable = finder.builder.unit.variable(id);
            let value = variable.initializer.map(|id| function.expr(id).place);
            let value = value.and_then(|place| place.editable());
            variable.storage == Storage::Local && value.is_some_and(|own| own.contains_span(span))
        }),
        _ => true,
    }
}

/// Where the products in a calculation begin.
fn factors(finder: &Finder<'_, '_, '_>, id: ExprId, found: &mut Vec<u32>) {
    let expr = finder.function.expr(id);
    match expr.kind {
        ExprKind::Paren(inner) => factors(finder, inner, found),
        ExprKind::Binary {
            operator,
            left,
            right,
        } => {
            use BinaryOperator::{Add, Mul, Sub};
            if operator == Mul {
                found.extend(expr.place.editable().map(|span| span.start));
            } else if matches!(operator, Add | Sub) {
                factors(finder, left, found);
                factors(finder, right, found);
            }
        }
        _ => {}
    }
}

/// The operand at `start` in a wider type: a number by its suffix, all else by a cast.
fn widened(source: &[u8], start: u32, wide: CType) -> Edit {
    let rest = &source[start as usize..];
    let number = lex::Tokens::new(rest).next();
    let number = number.filter(|token| token.raw.iter().all(u8::is_ascii_digit));
    let (suffix, cast) = match wide {
        CType::Long => ("L", "(long)"),
        CType::ULong => ("UL", "(unsigned long)"),
        CType::ULongLong => ("ULL", "(unsigned long long)"),
        _ => ("LL", "(long long)"),
    };
    match number {
        Some(number) => Edit::insert(start + number.end() as u32, suffix),
        None => Edit::insert(start, cast),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_a_suffix_and_all_else_a_cast() {
        let after = |source: &str, wide| {
            let edit = widened(source.as_bytes(), 0, wide);
            String::from_utf8(apply_edits(source.as_bytes(), &[edit]).unwrap()).unwrap()
        };
        assert_eq!(after("1 << k", CType::LongLong), "1LL << k");
        assert_eq!(after("1u << k", CType::ULong), "(unsigned long)1u << k");
        assert_eq!(after("0x1 << k", CType::Long), "(long)0x1 << k");
        assert_eq!(after("a * b", CType::LongLong), "(long long)a * b");
        assert_eq!(after("-a * b", CType::Long), "(long)-a * b");
    }
}
