//! Divides the work into turns, so that no location keeps the others waiting.
//!
//! One location may have thousands of classes at a cost, or very slow executions, while the right change stands somewhere else.
//! So the exploration of a location at a cost gets a limited amount of work. The rest is put off, and gets a multiple of it when
//! the next cost has been explored at all other locations.
//!
//! A whole cost may take long, too, where there are many locations. So after some executions of it the alternatives of the next cost have their
//! turn: they are few, and what is no term is found nowhere else.
//!
//! Work is counted in executions. One that takes much longer than usual counts as several, in powers of four: so the order hardly
//! depends on measured times.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use crate::order::Step;

/// The executions of usual length that an exploration may spend at first, whatever the number of tests…
const FIRST_SLICE: u64 = 256;

/// …and the executions for each test: a patch is known only when it was executed in all of them.
const FOR_EACH_TEST: u64 = 2;

/// The executions at one cost after which the alternatives of the next cost have their turn.
const LOOKS_AHEAD_AFTER: u64 = 2000;

/// The factor by which an exploration may spend more in its next turn.
const GROWTH: u64 = 4;

/// The most usual executions as which a long execution counts.
const MOST_WEIGHT: u64 = 256;

/// Returns how many usual executions an execution counts as, by its duration.
pub(crate) fn weight(took: Duration, usual: Duration) -> u64 {
    let mut weight = 1;
    let mut reached = usual * 4;
    while weight < MOST_WEIGHT && took >= reached {
        weight *= 4;
        reached *= 4;
    }
    weight
}

/// The exploration of a step, or some of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) step: Step,
    /// What it may spend; `None` for all that there is.
    pub(crate) slice: Option<u64>,
}

/// The steps of a search that are still to be done.
pub(crate) struct Turns<'s> {
    steps: &'s [Step],
    /// What each of them may spend at first.
    slice: u64,
    next: usize,
    /// What was put off, with the level that was explored then.
    later: Vec<(u32, Turn)>,
    /// What was put off and has its turn now.
    due: VecDeque<Turn>,
    has_put_off: bool,
    /// The level of the last step that was not ahead of its level.
    explored: Option<u32>,
    /// Steps that had their turn ahead of their level.
    ahead: BTreeSet<usize>,
    /// The level from which was looked ahead last.
    looked_from: Option<u32>,
    /// How many executions were done when the level began.
    begun_at: u64,
}

impl<'s> Turns<'s> {
    /// Makes the turns of a search with this number of tests.
    pub(crate) fn new(steps: &'s [Step], tests: usize) -> Self {
        Turns {
            steps,
            slice: FIRST_SLICE + FOR_EACH_TEST * tests as u64,
            next: 0,
            later: Vec::new(),
            due: VecDeque::new(),
            has_put_off: false,
            explored: None,
            ahead: BTreeSet::new(),
            looked_from: None,
            begun_at: 0,
        }
    }

    /// After enough executions, gives the `wanted` steps of the next level their turn before the rest of this level.
    pub(crate) fn look_ahead(&mut self, executions: u64, wanted: impl Fn(&Step) -> bool) {
        let (Some(level), Some(explored)) = (self.level(), self.explored) else {
            return;
        };
        if level != explored {
            self.begun_at = executions;
            return;
        }
        if self.looked_from >= Some(level)
            || executions.saturating_sub(self.begun_at) < LOOKS_AHEAD_AFTER
        {
            return;
        }
        self.looked_from = Some(level);
        let steps = self.steps.iter().enumerate().skip(self.next);
        let steps = steps.filter(|(_, step)| step.level == level + 1 && wanted(step));
        for (number, &step) in steps {
            self.has_put_off = true;
            self.ahead.insert(number);
            self.due.push_back(Turn {
                step,
                slice: Some(self.slice),
            });
        }
    }

    /// Passes over what had its turn.
    fn pass_over(&mut self) {
        while self.ahead.contains(&self.next) {
            self.next += 1;
        }
    }

    /// Whether the next step is the first one of a level behind the first, and nothing that was put off comes before it; `None` behind
    /// the last one.
    pub(crate) fn begins_level(&self) -> Option<bool> {
        if !self.due.is_empty() {
            return Some(false);
        }
        let level = self.level()?;
        Some(self.explored.is_some_and(|explored| explored != level))
    }

    /// The level of the next step.
    pub(crate) fn level(&self) -> Option<u32> {
        let mut left = (self.next..self.steps.len()).filter(|number| !self.ahead.contains(number));
        left.next().map(|number| self.steps[number].level)
    }

    /// Whether what was put off has its turn.
    pub(crate) fn is_taken_up(&self) -> bool {
        !self.due.is_empty()
    }

    /// The level that has been explored last.
    fn explored(&self) -> u32 {
        self.explored.unwrap_or(0)
    }

