//! Families: locations whose candidates share the classes of a test.
//!
//! A hole with an expression is a family by itself, and a test sees its states. All places of a function where one variable can
//! be assigned are one family. There a test sees *windows*: the places passed between two touches of the variable, each with
//! its state. A candidate's value in a window is what the variable holds when it is touched. That is the value of the term if
//! its place lies in the window, or else the variable's value before. That composes the value relation with the dependency
//! relation (f1x, section 3.5 and appendix B).

use std::{collections::BTreeMap, hash::BuildHasher, time::Duration};

use hashbrown::HashTable;
use patchwright_exec::FailReason;
use patchwright_probe_image::{FunctionId, Observation, Patience, Slot, Watched};
use patchwright_semantics::{Instruction, evaluate};
use patchwright_space::{ASSIGNMENT_COST, HoleKind, Schemas, Space, SpaceLimits, StateSet, Target};
use rustc_hash::FxBuildHasher;

use crate::{
    classes::{ClassVerdict, Classes, Cursor, Next},
    instrumented::{HoleEntry, SourceFile, probe_slots},
    relations::Relations,
};

/// Stands for the value of a variable that has none yet.
const WITHOUT_VALUE: u64 = 0x6a09_e667_f3bc_c908;

/// A location, or a place for assignments with one target.
pub struct Unit {
    /// Index of the hole.
    pub entry: usize,
    /// Index of the target.
    pub target: Option<usize>,
    /// Index of the family.
    pub family: usize,
}

impl Unit {
    /// Returns the variable that the unit assigns, if it is a place for assignments.
    pub fn target<'e>(&self, entry: &'e HoleEntry) -> Option<&'e Target> {
        match &entry.hole.kind {
            HoleKind::Assignment(at) => at.targets.get(self.target?),
            _ => None,
        }
    }
}

/// The locations of a run with everything of which their spaces are made.
#[derive(Clone, Copy)]
pub(crate) struct Locations<'a> {
    pub(crate) holes: &'a [HoleEntry],
    pub(crate) files: &'a [SourceFile],
    pub(crate) schemas: Schemas,
}

impl Locations<'_> {
    /// Returns the candidates of a unit within limits: for assignments up to this cost, for others all.
    pub(crate) fn space(&self, unit: &Unit, cost: u32, limits: SpaceLimits) -> Space {
        let entry = &self.holes[unit.entry];
        let file = &self.files[entry.file];
        let (hole, limits) = match unit.target {
            None => (entry.hole.clone(), limits),
            Some(target) => (
                entry.hole.assigning(target),
                SpaceLimits {
                    term_size: (cost - ASSIGNMENT_COST).max(1).min(limits.term_size),
                    ..limits
                },
            ),
        };
        let mut space = Space::build(
            hole,
            entry.leaves.clone(),
            &file.unit.functions[entry.hole.function],
            &file.parents[entry.hole.function],
            entry.expr,
            file.types.pointees(),
            limits,
        );
        let schemas = self.schemas;
        space.blocks.retain(|block| schemas.contains(block.schema));
        space
    }

    /// Whether a unit has candidates of this cost, as far as that is known without its space.
    pub(crate) fn may_have(&self, unit: &Unit, cost: u32, limits: SpaceLimits) -> bool {
        if unit.target.is_none() {
            return true;
        }
        // There are too many of these for all spaces to be built: sums and products of one to three leaves, and one more for each operator that the
        // function does not use.
        if cost == ASSIGNMENT_COST {
            let target = unit.target(&self.holes[unit.entry]);
            return target.is_some_and(|target| !target.given.is_empty());
        }
        let term = cost.saturating_sub(ASSIGNMENT_COST);
        let operators = (limits.term_size.min(5) / 2).min(2);
        term == 1 || (3..=3 * operators + 1).contains(&term)
    }
}

/// The states and slots of a unit that executions have shown.
pub struct UnitState {
    /// The states seen.
    pub states: StateSet,
    /// The slots as the probe wants them.
    pub slots: Vec<Slot>,
    /// The costs of its candidates, once known.
    pub costs: Option<Vec<u32>>,
}

/// The classes of a family, by test.
#[derive(Default)]
pub struct Family {
    /// The classes of each test.
    pub classes: BTreeMap<usize, Classes>,
    /// Executions that told about one candidate only.
    pub lone: usize,
    /// Its other candidates are put off or left out.
    pub abandoned: bool,
    /// For the places of a variable.
    pub watch: Option<WatchState>,
    /// How often what was known has been given up.
    pub restarts: u32,
    /// How long executions went on.
    pub length: Length,
}

