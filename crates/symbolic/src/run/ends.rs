//! Follows what a block ends with: branches, assertions, ways out.

use std::{collections::BTreeMap, rc::Rc};

use patchwright_ir::{
    BlockId, Edge, Function, RoutineId, SwitchCase, TerminatorKind, Type, Undefined,
};
use patchwright_solve::Term;
use rustc_hash::FxHashSet;

use super::entry::Returned;
use super::{Waiting, no_term};
use crate::{
    asking::asking,
    encoder::{Encoder, Frame, State, World},
    encoding::FailureKind,
    meaning,
    order::Moment,
};

impl<'p> Encoder<'p> {
    /// A block does nothing but report that an assertion fails: the branch to it is the assertion.
    pub(super) fn reports_failure(
        &self,
        module: usize,
        function: &Function,
        block: BlockId,
    ) -> bool {
        function
            .block(block)
            .instructions
            .iter()
            .any(|instruction| {
                let Some(callee) = instruction.called() else {
                    return false;
                };
                let routine = self.program.routine_of(module, callee);
                let name = self.program.routine(routine).name.as_str();
                matches!(
                    name,
                    "__assert_fail" | "__assert" | "reach_error" | "__VERIFIER_error"
                )
            })
    }

    /// The blocks that ask whether an assertion holds.
    pub(super) fn asking(
        &mut self,
        routine: RoutineId,
        module: usize,
        function: &Function,
    ) -> Rc<FxHashSet<BlockId>> {
        if let Some(known) = self.asking_blocks.get(&routine) {
            return known.clone();
        }
        let fails = |block| self.reports_failure(module, function, block);
        let found = Rc::new(asking(function, &fails));
        self.asking_blocks.insert(routine, found.clone());
        found
    }

    /// Follows the ways out of a block.
    pub(super) fn leave(
        &mut self,
        frame: &mut Frame<'p>,
        moment: &Moment,
        at: Waiting,
        waiting: &mut BTreeMap<Moment, Waiting>,
        returned: &mut Option<Returned>,
    ) {
        let function: &'p Function = frame.function;
        let terminator = &function.block(at.block).terminator;
        if frame.asking.contains(&at.block) {
            self.reached.push(at.state.world.path.term());
            let place = self.place(frame.module, function, terminator.origin);
            self.looked(FailureKind::Assertion, &place);
        }
        let place = || self.place(frame.module, function, terminator.origin);
        match &terminator.kind {
            TerminatorKind::Goto(edge) => {
                let path = at.state.world.path.clone();
                self.go(frame, moment, &at, *edge, path, waiting);
            }
            TerminatorKind::Branch {
                condition,
                ty,
                then,
                otherwise,
            } => {
                let place = place();
                let holds = self
                    .operand(frame, &at.state, *condition)
                    .and_then(|value| meaning::truth(self.terms, *ty, value));
                let Some(holds) = holds else {
                    self.unknown(&at.state.world, no_term(*ty), &place);
                    return;
                };
                let holds = self.located(holds, &at.state.world, &place);
                if self.terms.as_truth(holds).is_none() {
                    let value = meaning::int_of(self.terms, holds);
                    self.step(&at.state.world, &place, None, Some((Type::I32, value)));
                }
                let not = self.terms.not(holds);
                let ways = [(*then, holds), (*otherwise, not)];
                self.part(frame, moment, at, &ways, waiting);
            }
            TerminatorKind::Switch {
                value,
                ty,
                cases,
                default,
            } => {
                let place = place();
                let Some(value) = self.operand(frame, &at.state, *value) else {
                    self.unknown(&at.state.world, no_term(*ty), &place);
                    return;
                };
                let value = self.located(value, &at.state.world, &place);
                if self.terms.as_constant(value).is_none() {
                    self.step(&at.state.world, &place, None, Some((*ty, value)));
                }
                let ways = self.ways(&at.state.world, (*ty, value), cases, *default);
                self.part(frame, moment, at, &ways, waiting);
            }
            TerminatorKind::Return(value) => {
                let place = place();
                let yes = self.terms.truth(true);
                let State {
                    mut world,
                    registers,
                } = at.state;
                let mut result = None;
                if let Some(value) = value {
                    let state = State {
                        world: world.clone(),
                        registers,
                    };
                    result = self.operand(frame, &state, *value);
                    drop(state);
                    match (function.result, result) {
                        (Type::Aggregate { size }, Some(from)) => {
                            if let Some(to) = frame.result_address
                                && self.copy(&mut world, to, from, size, &place).is_err()
                            {
                                return;
                            }
                            result = frame.result_address;
                        }
                        (_, Some(value)) => result = Some(self.located(value, &world, &place)),
                        _ => {}
                    }
                }
                self.join(world, result, yes, &place, returned);
            }
            TerminatorKind::ReturnNothing => {
                let place = place();
                let no = self.terms.truth(false);
                self.join(at.state.world, None, no, &place, returned);
            }
            TerminatorKind::Unreachable => {
                let place = place();
                let yes = self.terms.truth(true);
                self.undefined(
                    &at.state.world,
                    yes,
                    Undefined::Unreachable,
                    || "control gets to where it cannot".to_owned(),
                    &place,
                );
            }
        }
    }

    /// The ways out of a switch, and their conditions. Cases that lead to one block are one way.
    pub(crate) fn ways(
        &mut self,
        world: &World,
        (ty, value): (Type, Term),
        cases: &[SwitchCase],
        default: Edge,
    ) -> Vec<(Edge, Term)> {
        let mut ways: Vec<(Edge, Term)> = Vec::new();
        let mut rest = self.terms.truth(true);
        for case in cases {
            // Of one choice's alternatives at most one is chosen.
            let is = match self.choice_values.get(&value) {
                Some(&number) if case.low == case.high => {
                    let chosen = self.chosen(number, case.low as u32);
                    world.path.facts().narrowed(self.terms, chosen)
                }
                _ => self.in_range(ty, value, case.low, case.high),
            };
            if self.terms.as_truth(is) == Some(true) {
                ways = vec![(case.edge, is)];
                rest = self.terms.truth(false);
                break;
            }
            let not = self.terms.not(is);
            rest = self.terms.and(rest, not);
            match ways
                .iter_mut()
                .find(|(edge, _)| edge.target == case.edge.target)
            {
                Some((_, condition)) => *condition = self.terms.or(*condition, is),
                None => ways.push((case.edge, is)),
            }
        }
        match ways
            .iter_mut()
            .find(|(edge, _)| edge.target == default.target)
        {
            Some((_, condition)) => *condition = self.terms.or(*condition, rest),
            None => ways.push((default, rest)),
        }
        ways
    }

    /// Whether a value of an integer type lies in a range.
    fn in_range(&mut self, ty: Type, value: Term, low: i128, high: i128) -> Term {
        let width = self.terms.width(value);
        let bits = |number: i128| number as u128 & (u128::MAX >> (128 - width));
        let first = self.terms.constant(width, bits(low));
        if low == high {
            return self.terms.eq(value, first);
        }
        let last = self.terms.constant(width, bits(high));
        let (above, below) = match ty.is_signed() {
            true => (self.terms.sle(first, value), self.terms.sle(value, last)),
            false => (self.terms.ule(first, value), self.terms.ule(value, last)),
        };
        self.terms.and(above, below)
    }
}
