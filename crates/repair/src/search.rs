//! The search: candidates in order of cost, one execution for each class (f1x, algorithm 3).
//!
//! The order of candidates is: cost; truth values before others (they have few classes, so many
//! candidates are explored with few executions); holes that fewer passing tests visit before
//! those that more visit; place of the hole in the program (file, then offset); kind of change;
//! place in the space. Holes are explored one after the other at each cost, so that no more than
//! the candidates of one hole and one cost are in memory.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use patchwright_exec::{FailReason, Limits, TestSuite, Verdict, Worker, run_test};
use patchwright_probe_image::{Candidate, Channel, Observation, Slot};
use patchwright_semantics::{Instruction, evaluate};
use patchwright_space::{
    CandidateId, Fate, GroupId, Level, Schema, Space, StateSet,
    term::{self, Context, Pointees},
};
use patchwright_text::Edit;
use rustc_hash::FxHashMap;

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    classes::{ClassVerdict, Classes, Lookup, Missing},
    instrument::{HoleEntry, Instrumented, probe_slots},
    outcome::Stats,
    prepare::Prepared,
};

/// After so many executions of single candidates at a hole whose states cannot all be seen, the
/// rest of its candidates is left out.
const LONE_EXECUTIONS: usize = 32;

/// States and classes take about this much memory at most. What is executed beyond is known by itself only.
const MOST_BYTES: usize = 400 << 20;

/// Spaces that are kept in memory between costs.
const KEPT_SPACES: usize = 48;

/// Members of a plausible class that are kept.
const KEPT_MEMBERS: usize = 40;

/// The search for further patches ends after this many times the executions that the first one
/// took, and [`EXECUTIONS_BEYOND_FIRST`] more.
const EFFORT_BEYOND_FIRST: u64 = 2;

/// See [`EFFORT_BEYOND_FIRST`].
const EXECUTIONS_BEYOND_FIRST: u64 = 500;

/// Processor time after which an execution has gone wrong: so many times what the untouched
/// program takes in wall-clock time, and [`CPU_FLOOR`] more. A candidate that loops for ever is
/// ended by this long before its time is up; one that waits for ever is not.
const CPU_FACTOR: u32 = 10;

/// See [`CPU_FACTOR`].
const CPU_FLOOR: Duration = Duration::from_millis(300);

/// A class of plausible candidates.
#[derive(Clone, Debug)]
pub struct FoundClass {
    /// Index of the hole.
    pub entry: usize,
    /// Cost of its candidates.
    pub cost: u32,
    /// Number of candidates.
    pub count: usize,
    /// The first of them, as edits of the hole's file, with the kind of change.
    pub members: Vec<(Edit, Schema)>,
}

/// Candidates that share a verdict, for those who ask for all verdicts
/// ([`RepairOptions::keep_verdicts`]).
#[derive(Clone, Debug)]
pub struct Explored {
    /// Index of the hole.
    pub entry: usize,
    /// Cost of the candidates.
    pub cost: u32,
    /// What all tests together say about each of them.
    pub verdict: ClassVerdict,
    /// The candidates as edits of the hole's file.
    pub edits: Vec<Edit>,
}

/// What the search has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The verdicts of all explored candidates, if they are to be kept.
    pub verdicts: Vec<Explored>,
    /// Plausible classes in the order of the search.
    pub classes: Vec<FoundClass>,
    /// What was done.
    pub stats: Stats,
    /// The search was interrupted.
    pub interrupted: bool,
}

impl HoleState {
    /// About how much memory the states and classes take.
    fn bytes(&self) -> usize {
        self.states.bytes() + self.classes.values().map(Classes::bytes).sum::<usize>()
    }
}

struct HoleState {
    states: StateSet,
    classes: BTreeMap<usize, Classes>,
    slots: Vec<Slot>,
    lone: usize,
    abandoned: bool,
    costs: Option<Vec<u32>>,
}

/// What is known of a group of candidates.
#[derive(Clone, Debug)]
enum Status {
    Open(Option<(usize, Missing)>),
    Plausible,
    Dead,
}

