//! SWAP of what two calls in a row give: `long b = pop(); long a = pop();` for `long a = pop(); long b = pop();`.
//!
//! Where each call gives the next value, the order of the names decides which is which. Nothing looks at the first variable before the second
//! one has its value, so it is as if both exchanged their values then.

use patchwright_csource::{ExprId, ExprKind, Place, StmtKind, Storage, VarId};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    space::Schema,
};

/// Two names.
const COST: u32 = 2;

/// Adds exchanges of the names of two variables that are declared in a row.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Compound(inner) = &finder.function.stmt(standing.id).kind else {
            continue;
        };
        // The variables of declarations in a row, each with the statement that declares it.
        let declared = inner.iter().map(|&id| {
            let stmt = finder.function.stmt(id);
            match (&stmt.kind, stmt.place) {
                (StmtKind::Declaration(variables), Place::Written(span)) => {
                    variables.iter().map(|&id| (id, span)).collect()
                }
                _ => Vec::new(),
            }
        });
        let declared: Vec<Vec<(VarId, Span)>> = declared.collect();
        let mut found: Vec<(Span, Alternative)> = Vec::new();
        for run in declared.split(Vec::is_empty) {
            let all = run.concat();
            for pair in all.windows(2) {
                let (one, other) = (pair[0].0, pair[1].0);
                // What is behind the second one in its declaration may look at it.
                let is_last = all
                    .iter()
                    .rfind(|(_, span)| *span == pair[1].1)
                    .is_some_and(|last| last.0 == other);
                if let Some(alternative) = exchanged(finder, one, other).filter(|_| is_last) {
                    found.push((pair[1].1, alternative));
                }
            }
        }
        for (span, alternative) in found {
            let form = Form::After { unset: Vec::new() };
            finder.add(span, None, form, vec![alternative]);
        }
    }
}

/// Two variables that exchange their names.
fn exchanged(finder: &Finder<'_, '_, '_>, one: VarId, other: VarId) -> Option<Alternative> {
    let unit = &finder.builder.unit;
    let (first, second) = (unit.variable(one), unit.variable(other));
    let qualifiers = unit.types.qualifiers(first.ty);
    let is_local = |storage| matches!(storage, Storage::Local);
    let (value, next) = (first.initializer?, second.initializer?);
    let calls = |value: ExprId| {
        finder.function.has_effects(value)
            && matches!(
                finder.function.expr(finder.function.stripped(value)).kind,
                ExprKind::Call { .. }
            )
    };
    let fits = first.ty == second.ty
        && !qualifiers.is_const
        && is_local(first.storage)
        && is_local(second.storage)
        && calls(value)
        && calls(next)
        && !finder.function.variables_within(next).contains(&one);
    if !fits {
        return None;
    }
    let name = |at: u32, name: &str| {
        let span = Span::new(at, at + name.len() as u32);
        (finder.text(span) == name).then_some(span)
    };
    let from = name(first.declared_at?, &first.name)?;
    let to = name(second.declared_at?, &second.name)?;
    let between = finder.text(Span::new(from.end, to.start));
    let (a, b) = (&first.name, &second.name);
    Some(Alternative {
        schema: Schema::Swap,
        cost: COST,
        woven: format!("{{ __typeof__({a}) __pw_other = {a}; {a} = {b}; {b} = __pw_other; }}"),
        edit: Edit::replace(Span::new(from.start, to.end), format!("{b}{between}{a}")),
    })
}
