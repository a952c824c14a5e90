//! A compiled expression: code for a stack machine whose jumps only go forward.

use crate::{
    BinaryOp, Ty, UnaryOp, binary, convert, pointer_add, pointer_difference, pointer_index,
    pointer_sub, shift, unary, within,
};

/// The largest number of values that an expression under evaluation may hold; code that needs more
/// evaluates to ⊥.
pub const MAX_STACK: usize = 64;

/// What an [`Instruction`] does. "Pops" and "pushes" refer to the stack of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Pushes `immediate`.
    Constant = 0,
    /// Pushes the slot numbered `immediate`; ⊥ if that is undefined.
    Slot = 1,
    /// Pops b, pops a, pushes [`binary`]`(op, ty, a, b)`.
    Binary = 2,
    /// Pops b, pops a, pushes [`shift`]`(op, ty, other_ty, a, b)`.
    Shift = 3,
    /// Pops a, pushes [`unary`]`(op, ty, a)`.
    Unary = 4,
    /// Pops a, pushes [`convert`]`(ty, other_ty, a)`.
    Convert = 5,
    /// Pops an index of the integer type `ty`, pops a pointer, pushes [`pointer_add`] of both, the
    /// size of an element being `immediate` bytes.
    PointerAdd = 6,
    /// Pops an index of the integer type `ty`, pops a pointer, pushes [`pointer_sub`] of both, the
    /// size of an element being `immediate` bytes.
    PointerSub = 7,
    /// Pops b, pops a, pushes [`pointer_difference`] of both, the size of an element being
    /// `immediate` bytes.
    PointerDifference = 8,
    /// Skips the next `immediate` instructions.
    Jump = 9,
    /// Pops a; skips the next `immediate` instructions if it is zero. The condition must have been
    /// converted to `Bool` before.
    JumpIfZero = 10,
    /// Pops a, pushes [`within`]`(a, immediate)`.
    Within = 11,
}

impl Opcode {
    const ALL: [Opcode; 12] = [
        Opcode::Constant,
        Opcode::Slot,
        Opcode::Binary,
        Opcode::Shift,
        Opcode::Unary,
        Opcode::Convert,
        Opcode::PointerAdd,
        Opcode::PointerSub,
        Opcode::PointerDifference,
        Opcode::Jump,
        Opcode::JumpIfZero,
        Opcode::Within,
    ];

    /// The opcode with this discriminant, if there is one.
    #[inline]
    pub fn from_u8(discriminant: u8) -> Option<Opcode> {
        Self::ALL.get(usize::from(discriminant)).copied()
    }
}

/// One instruction: 16 bytes of plain data without padding, valid for every bit pattern (a pattern
/// that means nothing evaluates to ⊥), so that it can live in memory shared between processes.
///
/// See [`Opcode`] for the use of the fields; fields that an opcode does not use are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Instruction {
    /// An [`Opcode`].
    pub opcode: u8,
    /// A [`BinaryOp`] or [`UnaryOp`].
    pub op: u8,
    /// The [`Ty`] of the operands, or of the left one.
    pub ty: u8,
    /// The [`Ty`] of the right operand of a shift, or of the result of a conversion.
    pub other_ty: u8,
    /// Always zero.
    pub reserved: u32,
    /// A canonical value, a slot's number, a size in bytes, or a number of instructions or elements.
    pub immediate: u64,
}

const _: () = assert!(size_of::<Instruction>() == 16);

impl Instruction {
    #[inline]
    const fn new(opcode: Opcode, op: u8, ty: u8, other_ty: u8, immediate: u64) -> Self {
        Self {
            opcode: opcode as u8,
            op,
            ty,
            other_ty,
            reserved: 0,
            immediate,
        }
    }

    /// Pushes a canonical value.
    pub const fn constant(value: u64) -> Self {
        Self::new(Opcode::Constant, 0, 0, 0, value)
    }

    /// Pushes the value of a slot.
    pub const fn slot(number: u32) -> Self {
        Self::new(Opcode::Slot, 0, 0, 0, number as u64)
    }

    /// Applies `op` to two operands of type `ty`.
    pub const fn binary(op: BinaryOp, ty: Ty) -> Self {
        Self::new(Opcode::Binary, op as u8, ty as u8, 0, 0)
    }

    /// Shifts a value of the promoted type `left` by a count of type `right`.
    pub const fn shift(op: BinaryOp, left: Ty, right: Ty) -> Self {
        Self::new(Opcode::Shift, op as u8, left as u8, right as u8, 0)
    }

    /// Applies `op` to an operand of type `ty`.
    pub const fn unary(op: UnaryOp, ty: Ty) -> Self {
        Self::new(Opcode::Unary, op as u8, ty as u8, 0, 0)
    }

    /// Converts a value of type `from` to type `to`.
    pub const fn convert(from: Ty, to: Ty) -> Self {
        Self::new(Opcode::Convert, 0, from as u8, to as u8, 0)
    }

