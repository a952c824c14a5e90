//! The limits of a run: what it may use before it is ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The limits of one run. They hold for the command and all processes that it starts together, unless
/// said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from the start of the command. If a command comes near to it, its waits for a processor are sampled, and
    /// that time does not count.
    pub wall: Duration,
    /// Processor time, user and system. Sampled, so it may be exceeded by some 20 ms per core.
    pub cpu: Option<Duration>,
    /// Processor time after which it is looked whether the command provably never ends, again whenever as much has gone by.
    /// If so it is ended at once, as after [`Limits::wall`]. A look takes an eighth of the time so far, at least 40 ms, and
    /// does not count. Where looks at short runs prove nothing they become rare.
    pub endless_after: Option<Duration>,
    /// Resident memory in bytes, shared pages counted once. Sampled every 1–20 ms. Works for
    /// programs under AddressSanitizer, which reserve terabytes of address space.
    pub memory: Option<u64>,
    /// Address space in bytes *of each process* (`RLIMIT_AS`). Exact, but unusable with
    /// sanitizers.
    pub address_space: Option<u64>,
    /// Bytes of captured output, standard output and standard error together.
    pub output: u64,
    /// Bytes of captured standard output alone.
    pub stdout: Option<u64>,
    /// How many times the stack that it would have by itself each process gets, as far as the system allows.
    pub stack_factor: u64,
    /// Size in bytes *of each file* that is written (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Number of processes alive at once. Sampled.
    pub processes: Option<u32>,
    /// How long processes that outlive the command may go on writing to its output before they
    /// are killed. Those that do not hold the output get no such time.
    pub pipe_grace: Duration,
    /// Time between SIGTERM and SIGKILL; without any, SIGKILL comes at once.
    pub term_grace: Duration,
}

/// The number of bytes of a mebibyte.
pub const MIB: u64 = 1 << 20;

impl Default for Limits {
    /// One minute, 4 GiB of memory, 64 MiB of output, files of 1 GiB, 512 processes.
    fn default() -> Self {
        Limits {
            wall: Duration::from_secs(60),
            cpu: None,
            endless_after: None,
            memory: Some(4096 * MIB),
            address_space: None,
            stack_factor: 1,
            output: 64 * MIB,
            stdout: None,
            file_size: Some(1024 * MIB),
            processes: Some(512),
            pipe_grace: Duration::from_millis(100),
            term_grace: Duration::from_millis(200),
        }
    }
}

impl Limits {
    /// Returns these limits with a stack eight times as large. A woven function has the variables of
    /// all its alternatives, so deep recursion needs more stack than in the untouched program.
    pub fn for_woven(self) -> Self {
        Limits {
            stack_factor: 8,
            ..self
        }
    }

    /// Returns the default limits with the wall-clock limit `wall`.
    pub fn with_wall(wall: Duration) -> Self {
        Limits {
            wall,
            ..Limits::default()
        }
    }

    /// Returns the limits of a build: one hour, and the memory of [`build_memory`].
    pub fn for_build() -> Self {
        Limits {
            wall: Duration::from_secs(3600),
            memory: Some(build_memory()),
            file_size: None,
            processes: Some(1024),
            ..Limits::default()
        }
    }
}

/// What the user lets builds have; 0 as long as nothing is said.
static BUILD_MEMORY: AtomicU64 = AtomicU64::new(0);

/// Sets the memory in bytes that all processes of a build may have together, for all builds of this
/// process.
pub fn set_build_memory(bytes: u64) {
    BUILD_MEMORY.store(bytes, Ordering::Relaxed);
}

/// Returns the memory in bytes that a build may have: what [`set_build_memory`] has set, else 4 GiB or
/// three quarters of the machine's memory, whichever is less.
pub fn build_memory() -> u64 {
    const USUAL: u64 = 4096 * MIB;
    match BUILD_MEMORY.load(Ordering::Relaxed) {
        0 => USUAL.min(machine_memory().unwrap_or(u64::MAX) / 4 * 3),
        said => said,
    }
}

/// What the machine has, in bytes.
fn machine_memory() -> Option<u64> {
    // SAFETY: no pointers.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let number = |value| u64::try_from(value).ok().filter(|value| *value > 0);
    number(pages)?.checked_mul(number(size)?)
}

/// Lets [`own_peak_memory`] count from now on. If the system does not permit that, it goes on counting
/// from the start.
pub fn forget_own_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns the largest resident memory of this process so far, in bytes, or `None` if the system does not
/// tell.
pub fn own_peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
