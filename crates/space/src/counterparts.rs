//! MOVE with other names: what is done to one of two things is done to the other as well, behind it. `while (j < m) c[k++] = b[j++];` behind
//! `while (i < n) c[k++] = a[i++];` where the function says elsewhere that `b`, `j`, `m` are to each other as `a`, `i`, `n` are.
//!
//! Of the statements that people insert, two in five have the form of another one of the function.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{BinaryOperator, ExprKind, Place, StmtId, StmtKind, VarId, lex};
use patchwright_text::Span;

use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::{insertion, insertion_after},
    repetitions::{can_stand, choices, is_last, sources},
    space::Schema,
};

/// A statement whose names are others.
const COUNTERPART_COST: u32 = 3;

/// Longer texts are not compared.
const LONGEST: u32 = 120;

/// Most texts of a function that are compared.
const MOST_TEXTS: usize = 80;

/// Most counterparts of one statement.
const MOST_OF_STATEMENT: usize = 3;

/// Most of one function.
const MOST_OF_FUNCTION: usize = 40;

/// Names, and those that stand in their place elsewhere.
type Names = BTreeMap<String, String>;

/// Adds statements that do to one of two things what is done to the other.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let known = variables(finder);
    let pairs = pairs(finder, &known);
    if pairs.is_empty() {
        return;
    }
    let body = finder.function.span;
    let all = tokens(&finder.text(body)).join(" ");
    let mut count = 0;
    let loops = choices(finder, |kind| {
        matches!(
            kind,
            StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. }
        )
    });
    let statements = sources(finder).into_iter().chain(loops);
    for statement in statements.collect::<Vec<_>>() {
        let standings = finder.statements.iter();
        let mut standings = standings.filter(|standing| standing.span.start == statement.at);
        let Some(own) = standings.next().cloned() else {
            continue;
        };
        let words: BTreeSet<String> = lex::words(statement.text.as_bytes()).into_iter().collect();
        let mut texts: Vec<String> = Vec::new();
        for start in 0..pairs.len() {
            let names = joined(&pairs, start);
            let text = renamed(&statement.text, &names);
            let is_there = all.contains(&tokens(&text).join(" "));
            if words.iter().any(|word| names.contains_key(word))
                && !is_there
                && !texts.contains(&text)
                && texts.len() < MOST_OF_STATEMENT
            {
                texts.push(text);
            }
        }
        for text in texts {
            if count == MOST_OF_FUNCTION {
                finder.found.refuse("MOVE with further other names");
                return;
            }
            let counterpart = statement.with(text, |name| known.get(name).copied().flatten());
            count += usize::from(add(finder, &own, &counterpart));
        }
    }
}

/// Adds a statement behind another one; whether it can stand there.
fn add(
    finder: &mut Finder<'_, '_, '_>,
    own: &Standing,
    counterpart: &crate::repetitions::Source,
) -> bool {
    let next = next(finder, own);
    let place = next.as_ref().unwrap_or(own);
    if !can_stand(finder, counterpart, place) {
        return false;
    }
    let source = &finder.builder.unit.source;
    let text = &counterpart.text;
    let (woven, edit, form) = match &next {
        Some(next) => {
            let is_body = next.is_body;
            let edit = insertion(source, next.span, is_body, text);
            (text.clone(), edit, Form::Before { is_body })
        }
        None if is_last(finder, own) && finder.is_short(own.span, LONGEST) => {
            let edit = insertion_after(source, own.span, own.is_body, text);
            let woven = format!("{} {text}", finder.text(own.span));
            (woven, edit, Form::Instead)
        }
        None => return false,
    };
    let alternative = Alternative {
        schema: Schema::Move,
        cost: COUNTERPART_COST,
        woven,
        edit,
    };
    finder.add(place.span, None, form, vec![alternative]);
    true
}

/// The call, assignment or jump that stands behind a statement in its block.
fn next(finder: &Finder<'_, '_, '_>, own: &Standing) -> Option<Standing> {
    let (block, place) = own.block?;
    let StmtKind::Compound(inner) = &finder.function.stmt(block).kind else {
        return None;
    };
    let next: StmtId = *inner.get(place + 1)?;
    let kind = &finder.function.stmt(next).kind;
    let is_place = kind.is_step() || kind.is_jump() && !matches!(kind, StmtKind::Goto(_));
    let mut standings = finder.statements.iter();
    let standing = standings.find(|standing| standing.id == next)?;
    is_place.then(|| standing.clone())
}