    /// Moves a pointer forward by an index of the integer type `index` in elements of `size` bytes.
    pub const fn pointer_add(index: Ty, size: u64) -> Self {
        Self::new(Opcode::PointerAdd, 0, index as u8, 0, size)
    }

    /// Moves a pointer back by an index of the integer type `index` in elements of `size` bytes.
    pub const fn pointer_sub(index: Ty, size: u64) -> Self {
        Self::new(Opcode::PointerSub, 0, index as u8, 0, size)
    }

    /// The distance between two pointers in elements of `size` bytes.
    pub const fn pointer_difference(size: u64) -> Self {
        Self::new(Opcode::PointerDifference, 0, 0, 0, size)
    }

    /// Demands that a `Long` selects one of `count` elements.
    pub const fn within(count: u64) -> Self {
        Self::new(Opcode::Within, 0, Ty::I64 as u8, 0, count)
    }

    /// Skips the next `count` instructions.
    pub const fn jump(count: u32) -> Self {
        Self::new(Opcode::Jump, 0, 0, 0, count as u64)
    }

    /// Pops a `Bool` and skips the next `count` instructions if it is 0.
    pub const fn jump_if_zero(count: u32) -> Self {
        Self::new(Opcode::JumpIfZero, 0, 0, 0, count as u64)
    }
}

/// The values under evaluation.
struct Stack {
    values: [u64; MAX_STACK],
    len: usize,
}

impl Stack {
    #[inline(always)]
    fn push(&mut self, value: u64) -> Option<()> {
        *self.values.get_mut(self.len)? = value;
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<u64> {
        let top = self.len.checked_sub(1)?;
        let value = *self.values.get(top)?;
        self.len = top;
        Some(value)
    }
}

/// The value of the expression `code` in the state `slots`; `None` is ⊥.
///
/// A nonzero byte `undefined[i]` says that slot `i` is undefined; reading it makes the whole
/// expression ⊥, but only if it is read: what a jump skips is not evaluated. So do missing slots
/// and malformed code: unknown opcodes, operators or types, a stack that underflows, grows beyond
/// [`MAX_STACK`] or does not end with exactly one value, a jump past the end. Every call ends after
/// at most `code.len()` steps.
pub fn evaluate(code: &[Instruction], slots: &[u64], undefined: &[u8]) -> Option<u64> {
    let mut stack = Stack {
        values: [0; MAX_STACK],
        len: 0,
    };
    let mut next = 0;
    while next != code.len() {
        let instruction = code.get(next)?;
        next = next.checked_add(1)?;
        let immediate = instruction.immediate;
        let result = match Opcode::from_u8(instruction.opcode)? {
            Opcode::Constant => immediate,
            Opcode::Slot => {
                let slot = usize::try_from(immediate).ok()?;
                if *undefined.get(slot)? != 0 {
                    return None;
                }
                *slots.get(slot)?
            }
            Opcode::Binary => {
                let op = BinaryOp::from_u8(instruction.op)?;
                let ty = Ty::from_u8(instruction.ty)?;
                let (b, a) = (stack.pop()?, stack.pop()?);
                binary(op, ty, a, b)?
            }
            Opcode::Shift => {
                let op = BinaryOp::from_u8(instruction.op)?;
                let left = Ty::from_u8(instruction.ty)?;
                let right = Ty::from_u8(instruction.other_ty)?;
                let (b, a) = (stack.pop()?, stack.pop()?);
                shift(op, left, right, a, b)?
            }
            Opcode::Unary => {
                let op = UnaryOp::from_u8(instruction.op)?;
                unary(op, Ty::from_u8(instruction.ty)?, stack.pop()?)?
            }
            Opcode::Convert => {
                let from = Ty::from_u8(instruction.ty)?;
                convert(from, Ty::from_u8(instruction.other_ty)?, stack.pop()?)?
            }
            Opcode::PointerAdd => {
                let index = pointer_index(Ty::from_u8(instruction.ty)?, stack.pop()?)?;
                pointer_add(stack.pop()?, index, immediate)?
            }
            Opcode::PointerSub => {
                let index = pointer_index(Ty::from_u8(instruction.ty)?, stack.pop()?)?;
                pointer_sub(stack.pop()?, index, immediate)?
            }
            Opcode::PointerDifference => {
                let (b, a) = (stack.pop()?, stack.pop()?);
                pointer_difference(a, b, immediate)?
            }
            Opcode::Within => within(stack.pop()?, immediate)?,
            opcode @ (Opcode::Jump | Opcode::JumpIfZero) => {
                if opcode == Opcode::Jump || stack.pop()? == 0 {
                    next = next.checked_add(usize::try_from(immediate).ok()?)?;
                }
                continue;
            }
        };
        stack.push(result)?;
    }
    let result = stack.pop()?;
    (stack.len == 0).then_some(result)
}
