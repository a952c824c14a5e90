//! The supervisor process: starts commands, watches them, and leaves nothing alive.
//!
//! It is single-threaded and small, so that forking is cheap and safe. It serves one run at a
//! time: start (`spawn`, `servers`), watch the limits (`watch`), end what is left (`tree`).

mod alone;
#[cfg(any(test, feature = "test-support"))]
pub mod before_main;
mod deadlock;
mod endless;
mod filter;
mod guardian;
mod kept;
mod mounts;
mod namespace;
mod protection;
mod servers;
mod spawn;
mod sys;
pub(crate) mod trace;
mod tree;
mod waiting;
mod watch;

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::protocol::{self, HostFrame, SupervisorFrame};
use super::time;
use crate::attempts::Attempt;
use crate::refusal::Refusal;
use crate::view::ViewStatus;
use protection::Private;
use servers::Servers;
use tree::Tree;
use watch::{Finish, HostGone};

/// Runs a supervisor for its whole life. It serves the host at the other end of standard input until that end is closed, by
/// intent or because the host died. Then it kills all processes that are left.
///
/// Call it before the process has started any thread. Never returns.
pub fn supervisor_main() -> ! {
    trace::watch_if_asked();
    let status = match take_over() {
        Ok((channel, mut inherited, guardian)) => {
            let mut tree = Tree::new();
            let mut servers = Servers::default();
            let guardian = guardian.as_ref();
            let served = serve(&channel, &mut inherited, guardian, &mut tree, &mut servers);
            servers.end_all(&mut tree);
            tree.kill_all();
            if served.is_ok() { 0 } else { 1 }
        }
        Err(error) => {
            eprintln!("patchwright: the supervisor cannot start: {error}");
            1
        }
    };
    std::process::exit(status)
}

/// The descriptor that the channel is moved to.
const CHANNEL: RawFd = 3;

/// Puts the process into the state that its children inherit, and returns the channel, and the socket to the guardian or why there
/// is none.
fn take_over() -> std::io::Result<(UnixStream, spawn::Inherited, Result<OwnedFd, Refusal>)> {
    // The channel moves off standard input; every other descriptor that some ancestor leaked is
    // closed: a held lock or pipe would outlive its owner.
    sys::duplicate(0, CHANNEL)?;
    sys::close_from(CHANNEL + 1)?;
    let null = sys::open_null()?;
    sys::duplicate_inheritable(null.as_raw_fd(), 0)?;
    sys::reset_signals();
    std::env::set_current_dir("/")?;
    // While all processes of the user can be counted.
    let mut inherited = spawn::Inherited::take();
    let guardian = alone::move_into_own_namespace();
    inherited.settle();
    sys::become_subreaper()?;
    // SAFETY: descriptor 3 was just made by `duplicate` and has no other owner: everything from
    // there on was closed or, if it was open before, replaced.
    let channel = unsafe { OwnedFd::from_raw_fd(CHANNEL) };
    Ok((UnixStream::from(channel), inherited, guardian))
}

/// Answers the host's frames until there are no more.
fn serve(
    channel: &UnixStream,
    inherited: &mut spawn::Inherited,
    guardian: Result<&OwnedFd, &Refusal>,
    tree: &mut Tree,
    servers: &mut Servers,
) -> std::io::Result<()> {
    let mut stream = channel;
    let mut experience = watch::Experience::default();
    let mut private = Private::default();
    let mut told = Duration::ZERO;
    loop {
        let frame = match protocol::read_host_frame(&mut stream) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        };
        let answer = match frame {
            HostFrame::Start(view) => {
                let (status, layers) = namespace::enter(view, guardian);
                private = layers;
                inherited.protected = status == ViewStatus::Protected;
                SupervisorFrame::Hello { status }
            }
            // The run it names has ended in the meantime.
            HostFrame::Cancel(_) => continue,
            HostFrame::Run(sequence, request) => match servers.start(&request, &*inherited, tree) {
                Err(failure) => SupervisorFrame::NotStarted(failure),
                Ok(command) => match watch::supervise(
                    command,
                    &request,
                    sequence,
                    channel,
                    tree,
                    &mut experience,
                ) {
                    Ok(Finish::Done(mut outcome)) => {
                        if let Some(guardian) = guardian.ok().filter(|_| inherited.protected) {
                            outcome.attempts = attempts(guardian);
                            outcome.leaves_private = private.is_changed();
                        }
                        let used = time::own_time();
                        let own = used - std::mem::replace(&mut told, used);
                        SupervisorFrame::Done { outcome, own }
                    }
                    Ok(Finish::Cancelled) => SupervisorFrame::Cancelled,
                    Err(HostGone) => return Ok(()),
                },
            },
        };
        protocol::write_supervisor_frame(&mut stream, &answer)?;
    }
}

/// What the guardian has noted of the run that has ended.
fn attempts(guardian: &OwnedFd) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    while let Some((message, _)) = sys::receive_with_descriptor(guardian) {
        attempts.extend(Attempt::from_bytes(&message));
    }
    if !attempts.is_empty() {
        let _ = sys::send_now(guardian, guardian::NEXT_RUN);
    }
    attempts
}
