//! Other labels of `case`: a number beside it, another enumerator, the other letter.

use std::collections::BTreeSet;

use patchwright_csource::{ExprId, ExprKind, Function, TranslationUnit};
use patchwright_text::Edit;

use super::edits::Change;

/// Most other enumerators for one.
const MOST_ENUMERATORS: usize = 3;

/// How unlikely the first other label is.
const LABEL_RANK: u32 = 1;

/// The changes of the labels of a function's `switch` statements, in their order.
pub(super) fn labels(unit: &TranslationUnit, function: &Function) -> Vec<Change> {
    let mut labels = Vec::new();
    for (label, last) in function.details.cases.values() {
        let expr = function.expr(constant(function, *label));
        if let (ExprKind::Integer { value, .. }, None) = (&expr.kind, last) {
            labels.push((expr.place.editable(), *value, &expr.kind));
        }
    }
    labels.sort_by_key(|(span, value, _)| (*span, *value));
    let used: BTreeSet<i128> = labels.iter().map(|(_, value, _)| *value).collect();
    let mut found = Vec::new();
    for (span, value, kind) in labels {
        let Some(span) = span else {
            continue;
        };
        let text = unit.text(span);
        let others = match kind {
            ExprKind::Integer {
                enumerator: Some(name),
                ..
            } if text == name.as_str() => enumerators(unit, name, &used),
            ExprKind::Integer {
                character: true, ..
            } => characters(value, &used),
            ExprKind::Integer {
                enumerator: None, ..
            } if text.parse::<i128>() == Ok(value) => {
                let beside = [value + 1, value - 1].into_iter();
                let free = beside.filter(|other| !used.contains(other));
                free.map(|other| other.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let others = others.into_iter().enumerate();
        found.extend(others.map(|(place, other)| Change {
            rank: LABEL_RANK + place as u32,
            edit: Edit::replace(span, other),
            is_local: true,
        }));
    }
    found
}

/// What a label consists of, without what the compiler puts round it.
fn constant(function: &Function, label: ExprId) -> ExprId {
    let label = function.stripped(label);
    match (&function.expr(label).kind, &function.children(label)[..]) {
        (ExprKind::Other { .. }, &[only]) => constant(function, only),
        _ => label,
    }
}

/// Enumerators of the same enumeration that have no label yet, the next ones first.
fn enumerators(unit: &TranslationUnit, name: &str, used: &BTreeSet<i128>) -> Vec<String> {
    let has_it = |known: &&Vec<(String, i128)>| known.iter().any(|(other, _)| other == name);
    let Some(known) = unit.enumerations.iter().find(has_it) else {
        return Vec::new();
    };
    let own = known
        .iter()
        .position(|(other, _)| other == name)
        .unwrap_or(0);
    let free = known.iter().enumerate();
    let free = free.filter(|(_, (_, value))| !used.contains(value));
    let mut free: Vec<(usize, &String)> = free
        .map(|(place, (other, _))| (place.abs_diff(own), other))
        .collect();
    free.sort_by_key(|(distance, _)| *distance);
    let free = free.into_iter().take(MOST_ENUMERATORS);
    free.map(|(_, other)| other.clone()).collect()
}

/// The other case of a letter, and the characters beside it.
fn characters(value: i128, used: &BTreeSet<i128>) -> Vec<String> {
    let Ok(own) = u8::try_from(value) else {
        return Vec::new();
    };
    let other_case = match own {
        b'a'..=b'z' => own.to_ascii_uppercase(),
        _ => own.to_ascii_lowercase(),
    };
    let mut found: Vec<u8> = Vec::new();
    for other in [other_case, own.wrapping_add(1), own.wrapping_sub(1)] {
        let is_written = other.is_ascii_graphic() && !b"'\\".contains(&other);
        if is_written && !used.contains(&i128::from(other)) && !found.contains(&other) {
            found.push(other);
        }
    }
    let found = found.into_iter();
    found
        .map(|other| format!("'{}'", char::from(other)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_becomes_the_other_letter_or_one_beside_it() {
        let used = [b'a', b'b', b'('].map(i128::from).into_iter().collect();
        assert_eq!(characters(i128::from(b'a'), &used), ["'A'", "'`'"]);
        assert_eq!(characters(i128::from(b'('), &used), ["')'"]);
        assert!(characters(300, &used).is_empty());
    }
}
