//! Encodes what is done with registers and with objects of a function.

use patchwright_ir::{LocalId, LocalKind, Type, Undefined};
use patchwright_solve::Term;

use crate::{
    encoder::{Encoder, Frame, Register, State},
    encoding::{InputKind, Place},
    meaning::{self},
    pointer::Leaf,
};

impl<'p> Encoder<'p> {
    /// Returns the value of a register local, and adds the failure that it was never written.
    pub(super) fn read_register(
        &mut self,
        frame: &Frame<'p>,
        state: &mut State,
        local: LocalId,
        place: &Place,
    ) -> Option<Term> {
        let declared = frame.function.local(local);
        let register = state.registers[local.index()];
        let not = self.terms.not(register.written);
        self.tolerated(
            &state.world,
            not,
            Undefined::UninitializedRead,
            || format!("a read of `{}`, which has no value", declared.name),
            place,
        );
        if register.value.is_some() {
            return register.value;
        }
        // It has no value: any, and the same one each time.
        let LocalKind::Register(ty) = declared.kind else {
            return None;
        };
        let sort = meaning::sort(ty)?;
        let kind = InputKind::Unwritten(ty);
        let value = self.input(&declared.name, kind, sort, &state.world, place.clone());
        let value = match ty {
            Type::Bool => {
                let one = self.terms.constant(8, 1);
                self.terms.bit_and(value, one)
            }
            _ => value,
        };
        state.registers[local.index()].value = Some(value);
        Some(value)
    }

    /// The life of a local ends; if it begins again, it has no value.
    pub(super) fn end_local(&mut self, frame: &Frame<'p>, state: &mut State, local: LocalId) {
        let index = local.index();
        match frame.function.local(local).kind {
            LocalKind::Register(_) => {
                state.registers[index] = Register {
                    value: None,
                    written: self.terms.truth(false),
                };
            }
            LocalKind::Memory { .. } => {
                let null = self.word(0);
                let old = state.registers[index].value.replace(null);
                let Some(old) = old.filter(|&old| old != null) else {
                    return;
                };
                let targets = self.pointers.targets(self.terms, old);
                for leaf in targets.leaves.iter().filter(|leaf| leaf.object != 0) {
                    if self.terms.as_truth(leaf.condition) == Some(true) {
                        state.world.memory.forget(leaf.object);
                        continue;
                    }
                    let not = self.terms.not(leaf.condition);
                    if let Some(object) = state.world.memory.change(leaf.object) {
                        object.alive = self.terms.and(object.alive, not);
                    }
                }
            }
        }
    }

    /// The address of a local in memory, which comes to life where it is not alive.
    pub(super) fn local_address(
        &mut self,
        frame: &mut Frame<'p>,
        state: &mut State,
        local: LocalId,
    ) -> Term {
        let index = local.index();
        let null = self.word(0);
        let address = state.registers[index].value.unwrap_or(null);
        let targets = self.pointers.targets(self.terms, address);
        let missing = targets.leaves.iter().find(|leaf| leaf.object == 0).copied();
        let Some(missing) = missing else {
            return address;
        };
        let declared = frame.function.local(local);
        let LocalKind::Memory { size, .. } = declared.kind else {
            return address;
        };
        let fresh = self.new_local(&mut state.world, size, &declared.name);
        frame.allocations.extend(self.number_of(fresh));
        let address = self
            .pointers
            .ite(self.terms, missing.condition, fresh, address);
        // The null pointer is no longer among what it can be.
        let targets = self.pointers.targets(self.terms, address);
        let leaves: Vec<Leaf> = targets
            .leaves
            .iter()
            .filter(|leaf| leaf.object != 0)
            .copied()
            .collect();
        let address = self.pointers.of_leaves(self.terms, leaves);
        state.registers[index].value = Some(address);
        address
    }
}
