//! The processor time that this process and its commands have used. Other programs on the machine do not
//! change it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What the commands took that have ended, and their supervisors, in nanoseconds.
static COMMANDS: AtomicU64 = AtomicU64::new(0);

/// A command has taken so long.
pub(super) fn add(cpu: Duration) {
    let nanoseconds = u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX);
    COMMANDS.fetch_add(nanoseconds, Ordering::Relaxed);
}

/// Returns the processor time of this process, of all commands that its runners have run to their end,
/// and of the supervisors that watched them.
pub fn processor_time() -> Duration {
    own_time() + Duration::from_nanos(COMMANDS.load(Ordering::Relaxed))
}

/// The time that processors spent on this process. It never becomes less.
pub(super) fn own_time() -> Duration {
    // SAFETY: all zeros are a value of the structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs())
            + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_take_is_added() {
        let before = processor_time();
        add(Duration::from_secs(7));
        assert!(processor_time() >= before + Duration::from_secs(7));
    }
}
