//! What is reported has been applied to a clean copy, built without instrumentation, and tested.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use patchwright_exec::{
    BuildError, CompileCommand, Limits, Project, Sandbox, Verdict, Worker, files, includers_of,
    put_source, run_build, run_test,
    runner::{Environment, Request},
    touch_sources_of,
};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    changed_file::Candidate,
    check::{Beyond, Checked, check_all},
    circumstances::MOST_UNDEFINED,
    equivalence::reads_of_nothing,
    found::Found,
    instrumented::Instrumented,
    outcome::Verified,
    patch::Patch,
    prepare::{Prepared, worker_options},
    propose::{Proposed, Selection},
    rejection::Rejection,
    unwritten::Untouched,
    usual::most_cpu,
};

/// So many candidates that the verification rejects are named when that happens.
const REJECTIONS_TOLD: usize = 3;

/// How much is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As many as are wanted.
    Wanted,
    /// What is known already, and the best of what is not: somebody waits for the end.
    Best,
}

/// Verifies the best candidates until there are as many patches as wanted. If the time ends that, those remain that have been
/// verified until then.
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
    extent: Extent,
) -> Result<Verified, RepairError> {
    (surroundings.events)(Event::Phase("verifying patches on a clean copy"));
    let mut verifying = Verifying {
        found,
        instrumented,
        prepared,
        project,
        options,
        surroundings,
        extent,
        verified: Verified::default(),
        numbers: Vec::new(),
        decided: BTreeSet::new(),
    };
    let wanted = if options.first {
        1
    } else if options.all {
        usize::MAX
    } else {
        options.max_patches
    };
    let selection = Selection::new(
        found,
        instrumented,
        prepared,
        project,
        options,
        surroundings,
    );
    match selection {
        Err(error) if error.is_cancelled() => verifying.verified.interrupted = true,
        selection => {
            let mut selection = selection?;
            verifying.verify(&mut selection, wanted)?;
            verifying.verified.duplicates = selection.finish()?;
        }
    }
    Ok(verifying.end(wanted))
}

struct Verifying<'v, 'a> {
    found: &'v Found,
    instrumented: &'v Instrumented,
    prepared: &'v Prepared,
    project: &'a Project,
    options: &'v RepairOptions,
    surroundings: &'v Surroundings<'a>,
    extent: Extent,
    verified: Verified,
    /// The classes of patches, in the order of the report.
    numbers: Vec<usize>,
    /// Classes of which it is known whether a candidate is a patch.
    decided: BTreeSet<usize>,
}

