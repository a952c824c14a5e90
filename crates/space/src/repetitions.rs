//! MOVE without taking away: copies a statement of the function to a second place.
//!
//! Two kinds of bugs need that. Something is not undone: `swap(&s[i], &s[k]);` must stand behind the recursion as before it. Or
//! something is not noted in one of two cases: `s->used = c->now++;`.

use patchwright_csource::{ExprId, ExprKind, Place, Stmt, StmtId, StmtKind, Storage, VarId};
use patchwright_text::Span;

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::{insertion, insertion_after},
    leaves::variables_below,
    moves::{has_directive, has_label},
    space::Schema,
};

/// The statement, whose text says nothing new.
const REPEATED_COST: u32 = 4;

/// An `if` of a loop once more behind the loop, for what the last pass left.
const BEHIND_LOOP_COST: u32 = 3;

/// Most of those behind one loop.
const MOST_BEHIND_LOOP: usize = 4;

/// A statement with a longer text is not repeated.
const LONGEST: u32 = 120;

/// Most statements that are repeated at one place: the nearest.
const MOST_AT: usize = 6;

/// Most of one function.
const MOST_OF_FUNCTION: usize = 240;

/// A statement that can be repeated.
pub(crate) struct Source {
    pub(crate) text: String,
    /// Where it begins.
    pub(crate) at: u32,
    pub(crate) variables: Vec<VarId>,
}

impl Source {
    /// Returns a copy with another text. `variable` finds variables by their names.
    pub(crate) fn with(&self, text: String, variable: impl Fn(&str) -> Option<VarId>) -> Self {
        let words = patchwright_csource::lex::words(text.as_bytes());
        let variables = words.iter().filter_map(|word| variable(word)).collect();
        Source {
            text,
            at: self.at,
            variables,
        }
    }
}

/// Adds copies of statements at a second place.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let sources = sources(finder);
    let choices = choices(finder, |kind| matches!(kind, StmtKind::If { .. }));
    let mut count = 0;
    for standing in finder.statements.clone() {
        let kind = &finder.function.stmt(standing.id).kind;
        let is_place = kind.is_step() || kind.is_jump() && !matches!(kind, StmtKind::Goto(_));
        if !is_place || sources.is_empty() && choices.is_empty() {
            continue;
        }
        if count >= MOST_OF_FUNCTION {
            finder.found.refuse("MOVE that repeats further statements");
            return;
        }
        let mut near: Vec<&Source> = sources
            .iter()
            .filter(|source| {
                source.at != standing.span.start && can_stand(finder, source, &standing)
            })
            .collect();
        near.sort_by_key(|source| (source.at.abs_diff(standing.span.start), source.at));
        near.truncate(MOST_AT);
        let left: Vec<&Source> = loop_before(finder, &standing)
            .into_iter()
            .flat_map(|span| {
                let choices = choices.iter();
                let inside = choices.filter(move |choice| span.contains(choice.at));
                inside.filter(|choice| can_stand(finder, choice, &standing))
            })
            .take(MOST_BEHIND_LOOP)
            .collect();
        count += near.len() + left.len();
        let source = &finder.builder.unit.source;
        let all = near.iter().map(|repeated| (REPEATED_COST, repeated));
        let left = left.iter().map(|repeated| (BEHIND_LOOP_COST, repeated));
        let before: Vec<Alternative> = left
            .chain(all)
            .map(|(cost, repeated)| Alternative {
                schema: Schema::Move,
                cost,
                woven: repeated.text.clone(),
                edit: insertion(source, standing.span, standing.is_body, &repeated.text),
            })
            .collect();
        let is_last = is_last(finder, &standing);
        let own = finder.text(standing.span);
        let after: Vec<Alternative> = near
            .iter()
            .filter(|_| is_last && finder.is_short(standing.span, LONGEST))
            .map(|repeated| Alternative {
                schema: Schema::Move,
                cost: REPEATED_COST,
                woven: format!("{own} {}", repeated.text),
                edit: insertion_after(source, standing.span, standing.is_body, &repeated.text),
            })
            .collect();
        let is_body = standing.is_body;
        finder.add(standing.span, None, Form::Before { is_body }, before);
        finder.add(standing.span, None, Form::Instead, after);
    }
}

