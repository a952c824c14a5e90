//! Encodes the instructions of the IR.

mod locals;
mod pointers;

use patchwright_ir::{Instruction, InstructionKind, LocalKind, Type, Undefined};
use patchwright_semantics::BinaryOp;
use patchwright_solve::Term;

use crate::{
    content::Read,
    encoder::{Dead, Encoder, Frame, Go, Register, State},
    encoding::{FailureKind, Place},
    meaning::{self, Meaning},
    memory::Kind,
    options::Check,
};

impl<'p> Encoder<'p> {
    /// Encodes an instruction.
    pub(crate) fn instruction(
        &mut self,
        frame: &mut Frame<'p>,
        state: &mut State,
        instruction: &'p Instruction,
    ) -> Go<()> {
        use InstructionKind::*;
        let place = self.place(frame.module, frame.function, instruction.origin);
        match &instruction.kind {
            Read { dst, local } => {
                let value = self.read_register(frame, state, *local, &place);
                self.define(frame, state, *dst, value);
            }
            Write { local, value } => {
                let value = self.operand(frame, state, *value);
                let value = value.map(|value| self.located(value, &state.world, &place));
                let written = self.terms.truth(true);
                state.registers[local.index()] = Register { value, written };
                let declared = frame.function.local(*local);
                if let (false, Some(value), LocalKind::Register(ty)) =
                    (declared.name.is_empty(), value, declared.kind)
                {
                    self.step(
                        &state.world,
                        &place,
                        Some(&declared.name),
                        Some((ty, value)),
                    );
                }
            }
            Live { local } | Dead { local } => {
                self.end_local(frame, state, *local);
            }
            // Writes to constants are looked for in globals only.
            Settle { .. } => {}
            LocalAddress { dst, local } => {
                let address = self.local_address(frame, state, *local);
                self.define(frame, state, *dst, Some(address));
            }
            Load {
                dst,
                ty,
                address,
                volatile,
            } => {
                let address = self.pointer(frame, state, *address, &place)?;
                if *volatile {
                    self.volatile_access(&state.world, address);
                }
                let value = self.load(&mut state.world, *ty, address, &place)?;
                self.define(frame, state, *dst, value);
            }
            Store {
                ty,
                address,
                value,
                volatile,
            } => {
                let value = self.operand(frame, state, *value);
                let value = value.map(|value| self.located(value, &state.world, &place));
                let to = self.pointer(frame, state, *address, &place)?;
                if *volatile {
                    self.volatile_access(&state.world, to);
                }
                self.store(&mut state.world, *ty, to, value, &place)?;
                if let Some(value) = value {
                    let name = self.object_name(to);
                    self.step(&state.world, &place, name.as_deref(), Some((*ty, value)));
                }
            }
            LoadBits {
                dst,
                ty,
                address,
                offset,
                width,
            } => {
                let address = self.pointer(frame, state, *address, &place)?;
                let value = self.load_bits(state, *ty, address, (*offset, *width), &place)?;
                self.define(frame, state, *dst, Some(value));
            }
            StoreBits {
                address,
                value,
                offset,
                width,
                ..
            } => {
                let value = self.value(frame, state, *value, &place)?;
                let value = self.located(value, &state.world, &place);
                let address = self.pointer(frame, state, *address, &place)?;
                self.store_bits(state, address, value, (*offset, *width), &place)?;
            }
            Extend {
                dst,
                ty,
                value,
                width,
            } => {
                let value = self.value(frame, state, *value, &place)?;
                let value = meaning::extend(self.terms, *ty, value, *width);
                self.define(frame, state, *dst, value);
            }
            Unary { dst, op, ty, a } => {
                let a = self.value(frame, state, *a, &place)?;
                let meaning = match ty {
                    Type::F80 => Some(Meaning::defined(self.extended_unary(*op, a))),
                    _ => meaning::unary(self.terms, *op, *ty, a),
                };
                let value = self.meant(state, meaning, *ty, op.spelling(), &place)?;
                self.define(frame, state, *dst, Some(value));
            }
            Binary { dst, op, ty, a, b } => {
                let a = self.value(frame, state, *a, &place)?;
                let b = self.value(frame, state, *b, &place)?;
                let meaning = match (ty, op) {
                    (Type::Ptr, BinaryOp::Eq | BinaryOp::Ne) => {
                        let equal = self.same_address(&state.world, a, b);
                        let holds = match op {
                            BinaryOp::Eq => equal,
                            _ => self.terms.not(equal),
                        };
                        Some(Meaning::defined(meaning::int_of(self.terms, holds)))
                    }
                    (Type::Ptr, op) if op.is_comparison() => {
                        let holds = self.ordered_addresses(*op, a, b);
                        Some(Meaning::defined(meaning::int_of(self.terms, holds)))
                    }
                    (Type::F80, op) => Some(Meaning::defined(self.extended_binary(*op, a, b))),
                    _ => meaning::binary(self.terms, *op, *ty, a, b),
                };
                let value = self.meant(state, meaning, *ty, op.spelling(), &place)?;
                self.define(frame, state, *dst, Some(value));
            }
            Shift {
                dst,
                op,
                ty,
                count,
                a,
                b,
            } => {
                let a = self.value(frame, state, *a, &place)?;
                let b = self.value(frame, state, *b, &place)?;
                let meaning = meaning::shift(self.terms, *op, (*ty, a), (*count, b));
                let value = self.meant(state, meaning, *ty, op.spelling(), &place)?;
                let too_far = meaning::shifts_too_far(self.terms, *ty, b);
                let what = "what a shift by more than a value's bits gives";
                let value = self.unless_undefined(
                    (value, Undefined::BadShift),
                    too_far,
                    what,
                    &[a, b],
                    &place,
                );
                self.define(frame, state, *dst, Some(value));
            }
            Convert { dst, from, to, a } => {
                let a = self.value(frame, state, *a, &place)?;
                let value = match (from, to) {
                    (Type::Ptr, to) if to.is_integer() && *to != Type::Bool => {
                        let number = self.as_number(a);
                        let width = meaning::width(*to).unwrap_or(64);
                        meaning::resize(self.terms, number, 64, width, false)
                    }
                    (from, Type::F80) => self.widened(*from, a),
                    (Type::F80, to) => {
                        let value = self.narrowed_to(a, *to);
                        self.meant(
                            state,
                            value.map(Meaning::defined),
                            *to,
                            "a conversion",
                            &place,
                        )?
                    }
                    (from, Type::Ptr) if from.is_integer() => {
                        let width = meaning::width(*from).unwrap_or(64);
                        let signed = from.is_signed();
                        let number = meaning::resize(self.terms, a, width, 64, signed);
                        self.number_as_pointer(&state.world, number, &place)
                    }
                    _ => {
                        let meaning = meaning::convert(self.terms, *from, *to, a);
                        let unfit = meaning.as_ref().and_then(|meaning| {
                            let kind = |one: &&(Undefined, Term)| one.0 == Undefined::BadConversion;
                            meaning.undefined.iter().find(kind).map(|one| one.1)
                        });
                        let value = self.meant(state, meaning, *to, "a conversion", &place)?;
                        let unfit = unfit.unwrap_or_else(|| self.terms.truth(false));
                        let what = "what a float that does not fit its integer becomes";
                        self.unless_undefined(
                            (value, Undefined::BadConversion),
                            unfit,
                            what,
                            &[a],
                            &place,
                        )
                    }
                };
                self.define(frame, state, *dst, Some(value));
            }
            PointerAdd {
                dst,
                a,
                index,
                ty,
                size,
                negative,
                subscript,
            } => {
                let a = self.pointer(frame, state, *a, &place)?;
                let index = self.value(frame, state, *index, &place)?;
                if let Some(of) = subscript {
                    self.subscript(state, (*ty, index), *of, &place);
                }
                let size = self.value(frame, state, *size, &place)?;
                let value = self.pointer_add(state, a, (*ty, index), size, *negative, &place)?;
                self.define(frame, state, *dst, Some(value));
            }
            PointerDifference { dst, a, b, size } => {
                let a = self.pointer(frame, state, *a, &place)?;
                let b = self.pointer(frame, state, *b, &place)?;
                let size = self.value(frame, state, *size, &place)?;
                let value = self.difference(state, a, b, size, &place);
                self.define(frame, state, *dst, Some(value));
            }
            MemberAddress { dst, a, offset, .. } => {
                let a = self.pointer(frame, state, *a, &place)?;
                let null = self.is_null(a);
                self.tolerated(
                    &state.world,
                    null,
                    Undefined::NullPointer,
                    || "a member of the record that a null pointer points to".to_owned(),
                    &place,
                );
                let value = self.moved(a, *offset);
                self.define(frame, state, *dst, Some(value));
            }
            Copy { to, from, size } => {
                let to = self.pointer(frame, state, *to, &place)?;
                let from = self.pointer(frame, state, *from, &place)?;
                self.copy(&mut state.world, to, from, *size, &place)?;
            }
            Zero { address, size } => {
                let address = self.pointer(frame, state, *address, &place)?;
                self.zero(&mut state.world, address, *size, &place)?;
            }
            Call { .. } => self.call(frame, state, instruction, &place)?,
            VaStart { list } => {
                let list = self.pointer(frame, state, *list, &place)?;
                for (offset, value) in [(0, frame.serial), (8, 0), (16, 0)] {
                    let at = self.moved(list, offset);
                    let value = self.word(value);
                    self.store(&mut state.world, Type::U64, at, Some(value), &place)?;
                }
            }
            VaArg { dst, ty, list } => {
                let list = self.pointer(frame, state, *list, &place)?;
                let value = self.next_argument(state, list, *ty, &place)?;
                self.define(frame, state, *dst, value);
            }
            VaCopy { to, from } => {
                let to = self.pointer(frame, state, *to, &place)?;
                let from = self.pointer(frame, state, *from, &place)?;
                self.copy(&mut state.world, to, from, 24, &place)?;
            }
            Allocate { dst, size, scope } => {
                let size = self.value(frame, state, *size, &place)?;
                let address = self.sized_object(&mut state.world, Kind::Stack, size, false, &place);
                if scope.is_none() {
                    frame.allocations.extend(self.number_of(address));
                }
                self.define(frame, state, *dst, Some(address));
            }
            Unsupported { reason, .. } => {
                self.unknown(&state.world, reason.clone(), &place);
                return Err(Dead);
            }
        }
        Ok(())
    }

