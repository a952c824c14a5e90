//! Finds the patches that name symbols which a linker has not found.

use std::path::Path;

use patchwright_csource::lex;
use patchwright_exec::UndefinedReference;
use patchwright_text::LineMap;

use crate::plan::Plan;

/// A linker names the line at which a statement begins, or one of its own; and lines of a patched file are some lines away from
/// those of the source.
const NEAR: u32 = 3;

/// Returns the members that add the name of a missing symbol. If lines are known, only those that change
/// something near them are returned, because others may use the same word for a variable.
pub fn guilty(plan: &Plan, members: &[usize], missing: &[UndefinedReference<'_>]) -> Vec<usize> {
    let naming = |missing: &UndefinedReference<'_>| -> Vec<usize> {
        let names = |member: &&usize| {
            let mut texts = plan.patches[**member].texts();
            texts.any(|text| lex::words(text).iter().any(|word| word == missing.symbol))
        };
        members.iter().filter(names).copied().collect()
    };
    let mut found: Vec<usize> = missing
        .iter()
        .flat_map(|missing| {
            let all = naming(missing);
            let near: Vec<usize> = all
                .iter()
                .filter(|member| is_near(plan, **member, missing))
                .copied()
                .collect();
            if near.is_empty() { all } else { near }
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn is_near(plan: &Plan, member: usize, missing: &UndefinedReference<'_>) -> bool {
    let Some((name, line)) = missing.place else {
        return false;
    };
    plan.patches[member].files.iter().any(|file| {
        let source = &plan.sources[file.file];
        let is_file = source.relative.file_name() == Path::new(name).file_name();
        let lines = LineMap::new(&source.unit.source);
        let mut edits = file.functions.iter().flat_map(|function| &function.edits);
        is_file
            && edits.any(|edit| {
                let (first, last) = (lines.line(edit.span.start), lines.line(edit.span.end));
                (first.saturating_sub(NEAR)..=last + NEAR).contains(&line)
            })
    })
}
