//! FUNCTION with the program's own functions: `find(b)` for `b`, `max(best, x)` for `x`, `days_of(m, y)` for `31`.
//!
//! Only functions of the source that calculate a number and do not call the function at hand in turn, which would mostly call
//! each other without end. What else they take are variables that are at hand under exactly these types.

use patchwright_csource::{ExprId, ExprKind, VarId, detail::Declaration};
use patchwright_text::{Edit, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    choices::{Alternative, Callees, Finder, Form, Standing},
    operators::LONGEST,
    predicates::{calls, variables},
    space::Schema,
    term::{CType, promote},
    wraps::{Around, Used, inner_text, used},
};

/// The function's name, the call, and that it is not there by chance.
const CALL_COST: u32 = 3;

/// What a variable that nothing points to costs as an argument.
const ARGUMENT_COST: u32 = 1;

/// Most functions that are tried in one function: those that it calls already, then the nearest.
const MOST_FUNCTIONS: usize = 4;

/// Most variables that are tried beside an expression.
const MOST_PARTNERS: usize = 2;

/// Most calls at one place.
const MOST_CALLS: usize = 8;

/// Most places in one function.
const MOST_PLACES: usize = 60;

/// Adds calls of the program's own functions in place of values.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let known = known(finder, callees);
    if known.is_empty() {
        return;
    }
    let assigned = assigned(finder);
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    let mut places = 0;
    for used in used(finder) {
        let Used { id, span, around } = used;
        if around == Around::Nothing || !finder.is_short(span, LONGEST) || finder.has_statements(id)
        {
            continue;
        }
        let ty = finder.function.expr(id).ty;
        let ctype = finder.builder.ctype(ty);
        let Some(ctype) = ctype.filter(|ctype| ctype.is_arithmetic()) else {
            continue;
        };
        let Some(standing) = innermost(finder, span) else {
            continue;
        };
        if !spans.insert(span) {
            continue;
        }
        let target = assigned.get(&finder.function.stripped(id)).copied();
        let mut found: Vec<(u32, String)> = Vec::new();
        for function in &known {
            let new = match around {
                Around::Constant => in_place_of_number(finder, function, ctype, id, &standing),
                _ => around_expression(finder, function, ctype, id, &standing, target),
            };
            found.extend(new);
        }
        found.sort_by_key(|(cost, _)| *cost);
        if found.is_empty() {
            continue;
        }
        if found.len() > MOST_CALLS || places == MOST_PLACES {
            finder
                .found
                .refuse("FUNCTION by further calls of the program's own functions");
        }
        if places == MOST_PLACES {
            return;
        }
        places += 1;
        found.truncate(MOST_CALLS);
        let alternatives = found
            .into_iter()
            .map(|(cost, text)| Alternative {
                schema: Schema::Function,
                cost,
                woven: text.clone(),
                edit: Edit::replace(span, text),
            })
            .collect();
        finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
    }
}

/// The functions that are tried.
fn known(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) -> Vec<Declaration> {
    let own = &finder.function.name;
    let is_called = |name: &str| {
        let mut exprs = finder.function.exprs.iter();
        exprs.any(|expr| matches!(&expr.kind, ExprKind::Function(other) if other == name))
    };
    let mut found: Vec<(bool, Declaration)> = Vec::new();
    for (name, called) in callees.defined {
        let Some(known) = finder.builder.unit.declarations.get(name) else {
            continue;
        };
        let is_small = (1..=2).contains(&known.parameters.len());
        if is_small
            && known.prototyped
            && !known.variadic
            && name != own
            && name != "main"
            && !called.contains(own)
            && !callees.predicates.contains(name)
            && finder.can_name(name)
        {
            found.push((!is_called(name), known.clone()));
        }
    }
    found.retain(|(_, known)| {
        let result = known.result.and_then(|ty| finder.builder.ctype(ty));
        result.is_some_and(|ctype| ctype.is_arithmetic())
    });
    found.sort_by(|(a_is_new, a), (b_is_new, b)| {
        let by_place = b.order.cmp(&a.order);
        a_is_new.cmp(b_is_new).then(by_place)
    });
    let found = found.into_iter().map(|(_, known)| known);
    found.take(MOST_FUNCTIONS).collect()
}

