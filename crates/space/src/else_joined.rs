//! GUARD by `else`: `else if (b) y;` for `if (b) y;` behind `if (a) x;`, and `if (b) y;` for `else if (b) y;`.
//!
//! Who writes cases down one after the other forgets that a later one applies as well, or that only one of them does.

use patchwright_csource::{Function, Place, StmtId, StmtKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    space::Schema,
};

/// The word.
const ELSE_COST: u32 = 2;

/// Longer texts are not repeated.
const LONGEST: u32 = 1200;

/// Most places in one function.
const MOST_PLACES: usize = 20;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut places = 0;
    for standing in finder.statements.clone() {
        let function = finder.function;
        let stmt = function.stmt(standing.id);
        if !matches!(stmt.kind, StmtKind::If { .. }) || standing.is_body {
            continue;
        }
        let joined = joined(finder, standing.id, standing.span, standing.block);
        let parted = parted(finder, standing.id, standing.span);
        for (span, alternatives) in joined.into_iter().chain(parted) {
            if places == MOST_PLACES {
                finder.found.refuse("GUARD by `else` in further places");
                return;
            }
            places += 1;
            finder.add(span, None, Form::Instead, alternatives);
        }
    }
}

/// The statement behind this one as its `else`.
fn joined(
    finder: &Finder<'_, '_, '_>,
    id: StmtId,
    span: Span,
    block: Option<(StmtId, usize)>,
) -> Option<(Span, Vec<Alternative>)> {
    let function = finder.function;
    let (block, place) = block?;
    let StmtKind::Compound(inner) = &function.stmt(block).kind else {
        return None;
    };
    let next = function.stmt(*inner.get(place + 1)?);
    let (StmtKind::If { .. }, Place::Written(next)) = (&next.kind, next.place) else {
        return None;
    };
    let whole = Span::new(span.start, next.end);
    if !takes_else(function, id) || whole.len() > LONGEST || next.start < span.end {
        return None;
    }
    let (own, other) = (finder.text(span), finder.text(next));
    let between = finder.text(Span::new(span.end, next.start));
    let alternative = Alternative {
        schema: Schema::Guard,
        cost: ELSE_COST,
        woven: format!("{own}{between}else {other}"),
        edit: Edit::insert(next.start, "else "),
    };
    Some((whole, vec![alternative]))
}

/// Whether an `else` behind a statement is that of its last `if`, which has none.
fn takes_else(function: &Function, id: StmtId) -> bool {
    let StmtKind::If {
        then, otherwise, ..
    } = function.stmt(id).kind
    else {
        return false;
    };
    match otherwise {
        Some(otherwise) => takes_else(function, otherwise),
        // It would belong to one that is nearer.
        None => !matches!(
            function.stmt(then).kind,
            StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::For { .. }
                | StmtKind::Label { .. }
                | StmtKind::Other { .. }
        ),
    }
}

/// The `else if` of a statement as a statement of its own.
fn parted(finder: &Finder<'_, '_, '_>, id: StmtId, span: Span) -> Vec<(Span, Vec<Alternative>)> {
    let function = finder.function;
    let mut found = Vec::new();
    let mut at = id;
    while let StmtKind::If {
        then,
        otherwise: Some(otherwise),
        ..
    } = function.stmt(at).kind
    {
        let places = (function.stmt(then).place, function.stmt(otherwise).place);
        let is_if = matches!(function.stmt(otherwise).kind, StmtKind::If { .. });
        let (Place::Written(before), Place::Written(behind), true) = (places.0, places.1, is_if)
        else {
            break;
        };
        let gap = Span::new(before.end, behind.start);
        let text = finder.text(gap);
        // Of `if (a) if (b) x; else y;` another `if` would get the `else`.
        if let Some(word) = text.rfind("else").filter(|_| span.len() <= LONGEST) {
            let start = gap.start + word as u32;
            let edit = Edit::replace(Span::new(start, gap.end), "");
            let woven = crate::operators::within(finder, span, &edit);
            found.push(Alternative {
                schema: Schema::Guard,
                cost: ELSE_COST,
                woven,
                edit,
            });
        }
        at = otherwise;
    }
    match found.is_empty() {
        true => Vec::new(),
        false => vec![(span, found)],
    }
}
