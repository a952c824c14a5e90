//! Lists changes of declarations: other types of numbers, larger arrays, other numbers where the program
//! begins.

use std::collections::BTreeSet;

use patchwright_csource::{
    ExprKind, Function, Storage, TranslationUnit, VarId, lex, types::TypeKind,
};
use patchwright_text::{Edit, Span};

use super::{
    evidence::{Evidence, of_type},
    follow::{Changed, formats, merged, returned},
    tables::elements,
};

/// A change of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// How unlikely it is, from 0.
    pub(crate) rank: u32,
    /// The edit of the source.
    pub(crate) edit: Edit,
    /// It stands in the body of the function.
    pub(crate) is_local: bool,
    /// What would speak for it.
    pub(crate) evidence: Option<Evidence>,
}

/// The types that are tried in the place of one, with the words that name it, in their usual order. The ones that people mix up
/// most come first: a number that is too large for its type, a fraction that is lost, what `getchar` returns.
const OTHER_TYPES: [(&str, &[&str]); 14] = [
    ("int", &["long long", "double", "unsigned"]),
    ("signed int", &["long long", "unsigned"]),
    ("unsigned", &["int", "unsigned long long"]),
    ("unsigned int", &["int", "unsigned long long"]),
    ("size_t", &["long"]),
    ("unsigned long", &["long"]),
    ("unsigned long long", &["long long"]),
    ("long", &["unsigned long", "double"]),
    ("long long", &["unsigned long long", "double"]),
    ("float", &["double"]),
    ("char", &["int", "unsigned char"]),
    ("signed char", &["int"]),
    ("unsigned char", &["int"]),
    ("short", &["int", "long long"]),
];

/// Words that may stand round those of the type.
const SPECIFIERS: [&str; 7] = [
    "static", "const", "register", "volatile", "extern", "inline", "auto",
];

/// How much less likely another type of an array's elements is: it makes the array larger as well, which is not what is wrong with it.
const TYPES_OF_ELEMENTS: u32 = 3;

/// How much later types are tried beside these sizes.
fn behind(sizes: &[Change]) -> u32 {
    match sizes {
        [] => 0,
        _ => TYPES_OF_ELEMENTS,
    }
}

/// Larger sizes that are tried for one.
fn larger(size: &str) -> [String; 3] {
    match size.parse::<u64>() {
        Ok(number) => [
            number.saturating_add(1),
            number.saturating_mul(2),
            number.saturating_mul(10),
        ]
        .map(|number| number.to_string()),
        Err(_) => [
            format!("{size} + 1"),
            format!("2 * ({size})"),
            format!("10 * ({size})"),
        ],
    }
}

