//! Explores the candidates of one cost at one location, with one execution for each class.
//!
//! Groups of candidates go down the trees of classes, test by test. In a state where the tree asks for their value they
//! split; so a candidate is evaluated in the states that its execution would meet, and in no others. A group that gets
//! to where a tree ends needs an execution of its first candidate.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_exec::{RunError, Worker};
use patchwright_probe_image::Channel;
use patchwright_semantics::Instruction;
use patchwright_space::{CandidateId, GroupId, Level, Part, Space, term::Pointees};
use rustc_hash::FxHashSet;

use crate::{
    RepairError,
    classes::{ClassVerdict, Cursor, Next},
    exploration::{Exploration, Status},
    family::Way,
    learn::Learnt,
    run::Run,
    search::Search,
};

/// After so many executions of single candidates at a hole whose states cannot all be seen, the
/// rest of its candidates is put off ([`mod@crate::deferred`]).
const LONE_EXECUTIONS: usize = 32;

/// Groups of at most so many candidates are followed by themselves, many states at once. Larger ones wait for others
/// that are asked for their value in the same state, until they have stayed together for some states.
const FEW_COMPANIONS: usize = 256;

/// More candidates are followed by themselves only where so many states are looked at that compiling them all pays.
const MANY_COMPANIONS: usize = 20_000;

/// So many states are looked at at least when a group is followed by itself.
const FIRST_LOOK: usize = 8;

/// See [`MANY_COMPANIONS`].
const LONG_LOOK: usize = 256;

/// Each time that all candidates of a group have the expected values, the next look is at so many times as many states.
const GROWTH: usize = 2;

/// At most so many states are looked at at once.
const MOST_STATES: usize = 2048;

/// And no more than make so many evaluations, which take less than a second: whoever interrupts a run waits for them.
const MOST_EVALUATIONS: usize = 1 << 26;

/// How an exploration has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explorations {
    /// Everything has a verdict or is left out, or the search is over.
    Done,
    /// It has spent what it may, and begins anew when it has its turn again: what is known of classes makes that quick.
    PutOff,
}

/// What an execution has told about its candidate only.
#[derive(Clone)]
pub(crate) enum Lone {
    /// What the test says. `parts` if others that do something else at first are told apart from it.
    Verdict { verdict: ClassVerdict, parts: bool },
    /// It was ended before the test said anything.
    Unknown,
}

