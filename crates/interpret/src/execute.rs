//! Executes calls, returns and jumps between the frames of functions.

use std::rc::Rc;

use patchwright_ir::{Function, RoutineId, Type, wide};
use patchwright_semantics::Ty;

use crate::{
    code::{CONSTANT, Code, Incoming, Op, Reg, Target},
    fault::{Run, Stop, Undefined, undefined},
    libc::calling::{Arg, Args},
    machine::{Frame, Machine},
    memory::Kind,
};

/// Why the execution of a frame pauses.
pub(crate) enum Pause {
    Call(u32),
    Return,
}

fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::F80 | Type::I128 | Type::U128)
}

impl Machine<'_> {
    /// Calls the function at an address on behalf of a model of the library.
    pub(crate) fn call_address(&mut self, address: u64, arguments: &[(Type, u128)]) -> Run<u128> {
        match self.memory.function_at(address) {
            Some(routine) => self.call_from_library(routine, arguments),
            None => bad_callee(address),
        }
    }

    /// Calls a function and waits for its value.
    pub(crate) fn call_from_library(
        &mut self,
        routine: u32,
        arguments: &[(Type, u128)],
    ) -> Run<u128> {
        let depth = self.frames.len();
        if let Some(value) = self.enter(routine, arguments, None, 0)? {
            return Ok(value);
        }
        self.execute(depth)?;
        Ok(self.result.take().unwrap_or(0))
    }

    /// Begins a call: a frame for a function with a body, the value of one of the library.
    fn enter(
        &mut self,
        routine: u32,
        arguments: &[(Type, u128)],
        site: Option<u32>,
        result_address: u64,
    ) -> Run<Option<u128>> {
        let Some(code) = self.code(routine) else {
            return self.native(routine, arguments).map(Some);
        };
        if self.frames.len() >= self.limits.depth {
            return Err(Stop::Memory("nested calls"));
        }
        let function = self
            .function(routine)
            .unwrap_or_else(|| unreachable!("it has code"));
        let (name, variadic) = (function.name.clone(), function.variadic);
        let count = code.incoming.len();
        if arguments.len() < count || arguments.len() > count && !variadic && function.prototyped {
            return undefined(
                Undefined::BadCall,
                format!(
                    "{name} takes {count} arguments and is called with {}",
                    arguments.len()
                ),
            );
        }
        let base = self.registers.len();
        self.registers.resize(base + code.registers as usize, 0);
        self.serial += 1;
        let mut frame = Frame {
            routine,
            pc: 0,
            base,
            site,
            result_address,
            varargs: Vec::new(),
            allocations: Vec::new(),
            serial: self.serial,
        };
        if variadic {
            frame.varargs = arguments[count..].to_vec();
        }
        self.frames.push(frame);
        self.report_enter(routine);
        for (index, (&incoming, &(given, value))) in code.incoming.iter().zip(arguments).enumerate()
        {
            let expected = match incoming {
                Incoming::Register { ty, .. } | Incoming::Memory { ty, .. } => ty,
            };
            if !compatible(given, expected) {
                return undefined(
                    Undefined::BadCall,
                    format!(
                        "{name} takes a value of type {expected} as argument {}, and is called \
                         with one of type {given}",
                        index + 1
                    ),
                );
            }
            let value = if given != expected && expected.is_value() {
                wide::canonical(expected, value)
            } else {
                value
            };
            match incoming {
                Incoming::Register { register, ty } => {
                    self.registers[base + register as usize] = value as u64;
                    if is_wide(ty) {
                        self.registers[base + register as usize + 1] = (value >> 64) as u64;
                    }
                }
                Incoming::Memory {
                    slot,
                    ty,
                    size,
                    align,
                } => {
                    let address = self.memory.allocate(size, align, Kind::Stack, false)?;
                    self.registers[base + slot as usize] = address;
                    match ty {
                        Type::Aggregate { size } => {
                            self.memory.copy(address, value as u64, size)?;
                        }
                        _ => self.memory.store_wide(ty.size(), address, value)?,
                    }
                }
            }
        }
        Ok(None)
    }

    fn native(&mut self, routine: u32, arguments: &[(Type, u128)]) -> Run<u128> {
        let arguments: Vec<Arg> = arguments
            .iter()
            .map(|&(ty, bits)| Arg { ty, bits })
            .collect();
        let Some(native) = self.routines[routine as usize].native else {
            if let Some(value) = crate::libc::verify::any(self, routine) {
                return value;
            }
            let routine = &self.routines[routine as usize];
            return Err(Stop::Unsupported(format!(
                "the function `{}`: no file that was given defines it, and the interpreter has \
                 no model of it",
                routine.name
            )));
        };
        self.with_lenient_memory(|machine| native(machine, &Args(&arguments)))
    }

    /// Executes until only `depth` frames are left.
    pub(crate) fn execute(&mut self, depth: usize) -> Run<()> {
        while self.frames.len() > depth {
            match self.segment() {
                Ok(()) => {}
                Err(Stop::Jump(serial, value)) => self.long_jump(serial, value, depth)?,
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Executes the innermost frame until it calls or returns.
    fn segment(&mut self) -> Run<()> {
        let (routine, base, mut pc) = match self.frames.last() {
            Some(frame) => (frame.routine, frame.base, frame.pc),
            None => return Ok(()),
        };
        let Some(code) = self.code(routine) else {
            return Ok(());
        };
        loop {
            let paused = match self.observer.is_some() {
                true => self.instructions::<true>(&code, base, &mut pc),
                false => self.instructions::<false>(&code, base, &mut pc),
            };
            if let Some(frame) = self.frames.last_mut() {
                frame.pc = pc;
            }
            match paused? {
                Pause::Call(site) => {
                    if self.call(&code, base, site)? {
                        return Ok(());
                    }
                }
                Pause::Return => {
                    self.leave(&code)?;
                    return Ok(());
                }
            }
        }
    }

    /// Returns the value of a register or constant.
    pub(crate) fn value(&self, code: &Code, base: usize, reg: Reg) -> u64 {
        match reg.0 & CONSTANT {
            0 => self.registers[base + reg.0 as usize],
            _ => code.constants[(reg.0 & !CONSTANT) as usize],
        }
    }

    /// Returns the value of a type of up to 16 bytes, which may take two registers.
    pub(crate) fn wide_value(&self, code: &Code, base: usize, reg: Reg, ty: Type) -> u128 {
        let low = u128::from(self.value(code, base, reg));
        match is_wide(ty) {
            true => low | u128::from(self.value(code, base, Reg(reg.0 + 1))) << 64,
            false => low,
        }
    }

    /// Sets the register, or the two registers, of a value of up to 16 bytes.
    pub(crate) fn set_wide(&mut self, base: usize, dst: u32, ty: Type, value: u128) {
        self.registers[base + dst as usize] = value as u64;
        if is_wide(ty) {
            self.registers[base + dst as usize + 1] = (value >> 64) as u64;
        }
    }

    /// Performs a call; true if there is a new frame.
    fn call(&mut self, code: &Rc<Code>, base: usize, index: u32) -> Run<bool> {
        let site = &code.calls[index as usize];
        if self.executed >= self.limits.instructions {
            return Err(Stop::Limit);
        }
        let arguments: Vec<(Type, u128)> = site
            .arguments
            .iter()
            .map(|&(ty, reg)| (ty, self.wide_value(code, base, reg, ty)))
            .collect();
        let routine = match site.callee {
            Target::Direct(routine) => routine,
            Target::Indirect(reg) => {
                let address = self.value(code, base, reg);
                let Some(routine) = self.memory.function_at(address) else {
                    return bad_callee(address);
                };
                if self.program.body(RoutineId(routine)).is_none() {
                    let used = site.used || site.result_address.is_some();
                    fits_library(
                        self.program.function(RoutineId(routine)),
                        &arguments,
                        used.then_some(site.result),
                    )?;
                }
                routine
            }
        };
        if let Some(function) = self.function(routine)
            && (site.result != Type::Void && site.used || site.result_address.is_some())
            && !compatible(function.result, site.result)
        {
            return undefined(
                Undefined::BadCall,
                format!(
                    "{} returns a value of type {}, and the call expects {}",
                    function.name, function.result, site.result
                ),
            );
        }
        let result_address = match site.result_address {
            Some(reg) => self.value(code, base, reg),
            None => 0,
        };
        match self.enter(routine, &arguments, Some(index), result_address)? {
            Some(value) => {
                if let Some(dst) = site.dst {
                    let value = wide::canonical(site.result, value);
                    self.set_wide(base, dst, site.result, value);
                }
                if let Type::Aggregate { size } = site.result {
                    // The library returns records as their bytes.
                    self.memory
                        .store_wide(size.min(16), result_address, value)?;
                }
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// Ends the innermost frame, whose value is in `result`.
    fn leave(&mut self, code: &Rc<Code>) -> Run<()> {
        self.report_leave();
        self.drop_frame(code);
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.registers.truncate(frame.base);
        let (Some(site), Some(caller)) = (frame.site, self.frames.last()) else {
            return Ok(());
        };
        let (routine, base) = (caller.routine, caller.base);
        let Some(code) = self.code(routine) else {
            return Ok(());
        };
        let site = &code.calls[site as usize];
        match (self.result.take(), site.dst) {
            (Some(value), Some(dst)) => {
                let value = wide::canonical(site.result, value);
                self.set_wide(base, dst, site.result, value);
            }
            (None, _) if site.used => {
                let name = self.routines[frame.routine as usize].name.clone();
                return undefined(
                    Undefined::MissingReturn,
                    format!("the value of {name} is used, which returned none"),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the lives of the locals of the innermost frame.
    fn drop_frame(&mut self, code: &Code) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        for &slot in &code.slots {
            let address = self.registers[frame.base + slot as usize];
            if address != 0 {
                self.memory.end_local(address);
            }
        }
        for &address in &frame.allocations {
            self.memory.end_local(address);
        }
    }

    /// Leaves all frames above the one that called `setjmp`.
    fn long_jump(&mut self, serial: u64, value: i32, depth: usize) -> Run<()> {
        let jump = self.library.jumps.get(serial as usize).copied();
        let found = jump.and_then(|jump| {
            let position = self.frames.iter().position(|f| f.serial == jump.frame)?;
            Some((jump, position))
        });
        let Some((jump, position)) = found else {
            return undefined(
                Undefined::BadArgument,
                "longjmp to a function that has returned",
            );
        };
        if position < depth {
            return Err(Stop::Jump(serial, value));
        }
        while self.frames.len() > position + 1 {
            let routine = self.frames[self.frames.len() - 1].routine;
            if let Some(code) = self.code(routine) {
                self.drop_frame(&code);
            }
            self.report_leave();
            if let Some(frame) = self.frames.pop() {
                self.registers.truncate(frame.base);
            }
        }
        self.unwritten.clear();
        let frame = &mut self.frames[position];
        frame.pc = jump.pc;
        let (routine, base) = (frame.routine, frame.base);
        if let Some(code) = self.code(routine)
            && let Op::Call(site) = code.ops[jump.pc - 1]
            && let Some(dst) = code.calls[site as usize].dst
        {
            let value = if value == 0 { 1 } else { value };
            self.registers[base + dst as usize] = value as i64 as u64;
        }
        Ok(())
    }

    /// `va_arg`: the next argument of the list, which must be of type `ty`.
    pub(crate) fn next_argument(&mut self, list: u64, ty: Type) -> Run<u128> {
        let serial = self.memory.load(Ty::U64, list)?;
        let position = self.memory.load(Ty::U64, list + 8)?;
        let frame = self.frames.iter().rev().find(|f| f.serial == serial);
        let Some(frame) = frame else {
            return undefined(
                Undefined::BadVariadic,
                "a va_list of a function that has returned",
            );
        };
        let Some(&(given, value)) = frame.varargs.get(position as usize) else {
            return undefined(
                Undefined::BadVariadic,
                format!(
                    "argument {} after the declared ones is asked for, but {} were passed",
                    position + 1,
                    frame.varargs.len()
                ),
            );
        };
        if !compatible(given, ty) {
            self.accept_variadic(given, ty, || {
                format!(
                    "an argument of type {} is read as {}",
                    given.in_c(),
                    ty.in_c()
                )
            })?;
        }
        self.memory.store(Ty::U64, list + 8, position + 1)?;
        Ok(match ty {
            Type::Aggregate { .. } => value,
            _ => wide::canonical(ty, value),
        })
    }
}

impl Machine<'_> {
    /// An argument of another type than is asked for: the low bits of a wider integer, where that is accepted.
    pub(crate) fn accept_variadic(
        &mut self,
        given: Type,
        asked: Type,
        message: impl FnOnce() -> String,
    ) -> Run<()> {
        let integral = |ty: Type| ty.is_integer() || ty == Type::Ptr;
        let has_bits = integral(given) && integral(asked) && given.size() >= asked.size();
        if !(has_bits && self.allows(Undefined::BadVariadic)) {
            return undefined(Undefined::BadVariadic, message());
        }
        self.note_accepted(Undefined::BadVariadic, message());
        Ok(())
    }
}

/// A function of the library is called as it is declared: with these arguments, and for a value of this type.
fn fits_library(declared: &Function, arguments: &[(Type, u128)], result: Option<Type>) -> Run<()> {
    let name = &declared.name;
    if !declared.prototyped {
        return Ok(());
    }
    let count = declared.parameters.len();
    if arguments.len() < count || arguments.len() > count && !declared.variadic {
        return undefined(
            Undefined::BadCall,
            format!(
                "{name} takes {count} arguments and is called with {}",
                arguments.len()
            ),
        );
    }
    for (index, (parameter, &(given, _))) in declared.parameters.iter().zip(arguments).enumerate() {
        if !compatible(given, parameter.ty) {
            return undefined(
                Undefined::BadCall,
                format!(
                    "{name} takes a value of type {} as argument {}, and is called with one of type {given}",
                    parameter.ty,
                    index + 1
                ),
            );
        }
    }
    match result.filter(|&result| result != Type::Void && !compatible(declared.result, result)) {
        Some(result) => undefined(
            Undefined::BadCall,
            format!(
                "{name} returns a value of type {}, and the call expects {result}",
                declared.result
            ),
        ),
        None => Ok(()),
    }
}

/// A value of type `given` may be taken for one of type `expected`: the same type, or integers
/// and pointers of one size.
fn compatible(given: Type, expected: Type) -> bool {
    given == expected
        || (given.size() == expected.size()
            && (given.is_integer() || given == Type::Ptr)
            && (expected.is_integer() || expected == Type::Ptr))
}

fn bad_callee<T>(address: u64) -> Run<T> {
    match address {
        0 => undefined(Undefined::NullPointer, "a call through a null pointer"),
        _ => undefined(
            Undefined::BadCall,
            format!("a call through {address:#x}, which points to no function"),
        ),
    }
}
