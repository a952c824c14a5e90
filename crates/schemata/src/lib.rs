//! Other people's patches, validated together in one build.
//!
//! The steps, in an [`Engine`]:
//!
//! 1. Every patch that changes bodies of functions is taken (`plan`); which of them compile is found out for all at
//!    once (`isolate`), and which of these C may not define (`undefined`).
//! 2. Patches go into a *batch*, one woven build: at each place where some of them differ (`placing`, `runs`) stand their
//!    *alternatives*, selected at run time (`batch`). Those that can be tried and undone are woven twice (`capture`).
//! 3. For each test, rounds of the *state-transition tree* (`rounds`): one execution for each class of patches that
//!    the test cannot tell apart. Each begins in the state that the untouched program has left in the tests before
//!    (`state`); a patch that leaves another one is handed back (`leftovers`).
//!
//! # Invariants
//! * A verdict comes from an execution of the patch, or of one whose every visit of every place had the same effects:
//!   jumps, values returned, bytes written. What cannot be compared is executed by itself.
//! * "Does not compile" is what the project's own compiler says with the project's own flags.
//! * What cannot be woven is handed back with a reason, for a build of its own; so is a patch about which the woven program
//!   says nothing in some test.
//! * The copy of the untouched program is as it was when a step has ended.

mod additions;
mod batch;
mod capture;
mod captures;
mod changing_names;
mod compiler;
mod compiles;
mod context;
mod edits;
mod engine;
mod enumerations;
mod expanded;
mod helpers;
mod inactive;
mod initializers;
mod isolate;
mod known_names;
mod large;
mod leftovers;
mod library;
mod linked;
mod macros;
mod marks;
mod missing;
mod outside;
mod placing;
mod plan;
mod planned;
mod preprocessed;
mod replacements;
mod rounds;
mod run_endings;
mod runs;
mod scan;
mod slid;
mod stack;
mod state;
mod uncaptured;
mod undeclared_calls;
mod undefined;
mod varying;
mod warnings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use patchwright_csource::{ParseError, Refusal};
use patchwright_exec::{BuildError, FileError, PoolError, RunError, TestError, Verdict};
use patchwright_probe_image::{SplitReason, TableError};

pub use compiler::CompilerError;
pub use context::Context;
pub use engine::Engine;
pub use rounds::OpenReason;
pub use uncaptured::Uncaptured;

/// The options of a validation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of workers.
    pub jobs: usize,
    /// Patches that a test cannot tell apart are executed once. Otherwise each patch is executed in each test that
    /// reaches it.
    pub dedup: bool,
    /// Tests that run a program themselves start it once and fork it for each execution, where it can be.
    pub virtualize: bool,
    /// A test that provably never ends is not waited for until its time is up.
    pub prove_endless: bool,
    /// A patch that has failed a test is run in the others too.
    pub keep_going: bool,
    /// Where the untouched program's tests leave something behind, patches that have passed all are run in them once more,
    /// in the state that the first time has left.
    pub twice: bool,
    /// Most patches in one build.
    pub batch: usize,
    /// When executions are watched for uses of what nobody has written (see `engine::cleared`).
    pub watch: Watch,
}

/// When the engine builds a program that reports each use of memory without a value. Patches that may
/// have such uses need no build of their own if none is reported.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// The least number of such patches for which the program is built.
    pub least: usize,
    /// The processor time that a patch takes by itself.
    pub alone: Duration,
}

impl Watch {
    /// The mode in which the reporting program is built as soon as one patch may use memory without a value.
    pub const ALWAYS: Watch = Watch {
        least: 1,
        alone: Duration::MAX,
    };

    /// Never builds the reporting program.
    pub const NEVER: Watch = Watch {
        least: usize::MAX,
        alone: Duration::ZERO,
    };
}

impl Default for Options {
    fn default() -> Self {
        Options {
            jobs: 1,
            dedup: true,
            virtualize: true,
            prove_endless: true,
            keep_going: false,
            twice: false,
            batch: 1000,
            watch: Watch::ALWAYS,
        }
    }
}

/// The fate of a patch before any test is run: woven, rejected by the compiler, or set apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is validated here.
    Woven,
    /// The compiler rejects it.
    DoesNotCompile {
        /// The file.
        file: PathBuf,
        /// The line of the patched file; 0 if the compiler names none.
        line: u32,
        /// The compiler's first error.
        message: String,
    },
    /// It must be validated by a build of its own.
    Apart(Apart),
}

