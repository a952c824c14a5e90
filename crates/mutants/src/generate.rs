//! Makes the mutants of a source, each with how likely the change is that undoes it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use patchwright_csource::TranslationUnit;
use patchwright_repair::RepairOptions;
use patchwright_repair::candidates::Candidates;
use patchwright_repair::equivalence::alone;
use patchwright_repair::instrumented::HoleEntry;
use patchwright_repair::likelihood::surprise::Habits;
use patchwright_repair::likelihood::{Change, Form, FunctionFacts, Weights};
use patchwright_space::{HoleKind, Schema};
use patchwright_text::{Edit, LineMap, Span};
use serde::{Deserialize, Serialize};

/// Terms that cost more are no slips.
const MOST_COST: u32 = 2;

/// Statements that are taken out, moved or called otherwise are few, and may cost more.
const MOST_COST_OF_CHOICES: u32 = 6;

/// So many words and signs at most come in by a slip that leaves nothing out: `+ 1`, or `!`. People rarely write whole conditions too
/// much, and often too few.
const MOST_SUPERFLUOUS: usize = 2;

/// The largest number of mutants of a line that are kept: the likeliest.
const MOST_OF_LINE: usize = 24;

/// A change of one place of the program, as somebody may have made it by mistake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// The file, relative to the root.
    pub file: PathBuf,
    /// The line of the change, from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// The kind of change, as reports show it.
    pub kind: String,
    /// What the change that undoes it does to words and signs.
    pub form: Form,
    /// How unlikely the change is that undoes it, in bits.
    pub bits: f64,
    /// The change.
    pub edit: Edit,
}

/// A mistake with what is needed to compile it.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The change.
    pub mistake: Mistake,
    /// The text of the file before it.
    pub source: Arc<[u8]>,
    /// Edits that leave only the function of the file.
    pub alone: Arc<[Edit]>,
}

/// Finds the mutants of a source that is compiled in the ways `units`. `selected` tells which lines may change, and `linked` whether
/// the program has a function of a name. They come in the order of the file.
pub fn mutants(
    relative: &Path,
    units: Vec<TranslationUnit>,
    options: &RepairOptions,
    selected: &dyn Fn(u32) -> bool,
    linked: &dyn Fn(&str) -> bool,
) -> Vec<Mutant> {
    let Some(source) = units.first().map(|unit| unit.source.clone()) else {
        return Vec::new();
    };
    let lines = LineMap::new(&source);
    let is_read = |span: Span| (lines.line(span.start)..=lines.line(span.end)).any(selected);
    let candidates = Candidates::of(relative, units, options, &is_read, linked);
    let habits = Arc::new(Habits::of(&source));
    let text: Arc<[u8]> = Arc::from(&source[..]);
    let mut known: BTreeMap<(usize, usize), Known<'_>> = BTreeMap::new();
    for entry in &candidates.holes {
        let (unit, function) = (&candidates.files[entry.file].unit, entry.hole.function);
        known.entry((entry.file, function)).or_insert_with(|| {
            let facts = FunctionFacts::of(unit, &unit.functions[function]);
            (
                facts.with_habits(habits.clone()),
                alone(unit, function).into(),
            )
        });
    }
    let mut by_line: BTreeMap<u32, Vec<Mutant>> = BTreeMap::new();
    let mut seen: HashSet<(u32, u32, Vec<u8>)> = HashSet::new();
    candidates.each_level(&most_cost, &mut |level| {
        let entry = level.entry;
        let unit = &candidates.files[entry.file].unit;
        let function = &unit.functions[entry.hole.function];
        let (facts, alone) = &known[&(entry.file, entry.hole.function)];
        for id in level.ids() {
            let kind = level.kind(id);
            // They put a condition where none was, or are spelled as nobody does.
            if matches!(kind, Schema::Guard | Schema::UnusualExpression) {
                continue;
            }
            let Some(edit) = level.edit(id) else { continue };
            let least = least(&source, &edit);
            let line = lines.line(least.span.start);
            let is_new = seen.insert((least.span.start, least.span.end, least.text.clone()));
            if !is_new || !selected(line) || !function.body_span.contains_span(edit.span) {
                continue;
            }
            let traits = facts.traits_of_undoing(Change {
                source: &source,
                edit: &edit,
                kind,
                cost: level.cost,
                is_local: true,
                crash: false,
            });
            let is_slip = traits.added > 0 || traits.removed <= MOST_SUPERFLUOUS;
            if traits.form == Form::Nothing || !is_slip {
                continue;
            }
            let of_line = by_line.entry(line).or_default();
            of_line.push(Mutant {
                mistake: Mistake {
                    file: relative.to_path_buf(),
                    line,
                    function: function.name.clone(),
                    kind: kind.name().to_owned(),
                    form: traits.form,
                    bits: Weights::fitted().bits(&traits),
                    edit,
                },
                source: text.clone(),
                alone: alone.clone(),
            });
            if of_line.len() > 2 * MOST_OF_LINE {
                keep_likeliest(of_line);
            }
        }
    });
    by_line.values_mut().for_each(keep_likeliest);
    by_line.into_values().flatten().collect()
}

/// The facts about a function, and the edits that leave only that function.
type Known<'u> = (FunctionFacts<'u>, Arc<[Edit]>);

/// The cost up to which candidates of a location are mutants. Inserted assignments are no slips.
fn most_cost(entry: &HoleEntry) -> u32 {
    match entry.hole.kind {
        HoleKind::Choice(_) => MOST_COST_OF_CHOICES,
        HoleKind::Assignment(_) | HoleKind::Exit(_) => 0,
        _ => MOST_COST,
    }
}

fn keep_likeliest(mutants: &mut Vec<Mutant>) {
    mutants.sort_by(|a, b| {
        let (a, b) = (&a.mistake, &b.mistake);
        let by_text = || (a.edit.span, &a.edit.text).cmp(&(b.edit.span, &b.edit.text));
        a.bits.total_cmp(&b.bits).then_with(by_text)
    });
    mutants.truncate(MOST_OF_LINE);
}

/// The edit without what it leaves as it is.
fn least(source: &[u8], edit: &Edit) -> Edit {
    let (old, new) = (&source[edit.span.range()], &edit.text[..]);
    let same = |(a, b): &(&u8, &u8)| a == b;
    let begin = old.iter().zip(new).take_while(same).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same);
    let end = end.count().min(rest);
    let span = Span::new(edit.span.start + begin as u32, edit.span.end - end as u32);
    Edit::replace(span, new[begin..new.len() - end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_edit_has_no_common_ends() {
        let source = b"if (a < b) x = 1;";
        let edit = Edit::replace(Span::new(4, 9), "a <= b");
        let least = least(source, &edit);
        assert_eq!((least.span, &least.text[..]), (Span::new(7, 7), &b"="[..]));
        let doubled = Edit::replace(Span::new(0, 2), "ifif");
        assert_eq!(super::least(source, &doubled).text, b"if");
    }
}
