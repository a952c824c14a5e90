//! Tells how unlikely each candidate of a search is, before anything passes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use patchwright_space::Schema;
use patchwright_text::Edit;

use crate::{
    evasion::is_evasion,
    instrumented::{HoleEntry, SourceFile},
    likelihood::{Change, FunctionFacts, Weights, surprise::Habits},
    ranking::bits_of_location,
};

/// The bits for what keeps something from happening.
const BITS_OF_EVASION: f64 = 4.0;

/// Judges candidates by [`Weights::bits`]. What it finds out about functions and files is kept.
pub(crate) struct Judge<'a> {
    holes: &'a [HoleEntry],
    files: &'a [SourceFile],
    weights: &'a Weights,
    /// Failing tests crash.
    crash: bool,
    /// The nearest that a location is to a crash.
    nearest: f64,
    facts: Mutex<BTreeMap<(usize, usize), Arc<FunctionFacts<'a>>>>,
    habits: Mutex<BTreeMap<usize, Arc<Habits<'a>>>>,
}

impl<'a> Judge<'a> {
    /// Prepares to order patches. `crash` says that a failing test crashes.
    pub(crate) fn new(
        holes: &'a [HoleEntry],
        files: &'a [SourceFile],
        weights: &'a Weights,
        crash: bool,
    ) -> Self {
        let nearest = holes.iter().map(|hole| hole.nearness);
        Judge {
            holes,
            files,
            weights,
            crash,
            nearest: nearest.fold(0.0, f64::max),
            facts: Mutex::default(),
            habits: Mutex::default(),
        }
    }

    /// Returns the unlikelihood of a change at a location in bits, wherever tests execute it; `None` if it changes no text.
    pub(crate) fn bits(
        &self,
        location: usize,
        edit: &Edit,
        kind: Schema,
        cost: u32,
    ) -> Option<f64> {
        let entry = &self.holes[location];
        let file = &self.files[entry.file];
        let source = &file.unit.source;
        if source[edit.span.range()] == edit.text[..] {
            return None;
        }
        let function = &file.unit.functions[entry.hole.function];
        let traits = self.facts(entry).traits(Change {
            source,
            edit,
            kind,
            cost,
            is_local: function.span.contains_span(edit.span),
            crash: self.crash,
        });
        let of_crash = match self.crash {
            true => bits_of_location(entry.nearness, self.nearest, kind),
            false => 0.0,
        };
        let of_evasion = match is_evasion(source, edit, kind, self.crash) {
            true => BITS_OF_EVASION,
            false => 0.0,
        };
        Some(self.weights.bits(&traits) + of_crash + of_evasion)
    }

    fn facts(&self, entry: &HoleEntry) -> Arc<FunctionFacts<'a>> {
        let unit = &self.files[entry.file].unit;
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = facts
            .entry((entry.file, entry.hole.function))
            .or_insert_with(|| {
                let mut habits = self.habits.lock().unwrap_or_else(PoisonError::into_inner);
                let habits = habits
                    .entry(entry.file)
                    .or_insert_with(|| Arc::new(Habits::of(&unit.source)));
                let facts = FunctionFacts::of(unit, &unit.functions[entry.hole.function]);
                Arc::new(facts.with_habits(Arc::clone(habits)))
            });
        Arc::clone(known)
    }
}
