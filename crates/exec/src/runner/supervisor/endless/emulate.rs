//! Usual instructions, executed without the process: a step through the kernel takes some microseconds, and tens of them
//! where machines are virtual.
//!
//! What is not known here, or would trap, is left to the processor. Flags that an instruction leaves undefined stay as they
//! were. (Intel's manual, volume 2.)

use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

use super::instruction::value;
use super::tracee::Registers;

const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ADJUST: u64 = 1 << 4;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const DIRECTION: u64 = 1 << 10;
const OVERFLOW: u64 = 1 << 11;
const ALL: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;

/// The memory of a process.
pub(super) trait Memory {
    /// Fills the bytes; `None` if they cannot be read.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Option<()>;
    /// Writes all of the bytes, or none.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Option<()>;
}

/// The lower 16 bytes of the registers of the vector unit.
pub(super) type Vectors = [u128; 16];

/// Executes an instruction, or one iteration of a repeated one. `None` means that the instruction is not supported and nothing has changed.
pub(super) fn execute(
    instruction: &Instruction,
    registers: &mut Registers,
    vectors: &mut Vectors,
    memory: &mut impl Memory,
) -> Option<()> {
    let mut next = *registers;
    next.rip = instruction.next_ip();
    let machine = Machine {
        instruction,
        now: *registers,
        next,
        memory,
    };
    *registers = match is_of_vectors(instruction) {
        true => machine.execute_vector(vectors)?,
        false => machine.execute()?,
    };
    Some(())
}

/// Whether the instruction has to do with registers of the vector unit.
pub(super) fn is_of_vectors(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| instruction.op_register(operand).is_vector_register())
}

struct Machine<'a, M> {
    instruction: &'a Instruction,
    now: Registers,
    next: Registers,
    memory: &'a mut M,
}

fn mask(size: usize) -> u64 {
    match size {
        8 => u64::MAX,
        _ => (1 << (size * 8)) - 1,
    }
}

fn top_bit(size: usize) -> u64 {
    1 << (size * 8 - 1)
}

fn signed(value: u64, size: usize) -> i64 {
    let unused = 64 - size * 8;
    (value << unused) as i64 >> unused
}

