//! Handles definitions that patches change outside of functions. Each becomes a second definition beside
//! the original, and the functions that mention it are copied for the patch.

use std::collections::BTreeSet;

use patchwright_csource::{Function, lex};
use patchwright_text::{Edit, Span};

use crate::enumerations;
use crate::outside::{Brought, brought};

/// A changed definition that is woven as a second one beside the original, under a new name.
pub struct Replacement {
    /// The changed text.
    pub text: Vec<u8>,
    /// The names that it gives another meaning to, or none.
    pub names: BTreeSet<String>,
    /// All mentions of the former in functions, each replaced by itself.
    pub uses: Vec<Edit>,
    /// All mentions of the others: they mean something else now, or nothing.
    pub orphans: Vec<Span>,
}

/// Makes a second definition of the changed one in `span`, with the new text `text`. It is `None` unless
/// only bodies of the file's functions mention it.
pub fn replacement(
    source: &[u8],
    functions: &[Function],
    span: Span,
    text: Vec<u8>,
) -> Option<Replacement> {
    if let Some((text, names)) = enumerations::constants(span.slice(source)?, &text) {
        let uses = uses(source, functions, span, &names)?;
        let orphans = Vec::new();
        return Some(Replacement {
            text,
            names,
            uses,
            orphans,
        });
    }
    let (old, new) = (brought(span.slice(source)?)?, brought(&text)?);
    let stays = |brought: &Brought| {
        brought.external.is_empty() && brought.declared.is_empty() && !brought.includes
    };
    if !stays(&old) || !stays(&new) {
        return None;
    }
    let names = old.defined;
    let (kept, lost) = names
        .iter()
        .cloned()
        .partition(|name| new.defined.contains(name));
    let orphans = mentions(source, span, &lost).map(|(_, at)| at).collect();
    let uses = uses(source, functions, span, &kept)?;
    Some(Replacement {
        text,
        names,
        uses,
        orphans,
    })
}

/// Where a source mentions these names outside of `span`.
fn mentions<'n>(
    source: &[u8],
    span: Span,
    names: &'n BTreeSet<String>,
) -> impl Iterator<Item = (String, Span)> + use<'n> {
    let words = lex::words_with_places(source).into_iter();
    let placed = words.filter(|(word, _)| names.contains(word));
    placed.filter_map(move |(word, at)| {
        let at = Span::new(at as u32, (at + word.len()) as u32);
        (!span.contains_span(at)).then_some((word, at))
    })
}

/// All mentions of these names outside of `span`, each replaced by itself; `None` if some are not in bodies of functions.
fn uses(
    source: &[u8],
    functions: &[Function],
    span: Span,
    names: &BTreeSet<String>,
) -> Option<Vec<Edit>> {
    let mentions = mentions(source, span, names);
    let in_bodies = mentions.map(|(word, at)| {
        let in_body = |function: &Function| function.body_span.contains_span(at);
        let is_use = functions.iter().any(in_body);
        is_use.then(|| Edit::replace(at, word))
    });
    in_bodies.collect()
}
