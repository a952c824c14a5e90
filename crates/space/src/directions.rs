//! MOVE to the direction that is missing: `fill(y, x - 1)` beside `fill(y, x + 1)`, `fill(y - 1, x)` and `fill(y + 1, x)`; as one more term of a sum, or
//! as one more statement.
//!
//! What goes one further in one direction mostly goes back in it as well. Calls and elements that differ only in what is one more or one less
//! tell in which directions the program goes.

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, StmtId, StmtKind, lex};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    insertion::insertion_after,
    operators::LONGEST,
    space::Schema,
    term::promote,
    wraps::used,
};

/// The repeated text, and its direction.
const COST: u32 = 3;

/// So many directions are a pattern.
const LEAST_ALIKE: usize = 3;

/// Most that are added in one place.
const MOST_AT: usize = 6;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    sums(finder);
    statements(finder);
}

/// Sums whose terms go in different directions.
fn sums(finder: &mut Finder<'_, '_, '_>) {
    let mut spans: Vec<Span> = Vec::new();
    for used in used(finder) {
        let expr = finder
            .function
            .expr(finder.function.without_parens(used.id));
        let (ty, place) = (expr.ty, expr.place);
        let mut terms = Vec::new();
        addends(finder, used.id, &mut terms);
        let Some(span) = place.editable().filter(|span| span.len() <= LONGEST) else {
            continue;
        };
        // The parts of a sum are sums as well.
        let is_part = spans.iter().any(|known| known.contains_span(span));
        if terms.len() < LEAST_ALIKE || is_part || finder.has_statements(used.id) {
            continue;
        }
        spans.push(span);
        let Some(ctype) = finder
            .builder
            .ctype(ty)
            .filter(|ctype| ctype.is_arithmetic())
        else {
            continue;
        };
        let texts: Vec<String> = terms
            .iter()
            .filter_map(|&id| {
                let place = finder.function.expr(finder.function.stripped(id)).place;
                Some(finder.text(place.editable()?))
            })
            .collect();
        let own = finder.text(span);
        let alternatives = missing(&texts).into_iter().map(|text| {
            let text = format!("{own} + {text}");
            Alternative {
                schema: Schema::Move,
                cost: COST,
                woven: text.clone(),
                edit: Edit::replace(span, text),
            }
        });
        let alternatives = alternatives.collect();
        finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
    }
}

/// What a sum adds up.
fn addends(finder: &Finder<'_, '_, '_>, id: ExprId, found: &mut Vec<ExprId>) {
    let bare = finder.function.stripped(id);
    match finder.function.expr(bare).kind {
        ExprKind::Binary {
            operator: BinaryOperator::Add,
            left,
            right,
        } => {
            addends(finder, left, found);
            addends(finder, right, found);
        }
        _ => found.push(bare),
    }
}

/// Calls in a row that go in different directions.
fn statements(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Compound(inner) = finder.function.stmt(standing.id).kind.clone() else {
            continue;
        };
        let text = |id: StmtId| -> Option<(Span, String)> {
            let stmt = finder.function.stmt(id);
            let StmtKind::Expression(expr) = stmt.kind else {
                return None;
            };
            let called = finder.function.stripped(expr);
            let is_call = matches!(finder.function.expr(called).kind, ExprKind::Call { .. });
            let span = finder.function.expr(called).place.editable()?;
            let is_whole = stmt
                .place
                .editable()
                .is_some_and(|whole| whole.contains_span(span));
            (is_call && is_whole && !finder.has_statements(expr))
                .then(|| Some((stmt.place.editable()?, finder.text(span))))
                .flatten()
        };
        let rows: Vec<Option<(Span, String)>> = inner.iter().map(|&id| text(id)).collect();
        for row in rows.split(Option::is_none) {
            let row: Vec<&(Span, String)> = row.iter().flatten().collect();
            let Some(&(last, _)) = row.last() else {
                continue;
            };
            let texts: Vec<String> = row.iter().map(|(_, text)| text.clone()).collect();
            let source = &finder.builder.unit.source;
            let own = finder.text(*last);
            let alternatives = missing(&texts).into_iter().map(|text| {
                let text = format!("{text};");
                Alternative {
                    schema: Schema::Move,
                    cost: COST,
                    woven: format!("{own} {text}"),
                    edit: insertion_after(source, *last, false, &text),
                }
            });
            let (span, alternatives) = (*last, alternatives.collect());
            finder.add(span, None, Form::Instead, alternatives);
        }
    }
}