/// Returns the changes of a function's declarations, and of the globals, members and macros that it mentions. The text of the function
/// itself may not come from a macro.
pub(crate) fn changes(unit: &TranslationUnit, function: &Function) -> Vec<Change> {
    let source = &masked(&unit.source);
    let mut types = unit.types.clone();
    let mut found = Vec::new();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let returned = returned(function);
    let returns = return_places(unit, source, function);
    let is_local = |edit: &Edit| -> bool { function.body_span.contains_span(edit.span) };
    let mut add_types = |found: &mut Vec<Change>, places: &[TypeText], changed: &Changed, later| {
        let Some(words) = places.first().map(|place| place.words.clone()) else {
            return;
        };
        for (rank, other) in other_types(&words).iter().enumerate() {
            let of_types = places.iter().map(|place| Edit::replace(place.span, *other));
            let mut edits: Vec<Edit> = of_types.collect();
            edits.extend(formats(unit, &mut types, changed, other));
            found.extend(merged(&unit.source, edits).map(|edit| Change {
                rank: later + rank as u32,
                is_local: is_local(&edit),
                evidence: of_type(&words, other),
                edit,
            }));
        }
    };
    for id in mentioned(unit, function) {
        let variable = unit.variable(id);
        let Some(at) = variable
            .declared_at
            .filter(|&at| !variable.in_system_header && (at as usize) < source.len())
        else {
            continue;
        };
        let is_local = function.body_span.contains_span(Span::new(at, at + 1));
        let sizes = match unit.types.kind(variable.ty) {
            TypeKind::Array(..) => sizes(source, at, is_local),
            _ => Vec::new(),
        };
        let later = behind(&sizes);
        if let Some(place) = type_before(source, at)
            && seen.insert(place.span.start)
        {
            let mut changed = Changed {
                variables: declared_from(unit, source, &place),
                ..Changed::default()
            };
            let is_whole = returned.contains(&id)
                && returns
                    .first()
                    .is_some_and(|first| first.words == place.words);
            let mut places = vec![place];
            add_types(&mut found, &places, &changed, later);
            // A value that grows too large is returned as well.
            if is_whole {
                places.extend(returns.iter().cloned());
                changed.functions.insert(function.name.clone());
                add_types(&mut found, &places, &changed, later);
            }
        }
        found.extend(sizes);
        if !matches!(variable.storage, Storage::Local | Storage::Parameter) {
            found.extend(beginning(source, at, is_local));
            found.extend(elements(unit, source, at, is_local));
        }
    }
    let bodies: Vec<Span> = unit.functions.iter().map(|other| other.body_span).collect();
    for (name, at) in members(source, &bodies, function) {
        let sizes = sizes(source, at, false);
        let later = behind(&sizes);
        if let Some(place) = type_before(source, at)
            && seen.insert(place.span.start)
        {
            let changed = Changed {
                members: BTreeSet::from([name]),
                ..Changed::default()
            };
            add_types(&mut found, &[place], &changed, later);
        }
        found.extend(sizes);
    }
    if !returns.is_empty() {
        let changed = Changed {
            functions: BTreeSet::from([function.name.clone()]),
            ..Changed::default()
        };
        add_types(&mut found, &returns, &changed, 0);
    }
    found
}

/// The larger sizes of the arrays among the members that a function names, in a text beside the function's own: a header.
pub(crate) fn sizes_of_members(text: &[u8], function: &Function) -> Vec<Change> {
    let masked = masked(text);
    let places = members(&masked, &[], function).into_iter();
    places
        .flat_map(|(_, at)| sizes(&masked, at, false))
        .collect()
}

/// All variables whose declaration begins with these words: of `int a, b;` both.
fn declared_from(unit: &TranslationUnit, source: &[u8], place: &TypeText) -> BTreeSet<VarId> {
    let numbered = unit.variables.iter().enumerate();
    let found = numbered.filter(|(_, variable)| {
        variable.declared_at.is_some_and(|at| {
            // Some stand in no place of this file.
            (place.span.end..source.len() as u32).contains(&at) && {
                let between = &source[place.span.end as usize..at as usize];
                let mut depth = 0_i32;
                // Neither its end nor that of the parameter lies between, nor the next one of those.
                between.iter().all(|byte| {
                    depth += i32::from(b"([{".contains(byte)) - i32::from(b")]}".contains(byte));
                    depth >= 0 && *byte != b';'
                }) && (!between.contains(&b',') || type_before(source, at).is_none())
            }
        })
    });
    found.map(|(number, _)| VarId(number as u32)).collect()
}

/// The members that a function names, each with the places where structures declare one of this name.
fn members(source: &[u8], bodies: &[Span], function: &Function) -> Vec<(String, u32)> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for expr in &function.exprs {
        if let ExprKind::Member { name, .. } = &expr.kind {
            names.insert(name);
        }
    }
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < source.len() {
        if let Some(body) = bodies.iter().find(|body| body.range().contains(&at)) {
            at = body.end as usize;
            continue;
        }
        let end = lex::step(source, at);
        match source[at] {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {
                let word = std::str::from_utf8(&source[at..end]).unwrap_or_default();
                if depth > 0 && names.contains(word) {
                    found.push((word.to_owned(), at as u32));
                }
            }
        }
        at = end;
    }
    found
}

