//! Loops that never end: a state that comes back.
//!
//! What a round does depends on the state at its beginning alone, as long as it reads no input. So an execution whose state at
//! the head of a loop is one that it had there before goes round for ever. The state that is compared with is the one of the
//! last round whose number is a power of two (Brent, "An improved Monte Carlo factorization algorithm", 1980).

use std::rc::Rc;

use patchwright_ir::BlockId;
use patchwright_solve::Term;

use crate::{
    encoder::{Encoder, Frame, Register, State},
    encoding::{FailureKind, Place, Unwinding, UnwindingKind},
    memory::Memory,
    options::Check,
};

/// The state at the head of a loop.
#[derive(Debug)]
pub(crate) struct Saved {
    registers: Vec<Register>,
    memory: Memory,
    input_at: Term,
    input_over: Term,
    /// Inputs, values that are not encoded, and parts of the output until then.
    counts: (usize, u128, usize),
}

impl<'p> Encoder<'p> {
    /// Whether loops that never end are sought.
    pub(crate) fn looks_for_lassos(&self) -> bool {
        self.options.lassos || self.options.checks.contains(&Check::Termination)
    }

    /// The state at the head of a loop, if it is to be compared with.
    pub(crate) fn saved(&self, state: &State, round: u32) -> Option<Rc<Saved>> {
        if round > 0 && !round.is_power_of_two() {
            return None;
        }
        Some(Rc::new(Saved {
            registers: state.registers.clone(),
            memory: state.world.memory.clone(),
            input_at: state.world.input_at,
            input_over: state.world.input_over,
            counts: self.consumed(),
        }))
    }

    fn consumed(&self) -> (usize, u128, usize) {
        (self.inputs.len(), self.serial, self.output.len())
    }

    /// The condition under which a state at the head of a loop is the saved one; nothing where that never holds. Also whether
    /// nothing was printed since.
    pub(crate) fn comes_back(
        &mut self,
        frame: &Frame<'p>,
        head: BlockId,
        state: &State,
        saved: &Saved,
    ) -> Option<(Term, bool)> {
        let now = self.consumed();
        let world = &state.world;
        if (now.0, now.1) != (saved.counts.0, saved.counts.1)
            || world.input_at != saved.input_at
            || world.input_over != saved.input_over
        {
            return None;
        }
        // Where nobody asks, it is only seen that nothing at all has changed.
        let exactly = !self.looks_for_lassos();
        let locals = frame.function.locals.len();
        let mut all = self.terms.truth(true);
        for (index, (a, b)) in state.registers.iter().zip(&saved.registers).enumerate() {
            let is_dead = index < locals && !frame.order.lives(head, index);
            if a == b || is_dead {
                continue;
            }
            match (a.value, b.value) {
                (Some(x), Some(y)) if a.written == b.written && !exactly => {
                    all = self.same_too(all, (x, y))?;
                }
                _ => return None,
            }
        }
        let mut different = Vec::new();
        world.memory.differences(&saved.memory, &mut different)?;
        if exactly && !different.is_empty() {
            return None;
        }
        for pair in different {
            all = self.same_too(all, pair)?;
        }
        Some((all, now.2 == saved.counts.2))
    }

    /// A condition, and that two values are the same in addition; nothing where that never holds.
    fn same_too(&mut self, all: Term, (a, b): (Term, Term)) -> Option<Term> {
        if self.terms.sort(a) != self.terms.sort(b) {
            return None;
        }
        let same = self.terms.eq(a, b);
        let all = self.terms.and(all, same);
        (self.terms.as_truth(all) != Some(false)).then_some(all)
    }

    /// Along an input: whether the execution is where it was before, and so never ends.
    pub(crate) fn is_back(
        &mut self,
        frame: &Frame<'p>,
        head: BlockId,
        state: &State,
        saved: &Saved,
    ) -> bool {
        // What it prints has no end: only whoever asks whether it ends wants to know.
        let is_asked = self.options.checks.contains(&Check::Termination);
        self.looks_for_lassos()
            && self
                .comes_back(frame, head, state, saved)
                .is_some_and(|(same, silent)| {
                    (silent || is_asked) && self.terms.as_truth(same) == Some(true)
                })
    }

    /// Records that executions go on for ever under a condition, as a failure.
    pub(crate) fn fails_to_end(&mut self, state: &State, condition: Term, place: &Place) {
        self.fail(
            &state.world,
            condition,
            FailureKind::Endless,
            || "the loop never ends: it comes back to a state that it had".to_owned(),
            place,
        );
    }

    /// Looks whether an execution never leaves a loop, at the end of a round. Whether some go on.
    pub(crate) fn goes_on_for_ever(
        &mut self,
        frame: &Frame<'p>,
        head: BlockId,
        state: &mut State,
        saved: &Saved,
        place: &Place,
    ) -> bool {
        if self.options.checks.contains(&Check::Termination) {
            self.looked(FailureKind::Endless, place);
        }
        let Some((same, is_silent)) = self.comes_back(frame, head, state, saved) else {
            return true;
        };
        if self.options.checks.contains(&Check::Termination) {
            self.fails_to_end(state, same, place);
        } else if !self.looks_for_lassos() {
            // It is followed no further, as a loop that has had its rounds.
            self.unwinding.push(Unwinding {
                place: place.clone(),
                kind: UnwindingKind::Rounds,
                condition: state.world.path.term(),
            });
            return false;
        } else if is_silent {
            let never = self.terms.and(state.world.path.term(), same);
            self.endless.push(never);
        } else {
            // What it prints has no end.
            return true;
        }
        let other = self.terms.not(same);
        match state.world.path.and(self.terms, other) {
            Some(path) => {
                state.world.path = path;
                true
            }
            None => false,
        }
    }
}
