//! The kinds of change that are data, as alternatives: where their texts are woven in.

use std::collections::BTreeSet;

use patchwright_csource::{ExprId, Place, ScopeMap, StmtId, StmtKind};
use patchwright_kinds::{Change, Finder as KindFinder, Kind, Surroundings, Target};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Callees, Finder, Form, Standing},
    else_joined::{LONGEST, is_repeatable},
    insertion::{insertion, insertion_after},
    operators::within,
    schema::Schema,
    space::Schemas,
    term::CType,
};

/// Expressions with longer texts are left alone.
const LONGEST_EXPRESSION: u32 = 400;

/// The reason that is told where a kind has more changes in one function than are tried.
const FURTHER: &str = "changes of one kind in further places of a function";

/// An alternative before it is known what its text is woven in for.
struct Found {
    kind: usize,
    /// The text for which it is woven in.
    span: Span,
    ctype: Option<CType>,
    form: Form,
    /// What is woven in; `None` says that it is the text with the edit.
    woven: Option<String>,
    edit: Edit,
}

/// Adds the changes of all kinds of a list whose schemas are wanted.
pub(crate) fn find(
    finder: &mut Finder<'_, '_, '_>,
    scopes: &ScopeMap,
    schemas: Schemas,
    (callees, last): (&Callees<'_>, &FxHashSet<StmtId>),
) {
    let mut found: Vec<Found> = Vec::new();
    let mut is_cut = false;
    for (number, changes, wholes) in changes(finder, scopes, schemas, (callees, last)) {
        is_cut |= changes.is_cut;
        for (change, whole) in changes.found.into_iter().zip(wholes) {
            found.extend(placed(finder, number, &change, whole));
        }
    }
    if is_cut {
        finder.found.refuse(FURTHER);
    }
    join_rows(&mut found);
    while let Some(first) = found.first() {
        let (kind, span, form, ctype) = (first.kind, first.span, first.form.clone(), first.ctype);
        let is_same = |other: &Found| {
            other.kind == kind && other.span == span && other.form == form && other.ctype == ctype
        };
        let (own, rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_same);
        found = rest;
        let alternatives = own.into_iter().map(|found| Alternative {
            schema: schema(&callees.kinds[kind]),
            cost: callees.kinds[kind].cost(),
            woven: found
                .woven
                .unwrap_or_else(|| within(finder, span, &found.edit)),
            edit: found.edit,
        });
        let alternatives = alternatives.collect();
        let name = callees.kinds[kind].name().to_owned();
        finder.add_of_kind(span, ctype, (form, Some(name)), alternatives);
    }
}

/// Returns the smallest expression around a changed one that is a value, in whose place the change is woven, and whether that
/// value is unused.
type Whole = Option<(ExprId, bool)>;

/// What each kind changes, by its number.
fn changes(
    finder: &Finder<'_, '_, '_>,
    scopes: &ScopeMap,
    schemas: Schemas,
    (callees, last): (&Callees<'_>, &FxHashSet<StmtId>),
) -> Vec<(usize, patchwright_kinds::Changes, Vec<Whole>)> {
    let ends = |id: StmtId| last.contains(&id);
    let kinds = KindFinder::new(&Surroundings {
        unit: finder.builder.unit,
        function: finder.function,
        scopes,
        file: callees.functions,
        linked: callees.linked,
        ends: &ends,
    });
    let wanted = callees.kinds.iter().enumerate();
    let wanted = wanted.filter(|(_, kind)| schemas.contains(schema(kind)));
    let found = wanted.map(|(number, kind)| {
        let changes = kinds.find(kind);
        let wholes = changes.found.iter().map(|found| match found.target {
            Target::Expression(id) => kinds.value_around(id),
            _ => None,
        });
        let wholes = wholes.collect();
        (number, changes, wholes)
    });
    found.collect()
}

fn schema(kind: &Kind) -> Schema {
    match kind.schema() {
        "refinement" => Schema::Refinement,
        "guard" => Schema::Guard,
        "assignment" => Schema::Assignment,
        "initialization" => Schema::Initialization,
        "function" => Schema::Function,
        "swap" => Schema::Swap,
        "format" => Schema::Format,
        "operator" => Schema::Operator,
        "break" => Schema::Break,
        "loop" => Schema::Loop,
        "move" => Schema::Move,
        "exit" => Schema::Exit,
        _ => Schema::Expression,
    }
}

/// Where a change is woven in, if it can be.
fn placed(
    finder: &mut Finder<'_, '_, '_>,
    kind: usize,
    change: &patchwright_kinds::Found,
    whole: Whole,
) -> Option<Found> {
    match (change.target, &change.change) {
        (Target::Expression(_), Change::Edit(edit)) => {
            let (whole, is_unused) = whole?;
            let function = finder.function;
            let bare = function.stripped(whole);
            let span = function.expr(bare).place.editable();
            let span = span.or_else(|| function.expr(whole).place.editable())?;
            let ty = function.expr(whole).ty;
            let is_left = !finder.is_short(span, LONGEST_EXPRESSION)
                || finder.has_statements(whole)
                || !span.contains_span(edit.span);
            if is_left {
                return None;
            }
            let ctype = match is_unused {
                true => None,
                false => {
                    let ctype = finder.builder.ctype(ty)?;
                    if !finder.can_spell(ctype) {
                        return None;
                    }
                    Some(ctype)
                }
            };
            Some(Found {
                kind,
                span,
                ctype,
                form: Form::Expression,
                woven: None,
                edit: edit.clone(),
            })
        }
        (Target::Statements(first, last), Change::Edit(edit)) => {
            let span = row(finder, first, last)?;
            let is_left = !finder.is_short(span, LONGEST)
                || !is_repeatable(finder.function, span)
                || !span.contains_span(edit.span);
            (!is_left).then(|| Found {
                kind,
                span,
                ctype: None,
                form: Form::Instead,
                woven: None,
                edit: edit.clone(),
            })
        }
        (Target::Deleted(id), Change::Edit(edit)) => {
            let standing = standing(finder, id)?;
            let is_declaration = matches!(finder.function.stmt(id).kind, StmtKind::Declaration(_));
            let fits = !is_declaration && is_repeatable(finder.function, standing.span);
            fits.then(|| Found {
                kind,
                span: standing.span,
                ctype: None,
                form: Form::Instead,
                woven: Some(";".to_owned()),
                edit: edit.clone(),
            })
        }
        (Target::Before(id), Change::Insertion(text)) => {
            let standing = standing(finder, id)?;
            let is_place = is_place(&finder.function.stmt(id).kind);
            is_place.then(|| Found {
                kind,
                span: standing.span,
                ctype: None,
                form: Form::Before {
                    is_body: standing.is_body,
                },
                edit: insertion(
                    &finder.builder.unit.source,
                    standing.span,
                    standing.is_body,
                    text,
                ),
                woven: Some(text.clone()),
            })
        }
        (Target::After(id), Change::Insertion(text)) => {
            let standing = standing(finder, id)?;
            let function = finder.function;
            let edit = insertion_after(
                &finder.builder.unit.source,
                standing.span,
                standing.is_body,
                text,
            );
            let is_declaration = matches!(function.stmt(id).kind, StmtKind::Declaration(_));
            let (form, woven) = match is_declaration {
                true => (Form::After { unset: Vec::new() }, text.clone()),
                false => (
                    Form::Instead,
                    format!("{} {text}", finder.text(standing.span)),
                ),
            };
            let fits = is_declaration
                || function.stmt(id).kind.is_step()
                    && finder.is_short(standing.span, LONGEST)
                    && is_repeatable(function, standing.span);
            fits.then_some(Found {
                kind,
                span: standing.span,
                ctype: None,
                form,
                woven: Some(woven),
                edit,
            })
        }
        _ => None,
    }
}

/// Whether something can be put before a statement: not before what declares, and not between a label and what it marks.
fn is_place(kind: &StmtKind) -> bool {
    kind.is_step() || kind.is_jump()
}

fn standing(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<Standing> {
    let mut all = finder.statements.iter();
    all.find(|standing| standing.id == id).cloned()
}

/// Whether a label of a `switch` around a statement stands inside of it.
fn holds_case(finder: &Finder<'_, '_, '_>, id: StmtId) -> bool {
    match &finder.function.stmt(id).kind {
        StmtKind::Case(_) | StmtKind::Default(_) => true,
        StmtKind::Switch { .. } => false,
        kind => kind.inner().into_iter().any(|id| holds_case(finder, id)),
    }
}

/// The text of statements in a row that declare nothing which is used behind them.
fn row(finder: &Finder<'_, '_, '_>, first: StmtId, last: StmtId) -> Option<Span> {
    let place = |id: StmtId| match finder.function.stmt(id).place {
        Place::Written(span) => Some(span),
        _ => None,
    };
    let (from, to) = (place(first)?, place(last)?);
    let standing = standing(finder, first)?;
    let whole = (from.start <= to.start).then(|| Span::new(from.start, to.end))?;
    let ids = match standing.block {
        Some((block, at)) => match &finder.function.stmt(block).kind {
            StmtKind::Compound(inner) => inner[at..].to_vec(),
            _ => vec![first],
        },
        None => vec![first],
    };
    let inside = ids
        .iter()
        .filter(|id| place(**id).is_some_and(|span| whole.contains_span(span)));
    let inside: Vec<StmtId> = inside.copied().collect();
    // A switch around it may jump into it, to one place only.
    if inside.iter().any(|id| holds_case(finder, *id)) {
        return None;
    }
    let declares = inside.iter().any(|id| {
        matches!(
            finder.function.stmt(*id).kind,
            StmtKind::Declaration(_) | StmtKind::Case(_) | StmtKind::Default(_)
        )
    });
    if !declares {
        return Some(whole);
    }
    // A body with declarations goes on to its brace: what is woven in there names its variables.
    let is_all = matches!(&finder.function.stmt(finder.function.body).kind,
        StmtKind::Compound(inner) if inner.first() == Some(&first) && inner.last() == Some(&last));
    is_all.then(|| Span::new(whole.start, finder.function.body_span.end - 1))
}

/// Texts that are woven in do not overlap in part: rows that do are woven in together.
fn join_rows(found: &mut [Found]) {
    let rows: BTreeSet<(u32, u32)> = found
        .iter()
        .filter(|found| found.form == Form::Instead && found.woven.is_none())
        .map(|found| (found.span.start, found.span.end))
        .collect();
    let mut joined: Vec<Span> = rows.iter().map(|&(from, to)| Span::new(from, to)).collect();
    loop {
        let overlap = joined.iter().enumerate().find_map(|(at, one)| {
            let rest = joined[at + 1..].iter().enumerate();
            let mut crossing = rest.filter(|(_, other)| {
                let overlaps = one.start < other.end && other.start < one.end;
                overlaps && !one.contains_span(**other) && !other.contains_span(*one)
            });
            crossing.next().map(|(further, _)| (at, at + 1 + further))
        });
        let Some((one, other)) = overlap else {
            break;
        };
        let (a, b) = (joined[one], joined[other]);
        let both = Span::new(a.start.min(b.start), a.end.max(b.end));
        for span in &mut joined {
            if *span == a || *span == b {
                *span = both;
            }
        }
    }
    for (old, new) in rows.iter().zip(&joined) {
        for one in found.iter_mut() {
            let is_row = one.form == Form::Instead && one.woven.is_none();
            if is_row && (one.span.start, one.span.end) == *old {
                one.span = *new;
            }
        }
    }
}
