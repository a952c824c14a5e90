//! The errors of a run.

use patchwright_csource::ParseError;
use patchwright_exec::{FileError, PoolError, ProjectError, RecordError, RunError};
use patchwright_repair::RepairError;
use patchwright_validate::ValidateError;

/// Why a program cannot be mutated.
#[derive(Debug, thiserror::Error)]
pub enum MutantsError {
    /// The program cannot be built or tested, or something of the run fails.
    #[error(transparent)]
    Validate(#[from] ValidateError),
    /// Clang cannot be found or run.
    #[error(transparent)]
    Clang(#[from] ParseError),
    /// The compiler cannot be run.
    #[error(transparent)]
    Compiler(#[from] RepairError),
    /// A list of kinds of change cannot be read.
    #[error("{reason}")]
    Kinds {
        /// Why.
        reason: String,
    },
    /// The time was over before a mutant was tested.
    #[error(
        "the time was over before any mutant was tested; --budget gives more, --files and --limit need less"
    )]
    OutOfTime,
    /// Nothing can be changed.
    #[error("nothing to mutate in {what}: {reason}")]
    Nothing {
        /// What was looked at.
        what: String,
        /// Why there is nothing.
        reason: String,
    },
}

impl MutantsError {
    /// Whether the user or a signal has ended the run.
    pub fn is_cancelled(&self) -> bool {
        match self {
            MutantsError::Validate(error) => error.is_cancelled(),
            MutantsError::Clang(error) => matches!(error, ParseError::Run(RunError::Cancelled)),
            MutantsError::Compiler(error) => error.is_cancelled(),
            MutantsError::Kinds { .. } | MutantsError::OutOfTime | MutantsError::Nothing { .. } => {
                false
            }
        }
    }
}

macro_rules! by_validation {
    ($($error:ty),*) => {$(
        impl From<$error> for MutantsError {
            fn from(error: $error) -> Self {
                MutantsError::Validate(error.into())
            }
        }
    )*};
}

by_validation!(FileError, PoolError, ProjectError, RecordError, RunError);
