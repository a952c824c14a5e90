//! Execution of instructions.

use std::rc::Rc;

use patchwright_ir::{Type, wide};
use patchwright_semantics::{self as semantics, BinaryOp, Ty, UnaryOp};

use crate::{
    code::{CONSTANT, Code, Incoming, Op, Reg, Target},
    fault::{Run, Stop, Undefined, undefined},
    libc::{Arg, Args},
    machine::{Frame, Machine},
    memory::Kind,
};

/// Why the execution of a frame pauses.
enum Pause {
    Call(u32),
    Return,
}

fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::F80 | Type::I128 | Type::U128)
}

/// What was undefined in an operation that gave no value.
#[cold]
fn failed(op: BinaryOp, ty: Type, b: u128) -> Stop {
    let name = op.spelling();
    let (kind, message) = match op {
        BinaryOp::Div | BinaryOp::Rem if b == 0 => {
            (Undefined::DivisionByZero, format!("{name} by zero"))
        }
        BinaryOp::Shl | BinaryOp::Shr => {
            let count = b as u64 as i64;
            let width = ty.size() * 8;
            let message = if (0..width as i64).contains(&count) {
                format!("{name} {count} of a value of type {ty} does not fit the type")
            } else {
                format!("{name} by {count} of a value of {width} bits")
            };
            (Undefined::BadShift, message)
        }
        _ => (
            Undefined::SignedOverflow,
            format!("{name} of two values of type {ty} overflows"),
        ),
    };
    Stop::Undefined(kind, message)
}

#[cold]
fn failed_unary(op: UnaryOp, ty: Type) -> Stop {
    Stop::Undefined(
        Undefined::SignedOverflow,
        format!("{} of a value of type {ty} overflows", op.spelling()),
    )
}

#[cold]
fn failed_conversion(from: Type, to: Type) -> Stop {
    Stop::Undefined(
        Undefined::BadConversion,
        format!("a value of type {from} does not fit {to}"),
    )
}

