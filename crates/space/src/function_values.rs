//! FUNCTION where a function is a value: `qsort(a, n, sizeof *a, descending)` for `…, ascending)`, `op = multiply` for `op = add`.
//!
//! Only functions of exactly the same type: whoever calls the pointer passes what that type says.

use patchwright_csource::{
    ExprId, ExprKind, StmtKind, Storage, UnaryOperator, detail::Declaration,
};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    calls::{self, ALIKE_COST, MOST_FUNCTIONS},
    choices::{Alternative, Callees, Finder, Form},
    sites::Parents,
    space::Schema,
};

/// Finds the functions whose addresses `finder`'s function takes.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let parents = Parents::of(finder.function);
    let constants = constants(finder);
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let (ExprKind::Function(name), true) = (&expr.kind, expr.evaluated) else {
            continue;
        };
        let name = name.clone();
        let Some(whole) = value(finder, &parents, id) else {
            continue;
        };
        let place = finder.function.expr(whole).place;
        let (Some(span), Some(name_span)) = (place.editable(), expr.place.editable()) else {
            finder
                .found
                .refuse("FUNCTION for functions that a macro names");
            continue;
        };
        if finder.text(name_span) != name || !spans.insert(span) {
            continue;
        }
        if constants
            .iter()
            .any(|constant| constant.contains_span(span))
        {
            finder
                .found
                .refuse("FUNCTION in values that are calculated before the program starts");
            continue;
        }
        let alternatives = others(finder, &name, callees, name_span);
        let form = Form::FunctionPointer { named: name };
        finder.add(span, None, form, alternatives);
    }
}

/// The expression that gives the function's address, with the `&` that it may have; `None` for what is called there.
fn value(finder: &Finder<'_, '_, '_>, parents: &Parents, id: ExprId) -> Option<ExprId> {
    let function = finder.function;
    let mut whole = id;
    let mut at = parents.of_expr(id);
    while let Some(parent) = at {
        match &function.expr(parent).kind {
            ExprKind::Call { callee, .. } if function.stripped(*callee) == id => return None,
            ExprKind::Cast { implicit: true, .. } => {}
            ExprKind::Unary {
                operator: UnaryOperator::AddressOf,
                ..
            } if whole == id => whole = parent,
            ExprKind::Unary {
                operator: UnaryOperator::Dereference | UnaryOperator::AddressOf,
                ..
            } => return None,
            _ => return Some(whole),
        }
        at = parents.of_expr(parent);
    }
    Some(whole)
}

/// The texts of the initialisers of static variables.
fn constants(finder: &Finder<'_, '_, '_>) -> Vec<Span> {
    let function = finder.function;
    let mut found = Vec::new();
    for stmt in &function.stmts {
        let StmtKind::Declaration(variables) = &stmt.kind else {
            continue;
        };
        let is_static = variables
            .iter()
            .any(|&id| finder.builder.unit.variable(id).storage != Storage::Local);
        if is_static {
            found.extend(stmt.place.editable());
        }
    }
    found
}

/// Functions of the same type, the most similar names first.
fn others(
    finder: &mut Finder<'_, '_, '_>,
    name: &str,
    callees: &Callees<'_>,
    place: Span,
) -> Vec<Alternative> {
    let declarations = &finder.builder.unit.declarations;
    let Some(old) = declarations.get(name).filter(|old| is_typed(old)) else {
        return Vec::new();
    };
    let fits = |new: &Declaration| {
        is_typed(new)
            && new.name != old.name
            && new.name != finder.function.name
            && new.name != "main"
            && (new.result, &new.parameters, new.variadic)
                == (old.result, &old.parameters, old.variadic)
            && calls::is_tried(new, callees)
            && finder.can_name(&new.name)
    };
    let fitting = declarations.values().filter(|new| fits(new));
    let mut fitting: Vec<(usize, String)> = fitting
        .map(|new| {
            let distance = calls::edit_distance(name.as_bytes(), new.name.as_bytes());
            (distance, new.name.clone())
        })
        .collect();
    fitting.sort();
    if fitting.len() > MOST_FUNCTIONS {
        finder
            .found
            .refuse("FUNCTION: less similar functions in place of a value");
    }
    let alternatives = fitting.into_iter().take(MOST_FUNCTIONS);
    let alternatives = alternatives.map(|(_, new)| Alternative {
        schema: Schema::Function,
        cost: ALIKE_COST,
        woven: calls::linked(&new, callees.direct.contains(&new), &new),
        edit: Edit::replace(place, new),
    });
    alternatives.collect()
}

/// Whether its declaration tells all of its type.
fn is_typed(function: &Declaration) -> bool {
    function.prototyped && !function.implicit && function.result.is_some()
}