/// The variables that a function declares or names.
fn mentioned(unit: &TranslationUnit, function: &Function) -> Vec<VarId> {
    let mut found: Vec<VarId> = function.locals.clone();
    for expr in &function.exprs {
        if let ExprKind::Variable(id) = expr.kind
            && unit.variable(id).storage == Storage::Global
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
    found
}

/// The words of a type of numbers.
#[derive(Clone)]
struct TypeText {
    span: Span,
    words: String,
}

/// A source whose comments are blank, whose literals are quotes, and whose directives are a semicolon and blanks: what is in them
/// declares nothing.
fn masked(source: &[u8]) -> Vec<u8> {
    let blank = |byte: &u8| {
        if byte.is_ascii_whitespace() {
            *byte
        } else {
            b' '
        }
    };
    let mut text: Vec<u8> = source.iter().map(blank).collect();
    for piece in lex::pieces(source) {
        match piece {
            lex::Piece::Directive(directive) => text[directive.start] = b';',
            lex::Piece::Token(token) => {
                let place = &mut text[token.start..token.end()];
                match token.raw.contains(&b'"') || token.raw.contains(&b'\'') {
                    true => place.fill(b'"'),
                    false => place.copy_from_slice(token.raw),
                }
            }
        }
    }
    text
}

/// The type in front of what is declared at `at` of a [`masked`] source; `None` if that is not the first of its declaration, a
/// pointer, or of another type than one of numbers.
fn type_before(source: &[u8], at: u32) -> Option<TypeText> {
    let before = source.get(..at as usize)?;
    let is_boundary = |byte: &u8| b";{}(,)=*".contains(byte);
    let start = before.iter().rposition(is_boundary).map_or(0, |at| at + 1);
    let text = std::str::from_utf8(&before[start..]).ok()?;
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut place = 0;
    for word in text.split_ascii_whitespace() {
        place += text[place..].find(word)?;
        if !SPECIFIERS.contains(&word) {
            words.push((place, word));
        }
        place += word.len();
    }
    let (first, last) = (words.first()?, words.last()?);
    let named = words.iter().map(|(_, word)| *word).collect::<Vec<_>>();
    let named = named.join(" ");
    let (from, to) = (start + first.0, start + last.0 + last.1.len());
    // Nothing stands between the words of the type.
    let is_plain = source[from..to]
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .count()
        == words.len();
    (is_plain && OTHER_TYPES.iter().any(|(known, _)| *known == named)).then(|| TypeText {
        span: Span::new(from as u32, to as u32),
        words: named,
    })
}

/// The types that are tried in the place of one.
fn other_types(words: &str) -> &'static [&'static str] {
    let known = OTHER_TYPES.iter().find(|(known, _)| *known == words);
    known.map_or(&[][..], |(_, others)| others)
}

/// Larger sizes of the array that is declared at `at`.
fn sizes(source: &[u8], at: u32, is_local: bool) -> Vec<Change> {
    let text = &source[at as usize..];
    let open = text.iter().take_while(|byte| lex::is_word(**byte)).count();
    let inner = match text.get(open..).and_then(|rest| rest.strip_prefix(b"[")) {
        Some(rest) => &rest[..rest.iter().position(|byte| *byte == b']').unwrap_or(0)],
        None => return Vec::new(),
    };
    let Ok(size) = std::str::from_utf8(inner) else {
        return Vec::new();
    };
    if size.trim().is_empty() || size.contains('[') {
        return Vec::new();
    }
    let start = at + open as u32 + 1;
    let span = Span::new(start, start + inner.len() as u32);
    let others = larger(size.trim()).into_iter().enumerate();
    others
        .map(|(rank, other)| Change {
            rank: rank as u32,
            edit: Edit::replace(span, other),
            is_local,
            evidence: Some(Evidence::Crash),
        })
        .collect()
}

/// Other numbers for `x = n` where `x` is declared at `at`.
fn beginning(source: &[u8], at: u32, is_local: bool) -> Vec<Change> {
    let text = &source[at as usize..];
    let Some(end) = text.iter().position(|byte| b";,".contains(byte)) else {
        return Vec::new();
    };
    let Some(equals) = text[..end].iter().position(|byte| *byte == b'=') else {
        return Vec::new();
    };
    let value = &text[equals + 1..end];
    let blanks = value.len() - value.trim_ascii_start().len();
    let start = at + (equals + 1 + blanks) as u32;
    let span = Span::new(start, start + value.trim_ascii().len() as u32);
    other_numbers(source, span, is_local)
}

