//! A clean copy of the untouched program, in which changed files are built and tested.

use std::{ffi::OsStr, path::PathBuf};

use patchwright_exec::{
    BuildError, CompileCommand, Limits, Project, Sandbox, Verdict, Worker, files, includers_of,
    put_source, run_build, run_test,
    runner::{Environment, Request},
    touch_sources_of,
};

use crate::{
    RepairError, Surroundings,
    changed_file::Candidate,
    optimised::reads_of_nothing,
    prepare::{Prepared, worker_options},
    rejection::Rejection,
    unwritten::Untouched,
    usual::most_cpu,
};

/// A clean copy of the untouched program, in which changed files are built and tested one after another.
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
    /// Makes the copy. Its folder is called `name`, which must be new.
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

    /// Makes a copy of the project as it is, neither made ready nor built.
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

    /// Makes a copy of another copy of the program, at `base`.
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

    /// Returns the compiler's warning about values that a candidate certainly reads unwritten, if the untouched program has no such
    /// warning.
    ///
    /// # Errors
    /// When the compiler cannot be run, or files cannot be written.
    pub(crate) fn reads_of_nothing(
        &mut self,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>, RepairError> {
        let (prepared, file) = (self.prepared, candidate.file);
        let path = self.worker.sandbox.folder().join(file);
        let compiled = (&prepared.commands[..], prepared.worker.sandbox.run_root());
        let found = reads_of_nothing(&mut self.worker, compiled, file)?;
        if found.is_empty() {
            return Ok(None);
        }
        let untouched = files::read(&prepared.worker.sandbox.folder().join(file))?;
        let exchanged = files::Exchanged::put(&path, &untouched)?;
        let known = reads_of_nothing(&mut self.worker, compiled, file)?;
        exchanged.put_back()?;
        Ok(found.difference(&known).next().cloned())
    }

    /// Returns what a candidate may use without a value and the untouched program does not, by the analysis of definite values.
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

    /// Returns those of the functions that use nothing without a value which the untouched text does not use likewise.
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

    /// Returns the tree of the copy.
    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.worker.sandbox
    }

    /// Returns a folder for Patchwright's own files, and the path at which programs in the copy see it.
    pub(crate) fn run_folders(&self) -> (&std::path::Path, &std::path::Path) {
        (self.worker.run_folder(), &self.run_path)
    }

    /// The failing tests, by index.
    pub(crate) fn failing(&self) -> &'a [usize] {
        &self.prepared.failing
    }

    /// Leaves the copy's files where they are, for others to copy.
    pub(crate) fn leave(self) {}

    /// Builds the program with `text` as its file `file`, and runs `tests`, by index, until one
    /// fails. The result is why the change is no repair, or `None` if all tests pass.
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
                true => {
                    "is unstable with the patch, in a clean copy: it fails once and then passes twice"
                }
                false => "fails with the patch, in a clean copy",
            };
            let name = self.name(test);
            let reason = format!("test {name} {how}: {why}");
            return Ok(Some(Rejection::Test {
                test,
                reason,
                failure: Some(why),
            }));
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

    /// Removes the copy and its folder.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), RepairError> {
        let folder = self.worker.folder.clone();
        drop(self.worker);
        Ok(files::remove_tree(&folder)?)
    }
}
