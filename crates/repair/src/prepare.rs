//! The untouched program: a copy that is built, how its sources are compiled, its baseline.

use std::{path::PathBuf, time::Instant};

use patchwright_exec::{
    Baseline, BaselineOptions, CompileCommand, InterceptError, Limits, Project, TestSuite, Verdict,
    ViewStatus, Worker, WorkerOptions, intercept, intercept_build, read_compile_database,
    run_build, runner::Environment, view::absolute_references,
};

use crate::{Event, RepairError, RepairOptions, Surroundings, outcome::Phases};

/// The built copy and what is known of the untouched program.
pub struct Prepared {
    /// The copy, built and without any change.
    pub worker: Worker,
    /// How sources are compiled, as the programs in the sandbox see it.
    pub commands: Vec<CompileCommand>,
    /// Verdicts of the untouched program.
    pub baseline: Baseline,
    /// The tests.
    pub suite: TestSuite,
    /// The limits of each test.
    pub limits: Limits,
    /// Tests that fail, by index.
    pub failing: Vec<usize>,
    /// Tests that pass, by index.
    pub passing: Vec<usize>,
}

/// The options for a worker that copies `source`.
pub(crate) fn worker_options<'a>(
    project: &'a Project,
    source: &'a std::path::Path,
    surroundings: &Surroundings<'a>,
) -> WorkerOptions<'a> {
    WorkerOptions {
        program: surroundings.program,
        scratch: surroundings.scratch,
        project: &project.root,
        source,
        view: true,
        exclude: Vec::new(),
        cancel: surroundings.cancel.clone(),
    }
}

/// Copies, builds and tests the untouched program.
///
/// # Errors
/// When it cannot be built, or its baseline is no ground for a repair.
pub fn prepare<'a>(
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
    phases: &mut Phases,
) -> Result<Prepared, RepairError> {
    let events = surroundings.events;
    let suite = project.require_tests()?;
    let Some(build) = &project.build else {
        return Err(RepairError::NoBuild {
            root: project.root.clone(),
        });
    };
    let started = Instant::now();
    events(Event::Phase("copying the project"));
    let mut worker = Worker::start(
        0,
        "base",
        &worker_options(project, &project.root, surroundings),
    )?;
    phases.copy = started.elapsed();
    for skipped in worker.sandbox.skipped() {
        events(Event::Warning(format!(
            "{} is no regular file and is not in the copy",
            skipped.display()
        )));
    }
    let environment = Environment::default();
    let limits = Limits::for_build();
    if let Some(prepare) = &project.prepare {
        run_build(
            &mut worker.runner,
            &worker.sandbox,
            prepare,
            &environment,
            &limits,
        )
        .map_err(RepairError::Build)?;
    }
    refuse_absolute_references(project, &worker)?;
    let started = Instant::now();
    events(Event::Phase("building the program"));
    let mut database = existing_database(project, &worker)?;
    let recorded = |worker: &mut Worker, wanted: &[PathBuf]| {
        let workplace = worker.folder.join(format!("intercept-{}", wanted.len()));
        patchwright_exec::files::create_private_folder(&workplace)?;
        let recorded = intercept_build(
            &mut worker.runner,
            &worker.sandbox,
            &workplace,
            build,
            wanted,
            &environment,
            &limits,
        );
        match recorded {
            Ok((commands, _)) => Ok(commands),
            Err(InterceptError::NothingCompiled) if !wanted.is_empty() => Ok(Vec::new()),
            Err(InterceptError::Build(error)) => Err(RepairError::Build(error)),
            Err(source) => Err(RepairError::Intercept {
                root: project.root.clone(),
                source: Box::new(source),
            }),
        }
    };
    if database.is_some() {
        run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &environment,
            &limits,
        )
        .map_err(RepairError::Build)?;
        // The build may have written it anew.
        database = existing_database(project, &worker)?;
    }
    let commands = match database {
        Some(commands) => commands,
        None => {
            let wanted: Vec<PathBuf> = project
                .files
                .iter()
                .map(|selection| selection.file.clone())
                .collect();
            let commands = recorded(&mut worker, &wanted)?;
            // Perhaps the build does not compile what was selected: then it should say what it does.
            match commands.is_empty() && !wanted.is_empty() {
                true => recorded(&mut worker, &[])?,
                false => commands,
            }
        }
    };
    let commands = seen_in_sandbox(commands, &worker);
    phases.build = started.elapsed();
    let started = Instant::now();
    events(Event::Phase("running the tests of the untouched program"));
    let total = 2 * suite.tests.len();
    let baseline = Baseline::measure(
        &mut worker.runner,
        &worker.sandbox,
        suite,
        &BaselineOptions {
            limits: project.limits.clone(),
            ..Default::default()
        },
        |done| events(Event::Progress { done, total }),
    )?;
    phases.baseline = started.elapsed();
    for test in baseline.flaky() {
        events(Event::Warning(format!(
            "test {} is flaky: it passed once and failed once without any change; it is set aside",
            test.name
        )));
    }
    let failing: Vec<usize> = baseline.failing().map(|test| test.index).collect();
    let passing: Vec<usize> = baseline.passing().map(|test| test.index).collect();
    check_baseline(&baseline, &failing, &passing, options)?;
    Ok(Prepared {
        worker,
        commands,
        baseline,
        suite: suite.clone(),
        limits: project.limits.clone(),
        failing,
        passing,
    })
}