/// The lengths of past executions of the candidates at one place. They decide when a further execution counts as endless.
#[derive(Clone, Copy, Default)]
pub struct Length {
    /// Most states of an execution that ended by itself.
    states: usize,
    /// Most visits of such an execution.
    visits: u64,
    /// Executions that did not end in time and visited the place often.
    endless: usize,
}

/// The number of executions that may visit a place without end. After these, executions that are likely to do so are ended early.
const MOST_ENDLESS: usize = 4;
/// The number of states above which an execution counts as likely to run on,
const LEAST_STATES: usize = 4096;
/// or the number of visits,
const LEAST_VISITS: u64 = 100_000;
/// if it also has this many times as many as the executions that ended by themselves.
const LENGTH_FACTOR: usize = 16;

impl Length {
    /// Counts an execution with its verdict and its visits.
    pub fn add(&mut self, verdict: &ClassVerdict, observation: &Observation) {
        let out_of_limits = matches!(
            verdict,
            ClassVerdict::Fail(Some(FailReason::TimedOut(_) | FailReason::LimitExceeded(_)))
        );
        if !out_of_limits && observation.is_complete() {
            self.states = self.states.max(observation.states.len());
            self.visits = self.visits.max(observation.visits);
        }
        let often = observation.overflow || observation.visits >= LEAST_VISITS;
        self.endless += usize::from(out_of_limits && often);
    }

    /// Returns how many visits the next execution may take, once some executions did not end.
    pub fn patience(&self) -> Option<Patience> {
        (self.endless >= MOST_ENDLESS).then(|| Patience {
            states: LEAST_STATES.max(self.states * LENGTH_FACTOR) as u32,
            visits: LEAST_VISITS.max(self.visits.saturating_mul(LENGTH_FACTOR as u64)),
        })
    }
}

/// The windows of the places of a variable that executions have shown.
pub struct WatchState {
    /// The function.
    pub function: FunctionId,
    /// The variable's number in it.
    pub variable: u32,
    /// The units, by the id of their hole.
    pub units: Vec<usize>,
    /// Calls have to count as touches.
    pub calls_touch: bool,
    /// Tests in which the original program was watched, with the time that it took.
    pub observed: BTreeMap<usize, Duration>,
    windows: Vec<Window>,
    /// Numbers of windows, by what is in them.
    index: HashTable<u32>,
    /// Of all windows together.
    visits: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Window {
    /// What the variable holds at its beginning.
    before: u64,
    /// Units and states.
    visits: Vec<(u32, u32)>,
}

/// Returns the units and the families of the holes. Nothing is known of them yet.
pub fn families(
    holes: &[HoleEntry],
    relations: Relations,
) -> (Vec<Unit>, Vec<UnitState>, Vec<Family>) {
    let (mut units, mut states, mut families) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_variable: BTreeMap<(FunctionId, u32, Option<usize>), usize> = BTreeMap::new();
    for (number, entry) in holes.iter().enumerate() {
        let slots = probe_slots(&entry.hole.atoms.slots);
        let mut add = |target, family| {
            units.push(Unit {
                entry: number,
                target,
                family,
            });
            states.push(UnitState {
                states: StateSet::default(),
                slots: slots.clone(),
                costs: None,
            });
        };
        let HoleKind::Assignment(at) = &entry.hole.kind else {
            families.push(Family::default());
            add(None, families.len() - 1);
            continue;
        };
        for (index, target) in at.targets.iter().enumerate() {
            let place = (!relations.joins_places()).then_some(number);
            let key = (entry.function, target.variable, place);
            let family = *of_variable.entry(key).or_insert_with(|| {
                families.push(Family {
                    watch: Some(WatchState::new(entry.function, target.variable)),
                    ..Family::default()
                });
                families.len() - 1
            });
            add(Some(index), family);
        }
    }
    for (number, unit) in units.iter().enumerate() {
        if let Some(watch) = &mut families[unit.family].watch {
            watch.units.push(number);
        }
    }
    for family in &mut families {
        if let Some(watch) = &mut family.watch {
            watch.units.sort_by_key(|&unit| holes[units[unit].entry].id);
        }
    }
    (units, states, families)
}

impl WatchState {
    fn new(function: FunctionId, variable: u32) -> Self {
        WatchState {
            function,
            variable,
            units: Vec::new(),
            calls_touch: false,
            observed: BTreeMap::new(),
            windows: Vec::new(),
            index: HashTable::new(),
            visits: 0,
        }
    }

    fn insert(&mut self, window: Window) -> u32 {
        let windows = &self.windows;
        let hash = FxBuildHasher.hash_one(&window);
        let known = self.index.find(hash, |&id| windows[id as usize] == window);
        if let Some(&known) = known {
            return known;
        }
        let next = windows.len() as u32;
        let rehash = |&id: &u32| FxBuildHasher.hash_one(&windows[id as usize]);
        self.index.insert_unique(hash, next, rehash);
        self.visits += window.visits.len();
        self.windows.push(window);
        next
    }