impl Machine<'_> {
    /// Calls the function at an address, from the library.
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
                        _ => self.memory.store_wide(store_size(ty), address, value)?,
                    }
                }
            }
        }
        Ok(None)
    }

    fn native(&mut self, routine: u32, arguments: &[(Type, u128)]) -> Run<u128> {
        let routine = &self.routines[routine as usize];
        let Some(native) = routine.native else {
            return Err(Stop::Unsupported(format!(
                "the function `{}`: no file that was given defines it, and the interpreter has \
                 no model of it",
                routine.name
            )));
        };
        let arguments: Vec<Arg> = arguments
            .iter()
            .map(|&(ty, bits)| Arg { ty, bits })
            .collect();
        native(self, &Args(&arguments))
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
            let paused = self.instructions(&code, base, &mut pc);
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

    fn value(&self, code: &Code, base: usize, reg: Reg) -> u64 {
        match reg.0 & CONSTANT {
            0 => self.registers[base + reg.0 as usize],
            _ => code.constants[(reg.0 & !CONSTANT) as usize],
        }
    }

    fn wide_value(&self, code: &Code, base: usize, reg: Reg, ty: Type) -> u128 {
        let low = u128::from(self.value(code, base, reg));
        match is_wide(ty) {
            true => low | u128::from(self.value(code, base, Reg(reg.0 + 1))) << 64,
            false => low,
        }
    }

    fn set_wide(&mut self, base: usize, dst: u32, ty: Type, value: u128) {
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
                match self.memory.function_at(address) {
                    Some(routine) => routine,
                    None => return bad_callee(address),
                }
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
            if let Some(frame) = self.frames.pop() {
                self.registers.truncate(frame.base);
            }
        }
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

    /// The inner loop: executes instructions of one frame.
    fn instructions(&mut self, code: &Code, base: usize, out: &mut usize) -> Run<Pause> {
        let mut pc = *out;
        macro_rules! get {
            ($reg:expr) => {
                self.value(code, base, $reg)
            };
        }
        macro_rules! set {
            ($dst:expr, $value:expr) => {{
                let value = $value;
                self.registers[base + $dst as usize] = value;
            }};
        }
        // What may fail notes where it happened.
        macro_rules! attempt {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(stop) => {
                        *out = pc;
                        return Err(stop);
                    }
                }
            };
        }
        loop {
            let op = &code.ops[pc];
            pc += 1;
            self.executed += 1;
            match *op {
                Op::Move { dst, a } => set!(dst, get!(a)),
                Op::Binary { op, ty, dst, a, b } => {
                    let b = get!(b);
                    match semantics::binary(op, ty, get!(a), b) {
                        Some(value) => set!(dst, value),
                        None => attempt!(Err(failed(op, ty.into(), u128::from(b)))),
                    }
                }
                Op::Load { dst, address, ty } => {
                    set!(dst, attempt!(self.memory.load(ty, get!(address))));
                }
                Op::Store { address, value, ty } => {
                    let (address, value) = (get!(address), get!(value));
                    attempt!(self.memory.store(ty, address, value));
                }
                Op::Convert { from, to, dst, a } => match semantics::convert(from, to, get!(a)) {
                    Some(value) => set!(dst, value),
                    None => attempt!(Err(failed_conversion(from.into(), to.into()))),
                },
                Op::Branch {
                    a,
                    ty,
                    then,
                    otherwise,
                } => {
                    let target = match semantics::truth(ty, get!(a)) {
                        true => then as usize,
                        false => otherwise as usize,
                    };
                    if target < pc && self.executed >= self.limits.instructions {
                        attempt!(Err(Stop::Limit));
                    }
                    pc = target;
                }
                Op::BranchWide {
                    a,
                    ty,
                    then,
                    otherwise,
                } => {
                    let value = self.wide_value(code, base, a, ty);
                    pc = match wide::truth(ty, value) {
                        true => then as usize,
                        false => otherwise as usize,
                    };
                }
                Op::Jump(target) => {
                    if (target as usize) < pc && self.executed >= self.limits.instructions {
                        attempt!(Err(Stop::Limit));
                    }
                    pc = target as usize;
                }
                Op::Advance {
                    dst,
                    a,
                    index,
                    ty,
                    size,
                    negative,
                } => {
                    let (a, index, size) = (get!(a), get!(index), get!(size));
                    set!(dst, attempt!(advance(a, index, ty, size, negative)));
                }
                Op::Member { dst, a, offset } => {
                    let a = get!(a);
                    if a == 0 {
                        attempt!(undefined(
                            Undefined::NullPointer,
                            "a member of the record that a null pointer points to",
                        ));
                    }
                    set!(dst, a.wrapping_add(offset));
                }
                Op::Slot {
                    dst,
                    slot,
                    size,
                    align,
                } => {
                    let mut address = self.registers[base + slot as usize];
                    if address == 0 {
                        address = attempt!(self.memory.allocate(size, align, Kind::Stack, false));
                        self.registers[base + slot as usize] = address;
                    }
                    set!(dst, address);
                }
                Op::Kill { slot } => {
                    let address = std::mem::take(&mut self.registers[base + slot as usize]);
                    if address != 0 {
                        self.memory.end_local(address);
                    }
                }
                Op::Flag { flag, value } => set!(flag, u64::from(value)),
                Op::Check { flag, local } => {
                    if self.registers[base + flag as usize] == 0 {
                        attempt!(self.unwritten(local));
                    }
                }
                Op::Call(site) => {
                    *out = pc;
                    return Ok(Pause::Call(site));
                }
                Op::Return { a, ty } => {
                    *out = pc;
                    let value = self.wide_value(code, base, a, ty);
                    match ty {
                        Type::Aggregate { size } => {
                            let to = self.frames.last().map_or(0, |f| f.result_address);
                            if to != 0 {
                                self.memory.copy(to, value as u64, size)?;
                            }
                            self.result = Some(u128::from(to));
                        }
                        _ => self.result = Some(value),
                    }
                    return Ok(Pause::Return);
                }
                Op::ReturnVoid => {
                    *out = pc;
                    self.result = Some(0);
                    return Ok(Pause::Return);
                }
                Op::ReturnNothing => {
                    *out = pc;
                    self.result = None;
                    return Ok(Pause::Return);
                }
                Op::Unary { op, ty, dst, a } => match semantics::unary(op, ty, get!(a)) {
                    Some(value) => set!(dst, value),
                    None => attempt!(Err(failed_unary(op, ty.into()))),
                },
                Op::Shift {
                    op,
                    ty,
                    count,
                    dst,
                    a,
                    b,
                } => {
                    let b = get!(b);
                    match semantics::shift(op, ty, count, get!(a), b) {
                        Some(value) => set!(dst, value),
                        None => attempt!(Err(failed(op, ty.into(), u128::from(b)))),
                    }
                }
                Op::Switch { a, table } => {
                    let table = &code.tables[table as usize];
                    let value = number(table.ty, self.wide_value(code, base, a, table.ty));
                    let arm = table.arms.partition_point(|&(low, _, _)| low <= value);
                    pc = match arm.checked_sub(1).map(|arm| table.arms[arm]) {
                        Some((_, high, target)) if value <= high => target as usize,
                        _ => table.default as usize,
                    };
                }
                Op::Copy { to, from, size } => {
                    let (to, from) = (get!(to), get!(from));
                    attempt!(self.memory.copy(to, from, size));
                }
                Op::Zero { address, size } => {
                    attempt!(self.memory.write(get!(address), size)).fill(0);
                }
                _ => attempt!(self.rare(code, base, op)),
            }
        }
    }

    /// Instructions that are not worth a place in the inner loop.
    fn rare(&mut self, code: &Code, base: usize, op: &Op) -> Run<()> {
        let get = |machine: &Self, reg| machine.value(code, base, reg);
        match *op {
            Op::MoveWide { dst, a } => {
                let value = self.wide_value(code, base, a, Type::U128);
                self.set_wide(base, dst, Type::U128, value);
            }
            Op::LoadWide { dst, address, ty } => {
                let size = store_size(ty);
                let value = self.memory.load_wide(size, get(self, address))?;
                self.set_wide(base, dst, ty, value);
            }
            Op::StoreWide { address, value, ty } => {
                let value = self.wide_value(code, base, value, ty);
                let address = get(self, address);
                self.memory.store_wide(store_size(ty), address, value)?;
            }
            Op::LoadBits {
                dst,
                address,
                offset,
                width,
                ty,
            } => {
                let raw = self.memory.load_bits(get(self, address), offset, width)?;
                self.registers[base + dst as usize] = extend(ty, raw, width);
            }
            Op::StoreBits {
                address,
                value,
                offset,
                width,
            } => {
                let (address, value) = (get(self, address), get(self, value));
                self.memory.store_bits(address, offset, width, value)?;
            }
            Op::Extend { dst, a, width, ty } => {
                let value = extend(ty, get(self, a), width);
                self.registers[base + dst as usize] = value;
            }
            Op::WideUnary { op, ty, dst, a } => {
                let a = self.wide_value(code, base, a, ty);
                let value = wide::unary(op, ty, a).ok_or_else(|| failed_unary(op, ty))?;
                let of = if op == UnaryOp::Not { Type::I32 } else { ty };
                self.set_wide(base, dst, of, value);
            }
            Op::WideBinary { op, ty, dst, a, b } => {
                let (a, b) = (
                    self.wide_value(code, base, a, ty),
                    self.wide_value(code, base, b, ty),
                );
                let value = wide::binary(op, ty, a, b).ok_or_else(|| failed(op, ty, b))?;
                let of = if op.is_comparison() { Type::I32 } else { ty };
                self.set_wide(base, dst, of, value);
            }
            Op::WideShift {
                op,
                ty,
                count,
                dst,
                a,
                b,
            } => {
                let a = self.wide_value(code, base, a, ty);
                let b = self.wide_value(code, base, b, count);
                let value = wide::shift(op, ty, count, a, b).ok_or_else(|| failed(op, ty, b))?;
                self.set_wide(base, dst, ty, value);
            }
            Op::WideConvert { from, to, dst, a } => {
                let a = self.wide_value(code, base, a, from);
                let value =
                    wide::convert(from, to, a).ok_or_else(|| failed_conversion(from, to))?;
                self.set_wide(base, dst, to, value);
            }
            Op::Distance { dst, a, b, size } => {
                let (a, b, size) = (get(self, a), get(self, b), get(self, size));
                if a >> 32 != b >> 32 {
                    return undefined(
                        Undefined::BadDifference,
                        "the difference of pointers into different objects",
                    );
                }
                let Some(value) = semantics::pointer_difference(a, b, size) else {
                    return undefined(
                        Undefined::BadDifference,
                        format!("pointers that are not whole elements of {size} bytes apart"),
                    );
                };
                self.registers[base + dst as usize] = value;
            }
            Op::VaStart { list } => {
                let list = get(self, list);
                let serial = self.frames.last().map_or(0, |frame| frame.serial);
                self.memory.store(Ty::U64, list, serial)?;
                self.memory.store(Ty::U64, list + 8, 0)?;
                self.memory.store(Ty::U64, list + 16, 0)?;
            }
            Op::VaArg { dst, list, ty } => {
                let list = get(self, list);
                let value = self.next_argument(list, ty)?;
                self.set_wide(base, dst, ty, value);
            }
            Op::VaCopy { to, from } => {
                let (to, from) = (get(self, to), get(self, from));
                self.memory.copy(to, from, 24)?;
            }
            Op::Allocate { dst, size } => {
                let size = get(self, size);
                let address = self.memory.allocate(size, 16, Kind::Stack, false)?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.allocations.push(address);
                }
                self.registers[base + dst as usize] = address;
            }
            Op::Unsupported(reason) => {
                return Err(Stop::Unsupported(code.reasons[reason as usize].clone()));
            }
            Op::Unreachable => {
                return undefined(
                    Undefined::Unreachable,
                    "control gets to where it cannot: behind a function that does not return, or \
                     __builtin_unreachable()",
                );
            }
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn unwritten(&self, local: u32) -> Run<()> {
        let name = self
            .frames
            .last()
            .and_then(|frame| self.function(frame.routine))
            .map_or("", |function| &function.locals[local as usize].name);
        undefined(
            Undefined::UninitializedRead,
            format!("a read of `{name}`, which has no value"),
        )
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
            return undefined(
                Undefined::BadVariadic,
                format!("an argument of type {given} is read as {ty}"),
            );
        }
        self.memory.store(Ty::U64, list + 8, position + 1)?;
        Ok(match ty {
            Type::Aggregate { .. } => value,
            _ => wide::canonical(ty, value),
        })
    }
}

