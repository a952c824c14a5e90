//! Instructions of the processor, as far as it matters what they depend on.

use std::cell::Cell;

use iced_x86::{
    Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, UsedMemory, UsedRegister,
};

use super::emulate;
use super::tracee::Registers;

/// Says whether the processor or the emulation executes an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trust {
    /// The processor and we, to compare.
    #[default]
    Untried,
    Ours,
    Processor,
}

/// What one iteration of a string instruction does with elements of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringInstruction {
    pub(super) size: u64,
    /// It reads at `rsi`.
    pub(super) reads_source: bool,
    /// It reads at `rdi`.
    pub(super) reads_target: bool,
    /// It writes at `rdi`.
    pub(super) writes_target: bool,
    /// It reads `rax`, or a part of it.
    pub(super) reads_accumulator: bool,
    /// It writes `rax`, or a part of it.
    pub(super) writes_accumulator: bool,
    /// `rcx` says how often it is repeated.
    pub(super) repeats: bool,
}

impl StringInstruction {
    /// What a string instruction does, if its addresses are the usual ones.
    fn of(instruction: &Instruction) -> Option<Self> {
        use Mnemonic as M;
        let is_usual = |operand: u32| match instruction.op_kind(operand) {
            OpKind::MemorySegRSI => instruction.segment_prefix() == Register::None,
            OpKind::MemoryESRDI | OpKind::Register => true,
            _ => false,
        };
        if !(0..instruction.op_count()).all(is_usual) {
            return None;
        }
        let [
            source,
            target,
            writes,
            reads_accumulator,
            writes_accumulator,
        ] = match instruction.mnemonic() {
            M::Movsb | M::Movsw | M::Movsd | M::Movsq => [true, false, true, false, false],
            M::Stosb | M::Stosw | M::Stosd | M::Stosq => [false, false, true, true, false],
            M::Lodsb | M::Lodsw | M::Lodsd | M::Lodsq => [true, false, false, false, true],
            M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq => [true, true, false, false, false],
            M::Scasb | M::Scasw | M::Scasd | M::Scasq => [false, true, false, true, false],
            _ => return None,
        };
        Some(StringInstruction {
            size: instruction.memory_size().size() as u64,
            reads_source: source,
            reads_target: target,
            writes_target: writes,
            reads_accumulator,
            writes_accumulator,
            repeats: instruction.has_rep_prefix() || instruction.has_repne_prefix(),
        })
    }

    /// Whether the instruction compares strings, and may be repeated as long as they are equal or differ.
    pub(super) fn compares(&self) -> bool {
        self.reads_target
    }
}

/// Longest instruction, in bytes.
pub(super) const LONGEST: usize = 15;

/// An instruction and what it uses.
pub(super) struct Decoded {
    pub(super) registers: Vec<UsedRegister>,
    pub(super) memory: Vec<UsedMemory>,
    /// Bits of iced's own kind.
    pub(super) flags_read: u32,
    pub(super) flags_written: u32,
    /// Where it goes on, or whether it traps, depends on what it reads.
    pub(super) decides: bool,
    /// What it reads and writes is not described by the operands: state that is saved or restored, registers that form a
    /// stack.
    pub(super) is_special: bool,
    /// It is a string instruction.
    pub(super) string: Option<StringInstruction>,
    /// It is a system call.
    pub(super) is_call: bool,
    /// A mask says which parts it reads and writes.
    pub(super) is_masked: bool,
    /// What it writes, flags included, may stay as it is.
    pub(super) may_leave: bool,
    /// Of a vector register that it writes nothing is left, in the lower 16 bytes at least.
    pub(super) replaces_vectors: bool,
    pub(super) instruction: Instruction,
    /// It has to do with vector registers.
    pub(super) is_of_vectors: bool,
    /// Flags of which nobody knows what they are afterwards.
    pub(super) undefined_flags: u64,
    /// Who executes it.
    pub(super) trust: Cell<Trust>,
}

impl Decoded {
    /// Reads the instruction at `address`. `None` when what it does depends on more than registers and memory (time, chance,
    /// the kernel), or is not known.
    pub(super) fn read(bytes: &[u8], address: u64) -> Option<Self> {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if !is_deterministic(&instruction) {
            return None;
        }
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(&instruction);
        let registers = info.used_registers().to_vec();
        let is_stack = |used: &UsedRegister| used.register().is_st() || used.register().is_mm();
        let string = match instruction.is_string_instruction() {
            true => Some(StringInstruction::of(&instruction)?),
            false => None,
        };
        let is_special = instruction.is_save_restore_instruction()
            || registers.iter().any(is_stack)
            || instruction.fpu_stack_increment_info().increment() != 0
            || info
                .used_memory()
                .iter()
                .any(|memory| memory.memory_size().size() == 0 && touches(memory));
        let is_special = is_special && string.is_none();
        let decides = instruction.flow_control() != FlowControl::Next
            || matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
        Some(Decoded {
            memory: info.used_memory().to_vec(),
            registers,
            flags_read: instruction.rflags_read(),
            flags_written: instruction.rflags_modified(),
            decides,
            is_special,
            string,
            is_call: instruction.mnemonic() == Mnemonic::Syscall,
            is_masked: instruction.has_op_mask(),
            may_leave: may_leave(&instruction),
            replaces_vectors: replaces_vectors(&instruction),
            instruction,
            is_of_vectors: emulate::is_of_vectors(&instruction),
            undefined_flags: flags(instruction.rflags_undefined()),
            trust: Cell::default(),
        })
    }
}

