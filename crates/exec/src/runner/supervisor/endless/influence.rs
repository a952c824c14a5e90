//! Tracks which values depend on given bytes and registers while instructions are executed.

use std::collections::{BTreeSet, HashMap};

use iced_x86::{OpAccess, Register, UsedMemory};

use super::calls::Call;
use super::instruction::{Decoded, StringInstruction, touches, value};
use super::tracee::Registers;

/// Something that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    /// A register of the integer unit, by its number.
    Integer(u8),
    /// The lower 16 bytes of a register of the vector unit, by its number.
    Vector(u8),
    /// The rest of it.
    UpperVector(u8),
    /// A mask of the vector unit, by its number.
    Mask(u8),
    /// The flags of the last comparison.
    Flags,
    /// A byte of memory.
    Byte(u64),
}

/// The six flags that instructions compute, in iced's bits.
const ALL_FLAGS: u32 = iced_x86::RflagsBits::OF
    | iced_x86::RflagsBits::SF
    | iced_x86::RflagsBits::ZF
    | iced_x86::RflagsBits::AF
    | iced_x86::RflagsBits::CF
    | iced_x86::RflagsBits::PF;

/// More bytes than an instruction accesses whose operands do not tell.
const NEAR: u64 = 1 << 12;

/// How what was followed came to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Where the program goes on, what it accesses or whether it traps depends on this location, among others.
    On(Location),
    /// What an instruction does with it is not known.
    Unknown,
}

/// The locations whose values depend on some given locations. Each has one of these as its reason.
pub(super) struct Influence {
    depending: HashMap<Location, Location>,
}

impl Influence {
    /// Starts with locations of which each depends on itself only.
    pub(super) fn of(seeds: &BTreeSet<Location>) -> Self {
        Influence {
            depending: seeds.iter().map(|seed| (*seed, *seed)).collect(),
        }
    }

    /// Returns the locations that depend on a seed.
    pub(super) fn locations(&self) -> impl Iterator<Item = Location> {
        self.depending.keys().copied()
    }

    /// Follows one instruction, which is about to be executed with these registers.
    pub(super) fn follow(
        &mut self,
        instruction: &Decoded,
        registers: &Registers,
    ) -> Result<(), Decision> {
        if self.depending.is_empty() {
            return Ok(());
        }
        if let Some(string) = instruction.string {
            return self.follow_string(string, instruction, registers);
        }
        let seed = self.source(instruction, registers)?;
        if instruction.is_special {
            return self.follow_special(instruction, registers, seed);
        }
        if let (Some(seed), true) = (seed, instruction.decides) {
            return Err(Decision::On(seed));
        }
        for used in &instruction.registers {
            for location in locations(used.register()) {
                let is_whole = match location {
                    _ if instruction.is_masked || instruction.may_leave => false,
                    Location::Mask(_) => true,
                    Location::Vector(_) | Location::UpperVector(_) => instruction.replaces_vectors,
                    _ => is_whole(used.register()),
                };
                self.write(location, used.access(), is_whole, seed);
            }
        }
        for memory in &instruction.memory {
            for byte in bytes(memory, registers)? {
                let is_whole = !instruction.is_masked;
                self.write(Location::Byte(byte), memory.access(), is_whole, seed);
            }
        }
        if instruction.flags_written & ALL_FLAGS != 0 {
            let all = instruction.flags_written & ALL_FLAGS == ALL_FLAGS;
            let is_whole = all && !instruction.may_leave;
            self.write(Location::Flags, OpAccess::Write, is_whole, seed);
        }
        Ok(())
    }

    /// Follows one iteration of a string instruction.
    fn follow_string(
        &mut self,
        string: StringInstruction,
        instruction: &Decoded,
        registers: &Registers,
    ) -> Result<(), Decision> {
        const ACCUMULATOR: Location = Location::Integer(0);
        let pointers = [
            (string.repeats, Location::Integer(1)),
            (string.reads_source, Location::Integer(6)),
            (
                string.reads_target || string.writes_target,
                Location::Integer(7),
            ),
        ];
        for (is_used, location) in pointers {
            if let (true, Some(seed)) = (is_used, self.depending.get(&location)) {
                return Err(Decision::On(*seed));
            }
        }
        if string.repeats && registers.rcx == 0 {
            return Ok(());
        }
        let element = |at: u64| at..at.saturating_add(string.size);
        let source = string.reads_source.then(|| element(registers.rsi));
        let target = string.reads_target.then(|| element(registers.rdi));
        let mut read = source.into_iter().chain(target).flatten();
        let mut seed = read.find_map(|byte| self.depending.get(&Location::Byte(byte)).copied());
        if string.reads_accumulator {
            seed = seed.or(self.depending.get(&ACCUMULATOR).copied());
        }
        if string.compares() {
            if let (Some(seed), true) = (seed, string.repeats) {
                return Err(Decision::On(seed));
            }
            self.write(Location::Flags, OpAccess::Write, true, seed);
        }
        if string.writes_accumulator {
            let is_whole = string.size >= 4;
            self.write(ACCUMULATOR, OpAccess::Write, is_whole, seed);
        }
        for byte in written(instruction, registers).flatten().flatten() {
            self.write(Location::Byte(byte), OpAccess::Write, true, seed);
        }
        Ok(())
    }

