//! MOVE of conditions: `if (b) y; else if (a) x;` for `if (a) x; else if (b) y;`.
//!
//! Who writes the general case before the special one (`n % 3` before `n % 15`) never gets to the special one.

use patchwright_csource::{Place, StmtId, StmtKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    else_joined::{LONGEST, is_repeatable},
    operators::within,
    space::Schema,
};

/// One case that comes earlier: a chain has few of them, and none passes by chance.
const EARLIER_COST: u32 = 1;

/// Chains with more cases are left alone.
const MOST_CASES: usize = 8;

/// Adds chains of `else if` with their cases in another order.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let Some(cases) = cases(finder, standing.id) else {
            continue;
        };
        if !(2..=MOST_CASES).contains(&cases.len()) {
            continue;
        }
        if !finder.is_short(standing.span, LONGEST)
            || !is_repeatable(finder.function, standing.span)
        {
            finder
                .found
                .refuse("MOVE of cases with a long text, or with labels");
            continue;
        }
        let mut alternatives = Vec::new();
        for to in 0..cases.len() {
            for from in to + 1..cases.len() {
                let edit = earlier(finder, &cases, from, to);
                alternatives.push(Alternative {
                    schema: Schema::Move,
                    cost: EARLIER_COST,
                    woven: within(finder, standing.span, &edit),
                    edit,
                });
            }
        }
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// The cases of a chain of `else if` that begins with a statement, each from its `if` to where what it does ends; `None` if none begins there.
fn cases(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<Vec<Span>> {
    let function = finder.function;
    let is_else_of_another = function.stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::If { otherwise: Some(otherwise), .. } if otherwise == id)
    });
    if is_else_of_another {
        return None;
    }
    let mut found = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let StmtKind::If {
            then, otherwise, ..
        } = function.stmt(id).kind
        else {
            break;
        };
        let (Place::Written(whole), Place::Written(then)) =
            (function.stmt(id).place, function.stmt(then).place)
        else {
            return None;
        };
        found.push(Span::new(whole.start, then.end));
        at = otherwise;
    }
    (!found.is_empty()).then_some(found)
}

/// The case `from` where `to` is, which comes behind it with all that were between.
fn earlier(finder: &Finder<'_, '_, '_>, cases: &[Span], from: usize, to: usize) -> Edit {
    let moved = std::iter::once(from).chain(to..from);
    let mut text = String::new();
    for (place, case) in (to..=from).zip(moved) {
        if place > to {
            let gap = Span::new(cases[place - 1].end, cases[place].start);
            text.push_str(&finder.text(gap));
        }
        text.push_str(&finder.text(cases[case]));
    }
    Edit::replace(Span::new(cases[to].start, cases[from].end), text)
}
