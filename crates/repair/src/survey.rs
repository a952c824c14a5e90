//! Surveys the original program in each test, which tells which candidates change something in all
//! failing tests and in few passing ones.
//!
//! A candidate parts from the original at the first state in which it has another value, and until then the program does what it
//! always does. So one run of the original in each test, with all locations logging, tells of every candidate in which tests it changes
//! anything, before a single one is executed. A candidate that changes nothing in some failing test cannot mend it. One that
//! changes something in all failing tests and in few passing tests is likelier to be right. Statements are ranked by the same
//! idea.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use patchwright_exec::Worker;
use patchwright_probe_image::{Channel, SurveyedHole, surveys_at_once};
use patchwright_semantics::Instruction;
use patchwright_space::{GroupId, HoleKind, Level, StateSet, original, term};
use rustc_hash::FxHashMap;

use crate::{RepairError, execute::SURVEYED_CPU_FACTOR, family::Unit, search::Search};

/// Of the time for a search, a survey takes at most this part. What it has not got to then counts as not changed.
const SHARE: f64 = 0.12;

/// Expressions inside of expressions are surveyed in runs of their own, down to this depth, because the inside of a surveyed
/// expression is not evaluated.
const MOST_LAYERS: usize = 3;

/// At most so many locations are surveyed, the most suspicious.
const MOST_UNITS: usize = 3072;

/// Up to so many candidates are evaluated in many states at once.
const FEW: usize = 64;

/// What one location sees.
#[derive(Default)]
struct SurveyedUnit {
    states: StateSet,
    /// The original's value in each.
    originals: Vec<Option<u64>>,
    /// For each test the states that it sees.
    seen: BTreeMap<usize, Vec<u32>>,
    /// Tests that may see other states, too.
    cut: BTreeSet<usize>,
}

impl SurveyedUnit {
    /// Splits a group by whether its candidates always have the original's value in these states: those that do, and groups of those that
    /// do not. Candidates with undefined values are left out.
    fn split(
        &self,
        level: &mut Level<'_>,
        group: GroupId,
        states: &[u32],
    ) -> (Option<GroupId>, Vec<GroupId>) {
        let (mut same, mut changed) = (group, Vec::new());
        let mut rest = states;
        // Many candidates are evaluated together in one state, few in many.
        while let Some((&state, others)) = rest.split_first()
            && level.group(same).is_some_and(|all| all.count > FEW)
        {
            rest = others;
            let original = self.originals[state as usize];
            let (values, undefined) = self.states.get(state);
            let mut kept = None;
            for part in level.split(&[same], values, undefined) {
                match part.value {
                    value if value == original => kept = Some(part.group),
                    Some(_) => changed.push(part.group),
                    None => {}
                }
            }
            match kept {
                Some(kept) => same = kept,
                None => return (None, changed),
            }
        }
        if rest.is_empty() {
            return (Some(same), changed);
        }
        let originals: Vec<Option<u64>> = rest
            .iter()
            .map(|&state| self.originals[state as usize])
            .collect();
        let mut kept = None;
        for part in level.split_along(same, &self.states, rest, &originals) {
            match (part.agrees == rest.len(), part.value) {
                (true, _) => kept = Some(part.group),
                (false, Some(_)) => changed.push(part.group),
                (false, None) => {}
            }
        }
        (kept, changed)
    }
}

/// What locations see.
#[derive(Default)]
pub(crate) struct Survey {
    units: BTreeMap<usize, SurveyedUnit>,
}

impl Survey {
    /// Whether it tells of a unit.
    pub(crate) fn has(&self, unit: usize) -> bool {
        self.units.contains_key(&unit)
    }

    /// Returns the number of states of all locations.
    pub(crate) fn len(&self) -> usize {
        self.units.values().map(|known| known.states.len()).sum()
    }