    /// Follows a harmless system call.
    pub(super) fn follow_call(&mut self, call: &Call) -> Result<(), Decision> {
        /// `rax`, `rdi`, `rsi`, `rdx` and `r10`; others are not looked at.
        const ARGUMENTS: [u8; 5] = [0, 7, 6, 2, 10];
        let arguments = ARGUMENTS.map(Location::Integer);
        let known = arguments.iter().find_map(|one| self.depending.get(one));
        if let Some(seed) = known {
            return Err(Decision::On(*seed));
        }
        // It leaves where it came from in `rcx`, and the flags in `r11`.
        let flags = self.depending.get(&Location::Flags).copied();
        self.write(Location::Integer(1), OpAccess::Write, true, None);
        self.write(Location::Integer(11), OpAccess::Write, true, flags);
        let access = match call.writes_all {
            true => OpAccess::Write,
            false => OpAccess::CondWrite,
        };
        for byte in call.written.clone().into_iter().flatten() {
            self.write(Location::Byte(byte), access, true, None);
        }
        Ok(())
    }

    /// What the values that an instruction reads depend on.
    fn source(
        &self,
        instruction: &Decoded,
        registers: &Registers,
    ) -> Result<Option<Location>, Decision> {
        let mut seed = None;
        for memory in instruction.memory.iter().filter(|memory| touches(memory)) {
            for part in [memory.base(), memory.index()] {
                let known = locations(part).find_map(|part| self.depending.get(&part));
                if let Some(seed) = known {
                    return Err(Decision::On(*seed));
                }
            }
            if !instruction.is_special && is_read(memory.access()) {
                let mut bytes = bytes(memory, registers)?;
                let found = bytes.find_map(|byte| self.depending.get(&Location::Byte(byte)));
                seed = seed.or(found.copied());
            }
        }
        for used in &instruction.registers {
            if is_read(used.access()) {
                let mut locations = locations(used.register());
                let found = locations.find_map(|location| self.depending.get(&location));
                if let (Some(seed), true) = (found, used.register().is_k() && instruction.is_masked)
                {
                    return Err(Decision::On(*seed));
                }
                seed = seed.or(found.copied());
            }
        }
        if instruction.flags_read & ALL_FLAGS != 0 {
            seed = seed.or(self.depending.get(&Location::Flags).copied());
        }
        Ok(seed)
    }

