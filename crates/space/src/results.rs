//! EXIT by what a call tells that nobody looks at: `if (f(x)) return -1;` for `f(x);`.
//!
//! Only where it is the program's own function, or one that is called by a pointer, and with what the function at hand returns elsewhere.

use patchwright_csource::{ExprKind, StmtKind};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Callees, Finder, Form, Standing},
    insertion::{indentation_step, newline},
    operators::LONGEST,
    space::Schema,
};

/// The choice, and what is done.
const RESULT_COST: u32 = 3;

/// What `!` in front costs more.
const NEGATED_COST: u32 = 1;

/// Most returned values that are tried.
const MOST_VALUES: usize = 3;

/// Most calls of one function.
const MOST_PLACES: usize = 20;

/// Adds exits that follow from the unused result of a call.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let values = returned(finder);
    let mut places = 0;
    for standing in finder.statements.clone() {
        if !is_unused_call(finder, callees, &standing) {
            continue;
        }
        if places == MOST_PLACES {
            finder.found.refuse("EXIT by what further calls tell");
            return;
        }
        places += 1;
        let text = finder.plain(standing.span);
        let Some(call) = text.trim_end().strip_suffix(';').map(str::trim_end) else {
            continue;
        };
        let mut ends: Vec<String> = values
            .iter()
            .map(|value| format!("return {value};"))
            .collect();
        if values.is_empty() && returns_nothing(finder) {
            ends.push("return;".to_owned());
        }
        if standing.breakable {
            ends.push("break;".to_owned());
        }
        if standing.in_loop {
            ends.push("continue;".to_owned());
        }
        let source = &finder.builder.unit.source;
        let start = standing.span.start as usize;
        let line = source[..start].iter().rposition(|&byte| byte == b'\n');
        let indentation = &source[line.map_or(0, |at| at + 1)..start];
        let blanks = indentation.iter().all(|byte| b" \t".contains(byte));
        let gap = match blanks {
            true => {
                let own = String::from_utf8_lossy(indentation);
                let step = String::from_utf8_lossy(indentation_step(indentation));
                format!("{}{own}{step}", newline(source, start))
            }
            false => " ".to_owned(),
        };
        let mut alternatives = Vec::new();
        for (extra, not) in [(0, ""), (NEGATED_COST, "!")] {
            for end in &ends {
                alternatives.push(Alternative {
                    schema: Schema::Exit,
                    cost: RESULT_COST + extra,
                    woven: format!("if ({not}{call}) {end}"),
                    edit: Edit::replace(standing.span, format!("if ({not}{call}){gap}{end}")),
                });
            }
        }
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// Whether a statement is a call that gives a number, in a place where an `if` cannot take an `else` from another one.
fn is_unused_call(
    finder: &mut Finder<'_, '_, '_>,
    callees: &Callees<'_>,
    standing: &Standing,
) -> bool {
    let function = finder.function;
    let StmtKind::Expression(expr) = function.stmt(standing.id).kind else {
        return false;
    };
    let expr = function.stripped(expr);
    let ExprKind::Call { callee, .. } = function.expr(expr).kind else {
        return false;
    };
    let is_known = match &function.expr(function.stripped(callee)).kind {
        ExprKind::Function(name) => callees.defined.contains_key(name),
        _ => true,
    };
    let ctype = finder.builder.ctype(function.expr(expr).ty);
    is_known
        && !standing.is_body
        && finder.is_short(standing.span, LONGEST)
        && !finder.has_statements(expr)
        && ctype.is_some_and(|ctype| ctype.is_integer())
}

/// The numbers and constants that the function returns somewhere.
fn returned(finder: &Finder<'_, '_, '_>) -> Vec<String> {
    let function = finder.function;
    let mut found: Vec<String> = Vec::new();
    for stmt in &function.stmts {
        let StmtKind::Return(Some(value)) = stmt.kind else {
            continue;
        };
        let bare = function.stripped(value);
        let is_constant = match function.expr(bare).kind {
            ExprKind::Integer { .. } => true,
            ExprKind::Unary { operand, .. } => matches!(
                function.expr(function.stripped(operand)).kind,
                ExprKind::Integer { .. }
            ),
            _ => false,
        };
        let span = function.expr(bare).place.editable();
        let text = span.map(|span| finder.plain(span));
        if let Some(text) = text.filter(|_| is_constant)
            && !found.contains(&text)
            && found.len() < MOST_VALUES
        {
            found.push(text);
        }
    }
    found
}

/// Whether the function gives nothing.
fn returns_nothing(finder: &Finder<'_, '_, '_>) -> bool {
    let types = &finder.builder.unit.types;
    matches!(
        types.kind(finder.function.return_type),
        patchwright_csource::types::TypeKind::Void
    )
}
