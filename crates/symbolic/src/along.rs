//! Encoding along an input: of all paths only the one that the program takes for it.
//!
//! Operators, memory and the library mean the same as in every encoding. At a branch the condition is evaluated for the input, and
//! the decision is recorded as a [`Turn`]. So nothing is merged or unwound. The encoding is true for exactly the inputs for which
//! all turns hold (concolic execution; chapter 2.2 of the thesis "Automated Regression Testing and Verification of Complex
//! Code Changes").

use std::rc::Rc;

use patchwright_ir::{BlockId, Edge, TerminatorKind, Type, Undefined};
use patchwright_solve::Term;
use rustc_hash::FxHashMap;

use crate::{
    encoder::{Dead, Encoder, Frame, Go, Register, State, World},
    encoding::{FailureKind, Place, Turn, Unknown},
    lasso::Saved,
    meaning,
    options::Check,
    pointer::{Leaf, Targets},
    run::{Returned, no_term},
};

/// The number of blocks that are followed between two looks at the interruption.
const BLOCKS: u32 = 64;

impl<'p> Encoder<'p> {
    /// Whether a single input is followed.
    pub(crate) fn is_along(&self) -> bool {
        self.along.is_some()
    }

    /// The execution that is followed has failed, or is not known any further.
    pub(crate) fn has_ended(&self) -> bool {
        self.along.as_ref().is_some_and(|along| along.ended)
    }

    /// A truth value. Along an input it is decided from here on.
    pub(crate) fn settled(&mut self, condition: Term, place: &Place) -> Term {
        if self.along.is_none() || self.terms.as_truth(condition).is_some() {
            return condition;
        }
        let holds = self.evaluated(condition, place);
        let holds = holds.is_some_and(|bits| bits != 0);
        let taken = match holds {
            true => condition,
            false => self.terms.not(condition),
        };
        self.take(taken, place);
        self.terms.truth(holds)
    }

    /// A value. Along an input it is the one that it has for it.
    pub(crate) fn concrete(&mut self, value: Term, place: &Place) -> Term {
        if self.along.is_none() || self.terms.as_constant(value).is_some() {
            return value;
        }
        let bits = self.evaluated(value, place).unwrap_or(0);
        let constant = self.terms.constant(self.terms.width(value), bits);
        let same = self.terms.eq(value, constant);
        self.take(same, place);
        constant
    }

    fn evaluated(&mut self, term: Term, place: &Place) -> Option<u128> {
        let along = self.along.as_mut()?;
        let value = along.value(self.terms, term);
        if value.is_none() {
            self.lost("a value that is not encoded decides the path", place);
        }
        value
    }

    fn take(&mut self, condition: Term, place: &Place) {
        let steps = self.steps.len();
        let Some(along) = &mut self.along else { return };
        if along.ended || !along.taken.insert(condition) {
            return;
        }
        along.facts.learn(self.terms, condition);
        along.turns.push(Turn {
            condition,
            place: place.clone(),
            steps,
        });
    }

    /// Notes that nothing is known of the execution from here on.
    pub(crate) fn lost(&mut self, reason: impl Into<String>, place: &Place) {
        if self.has_ended() {
            return;
        }
        let condition = self.terms.truth(true);
        self.unknown.push(Unknown {
            reason: reason.into(),
            place: place.clone(),
            condition,
        });
        self.end_along();
    }

    /// Ends the execution that is followed.
    pub(crate) fn end_along(&mut self) {
        if let Some(along) = &mut self.along {
            along.ended = true;
        }
    }

    /// The execution goes on for ever: that is a failure where somebody looks for it.
    fn never_ends_along(&mut self, state: &State, place: &Place) {
        let yes = self.terms.truth(true);
        if self.options.checks.contains(&Check::Termination) {
            self.fails_to_end(state, yes, place);
        } else {
            self.endless.push(yes);
        }
        self.end_along();
    }

