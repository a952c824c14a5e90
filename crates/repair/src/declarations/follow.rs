//! Finds what must follow another type of a declaration: formats that print or read it, and the type of a
//! function that returns it.

use std::collections::BTreeSet;

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, StmtKind, TranslationUnit, UnaryOperator, VarId,
    types::{TypeKind, TypeTable},
};
use patchwright_space::{changed_argument, fitted_format};
use patchwright_text::{Edit, Span};

/// What gets another type.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Variables; of arrays, their elements.
    pub(super) variables: BTreeSet<VarId>,
    /// Members, by name.
    pub(super) members: BTreeSet<String>,
    /// What functions return, by name.
    pub(super) functions: BTreeSet<String>,
}

/// The local variables that a function returns as they are.
pub(super) fn returned(function: &Function) -> BTreeSet<VarId> {
    let values = function.stmts.iter().filter_map(|stmt| match stmt.kind {
        StmtKind::Return(Some(value)) => Some(function.stripped(value)),
        _ => None,
    });
    values
        .filter_map(|value| match function.expr(value).kind {
            ExprKind::Variable(id) if function.locals.contains(&id) => Some(id),
            _ => None,
        })
        .collect()
}

/// Returns the edits of formats that print or read what changes, fitted to its new type. `types` are those of the unit.
pub(super) fn formats(
    unit: &TranslationUnit,
    types: &mut TypeTable,
    changed: &Changed,
    new_type: &str,
) -> Vec<Edit> {
    let mut found = Vec::new();
    let (value, pointer) = (types.parse(new_type), types.parse(&format!("{new_type} *")));
    for function in &unit.functions {
        for expr in &function.exprs {
            let ExprKind::Call {
                callee, arguments, ..
            } = &expr.kind
            else {
                continue;
            };
            let ExprKind::Function(name) = &function.expr(function.stripped(*callee)).kind else {
                continue;
            };
            let Some(number) = changed_argument(name).filter(|number| *number < arguments.len())
            else {
                continue;
            };
            let format = function.expr(function.stripped(arguments[number]));
            let Some(span) = format.place.editable() else {
                continue;
            };
            let literal = unit.text(span);
            let inner = literal
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'));
            let mut is_concerned = false;
            let values: Vec<_> = arguments[number + 1..]
                .iter()
                .map(|&argument| {
                    let bare = function.stripped(argument);
                    if has_type(unit, function, bare, changed) {
                        is_concerned = true;
                        value
                    } else if points_to(unit, function, bare, changed) {
                        is_concerned = true;
                        pointer
                    } else {
                        function.expr(bare).ty
                    }
                })
                .collect();
            let form = inner.filter(|_| is_concerned);
            let form = form.and_then(|text| fitted_format(types, name, text, &values));
            found.extend(form.map(|form| {
                let within = Span::new(span.start + 1, span.end - 1);
                Edit::replace(within, form)
            }));
        }
    }
    found
}

/// Whether the value of an expression has the new type, or one that it gives.
fn has_type(unit: &TranslationUnit, function: &Function, id: ExprId, changed: &Changed) -> bool {
    let id = function.stripped(id);
    let inside = |id: ExprId| has_type(unit, function, id, changed);
    match &function.expr(id).kind {
        ExprKind::Variable(id) => changed.variables.contains(id) && !is_array(unit, *id),
        ExprKind::Member { name, .. } => {
            let ty = function.expr(id).ty;
            changed.members.contains(name) && !matches!(unit.types.kind(ty), TypeKind::Array(..))
        }
        ExprKind::Subscript { base, .. } => is_array_of(unit, function, *base, changed),
        ExprKind::Call { callee, .. } => match &function.expr(function.stripped(*callee)).kind {
            ExprKind::Function(name) => changed.functions.contains(name),
            _ => false,
        },
        ExprKind::Unary { operator, operand } => match operator {
            UnaryOperator::Not | UnaryOperator::AddressOf | UnaryOperator::Dereference => false,
            _ => inside(*operand),
        },
        ExprKind::Binary {
            operator,
            left,
            right,
        } => match operator {
            BinaryOperator::Comma => inside(*right),
            _ => match operator.spelling() {
                "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" => inside(*left) || inside(*right),
                "<<" | ">>" => inside(*left),
                _ => false,
            },
        },
        ExprKind::Conditional {
            then, otherwise, ..
        } => inside(*then) || inside(*otherwise),
        ExprKind::Assign { target, .. } => inside(*target),
        _ => false,
    }
}

/// Whether an expression points to something of the new type.
fn points_to(unit: &TranslationUnit, function: &Function, id: ExprId, changed: &Changed) -> bool {
    match function.expr(id).kind {
        ExprKind::Unary {
            operator: UnaryOperator::AddressOf,
            operand,
        } => has_type(unit, function, operand, changed),
        ExprKind::Binary { left, .. } => is_array_of(unit, function, left, changed),
        _ => is_array_of(unit, function, id, changed),
    }
}

fn is_array_of(unit: &TranslationUnit, function: &Function, id: ExprId, changed: &Changed) -> bool {
    let id = function.stripped(id);
    match &function.expr(id).kind {
        ExprKind::Variable(id) => changed.variables.contains(id) && is_array(unit, *id),
        ExprKind::Member { name, .. } => {
            let ty = function.expr(id).ty;
            changed.members.contains(name) && matches!(unit.types.kind(ty), TypeKind::Array(..))
        }
        ExprKind::Subscript { base, .. } => is_array_of(unit, function, *base, changed),
        _ => false,
    }
}

fn is_array(unit: &TranslationUnit, id: VarId) -> bool {
    matches!(unit.types.kind(unit.variable(id).ty), TypeKind::Array(..))
}

/// Joins edits to one, from the first to the last; `None` if they overlap.
pub(super) fn merged(source: &[u8], mut edits: Vec<Edit>) -> Option<Edit> {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    edits.dedup();
    let (first, last) = (edits.first()?, edits.last()?);
    let whole = Span::new(first.span.start, last.span.end);
    let mut text = Vec::new();
    let mut copied = whole.start;
    for edit in &edits {
        if edit.span.start < copied {
            return None;
        }
        text.extend_from_slice(&source[copied as usize..edit.span.start as usize]);
        text.extend_from_slice(&edit.text);
        copied = edit.span.end;
    }
    Some(Edit::replace(whole, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_become_one() {
        let edit = |start, end, text: &str| Edit::replace(Span::new(start, end), text);
        let one = merged(b"int a, b;", vec![edit(7, 8, "c"), edit(0, 3, "long")]).unwrap();
        assert_eq!(one, edit(0, 8, "long a, c"));
        assert_eq!(
            merged(b"int a", vec![edit(0, 3, "x"), edit(2, 4, "y")]),
            None
        );
    }
}