    /// The value of an operand; where terms cannot have it, that is recorded, and the path ends.
    pub(crate) fn value(
        &mut self,
        frame: &Frame<'p>,
        state: &State,
        operand: patchwright_ir::Operand,
        place: &Place,
    ) -> Go<Term> {
        match self.operand(frame, state, operand) {
            Some(value) => Ok(value),
            None => {
                let reason = "a value of a type that is not encoded, as `long double`";
                self.unknown(&state.world, reason, place);
                Err(Dead)
            }
        }
    }

    /// The value of an operand that is an address.
    fn pointer(
        &mut self,
        frame: &Frame<'p>,
        state: &State,
        operand: patchwright_ir::Operand,
        place: &Place,
    ) -> Go<Term> {
        self.value(frame, state, operand, place)
    }

    /// The value of an operation, with what is undefined about it recorded.
    fn meant(
        &mut self,
        state: &State,
        meaning: Option<Meaning>,
        ty: Type,
        name: &str,
        place: &Place,
    ) -> Go<Term> {
        let shown = match name.contains(' ') {
            true => name.to_owned(),
            false => format!("`{name}`"),
        };
        let Some(meaning) = meaning else {
            let reason = format!("{shown} of values of type {} is not encoded", ty.in_c());
            self.unknown(&state.world, reason, place);
            return Err(Dead);
        };
        if ty.is_integer()
            && let Some((kind, check)) = Self::looked_for_in(name, ty)
            && self.options.checks.contains(&check)
        {
            self.looked(FailureKind::Undefined(kind), place);
        }
        for (kind, condition) in meaning.undefined {
            let message = || match kind {
                Undefined::DivisionByZero => format!("{name} by zero"),
                Undefined::BadShift => {
                    format!(
                        "{shown} by too much, or out of a value of type {}",
                        ty.in_c()
                    )
                }
                Undefined::BadConversion => format!("a float that does not fit {}", ty.in_c()),
                _ => format!("{shown} of values of type {} overflows", ty.in_c()),
            };
            match (kind, name) {
                // Processors have no quotient by zero, nor one that does not fit.
                (Undefined::SignedOverflow, "/" | "%")
                    if !self.options.checks.contains(&Check::Overflow) =>
                {
                    let kind = (kind, Check::Div);
                    self.undefined_for(&state.world, condition, kind, message, place);
                }
                (Undefined::DivisionByZero, _) | (Undefined::SignedOverflow, "/" | "%") => {
                    self.undefined(&state.world, condition, kind, message, place);
                }
                _ => self.tolerated(&state.world, condition, kind, message, place),
            }
        }
        Ok(meaning.value)
    }

