//! Mutations: alternatives of expressions, and the text of each.

use std::collections::BTreeMap;

use patchwright_csource::types::IntegerKind;
use patchwright_lower::alternatives::Alternatives;
use patchwright_text::{Edit, EditError, Span, apply_edits};

use crate::pieces::{Parentheses, Piece, Text, literal};

/// One way to change an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    pub(crate) pieces: Vec<Piece>,
    /// Shorter text that does the same where nothing around it or in it is changed: `mid` for `mid - 0`.
    pub(crate) alone: Option<Piece>,
    /// The constant that is left open, if it has one.
    pub open: Option<u32>,
    /// The least and the greatest value of the open constant.
    pub range: (i64, i64),
    /// The value that stands there now, of a constant that is left open; 0 where none does.
    pub near: i64,
}

impl Mutation {
    /// Makes a mutation of pieces of text. The range is that of the type of its open constant.
    pub(crate) fn new(pieces: Vec<Piece>) -> Mutation {
        let open = pieces.iter().find_map(|piece| piece.text.open());
        let range = match open {
            Some((_, IntegerKind::UnsignedInt)) => (0, i64::from(u32::MAX)),
            Some((_, kind)) if kind.size() == 8 => (i64::MIN, i64::MAX),
            _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
        };
        Mutation {
            pieces,
            alone: None,
            open: open.map(|(number, _)| number),
            near: 0,
            range,
        }
    }
}

/// An expression that can be changed, with its mutations.
#[derive(Clone, Debug)]
pub struct Site {
    /// The number of its choice.
    pub number: u32,
    /// The source file that it stands in, by its position among the sources.
    pub source: usize,
    /// The function that it stands in.
    pub function: String,
    /// Its line, counted from 1.
    pub line: u32,
    /// Its text.
    pub span: Span,
    /// What it can be changed to; the first is chosen by 1.
    pub mutations: Vec<Mutation>,
}

/// The sites of a source file.
#[derive(Clone, Debug, Default)]
pub struct Mutations {
    /// The expressions that can be changed; their numbers ascend.
    pub sites: Vec<Site>,
    /// The same for the meta-program.
    pub alternatives: Alternatives,
    /// How many expressions cannot be changed because their text comes from a macro.
    pub out_of_reach: usize,
}

/// One change of a patch: the number of the site, and which of its mutations (from 1).
pub type Change = (u32, u32);

/// The error that the texts of several changes overlap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the changes do not fit together: {0}")]
pub struct Unfit(#[from] EditError);

/// A piece of a change that is made, and the expression that it changes.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    site: Span,
    piece: &'a Piece,
}

/// The pieces that make the changes, in the order in which they are made; all `sites` stand in one file.
fn chosen<'a>(sites: &'a [Site], changes: &[Change]) -> Vec<Chosen<'a>> {
    let chosen: Vec<(&Site, &Mutation)> = changes
        .iter()
        .filter_map(|&(number, which)| {
            let site = sites.iter().find(|site| site.number == number)?;
            let mutation = site.mutations.get((which as usize).checked_sub(1)?)?;
            Some((site, mutation))
        })
        .collect();
    let mut pieces: Vec<Chosen> = Vec::new();
    for (index, (site, mutation)) in chosen.iter().enumerate() {
        let near = chosen.iter().enumerate().any(|(other, (beside, _))| {
            other != index
                && (beside.span.contains_span(site.span) || site.span.contains_span(beside.span))
        });
        let all = match &mutation.alone {
            Some(alone) if !near => std::slice::from_ref(alone),
            _ => &mutation.pieces,
        };
        let wanted = all.iter().filter(|piece| near || !piece.cautious);
        pieces.extend(wanted.map(|piece| Chosen {
            site: site.span,
            piece,
        }));
    }
    pieces.sort_by_key(|one| {
        let order = match one.piece.closing {
            true => i64::from(one.piece.extent),
            false => -i64::from(one.piece.extent),
        };
        (one.piece.span.start, !one.piece.closing, order)
    });
    pieces
}

/// A source file while it is changed.
struct Rewriting<'a> {
    source: &'a [u8],
    constants: &'a BTreeMap<u32, i64>,
}

impl Rewriting<'_> {
    /// A part of the source with the changes that are made in it. What moves is changed where it goes.
    fn part(&self, part: Span, pieces: &[Chosen]) -> Result<Vec<u8>, EditError> {
        let moves = |one: &&Chosen| matches!(one.piece.text, Text::Moved { .. });
        let moved: Vec<Span> = pieces
            .iter()
            .filter(moves)
            .map(|one| one.piece.span)
            .collect();
        let stays = |one: &&Chosen| !moved.iter().any(|span| span.contains_span(one.site));
        let edits = pieces.iter().filter(stays).map(|one| {
            let span = one.piece.span;
            let here = Span::new(span.start - part.start, span.end - part.start);
            Ok(Edit::replace(here, self.text(&one.piece.text, pieces)?))
        });
        let edits: Vec<Edit> = edits.collect::<Result<_, EditError>>()?;
        let text = self.source.get(part.start as usize..part.end as usize);
        apply_edits(text.unwrap_or_default(), &edits)
    }

    fn text(&self, text: &Text, pieces: &[Chosen]) -> Result<Vec<u8>, EditError> {
        Ok(match text {
            Text::Is(text) => text.clone().into_bytes(),
            Text::Open {
                number,
                kind,
                parenthesised,
            } => {
                let value = self.constants.get(number).copied().unwrap_or(0);
                literal(i128::from(value), *kind, *parenthesised).into_bytes()
            }
            Text::All(all) => {
                let all = all.iter().map(|text| self.text(text, pieces));
                all.collect::<Result<Vec<_>, _>>()?.concat()
            }
            Text::Moved { from, parentheses } => {
                let inside = pieces.iter().filter(|one| from.contains_span(one.site));
                let inside: Vec<Chosen> = inside.copied().collect();
                let body = self.part(*from, &inside)?;
                let needed = match parentheses {
                    Parentheses::Never => false,
                    Parentheses::IfChanged => !inside.is_empty(),
                    Parentheses::Always => true,
                };
                match needed {
                    true => [b"(", body.as_slice(), b")"].concat(),
                    false => body,
                }
            }
        })
    }
}

/// Returns the text of a source file with `changes` made. `constants` are the values of open constants.
///
/// # Errors
/// When a change replaces text that another one changes too.
pub fn changed(
    source: &[u8],
    sites: &[Site],
    changes: &[Change],
    constants: &BTreeMap<u32, i64>,
) -> Result<Vec<u8>, Unfit> {
    let whole = Span::new(0, source.len() as u32);
    let rewriting = Rewriting { source, constants };
    Ok(rewriting.part(whole, &chosen(sites, changes))?)
}
