//! Lists the candidates of a source's locations in the order of the search, without building or executing
//! anything.
//!
//! Measurements of the space go through them. Which space a location has at which cost is decided where the search asks for it, too (`family::Locations`).

use std::path::Path;

use patchwright_csource::TranslationUnit;
use patchwright_space::{CandidateId, Schema, Schemas, Shown, Space, SpaceLimits, term::Pointees};
use patchwright_text::{Edit, Span};
use patchwright_weave::HoleId;

use crate::{
    RepairOptions,
    family::{Locations, Unit, families},
    instrumented::{HoleEntry, SourceFile},
    locate::locate,
    order::{Step, steps},
    read::{Plan, largest_first},
    relations::Relations,
};

/// The locations of functions with their candidates, in the order of a search in which all tests execute
/// all locations.
pub struct Candidates {
    /// The source in its ways.
    pub files: Vec<SourceFile>,
    /// The locations.
    pub holes: Vec<HoleEntry>,
    /// Why functions that were asked for have no location, if so.
    pub refused: Vec<(Span, String)>,
    units: Vec<Unit>,
    steps: Vec<Step>,
    schemas: Schemas,
    limits: SpaceLimits,
}

/// The candidates of one cost at one location, and for assignments of one variable.
pub struct Level<'c> {
    /// The location.
    pub entry: &'c HoleEntry,
    /// The cost.
    pub cost: u32,
    /// Levels are explored in the order of these numbers.
    pub place: usize,
    source: &'c [u8],
    pointees: &'c Pointees,
    space: &'c Space,
}

impl Candidates {
    /// Finds the candidates of a source that is compiled in the ways `units`, in those functions for
    /// whose span `is_read` holds. `linked` tells whether the program has a function of a name.
    pub fn of(
        relative: &Path,
        mut units: Vec<TranslationUnit>,
        options: &RepairOptions,
        is_read: &dyn Fn(Span) -> bool,
        linked: &dyn Fn(&str) -> bool,
    ) -> Self {
        largest_first(&mut units);
        let located = locate(
            units,
            options.leaves,
            options.schemas,
            &Shown::default(),
            &[],
            (&|_| true, is_read),
            (linked, &options.kinds),
        );
        let (mut plans, mut holes, mut next) = (Vec::new(), Vec::new(), 0);
        let mut refused = Vec::new();
        for way in located.ways {
            for (index, reason) in &way.all {
                let span = way.unit.functions[*index].span;
                if let Some(reason) = reason.clone().filter(|_| is_read(span)) {
                    refused.push((span, reason));
                }
            }
            plans.push(Plan::new(plans.len(), relative, way, &mut next, &mut holes));
        }
        for (number, entry) in holes.iter_mut().enumerate() {
            entry.id = HoleId(number as u32);
        }
        let (units, _, _) = families(&holes, Relations::Both);
        let steps = steps(&units, &holes, options, false);
        Candidates {
            files: plans.into_iter().map(|plan| plan.file).collect(),
            holes,
            refused,
            units,
            steps,
            schemas: options.schemas,
            limits: options.space,
        }
    }

    /// Calls `visit` with the candidates of each location, up to the cost that `most` gives. Those of
    /// one location come together; [`Level::place`] has the order of the search.
    pub fn each_level(&self, most: &dyn Fn(&HoleEntry) -> u32, visit: &mut dyn FnMut(&Level<'_>)) {
        let locations = Locations {
            holes: &self.holes,
            files: &self.files,
            schemas: self.schemas,
        };
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.units.len()];
        for (place, step) in self.steps.iter().enumerate() {
            places[step.unit].push(place);
        }
        for (unit, places) in self.units.iter().zip(&places) {
            let entry = &self.holes[unit.entry];
            let file = &self.files[entry.file];
            let most = most(entry);
            // Larger terms cost more.
            let limits = SpaceLimits {
                term_size: self.limits.term_size.min(most),
                ..self.limits
            };
            let mut known: Option<Space> = None;
            for &place in places {
                let cost = self.steps[place].cost;
                if cost > most || !locations.may_have(unit, cost, self.limits) {
                    continue;
                }
                let space = match (known.take(), unit.target) {
                    (Some(space), None) => space,
                    _ => locations.space(unit, cost, limits),
                };
                visit(&Level {
                    entry,
                    cost,
                    place,
                    source: &file.unit.source,
                    pointees: file.types.pointees(),
                    space: &space,
                });
                known = Some(space);
            }
        }
    }
}

impl Level<'_> {
    /// Returns the candidates in order.
    pub fn ids(&self) -> Vec<CandidateId> {
        let blocks = self.space.blocks.iter().enumerate();
        let own = blocks.filter(|(_, block)| block.cost == self.cost);
        own.flat_map(|(number, block)| {
            let lanes = self.space.lanes(block).into_iter();
            lanes.map(move |lane| CandidateId {
                block: number as u32,
                lane,
            })
        })
        .collect()
    }

    /// Returns the kind of change of a candidate.
    pub fn kind(&self, id: CandidateId) -> Schema {
        self.space.blocks[id.block as usize].schema
    }

    /// Whether `is_known` holds for all variables, members and elements in the term of a candidate.
    /// Candidates without a term have none.
    pub fn is_filled_with(&self, id: CandidateId, is_known: &mut dyn FnMut(&str) -> bool) -> bool {
        let Some(filling) = self.space.filling(id, self.pointees) else {
            return false;
        };
        let table = &self.space.hole.atoms.table;
        let mut atoms = filling.atoms().into_iter();
        atoms.all(|atom| is_known(&table[atom].spelling))
    }

    /// Returns a candidate as an edit of the source, or `None` if it has no text or changes nothing.
    pub fn edit(&self, id: CandidateId) -> Option<Edit> {
        let edit = self.space.edit(id, self.source, self.pointees)?;
        (self.source[edit.span.range()] != edit.text[..]).then_some(edit)
    }
}
