//! How a run ended, and what it printed.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::attempts::Attempt;

/// How a run ended: by itself, by a signal, or because it exceeded a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The command exited with this status, 0–255.
    Exited(i32),
    /// The command was ended by this signal, which we did not send.
    Signaled(i32),
    /// It used up its time and was killed.
    TimedOut(TimeKind),
    /// It used up something else and was killed.
    LimitExceeded(LimitKind),
}

impl Ending {
    /// Whether the command exited with status 0.
    pub fn is_success(self) -> bool {
        self == Ending::Exited(0)
    }
}

impl fmt::Display for Ending {
    /// As the end of a sentence that starts with "it": "ended with exit status 2".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "ended with exit status {code}"),
            Ending::Signaled(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            Ending::TimedOut(TimeKind::Wall) => f.write_str("ran out of time"),
            Ending::TimedOut(TimeKind::Cpu) => f.write_str("ran out of processor time"),
            Ending::TimedOut(TimeKind::Endless) => f.write_str("was ended, as it would never end"),
            Ending::LimitExceeded(kind) => write!(f, "exceeded its limit of {kind}"),
        }
    }
}

impl Ending {
    /// Returns a hint in parentheses that names the flag for more of the exhausted resource of a
    /// build. It is empty if no limit was reached.
    pub fn more_for_builds(self) -> &'static str {
        match self {
            Ending::TimedOut(_) => " (--build-timeout gives it more)",
            Ending::LimitExceeded(LimitKind::Memory) => " (--build-memory gives it more)",
            _ => "",
        }
    }
}

/// Returns the name of a signal that ends programs, such as `SIGSEGV`, or `None` for other numbers.
pub fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

/// Which time limit a run exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeKind {
    /// [`Limits::wall`](crate::Limits::wall).
    Wall,
    /// [`Limits::cpu`](crate::Limits::cpu).
    Cpu,
    /// Whatever the limit is, it would be exceeded: the command provably never ends
    /// ([`Limits::endless_after`](crate::Limits::endless_after)).
    Endless,
}

/// Which limit other than time a run exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// [`Limits::memory`](crate::Limits::memory).
    Memory,
    /// [`Limits::output`](crate::Limits::output).
    Output,
    /// [`Limits::processes`](crate::Limits::processes).
    Processes,
    /// [`Limits::file_size`](crate::Limits::file_size), where the command itself was ended by it.
    FileSize,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LimitKind::Memory => "memory",
            LimitKind::Output => "output",
            LimitKind::Processes => "processes",
            LimitKind::FileSize => "file size",
        })
    }
}

impl Outcome {
    /// The outcome of what could not be executed and counts as run.
    pub(crate) fn without_execution(ending: Ending, stderr: Vec<u8>) -> Self {
        Outcome {
            ending,
            stdout: Vec::new(),
            stderr,
            output_truncated: false,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            peak_memory: 0,
            leftovers: 0,
            survivors: 0,
            forked: false,
            attempts: Vec::new(),
            leaves_private: false,
        }
    }
}

/// The ending, the output and the use of resources of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Captured standard output.
    pub stdout: Vec<u8>,
    /// Captured standard error.
    pub stderr: Vec<u8>,
    /// Whether output beyond the limit was thrown away.
    pub output_truncated: bool,
    /// From the start of the command until its end; leftovers are not waited for here.
    pub wall: Duration,
    /// Processor time of the command and all descendants that were waited for.
    pub cpu: Duration,
    /// The largest resident memory seen, in bytes: of the whole tree as far as it was sampled,
    /// and of each single process exactly.
    pub peak_memory: u64,
    /// Processes that outlived the command and were killed.
    pub leftovers: u32,
    /// Processes that could not be killed (stuck in the kernel); always 0 on a sane system.
    pub survivors: u32,
    /// It was forked from a program that was started before, and not executed.
    pub forked: bool,
    /// What it tried to change or reach outside of the copy, the first of each kind.
    pub attempts: Vec<Attempt>,
    /// Something is changed in the layers that are thrown away: by it, or by what ran before.
    pub leaves_private: bool,
}
