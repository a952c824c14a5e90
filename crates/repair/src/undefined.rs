//! Looks for undefined behaviour in patches that pass every test.
//!
//! A patch that reads a byte in front of an array, or memory that was never written, passes when the right value happens to be there, and fails
//! on another day. So each patch is tested in other circumstances that do not matter to a correct program:
//! * other bytes in fresh memory of the heap (`MALLOC_PERTURB_` of the GNU library);
//! * a build in which variables without a value hold a pattern, and fresh memory another one;
//! * a build with sanitizers, in which each argument, and each variable of the environment, lies in memory of its own; of a program that is
//!   built with sanitizers anyway, only that.
//!
//! And the compiler is asked what values are read that were certainly never written, and the analysis of definite values what may be
//! (module `unwritten`).
//!
//! Both builds are the project's own, with more flags for the compiler ([`flagged_environment`]). Patches against which something
//! speaks are set aside: the search goes on without them, and they are reported if there is nothing else.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use patchwright_exec::{
    FailReason, FileError, Flagged, Project, Verdict, any_program_names, flagged_environment,
    runner::Environment,
};

use crate::{
    Event, RepairError, Surroundings,
    changed_file::Candidate,
    circumstances::{Cleared, Kind, PERTURB},
    clean_copy::CleanCopy,
    object,
    prepare::Prepared,
    unwritten::Untouched,
};

/// Builds and tests of other circumstances are left out where the first ones take longer.
const MOST_TIME: Duration = Duration::from_secs(120);

/// So many of the passing tests, and of the failing ones, are executed in each of the circumstances: of thousands of cases, evenly chosen
/// ones. (A patch has passed all of them before.)
const MOST_TESTS: usize = 64;

/// What is part of the names of functions that give memory which nobody has written.
const MEMORY_GIVERS: [&str; 3] = ["alloc", "getline", "getdelim"];

/// The circumstances in which patches are tested.
pub(crate) struct Scrutiny {
    trials: Vec<Trial>,
    untouched: Untouched,
}

/// Circumstances that do not matter to a correct program.
pub(crate) struct Trial {
    pub(crate) kind: Kind,
    /// Flags for the compiler.
    flags: &'static [&'static str],
    /// A built copy of the untouched program, if it is built in another way.
    base: Option<PathBuf>,
    environment: Environment,
    /// By index: tests that the untouched program passes, here too.
    passing: BTreeSet<usize>,
    /// Those that it passes otherwise, and of which sanitizers report something.
    reported: BTreeSet<usize>,
}

impl Scrutiny {
    /// Tests the untouched program in each of the circumstances. What is not possible is left out, and said.
    ///
    /// # Errors
    /// When a copy, a build or a test cannot be made or run.
    pub(crate) fn measure(
        prepared: &Prepared,
        project: &Project,
        surroundings: &Surroundings<'_>,
    ) -> Result<Scrutiny, RepairError> {
        (surroundings.events)(Event::Phase("testing in other circumstances"));
        let started = Instant::now();
        let mut trials = Vec::new();
        let is_sanitized = prepared.commands.iter().any(|command| {
            let mut arguments = command.arguments.iter();
            arguments.any(|argument| argument.to_string_lossy().starts_with("-fsanitize"))
        });
        for kind in Kind::ALL {
            // Their own memory is not that of the GNU library.
            if is_sanitized && kind != Kind::Sanitized {
                continue;
            }
            let flags = match is_sanitized {
                true => &[],
                false => kind.flags(),
            };
            match Trial::measure(kind, flags, prepared, project, surroundings)? {
                Ok(trial) => trials.push(trial),
                Err(why) if kind == Kind::Sanitized && !is_sanitized => {
                    let flags = kind.flags().last().copied().unwrap_or_default();
                    (surroundings.events)(Event::Warning(format!(
                        "{why} with {flags}, so patches are not looked at for undefined behaviour by sanitizers"
                    )));
                }
                Err(why) => tracing::info!("{}: {why}", kind.name()),
            }
            if started.elapsed() > MOST_TIME {
                tracing::info!(
                    "no further circumstances: that took {:?}",
                    started.elapsed()
                );
                break;
            }
        }
        Ok(Scrutiny {
            trials,
            untouched: Untouched::default(),
        })
    }

