//! Executes first the few candidates that a survey favours.

use std::{collections::BTreeMap, ops::RangeInclusive};

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_space::{GroupId, Level, Space, SpaceLimits, term::Context};

use crate::{Event, RepairError, found::FoundClass, search::Search, survey::Survey};

/// What is executed at the locations of a tier, turn by turn: whether it is at conditions, and the costs. Conditions are what
/// people mend most. They have few classes, and what is added to one costs 2 or 3.
const TURNS: [(bool, RangeInclusive<u32>); 4] =
    [(true, 1..=3), (false, 1..=2), (true, 4..=4), (false, 3..=4)];

/// So many of the most suspicious locations are the first tier.
const TIER: usize = 200;

/// Each tier has so many times the locations of all before.
const FURTHER: usize = 4;

/// Terms of at most so many nodes: most fixes add a comparison.
const TERM_SIZE: u32 = 3;

/// Spaces of about so many candidates at most.
const MOST_CANDIDATES: usize = 50_000;

/// So many executions at one location and cost.
const AT_ONE_LOCATION: u64 = 10;

/// Candidates that change no more passing tests than that, and no more than there are failing ones, come first; at all locations they have
/// at most this part of the time for the search.
const FEW_PASSING: usize = 3;

/// See [`FEW_PASSING`].
const SHARE: f64 = 0.35;

/// Then come those that change no more than so many, up to this part of the time.
const SOME_PASSING: usize = 8;

/// See [`SOME_PASSING`].
const SHARE_OF_SOME: f64 = 0.5;

/// At most so many executions, where no time is set.
const MOST_EXECUTIONS: u64 = 3000;

/// A unit, and the cost of the candidates that are looked at there.
type Favoured = (usize, u32);

impl Search<'_> {
    /// Surveys the program and executes what is favoured.
    ///
    /// # Errors
    /// When tests cannot be run.
    pub(crate) fn explore_favoured(
        &mut self,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        (self.surroundings.events)(Event::Phase("comparing what locations see in the tests"));
        let Some(survey) = self.survey(workers)? else {
            return Ok(());
        };
        let mut units: Vec<usize> = survey.units().collect();
        units.sort_by(|&a, &b| {
            let entry = |unit: usize| &self.holes[self.units[unit].entry];
            entry(a).by_suspicion(entry(b)).then(a.cmp(&b))
        });
        tracing::info!(
            locations = units.len(),
            states = survey.len(),
            seconds = self.elapsed().as_secs_f64(),
            "surveyed"
        );
        (self.surroundings.events)(Event::Phase("searching"));
        let begun = self.found.stats.executions;
        let mut spaces: BTreeMap<usize, Space> = BTreeMap::new();
        let few = self.failing.len().clamp(1, FEW_PASSING);
        let steps = self.favoured_steps(&units);
        for (passing, share) in [(0..=few, SHARE), (few + 1..=SOME_PASSING, SHARE_OF_SOME)] {
            for &(unit, cost) in &steps {
                let executed = self.found.stats.executions - begun;
                if self.is_over() || executed >= MOST_EXECUTIONS {
                    return Ok(());
                }
                if self.is_over_for(share) {
                    break;
                }
                if self.families[self.units[unit].family].abandoned {
                    continue;
                }
                let limits = self.options.space;
                let space = spaces.entry(unit).or_insert_with(|| {
                    let limits = SpaceLimits {
                        term_size: limits.term_size.min(TERM_SIZE),
                        most: limits.most.min(MOST_CANDIDATES),
                        ..limits
                    };
                    self.space_within(unit, cost, limits)
                });
                if space.blocks.iter().any(|block| block.cost == cost) {
                    let at = (unit, cost, &passing);
                    self.explore_favoured_at(at, space, &survey, workers)?;
                    // Candidates have other numbers in the whole space.
                    self.lone.retain(|(other, ..), _| *other != unit);
                }
            }
        }
        Ok(())
    }

    /// Returns units with costs in the order in which they are looked at. Within a tier the most suspicious unit comes first. A turn at a
    /// tier follows the turn before it at the next tier. So likely changes of many places precede unlikely ones of few.
    fn favoured_steps(&self, units: &[usize]) -> Vec<Favoured> {
        let is_truth = |unit: usize| {
            let entry = &self.holes[self.units[unit].entry];
            entry.hole.context == Context::Truth
        };
        let mut portions: Vec<(usize, usize, Vec<Favoured>)> = Vec::new();
        let mut rest = units;
        let (mut size, mut tier) = (TIER, 0);
        while !rest.is_empty() {
            let (own, later) = rest.split_at(size.min(rest.len()));
            for (turn, (of_conditions, costs)) in TURNS.into_iter().enumerate() {
                let own = own.iter().filter(|unit| is_truth(**unit) == of_conditions);
                let own: Vec<usize> = own.copied().collect();
                let costs = costs.filter(|cost| *cost <= self.options.max_cost);
                let steps = costs.flat_map(|cost| own.iter().map(move |unit| (*unit, cost)));
                portions.push((tier + turn, turn, steps.collect()));
            }
            rest = later;
            size *= FURTHER;
            tier += 1;
        }
        portions.sort_by_key(|(place, turn, _)| (*place, *turn));
        portions.into_iter().flat_map(|(.., steps)| steps).collect()
    }

    fn explore_favoured_at(
        &mut self,
        (unit, cost, passing): (usize, u32, &RangeInclusive<usize>),
        space: &Space,
        survey: &Survey,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError> {
        let entry = &self.holes[self.units[unit].entry];
        let pointees = self.files[entry.file].types.pointees();
        let mut level = Level::new(space, pointees, cost, workers.len());
        if level.group(0).is_none() {
            return Ok(());
        }
        let mut groups = survey.favoured(unit, &mut level, &self.failing, *passing.end());
        groups.retain(|(changed, _)| passing.contains(changed));
        let first = |group: GroupId| level.group(group).map(|group| group.representative);
        groups.sort_by_key(|&(changed, group)| (changed, first(group)));
        groups.truncate(AT_ONE_LOCATION as usize);
        let groups: Vec<GroupId> = groups.into_iter().map(|(_, group)| group).collect();
        if groups.is_empty() {
            return Ok(());
        }
        tracing::info!(
            place = self.holes[self.units[unit].entry].place,
            cost,
            groups = groups.len(),
            "favoured"
        );
        let before = self.found.stats.clone();
        let place = self.units[unit].entry;
        let reportable = self.reportable.get(&place).copied().unwrap_or(0);
        self.slice = Some(AT_ONE_LOCATION);
        let explored = self.explore_groups_of((unit, cost), space, level, groups, workers);
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
