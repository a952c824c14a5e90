//! Lists other bodies of macros: another number, another operator, parentheses around a longer
//! expression.

use std::collections::BTreeSet;

use patchwright_csource::lex;
use patchwright_text::{Edit, Span, apply_edits};

use super::edits::{Change, other_numbers};

/// A macro with a longer body is left alone.
const LONGEST: usize = 200;

/// What may be written for an operator.
const OTHER_OPERATORS: [(&str, &[&str]); 18] = [
    ("<<", &[">>"]),
    (">>", &["<<"]),
    ("<=", &["<", ">="]),
    (">=", &[">", "<="]),
    ("==", &["!="]),
    ("!=", &["=="]),
    ("&&", &["||"]),
    ("||", &["&&"]),
    ("<", &[">", "<="]),
    (">", &["<", ">="]),
    ("+", &["-"]),
    ("-", &["+"]),
    ("*", &["/"]),
    ("/", &["*", "%"]),
    ("%", &["/"]),
    ("&", &["|"]),
    ("|", &["&"]),
    ("^", &["|"]),
];

/// Words with which a body is no expression.
const STATEMENT_WORDS: [&str; 10] = [
    "do", "while", "for", "if", "else", "return", "goto", "break", "continue", "switch",
];

/// How unlikely another operator is.
const OPERATOR_RANK: u32 = 1;

/// How unlikely another number in a longer body is, beside those of [`other_numbers`].
const INNER_NUMBER_RANK: u32 = 1;

/// A definition in a text.
struct Definition<'t> {
    name: &'t str,
    /// None for one that is used without parentheses.
    parameters: Option<Vec<&'t str>>,
    /// Without blanks round it.
    body: Span,
}

/// Adds to `named` what the macros that a text defines are made of, if they are named themselves.
pub(super) fn name_what_is_used(text: &[u8], named: &mut BTreeSet<String>) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let definitions = definitions(text);
    let mut open: Vec<String> = named.iter().cloned().collect();
    while let Some(name) = open.pop() {
        for known in definitions.iter().filter(|known| known.name == name) {
            let body = known.body.slice(text.as_bytes()).unwrap_or_default();
            let words = lex::words(body).into_iter();
            open.extend(words.filter(|word| named.insert(word.clone())));
        }
    }
}

/// The changes of the macros in a text that are `named`.
pub(super) fn macros(text: &[u8], named: &BTreeSet<String>) -> Vec<Change> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for known in definitions(text) {
        if !named.contains(known.name) || known.body.len() as usize > LONGEST {
            continue;
        }
        let body = &text[known.body.range()];
        if known.parameters.is_none() && body.parse::<i64>().is_ok() {
            found.extend(other_numbers(text.as_bytes(), known.body, false));
            continue;
        }
        operators(body, &mut |at, old, new, place| {
            let start = known.body.start + at as u32;
            found.push(Change {
                rank: OPERATOR_RANK + place as u32,
                edit: Edit::replace(Span::new(start, start + old as u32), new),
                is_local: false,
                evidence: None,
            });
        });
        for (start, end) in tokens(body) {
            let span = Span::new(
                known.body.start + start as u32,
                known.body.start + end as u32,
            );
            let changes = other_numbers(text.as_bytes(), span, false).into_iter();
            found.extend(changes.take(2).map(|change| Change {
                rank: change.rank + INNER_NUMBER_RANK,
                ..change
            }));
        }
    }
    found
}

/// Returns the changes that add missing parentheses to the `named` macros of a text.
pub(super) fn parentheses(text: &[u8], named: &BTreeSet<String>) -> Vec<Change> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let definitions = definitions(text).into_iter();
    let definitions = definitions
        .filter(|known| named.contains(known.name) && known.body.len() as usize <= LONGEST);
    let changes = definitions.filter_map(|known| {
        let new = parenthesized(&text[known.body.range()], known.parameters.as_deref())?;
        Some(Change {
            rank: 0,
            edit: Edit::replace(known.body, new),
            is_local: false,
            evidence: None,
        })
    });
    changes.collect()
}

/// The macros that a text defines.
fn definitions(text: &str) -> Vec<Definition<'_>> {
    let directives = lex::directives(text.as_bytes());
    let definitions = directives.filter(|directive| *directive.name() == *b"define");
    let found = definitions.filter_map(|directive| definition(text, &directive));
    found.collect()
}

/// What a directive defines.
fn definition<'t>(text: &'t str, directive: &lex::Directive<'t>) -> Option<Definition<'t>> {
    let places = directive.arguments();
    let places = places.map(|token| (directive.start + token.start, directive.start + token.end()));
    let places: Vec<(usize, usize)> = places.collect();
    let (&(start, end), mut rest) = places.split_first()?;
    let is = |place: &(usize, usize), sign: &str| text.get(place.0..place.1) == Some(sign);
    let mut parameters = None;
    if let Some(open) = rest.first()
        && open.0 == end
        && is(open, "(")
    {
        let close = rest.iter().position(|place| is(place, ")"))?;
        let list = text.get(open.1..rest[close].0)?.split(',').map(str::trim);
        parameters = Some(list.filter(|name| !name.is_empty()).collect());
        rest = &rest[close + 1..];
    }
    Some(Definition {
        name: text.get(start..end)?,
        parameters,
        body: Span::new(rest.first()?.0 as u32, rest.last()?.1 as u32),
    })
}