/// Bytes that a value takes when it is stored; `long double` has padding without a value, which
/// the interpreter takes for zero.
fn store_size(ty: Type) -> u64 {
    ty.size()
}

fn extend(ty: Ty, raw: u64, width: u32) -> u64 {
    let shift = 64 - width;
    let value = raw << shift;
    if ty.is_signed_integer() {
        (value as i64 >> shift) as u64
    } else {
        value >> shift
    }
}

fn number(ty: Type, bits: u128) -> i128 {
    match ty {
        _ if ty.is_signed() && ty.scalar().is_some() => i128::from(bits as u64 as i64),
        _ => bits as i128,
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

#[inline(always)]
fn advance(a: u64, index: u64, ty: Ty, size: u64, negative: bool) -> Run<u64> {
    let moved = semantics::pointer_index(ty, index).and_then(|index| match negative {
        true => semantics::pointer_sub(a, index, size),
        false => semantics::pointer_add(a, index, size),
    });
    match moved {
        Some(moved) if moved >> 32 == a >> 32 => Ok(moved),
        _ => bad_advance(a, index, size),
    }
}

#[cold]
fn bad_advance(a: u64, index: u64, size: u64) -> Run<u64> {
    let message = match a {
        0 => "arithmetic on a null pointer".to_owned(),
        _ => format!(
            "a pointer is moved by {} elements of {size} bytes, far out of its object",
            index as i64
        ),
    };
    undefined(Undefined::BadPointerArithmetic, message)
}
