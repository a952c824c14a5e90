//! GUARD by the other `else`: of two `if` of which one ends what the other governs, the outer one gets the `else` of the inner one, or the
//! other way round: `if (a) { if (b) x; } else y;` for `if (a) { if (b) x; else y; }`.
//!
//! Which `if` an `else` belongs to, braces say and not how it is indented.

use patchwright_csource::{Place, StmtId, StmtKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    else_joined::{LONGEST, is_repeatable},
    operators::within,
    space::Schema,
};

/// The `else` that is taken away and the one that is put there.
const COST: u32 = 3;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let span = standing.span;
        let Some(edit) = moved(finder, standing.id, span) else {
            continue;
        };
        if !finder.is_short(span, LONGEST) || !is_repeatable(finder.function, span) {
            finder
                .found
                .refuse("GUARD by the other `else` of a long text, or one with labels");
            continue;
        }
        let alternative = Alternative {
            schema: Schema::Guard,
            cost: COST,
            woven: within(finder, span, &edit),
            edit,
        };
        finder.add(span, None, Form::Instead, vec![alternative]);
    }
}

/// The `if` statements that end what this one governs, if it is in braces.
fn moved(finder: &Finder<'_, '_, '_>, id: StmtId, span: Span) -> Option<Edit> {
    let function = finder.function;
    let written = |id: StmtId| match function.stmt(id).place {
        Place::Written(span) => Some(span),
        _ => None,
    };
    let StmtKind::If {
        then: outer,
        otherwise,
        ..
    } = function.stmt(id).kind
    else {
        return None;
    };
    let StmtKind::Compound(inner) = &function.stmt(outer).kind else {
        return None;
    };
    let inner_if = *inner.last()?;
    let StmtKind::If {
        then,
        otherwise: own,
        ..
    } = function.stmt(inner_if).kind
    else {
        return None;
    };
    // Of `if (b) if (c) x;` it would be that of the last one.
    let is_plain = matches!(
        function.stmt(then).kind,
        StmtKind::Compound(_) | StmtKind::Expression(_)
    ) || function.stmt(then).kind.is_jump();
    if !is_plain {
        return None;
    }
    let (then, outer) = (written(then)?, written(outer)?);
    let text = |start: u32, end: u32| finder.text(Span::new(start, end));
    match (own, otherwise) {
        (Some(own), None) => {
            let own = written(own)?;
            let behind = text(own.end, outer.end);
            let other = text(own.start, own.end);
            let whole = Span::new(then.end, span.end);
            Some(Edit::replace(whole, format!("{behind} else {other}")))
        }
        (None, Some(other)) => {
            let other = written(other)?;
            let behind = text(then.end, outer.end);
            let other = text(other.start, other.end);
            let whole = Span::new(then.end, span.end);
            Some(Edit::replace(whole, format!(" else {other}{behind}")))
        }
        _ => None,
    }
}
