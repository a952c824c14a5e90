//! What an exploration leaves: verdicts, plausible classes with their likeliest members, candidates without a verdict.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_semantics::Instruction;
use patchwright_space::{CandidateId, GroupId, HoleKind, Schema};
use patchwright_text::Edit;

use crate::{
    Event,
    exploration::{Exploration, Status},
    found::{Explored, ExploredCandidate, FoundClass, SharedClass},
    put_off::Deferred,
    search::Search,
};

/// Members of a plausible class that are looked at.
const MEMBERS_LOOKED_AT: usize = 2000;

/// Members of a plausible class that are kept, of each kind of change.
pub(crate) const KEPT_MEMBERS: usize = 40;

/// The number of locations without classes that messages name.
const PLACES_TOLD: usize = 3;

impl Search<'_> {
    /// Keeps the verdicts at the location, if they are to be kept.
    pub(crate) fn keep_decided(&mut self, exploration: &mut Exploration<'_>) {
        let number = self.units[exploration.unit].entry;
        let source = &self.files[self.holes[number].file].unit.source;
        let (space, pointees) = (exploration.space, exploration.pointees);
        for (verdict, candidates) in std::mem::take(&mut exploration.decided) {
            let candidates = candidates
                .into_iter()
                .filter_map(|id| {
                    Some(ExploredCandidate {
                        edit: space.edit(id, source, pointees)?,
                        reads_unbounded: space.reads_unbounded(id, pointees),
                    })
                })
                .collect();
            self.found.verdicts.push(Explored {
                entry: number,
                cost: exploration.cost,
                verdict,
                candidates,
            });
        }
    }

    /// Keeps the plausible candidates, class by class.
    pub(crate) fn keep_all_plausible(&mut self, exploration: &Exploration<'_>) {
        let (space, pointees) = (exploration.space, exploration.pointees);
        let mut plausible: Vec<(CandidateId, GroupId, usize)> =
            (0..exploration.level.group_count())
                .filter(|&group| matches!(exploration.status[group], Status::Plausible))
                .filter_map(|group| {
                    let known = exploration.level.group(group as GroupId)?;
                    Some((known.representative, group as GroupId, known.count))
                })
                .collect();
        plausible.sort_unstable();
        for (representative, group, count) in plausible {
            self.found.stats.plausible += count as u64;
            let code = space.code(representative, pointees).unwrap_or_default();
            let shared = self.shared_class(exploration.unit, &exploration.tests, &code);
            self.keep_plausible(FoundClass {
                shared,
                ..self.class(exploration, group, count)
            });
        }
    }

    /// A group of plausible candidates as a class.
    pub(crate) fn class(
        &self,
        exploration: &Exploration<'_>,
        group: GroupId,
        count: usize,
    ) -> FoundClass {
        let number = self.units[exploration.unit].entry;
        let unit = &self.files[self.holes[number].file].unit;
        let source = &unit.source;
        let function = unit.functions[self.holes[number].hole.function].span;
        let (space, pointees) = (exploration.space, exploration.pointees);
        let members: Vec<(Edit, Schema)> = exploration
            .level
            .members(group)
            .filter_map(|id| {
                let schema = space.blocks[id.block as usize].schema;
                Some((space.edit(id, source, pointees)?, schema))
            })
            .filter(|(edit, _)| source[edit.span.range()] != edit.text[..])
            .take(MEMBERS_LOOKED_AT)
            .collect();
        let members = self.likeliest(number, exploration.cost, members);
        let is_guard = matches!(self.holes[number].hole.kind, HoleKind::Guard { .. });
        let first = exploration.level.group(group).filter(|_| is_guard);
        let code = first.and_then(|first| space.code(first.representative, pointees));
        let (tests, states) = (&exploration.tests, &self.states[exploration.unit].states);
        let family = &self.families[self.units[exploration.unit].family];
        let is_never =
            code.is_some_and(|code| family.is_always_zero(tests, exploration.unit, states, &code));
        let mut edits = members.iter().map(|(edit, _)| edit.span);
        FoundClass {
            entry: number,
            cost: exploration.cost,
            count,
            is_local: edits.all(|span| function.contains_span(span)),
            is_never,
            members,
            shared: None,
            header: None,
        }
    }

    /// The first of these changes of a location and the likeliest of each kind, as many as are kept, in their order. One kind may have so
    /// many that others would not be seen.
    fn likeliest(
        &self,
        location: usize,
        cost: u32,
        members: Vec<(Edit, Schema)>,
    ) -> Vec<(Edit, Schema)> {
        let mut of_kind: BTreeMap<Schema, Vec<usize>> = BTreeMap::new();
        for (number, (_, schema)) in members.iter().enumerate() {
            of_kind.entry(*schema).or_default().push(number);
        }
        let mut kept: BTreeSet<usize> = BTreeSet::from([0]);
        for (schema, mut own) in of_kind {
            if own.len() > KEPT_MEMBERS {
                own.sort_by_cached_key(|&number| {
                    let bits = self.judge.bits(location, &members[number].0, schema, cost);
                    // To a thousandth: floats have no order.
                    bits.map_or(i64::MAX, |bits| (bits * 1000.0) as i64)
                });
            }
            kept.extend(own.into_iter().take(KEPT_MEMBERS));
        }
        let numbered = members.into_iter().enumerate();
        let kept = numbered.filter(|(number, _)| kept.contains(number));
        kept.map(|(_, member)| member).collect()
    }

    /// What tells plausible candidates at several places of one variable to be of one class.
    fn shared_class(
        &self,
        unit: usize,
        tests: &[usize],
        code: &[Instruction],
    ) -> Option<SharedClass> {
        let number = self.units[unit].family;
        let family = &self.families[number];
        family.watch.as_ref()?;
        let classes = family.classes_of(tests, unit, &self.states[unit].states, code)?;
        Some((number, classes))
    }

    /// Counts and reports the candidates that stay without a verdict, and puts them off.
    pub(crate) fn tell_left_out(&mut self, exploration: &Exploration<'_>) {
        if exploration.left_out.is_empty() || self.seeks_halves {
            return;
        }
        let level = &exploration.level;
        let groups = exploration.left_out.iter();
        let count: usize = groups
            .clone()
            .filter_map(|&group| level.group(group))
            .map(|group| group.count)
            .sum();
        self.found.stats.too_many_states += count as u64;
        let defers = self.defers(count);
        if defers {
            let mut candidates: Vec<CandidateId> =
                groups.flat_map(|&group| level.members(group)).collect();
            candidates.sort_unstable();
            self.deferred.push(Deferred {
                cost: exploration.cost,
                unit: exploration.unit,
                candidates: Some(candidates),
            });
        }
        let unit = &self.units[exploration.unit];
        let place = &self.holes[unit.entry].place;
        if self.families[unit.family].abandoned && self.told_left_out.insert(place.clone()) {
            let then = match defers {
                true => "executed one by one if nothing else is found",
                false => "left out",
            };
            let text = match self.told_left_out.len() {
                0..=PLACES_TOLD => format!(
                    "{place}: tests visit it too often, or not always in the same way, so candidates there form no classes; \
                     the other ones are {then}"
                ),
                n if n == PLACES_TOLD + 1 => {
                    "the same holds for further locations, which are not named".to_owned()
                }
                _ => return,
            };
            (self.surroundings.events)(Event::Warning(text));
        }
    }
}
