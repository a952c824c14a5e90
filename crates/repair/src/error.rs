//! The errors of a repair.

use std::path::PathBuf;

use patchwright_csource::ParseError;
use patchwright_exec::{
    BuildError, FileError, JournalError, PoolError, ProjectError, RecordError, RunError, TestError,
};
use patchwright_localize::LocalizeError;
use patchwright_probe_image::{CandidateError, ChannelError};

/// Why a repair cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The project is described wrongly.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The untouched program does not build, or it is not known how.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No test fails.
    #[error("{}: there is nothing to repair; add a test that shows the bug", all_pass(*tests))]
    NothingFails {
        /// Number of tests.
        tests: usize,
    },
    /// All tests fail.
    #[error(
        "all {tests} tests fail, so no test protects what works; check the build and the driver{reason}, or say --allow-all-failing"
    )]
    EverythingFails {
        /// Number of tests.
        tests: usize,
        /// How the first one fails.
        reason: String,
    },
    /// All failing tests are flaky.
    #[error("the only failing tests are flaky ({names}): they pass and fail without any change")]
    OnlyFlaky {
        /// Their names.
        names: String,
    },
    /// A file in `--files` that no build compiles.
    #[error("{} is not compiled by the build of {}{hint}", file.display(), root.display())]
    NotCompiled {
        /// The file.
        file: PathBuf,
        /// The project.
        root: PathBuf,
        /// Names of files that are.
        hint: String,
    },
    /// A file in `--files` that is a part of other files.
    #[error(
        "{} is {how}: an included file is searched if it has functions, and at most eight sources, all of them C, include it; name sources in --files",
        file.display()
    )]
    Included {
        /// The file.
        file: PathBuf,
        /// By which sources, as far as that is known.
        how: String,
    },
    /// A source that must be read cannot be.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The selected part of the program has no location.
    #[error("there is no location to change in {what}: {reason}")]
    NoLocations {
        /// What was looked at.
        what: String,
        /// Why there is none.
        reason: String,
    },
    /// The compiler accepts no function of the selected part of the program when it is woven: our bug.
    #[error("no location in {what} can be instrumented: {reason}")]
    NotWoven {
        /// What was looked at.
        what: String,
        /// What became of its functions.
        reason: String,
    },
    /// The failing tests do not reach any location.
    #[error(
        "the failing tests ({tests}) do not execute any of the {holes} locations in {what}; widen --files"
    )]
    NotReached {
        /// The failing tests.
        tests: String,
        /// Number of holes.
        holes: usize,
        /// What was looked at.
        what: String,
    },
    /// The woven program does not report.
    #[error(
        "the instrumented program never reported to Patchwright in test {test}: the test does not start the program that the build makes in this tree, or starts it where the files of the run cannot be seen (in a chroot){failure}"
    )]
    NothingAttached {
        /// The test.
        test: String,
        /// How it fails without instrumentation.
        failure: String,
    },
    /// What tests execute cannot be observed.
    #[error(transparent)]
    Localize(#[from] LocalizeError),
    /// The woven source does not build: our bug.
    #[error("the instrumented program does not build, which is a bug of Patchwright: {0}")]
    WovenBuild(BuildError),
    /// The woven program behaves differently: our bug, or a nondeterministic program.
    #[error(
        "the instrumented program gives other verdicts than the original in the failing tests ({tests}), which is a bug of Patchwright or nondeterminism of the program"
    )]
    WovenDiffers {
        /// The tests.
        tests: String,
    },
    /// What the failing tests show depends on what was never written.
    #[error(
        "the failing tests ({tests}) pass in the instrumented program: the program reads memory that was never written, such as a variable, an element of an array or fresh memory. Compile it with -O2 -Wall (--cflags), or with -fsanitize=memory, to find where"
    )]
    ReadsUnset {
        /// The tests.
        tests: String,
    },
    /// A test cannot be run.
    #[error(transparent)]
    Test(#[from] TestError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A worker cannot be made.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A process cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The shared memory cannot be made.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// A candidate that cannot be handed to the probe.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
}

impl RepairError {
    /// Whether the user or a signal has ended the run.
    pub fn is_cancelled(&self) -> bool {
        match self {
            RepairError::Run(RunError::Cancelled) => true,
            RepairError::Test(error) => error.is_cancelled(),
            RepairError::Localize(error) => error.is_cancelled(),
            RepairError::Record(RecordError::Build(BuildError::Run(RunError::Cancelled)))
            | RepairError::WovenBuild(BuildError::Run(RunError::Cancelled)) => true,
            RepairError::Pool(PoolError::Runner(RunError::Cancelled)) => true,
            RepairError::Parse(ParseError::Run(RunError::Cancelled)) => true,
            _ => false,
        }
    }
}

/// That all of so many tests pass.
fn all_pass(tests: usize) -> String {
    match tests {
        1 => "the only test passes".to_owned(),
        _ => format!("all {tests} tests pass"),
    }
}
