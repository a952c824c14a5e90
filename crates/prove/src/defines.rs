//! Level 3: changes of numbers that macros define, each for all uses at once.

use patchwright_csource::{ExprId, TranslationUnit, lex, types::IntegerKind};
use patchwright_lower::alternatives::{Alternative, Choice};
use patchwright_text::{LineMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    mutation::{Mutation, Mutations, Site},
    pieces::{Piece, Text},
};

/// A number in the code that the definition of a macro writes.
pub(crate) struct Use {
    pub(crate) function: String,
    pub(crate) id: ExprId,
    /// The macro's name, where it stands.
    pub(crate) invocation: Span,
    pub(crate) value: i128,
    pub(crate) kind: IntegerKind,
    /// The number is all that the macro stands for, so that another one can stand in its place.
    pub(crate) replaceable: bool,
}

/// A macro that is defined once, as a number.
struct Define {
    name: String,
    number: Span,
    /// Parentheses stand around the number already.
    parenthesised: bool,
}

/// Adds the definitions of which all that depends on them is known: every use is one of `uses`.
pub(crate) fn add(
    all: &mut Mutations,
    unit: &TranslationUnit,
    source: usize,
    trusted: &[Span],
    uses: &[Use],
    next: &mut u32,
) {
    let lines = LineMap::new(&unit.source);
    let mut named: FxHashMap<String, usize> = FxHashMap::default();
    for word in lex::words(&unit.source) {
        *named.entry(word).or_default() += 1;
    }
    for define in definitions(&unit.source) {
        let uses: Vec<&Use> = uses
            .iter()
            .filter(|one| unit.text(one.invocation) == define.name)
            .collect();
        let Some(first) = uses.first() else {
            continue;
        };
        let places: FxHashSet<u32> = uses.iter().map(|one| one.invocation.start).collect();
        let everywhere = named.get(&define.name) == Some(&(places.len() + 1));
        let alike = uses
            .iter()
            .all(|one| one.kind == first.kind && one.value == first.value);
        let is_trusted = trusted.iter().any(|span| span.overlaps(define.number));
        // With a single use the number is changed there.
        let is_new = places.len() > 1 || !first.replaceable;
        if !is_new || !everywhere || !alike || is_trusted {
            continue;
        }
        let (number, open) = (*next, *next + 1);
        *next += 2;
        let mut mutation = Mutation::new(vec![Piece {
            span: define.number,
            text: Text::Open {
                number: open,
                kind: first.kind,
                parenthesised: !define.parenthesised,
            },
            extent: define.number.len(),
            closing: false,
            cautious: false,
        }]);
        mutation.near = first.value as u64 as i64;
        all.sites.push(Site {
            number,
            source,
            function: first.function.clone(),
            line: lines.line(define.number.start),
            span: define.number,
            mutations: vec![mutation],
        });
        for one in uses {
            let choices = all
                .alternatives
                .shared
                .entry(one.function.clone())
                .or_default();
            choices.insert(
                one.id,
                Choice {
                    number,
                    alternatives: vec![Alternative::Open(open)],
                },
            );
        }
    }
}

/// The macros that a source defines as numbers, as long as nothing else is included behind them.
fn definitions(source: &[u8]) -> Vec<Define> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in source.split_inclusive(|&byte| byte == b'\n') {
        let start = at;
        at += line.len();
        match directive(line) {
            Some(("include", _)) => found.clear(),
            Some(("define", rest)) => found.extend(definition(source, start + rest)),
            _ => {}
        }
    }
    found
}

/// The name of the directive that a line is, and where what belongs to it begins.
fn directive(line: &[u8]) -> Option<(&'static str, usize)> {
    let hash = lex::skip_blank(line, 0);
    (line.get(hash) == Some(&b'#')).then_some(())?;
    let start = lex::skip_blank(line, hash + 1);
    ["include", "define"].into_iter().find_map(|name| {
        let end = start + name.len();
        (line.get(start..end) == Some(name.as_bytes())).then_some((name, end))
    })
}

/// The definition whose name begins behind `at`, if it is a number.
fn definition(source: &[u8], at: usize) -> Option<Define> {
    let start = lex::skip_blank(source, at);
    let end = lex::step(source, start);
    let name = std::str::from_utf8(source.get(start..end)?).ok()?;
    if source.get(end) == Some(&b'(') {
        return None;
    }
    let line_end = source[end..].iter().position(|&byte| byte == b'\n');
    let line_end = line_end.map_or(source.len(), |length| end + length);
    let body = &source[end..line_end];
    let mut at = lex::skip_blank(body, 0);
    let mut open = 0;
    while body.get(at) == Some(&b'(') {
        open += 1;
        at = lex::skip_blank(body, at + 1);
    }
    if !body.get(at)?.is_ascii_digit() {
        return None;
    }
    let after = lex::step(body, at);
    let mut rest = lex::skip_blank(body, after);
    for _ in 0..open {
        (body.get(rest) == Some(&b')')).then_some(())?;
        rest = lex::skip_blank(body, rest + 1);
    }
    (rest == body.len()).then(|| Define {
        name: name.to_owned(),
        number: Span::new((end + at) as u32, (end + after) as u32),
        parenthesised: open > 0,
    })
}
