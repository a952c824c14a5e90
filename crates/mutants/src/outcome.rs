//! The result of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use patchwright_exec::Shard;
use serde::{Deserialize, Serialize};

use crate::generate::Mistake;

/// What became of a mutant in the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// A test fails that passes without it.
    Killed {
        /// The first such test.
        test: String,
        /// How it fails.
        failure: String,
        /// It runs out of time.
        timed_out: bool,
    },
    /// All tests pass.
    Survived,
    /// It does not compile.
    DoesNotCompile(String),
    /// A test passes once and fails once.
    Unsteady(String),
    /// The run ended before.
    Open,
}

/// What is known of a mutant that survived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It was proved that it does what the untouched function or program does.
    Equivalent {
        /// Of what it was proved.
        of: String,
        /// Rounds of each loop that the proof looks at; `None` if it holds for any number.
        bound: Option<u32>,
        /// Which inputs the proof is about, if not about all.
        inputs: Vec<String>,
    },
    /// An input for which it does something else, executed in both.
    Killable {
        /// Of what the input is.
        of: String,
        /// The input: names and values.
        input: Vec<(String, String)>,
        /// What the untouched program does.
        untouched: String,
        /// What the mutant does.
        mutated: String,
        /// Who executed it.
        by: String,
        /// The files of the test that was written.
        files: Vec<PathBuf>,
    },
    /// Neither is known.
    Unknown {
        /// Why.
        because: String,
    },
}

impl Answer {
    /// Whether the answer is a proof or an input.
    pub fn is_definite(&self) -> bool {
        !matches!(self, Answer::Unknown { .. })
    }

    /// Whether the mutant was proved equivalent for all inputs and any number of rounds.
    pub fn is_proved(&self) -> bool {
        matches!(self, Answer::Equivalent { bound: None, inputs, .. } if inputs.is_empty())
    }
}

/// A mutant with what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// Its number among all that were chosen, from 1.
    pub number: usize,
    /// The change.
    pub mistake: Mistake,
    /// The change as a unified diff.
    pub diff: Vec<u8>,
    /// What became of it.
    pub fate: Fate,
    /// Whether a test executes its statement, if that is known.
    pub executed: Option<bool>,
    /// What is known of it if it survived, and if it was asked.
    pub answer: Option<Answer>,
    /// Whether its fate was known from an earlier run.
    pub resumed: bool,
}

/// How many mutants have which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub mutants: usize,
    /// Those that a test notices, those that run out of time among them.
    pub killed: usize,
    /// Of these, those that run out of time.
    pub timed_out: usize,
    /// Those that all tests pass.
    pub survived: usize,
    /// Of the survivors, those whose statement no test executes.
    pub not_executed: usize,
    /// Of the survivors, those that were proved equivalent for all inputs.
    pub equivalent: usize,
    /// Those that do not compile.
    pub does_not_compile: usize,
    /// Those of which a test passes once and fails once.
    pub unsteady: usize,
    /// Those without a verdict, because the run ended before.
    pub open: usize,
}

impl Tally {
    /// Counts mutants.
    pub fn of<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> Self {
        let mut tally = Tally::default();
        for one in judged {
            tally.mutants += 1;
            match &one.fate {
                Fate::Killed { timed_out, .. } => {
                    tally.killed += 1;
                    tally.timed_out += usize::from(*timed_out);
                }
                Fate::Survived => {
                    tally.survived += 1;
                    tally.not_executed += usize::from(one.executed == Some(false));
                    let is_proved = one.answer.as_ref().is_some_and(Answer::is_proved);
                    tally.equivalent += usize::from(is_proved);
                }
                Fate::DoesNotCompile(_) => tally.does_not_compile += 1,
                Fate::Unsteady(_) => tally.unsteady += 1,
                Fate::Open => tally.open += 1,
            }
        }
        tally
    }

    /// Mutants that can be killed, as far as is known: killed ones, and survivors that are not proved equivalent.
    pub fn counted(&self) -> usize {
        self.killed + self.survived - self.equivalent
    }

    /// The part of these that is killed, from 0 to 1; `None` if there is none.
    pub fn score(&self) -> Option<f64> {
        let counted = self.counted();
        (counted > 0).then(|| self.killed as f64 / counted as f64)
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MutantsOutcome {
    /// The mutants that were tried, by file and line: those of this part.
    pub mutants: Vec<Judged>,
    /// All mutants that were found.
    pub found: usize,
    /// How many of these were chosen, for all parts.
    pub chosen: usize,
    /// A digest of those that were chosen.
    pub choice: String,
    /// Which part of the run this is; `None` for the whole.
    pub part: Option<Shard>,
    /// Mutants that were left out because their machine code is that of the untouched program.
    pub same_code: usize,
    /// Mutants that were left out because their machine code is that of another one.
    pub repeated_code: usize,
    /// Whether a mutant was tested. If none was, all tests are taken to count.
    pub tested: bool,
    /// The tests that count.
    pub tests: usize,
    /// Tests that were set aside: they fail or are flaky without any change.
    pub set_aside: Vec<String>,
    /// Builds of the program, and executions of tests, for the verdicts.
    pub builds: usize,
    /// As above.
    pub executions: usize,
    /// The times of the phases: until mutants were chosen, of the verdicts, of the answers.
    pub times: [Duration; 3],
    /// The run was ended before it was done.
    pub interrupted: bool,
    /// The time was over before it was done.
    pub out_of_time: bool,
}

impl MutantsOutcome {
    /// Counts all mutants.
    pub fn tally(&self) -> Tally {
        Tally::of(&self.mutants)
    }

    /// Counts the mutants of each function, by file and name.
    pub fn by_function(&self) -> BTreeMap<(PathBuf, String), Tally> {
        let mut groups: BTreeMap<_, Vec<&Judged>> = BTreeMap::new();
        for one in &self.mutants {
            let key = (one.mistake.file.clone(), one.mistake.function.clone());
            groups.entry(key).or_default().push(one);
        }
        groups
            .into_iter()
            .map(|(key, own)| (key, Tally::of(own)))
            .collect()
    }

    /// Those that all tests pass.
    pub fn survivors(&self) -> impl Iterator<Item = &Judged> {
        let all = self.mutants.iter();
        all.filter(|one| one.fate == Fate::Survived)
    }
}
