//! MOVE with another member: what a statement does with one member is done with another one, too, as
//! `if (a->goals != b->goals) return b->goals - a->goals;` behind the same for `points`.
//!
//! Who compares by several keys, or copies, clears or adds up members one by one, forgets one of them.

use patchwright_csource::{ExprKind, StmtKind, VarId, lex, types::TypeKind};
use patchwright_text::Span;

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::insertion,
    leaves::is_private,
    moves::{has_directive, has_label},
    operators::LONGEST,
    repetitions::{Source, can_stand, undented},
    space::Schema,
};

/// A statement whose member is another one.
const KEY_COST: u32 = 3;

/// Most other members for one.
const MOST_MEMBERS: usize = 3;

/// Most of one function.
const MOST_OF_FUNCTION: usize = 24;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let body = words(&finder.text(finder.function.span));
    let mut count = 0;
    for standing in finder.statements.clone() {
        let Some((block, place)) = standing.block else {
            continue;
        };
        let kind = &finder.function.stmt(standing.id).kind;
        let is_wanted = matches!(
            kind,
            StmtKind::Expression(_)
                | StmtKind::If {
                    otherwise: None,
                    ..
                }
        );
        let text = finder.plain(standing.span);
        let is_short = finder.is_short(standing.span, LONGEST)
            && !has_directive(finder.text(standing.span).as_bytes());
        if !is_wanted || !is_short || has_label(finder, standing.id, false) {
            continue;
        }
        let next = match &finder.function.stmt(block).kind {
            StmtKind::Compound(inner) => inner.get(place + 1).copied(),
            _ => None,
        };
        let mut statements = finder.statements.iter();
        let next = next.and_then(|next| statements.find(|one| one.id == next).cloned());
        let variables = variables(finder, standing.span);
        let laid_out = undented(&finder.builder.unit.source, standing.span);
        let laid_out = lex::without_comments(&laid_out);
        for (old, new) in members(finder, standing.span) {
            let laid_out = renamed(&laid_out, &old, &new);
            let text = renamed(&text, &old, &new);
            if body.contains(&words(&text)) {
                continue;
            }
            let source = Source {
                text,
                at: standing.span.start,
                variables: variables.clone(),
            };
            for at in [next.as_ref(), Some(&standing)].into_iter().flatten() {
                if count == MOST_OF_FUNCTION {
                    finder.found.refuse("MOVE with further other members");
                    return;
                }
                count += usize::from(add(finder, at, &source, &laid_out));
            }
        }
    }
}

/// Adds a statement before another one; whether it can stand there.
fn add(finder: &mut Finder<'_, '_, '_>, at: &Standing, added: &Source, laid_out: &str) -> bool {
    let kind = &finder.function.stmt(at.id).kind;
    let is_place = kind.is_step()
        || kind.is_jump()
        || matches!(
            kind,
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. }
        );
    if !is_place || !can_stand(finder, added, at) {
        return false;
    }
    let alternative = Alternative {
        schema: Schema::Move,
        cost: KEY_COST,
        woven: added.text.clone(),
        edit: insertion(&finder.builder.unit.source, at.span, false, laid_out),
    };
    finder.add(
        at.span,
        None,
        Form::Before { is_body: false },
        vec![alternative],
    );
    true
}

/// The variables that a text mentions.
fn variables(finder: &Finder<'_, '_, '_>, span: Span) -> Vec<VarId> {
    let mentioned = finder.function.exprs.iter().filter_map(|expr| {
        let ExprKind::Variable(id) = expr.kind else {
            return None;
        };
        span.contains_span(expr.place.editable()?).then_some(id)
    });
    mentioned.collect()
}

/// The members that a text names at least twice, each with others of the same structure and the same type.
fn members(finder: &Finder<'_, '_, '_>, span: Span) -> Vec<(String, String)> {
    let types = &finder.builder.unit.types;
    let mut seen: Vec<&str> = Vec::new();
    let mut found: Vec<(String, String)> = Vec::new();
    for expr in &finder.function.exprs {
        let ExprKind::Member {
            base, arrow, name, ..
        } = &expr.kind
        else {
            continue;
        };
        let is_inside = expr
            .place
            .editable()
            .is_some_and(|own| span.contains_span(own));
        if !is_inside {
            continue;
        }
        if !seen.contains(&name.as_str()) {
            seen.push(name);
            continue;
        }
        let ty = finder.function.expr(*base).ty;
        let ty = match arrow {
            true => types.element(ty),
            false => Some(ty),
        };
        let Some(TypeKind::Record(record)) = ty.map(|ty| types.kind(ty).clone()) else {
            continue;
        };
        let record = types.record(record);
        let fields: Vec<_> = record.fields.iter().flatten().collect();
        let Some(own) = fields.iter().find(|field| field.name == *name) else {
            continue;
        };
        let others = fields.iter().filter(|field| {
            field.name != *name
                && !field.name.is_empty()
                && field.ty == own.ty
                && !is_private(record, field)
        });
        for other in others.take(MOST_MEMBERS) {
            let pair = (name.clone(), other.name.clone());
            if !found.contains(&pair) {
                found.push(pair);
            }
        }
    }
    found
}

/// A text with another member wherever it names one.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let words = lex::words_with_places(text.as_bytes());
    let mut found = String::new();
    let mut at = 0;
    for (word, start) in words {
        if word == old && is_member_at(text, start) {
            found.push_str(&text[at..start]);
            found.push_str(new);
            at = start + word.len();
        }
    }
    found.push_str(&text[at..]);
    found
}

/// Whether what begins at `at` is the name of a member.
pub(crate) fn is_member_at(text: &str, at: usize) -> bool {
    let before = lex::tokens(&text[..at]);
    let before: Vec<&str> = before.iter().map(|(token, _)| *token).collect();
    matches!(&before[..], [.., "."] | [.., "-", ">"])
}

/// The words and signs of a text, however it is laid out.
fn words(text: &str) -> String {
    let words = lex::tokens(text).into_iter();
    let words: Vec<&str> = words.map(|(word, _)| word).collect();
    words.join(" ")
}