    /// How much memory the windows take.
    fn bytes(&self) -> usize {
        self.windows.capacity() * size_of::<Window>()
            + self.visits * size_of::<(u32, u32)>()
            + self.index.allocation_size()
    }
}

/// The path of an execution through the classes of a test.
#[derive(Default)]
pub struct Way {
    /// Where each state is asked for.
    pub cursors: Vec<Cursor>,
    /// The states.
    pub states: Vec<u32>,
    /// The value that an execution had in each.
    pub values: Vec<Option<u64>>,
}

impl Family {
    /// Returns the memory in bytes of the family's classes and windows and of its units' states.
    /// `unit` is one of the units.
    pub fn bytes(&self, unit: usize, states: &[UnitState]) -> usize {
        let watch = self.watch.as_ref();
        let units = watch.map_or(std::slice::from_ref(&unit), |watch| &watch.units[..]);
        let states = units.iter().map(|&unit| states[unit].states.bytes());
        let classes = self.classes.values().map(Classes::bytes);
        states.chain(classes).sum::<usize>() + watch.map_or(0, WatchState::bytes)
    }

    /// Forgets all windows and counts calls as touches from now on. The result is false if calls
    /// counted already.
    pub fn restart_with_calls(&mut self) -> bool {
        let Some(watch) = &mut self.watch else {
            return false;
        };
        let changed = !std::mem::replace(&mut watch.calls_touch, true);
        self.restarts += 1;
        self.classes.clear();
        watch.observed.clear();
        watch.windows.clear();
        watch.index.clear();
        watch.visits = 0;
        changed
    }

    /// Adds the report of a run: states, windows, and a class with this verdict.
    pub fn add_windows(
        &mut self,
        watched: &Watched,
        test: usize,
        verdict: ClassVerdict,
        active: Option<usize>,
        (units, states, holes): (&[Unit], &mut [UnitState], &[HoleEntry]),
    ) {
        let Some(watch) = &mut self.watch else { return };
        let ids: Vec<(usize, u32)> = watched
            .states
            .iter()
            .map(|state| {
                let unit = watch.units[state.location];
                let (id, _) = states[unit].states.insert(&state.values, &state.undefined);
                (unit, id)
            })
            .collect();
        let run = watched
            .windows
            .iter()
            .map(|window| {
                let before = window
                    .iter()
                    .find_map(|&state| {
                        let (unit, id) = ids[state];
                        let atom = units[unit].target(&holes[units[unit].entry])?.atom?;
                        let slot = holes[units[unit].entry].hole.atoms.table[atom].slot as usize;
                        let (values, undefined) = states[unit].states.get(id);
                        (undefined[slot] == 0).then_some(values[slot])
                    })
                    .unwrap_or(WITHOUT_VALUE);
                let value = window
                    .iter()
                    .rfind(|&&state| Some(ids[state].0) == active)
                    .map_or(Some(before), |&state| watched.states[state].result);
                let visits = window
                    .iter()
                    .map(|&state| (ids[state].0 as u32, ids[state].1))
                    .collect();
                (watch.insert(Window { before, visits }), value)
            })
            .collect();
        self.classes.entry(test).or_default().insert(run, verdict);
    }

