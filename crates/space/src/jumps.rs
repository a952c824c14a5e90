//! EXIT without a new condition: `break;`, `continue;` or `return e;` at the end of what an `if` governs.
//!
//! The condition is the program's own, and so there are few of them; unlike other exits they are tried by default.

use patchwright_csource::{StmtId, StmtKind, types::TypeKind};

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    exits::{returned, values},
    insertion::insertion_after,
    operators::LONGEST,
    space::Schema,
};

/// The jump, which the block does not have.
const JUMP_COST: u32 = 2;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let returned = returned(finder);
    let is_void = matches!(
        finder.builder.unit.types.kind(finder.function.return_type),
        TypeKind::Void
    );
    for standing in governed(finder) {
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
                ways.extend(
                    values.map(|(value, size)| (JUMP_COST + size, format!("return {value};"))),
                );
            }
        }
        let source = &finder.builder.unit.source;
        let own = finder.text(standing.span);
        let alternatives = ways
            .into_iter()
            .map(|(cost, text)| Alternative {
                schema: Schema::Exit,
                cost,
                woven: format!("{own} {text}"),
                edit: insertion_after(source, standing.span, standing.is_body, &text),
            })
            .collect();
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// The calls and assignments that come last in what an `if` governs.
fn governed(finder: &Finder<'_, '_, '_>) -> Vec<Standing> {
    let function = finder.function;
    let mut found = Vec::new();
    for stmt in &function.stmts {
        let StmtKind::If {
            then, otherwise, ..
        } = stmt.kind
        else {
            continue;
        };
        for body in [Some(then), otherwise].into_iter().flatten() {
            let last = match &function.stmt(body).kind {
                StmtKind::Compound(inner) => inner.last().copied(),
                _ => Some(body),
            };
            let is_it = |id: StmtId| matches!(function.stmt(id).kind, StmtKind::Expression(_));
            let Some(last) = last.filter(|&id| is_it(id)) else {
                continue;
            };
            let mut standings = finder.statements.iter();
            let standing = standings.find(|standing| standing.id == last);
            found.extend(
                standing
                    .filter(|standing| standing.span.len() <= LONGEST)
                    .cloned(),
            );
        }
    }
    found
}
