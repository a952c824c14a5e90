//! The labels of a `switch`: one more beside others (`case 'y':` before what is done for `'u'`), another one, one less.
//!
//! Woven in as another value of what the `switch` looks at: it goes to the other label then, and nothing of its body is repeated.

use patchwright_csource::{ExprId, ExprKind, Function, Place, StmtId, StmtKind, lex};
use patchwright_text::{Edit, Span};

use crate::constants::character;
use crate::endings::goes_on;
use crate::{
    choices::{Alternative, Finder, Form},
    insertion::newline,
    renames::value_type,
    space::Schema,
};

/// Another number where one stands.
const CHANGED_COST: u32 = 3;

/// A label, and its number.
const ADDED_COST: u32 = 2;

/// A label that is taken out.
const REMOVED_COST: u32 = 2;

/// What a number costs more that only tests show, or that is only one of those between others.
const SHOWN_COST: u32 = 1;

/// Of labels that are further apart, not all numbers in between are tried.
const LONGEST_ROW: i128 = 32;

/// Most numbers that are tried as labels of a `switch`.
const MOST_NUMBERS: usize = 60;

/// Most numbers that are tried in the place of one.
const MOST_CHANGES: usize = 4;

/// Most labels that are added to a `switch`.
const MOST_ADDED: usize = 160;

/// Most sections of a `switch` that get further labels.
const MOST_SECTIONS: usize = 12;

/// A longer text is not repeated.
const LONGEST: u32 = 200;

/// What is done for some labels.
struct Section {
    labels: Vec<Label>,
    /// One of its labels is `default`.
    has_default: bool,
    /// What is done, without blanks.
    body: String,
    /// The next section follows.
    goes_on: bool,
}

/// A label with a number, or with several.
#[derive(Clone)]
struct Label {
    /// `case` and its number and `:`; `None` if that is not plain text.
    span: Option<Span>,
    /// Where the number is written.
    number: Option<Span>,
    /// Its text.
    text: String,
    /// The first number and the last one.
    values: (i128, i128),
    is_character: bool,
    is_enumerator: bool,
}

impl Label {
    /// The number that leads to it.
    fn value(&self) -> i128 {
        self.values.0
    }
}

/// A number that can be a label.
#[derive(Clone)]
struct Number {
    text: String,
    value: i128,
    extra: u32,
}

/// Adds, changes and takes away labels of a `switch`.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Switch { condition, body } = finder.function.stmt(standing.id).kind else {
            continue;
        };
        let bare = finder.function.stripped(condition);
        let Place::Written(span) = finder.function.expr(bare).place else {
            continue;
        };
        if !finder.is_short(span, LONGEST) || finder.has_statements(bare) {
            continue;
        }
        let Some(ctype) = value_type(finder, bare) else {
            continue;
        };
        let Some(sections) = sections(finder, body) else {
            finder
                .found
                .refuse("labels of a `switch` that stand further in, or are large");
            continue;
        };
        let alternatives = alternatives(finder, bare, span, &sections);
        finder.add(span, Some(ctype), Form::Expression, alternatives);
    }
}

fn alternatives(
    finder: &mut Finder<'_, '_, '_>,
    condition: ExprId,
    span: Span,
    sections: &[Section],
) -> Vec<Alternative> {
    let numbers = numbers(finder, sections);
    let own = finder.text(span);
    // What has effects is evaluated once.
    let (start, value, end) = match finder.function.has_effects(condition) {
        false => (String::new(), format!("({own})"), String::new()),
        true => (
            format!("__extension__({{__typeof__(+({own})) __pw_switched=({own});"),
            "__pw_switched".to_owned(),
            ";})".to_owned(),
        ),
    };
    let nowhere = nowhere(sections);
    let source = &finder.builder.unit.source;
    let mut found = Vec::new();
    let mut sections_seen = 0;
    for (place, section) in sections.iter().enumerate() {
        for label in &section.labels {
            let (Some(span), Some(own)) = (label.span, label.number) else {
                continue;
            };
            let old = label.value();
            for number in nearest(&numbers, old) {
                let text = &number.text;
                found.push(Alternative {
                    schema: Schema::Expression,
                    cost: CHANGED_COST + number.extra,
                    woven: format!(
                        "({start}{value}==({text})?({old}):{value}==({old})?{nowhere}:{value}{end})"
                    ),
                    edit: Edit::replace(own, text.as_str()),
                });
            }
            if section.labels.len() > 1 && !section.has_default {
                found.push(Alternative {
                    schema: Schema::Expression,
                    cost: REMOVED_COST,
                    woven: format!("({start}{value}==({old})?{nowhere}:{value}{end})"),
                    edit: Edit::replace(blank_behind(source, span), ""),
                });
            }
        }
        // Where the same is done for others, a label is put beside the last of them.
        let is_repeated = sections[place + 1..].iter().any(|other| {
            !section.goes_on && !other.goes_on && !other.has_default && other.body == section.body
        });
        let beside = section.labels.last();
        let Some((label, span)) = beside.and_then(|label| Some((label, label.span?))) else {
            continue;
        };
        if section.has_default || is_repeated {
            continue;
        }
        if sections_seen == MOST_SECTIONS {
            finder
                .found
                .refuse("labels of further sections of a `switch`");
            break;
        }
        sections_seen += 1;
        let room = MOST_ADDED / sections.len().min(MOST_SECTIONS);
        for number in numbers.iter().take(room) {
            let text = &number.text;
            found.push(Alternative {
                schema: Schema::Refinement,
                cost: ADDED_COST + number.extra,
                woven: format!(
                    "({start}{value}==({text})?({}):{value}{end})",
                    label.value()
                ),
                edit: added(source, span, text),
            });
        }
    }
    found
}

