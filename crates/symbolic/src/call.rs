//! Encodes calls: of routines with bodies, of models of the library, and of unknown functions.

use patchwright_clib::{Meaning, Statement, latitude, meaning as meaning_of, statement};
use patchwright_ir::{Callee, Instruction, InstructionKind, RoutineId, Type, Undefined};
use patchwright_solve::{Sort, Term};

use crate::{
    calling::Call,
    encoder::{Dead, Encoder, Frame, Go, State, World},
    encoding::{InputKind, LEFT_OPEN, Piece, Place},
    library, meaning,
    memory::Kind,
    run::Returned,
    signs::asks_for_sign_only,
};

/// What a call leads to.
#[derive(Clone, Copy)]
enum Called {
    Routine(RoutineId),
    /// A function that an argument leads to, by its number.
    Callback(usize),
}

impl<'p> Encoder<'p> {
    /// Encodes a call: of a function of the program, a modelled one, or one that is not known.
    pub(crate) fn call(
        &mut self,
        frame: &mut Frame<'p>,
        state: &mut State,
        instruction: &'p Instruction,
        place: &Place,
    ) -> Go<()> {
        let InstructionKind::Call {
            dst,
            callee,
            arguments,
            result,
            result_address,
            ..
        } = &instruction.kind
        else {
            return Ok(());
        };
        let values: Vec<(Type, Option<Term>)> = arguments
            .iter()
            .map(|argument| (argument.ty, self.operand(frame, state, argument.value)))
            .collect();
        let to_const: Vec<bool> = arguments.iter().map(|one| one.to_const).collect();
        let result_address = match result_address {
            Some(address) => Some(self.value(frame, state, *address, place)?),
            None => None,
        };
        let ways: Vec<(Term, Called)> = match callee {
            Callee::Direct(function) => {
                let always = self.terms.truth(true);
                let routine = self.program.routine_of(frame.module, *function);
                vec![(always, Called::Routine(routine))]
            }
            Callee::Indirect(operand) => {
                let pointer = self.value(frame, state, *operand, place)?;
                self.callees(&state.world, pointer, place)
            }
        };
        let used = dst.is_some_and(|dst| frame.order.is_used(dst));
        // What a function of the library makes of it is told where that one is called.
        let is_within = self.is_library_module(frame.module);
        let only_sign =
            || is_within || dst.is_none_or(|dst| asks_for_sign_only(frame.function, dst));
        let mut met: Option<Returned> = None;
        for (condition, called) in ways {
            let Some(path) = state.world.path.and(self.terms, condition) else {
                continue;
            };
            let world = World {
                path,
                ..state.world.clone()
            };
            let callback = match called {
                Called::Callback(at) => self.callbacks[at].name.clone(),
                Called::Routine(_) => String::new(),
            };
            let name = match called {
                Called::Routine(routine) => self.program.routine(routine).name.as_str(),
                Called::Callback(_) => callback.as_str(),
            };
            let call = Call {
                name,
                arguments: &values,
                to_const: &to_const,
                result: *result,
                used,
                only_sign: meaning_of(name) == Some(Meaning::Order) && only_sign(),
                place,
            };
            let returned = match called {
                Called::Routine(routine) => self.dispatch(routine, &call, world, result_address),
                Called::Callback(at) => self.callback(at, &call, world),
            };
            let Ok(returned) = returned else {
                continue;
            };
            met = Some(match met.take() {
                None => returned,
                Some(other) => {
                    let (world, first) = self.meet(&other.world, &returned.world, place);
                    let value = match (other.value, returned.value) {
                        (Some(a), Some(b)) => Some(self.pointers.ite(self.terms, first, a, b)),
                        (a, b) => a.or(b),
                    };
                    Returned {
                        world,
                        value,
                        written: self.terms.ite(first, other.written, returned.written),
                    }
                }
            });
        }
        let returned = met.ok_or(Dead)?;
        state.world = returned.world;
        if let Some(dst) = dst {
            let mut value = returned.value;
            if used {
                let not = self.terms.not(returned.written);
                self.tolerated(
                    &state.world,
                    not,
                    Undefined::MissingReturn,
                    || "the value of a function that returned none is used".to_owned(),
                    place,
                );
                // Where it returned none, it is any.
                let some = self.settled(returned.written, place);
                if self.terms.as_truth(some) != Some(true)
                    && let Some(sort) = meaning::sort(*result)
                {
                    let kind = InputKind::Unwritten(*result);
                    let any = self.input("returned", kind, sort, &state.world, place.clone());
                    let any = self.narrowed(*result, any);
                    value = Some(match value {
                        Some(value) => self.pointers.ite(self.terms, some, value, any),
                        None => any,
                    });
                }
            }
            let value = match (value, *result) {
                (None, Type::Void) => None,
                (None, Type::F80) => {
                    let sort = Sort::Bits(crate::extended::WIDTH);
                    Some(self.open("a `long double`", sort))
                }
                (None, ty) => self.anything(ty),
                (value, _) => value,
            };
            self.define(frame, state, *dst, value);
        }
        Ok(())
    }

