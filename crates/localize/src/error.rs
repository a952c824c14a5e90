//! The errors of a localization.

use patchwright_csource::ParseError;
use patchwright_exec::{BuildError, ExecutedError, FileError, PoolError, RunError, TestError};
use patchwright_probe_image::SharedFileError;

/// Why a localization cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum LocalizeError {
    /// The selected sources have no statement that can be observed.
    #[error(
        "there is no statement to observe in the selected part of the program{}",
        reason.as_deref().map(|reason| format!(": a function {reason}")).unwrap_or_default()
    )]
    NoStatements {
        /// Why a function has none.
        reason: Option<String>,
    },
    /// The marked program does not report.
    #[error(
        "the instrumented program never reported to Patchwright in test {test}: the test does not start the program that the build makes, clears its environment, or the program is linked statically{failure}"
    )]
    NothingAttached {
        /// The test.
        test: String,
        /// How it fails without instrumentation.
        failure: String,
    },
    /// No failing test executes a statement.
    #[error(
        "the failing tests do not execute any of the {statements} statements that were looked at; widen --files"
    )]
    NothingExecuted {
        /// Number of statements.
        statements: usize,
    },
    /// No failing test fails with marks.
    #[error(
        "no failing test fails when its statements are observed, which is a bug of Patchwright or nondeterminism of the program"
    )]
    MarkedDiffers,
    /// The marked source does not build: our bug.
    #[error("the instrumented program does not build, which is a bug of Patchwright: {0}")]
    MarkedBuild(BuildError),
    /// A source that must be read cannot be.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A worker cannot be made.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A process cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A test cannot be run.
    #[error(transparent)]
    Test(#[from] TestError),
    /// What the failing tests execute cannot be found out.
    #[error(transparent)]
    Executed(#[from] ExecutedError),
    /// The shared memory cannot be made.
    #[error(transparent)]
    Shared(#[from] SharedFileError),
}

impl LocalizeError {
    /// Whether the user or a signal has ended the run.
    pub fn is_cancelled(&self) -> bool {
        match self {
            LocalizeError::Run(RunError::Cancelled)
            | LocalizeError::MarkedBuild(BuildError::Run(RunError::Cancelled))
            | LocalizeError::Pool(PoolError::Runner(RunError::Cancelled))
            | LocalizeError::Parse(ParseError::Run(RunError::Cancelled)) => true,
            LocalizeError::Test(error) | LocalizeError::Executed(ExecutedError::Test(error)) => {
                error.is_cancelled()
            }
            _ => false,
        }
    }
}
