//! What a linker has not found, and which patches may have named it.

use std::path::Path;

use patchwright_csource::lex;
use patchwright_text::LineMap;

use crate::plan::Plan;

/// A linker names the line at which a statement begins, or one of its own; and lines of a patched file are some lines away from
/// those of the source.
const NEAR: u32 = 3;

/// A symbol that is not defined.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing<'o> {
    /// Its name.
    pub symbol: &'o str,
    /// The file's name and the line where it is named, if it was compiled with line numbers.
    place: Option<(&'o str, u32)>,
}

/// The symbols that a linker complains about.
pub fn missing_symbols(output: &str) -> Vec<Missing<'_>> {
    output
        .lines()
        .filter_map(|line| {
            let (before, rest) = line.split_once("undefined reference to ")?;
            let name = rest.trim_start_matches(['`', '\'', '‘']);
            let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let place = before.trim_end().strip_suffix(':').and_then(|place| {
                let (file, line) = place.rsplit_once(':')?;
                let file = file.rsplit(['/', ' ']).next()?;
                Some((file, line.parse().ok()?))
            });
            Some(Missing {
                symbol: &name[..end.unwrap_or(name.len())],
                place,
            })
        })
        .collect()
}

/// Those of `members` that bring the name of a missing symbol. Others may bring the same word and mean a variable of their
/// own: where lines are known, those that change something near them come alone.
pub fn guilty(plan: &Plan, members: &[usize], missing: &[Missing<'_>]) -> Vec<usize> {
    let naming = |missing: &Missing<'_>| -> Vec<usize> {
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

fn is_near(plan: &Plan, member: usize, missing: &Missing<'_>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_names_symbols_and_sometimes_lines() {
        let output = "/usr/bin/ld: /tmp/cc.o: in function `f':\n\
                      /tmp/a b/x.c:90: undefined reference to `string'\n\
                      /usr/bin/ld: x.c:(.text+0x12): undefined reference to `g'\n";
        assert_eq!(
            missing_symbols(output),
            [
                Missing {
                    symbol: "string",
                    place: Some(("x.c", 90))
                },
                Missing {
                    symbol: "g",
                    place: None
                }
            ]
        );
    }
}
