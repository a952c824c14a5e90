//! Evaluates one candidate in many states at once.
//!
//! What an execution of a loop meets is a long row of states, and most candidates that come to be followed along it have
//! few companions. Then it pays to look at each instruction once for all states, and not once for each.

use patchwright_semantics::{
    BinaryOp, Instruction, MAX_STACK, Opcode, Ty, UnaryOp, evaluate,
    rows::{self, Operand},
};

use crate::{pool_rows::Row, states::StateSet};

/// Code without a place in any stack has this depth.
const UNREACHED: usize = usize::MAX;

/// States side by side: a column for each slot, made when it is needed.
pub(crate) struct Columns<'s> {
    states: &'s StateSet,
    ids: &'s [u32],
    slots: Vec<Option<Row>>,
    /// The stack of values, each a column.
    stack: Vec<Row>,
    result: Row,
    /// Before which instruction each state does nothing: it has jumped there.
    resume: Vec<u32>,
    /// States in which something undefined was evaluated.
    undefined: Vec<u8>,
    /// How many values are on the stack before each instruction, and at the end.
    depths: Vec<usize>,
}

impl<'s> Columns<'s> {
    /// Prepares to evaluate code in the states `ids`.
    pub(crate) fn new(states: &'s StateSet, ids: &'s [u32]) -> Self {
        Columns {
            states,
            ids,
            slots: Vec::new(),
            stack: Vec::new(),
            result: Row::default(),
            resume: Vec::new(),
            undefined: Vec::new(),
            depths: Vec::new(),
        }
    }

    /// Returns the number of states, from the first on, in which the code has the expected values, and its value in the next state.
    pub(crate) fn agreement(
        &mut self,
        code: &[Instruction],
        expected: &[Option<u64>],
    ) -> (usize, Option<u64>) {
        if !self.run(code) {
            // Code that no column can be made of.
            for (place, (&id, &expected)) in self.ids.iter().zip(expected).enumerate() {
                let (values, undefined) = self.states.get(id);
                let value = evaluate(code, values, undefined);
                if value != expected {
                    return (place, value);
                }
            }
            return (self.ids.len(), None);
        }
        let column = &self.stack[0];
        for (place, &expected) in expected.iter().enumerate() {
            let value = (self.undefined[place] == 0).then_some(column.values[place]);
            if value != expected {
                return (place, value);
            }
        }
        (expected.len(), None)
    }

    /// Evaluates the code in all states; false if its stack differs from state to state, or is no stack at all.
    fn run(&mut self, code: &[Instruction]) -> bool {
        let Some(most) = self.measure(code) else {
            return false;
        };
        let length = self.ids.len();
        self.stack
            .resize_with(most.max(self.stack.len()), Row::default);
        for column in &mut self.stack[..most] {
            column.resize(length);
        }
        self.result.resize(length);
        self.resume.clear();
        self.resume.resize(length, 0);
        self.undefined.clear();
        self.undefined.resize(length, 0);
        // All states are at the next instruction from here on.
        let mut joined = 0;
        for (at, instruction) in code.iter().enumerate() {
            let depth = self.depths[at];
            if depth == UNREACHED {
                continue;
            }
            let Some(opcode) = Opcode::from_u8(instruction.opcode) else {
                return false;
            };
            if matches!(opcode, Opcode::Jump | Opcode::JumpIfZero) {
                let target = at as u32 + 1 + instruction.immediate as u32;
                if opcode == Opcode::Jump {
                    for resume in &mut self.resume {
                        *resume = if *resume <= at as u32 {
                            target
                        } else {
                            *resume
                        };
                    }
                } else {
                    let conditions = &self.stack[depth - 1].values;
                    for (resume, &condition) in self.resume.iter_mut().zip(conditions) {
                        let jumps = (*resume <= at as u32) & (condition == 0);
                        *resume = if jumps { target } else { *resume };
                    }
                }
                joined = joined.max(target as usize);
                continue;
            }
            let Some(first) = self.apply(opcode, instruction, depth) else {
                return false;
            };
            if joined <= at {
                std::mem::swap(&mut self.stack[first], &mut self.result);
                for (all, own) in self.undefined.iter_mut().zip(&self.stack[first].undefined) {
                    *all |= own;
                }
                continue;
            }
            let column = &mut self.stack[first];
            let new = self.result.values.iter().zip(&self.resume);
            for (value, (&new, &resume)) in column.values.iter_mut().zip(new) {
                *value = if resume <= at as u32 { new } else { *value };
            }
            let flags = column.undefined.iter_mut().zip(&mut self.undefined);
            let new = self.result.undefined.iter().zip(&self.resume);
            for ((flag, all), (&new, &resume)) in flags.zip(new) {
                let is_here = u8::from(resume <= at as u32);
                *all |= new & is_here;
                *flag &= 1 - is_here;
            }
        }
        true
    }