/// iced's bits of flags as those of the processor.
fn flags(bits: u32) -> u64 {
    use iced_x86::RflagsBits as B;
    let known = [
        (B::CF, 0x1),
        (B::PF, 0x4),
        (B::AF, 0x10),
        (B::ZF, 0x40),
        (B::SF, 0x80),
        (B::OF, 0x800),
    ];
    let set = known.into_iter().filter(|(bit, _)| bits & bit != 0);
    set.fold(0, |flags, (_, flag)| flags | flag)
}

/// Shifts by nothing leave the flags, and searches for a bit in zero their result.
fn may_leave(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Bsf | M::Bsr => true,
        M::Shl
        | M::Sal
        | M::Shr
        | M::Sar
        | M::Rol
        | M::Ror
        | M::Rcl
        | M::Rcr
        | M::Shld
        | M::Shrd => {
            let last = instruction.op_count().saturating_sub(1);
            instruction.op_kind(last) == OpKind::Register
        }
        _ => false,
    }
}

/// The newer encodings write whole registers. Of the older instructions some do.
fn replaces_vectors(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let is_load = instruction.op_count() == 2 && !instruction.op1_register().is_vector_register();
    match instruction.mnemonic() {
        M::Vzeroupper => false,
        _ if instruction.encoding() != EncodingKind::Legacy => true,
        M::Movaps | M::Movapd | M::Movups | M::Movupd | M::Movdqa | M::Movdqu | M::Lddqu => true,
        M::Movq | M::Movd | M::Pshufd => true,
        M::Movss | M::Movsd => is_load,
        M::Pxor | M::Xorps | M::Xorpd => instruction.op0_register() == instruction.op1_register(),
        _ => false,
    }
}

/// Whether memory is accessed there.
pub(super) fn touches(memory: &UsedMemory) -> bool {
    !matches!(memory.access(), OpAccess::None | OpAccess::NoMemAccess)
}

fn is_masked_by_vector(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Maskmovq
            | M::Maskmovdqu
            | M::Vmaskmovdqu
            | M::Vmaskmovps
            | M::Vmaskmovpd
            | M::Vpmaskmovd
            | M::Vpmaskmovq
    )
}

fn is_deterministic(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let flow = instruction.flow_control();
    !instruction.is_invalid()
        && !instruction.is_privileged()
        // Several addresses, and parts that are left out by a vector.
        && !instruction.is_vsib()
        && !is_masked_by_vector(instruction.mnemonic())
        && !matches!(
            flow,
            FlowControl::Interrupt | FlowControl::XbeginXabortXend | FlowControl::Exception
        )
        && !matches!(
            instruction.mnemonic(),
            M::Sysenter
                | M::Rdtsc
                | M::Rdtscp
                | M::Rdpmc
                | M::Rdrand
                | M::Rdseed
                | M::Rdpid
                | M::Rdpru
                | M::Cpuid
                | M::Xgetbv
                | M::In
                | M::Insb
                | M::Insw
                | M::Insd
                | M::Out
                | M::Outsb
                | M::Outsw
                | M::Outsd
                | M::Umonitor
                | M::Umwait
                | M::Tpause
                | M::Monitor
                | M::Mwait
                | M::Monitorx
                | M::Mwaitx
                | M::Xtest
                // What they show is not followed: which exceptions floating-point operations have had.
                | M::Stmxcsr
                | M::Vstmxcsr
                // Nor what they change: how such operations round.
                | M::Ldmxcsr
                | M::Vldmxcsr
                | M::Fldcw
                | M::Enter
                // They show and set the flag by which it is stepped through.
                | M::Pushf
                | M::Pushfd
                | M::Pushfq
                | M::Popf
                | M::Popfd
                | M::Popfq
        )
}

/// Returns the value of a register that an address uses.
pub(super) fn value(registers: &Registers, register: Register) -> Option<u64> {
    let whole = match register.full_register() {
        Register::FS => return Some(registers.fs_base),
        Register::GS => return Some(registers.gs_base),
        Register::CS | Register::DS | Register::ES | Register::SS => return Some(0),
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::RIP => registers.rip,
        _ => return None,
    };
    match register.size() {
        8 => Some(whole),
        4 => Some(whole & u64::from(u32::MAX)),
        // The table look-up by `al`.
        1 if register == Register::AL => Some(whole & u64::from(u8::MAX)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_time_chance_or_the_kernel_is_not_read() {
        for bytes in [
            &[0x0f, 0x31][..],                     // rdtsc
            &[0x0f, 0x01, 0xf9],                   // rdtscp
            &[0x48, 0x0f, 0xc7, 0xf0],             // rdrand rax
            &[0x0f, 0xa2],                         // cpuid
            &[0xcd, 0x80],                         // int 80h
            &[0x9c],                               // pushfq
            &[0xf4],                               // hlt
            &[0x0f, 0xae, 0x5c, 0x24, 0xfc],       // stmxcsr [rsp-4]
            &[0xc4, 0xe2, 0x75, 0x90, 0x04, 0x90], // vpgatherdd ymm0, [rax+ymm2*4], ymm1
            &[0xf3, 0x0f, 0xc7, 0xf8],             // rdpid rax
        ] {
            assert!(Decoded::read(bytes, 0x1000).is_none(), "{bytes:x?}");
        }
    }

    #[test]
    fn branches_and_divisions_decide_and_moves_do_not() {
        let decides = |bytes: &[u8]| Decoded::read(bytes, 0x1000).unwrap().decides;
        assert!(decides(&[0x74, 0x02])); // je
        assert!(decides(&[0xc3])); // ret
        assert!(decides(&[0xf7, 0xf9])); // idiv ecx
        assert!(decides(&[0xff, 0xe0])); // jmp rax
        assert!(!decides(&[0xd3, 0xe0])); // shl eax, cl
        assert!(!decides(&[0x01, 0xd8])); // add eax, ebx
        assert!(!decides(&[0x0f, 0x44, 0xc1])); // cmove eax, ecx
    }
}
