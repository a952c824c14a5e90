//! EXIT: a function, a loop or a `switch` left early, under a condition.
//!
//! The inserted statement is `if (c) return e;`, `if (c) break;` or `if (c) continue;`. The hole's value is 0 if the condition
//! is false, else the number of the way out. So conditions form classes as guards do, and one execution serves all
//! conditions that agree in it.
//!
//! Such changes overfit more than others (f1x, section 5), so they are tried only on request. The exception is conditions that
//! keep tests from crashing ([`mod@crate::crash_free`]), because developers fix crashes in this way.

use patchwright_csource::{
    ExprId, ExprKind, Function, StmtId, StmtKind, Storage, UnaryOperator, VarId, types::TypeKind,
};

use patchwright_text::Span;

use crate::constants::null;
pub use crate::ways_out::{Conditions, Exit, Exits};
use crate::{
    choices::{Finder, Standing},
    holes::HoleKind,
    term::CType,
};

/// Longest text of a constant that is returned.
const MOST_TEXT: usize = 32;

/// Longest text of a call that ends the program…
const MOST_CALL_TEXT: usize = 120;

/// …and most of them at one place.
const MOST_CALLS: usize = 2;

/// Most values that are returned at one place.
const MOST_VALUES: usize = 6;

/// A value that can be returned.
pub(crate) enum Returned {
    /// Some `return` of the function has it.
    Constant(String),
    /// Some `return` of the function has it.
    Variable(VarId, String),
    /// One that functions of this type often return.
    Usual(&'static str),
}

/// Adds early exits under a condition. `under` says where they are tried.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, under: Conditions) {
    let returned = returned(finder);
    let last_calls = last_calls(finder);
    for standing in finder.statements.clone() {
        let stmt = finder.function.stmt(standing.id);
        let (is_break, is_continue, is_return) = match stmt.kind {
            StmtKind::Expression(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Do { .. }
            | StmtKind::For { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Goto(_) => (false, false, false),
            StmtKind::Break => (true, false, false),
            StmtKind::Continue => (false, true, false),
            StmtKind::Return(None) => (false, false, true),
            StmtKind::Return(Some(_)) => (false, false, false),
            _ => continue,
        };
        let mut ways = Vec::new();
        let mut way = |text: String, size: u32| {
            ways.push(Exit {
                text,
                cost: 1 + size,
            });
        };
        if standing.breakable && !is_break {
            way("break;".to_owned(), 1);
        }
        if standing.in_loop && !is_continue {
            way("continue;".to_owned(), 1);
        }
        if matches!(
            finder.builder.unit.types.kind(finder.function.return_type),
            TypeKind::Void
        ) {
            if !is_return {
                way("return;".to_owned(), 1);
            }
        } else {
            for (value, size) in values(&returned, &standing) {
                way(format!("return {value};"), 1 + size);
            }
        }
        if under == Conditions::CrashFree {
            // What is said of an error nearby is mostly what is to be said of this one.
            let mut nearest: Vec<&(Span, String)> = last_calls.iter().collect();
            nearest.sort_by_key(|(span, _)| span.start.abs_diff(standing.span.start));
            for (span, text) in nearest.into_iter().take(MOST_CALLS) {
                if !standing.span.contains_span(*span) {
                    way(text.clone(), 2);
                }
            }
        }
        if ways.is_empty() {
            continue;
        }
        let is_body = standing.is_body;
        let kind = HoleKind::Exit(Exits {
            is_body,
            ways,
            under,
        });
        finder.push(standing.span, kind, None, standing.scope.clone());
    }
}

/// The place where a function begins, for a case that it forgets: `if (n < 2) return n;`. The values are the usual ones, its own
/// and what it is given.
pub(crate) fn find_entry(finder: &mut Finder<'_, '_, '_>) {
    let function = finder.function;
    let StmtKind::Compound(inner) = &function.stmt(function.body).kind else {
        return;
    };
    let is_declaration = |id: &&StmtId| {
        let kind = &function.stmt(**id).kind;
        !matches!(kind, StmtKind::Declaration(_) | StmtKind::Null)
    };
    let Some(&first) = inner.iter().find(is_declaration) else {
        return;
    };
    let kind = &function.stmt(first).kind;
    let is_ordinary = kind.is_step() || matches!(kind, StmtKind::Return(_));
    let mut statements = finder.statements.iter();
    let Some(standing) = statements.find(|standing| standing.id == first).cloned() else {
        return;
    };
    let parameters = function.parameters.clone();
    if !is_ordinary || function.name == "main" || parameters.is_empty() {
        return;
    }
    let result = finder.builder.ctype(function.return_type);
    let mut returned = returned(finder);
    for id in parameters {
        let variable = finder.builder.unit.variable(id).clone();
        if result.is_some() && finder.builder.ctype(variable.ty) == result {
            returned.push(Returned::Variable(id, variable.name));
        }
    }
    let ways: Vec<Exit> = values(&returned, &standing)
        .into_iter()
        .map(|(value, size)| Exit {
            text: format!("return {value};"),
            cost: size,
        })
        .collect();
    if ways.is_empty() {
        return;
    }
    let kind = HoleKind::Exit(Exits {
        is_body: standing.is_body,
        ways,
        under: Conditions::Entry,
    });
    finder.push(standing.span, kind, None, standing.scope);
}

/// The values of the function's own returns that can be repeated anywhere, then the usual ones.
pub(crate) fn returned(finder: &mut Finder<'_, '_, '_>) -> Vec<Returned> {
    let ty = finder.function.return_type;
    let usual: &[&'static str] = match finder.builder.ctype(ty) {
        Some(CType::Pointer(_)) => &[null(&finder.builder.unit.source)],
        Some(CType::Bool) => &["0", "1"],
        Some(ctype) if ctype.is_integer() => &["0", "1", "-1"],
        Some(_) => &["0"],
        None => return Vec::new(),
    };
    let mut found = Vec::new();
    for stmt in &finder.function.stmts {
        if let StmtKind::Return(Some(value)) = stmt.kind {
            found.extend(simple(finder, value));
        }
    }
    found.extend(usual.iter().copied().map(Returned::Usual));
    found
}

fn simple(finder: &Finder<'_, '_, '_>, value: ExprId) -> Option<Returned> {
    let id = finder.function.stripped(value);
    let expr = finder.function.expr(id);
    // `-1` that stands in a macro's body is named by the macro.
    let whole = finder.function.expr(value).place;
    let text = finder.plain(expr.place.editable().or(whole.editable())?);
    match expr.kind {
        ExprKind::Integer { .. } | ExprKind::Float(_) => Some(Returned::Constant(text)),
        ExprKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => {
            let operand = finder.function.stripped(operand);
            let is_number = matches!(
                finder.function.expr(operand).kind,
                ExprKind::Integer { .. } | ExprKind::Float(_)
            );
            is_number.then_some(Returned::Constant(text))
        }
        ExprKind::Variable(id) => {
            let variable = finder.builder.unit.variable(id);
            let ordinary = variable.storage != Storage::Global && variable.name == text;
            ordinary.then_some(Returned::Variable(id, text))
        }
        // `JBG_EINVAL | 12`, or what a macro calculates: as the function writes it.
        _ => {
            let text = finder.plain(whole.editable()?);
            let is_short = text.len() <= MOST_TEXT;
            let is_constant = is_short && is_constant(finder.function, id);
            is_constant.then_some(Returned::Constant(text))
        }
    }
}

/// The statements of the function that end the program by a call with constant arguments, one of each text: `exit(1);`,
/// `errx(1, "Corrupt patch");`.
fn last_calls(finder: &Finder<'_, '_, '_>) -> Vec<(Span, String)> {
    let function = finder.function;
    let mut found: Vec<(Span, String)> = Vec::new();
    for stmt in &function.stmts {
        let StmtKind::Expression(expr) = stmt.kind else {
            continue;
        };
        let ExprKind::Call {
            callee,
            ref arguments,
            ..
        } = function.expr(function.stripped(expr)).kind
        else {
            continue;
        };
        let ExprKind::Function(name) = &function.expr(function.stripped(callee)).kind else {
            continue;
        };
        let declared = finder.builder.unit.declarations.get(name);
        let ends = declared.is_some_and(|declared| declared.no_return);
        let is_fixed = |&argument: &ExprId| {
            let id = function.stripped(argument);
            matches!(function.expr(id).kind, ExprKind::String) || is_constant(function, id)
        };
        let Some(span) = stmt.place.editable() else {
            continue;
        };
        let text = finder.plain(span);
        let is_new = found.iter().all(|(_, other)| *other != text);
        if ends && is_new && arguments.iter().all(is_fixed) && text.len() <= MOST_CALL_TEXT {
            found.push((span, text));
        }
    }
    found
}

/// Whether an expression is calculated from numbers alone.
fn is_constant(function: &Function, id: ExprId) -> bool {
    let is_calculation = match &function.expr(id).kind {
        ExprKind::Integer { .. } | ExprKind::Float(_) => return true,
        ExprKind::Unary { operator, .. } => {
            !matches!(operator, UnaryOperator::Step | UnaryOperator::Dereference)
        }
        ExprKind::Binary { .. } | ExprKind::Cast { .. } | ExprKind::Paren(_) => true,
        _ => false,
    };
    let mut children = function.children(id).into_iter();
    is_calculation && children.all(|child| is_constant(function, child))
}

/// The values that can be returned at a place, and the price of each. What the function returns elsewhere is one word of its
/// own, so it costs one node however it is written, and comes first.
pub(crate) fn values<'r>(returned: &'r [Returned], standing: &Standing) -> Vec<(&'r str, u32)> {
    let mut found: Vec<(&str, u32)> = Vec::new();
    for value in returned {
        let (text, size) = match value {
            Returned::Constant(text) => (text.as_str(), 1),
            Returned::Variable(id, text) if standing.scope.assigned.contains(id) => {
                (text.as_str(), 1)
            }
            Returned::Variable(..) => continue,
            Returned::Usual(text) if text.starts_with('-') => (*text, 2),
            Returned::Usual(text) => (*text, 1),
        };
        if found.len() < MOST_VALUES && found.iter().all(|&(other, _)| other != text) {
            found.push((text, size));
        }
    }
    found
}
