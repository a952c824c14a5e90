//! Why a changed program is not a repair.

use patchwright_exec::FailReason;
use serde::{Deserialize, Serialize};

/// Why a changed program is not a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rejection {
    /// It does not build.
    Build(String),
    /// It fails a test.
    Test {
        /// The test, by index.
        test: usize,
        /// Why, with the test's name.
        reason: String,
        /// How the test failed, if that is known.
        #[serde(default)]
        failure: Option<FailReason>,
    },
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rejection::Build(reason) | Rejection::Test { reason, .. } => f.write_str(reason),
        }
    }
}