    /// Finds out how deep the stack is before each instruction, and the most that it gets.
    fn measure(&mut self, code: &[Instruction]) -> Option<usize> {
        self.depths.clear();
        self.depths.resize(code.len() + 1, UNREACHED);
        self.depths[0] = 0;
        let mut most = 1;
        for (at, instruction) in code.iter().enumerate() {
            let depth = self.depths[at];
            if depth == UNREACHED {
                continue;
            }
            let (pops, pushes) = match Opcode::from_u8(instruction.opcode)? {
                Opcode::Constant | Opcode::Slot => (0, 1),
                Opcode::Unary | Opcode::Convert | Opcode::Within => (1, 1),
                Opcode::Binary
                | Opcode::Shift
                | Opcode::PointerAdd
                | Opcode::PointerSub
                | Opcode::PointerDifference => (2, 1),
                Opcode::Jump => (0, 0),
                Opcode::JumpIfZero => (1, 0),
            };
            let after = depth.checked_sub(pops)? + pushes;
            most = most.max(after);
            let mut reach = |target: usize| {
                let known = self.depths.get_mut(target)?;
                if *known != UNREACHED && *known != after {
                    return None;
                }
                *known = after;
                Some(())
            };
            let opcode = Opcode::from_u8(instruction.opcode)?;
            if opcode != Opcode::Jump {
                reach(at + 1)?;
            }
            if matches!(opcode, Opcode::Jump | Opcode::JumpIfZero) {
                reach(at + 1 + usize::try_from(instruction.immediate).ok()?)?;
            }
        }
        (self.depths[code.len()] == 1 && most <= MAX_STACK).then_some(most)
    }

    /// Computes what an instruction pushes, and returns where in the stack that belongs.
    fn apply(&mut self, opcode: Opcode, instruction: &Instruction, depth: usize) -> Option<usize> {
        let immediate = instruction.immediate;
        if opcode == Opcode::Slot {
            self.gather(usize::try_from(immediate).ok()?)?;
            return Some(depth);
        }
        let ty = Ty::from_u8(instruction.ty);
        let binary_op = BinaryOp::from_u8(instruction.op);
        let operand = |place: usize| {
            let column = &self.stack[place];
            Operand::Row(&column.values, &column.undefined)
        };
        let (values, undefined) = (&mut self.result.values[..], &mut self.result.undefined[..]);
        match opcode {
            Opcode::Constant => {
                values.fill(immediate);
                undefined.fill(0);
                return Some(depth);
            }
            Opcode::Unary => {
                let op = UnaryOp::from_u8(instruction.op)?;
                rows::unary_row(op, ty?, operand(depth - 1), values, undefined);
                return Some(depth - 1);
            }
            Opcode::Convert => {
                let to = Ty::from_u8(instruction.other_ty)?;
                rows::convert_row(ty?, to, operand(depth - 1), values, undefined);
                return Some(depth - 1);
            }
            Opcode::Within => {
                rows::within_row(immediate, operand(depth - 1), values, undefined);
                return Some(depth - 1);
            }
            Opcode::Slot | Opcode::Jump | Opcode::JumpIfZero => return None,
            Opcode::Binary
            | Opcode::Shift
            | Opcode::PointerAdd
            | Opcode::PointerSub
            | Opcode::PointerDifference => {}
        }
        let (a, b) = (operand(depth - 2), operand(depth - 1));
        match opcode {
            Opcode::Binary => rows::binary_row(binary_op?, ty?, a, b, values, undefined),
            Opcode::Shift => {
                let count = Ty::from_u8(instruction.other_ty)?;
                rows::shift_row(binary_op?, ty?, count, a, b, values, undefined);
            }
            Opcode::PointerAdd => {
                rows::pointer_add_row(ty?, immediate, a, b, values, undefined);
            }
            Opcode::PointerSub => {
                rows::pointer_sub_row(ty?, immediate, a, b, values, undefined);
            }
            _ => rows::pointer_difference_row(immediate, a, b, values, undefined),
        }
        Some(depth - 2)
    }

    /// Makes the column of a slot the result.
    fn gather(&mut self, slot: usize) -> Option<()> {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        let column = match &mut self.slots[slot] {
            Some(column) => column,
            missing => {
                let mut column = Row::default();
                for &id in self.ids {
                    let (values, undefined) = self.states.get(id);
                    column.values.push(*values.get(slot)?);
                    column.undefined.push(*undefined.get(slot)?);
                }
                missing.insert(column)
            }
        };
        self.result.values.copy_from_slice(&column.values);
        self.result.undefined.copy_from_slice(&column.undefined);
        Some(())
    }
}