    /// Lets what was put off before the level that is over now have its turn.
    pub(crate) fn take_up(&mut self) {
        let over = self.explored();
        let (due, later) = std::mem::take(&mut self.later)
            .into_iter()
            .partition(|(level, _)| *level < over);
        self.later = later;
        self.due = due.into_iter().map(|(_, turn)| turn).collect();
    }

    /// Lets all that was put off have its turn, without a limit; whether there is anything.
    pub(crate) fn take_up_all(&mut self) -> bool {
        let later = std::mem::take(&mut self.later).into_iter();
        self.due.extend(later.map(|(_, turn)| Turn {
            slice: None,
            ..turn
        }));
        !self.due.is_empty()
    }

    /// Returns the next turn.
    pub(crate) fn next(&mut self) -> Option<Turn> {
        if let Some(turn) = self.due.pop_front() {
            return Some(turn);
        }
        self.pass_over();
        let step = *self.steps.get(self.next)?;
        self.next += 1;
        self.explored = Some(step.level);
        Some(Turn {
            step,
            slice: Some(self.slice),
        })
    }

    /// Puts off what is left of a turn.
    pub(crate) fn put_off(&mut self, turn: Turn) {
        self.has_put_off = true;
        let slice = turn.slice.map(|slice| slice.saturating_mul(GROWTH));
        self.later.push((self.explored(), Turn { slice, ..turn }));
    }

    /// A turn was not finished, and the search is over.
    pub(crate) fn give_back(&mut self, turn: Turn) {
        self.later.push((self.explored(), turn));
    }

    /// Whether something was put off.
    pub(crate) fn have_been_put_off(&self) -> bool {
        self.has_put_off
    }

    /// Whether nothing is left.
    pub(crate) fn are_over(&self) -> bool {
        self.least_cost().is_none()
    }

    /// The least cost of what is left.
    pub(crate) fn least_cost(&self) -> Option<u32> {
        let later = self.later.iter().map(|(_, turn)| turn.step.cost);
        let due = self.due.iter().map(|turn| turn.step.cost);
        let steps = (self.next..self.steps.len()).filter(|number| !self.ahead.contains(number));
        let steps = steps.map(|number| self.steps[number].cost);
        later.chain(due).chain(steps).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(cost: u32, unit: usize) -> Step {
        Step {
            level: cost,
            cost,
            unit,
        }
    }

    #[test]
    fn an_execution_that_takes_long_counts_as_several() {
        let usual = Duration::from_millis(10);
        let of = |milliseconds| weight(Duration::from_millis(milliseconds), usual);
        assert_eq!([of(1), of(39), of(40), of(159), of(160)], [1, 1, 4, 4, 16]);
        assert_eq!(of(60_000), MOST_WEIGHT);
    }

    #[test]
    fn what_is_put_off_has_its_turn_when_the_next_cost_has_been_explored() {
        let steps = [step(1, 0), step(1, 1), step(2, 0), step(2, 1), step(3, 0)];
        let mut turns = Turns::new(&steps, 10);
        let mut order = Vec::new();
        loop {
            match turns.begins_level() {
                Some(true) => turns.take_up(),
                Some(false) => {}
                None if turns.take_up_all() => {}
                None => break,
            }
            let turn = turns.next().unwrap();
            order.push((turn.step.cost, turn.step.unit, turn.slice));
            // The first unit has no end.
            if turn.step.unit == 0 && turn.slice.is_some() {
                turns.put_off(turn);
            }
        }
        let first = Some(276);
        assert_eq!(
            order,
            [
                (1, 0, first),
                (1, 1, first),
                (2, 0, first),
                (2, 1, first),
                (1, 0, Some(276 * GROWTH)),
                (3, 0, first),
                (2, 0, None),
                (1, 0, None),
                (3, 0, None),
            ]
        );
        assert!(turns.are_over() && turns.have_been_put_off());
    }

    #[test]
    fn a_cost_that_takes_long_lets_some_of_the_next_have_their_turn_once() {
        let steps = [
            step(1, 0),
            step(2, 0),
            step(2, 1),
            step(2, 2),
            step(3, 0),
            step(3, 1),
            step(3, 2),
        ];
        let mut turns = Turns::new(&steps, 10);
        let mut order = Vec::new();
        let mut executions = 0;
        while turns.begins_level().is_some() {
            turns.look_ahead(executions, |step| step.unit == 0);
            let turn = turns.next().unwrap();
            order.push((turn.step.cost, turn.step.unit));
            executions += LOOKS_AHEAD_AFTER;
        }
        let expected = [(1, 0), (2, 0), (3, 0), (2, 1), (2, 2), (3, 1), (3, 2)];
        assert_eq!(order, expected);
        assert!(turns.are_over());
    }

    #[test]
    fn a_cost_is_not_explored_in_whole_while_something_of_it_is_put_off() {
        let steps = [step(1, 0), step(1, 1), step(2, 0)];
        let mut turns = Turns::new(&steps, 10);
        let turn = turns.next().unwrap();
        turns.put_off(turn);
        turns.next();
        turns.next();
        assert_eq!(turns.least_cost(), Some(1));
    }
}
