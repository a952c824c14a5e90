//! The result of one execution of a test.

use std::time::Duration;

use patchwright_probe_image::{Observation, Watched};
use serde::{Deserialize, Serialize};

use crate::classes::ClassVerdict;

/// The result of one execution of a test.
#[derive(Serialize, Deserialize)]
pub struct Run {
    /// What the test says.
    pub verdict: ClassVerdict,
    /// What was seen.
    pub report: Report,
    /// How long it took.
    pub took: Duration,
    /// The processor time that it took.
    #[serde(default)]
    pub cpu: Duration,
}

impl Run {
    /// The run of a candidate that is too large for the probe: it is not plausible, and decides no other one.
    pub(crate) fn not_executed() -> Self {
        Run {
            verdict: ClassVerdict::Fail(None),
            report: Report::States(Observation {
                attached: 0,
                visits: 0,
                overflow: true,
                ended: false,
                incomplete: 0,
                undefined: false,
                mismatch: false,
                states: Default::default(),
            }),
            took: Duration::ZERO,
            cpu: Duration::ZERO,
        }
    }
}

/// The report of an execution: the states of a hole, or the windows of a watched variable.
#[derive(Serialize, Deserialize)]
pub enum Report {
    /// States of one hole.
    States(Observation),
    /// Windows of a watched variable.
    Windows(Watched),
}
