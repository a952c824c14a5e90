//! What is reported has been applied to a clean copy, built without instrumentation, and tested.

use std::{collections::BTreeSet, ffi::OsStr, path::PathBuf};

use patchwright_exec::{
    BuildError, CompileCommand, Limits, Project, Sandbox, Verdict, Worker, files, includers_of,
    put_source, run_build, run_test, runner::Environment, touch_sources_of,
};
use patchwright_space::Schema;
use patchwright_text::LineMap;
use serde::{Deserialize, Serialize};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    equivalence::reads_of_nothing,
    found::Found,
    instrument::Instrumented,
    outcome::{Patch, Verified},
    prepare::{Prepared, worker_options},
    propose::{Proposed, Selection},
    undefined::{MOST_UNDEFINED, Scrutiny},
    unwritten::Untouched,
};

/// So many candidates that the verification rejects are named when that happens.
const REJECTIONS_TOLD: usize = 3;

/// Verifies the best candidates until there are as many patches as wanted.
///
/// # Errors
/// When the clean copy cannot be made or run.
pub fn verify<'a>(
    found: &Found,
    instrumented: &Instrumented,
    prepared: &Prepared,
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
) -> Result<Verified, RepairError> {
    let mut verified = Verified::default();
    if found.interrupted {
        verified.interrupted = true;
        return Ok(verified);
    }
    (surroundings.events)(Event::Phase("verifying patches on a clean copy"));
    let wanted = if options.first {
        1
    } else if options.all {
        usize::MAX
    } else {
        options.max_patches
    };
    let mut numbers: Vec<usize> = Vec::new();
    let mut selection = Selection::new(
        found,
        instrumented,
        prepared,
        project,
        options,
        surroundings,
    )?;
    while verified.patches.len() < wanted && verified.undefined.len() < MOST_UNDEFINED {
        (surroundings.events)(Event::Progress {
            done: verified.patches.len(),
            total: wanted.min(found.stats.plausible as usize),
        });
        let room = options.jobs.max(1).min(wanted - verified.patches.len());
        let mut batch: Vec<Proposed<'_>> = Vec::new();
        while batch.len() < room {
            match selection.next() {
                Ok(Some(proposed)) => batch.push(proposed),
                Ok(None) => break,
                Err(error) if error.is_cancelled() => {
                    verified.interrupted = true;
                    return Ok(verified);
                }
                Err(error) => return Err(error),
            }
        }
        if batch.is_empty() {
            break;
        }
        let candidates: Vec<Candidate<'_>> = batch
            .iter()
            .map(|proposed| {
                let found = proposed.proposal.found;
                let (file, _) = found.changed(&instrumented.holes, &instrumented.files);
                let entry = &instrumented.holes[found.entry];
                Candidate {
                    file,
                    text: &proposed.text,
                    diff: &proposed.diff,
                    visited_by: match proposed.proposal.schema {
                        // What is declared elsewhere changes there, too.
                        Schema::Declaration => None,
                        _ => found.is_local.then_some(&entry.visited_by),
                    },
                }
            })
            .collect();
        let scrutiny = prepared.scrutiny(project, options, surroundings)?;
        let results = check_all(
            "verify",
            &candidates,
            prepared,
            project,
            surroundings,
            scrutiny,
        );
        for (proposed, result) in batch.into_iter().zip(results) {
            let Proposed { proposal, diff, .. } = proposed;
            let entry = &instrumented.holes[proposal.found.entry];
            let file = &instrumented.files[entry.file];
            let (changed, changed_text) = proposal
                .found
                .changed(&instrumented.holes, &instrumented.files);
            let path = changed.display();
            let checked = match result {
                Err(error) if error.is_cancelled() => {
                    // What has been verified stays so.
                    verified.interrupted = true;
                    return Ok(verified);
                }
                result => result?,
            };
            match checked.rejection {
                None => {
                    let class = match numbers.iter().position(|&class| class == proposal.class) {
                        Some(at) => at + 1,
                        None => {
                            numbers.push(proposal.class);
                            numbers.len()
                        }
                    };
                    let patch = Patch {
                        file: changed.to_path_buf(),
                        line: LineMap::new(changed_text).line(proposal.edit.span.start),
                        function: match proposal.found.is_local {
                            true => file.unit.functions[entry.hole.function].name.clone(),
                            false => String::new(),
                        },
                        schema: proposal.schema.name(),
                        cost: proposal.found.cost,
                        diff,
                        edits: vec![proposal.edit.into_owned()],
                        class,
                        class_size: proposal.found.count,
                        representative: proposal.member == 0,
                        code_differs: proposed.code_differs,
                        distinct: proposed.distinct,
                        undefined: checked.undefined,
                    };
                    if patch.undefined.is_some() && !options.all {
                        let edit = proposal.member_edit.clone();
                        verified.distrusted.push((proposal.found.entry, edit));
                        verified.undefined.push(patch);
                        continue;
                    }
                    (surroundings.events)(Event::Verified(Box::new(patch.clone())));
                    verified.patches.push(patch);
                }
                Some(reason) => {
                    let line = entry.line;
                    // The report says how many they are.
                    if verified.rejected.len() < REJECTIONS_TOLD {
                        (surroundings.events)(Event::Warning(format!(
                            "a patch of {path}:{line} passed in the instrumented program, but {reason}: \
                             it is not reported"
                        )));
                    }
                    let edit = proposal.member_edit.clone();
                    verified.distrusted.push((proposal.found.entry, edit));
                    verified.rejected.push(format!(
                        "{path}:{line}: {reason}\n{}",
                        String::from_utf8_lossy(&diff)
                    ));
                }
            }
        }
    }
    verified.duplicates = selection.finish()?;
    verified.is_full = !options.first && verified.patches.len() >= wanted;
    Ok(verified)
}

