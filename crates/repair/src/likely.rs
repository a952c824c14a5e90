//! Executes the likeliest candidates first, wherever in a large program they stand.
//!
//! An execution of a large program takes long, so there is time for a few thousand. Its locations have millions of candidates. The order by
//! cost and suspicion ([`mod@crate::order`]) would spend all executions on cheap changes.
//!
//! Here each group of candidates gets the bits of all its members together ([`Weights::bits`](crate::likelihood::Weights::bits)), because one
//! execution decides all of them. A less suspicious location adds bits. So does each passing test in which the survey sees the group do
//! something else. The group with the fewest bits is executed next.
//!
//! Candidates are read when their turn may come: a location and cost is read before everything that is less likely than the best candidates
//! of its kind mostly are.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_space::{CandidateId, GroupId, HoleKind, Level, Space, SpaceLimits, term::Context};
use rustc_hash::FxHashSet;

use crate::{Event, RepairError, found::FoundClass, search::Search, survey::Survey};

/// Terms of at most so many nodes: most fixes add a comparison.
const TERM_SIZE: u32 = 3;

/// Spaces of about so many candidates at most.
const MOST_CANDIDATES: usize = 50_000;

/// Candidates that cost more come in the order of the whole search.
const MOST_COST: u32 = 4;

/// The number of members of a group that are read. All members do the same as far as the tests show.
const MEMBERS_READ: usize = 400;

/// Where no survey groups candidates, so many of a location and cost are read, and so many of these wait for their turn.
const LONE_READ: usize = 64;

/// See [`LONE_READ`].
const LONE_KEPT: usize = 6;

/// So many executions at one location and cost at a time.
const AT_ONE_LOCATION: u64 = 10;

/// Groups of the location whose turn it is have theirs at once if they have at most so many bits more: workers share them.
const AT_ONCE: f64 = 1.0;

/// The unlikelihood in bits up to which a brief round executes candidates. Four in five fixes of real histories that the search can make
/// are within it (`patchwright-bench fixes`). Less likely candidates wait for the likelier ones of other locations.
pub(crate) const BITS_OF_BRIEF: f64 = 10.0;

/// The part of the time for the search that likely candidates have.
pub(crate) const SHARE: f64 = 0.7;

/// At most so many executions, where no time is set.
const MOST_EXECUTIONS: u64 = 3000;

/// The first statements are equally suspicious, as far as anybody knows; each doubling of the place beyond them is a bit.
const FIRST_STATEMENTS: f64 = 8.0;

/// The bits for each passing test in which a candidate does something else, up to [`MOST_CHANGED`] tests.
const BITS_OF_CHANGED: f64 = 0.3;

/// See [`BITS_OF_CHANGED`].
const MOST_CHANGED: usize = 8;

/// The same where nobody knows in how many.
const BITS_OF_UNKNOWN: f64 = 1.0;

/// The best candidate of one in so many locations is likelier than what is expected of those that are not read yet.
const EXPECTED_OF: usize = 10;

/// The number of locations that are read before anything is expected.
const READ_AT_LEAST: usize = 12;

/// Candidates that the tests do not tell apart, as far as a survey shows, waiting for their turn.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    bits: f64,
    unit: usize,
    cost: u32,
    first: CandidateId,
    /// The likeliest.
    best: CandidateId,
}

impl Waiting {
    fn key(&self) -> (usize, u32, CandidateId) {
        (self.unit, self.cost, self.first)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_bits = self.bits.total_cmp(&other.bits);
        by_bits.then_with(|| self.key().cmp(&other.key()))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// How unlikely it is that one of these candidates is meant, and the likeliest of them; `None` if there are none.
fn together(members: impl Iterator<Item = (f64, CandidateId)>) -> Option<(f64, CandidateId)> {
    let mut sum = 0.0;
    let mut best: Option<(f64, CandidateId)> = None;
    for (bits, id) in members {
        sum += (-bits).exp2();
        if best.is_none_or(|(least, _)| bits < least) {
            best = Some((bits, id));
        }
    }
    best.map(|(_, id)| (-sum.log2(), id))
}

/// The kinds of locations whose candidates are about as likely as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Condition,
    Value,
    Choice,
    Assignment,
    Exit,
}

/// Locations of one sort and cost, of which the first are read.
#[derive(Default)]
struct Shelf {
    units: Vec<usize>,
    read: usize,
    /// The bits of the best candidate of each that has one, without those of the location; ascending.
    best: Vec<f64>,
}

impl Shelf {
    fn next(&self) -> Option<usize> {
        self.units.get(self.read).copied()
    }

    /// The bits that are expected of the best candidate of the next one; where the first ones have none, the others come last.
    fn expected(&self) -> f64 {
        if self.read < READ_AT_LEAST {
            return f64::NEG_INFINITY;
        }
        let best = self.best.get(self.best.len() / EXPECTED_OF);
        best.copied().unwrap_or(f64::MAX)
    }

