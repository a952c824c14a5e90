//! Measures one fix: its function before and after, and all candidates of that function.

use std::{collections::BTreeMap, error::Error, path::PathBuf, sync::Arc};

use patchwright_changes::git::{History, Item};
use patchwright_csource::{Clang, TranslationUnit};
use patchwright_exec::{CompileCommand, Worker, all_sources};
use patchwright_history::small_fixes::SmallFix;
use patchwright_repair::{
    RepairOptions,
    candidates::Candidates,
    instrumented::HoleEntry,
    likelihood::{
        Change, Form, FunctionFacts, changed, places, surprise::Habits, tokens::placed_tokens,
    },
    linked::Linked,
};
use patchwright_space::{HoleKind, Schema};
use patchwright_text::{Edit, Span};

use super::{
    data::{Developer, Measured, Sampled},
    same::{Same, Wanted},
};
use crate::random::Random;

/// So many bytes around a location may belong to what is changed there: the line before, or behind.
const NEAR: u32 = 80;

/// A built copy of the newest version of a repository.
pub struct Checkout<'a> {
    pub name: String,
    pub worker: Worker,
    pub commands: Vec<CompileCommand>,
    pub clang: Clang,
    pub history: &'a History,
    pub linked: Linked,
    /// The revision that the copy holds now.
    pub revision: String,
}

/// The result of measuring a fix.
pub enum Outcome {
    Measured(Box<Measured>),
    /// The build does not compile the file.
    NotBuilt,
    /// The file does not compile as it was, with what the newest version is compiled with.
    NotCompiled,
    /// The change is not one of the body of one function.
    NotOneFunction,
    /// The function has too many locations.
    TooLarge,
}

/// What to measure of each fix.
pub struct Request {
    /// Candidates that cost more are not counted.
    pub most_cost: u32,
    /// The developer's change is looked for among candidates up to this cost.
    pub sought_cost: u32,
    /// Functions with more locations are left out.
    pub locations: usize,
    /// So many candidates of each cost and kind are drawn.
    pub sample: usize,
    pub options: RepairOptions,
}

impl Checkout<'_> {
    /// Writes the files of a revision into the copy. The products of the build stay.
    pub fn lay(&mut self, revision: &str) -> Result<(), Box<dyn Error>> {
        for path in self.history.paths_between(&self.revision, revision)? {
            let sandbox = &self.worker.sandbox;
            let laid = match self.history.item(revision, &path)? {
                Some(Item::File {
                    contents,
                    executable,
                }) => sandbox.write(&path, &contents, Some(executable)),
                Some(Item::Link(_) | Item::Submodule) => Ok(()),
                None => sandbox.remove_file(&path),
            };
            if let Err(error) = laid {
                // A link, or a folder where a file was.
                eprintln!("{}: {error}", self.name);
            }
        }
        revision.clone_into(&mut self.revision);
        Ok(())
    }

    /// Returns the compile commands of each source.
    pub fn sources(&self) -> BTreeMap<PathBuf, Vec<CompileCommand>> {
        all_sources(&self.commands, &self.worker.sandbox)
    }

    /// Looks for the change among all candidates of its function.
    pub fn measure(
        &mut self,
        fix: &SmallFix,
        request: &Request,
    ) -> Result<Outcome, Box<dyn Error>> {
        self.lay(&fix.parent)?;
        let Some(commands) = self.sources().remove(&fix.path) else {
            return Ok(Outcome::NotBuilt);
        };
        let runner = &mut self.worker.runner;
        let units = patchwright_csource::parse_variants(&self.clang, runner, &commands, &fix.old);
        let units = match units {
            Ok(units) => units,
            Err(error) => {
                let (name, commit) = (&self.name, &fix.commit[..10]);
                eprintln!("{name} {commit}: {error}");
                return Ok(Outcome::NotCompiled);
            }
        };
        let Some((name, span, after)) = function(&units, &fix.old, &fix.new) else {
            return Ok(Outcome::NotOneFunction);
        };
        let before = &fix.old[span.range()];
        let linked = &self.linked;
        let overlaps = |other: Span| other.start < span.end && span.start < other.end;
        let candidates = Candidates::of(&fix.path, units, &request.options, &overlaps, &|name| {
            linked.has(name)
        });
        if candidates.holes.len() > request.locations {
            return Ok(Outcome::TooLarge);
        }
        let (old, new) = changed(before, after);
        let (form, places) = (Form::of(&old, &new), places(before, after));
        let mut measured = Measured {
            repository: self.name.clone(),
            commit: fix.commit.clone(),
            file: fix.path.display().to_string(),
            function: name,
            failure: fix.failure.name().to_owned(),
            form: form.name(),
            places,
            refused: candidates.refused.first().map(|(_, reason)| reason.clone()),
            candidates: Vec::new(),
            developer: None,
            sample: Vec::new(),
        };
        let mut random = Random(u64::from_str_radix(&fix.commit[..15], 16).unwrap_or(1));
        enumerate(
            &candidates,
            before,
            after,
            span,
            request,
            &mut random,
            &mut measured,
        );
        Ok(Outcome::Measured(Box::new(measured)))
    }
}

/// How many candidates of a cost and kind there are, and some of them: file and edit.
type Drawn = (u64, Vec<(usize, Edit)>);

