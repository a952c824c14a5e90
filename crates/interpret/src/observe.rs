//! Lets an observer follow an execution.

use patchwright_ir::{RoutineId, Type, wide};

use crate::{code::Code, machine::Machine, memory::Access};

/// The place of an instruction or terminator that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// Its routine.
    pub routine: RoutineId,
    /// The number of its block.
    pub block: u32,
    /// Its position in the block; the number of instructions for the terminator.
    pub index: u32,
}

/// An interface through which a caller follows an execution.
///
/// [`Observer::step`] announces each instruction before it is executed. Its accesses to memory and its value follow.
///
/// - A call of a routine with a body is followed by [`Observer::enter`], the copies of the arguments into memory, and the routine's
///   instructions.
/// - A function of the C library reads and writes as a part of the calling instruction. It may enter routines, too.
/// - Instructions that only begin or end the life of a variable may be left out.
pub trait Observer {
    /// Called before an instruction or terminator is executed.
    fn step(&mut self, step: Step);
    /// Called when the last instruction of the active call has given its temporary this value.
    fn value(&mut self, bits: u128);
    /// Called when memory is read or written.
    fn access(&mut self, access: Access);
    /// Called when a library function uses the stream whose object has this address.
    fn stream(&mut self, _file: u64) {}
    /// Called when a call of a routine with a body begins.
    fn enter(&mut self, routine: RoutineId);
    /// Called when the innermost call ends, by a return or by `longjmp`.
    fn leave(&mut self);
}

impl<'w> Machine<'w> {
    /// Lets `observer` follow the execution. Call it before [`Machine::run`].
    pub fn observe(&mut self, observer: &'w mut dyn Observer) {
        self.observer = Some(observer);
        self.memory.log(true);
    }

    /// An observer follows the execution.
    pub(crate) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Reports the value of the operation before and the instruction that begins at `pc`.
    #[cold]
    pub(crate) fn report(&mut self, code: &Code, base: usize, before: Option<usize>, pc: usize) {
        self.report_accesses();
        let routine = match self.frames.last() {
            Some(frame) => RoutineId(frame.routine),
            None => return,
        };
        let value = before.and_then(|before| code.marks.values[before]);
        let value = value.map(|(register, ty)| {
            let at = base + register as usize;
            let low = u128::from(self.registers[at]);
            match ty {
                Type::F80 | Type::I128 | Type::U128 => {
                    wide::canonical(ty, low | u128::from(self.registers[at + 1]) << 64)
                }
                _ => low,
            }
        });
        let Some(observer) = self.observer.as_deref_mut() else {
            return;
        };
        if let Some(value) = value {
            observer.value(value);
        }
        if let Some((block, index)) = code.marks.steps[pc] {
            observer.step(Step {
                routine,
                block,
                index,
            });
        }
    }

    /// Tells the observer which memory and streams were used since the last time.
    pub(crate) fn report_accesses(&mut self) {
        if let Some(observer) = self.observer.as_deref_mut() {
            for access in self.memory.logged() {
                observer.access(access);
            }
            for file in std::mem::take(&mut *self.library.used_streams.borrow_mut()) {
                observer.stream(file);
            }
        }
    }

    /// Tells the observer that a function is entered.
    pub(crate) fn report_enter(&mut self, routine: u32) {
        self.report_accesses();
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.enter(RoutineId(routine));
        }
    }

    /// Tells the observer that the function returns.
    pub(crate) fn report_leave(&mut self) {
        self.report_accesses();
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.leave();
        }
    }
}