    /// An instruction that is not described by its operands must have nothing to do with what is followed.
    fn follow_special(
        &mut self,
        instruction: &Decoded,
        registers: &Registers,
        seed: Option<Location>,
    ) -> Result<(), Decision> {
        if let Some(seed) = seed {
            return Err(Decision::On(seed));
        }
        let is_vector = |location: &Location| {
            matches!(location, Location::Vector(_) | Location::UpperVector(_))
        };
        if self.depending.keys().any(is_vector) {
            return Err(Decision::Unknown);
        }
        for memory in instruction.memory.iter().filter(|memory| touches(memory)) {
            let at = address(memory, registers).ok_or(Decision::Unknown)?;
            let near = |location: &Location| match location {
                Location::Byte(byte) => byte.abs_diff(at) <= NEAR,
                _ => false,
            };
            if self.depending.keys().any(near) {
                return Err(Decision::Unknown);
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        location: Location,
        access: OpAccess,
        is_whole: bool,
        seed: Option<Location>,
    ) {
        let is_replaced = matches!(access, OpAccess::Write | OpAccess::ReadWrite) && is_whole;
        match seed {
            _ if !is_written(access) => {}
            // It depends on that alone, as far as it is known.
            Some(seed) if is_replaced => {
                self.depending.insert(location, seed);
            }
            Some(seed) => {
                self.depending.entry(location).or_insert(seed);
            }
            None if is_replaced => {
                self.depending.remove(&location);
            }
            None => {}
        }
    }
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn is_written(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// What a register consists of, or is a part of; nothing for those that stay as they are.
fn locations(register: Register) -> impl Iterator<Item = Location> {
    let number = register.number() as u8;
    let locations = if register.is_gpr() {
        // `ah` to `bh` have numbers of their own.
        let number = register.full_register().number() as u8;
        [Some(Location::Integer(number)), None]
    } else if register.is_k() {
        [Some(Location::Mask(number)), None]
    } else if register.is_xmm() {
        [Some(Location::Vector(number)), None]
    } else if register.is_vector_register() {
        [
            Some(Location::Vector(number)),
            Some(Location::UpperVector(number)),
        ]
    } else {
        [None, None]
    };
    locations.into_iter().flatten()
}

/// Whether a write to this part of an integer register leaves nothing of the rest: writes to 32 bits clear the upper ones.
fn is_whole(register: Register) -> bool {
    register.is_gpr() && register.size() >= 4
}

fn address(memory: &UsedMemory, registers: &Registers) -> Option<u64> {
    memory.virtual_address(0, |register, _, _| value(registers, register))
}

/// The ranges of bytes that an instruction may write.
pub(super) fn written<'a>(
    instruction: &'a Decoded,
    registers: &'a Registers,
) -> impl Iterator<Item = Option<std::ops::Range<u64>>> + 'a {
    let string = instruction.string;
    let element = string
        .filter(|string| string.writes_target && !(string.repeats && registers.rcx == 0))
        .map(|string| Some(registers.rdi..registers.rdi.checked_add(string.size)?));
    let memory = instruction.memory.iter();
    let operands = memory
        .filter(move |memory| string.is_none() && is_written(memory.access()))
        .map(|memory| {
            if !instruction.is_special || memory.memory_size().size() != 0 {
                return bytes(memory, registers).ok();
            }
            let at = address(memory, registers)?;
            Some(at.saturating_sub(NEAR)..at.checked_add(NEAR)?)
        });
    element.into_iter().chain(operands)
}

/// The bytes that are accessed.
fn bytes(memory: &UsedMemory, registers: &Registers) -> Result<std::ops::Range<u64>, Decision> {
    if !touches(memory) {
        return Ok(0..0);
    }
    let start = address(memory, registers).ok_or(Decision::Unknown)?;
    let size = memory.memory_size().size() as u64;
    Ok(start..start.checked_add(size).ok_or(Decision::Unknown)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers() -> Registers {
        // SAFETY: plain data.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        (registers.rsp, registers.rbp) = (0x7000, 0x8000);
        registers
    }

    /// What depends on these locations after these instructions.
    fn after(seeds: &[Location], code: &[&[u8]]) -> Result<BTreeSet<Location>, Decision> {
        let mut influence = Influence::of(&seeds.iter().copied().collect());
        for bytes in code {
            let instruction = Decoded::read(bytes, 0x1000).unwrap();
            influence.follow(&instruction, &registers())?;
        }
        Ok(influence.locations().collect())
    }

    #[test]
    fn vector_registers_are_replaced_by_what_writes_all_of_them() {
        let vector = Location::Vector(0);
        let clear: &[u8] = &[0x66, 0x0f, 0xef, 0xc0]; // pxor xmm0, xmm0
        assert_eq!(after(&[vector], &[clear]), Ok([].into()));
        let load: &[u8] = &[0xf2, 0x0f, 0x10, 0x45, 0xf0]; // movsd xmm0, [rbp-16]
        assert_eq!(after(&[vector], &[load]), Ok([].into()));
        let convert: &[u8] = &[0xf2, 0x0f, 0x2a, 0xc1]; // cvtsi2sd xmm0, ecx
        assert_eq!(after(&[vector], &[convert]), Ok([vector].into()));
        let copy: &[u8] = &[0xf2, 0x0f, 0x10, 0xc1]; // movsd xmm0, xmm1
        assert_eq!(after(&[vector], &[copy]), Ok([vector].into()));
        let wide: &[u8] = &[0xc5, 0xfd, 0x6f, 0xc1]; // vmovdqa ymm0, ymm1
        let upper = Location::UpperVector(0);
        assert_eq!(after(&[vector, upper], &[wide]), Ok([].into()));
        assert_eq!(after(&[upper], &[clear]), Ok([upper].into()));
        let clear_upper: &[u8] = &[0xc5, 0xf8, 0x77]; // vzeroupper
        let left = after(&[vector], &[clear_upper]).unwrap();
        assert!(left.contains(&vector));
        let mask: &[u8] = &[0xc5, 0xfd, 0xd7, 0xc0]; // vpmovmskb eax, ymm0
        assert_eq!(after(&[upper], &[mask]), Ok([upper, RAX].into()));
    }

    const RAX: Location = Location::Integer(0);
    const RCX: Location = Location::Integer(1);

    #[test]
    fn values_flow_through_registers_memory_and_flags() {
        let load: &[u8] = &[0x8b, 0x45, 0xfc]; // mov eax, [rbp-4]
        let slot = Location::Byte(0x7ffc);
        assert_eq!(after(&[slot], &[load]), Ok([RAX, slot].into()));
        let add: &[u8] = &[0x01, 0xc1]; // add ecx, eax
        let expected = [RAX, RCX, Location::Flags, slot].into();
        assert_eq!(after(&[slot], &[load, add]), Ok(expected));
        let clear: &[u8] = &[0x31, 0xc0]; // xor eax, eax
        assert_eq!(after(&[RAX], &[clear]), Ok([].into()));
        let store: &[u8] = &[0x89, 0x4d, 0xfc]; // mov [rbp-4], ecx
        assert_eq!(after(&[slot], &[store]), Ok([].into()));
        let byte: &[u8] = &[0xb0, 0x01]; // mov al, 1
        assert_eq!(after(&[RAX], &[byte]), Ok([RAX].into()));
        let high: &[u8] = &[0x88, 0xe1]; // mov cl, ah
        assert_eq!(after(&[RAX], &[high]), Ok([RAX, RCX].into()));
    }

    #[test]
    fn what_decides_is_told() {
        let compare: &[u8] = &[0x83, 0x7d, 0xfc, 0x05]; // cmp dword [rbp-4], 5
        let branch: &[u8] = &[0x74, 0x02]; // je
        let slot = Location::Byte(0x7ffd);
        let decision = Err(Decision::On(slot));
        assert_eq!(after(&[slot], &[compare, branch]), decision);
        let through: &[u8] = &[0x8b, 0x08]; // mov ecx, [rax]
        assert_eq!(after(&[RAX], &[through]), Err(Decision::On(RAX)));
        let divide: &[u8] = &[0xf7, 0xf9]; // idiv ecx
        assert_eq!(after(&[RCX], &[divide]), Err(Decision::On(RCX)));
        let other: &[u8] = &[0x83, 0x7d, 0xf8, 0x05]; // cmp dword [rbp-8], 5
        assert!(after(&[slot, Location::Flags], &[other, branch]).is_ok());
        let shift: &[u8] = &[0xd3, 0xe3]; // shl ebx, cl, perhaps by nothing
        assert!(after(&[Location::Flags], &[shift, branch]).is_err());
        let by_one: &[u8] = &[0x83, 0xc3, 0x01]; // add ebx, 1
        assert!(after(&[Location::Flags], &[by_one, branch]).is_ok());
        let step: &[u8] = &[0xff, 0x45, 0xf8]; // inc dword [rbp-8], which leaves the carry
        let carry: &[u8] = &[0x72, 0x02]; // jb
        assert!(after(&[Location::Flags], &[step, carry]).is_err());
    }

    #[test]
    fn of_string_instructions_one_iteration_is_followed() {
        let mut registers = registers();
        (registers.rsi, registers.rdi, registers.rcx) = (0x100, 0x200, 4);
        let follow = |seeds: &[Location], bytes: &[u8], registers: &Registers| {
            let mut influence = Influence::of(&seeds.iter().copied().collect());
            let instruction = Decoded::read(bytes, 0x1000).unwrap();
            influence.follow(&instruction, registers)?;
            Ok(influence.locations().collect::<BTreeSet<_>>())
        };
        let copy: &[u8] = &[0xf3, 0x48, 0xa5]; // rep movsq
        let (source, target) = (Location::Byte(0x103), Location::Byte(0x205));
        assert_eq!(follow(&[target], copy, &registers), Ok([].into()));
        let whole = (0x200..0x208).map(Location::Byte).chain([source]).collect();
        assert_eq!(follow(&[source], copy, &registers), Ok(whole));
        assert_eq!(
            follow(&[RCX], copy, &registers),
            Err(Decision::On(RCX)),
            "how often"
        );
        let fill: &[u8] = &[0xaa]; // stosb
        let first = Location::Byte(0x200);
        assert_eq!(follow(&[RAX], fill, &registers), Ok([RAX, first].into()));
        let search: &[u8] = &[0xf2, 0xae]; // repne scasb
        assert_eq!(
            follow(&[first], search, &registers),
            Err(Decision::On(first))
        );
        registers.rcx = 0;
        assert_eq!(follow(&[target], copy, &registers), Ok([target].into()));
    }
}