    /// The functions that a pointer may lead to.
    fn callees(&mut self, world: &World, pointer: Term, place: &Place) -> Vec<(Term, Called)> {
        let targets = self.targets(world, pointer, place);
        let mut ways = Vec::new();
        for leaf in &targets.leaves {
            let kind = self.numbers.get(leaf.object as usize).copied();
            let zero = self.word(0);
            let at_start = self.terms.eq(leaf.offset, zero);
            match kind {
                Some(Kind::Function(routine))
                    if leaf.object != 0 && self.terms.as_truth(at_start) == Some(true) =>
                {
                    ways.push((leaf.condition, Called::Routine(RoutineId(routine))));
                }
                Some(Kind::Callback(at)) if self.terms.as_truth(at_start) == Some(true) => {
                    ways.push((leaf.condition, Called::Callback(at as usize)));
                }
                _ => {
                    let null = leaf.object == 0
                        && self.terms.as_constant(leaf.offset).is_none_or(|at| at == 0);
                    let (kind, message) = match null {
                        true => (Undefined::NullPointer, "a call through a null pointer"),
                        false => (
                            Undefined::WildPointer,
                            "a call through a pointer to no function",
                        ),
                    };
                    self.undefined(world, leaf.condition, kind, || message.to_owned(), place);
                }
            }
        }
        ways
    }

    fn dispatch(
        &mut self,
        routine: RoutineId,
        call: &Call<'_>,
        mut world: World,
        result_address: Option<Term>,
    ) -> Go<Returned> {
        let written = self.terms.truth(true);
        if self.options.opaque.contains(call.name)
            && let Some(value) = self.opaque(routine, call, &world)
        {
            return Ok(Returned {
                world,
                value,
                written,
            });
        }
        let of_library = self.is_of_library(routine);
        let is_open = of_library && !call.only_sign;
        if is_open && let Some(text) = latitude(call.name) {
            self.note(format!("`{}`: {text}{LEFT_OPEN}", call.name));
        }
        if let (Type::Aggregate { size }, Some(address)) = (call.result, result_address)
            && of_library
            && statement(call.name) == Some(Statement::Any)
        {
            self.any_record(call, &mut world, address, size)?;
            return Ok(Returned {
                world,
                value: Some(address),
                written,
            });
        }
        if let Some(model) = library::model(call.name)
            && (model.always || of_library)
            && let Some(value) = (model.run)(self, call, &mut world)?
        {
            // A number that is too large for what it is read into.
            if call.name.contains("scanf") && self.asks_for_errno() {
                self.errno_may_change(&mut world, call);
            }
            return Ok(Returned {
                world,
                value,
                written,
            });
        }
        if self.program.body(routine).is_some() {
            return self.call_body(routine, call.arguments, world, result_address, call.place);
        }
        // `longjmp` does not return either, and goes on elsewhere: what is known of a function of the library counts.
        let returns = !self.program.never_returns(routine) || library::is_known(call.name);
        if let Some(&at) = self.outside.get(&routine) {
            let value = self.outside_call(at, call, &mut world)?;
            if !returns {
                return Err(self.ends_within(call, world));
            }
            return Ok(Returned {
                world,
                value,
                written,
            });
        }
        if !returns {
            return Err(self.ends_within(call, world));
        }
        library::called(self, call, &mut world)?;
        let value = self.returned_by_unknown(call, &world);
        Ok(Returned {
            world,
            value,
            written,
        })
    }

