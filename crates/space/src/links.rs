//! GUARD by one more case: `else if (strcmp(a, "-v") == 0) invert = 1;` behind `else if (strcmp(a, "-i") == 0) fold = 1;`, `case '*': r = a * b; break;` behind
//! `case '-': r = a - b; break;`.
//!
//! Similar cases show the form of one more: their conditions differ in one word, and so do their bodies. The word in the new condition comes
//! from the tests.

use patchwright_csource::{
    ExprKind, Place, StmtId, StmtKind,
    lex::{self, Kind},
    types::TypeId,
};
use patchwright_text::{Edit, Span};

use crate::constants::character;
use crate::endings::goes_on;
use crate::{
    choices::{Alternative, Finder, Form, Standing},
    else_joined::is_repeatable,
    moves::has_directive,
    operators::within,
    space::Schema,
};

/// What is asked for, and what is done.
const CASE_COST: u32 = 3;

/// One of them says the other: `a % b` for `'%'`.
const SAID_COST: u32 = 2;

/// Longer texts are not repeated.
const LONGEST: u32 = 2400;

/// Most cases at one place.
const MOST_AT: usize = 60;

/// Most places in one function.
const MOST_PLACES: usize = 8;

/// Most words that are tried in the place of one.
const MOST_WORDS: usize = 10;

/// A case.
#[derive(Clone, Copy)]
struct Case {
    /// Its text.
    span: Span,
    /// What it does begins there.
    body: u32,
}

/// Adds one more case to chains of `else if` and to `switch`.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let mut places = 0;
    let mut links: Vec<StmtId> = Vec::new();
    for standing in finder.statements.clone() {
        let rows = match finder.function.stmt(standing.id).kind.clone() {
            StmtKind::If { .. } if !links.contains(&standing.id) => {
                vec![(standing.span, chain(finder, standing.id, &mut links))]
            }
            StmtKind::Compound(inner) => in_a_row(finder, &inner),
            StmtKind::Switch { body, .. } => vec![(standing.span, sections(finder, body))],
            _ => continue,
        };
        for (whole, cases) in rows {
            if !finder.is_short(whole, LONGEST) || !is_repeatable(finder.function, whole) {
                continue;
            }
            let alternatives = one_more(finder, &standing, whole, &cases);
            if alternatives.is_empty() {
                continue;
            }
            if places == MOST_PLACES {
                finder
                    .found
                    .refuse("GUARD by one more case in further places");
                return;
            }
            places += 1;
            finder.add(whole, None, Form::Instead, alternatives);
        }
    }
}

fn written(place: Place) -> Option<Span> {
    match place {
        Place::Written(span) => Some(span),
        _ => None,
    }
}