/// The variables that the function mentions, by name; none for a name that several have.
fn variables(finder: &Finder<'_, '_, '_>) -> BTreeMap<String, Option<VarId>> {
    let mut found: BTreeMap<String, Option<VarId>> = BTreeMap::new();
    for id in finder.variables() {
        let name = finder.builder.unit.variable(id).name.clone();
        let known = found.entry(name).or_insert(Some(id));
        if *known != Some(id) {
            *known = None;
        }
    }
    found
}

/// Names that stand in the same places of two texts of the function, where both have the same type.
fn pairs(finder: &mut Finder<'_, '_, '_>, known: &BTreeMap<String, Option<VarId>>) -> Vec<Names> {
    let unit = &mut finder.builder.unit;
    let mut types = BTreeMap::new();
    for (name, id) in known {
        if let Some(id) = id {
            let own = unit.variable(*id).ty;
            types.insert(name.as_str(), unit.types.unqualified(own));
        }
    }
    let finder = &*finder;
    let statements = finder.statements.iter().filter_map(|standing| {
        let kind = &finder.function.stmt(standing.id).kind;
        matches!(kind, StmtKind::Expression(_)).then_some(standing.span)
    });
    let compared = finder.function.exprs.iter().filter_map(|expr| {
        let ExprKind::Binary { operator, .. } = expr.kind else {
            return None;
        };
        match expr.place {
            Place::Written(span) if compares(operator) => Some(span),
            _ => None,
        }
    });
    let spans: Vec<Span> = statements
        .chain(compared)
        .filter(|span| finder.is_short(*span, LONGEST))
        .take(MOST_TEXTS)
        .collect();
    let texts: Vec<Vec<String>> = spans
        .iter()
        .map(|span| tokens(&finder.text(*span)))
        .collect();
    let alike = |one: &str, other: &str| {
        let types = types.get(one).zip(types.get(other));
        types.is_some_and(|(one, other)| one == other)
    };
    let mut found: Vec<Names> = Vec::new();
    for (at, one) in texts.iter().enumerate() {
        for other in &texts[at + 1..] {
            if one.len() != other.len() || one == other {
                continue;
            }
            let mut names = Names::new();
            let fits = one.iter().zip(other).all(|(one, other)| {
                one == other
                    || alike(one, other)
                        && names.entry(one.clone()).or_insert_with(|| other.clone()) == other
            });
            let targets: BTreeSet<&String> = names.values().collect();
            if !fits || targets.len() < names.len() {
                continue;
            }
            let back: Names = names
                .iter()
                .map(|(one, other)| (other.clone(), one.clone()))
                .collect();
            for names in [names, back] {
                if !found.contains(&names) {
                    found.push(names);
                }
            }
        }
    }
    found
}

/// The names of one pair of texts, with those of others that agree with it and share a name.
fn joined(pairs: &[Names], start: usize) -> Names {
    let mut names = pairs[start].clone();
    loop {
        let size = names.len();
        for other in pairs {
            let shares = other.keys().any(|name| names.contains_key(name));
            let agrees = other.iter().all(|(from, to)| match names.get(from) {
                Some(known) => known == to,
                None => !names.values().any(|known| known == to) && !names.contains_key(to),
            });
            if shares && agrees {
                names.extend(other.clone());
            }
        }
        if names.len() == size {
            return names;
        }
    }
}

/// A text with other names; members of the same name stay.
fn renamed(text: &str, names: &Names) -> String {
    let mut renamed = String::new();
    let mut rest = 0;
    let bytes = text.as_bytes();
    for (word, at) in lex::words_with_places(bytes) {
        let is_member = is_member_at(text, at);
        if let Some(other) = names.get(&word).filter(|_| !is_member) {
            renamed.push_str(&text[rest..at]);
            renamed.push_str(other);
            rest = at + word.len();
        }
    }
    renamed.push_str(&text[rest..]);
    renamed
}

fn compares(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(operator, Lt | Le | Gt | Ge | Eq | Ne)
}

/// The words and signs of a text.
fn tokens(text: &str) -> Vec<String> {
    let tokens = lex::tokens(text).into_iter();
    tokens.map(|(token, _)| token.to_owned()).collect()
}

/// Whether what begins at `at` is the name of a member.
fn is_member_at(text: &str, at: usize) -> bool {
    let before = lex::tokens(&text[..at]);
    matches!(before.last(), Some((".", _) | ("->", _)))
}
