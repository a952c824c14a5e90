//! Records what builds and tests try to change or reach outside of their copy.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// How an attempt ended: refused, or made in a layer that is thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AttemptKind {
    /// A file outside of the copy was to be changed: refused.
    Refused,
    /// A file of the user's was changed in a layer that is thrown away.
    ThrownAway,
    /// A program outside was to be reached through a socket or a pipe: refused.
    Unreachable,
    /// Another machine was to be reached, without a network: refused.
    NoNetwork,
}

const KINDS: [AttemptKind; 4] = [
    AttemptKind::Refused,
    AttemptKind::ThrownAway,
    AttemptKind::Unreachable,
    AttemptKind::NoNetwork,
];

/// One attempt of a process to change or reach something outside of its copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// What became of it.
    pub kind: AttemptKind,
    /// The system call.
    pub call: String,
    /// The name of the program, as the kernel knows it: at most 15 bytes.
    pub program: String,
    /// The path, or the address.
    pub what: String,
}

impl Attempt {
    /// Encodes the attempt for the pipe to the host: the kind, then call, program and path, separated by NUL.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.kind as u8];
        bytes.extend_from_slice(
            [&*self.call, &self.program, &self.what]
                .join("\0")
                .as_bytes(),
        );
        bytes
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) has made; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let mut parts = rest.splitn(3, |byte| *byte == 0);
        let mut part = || Some(String::from_utf8_lossy(parts.next()?).into_owned());
        Some(Attempt {
            kind: *KINDS.get(usize::from(*kind))?,
            call: part()?,
            program: part()?,
            what: part()?,
        })
    }

    /// What the user can say to permit it.
    fn remedy(&self) -> &'static str {
        match self.kind {
            AttemptKind::Refused | AttemptKind::ThrownAway => "--allow-writes DIR permits it",
            AttemptKind::Unreachable => "only --unprotected permits it",
            AttemptKind::NoNetwork => "--network permits it",
        }
    }
}

impl fmt::Display for Attempt {
    /// As the end of a sentence whose subject is a build or a test.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attempt {
            call,
            program,
            what,
            ..
        } = self;
        match self.kind {
            AttemptKind::Refused => write!(
                f,
                "tried to change {what} outside of the copy ({call}, by {program}), which was refused"
            ),
            AttemptKind::ThrownAway => write!(
                f,
                "changed {what} ({call}, by {program}) in a private layer that is thrown away"
            ),
            AttemptKind::Unreachable => write!(
                f,
                "tried to reach {what} outside of the copy ({call}, by {program}), which was refused"
            ),
            AttemptKind::NoNetwork => write!(
                f,
                "tried to reach {what} ({call}, by {program}), and there is no network"
            ),
        }
    }
}

/// The number of attempts that are told by name in a run.
const TOLD: usize = 20;

/// The attempts of all builds and tests of a run. Each different attempt is kept once.
#[derive(Debug, Default)]
pub struct Attempts {
    /// Where the run has its own files: that those cannot be changed is nobody's affair.
    own: Vec<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    known: BTreeSet<(AttemptKind, String)>,
    untold: Vec<String>,
    said: BTreeSet<String>,
    told: usize,
    unnamed: usize,
}

impl Attempts {
    /// Starts the list of a run that has its own files in these folders.
    pub(crate) fn of_run(own: Vec<PathBuf>) -> Self {
        Attempts {
            own,
            kept: Mutex::default(),
        }
    }

    /// Notes what `step`, such as `the build` or `test a`, has tried.
    pub(crate) fn add(&self, step: impl FnOnce() -> String, attempts: &[Attempt]) {
        let is_own = |attempt: &Attempt| {
            let mut own = self.own.iter();
            own.any(|own| Path::new(&attempt.what).starts_with(own))
        };
        if attempts.iter().all(is_own) {
            return;
        }
        let step = step();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in attempts.iter().filter(|attempt| !is_own(attempt)) {
            // A path of a hostile program may be new each time.
            let is_new = kept.known.len() < 100 * TOLD
                && kept.known.insert((attempt.kind, attempt.what.clone()));
            if !is_new {
                continue;
            }
            if kept.told < TOLD {
                kept.told += 1;
                let remedy = attempt.remedy();
                kept.untold.push(format!("{step} {attempt}; {remedy}"));
            } else {
                kept.unnamed += 1;
            }
        }
    }

    /// Adds another message that the user should see once.
    pub(crate) fn tell(&self, text: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.said.insert(text.clone()) {
            kept.untold.push(text);
        }
    }

    /// Returns one line for each attempt that no earlier call has returned. The lines are ready to be
    /// printed.
    pub fn news(&self) -> Vec<String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut kept.untold)
    }

    /// Returns the number of attempts that [`Attempts::news`] leaves out, because there were too
    /// many.
    pub fn unnamed(&self) -> usize {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .unnamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(what: &str) -> Attempt {
        Attempt {
            kind: AttemptKind::Refused,
            call: "unlinkat".into(),
            program: "rm".into(),
            what: what.into(),
        }
    }

    #[test]
    fn an_attempt_is_told_once_and_a_flood_of_them_is_counted() {
        let attempts = Attempts::default();
        attempts.add(|| "test a".into(), &[attempt("/home/me/notes")]);
        attempts.add(|| "test b".into(), &[attempt("/home/me/notes")]);
        assert_eq!(
            attempts.news(),
            [
                "test a tried to change /home/me/notes outside of the copy (unlinkat, by rm), which was refused; \
                 --allow-writes DIR permits it"
            ]
        );
        let many: Vec<Attempt> = (0..TOLD + 4).map(|n| attempt(&format!("/{n}"))).collect();
        attempts.add(|| "test c".into(), &many);
        assert_eq!(attempts.news().len(), TOLD - 1);
        assert_eq!(attempts.unnamed(), 5);
    }

    #[test]
    fn what_is_tried_with_files_of_the_run_itself_is_not_told() {
        let attempts = Attempts::of_run(vec!["/tmp/run".into()]);
        attempts.add(|| "the build".into(), &[attempt("/tmp/run/flags/cc")]);
        assert!(attempts.news().is_empty());
        attempts.add(|| "the build".into(), &[attempt("/tmp/runs")]);
        assert_eq!(attempts.news().len(), 1);
    }

    #[test]
    fn an_attempt_survives_the_wire() {
        let attempt = attempt("/a\nb");
        assert_eq!(Attempt::from_bytes(&attempt.to_bytes()), Some(attempt));
        assert_eq!(Attempt::from_bytes(b"\x09a\0b\0c"), None);
        assert_eq!(Attempt::from_bytes(b"\0ab"), None);
    }
}
