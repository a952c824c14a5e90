//! Computes the places of a batch: where its patches differ in each function, with their alternatives.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_text::{Edit, Span};
use patchwright_weave::PlaceKind;
use rustc_hash::FxHashMap;

use crate::additions::other_names;
use crate::outside::{self, Renames};
use crate::plan::Plan;
use crate::planned::{PlannedPatch, SourceFile};
use crate::runs::{self, Finder, Run};
use crate::scan;

/// A part of a source (statements, a condition, a value or definitions) in whose place a woven program can run the texts of several
/// patches.
pub struct BatchPlace {
    pub file: usize,
    /// `None` outside of functions.
    pub function: Option<usize>,
    pub run: Run,
    /// The type of the value that stands there.
    pub value: Option<String>,
    /// The alternatives' texts, their lines in the patched file, and who has them.
    pub alternatives: Vec<BatchAlternative>,
    /// Patches that differ at places inside of this one.
    pub inside: Vec<u32>,
}

/// An alternative of a place, with the patches that have it.
pub struct BatchAlternative {
    pub text: Vec<u8>,
    pub line: u32,
    pub patches: Vec<u32>,
}

/// How much of a function an alternative replaces: each edit by itself, all edits together, or the whole
/// body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// Each edit has the smallest place that will hold it.
    #[default]
    Edits,
    /// All edits have one place.
    Together,
    /// The whole body is the place.
    Body,
}

impl Width {
    /// Returns the next wider choice, if this one is not accepted.
    pub fn wider(self) -> Option<Self> {
        match self {
            Width::Edits => Some(Width::Together),
            Width::Together => Some(Width::Body),
            Width::Body => None,
        }
    }
}

/// What a patch does to one function.
struct PatchEdits<'a> {
    /// Its number in the batch.
    patch: u32,
    planned: &'a PlannedPatch,
    edits: &'a [Edit],
    renames: &'a Renames,
    width: Width,
}

/// Returns the places of these members of the plan, which are the patches of a batch.
pub fn places(plan: &Plan, members: &[usize], widths: &BTreeMap<usize, Width>) -> Vec<BatchPlace> {
    let mut places = Vec::new();
    let renames = other_names(plan, members);
    for file in 0..plan.sources.len() {
        let source = &plan.sources[file];
        let mut by_function: BTreeMap<usize, Vec<PatchEdits<'_>>> = BTreeMap::new();
        for (number, member) in members.iter().enumerate() {
            let planned = &plan.patches[*member];
            for own in planned.files.iter().filter(|own| own.file == file) {
                for edits in &own.functions {
                    let known = by_function.entry(edits.function).or_default();
                    known.push(PatchEdits {
                        patch: number as u32,
                        planned,
                        edits: &edits.edits,
                        renames: &renames[number],
                        width: widths.get(member).copied().unwrap_or_default(),
                    });
                }
            }
        }
        for (function, patches) in by_function {
            places.extend(function_places(file, source, function, &patches));
        }
        places.extend(additions(plan, file, members, &renames));
    }
    places
}

/// What these patches add to a file outside of functions.
fn additions(plan: &Plan, file: usize, members: &[usize], renames: &[Renames]) -> Vec<BatchPlace> {
    let mut by_offset: BTreeMap<u32, Vec<BatchAlternative>> = BTreeMap::new();
    for (number, member) in members.iter().enumerate() {
        let files = &plan.patches[*member].files;
        let own = files.iter().filter(|own| own.file == file);
        for addition in own.flat_map(|own| &own.additions) {
            let text = outside::renamed(&addition.text, &renames[number]);
            let known = by_offset.entry(addition.offset).or_default();
            match known.iter_mut().find(|known| known.text == text) {
                Some(known) => known.patches.push(number as u32),
                None => known.push(BatchAlternative {
                    text,
                    line: addition.line,
                    patches: vec![number as u32],
                }),
            }
        }
    }
    let place = |(offset, alternatives)| BatchPlace {
        file,
        function: None,
        run: Run {
            span: Span::empty(offset),
            kind: PlaceKind::Definitions,
            to_the_end: true,
        },
        value: None,
        alternatives,
        inside: Vec::new(),
    };
    by_offset.into_iter().map(place).collect()
}