    /// Splits the candidates of a level at a unit by their effect. Returned are the groups that change something in each
    /// failing test and in at most `most` passing tests, each with the number of these.
    pub(crate) fn favoured(
        &self,
        unit: usize,
        level: &mut Level<'_>,
        failing: &[usize],
        most: usize,
    ) -> Vec<(usize, GroupId)> {
        let Some(known) = self.units.get(&unit) else {
            return Vec::new();
        };
        let mut groups: Vec<(usize, GroupId)> = vec![(0, 0)];
        // What a candidate does in a state that was looked at for another test is known.
        let mut looked_at: BTreeSet<u32> = BTreeSet::new();
        let passing = known.seen.iter();
        for (_, states) in passing.filter(|(test, _)| !failing.contains(test)) {
            let is_known = states.iter().all(|state| looked_at.contains(state));
            if is_known && groups.iter().all(|(passing, _)| *passing == 0) {
                continue;
            }
            looked_at.extend(states);
            let mut next = Vec::new();
            for (passing, group) in groups {
                let (same, changed) = known.split(level, group, states);
                next.extend(same.map(|group| (passing, group)));
                if passing < most {
                    next.extend(changed.into_iter().map(|group| (passing + 1, group)));
                }
            }
            groups = next;
        }
        let mut groups: Vec<(usize, GroupId, bool)> = groups
            .into_iter()
            .map(|(passing, group)| (passing, group, false))
            .collect();
        for test in failing {
            let states = known.seen.get(test).map_or(&[][..], |states| states);
            let mut next = Vec::new();
            for (passing, group, has_changed) in groups {
                let (same, changed) = known.split(level, group, states);
                next.extend(changed.into_iter().map(|group| (passing, group, true)));
                // What a test goes on to see, it may change.
                let same = same.filter(|_| known.cut.contains(test));
                next.extend(same.map(|group| (passing, group, has_changed)));
            }
            groups = next;
        }
        let changed = groups.into_iter().filter(|(.., has_changed)| *has_changed);
        changed
            .map(|(passing, group, _)| (passing, group))
            .collect()
    }
}

/// A location that is to be surveyed.
struct Surveyable {
    unit: usize,
    code: Vec<Instruction>,
    layer: usize,
}

