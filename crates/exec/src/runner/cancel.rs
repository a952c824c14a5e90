//! A token that ends runs from another thread or from a signal handler.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends the present and future runs of every [`Runner`](super::Runner) that was started with a clone of
/// it. It cannot be reset.
#[derive(Debug, Clone)]
pub struct CancelToken {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    cancelled: AtomicBool,
    /// An eventfd; it stays readable from the first cancellation on.
    event: OwnedFd,
}

impl CancelToken {
    /// Makes a token that is not cancelled.
    ///
    /// # Errors
    /// When the process may open no further file.
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call without pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and belongs to nobody else.
        let event = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(CancelToken {
            inner: Arc::new(Inner {
                cancelled: AtomicBool::new(false),
                event,
            }),
        })
    }

    /// Ends all runs. A signal handler may call it.
    pub fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::SeqCst);
        let one = 1u64;
        // SAFETY: writes the eight bytes of a live integer to an open descriptor.
        unsafe {
            libc::write(
                self.inner.event.as_raw_fd(),
                (&raw const one).cast(),
                size_of::<u64>(),
            );
        }
    }

    /// Whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::SeqCst)
    }

    /// Returns the descriptor that becomes readable when the token is cancelled.
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.inner.event.as_raw_fd()
    }
}
