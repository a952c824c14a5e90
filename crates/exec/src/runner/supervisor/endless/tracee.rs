//! A process that is stopped and executed instruction by instruction.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::super::sys::{Pid, check};

/// Registers of the integer unit.
pub(super) type Registers = libc::user_regs_struct;

/// What the kernel calls the registers of the other units (`NT_X86_XSTATE`).
const EXTENDED_STATE: libc::c_long = 0x202;

/// A stop that is no signal's (`PTRACE_EVENT_STOP`).
const EVENT_STOP: i32 = 128;

/// A traced process with one thread. It goes on by itself when this is dropped.
pub(super) struct Tracee {
    pid: Pid,
    memory: File,
    /// A signal that was about to be delivered when it was stopped last.
    signal: i32,
}

impl Tracee {
    /// Attaches to a descendant and stops it.
    pub(super) fn seize(pid: Pid) -> io::Result<Self> {
        let memory = File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/{pid}/mem"))?;
        // It must not outlive us.
        let options = i64::from(libc::PTRACE_O_EXITKILL);
        request(libc::PTRACE_SEIZE, pid, 0, options)?;
        let mut tracee = Tracee {
            pid,
            memory,
            signal: 0,
        };
        request(libc::PTRACE_INTERRUPT, pid, 0, 0)?;
        if tracee.stopped()? == libc::SIGTRAP | EVENT_STOP << 8 {
            Ok(tracee)
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    }

    /// Returns the number of the traced process.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits for it to stop, and says why; an error when it ends.
    fn stopped(&mut self) -> io::Result<i32> {
        // SAFETY: `siginfo_t` is plain data, the pointer is to a live local, and the fields that are read are those of a
        // child's state.
        let (code, status) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let wanted = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT | libc::__WALL;
            check(libc::waitid(
                libc::P_PID,
                self.pid as libc::id_t,
                &mut info,
                wanted,
            ))?;
            (info.si_code, info.si_status())
        };
        if !matches!(code, libc::CLD_TRAPPED | libc::CLD_STOPPED) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let is_signal = status >> 8 == 0 && status != libc::SIGTRAP;
        self.signal = if is_signal { status } else { 0 };
        Ok(status)
    }

    /// Executes one instruction, or one iteration of one that is repeated.
    pub(super) fn step(&mut self) -> io::Result<()> {
        request(libc::PTRACE_SINGLESTEP, self.pid, 0, 0)?;
        if self.stopped()? == libc::SIGTRAP {
            Ok(())
        } else {
            Err(io::ErrorKind::Interrupted.into())
        }
    }

    /// Reads the general registers.
    pub(super) fn registers(&self) -> io::Result<Registers> {
        // SAFETY: the structure is plain data, and the kernel fills it.
        unsafe {
            let mut registers: Registers = std::mem::zeroed();
            let place = (&raw mut registers) as usize as i64;
            request(libc::PTRACE_GETREGS, self.pid, 0, place)?;
            Ok(registers)
        }
    }

    /// The registers of the vector and the floating-point unit, in the layout of `XSAVE`.
    pub(super) fn extended_registers(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 1 << 14];
        let mut vector = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        let place = (&raw mut vector) as usize as i64;
        request(libc::PTRACE_GETREGSET, self.pid, EXTENDED_STATE, place)?;
        bytes.truncate(vector.iov_len);
        Ok(bytes)
    }

    /// Reads memory; an error when a part of it is not there.
    pub(super) fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.memory.read_exact_at(into, address)
    }

    /// Sets the registers of the floating-point and vector units.
    pub(super) fn set_extended_registers(&self, bytes: &[u8]) -> io::Result<()> {
        let mut vector = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let place = (&raw mut vector) as usize as i64;
        request(libc::PTRACE_SETREGSET, self.pid, EXTENDED_STATE, place)
    }

    /// Writes memory that it could write to.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(bytes, address)
    }

    /// Kills the traced process.
    pub(super) fn kill(&self) {
        // SAFETY: it is a descendant that is traced, so the number is still its own.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
        }
    }

    /// Lets the process make a system call. Returns its result; what it writes to `scratch`, an address, is copied to the
    /// buffer. Registers and memory are then as before. `instruction` is the address of a `syscall`.
    pub(super) fn call(
        &mut self,
        number: i64,
        arguments: [u64; 2],
        instruction: u64,
        scratch: (u64, &mut [u8]),
    ) -> io::Result<i64> {
        let (address, buffer) = scratch;
        let registers = self.registers()?;
        let mut kept = vec![0; buffer.len()];
        self.read(address, &mut kept)?;
        let mut calling = registers;
        calling.rip = instruction;
        calling.rax = number as u64;
        // Lest the kernel takes what it was interrupted in for this one.
        calling.orig_rax = u64::MAX;
        [calling.rdi, calling.rsi] = arguments;
        self.set_registers(&calling)?;
        let stepped = self.step();
        let result = self.registers().map(|registers| registers.rax as i64);
        let read = self.memory.read_exact_at(buffer, address);
        self.memory.write_all_at(&kept, address)?;
        self.set_registers(&registers)?;
        stepped?;
        read?;
        result
    }

    /// Sets the general registers.
    pub(super) fn set_registers(&self, registers: &Registers) -> io::Result<()> {
        let place = (&raw const *registers) as usize as i64;
        request(libc::PTRACE_SETREGS, self.pid, 0, place)
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        // It may have ended.
        let _ = request(libc::PTRACE_DETACH, self.pid, 0, i64::from(self.signal));
    }
}

fn request(what: libc::c_uint, pid: Pid, address: libc::c_long, data: i64) -> io::Result<()> {
    // SAFETY: what the numbers point to, if they are addresses, is alive in the caller and as large as the request wants.
    check(unsafe { libc::ptrace(what, pid, address, data) }).map(drop)
}
