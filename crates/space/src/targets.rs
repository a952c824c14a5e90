//! ASSIGNMENT to something else: `j++` for `i++`, `s->most = x` for `s->least = x`, `b[i] = x` for `a[i] = x`.
//!
//! Only what is of exactly the same type.

use patchwright_csource::{
    ExprId, ExprKind, StmtKind, Storage, UnaryOperator, VarId, types::TypeKind,
};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashMap;

use crate::{
    choices::{Finder, Standing},
    leaves::{is_private, variables_below},
    operators::{LONGEST, add_edits, discarded},
    own_calls::innermost,
    space::Schema,
    term::CType,
};

/// What gets the value, and what gets it no more: to put it where nobody looks is no better than to take the statement out.
const TARGET_COST: u32 = 2;

/// Most others that are tried at one place.
const MOST_OTHERS: usize = 5;

/// Adds assignments to another variable, member or element.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let discarded = discarded(finder.function);
    let of_loops = of_loops(finder);
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let target = match expr.kind {
            ExprKind::Assign { target, .. } => target,
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => operand,
            _ => continue,
        };
        let Some(span) = expr.place.editable() else {
            continue;
        };
        if !expr.evaluated
            || !discarded.contains(&id)
            || !finder.is_short(span, LONGEST)
            || finder.has_statements(id)
        {
            continue;
        }
        let Some(standing) = innermost(finder, span) else {
            continue;
        };
        let edits = others(finder, target, &standing, of_loops.get(&id));
        let schema = (Schema::Assignment, TARGET_COST);
        add_edits(finder, span, None, schema, edits);
    }
}

/// What the head of a `for` may set or step, by the expression: what its step steps, and what its beginning sets. Anything else would
/// mostly go on without end.
fn of_loops(finder: &Finder<'_, '_, '_>) -> FxHashMap<ExprId, Vec<VarId>> {
    let function = finder.function;
    let mut found = FxHashMap::default();
    for stmt in &function.stmts {
        let StmtKind::For {
            init,
            increment: Some(increment),
            ..
        } = stmt.kind
        else {
            continue;
        };
        let increment = function.stripped(increment);
        let mut set = Vec::new();
        match init.map(|id| &function.stmt(id).kind) {
            Some(StmtKind::Expression(init)) => {
                let init = function.stripped(*init);
                variables_below(function, init, &mut set);
                let mut stepped = Vec::new();
                variables_below(function, increment, &mut stepped);
                found.insert(init, stepped);
            }
            Some(StmtKind::Declaration(variables)) => set.extend(variables),
            _ => {}
        }
        found.insert(increment, set);
    }
    found
}

/// What makes another lvalue of one; only one of the variables `only`, if there are such.
fn others(
    finder: &mut Finder<'_, '_, '_>,
    target: ExprId,
    standing: &Standing,
    only: Option<&Vec<VarId>>,
) -> Vec<Edit> {
    let function = finder.function;
    let target = function.stripped(target);
    let expr = function.expr(target);
    let ty = expr.ty;
    match expr.kind.clone() {
        ExprKind::Variable(id) => {
            let wanted = finder.builder.ctype(ty);
            let (Some(span), Some(wanted)) = (expr.place.editable(), wanted) else {
                return Vec::new();
            };
            let mut names = variables(finder, standing, id, |finder, ty| {
                let is_array = matches!(finder.builder.unit.types.kind(ty), TypeKind::Array(..));
                !is_array && finder.builder.ctype(ty) == Some(wanted)
            });
            if let Some(only) = only {
                let unit = &finder.builder.unit;
                names.retain(|name| only.iter().any(|&id| unit.variable(id).name == *name));
            }
            replacements(span, names)
        }
        ExprKind::Subscript { base, .. } => {
            let base = function.stripped(base);
            let base = match function.expr(base).kind {
                ExprKind::Cast { operand, .. } => function.stripped(operand),
                _ => base,
            };
            let (ExprKind::Variable(id), Some(span)) = (
                &function.expr(base).kind,
                function.expr(base).place.editable(),
            ) else {
                return Vec::new();
            };
            let Some(wanted) = finder.builder.ctype(ty) else {
                return Vec::new();
            };
            let names = variables(finder, standing, *id, |finder, ty| {
                let types = &finder.builder.unit.types;
                let is_array = matches!(types.kind(ty), TypeKind::Array(..));
                let element = types.element(ty).filter(|_| is_array);
                let element = element.filter(|&element| !types.qualifiers(element).is_const);
                element.is_some_and(|element| finder.builder.ctype(element) == Some(wanted))
            });
            replacements(span, names)
        }
        ExprKind::Member {
            base,
            arrow,
            name,
            bit_field: false,
        } => {
            let names = members(finder, base, arrow, &name, ty);
            // The name is what the text ends with.
            let Some(span) = expr.place.editable() else {
                return Vec::new();
            };
            if !finder.text(span).ends_with(&name) {
                return Vec::new();
            }
            let start = span.end - name.len() as u32;
            replacements(Span::new(start, span.end), names)
        }
        _ => Vec::new(),
    }
}