impl<M: Memory> Machine<'_, M> {
    fn address(&self, operand: u32) -> Option<u64> {
        self.instruction
            .virtual_address(operand, 0, |register, _, _| value(&self.now, register))
    }

    /// The size of an operand in bytes.
    fn size(&self, operand: u32) -> Option<usize> {
        let size = match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size(),
            OpKind::Memory => self.instruction.memory_size().size(),
            _ => return None,
        };
        matches!(size, 1 | 2 | 4 | 8).then_some(size)
    }

    fn load(&mut self, address: u64, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read(address, &mut bytes[..size])?;
        Some(u64::from_le_bytes(bytes))
    }

    fn store(&mut self, address: u64, size: usize, value: u64) -> Option<()> {
        self.memory.write(address, &value.to_le_bytes()[..size])
    }

    /// The value of an operand; of an immediate one, extended by its sign.
    fn get(&mut self, operand: u32) -> Option<u64> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => self.register(self.instruction.op_register(operand)),
            OpKind::Memory => {
                let (address, size) = (self.address(operand)?, self.size(operand)?);
                self.load(address, size)
            }
            _ => self.instruction.try_immediate(operand).ok(),
        }
    }

    fn register(&self, register: Register) -> Option<u64> {
        let whole = integer(&self.now, register)?;
        let shift = if is_high(register) { 8 } else { 0 };
        Some((whole >> shift) & mask(register.size()))
    }

    /// Writes an operand. Comes last: memory may not be there.
    fn set(&mut self, operand: u32, value: u64) -> Option<()> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => self.set_register(self.instruction.op_register(operand), value),
            OpKind::Memory => {
                let (address, size) = (self.address(operand)?, self.size(operand)?);
                self.store(address, size, value)
            }
            _ => None,
        }
    }

    fn set_register(&mut self, register: Register, value: u64) -> Option<()> {
        let whole = integer_mut(&mut self.next, register)?;
        *whole = match register.size() {
            8 => value,
            4 => value & mask(4),
            size => {
                let shift = if is_high(register) { 8 } else { 0 };
                *whole & !(mask(size) << shift) | (value & mask(size)) << shift
            }
        };
        Some(())
    }

    fn set_flags(&mut self, which: u64, values: u64) {
        self.next.eflags = self.next.eflags & !which | values & which;
    }

    fn flag(&self, which: u64) -> bool {
        self.now.eflags & which != 0
    }

    fn add(&mut self, a: u64, b: u64, carry: bool, size: usize) -> u64 {
        let (a, b) = (a & mask(size), b & mask(size));
        let sum = u128::from(a) + u128::from(b) + u128::from(carry);
        let result = sum as u64 & mask(size);
        let overflow = (a ^ result) & (b ^ result) & top_bit(size) != 0;
        let flags = bit(sum >> (size * 8) != 0, CARRY)
            | bit(overflow, OVERFLOW)
            | bit((a ^ b ^ result) & 0x10 != 0, ADJUST)
            | of_result(result, size);
        self.set_flags(ALL, flags);
        result
    }

    fn subtract(&mut self, a: u64, b: u64, borrow: bool, size: usize) -> u64 {
        let (a, b) = (a & mask(size), b & mask(size));
        let result = a.wrapping_sub(b).wrapping_sub(u64::from(borrow)) & mask(size);
        let overflow = (a ^ b) & (a ^ result) & top_bit(size) != 0;
        let flags = bit(u128::from(a) < u128::from(b) + u128::from(borrow), CARRY)
            | bit(overflow, OVERFLOW)
            | bit((a ^ b ^ result) & 0x10 != 0, ADJUST)
            | of_result(result, size);
        self.set_flags(ALL, flags);
        result
    }

    fn logic(&mut self, result: u64, size: usize) -> u64 {
        let result = result & mask(size);
        self.set_flags(ALL & !ADJUST, of_result(result, size));
        result
    }

    fn execute(mut self) -> Option<Registers> {
        use Mnemonic as M;
        match self.instruction.mnemonic() {
            M::Nop | M::Endbr64 => {}
            M::Mov | M::Movzx => {
                let value = self.get(1)?;
                self.set(0, value)?;
            }
            M::Movsx | M::Movsxd => {
                let value = signed(self.get(1)?, self.size(1)?) as u64;
                self.set(0, value)?;
            }
            M::Lea => {
                let address = self.address(1)?;
                self.set(0, address)?;
            }
            M::Cbw => self.extend(Register::AX, Register::AL)?,
            M::Cwde => self.extend(Register::EAX, Register::AX)?,
            M::Cdqe => self.extend(Register::RAX, Register::EAX)?,
            M::Cdq => self.spread(Register::EDX, Register::EAX)?,
            M::Cqo => self.spread(Register::RDX, Register::RAX)?,
            M::Xchg => {
                let (a, b) = (self.get(0)?, self.get(1)?);
                // Memory, if any, is the first operand.
                self.set(1, a)?;
                self.set(0, b)?;
            }
            M::Add | M::Adc | M::Sub | M::Sbb | M::Cmp | M::And | M::Or | M::Xor | M::Test => {
                self.binary()?;
            }
            M::Inc | M::Dec | M::Neg | M::Not => self.unary()?,
            M::Imul => self.multiply()?,
            M::Mul => self.multiply_wide(false)?,
            M::Div => self.divide(false)?,
            M::Idiv => self.divide(true)?,
            M::Shl | M::Sal | M::Shr | M::Sar => self.shift()?,
            M::Push | M::Pop | M::Call | M::Ret | M::Leave | M::Jmp => self.stack_or_jump()?,
            M::Movsb | M::Movsw | M::Movsd | M::Movsq => self.copy_string()?,
            M::Stosb | M::Stosw | M::Stosd | M::Stosq => self.fill_string()?,
            _ => self.conditional()?,
        }
        Some(self.next)
    }

    fn extend(&mut self, to: Register, from: Register) -> Option<()> {
        let value = signed(self.register(from)?, from.size());
        self.set_register(to, value as u64)
    }

    /// Fills a register with the sign of another.
    fn spread(&mut self, to: Register, from: Register) -> Option<()> {
        let value = signed(self.register(from)?, from.size()) >> 63;
        self.set_register(to, value as u64)
    }

    fn binary(&mut self) -> Option<()> {
        use Mnemonic as M;
        let (size, a, b) = (self.size(0)?, self.get(0)?, self.get(1)?);
        let carry = self.flag(CARRY);
        let mnemonic = self.instruction.mnemonic();
        let result = match mnemonic {
            M::Add => self.add(a, b, false, size),
            M::Adc => self.add(a, b, carry, size),
            M::Sub | M::Cmp => self.subtract(a, b, false, size),
            M::Sbb => self.subtract(a, b, carry, size),
            M::And | M::Test => self.logic(a & b, size),
            M::Or => self.logic(a | b, size),
            _ => self.logic(a ^ b, size),
        };
        match mnemonic {
            M::Cmp | M::Test => Some(()),
            _ => self.set(0, result),
        }
    }

    fn unary(&mut self) -> Option<()> {
        let (size, a) = (self.size(0)?, self.get(0)?);
        let kept = self.now.eflags;
        let result = match self.instruction.mnemonic() {
            Mnemonic::Neg => self.subtract(0, a, false, size),
            Mnemonic::Not => !a & mask(size),
            other => {
                let result = match other {
                    Mnemonic::Inc => self.add(a, 1, false, size),
                    _ => self.subtract(a, 1, false, size),
                };
                self.set_flags(CARRY, kept);
                result
            }
        };
        self.set(0, result)
    }

    fn multiply(&mut self) -> Option<()> {
        let (a, b) = match self.instruction.op_count() {
            1 => return self.multiply_wide(true),
            2 => (0, 1),
            _ => (1, 2),
        };
        let size = self.size(0)?;
        let (a, b) = (signed(self.get(a)?, size), signed(self.get(b)?, size));
        let product = i128::from(a) * i128::from(b);
        let result = product as u64 & mask(size);
        let is_cut = i128::from(signed(result, size)) != product;
        self.set_flags(CARRY | OVERFLOW, bit(is_cut, CARRY | OVERFLOW));
        self.set(0, result)
    }

    /// The halves of a product or a dividend: registers of 4 or 8 bytes.
    fn halves(&self) -> Option<(usize, Register, Register)> {
        match self.size(0)? {
            8 => Some((8, Register::RAX, Register::RDX)),
            4 => Some((4, Register::EAX, Register::EDX)),
            _ => None,
        }
    }

    fn multiply_wide(&mut self, is_signed: bool) -> Option<()> {
        let (size, low, high) = self.halves()?;
        let (a, b) = (self.register(low)?, self.get(0)?);
        let (product, is_cut) = if is_signed {
            let product = i128::from(signed(a, size)) * i128::from(signed(b, size));
            let cut = i128::from(signed(product as u64, size)) != product;
            (product as u128, cut)
        } else {
            let product = u128::from(a) * u128::from(b);
            (product, product >> (size * 8) != 0)
        };
        self.set_flags(CARRY | OVERFLOW, bit(is_cut, CARRY | OVERFLOW));
        self.set_register(low, product as u64)?;
        self.set_register(high, (product >> (size * 8)) as u64)
    }

    fn divide(&mut self, is_signed: bool) -> Option<()> {
        let (size, low, high) = self.halves()?;
        let bits = size * 8;
        let dividend = u128::from(self.register(high)?) << bits | u128::from(self.register(low)?);
        let divisor = self.get(0)?;
        let (quotient, remainder) = if is_signed {
            let unused = 128 - 2 * bits;
            let dividend = (dividend << unused) as i128 >> unused;
            let divisor = i128::from(signed(divisor, size));
            let quotient = dividend.checked_div(divisor)?;
            if i128::from(signed(quotient as u64, size)) != quotient {
                return None;
            }
            (quotient as u64, dividend.checked_rem(divisor)? as u64)
        } else {
            let divisor = u128::from(divisor);
            let quotient = dividend.checked_div(divisor)?;
            if quotient >> bits != 0 {
                return None;
            }
            (quotient as u64, dividend.checked_rem(divisor)? as u64)
        };
        self.set_register(low, quotient)?;
        self.set_register(high, remainder)
    }

    fn shift(&mut self) -> Option<()> {
        let (size, a) = (self.size(0)?, self.get(0)?);
        let bits = size as u32 * 8;
        let count = self.get(1)? as u32 & if size == 8 { 63 } else { 31 };
        if count == 0 {
            // A register of 4 bytes loses its upper half all the same.
            return self.set(0, a);
        }
        if count > bits {
            return None;
        }
        let (wide, last) = match self.instruction.mnemonic() {
            Mnemonic::Shr => (u128::from(a) >> count, a >> (count - 1)),
            Mnemonic::Sar => {
                let a = i128::from(signed(a, size));
                ((a >> count) as u128, (a >> (count - 1)) as u64)
            }
            _ => {
                let wide = u128::from(a) << count;
                (wide, (wide >> bits) as u64)
            }
        };
        let result = wide as u64 & mask(size);
        let carry = last & 1 != 0;
        let overflow = match self.instruction.mnemonic() {
            Mnemonic::Shr => a & top_bit(size) != 0,
            Mnemonic::Sar => false,
            _ => carry != (result & top_bit(size) != 0),
        };
        let flags = bit(carry, CARRY) | bit(overflow, OVERFLOW) | of_result(result, size);
        // The overflow is undefined for larger counts.
        let which = if count == 1 { ALL } else { ALL & !OVERFLOW };
        self.set_flags(which & !ADJUST, flags);
        self.set(0, result)
    }

    fn stack_or_jump(&mut self) -> Option<()> {
        let top = self.now.rsp;
        match self.instruction.mnemonic() {
            Mnemonic::Push => {
                if self.instruction.stack_pointer_increment() != -8 {
                    return None;
                }
                let value = self.get(0)?;
                self.next.rsp = top.wrapping_sub(8);
                self.store(self.next.rsp, 8, value)
            }
            Mnemonic::Pop => {
                let is_usual = self.instruction.op0_kind() == OpKind::Register;
                if !is_usual || self.instruction.stack_pointer_increment() != 8 {
                    return None;
                }
                let value = self.load(top, 8)?;
                self.next.rsp = top.wrapping_add(8);
                self.set(0, value)
            }
            Mnemonic::Call => {
                let target = self.target()?;
                let from = self.instruction.next_ip();
                self.next.rsp = top.wrapping_sub(8);
                self.jump(target)?;
                self.store(self.next.rsp, 8, from)
            }
            Mnemonic::Ret => {
                if !matches!(self.instruction.code(), Code::Retnq | Code::Retnq_imm16) {
                    return None;
                }
                let increment = self.instruction.stack_pointer_increment();
                let target = self.load(top, 8)?;
                self.jump(target)?;
                self.next.rsp = top.wrapping_add_signed(i64::from(increment));
                Some(())
            }
            Mnemonic::Leave => {
                if self.instruction.code() != Code::Leaveq {
                    return None;
                }
                self.next.rbp = self.load(self.now.rbp, 8)?;
                self.next.rsp = self.now.rbp.wrapping_add(8);
                Some(())
            }
            _ => {
                let target = self.target()?;
                self.jump(target)
            }
        }
    }

    /// Goes on at an address of a program; at others it traps.
    fn jump(&mut self, target: u64) -> Option<()> {
        self.next.rip = target;
        (target < 1 << 47).then_some(())
    }

    /// Where a jump or a call goes.
    fn target(&mut self) -> Option<u64> {
        match self.instruction.op0_kind() {
            OpKind::NearBranch64 => Some(self.instruction.near_branch_target()),
            OpKind::Register | OpKind::Memory if self.size(0)? == 8 => self.get(0),
            _ => None,
        }
    }

    /// `jcc`, `setcc` and `cmovcc`.
    fn conditional(&mut self) -> Option<()> {
        let holds = self.holds(self.instruction.condition_code())?;
        if self.instruction.is_jcc_short_or_near() {
            match holds {
                true => self.jump(self.instruction.near_branch_target()),
                false => Some(()),
            }
        } else if self.instruction.op_count() == 1 {
            self.set(0, u64::from(holds))
        } else {
            let (old, new) = (self.get(0)?, self.get(1)?);
            self.set(0, if holds { new } else { old })
        }
    }

    fn holds(&self, condition: ConditionCode) -> Option<bool> {
        use ConditionCode as C;
        let less = self.flag(SIGN) != self.flag(OVERFLOW);
        Some(match condition {
            C::None => return None,
            C::o => self.flag(OVERFLOW),
            C::no => !self.flag(OVERFLOW),
            C::b => self.flag(CARRY),
            C::ae => !self.flag(CARRY),
            C::e => self.flag(ZERO),
            C::ne => !self.flag(ZERO),
            C::be => self.flag(CARRY | ZERO),
            C::a => !self.flag(CARRY | ZERO),
            C::s => self.flag(SIGN),
            C::ns => !self.flag(SIGN),
            C::p => self.flag(PARITY),
            C::np => !self.flag(PARITY),
            C::l => less,
            C::ge => !less,
            C::le => less || self.flag(ZERO),
            C::g => !less && !self.flag(ZERO),
        })
    }

    /// The size of the elements of a string instruction, if there is an iteration to be made: it is taken off. 0 if not.
    fn iteration(&mut self) -> usize {
        let size = self.instruction.memory_size().size();
        if !self.instruction.has_rep_prefix() && !self.instruction.has_repne_prefix() {
            return size;
        }
        if self.now.rcx == 0 {
            return 0;
        }
        self.next.rcx = self.now.rcx - 1;
        if self.next.rcx != 0 {
            self.next.rip = self.now.rip;
        }
        size
    }

    fn advanced(&self, pointer: u64, size: usize) -> u64 {
        match self.flag(DIRECTION) {
            true => pointer.wrapping_sub(size as u64),
            false => pointer.wrapping_add(size as u64),
        }
    }

    fn copy_string(&mut self) -> Option<()> {
        let size = self.iteration();
        if size == 0 {
            return Some(());
        }
        let value = self.load(self.now.rsi, size)?;
        self.next.rsi = self.advanced(self.now.rsi, size);
        self.next.rdi = self.advanced(self.now.rdi, size);
        self.store(self.now.rdi, size, value)
    }

    fn fill_string(&mut self) -> Option<()> {
        let size = self.iteration();
        if size == 0 {
            return Some(());
        }
        self.next.rdi = self.advanced(self.now.rdi, size);
        self.store(self.now.rdi, size, self.now.rax)
    }

    /// Moves of the older encoding, which leave the upper parts of registers.
    fn execute_vector(mut self, vectors: &mut Vectors) -> Option<Registers> {
        use Mnemonic as M;
        let (size, is_aligned) = match self.instruction.mnemonic() {
            M::Movaps | M::Movapd | M::Movdqa => (16, true),
            M::Movups | M::Movupd | M::Movdqu | M::Pxor | M::Xorps | M::Xorpd => (16, false),
            M::Movq | M::Movsd => (8, false),
            M::Movd | M::Movss => (4, false),
            _ => return None,
        };
        let mnemonic = self.instruction.mnemonic();
        let source = self.vector_operand(1, size, is_aligned, vectors)?;
        if self.instruction.op0_kind() != OpKind::Register {
            let address = self.vector_address(0, size, is_aligned)?;
            self.memory.write(address, &source.to_le_bytes()[..size])?;
            return Some(self.next);
        }
        let register = self.instruction.op0_register();
        if !register.is_xmm() {
            self.set_register(register, source as u64)?;
            return Some(self.next);
        }
        let number = vectors.get_mut(register.number())?;
        let is_from_register = self.instruction.op1_kind() == OpKind::Register;
        *number = match mnemonic {
            M::Pxor | M::Xorps | M::Xorpd => {
                // An operand in memory has to be aligned.
                if !is_from_register {
                    return None;
                }
                *number ^ source
            }
            // Between registers the rest stays.
            M::Movss | M::Movsd if is_from_register => {
                let lower = u128::MAX >> (128 - size * 8);
                *number & !lower | source & lower
            }
            _ => source,
        };
        Some(self.next)
    }

    fn vector_address(&self, operand: u32, size: usize, is_aligned: bool) -> Option<u64> {
        let address = self.address(operand)?;
        let is_there = self.instruction.memory_size().size() == size;
        (is_there && !(is_aligned && address % 16 != 0)).then_some(address)
    }

    /// So many bytes of an operand.
    fn vector_operand(
        &mut self,
        operand: u32,
        size: usize,
        is_aligned: bool,
        vectors: &Vectors,
    ) -> Option<u128> {
        let cut = u128::MAX >> (128 - size * 8);
        match self.instruction.op_kind(operand) {
            OpKind::Register => {
                let register = self.instruction.op_register(operand);
                if register.is_xmm() {
                    Some(vectors.get(register.number())? & cut)
                } else {
                    (register.size() == size).then_some(u128::from(self.register(register)?))
                }
            }
            OpKind::Memory => {
                let address = self.vector_address(operand, size, is_aligned)?;
                let mut bytes = [0; 16];
                self.memory.read(address, &mut bytes[..size])?;
                Some(u128::from_le_bytes(bytes))
            }
            _ => None,
        }
    }
}