fn check_baseline(
    baseline: &Baseline,
    failing: &[usize],
    passing: &[usize],
    options: &RepairOptions,
) -> Result<(), RepairError> {
    if failing.is_empty() {
        let names: Vec<&str> = baseline.flaky().map(|test| test.name.as_str()).collect();
        if names.is_empty() {
            return Err(RepairError::NothingFails {
                tests: baseline.tests.len(),
            });
        }
        return Err(RepairError::OnlyFlaky {
            names: names.join(", "),
        });
    }
    if passing.is_empty() && !options.allow_all_failing {
        let reason = match &baseline.tests[failing[0]].verdict {
            Verdict::Fail(reason) => {
                format!(" (test {}: {reason})", baseline.tests[failing[0]].name)
            }
            Verdict::Pass => String::new(),
        };
        return Err(RepairError::EverythingFails {
            tests: baseline.tests.len(),
            reason,
        });
    }
    Ok(())
}

/// The compile database that the project names, or has somewhere.
fn existing_database(
    project: &Project,
    worker: &Worker,
) -> Result<Option<Vec<CompileCommand>>, RepairError> {
    let path = match &project.compile_commands {
        Some(path) => Some(worker.sandbox.host_path(path)),
        None => intercept::find_database(worker.sandbox.folder(), 2)?,
    };
    match path {
        Some(path) if path.exists() => Ok(Some(read_compile_database(&path)?)),
        _ => Ok(None),
    }
}

/// Commands speak of the project's own path or of the copy's; programs in the sandbox see one.
fn seen_in_sandbox(commands: Vec<CompileCommand>, worker: &Worker) -> Vec<CompileCommand> {
    let (folder, project) = (worker.sandbox.folder(), worker.sandbox.project());
    commands
        .into_iter()
        .map(|command| {
            if worker.runner.view_active() {
                command.rebase(folder, project)
            } else {
                command.rebase(project, folder)
            }
        })
        .collect()
}

/// Without a view, build files that name the project's own path would make the build write there.
fn refuse_absolute_references(project: &Project, worker: &Worker) -> Result<(), RepairError> {
    let ViewStatus::Refused { reason } = worker.runner.view_status() else {
        return Ok(());
    };
    let found = absolute_references(worker.sandbox.folder(), &project.root, &[])?;
    match found.into_iter().next() {
        None => Ok(()),
        Some(reference) => Err(RepairError::AbsolutePaths {
            file: reference.file,
            root: project.root.clone(),
            reason: reason.clone(),
        }),
    }
}
