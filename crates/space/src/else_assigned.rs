//! GUARD with an `else`: `if (prev) prev->next = x; else head = x;` for `prev->next = x;`, as for the first element of a list.

use patchwright_csource::{ExprId, ExprKind, StmtKind, UnaryOperator, VarId, types::TypeKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::{indentation_step, newline},
    operators::LONGEST,
    predicates::variables,
    remainders::has_effects,
    space::Schema,
};

/// The condition, the other case, and what it assigns to.
const COST: u32 = 4;

/// Most variables that are tried in one place.
const MOST_VARIABLES: usize = 3;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
            continue;
        };
        let expr = finder.function.stripped(expr);
        let ExprKind::Assign {
            operator: None,
            target,
            value,
        } = finder.function.expr(expr).kind
        else {
            continue;
        };
        if !finder.is_short(standing.span, LONGEST) || finder.has_statements(expr) {
            continue;
        }
        let Some(pointer) = followed(finder, target) else {
            continue;
        };
        let value_place = finder.function.expr(finder.function.stripped(value)).place;
        let Some(value_span) = value_place.editable() else {
            continue;
        };
        if has_effects(finder, value) {
            continue;
        }
        let pointer = finder.builder.unit.variable(pointer).name.clone();
        let value = finder.plain(value_span);
        let ty = finder.function.expr(finder.function.stripped(target)).ty;
        let wanted = finder.builder.ctype(ty);
        let mut others = Vec::new();
        for id in variables(finder, &standing, expr) {
            let variable = finder.builder.unit.variable(id).clone();
            let own = finder.builder.ctype(variable.ty);
            let is_array = matches!(
                finder.builder.unit.types.kind(variable.ty),
                TypeKind::Array(..)
            );
            let is_const = finder.builder.unit.types.qualifiers(variable.ty).is_const;
            let fits = own.is_some() && own == wanted && !is_array && !is_const;
            if fits && variable.name != pointer && variable.name != value {
                others.push(variable.name);
            }
        }
        others.truncate(MOST_VARIABLES);
        let own = finder.text(standing.span);
        let alternatives = others
            .into_iter()
            .map(|other| {
                let otherwise = format!("{other} = {value};");
                Alternative {
                    schema: Schema::Guard,
                    cost: COST,
                    woven: format!("if ({pointer}) {own} else {otherwise}"),
                    edit: edit(finder, &standing, &pointer, &own, &otherwise),
                }
            })
            .collect();
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// The variable of which an lvalue is a member or what it points to: `p` of `p->next`.
fn followed(finder: &Finder<'_, '_, '_>, target: ExprId) -> Option<VarId> {
    let function = finder.function;
    let base = match function.expr(function.stripped(target)).kind {
        ExprKind::Member {
            base, arrow: true, ..
        } => base,
        ExprKind::Unary {
            operator: UnaryOperator::Dereference,
            operand,
        } => operand,
        _ => return None,
    };
    match function.expr(function.stripped(base)).kind {
        ExprKind::Variable(id) => Some(id),
        _ => None,
    }
}

fn edit(
    finder: &Finder<'_, '_, '_>,
    standing: &Standing,
    pointer: &str,
    own: &str,
    otherwise: &str,
) -> Edit {
    let source = &finder.builder.unit.source;
    let span = standing.span;
    let indentation = indentation(source, span);
    let (indentation, false, false) = (indentation, standing.is_body, own.contains('\n')) else {
        return Edit::replace(span, format!("{{ if ({pointer}) {own} else {otherwise} }}"));
    };
    let Some(indentation) = indentation else {
        return Edit::replace(span, format!("if ({pointer}) {own} else {otherwise}"));
    };
    let newline = newline(source, span.start as usize);
    let step = String::from_utf8_lossy(indentation_step(indentation.as_bytes())).into_owned();
    let inner = format!("{newline}{indentation}{step}");
    Edit::replace(
        span,
        format!("if ({pointer}){inner}{own}{newline}{indentation}else{inner}{otherwise}"),
    )
}

/// What stands in front of a text on its line, if nothing but blanks does.
fn indentation(source: &[u8], span: Span) -> Option<String> {
    let start = span.start as usize;
    let line = source[..start]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let before = &source[line..start];
    let is_blank = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_blank.then(|| String::from_utf8_lossy(before).into_owned())
}