struct Search<'a> {
    suite: &'a TestSuite,
    limits: &'a Limits,
    prepared: &'a Prepared,
    options: &'a RepairOptions,
    surroundings: &'a Surroundings<'a>,
    probe: &'a std::path::Path,
    started: Instant,
    kills: BTreeMap<usize, u64>,
    /// Executions until the first plausible patch was found.
    first_after: Option<u64>,
    failing: Vec<usize>,
    set_aside: &'a std::collections::BTreeSet<usize>,
    found: Found,
    /// About how much memory the states and classes of all holes take.
    bytes: usize,
    /// Verdicts at the hole and cost that are being explored, if they are to be kept.
    decided: Vec<(ClassVerdict, Vec<CandidateId>)>,
}

/// Explores the spaces of all holes.
///
/// # Errors
/// When tests cannot be run. An interruption is no error: what was found is returned.
pub fn search(
    instrumented: &mut Instrumented,
    prepared: &Prepared,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
) -> Result<Found, RepairError> {
    let suite = prepared.suite.clone();
    let limits = prepared.limits.clone();
    let failing: Vec<usize> = prepared
        .failing
        .iter()
        .copied()
        .filter(|test| !instrumented.set_aside.contains(test))
        .collect();
    let mut search = Search {
        suite: &suite,
        limits: &limits,
        prepared,
        options,
        surroundings,
        probe: &instrumented.probe,
        started: Instant::now(),
        kills: BTreeMap::new(),
        first_after: None,
        failing,
        set_aside: &instrumented.set_aside,
        found: Found::default(),
        bytes: 0,
        decided: Vec::new(),
    };
    (surroundings.events)(Event::Phase("searching"));
    let mut states: Vec<HoleState> = instrumented
        .holes
        .iter()
        .map(|entry| HoleState {
            states: StateSet::default(),
            classes: BTreeMap::new(),
            slots: probe_slots(&entry.hole.atoms.slots),
            lone: 0,
            abandoned: false,
            costs: None,
        })
        .collect();
    let files = &instrumented.files;
    let holes = &instrumented.holes;
    let workers = &mut instrumented.workers;
    let mut spaces: BTreeMap<usize, Space> = BTreeMap::new();
    let mut order: Vec<usize> = (0..holes.len()).collect();
    order.sort_by_key(|&number| {
        let entry = &holes[number];
        (
            entry.hole.context != Context::Truth,
            entry.visited_by.len(),
            number,
        )
    });
    'costs: for cost in 1..=options.max_cost {
        for &number in &order {
            let entry = &holes[number];
            if search.is_over() {
                break 'costs;
            }
            let state = &mut states[number];
            let has_level = state
                .costs
                .as_ref()
                .is_none_or(|costs| costs.contains(&cost));
            if state.abandoned || !has_level {
                continue;
            }
            let file = &files[entry.file];
            let pointees = file.types.pointees();
            if !spaces.contains_key(&number) {
                if spaces.len() >= KEPT_SPACES {
                    // The one that is needed last comes right before this one.
                    let evicted = spaces.keys().copied().next_back();
                    if let Some(evicted) = evicted {
                        spaces.remove(&evicted);
                    }
                }
                let function = &file.unit.functions[entry.hole.function];
                let space = Space::build(
                    entry.hole.clone(),
                    entry.leaves.clone(),
                    function,
                    &file.parents[entry.hole.function],
                    entry.expr,
                    pointees,
                    options.space,
                );
                let mut costs: Vec<u32> = space.blocks.iter().map(|block| block.cost).collect();
                costs.dedup();
                state.costs = Some(costs);
                spaces.insert(number, space);
            }
            let space = &spaces[&number];
            let explored = search.explore(
                number,
                entry,
                space,
                pointees,
                cost,
                state,
                workers,
                &file.unit.source,
            );
            match explored {
                Ok(()) => {}
                Err(error) if error.is_cancelled() => {
                    search.found.interrupted = true;
                    break 'costs;
                }
                Err(error) => return Err(error),
            }
        }
        search.found.stats.complete_cost = Some(cost);
        if !options.all && search.found.stats.plausible >= options.max_patches as u64 {
            break;
        }
    }
    let mut found = search.found;
    found.stats.classes = states
        .iter()
        .flat_map(|state| state.classes.values())
        .map(|classes| classes.len() as u64)
        .sum();
    Ok(found)
}

