//! Limits the memory and the time of this process. What needs more ends in order, with a message.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use patchwright_exec::{CancelToken, duration};

use crate::Exit;

/// Why the process ends early.
static EXCEEDED: OnceLock<String> = OnceLock::new();

/// The memory and the time that this process may use.
#[derive(Clone, Copy)]
pub struct Limits {
    /// MiB of memory.
    pub memory: u64,
    /// The time since the process has started its work; `None` is any.
    pub time: Option<Duration>,
}

/// Where cancelling does not stop the process, it is ended after so much more time, and one tenth of what it had.
const GRACE: Duration = Duration::from_secs(1);

impl Limits {
    /// Starts a thread that cancels `token` when this process has used nearly all of a limit. If the process does not stop, the thread
    /// ends it at the limit with status 5, after calling `end`, which removes temporary files.
    pub fn watch(self, started: Instant, token: CancelToken, end: impl FnOnce() + Send + 'static) {
        const INTERVAL: Duration = Duration::from_millis(10);
        std::thread::spawn(move || {
            let why = loop {
                if let Some(why) = self.nearly_exceeded(started) {
                    break why;
                }
                std::thread::sleep(INTERVAL);
            };
            let why = EXCEEDED.get_or_init(|| why);
            token.cancel();
            while !self.is_exceeded(started) {
                std::thread::sleep(INTERVAL);
            }
            eprintln!("patchwright: unknown, because {why}");
            end();
            // SAFETY: ends the process at once, which is what is wanted.
            unsafe { libc::_exit(Exit::Undecided as libc::c_int) }
        });
    }

    /// The limit of which hardly anything is left: what is left is for telling what is known.
    fn nearly_exceeded(self, started: Instant) -> Option<String> {
        let Limits { memory, time } = self;
        if peak() >= memory - memory / 8 {
            return Some(format!(
                "more than {memory} MiB of memory would be needed; give a larger --memory, or a smaller --bound"
            ));
        }
        let time = time.filter(|time| started.elapsed() >= *time)?;
        Some(format!(
            "it takes more than {}; give a larger --budget, or a smaller --bound",
            duration::written(time)
        ))
    }

    fn is_exceeded(self, started: Instant) -> bool {
        let is_late = |time: Duration| started.elapsed() >= time + time / 10 + GRACE;
        peak() >= self.memory || self.time.is_some_and(is_late)
    }
}

/// Returns the sentence that says which limit cancelled the run and what to do, or `None` if no limit did.
pub fn exceeded() -> Option<&'static str> {
    EXCEEDED.get().map(String::as_str)
}

/// Returns the largest memory of this process so far, in MiB.
pub fn peak() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is all zeros before.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_maxrss as u64 / 1024
}
