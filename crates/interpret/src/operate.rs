//! Executes the instructions of one frame.

use patchwright_ir::{Type, wide};
use patchwright_semantics::{self as semantics, BinaryOp, Ty, UnaryOp};

use crate::{
    allow,
    code::{Code, Op},
    execute::Pause,
    fault::{Run, Stop, Undefined, undefined},
    machine::Machine,
    memory::Kind,
};

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
                format!(
                    "`{name} {count}` of a value of type {} does not fit the type",
                    ty.in_c()
                )
            } else {
                format!("`{name}` by {count} of a value of {width} bits")
            };
            (Undefined::BadShift, message)
        }
        _ => (
            Undefined::SignedOverflow,
            format!("`{name}` of two values of type {} overflows", ty.in_c()),
        ),
    };
    Stop::Undefined(kind, message)
}

#[cold]
fn failed_unary(op: UnaryOp, ty: Type) -> Stop {
    Stop::Undefined(
        Undefined::SignedOverflow,
        format!(
            "`{}` of a value of type {} overflows",
            op.spelling(),
            ty.in_c()
        ),
    )
}

#[cold]
fn failed_conversion(from: Type, to: Type) -> Stop {
    Stop::Undefined(
        Undefined::BadConversion,
        format!("a value of type {} does not fit {}", from.in_c(), to.in_c()),
    )
}

