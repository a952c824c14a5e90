//! INITIALIZATION once more: `sum = 0;` where a loop begins to add up again.
//!
//! A variable in which a loop counts or adds up begins with a constant. Where the loop is repeated, or where what has been counted has
//! been used, the variable begins with this constant again.

use std::collections::BTreeMap;

use patchwright_csource::{ExprId, ExprKind, StmtKind, UnaryOperator, VarId, types::TypeKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    else_joined::{LONGEST, is_repeatable},
    insertion::{insertion, insertion_after},
    space::Schema,
};

/// The statement, without what is said elsewhere.
const COST: u32 = 2;

/// Most constants of one variable.
const MOST_CONSTANTS: usize = 2;

/// Most places of one variable.
const MOST_PLACES: usize = 8;

/// Most variables of one function.
const MOST_VARIABLES: usize = 12;

/// What a function does with a variable.
#[derive(Default)]
struct Use {
    /// The constants that it is given, as they are written.
    constants: Vec<String>,
    /// Where its new value is calculated from its old one.
    counted: Vec<Span>,
    /// Where it is passed to a function.
    passed: Vec<Span>,
}

/// Adds assignments with which a count or sum begins again in a loop.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut found: Vec<(Standing, bool, Vec<String>)> = Vec::new();
    let uses = uses(finder);
    let counted = uses
        .into_iter()
        .filter(|(_, use_)| !use_.constants.is_empty() && !use_.counted.is_empty());
    for (variable, use_) in counted.take(MOST_VARIABLES) {
        let name = finder.builder.unit.variable(variable).name.clone();
        let texts: Vec<String> = (use_.constants.iter().take(MOST_CONSTANTS))
            .map(|constant| format!("{name} = {constant};"))
            .collect();
        for (standing, is_behind) in places(finder, variable, &use_) {
            let beside = beside(finder, &standing, is_behind);
            let texts = texts
                .iter()
                .filter(|text| !beside.contains(text))
                .cloned()
                .collect();
            found.push((standing, is_behind, texts));
        }
    }
    found.sort_by_key(|(standing, is_behind, _)| (standing.span.start, *is_behind));
    for (standing, is_behind, texts) in found {
        let source = &finder.builder.unit.source;
        let (span, is_body) = (standing.span, standing.is_body);
        let own = finder.text(span);
        let alternative = |text: String| -> Alternative {
            let (edit, woven): (Edit, String) = match is_behind {
                true => (
                    insertion_after(source, span, is_body, &text),
                    format!("{own} {text}"),
                ),
                false => (insertion(source, span, is_body, &text), text),
            };
            Alternative {
                schema: Schema::Initialization,
                cost: COST,
                woven,
                edit,
            }
        };
        let alternatives = texts.into_iter().map(alternative).collect();
        let form = match is_behind {
            true => Form::Instead,
            false => Form::Before { is_body },
        };
        finder.add(span, None, form, alternatives);
    }
}

/// The uses of scalar variables, by variable.
fn uses(finder: &Finder<'_, '_, '_>) -> BTreeMap<VarId, Use> {
    let function = finder.function;
    let mut uses: BTreeMap<VarId, Use> = BTreeMap::new();
    for &id in &function.locals {
        let initializer = finder.builder.unit.variable(id).initializer;
        if let Some(text) = initializer.and_then(|value| constant(finder, value)) {
            uses.entry(id).or_default().constants.push(text);
        }
    }
    for expr in &function.exprs {
        let span = expr.place.editable();
        match &expr.kind {
            ExprKind::Assign {
                operator,
                target,
                value,
            } => {
                let Some(id) = variable(finder, *target) else {
                    continue;
                };
                let use_ = uses.entry(id).or_default();
                if operator.is_some() || finder.function.mentions(*value, id) {
                    use_.counted.extend(span);
                } else if let Some(text) = constant(finder, *value)
                    && !use_.constants.contains(&text)
                {
                    use_.constants.push(text);
                }
            }
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => {
                if let Some(id) = variable(finder, *operand) {
                    uses.entry(id).or_default().counted.extend(span);
                }
            }
            ExprKind::Call { arguments, .. } => {
                for argument in arguments {
                    if let Some(id) = variable(finder, *argument) {
                        uses.entry(id).or_default().passed.extend(span);
                    }
                }
            }
            _ => {}
        }
    }
    uses
}

/// The variable that an expression is, if it is one of a type that can be calculated with.
fn variable(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<VarId> {
    let expr = finder.function.expr(finder.function.stripped(id));
    let ExprKind::Variable(variable) = expr.kind else {
        return None;
    };
    let ty = finder.builder.unit.variable(variable).ty;
    let kind = finder.builder.unit.types.kind(ty);
    matches!(kind, TypeKind::Integer(_) | TypeKind::Float(_)).then_some(variable)
}

/// The text of a number.
fn constant(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<String> {
    let stripped = finder.function.stripped(id);
    let expr = finder.function.expr(stripped);
    let is_number = match expr.kind {
        ExprKind::Integer { .. } | ExprKind::Float(_) => true,
        ExprKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => matches!(
            finder.function.expr(finder.function.stripped(operand)).kind,
            ExprKind::Integer { .. } | ExprKind::Float(_)
        ),
        _ => false,
    };
    let span = expr.place.editable()?;
    is_number.then(|| finder.plain(span))
}

/// The statements before which, or behind which, the variable may begin again.
fn places(finder: &Finder<'_, '_, '_>, variable: VarId, use_: &Use) -> Vec<(Standing, bool)> {
    let function = finder.function;
    let is_loop = |standing: &Standing| function.stmt(standing.id).kind.loop_body().is_some();
    let can_name = |standing: &Standing| standing.scope.visible.contains(&variable);
    let counts = |span: Span| use_.counted.iter().any(|own| span.contains_span(*own));
    let loops: Vec<Span> = (finder.statements.iter())
        .filter(|standing| is_loop(standing) && counts(standing.span))
        .map(|standing| standing.span)
        .collect();
    let mut found = Vec::new();
    for standing in &finder.statements {
        if !can_name(standing) {
            continue;
        }
        let span = standing.span;
        let inside = |other: &&Span| **other != span && other.contains_span(span);
        // The loop itself, and where the body of one around it begins.
        let begins = is_loop(standing) && counts(span);
        let is_first = matches!(standing.block, Some((_, 0)));
        let in_loop = loops.iter().any(|other| inside(&other));
        if begins || is_first && in_loop {
            found.push((standing.clone(), false));
        }
        let is_step = matches!(function.stmt(standing.id).kind, StmtKind::Expression(_));
        let uses = use_.passed.iter().any(|own| span.contains_span(*own));
        let is_use = is_step && uses && in_loop && !counts(span);
        if is_use && finder.is_short(span, LONGEST) && is_repeatable(function, span) {
            found.push((standing.clone(), true));
        }
    }
    found.truncate(MOST_PLACES);
    found
}

/// The texts of the statements beside the place.
fn beside(finder: &Finder<'_, '_, '_>, standing: &Standing, is_behind: bool) -> Vec<String> {
    let Some((block, place)) = standing.block else {
        return Vec::new();
    };
    let StmtKind::Compound(inner) = &finder.function.stmt(block).kind else {
        return Vec::new();
    };
    let next = if is_behind { place + 1 } else { place };
    let around = [place.checked_sub(1), Some(next)];
    let spans = around
        .into_iter()
        .flatten()
        .filter_map(|place| finder.function.stmt(*inner.get(place)?).place.editable());
    spans.map(|span| finder.plain(span)).collect()
}
