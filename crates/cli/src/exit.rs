//! The exit statuses.

use std::process::ExitCode;

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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