    /// An execution that neither ends nor goes on has met undefined behaviour that no check looks for. Nothing is known about
    /// it.
    pub(crate) fn account_for_end(&mut self, ends: Term, place: &Place) {
        let told = self.terms.as_truth(ends) == Some(true)
            || !self.exits.is_empty()
            || !self.violated.is_empty()
            || !self.unwinding.is_empty()
            || !self.endless.is_empty()
            || self.stopped
            || self.gave_up
            || !self.unknown.is_empty()
            || !self.failures.is_empty();
        if !told {
            self.lost("an end that is not looked for", place);
        }
    }

    /// Returns the only object to which a pointer leads.
    pub(crate) fn only_target(&mut self, pointer: Term, place: &Place) -> std::rc::Rc<Targets> {
        let targets = self.pointers.targets(self.terms, pointer);
        let yes = self.terms.truth(true);
        if let (None, [only]) = (targets.opaque, targets.leaves.as_slice())
            && only.condition == yes
        {
            return targets;
        }
        if targets.opaque.is_some() {
            let address = self.concrete(pointer, place);
            return self.pointers.targets(self.terms, address);
        }
        let mut found = targets.leaves.last().copied();
        for leaf in &targets.leaves[..targets.leaves.len().saturating_sub(1)] {
            let here = self.settled(leaf.condition, place);
            if here == yes {
                found = Some(*leaf);
                break;
            }
        }
        let leaves = found.map(|leaf| Leaf {
            condition: yes,
            ..leaf
        });
        std::rc::Rc::new(Targets {
            leaves: leaves.into_iter().collect(),
            opaque: None,
        })
    }

