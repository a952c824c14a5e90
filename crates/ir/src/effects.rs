//! What an instruction does besides giving a value: the local that it names, the memory that it touches, whom it calls.

use crate::{
    instruction::{Callee, Instruction, InstructionKind, Operand},
    types::{FunctionId, LocalId},
};

/// The size of a `va_list` in bytes.
pub const VA_LIST: u64 = 24;

/// What an instruction does with a local that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalUse {
    /// Reads the value of a register.
    Read,
    /// Writes the value of a register.
    Write,
    /// Its lifetime begins.
    Begin,
    /// Its lifetime ends.
    End,
    /// Its value stays as it is.
    Settle,
    /// Takes its address.
    Address,
    /// Makes an object that lives as long.
    Scope,
}

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is read.
    Read,
    /// All bytes get new values.
    Write,
    /// Some bits of the bytes may keep their values.
    WriteSome,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address.
    pub address: Operand,
    /// Bytes behind the address where it begins.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// What is done.
    pub way: Way,
    /// One value is read or written, in its type; else bytes of whatever is there.
    pub is_value: bool,
}

impl Access {
    /// Returns the bytes from the address to the end of the access.
    pub fn end(&self) -> u64 {
        self.offset + self.size
    }
}

/// The local that an instruction names, of a kind that is borrowed in either way.
macro_rules! named_local {
    ($kind:expr) => {{
        use InstructionKind::*;
        match $kind {
            Read { local, .. } => Some((local, LocalUse::Read)),
            Write { local, .. } => Some((local, LocalUse::Write)),
            Live { local } => Some((local, LocalUse::Begin)),
            Dead { local } => Some((local, LocalUse::End)),
            Settle { local } => Some((local, LocalUse::Settle)),
            LocalAddress { local, .. } => Some((local, LocalUse::Address)),
            Allocate {
                scope: Some(local), ..
            } => Some((local, LocalUse::Scope)),
            _ => None,
        }
    }};
}

impl Instruction {
    /// Returns the local that the instruction names, and what it does with it.
    pub fn local(&self) -> Option<(LocalId, LocalUse)> {
        named_local!(&self.kind).map(|(local, used)| (*local, used))
    }

    /// Returns the local that the instruction names, so that it can be renamed.
    pub fn local_mut(&mut self) -> Option<&mut LocalId> {
        named_local!(&mut self.kind).map(|(local, _)| local)
    }

    /// Returns what the instruction itself does to memory through its operands, reads first. What a call does is not told:
    /// that depends on the callee.
    pub fn accesses(&self) -> Vec<Access> {
        use InstructionKind::*;
        let bytes = |address: &Operand, size, way| Access {
            address: *address,
            offset: 0,
            size,
            way,
            is_value: false,
        };
        let value = |address: &Operand, size, way| Access {
            is_value: true,
            ..bytes(address, size, way)
        };
        let bits = |address: &Operand, offset: u32, width: u32, way| Access {
            offset: u64::from(offset / 8),
            ..value(address, u64::from((offset % 8 + width).div_ceil(8)), way)
        };
        match &self.kind {
            Load { ty, address, .. } => vec![value(address, ty.size(), Way::Read)],
            Store { ty, address, .. } => vec![value(address, ty.size(), Way::Write)],
            LoadBits {
                address,
                offset,
                width,
                ..
            } => vec![bits(address, *offset, *width, Way::Read)],
            StoreBits {
                address,
                offset,
                width,
                ..
            } => vec![bits(address, *offset, *width, Way::WriteSome)],
            Copy { to, from, size } => {
                vec![bytes(from, *size, Way::Read), bytes(to, *size, Way::Write)]
            }
            Zero { address, size } => vec![bytes(address, *size, Way::Write)],
            VaStart { list } => vec![bytes(list, VA_LIST, Way::Write)],
            VaCopy { to, from } => vec![
                bytes(from, VA_LIST, Way::Read),
                bytes(to, VA_LIST, Way::Write),
            ],
            VaArg { list, .. } => vec![
                bytes(list, VA_LIST, Way::Read),
                bytes(list, VA_LIST, Way::WriteSome),
            ],
            _ => Vec::new(),
        }
    }

    /// Returns whom the instruction calls.
    pub fn callee(&self) -> Option<&Callee> {
        match &self.kind {
            InstructionKind::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    /// Returns the function that the instruction calls by its name.
    pub fn called(&self) -> Option<FunctionId> {
        match self.callee() {
            Some(Callee::Direct(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether the instruction changes nothing but the temporary that it defines.
    pub fn only_gives_a_value(&self) -> bool {
        let is_more = match self.kind {
            InstructionKind::Load { volatile, .. } => volatile,
            InstructionKind::Call { .. }
            | InstructionKind::Allocate { .. }
            | InstructionKind::Unsupported { .. } => true,
            _ => false,
        };
        let used = self.local().map(|(_, used)| used);
        !is_more
            && matches!(used, None | Some(LocalUse::Read | LocalUse::Address))
            && self.accesses().iter().all(|access| access.way == Way::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        instruction::Value,
        types::{OriginId, TempId, Type},
    };

    fn instruction(kind: InstructionKind) -> Instruction {
        Instruction {
            kind,
            origin: OriginId(0),
        }
    }

    #[test]
    fn a_bit_field_is_accessed_in_the_bytes_that_hold_its_bits() {
        let address = Operand {
            value: Value::Temp(TempId(0)),
            origin: OriginId(0),
        };
        let store = instruction(InstructionKind::StoreBits {
            ty: Type::I32,
            address,
            value: address,
            offset: 13,
            width: 4,
        });
        let all = store.accesses();
        assert_eq!((all[0].offset, all[0].size, all[0].end()), (1, 2, 3));
        assert_eq!(all[0].way, Way::WriteSome);
        assert!(!store.only_gives_a_value());
    }

    #[test]
    fn who_reads_a_register_changes_nothing() {
        let (dst, local) = (TempId(0), LocalId(3));
        let mut read = instruction(InstructionKind::Read { dst, local });
        assert!(read.only_gives_a_value());
        assert!(!instruction(InstructionKind::Dead { local }).only_gives_a_value());
        *read.local_mut().unwrap() = LocalId(4);
        assert_eq!(read.local(), Some((LocalId(4), LocalUse::Read)));
    }
}