fn replacements(span: Span, names: Vec<String>) -> Vec<Edit> {
    let names = names.into_iter().take(MOST_OTHERS);
    names.map(|name| Edit::replace(span, name)).collect()
}

/// The variables that can be named at a statement and that fit, the last declared first, then the globals that the function mentions.
pub(crate) fn variables(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    own: VarId,
    mut fits: impl FnMut(&mut Finder<'_, '_, '_>, patchwright_csource::types::TypeId) -> bool,
) -> Vec<String> {
    let mut ids: Vec<VarId> = standing.scope.visible.iter().rev().copied().collect();
    for expr in &finder.function.exprs {
        if let ExprKind::Variable(id) = expr.kind {
            let variable = finder.builder.unit.variable(id);
            if variable.storage == Storage::Global && !finder.is_hidden(&variable.name) {
                ids.push(id);
            }
        }
    }
    let mut found: Vec<String> = Vec::new();
    for id in ids {
        let variable = finder.builder.unit.variable(id);
        let (name, ty) = (variable.name.clone(), variable.ty);
        let is_const = finder.builder.unit.types.qualifiers(ty).is_const;
        if id != own && !is_const && !found.contains(&name) && fits(finder, ty) {
            found.push(name);
        }
    }
    found
}

/// Returns the other members of a structure with the wanted type.
pub(crate) fn members(
    finder: &mut Finder<'_, '_, '_>,
    base: ExprId,
    arrow: bool,
    own: &str,
    wanted: patchwright_csource::types::TypeId,
) -> Vec<String> {
    let types = &mut finder.builder.unit.types;
    let mut ty = finder.function.expr(base).ty;
    if arrow {
        let Some(element) = types.element(ty) else {
            return Vec::new();
        };
        ty = element;
    }
    let TypeKind::Record(record) = *types.kind(ty) else {
        return Vec::new();
    };
    let record = types.record(record).clone();
    // Arrays of other lengths are as good where they decay to pointers.
    let element = match *types.kind(wanted) {
        TypeKind::Array(element, _) => Some(types.unqualified(element)),
        _ => None,
    };
    let wanted: Option<CType> = finder.builder.ctype(wanted);
    let mut found = Vec::new();
    for field in record.fields.clone().unwrap_or_default() {
        let types = &mut finder.builder.unit.types;
        let own_element = match *types.kind(field.ty) {
            TypeKind::Array(element, _) => Some(types.unqualified(element)),
            _ => None,
        };
        let is_const = types.qualifiers(field.ty).is_const;
        let fits = match (element, own_element) {
            (Some(element), Some(own)) => element == own,
            (None, None) => {
                !is_const && wanted.is_some() && finder.builder.ctype(field.ty) == wanted
            }
            _ => false,
        };
        if fits && field.name != own && !field.name.is_empty() && !is_private(&record, &field) {
            found.push(field.name);
        }
    }
    found
}