/// Looks for the change, and if it is found counts all candidates and draws a sample of them.
fn enumerate(
    candidates: &Candidates,
    before: &[u8],
    after: &[u8],
    span: Span,
    request: &Request,
    random: &mut Random,
    measured: &mut Measured,
) {
    let Some(found) = find(candidates, before, after, span, request) else {
        return;
    };
    let mut facts: BTreeMap<usize, FunctionFacts<'_>> = BTreeMap::new();
    for entry in &candidates.holes {
        let unit = &candidates.files[entry.file].unit;
        facts.entry(entry.file).or_insert_with(|| {
            FunctionFacts::of(unit, &unit.functions[entry.hole.function])
                .with_habits(Arc::new(Habits::of(&unit.source)))
        });
    }
    let traits = |file: usize, edit: &Edit, kind, cost| {
        facts[&file].traits(Change {
            source: &candidates.files[file].unit.source,
            edit,
            kind,
            cost,
            is_local: true,
            crash: false,
        })
    };
    let mut drawn: BTreeMap<(u32, Schema), Drawn> = BTreeMap::new();
    measured.candidates = vec![0; request.most_cost as usize];
    let mut ahead = 0;
    candidates.each_level(&|_| request.most_cost, &mut |level| {
        let ids = level.ids();
        for (number, &id) in ids.iter().enumerate() {
            if (level.place, number) == (found.place, found.number) {
                continue;
            }
            let kind = level.kind(id);
            let (seen, kept) = drawn.entry((level.cost, kind)).or_default();
            *seen += 1;
            let at = match kept.len() < request.sample {
                true => kept.len(),
                false => random.below(*seen as usize),
            };
            if at < request.sample
                && let Some(edit) = level.edit(id)
            {
                let chosen = (level.entry.file, edit);
                match kept.get_mut(at) {
                    Some(old) => *old = chosen,
                    None => kept.push(chosen),
                }
            }
        }
        if level.place < found.place {
            ahead += ids.len() as u64;
        }
        measured.candidates[level.cost as usize - 1] += ids.len() as u64;
    });
    for ((cost, kind), (seen, kept)) in drawn {
        let weight = seen as f64 / kept.len().max(1) as f64;
        let kept = kept.iter().map(|(file, edit)| Sampled {
            weight,
            traits: traits(*file, edit, kind, cost),
        });
        measured.sample.extend(kept);
    }
    measured.developer = Some(Developer {
        respelled: found.same == Same::Respelled,
        rank: ahead + found.number as u64 + 1,
        traits: traits(found.file, &found.edit, found.kind, found.cost),
    });
}

/// A candidate that is the developer's change.
struct Found {
    /// The place of its level in the order of the search, and its number there.
    place: usize,
    number: usize,
    same: Same,
    file: usize,
    edit: Edit,
    kind: Schema,
    cost: u32,
}

/// The first candidate that is the change, in the order of the search.
fn find(
    candidates: &Candidates,
    before: &[u8],
    after: &[u8],
    span: Span,
    request: &Request,
) -> Option<Found> {
    let mut wanted = Wanted::new(before, after);
    let place = wanted.place();
    let place = Span::new(span.start + place.start, span.start + place.end);
    let most = |entry: &HoleEntry| match is_near(entry, place) {
        true => request.sought_cost,
        false => 0,
    };
    let mut found: Option<Found> = None;
    candidates.each_level(&most, &mut |level| {
        if found
            .as_ref()
            .is_some_and(|found| found.place < level.place)
        {
            return;
        }
        // Candidates of a block change the same place.
        let mut block: Option<(u32, bool)> = None;
        for (number, id) in level.ids().into_iter().enumerate() {
            if block.is_some_and(|(known, can_be)| known == id.block && !can_be)
                || !level.is_filled_with(id, &mut |text| wanted.has_names_of(text))
            {
                continue;
            }
            let Some(edit) = level.edit(id).filter(|edit| span.contains_span(edit.span)) else {
                continue;
            };
            let relative = Span::new(edit.span.start - span.start, edit.span.end - span.start);
            block = Some((id.block, wanted.can_be(relative)));
            if let Some(same) = wanted.is(relative, &edit.text) {
                found = Some(Found {
                    place: level.place,
                    number,
                    same,
                    file: level.entry.file,
                    edit,
                    kind: level.kind(id),
                    cost: level.cost,
                });
                return;
            }
        }
    });
    found
}

/// Whether changes at a location may be changes in `place`.
fn is_near(entry: &HoleEntry, place: Span) -> bool {
    let span = entry.hole.span;
    let is_free = matches!(entry.hole.kind, HoleKind::Choice(_) | HoleKind::Exit(_));
    is_free || span.start <= place.end + NEAR && place.start <= span.end + NEAR
}

/// The one function that differs between two texts of a file: its name, its place before, and its text after.
fn function<'n>(
    units: &[TranslationUnit],
    old: &[u8],
    new: &'n [u8],
) -> Option<(String, Span, &'n [u8])> {
    let (before, after) = (placed_tokens(old), placed_tokens(new));
    let begin = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a.0 == b.0)
        .count();
    let shorter = before.len().min(after.len());
    let end = before.iter().rev().zip(after.iter().rev());
    let end = end
        .take_while(|(a, b)| a.0 == b.0)
        .count()
        .min(shorter - begin);
    let functions = units.iter().flat_map(|unit| &unit.functions);
    functions
        .filter_map(|function| {
            let first = before.partition_point(|(_, at)| *at < function.body_span.start as usize);
            let last = before.partition_point(|(_, at)| *at < function.body_span.end as usize);
            // What comes in may belong to what is alike on both sides.
            let is_inside = first < begin + 1 && begin > first && before.len() - end < last;
            if !is_inside {
                return None;
            }
            let head = before.partition_point(|(_, at)| *at < function.span.start as usize);
            let start = after.get(head)?.1;
            let behind = before.len() - last;
            let (token, at) = after.get(after.len().checked_sub(behind + 1)?)?;
            let span = Span::new(function.span.start, function.body_span.end);
            Some((function.name.clone(), span, &new[start..at + token.len()]))
        })
        .next()
}