    /// What may be undefined about an operation on integers, whatever its operands are.
    fn looked_for_in(name: &str, ty: Type) -> Option<(Undefined, Check)> {
        match name {
            "/" | "%" => Some((Undefined::DivisionByZero, Check::Div)),
            "<<" | ">>" => Some((Undefined::BadShift, Check::Shift)),
            "+" | "-" | "*" if ty.is_signed() => Some((Undefined::SignedOverflow, Check::Overflow)),
            _ => None,
        }
    }

    /// A value, but where an operation has none and nobody looks for that: there it is any, the same one for the same
    /// operands.
    fn unless_undefined(
        &mut self,
        (value, kind): (Term, Undefined),
        undefined: Term,
        what: &str,
        operands: &[Term],
        place: &Place,
    ) -> Term {
        if self.options.checks.contains(&Check::of(kind)) {
            return value;
        }
        let undefined = self.settled(undefined, place);
        if self.terms.as_truth(undefined) == Some(false) {
            return value;
        }
        let sort = self.terms.sort(value);
        let any = self.open_of(what, operands, sort);
        self.terms.ite(undefined, any, value)
    }

    fn load_bits(
        &mut self,
        state: &mut State,
        ty: Type,
        address: Term,
        (offset, width): (u32, u32),
        place: &Place,
    ) -> Go<Term> {
        let bytes = (offset + width).div_ceil(8);
        let read = self.read(&mut state.world, address, bytes, place)?;
        self.must_be_written(&state.world, read.written, place);
        let bits = self.terms.extract(read.value, offset + width - 1, offset);
        let size = meaning::width(ty).unwrap_or(64);
        Ok(meaning::resize(
            self.terms,
            bits,
            width,
            size,
            ty.is_signed(),
        ))
    }

