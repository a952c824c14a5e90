//! Another program that proposes patches: what it is told, what it proposes, and what is known of that.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use patchwright_exec::{FailReason, Test, TestKind, files};

use crate::{patch::Patch, plausibility::Read};

/// The first message to a program that proposes patches: what fails, and where the bug may be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The tests that fail.
    pub failing: Vec<FailingTest>,
    /// How many tests pass.
    pub passing: usize,
    /// Suspicious lines, the most suspicious first.
    pub suspects: Vec<Suspect>,
    /// The functions in which they are.
    pub functions: Vec<FunctionText>,
}

/// A failing test, as the proposing program gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct FailingTest {
    /// Its name.
    pub name: String,
    /// How it fails.
    pub failure: Option<FailReason>,
    /// What it runs, if it is a case.
    pub case: Option<CaseText>,
}

/// Of longer files that belong to a test the beginning is told.
const LONGEST_TEXT: usize = 4 << 10;

impl FailingTest {
    /// A test that fails in this way.
    pub fn of(test: &Test, failure: Option<FailReason>) -> Self {
        let beginning = |bytes: &[u8]| {
            let bytes = &bytes[..bytes.len().min(LONGEST_TEXT)];
            String::from_utf8_lossy(bytes).into_owned()
        };
        let case = match &test.kind {
            TestKind::Driver { .. } => None,
            TestKind::Case(case) => Some(CaseText {
                arguments: case
                    .arguments
                    .iter()
                    .map(|argument| argument.to_string_lossy().into_owned())
                    .collect(),
                // One that is gone has been told of by then.
                input: case
                    .stdin
                    .as_ref()
                    .and_then(|file| files::read(file).ok())
                    .map(|text| beginning(&text))
                    .unwrap_or_default(),
                output: beginning(&case.expected_stdout),
                status: case.expected_code,
            }),
        };
        FailingTest {
            name: test.name.clone(),
            failure,
            case,
        }
    }
}

/// What a case is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseText {
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// What it reads, or the beginning of that.
    pub input: String,
    /// What it must print, or the beginning of that.
    pub output: String,
    /// The status that it must end with.
    pub status: i32,
}

/// A suspicious line, as the proposing program gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// From 0 to 1.
    pub suspiciousness: f64,
}

/// The source text of a function with its place, as a proposing program gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionText {
    /// Its file.
    pub file: PathBuf,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A patch that is proposed: a file with other contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// What it is called.
    pub id: String,
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// What it holds with the patch.
    pub text: Vec<u8>,
    /// Why it is refused, if that is known already.
    pub refusal: Option<Answer>,
}

/// The verdict on a proposal, which its program is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It passes all tests.
    Passes {
        /// What sanitizers say against it.
        undefined: Option<String>,
    },
    /// It changes nothing, or what has been proposed before.
    Known {
        /// The earlier proposal; none if it changes nothing.
        of: Option<String>,
    },
    /// The run ended before it was tried.
    NotTried,
    /// The program does not build with it.
    DoesNotBuild {
        /// What the compiler says.
        message: String,
    },
    /// It fails a test.
    Fails {
        /// The test, with how it fails.
        test: FailingTest,
        /// The same in words.
        message: String,
    },
}

/// A program that proposes patches.
pub trait Proposer: fmt::Debug + Send + Sync {
    /// Receives the task, once, when the search begins.
    fn begin(&self, task: &Task);

    /// Waits for proposals and returns up to `most`. Returns an empty list as soon as `is_over` is true, and `None` when no more
    /// will come.
    fn next(&self, most: usize, is_over: &dyn Fn() -> bool) -> Option<Vec<Proposal>>;

    /// Takes what was proposed and not returned yet, when the run ends.
    fn left(&self) -> Vec<Proposal>;

    /// Receives the verdict on the proposal called `id`.
    fn answer(&self, id: &str, answer: &Answer);
}

/// The proposals of another program during a repair, and what became of each.
#[derive(Debug)]
pub struct Proposals {
    pub(crate) proposer: Box<dyn Proposer>,
    state: Mutex<State>,
}

/// What has happened between the search and the proposing program.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The task has been told.
    pub(crate) begun: bool,
    /// Nothing more will be proposed.
    pub(crate) ended: bool,
    /// Diffs, and what the first proposal of each is called.
    pub(crate) seen: Vec<(Vec<u8>, String)>,
    /// What passes all tests.
    pub(crate) passed: Vec<Patch>,
    /// How many were built.
    pub(crate) tried: usize,
    /// How many came when there was no time any more.
    pub(crate) untried: usize,
    /// How many that pass were not looked at for undefined behaviour.
    pub(crate) unscrutinized: usize,
    /// The sources of the functions that were told.
    pub(crate) read: Vec<Read>,
    /// What passes, but by undefined behaviour.
    pub(crate) undefined: Vec<Patch>,
}

impl Proposals {
    /// Makes the list for one run, still empty. `proposer` is asked for proposals when the search begins.
    pub fn of(proposer: Box<dyn Proposer>) -> Arc<Self> {
        Arc::new(Proposals {
            proposer,
            state: Mutex::default(),
        })
    }

    /// Locks the state.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one of them passes all tests.
    pub(crate) fn have_passed(&self) -> bool {
        !self.state().passed.is_empty()
    }
}
