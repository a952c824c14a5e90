//! ASSIGNMENT that keeps one number from being less than another one, or more: `if (now > free_at) free_at = now;`, `if (x > most) most = x;`,
//! `if (left < 0) left = 0;`.
//!
//! Most conditions with a body that people insert govern one assignment. Two numbers belong together in two cases. A statement
//! mentions both; then the limit stands before it. Or a statement mentions one, and the other is a variable that keeps its first
//! value. A number that a statement calculates may also be kept from going below zero.

use patchwright_csource::{ExprId, ExprKind, StmtId, StmtKind, Storage, UnaryOperator, VarId};
use rustc_hash::FxHashSet;

use crate::{
    builder::ASSIGNMENT_COST,
    choices::{Alternative, Finder, Form, Standing},
    insertion::insertion,
    operators::LONGEST,
    space::Schema,
};

/// The statement and its condition, which have the same two names.
const COST: u32 = ASSIGNMENT_COST + 2;

/// Most variables of one statement, and most that never change.
const MOST_VARIABLES: usize = 4;

/// Adds assignments that keep a number within a limit.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let assigned = assigned(finder);
    let addressed: FxHashSet<VarId> = finder.function.address_taken.iter().copied().collect();
    let changed: FxHashSet<VarId> = assigned.union(&addressed).copied().collect();
    let mut never: Vec<VarId> = Vec::new();
    for &id in &finder.function.locals {
        let is_kept = !assigned.contains(&id) && !finder.function.parameters.contains(&id);
        if is_kept && is_number(finder, id) && !never.contains(&id) {
            never.push(id);
        }
    }
    // What is read into a variable may be its first value.
    never.sort_by_key(|id| addressed.contains(id));
    for standing in finder.statements.clone() {
        if !finder.is_short(standing.span, LONGEST) {
            continue;
        }
        let mut mentioned = Vec::new();
        for expr in expressions(finder, standing.id) {
            for id in finder.function.variables_within(expr) {
                // Some get their first value here.
                let is_visible = standing.scope.visible.contains(&id);
                if !mentioned.contains(&id) && is_number(finder, id) && is_visible {
                    mentioned.push(id);
                }
            }
        }
        if mentioned.len() > MOST_VARIABLES || mentioned.is_empty() {
            if !mentioned.is_empty() {
                finder
                    .found
                    .refuse("ASSIGNMENT under a comparison of further variables");
            }
            continue;
        }
        behind(finder, &standing, &mentioned, &never);
        mentioned.retain(|&id| is_here(&standing, id));
        before(finder, &standing, &mentioned, &changed);
    }
}

/// Before a statement that mentions both.
fn before(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    mentioned: &[VarId],
    changed: &FxHashSet<VarId>,
) {
    let mut texts = Vec::new();
    for &kept in mentioned {
        // What is never changed is no state that has to keep up with another one.
        if !changed.contains(&kept) {
            continue;
        }
        let others = mentioned.iter().filter(|&&other| other != kept);
        for &other in others {
            texts.extend(both_ways(finder, kept, other));
        }
    }
    let source = &finder.builder.unit.source;
    let alternatives = texts.into_iter().map(|text| Alternative {
        schema: Schema::Assignment,
        cost: COST,
        edit: insertion(source, standing.span, standing.is_body, &text),
        woven: text,
    });
    let alternatives = alternatives.collect();
    let form = Form::Before {
        is_body: standing.is_body,
    };
    finder.add(standing.span, None, form, alternatives);
}

/// Behind a statement that mentions one of them, or gives it a value.
fn behind(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    mentioned: &[VarId],
    never: &[VarId],
) {
    let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
        return;
    };
    if finder.has_statements(expr) {
        return;
    }
    let mut texts = Vec::new();
    let kept: Vec<VarId> = never
        .iter()
        .copied()
        .filter(|&id| is_here(standing, id) && !mentioned.contains(&id))
        .take(MOST_VARIABLES)
        .collect();
    for &value in mentioned {
        for &kept in &kept {
            texts.extend(both_ways(finder, kept, value));
        }
    }
    let expr = finder.function.stripped(expr);
    if let ExprKind::Assign { target, .. } = finder.function.expr(expr).kind
        && let ExprKind::Variable(id) = finder.function.expr(finder.function.stripped(target)).kind
        && mentioned.contains(&id)
        && is_signed(finder, id)
    {
        let name = &finder.builder.unit.variable(id).name;
        texts.push(format!("if ({name} < 0) {name} = 0;"));
    }
    finder.add_behind(standing, COST, texts);
}

/// One variable becomes at least, or at most, what another one is.
fn both_ways(finder: &mut Finder<'_, '_, '_>, kept: VarId, other: VarId) -> Vec<String> {
    let unit = &finder.builder.unit;
    let (own, value) = (unit.variable(kept).clone(), unit.variable(other).clone());
    let is_const = unit.types.qualifiers(own.ty).is_const;
    if is_const || finder.builder.ctype(own.ty) != finder.builder.ctype(value.ty) {
        return Vec::new();
    }
    let (a, b) = (&value.name, &own.name);
    [">", "<"]
        .map(|order| format!("if ({a} {order} {b}) {b} = {a};"))
        .into()
}

/// The variables that an assignment or a step of the function changes.
fn assigned(finder: &Finder<'_, '_, '_>) -> FxHashSet<VarId> {
    let function = finder.function;
    let mut found = FxHashSet::default();
    for expr in &function.exprs {
        let target = match expr.kind {
            ExprKind::Assign { target, .. } => target,
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => operand,
            _ => continue,
        };
        if let ExprKind::Variable(id) = function.expr(function.stripped(target)).kind {
            found.insert(id);
        }
    }
    found
}

/// The expressions that a statement evaluates itself, calls and what it declares included.
fn expressions(finder: &Finder<'_, '_, '_>, id: StmtId) -> Vec<ExprId> {
    match &finder.function.stmt(id).kind {
        StmtKind::Expression(expr) => vec![*expr],
        StmtKind::Declaration(variables) => {
            let unit = &finder.builder.unit;
            let variables = variables.iter().map(|&id| unit.variable(id));
            let locals = variables.filter(|variable| variable.storage == Storage::Local);
            locals.filter_map(|variable| variable.initializer).collect()
        }
        _ => Vec::new(),
    }
}

fn is_here(standing: &Standing, id: VarId) -> bool {
    standing.scope.assigned.contains(&id)
}

/// A local number or a parameter.
fn is_number(finder: &mut Finder<'_, '_, '_>, id: VarId) -> bool {
    let variable = finder.builder.unit.variable(id).clone();
    let ctype = finder.builder.ctype(variable.ty);
    variable.storage != Storage::Global && ctype.is_some_and(|ctype| ctype.is_arithmetic())
}

fn is_signed(finder: &mut Finder<'_, '_, '_>, id: VarId) -> bool {
    let ty = finder.builder.unit.variable(id).ty;
    let ctype = finder.builder.ctype(ty);
    ctype.is_some_and(|ctype| !ctype.is_integer() || ctype.value_type().is_signed_integer())
}