/// Why a patch needs a build of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Apart {
    /// It changes nothing but blanks and comments.
    Nothing,
    /// It adds, removes or renames files, or changes permissions.
    Files,
    /// It changes a file that is no C source of the build.
    NotASource,
    /// It changes a source that the build compiles several times, with other flags or another text.
    CompiledTwice,
    /// It changes a source whose syntax tree could not be had, or that another program has written.
    NotUnderstood,
    /// It changes text outside of the bodies of functions, or adds there what would mean something to others.
    OutsideOfFunctions(Outside),
    /// It adds what does something by itself, or is found by others: a constructor, an alias, a section, assembly.
    Special,
    /// It changes a function that cannot be woven.
    Function(Refusal),
    /// It moves text that says on which line it stands, and that cannot be an alternative.
    LineNumbers,
    /// Its function has directives or brackets that are not balanced.
    Unbalanced,
    /// Its function has text that cannot stand in a file twice, as assembly.
    NotTwice,
    /// It uses a function that is not declared: the linker decides.
    Undeclared,
    /// It changes calculations of a function that the compiler rounds otherwise where others stand round them.
    Rounding,
    /// It adds an array that takes much memory.
    LargeArray,
    /// The compiler's errors could not be assigned to patches.
    NotIsolated,
    /// Its woven text is not accepted.
    NotWoven(Unwoven),
    /// The woven program does not link.
    NotLinked,
    /// The build itself executes what it changes.
    ExecutedByBuild,
}

/// The kind of code outside of functions that a patch changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outside {
    /// The head of this function.
    Head(String),
    /// The definition or declaration of this name.
    Definition(String),
    /// It adds this name, or what is known by it.
    Adds(String),
    /// This directive.
    Directive(String),
    /// What it adds changes what the rest of the file means.
    Meddles,
    /// Several definitions at once, or what is not understood.
    Text,
}

impl Outside {
    fn reason(&self) -> &'static str {
        match self {
            Outside::Head(_) => "changes the head of a function",
            Outside::Definition(_) => "changes a definition outside of functions",
            Outside::Adds(_) => "adds a name outside of functions",
            Outside::Directive(_) => "changes a directive outside of functions",
            Outside::Meddles => {
                "adds outside of functions what changes the meaning of other functions"
            }
            Outside::Text => "changes text outside of functions",
        }
    }
}

/// Why a woven text is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unwoven {
    /// The compiler says this where the patch stands in it.
    Error(String),
    /// The patch declares something that statements behind it would see no more.
    Declares,
    /// The compiler rejects it, or its build fails, and of which patch it complains is not known.
    Unassigned,
}

impl Apart {
    /// Returns a phrase for a message about one patch. It has names, unlike [`Apart::reason`].
    pub fn told(&self) -> String {
        let reason = self.reason();
        match self {
            Apart::OutsideOfFunctions(Outside::Head(name)) => {
                format!("changes the head of `{name}`")
            }
            Apart::OutsideOfFunctions(Outside::Definition(name)) => {
                format!("changes what `{name}` is, outside of functions")
            }
            Apart::OutsideOfFunctions(Outside::Adds(name)) => {
                format!("adds `{name}` outside of functions")
            }
            Apart::OutsideOfFunctions(Outside::Directive(line)) => {
                format!("changes the directive `{line}`")
            }
            Apart::NotWoven(Unwoven::Error(message)) => {
                format!("{reason}: the compiler says there `{message}`")
            }
            Apart::NotWoven(Unwoven::Declares) => {
                format!("{reason}: it declares a name in the middle of a block")
            }
            Apart::NotWoven(Unwoven::Unassigned) => {
                format!(
                    "{reason}: what is woven does not build, and which patch is to blame is not known"
                )
            }
            _ => reason.to_owned(),
        }
    }

    /// Returns the kind of reason as a phrase for tables.
    pub fn reason(&self) -> &'static str {
        match self {
            Apart::Nothing => "changes nothing but blanks and comments",
            Apart::Files => "adds, removes or renames files, or changes permissions",
            Apart::NotASource => "changes a file that is no C source of the build",
            Apart::CompiledTwice => "changes a source that is compiled in several ways",
            Apart::NotUnderstood => "changes a source whose syntax tree cannot be read",
            Apart::OutsideOfFunctions(what) => what.reason(),
            Apart::Special => {
                "adds what does something by itself (a constructor, an alias, a section, assembly)"
            }
            Apart::Function(refusal) => refusal.reason(),
            Apart::LineNumbers => "moves text that says on which line it stands",
            Apart::Unbalanced => "has directives or brackets that are not balanced",
            Apart::NotTwice => {
                "has text that cannot stand in a file twice (assembly, some directives)"
            }
            Apart::Undeclared => "uses a function that is not declared",
            Apart::Rounding => {
                "changes a function whose calculations depend on how they are compiled"
            }
            Apart::LargeArray => "adds a large array",
            Apart::NotIsolated => {
                "what the compiler says of it could not be told from what it says of others"
            }
            Apart::NotWoven(_) => "cannot be woven with the others",
            Apart::NotLinked => "does not link with the others",
            Apart::ExecutedByBuild => "changes what the build executes",
        }
    }
}

