//! The verdict on a patch.

use std::fmt;

use patchwright_exec::{Ending, FailReason};
use serde::{Deserialize, Serialize};

/// The verdict on a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PatchVerdict {
    /// It builds, and all tests that are not set aside pass.
    Plausible,
    /// It builds, and a test fails.
    Implausible(Killer),
    /// It does not fit the tree.
    DoesNotApply(String),
    /// The project does not build with it.
    DoesNotCompile(CompileFailure),
    /// All tests passed, and one of them failed when they were run again.
    Unstable(Killer),
}

/// The test that speaks against a patch: the first that failed, in the order in which the tests were run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killer {
    /// Its number in the suite, from 0.
    pub test: usize,
    /// How it failed.
    pub failure: Failure,
}

/// How a test failed: it ran and failed, or it could not be run because of the patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// It ran.
    Ran(FailReason),
    /// It could not be run, because of what the patch did: the program or the driver is gone.
    NotRun(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Ran(reason) => reason.fmt(f),
            Failure::NotRun(message) => f.write_str(message),
        }
    }
}

/// How a build failed, and what it printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileFailure {
    /// How the build command ended; `None` if the compiler rejected the patch where it was woven, and nothing was built.
    pub ending: Option<Ending>,
    /// The first line of its output that reports an error, if one does.
    pub first_error: Option<String>,
    /// The end of its output.
    pub output: String,
}

impl fmt::Display for CompileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a build said that was ended is not why it failed.
        let is_by_itself = matches!(
            self.ending,
            None | Some(Ending::Exited(_) | Ending::Signaled(_))
        );
        match (&self.first_error, self.ending) {
            (Some(line), _) if is_by_itself => f.write_str(line),
            (_, Some(ending)) => write!(f, "the build {ending}{}", ending.more_for_builds()),
            (_, None) => f.write_str("the compiler rejects it"),
        }
    }
}

/// The result of one test on a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    /// Its number in the suite, from 0.
    pub test: usize,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// Milliseconds that it took; `None` if the execution was that of another patch, or woven.
    pub milliseconds: Option<u64>,
}

impl PatchVerdict {
    /// Returns the verdict's word in reports and JSON, such as `plausible`.
    pub fn word(&self) -> &'static str {
        match self {
            PatchVerdict::Plausible => "plausible",
            PatchVerdict::Implausible(_) => "implausible",
            PatchVerdict::DoesNotApply(_) => "does not apply",
            PatchVerdict::DoesNotCompile(_) => "does not compile",
            PatchVerdict::Unstable(_) => "unstable",
        }
    }
}

#[cfg(test)]
mod tests {
    use patchwright_exec::{LimitKind, TimeKind};

    use super::*;

    #[test]
    fn a_build_that_was_ended_is_not_explained_by_what_it_said() {
        let failure = |ending| CompileFailure {
            ending,
            first_error: Some("x.c:1: error: no".to_owned()),
            output: String::new(),
        };
        for ending in [None, Some(Ending::Exited(2))] {
            assert_eq!(failure(ending).to_string(), "x.c:1: error: no");
        }
        let ended = failure(Some(Ending::TimedOut(TimeKind::Wall)));
        assert_eq!(
            ended.to_string(),
            "the build ran out of time (--build-timeout gives it more)"
        );
        let ended = failure(Some(Ending::LimitExceeded(LimitKind::Memory)));
        assert_eq!(
            ended.to_string(),
            "the build exceeded its limit of memory (--build-memory gives it more)"
        );
    }
}