/// The places of a body's tokens.
fn tokens(body: &str) -> Vec<(usize, usize)> {
    let tokens = lex::tokens(body).into_iter();
    tokens.map(|(token, at)| (at, at + token.len())).collect()
}

/// Each operator between two operands, by its place and length, with what may be written for it and that one's number.
fn operators(body: &str, add: &mut dyn FnMut(usize, usize, &'static str, usize)) {
    let mut after_operand = false;
    for (token, at) in lex::tokens(body) {
        let operator = OTHER_OPERATORS.iter().find(|(old, _)| token == *old);
        if let Some((old, others)) = operator
            && after_operand
        {
            for (place, new) in others.iter().enumerate() {
                add(at, old.len(), new, place);
            }
        }
        let last = token.as_bytes()[token.len() - 1];
        after_operand = lex::is_word(last) || b")]'\"".contains(&last);
    }
}

/// The body with parentheses round its parameters and round itself, where they are missing; `None` if none are, or it is no
/// expression.
fn parenthesized(body: &str, parameters: Option<&[&str]>) -> Option<String> {
    let words = lex::words(body.as_bytes());
    let is_statement = words
        .iter()
        .any(|word| STATEMENT_WORDS.contains(&word.as_str()));
    if is_statement || body.contains(['{', ';', '#', '=', ',']) && !is_comparison(body) {
        return None;
    }
    let tokens = tokens(body);
    let text = |place: usize| {
        let token = tokens.get(place);
        token.map_or("", |(start, end)| &body[*start..*end])
    };
    let mut edits = Vec::new();
    for (place, &(start, end)) in tokens.iter().enumerate() {
        let is_parameter = parameters.is_some_and(|known| known.contains(&&body[start..end]));
        let before = place.checked_sub(1).map_or("", text);
        let is_member = before == "." || before == "->";
        if is_parameter && !is_member && !(before == "(" && text(place + 1) == ")") {
            let name = &body[start..end];
            let span = Span::new(start as u32, end as u32);
            edits.push(Edit::replace(span, format!("({name})")));
        }
    }
    let mut depth = 0;
    let mut closes_early = false;
    for (place, _) in tokens.iter().enumerate() {
        depth += i32::from(text(place) == "(") - i32::from(text(place) == ")");
        closes_early |= depth == 0 && place + 1 < tokens.len();
    }
    if depth != 0 || tokens.len() < 2 {
        return None;
    }
    let inner = String::from_utf8(apply_edits(body.as_bytes(), &edits).ok()?).ok()?;
    let whole = match closes_early {
        true => format!("({inner})"),
        false => inner,
    };
    (whole != body).then_some(whole)
}

/// Whether all `=` of a body are parts of comparisons, and it has nothing else of statements or lists.
fn is_comparison(body: &str) -> bool {
    let mut rest = body.to_owned();
    for sign in ["==", "!=", "<=", ">="] {
        rest = rest.replace(sign, " ");
    }
    !rest.contains(['{', ';', '#', '=', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, names: &[&str]) -> Vec<String> {
        let named = names.iter().map(|name| (*name).to_owned()).collect();
        let changes = macros(text.as_bytes(), &named).into_iter();
        let changed = changes.map(|change| {
            let new = apply_edits(text.as_bytes(), &[change.edit]).unwrap();
            String::from_utf8(new).unwrap()
        });
        changed.collect()
    }

    #[test]
    fn parameters_and_bodies_get_the_parentheses_that_they_need() {
        for (body, new) in [
            ("x*x", Some("((x)*(x))")),
            ("(x + 1)", Some("((x) + 1)")),
            ("((x) * 2)", None),
            ("(x) + (x)", Some("((x) + (x))")),
            ("p->x", Some("(p->x)")),
            ("x == 1", Some("((x) == 1)")),
            ("do { x; } while (0)", None),
            ("y = x", None),
            ("x", None),
        ] {
            assert_eq!(parenthesized(body, Some(&["x"])).as_deref(), new, "{body}");
        }
    }

    #[test]
    fn macros_get_other_numbers_and_operators() {
        let source = "#define N 4 /* four */\n# define MIN(a, b) ((a) > (b) ? (a) : (b))\n#define M -1\n#define SET(p) p->n += 2\n";
        assert_eq!(texts(source, &["N"]).len(), 6);
        let found = texts(source, &["MIN"]);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("((a) < (b) ?") && found[1].contains("((a) >= (b) ?"));
        let found = texts(source, &["SET"]);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("p->n += 3\n"));
        assert!(texts(source, &["M"])[0].contains("#define M 0\n"));
    }

    #[test]
    fn what_a_macro_is_made_of_is_named_with_it() {
        let mut named = BTreeSet::from(["A".to_owned()]);
        name_what_is_used(
            b"#define A(x) (B + x)\n#define B 3\n#define C 4\n",
            &mut named,
        );
        assert!(named.contains("B") && !named.contains("C"));
    }
}