    fn note(&mut self, bits: f64) {
        let at = self.best.partition_point(|known| *known < bits);
        self.best.insert(at, bits);
    }
}

/// What is known of the candidates, and which of them wait.
struct Likely {
    survey: Survey,
    /// The bits of each unit's location.
    of_location: Vec<f64>,
    shelves: BTreeMap<(Sort, u32), Shelf>,
    queue: BinaryHeap<Reverse<Waiting>>,
    done: FxHashSet<(usize, u32, CandidateId)>,
}

impl Search<'_> {
    /// Surveys the program and executes the likeliest candidates.
    ///
    /// # Errors
    /// When tests cannot be run.
    pub(crate) fn explore_likely(
        &mut self,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        self.found.executed_bits = f64::NEG_INFINITY;
        (self.surroundings.events)(Event::Phase("comparing what locations see in the tests"));
        let Some(survey) = self.survey(workers)? else {
            return Ok(());
        };
        tracing::info!(
            states = survey.len(),
            seconds = self.elapsed().as_secs_f64(),
            "surveyed"
        );
        (self.surroundings.events)(Event::Phase("searching"));
        let begun = self.found.stats.executions;
        let mut likely = self.likely(survey);
        loop {
            let executed = self.found.stats.executions - begun;
            let is_enough = self.options.budget.is_none() && executed >= MOST_EXECUTIONS;
            if self.is_over() || self.is_over_for(SHARE) || is_enough {
                return Ok(());
            }
            if let Some((sort, unit, cost)) = likely.next_unread() {
                self.read(&mut likely, sort, unit, cost);
                continue;
            }
            let Some(Reverse(next)) = likely.queue.pop() else {
                return Ok(());
            };
            self.found.executed_bits = next.bits;
            if self.options.until_bits.is_some_and(|most| next.bits > most) {
                return Ok(());
            }
            let is_abandoned = self.families[self.units[next.unit].family].abandoned;
            if !is_abandoned && likely.done.insert(next.key()) {
                self.explore_likely_at(&mut likely, next, workers)?;
                // Candidates have other numbers in the whole space.
                self.lone.retain(|(unit, ..), _| *unit != next.unit);
            }
        }
    }

    /// All that is known before candidates are read.
    fn likely(&self, survey: Survey) -> Likely {
        let entry = |unit: usize| &self.holes[self.units[unit].entry];
        let mut order: Vec<usize> = (0..self.units.len())
            .filter(|&unit| self.is_own(unit))
            .collect();
        order.sort_by(|&a, &b| entry(a).by_suspicion(entry(b)).then(a.cmp(&b)));
        let mut of_location = vec![0.0; self.units.len()];
        let mut statements = FxHashSet::default();
        let is_localized = self.holes.iter().any(|hole| hole.order > 0);
        let mut shelves: BTreeMap<(Sort, u32), Shelf> = BTreeMap::new();
        for unit in order {
            let hole = entry(unit);
            statements.insert((hole.file, hole.line));
            let place = match is_localized {
                true => hole.order,
                false => statements.len(),
            };
            of_location[unit] = (1.0 + place as f64 / FIRST_STATEMENTS).log2();
            let sort = match &hole.hole.kind {
                HoleKind::Choice(_) => Sort::Choice,
                HoleKind::Assignment(_) => Sort::Assignment,
                HoleKind::Exit(_) => Sort::Exit,
                _ if hole.hole.context == Context::Truth => Sort::Condition,
                _ => Sort::Value,
            };
            for cost in 1..=self.options.max_cost.min(MOST_COST) {
                shelves.entry((sort, cost)).or_default().units.push(unit);
            }
        }
        Likely {
            survey,
            of_location,
            shelves,
            queue: BinaryHeap::new(),
            done: FxHashSet::default(),
        }
    }

    /// The space of a unit, as far as likely candidates go.
    fn likely_space(&self, unit: usize, cost: u32) -> Option<Space> {
        if !self.has_level(unit, cost) {
            return None;
        }
        let limits = self.options.space;
        let limits = SpaceLimits {
            term_size: limits.term_size.min(TERM_SIZE),
            most: limits.most.min(MOST_CANDIDATES),
            ..limits
        };
        let space = self.space_within(unit, cost, limits);
        let has_cost = space.blocks.iter().any(|block| block.cost == cost);
        has_cost.then_some(space)
    }