    /// A function, along the input: one block after the other.
    pub(crate) fn function_along(
        &mut self,
        frame: &mut Frame<'p>,
        world: World,
        registers: Vec<Register>,
    ) -> Go<Returned> {
        let function = frame.function;
        let mut state = State { world, registers };
        let mut at = BlockId(0);
        let mut blocks = 0u32;
        // For each head of a loop how often control was there, and a state that it had.
        let mut heads: FxHashMap<BlockId, (u32, Option<Rc<Saved>>)> = FxHashMap::default();
        // The loop in which nothing changes that the execution is in.
        let mut still: Option<BlockId> = None;
        // The origin of the edge that led to the block; none for the first block.
        let mut came = None;
        loop {
            let block = function.block(at);
            let is_head = frame.order.is_head(at);
            still = still.filter(|&head| frame.order.is_within(at, head));
            let round_place = |encoder: &Self| {
                encoder.place(
                    frame.module,
                    function,
                    came.unwrap_or(block.terminator.origin),
                )
            };
            if is_head && came.is_some() && self.options.checks.contains(&Check::Termination) {
                self.looked(FailureKind::Endless, &round_place(self));
            }
            if is_head && frame.order.is_still(at) && still.replace(at) == Some(at) {
                // It goes on like this for ever, and does nothing.
                self.never_ends_along(&state, &round_place(self));
                return Err(Dead);
            }
            if is_head {
                let (round, saved) = heads.entry(at).or_default();
                let now = *round;
                *round = round.saturating_add(1);
                let before = saved.clone();
                if let Some(saved) = &before
                    && self.is_back(frame, at, &state, saved)
                {
                    self.never_ends_along(&state, &round_place(self));
                    return Err(Dead);
                }
                if self.looks_for_lassos()
                    && let Some(saved) = self.saved(&state, now)
                {
                    heads.insert(at, (now.saturating_add(1), Some(saved)));
                }
            }
            blocks += 1;
            if blocks.is_multiple_of(BLOCKS) {
                let place = self.place(frame.module, function, block.terminator.origin);
                let is_late = (self.interrupt)();
                self.stopped |= is_late;
                if is_late || self.spent(&state.world, &place) {
                    self.end_along();
                    return Err(Dead);
                }
            }
            self.block(frame, block, &mut state)?;
            let terminator = &block.terminator;
            let edge = match &terminator.kind {
                TerminatorKind::Goto(edge) => *edge,
                TerminatorKind::Branch {
                    condition,
                    ty,
                    then,
                    otherwise,
                } => {
                    let holds = self
                        .operand(frame, &state, *condition)
                        .and_then(|value| meaning::truth(self.terms, *ty, value));
                    let decided = holds.and_then(|holds| self.terms.as_truth(holds));
                    let holds = match (holds, decided) {
                        (_, Some(holds)) => holds,
                        (Some(holds), None) => {
                            let place = self.place(frame.module, function, terminator.origin);
                            let value = meaning::int_of(self.terms, holds);
                            self.step(&state.world, &place, None, Some((Type::I32, value)));
                            let settled = self.settled(holds, &place);
                            self.terms.as_truth(settled) == Some(true)
                        }
                        (None, None) => {
                            let place = self.place(frame.module, function, terminator.origin);
                            self.lost(no_term(*ty), &place);
                            return Err(Dead);
                        }
                    };
                    if holds { *then } else { *otherwise }
                }
                TerminatorKind::Switch {
                    value,
                    ty,
                    cases,
                    default,
                } => {
                    let place = self.place(frame.module, function, terminator.origin);
                    let Some(value) = self.operand(frame, &state, *value) else {
                        self.lost(no_term(*ty), &place);
                        return Err(Dead);
                    };
                    if self.terms.as_constant(value).is_none() {
                        self.step(&state.world, &place, None, Some((*ty, value)));
                    }
                    let ways = self.ways(&state.world, (*ty, value), cases, *default);
                    self.way_taken(&ways, &place)?
                }
                TerminatorKind::Return(_) | TerminatorKind::ReturnNothing => {
                    return self.returned_along(frame, state, &terminator.kind, terminator.origin);
                }
                TerminatorKind::Unreachable => {
                    let place = self.place(frame.module, function, terminator.origin);
                    let yes = self.terms.truth(true);
                    self.undefined(
                        &state.world,
                        yes,
                        Undefined::Unreachable,
                        || "control gets to where it cannot".to_owned(),
                        &place,
                    );
                    return Err(Dead);
                }
            };
            if self.has_ended() {
                return Err(Dead);
            }
            came = Some(edge.origin);
            at = edge.target;
        }
    }

    /// The way whose condition holds; the last one if no other does.
    fn way_taken(&mut self, ways: &[(Edge, Term)], place: &Place) -> Go<Edge> {
        let mut last = Err(Dead);
        for &(edge, condition) in ways {
            last = Ok(edge);
            let value = match self.terms.as_truth(condition) {
                Some(holds) => Some(u128::from(holds)),
                None => self.evaluated(condition, place),
            };
            if value.is_some_and(|bits| bits != 0) {
                if self.terms.as_truth(condition).is_none() {
                    self.take(condition, place);
                }
                break;
            }
        }
        last
    }

    fn returned_along(
        &mut self,
        frame: &mut Frame<'p>,
        mut state: State,
        kind: &TerminatorKind,
        origin: patchwright_ir::OriginId,
    ) -> Go<Returned> {
        let mut value = None;
        let mut written = self.terms.truth(false);
        if let TerminatorKind::Return(operand) = kind {
            written = self.terms.truth(true);
            value = match operand {
                Some(operand) => self.operand(frame, &state, *operand),
                None => None,
            };
            if let (Type::Aggregate { size }, Some(from)) = (frame.function.result, value) {
                let place = self.place(frame.module, frame.function, origin);
                if let Some(to) = frame.result_address {
                    self.copy(&mut state.world, to, from, size, &place)?;
                }
                value = frame.result_address;
            }
        }
        if self.has_ended() {
            return Err(Dead);
        }
        Ok(Returned {
            world: state.world,
            value,
            written,
        })
    }
}