/// Which build confirms that a patch behaves as it did in the woven program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// A build with any patch that changes the same functions and behaved the same.
    #[default]
    Member,
    /// A build with this patch, perhaps together with patches of other functions. The patch may need more stack than the untouched
    /// program, and a woven program has more. Or its behaviour may depend on the layout of its function's frame.
    Itself,
    /// A build with this patch alone. The patch may use unwritten values, which depend on other patches, or behave differently each time.
    Alone,
}

/// The effects of a patch in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Behaviour {
    /// Executions of the test that ended alike and had the same output have the same number.
    pub outcome: u32,
    /// Whether the patch made no difference where it was executed.
    pub as_original: bool,
}

/// A message of the engine about its progress, or a verdict.
#[derive(Clone, Debug)]
pub enum Event {
    /// A phase begins.
    Phase(&'static str),
    /// So many patches have been looked at.
    Progress(usize),
    /// A patch has a verdict in a test.
    Verdict {
        /// Index of the patch.
        patch: usize,
        /// Index of the test.
        test: usize,
        /// The verdict.
        verdict: Verdict,
        /// What it did.
        behaviour: Behaviour,
    },
    /// A patch that has passed all tests has passed this one a second time ([`Options::twice`]).
    Again {
        /// Index of the patch.
        patch: usize,
        /// What it did.
        behaviour: Behaviour,
    },
    /// Whether the patch passes this test must be found out by a build of its own. It is not run in further tests.
    Open {
        /// Index of the patch.
        patch: usize,
        /// Index of the test.
        test: usize,
        /// Why the woven program cannot judge the patch.
        reason: OpenReason,
    },
    /// The patch turned out to need a build of its own; none of its verdicts has been told.
    Apart {
        /// Index of the patch.
        patch: usize,
        /// Why the patch cannot be woven.
        reason: Apart,
    },
}

/// Numbers about the work of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls of the compiler to see what compiles.
    pub compilations: usize,
    /// Woven builds.
    pub builds: usize,
    /// Executions of tests.
    pub executions: usize,
    /// Of these, forked from a running program.
    pub forked: usize,
    /// Those of them that were rounds of a tree.
    pub rounds: usize,
    /// Classes of patches with one verdict, over all tests.
    pub classes: usize,
    /// Evaluations of alternatives.
    pub evaluations: u64,
    /// Texts that can be evaluated.
    pub captured: usize,
    /// Texts that cannot, by reason.
    pub uncaptured: BTreeMap<Uncaptured, usize>,
    /// Groups that were split off, by reason.
    pub splits: BTreeMap<SplitReason, usize>,
    /// Rounds in which a process with several threads or a signal handler visited a place.
    pub threads: usize,
    /// Rounds in which a process ended amid an evaluation: their patches were executed one by one.
    pub unfinished: usize,
    /// Tests that did not do the same twice.
    pub unsteady: usize,
    /// Executions that ended with the time-out.
    pub time_outs: usize,
    /// Executions that were ended because they provably never would have, among those.
    pub endless: usize,
    /// Copies made to keep what tests leave behind.
    pub state_copies: usize,
    /// Patches of which executions showed that they use nothing without a value, though they may.
    pub cleared: usize,
}

/// Why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum EngineError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Test(#[from] TestError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("the untouched program can no longer be built: {0}")]
    Build(BuildError),
    #[error("the project has no build command, so nothing can be woven into it")]
    NoBuild,
    #[error("the project has no tests")]
    NoTests,
    #[error(
        "a copy of the project is damaged and cannot be replaced, because files that tests have left may name its path"
    )]
    Lost,
}

impl From<CompilerError> for EngineError {
    fn from(error: CompilerError) -> Self {
        match error {
            CompilerError::Run(error) => EngineError::Run(error),
            CompilerError::File(error) => EngineError::File(error),
        }
    }
}

impl EngineError {
    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self {
            EngineError::Run(error) => matches!(error, RunError::Cancelled),
            EngineError::Test(error) => error.is_cancelled(),
            EngineError::Parse(ParseError::Run(error)) => matches!(error, RunError::Cancelled),
            _ => false,
        }
    }
}
