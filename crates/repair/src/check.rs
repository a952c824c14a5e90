//! Changed files are built and tested, each in a copy of its own; what is known of one is not found out again.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use patchwright_exec::{Project, runner::Environment};

use crate::{
    RepairError, RepairOptions, Surroundings,
    outcome::Patch,
    prepare::Prepared,
    verify::{CleanCopy, Rejection},
};

/// A changed file.
pub(crate) struct Candidate<'c> {
    /// It, relative to the project's root.
    pub(crate) file: &'c Path,
    /// What it holds.
    pub(crate) text: &'c [u8],
    /// What that changes.
    pub(crate) diff: &'c [u8],
    /// By index, the tests that execute what is changed, if that is known.
    pub(crate) visited_by: Option<&'c BTreeSet<usize>>,
}

/// What building and testing a changed file has told.
pub(crate) struct Checked {
    /// Why it is no repair.
    pub(crate) rejection: Option<Rejection>,
    /// What sanitizers say against it otherwise.
    pub(crate) undefined: Option<String>,
    /// It passes all tests, but what was to be asked beside was not: the time was over.
    pub(crate) is_unscrutinized: bool,
    /// Executions of tests; none if it was known.
    pub(crate) executions: u64,
}

/// What this run knows of diffs, and the patches that were verified while the search went on.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    known: Mutex<BTreeMap<Vec<u8>, Option<Rejection>>>,
    early: Mutex<Vec<Patch>>,
}

impl Checks {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Option<Rejection>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the program with this change is no repair, or that it is one; `None` if that is not known.
    pub(crate) fn of(&self, diff: &[u8]) -> Option<Option<Rejection>> {
        self.known().get(diff).cloned()
    }

    fn keep(&self, diff: &[u8], rejection: &Option<Rejection>) {
        self.known().insert(diff.to_vec(), rejection.clone());
    }

    /// The patches that were verified while the search went on, in that order.
    pub(crate) fn early(&self) -> MutexGuard<'_, Vec<Patch>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is done with candidates beyond building and testing them.
pub(crate) struct Beyond<'b> {
    /// The options, if candidates that pass are tested in other circumstances.
    pub(crate) scrutinize: Option<&'b RepairOptions>,
    /// Is told of each candidate that passes all tests, by its number, before anything else is asked of it.
    pub(crate) passes: &'b (dyn Fn(usize) + Sync),
    /// A test that takes much more processor time than before has failed, as in the search: most candidates are wrong, and those that loop for
    /// ever would be waited for.
    pub(crate) hurries: bool,
}

impl Beyond<'_> {
    /// Nothing.
    pub(crate) const NOTHING: Beyond<'static> = Beyond {
        scrutinize: None,
        passes: &|_| {},
        hurries: false,
    };
    /// Nothing, for candidates that nothing speaks for yet.
    pub(crate) const TRIED: Beyond<'static> = Beyond {
        scrutinize: None,
        passes: &|_| {},
        hurries: true,
    };
}

/// Builds and tests candidates, each in a copy of its own whose name begins with `name`, all at the same time. What is known of a diff,
/// from this run or an earlier one, is not found out again.
pub(crate) fn check_all(
    name: &str,
    candidates: &[Candidate<'_>],
    prepared: &Prepared,
    project: &Project,
    surroundings: &Surroundings<'_>,
    beyond: &Beyond<'_>,
) -> Vec<Result<Checked, RepairError>> {
    let check = |number: usize, candidate: &Candidate<'_>| {
        let name = format!("{name}-{number}");
        let subject = Subject {
            name: &name,
            candidate,
            prepared,
            project,
            surroundings,
        };
        subject.check(beyond, number)
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = candidates
            .iter()
            .enumerate()
            .map(|(number, candidate)| scope.spawn(move || check(number, candidate)))
            .collect();
        handles
            .into_iter()
            .map(|handle| match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// One candidate.
struct Subject<'s, 'a> {
    name: &'s str,
    candidate: &'s Candidate<'s>,
    prepared: &'a Prepared,
    project: &'a Project,
    surroundings: &'s Surroundings<'a>,
}

impl Subject<'_, '_> {
    fn check(&self, beyond: &Beyond<'_>, number: usize) -> Result<Checked, RepairError> {
        let (candidate, prepared) = (self.candidate, self.prepared);
        let journal = prepared.journal.as_ref();
        let mut copy = None;
        let known = prepared.checks.of(candidate.diff).or_else(|| {
            let journal = journal?;
            journal.verification(candidate.diff).cloned()
        });
        let rejection = match known {
            Some(known) => known,
            None => {
                let copy = copy.insert(self.copy()?);
                copy.hurries = beyond.hurries;
                let found = copy.check(candidate.file, candidate.text, self.tests())?;
                if let Some(journal) = journal {
                    journal.keep_verification(candidate.diff, &found)?;
                }
                found
            }
        };
        prepared.checks.keep(candidate.diff, &rejection);
        let mut checked = Checked {
            rejection,
            undefined: None,
            is_unscrutinized: false,
            executions: 0,
        };
        if checked.rejection.is_none() {
            (beyond.passes)(number);
            if let Some(options) = beyond.scrutinize {
                match self.objection(options, &mut copy) {
                    // It is a repair, whatever else there was to ask.
                    Err(error) if error.is_cancelled() => checked.is_unscrutinized = true,
                    objection => checked.undefined = objection?,
                }
            }
        }
        if let Some(copy) = copy {
            checked.executions = copy.executions;
            copy.remove()?;
        }
        Ok(checked)
    }

    fn copy(&self) -> Result<CleanCopy<'_>, RepairError> {
        CleanCopy::start(self.name, self.prepared, self.project, self.surroundings)
    }

    /// Those that fail without the change, then those that execute what it changes: they are likelier to fail with it.
    fn tests(&self) -> Vec<usize> {
        let prepared = self.prepared;
        let visits = |test: &usize| {
            let visited = self.candidate.visited_by;
            visited.is_none_or(|by| by.contains(test))
        };
        let (near, others): (Vec<usize>, Vec<usize>) =
            prepared.passing.iter().copied().partition(visits);
        let failing = prepared.failing.iter().copied();
        failing.chain(near).chain(others).collect()
    }

    /// What speaks against the candidate otherwise. `copy` is where it is built, if it is.
    fn objection<'c>(
        &'c self,
        options: &RepairOptions,
        copy: &mut Option<CleanCopy<'c>>,
    ) -> Result<Option<String>, RepairError> {
        let Subject {
            candidate,
            prepared,
            project,
            surroundings,
            ..
        } = *self;
        let Some(scrutiny) = prepared.scrutiny(project, options, surroundings)? else {
            return Ok(None);
        };
        if copy.is_none() {
            // What is known was not built now.
            let copy = copy.insert(self.copy()?);
            copy.put(candidate)?;
            copy.build(&Environment::default())?;
        }
        let Some(copy) = copy else {
            unreachable!("there is one now");
        };
        let beside = |kind: &str, base: &Path| {
            let name = format!("{}-{kind}", self.name);
            CleanCopy::of(base, &name, prepared, project, surroundings)
        };
        scrutiny.objection(copy, candidate, &beside)
    }
}
