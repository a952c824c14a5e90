//! Builds and tests changed files, each in a copy of its own. Known results are not computed again.

use std::path::Path;

use patchwright_exec::Project;

use crate::{
    RepairError, RepairOptions, Surroundings, at_once::at_once, changed_file::Candidate,
    circumstances::Cleared, clean_copy::CleanCopy, prepare::Prepared, rejection::Rejection,
    together::cleared,
};

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

/// What is done with candidates beyond building and testing them.
pub(crate) struct Beyond<'b> {
    /// The options, if candidates that pass are tested in other circumstances.
    pub(crate) scrutinize: Option<&'b RepairOptions>,
    /// Is told of each candidate that passes all tests, by its number, before anything else is asked of it.
    pub(crate) passes: &'b (dyn Fn(usize) + Sync),
    /// As in the search, a test that takes much more processor time than before has failed. Most candidates are wrong, and
    /// nobody waits for those that loop for ever.
    pub(crate) hurries: bool,
}

impl Beyond<'_> {
    /// Nothing beyond building and testing, for candidates whose likelihood is not known yet.
    pub(crate) const TRIED: Beyond<'static> = Beyond {
        scrutinize: None,
        passes: &|_| {},
        hurries: true,
    };
}

/// Builds and tests candidates, each in a copy of its own whose name begins with `name`, several at the same time. What is known of a diff,
/// from this run or an earlier one, is not found out again. What else is asked of those that pass is asked of all of them together where
/// that is possible.
pub(crate) fn check_all(
    name: &str,
    candidates: &[Candidate<'_>],
    prepared: &Prepared,
    project: &Project,
    surroundings: &Surroundings<'_>,
    beyond: &Beyond<'_>,
) -> Vec<Result<Checked, RepairError>> {
    let subjects: Vec<Subject<'_, '_>> = candidates
        .iter()
        .enumerate()
        .map(|(number, candidate)| Subject {
            name: format!("{name}-{number}"),
            candidate,
            prepared,
            project,
            surroundings,
        })
        .collect();
    let options = beyond.scrutinize;
    let jobs = options.map_or(candidates.len(), |options| options.jobs);
    let mut checked = at_once(jobs, &subjects, |number, subject| {
        subject.check(beyond, number)
    });
    if let Some(options) = options {
        scrutinize(name, &subjects, &mut checked, options);
    }
    checked
}

/// Asks what else there is to ask of candidates that pass.
fn scrutinize(
    name: &str,
    subjects: &[Subject<'_, '_>],
    checked: &mut [Result<Checked, RepairError>],
    options: &RepairOptions,
) {
    let passes = |checked: &Result<Checked, RepairError>| {
        let checked = checked.as_ref().ok();
        checked.is_some_and(|checked| checked.rejection.is_none())
    };
    let mut numbers = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let known = subject.prepared.checks.objection(subject.candidate.diff);
        match (&mut checked[number], known) {
            (Ok(checked), Some(objection)) => checked.undefined = objection,
            (checked, None) if passes(checked) => numbers.push(number),
            _ => {}
        }
    }
    let Some(&first) = numbers.first() else {
        return;
    };
    let Subject {
        prepared,
        project,
        surroundings,
        ..
    } = subjects[first];
    let candidates: Vec<&Candidate<'_>> = numbers
        .iter()
        .map(|&number| subjects[number].candidate)
        .collect();
    let cleared = match prepared.scrutiny(project, options, surroundings) {
        Ok(Some(scrutiny)) if candidates.len() > 1 => {
            let beside = |kind: &str, base: &Path| {
                let name = format!("{name}-all-{kind}");
                CleanCopy::of(base, &name, prepared, project, surroundings)
            };
            let cleared = cleared(scrutiny, &candidates, prepared, &beside, options.jobs);
            cleared.unwrap_or_else(|error| {
                // What is wrong shows where each of them is asked.
                tracing::info!("patches are not looked at together: {error}");
                Vec::new()
            })
        }
        Ok(None) => return,
        _ => Vec::new(),
    };
    let nothing = Cleared::default();
    let objections = at_once(options.jobs, &numbers, |at, &number| {
        let cleared = cleared.get(at).unwrap_or(&nothing);
        subjects[number].objection(options, cleared)
    });
    for (&number, objection) in numbers.iter().zip(objections) {
        let Ok(known) = &mut checked[number] else {
            continue;
        };
        match objection {
            Ok((objection, executions)) => {
                let diff = subjects[number].candidate.diff.to_vec();
                prepared.checks.objections().insert(diff, objection.clone());
                known.undefined = objection;
                known.executions += executions;
            }
            // It is a repair, whatever else there was to ask.
            Err(error) if error.is_cancelled() => known.is_unscrutinized = true,
            Err(error) => checked[number] = Err(error),
        }
    }
}

/// One candidate.
struct Subject<'s, 'a> {
    name: String,
    candidate: &'s Candidate<'s>,
    prepared: &'a Prepared,
    project: &'a Project,
    surroundings: &'s Surroundings<'a>,
}

impl Subject<'_, '_> {
    fn check(&self, beyond: &Beyond<'_>, number: usize) -> Result<Checked, RepairError> {
        let (candidate, prepared) = (self.candidate, self.prepared);
        let journal = prepared.journal.as_ref();
        let mut executions = 0;
        let known = prepared.checks.of(candidate.diff).or_else(|| {
            let journal = journal?;
            journal.verification(candidate.diff).cloned()
        });
        let rejection = match known {
            Some(known) => known,
            None => {
                let mut copy = self.copy()?;
                copy.hurries = beyond.hurries;
                let found = copy.check(candidate.file, candidate.text, self.tests())?;
                if let Some(journal) = journal {
                    journal.keep_verification(candidate.diff, &found)?;
                }
                executions = copy.executions;
                copy.remove()?;
                found
            }
        };
        prepared.checks.keep(candidate.diff, &rejection);
        if rejection.is_none() {
            (beyond.passes)(number);
        }
        Ok(Checked {
            rejection,
            undefined: None,
            is_unscrutinized: false,
            executions,
        })
    }

    fn copy(&self) -> Result<CleanCopy<'_>, RepairError> {
        CleanCopy::start(&self.name, self.prepared, self.project, self.surroundings)
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

    /// What speaks against the candidate otherwise, and with how many executions that was found out.
    fn objection(
        &self,
        options: &RepairOptions,
        cleared: &Cleared,
    ) -> Result<(Option<String>, u64), RepairError> {
        let Subject {
            candidate,
            prepared,
            project,
            surroundings,
            ..
        } = *self;
        let Some(scrutiny) = prepared.scrutiny(project, options, surroundings)? else {
            return Ok((None, 0));
        };
        let beside = |kind: &str, base: &Path| {
            let name = format!("{}-{kind}", self.name);
            CleanCopy::of(base, &name, prepared, project, surroundings)
        };
        scrutiny.objection(prepared, candidate, &beside, cleared)
    }
}
