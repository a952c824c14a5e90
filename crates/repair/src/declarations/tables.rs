//! Lists other elements of tables: `31` for the `30` of a month, `1` for the `-1` of a direction,
//! `multiply` for the `add` of an operator.

use patchwright_csource::{TranslationUnit, lex::words_with_places};
use patchwright_text::{Edit, Span};

use super::edits::Change;

/// A table with more elements is left alone.
const MOST_ELEMENTS: usize = 64;

/// Most other functions for one that a table names.
const MOST_FUNCTIONS: usize = 3;

/// Most other numbers of the table for one of its numbers.
const MOST_NEIGHBOURS: usize = 2;

/// How unlikely another function is.
const FUNCTION_RANK: u32 = 1;

/// How unlikely the first other number is: which of the elements is wrong, nothing says.
const NUMBER_RANK: u32 = 2;

/// The changes of the elements of what is declared at `at`, if that is a table.
///
/// `masked` is the source without comments, directives and what is in literals.
pub(super) fn elements(
    unit: &TranslationUnit,
    masked: &[u8],
    at: u32,
    is_local: bool,
) -> Vec<Change> {
    let Some(list) = list(masked, at) else {
        return Vec::new();
    };
    let numbers = numbers(masked, list);
    let names = names(unit, masked, list);
    if numbers.len() + names.len() > MOST_ELEMENTS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &(span, number) in &numbers {
        let others = other_numbers(number, &numbers).into_iter().enumerate();
        found.extend(others.map(|(place, other)| Change {
            rank: NUMBER_RANK + place as u32,
            edit: Edit::replace(span, other.to_string()),
            is_local,
            evidence: None,
        }));
    }
    for (span, name) in names {
        let others = other_functions(unit, &name, at).into_iter().enumerate();
        found.extend(others.map(|(place, other)| Change {
            rank: FUNCTION_RANK + place as u32,
            edit: Edit::replace(span, other),
            is_local,
            evidence: None,
        }));
    }
    found
}

/// The braces that `x[] = {…}` ends with, if `x` is declared at `at`.
fn list(masked: &[u8], at: u32) -> Option<Span> {
    let text = &masked[at as usize..];
    let open = text.iter().position(|byte| b"{;,".contains(byte))?;
    let before = &text[..open];
    if text[open] != b'{' || !before.contains(&b'[') || !before.trim_ascii_end().ends_with(b"=") {
        return None;
    }
    let mut depth = 0;
    let close = text[open..].iter().position(|byte| {
        depth += i32::from(*byte == b'{') - i32::from(*byte == b'}');
        depth == 0
    })?;
    Some(Span::new(at + open as u32, at + (open + close) as u32 + 1))
}

/// The elements that are decimal numbers, with their signs. An operand of a longer expression is none, nor is what is between `[` and `]`.
fn numbers(masked: &[u8], list: Span) -> Vec<(Span, i64)> {
    let mut found = Vec::new();
    let mut start = list.start + 1;
    for at in list.start + 1..list.end {
        let byte = masked[at as usize];
        if !b"{},".contains(&byte) {
            continue;
        }
        let text = &masked[start as usize..at as usize];
        // `[n] =` and `.name =` say which element it is.
        let value = text.iter().rposition(|byte| *byte == b'=');
        let value = &text[value.map_or(0, |equals| equals + 1)..];
        let first = at as usize - value.trim_ascii_start().len();
        let text = value.trim_ascii();
        let number = std::str::from_utf8(text).ok();
        let is_octal = text.len() > 1 && text.starts_with(b"0");
        if let Some(number) = number.and_then(|text| text.parse::<i64>().ok())
            && !text.starts_with(b"+")
            && !is_octal
        {
            let span = Span::new(first as u32, (first + text.len()) as u32);
            found.push((span, number));
        }
        start = at + 1;
    }
    found
}

/// What a number may be instead: its neighbours, with another sign, what else the table has, most frequent first.
fn other_numbers(number: i64, table: &[(Span, i64)]) -> Vec<i64> {
    let mut others: Vec<i64> = Vec::new();
    let negated = (number.abs() == 1).then_some(-number);
    let steps = [number.checked_add(1), number.checked_sub(1)];
    for other in std::iter::once(negated).chain(steps).flatten() {
        if !others.contains(&other) {
            others.push(other);
        }
    }
    let mut neighbours: Vec<(usize, i64)> = Vec::new();
    for &(_, other) in table {
        match neighbours.iter_mut().find(|(_, known)| *known == other) {
            Some((count, _)) => *count += 1,
            None => neighbours.push((1, other)),
        }
    }
    neighbours.retain(|(_, other)| *other != number && !others.contains(other));
    neighbours.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let neighbours = neighbours.into_iter().map(|(_, other)| other);
    others.extend(neighbours.take(MOST_NEIGHBOURS));
    others
}

/// The elements that are names of functions.
fn names(unit: &TranslationUnit, masked: &[u8], list: Span) -> Vec<(Span, String)> {
    let words = words_with_places(&masked[list.range()]).into_iter();
    let named = words.filter(|(name, _)| unit.declarations.contains_key(name));
    let placed = named.map(|(name, place)| {
        let start = list.start + place as u32;
        (Span::new(start, start + name.len() as u32), name)
    });
    placed.collect()
}

/// Functions of the program of exactly the same type that can be named at `at`.
fn other_functions(unit: &TranslationUnit, name: &str, at: u32) -> Vec<String> {
    let Some(old) = unit.declarations.get(name) else {
        return Vec::new();
    };
    let is_known = |name: &str| {
        let mut functions = unit.functions.iter();
        functions.any(|function| function.name == name && function.span.start < at)
    };
    let mut others: Vec<&str> = Vec::new();
    for new in unit.declarations.values() {
        let is_alike = (new.result, &new.parameters, new.variadic)
            == (old.result, &old.parameters, old.variadic);
        if new.name != name
            && old.prototyped
            && new.prototyped
            && old.result.is_some()
            && is_alike
            && is_known(&new.name)
        {
            others.push(&new.name);
        }
    }
    others.sort_by_key(|name| {
        unit.declarations
            .get(*name)
            .map(|new| std::cmp::Reverse(new.order))
    });
    let others = others.into_iter().take(MOST_FUNCTIONS);
    others.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_table_are_its_numbers() {
        let source = b"t[3][2] = {{1, -1}, {[0] = 2 + 3, .b = 10}, {0x3, 07, x}, {3}};";
        let list = list(source, 0).unwrap();
        assert_eq!(list.end as usize, source.len() - 1);
        let found: Vec<i64> = numbers(source, list).into_iter().map(|(_, n)| n).collect();
        assert_eq!(found, [1, -1, 10, 3]);
        for no_table in [
            &b"x = 5;"[..],
            b"s = {1, 2};",
            b"f(a[1]) { b; }",
            b"x, y[] = {1};",
        ] {
            assert!(super::list(no_table, 0).is_none());
        }
    }

    #[test]
    fn a_number_of_a_table_becomes_one_that_is_near_or_frequent() {
        let source = b"days[] = {31, 28, 31, 30, 31, 30, 31, 30, 30, 31, 30, 29};";
        let table = numbers(source, list(source, 0).unwrap());
        assert_eq!(other_numbers(30, &table), [31, 29, 28]);
        assert_eq!(other_numbers(28, &table), [29, 27, 31, 30]);
        assert_eq!(other_numbers(-1, &table), [1, 0, -2, 31, 30]);
    }
}
