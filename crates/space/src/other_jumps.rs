//! EXIT by another jump: `continue;` for `break;`, `return -1;` for `break;`, and the other way round.
//!
//! Who leaves something out of a loop may have wanted to leave out one round of it only, and a `return` amid a loop may have been meant for the
//! loop alone. The condition is the program's own, so there are few of them.

use patchwright_csource::{StmtKind, types::TypeKind};
use patchwright_text::Edit;

use crate::{
    choices::{Alternative, Finder, Form},
    exits::{returned, values},
    operators::LONGEST,
    space::Schema,
};

/// One word for another.
const JUMP_COST: u32 = 2;

/// Most values that are returned in place of another jump.
const MOST_VALUES: usize = 3;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let returned = returned(finder);
    let is_void = matches!(
        finder.builder.unit.types.kind(finder.function.return_type),
        TypeKind::Void
    );
    for standing in finder.statements.clone() {
        let (own, returns) = match finder.function.stmt(standing.id).kind {
            StmtKind::Break => ("break;", false),
            StmtKind::Continue => ("continue;", false),
            StmtKind::Return(_) => ("", true),
            _ => continue,
        };
        if !finder.is_short(standing.span, LONGEST) {
            continue;
        }
        let mut ways: Vec<(u32, String)> = Vec::new();
        let others = [
            (standing.breakable, "break;"),
            (standing.in_loop, "continue;"),
        ];
        let others = others.iter().filter(|(fits, text)| *fits && *text != own);
        ways.extend(others.map(|(_, text)| (JUMP_COST, (*text).to_owned())));
        match (returns, is_void) {
            (true, _) => {}
            (false, true) => ways.push((JUMP_COST, "return;".to_owned())),
            (false, false) => {
                let values = values(&returned, &standing).into_iter().take(MOST_VALUES);
                ways.extend(
                    values.map(|(value, size)| (JUMP_COST + size, format!("return {value};"))),
                );
            }
        }
        let alternatives = ways.into_iter().map(|(cost, text)| Alternative {
            schema: Schema::Exit,
            cost,
            woven: text.clone(),
            edit: Edit::replace(standing.span, text),
        });
        let alternatives = alternatives.collect();
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}