/// The places of one function.
fn function_places(
    file: usize,
    source: &SourceFile,
    function: usize,
    patches: &[PatchEdits<'_>],
) -> Vec<BatchPlace> {
    let text = &source.unit.source;
    let known = &source.unit.functions[function];
    let aims = patches
        .iter()
        .flat_map(|own| own.edits)
        .flat_map(|edit| scan::jumps(&edit.text));
    let aims: BTreeSet<String> = aims.collect();
    let ways = source.in_ways(function).into_iter();
    let finders = ways.map(|(unit, known)| Finder::new(unit, known, aims.clone()));
    let finder = Finders(finders.collect());
    // For each patch its edits in groups, each with its run.
    let mut runs: Vec<Vec<(Run, Vec<Edit>)>> = patches
        .iter()
        .map(|own| match own.width {
            Width::Edits => disjoint(&finder, groups(own.edits)),
            Width::Together => disjoint(&finder, vec![own.edits.to_vec()]),
            Width::Body => vec![(finder.whole_body(), own.edits.to_vec())],
        })
        .collect();
    // Runs of different patches that cross each other, or have the same span and differ in kind, become one.
    let mut all: Vec<Run> = runs.iter().flatten().map(|(run, _)| *run).collect();
    loop {
        all.sort_by_key(order);
        all.dedup();
        let crossing = crossing(&all);
        let Some((a, b)) = crossing else { break };
        let joined = join(&finder, a, b);
        all.retain(|run| *run != a && *run != b);
        all.push(joined);
        for (run, _) in runs.iter_mut().flatten() {
            if *run == a || *run == b {
                *run = joined;
            }
        }
    }
    // Groups of a patch that have come together, or lie in one another.
    for own in &mut runs {
        let mut merged: Vec<(Run, Vec<Edit>)> = Vec::new();
        own.sort_by_key(|(run, _)| order(run));
        for (run, edits) in own.drain(..) {
            match merged.last_mut() {
                Some((outer, all)) if holds(outer, &run) => all.extend(edits),
                _ => merged.push((run, edits)),
            }
        }
        for (_, edits) in &mut merged {
            edits.sort_by_key(|edit| edit.span);
        }
        *own = merged;
    }
    let mut places: Vec<BatchPlace> = all
        .into_iter()
        .map(|run| BatchPlace {
            file,
            function: Some(function),
            run,
            value: match run.kind {
                PlaceKind::Value => runs::value_type(&source.unit, known, run.span),
                _ => None,
            },
            alternatives: Vec::new(),
            inside: Vec::new(),
        })
        .collect();
    let mut numbers: FxHashMap<(usize, Vec<u8>, u32), usize> = FxHashMap::default();
    for (
        PatchEdits {
            patch,
            planned,
            renames,
            ..
        },
        own,
    ) in patches.iter().zip(&runs)
    {
        let planned_file = planned.files.iter().find(|own| own.file == file);
        for (run, edits) in own {
            let Some(place) = places.iter().position(|place| place.run == *run) else {
                continue;
            };
            let alternative = outside::renamed(&runs::alternative(text, run.span, edits), renames);
            // What is added where the run begins belongs to it.
            let at_start = edits.iter().filter(|edit| edit.span.end <= run.span.start);
            let own_lines: i64 = at_start.map(|edit| breaks(&edit.text)).sum();
            let line = i64::from(source.lines.line(run.span.start))
                + planned_file.map_or(0, |own| own.lines_before(run.span.start))
                - own_lines;
            let target = &mut places[place].alternatives;
            // What stands on another line may say so.
            let number = *numbers
                .entry((place, alternative, u32::try_from(line).unwrap_or(1)))
                .or_insert_with_key(|(_, text, line)| {
                    target.push(BatchAlternative {
                        text: text.clone(),
                        line: *line,
                        patches: Vec::new(),
                    });
                    target.len() - 1
                });
            target[number].patches.push(*patch);
            // The patch passes through the places round it.
            for place in &mut places {
                if place.run != *run && holds(&place.run, run) && place.inside.last() != Some(patch)
                {
                    place.inside.push(*patch);
                }
            }
        }
    }
    // No patch has an alternative here any more when all its edits lie in an outer place.
    places.retain(|place| !place.alternatives.is_empty());
    places
}

/// Finds places in a function that hold in each way in which its file is compiled; the first is that of the file's unit.
struct Finders<'a>(Vec<Finder<'a>>);

