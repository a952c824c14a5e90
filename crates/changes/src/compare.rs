//! Compares two versions of a set of files: changed functions, and changes outside of functions.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_flow::{Directives, Function, Outline, read};
use rustc_hash::FxHashSet;

use crate::align::{self, FunctionDifference, Side};
use crate::configure::{LineDifference, choose};
use crate::measure::Change;
use crate::uses::{self, Redefined};

/// The text of one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path, as it is to be shown.
    pub path: String,
    /// Its text.
    pub text: Vec<u8>,
}

/// The two versions of a file. An added or removed file has only one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Before.
    pub old: Option<Source>,
    /// After.
    pub new: Option<Source>,
}

/// Whether a function was added, removed or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is there in both versions and differs.
    Changed,
    /// It has another name than before, which is given.
    Renamed(String),
    /// It came from another file, which is given.
    MovedFrom(String),
}

/// A function that changed, with its difference.
#[derive(Clone, Debug)]
pub struct FunctionChange {
    /// The file: an index of the changes given.
    pub file: usize,
    /// Its index in the new outline of the file; none if it was removed.
    pub index: Option<usize>,
    /// Its name; the old one if it was removed.
    pub name: String,
    /// Its line in the new version; in the old one if it was removed.
    pub line: u32,
    /// What became of it.
    pub status: Status,
    /// What changed in it.
    pub difference: FunctionDifference,
}

/// Something that could not be measured exactly, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Changed lines in branches of conditional directives other than those that were measured.
    OtherBranches {
        /// The file.
        path: String,
        /// How many lines.
        lines: usize,
    },
    /// Changed lines that could not be read as C.
    NotRead {
        /// The file.
        path: String,
        /// The first of them.
        line: u32,
        /// How many.
        lines: usize,
    },
    /// A macro or a variable that other files use changed, and those are not known.
    UsesElsewhere {
        /// Their names.
        names: Vec<String>,
    },
    /// A changed statement that control never comes to.
    Unreachable {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// The line.
        line: u32,
    },
    /// A changed function in which something could not be read and was taken as plain statements.
    Unclear {
        /// The file.
        path: String,
        /// The function.
        function: String,
        /// The line.
        line: u32,
    },
}

/// The changes outside of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Declarations, types and global variables that were added, removed or differ.
    pub declarations: usize,
    /// Directives, macros above all.
    pub directives: usize,
}

/// All differences between two versions of a set of files.
#[derive(Debug, Default)]
pub struct Differences {
    /// The new outline of each file; an empty one where it was removed.
    pub outlines: Vec<Outline>,
    /// Functions that changed, by file and line.
    pub functions: Vec<FunctionChange>,
    /// What changed outside of them.
    pub outside: Outside,
    /// What could not be measured as it should.
    pub notes: Vec<Note>,
    /// Names of macros and variables that mean something else than before in all files.
    pub redefined: Vec<String>,
}

struct FilePair {
    old: Outline,
    new: Outline,
}

/// A function by file and index.
type Name = (usize, usize);

/// Two functions of other names are one if this part of their actions is the same.
const SAME_FUNCTION: f64 = 0.6;
/// Pairs of functions without a partner of their name that are compared, in a file.
const MOST_PAIRS: usize = 10_000;