/// The numbers that are most like one: the other letter, then those beside it.
fn nearest(numbers: &[Number], own: i128) -> Vec<Number> {
    let mut found = numbers.to_vec();
    found.sort_by_key(|number| ((number.value - own).abs() != 32, number.value.abs_diff(own)));
    found.truncate(MOST_CHANGES);
    found
}

/// The number of a label that the `switch` does not have, for what goes to none of them.
fn nowhere(sections: &[Section]) -> i128 {
    // Small enough for every type that a `switch` may look at.
    (100..)
        .find(|value| !is_used(sections, *value))
        .unwrap_or(100)
}

fn is_used(sections: &[Section], value: i128) -> bool {
    let mut labels = sections.iter().flat_map(|section| &section.labels);
    labels.any(|label| (label.values.0..=label.values.1).contains(&value))
}

/// A label on a line of its own behind another one that has one, else beside it.
fn added(source: &[u8], label: Span, number: &str) -> Edit {
    let (start, end) = (label.start as usize, label.end as usize);
    let line = source[..start].iter().rposition(|&byte| byte == b'\n');
    let indentation = &source[line.map_or(0, |at| at + 1)..start];
    let behind = source[end..].iter().take_while(|&&byte| byte != b'\n');
    let is_alone = indentation.iter().all(|byte| b" \t".contains(byte))
        && behind.into_iter().all(|byte| b" \t\r".contains(byte));
    let gap = match is_alone {
        true => {
            let own = String::from_utf8_lossy(indentation);
            format!("{}{own}", newline(source, start))
        }
        false => " ".to_owned(),
    };
    Edit::insert(label.end, format!("{gap}case {number}:"))
}

/// A text with the blanks behind it.
fn blank_behind(source: &[u8], span: Span) -> Span {
    let behind = source[span.end as usize..].iter();
    let blanks = behind.take_while(|byte| byte.is_ascii_whitespace()).count();
    Span::new(span.start, span.end + blanks as u32)
}

/// What a `switch` does for which labels; `None` if some labels are not plain.
fn sections(finder: &Finder<'_, '_, '_>, body: StmtId) -> Option<Vec<Section>> {
    let function = finder.function;
    let StmtKind::Compound(inner) = &function.stmt(body).kind else {
        return None;
    };
    let mut found: Vec<Section> = Vec::new();
    for &id in inner {
        let mut at = id;
        let mut section = Section {
            labels: Vec::new(),
            has_default: false,
            body: String::new(),
            goes_on: true,
        };
        let mut is_labelled = false;
        loop {
            match function.stmt(at).kind {
                StmtKind::Case(inner) => {
                    section.labels.push(label(finder, at, inner)?);
                    at = inner;
                }
                StmtKind::Default(inner) => {
                    section.has_default = true;
                    at = inner;
                }
                _ => break,
            }
            is_labelled = true;
        }
        if is_labelled {
            found.push(section);
        }
        let Some(current) = found.last_mut() else {
            continue;
        };
        let text = match function.stmt(at).place {
            Place::Written(span) => finder.text(span),
            // The body of a macro is like no other one.
            _ => format!("#{}", at.0),
        };
        current
            .body
            .extend(lex::tokens(&text).iter().map(|(token, _)| *token));
        current.goes_on = goes_on(function, at);
        // Labels further in may be any.
        if has_labels(function, at) {
            return None;
        }
    }
    Some(found)
}

/// Whether labels of the same `switch` stand in a statement.
fn has_labels(function: &Function, id: StmtId) -> bool {
    match &function.stmt(id).kind {
        StmtKind::Case(_) | StmtKind::Default(_) => true,
        StmtKind::Switch { .. } => false,
        kind => kind.inner().into_iter().any(|id| has_labels(function, id)),
    }
}

