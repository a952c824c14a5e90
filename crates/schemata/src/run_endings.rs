//! How an execution of a test ended.

use std::time::Duration;

use patchwright_exec::{Ending, TestRun, TimeKind};
use patchwright_text::{Digest, Hasher};

/// With less processor time no limit of a test itself ends a run because it was woven.
const LEAST_LONG: Duration = Duration::from_millis(100);

/// A run takes long if it takes so many times what the untouched program takes.
const LONGER: u32 = 2;

/// How a test ended, and its output; `None` if not all of it was kept.
pub(crate) fn outcome(run: &TestRun) -> Option<Digest> {
    let outcome = &run.outcome;
    let mut hasher = Hasher::new();
    hasher.field(format!("{:?}", outcome.ending));
    hasher.field(&outcome.stdout).field(&outcome.stderr);
    (!outcome.output_truncated).then(|| hasher.finish())
}

/// Whether a limit of ours ended it.
pub(crate) fn is_limit(run: &TestRun) -> bool {
    matches!(run.outcome.ending, Ending::TimedOut(_))
}

/// What it did up to then it would do for ever, comparisons included.
pub(crate) fn is_endless(run: &TestRun) -> bool {
    run.outcome.ending == Ending::TimedOut(TimeKind::Endless)
}

/// Whether a time limit of the test itself may have ended it: a test fails, by itself, after much more processor time than the
/// untouched program takes. Woven, a program takes several times what it takes by itself.
pub(crate) fn takes_long(run: &TestRun, expected: Duration) -> bool {
    let most = (expected * LONGER).max(LEAST_LONG);
    !run.verdict.is_pass() && !is_limit(run) && run.outcome.cpu >= most
}

#[cfg(test)]
mod tests {
    use patchwright_exec::{FailReason, Outcome, Verdict};

    use super::*;

    #[test]
    fn a_failure_takes_long_if_it_takes_more_than_the_untouched_program_and_than_100_ms() {
        let run = |verdict: Verdict, ending: Ending, milliseconds: u64| TestRun {
            verdict,
            outcome: Outcome {
                ending,
                stdout: Vec::new(),
                stderr: Vec::new(),
                output_truncated: false,
                wall: Duration::from_secs(1),
                cpu: Duration::from_millis(milliseconds),
                peak_memory: 0,
                leftovers: 0,
                survivors: 0,
                forked: false,
                attempts: Vec::new(),
                leaves_private: false,
            },
        };
        let fails = |milliseconds: u64| {
            let verdict = Verdict::Fail(FailReason::ExitCode {
                expected: 0,
                actual: 124,
            });
            run(verdict, Ending::Exited(124), milliseconds)
        };
        let expected = Duration::from_millis(20);
        assert!(takes_long(&fails(150), expected));
        assert!(!takes_long(&fails(90), expected));
        assert!(!takes_long(&fails(150), Duration::from_millis(100)));
        assert!(!takes_long(
            &run(Verdict::Pass, Ending::Exited(0), 500),
            expected
        ));
        let limit = Ending::TimedOut(TimeKind::Cpu);
        let verdict = Verdict::Fail(FailReason::TimedOut(TimeKind::Cpu));
        assert!(!takes_long(&run(verdict, limit, 500), expected));
    }
}
