//! Why the system does not let a copy appear at another path, or does not protect files from changes, and
//! what helps.

use std::fmt;
use std::io;

/// Why a view or its protection could not be set up. It displays as a reason with a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused, and what the operating system said.
    pub reason: String,
    /// What stands in the way.
    pub obstacle: Obstacle,
}

/// The kind of obstacle to a view. Each kind has a remedy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The system permits no namespaces, or no mounts in them.
    Namespaces,
    /// The system permits so many namespaces, or none, by a number.
    Limit,
    /// No more files may be open.
    Descriptors,
    /// The copy would lie in the project that it hides.
    CopyInProject,
    /// Patchwright runs in a chroot.
    Chroot,
    /// Something else, which the reason names.
    Other,
}

/// All obstacles, in the order of their numbers.
pub(crate) const OBSTACLES: [Obstacle; 6] = [
    Obstacle::Namespaces,
    Obstacle::Descriptors,
    Obstacle::CopyInProject,
    Obstacle::Chroot,
    Obstacle::Other,
    Obstacle::Limit,
];

/// The remedy if no more files may be opened.
pub(crate) const MORE_DESCRIPTORS: &str =
    "; raise the number of files that may be open (`ulimit -n 1024`)";

/// Whether no more files may be open.
pub(crate) fn is_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

impl Refusal {
    /// The system refuses a namespace or a mount.
    pub(crate) fn of_namespace(what: impl fmt::Display, error: &io::Error) -> Self {
        // What says that there are too many namespaces, or none of this kind, among them.
        const REFUSED: [libc::c_int; 8] = [
            libc::EPERM,
            libc::EACCES,
            libc::ENOSYS,
            libc::EINVAL,
            libc::ENODEV,
            libc::EOPNOTSUPP,
            libc::ENOSPC,
            libc::EUSERS,
        ];
        let number = error.raw_os_error().unwrap_or_default();
        let obstacle = match REFUSED.contains(&number) {
            true if is_in_chroot() => Obstacle::Chroot,
            true if matches!(number, libc::ENOSPC | libc::EUSERS) => Obstacle::Limit,
            true => Obstacle::Namespaces,
            false if is_of_descriptors(error) => Obstacle::Descriptors,
            false => Obstacle::Other,
        };
        let reason = match obstacle {
            // What the system calls it is about disks or users.
            Obstacle::Limit => format!("{what}: the limit of namespaces is reached"),
            _ => format!("{what}: {error}"),
        };
        Refusal { reason, obstacle }
    }

    /// Returns the command that removes the cause, if there is one.
    pub fn command(&self) -> Option<&'static str> {
        Some(match self.obstacle {
            Obstacle::Namespaces => {
                "sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 (as root), or docker run --privileged"
            }
            Obstacle::Limit => {
                "sysctl -w user.max_user_namespaces=10000 user.max_pid_namespaces=10000 user.max_mnt_namespaces=10000 (as root)"
            }
            Obstacle::Chroot => "mount --bind ROOT ROOT (as root, before chroot ROOT)",
            Obstacle::Descriptors => "ulimit -n 1024",
            Obstacle::CopyInProject | Obstacle::Other => return None,
        })
    }

    /// A file or folder cannot be used.
    pub(crate) fn of_file(what: impl fmt::Display, error: &io::Error) -> Self {
        let obstacle = match is_of_descriptors(error) {
            true => Obstacle::Descriptors,
            false => Obstacle::Other,
        };
        let reason = format!("{what}: {error}");
        Refusal { reason, obstacle }
    }
}

/// That nothing can be protected, and what to do.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { reason, obstacle } = self;
        let subject = match obstacle {
            Obstacle::Namespaces | Obstacle::Limit | Obstacle::Chroot => {
                "this system does not let Patchwright keep"
            }
            _ => "Patchwright cannot keep",
        };
        write!(
            f,
            "{subject} what lies outside of the project from changes ({reason})"
        )?;
        f.write_str(match obstacle {
            Obstacle::Namespaces => {
                "; run it where namespaces are permitted, or say --unprotected, with which builds and tests have all your rights"
            }
            Obstacle::Limit => {
                "; raise it (`sysctl user.max_user_namespaces` shows one of several), or say --unprotected, with which builds and tests have all your rights"
            }
            Obstacle::Descriptors => MORE_DESCRIPTORS,
            Obstacle::CopyInProject => "; set PATCHWRIGHT_TMP to a folder outside of the project",
            Obstacle::Chroot => {
                ", because it runs in a chroot; run it outside of that, or in a container, or, as root, in a chroot that is a mount \
                 point (`mount --bind ROOT ROOT`); --unprotected would give builds and tests all your rights"
            }
            Obstacle::Other => "",
        })
    }
}

/// Whether the root of this process is no root of a mount: then the system permits no namespace of users, and mounts cannot be
/// kept from showing outside.
fn is_in_chroot() -> bool {
    let mut about = std::mem::MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is NUL-terminated, and the call fills the structure, which is all zeros before.
    let (result, about) = unsafe {
        let result = libc::statx(
            libc::AT_FDCWD,
            c"/".as_ptr(),
            0,
            libc::STATX_BASIC_STATS,
            about.as_mut_ptr(),
        );
        (result, about.assume_init())
    };
    let flag = libc::STATX_ATTR_MOUNT_ROOT as u64;
    result == 0 && about.stx_attributes_mask & flag != 0 && about.stx_attributes & flag == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_obstacle_has_advice_of_its_own() {
        let told = |errno| {
            let error = io::Error::from_raw_os_error(errno);
            Refusal::of_namespace("a mount", &error).to_string()
        };
        assert!(told(libc::EPERM).contains("where namespaces are permitted"));
        let limit = told(libc::ENOSPC);
        assert!(
            limit.contains("the limit of namespaces is reached"),
            "{limit}"
        );
        assert!(!limit.contains("device"), "{limit}");
        let descriptors = told(libc::EMFILE);
        assert!(descriptors.contains("`ulimit -n 1024`"), "{descriptors}");
        assert!(!descriptors.contains("namespaces"), "{descriptors}");
        let file = Refusal::of_file("/a", &io::Error::from_raw_os_error(libc::EACCES));
        assert!(!file.to_string().contains("--unprotected"), "{file}");
        let inside = Refusal {
            reason: "in it".into(),
            obstacle: Obstacle::CopyInProject,
        };
        let inside = inside.to_string();
        assert!(inside.contains("PATCHWRIGHT_TMP"), "{inside}");
        assert!(!inside.contains("--unprotected"), "{inside}");
    }
}
