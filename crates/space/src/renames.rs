//! EXPRESSION with one name in the place of another wherever that stands: `x->end - y->end` for `x->begin - y->begin`, `(b * b)` for `(a * a)`.
//!
//! Who copies a line, or mixes two things up, does so in all of an expression. Only what is of the same type.

use std::collections::BTreeMap;

use patchwright_csource::{ExprId, ExprKind, Place, StmtKind, Storage, VarId};
use patchwright_text::{Edit, Span, apply_edits};

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    space::Schema,
    targets::{members, variables},
    term::{CType, promote},
};

/// The name of a variable, and that it is another one in all places.
const VARIABLE_COST: u32 = 2;

/// The name of a member: what stands in one expression twice is mostly the same of two things.
const MEMBER_COST: u32 = 1;

/// An expression with a longer text is left alone.
const LONGEST: u32 = 200;

/// Most other names for one.
const MOST_OTHERS: usize = 3;

/// Most places in one function.
const MOST_PLACES: usize = 60;

/// A name that an expression mentions more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name<'f> {
    Variable(VarId),
    Member(&'f str),
}

/// Adds expressions with one name in place of another wherever it stands.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut places = 0;
    for standing in finder.statements.clone() {
        for root in roots(finder, &standing) {
            let bare = finder.function.stripped(root);
            let expr = finder.function.expr(bare);
            let Place::Written(span) = expr.place else {
                continue;
            };
            if !finder.is_short(span, LONGEST) || !expr.evaluated || finder.has_statements(bare) {
                continue;
            }
            let is_statement = matches!(
                finder.function.stmt(standing.id).kind,
                StmtKind::Expression(_)
            );
            let ctype = match is_statement {
                true => None,
                false => value_type(finder, bare),
            };
            if ctype.is_none() && !is_statement {
                continue;
            }
            let edits = renamed(finder, &standing, bare, span);
            if edits.is_empty() {
                continue;
            }
            if places == MOST_PLACES {
                finder
                    .found
                    .refuse("EXPRESSION with other names in further places");
                return;
            }
            places += 1;
            let (place, form) = match is_statement {
                true => (standing.span, Form::Instead),
                false => (span, Form::Expression),
            };
            let before = finder.text(Span::new(place.start, span.start));
            let behind = finder.text(Span::new(span.end, place.end));
            let alternatives = edits.into_iter().map(|(cost, text)| Alternative {
                schema: Schema::Expression,
                cost,
                woven: format!("{before}{text}{behind}"),
                edit: Edit::replace(span, text),
            });
            finder.add(place, ctype, form, alternatives.collect());
        }
    }
}

/// The type of what an expression gives; `None` if the glue cannot name it.
pub(crate) fn value_type(finder: &mut Finder<'_, '_, '_>, id: ExprId) -> Option<CType> {
    let ctype = finder.builder.ctype(finder.function.expr(id).ty)?;
    match ctype.is_arithmetic() {
        true => Some(promote(ctype)),
        false => finder.can_spell(ctype).then_some(ctype),
    }
}

/// The expressions of a statement that are in no other one.
fn roots(finder: &Finder<'_, '_, '_>, standing: &Standing) -> Vec<ExprId> {
    match &finder.function.stmt(standing.id).kind {
        StmtKind::Expression(root) | StmtKind::Return(Some(root)) => vec![*root],
        StmtKind::If { condition, .. }
        | StmtKind::While { condition, .. }
        | StmtKind::Do { condition, .. }
        | StmtKind::Switch { condition, .. }
        | StmtKind::For {
            condition: Some(condition),
            ..
        } => vec![*condition],
        StmtKind::Declaration(variables) => {
            let unit = &finder.builder.unit;
            let local = variables.iter().map(|&id| unit.variable(id));
            let local = local.filter(|variable| variable.storage == Storage::Local);
            local.filter_map(|variable| variable.initializer).collect()
        }
        _ => Vec::new(),
    }
}

/// What an expression becomes with other names, each with its cost.
fn renamed(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    root: ExprId,
    span: Span,
) -> Vec<(u32, String)> {
    let function = finder.function;
    let mut mentioned: BTreeMap<Name<'_>, Vec<(ExprId, Span)>> = BTreeMap::new();
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        rest.extend(function.children(id));
        let expr = function.expr(id);
        // What a macro makes of a name is not told by the name.
        let Place::Written(own) = expr.place else {
            if matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Member { .. }) {
                return Vec::new();
            }
            continue;
        };
        match &expr.kind {
            ExprKind::Variable(variable) => {
                let known = mentioned.entry(Name::Variable(*variable)).or_default();
                known.push((id, own));
            }
            ExprKind::Member {
                name,
                bit_field: false,
                ..
            } if !name.is_empty() && finder.text(own).ends_with(name.as_str()) => {
                let start = own.end - name.len() as u32;
                let known = mentioned.entry(Name::Member(name)).or_default();
                known.push((id, Span::new(start, own.end)));
            }
            _ => {}
        }
    }
    let own = finder.text(span);
    let mut found = Vec::new();
    for (name, mut places) in mentioned {
        if places.len() < 2 {
            continue;
        }
        places.sort_by_key(|(_, place)| place.start);
        let cost = match name {
            Name::Variable(_) => VARIABLE_COST,
            Name::Member(_) => MEMBER_COST,
        };
        let others = match name {
            Name::Variable(id) => {
                let wanted = finder.builder.unit.variable(id).ty;
                let wanted = finder.builder.unit.types.unqualified(wanted);
                variables(finder, standing, id, |finder, ty| {
                    finder.builder.unit.types.unqualified(ty) == wanted
                })
            }
            Name::Member(_) => {
                let mut common: Option<Vec<String>> = None;
                for (id, _) in &places {
                    let expr = function.expr(*id);
                    let ExprKind::Member {
                        base, arrow, name, ..
                    } = &expr.kind
                    else {
                        continue;
                    };
                    let other = members(finder, *base, *arrow, name, expr.ty);
                    match &mut common {
                        None => common = Some(other),
                        Some(common) => common.retain(|name| other.contains(name)),
                    }
                }
                common.unwrap_or_default()
            }
        };
        for other in others.into_iter().take(MOST_OTHERS) {
            let edits = places.iter().map(|(_, place)| {
                let moved = Span::new(place.start - span.start, place.end - span.start);
                Edit::replace(moved, other.as_str())
            });
            let edits: Vec<Edit> = edits.collect();
            let text = apply_edits(own.as_bytes(), &edits).ok();
            let text = text.and_then(|text| String::from_utf8(text).ok());
            found.extend(text.map(|text| (cost, text)));
        }
    }
    found
}
