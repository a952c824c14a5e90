//! Copies of values that were never written.
//!
//! The value of memory that `malloc` gave is not specified, and to copy it is not undefined. So where a value is loaded only to be
//! stored, the copy has no value either, and what uses it is told.

use patchwright_semantics::Ty;

use crate::{
    code::Code,
    fault::{Run, Stop, Undefined},
    machine::Machine,
};

/// A register that holds a value to be stored, some of whose bits were never written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwritten {
    register: usize,
    /// Those that have one.
    written: u64,
}

impl Machine<'_> {
    /// Returns the value of a load of unwritten memory, before `pc` and into `register`, if copies of such values are permitted.
    #[cold]
    pub(crate) fn load_unwritten(
        &mut self,
        stop: Stop,
        (code, pc): (&Code, usize),
        register: usize,
        (ty, address): (Ty, u64),
    ) -> Run<u64> {
        let is_copy = code.copies.binary_search(&(pc as u32 - 1)).is_ok();
        if is_copy
            && matches!(stop, Stop::Undefined(Undefined::UninitializedRead, _))
            && let Some((raw, written)) = self.memory.with_written(address, ty.size())
        {
            self.unwritten.push(Unwritten { register, written });
            return Ok(ty.canonical(raw));
        }
        self.go_on(stop, pc, |machine| {
            machine.leniently(|machine| machine.memory.load(ty, address))
        })
    }

    /// Marks stored memory as unwritten, as far as the register was loaded from unwritten memory.
    #[cold]
    pub(crate) fn mark_copy(&mut self, register: usize, ty: Ty, address: u64) {
        let found = self
            .unwritten
            .iter()
            .position(|one| one.register == register);
        if let Some(found) = found {
            let one = self.unwritten.swap_remove(found);
            self.memory.mark(address, ty.size(), one.written);
        }
    }
}