    /// The groups of a level, each with the number of passing tests in which it does something else, if a survey tells.
    fn groups(
        &self,
        survey: &Survey,
        unit: usize,
        level: &mut Level<'_>,
    ) -> Vec<(Option<usize>, GroupId)> {
        if survey.has(unit) {
            let groups = survey.favoured(unit, level, &self.failing, usize::MAX);
            return groups
                .into_iter()
                .map(|(changed, group)| (Some(changed), group))
                .collect();
        }
        let mut groups = Vec::new();
        while groups.len() < LONE_READ && level.group(0).is_some() {
            groups.push((None, level.isolate(0)));
        }
        groups
    }

    /// Reads the candidates of one cost at a unit: those that may mend something wait for their turn.
    fn read(&self, likely: &mut Likely, sort: Sort, unit: usize, cost: u32) {
        let mut read: Vec<Waiting> = Vec::new();
        if let Some(space) = self.likely_space(unit, cost) {
            let file = self.units[unit].entry;
            let pointees = self.files[self.holes[file].file].types.pointees();
            let mut level = Level::new(&space, pointees, cost, 1);
            if level.group(0).is_some() {
                for (changed, group) in self.groups(&likely.survey, unit, &mut level) {
                    let Some(known) = level.group(group) else {
                        continue;
                    };
                    let members = level.members(group).take(MEMBERS_READ);
                    let bits = members.filter_map(|id| Some((self.bits(unit, &space, id)?, id)));
                    let Some((bits, best)) = together(bits) else {
                        continue;
                    };
                    let of_changed = changed.map_or(BITS_OF_UNKNOWN, |changed| {
                        changed.min(MOST_CHANGED) as f64 * BITS_OF_CHANGED
                    });
                    read.push(Waiting {
                        bits: bits + of_changed,
                        unit,
                        cost,
                        first: known.representative,
                        best,
                    });
                }
            }
        }
        if !likely.survey.has(unit) {
            read.sort_unstable();
            read.truncate(LONE_KEPT);
        }
        let best = read.iter().map(|waiting| waiting.bits);
        let best = best.fold(f64::INFINITY, f64::min);
        if let Some(shelf) = likely.shelves.get_mut(&(sort, cost))
            && best.is_finite()
        {
            shelf.note(best);
        }
        let of_location = likely.of_location[unit];
        if self.holes[self.units[unit].entry].order < self.prepared.looked_at.briefly {
            let executed = self.prepared.looked_at.executed_bits;
            read.retain(|waiting| waiting.bits + of_location >= executed);
        }
        likely.queue.extend(read.into_iter().map(|waiting| {
            Reverse(Waiting {
                bits: waiting.bits + of_location,
                ..waiting
            })
        }));
    }

    /// How unlikely a candidate of a unit is, in bits; `None` if it changes no text.
    fn bits(&self, unit: usize, space: &Space, id: CandidateId) -> Option<f64> {
        let location = self.units[unit].entry;
        let file = &self.files[self.holes[location].file];
        let edit = space.edit(id, &file.unit.source, file.types.pointees())?;
        let block = &space.blocks[id.block as usize];
        self.judge.bits(location, &edit, block.schema, block.cost)
    }

    /// Executes a group, and others of its location that are about as likely.
    fn explore_likely_at(
        &mut self,
        likely: &mut Likely,
        next: Waiting,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let Waiting { unit, cost, .. } = next;
        let Some(space) = self.likely_space(unit, cost) else {
            return Ok(());
        };
        let mut wanted = FxHashSet::from_iter([next.first]);
        let also = likely.queue.iter().map(|Reverse(waiting)| waiting);
        let also = also.filter(|waiting| {
            (waiting.unit, waiting.cost) == (unit, cost) && waiting.bits <= next.bits + AT_ONCE
        });
        wanted.extend(also.map(|waiting| waiting.first));
        let entry = &self.holes[self.units[unit].entry];
        let pointees = self.files[entry.file].types.pointees();
        let mut level = Level::new(&space, pointees, cost, workers.len());
        let mut groups: Vec<GroupId> = Vec::new();
        for (_, group) in self.groups(&likely.survey, unit, &mut level) {
            let first = level.group(group).map(|known| known.representative);
            if let Some(first) = first.filter(|first| wanted.contains(first)) {
                likely.done.insert((unit, cost, first));
                groups.push(group);
            }
        }
        tracing::info!(
            place = entry.place,
            cost,
            bits = next.bits,
            best = space
                .edit(next.best, &self.files[entry.file].unit.source, pointees)
                .map(|edit| String::from_utf8_lossy(&edit.text).into_owned()),
            of_location = likely.of_location[unit],
            groups = groups.len(),
            waiting = likely.queue.len(),
            "likely"
        );
        let before = self.found.stats.clone();
        let place = self.units[unit].entry;
        let reportable = self.reportable.get(&place).copied().unwrap_or(0);
        self.slice = Some(AT_ONE_LOCATION);
        let explored = self.explore_groups_of((unit, cost), &space, level, groups, workers);
        self.slice = None;
        self.count_effort(unit, &before);
        let stats = &self.found.stats;
        let reportable = self.reportable.get(&place).copied().unwrap_or(0) - reportable;
        let done = self.done_before.entry((unit, cost)).or_default();
        done.candidates += stats.candidates - before.candidates;
        done.explored += stats.explored - before.explored;
        done.undefined += stats.undefined - before.undefined;
        done.plausible += stats.plausible - before.plausible;
        done.classes += stats.plausible_classes - before.plausible_classes;
        done.reportable += reportable;
        explored
    }