impl Search<'_> {
    fn is_over(&mut self) -> bool {
        let out_of_time = self
            .options
            .budget
            .is_some_and(|budget| self.started.elapsed() >= budget);
        self.found.stats.out_of_time |= out_of_time;
        if out_of_time {
            return true;
        }
        if self.options.all || self.found.classes.is_empty() {
            return false;
        }
        let executions = self.found.stats.executions;
        let first = *self.first_after.get_or_insert(executions);
        let enough = self.options.first
            || executions >= first + first * EFFORT_BEYOND_FIRST + EXECUTIONS_BEYOND_FIRST;
        self.found.stats.stopped_early |= enough;
        enough
    }

    /// Failing tests first, then those that have killed most. Measured times have no part in it:
    /// every run explores in the same order.
    fn order(&self, entry: &HoleEntry) -> Vec<usize> {
        let mut passing: Vec<usize> = self
            .prepared
            .passing
            .iter()
            .copied()
            .filter(|test| entry.visited_by.contains(test) && !self.set_aside.contains(test))
            .collect();
        passing.sort_by_key(|&test| {
            (
                std::cmp::Reverse(self.kills.get(&test).copied().unwrap_or(0)),
                test,
            )
        });
        let failing = self.failing.iter().copied();
        failing.chain(passing).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn explore(
        &mut self,
        number: usize,
        entry: &HoleEntry,
        space: &Space,
        pointees: &Pointees,
        cost: u32,
        hole: &mut HoleState,
        workers: &mut [(Worker, Channel)],
        source: &[u8],
    ) -> Result<(), RepairError> {
        let mut level = Level::new(space, pointees, cost);
        let total: usize = level.groups().iter().map(|group| group.count).sum();
        self.found.stats.candidates += total as u64;
        if total == 0 {
            return Ok(());
        }
        let tests = self.order(entry);
        let mut status = vec![Status::Open(None); level.groups().len()];
        let mut codes: FxHashMap<CandidateId, Vec<Instruction>> = FxHashMap::default();
        // Known states first; groups that they decide are not split any further.
        for id in 0..hole.states.len() as u32 {
            refine(&mut level, &mut status, hole, id);
            if id % 32 == 31 {
                self.settle(
                    &mut status,
                    &level,
                    hole,
                    space,
                    pointees,
                    &tests,
                    &mut codes,
                    id + 1,
                );
            }
        }
        loop {
            let known = hole.states.len() as u32;
            let pending = self.settle(
                &mut status,
                &level,
                hole,
                space,
                pointees,
                &tests,
                &mut codes,
                known,
            );
            if pending.is_empty() || self.is_over() {
                break;
            }
            (self.surroundings.events)(Event::Search {
                explored: self.found.stats.explored,
                executions: self.found.stats.executions,
                cost,
                plausible: self.found.classes.len(),
            });
            let batch: Vec<(GroupId, usize)> = pending.into_iter().take(workers.len()).collect();
            let runs = self.execute(entry, hole, &level, &codes, &batch, workers)?;
            let before = hole.states.len() as u32;
            let bytes = hole.bytes();
            let full = self.bytes > MOST_BYTES;
            let mut lone = Vec::new();
            for (&(group, test), (verdict, observation)) in batch.iter().zip(runs) {
                if !verdict.is_pass() {
                    *self.kills.entry(test).or_default() += 1;
                }
                let sound = !full
                    && !observation.overflow
                    && !observation.mismatch
                    && !observation.states.is_empty();
                if !sound {
                    lone.push((group, test, verdict));
                    continue;
                }
                let states = (0..observation.states.len())
                    .map(|i| {
                        let (id, _) = hole.states.insert(
                            observation.states.values(i),
                            observation.states.undefined(i),
                        );
                        (id, observation.states.results()[i])
                    })
                    .collect();
                hole.classes
                    .entry(test)
                    .or_default()
                    .insert(states, verdict);
            }
            self.bytes += hole.bytes().saturating_sub(bytes);
            for (group, test, verdict) in lone {
                let representative = level.groups()[group as usize].representative;
                let own = level.isolate(group);
                debug_assert_eq!(own as usize, status.len());
                hole.lone += 1;
                self.found.stats.explored += 1;
                let passes = verdict.is_pass()
                    && self.passes_rest(
                        entry,
                        &hole.slots,
                        &codes[&representative],
                        &tests,
                        test,
                        &mut workers[0],
                    )?;
                status.push(if passes {
                    Status::Plausible
                } else {
                    Status::Dead
                });
            }
            if hole.lone > LONE_EXECUTIONS {
                hole.abandoned = true;
                let left: usize = level
                    .groups()
                    .iter()
                    .zip(&status)
                    .filter(|(_, status)| matches!(status, Status::Open(_)))
                    .map(|(group, _)| group.count)
                    .sum();
                self.found.stats.too_many_states += left as u64;
                (self.surroundings.events)(Event::Warning(format!(
                    "{}: tests visit the location in too many states, or not always alike; \
                     its other candidates are left out",
                    entry.place
                )));
                break;
            }
            for id in before..hole.states.len() as u32 {
                refine(&mut level, &mut status, hole, id);
            }
        }
        self.found.stats.evaluations += level.evaluations;
        for (verdict, candidates) in std::mem::take(&mut self.decided) {
            let edits = candidates
                .into_iter()
                .filter_map(|id| space.edit(id, source, pointees))
                .collect();
            self.found.verdicts.push(Explored {
                entry: number,
                cost,
                verdict,
                edits,
            });
        }
        for (group, status) in status.iter().enumerate() {
            if matches!(status, Status::Plausible) {
                let count = level.groups()[group].count;
                self.found.stats.plausible += count as u64;
                self.found.stats.plausible_classes += 1;
                let members = level
                    .members(group as GroupId)
                    .filter_map(|id| {
                        let schema = space.blocks[id.block as usize].schema;
                        Some((space.edit(id, source, pointees)?, schema))
                    })
                    .filter(|(edit, _)| source[edit.span.range()] != edit.text[..])
                    .take(KEPT_MEMBERS)
                    .collect();
                self.found.classes.push(FoundClass {
                    entry: number,
                    cost,
                    count,
                    members,
                });
            }
        }
        Ok(())
    }

    /// Decides groups by the classes so far and tells which need an execution, and in which test.
    #[allow(clippy::too_many_arguments)]
    fn settle(
        &mut self,
        status: &mut [Status],
        level: &Level<'_>,
        hole: &HoleState,
        space: &Space,
        pointees: &Pointees,
        tests: &[usize],
        codes: &mut FxHashMap<CandidateId, Vec<Instruction>>,
        refined: u32,
    ) -> Vec<(GroupId, usize)> {
        let mut pending = Vec::new();
        for (number, group) in level.groups().iter().enumerate() {
            let Status::Open(missing) = &status[number] else {
                continue;
            };
            if group.count == 0 {
                status[number] = Status::Dead;
                continue;
            }
            let code = codes.entry(group.representative).or_insert_with(|| {
                space
                    .term(group.representative, pointees)
                    .and_then(|term| {
                        let atoms = &space.hole.atoms.table;
                        term::compile(&term, space.hole.context, atoms, pointees).ok()
                    })
                    .unwrap_or_default()
            });
            if code.is_empty() {
                // C's types forbid it after all.
                status[number] = Status::Dead;
                continue;
            }
            if let Some((test, missing)) = *missing
                && hole
                    .classes
                    .get(&test)
                    .is_some_and(|classes| classes.is_missing(missing))
            {
                pending.push((number as GroupId, test));
                continue;
            }
            let mut decided = Status::Plausible;
            for &test in tests {
                let Some(classes) = hole.classes.get(&test) else {
                    decided = Status::Open(None);
                    pending.push((number as GroupId, test));
                    break;
                };
                let mut beyond = false;
                let found = classes.lookup(|state| {
                    beyond |= state >= refined;
                    let (values, undefined) = hole.states.get(state);
                    evaluate(code, values, undefined)
                });
                match found {
                    // Its members may differ in states that the groups are not split by yet.
                    _ if beyond => {
                        decided = Status::Open(None);
                        break;
                    }
                    Lookup::Known(ClassVerdict::Pass) => {}
                    Lookup::Known(verdict) => {
                        self.found.stats.explored += group.count as u64;
                        if verdict == ClassVerdict::Undefined {
                            self.found.stats.undefined += group.count as u64;
                        }
                        self.keep(level, number as GroupId, verdict);
                        decided = Status::Dead;
                        break;
                    }
                    Lookup::Unknown(missing) => {
                        decided = Status::Open(missing.map(|missing| (test, missing)));
                        pending.push((number as GroupId, test));
                        break;
                    }
                }
            }
            if matches!(decided, Status::Plausible) {
                self.found.stats.explored += group.count as u64;
                self.keep(level, number as GroupId, ClassVerdict::Pass);
            }
            status[number] = decided;
        }
        pending
    }

    /// Remembers the verdict of a group's candidates, for those who asked for it.
    fn keep(&mut self, level: &Level<'_>, group: GroupId, verdict: ClassVerdict) {
        if self.options.keep_verdicts {
            self.decided.push((verdict, level.members(group).collect()));
        }
    }

    /// An execution whose states were not all seen tells about its own candidate only: whether
    /// that one passes the other tests, too.
    fn passes_rest(
        &mut self,
        entry: &HoleEntry,
        slots: &[Slot],
        code: &[Instruction],
        tests: &[usize],
        done: usize,
        (worker, channel): &mut (Worker, Channel),
    ) -> Result<bool, RepairError> {
        for &test in tests.iter().filter(|&&test| test != done) {
            self.found.stats.executions += 1;
            let (verdict, _) = self.run(entry, slots, code, test, worker, channel)?;
            if !verdict.is_pass() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a batch, one execution on each worker.
    fn execute(
        &mut self,
        entry: &HoleEntry,
        hole: &HoleState,
        level: &Level<'_>,
        codes: &FxHashMap<CandidateId, Vec<Instruction>>,
        batch: &[(GroupId, usize)],
        workers: &mut [(Worker, Channel)],
    ) -> Result<Vec<(ClassVerdict, Observation)>, RepairError> {
        self.found.stats.executions += batch.len() as u64;
        let this = &*self;
        let results: Vec<Result<(ClassVerdict, Observation), RepairError>> =
            std::thread::scope(|scope| {
                let handles: Vec<_> = batch
                    .iter()
                    .zip(workers.iter_mut())
                    .map(|(&(group, test), (worker, channel))| {
                        let representative = level.groups()[group as usize].representative;
                        let code = &codes[&representative];
                        let slots = &hole.slots;
                        let mut run = move || this.run(entry, slots, code, test, worker, channel);
                        if batch.len() == 1 {
                            Err(Box::new(run()))
                        } else {
                            Ok(scope.spawn(run))
                        }
                    })
                    .collect();
                handles
                    .into_iter()
                    .map(|handle| match handle {
                        Err(result) => *result,
                        Ok(handle) => match handle.join() {
                            Ok(result) => result,
                            Err(panic) => std::panic::resume_unwind(panic),
                        },
                    })
                    .collect()
            });
        results.into_iter().collect()
    }

    fn run(
        &self,
        entry: &HoleEntry,
        slots: &[Slot],
        code: &[Instruction],
        test: usize,
        worker: &mut Worker,
        channel: &mut Channel,
    ) -> Result<(ClassVerdict, Observation), RepairError> {
        channel.set_candidate(&Candidate {
            hole: entry.id,
            function: entry.function,
            slots,
            code,
        })?;
        let mut environment = self.suite.environment.clone();
        for (name, value) in channel.environment(self.probe) {
            environment.set.insert(name.into(), value);
        }
        let known = &self.prepared.baseline.tests[test];
        let longest = known.durations[0].max(known.durations[1]);
        let limits = Limits {
            wall: known.timeout,
            cpu: Some(
                (longest * CPU_FACTOR + CPU_FLOOR)
                    .min(known.timeout)
                    .min(self.limits.cpu.unwrap_or(Duration::MAX)),
            ),
            ..self.limits.clone()
        };
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            &self.suite.tests[test],
            &environment,
            &limits,
        )?;
        let observation = channel.observation();
        let verdict = if observation.undefined {
            ClassVerdict::Undefined
        } else {
            match run.verdict {
                Verdict::Pass => ClassVerdict::Pass,
                Verdict::Fail(reason) => ClassVerdict::Fail(Some::<FailReason>(reason)),
            }
        };
        Ok((verdict, observation))
    }
}

/// Splits groups by their values in a state; dead ones are dropped.
fn refine(level: &mut Level<'_>, status: &mut Vec<Status>, hole: &HoleState, state: u32) {
    let (values, undefined) = hole.states.get(state);
    // Plausible candidates have met all their states: what they do elsewhere does not matter.
    let parents = level.refine(values, undefined, &|group| match status[group as usize] {
        Status::Open(_) => Fate::Split,
        Status::Plausible => Fate::Keep,
        Status::Dead => Fate::Drop,
    });
    *status = parents
        .into_iter()
        .map(|parent| status[parent as usize].clone())
        .collect();
}
