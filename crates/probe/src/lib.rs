//! The probe: the library that runs inside a tested process.
//!
//! The glue of woven source maps the probe when a run asks for it. The probe maps the run's channel, selects the functions and
//! holes of each translation unit, and then answers the holes. In coverage mode it notes the visit. In candidate mode it gathers
//! the state, logs it if it is new, and evaluates the candidate in it. For programs with marked statements it only maps the
//! trace, which these programs write themselves.
//!
//! The probe is a guest in a program that may be broken, multi-threaded, inside a signal handler or short of stack. So:
//! - no allocation, no libc: the few system calls are made directly, which also leaves `errno` alone;
//! - no locks: whatever is shared is atomic, and whatever is not is written once, before the first hole is selected;
//! - every failure to attach leaves the program as if it were not woven;
//! - a value that is undefined behaviour ends the process by a signal that it cannot catch, so that it cannot pass.
//!
//! Built with `panic=abort`, as crate `probe-image` does, the crate is `no_std`. An ordinary build of the workspace
//! uses `std` only for its panic handler.
#![cfg_attr(panic = "abort", no_std)]

mod attach;
mod evaluation;
mod memory;
mod observe;
mod places;
mod process;
mod server;
mod survey;
mod system;
mod trace;
mod watch;

pub use attach::patchwright_attach;
pub use places::patchwright_attach_places;
pub use trace::patchwright_trace;

/// A panic would be a bug of ours; the test must not pass because of it.
#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    system::end_process()
}

/// What the compiler calls to fill memory; our own, so that the library needs no other, and works in programs whose
/// own `memset` is broken.
///
/// # Safety
/// There must be `count` writable bytes at `start`.
#[cfg(panic = "abort")]
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(start: *mut u8, byte: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller answers for the bytes; the direction flag is clear by convention.
    unsafe {
        core::arch::asm!(
            "rep stosb",
            inout("rdi") start => _,
            inout("rcx") count => _,
            in("al") byte as u8,
            options(nostack, preserves_flags),
        );
    }
    start
}