/// A changed file.
pub(crate) struct Candidate<'c> {
    /// It, relative to the project's root.
    pub(crate) file: &'c std::path::Path,
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
    /// Executions of tests; none if it was known.
    pub(crate) executions: u64,
}

/// Builds and tests candidates, each in a copy of its own whose name begins with `name`, all at the same time.
pub(crate) fn check_all(
    name: &str,
    candidates: &[Candidate<'_>],
    prepared: &Prepared,
    project: &Project,
    surroundings: &Surroundings<'_>,
    scrutiny: Option<&Scrutiny>,
) -> Vec<Result<Checked, RepairError>> {
    let check = |number: usize, candidate: &Candidate<'_>| {
        let journal = prepared.journal.as_ref();
        let known = journal.and_then(|journal| journal.verification(candidate.diff));
        if let Some(known) = known.filter(|known| known.is_some() || scrutiny.is_none()) {
            return Ok(Checked {
                rejection: known.clone(),
                undefined: None,
                executions: 0,
            });
        }
        let name = format!("{name}-{number}");
        let mut copy = CleanCopy::start(&name, prepared, project, surroundings)?;
        let rejection = match known {
            Some(known) => known.clone(),
            None => {
                let tests = prepared.failing.iter().chain(&prepared.passing);
                copy.check(candidate.file, candidate.text, tests.copied())?
            }
        };
        if rejection.is_none() && known.is_some() && scrutiny.is_some() {
            // What is known was not built now.
            copy.put(candidate)?;
            copy.build(&Environment::default())?;
        }
        let undefined = match scrutiny.filter(|_| rejection.is_none()) {
            Some(scrutiny) => {
                let beside = |kind: &str, base: &std::path::Path| {
                    let name = format!("{name}-{kind}");
                    CleanCopy::of(base, &name, prepared, project, surroundings)
                };
                scrutiny.objection(&mut copy, candidate, &beside)?
            }
            None => None,
        };
        let executions = copy.executions;
        copy.remove()?;
        if let (Some(journal), None) = (journal, known) {
            journal.keep_verification(candidate.diff, &rejection)?;
        }
        Ok(Checked {
            rejection,
            undefined,
            executions,
        })
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

/// A copy of the untouched program in which changed files are built and tested, one after another.
pub struct CleanCopy<'a> {
    worker: Worker,
    project: &'a Project,
    prepared: &'a Prepared,
    /// Executions of tests so far.
    pub(crate) executions: u64,
    /// Where programs see the folder for files of ours.
    run_path: PathBuf,
}

/// Why a changed program is no repair.
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
    },
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rejection::Build(reason) | Rejection::Test { reason, .. } => f.write_str(reason),
        }
    }
}