/// Returns changes of a number to other numbers.
pub(super) fn other_numbers(source: &[u8], span: Span, is_local: bool) -> Vec<Change> {
    let number = std::str::from_utf8(&source[span.range()]).ok();
    let Some(number) = number.and_then(|text| text.parse::<i64>().ok()) else {
        return Vec::new();
    };
    let mut others: Vec<i64> = Vec::new();
    for other in [
        number.checked_add(1),
        number.checked_sub(1),
        Some(0),
        Some(1),
        Some(-1),
        number.checked_mul(10),
    ] {
        others.extend(other.filter(|other| *other != number && !others.contains(other)));
    }
    let others = others.into_iter().enumerate();
    others
        .map(|(rank, other)| Change {
            rank: rank as u32 + 1,
            edit: Edit::replace(span, other.to_string()),
            is_local,
            evidence: None,
        })
        .collect()
}

/// The type of what the function returns, wherever it is declared.
fn return_places(unit: &TranslationUnit, masked: &[u8], function: &Function) -> Vec<TypeText> {
    let name = function.name.as_bytes();
    if name == b"main" {
        return Vec::new();
    }
    let is_called = |at: usize| {
        let mut bodies = unit.functions.iter().map(|other| other.body_span.range());
        bodies.any(|body| body.contains(&at))
    };
    let mut places: Vec<TypeText> = Vec::new();
    let before = function.body_span.start as usize;
    for at in lex::places_of(masked, name).take_while(|at| *at < before) {
        let rest = &masked[at + name.len()..];
        if rest.trim_ascii_start().starts_with(b"(")
            && !is_called(at)
            && let Some(place) = type_before(masked, at as u32)
        {
            places.push(place);
        }
    }
    match places.first() {
        Some(first) if places.iter().all(|place| place.words == first.words) => places,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str, name: &str) -> Option<String> {
        let at = source.rfind(name).expect("the name") as u32;
        type_before(&masked(source.as_bytes()), at).map(|place| {
            let text = &source[place.span.range()];
            assert_eq!(
                text.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
                place.words
            );
            place.words
        })
    }

    #[test]
    fn the_type_of_a_number_is_found_in_front_of_its_name() {
        for (source, expected) in [
            ("int x;", Some("int")),
            (
                "#include <stdio.h>\nunsigned  long x;",
                Some("unsigned long"),
            ),
            ("// a = b\nstatic const float x;", Some("float")),
            ("/* int */ char x;", Some("char")),
            ("void f(int a, short x)", Some("short")),
            ("for (size_t x = 0;;)", Some("size_t")),
            ("int a, x;", None),
            ("int *x;", None),
            ("struct s x;", None),
            ("int const unsigned x;", None),
            ("int a = 1, x;", None),
            (
                "#define N (a, \\\n  b)\nunsigned char x;",
                Some("unsigned char"),
            ),
            ("char *s = \"; int\"; f(x", None),
        ] {
            assert_eq!(words(source, "x").as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn arrays_get_larger_and_programs_begin_with_other_numbers() {
        let texts = |changes: Vec<Change>| -> Vec<String> {
            let text = |change: Change| String::from_utf8(change.edit.text).unwrap();
            changes.into_iter().map(text).collect()
        };
        assert_eq!(texts(sizes(b"x[9];", 0, true)), ["10", "18", "90"]);
        assert_eq!(
            texts(sizes(b"x[MOST] = {0};", 0, true)),
            ["MOST + 1", "2 * (MOST)", "10 * (MOST)"]
        );
        assert!(sizes(b"x[] = \"a\";", 0, true).is_empty());
        assert_eq!(
            texts(beginning(b"x = 5;", 0, false)),
            ["6", "4", "0", "1", "-1", "50"]
        );
        assert!(beginning(b"x = f(1, 2);", 0, false).is_empty());
        assert!(beginning(b"x;", 0, false).is_empty());
    }
}