/// The texts of directions that are opposite to one of those that are there, and are not there themselves.
fn missing(texts: &[String]) -> Vec<String> {
    let read: Vec<(Vec<String>, Vec<i32>)> = texts.iter().map(|text| steps(text)).collect();
    let mut found = Vec::new();
    for (number, (shape, _)) in read.iter().enumerate() {
        let alike = read.iter().filter(|(other, _)| other == shape);
        let directions: Vec<&Vec<i32>> = alike.map(|(_, direction)| direction).collect();
        let is_first = !read[..number].iter().any(|known| known.0 == *shape);
        if !is_first || directions.len() < LEAST_ALIKE {
            continue;
        }
        for direction in &directions {
            let opposite: Vec<i32> = direction.iter().map(|step| -step).collect();
            if directions.iter().all(|known| **known != opposite) {
                found.push(written(shape, &opposite));
            }
        }
    }
    found.dedup();
    found.truncate(MOST_AT);
    found
}

/// A text without what is one more or one less than a name, and that for each name.
fn steps(text: &str) -> (Vec<String>, Vec<i32>) {
    let mut words: Vec<String> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = lex::step(bytes, at);
        let word = text.get(at..end).unwrap_or_default();
        if !word.trim().is_empty() {
            words.push(word.to_owned());
        }
        at = end;
    }
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (mut shape, mut directions) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        let word = &words[at];
        at += 1;
        shape.push(word.clone());
        if !is_name(word) {
            continue;
        }
        let ends = |at: usize| {
            let next = words.get(at).map(String::as_str);
            matches!(next, None | Some(")" | "]" | ","))
        };
        let step = match (
            words.get(at).map(String::as_str),
            words.get(at + 1).map(String::as_str),
        ) {
            (Some("+"), Some("1")) if ends(at + 2) => 1,
            (Some("-"), Some("1")) if ends(at + 2) => -1,
            _ => 0,
        };
        at += if step == 0 { 0 } else { 2 };
        directions.push(step);
    }
    (shape, directions)
}

fn written(shape: &[String], directions: &[i32]) -> String {
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let mut text = String::new();
    let mut directions = directions.iter();
    for word in shape {
        text.push_str(word);
        if word == "," {
            text.push(' ');
        }
        if is_name(word) {
            match directions.next() {
                Some(1) => text.push_str(" + 1"),
                Some(-1) => text.push_str(" - 1"),
                _ => {}
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        missing(&texts)
    }

    #[test]
    fn the_direction_that_is_missing_is_known() {
        let three = ["fill(y - 1, x)", "fill(y + 1, x)", "fill(y, x + 1)"];
        assert_eq!(of(&three), ["fill(y, x - 1)"]);
        let elements = ["g[y][x-1]", "g[y-1][x]", "g[y+1][x]"];
        assert_eq!(of(&elements), ["g[y][x + 1]"]);
    }

    #[test]
    fn what_is_whole_or_no_pattern_lacks_none() {
        let all = ["f(y - 1, x)", "f(y + 1, x)", "f(y, x + 1)", "f(y, x - 1)"];
        assert_eq!(of(&all), [""; 0]);
        assert_eq!(of(&["f(n - 1)", "f(n + 2)", "g(n)"]), [""; 0]);
        assert_eq!(of(&["f(n - 1)", "f(m)"]), [""; 0]);
    }
}
