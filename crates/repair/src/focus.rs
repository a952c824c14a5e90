//! The suspicious statements with which a repair begins, and the number of locations that it looks at.

use std::{collections::BTreeSet, ops::Range, path::Path};

use patchwright_localize::{Localization, Ranked};
use patchwright_space::{Hole, HoleKind};
use patchwright_text::Span;

use crate::options::RepairOptions;

/// The number of statements of a stack that are looked at for what they demand.
const FRAMES: usize = 4;

/// The locations of the second round, if the user has given a budget of at least [`LONG`].
pub(crate) const MANY_LOCATIONS: usize = 1500;

/// If more than so many times the wanted locations share one suspicion, none of them is taken while there are others.
pub(crate) const TIE_FACTOR: usize = 3;

/// Returns where to cut a list after about `wanted` entries, if those in `tie` are equal: behind them, or before them if they are too many
/// and not the first.
pub(crate) fn cut(wanted: usize, tie: Range<usize>) -> usize {
    match tie.end > wanted * TIE_FACTOR && tie.start > 0 {
        true => tie.start,
        false => tie.end,
    }
}

/// The statements that all failing tests execute, most suspicious first.
pub struct Focus {
    found: Localization,
    ranked: Vec<Ranked>,
    /// The place in `ranked` of each statement.
    places: Vec<Option<usize>>,
}

impl Focus {
    /// `tests` are files, by index, in which nothing is looked for.
    pub(crate) fn new(
        found: Localization,
        options: &RepairOptions,
        tests: &BTreeSet<usize>,
    ) -> Self {
        let mut ranked = found.rank(options.formula).statements;
        ranked.retain(|one| {
            let file = found.statements[one.statement as usize].file;
            one.counts.failing == one.counts.all_failing && !tests.contains(&file)
        });
        let mut places = vec![None; found.statements.len()];
        for (place, one) in ranked.iter().enumerate() {
            places[one.statement as usize] = Some(place);
        }
        Focus {
            found,
            ranked,
            places,
        }
    }

    /// Returns the number of statements that all failing tests execute.
    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    /// Whether no statement is executed by all failing tests.
    pub fn is_empty(&self) -> bool {
        self.ranked.is_empty()
    }

    /// Returns the number of statements of the program.
    pub fn statements(&self) -> usize {
        self.found.statements.len()
    }

    /// Returns the file of the statement at a place of the order.
    pub fn file(&self, place: usize) -> &Path {
        let statement = self.ranked[place].statement as usize;
        &self.found.files[self.found.statements[statement].file].relative
    }

    /// Returns the rank, 0 for the most suspicious, of the smallest statement of the file `relative` that contains `span`. It is `None` if
    /// not all failing tests execute the statement.
    pub fn place(&self, relative: &Path, span: Span) -> Option<usize> {
        let mut files = self.found.files.iter();
        let file = files.position(|file| file.relative == relative)?;
        self.places[self.found.innermost(file, span)? as usize]
    }

    /// Returns the place in the order of the most suspicious part of a location. An expression includes its operands, which other tests may
    /// execute. `None` unless all failing tests execute a part of it.
    pub(crate) fn place_of(&self, relative: &Path, hole: &Hole) -> Option<usize> {
        let own = self.place(relative, hole.span);
        if !matches!(
            hole.kind,
            HoleKind::Expression { .. } | HoleKind::Refinement(_)
        ) {
            return own;
        }
        let mut files = self.found.files.iter();
        let file = files.position(|file| file.relative == relative)?;
        let held = self.found.inside(file, hole.span);
        let held = held.filter_map(|statement| self.places[statement as usize]);
        held.chain(own).min()
    }

    /// Returns the suspicion of the statement at a place of the order, by the tests that execute it.
    pub(crate) fn score(&self, place: usize) -> f64 {
        self.ranked[place].score
    }

    /// Whether one of the statements at `places` of the order stands in `span` of a file. It is also
    /// true if the function there is not observed.
    pub fn executes(&self, relative: &Path, span: Span, places: Range<usize>) -> bool {
        let mut observed = self.found.functions.iter();
        if !observed.any(|function| {
            let is_here = self.found.files[function.file].relative == relative;
            is_here && span.contains_span(function.body)
        }) {
            return true;
        }
        let mut ranked = self.ranked[places].iter();
        ranked.any(|one| {
            let statement = &self.found.statements[one.statement as usize];
            let is_here = self.found.files[statement.file].relative == relative;
            is_here && span.contains_span(statement.span)
        })
    }

    /// Returns the range of places whose statements are exactly as suspicious, and as near to
    /// crashes, as the statement at `place`.
    pub fn tie(&self, place: usize) -> Range<usize> {
        let key = |one: &Ranked| (one.suspiciousness.to_bits(), one.nearness.to_bits());
        let own = key(&self.ranked[place]);
        let before = self.ranked[..place].iter().rev();
        let behind = self.ranked[place..].iter();
        let alike = |one: &&Ranked| key(one) == own;
        let first = place - before.take_while(alike).count();
        first..place + behind.take_while(alike).count()
    }

    /// Returns how near the statement at a place of the order is to crashes, from 0 to 1.
    pub fn nearness(&self, place: usize) -> f64 {
        self.ranked[place].nearness
    }

    /// Whether the place of a failing test's crash is known.
    pub fn has_crash(&self) -> bool {
        let mut failing = self.found.tests.iter().filter(|test| !test.passes);
        failing.any(|test| !test.crash.is_empty())
    }

    /// Whether all failing tests crash at one statement.
    pub fn has_one_crash(&self) -> bool {
        let failing = self.found.tests.iter().filter(|test| !test.passes);
        let places: BTreeSet<Option<u32>> =
            failing.map(|test| test.crash.first().copied()).collect();
        places.len() == 1 && !places.contains(&None)
    }

    /// Returns the statements of a file in which failing tests crash, or which call the code that
    /// crashes.
    pub fn crashes(&self, relative: &Path) -> Vec<Span> {
        let mut found = Vec::new();
        let failing = self.found.tests.iter().filter(|test| !test.passes);
        for &statement in failing.flat_map(|test| test.crash.iter().take(FRAMES)) {
            let statement = &self.found.statements[statement as usize];
            let is_here = self.found.files[statement.file].relative == relative;
            if is_here && !found.contains(&statement.span) {
                found.push(statement.span);
            }
        }
        found
    }

    /// Returns the tests, by index, that execute one of the first `count` statements of the order.
    pub fn tests(&self, count: usize) -> BTreeSet<usize> {
        let first = |id: &u32| self.places[*id as usize].is_some_and(|place| place < count);
        let tests = self.found.tests.iter();
        tests
            .filter(|test| test.executed.iter().any(first))
            .map(|test| test.test)
            .chain(self.found.set_aside.iter().copied())
            .collect()
    }
}