    /// What speaks against a candidate that passes every test, and with how many executions that was found out; `beside` makes a copy, by a
    /// name and the tree to copy, and `cleared` is what is known already. `None` if all is well.
    ///
    /// # Errors
    /// When a build or a test cannot be run.
    pub(crate) fn objection<'a>(
        &self,
        prepared: &Prepared,
        candidate: &Candidate<'_>,
        beside: &dyn Fn(&str, &Path) -> Result<CleanCopy<'a>, RepairError>,
        cleared: &Cleared,
    ) -> Result<(Option<String>, u64), RepairError> {
        let mut executions = 0;
        if !cleared.by_compiler || !cleared.by_analysis {
            let mut copy = beside("read", prepared.worker.sandbox.folder())?;
            copy.put(candidate)?;
            let mut said = None;
            if !cleared.by_compiler {
                let warned = copy.reads_of_nothing(candidate)?;
                said = warned.map(|said| format!("the compiler says: {said}"));
            }
            if said.is_none() && !cleared.by_analysis {
                said = copy.uses_what_is_unwritten(candidate, &self.untouched)?;
            }
            copy.remove()?;
            if said.is_some() {
                return Ok((said, executions));
            }
        }
        let trials = self.trials.iter();
        for trial in trials.filter(|trial| !cleared.in_trials.contains(&trial.kind)) {
            let base = trial.base.as_deref();
            let base = base.unwrap_or(prepared.worker.sandbox.folder());
            let mut built = beside(trial.kind.name(), base)?;
            let objection = match trial.build(&mut built, candidate)? {
                true => trial.objection(&mut built, candidate)?,
                false => None,
            };
            executions += built.executions;
            built.remove()?;
            if objection.is_some() {
                return Ok((objection, executions));
            }
        }
        Ok((None, executions))
    }

    /// Returns groups of circumstances that one build can have: those of variables include those of memory.
    pub(crate) fn builds(&self) -> Vec<Vec<&Trial>> {
        let of = |kinds: &[Kind]| -> Vec<&Trial> {
            let trials = self.trials.iter();
            trials.filter(|trial| kinds.contains(&trial.kind)).collect()
        };
        let mut builds = vec![of(&[Kind::Sanitized]), of(&[Kind::Filled, Kind::Perturbed])];
        builds.retain(|trials| !trials.is_empty());
        builds
    }

    /// Returns the untouched sources.
    pub(crate) fn untouched(&self) -> &Untouched {
        &self.untouched
    }
}