    /// Takes back what was done before at a unit that has been explored in whole now: that is counted and kept once.
    pub(crate) fn forget_done_before(&mut self, unit: usize, cost: u32) {
        let Some(done) = self.done_before.remove(&(unit, cost)) else {
            return;
        };
        let stats = &mut self.found.stats;
        stats.candidates -= done.candidates;
        stats.explored -= done.explored;
        stats.undefined -= done.undefined;
        stats.plausible -= done.plausible;
        stats.plausible_classes -= done.classes;
        let entry = self.units[unit].entry;
        *self.reportable.entry(entry).or_default() -= done.reportable;
        let is_here = |class: &FoundClass| class.entry == entry && class.cost == cost;
        self.found.classes.retain(|class| !is_here(class));
    }
}

impl Likely {
    /// The unit and cost that is read next, if its best candidate may be likelier than what waits; it counts as read.
    fn next_unread(&mut self) -> Option<(Sort, usize, u32)> {
        let of_location = &self.of_location;
        let expected = |shelf: &Shelf| {
            let unit = shelf.next()?;
            Some(shelf.expected() + of_location[unit])
        };
        let each = self.shelves.iter();
        let each = each.filter_map(|(key, shelf)| Some((expected(shelf)?, *key)));
        let (bits, key) = each.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let waits = self.queue.peek();
        if waits.is_some_and(|Reverse(waiting)| waiting.bits < bits) {
            return None;
        }
        let shelf = self.shelves.get_mut(&key)?;
        let unit = shelf.next()?;
        shelf.read += 1;
        Some((key.0, unit, key.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(bits: f64, unit: usize) -> Waiting {
        let first = CandidateId { block: 0, lane: 0 };
        Waiting {
            bits,
            unit,
            cost: 1,
            first,
            best: first,
        }
    }

    /// Conditions of these units, of which so many have been read; each had a candidate of 5 bits.
    fn likely(units: usize, read: usize, of_location: &[f64]) -> Likely {
        let shelf = Shelf {
            units: (0..units).collect(),
            read,
            best: vec![5.0; read],
        };
        Likely {
            survey: Survey::default(),
            of_location: of_location.to_vec(),
            shelves: BTreeMap::from([((Sort::Condition, 1), shelf)]),
            queue: BinaryHeap::new(),
            done: FxHashSet::default(),
        }
    }

    #[test]
    fn the_candidates_with_the_fewest_bits_come_first() {
        let mut queue =
            BinaryHeap::from([waiting(7.0, 0), waiting(2.5, 2), waiting(2.5, 1)].map(Reverse));
        let order = std::iter::from_fn(|| queue.pop()).map(|Reverse(one)| one.unit);
        assert_eq!(order.collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn two_equally_likely_candidates_are_a_bit_likelier_together() {
        let of = |block| CandidateId { block, lane: 0 };
        let both = [(5.0, of(1)), (5.0, of(2))].into_iter();
        assert_eq!(together(both), Some((4.0, of(1))));
        assert_eq!(together(std::iter::empty()), None);
    }

    #[test]
    fn a_location_is_read_before_what_is_less_likely_than_its_best_candidates_mostly_are() {
        let read = READ_AT_LEAST;
        let mut of_location = vec![0.0; read];
        of_location.push(3.0);
        let mut likely = likely(read + 1, read, &of_location);
        likely.queue.push(Reverse(waiting(7.9, 0)));
        assert_eq!(likely.next_unread(), None);
        likely.queue.clear();
        likely.queue.push(Reverse(waiting(8.1, 0)));
        assert_eq!(likely.next_unread(), Some((Sort::Condition, read, 1)));
        assert_eq!(likely.next_unread(), None);
    }

    #[test]
    fn locations_without_candidates_of_a_cost_come_last() {
        let read = READ_AT_LEAST;
        let mut likely = likely(read + 1, read, &vec![0.0; read + 1]);
        likely
            .shelves
            .values_mut()
            .for_each(|shelf| shelf.best.clear());
        likely.queue.push(Reverse(waiting(40.0, 0)));
        assert_eq!(likely.next_unread(), None);
        likely.queue.clear();
        assert_eq!(likely.next_unread(), Some((Sort::Condition, read, 1)));
    }
}
