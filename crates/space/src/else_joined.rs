//! GUARD by `else`: `else if (b) y;` for `if (b) y;` behind `if (a) x;`, `else y;` for `y;` there, and `if (b) y;` for `else if (b) y;`.
//!
//! Who writes cases down one after the other forgets that a later one applies as well, or that only one of them does.

use patchwright_csource::{Function, Place, StmtId, StmtKind, lex};
use patchwright_kinds::layout::insertion_as_else;
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    operators::within,
    space::Schema,
};

/// The word.
const WORD: &str = "else ";

/// What it costs, in one place or in all places of a row.
const ELSE_COST: u32 = 2;

/// Longer texts are not repeated.
pub(crate) const LONGEST: u32 = 1200;

/// Most places in one function.
const MOST_PLACES: usize = 20;

/// Adds and takes away `else` before statements behind an `if`.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut places = 0;
    for standing in finder.statements.clone() {
        let function = finder.function;
        let found = match &function.stmt(standing.id).kind {
            StmtKind::Compound(inner) => joined(finder, inner),
            StmtKind::If { .. } if !standing.is_body => parted(finder, standing.id, standing.span),
            _ => continue,
        };
        for (span, alternatives) in found {
            if places == MOST_PLACES {
                finder.found.refuse("GUARD by `else` in further places");
                return;
            }
            places += 1;
            finder.add(span, None, Form::Instead, alternatives);
        }
    }
}

/// What is woven in the place of which text.
type Change = (Span, Vec<Alternative>);

/// Statements of a block as the `else` of those before them. Several in a row are one location, for texts that are woven do not overlap.
fn joined(finder: &Finder<'_, '_, '_>, inner: &[StmtId]) -> Vec<Change> {
    let function = finder.function;
    let is_if = |id: &StmtId| matches!(function.stmt(*id).kind, StmtKind::If { .. });
    let is_simple = |id: &StmtId| matches!(function.stmt(*id).kind, StmtKind::Expression(_));
    let mut found = Vec::new();
    for run in inner.chunk_by(|one, other| is_if(one) && (is_if(other) || is_simple(other))) {
        let spans = run.iter().map(|&id| match function.stmt(id).place {
            Place::Written(span) => Some(span),
            _ => None,
        });
        let Some(spans) = spans.collect::<Option<Vec<Span>>>() else {
            continue;
        };
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
            continue;
        };
        let is_in_order = spans.windows(2).all(|two| two[0].end <= two[1].start);
        let whole = Span::new(first.start, last.end.max(first.end));
        if !finder.is_short(whole, LONGEST) || !is_in_order || !is_repeatable(function, whole) {
            continue;
        }
        // The numbers of those that get the word in front of them.
        let behind = (1..run.len()).filter(|&at| takes_else(function, run[at - 1]));
        let behind: Vec<usize> = behind.collect();
        let edits = behind.iter().map(|&at| match is_if(&run[at]) {
            true => Edit::insert(spans[at].start, WORD),
            false => as_else(finder, spans[at - 1], spans[at]),
        });
        let mut edits: Vec<Edit> = edits.collect();
        // Who forgets it in one case forgets it in all.
        let cases = run.iter().filter(|id| is_if(id)).count();
        let joined = behind.iter().filter(|&&at| at < cases).count();
        if joined > 1 && joined + 1 == cases {
            edits.push(in_all(finder, &spans[1..cases]));
        }
        let alternatives: Vec<Alternative> = edits
            .into_iter()
            .map(|edit| Alternative {
                schema: Schema::Guard,
                cost: ELSE_COST,
                woven: within(finder, whole, &edit),
                edit,
            })
            .collect();
        if !alternatives.is_empty() {
            found.push((whole, alternatives));
        }
    }
    found
}

/// A statement as the `else` of the `if` before it, laid out as others are.
fn as_else(finder: &Finder<'_, '_, '_>, condition: Span, statement: Span) -> Edit {
    let between = Span::new(condition.end, statement.start);
    if !finder.text(between).trim().is_empty() {
        return Edit::insert(statement.start, WORD);
    }
    let source = &finder.builder.unit.source;
    let text = finder.text(statement);
    let Edit { text, .. } = insertion_as_else(source, condition, false, &text);
    Edit {
        span: Span::new(condition.end, statement.end),
        text,
    }
}

/// The word in front of each of these statements.
fn in_all(finder: &Finder<'_, '_, '_>, spans: &[Span]) -> Edit {
    let mut text = String::from(WORD);
    for two in spans.windows(2) {
        text.push_str(&finder.text(Span::new(two[0].start, two[1].start)));
        text.push_str(WORD);
    }
    let (first, last) = (spans[0], spans[spans.len() - 1]);
    Edit::replace(Span::new(first.start, last.start), text)
}

/// Whether a text may stand twice in a function: it has no labels, and nothing unusual.
pub(crate) fn is_repeatable(function: &Function, span: Span) -> bool {
    function.stmts.iter().all(|stmt| {
        let is_unusual = matches!(stmt.kind, StmtKind::Label { .. } | StmtKind::Other { .. });
        match stmt.place {
            Place::Written(own) => !is_unusual || !span.contains_span(own),
            _ => !is_unusual,
        }
    })
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
fn parted(finder: &Finder<'_, '_, '_>, id: StmtId, span: Span) -> Vec<Change> {
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
        let can_be = finder.is_short(span, LONGEST) && is_repeatable(function, span);
        let words = lex::tokens(&text);
        let word = words.iter().rfind(|(token, _)| *token == "else");
        if let Some((_, word)) = word.filter(|_| can_be) {
            let start = gap.start + *word as u32;
            let edit = Edit::replace(Span::new(start, gap.end), "");
            let woven = within(finder, span, &edit);
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
