//! EXPRESSION where a null pointer stands: `node->next = rest;` for `node->next = NULL;`, `return found;` for `return NULL;`.
//!
//! A null pointer is no term of its own, for its text is mostly a macro's.

use patchwright_csource::{CastKind, ExprId, ExprKind, Place, StmtKind, Storage, types::TypeKind};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::Finder, operators::add_edits, own_calls::innermost, predicates, space::Schema,
};

/// The variable.
const VARIABLE_COST: u32 = 2;

/// Most variables that are tried in one place.
const MOST_VARIABLES: usize = 4;

/// Most places in one function.
const MOST_PLACES: usize = 20;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for id in values(finder) {
        let expr = finder.function.expr(id);
        let ExprKind::Cast {
            operand,
            implicit: true,
            cast: CastKind::NullToPointer,
        } = expr.kind
        else {
            continue;
        };
        // The parentheses in a macro's body belong to all of it.
        let bare = finder.function.stripped(operand);
        let places = [operand, bare].map(|id| finder.function.expr(id).place);
        let written = places.into_iter().find_map(|place| match place {
            Place::Written(span) => Some(span),
            _ => None,
        });
        let Some(span) = written else {
            continue;
        };
        let (Some(wanted), Some(standing)) =
            (finder.builder.ctype(expr.ty), innermost(finder, span))
        else {
            continue;
        };
        if !finder.can_spell(wanted) || spans.contains(&span) {
            continue;
        }
        if spans.len() == MOST_PLACES {
            finder
                .found
                .refuse("EXPRESSION where null pointers stand in further places");
            return;
        }
        spans.insert(span);
        let mut names: Vec<String> = Vec::new();
        for variable in predicates::variables(finder, &standing, id) {
            let variable = finder.builder.unit.variable(variable).clone();
            let is_pointer = matches!(
                finder.builder.unit.types.kind(variable.ty),
                TypeKind::Pointer(_)
            );
            let is_known = names.contains(&variable.name);
            let fits = is_pointer && finder.builder.ctype(variable.ty) == Some(wanted);
            if fits && !is_known && names.len() < MOST_VARIABLES {
                names.push(variable.name);
            }
        }
        let edits = names.into_iter().map(|name| Edit::replace(span, name));
        let schema = (Schema::Expression, VARIABLE_COST);
        let edits = edits.collect();
        add_edits(finder, span, Some(wanted), schema, edits);
    }
}

/// What is assigned, returned, passed, or what variables begin with.
fn values(finder: &Finder<'_, '_, '_>) -> Vec<ExprId> {
    let function = finder.function;
    let mut found = Vec::new();
    for expr in function.exprs.iter().filter(|expr| expr.evaluated) {
        match &expr.kind {
            ExprKind::Assign { value, .. } => found.push(*value),
            ExprKind::Call { arguments, .. } => found.extend(arguments),
            _ => {}
        }
    }
    for stmt in &function.stmts {
        match &stmt.kind {
            StmtKind::Return(Some(value)) => found.push(*value),
            StmtKind::Declaration(variables) => {
                let unit = &finder.builder.unit;
                let local = variables.iter().map(|&id| unit.variable(id));
                let local = local.filter(|variable| variable.storage == Storage::Local);
                found.extend(local.filter_map(|variable| variable.initializer));
            }
            _ => {}
        }
    }
    found
}