impl Finders<'_> {
    /// The place for edits that are one alternative.
    fn find(&self, edits: &[Edit]) -> Run {
        let mut runs = self.0.iter().map(|finder| finder.find(edits));
        match runs.next() {
            Some(first) if runs.all(|run| run == first) => first,
            _ => self.whole_body(),
        }
    }

    fn whole_body(&self) -> Run {
        self.0[0].whole_body()
    }
}

/// Edits that can be alternatives of places of their own. A `goto` and the label that it needs stand in one alternative, whose
/// labels nobody else sees.
fn groups(edits: &[Edit]) -> Vec<Vec<Edit>> {
    let jumps = |edit: &Edit| scan::jumps(&edit.text);
    let aims: BTreeSet<String> = edits.iter().flat_map(jumps).collect();
    let labels = |edit: &Edit| scan::labels(&edit.text);
    if edits.len() > 1
        && edits
            .iter()
            .flat_map(labels)
            .any(|label| aims.contains(&label))
    {
        return vec![edits.to_vec()];
    }
    edits.iter().map(|edit| vec![edit.clone()]).collect()
}

/// Groups of edits whose runs do not touch each other.
fn disjoint(finder: &Finders<'_>, groups: Vec<Vec<Edit>>) -> Vec<(Run, Vec<Edit>)> {
    let mut found: Vec<(Run, Vec<Edit>)> = Vec::new();
    for mut edits in groups {
        let mut run = finder.find(&edits);
        while let Some((last, _)) = found.last() {
            let apart = last.span.end <= run.span.start && !last.span.is_empty()
                || last.span.end < run.span.start;
            if apart {
                break;
            }
            let Some((_, mut before)) = found.pop() else {
                break;
            };
            before.append(&mut edits);
            edits = before;
            run = finder.find(&edits);
        }
        found.push((run, edits));
    }
    found
}

/// Outer runs before what they hold, empty runs before what begins where they stand.
fn order(run: &Run) -> (u32, bool, std::cmp::Reverse<u32>, PlaceKind) {
    (
        run.span.start,
        !run.span.is_empty(),
        std::cmp::Reverse(run.span.end),
        run.kind,
    )
}

/// Whether one run lies in another. An empty run at the bounds of another lies outside of it.
fn holds(outer: &Run, inner: &Run) -> bool {
    if inner.span.is_empty() {
        return outer.span.start < inner.span.start && inner.span.end < outer.span.end
            || outer == inner;
    }
    outer.span.contains_span(inner.span)
}

/// Two runs that can neither stand side by side nor in one another.
fn crossing(sorted: &[Run]) -> Option<(Run, Run)> {
    for (number, a) in sorted.iter().enumerate() {
        for b in &sorted[number + 1..] {
            if b.span.start > a.span.end {
                break;
            }
            let same = a.span == b.span;
            let touches = if a.span.is_empty() || b.span.is_empty() {
                same
            } else {
                a.span.overlaps(b.span) && !a.span.contains_span(b.span)
            };
            if same || touches {
                return Some((*a, *b));
            }
        }
    }
    None
}

/// One run in place of two.
fn join(finder: &Finders<'_>, a: Run, b: Run) -> Run {
    let span = Span::new(a.span.start.min(b.span.start), a.span.end.max(b.span.end));
    if a.kind == PlaceKind::Statements && b.kind == PlaceKind::Statements {
        return Run {
            span,
            kind: PlaceKind::Statements,
            to_the_end: a.span == b.span && (a.to_the_end || b.to_the_end)
                || a.to_the_end && a.span.end == span.end
                || b.to_the_end && b.span.end == span.end,
        };
    }
    finder.whole_body()
}

/// Line breaks in a text.
fn breaks(text: &[u8]) -> i64 {
    text.iter().filter(|byte| **byte == b'\n').count() as i64
}