/// Compares the two versions of the files of a change.
pub fn compare(change: &Change) -> Differences {
    let changes = &change.files;
    let mut found = Differences::default();
    let mut pairs = Vec::new();
    for file in changes {
        pairs.push(read_pair(file, change, &mut found));
    }
    let matches = match_functions(changes, &pairs);
    let redefined = Redefined::find(changes, pairs.iter().map(|pair| [&pair.old, &pair.new]));
    found.redefined = redefined
        .everywhere()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let text = |source: &Option<Source>| source.as_ref().map_or(&[][..], |s| &s.text).to_vec();
    let texts: Vec<(Vec<u8>, Vec<u8>)> = changes
        .iter()
        .map(|change| (text(&change.old), text(&change.new)))
        .collect();
    for (old, new) in matches {
        let old_side = old.map(|(file, index)| Side {
            function: &pairs[file].old.functions[index],
            source: &texts[file].0,
        });
        let new_side = new.map(|(file, index)| Side {
            function: &pairs[file].new.functions[index],
            source: &texts[file].1,
        });
        let Some(((file, _), about)) = new.zip(new_side).or(old.zip(old_side)) else {
            continue;
        };
        let (status, difference) = match (old_side, new_side) {
            (Some(old_side), Some(new_side)) => {
                let mut difference = align::compare(old_side, new_side);
                let (function, source) = (new_side.function, new_side.source);
                let uses = redefined.uses(file, function, source, &difference.redeclared);
                uses::mark(&mut difference.altered, uses);
                let old_name = &old_side.function.name;
                let old_file = old.map_or(file, |(file, _)| file);
                let status = if *old_name != new_side.function.name {
                    Status::Renamed(old_name.clone())
                } else if old_file != file {
                    let path = changes[old_file].old.as_ref().map(|s| s.path.clone());
                    Status::MovedFrom(path.unwrap_or_default())
                } else {
                    Status::Changed
                };
                // A function that only changed its name has, apart from it, the header that it had.
                if matches!(status, Status::Renamed(_)) {
                    difference.signature = true;
                }
                if difference.is_empty() && status == Status::Changed {
                    continue;
                }
                (status, difference)
            }
            (None, Some(new_side)) => (Status::Added, align::added(new_side)),
            _ => (Status::Removed, FunctionDifference::default()),
        };
        if let (Some(line), Some((file, _))) = (about.function.unclear_line, new) {
            found.notes.push(Note::Unclear {
                path: changes[file]
                    .new
                    .as_ref()
                    .map_or(String::new(), |s| s.path.clone()),
                function: about.function.name.clone(),
                line,
            });
        }
        found.functions.push(FunctionChange {
            file,
            index: new.map(|(_, index)| index),
            name: about.function.name.clone(),
            line: about.function.line,
            status,
            difference,
        });
    }
    found
        .functions
        .sort_by_key(|function| (function.file, function.index.is_none(), function.line));
    found.outlines = pairs.into_iter().map(|pair| pair.new).collect();
    found
}

/// Reads both versions of a file in the configuration in which they differ.
fn read_pair(file: &FileChange, change: &Change, found: &mut Differences) -> FilePair {
    let old_text = file.old.as_ref().map_or(&[][..], |s| &s.text);
    let new_text = file.new.as_ref().map_or(&[][..], |s| &s.text);
    let lines = LineDifference::of(old_text, new_text);
    let directives = |side: usize, source: &Option<Source>, text| {
        let path = source.as_ref().map_or("", |source| source.path.as_str());
        let version = change.versions.as_ref().map(|versions| &versions[side]);
        let known = change.definitions.of(path, version);
        Directives::read_in(text, &known.setting())
    };
    let old_directives = directives(0, &file.old, old_text);
    let new_directives = directives(1, &file.new, new_text);
    let choice = choose(&old_directives, &new_directives, &lines);
    let old = read(old_text, &old_directives, &choice.old);
    let new = read(new_text, &new_directives, &choice.new);
    let source = file.new.as_ref().or(file.old.as_ref());
    let path = source.map_or(String::new(), |s| s.path.clone());
    if choice.left_out > 0 {
        found.notes.push(Note::OtherBranches {
            path: path.clone(),
            lines: choice.left_out,
        });
    }
    let unread: BTreeSet<u32> = new
        .unclear
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .filter(|line| {
            lines.new.contains(line) && !new.functions.iter().any(|f| contains_line(f, *line))
        })
        .collect();
    if let Some(line) = unread.first() {
        found.notes.push(Note::NotRead {
            path,
            line: *line,
            lines: unread.len(),
        });
    }
    let outside = |outline: &Outline, directives: bool| {
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        for item in &outline.top_level {
            let is_include = item
                .text
                .trim_start_matches(['#', ' '])
                .starts_with("include");
            if item.text.starts_with('#') == directives && !is_include {
                *texts.entry(item.text.clone()).or_default() += 1;
            }
        }
        texts
    };
    for directives in [false, true] {
        let (old, new) = (outside(&old, directives), outside(&new, directives));
        let fewer = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| -> usize {
            a.iter()
                .map(|(text, n)| n.saturating_sub(b.get(text).copied().unwrap_or(0)))
                .sum()
        };
        // One that differs is there in both.
        let count = fewer(&old, &new).max(fewer(&new, &old));
        if directives {
            found.outside.directives += count;
        } else {
            found.outside.declarations += count;
        }
    }
    FilePair { old, new }
}

