//! Ends a run in order on SIGINT and SIGTERM: tests are killed, results written, copies removed.

use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::{CancelToken, scratch};

use crate::Exit;

/// So many signals have come.
static SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// The last one.
static LAST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Who writes what has been found: nobody yet, …
const NOBODY: usize = 0;
/// … the run itself, which is waited for, …
const THE_RUN: usize = 1;
/// … or it has been written.
const WRITTEN: usize = 2;
/// … or the run is not to write any more: this is done for it.
const FOR_THE_RUN: usize = 3;

static WRITER: AtomicUsize = AtomicUsize::new(NOBODY);

/// So many milliseconds more a run has asked for.
static MORE: AtomicU64 = AtomicU64::new(0);

/// Writes what is known, if the run does not get to it.
static LAST_WORDS: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// So much time a run has to come to its end, and then to remove its copies.
const PATIENCE: Duration = Duration::from_millis(800);

extern "C" fn on_signal(signal: libc::c_int) {
    LAST_SIGNAL.store(signal, Ordering::SeqCst);
    // The second one is minded by the thread that watches; whoever sends a third one does not want to wait for that.
    if SIGNALS.fetch_add(1, Ordering::SeqCst) >= 2 {
        // SAFETY: `_exit` may be called in a signal handler.
        unsafe { libc::_exit(128 + signal) }
    }
}

/// Cancels `token` at the first SIGINT, SIGTERM or SIGHUP; the second one ends the process, and so does the first one after
/// [`PATIENCE`], when what is known is written. `resumes` is what to tell then: whether another run can go on.
pub fn cancel_on_signals(token: CancelToken, resumes: bool) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches atomics and calls `_exit`.
        unsafe {
            libc::signal(
                signal,
                on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
        }
    }
    const INTERVAL: Duration = Duration::from_millis(20);
    std::thread::spawn(move || {
        let signals = || SIGNALS.load(Ordering::SeqCst);
        while signals() == 0 {
            std::thread::sleep(INTERVAL);
        }
        token.cancel();
        let mut begun = Instant::now();
        let mut was_written = false;
        loop {
            let writer = WRITER.load(Ordering::SeqCst);
            if writer == WRITTEN && !was_written {
                // Now the copies are removed.
                (was_written, begun) = (true, Instant::now());
            }
            let more = match was_written {
                true => 0,
                false => MORE.load(Ordering::SeqCst),
            };
            let is_over =
                signals() > 1 || begun.elapsed() >= PATIENCE + Duration::from_millis(more);
            if writer != THE_RUN && is_over && (was_written || begins_for_the_run()) {
                break;
            }
            std::thread::sleep(INTERVAL);
        }
        let words = LAST_WORDS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let (Some(words), false) = (words, was_written) {
            words();
        }
        let left: Vec<String> = scratch::left_behind()
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let mut told = Vec::new();
        if !was_written {
            told.push(interrupted(resumes).to_owned());
        }
        if !left.is_empty() {
            told.push(format!(
                "copies are left in {}; the next run removes them",
                left.join(" and ")
            ));
        }
        if !told.is_empty() {
            crate::out::tell(&format!("patchwright: {}\n", told.join("; ")));
        }
        let status = match signals() {
            1 => Exit::Interrupted as libc::c_int,
            _ => 128 + LAST_SIGNAL.load(Ordering::SeqCst),
        };
        // SAFETY: ends the process at once, which is what is wanted.
        unsafe { libc::_exit(status) }
    });
}

/// Whether a signal has come.
pub fn have_come() -> bool {
    SIGNALS.load(Ordering::SeqCst) > 0
}

/// Whether the run has not begun to write, and is not to any more.
fn begins_for_the_run() -> bool {
    let change = WRITER.compare_exchange(NOBODY, FOR_THE_RUN, Ordering::SeqCst, Ordering::SeqCst);
    change.is_ok()
}

/// Gives an interrupted run more time, because it has found something and verifies it.
pub fn give_time(more: Duration) {
    let more = u64::try_from(more.as_millis()).unwrap_or(u64::MAX / 2);
    MORE.store(more, Ordering::SeqCst);
}

/// Sets what prints the results so far, if the run has no time to end by itself.
pub fn at_the_last_moment(words: impl FnOnce() + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
}

/// Returns the message at the end of an interrupted run.
pub fn interrupted(resumes: bool) -> &'static str {
    match resumes {
        true => "interrupted; what is known is kept, and the same command with --resume goes on",
        false => "interrupted",
    }
}

/// Writes results without a time limit.
pub fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    let change = WRITER.compare_exchange(NOBODY, THE_RUN, Ordering::SeqCst, Ordering::SeqCst);
    if change == Err(FOR_THE_RUN) {
        // It is being written, and then the process ends.
        loop {
            std::thread::park();
        }
    }
    let result = write();
    WRITER.store(WRITTEN, Ordering::SeqCst);
    result
}

/// Notes that files of an earlier run are being removed, which takes time.
pub fn removing(path: &Path) {
    if crate::shown::is_quiet() {
        return;
    }
    crate::out::tell(&format!(
        "patchwright: removing {}, which an earlier run has left behind\n",
        path.display()
    ));
}
