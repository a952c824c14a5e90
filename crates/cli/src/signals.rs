//! SIGINT and SIGTERM end a run in order: tests are killed, copies removed, results written. What is in the middle of something
//! long when its time is over is left where it is: supervisors end what they have started, and the next run removes the copies.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use patchwright_exec::CancelToken;

use crate::Exit;

static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// What has been found is being written: that is waited for.
static IS_WRITING: AtomicBool = AtomicBool::new(false);

/// So many milliseconds more a run has asked for.
static MORE: AtomicU64 = AtomicU64::new(0);

/// So much time a run has to come to its end.
const PATIENCE: Duration = Duration::from_millis(800);

extern "C" fn on_signal(signal: libc::c_int) {
    if SIGNALLED.swap(true, Ordering::SeqCst) {
        // The second time the user means it; supervisors notice and kill what is left.
        // SAFETY: `_exit` may be called in a signal handler.
        unsafe { libc::_exit(128 + signal) }
    }
}

/// Cancels `token` at the first SIGINT, SIGTERM or SIGHUP; the second one ends the process, and so does the first one after
/// [`PATIENCE`]. `resumes` is what to tell then: whether another run can go on.
pub fn cancel_on_signals(token: CancelToken, resumes: bool) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches an atomic and calls `_exit`.
        unsafe {
            libc::signal(
                signal,
                on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
        }
    }
    const INTERVAL: Duration = Duration::from_millis(20);
    std::thread::spawn(move || {
        while !SIGNALLED.load(Ordering::SeqCst) {
            std::thread::sleep(INTERVAL);
        }
        token.cancel();
        let begun = Instant::now();
        let patience = || PATIENCE + Duration::from_millis(MORE.load(Ordering::SeqCst));
        while begun.elapsed() < patience() || IS_WRITING.load(Ordering::SeqCst) {
            std::thread::sleep(INTERVAL);
        }
        eprintln!("patchwright: {}", interrupted(resumes));
        // SAFETY: ends the process at once, which is what is wanted.
        unsafe { libc::_exit(Exit::Interrupted as libc::c_int) }
    });
}

/// A run that was interrupted needs so much more time: it has found something and wants to be sure of it.
pub fn give_time(more: Duration) {
    let more = u64::try_from(more.as_millis()).unwrap_or(u64::MAX / 2);
    MORE.store(more, Ordering::SeqCst);
}

/// What to tell at the end of a run that was interrupted.
pub fn interrupted(resumes: bool) -> &'static str {
    match resumes {
        true => "interrupted; what is known is kept, and the same command with --resume goes on",
        false => "interrupted",
    }
}

/// Writes what has been found, however long that takes.
pub fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    IS_WRITING.store(true, Ordering::SeqCst);
    let result = write();
    IS_WRITING.store(false, Ordering::SeqCst);
    result
}