    fn store_bits(
        &mut self,
        state: &mut State,
        address: Term,
        value: Term,
        (offset, width): (u32, u32),
        place: &Place,
    ) -> Go<()> {
        let bytes = (offset + width).div_ceil(8);
        let old = self.read(&mut state.world, address, bytes, place)?;
        let whole = bytes * 8;
        let mut new = self.terms.extract(value, width - 1, 0);
        if offset > 0 {
            // Bits around it that have no value become zero, as in the interpreter.
            let low = self.terms.extract(old.value, offset - 1, 0);
            new = self.terms.concat(new, low);
        }
        if offset + width < whole {
            let high = self.terms.extract(old.value, whole - 1, offset + width);
            new = self.terms.concat(high, new);
        }
        let written = self.terms.truth(true);
        let value = Read {
            value: new,
            written,
        };
        self.write(&mut state.world, address, bytes, value, place)
    }

    fn next_argument(
        &mut self,
        state: &mut State,
        list: Term,
        ty: Type,
        place: &Place,
    ) -> Go<Option<Term>> {
        let world = &mut state.world;
        let serial = self.load(world, Type::U64, list, place)?;
        let position_at = self.moved(list, 8);
        let position = self.load(world, Type::U64, position_at, place)?;
        let known = |encoder: &Self, term: Option<Term>| {
            term.and_then(|term| encoder.terms.as_constant(term))
        };
        let (Some(serial), Some(position)) = (known(self, serial), known(self, position)) else {
            self.unknown(
                world,
                "a va_list whose position depends on the input",
                place,
            );
            return Err(Dead);
        };
        let given = self
            .frames
            .get(&(serial as u64))
            .and_then(|arguments| arguments.get(position as usize))
            .copied();
        let Some((given, value)) = given else {
            let yes = self.terms.truth(true);
            self.undefined(
                world,
                yes,
                Undefined::BadVariadic,
                || "an argument is asked for that was not passed".to_owned(),
                place,
            );
            return Err(Dead);
        };
        if given.size() != ty.size() || given.is_float() != ty.is_float() {
            let yes = self.terms.truth(true);
            self.undefined(
                world,
                yes,
                Undefined::BadVariadic,
                || {
                    format!(
                        "an argument of type {} is read as {}",
                        given.in_c(),
                        ty.in_c()
                    )
                },
                place,
            );
            return Err(Dead);
        }
        let next = self.word(position as u64 + 1);
        self.store(world, Type::U64, position_at, Some(next), place)?;
        Ok(value)
    }

    /// An access of what is `volatile`, and no variable of a function: others may see it, and may write there at any time.
    fn volatile_access(&mut self, world: &crate::encoder::World, address: Term) {
        let targets = self.pointers.targets(self.terms, address);
        let of_function = targets.opaque.is_none()
            && targets.leaves.iter().all(|leaf| {
                let object = world.memory.get(leaf.object);
                object.is_none_or(|object| object.kind == Kind::Stack)
            });
        if of_function {
            return;
        }
        self.note(
            "`volatile` objects keep their values until the program writes to them".to_owned(),
        );
        if self.options.outside.is_some() {
            self.see_not("when `volatile` objects are read and written".to_owned());
        }
    }

    /// What a step calls the object that a pointer leads to.
    fn object_name(&mut self, pointer: Term) -> Option<String> {
        let number = self.number_of(pointer)?;
        self.names.get(number as usize).map(|name| name.to_string())
    }
}