/// A label; `None` if its number is large.
fn label(finder: &Finder<'_, '_, '_>, id: StmtId, inner: StmtId) -> Option<Label> {
    let function = finder.function;
    let (first, last) = *function.details.cases.get(&id)?;
    let number = |id: ExprId| {
        let expr = function.expr(constant(function, id));
        match &expr.kind {
            ExprKind::Integer { value, .. } => {
                Some((expr, i128::from(i32::try_from(*value).ok()?)))
            }
            _ => None,
        }
    };
    let (expr, value) = number(first)?;
    let end = match last {
        Some(last) => number(last)?.1,
        None => value,
    };
    let at = expr.place.editable().filter(|_| last.is_none());
    let mut span = None;
    if let (Some(at), Place::Written(whole), Place::Written(body)) =
        (at, function.stmt(id).place, function.stmt(inner).place)
    {
        // What stands between them is a colon.
        let between = finder.text(Span::new(at.end, body.start));
        let colon = lex::tokens(&between)
            .into_iter()
            .find(|(token, _)| *token == ":");
        span = colon.map(|(_, colon)| Span::new(whole.start, at.end + colon as u32 + 1));
    }
    let (is_character, is_enumerator) = match &expr.kind {
        ExprKind::Integer {
            character,
            enumerator,
            ..
        } => (*character, enumerator.is_some()),
        _ => (false, false),
    };
    Some(Label {
        span,
        number: at,
        text: at.map_or_else(String::new, |at| finder.text(at)),
        values: (value, end),
        is_character,
        is_enumerator,
    })
}

/// What a label consists of, without what the compiler puts round it.
fn constant(function: &Function, label: ExprId) -> ExprId {
    let label = function.stripped(label);
    match (&function.expr(label).kind, &function.children(label)[..]) {
        (ExprKind::Other { .. }, &[only]) => constant(function, only),
        _ => label,
    }
}

/// The numbers that may be further labels: other names of the same enumeration, those beside the labels and between them, the other letter, and
/// what tests show.
fn numbers(finder: &Finder<'_, '_, '_>, sections: &[Section]) -> Vec<Number> {
    let labels = sections.iter().flat_map(|section| &section.labels);
    let labels: Vec<&Label> = labels.collect();
    let mut found: Vec<Number> = Vec::new();
    let mut add = |text: String, value: i128, extra: u32| {
        let is_known = is_used(sections, value) || found.iter().any(|known| known.value == value);
        if !is_known && found.len() < MOST_NUMBERS {
            found.push(Number { text, value, extra });
        }
    };
    for names in &finder.builder.unit.enumerations {
        let mut named = labels.iter().filter(|label| label.is_enumerator);
        if named.any(|label| names.iter().any(|(name, _)| *name == label.text)) {
            for (name, value) in names {
                add(name.clone(), *value, 0);
            }
        }
    }
    let is_number = |label: &&&Label| label.text.parse::<i128>() == Ok(label.value());
    let plain: Vec<&&Label> = labels.iter().filter(is_number).collect();
    for label in &plain {
        for value in [label.value() + 1, label.value() - 1] {
            if value >= 0 || label.value() < 0 {
                add(value.to_string(), value, 0);
            }
        }
    }
    // One of a row that was forgotten: 9 beside 4, 6 and 11.
    let values = || plain.iter().map(|label| label.value());
    if let (Some(least), Some(most)) = (values().min(), values().max())
        && most - least <= LONGEST_ROW
    {
        for value in least..most {
            add(value.to_string(), value, SHOWN_COST);
        }
    }
    let characters: Vec<&&Label> = labels.iter().filter(|label| label.is_character).collect();
    for label in &characters {
        // The same letter, large or small, then those beside.
        let own = u8::try_from(label.value()).unwrap_or_default();
        let other_case = own ^ 0x20;
        if own.is_ascii_alphabetic() {
            add(character(other_case), i128::from(other_case), 0);
        }
    }
    if !characters.is_empty() {
        for &byte in &finder.shown.characters {
            add(character(byte), i128::from(byte), SHOWN_COST);
        }
    }
    for label in &characters {
        let own = u8::try_from(label.value()).unwrap_or_default();
        for other in [own.wrapping_add(1), own.wrapping_sub(1)] {
            if other.is_ascii_graphic() {
                add(character(other), i128::from(other), SHOWN_COST);
            }
        }
    }
    if !plain.is_empty() {
        for &value in &finder.shown.integers {
            if i32::try_from(value).is_ok() {
                add(value.to_string(), i128::from(value), SHOWN_COST);
            }
        }
    }
    found
}
