//! Finds the changed statements of a function, by aligning the actions of two versions.
//!
//! The actions of a function form one sequence, whatever their nesting. A patience diff finds equal ones; similar ones between
//! them are paired. An action is unchanged if its tokens are the same and it stands in the same constructs. Constructs that the
//! change adds or removes do not count. So new comments, layout, braces or a condition round a statement do not change it.
//! Deleted actions are represented by their place in the new version (thesis, chapter 5: "deleted statements are changed
//! elements nevertheless and can be represented by dummy statements").

mod deletions;
mod matching;

use std::collections::{BTreeMap, BTreeSet};

use patchwright_flow::cfg::Deletions;
use patchwright_flow::{ActionId, Function, Variable};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use deletions::Placer;
use matching::{Layout, Matching};

/// How an action of the new version differs: added, modified, moved, or only using something that
/// changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alteration {
    /// It was not there.
    Added,
    /// It was there with other tokens.
    Modified,
    /// It was there in another construct.
    Moved,
    /// It is as it was, and uses a macro or a variable that is not.
    Used,
}

/// Deleted statements, represented by their place in the new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The line in the old version of the first of them.
    pub old_line: u32,
    /// How many actions they had.
    pub actions: usize,
    /// The line in the new version of what follows the place, or of what stands before it.
    pub line: u32,
}

/// The changed and deleted actions of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionDifference {
    /// The changed actions of the new version.
    pub altered: BTreeMap<ActionId, Alteration>,
    /// Places where something was deleted, by the numbers in `places`.
    pub deletions: Vec<Deletion>,
    /// Where those places are in the new version.
    pub places: Deletions,
    /// Lines of the new version with tokens of changed actions.
    pub lines: BTreeSet<u32>,
    /// Declarations without effect at run time that differ.
    pub declarations: usize,
    /// What stands before the body differs.
    pub signature: bool,
    /// Variables of the function that are declared otherwise than before.
    pub redeclared: BTreeSet<String>,
}

impl FunctionDifference {
    /// Whether no action changed.
    pub fn is_empty(&self) -> bool {
        self.altered.is_empty()
            && self.deletions.is_empty()
            && self.declarations == 0
            && !self.signature
    }
}

/// One version of a function, and the text to which its spans refer.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The function.
    pub function: &'a Function,
    /// The source file.
    pub source: &'a [u8],
}

impl Side<'_> {
    fn text(&self, action: ActionId) -> String {
        self.function.action(action).text(self.source)
    }

    fn words(&self, action: ActionId) -> Vec<&[u8]> {
        let tokens = &self.function.action(action).tokens;
        tokens
            .iter()
            .map(|t| &self.source[t.span.range()])
            .collect()
    }

    /// Returns the tokens before the body, with a space between them.
    pub fn header(&self) -> String {
        let words: Vec<_> = self
            .function
            .header
            .iter()
            .map(|token| String::from_utf8_lossy(&self.source[token.span.range()]))
            .collect();
        words.join(" ")
    }
}

/// Returns the difference of a function that the old version does not have: all actions are added.
pub fn added(new: Side) -> FunctionDifference {
    let mut difference = FunctionDifference::default();
    for (i, action) in new.function.actions.iter().enumerate() {
        if action.is_executable() {
            let id = ActionId(i as u32);
            difference.altered.insert(id, Alteration::Added);
            difference
                .lines
                .extend(action.tokens.iter().map(|t| t.line));
        } else {
            difference.declarations += 1;
        }
    }
    difference
}

/// Returns the difference between two versions of a function.
pub fn compare(old: Side, new: Side) -> FunctionDifference {
    let old_layout = Layout::of(old.function);
    let new_layout = Layout::of(new.function);
    let mut matching = Matching::find(old, &old_layout, new, &new_layout);
    matching.part_strangers(&old_layout, &new_layout);
    matching.find_moves(&old_layout, &new_layout);
    matching.compare_shapes(&old_layout, &new_layout);
    let mut difference = FunctionDifference {
        signature: old.header() != new.header(),
        ..FunctionDifference::default()
    };
    let kept = old_layout
        .constructs
        .iter()
        .filter_map(|construct| matching.construct(construct, &new_layout))
        .flat_map(|construct| new_layout.constructs[construct].blocks.iter().copied())
        .chain([new.function.body.id])
        .collect();
    let mut placer = Placer {
        kept,
        old: &old_layout,
        new: &new_layout,
        old_function: old.function,
        matching: &mut matching,
        found: BTreeMap::new(),
    };
    placer.block(&old.function.body);
    let found = placer.found;
    for (i, alteration) in matching.altered.iter().enumerate() {
        let id = ActionId(i as u32);
        if let (Some(_), Some(before)) = (alteration, matching.new_to_old[i]) {
            let (before, after) = (old.function.action(before), new.function.action(id));
            let names = redeclared(&before.declares, &after.declares, after.is_executable());
            difference.redeclared.extend(names.map(str::to_owned));
        }
        match alteration {
            Some(alteration) if new.function.action(id).is_executable() => {
                difference.altered.insert(id, *alteration);
                let lines = changed_lines(old, matching.new_to_old[i], new, id, *alteration);
                difference.lines.extend(lines);
            }
            Some(_) => difference.declarations += 1,
            None => {}
        }
    }
    difference.declarations += (0..old.function.actions.len())
        .filter(|i| matching.old_to_new[*i].is_none() && !old.function.actions[*i].is_executable())
        .count();
    for ((block, index), deletion) in found {
        if new_layout.is_changed_around(block, index, &difference.altered) {
            continue;
        }
        let number = difference.deletions.len() as u32;
        difference.places.insert((block, index), number);
        difference.deletions.push(Deletion {
            line: new_layout.line_at(new.function, block, index),
            ..deletion
        });
    }
    difference
}

/// The lines of a changed action with tokens that are new; where tokens only vanished, the line where they were.
fn changed_lines(
    old: Side,
    before: Option<ActionId>,
    new: Side,
    action: ActionId,
    alteration: Alteration,
) -> BTreeSet<u32> {
    let tokens = &new.function.action(action).tokens;
    let before = match (alteration, before) {
        (Alteration::Modified, Some(before)) => before,
        _ => return tokens.iter().map(|token| token.line).collect(),
    };
    let mut lines = BTreeSet::new();
    for op in capture_diff_slices(Algorithm::Myers, &old.words(before), &new.words(action)) {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { new_index, .. } => {
                let at = new_index.min(tokens.len().saturating_sub(1));
                lines.extend(tokens.get(at).map(|token| token.line));
            }
            DiffOp::Insert {
                new_index, new_len, ..
            }
            | DiffOp::Replace {
                new_index, new_len, ..
            } => {
                let new = &tokens[new_index..new_index + new_len];
                lines.extend(new.iter().map(|token| token.line));
            }
        }
    }
    if lines.is_empty() {
        lines.extend(tokens.first().map(|token| token.line));
    }
    lines
}

/// Returns the variables of the declaration `new` that `old` declares with another type. Where the declaration executes
/// nothing, variables with another first value count too.
pub(crate) fn redeclared<'v>(
    old: &[Variable],
    new: &'v [Variable],
    is_executed: bool,
) -> impl Iterator<Item = &'v str> {
    let differs = move |new: &&Variable| {
        let old = old.iter().find(|old| old.name == new.name);
        old.is_some_and(|old| {
            old.type_text != new.type_text || !is_executed && old.value != new.value
        })
    };
    new.iter().filter(differs).map(|one| one.name.as_str())
}