/// The variables to which values are assigned, by the value.
fn assigned(finder: &Finder<'_, '_, '_>) -> FxHashMap<ExprId, VarId> {
    let function = finder.function;
    let mut found = FxHashMap::default();
    for expr in &function.exprs {
        if let ExprKind::Assign {
            operator: None,
            target,
            value,
        } = expr.kind
            && let ExprKind::Variable(id) = function.expr(function.stripped(target)).kind
        {
            found.insert(function.stripped(value), id);
        }
    }
    found
}

/// The smallest statement that a text lies in.
pub(crate) fn innermost(finder: &Finder<'_, '_, '_>, span: Span) -> Option<Standing> {
    let around = finder.statements.iter();
    let around = around.filter(|standing| standing.span.contains_span(span));
    around.min_by_key(|standing| standing.span.len()).cloned()
}

/// Whether a value of one type may be calculated where one of the other is wanted.
fn is_of_kind(a: Option<CType>, b: CType) -> bool {
    a.is_some_and(|a| a.is_arithmetic() && a.is_floating() == b.is_floating())
}

/// Calls that take the expression, and as the other argument what it is assigned to, or a variable at hand.
fn around_expression(
    finder: &mut Finder<'_, '_, '_>,
    function: &Declaration,
    ctype: CType,
    id: ExprId,
    standing: &Standing,
    target: Option<VarId>,
) -> Vec<(u32, String)> {
    let name = &function.name;
    let inner = inner_text(finder, id);
    let types: Vec<Option<CType>> = function
        .parameters
        .iter()
        .map(|&ty| finder.builder.ctype(ty))
        .collect();
    let result = function.result.and_then(|ty| finder.builder.ctype(ty));
    if !is_of_kind(result, ctype) || inner.is_empty() || inner.contains(&format!("{name}(")) {
        return Vec::new();
    }
    if let [only] = types[..] {
        return match is_of_kind(only, ctype) {
            true => vec![(CALL_COST, format!("{name}({inner})"))],
            false => Vec::new(),
        };
    }
    let mut found = Vec::new();
    for place in 0..types.len() {
        if !is_of_kind(types[place], ctype) {
            continue;
        }
        let mut partners: Vec<VarId> = target.into_iter().collect();
        partners.extend(variables(finder, standing, id));
        let mut taken = Vec::new();
        for id in partners {
            let variable = finder.builder.unit.variable(id).clone();
            let own = finder.builder.ctype(variable.ty);
            let is_new = !taken.contains(&id) && variable.name != inner;
            if is_new && own.is_some() && own == types[1 - place] && taken.len() < MOST_PARTNERS {
                taken.push(id);
                let arguments = match place {
                    0 => format!("{inner}, {}", variable.name),
                    _ => format!("{}, {inner}", variable.name),
                };
                let extra = if Some(id) == target { 0 } else { ARGUMENT_COST };
                found.push((CALL_COST + extra, format!("{name}({arguments})")));
            }
        }
    }
    found
}

/// Calls of what is at hand.
fn in_place_of_number(
    finder: &mut Finder<'_, '_, '_>,
    function: &Declaration,
    ctype: CType,
    id: ExprId,
    standing: &Standing,
) -> Vec<(u32, String)> {
    let result = function.result.and_then(|ty| finder.builder.ctype(ty));
    if !is_of_kind(result, ctype) {
        return Vec::new();
    }
    let variables = variables(finder, standing, id);
    let found = calls(finder, function, &variables).into_iter();
    found
        .take(MOST_PARTNERS)
        .map(|text| (CALL_COST + ARGUMENT_COST, text))
        .collect()
}
