//! Begins a function: its arguments, its parameters and what it gives back.

use std::collections::BTreeMap;

use patchwright_ir::{BlockId, LocalKind, RoutineId, Type, Undefined};
use patchwright_solve::Term;
use rustc_hash::FxHashMap;

use super::{Rounds, Waiting};
use crate::{
    encoder::{Dead, Encoder, Frame, Go, Register, State, World},
    encoding::{Place, Unwinding, UnwindingKind},
    meaning,
    order::Moment,
};

/// What a call gives.
pub(crate) struct Returned {
    pub(crate) world: World,
    pub(crate) value: Option<Term>,
    /// It has a value.
    pub(crate) written: Term,
}

impl<'p> Encoder<'p> {
    /// Calls a routine with a body: the world and the value after all of its returns. `Err` when no path
    /// comes back.
    pub(crate) fn call_body(
        &mut self,
        routine: RoutineId,
        arguments: &[(Type, Option<Term>)],
        world: World,
        result_address: Option<Term>,
        place: &Place,
    ) -> Go<Returned> {
        let program = self.program;
        let Some(function) = program.body(routine) else {
            self.unknown(&world, "a function without a body", place);
            return Err(Dead);
        };
        let depth = self.stack.iter().filter(|(id, _)| *id == routine).count();
        if depth > self.options.recursion as usize {
            self.unwinding.push(Unwinding {
                place: place.clone(),
                kind: UnwindingKind::Calls,
                condition: world.path.term(),
            });
            return Err(Dead);
        }
        self.counts.calls += 1;
        self.calls += 1;
        self.stack.push((routine, place.clone()));
        let count = function.parameters.len();
        let module = program.routine(routine).module;
        let mut frame = Frame {
            module,
            function,
            order: self.order(routine, function),
            asking: self.asking(routine, module, function),
            serial: self.calls,
            varargs: arguments.get(count..).unwrap_or_default().to_vec(),
            result_address,
            allocations: Vec::new(),
            temporaries: vec![None; function.temporaries.len()],
        };
        if function.variadic {
            self.frames.insert(frame.serial, frame.varargs.clone());
        }
        let result = self.function(&mut frame, arguments, world, place);
        self.frames.remove(&frame.serial);
        self.stack.pop();
        let mut returned = result?;
        for number in frame.allocations {
            returned.world.memory.forget(number);
        }
        Ok(returned)
    }

    /// Encodes a call of the frame's function with these arguments.
    pub(super) fn function(
        &mut self,
        frame: &mut Frame<'p>,
        arguments: &[(Type, Option<Term>)],
        mut world: World,
        place: &Place,
    ) -> Go<Returned> {
        let function = frame.function;
        let registers = self.enter(frame, arguments, &mut world, place)?;
        if self.is_along() {
            return self.function_along(frame, world, registers);
        }
        let mut waiting: BTreeMap<Moment, Waiting> = BTreeMap::new();
        waiting.insert(
            frame.order.start(),
            Waiting {
                block: BlockId(0),
                state: State { world, registers },
                loops: FxHashMap::default(),
            },
        );
        let mut returned: Option<Returned> = None;
        while let Some((moment, mut at)) = waiting.pop_first() {
            let block = function.block(at.block);
            if frame.order.is_head(at.block) {
                let round = frame.order.round_of(at.block, &moment);
                if let Some(saved) = self.saved(&at.state, round) {
                    let path = at.state.world.path.clone();
                    let rounds = at.loops.entry(at.block);
                    rounds.or_insert_with(|| Rounds::new(0, path)).saved = Some(saved);
                }
            }
            let ended = self.block(frame, block, &mut at.state);
            let Ok(()) = ended else { continue };
            self.leave(frame, &moment, at, &mut waiting, &mut returned);
        }
        returned.ok_or(Dead)
    }

    /// The registers at the beginning of a function; arguments in memory get their objects.
    fn enter(
        &mut self,
        frame: &mut Frame<'p>,
        arguments: &[(Type, Option<Term>)],
        world: &mut World,
        place: &Place,
    ) -> Go<Vec<Register>> {
        let function = frame.function;
        let count = function.locals.len() + frame.order.shared.len();
        let (no, yes) = (self.terms.truth(false), self.terms.truth(true));
        let empty = Register {
            value: None,
            written: no,
        };
        let mut registers = vec![empty; count];
        let null = self.word(0);
        for (index, local) in function.locals.iter().enumerate() {
            if let LocalKind::Memory { .. } = local.kind {
                registers[index].value = Some(null);
            }
        }
        if arguments.len() < function.parameters.len() {
            self.undefined(
                world,
                yes,
                Undefined::BadCall,
                || {
                    format!(
                        "{} takes {} arguments and is called with {}",
                        function.name,
                        function.parameters.len(),
                        arguments.len()
                    )
                },
                place,
            );
            return Err(Dead);
        }
        for (index, (parameter, &(given, value))) in
            function.parameters.iter().zip(arguments).enumerate()
        {
            let value = self.as_parameter(given, parameter.ty, value, world, place);
            match function.locals[index].kind {
                LocalKind::Register(_) => {
                    registers[index] = Register {
                        value,
                        written: yes,
                    };
                }
                LocalKind::Memory { size, .. } => {
                    let address = self.new_local(world, size, &function.locals[index].name);
                    frame.allocations.extend(self.number_of(address));
                    registers[index].value = Some(address);
                    match parameter.ty {
                        Type::Aggregate { size } => {
                            if let Some(from) = value {
                                self.copy(world, address, from, size, place)?;
                            }
                        }
                        ty => self.store(world, ty, address, value, place)?,
                    }
                }
            }
        }
        Ok(registers)
    }

    /// An argument as its parameter's type; types that differ in more than their sign do not fit.
    fn as_parameter(
        &mut self,
        given: Type,
        expected: Type,
        value: Option<Term>,
        world: &World,
        place: &Place,
    ) -> Option<Term> {
        let fits = given == expected
            || (given.size() == expected.size()
                && (given.is_integer() || given == Type::Ptr)
                && (expected.is_integer() || expected == Type::Ptr));
        if !fits {
            let yes = self.terms.truth(true);
            self.tolerated(
                world,
                yes,
                Undefined::BadCall,
                || {
                    format!(
                        "an argument of type {} is taken as {}",
                        given.in_c(),
                        expected.in_c()
                    )
                },
                place,
            );
            let sort = meaning::sort(expected)?;
            return Some(self.open("an argument of another type than its parameter", sort));
        }
        if expected == Type::Bool && given != Type::Bool {
            return value.and_then(|value| {
                meaning::convert(self.terms, given, expected, value).map(|m| m.value)
            });
        }
        value
    }
}
