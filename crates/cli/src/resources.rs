//! Handles what the system refuses: memory, threads, or room for output. That is not a bug, so it has
//! another exit status.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    any::Any,
    sync::atomic::{AtomicBool, Ordering},
};

/// The system's allocator, which notes when there was no memory. Rust aborts a program that gets no memory, and only this note
/// tells that from a bug.
struct Noting;

static IS_OUT_OF_MEMORY: AtomicBool = AtomicBool::new(false);

fn noted(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        IS_OUT_OF_MEMORY.store(true, Ordering::Relaxed);
    }
    memory
}

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { System.realloc(memory, layout, size) })
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;

const TOO_LITTLE: &str = "patchwright: error: the system gives no more memory or threads; raise the limit (`ulimit -v`, \
     `ulimit -u`, that of the container), or use fewer workers (-j)\n";

extern "C" fn on_abort(signal: libc::c_int) {
    // SAFETY: only calls that are permitted in a signal handler.
    unsafe {
        if IS_OUT_OF_MEMORY.load(Ordering::Relaxed) {
            libc::write(2, TOO_LITTLE.as_ptr().cast(), TOO_LITTLE.len());
            libc::_exit(crate::Exit::BadInput as libc::c_int);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Lets refusals be recognized. Writing files beyond a limit (`ulimit -f`) becomes an error instead of a
/// signal. Supervisors undo that for tested programs.
pub fn prepare() {
    // SAFETY: the handler does only what is permitted in one; ignoring a signal touches nothing.
    unsafe {
        let handler = on_abort as extern "C" fn(libc::c_int);
        libc::signal(libc::SIGABRT, handler as libc::sighandler_t);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// A refusal of the system that caused a panic.
pub enum Refused {
    /// Nobody reads the output any more.
    Readers,
    /// The output cannot be written; why.
    Output(String),
    /// There are no more threads or no more memory.
    Memory,
}

/// Returns the refusal that caused a panic, or `None` if the panic is a bug.
pub fn refused(payload: &(dyn Any + Send)) -> Option<Refused> {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied())?;
    if let Some(reason) = text.strip_prefix("failed printing to std") {
        return Some(match reason.contains("Broken pipe") {
            true => Refused::Readers,
            false => {
                let reason = reason.split_once(": ").map_or(reason, |(_, reason)| reason);
                Refused::Output(reason.to_owned())
            }
        });
    }
    let is_of_threads = text.starts_with("failed to spawn thread")
        || text.starts_with("address space for a stack is available");
    (is_of_threads || IS_OUT_OF_MEMORY.load(Ordering::Relaxed)).then_some(Refused::Memory)
}

/// Returns the message about a refusal.
pub fn told(refused: &Refused) -> Option<String> {
    match refused {
        Refused::Readers => None,
        Refused::Output(reason) => Some(unwritable(reason)),
        Refused::Memory => Some(TOO_LITTLE.trim_end().to_owned()),
    }
}

/// Returns the message that standard output cannot be written.
pub fn unwritable(reason: impl std::fmt::Display) -> String {
    format!("patchwright: error: standard output cannot be written: {reason}")
}