impl Trial {
    /// Builds the untouched program and tests it; why that cannot be done otherwise.
    fn measure(
        kind: Kind,
        flags: &'static [&'static str],
        prepared: &Prepared,
        project: &Project,
        surroundings: &Surroundings<'_>,
    ) -> Result<Result<Trial, String>, RepairError> {
        let mut trial = Trial {
            kind,
            flags,
            base: None,
            environment: kind.environment(&prepared.suite.environment),
            passing: BTreeSet::new(),
            reported: BTreeSet::new(),
        };
        let mut copy = match kind {
            Kind::Perturbed => {
                let copy = CleanCopy::start(kind.name(), prepared, project, surroundings)?;
                let mut gives = MEMORY_GIVERS.into_iter();
                let has = gives.try_fold(false, |has, name| {
                    Ok::<_, FileError>(has || any_program_names(copy.sandbox(), name)?)
                })?;
                if !has {
                    copy.remove()?;
                    return Ok(Err("no program asks for fresh memory".to_owned()));
                }
                copy
            }
            _ => {
                let mut copy = CleanCopy::fresh(kind.name(), prepared, project, surroundings)?;
                let environment = trial.linking(&mut copy, None)?;
                if let Some(error) = copy.build_anew(&environment)? {
                    tracing::info!("{}: it does not build{error}", kind.name());
                    copy.remove()?;
                    return Ok(Err("the program does not build".to_owned()));
                }
                if let Some(mark) = kind.mark()
                    && !any_program_names(copy.sandbox(), mark)?
                {
                    copy.remove()?;
                    return Ok(Err("the build does not compile".to_owned()));
                }
                trial.base = Some(copy.sandbox().folder().to_path_buf());
                copy
            }
        };
        for test in evenly(&prepared.passing) {
            match copy.run(test, &trial.environment)? {
                Verdict::Pass => drop(trial.passing.insert(test)),
                Verdict::Fail(FailReason::SanitizerReport(_)) => drop(trial.reported.insert(test)),
                Verdict::Fail(_) => {}
            }
        }
        let works = !trial.passing.is_empty() || !trial.reported.is_empty();
        if !works && !prepared.passing.is_empty() {
            copy.remove()?;
            return Ok(Err("the program passes no test".to_owned()));
        }
        // Its tree is what candidates are put in.
        match trial.base {
            Some(_) => copy.leave(),
            None => copy.remove()?,
        }
        Ok(Ok(trial))
    }

    /// Returns the environment of a build that links an object to all programs. The object's path is that which programs see.
    pub(crate) fn linking(
        &self,
        copy: &mut CleanCopy<'_>,
        object: Option<&Path>,
    ) -> Result<Environment, RepairError> {
        // What reads beside an argument is seen then.
        let apart = match self.kind {
            Kind::Sanitized => object::compiled(copy, "apart", include_str!("together/apart.c"))?,
            Kind::Perturbed | Kind::Filled => None,
        };
        let objects: Vec<&Path> = object.into_iter().chain(apart.as_deref()).collect();
        let name = match object {
            None => format!("flags-{}", self.kind.name()),
            Some(_) => format!("flags-{}-all", self.kind.name()),
        };
        let (folder, seen) = copy.run_folders();
        let flagged = Flagged {
            flags: self.flags,
            objects: &objects,
            ..Flagged::default()
        };
        let environment = flagged_environment(&folder.join(&name), &seen.join(&name), flagged)?;
        Ok(environment)
    }

    /// A built copy of the untouched program, if it is built in another way.
    pub(crate) fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Builds a candidate; whether that is possible.
    fn build(
        &self,
        copy: &mut CleanCopy<'_>,
        candidate: &Candidate<'_>,
    ) -> Result<bool, RepairError> {
        copy.put(candidate)?;
        let environment = match self.base {
            None => Environment::default(),
            Some(_) => self.linking(copy, None)?,
        };
        Ok(copy.build(&environment)?.is_none())
    }

    /// Whether one of the failing tests passes.
    pub(crate) fn passes_any(&self, copy: &mut CleanCopy<'_>) -> Result<bool, RepairError> {
        for test in evenly(copy.failing()) {
            if copy.run(test, &self.environment)?.is_pass() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns in words what speaks against a built candidate, or `None`.
    ///
    /// With sanitizers that is the first test with a report, or the first one that passed under them before and fails now. If the
    /// candidate removes a report of the untouched program in one test, the first test with such a report left counts. Without
    /// sanitizers it is the first test that fails.
    pub(crate) fn objection(
        &self,
        copy: &mut CleanCopy<'_>,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>, RepairError> {
        let is_concerned = |test: &usize| candidate.visited_by.is_none_or(|by| by.contains(test));
        let failing = evenly(copy.failing());
        let passing = self.passing.iter().filter(|test| is_concerned(test));
        let tests = failing.map(|test| (test, false));
        for (test, has_passed) in tests.chain(passing.map(|&test| (test, true))) {
            let Verdict::Fail(why) = copy.run(test, &self.environment)? else {
                continue;
            };
            let speaks = match self.kind {
                Kind::Sanitized => has_passed || matches!(why, FailReason::SanitizerReport(_)),
                // It has passed, but not here; once more, since it may fail now and then.
                Kind::Perturbed | Kind::Filled => !copy.run(test, &self.environment)?.is_pass(),
            };
            if speaks {
                let name = copy.name(test);
                let told = told(&why);
                return Ok(Some(match self.kind {
                    Kind::Sanitized => format!("test {name}: {told}"),
                    Kind::Perturbed => {
                        let value = self.environment.set[OsStr::new(PERTURB)].display();
                        format!(
                            "test {name} fails with {PERTURB}={value}, for it reads fresh memory that was never written: {told}"
                        )
                    }
                    Kind::Filled => format!(
                        "test {name} fails where variables and fresh memory hold a pattern (-ftrivial-auto-var-init=pattern), for it reads what was never written: {told}"
                    ),
                }));
            }
        }
        let (mut mends, mut left) = (false, None);
        for &test in self.reported.iter().filter(|test| is_concerned(test)) {
            match copy.run(test, &self.environment)? {
                Verdict::Fail(why @ FailReason::SanitizerReport(_)) => {
                    left.get_or_insert_with(|| format!("test {}: {}", copy.name(test), told(&why)));
                }
                Verdict::Fail(_) => {}
                Verdict::Pass => mends = true,
            }
            if mends && left.is_some() {
                return Ok(left);
            }
        }
        Ok(None)
    }
}

/// [`MOST_TESTS`] tests of these, evenly chosen.
fn evenly(tests: &[usize]) -> impl Iterator<Item = usize> {
    let count = tests.len().min(MOST_TESTS);
    (0..count).map(move |at| tests[at * tests.len() / count])
}

/// A failure without what differs from run to run: process and addresses.
fn told(why: &FailReason) -> String {
    let FailReason::SanitizerReport(line) = why else {
        return why.to_string();
    };
    let text = line
        .split_once("ERROR: ")
        .map_or(line.as_str(), |(_, text)| text);
    let end = text.find(" on ").unwrap_or(text.len());
    match text.starts_with("AddressSanitizer") {
        true => text[..end].to_owned(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_report_is_the_same_in_each_run() {
        let report = |line: &str| told(&FailReason::SanitizerReport(line.to_owned()));
        assert_eq!(
            report(
                "==20595==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x7f"
            ),
            "AddressSanitizer: heap-buffer-overflow"
        );
        assert_eq!(
            report("a.c:7:3: runtime error: division by zero"),
            "a.c:7:3: runtime error: division by zero"
        );
    }

    #[test]
    fn of_thousands_of_tests_evenly_chosen_ones_are_executed_in_other_circumstances() {
        let few: Vec<usize> = (3..9).collect();
        assert!(evenly(&few).eq(few.clone()));
        let many: Vec<usize> = (0..5000).collect();
        let chosen: Vec<usize> = evenly(&many).collect();
        assert_eq!((chosen.len(), chosen[0], chosen[63]), (64, 0, 4921));
        assert_eq!(evenly(&[]).count(), 0);
    }
}
