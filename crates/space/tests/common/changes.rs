//! The changes of a function that are no terms, as lines of text.
#![allow(dead_code, reason = "not every test needs all of it")]

use patchwright_csource::{ExprKind, Function, scopes};
use patchwright_space::{
    AtomBuilder, Callees, HoleKind, Schema, Schemas, Shown, TermTypes, choices,
};
use patchwright_text::apply_edits;

use super::common;

/// The lines that the changes of a kind make of the last function of a source, each with its cost, joined by `|`.
pub fn changes(source: &str, schema: Schema, predicates: &[&str]) -> Vec<String> {
    changes_shown(source, schema, predicates, &Shown::default())
}

/// The same where tests show something.
pub fn changes_shown(
    source: &str,
    schema: Schema,
    predicates: &[&str],
    shown: &Shown,
) -> Vec<String> {
    let mut unit = common::read(source);
    let functions = std::mem::take(&mut unit.functions);
    let function = functions.last().unwrap();
    let scope_map = scopes(&unit, function);
    let mut types = TermTypes::of(&mut unit.types, &functions);
    let mut builder = AtomBuilder {
        unit: &mut unit,
        types: &mut types,
    };
    let calls = |function: &Function| {
        let names = function.exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Function(name) => Some(name.clone()),
            _ => None,
        });
        (function.name.clone(), names.collect())
    };
    let callees = Callees {
        direct: &functions
            .iter()
            .map(|function| function.name.clone())
            .collect(),
        predicates: &predicates.iter().map(|name| (*name).to_owned()).collect(),
        defined: &functions.iter().map(calls).collect(),
        linked: &|_| false,
        functions: &functions,
        kinds: patchwright_kinds::built_in(),
    };
    let schemas = Schemas::ALL;
    let found = choices(
        &mut builder,
        0,
        function,
        &scope_map,
        schemas,
        &callees,
        shown,
    )
    .holes;
    let mut texts = Vec::new();
    for hole in found {
        let HoleKind::Choice(choice) = hole.kind else {
            continue;
        };
        for alternative in choice.alternatives {
            if alternative.schema != schema {
                continue;
            }
            let new = apply_edits(source.as_bytes(), &[alternative.edit]).unwrap();
            let new = String::from_utf8(new).unwrap();
            let old: Vec<&str> = source.lines().collect();
            let lines: Vec<&str> = new.lines().collect();
            let begin = lines.iter().zip(&old).take_while(|(a, b)| a == b).count();
            let both = lines.iter().rev().zip(old.iter().rev());
            let end = both.take_while(|(a, b)| a == b).count();
            let end = lines.len() - end.min(lines.len() - begin);
            let changed: Vec<&str> = lines[begin..end].iter().map(|line| line.trim()).collect();
            texts.push(format!("{}: {}", alternative.cost, changed.join(" | ")));
        }
    }
    texts
}

/// The texts are among those that were found.
pub fn contain(found: &[String], expected: &[&str]) {
    for expected in expected {
        assert!(
            found.iter().any(|text| text == expected),
            "{expected}: {found:#?}"
        );
    }
}

/// What is left out of a list of changes, for messages that can be read.
pub fn lacks(found: &[String], texts: &[&str]) {
    for text in texts {
        let has_it = found.iter().any(|known| known.contains(text));
        assert!(!has_it, "{text}: {found:#?}");
    }
}
