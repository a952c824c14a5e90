//! EXIT without a new condition: `break;`, `continue;` or `return e;` at the end of what an `if` governs, also where that is nothing yet.
//!
//! The condition is the program's own, and so there are few of them; unlike other exits they are tried by default.

use patchwright_csource::{ExprId, StmtId, StmtKind, Storage, types::TypeKind};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    exits::{returned, values},
    insertion::insertion_after,
    operators::LONGEST,
    space::Schema,
};

/// The jump, which the block does not have.
const JUMP_COST: u32 = 2;

/// Most variables of a condition that are returned.
const MOST_FOUND: usize = 3;

/// Adds jumps at the end of what an `if` governs.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let returned = returned(finder);
    let is_void = matches!(
        finder.builder.unit.types.kind(finder.function.return_type),
        TypeKind::Void
    );
    for (standing, condition) in governed(finder) {
        let mut ways: Vec<(u32, String)> = Vec::new();
        if standing.breakable {
            ways.push((JUMP_COST, "break;".to_owned()));
        }
        if standing.in_loop {
            ways.push((JUMP_COST, "continue;".to_owned()));
        }
        match is_void {
            true => ways.push((JUMP_COST, "return;".to_owned())),
            false => {
                let values = values(&returned, &standing).into_iter();
                let mut values: Vec<(String, u32)> = values
                    .map(|(value, size)| (value.to_owned(), size))
                    .collect();
                for name in found_by(finder, &standing, condition) {
                    if values.iter().all(|(value, _)| *value != name) {
                        values.push((name, 1));
                    }
                }
                ways.extend(
                    values
                        .into_iter()
                        .map(|(value, size)| (JUMP_COST + size, format!("return {value};"))),
                );
            }
        }
        let source = &finder.builder.unit.source;
        let own = finder.text(standing.span);
        let is_empty = !matches!(
            finder.function.stmt(standing.id).kind,
            StmtKind::Expression(_)
        );
        let alternatives = ways
            .into_iter()
            .map(|(cost, text)| Alternative {
                schema: Schema::Exit,
                cost,
                woven: match is_empty {
                    true => text.clone(),
                    false => format!("{own} {text}"),
                },
                edit: match is_empty {
                    true => Edit::replace(standing.span, format!("{{ {text} }}")),
                    false => insertion_after(source, standing.span, standing.is_body, &text),
                },
            })
            .collect();
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// Local variables of the type that the function gives which a condition mentions: `return mid;` where `a[mid] == key`.
fn found_by(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    condition: ExprId,
) -> Vec<String> {
    let result = finder.builder.ctype(finder.function.return_type);
    let mut found = Vec::new();
    for id in finder.function.variables_within(condition) {
        let variable = finder.builder.unit.variable(id).clone();
        let is_given = result.is_some() && finder.builder.ctype(variable.ty) == result;
        let has_value = standing.scope.assigned.contains(&id);
        if is_given && has_value && variable.storage != Storage::Global {
            found.push(variable.name);
        }
    }
    found.truncate(MOST_FOUND);
    found
}

/// The calls and assignments that come last in what an `if` governs, and blocks with nothing in them, each with the condition.
fn governed(finder: &Finder<'_, '_, '_>) -> Vec<(Standing, ExprId)> {
    let function = finder.function;
    let mut found = Vec::new();
    for stmt in &function.stmts {
        let StmtKind::If {
            condition,
            then,
            otherwise,
        } = stmt.kind
        else {
            continue;
        };
        for body in [Some(then), otherwise].into_iter().flatten() {
            let last = match &function.stmt(body).kind {
                StmtKind::Compound(inner) => Some(inner.last().copied().unwrap_or(body)),
                _ => Some(body),
            };
            let is_it = |id: StmtId| match &function.stmt(id).kind {
                StmtKind::Expression(_) | StmtKind::Null => true,
                StmtKind::Compound(inner) => inner.is_empty(),
                _ => false,
            };
            let Some(last) = last.filter(|&id| is_it(id)) else {
                continue;
            };
            let mut standings = finder.statements.iter();
            let standing = standings.find(|standing| standing.id == last);
            found.extend(
                standing
                    .filter(|standing| finder.is_short(standing.span, LONGEST))
                    .map(|standing| (standing.clone(), condition)),
            );
        }
    }
    found
}