impl Machine<'_> {
    /// The inner loop: executes instructions of one frame.
    pub(crate) fn instructions<const OBSERVED: bool>(
        &mut self,
        code: &Code,
        base: usize,
        out: &mut usize,
    ) -> Run<Pause> {
        let mut pc = *out;
        // Where execution goes on behind a call, the call has given its value.
        let mut before = pc.checked_sub(1);
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
            if OBSERVED {
                self.report(code, base, before, pc);
                before = Some(pc);
            }
            let op = &code.ops[pc];
            pc += 1;
            self.executed += 1;
            match *op {
                Op::Move { dst, a } => set!(dst, get!(a)),
                Op::Binary { op, ty, dst, a, b } => {
                    let b = get!(b);
                    match semantics::binary(op, ty, get!(a), b) {
                        Some(value) => set!(dst, value),
                        None => {
                            let (stop, a) = (failed(op, ty.into(), b.into()), get!(a));
                            let value = self.go_on(stop, pc, |_| {
                                allow::wrapped(op, ty.into(), a.into(), b.into())
                            });
                            set!(dst, attempt!(value) as u64);
                        }
                    }
                }
                Op::Load { dst, address, ty } => {
                    let value = match self.memory.load(ty, get!(address)) {
                        Ok(value) => value,
                        Err(stop) => {
                            let address = get!(address);
                            let register = base + dst as usize;
                            let found =
                                self.load_unwritten(stop, (code, pc), register, (ty, address));
                            attempt!(found)
                        }
                    };
                    set!(dst, value);
                }
                Op::StoreCopy { address, value, ty } => {
                    let register = base + value.0 as usize;
                    let (address, value) = (get!(address), get!(value));
                    attempt!(self.memory.store(ty, address, value));
                    if !self.unwritten.is_empty() {
                        self.mark_copy(register, ty, address);
                    }
                }
                Op::Store { address, value, ty } => {
                    let (address, value) = (get!(address), get!(value));
                    attempt!(self.memory.store(ty, address, value));
                }
                Op::Convert { from, to, dst, a } => match semantics::convert(from, to, get!(a)) {
                    Some(value) => set!(dst, value),
                    None => {
                        let (stop, a) = (failed_conversion(from.into(), to.into()), get!(a));
                        let value = self.go_on(stop, pc, |_| allow::converted(from, to, a));
                        set!(dst, attempt!(value));
                    }
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
                    greatest,
                } => {
                    let (a, index, size) = (get!(a), get!(index), get!(size));
                    if index > greatest {
                        attempt!(bad_subscript(index, greatest));
                    }
                    let moved = match advance(a, index, ty, size, negative) {
                        Ok(moved) => moved,
                        Err(stop) => {
                            let moved = |_: &mut Self| Some(allow::moved(a, index, size, negative));
                            attempt!(self.go_on(stop, pc, moved))
                        }
                    };
                    set!(dst, moved);
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
                Op::Settle { slot } => self.memory.settle(self.registers[base + slot as usize]),
                Op::Flag { flag, value } => set!(flag, u64::from(value)),
                Op::Check { flag, local } => {
                    if self.registers[base + flag as usize] == 0 {
                        // The register holds what it held.
                        let stop = self.unwritten(local);
                        attempt!(self.go_on(stop, pc, |_| Some(())));
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
                    None => {
                        let (stop, a) = (failed_unary(op, ty.into()), get!(a));
                        let value =
                            self.go_on(stop, pc, |_| allow::wrapped_unary(op, ty.into(), a.into()));
                        set!(dst, attempt!(value) as u64);
                    }
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
                        None => {
                            let (stop, a) = (failed(op, ty.into(), b.into()), get!(a));
                            let b = allow::count_bits(count, b);
                            let value = self.go_on(stop, pc, |_| {
                                allow::wrapped_shift(op, ty.into(), a.into(), b)
                            });
                            set!(dst, attempt!(value) as u64);
                        }
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
                _ => {
                    if let Err(stop) = self.rare(code, base, op) {
                        attempt!(self.go_on(stop, pc, |machine| {
                            machine.leniently(|machine| machine.rare(code, base, op))
                        }));
                    }
                }
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
                let size = ty.size();
                let value = self.memory.load_wide(size, get(self, address))?;
                self.set_wide(base, dst, ty, value);
            }
            Op::StoreWide { address, value, ty } => {
                let value = self.wide_value(code, base, value, ty);
                let address = get(self, address);
                self.memory.store_wide(ty.size(), address, value)?;
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
                let value = wide::unary(op, ty, a)
                    .or_else(|| self.lenient.then(|| allow::wrapped_unary(op, ty, a))?)
                    .ok_or_else(|| failed_unary(op, ty))?;
                let of = if op == UnaryOp::Not { Type::I32 } else { ty };
                self.set_wide(base, dst, of, value);
            }
            Op::WideBinary { op, ty, dst, a, b } => {
                let (a, b) = (
                    self.wide_value(code, base, a, ty),
                    self.wide_value(code, base, b, ty),
                );
                let value = wide::binary(op, ty, a, b)
                    .or_else(|| self.lenient.then(|| allow::wrapped(op, ty, a, b))?)
                    .ok_or_else(|| failed(op, ty, b))?;
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
                let value = wide::shift(op, ty, count, a, b)
                    .or_else(|| self.lenient.then(|| allow::wrapped_shift(op, ty, a, b))?)
                    .ok_or_else(|| failed(op, ty, b))?;
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
            Op::Allocate { dst, size, slot } => {
                let size = get(self, size);
                let address = self.memory.allocate(size, 16, Kind::Stack, false)?;
                match slot {
                    // It takes the place of the local, which has no other object.
                    Some(slot) => self.registers[base + slot as usize] = address,
                    None => {
                        if let Some(frame) = self.frames.last_mut() {
                            frame.allocations.push(address);
                        }
                    }
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

    /// Executes an instruction once more with the usual result where C does not define one.
    pub(crate) fn leniently<T>(&mut self, execute: impl FnOnce(&mut Self) -> Run<T>) -> Option<T> {
        self.lenient = true;
        let before = self.memory.set_lenient(true);
        let result = execute(self);
        self.memory.set_lenient(before);
        self.memory.take_lenient_read();
        self.lenient = false;
        result.ok()
    }

    #[cold]
    fn unwritten(&self, local: u32) -> Stop {
        let name = self
            .frames
            .last()
            .and_then(|frame| self.function(frame.routine))
            .map_or("", |function| &function.locals[local as usize].name);
        Stop::Undefined(
            Undefined::UninitializedRead,
            format!("a read of `{name}`, which has no value"),
        )
    }
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

#[inline(always)]
#[cold]
fn bad_subscript(index: u64, greatest: u64) -> Run<()> {
    let message = format!(
        "index {} outside of its array (0 to {greatest})",
        index as i64
    );
    undefined(Undefined::OutOfBounds, message)
}

/// No object has so many elements in one direction; the encoding as terms knows the same limit.
const NEAR: std::ops::Range<i64> = -(1 << 31)..1 << 31;

fn advance(a: u64, index: u64, ty: Ty, size: u64, negative: bool) -> Run<u64> {
    let near = semantics::pointer_index(ty, index).filter(|index| NEAR.contains(index));
    let moved = near.and_then(|index| match negative {
        true => semantics::pointer_sub(a, index, size),
        false => semantics::pointer_add(a, index, size),
    });
    match moved {
        Some(moved) if moved >> 32 == a >> 32 => Ok(moved),
        _ => bad_advance(a, index, ty, size),
    }
}

#[cold]
fn bad_advance(a: u64, index: u64, ty: Ty, size: u64) -> Run<u64> {
    let shown = match ty {
        Ty::U64 => index.to_string(),
        _ => (index as i64).to_string(),
    };
    let message = match a {
        0 => "arithmetic on a null pointer".to_owned(),
        _ => {
            format!("a pointer is moved by {shown} elements of {size} bytes, far out of its object")
        }
    };
    undefined(Undefined::BadPointerArithmetic, message)
}