    /// A record that may hold anything: its bytes are inputs, in words.
    fn any_record(
        &mut self,
        call: &Call<'_>,
        world: &mut World,
        address: Term,
        size: u64,
    ) -> Go<()> {
        let mut at = 0;
        while at < size {
            let ty = match size - at {
                4.. => Type::I32,
                _ => Type::U8,
            };
            let kind = InputKind::Returned {
                function: call.name.to_owned(),
                ty,
            };
            let sort = Sort::Bits(ty.size() as u32 * 8);
            let value = self.input(call.name, kind, sort, world, call.place.clone());
            let to = self.moved(address, at);
            self.store(world, ty, to, Some(value), call.place)?;
            at += ty.size();
        }
        Ok(())
    }

    /// Returns the result of a function that only calculates, as an unknown function of its arguments. `None` if the call does not fit the
    /// definition.
    fn opaque(
        &mut self,
        routine: RoutineId,
        call: &Call<'_>,
        world: &World,
    ) -> Option<Option<Term>> {
        let function = self.program.body(routine)?;
        let types = function.parameters.iter().map(|parameter| parameter.ty);
        if !types.eq(call.arguments.iter().map(|argument| argument.0))
            || function.result != call.result
        {
            return None;
        }
        let values = call.arguments.iter().map(|&(ty, value)| Some((ty, value?)));
        let values: Vec<(Type, Term)> = values.collect::<Option<_>>()?;
        let name = format!("call {}", call.name);
        let sort = match call.result {
            Type::Void => None,
            ty => Some(meaning::sort(ty)?),
        };
        if values.is_empty() {
            self.print(world, false, Piece::Text(name.clone().into_bytes()));
        }
        for (number, &(ty, value)) in values.iter().enumerate() {
            let spelled = format!("{name}: {number}");
            self.print(world, false, Piece::Value(spelled, ty, value));
        }
        let Some(sort) = sort else {
            return Some(None);
        };
        let arguments: Vec<Term> = values.into_iter().map(|(_, value)| value).collect();
        let value = match arguments.as_slice() {
            [] => self.terms.variable(&name, sort),
            arguments => self.terms.apply(&name, arguments, sort),
        };
        Some(Some(self.narrowed(call.result, value)))
    }

    /// Whether a routine has no body of the user's: it is one of Patchwright's models, or has none at all.
    pub(crate) fn is_of_library(&self, routine: RoutineId) -> bool {
        let program = self.program;
        let entry = program.routine(routine);
        if !entry.defined {
            return true;
        }
        self.is_library_module(entry.module)
    }

    fn is_library_module(&self, module: usize) -> bool {
        let mut files = self.program.modules[module].files.iter();
        let first = files.next();
        first.is_some_and(|file| crate::encoder::is_library(&file.path))
    }

    /// A function without a body that never returns, as it is declared: the program ends there.
    fn ends_within(&mut self, call: &Call<'_>, world: World) -> Dead {
        self.note(format!(
            "`{}` has no body: it is taken not to return",
            call.name
        ));
        if !self.has_ended() {
            // Where two versions are compared it is the same in both.
            let what = format!("the status with which `{}` ends the program", call.name);
            let nothing = self.word(0);
            let status = self.open_for("", &what, &[nothing], Sort::Bits(32));
            self.exits.push((world.path.term(), status, world));
        }
        Dead
    }

    fn returned_by_unknown(&mut self, call: &Call<'_>, world: &World) -> Option<Term> {
        let sort = meaning::sort(call.result)?;
        let kind = InputKind::Returned {
            function: call.name.to_owned(),
            ty: call.result,
        };
        let value = self.input(call.name, kind, sort, world, call.place.clone());
        Some(self.narrowed(call.result, value))
    }

    /// Restricts any value of a type to those that the type can have: a `_Bool` is 0 or 1.
    pub(crate) fn narrowed(&mut self, ty: Type, value: Term) -> Term {
        match ty {
            Type::Bool => {
                let one = self.terms.constant(8, 1);
                self.terms.bit_and(value, one)
            }
            _ => value,
        }
    }
}
