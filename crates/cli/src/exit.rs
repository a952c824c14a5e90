//! The exit statuses.

use std::process::ExitCode;

use patchwright_exec::{ProjectError, RecordError};
use patchwright_validate::ValidateError;

/// The exit statuses that users and scripts can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, something was found.
    Found = 0,
    /// Done, nothing was found.
    Nothing = 1,
    /// What the user gave is wrong.
    BadInput = 2,
    /// The project does not build, or its tests are no basis.
    BadProject = 3,
    /// Interrupted.
    Interrupted = 4,
    /// Not decided: the bound, the budget, or something that is not encoded.
    Undecided = 5,
    /// A bug of ours.
    Bug = 70,
    /// Nobody reads the output any more, as with `| head`; what a shell says of a program that the signal for it ended.
    OutputClosed = 141,
}

impl Exit {
    /// Returns the word before the message that such a run ends with: none where there was just nothing to do.
    pub fn prefix(self) -> &'static str {
        match self {
            Exit::Found => "",
            _ => "error: ",
        }
    }

    /// Returns the status for an error of a validation.
    pub fn of_validation(error: &ValidateError) -> Exit {
        match error {
            error if error.is_cancelled() => Exit::Interrupted,
            ValidateError::Record(RecordError::Build(_) | RecordError::AbsolutePaths { .. })
            | ValidateError::OnlyFlaky { .. }
            | ValidateError::OnlyFailing { .. } => Exit::BadProject,
            ValidateError::Project(ProjectError::NothingChanged { .. }) => Exit::Found,
            ValidateError::Project(_)
            | ValidateError::Input(_)
            | ValidateError::NothingUsable { .. }
            | ValidateError::Record(_)
            | ValidateError::NoSuchTest { .. }
            | ValidateError::Test(_)
            | ValidateError::File(_)
            | ValidateError::Journal(_)
            | ValidateError::Pool(_)
            | ValidateError::Run(_) => Exit::BadInput,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