/// An `if` without what its `else` does.
fn case(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<Case> {
    let function = finder.function;
    let StmtKind::If { then, .. } = function.stmt(id).kind else {
        return None;
    };
    // An `else` behind it would belong to what is nearer.
    if !matches!(
        function.stmt(then).kind,
        StmtKind::Expression(_) | StmtKind::Return(_) | StmtKind::Compound(_)
    ) {
        return None;
    }
    let (whole, body) = (
        written(function.stmt(id).place)?,
        written(function.stmt(then).place)?,
    );
    let span = Span::new(whole.start, body.end);
    (whole.start < body.start).then_some(Case {
        span,
        body: body.start,
    })
}

/// The cases of `if … else if …`.
fn chain(finder: &Finder<'_, '_, '_>, head: StmtId, links: &mut Vec<StmtId>) -> Vec<Case> {
    let mut found = Vec::new();
    let mut at = Some(head);
    while let Some(id) = at {
        let Some(case) = case(finder, id) else { break };
        links.push(id);
        found.push(case);
        at = match finder.function.stmt(id).kind {
            StmtKind::If { otherwise, .. } => otherwise,
            _ => None,
        };
    }
    found
}

/// Cases side by side that are left at their ends, each with the text of the last one.
fn in_a_row(finder: &Finder<'_, '_, '_>, inner: &[StmtId]) -> Vec<(Span, Vec<Case>)> {
    let function = finder.function;
    let leaves = |id: &StmtId| match function.stmt(*id).kind {
        StmtKind::If {
            then,
            otherwise: None,
            ..
        } if !goes_on(function, then) => case(finder, *id),
        _ => None,
    };
    let mut rows: Vec<Vec<Case>> = vec![Vec::new()];
    for id in inner {
        match (leaves(id), rows.last_mut()) {
            (Some(case), Some(row)) => row.push(case),
            _ => rows.push(Vec::new()),
        }
    }
    let rows = rows.into_iter().filter(|row| row.len() > 1);
    rows.filter_map(|row| Some((row.last()?.span, row)))
        .collect()
}

/// The sections of a `switch` that have one label and are left at their ends.
fn sections(finder: &Finder<'_, '_, '_>, body: StmtId) -> Vec<Case> {
    let function = finder.function;
    let StmtKind::Compound(inner) = &function.stmt(body).kind else {
        return Vec::new();
    };
    let is_label = |id: &StmtId| {
        let kind = &function.stmt(*id).kind;
        matches!(kind, StmtKind::Case(_) | StmtKind::Default(_))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < inner.len() {
        let further = inner[at + 1..].iter().take_while(|id| !is_label(id));
        let end = at + 1 + further.count();
        if let StmtKind::Case(first) = function.stmt(inner[at]).kind
            && !is_label(&first)
            && !goes_on(function, last_of(finder, inner[end - 1]))
            && let (Some(start), Some(body), Some(last)) = (
                written(function.stmt(inner[at]).place),
                written(function.stmt(first).place),
                written(function.stmt(inner[end - 1]).place),
            )
        {
            found.push(Case {
                span: Span::new(start.start, last.end),
                body: body.start,
            });
        }
        at = end;
    }
    found
}

/// A statement without its labels.
fn last_of(finder: &Finder<'_, '_, '_>, id: StmtId) -> StmtId {
    match finder.function.stmt(id).kind {
        StmtKind::Case(inner) | StmtKind::Default(inner) => last_of(finder, inner),
        _ => id,
    }
}

/// A word or a sign, and where it begins.
type Token = (String, u32);

fn tokens(finder: &Finder<'_, '_, '_>, span: Span) -> Vec<Token> {
    let text = finder.text(span);
    let tokens = lex::tokens(&text).into_iter();
    tokens
        .map(|(token, at)| (token.to_owned(), span.start + at as u32))
        .collect()
}

/// In what two cases differ: the word that they ask for, and one in what they do.
fn differences(one: &[Token], other: &[Token], body: u32) -> Option<(String, String)> {
    if one.len() != other.len() {
        return None;
    }
    let (mut asked, mut done) = (None, None);
    for ((old, _), (new, at)) in one.iter().zip(other) {
        if old == new {
            continue;
        }
        let known = if *at < body { &mut asked } else { &mut done };
        match known {
            None => *known = Some((old, new)),
            Some(pair) if *pair == (old, new) => {}
            Some(_) => return None,
        }
    }
    Some((asked?.1.clone(), done?.1.clone()))
}

fn one_more(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    whole: Span,
    cases: &[Case],
) -> Vec<Alternative> {
    let texts: Vec<Vec<Token>> = cases.iter().map(|case| tokens(finder, case.span)).collect();
    // The last two that are alike.
    let pairs = (1..cases.len()).rev();
    let found = pairs.into_iter().find_map(|at| {
        let words = differences(&texts[at - 1], &texts[at], cases[at].body)?;
        Some((at, words))
    });
    let Some((at, (asked, done))) = found else {
        return Vec::new();
    };
    let (before, last) = (cases[at - 1], cases[at]);
    // With what stands between them: `else`, and how it is laid out. Comments are about the other cases.
    if before.span.end > last.span.start {
        return Vec::new();
    }
    let gap = Span::new(before.span.end, last.span.start);
    if has_directive(finder.text(gap).as_bytes())
        || has_directive(finder.text(last.span).as_bytes())
    {
        return Vec::new();
    }
    let gap = lex::without_comments(&finder.text(gap));
    let in_row: Vec<&String> = texts.iter().flatten().map(|(token, _)| token).collect();
    let asked_before = texts[..at].iter().rev();
    let previous: Vec<&Token> = asked_before
        .take(1)
        .flatten()
        .filter(|(token, _)| !texts[at].iter().any(|(own, _)| own == token))
        .collect();
    let previous = |wanted: &str| {
        let kind = kind(wanted);
        let mut alike = previous
            .iter()
            .filter(|(token, _)| self::kind(token) == kind);
        alike.next().map(|(token, _)| token.clone())
    };
    let is_new = |word: &String| !in_row.contains(&word);
    let asked_for = others(finder, standing, &asked, previous(&asked), false);
    let asked_for: Vec<String> = asked_for.into_iter().filter(is_new).collect();
    let to_do = others(finder, standing, &done, previous(&done), true);
    let to_do: Vec<String> = to_do.into_iter().filter(is_new).collect();
    let mut found: Vec<(u32, Alternative)> = Vec::new();
    for key in asked_for.iter().take(MOST_WORDS) {
        for word in to_do.iter().take(MOST_WORDS) {
            let mut text = gap.clone();
            let mut from = last.span.start;
            for (token, at) in &texts[at] {
                let other = match *at < last.body {
                    true if *token == asked => key,
                    false if *token == done => word,
                    _ => continue,
                };
                text.push_str(&lex::without_comments(&finder.text(Span::new(from, *at))));
                text.push_str(other);
                from = at + token.len() as u32;
            }
            text.push_str(&lex::without_comments(
                &finder.text(Span::new(from, last.span.end)),
            ));
            let edit = Edit::insert(last.span.end, text);
            let bare = |text: &str| text.trim_matches(['"', '\'', '-']).to_ascii_lowercase();
            let is_said = !bare(key).is_empty() && bare(key) == bare(word);
            let cost = if is_said { SAID_COST } else { CASE_COST };
            found.push((
                cost,
                Alternative {
                    schema: Schema::Guard,
                    cost,
                    woven: within(finder, whole, &edit),
                    edit,
                },
            ));
        }
    }
    found.sort_by_key(|(cost, _)| *cost);
    if found.len() > MOST_AT {
        finder.found.refuse("GUARD by further cases");
        found.truncate(MOST_AT);
    }
    found.into_iter().map(|(_, found)| found).collect()
}

fn kind(token: &str) -> Kind {
    let mut tokens = lex::Tokens::new(token.as_bytes());
    tokens.next().map_or(Kind::Other, |token| token.kind)
}

const CALCULATING: [&str; 5] = ["+", "-", "*", "/", "%"];

/// What may stand in the place of a word: `previous` is what stands there in the case before.
fn others(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    word: &str,
    previous: Option<String>,
    is_done: bool,
) -> Vec<String> {
    match kind(word) {
        Kind::String => texts(finder, word),
        Kind::Character => {
            let own = word.as_bytes().get(1).copied().unwrap_or_default();
            let class = |byte: u8| {
                (
                    byte.is_ascii_alphabetic(),
                    byte.is_ascii_digit(),
                    byte.is_ascii_whitespace(),
                )
            };
            let shown = finder.shown.characters.iter();
            let alike = shown.filter(|byte| class(**byte) == class(own));
            alike.map(|byte| character(*byte)).collect()
        }
        Kind::Number => {
            let mut found: Vec<i64> = Vec::new();
            let value = |text: &str| text.parse::<i64>().ok();
            if let Some(own) = value(word) {
                let previous = previous.and_then(|previous| value(&previous));
                found.extend(previous.map(|previous| own.saturating_add(own - previous)));
            }
            found.extend(&finder.shown.integers);
            let found = found.into_iter().filter(|value| *value >= 0);
            found.map(|value| value.to_string()).collect()
        }
        Kind::Word => names(finder, standing, word, is_done),
        Kind::Sign if is_done && CALCULATING.contains(&word) => {
            CALCULATING.iter().map(|sign| (*sign).to_owned()).collect()
        }
        Kind::Sign | Kind::Other => Vec::new(),
    }
}

/// The words that tests show, and the lines that they expect, which begin with something of the same kind.
fn texts(finder: &Finder<'_, '_, '_>, word: &str) -> Vec<String> {
    let inner = word.trim_matches('"');
    let end = if inner.ends_with("\\n") { "\\n" } else { "" };
    let class = |text: &str| {
        let first = text.chars().next();
        first.map(|first| (first.is_ascii_alphabetic(), first.is_ascii_digit()))
    };
    let lines = finder.shown.lines.iter();
    let lines = lines.filter(|line| line.trim().len() > 1);
    let shown = finder.shown.words.iter().chain(lines);
    let alike = shown.filter(|text| {
        class(text) == class(inner) && !text.contains(['"', '\\', '%']) && text.is_ascii()
    });
    alike.map(|text| format!("\"{text}{end}\"")).collect()
}

/// Variables and functions of the same type, and constants of the same enumeration.
fn names(
    finder: &mut Finder<'_, '_, '_>,
    standing: &Standing,
    word: &str,
    is_done: bool,
) -> Vec<String> {
    for names in &finder.builder.unit.enumerations {
        if names.iter().any(|(name, _)| name == word) {
            return names.iter().map(|(name, _)| name.clone()).collect();
        }
    }
    if !is_done {
        return Vec::new();
    }
    let mut variables = finder.variables();
    let own = variables.find(|id| finder.builder.unit.variable(*id).name == word);
    drop(variables);
    if let Some(own) = own {
        let ty = finder.builder.unit.variable(own).ty;
        return crate::targets::variables(finder, standing, own, |_, other: TypeId| other == ty);
    }
    let Some(old) = finder.builder.unit.declarations.get(word).cloned() else {
        return Vec::new();
    };
    let is_called = |name: &str| {
        let mut exprs = finder.function.exprs.iter();
        exprs.any(|expr| matches!(&expr.kind, ExprKind::Function(other) if other == name))
    };
    let alike = finder.builder.unit.declarations.values().filter(|new| {
        !new.in_system_header
            && new.prototyped
            && new.parameters == old.parameters
            && new.result == old.result
            && new.name != finder.function.name
            && finder.can_name(&new.name)
            && !is_called(&new.name)
    });
    alike.map(|new| new.name.clone()).collect()
}
