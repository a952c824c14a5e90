//! The errors of a run.

use patchwright_exec::{
    BuildError, FileError, JournalError, PoolError, ProjectError, RecordError, RunError, TestError,
};
use patchwright_patches::{InputError, Reason};

/// Why a set of patches cannot be validated.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The project is described wrongly.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The patches cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Not one of the patches is a diff that can be understood.
    #[error("{}{first}", if *patches == 1 { String::new() } else {
        format!("none of the {patches} patches can be understood; the first one: ")
    })]
    NothingUsable {
        /// Number of patches.
        patches: usize,
        /// What is wrong with the first one.
        first: Reason,
    },
    /// The untouched program cannot be prepared or built.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No test is stable.
    #[error("all tests are flaky: each of them ({names}) passes and fails without any change")]
    OnlyFlaky {
        /// Their names.
        names: String,
    },
    /// A test that patches are to mend is none.
    #[error("there is no test {name} for --must-fix; the tests are {names}")]
    NoSuchTest {
        /// What was named.
        name: String,
        /// The tests.
        names: String,
    },
    /// All tests are set aside.
    #[error(
        "no test is left: each of them ({names}) fails on the untouched program and is set aside; name those that patches are meant to mend with --must-fix"
    )]
    OnlyFailing {
        /// Their names.
        names: String,
    },
    /// A test of the untouched program cannot be run.
    #[error(transparent)]
    Test(#[from] TestError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A worker cannot be made.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A process cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ValidateError {
    /// Whether the user or a signal has ended the run.
    pub fn is_cancelled(&self) -> bool {
        match self {
            ValidateError::Run(RunError::Cancelled)
            | ValidateError::Pool(PoolError::Runner(RunError::Cancelled))
            | ValidateError::Record(RecordError::Build(BuildError::Run(RunError::Cancelled))) => {
                true
            }
            ValidateError::Test(error) => error.is_cancelled(),
            _ => false,
        }
    }
}
