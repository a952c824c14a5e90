//! Moves edits that a diff has put elsewhere than the author of the patch.
//!
//! A diff may show a new function shifted. Where it has the same first line as the function behind it, its text seems to stand
//! inside of that function's head, or to have taken the head and the braces. The text is the same, so whichever edits give it
//! can be taken: here those that add whole definitions between definitions, and change bodies.

use patchwright_csource::{Function, lex};
use patchwright_text::{Edit, Span, line_edits};

use crate::edits::trimmed;
use crate::outside::{self, Item};
use crate::planned::in_body;

/// Returns edits that give the same text, but add whole definitions and change bodies where possible.
/// They stay in order.
pub fn put_right(base: &[u8], functions: &[Function], edits: Vec<Edit>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = edits
        .into_iter()
        .map(|edit| between_items(base, functions, edit))
        .collect();
    for function in functions {
        let is_own = |edit: &Edit| {
            let outside = edit.span.is_empty()
                && [function.span.start, function.span.end].contains(&edit.span.start);
            function.span.contains_span(edit.span) && !outside
        };
        let own: Vec<Edit> = edits.iter().filter(|edit| is_own(edit)).cloned().collect();
        let is_odd = |edit: &Edit| {
            in_body(functions, edit.span).is_none() || !lex::is_balanced(&edit.text, true)
        };
        if !own.iter().any(is_odd) {
            continue;
        }
        let Some(parted) = parted(base, function, &own) else {
            continue;
        };
        let first = edits.iter().position(is_own).unwrap_or_default();
        edits.retain(|edit| !is_own(edit));
        edits.splice(first..first, parted);
    }
    edits
}

/// Moves an insertion that cuts through definitions to a place between definitions, if there is one with the same result.
/// Otherwise returns it as it is.
fn between_items(base: &[u8], functions: &[Function], edit: Edit) -> Edit {
    let is_whole = lex::is_balanced(&edit.text, true)
        && (in_body(functions, edit.span).is_some()
            || outside::is_between_items(base, functions, edit.span.start));
    if !edit.span.is_empty() || is_whole {
        return edit;
    }
    let moved = outside::moved(base, edit.span.start, &edit.text);
    let whole = moved.into_iter().find(|(offset, text)| {
        lex::is_balanced(text, true)
            && outside::is_between_items(base, functions, *offset)
            && outside::brought(text).is_some()
    });
    match whole {
        Some((offset, text)) => Edit::replace(Span::empty(offset), text),
        None => edit,
    }
}

/// The edits of a function whose text becomes several definitions, of which one has its head, as additions before and behind it and
/// edits of its body.
fn parted(base: &[u8], function: &Function, own: &[Edit]) -> Option<Vec<Edit>> {
    let span = function.span;
    let old = span.slice(base)?;
    let new = crate::runs::alternative(base, span, own);
    let [item] = outside::items(old)?.try_into().ok()?;
    let head = head(old, &item)?;
    let items = outside::items(&new)?;
    if items.len() < 2 {
        return None;
    }
    let mut same = items.iter().filter(|item| {
        let own = self::head(&new, item);
        own.is_some_and(|own| own == head) && !item.conditional
    });
    let (Some(kept), None) = (same.next(), same.next()) else {
        return None;
    };
    let (start, end) = (kept.span.start as usize, kept.span.end as usize);
    let body_span = kept.tokens.last()?.span;
    let body = body_span.slice(&new)?;
    // The head stays as it is in the original, and what follows would stand on another line than in the patched file.
    let breaks = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    let old_head = Span::new(span.start, function.body_span.start).slice(base)?;
    if breaks(old_head) != breaks(&new[start..body_span.start as usize]) {
        return None;
    }
    let mut found = Vec::new();
    let add = |offset: u32, text: &[u8], found: &mut Vec<Edit>| {
        if !text.is_empty() {
            found.push(Edit::insert(offset, text));
        }
    };
    add(span.start, &new[..start], &mut found);
    let place = function.body_span;
    let edits = line_edits(place.slice(base)?, body);
    let moved = edits.into_iter().map(|edit| {
        let at = Span::new(edit.span.start + place.start, edit.span.end + place.start);
        Edit::replace(at, edit.text)
    });
    found.extend(moved.filter_map(|edit| trimmed(base, &edit)));
    add(span.end, &new[end..], &mut found);
    Some(found)
}

/// The tokens in front of a function's body.
fn head<'t>(text: &'t [u8], item: &Item) -> Option<Vec<&'t [u8]>> {
    let (_, tokens) = item.tokens.split_last()?;
    let tokens = tokens.iter().map(|token| token.span.slice(text));
    tokens.collect::<Option<Vec<_>>>().filter(|_| item.body)
}
