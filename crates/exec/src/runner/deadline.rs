//! A [`CancelToken`] that is cancelled at a given time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use super::CancelToken;

/// A [`CancelToken`] that is cancelled together with a parent token or at a given time, whichever comes
/// first. Once the deadline is dropped, only [`CancelToken::cancel`] cancels its token.
#[derive(Debug)]
pub struct Deadline {
    token: CancelToken,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    /// An eventfd that is readable when nobody needs the token any more.
    gone: OwnedFd,
    has_passed: AtomicBool,
}

impl Deadline {
    /// Makes a token that is cancelled with `parent` or at `end`.
    ///
    /// # Errors
    /// When the process may open no further file or begin no further thread.
    pub fn new(parent: &CancelToken, end: Option<Instant>) -> io::Result<Self> {
        // SAFETY: plain system call without pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and belongs to nobody else.
        let gone = unsafe { OwnedFd::from_raw_fd(fd) };
        let token = CancelToken::new()?;
        let state = Arc::new(State {
            gone,
            has_passed: AtomicBool::new(false),
        });
        let watched = (parent.clone(), token.clone(), state.clone());
        let thread = std::thread::Builder::new()
            .name("deadline".to_owned())
            .spawn(move || {
                let (parent, token, state) = watched;
                watch(&parent, &token, &state, end);
            })?;
        Ok(Deadline {
            token,
            state,
            thread: Some(thread),
        })
    }

    /// Returns the token to run commands with.
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Whether the token was cancelled because of the time.
    pub fn has_passed(&self) -> bool {
        self.state.has_passed.load(Ordering::SeqCst)
    }
}

/// Waits until the parent is cancelled, the time has come, or nobody needs the token any more.
fn watch(parent: &CancelToken, token: &CancelToken, state: &State, end: Option<Instant>) {
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            state.has_passed.store(true, Ordering::SeqCst);
            return token.cancel();
        }
        // Rounded up, so that the time has come after it.
        let wait = left.map_or(-1, |left| {
            i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX)
        });
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut entries = [entry(parent.as_raw_fd()), entry(state.gone.as_raw_fd())];
        // SAFETY: the entries live as long as the call, and their number is right.
        let ready =
            unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, wait) };
        if ready > 0 && entries[1].revents != 0 {
            return;
        }
        if parent.is_cancelled() {
            return token.cancel();
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let one = 1u64;
        // SAFETY: writes the eight bytes of a live integer to an open descriptor.
        unsafe {
            libc::write(
                self.state.gone.as_raw_fd(),
                (&raw const one).cast(),
                size_of::<u64>(),
            );
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn wait_for(token: &CancelToken) {
        while !token.is_cancelled() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_time_that_has_come_cancels_the_token_and_not_its_parent() {
        let parent = CancelToken::new().unwrap();
        let deadline = Deadline::new(&parent, Some(Instant::now())).unwrap();
        wait_for(deadline.token());
        assert!(deadline.has_passed());
        assert!(!parent.is_cancelled());
    }

    #[test]
    fn whoever_cancels_the_parent_cancels_the_token() {
        let parent = CancelToken::new().unwrap();
        let end = Instant::now() + Duration::from_secs(3600);
        let deadline = Deadline::new(&parent, Some(end)).unwrap();
        parent.cancel();
        wait_for(deadline.token());
        assert!(!deadline.has_passed());
    }

    #[test]
    fn a_token_that_nobody_needs_any_more_is_not_cancelled() {
        let parent = CancelToken::new().unwrap();
        let deadline = Deadline::new(&parent, None).unwrap();
        let token = deadline.token().clone();
        drop(deadline);
        assert!(!token.is_cancelled());
    }
}