fn bit(is_set: bool, flag: u64) -> u64 {
    if is_set { flag } else { 0 }
}

/// The flags that tell about a result alone.
fn of_result(result: u64, size: usize) -> u64 {
    bit(result == 0, ZERO)
        | bit(result & top_bit(size) != 0, SIGN)
        | bit((result as u8).count_ones().is_multiple_of(2), PARITY)
}

fn is_high(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}

fn integer(registers: &Registers, register: Register) -> Option<u64> {
    let mut copy = *registers;
    integer_mut(&mut copy, register).map(|value| *value)
}

fn integer_mut(registers: &mut Registers, register: Register) -> Option<&mut u64> {
    if !register.is_gpr() {
        return None;
    }
    Some(match register.full_register() {
        Register::RAX => &mut registers.rax,
        Register::RBX => &mut registers.rbx,
        Register::RCX => &mut registers.rcx,
        Register::RDX => &mut registers.rdx,
        Register::RSI => &mut registers.rsi,
        Register::RDI => &mut registers.rdi,
        Register::RBP => &mut registers.rbp,
        Register::RSP => &mut registers.rsp,
        Register::R8 => &mut registers.r8,
        Register::R9 => &mut registers.r9,
        Register::R10 => &mut registers.r10,
        Register::R11 => &mut registers.r11,
        Register::R12 => &mut registers.r12,
        Register::R13 => &mut registers.r13,
        Register::R14 => &mut registers.r14,
        Register::R15 => &mut registers.r15,
        _ => return None,
    })
}