    /// Returns the verdict of a test on a candidate of `unit`, if these classes know it.
    pub fn lookup<'c>(
        &self,
        classes: &'c BTreeMap<usize, Classes>,
        test: usize,
        unit: usize,
        states: &StateSet,
        code: &[Instruction],
    ) -> Option<&'c ClassVerdict> {
        let classes = classes.get(&test)?;
        classes.lookup(|id| self.value_in(id, unit, states, code))
    }

    /// Returns what candidates of `unit` need next at `cursor` in the classes of a test. The cursor
    /// passes what is the same for all candidates, so the answer asks for a state of the unit.
    pub fn next(&self, test: usize, unit: usize, cursor: &mut Cursor) -> Next<'_> {
        let Some(classes) = self.classes.get(&test) else {
            return Next::Execute;
        };
        loop {
            match classes.next(cursor) {
                Next::Ask(seen) => match self.state_of(unit, seen) {
                    Some(state) => return Next::Ask(state),
                    None => *cursor = classes.follow(*cursor, Some(self.before(seen))),
                },
                known => return known,
            }
        }
    }

    /// Returns the path of an execution from `cursor` on, with at most `most` states for which
    /// candidates of `unit` are asked.
    pub fn way(&self, test: usize, unit: usize, mut cursor: Cursor, most: usize) -> Way {
        let mut way = Way::default();
        let Some(classes) = self.classes.get(&test) else {
            return way;
        };
        while way.states.len() < most {
            let Next::Ask(state) = self.next(test, unit, &mut cursor) else {
                break;
            };
            let had = classes.had(cursor);
            way.cursors.push(cursor);
            way.states.push(state);
            way.values.push(had);
            cursor = classes.follow(cursor, had);
        }
        way
    }

    /// Returns the cursor of candidates that have `value` in the state for which [`Family::next`]
    /// asked.
    pub fn follow(&self, test: usize, cursor: Cursor, value: Option<u64>) -> Cursor {
        match self.classes.get(&test) {
            Some(classes) => classes.follow(cursor, value),
            None => cursor,
        }
    }

    /// Returns the class of a candidate in each of these tests, or `None` if the order of states
    /// tells nothing in one of them.
    pub fn classes_of(
        &self,
        tests: &[usize],
        unit: usize,
        states: &StateSet,
        code: &[Instruction],
    ) -> Option<BTreeMap<usize, usize>> {
        let mut found = BTreeMap::new();
        for test in tests {
            let classes = self.classes.get(test)?;
            let class = classes.class_of(|id| self.value_in(id, unit, states, code))?;
            found.insert(*test, class);
        }
        Some(found)
    }

    /// Whether a candidate gives 0 in all states in which these tests see it, as far as the classes
    /// tell.
    pub fn is_always_zero(
        &self,
        tests: &[usize],
        unit: usize,
        states: &StateSet,
        code: &[Instruction],
    ) -> bool {
        tests.iter().all(|test| {
            let mut is_zero = true;
            let classes = self.classes.get(test);
            let verdict = classes.and_then(|classes| {
                classes.lookup(|id| {
                    let value = self.value_in(id, unit, states, code);
                    is_zero &= value == Some(0);
                    value
                })
            });
            verdict.is_some() && is_zero
        })
    }

    /// What a candidate of `unit` gives in what a test sees; `None` if that is undefined.
    fn value_in(
        &self,
        seen: u32,
        unit: usize,
        states: &StateSet,
        code: &[Instruction],
    ) -> Option<u64> {
        let Some(state) = self.state_of(unit, seen) else {
            return Some(self.before(seen));
        };
        let (values, undefined) = states.get(state);
        evaluate(code, values, undefined)
    }

    /// The state of the unit in what a test sees; `None` if it is not in that window.
    fn state_of(&self, unit: usize, seen: u32) -> Option<u32> {
        match &self.watch {
            None => Some(seen),
            Some(watch) => {
                let visits = &watch.windows[seen as usize].visits;
                let own = |(visited, _): &&(u32, u32)| *visited as usize == unit;
                visits.iter().rfind(own).map(|(_, state)| *state)
            }
        }
    }

    fn before(&self, seen: u32) -> u64 {
        match &self.watch {
            None => WITHOUT_VALUE,
            Some(watch) => watch.windows[seen as usize].before,
        }
    }

    /// Whether the original program must be watched in this test before candidates are executed.
    pub fn is_unobserved(&self, test: usize) -> bool {
        self.watch
            .as_ref()
            .is_some_and(|watch| !watch.observed.contains_key(&test))
    }
}

#[cfg(test)]
mod tests {
    use patchwright_exec::TimeKind;
    use patchwright_probe_image::States;

    use super::*;

    fn observation(states: u64, visits: u64, overflow: bool) -> Observation {
        let mut seen = States::new(1);
        for state in 0..states {
            seen.push([state], [0], Some(1));
        }
        Observation {
            attached: 1,
            visits,
            overflow,
            ended: false,
            incomplete: 0,
            undefined: false,
            mismatch: false,
            states: seen,
        }
    }

    #[test]
    fn patience_ends_when_some_executions_did_not_and_grows_with_those_that_did() {
        let late = ClassVerdict::Fail(Some(FailReason::TimedOut(TimeKind::Cpu)));
        let mut length = Length::default();
        length.add(&ClassVerdict::Pass, &observation(1000, 50_000, false));
        for _ in 0..MOST_ENDLESS {
            assert_eq!(length.patience(), None);
            length.add(&late, &observation(5, 1, true));
        }
        let patience = length.patience().unwrap();
        assert_eq!((patience.states, patience.visits), (16_000, 800_000));
    }

    #[test]
    fn executions_that_fail_or_wait_for_something_else_do_not_end_patience() {
        let late = ClassVerdict::Fail(Some(FailReason::TimedOut(TimeKind::Wall)));
        let mut length = Length::default();
        for _ in 0..100 {
            length.add(&late, &observation(3, 9, false));
            length.add(&ClassVerdict::Fail(None), &observation(3, 9, true));
        }
        assert_eq!(length.patience(), None);
    }
}
