//! A mount namespace in which copies appear at other paths.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::guardian::Order;
use super::mounts::{mount, unmount};
use super::protection::Private;
use super::{filter, protection, sys, sys::check};
use crate::refusal::{Obstacle, Refusal};
use crate::view::{Protection, View, ViewStatus};

/// Moves this process into a namespace of its own with the view, if one is given. `guardian` is the socket to the process
/// outside, if there is a namespace of processes. After a refusal the process may be in a namespace whose mounts equal the old
/// ones; if protection was asked for, it is to run nothing.
pub(super) fn enter(
    view: Option<View>,
    guardian: Result<&OwnedFd, &Refusal>,
) -> (ViewStatus, Private) {
    let Some(view) = view else {
        return (ViewStatus::NotRequested, Private::default());
    };
    let result = match &view.protection {
        Some(protection) => set_up_protected(&view, protection, guardian)
            .map(|private| (ViewStatus::Protected, private)),
        None => set_up(&view).map(|()| (ViewStatus::Active, Private::default())),
    };
    result.unwrap_or_else(|refusal| (ViewStatus::Refused(refusal), Private::default()))
}

fn set_up(view: &View) -> Result<(), Refusal> {
    begin(view, 0)?;
    show_copies(view, &sources(view)?)
}

fn set_up_protected(
    view: &View,
    protection: &Protection,
    guardian: Result<&OwnedFd, &Refusal>,
) -> Result<Private, Refusal> {
    let guardian = guardian.map_err(Refusal::clone)?;
    let network = if protection.network {
        0
    } else {
        libc::CLONE_NEWNET
    };
    begin(view, libc::CLONE_NEWIPC | network)?;
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| Refusal::of_namespace(what, &error)
    };
    // As long as the paths mean what they do outside.
    let sources = sources(view)?;
    let private = protection::protect(protection)?;
    show_copies(view, &sources)?;
    if !protection.network {
        sys::start_loopback().map_err(failed("a network of its own cannot be used"))?;
    }
    let listener = filter::install().map_err(failed("system calls cannot be filtered"))?;
    let order = Order {
        private: private.mounts.clone(),
        network: protection.network,
    };
    sys::send_with_descriptors(guardian, &order.to_bytes(), &[listener.as_raw_fd()])
        .map_err(failed("the guardian cannot be reached"))?;
    // What is inherited from us, and our memory, is nobody's to look at.
    sys::forbid_looking(true).map_err(failed("the supervisor cannot be protected"))?;
    Ok(private)
}

/// Into the namespaces; nothing that is mounted from now on shows outside.
fn begin(view: &View, namespaces: libc::c_int) -> Result<(), Refusal> {
    for (source, target) in &view.shadow {
        if source.starts_with(target) {
            return Err(Refusal {
                reason: format!(
                    "the copy {} lies inside {}, which it would hide",
                    source.display(),
                    target.display()
                ),
                obstacle: Obstacle::CopyInProject,
            });
        }
    }
    unshare(namespaces)
        .map_err(|e| Refusal::of_namespace("a mount namespace is not permitted", &e))?;
    // Else the mounts below would show, or even spread, outside.
    mount(None, Path::new("/"), libc::MS_REC | libc::MS_PRIVATE)
        .map_err(|e| Refusal::of_namespace("mounts cannot be made private", &e))
}

/// What appears elsewhere, opened: its path may be covered by then.
fn sources(view: &View) -> Result<Vec<OwnedFd>, Refusal> {
    let open = |(source, _): &(PathBuf, PathBuf)| {
        sys::open_place(source).map_err(|error| Refusal::of_file(source.display(), &error))
    };
    view.shadow.iter().map(open).collect()
}

fn show_copies(view: &View, sources: &[OwnedFd]) -> Result<(), Refusal> {
    for (done, ((source, target), open)) in view.shadow.iter().zip(sources).enumerate() {
        let mounted = match &view.protection {
            Some(protection) => {
                let writable = !protection.kept.contains(source);
                protection::show(open, target, writable)
            }
            None => mount(
                Some(&sys::path_of(open)),
                target,
                libc::MS_BIND | libc::MS_REC,
            ),
        };
        if let Err(error) = mounted {
            for (_, target) in view.shadow[..done].iter().rev() {
                unmount(target);
            }
            let what = format!(
                "{} cannot be mounted at {}",
                source.display(),
                target.display()
            );
            return Err(Refusal::of_namespace(what, &error));
        }
    }
    Ok(())
}

/// Namespaces of our own, that of mounts among them; who is not root also needs a user namespace, in which user and
/// group keep their numbers.
fn unshare(namespaces: libc::c_int) -> io::Result<()> {
    let namespaces = namespaces | libc::CLONE_NEWNS;
    // SAFETY: no pointers; these calls only read.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no pointers.
    let plain = check(unsafe { libc::unshare(namespaces) });
    if plain.is_ok() {
        return Ok(());
    }
    // SAFETY: no pointers.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | namespaces) })?;
    // Required before an unprivileged process may map its group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))
}
