//! REFINEMENT by the program's own functions: `m > 2 && is_leap(y)`.
//!
//! Only functions of the source that say yes or no, of one or two things that are at hand under exactly these types. The others
//! of REFINEMENT are terms, which call nothing.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Storage, VarId, detail::Declaration};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Callees, Finder, Form, Standing},
    operators::LONGEST,
    space::Schema,
    term::promote,
};

/// The operator, the function's name and what it is given.
const PREDICATE_COST: u32 = 3;

/// What `!` in front costs more.
const NEGATED_COST: u32 = 1;

/// Most calls that are added to one condition.
const MOST_CALLS: usize = 6;

/// Most of one function.
const MOST_OF_FUNCTION: usize = 3;

/// Adds conditions with one of the program's own predicates.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let declarations = &finder.builder.unit.declarations;
    let mut known: Vec<Declaration> = callees
        .predicates
        .iter()
        .filter_map(|name| declarations.get(name).cloned())
        .filter(|known| {
            let is_small = (1..=2).contains(&known.parameters.len());
            is_small && known.prototyped && !known.variadic && !known.in_system_header
        })
        .filter(|known| known.name != finder.function.name && finder.can_name(&known.name))
        .collect();
    known.sort_by(|a, b| a.name.cmp(&b.name));
    if known.is_empty() {
        return;
    }
    for standing in finder.statements.clone() {
        if let Some(condition) = finder.function.stmt(standing.id).kind.condition() {
            refine(finder, &standing, condition, &known);
        }
    }
}

fn refine(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    condition: ExprId,
    known: &[Declaration],
) {
    let bare = finder.function.stripped(condition);
    let expr = finder.function.expr(bare);
    let (ty, place, kind) = (expr.ty, expr.place, expr.kind.clone());
    let ctype = finder.builder.ctype(ty);
    let Some(ctype) = ctype.filter(|ctype| ctype.is_arithmetic()) else {
        return;
    };
    let Some(span) = place
        .editable()
        .filter(|span| finder.is_short(*span, LONGEST))
    else {
        return;
    };
    if finder.has_statements(condition) {
        return;
    }
    let own = finder.text(span);
    let operator = match &kind {
        ExprKind::Binary { operator, .. } => Some(*operator),
        _ => None,
    };
    let is_loose = matches!(kind, ExprKind::Conditional { .. } | ExprKind::Assign { .. })
        || matches!(operator, Some(BinaryOperator::Comma));
    let beside = |other: BinaryOperator| match is_loose || operator == Some(other) {
        true => format!("({own})"),
        false => own.clone(),
    };
    let (in_and, in_or) = (
        beside(BinaryOperator::LogicalOr),
        // Compilers warn of `a && b || c`.
        beside(BinaryOperator::LogicalAnd),
    );
    let variables = variables(finder, standing, condition);
    let mut calls: Vec<String> = Vec::new();
    for function in known {
        calls.extend(self::calls(finder, function, &variables));
    }
    calls.retain(|call| !own.contains(call.as_str()));
    if calls.len() > MOST_CALLS {
        finder
            .found
            .refuse("REFINEMENT by further calls of functions");
        calls.truncate(MOST_CALLS);
    }
    let mut alternatives = Vec::new();
    for call in calls {
        for (extra, not) in [(0, ""), (NEGATED_COST, "!")] {
            for text in [
                format!("{in_and} && {not}{call}"),
                format!("{in_or} || {not}{call}"),
            ] {
                alternatives.push(Alternative {
                    schema: Schema::Refinement,
                    cost: PREDICATE_COST + extra,
                    woven: text.clone(),
                    edit: Edit::replace(span, text),
                });
            }
        }
    }
    finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
}

/// The variables that have a value where a statement stands: those that `expr` mentions first, then parameters and locals,
/// then globals that the function mentions.
pub(crate) fn variables(
    finder: &Finder<'_, '_, '_>,
    standing: &Standing,
    expr: ExprId,
) -> Vec<VarId> {
    let mut found = finder.function.variables_within(expr);
    found.extend(&finder.function.locals);
    for expr in &finder.function.exprs {
        if let ExprKind::Variable(id) = expr.kind {
            found.push(id);
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|&id| {
        let variable = finder.builder.unit.variable(id);
        let has_value = match variable.storage {
            Storage::Global => !finder.is_hidden(&variable.name),
            _ => standing.scope.assigned.contains(&id),
        };
        has_value && seen.insert(id)
    });
    found
}

/// Calls of a function with variables of exactly the types that it takes, no variable twice.
pub(crate) fn calls(
    finder: &mut Finder<'_, '_, '_>,
    function: &Declaration,
    variables: &[VarId],
) -> Vec<String> {
    let mut fitting: Vec<Vec<String>> = Vec::new();
    for &parameter in &function.parameters {
        let wanted = finder.builder.ctype(parameter);
        let mut names = Vec::new();
        for &id in variables {
            let variable = finder.builder.unit.variable(id).clone();
            let own = finder.builder.ctype(variable.ty);
            if wanted.is_some() && own == wanted {
                names.push(variable.name);
            }
        }
        fitting.push(names);
    }
    let mut found = Vec::new();
    let name = &function.name;
    match &fitting[..] {
        [only] => found.extend(only.iter().map(|a| format!("{name}({a})"))),
        [first, second] => {
            for a in first {
                let others = second.iter().filter(|b| *b != a);
                found.extend(others.map(|b| format!("{name}({a}, {b})")));
            }
        }
        _ => {}
    }
    found.truncate(MOST_OF_FUNCTION);
    found
}
