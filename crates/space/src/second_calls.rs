//! FUNCTION once more, with other arguments: `fall(l + 1, r) || fall(l, r - 1)` for `fall(l + 1, r)`, `ways(n - 1) + ways(n - 2)`.
//!
//! Only functions of the source that calculate a number of up to three numbers. An argument becomes one more, one less, or what it is
//! without its own `+ 1`.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Storage};
use patchwright_text::Edit;
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Callees, Finder, Form},
    own_calls::innermost,
    sites::Parents,
    space::Schema,
    term::{Precedence, promote},
    wraps::{inner_text, used},
};

/// The operator, and the call.
const SECOND_CALL_COST: u32 = 3;

/// A call with a longer text is left alone.
const LONGEST: u32 = 80;

/// Most arguments of a function.
const MOST_ARGUMENTS: usize = 3;

/// Most places in one function.
const MOST_PLACES: usize = 12;

/// A changed argument.
struct Argument {
    text: String,
    is_changed: bool,
}

/// Adds a second call of a function with other arguments.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let parents = Parents::of(finder.function);
    let mut seen = FxHashSet::default();
    let mut places = 0;
    for used in used(finder) {
        let span = used.span;
        if !finder.is_short(span, LONGEST) || finder.has_statements(used.id) || !seen.insert(span) {
            continue;
        }
        let Some((name, ways)) = other_calls(finder, callees, used.id) else {
            continue;
        };
        let ctype = finder.builder.ctype(finder.function.expr(used.id).ty);
        let Some(ctype) = ctype.filter(|ctype| ctype.is_arithmetic()) else {
            continue;
        };
        if innermost(finder, span).is_none() || ways.is_empty() {
            continue;
        }
        if places == MOST_PLACES {
            finder
                .found
                .refuse("FUNCTION called twice at further places");
            return;
        }
        places += 1;
        let operators: &[(&str, Precedence)] = match callees.predicates.contains(&name) {
            true => &[
                ("||", Precedence::LogicalOr),
                ("&&", Precedence::LogicalAnd),
            ],
            false => &[("+", Precedence::Additive)],
        };
        let least = least(finder, &parents, used.id);
        let own = finder.text(span);
        let mut alternatives = Vec::new();
        for (changes, call) in &ways {
            for (operator, precedence) in operators {
                let bare = format!("{own} {operator} {call}");
                let new = match *precedence < least {
                    true => format!("({bare})"),
                    false => bare.clone(),
                };
                alternatives.push(Alternative {
                    schema: Schema::Function,
                    cost: SECOND_CALL_COST + changes,
                    woven: bare,
                    edit: Edit::replace(span, new),
                });
            }
        }
        finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
    }
}

/// The least precedence of what stands in place of an expression and the parentheses round it.
fn least(finder: &Finder<'_, '_, '_>, parents: &Parents, mut id: ExprId) -> Precedence {
    while let Some(around) = parents.of_expr(id)
        && matches!(finder.function.expr(around).kind, ExprKind::Paren(_))
    {
        id = around;
    }
    parents.least(finder.function, id)
}

/// Calls of the function that an expression calls, with other arguments; how many of them are others.
fn other_calls(
    finder: &Finder<'_, '_, '_>,
    callees: &Callees<'_>,
    id: ExprId,
) -> Option<(String, Vec<(u32, String)>)> {
    let function = finder.function;
    let ExprKind::Call {
        callee, arguments, ..
    } = &function.expr(id).kind
    else {
        return None;
    };
    let ExprKind::Function(name) = &function.expr(function.stripped(*callee)).kind else {
        return None;
    };
    let is_own = callees.defined.contains_key(name);
    if !is_own || arguments.is_empty() || arguments.len() > MOST_ARGUMENTS {
        return None;
    }
    let mut ways: Vec<(u32, Vec<String>)> = vec![(0, Vec::new())];
    for &argument in arguments {
        let texts = others(finder, argument);
        let mut longer = Vec::new();
        for (changes, before) in &ways {
            for other in &texts {
                let changes = changes + u32::from(other.is_changed);
                if changes <= 2 {
                    let mut all = before.clone();
                    all.push(other.text.clone());
                    longer.push((changes, all));
                }
            }
        }
        ways = longer;
    }
    let own: Vec<String> = function
        .parameters
        .iter()
        .map(|&id| finder.builder.unit.variable(id).name.clone())
        .collect();
    // A function that calls itself with what it was given does so for ever.
    ways.retain(|(changes, texts)| *changes > 0 && (*name != function.name || *texts != own));
    ways.sort_by_key(|(changes, _)| *changes);
    let call =
        |(changes, texts): (u32, Vec<String>)| (changes, format!("{name}({})", texts.join(", ")));
    Some((name.clone(), ways.into_iter().map(call).collect()))
}

/// An argument as it is, and what it may be in another call.
fn others(finder: &Finder<'_, '_, '_>, argument: ExprId) -> Vec<Argument> {
    let function = finder.function;
    let own = |text: String| Argument {
        text,
        is_changed: false,
    };
    let bare = function.stripped(argument);
    let mut found = vec![own(inner_text(finder, argument))];
    let mut add = |text: String| {
        found.push(Argument {
            text,
            is_changed: true,
        });
    };
    let is_number = |id: ExprId| {
        let types = &finder.builder.unit.types;
        types.integer_kind(function.expr(id).ty).is_some()
    };
    let is_variable = |id: ExprId| match function.expr(function.stripped(id)).kind {
        ExprKind::Variable(variable) => {
            finder.builder.unit.variable(variable).storage != Storage::Global || is_number(id)
        }
        _ => false,
    };
    match function.expr(bare).kind {
        ExprKind::Variable(_) if is_number(bare) => {
            let name = inner_text(finder, bare);
            add(format!("{name} - 1"));
            add(format!("{name} + 1"));
        }
        ExprKind::Binary {
            operator: operator @ (BinaryOperator::Add | BinaryOperator::Sub),
            left,
            right,
        } if is_variable(left) && is_number(bare) => {
            if let ExprKind::Integer {
                value,
                character: false,
                enumerator: None,
            } = function.expr(function.stripped(right)).kind
                && (1..=8).contains(&value)
            {
                let name = inner_text(finder, left);
                let sign = operator.spelling();
                add(name.clone());
                add(format!("{name} {sign} {}", value + 1));
            }
        }
        _ => {}
    }
    found
}