impl Search<'_> {
    /// Surveys the locations with values, most suspicious first; `None` where that tells nothing.
    ///
    /// # Errors
    /// When tests cannot be run.
    pub(crate) fn survey(
        &self,
        workers: &mut [(Worker, Channel)],
    ) -> Result<Option<Survey>, RepairError> {
        let mut all = self.surveyable();
        let mut survey = Survey::default();
        let tests = self.surveyed_tests(&all);
        let mut wrong = BTreeSet::new();
        for layer in 0..MOST_LAYERS {
            let (own, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.layer == layer);
            all = rest;
            let mut own = &own[..];
            while !own.is_empty() {
                let holes: Vec<SurveyedHole<'_>> =
                    own.iter().map(|one| self.surveyed(one)).collect();
                let count = surveys_at_once(&holes).max(1);
                let (now, later) = own.split_at(count);
                own = later;
                for &test in &tests {
                    if self.is_over_for(SHARE) && !self.failing.contains(&test) {
                        break;
                    }
                    if wrong.contains(&test) {
                        continue;
                    }
                    if !self.survey_in(test, now, &holes[..count], &mut survey, &mut workers[0])? {
                        if self.failing.contains(&test) {
                            tracing::info!(test, "a survey changed what the test does");
                            return Ok(None);
                        }
                        wrong.insert(test);
                    }
                }
            }
        }
        survey.units.retain(|_, known| !known.states.is_empty());
        Ok((!survey.units.is_empty()).then_some(survey))
    }

    /// Failing tests first, then passing ones, those first that get to most of the locations.
    fn surveyed_tests(&self, all: &[Surveyable]) -> Vec<usize> {
        let mut visits: BTreeMap<usize, usize> = BTreeMap::new();
        for one in all {
            for &test in &self.holes[self.units[one.unit].entry].visited_by {
                *visits.entry(test).or_default() += 1;
            }
        }
        let passing = self.prepared.passing.iter().copied();
        let mut passing: Vec<usize> = passing
            .filter(|test| visits.contains_key(test) && !self.is_set_aside(*test))
            .collect();
        passing.sort_by_key(|test| (std::cmp::Reverse(visits[test]), *test));
        let failing = self.failing.iter().copied();
        failing.chain(passing).collect()
    }

    /// The locations at which the original's value is known from what they see.
    fn surveyable(&self) -> Vec<Surveyable> {
        let mut units: Vec<usize> = (0..self.units.len())
            .filter(|&unit| self.is_own(unit))
            .collect();
        units.sort_by(|&a, &b| {
            let entry = |unit: usize| &self.holes[self.units[unit].entry];
            entry(a).by_suspicion(entry(b)).then(a.cmp(&b))
        });
        let code = |unit: &Unit| {
            let entry = &self.holes[unit.entry];
            let hole = &entry.hole;
            let has_value = matches!(
                hole.kind,
                HoleKind::Expression { .. } | HoleKind::Refinement(_) | HoleKind::Guard { .. }
            );
            let pointees = self.files[entry.file].types.pointees();
            let code = term::compile(&original(hole), hole.context, &hole.atoms.table, pointees);
            code.ok()
                .filter(|code| unit.target.is_none() && has_value && !code.is_empty())
        };
        let mut all: Vec<Surveyable> = units
            .into_iter()
            .filter_map(|unit| {
                let code = code(&self.units[unit])?;
                let layer = 0;
                Some(Surveyable { unit, code, layer })
            })
            .take(MOST_UNITS)
            .collect();
        let place = |unit: usize| {
            let entry = &self.holes[self.units[unit].entry];
            (entry.file, entry.hole.span, &entry.hole.kind)
        };
        let expressions: Vec<(usize, usize, patchwright_text::Span)> = all
            .iter()
            .filter_map(|one| match place(one.unit) {
                (file, span, HoleKind::Expression { .. }) => Some((one.unit, file, span)),
                _ => None,
            })
            .collect();
        let mut in_file: FxHashMap<usize, Vec<(usize, patchwright_text::Span)>> =
            FxHashMap::default();
        for (unit, file, span) in expressions {
            in_file.entry(file).or_default().push((unit, span));
        }
        for one in &mut all {
            let (file, span, _) = place(one.unit);
            let around = in_file.get(&file).into_iter().flatten();
            one.layer = around
                .filter(|&&(unit, other)| {
                    unit != one.unit
                        && other.contains_span(span)
                        && (other != span || unit < one.unit)
                })
                .count();
        }
        // In the order of their ids, as the probe wants them.
        all.sort_by_key(|one| self.holes[self.units[one.unit].entry].id);
        all
    }

    fn surveyed<'h>(&'h self, one: &'h Surveyable) -> SurveyedHole<'h> {
        SurveyedHole {
            hole: self.holes[self.units[one.unit].entry].id,
            slots: &self.states[one.unit].slots,
            original: &one.code,
        }
    }

    /// Runs one test; whether it did what it always does.
    fn survey_in(
        &self,
        test: usize,
        all: &[Surveyable],
        holes: &[SurveyedHole<'_>],
        survey: &mut Survey,
        worker: &mut (Worker, Channel),
    ) -> Result<bool, RepairError> {
        let visits = |one: &Surveyable| {
            let entry = &self.holes[self.units[one.unit].entry];
            entry.visited_by.contains(&test)
        };
        if !all.iter().any(visits) {
            return Ok(true);
        }
        worker.1.set_survey(holes)?;
        let cpu: Duration = self.expected_cpu(test) * SURVEYED_CPU_FACTOR;
        let (verdict, _) = self.run_test(test, cpu, worker)?;
        let seen = worker.1.surveyed(holes);
        self.put_back(&worker.0, false);
        if verdict.is_pass() != self.prepared.baseline.tests[test].verdict.is_pass() {
            return Ok(false);
        }
        for (one, seen) in all.iter().zip(seen) {
            if !seen.is_visited {
                continue;
            }
            let known = survey.units.entry(one.unit).or_default();
            if seen.is_cut {
                known.cut.insert(test);
            }
            let mut states = Vec::new();
            for (values, undefined, original) in seen.states {
                let (state, is_new) = known.states.insert(&values, &undefined);
                if is_new {
                    known.originals.push(Some(original));
                }
                states.push(state);
            }
            known.seen.insert(test, states);
        }
        Ok(true)
    }
}