fn contains_line(function: &Function, line: u32) -> bool {
    let last = function.actions.iter().map(|action| action.line).max();
    function.line <= line && line <= last.unwrap_or(function.line)
}

/// Pairs the functions of the two versions: by file and name, then by name, then by what they do.
fn match_functions(
    changes: &[FileChange],
    pairs: &[FilePair],
) -> Vec<(Option<Name>, Option<Name>)> {
    let mut matches = Vec::new();
    let (mut old_left, mut new_left): (Vec<Name>, Vec<Name>) = (Vec::new(), Vec::new());
    for (file, pair) in pairs.iter().enumerate() {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, function) in pair.old.functions.iter().enumerate().rev() {
            by_name.entry(&function.name).or_default().push(index);
        }
        for (index, function) in pair.new.functions.iter().enumerate() {
            match by_name.get_mut(function.name.as_str()).and_then(Vec::pop) {
                Some(old) => matches.push((Some((file, old)), Some((file, index)))),
                None => new_left.push((file, index)),
            }
        }
        let mut rest: Vec<usize> = by_name.into_values().flatten().collect();
        rest.sort_unstable();
        old_left.extend(rest.into_iter().map(|index| (file, index)));
    }
    let old_name = |(file, index): Name| pairs[file].old.functions[index].name.as_str();
    let new_name = |(file, index): Name| pairs[file].new.functions[index].name.as_str();
    new_left.retain(|new| {
        let found = old_left
            .iter()
            .position(|old| old_name(*old) == new_name(*new));
        if let Some(at) = found {
            matches.push((Some(old_left.remove(at)), Some(*new)));
        }
        found.is_none()
    });
    if old_left.len() * new_left.len() <= MOST_PAIRS {
        let actions = |source: &Option<Source>, function: &Function| -> FxHashSet<String> {
            let text = source.as_ref().map_or(&[][..], |s| &s.text);
            function
                .actions
                .iter()
                .map(|action| action.text(text))
                .collect()
        };
        let mut scores = Vec::new();
        for old in &old_left {
            let before = actions(&changes[old.0].old, &pairs[old.0].old.functions[old.1]);
            for new in new_left.iter().filter(|new| new.0 == old.0) {
                let after = actions(&changes[new.0].new, &pairs[new.0].new.functions[new.1]);
                let common = before.intersection(&after).count();
                let score = 2.0 * common as f64 / (before.len() + after.len()).max(1) as f64;
                if score >= SAME_FUNCTION {
                    scores.push((score, *old, *new));
                }
            }
        }
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, old, new) in scores {
            if old_left.contains(&old) && new_left.contains(&new) {
                old_left.retain(|other| *other != old);
                new_left.retain(|other| *other != new);
                matches.push((Some(old), Some(new)));
            }
        }
    }
    matches.extend(old_left.into_iter().map(|old| (Some(old), None)));
    matches.extend(new_left.into_iter().map(|new| (None, Some(new))));
    matches
}
