//! A limit for the memory of this process: what needs more ends in order, and says so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use patchwright_exec::CancelToken;

use crate::Exit;

static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Cancels `token` when this process has used nearly `mebibytes` of memory; where that does not stop it, ends the process at the
/// limit, with status 5, after `end`, which removes what it would leave behind.
pub fn cancel_beyond(mebibytes: u64, token: CancelToken, end: impl FnOnce() + Send + 'static) {
    const INTERVAL: Duration = Duration::from_millis(10);
    // What is left is for telling what is known.
    let nearly = mebibytes - mebibytes / 8;
    std::thread::spawn(move || {
        while peak() < nearly {
            std::thread::sleep(INTERVAL);
        }
        EXCEEDED.store(true, Ordering::SeqCst);
        token.cancel();
        while peak() < mebibytes {
            std::thread::sleep(INTERVAL);
        }
        eprintln!("patchwright: unknown, because {}", reason(mebibytes));
        end();
        // SAFETY: ends the process at once, which is what is wanted.
        unsafe { libc::_exit(Exit::Undecided as libc::c_int) }
    });
}

/// What was cancelled was so because of the memory.
pub fn is_exceeded() -> bool {
    EXCEEDED.load(Ordering::SeqCst)
}

/// What is told then.
pub fn reason(mebibytes: u64) -> String {
    format!(
        "more than {mebibytes} MiB of memory would be needed; give a larger --memory, or a smaller --bound"
    )
}

/// The most memory that this process has used, in MiB.
pub fn peak() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is all zeros before.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_maxrss as u64 / 1024
}