impl<'a> CleanCopy<'a> {
    /// Makes the copy; `name` is that of its folder, which must be new.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn start(
        name: &str,
        prepared: &'a Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let base = prepared.worker.sandbox.folder();
        CleanCopy::of(base, name, prepared, project, surroundings)
    }

    /// As [`CleanCopy::start`], a copy of the project as it is, neither made ready nor built.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn fresh(
        name: &str,
        prepared: &'a Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        CleanCopy::of(&project.root, name, prepared, project, surroundings)
    }

    /// As [`CleanCopy::start`], a copy of another copy of the program, at `base`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn of(
        base: &std::path::Path,
        name: &str,
        prepared: &'a Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let worker = Worker::start(0, name, &worker_options(project, base, surroundings))?;
        Ok(CleanCopy {
            worker,
            project,
            prepared,
            executions: 0,
            run_path: surroundings.scratch.run_path(),
        })
    }

    /// What the compiler says of values that a candidate reads and that were certainly never written, and says nothing of in the
    /// untouched program.
    ///
    /// # Errors
    /// When the compiler cannot be run, or files cannot be written.
    pub(crate) fn reads_of_nothing(
        &mut self,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>, RepairError> {
        let (prepared, file) = (self.prepared, candidate.file);
        let path = self.worker.sandbox.folder().join(file);
        let found = reads_of_nothing(&mut self.worker, prepared, file)?;
        if found.is_empty() {
            return Ok(None);
        }
        let untouched = files::read(&prepared.worker.sandbox.folder().join(file))?;
        let exchanged = files::Exchanged::put(&path, &untouched)?;
        let known = reads_of_nothing(&mut self.worker, prepared, file)?;
        exchanged.put_back()?;
        Ok(found.difference(&known).next().cloned())
    }

    /// What a candidate may use without a value, as far as the analysis of definite values sees it, and the untouched program does not.
    ///
    /// # Errors
    /// When clang cannot be run, or files cannot be written.
    pub(crate) fn uses_what_is_unwritten(
        &mut self,
        candidate: &Candidate<'_>,
        untouched: &Untouched,
    ) -> Result<Option<String>, RepairError> {
        untouched.objection(&mut self.worker, self.prepared, candidate)
    }

    /// The copy's tree.
    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.worker.sandbox
    }

    /// A folder for files of ours that programs in the copy see, and where they see it.
    pub(crate) fn run_folders(&self) -> (&std::path::Path, &std::path::Path) {
        (self.worker.run_folder(), &self.run_path)
    }

    /// The failing tests, by index.
    pub(crate) fn failing(&self) -> &'a [usize] {
        &self.prepared.failing
    }

    /// Leaves the copy's files where they are, for others to copy.
    pub(crate) fn leave(self) {}

    /// Builds the program with `text` as its file `file` and runs tests, by index, until one
    /// fails.
    ///
    /// # Errors
    /// When the build or a test cannot be run.
    pub fn check(
        &mut self,
        file: &std::path::Path,
        text: &[u8],
        tests: impl IntoIterator<Item = usize>,
    ) -> Result<Option<Rejection>, RepairError> {
        self.put(&Candidate {
            file,
            text,
            diff: &[],
            visited_by: None,
        })?;
        if let Some(error) = self.build(&Environment::default())? {
            return Ok(Some(Rejection::Build(format!(
                "the clean program does not build with it{error}"
            ))));
        }
        let environment = &self.prepared.suite.environment;
        for test in tests {
            let Verdict::Fail(why) = self.run(test, environment)? else {
                continue;
            };
            // Whoever reads why a patch is not reported has to know whether the patch is to blame, or the test.
            let is_unstable =
                self.run(test, environment)?.is_pass() && self.run(test, environment)?.is_pass();
            let how = match is_unstable {
                true => "is unstable in the clean program: it fails once and then passes twice",
                false => "fails in the clean program",
            };
            let name = self.name(test);
            let reason = format!("test {name} {how}: {why}");
            return Ok(Some(Rejection::Test { test, reason }));
        }
        Ok(None)
    }

    /// Puts a candidate's text into the copy.
    pub(crate) fn put(&mut self, candidate: &Candidate<'_>) -> Result<(), RepairError> {
        let prepared = self.prepared;
        let (sandbox, relative) = (&prepared.worker.sandbox, candidate.file);
        let source = sandbox.run_root().join(relative);
        let is_compiled = |command: &CompileCommand| command.file == source;
        let including = match prepared.commands.iter().any(is_compiled) {
            true => Vec::new(),
            false => includers_of(&prepared.commands, sandbox, relative),
        };
        let sandbox = &self.worker.sandbox;
        Ok(put_source(sandbox, relative, candidate.text, &including)?)
    }

    /// Builds the copy in an environment; says what is wrong if that fails.
    pub(crate) fn build(
        &mut self,
        environment: &Environment,
    ) -> Result<Option<String>, RepairError> {
        let project = self.project;
        self.run_command(project.build.as_deref().unwrap_or_default(), environment)
    }

    /// Makes a fresh copy ready and builds all of it in an environment; says what is wrong if that fails.
    pub(crate) fn build_anew(
        &mut self,
        environment: &Environment,
    ) -> Result<Option<String>, RepairError> {
        if let Some(prepare) = &self.project.prepare
            && let Some(error) = self.run_command(prepare, environment)?
        {
            return Ok(Some(error));
        }
        touch_sources_of(&self.worker.sandbox)?;
        self.build(environment)
    }

    fn run_command(
        &mut self,
        command: &OsStr,
        environment: &Environment,
    ) -> Result<Option<String>, RepairError> {
        let worker = &mut self.worker;
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            command,
            environment,
            &Limits::for_build(),
        );
        match built {
            Ok(_) => Ok(None),
            Err(BuildError::Run(error)) => Err(error.into()),
            // Strict flags refuse what the compiler would only warn about: its first error says enough.
            Err(BuildError::Failed {
                first_error: Some(error),
                ..
            }) => Ok(Some(format!(" ({error})"))),
            Err(error) => Ok(Some(format!(": {error}"))),
        }
    }

    /// The name of a test.
    pub(crate) fn name(&self, test: usize) -> &'a str {
        &self.prepared.baseline.tests[test].name
    }

    /// Runs a test in an environment.
    pub(crate) fn run(
        &mut self,
        test: usize,
        environment: &Environment,
    ) -> Result<Verdict, RepairError> {
        self.executions += 1;
        let run = run_test(
            &mut self.worker.runner,
            &self.worker.sandbox,
            &self.prepared.suite.tests[test],
            environment,
            &self.prepared.baseline.tests[test].limits(&self.project.limits, true),
        )?;
        Ok(run.verdict)
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), RepairError> {
        let folder = self.worker.folder.clone();
        drop(self.worker);
        Ok(files::remove_tree(&folder)?)
    }
}