impl<'v> Verifying<'v, '_> {
    fn verify(&mut self, selection: &mut Selection<'v>, wanted: usize) -> Result<(), RepairError> {
        let mut tries = match self.extent {
            Extent::Wanted => usize::MAX,
            Extent::Best => 1,
        };
        let is_cancelled = |error: &RepairError| error.is_cancelled();
        while !self.verified.interrupted
            && self.verified.patches.len() < wanted
            && self.verified.undefined.len() < MOST_UNDEFINED
        {
            let plausible: usize = self.found.classes.iter().map(|class| class.count).sum();
            let total = wanted.min(plausible);
            let done = self.verified.patches.len();
            (self.surroundings.events)(Event::Progress { done, total });
            // Together they are asked more quickly what else there is to ask.
            let room = match self.options.all {
                true => self.options.jobs.max(1),
                false => wanted - self.verified.patches.len(),
            };
            let mut batch: Vec<Proposed<'_>> = Vec::new();
            while batch.len() < room {
                // What has been shown stays: there is room for it.
                let only_shown = !self.options.all && room - batch.len() <= selection.shown_left();
                let proposed = match selection.next(only_shown && selection.shown_left() > 0) {
                    Err(error) if is_cancelled(&error) => {
                        self.verified.interrupted = true;
                        break;
                    }
                    proposed => proposed?,
                };
                let Some(proposed) = proposed else { break };
                let is_known = self.prepared.checks.of(&proposed.diff).is_some();
                if is_known || tries > 0 {
                    tries -= usize::from(!is_known);
                    batch.push(proposed);
                }
            }
            if batch.is_empty() {
                break;
            }
            let results = self.check(&batch, total);
            for (proposed, result) in batch.into_iter().zip(results) {
                match result {
                    // What has been verified stays so.
                    Err(error) if is_cancelled(&error) => self.verified.interrupted = true,
                    checked => self.decide(proposed, checked?),
                }
            }
        }
        Ok(())
    }

    /// Checks candidates; `total` patches are wanted of all.
    fn check(&self, batch: &[Proposed<'_>], total: usize) -> Vec<Result<Checked, RepairError>> {
        let places = self.instrumented.places();
        let candidates: Vec<Candidate<'_>> = batch
            .iter()
            .map(|proposed| Candidate {
                file: proposed
                    .proposal
                    .found
                    .changed(places.holes, places.files)
                    .0,
                text: &proposed.text,
                diff: &proposed.diff,
                visited_by: proposed.proposal.visited_by(places),
                function: proposed.proposal.function(places),
            })
            .collect();
        let patches: Vec<Patch> = batch
            .iter()
            .map(|proposed| proposed.proposal.patch(places, proposed.diff.clone()))
            .collect();
        let passed = AtomicUsize::new(self.verified.patches.len());
        let passes = |number: usize| {
            let done = passed.fetch_add(1, Ordering::Relaxed) + 1;
            (self.surroundings.events)(Event::Progress { done, total });
            let patch: &Patch = &patches[number];
            let mut early = self.prepared.checks.early();
            let is_first = early.is_empty();
            let is_new = early.iter().all(|known| known.diff != patch.diff);
            if is_new {
                early.push(patch.clone());
            }
            drop(early);
            // What else is asked takes its time, and nobody knows whether there is so much.
            let is_asked = self.options.scrutinize;
            let is_quick = is_asked && self.prepared.is_scrutinized_quickly();
            if is_new && (is_first || is_asked) && !is_quick {
                (self.surroundings.events)(Event::Passed {
                    patch: Box::new(patch.clone()),
                    is_scrutinized: false,
                });
            }
        };
        check_all(
            // What was interrupted may have left its copies behind.
            match self.extent {
                Extent::Wanted => "verify",
                Extent::Best => "verify-best",
            },
            &candidates,
            self.prepared,
            self.project,
            self.surroundings,
            &Beyond {
                scrutinize: self.options.scrutinize.then_some(self.options),
                passes: &passes,
                hurries: false,
            },
        )
    }

    fn decide(&mut self, proposed: Proposed<'_>, checked: Checked) {
        let Proposed { proposal, diff, .. } = proposed;
        let places = self.instrumented.places();
        let entry = &places.holes[proposal.found.entry];
        let verified = &mut self.verified;
        self.decided.insert(proposal.class);
        match checked.rejection {
            None => {
                let class = match self
                    .numbers
                    .iter()
                    .position(|&class| class == proposal.class)
                {
                    Some(at) => at + 1,
                    None => {
                        self.numbers.push(proposal.class);
                        self.numbers.len()
                    }
                };
                let patch = Patch {
                    class,
                    code_differs: proposed.code_differs,
                    distinct: proposed.distinct,
                    undefined: checked.undefined,
                    ..proposal.patch(places, diff)
                };
                if patch.undefined.is_some() && !self.options.all {
                    let edit = proposal.member_edit.clone();
                    verified.distrusted.push((proposal.found.entry, edit));
                    verified.undefined.push(patch);
                    return;
                }
                verified.unscrutinized += usize::from(checked.is_unscrutinized);
                (self.surroundings.events)(Event::Verified(Box::new(patch.clone())));
                verified.patches.push(patch);
            }
            Some(reason) => {
                let (changed, _) = proposal.found.changed(places.holes, places.files);
                let (path, line) = (changed.display(), entry.line);
                // The report says how many they are.
                if verified.rejected.len() < REJECTIONS_TOLD {
                    (self.surroundings.events)(Event::Warning(format!(
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

    /// What is verified. If it was ended before its end, that includes what was verified during the search.
    fn end(mut self, wanted: usize) -> Verified {
        let mut verified = self.verified;
        if verified.interrupted {
            let early = self.prepared.checks.early().clone();
            for patch in early {
                let is_new = |known: &[Patch]| known.iter().all(|known| known.diff != patch.diff);
                let is_new = is_new(&verified.patches) && is_new(&verified.undefined);
                if is_new && verified.patches.len() < wanted {
                    self.numbers.push(usize::MAX);
                    let patch = Patch {
                        class: self.numbers.len(),
                        ..patch
                    };
                    let is_asked = self.prepared.checks.objection(&patch.diff).is_some();
                    verified.unscrutinized += usize::from(self.options.scrutinize && !is_asked);
                    (self.surroundings.events)(Event::Verified(Box::new(patch.clone())));
                    verified.patches.push(patch);
                }
            }
            let late = self.numbers.iter().filter(|&&class| class == usize::MAX);
            let known = self.decided.len() + late.count();
            verified.unverified = self.found.classes.len().saturating_sub(known);
        }
        verified.is_full = !self.options.first && verified.patches.len() >= wanted;
        verified
    }
}

/// A copy of the untouched program in which changed files are built and tested, one after another.
pub struct CleanCopy<'a> {
    worker: Worker,
    project: &'a Project,
    prepared: &'a Prepared,
    /// Executions of tests so far.
    pub(crate) executions: u64,
    /// See [`Beyond::hurries`](crate::check::Beyond).
    pub(crate) hurries: bool,
    /// Where programs see the folder for files of ours.
    run_path: PathBuf,
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
            hurries: false,
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

    /// Which of these functions use nothing without a value in a text of a file that they do not use in the untouched one.
    ///
    /// # Errors
    /// When clang cannot be run, or files cannot be written.
    pub(crate) fn harmless<'f>(
        &mut self,
        untouched: &Untouched,
        prepared: &Prepared,
        changed: (&std::path::Path, &[u8]),
        functions: &[&'f str],
    ) -> Result<Vec<&'f str>, RepairError> {
        untouched.harmless(&mut self.worker, prepared, changed, functions)
    }

    /// Runs a program of ours in the copy; whether it succeeds.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(crate) fn run_program(&mut self, request: &Request) -> Result<bool, RepairError> {
        Ok(self.worker.runner.run(request)?.ending.is_success())
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
            function: None,
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
        let known = &self.prepared.baseline.tests[test];
        let mut limits = known.limits(&self.project.limits, true);
        if self.hurries {
            let most = most_cpu(&self.prepared.baseline, test);
            limits.cpu = Some(limits.cpu.unwrap_or(most).min(most));
        }
        let run = run_test(
            &mut self.worker.runner,
            &self.worker.sandbox,
            &self.prepared.suite.tests[test],
            environment,
            &limits,
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