/// Returns the statements that can be repeated: calls and assignments. `v = e` with a single word is left out, because ASSIGNMENT inserts
/// it.
pub(crate) fn sources(finder: &Finder<'_, '_, '_>) -> Vec<Source> {
    let function = finder.function;
    let mut found: Vec<Source> = Vec::new();
    for standing in &finder.statements {
        let StmtKind::Expression(expr) = function.stmt(standing.id).kind else {
            continue;
        };
        let expr = function.stripped(expr);
        let is_wanted = match function.expr(expr).kind {
            ExprKind::Call { .. } => true,
            ExprKind::Assign { target, value, .. } => {
                let is_variable = |id: ExprId| {
                    let kind = &function.expr(function.stripped(id)).kind;
                    matches!(kind, ExprKind::Variable(_) | ExprKind::Integer { .. })
                };
                !is_variable(target) || !is_variable(value)
            }
            _ => false,
        };
        if !is_wanted || !finder.is_short(standing.span, LONGEST) || finder.has_statements(expr) {
            continue;
        }
        let text = finder.plain(standing.span);
        if has_directive(finder.text(standing.span).as_bytes())
            || found.iter().any(|known| known.text == text)
        {
            continue;
        }
        let mut variables = Vec::new();
        variables_below(function, expr, &mut variables);
        found.push(Source {
            text,
            at: standing.span.start,
            variables,
        });
    }
    found
}

/// Statements of some kinds that do not leave what is round them.
pub(crate) fn choices(
    finder: &Finder<'_, '_, '_>,
    is_wanted: impl Fn(&StmtKind) -> bool,
) -> Vec<Source> {
    let function = finder.function;
    let mut found: Vec<Source> = Vec::new();
    for standing in &finder.statements {
        let is_choice = is_wanted(&function.stmt(standing.id).kind);
        if !is_choice || !finder.is_short(standing.span, LONGEST) {
            continue;
        }
        let within =
            |place: Place| matches!(place, Place::Written(own) if standing.span.contains_span(own));
        let leaves = |stmt: &Stmt| stmt.kind.is_jump() && within(stmt.place);
        if has_label(finder, standing.id, false) || function.stmts.iter().any(leaves) {
            continue;
        }
        let text = crate::insertion::undented(&finder.builder.unit.source, standing.span);
        if has_directive(text.as_bytes()) || found.iter().any(|known| known.text == text) {
            continue;
        }
        let mentioned = function.exprs.iter().filter_map(|expr| {
            let variable = match expr.kind {
                ExprKind::Variable(id) => id,
                _ => return None,
            };
            let span = expr.place.editable()?;
            standing.span.contains_span(span).then_some(variable)
        });
        found.push(Source {
            text,
            at: standing.span.start,
            variables: mentioned.collect(),
        });
    }
    found
}

/// The loop that stands in the same block right before a statement.
fn loop_before(finder: &Finder<'_, '_, '_>, standing: &Standing) -> Option<Span> {
    let (block, place) = standing.block?;
    let StmtKind::Compound(inner) = &finder.function.stmt(block).kind else {
        return None;
    };
    let before = finder.function.stmt(*inner.get(place.checked_sub(1)?)?);
    let is_loop = before.kind.loop_body().is_some();
    match before.place {
        Place::Written(span) if is_loop => Some(span),
        _ => None,
    }
}

/// Whether all that a statement mentions is there, and has a value, before another one.
pub(crate) fn can_stand(finder: &Finder<'_, '_, '_>, source: &Source, standing: &Standing) -> bool {
    source.variables.iter().all(|id| {
        let unit = &finder.builder.unit;
        let variable = unit.variable(*id);
        let visible = &standing.scope.visible;
        let hides = |other: &VarId| *other != *id && unit.variable(*other).name == variable.name;
        let has_value = match variable.storage {
            Storage::Global => true,
            _ => standing.scope.assigned.contains(id),
        };
        has_value && !visible.iter().any(hides)
    }) && names_visible(finder, &source.text, standing)
}

/// Whether all locals that a text names can be named at a statement, also those that it does not read: `sizeof` is said of a name, too.
fn names_visible(finder: &Finder<'_, '_, '_>, text: &str, standing: &Standing) -> bool {
    let unit = &finder.builder.unit;
    let is_named = |ids: &[VarId], word: &String| {
        let mut ids = ids.iter();
        ids.any(|id| unit.variable(*id).name == *word)
    };
    let words = patchwright_csource::lex::words(text.as_bytes());
    words.iter().all(|word| {
        !is_named(&finder.function.locals, word) || is_named(&standing.scope.visible, word)
    })
}

/// Whether a statement is a call or an assignment at the end of its block, or a body: behind any other, the next one is before.
pub(crate) fn is_last(finder: &Finder<'_, '_, '_>, standing: &Standing) -> bool {
    let is_expression = |id: StmtId| {
        let kind = &finder.function.stmt(id).kind;
        matches!(kind, StmtKind::Expression(_))
    };
    let ends_block = match standing.block {
        None => true,
        Some((block, place)) => match &finder.function.stmt(block).kind {
            StmtKind::Compound(inner) => place + 1 == inner.len(),
            _ => false,
        },
    };
    ends_block && is_expression(standing.id)
}
