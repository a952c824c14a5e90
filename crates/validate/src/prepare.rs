//! The untouched program: a pristine copy that is built, a worker's copy, the baseline.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use patchwright_exec::{
    Baseline, BaselineOptions, CompileCommand, FileSelection, Project, RecordError, Snapshot,
    TestSuite, Worker, WorkerOptions, record,
};

use serde::{Deserialize, Serialize};

use crate::dependents::Dependents;
use crate::error::ValidateError;
use crate::outcome::{Tests, Untouched};
use crate::rebuild::included_sources;
use crate::{Event, Surroundings, ValidateOptions};

/// The untouched program and what is known of it.
pub struct Prepared {
    /// The pristine copy: built, and nothing was run in it since.
    pub pristine: Worker,
    /// The build command.
    pub build: OsString,
    /// The tests.
    pub suite: TestSuite,
    /// What the tests do on the untouched program.
    pub untouched: UntouchedTests,
    /// How the sources are compiled, as programs in the worker's copy see it, if that was asked for and is
    /// known.
    pub commands: Option<Vec<CompileCommand>>,
    /// File names of sources that other sources include.
    pub included: BTreeSet<OsString>,
    /// What depends on headers, if it is known.
    pub dependents: Option<Dependents>,
}

/// What the patches of a set change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Existing sources, relative to the root.
    pub sources: Vec<PathBuf>,
    /// Headers, or other files that sources may include.
    pub headers: bool,
}

/// What the tests do on the untouched program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntouchedTests {
    /// Verdicts and times.
    pub baseline: Baseline,
    /// Whether a test leaves something behind in the copy: files that come, go or are written to. Then the verdict of a
    /// test may depend on those before it.
    pub leaves: bool,
}

/// The options for a worker that copies `source`.
pub(crate) fn worker_options<'a>(
    project: &'a Project,
    source: &'a std::path::Path,
    surroundings: &Surroundings<'a>,
) -> WorkerOptions<'a> {
    let Surroundings {
        program, scratch, ..
    } = *surroundings;
    WorkerOptions::new(project, source, program, scratch, &surroundings.cancel)
}

/// Copies, builds and tests the untouched program. The worker, with the number 0, has a copy of the
/// pristine copy, of which the snapshot is. What is known already of the tests is not measured
/// again: time-outs stay the same when a run is resumed. How the files in `changed` (relative to the
/// root) are compiled is found out with the build, if patches are going to be woven; for all sources, if other files of the
/// program change, too.
///
/// # Errors
/// When it cannot be built, or no test is stable.
pub fn prepare<'a>(
    project: &'a Project,
    known: Option<UntouchedTests>,
    changed: &Changed,
    options: &ValidateOptions,
    surroundings: &Surroundings<'a>,
) -> Result<(Prepared, Worker, Snapshot), ValidateError> {
    let events = surroundings.events;
    let suite = project.require_tests()?;
    let Some(build) = &project.build else {
        return Err(ValidateError::Record(RecordError::NoBuild {
            root: project.root.clone(),
        }));
    };
    events(Event::Phase("copying the project"));
    let root = &project.root;
    let mut pristine = Worker::start(0, "pristine", &worker_options(project, root, surroundings))?;
    for skipped in pristine.sandbox.skipped() {
        events(Event::Warning(format!(
            "{} is no regular file and is not in the copy",
            skipped.display()
        )));
    }
    events(Event::Phase("building the program"));
    let commands = match changed.sources.is_empty() && !changed.headers {
        false if options.schemata => recorded(&mut pristine, project, changed, surroundings)?,
        _ => None,
    };
    if commands.is_none() {
        record::prepare_copy(&mut pristine, project)?;
        record::run_in_copy(&mut pristine, build).map_err(RecordError::Build)?;
    }
    let folder = pristine.sandbox.folder().to_path_buf();
    let mut worker = Worker::start(
        0,
        "worker-0",
        &worker_options(project, &folder, surroundings),
    )?;
    // Without a view each copy has a place of its own.
    let (built, copy) = (pristine.sandbox.run_root(), worker.sandbox.run_root());
    let commands: Option<Vec<CompileCommand>> = commands.map(|commands| {
        let rebase = |command: &CompileCommand| command.rebase(built, copy);
        commands.iter().map(rebase).collect()
    });
    let mut snapshot = Snapshot::take(&worker.sandbox)?;
    let untouched = match known {
        Some(untouched) => untouched,
        None => {
            events(Event::Phase("running the tests of the untouched program"));
            let total = 2 * suite.tests.len();
            let mut leaves = false;
            let baseline = Baseline::measure(
                &mut worker.runner,
                &worker.sandbox,
                suite,
                &BaselineOptions {
                    limits: project.limits.clone(),
                    rule: options.timeouts,
                    prove_endless: options.prove_endless,
                    ..Default::default()
                },
                |done| {
                    // After each test: a later one may remove what it left. What cannot be read has changed.
                    leaves = leaves || snapshot.has_changed(&worker.sandbox).unwrap_or(true);
                    events(Event::Progress { done, total });
                },
            )?;
            snapshot.restore(&worker.sandbox, &folder)?;
            UntouchedTests { baseline, leaves }
        }
    };
    check(&untouched.baseline, surroundings)?;
    let prepared = Prepared {
        included: included_sources(&folder)?,
        dependents: commands
            .as_ref()
            .map(|commands| Dependents::new(commands, &worker.sandbox)),
        pristine,
        build: build.clone(),
        suite: suite.clone(),
        untouched,
        commands,
    };
    Ok((prepared, worker, snapshot))
}

/// Prepares and builds the copy, and tells how files are compiled; `None`, with a warning, if that
/// cannot be found out. The copy may be prepared by then.
fn recorded(
    pristine: &mut Worker,
    project: &Project,
    changed: &Changed,
    surroundings: &Surroundings<'_>,
) -> Result<Option<Vec<CompileCommand>>, ValidateError> {
    let wanted: &[PathBuf] = match changed.headers {
        true => &[],
        false => &changed.sources,
    };
    let files = wanted.iter().map(|file| FileSelection {
        file: file.clone(),
        lines: None,
    });
    let selected = Project {
        files: files.collect(),
        ..project.clone()
    };
    match record::record_build(pristine, &selected) {
        Ok(commands) => Ok(Some(commands)),
        Err(error @ (RecordError::Intercept { .. } | RecordError::Database(_))) => {
            (surroundings.events)(Event::Warning(format!(
                "patches are built one by one, which takes longer: {error}"
            )));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what is unusual of a baseline.
fn check(baseline: &Baseline, surroundings: &Surroundings<'_>) -> Result<(), ValidateError> {
    let warn = |text: String| (surroundings.events)(Event::Warning(text));
    for test in baseline.flaky() {
        warn(format!(
            "test {} is flaky: it passed once and failed once without any change; it is set aside",
            test.name
        ));
    }
    let unusual = baseline.impatience().chain(baseline.trailing_whitespace());
    let tried = surroundings.scratch.attempts().news();
    unusual.chain(tried).for_each(warn);
    let tests = Tests::of(baseline);
    if tests.count(Untouched::Flaky) == tests.names.len() {
        return Err(ValidateError::OnlyFlaky {
            names: tests.names.join(", "),
        });
    }
    if tests.count(Untouched::Fails) == 0 {
        warn(
            "no test fails on the untouched program: a plausible patch is one that breaks nothing"
                .into(),
        );
    } else if tests.count(Untouched::Passes) == 0 {
        warn("every test fails on the untouched program; does the driver work?".into());
    }
    Ok(())
}
