//! Tells how likely a patch is meant that another program has proposed, as for what the search finds.

use std::path::{Path, PathBuf};

use patchwright_csource::{TranslationUnit, lex};
use patchwright_space::Schema;
use patchwright_text::{Edit, Span};

use crate::{
    instrumented::Instrumented,
    likelihood::{Change, FunctionFacts, Weights, surprise::Habits},
    patch::Rank,
    ranking::bits_of_location,
};

/// The cost of a change with more words and signs than any candidate of the search has.
const MOST_COST: u32 = 16;

/// A source in which changes are likely to be proposed.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) file: PathBuf,
    pub(crate) unit: TranslationUnit,
    /// Of each function that has locations: the first of these, and how near the nearest of them is to a crash.
    functions: Vec<(usize, usize, f64)>,
    /// The nearest of all.
    nearest: f64,
    crash: bool,
}

impl Read {
    /// The sources of an instrumented program for which `is_wanted` holds.
    pub(crate) fn all(instrumented: &Instrumented, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<Self> {
        let holes = &instrumented.holes;
        let nearest = holes.iter().map(|hole| hole.nearness).fold(0.0, f64::max);
        let files = instrumented.files.iter().enumerate();
        let wanted = files.filter(|(_, file)| is_wanted(&file.relative));
        wanted
            .map(|(number, file)| {
                let mut functions: Vec<(usize, usize, f64)> = Vec::new();
                for (at, hole) in holes
                    .iter()
                    .enumerate()
                    .filter(|(_, hole)| hole.file == number && !hole.is_partial)
                {
                    let known = functions
                        .iter_mut()
                        .find(|(known, ..)| *known == hole.hole.function);
                    match known {
                        Some((.., near)) => *near = near.max(hole.nearness),
                        None => functions.push((hole.hole.function, at, hole.nearness)),
                    }
                }
                Read {
                    file: file.relative.clone(),
                    unit: file.unit.clone(),
                    functions,
                    nearest,
                    crash: instrumented.crash,
                }
            })
            .collect()
    }
}

/// Returns the rank of a patch that makes this text of a file. `None` means that nothing is known of the function that the
/// patch changes: it belongs behind all others of its cost.
pub(crate) fn rank(
    read: &[Read],
    file: &Path,
    text: &[u8],
    cost: u32,
    weights: &Weights,
) -> Option<Rank> {
    let read = read.iter().find(|read| read.file == file)?;
    let source = &read.unit.source;
    let edit = narrowed(source, text);
    let (function, location, nearness) = *read.functions.iter().find(|(function, ..)| {
        let body = read.unit.functions[*function].span;
        body.contains_span(edit.span)
    })?;
    let facts = FunctionFacts::of(&read.unit, &read.unit.functions[function])
        .with_habits(std::sync::Arc::new(Habits::of(source)));
    let kind = kind(source, &edit);
    let traits = facts.traits(Change {
        source,
        edit: &edit,
        kind,
        cost: cost.clamp(1, MOST_COST),
        is_local: true,
        crash: read.crash,
    });
    let of_location = match read.crash {
        true => bits_of_location(nearness, read.nearest, kind),
        false => 0.0,
    };
    Some(Rank {
        is_evasion: traits.is_evasion && !traits.takes_out,
        is_crowd: false,
        bits: weights.bits(&traits) + of_location,
        location,
    })
}

/// The least edit, of whole words, that makes this text of a source.
fn narrowed(source: &[u8], text: &[u8]) -> Edit {
    let least = source.len().min(text.len());
    let mut before = source.iter().zip(text).take_while(|(a, b)| a == b).count();
    // A word is one thing.
    let is_split = |text: &[u8], at: usize| {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| text.get(at))
                .copied()
                .is_some_and(lex::is_word)
        };
        is_word(at.checked_sub(1)) && is_word(Some(at))
    };
    while is_split(source, before) || is_split(text, before) {
        before -= 1;
    }
    let behind = source.iter().rev().zip(text.iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    let mut behind = behind.min(least - before);
    while is_split(source, source.len() - behind) || is_split(text, text.len() - behind) {
        behind -= 1;
    }
    Edit::replace(
        Span::new(before as u32, (source.len() - behind) as u32),
        &text[before..text.len() - behind],
    )
}

/// The kind of change of the search that an edit looks most like.
fn kind(source: &[u8], edit: &Edit) -> Schema {
    let words = |text: &[u8]| -> Vec<String> {
        let text = lex::without_comments(&String::from_utf8_lossy(text));
        let tokens = lex::tokens(&text).into_iter();
        tokens.map(|(token, _)| token.to_owned()).collect()
    };
    let (old, new) = (words(&source[edit.span.range()]), words(&edit.text));
    let has = |all: &[String], word: &str| all.iter().any(|token| token == word);
    let leaves = ["return", "break", "continue", "goto", "exit", "abort"];
    if new.is_empty() && has(&old, ";") {
        return Schema::Deletion;
    }
    if !old.is_empty() {
        return Schema::Expression;
    }
    match new.first().map(String::as_str) {
        Some("&&" | "||") => Schema::Refinement,
        _ if leaves.iter().any(|word| has(&new, word)) => Schema::Exit,
        Some("if") => Schema::Guard,
        _ if has(&new, ";") && has(&new, "=") => Schema::Assignment,
        _ => match new.last().map(String::as_str) {
            Some("&&" | "||") => Schema::Refinement,
            _ => Schema::Expression,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(source: &str, text: &str) -> (String, String, Schema) {
        let edit = narrowed(source.as_bytes(), text.as_bytes());
        let old = source[edit.span.range()].to_owned();
        let kind = kind(source.as_bytes(), &edit);
        (old, String::from_utf8(edit.text).unwrap(), kind)
    }

    #[test]
    fn an_edit_is_as_small_as_its_words() {
        let (old, new, kind) = seen("x = count + 1;", "x = counter + 1;");
        assert_eq!((&old[..], &new[..]), ("count", "counter"));
        assert_eq!(kind, Schema::Expression);
        let (old, new, _) = seen("f(a);", "f(a);");
        assert_eq!((&old[..], &new[..]), ("", ""));
    }

    #[test]
    fn edits_are_told_apart_by_what_they_add() {
        let kind = |source: &str, text: &str| seen(source, text).2;
        let before = "  use(p);\n";
        assert_eq!(kind(before, "  if (p)\n  use(p);\n"), Schema::Guard);
        assert_eq!(kind(before, "  if (!p) return;\n  use(p);\n"), Schema::Exit);
        assert_eq!(kind(before, "  p = q;\n  use(p);\n"), Schema::Assignment);
        assert_eq!(kind(before, ""), Schema::Deletion);
        assert_eq!(kind("if (a)", "if (a && b)"), Schema::Refinement);
    }
}
