//! SIGINT and SIGTERM end a run in order: tests are killed, copies removed, results written.

use std::sync::atomic::{AtomicBool, Ordering};

use patchwright_exec::CancelToken;

static SIGNALLED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int) {
    if SIGNALLED.swap(true, Ordering::SeqCst) {
        // The second time the user means it; supervisors notice and kill what is left.
        // SAFETY: `_exit` may be called in a signal handler.
        unsafe { libc::_exit(128 + signal) }
    }
}

/// Cancels `token` at the first SIGINT, SIGTERM or SIGHUP; the second one ends the process.
pub fn cancel_on_signals(token: CancelToken) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches an atomic and calls `_exit`.
        unsafe {
            libc::signal(
                signal,
                on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
        }
    }
    std::thread::spawn(move || {
        loop {
            if SIGNALLED.load(Ordering::SeqCst) {
                token.cancel();
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
}