impl Search<'_> {
    /// Explores the candidates of one cost of a unit.
    pub(crate) fn explore(
        &mut self,
        unit: usize,
        space: &Space,
        cost: u32,
        workers: &mut [(Worker, Channel)],
    ) -> Result<Explorations, RepairError> {
        let entry = &self.holes[self.units[unit].entry];
        let pointees = self.files[entry.file].types.pointees();
        let level = Level::new(space, pointees, cost, workers.len());
        let Some(all) = level.group(0) else {
            return Ok(Explorations::Done);
        };
        let before = self.found.stats.clone();
        self.found.stats.candidates += all.count as u64;
        if self.options.relations.is_singly() {
            let tests = self.order(entry);
            let candidates = level.members(0).collect();
            self.explore_singly(unit, space, candidates, cost, &tests, workers)?;
            return Ok(Explorations::Done);
        }
        let mut exploration = self.exploration((unit, cost), space, pointees, level, vec![0]);
        let ended = self.explore_groups(&mut exploration, workers);
        self.found.stats.evaluations += exploration.level.evaluations;
        if matches!(ended, Ok(Explorations::PutOff)) {
            // All that is found out again is counted then.
            let stats = &mut self.found.stats;
            stats.candidates = before.candidates;
            stats.explored = before.explored;
            stats.undefined = before.undefined;
            return ended;
        }
        self.forget_done_before(unit, cost);
        self.keep_decided(&mut exploration);
        self.keep_all_plausible(&exploration);
        self.tell_left_out(&exploration);
        ended
    }

    /// Explores some groups of the candidates of one cost of a unit. What stays without a verdict is neither told nor put off.
    pub(crate) fn explore_groups_of<'s>(
        &mut self,
        (unit, cost): (usize, u32),
        space: &'s Space,
        level: Level<'s>,
        groups: Vec<GroupId>,
        workers: &mut [(Worker, Channel)],
    ) -> Result<(), RepairError>
    where
        Self: 's,
    {
        let entry = &self.holes[self.units[unit].entry];
        let pointees = self.files[entry.file].types.pointees();
        let counts = groups.iter().filter_map(|&group| level.group(group));
        self.found.stats.candidates += counts.map(|group| group.count as u64).sum::<u64>();
        let mut exploration = self.exploration((unit, cost), space, pointees, level, groups);
        let ended = self.explore_groups(&mut exploration, workers);
        self.found.stats.evaluations += exploration.level.evaluations;
        self.keep_all_plausible(&exploration);
        ended.map(|_| ())
    }

    /// An exploration of these groups of a level.
    fn exploration<'s>(
        &self,
        (unit, cost): (usize, u32),
        space: &'s Space,
        pointees: &'s Pointees,
        level: Level<'s>,
        groups: Vec<GroupId>,
    ) -> Exploration<'s> {
        let mut status = vec![Status::Dead; level.group_count()];
        for &group in &groups {
            status[group as usize] = Status::NEW;
        }
        Exploration {
            unit,
            cost,
            space,
            pointees,
            tests: self.order(&self.holes[self.units[unit].entry]),
            level,
            status,
            moving: groups,
            waiting: BTreeMap::new(),
            pending: BTreeMap::new(),
            decided: Vec::new(),
            left_out: Vec::new(),
            plausible: Vec::new(),
            proposed: 0,
        }
    }

    fn explore_groups(
        &mut self,
        exploration: &mut Exploration<'_>,
        workers: &mut [(Worker, Channel)],
    ) -> Result<Explorations, RepairError> {
        let unit = exploration.unit;
        let family = self.units[unit].family;
        let mut executed: FxHashSet<(CandidateId, usize)> = FxHashSet::default();
        loop {
            self.descend(exploration)?;
            if exploration.pending.is_empty() || self.is_over() {
                return Ok(Explorations::Done);
            }
            self.propose_early(exploration);
            if self.puts_off(exploration)
                || exploration.plausible.is_empty() && self.declarations_are_due()
            {
                return Ok(Explorations::PutOff);
            }
            self.tell_progress(exploration.cost);
            if self.watch_pending(exploration, &mut workers[0])? {
                if self.families[family].abandoned {
                    exploration.leave_out();
                    return Ok(Explorations::Done);
                }
                continue;
            }
            let batch = exploration.batch(workers.len());
            let recalled = self.recall_lone(exploration, &batch);
            if recalled > 0 {
                self.found.stats.explored += recalled;
                continue;
            }
            let again = batch
                .iter()
                .any(|&(first, test, _)| !executed.insert((first, test)));
            if again {
                // What was seen does not fit together: an endless search would be worse.
                self.families[family].abandoned = true;
                exploration.leave_out();
                return Ok(Explorations::Done);
            }
            let jobs: Vec<(&[Instruction], usize)> = batch
                .iter()
                .map(|(_, test, code)| (&code[..], *test))
                .collect();
            let runs = self.execute(unit, &jobs, workers)?;
            for (run, &(first, test, _)) in runs.iter().zip(&batch) {
                self.note_ran_out((unit, exploration.cost), first, test, run);
            }
            let restarts = self.families[family].restarts;
            let lone = self.learn_all(unit, &batch, runs);
            let Some(lone) = lone else {
                executed.clear();
                exploration.restart();
                continue;
            };
            if self.families[family].restarts != restarts {
                // Nothing has changed, so what was executed must not be executed again.
                exploration.restart();
                continue;
            }
            for (at, lone) in lone {
                let (first, test, code) = &batch[at];
                let own = exploration.take_first(*first);
                let key = (unit, exploration.cost, *first);
                let Lone::Verdict { verdict, parts } = lone else {
                    exploration.left_out.extend(own);
                    self.lone.insert(key, Lone::Unknown);
                    continue;
                };
                self.families[family].lone += usize::from(!parts);
                self.found.stats.explored += 1;
                let passes = verdict.is_pass()
                    && self.passes_rest(
                        unit,
                        (exploration.cost, *first),
                        code,
                        &exploration.tests,
                        *test,
                        &mut workers[0],
                    )?;
                if let Some(own) = own.filter(|_| passes) {
                    exploration.status[own as usize] = Status::Plausible;
                    exploration.plausible.push(own);
                } else {
                    self.lone.insert(key, Lone::Verdict { verdict, parts });
                }
            }
            if self.families[family].lone > LONE_EXECUTIONS {
                self.families[family].abandoned = true;
                exploration.leave_out();
                return Ok(Explorations::Done);
            }
            let tests = batch.iter().map(|&(_, test, _)| test).collect();
            exploration.wake(&self.families[family], &tests);
        }
    }

    /// Whether the exploration has spent what it may. Where something is plausible it goes on, and where there are no classes others
    /// wait long enough.
    fn puts_off(&self, exploration: &Exploration<'_>) -> bool {
        self.slice == Some(0)
            && self.families[self.units[exploration.unit].family].lone == 0
            && exploration.plausible.is_empty()
    }

    /// Gives candidates what an earlier turn has found out about them only; whether there are any.
    fn recall_lone(
        &self,
        exploration: &mut Exploration<'_>,
        batch: &[(CandidateId, usize, Vec<Instruction>)],
    ) -> u64 {
        let mut recalled = 0;
        for &(first, ..) in batch {
            let key = (exploration.unit, exploration.cost, first);
            let Some(lone) = self.lone.get(&key) else {
                continue;
            };
            recalled += 1;
            let own = exploration.take_first(first);
            if matches!(lone, Lone::Unknown) {
                exploration.left_out.extend(own);
            }
        }
        recalled
    }

    /// Has what has become plausible verified, before all others have a verdict.
    fn propose_early(&self, exploration: &mut Exploration<'_>) {
        if let Some(early) = self.early {
            for &group in &exploration.plausible[exploration.proposed..] {
                if let Some(known) = exploration.level.group(group) {
                    let class = self.class(exploration, group, known.count);
                    early.propose(&class, self.places());
                }
            }
        }
        exploration.proposed = exploration.plausible.len();
    }

    /// Adds the classes of executions. Those that told about their candidate only are returned; `None` if the family starts
    /// again.
    fn learn_all(
        &mut self,
        unit: usize,
        batch: &[(CandidateId, usize, Vec<Instruction>)],
        runs: Vec<Run>,
    ) -> Option<Vec<(usize, Lone)>> {
        let mut lone = Vec::new();
        for (at, run) in runs.into_iter().enumerate() {
            let test = batch[at].1;
            if !run.verdict.is_pass() {
                *self.kills.entry(test).or_default() += 1;
            }
            let verdict = run.verdict.clone();
            match self.learn(unit, test, run) {
                Learnt::Class => {}
                Learnt::Nothing => lone.push((
                    at,
                    Lone::Verdict {
                        verdict,
                        parts: false,
                    },
                )),
                Learnt::Beginning => lone.push((
                    at,
                    Lone::Verdict {
                        verdict,
                        parts: true,
                    },
                )),
                Learnt::Ended => lone.push((at, Lone::Unknown)),
                Learnt::StartAgain => return None,
            }
        }
        Some(lone)
    }

    /// Lets groups go down the trees until all that are open need an execution, or the time is up.
    fn descend(&mut self, exploration: &mut Exploration<'_>) -> Result<(), RepairError> {
        loop {
            if self.surroundings.cancel.is_cancelled() {
                return Err(RepairError::Run(RunError::Cancelled));
            }
            if self.is_out_of_time() {
                return Ok(());
            }
            if let Some(group) = exploration.moving.pop() {
                self.advance(exploration, group);
                continue;
            }
            let Some((state, groups)) = exploration.waiting.pop_first() else {
                return Ok(());
            };
            let (values, undefined) = self.states[exploration.unit].states.get(state);
            let parts = exploration.level.split(&groups, values, undefined);
            self.move_parts(exploration, &parts, None);
        }
    }

    /// Lets the parts of groups go where their values lead, along a way or in the state that the groups were asked for.
    fn move_parts(&self, exploration: &mut Exploration<'_>, parts: &[Part], way: Option<&Way>) {
        let family = &self.families[self.units[exploration.unit].family];
        let groups = exploration.level.group_count();
        exploration.status.resize(groups, Status::Dead);
        let (mut before, mut whole) = (None, false);
        for (index, part) in parts.iter().enumerate() {
            // The first part of a group has its number.
            if part.group == part.from {
                before = Some(exploration.status[part.from as usize]);
                whole = parts
                    .get(index + 1)
                    .is_none_or(|next| next.from != part.from);
            }
            let Some(Status::Open {
                passed,
                mut cursor,
                mut look,
            }) = before
            else {
                continue;
            };
            let mut value = part.value;
            let mut agrees = whole;
            if let Some(way) = way {
                // What has agreed to the end goes on behind the last state.
                let last = way.cursors.len() - 1;
                agrees = part.agrees > last;
                cursor = way.cursors[part.agrees.min(last)];
                if agrees {
                    value = way.values[last];
                }
            }
            look = if agrees {
                (look * GROWTH).min(MOST_STATES)
            } else {
                1
            };
            let cursor = family.follow(exploration.tests[passed], cursor, value);
            exploration.status[part.group as usize] = Status::Open {
                passed,
                cursor,
                look,
            };
            exploration.moving.push(part.group);
        }
    }

    /// Lets a group go on as far as its values are known.
    fn advance(&mut self, exploration: &mut Exploration<'_>, group: GroupId) {
        let family = &self.families[self.units[exploration.unit].family];
        let Status::Open {
            mut passed,
            mut cursor,
            mut look,
        } = exploration.status[group as usize]
        else {
            return;
        };
        let verdict = loop {
            let Some(&test) = exploration.tests.get(passed) else {
                break &ClassVerdict::Pass;
            };
            match family.next(test, exploration.unit, &mut cursor) {
                Next::Known(ClassVerdict::Pass) => {
                    passed += 1;
                    cursor = Cursor::START;
                    look = 1;
                }
                Next::Known(verdict) => break verdict,
                Next::LeaveOut => {
                    exploration.left_out.push(group);
                    exploration.status[group as usize] = Status::Dead;
                    return;
                }
                next => {
                    let open = &mut exploration.status[group as usize];
                    *open = Status::Open {
                        passed,
                        cursor,
                        look,
                    };
                    if let Next::Ask(state) = next {
                        self.ask(exploration, group, state);
                    } else if let Some(known) = exploration.level.group(group) {
                        exploration.pending.insert(known.representative, group);
                    }
                    return;
                }
            }
        };
        let count = exploration.level.group(group).map_or(0, |g| g.count) as u64;
        let stats = &mut self.found.stats;
        stats.explored += count;
        if *verdict == ClassVerdict::Undefined {
            stats.undefined += count;
        }
        if self.options.keep_verdicts {
            let members = exploration.level.members(group).collect();
            exploration.decided.push((verdict.clone(), members));
        }
        if verdict.is_pass() {
            exploration.plausible.push(group);
        }
        exploration.status[group as usize] = match verdict {
            ClassVerdict::Pass => Status::Plausible,
            ClassVerdict::Fail(_) | ClassVerdict::Undefined => Status::Dead,
        };
    }

    /// Evaluates the candidates of a group in the state that the classes ask for. Small groups are evaluated in the following states too,
    /// or together with other groups.
    fn ask(&self, exploration: &mut Exploration<'_>, group: GroupId, state: u32) {
        let Status::Open {
            passed,
            cursor,
            look,
        } = &mut exploration.status[group as usize]
        else {
            return;
        };
        let count = exploration.level.group(group).map_or(0, |g| g.count);
        let least = if count <= FEW_COMPANIONS {
            *look = (*look).max(FIRST_LOOK);
            FIRST_LOOK
        } else if count <= MANY_COMPANIONS {
            FIRST_LOOK
        } else {
            LONG_LOOK
        };
        let states = (*look).min(MOST_EVALUATIONS / count.max(1));
        if states < least {
            exploration.waiting.entry(state).or_default().push(group);
            return;
        }
        let unit = exploration.unit;
        let family = &self.families[self.units[unit].family];
        let way = family.way(exploration.tests[*passed], unit, *cursor, states);
        let states = &self.states[unit].states;
        let level = &mut exploration.level;
        let parts = level.split_along(group, states, &way.states, &way.values);
        self.move_parts(exploration, &parts, Some(&way));
    }

    /// Watches the original program in a test that candidates need an execution of, if that has to be done first.
    fn watch_pending(
        &mut self,
        exploration: &mut Exploration<'_>,
        worker: &mut (Worker, Channel),
    ) -> Result<bool, RepairError> {
        let family = self.units[exploration.unit].family;
        let test = exploration
            .pending
            .values()
            .filter_map(|&group| exploration.test_of(group))
            .map(|(test, _)| test)
            .find(|&test| self.must_watch(family, test));
        let Some(test) = test else {
            return Ok(false);
        };
        let restarts = self.families[family].restarts;
        self.watch_original(family, test, worker)?;
        if self.families[family].restarts != restarts {
            exploration.restart();
        } else {
            exploration.wake(&self.families[family], &BTreeSet::from([test]));
        }
        Ok(true)
    }
}
