//! Which mutants stand in statements that no test executes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use patchwright_exec::{Baseline, CompileCommand, Project, TestSuite, Worker, WorkerOptions};
use patchwright_localize::{Event as LocalizeEvent, Localization, Subject, localize};
use patchwright_validate::{Event, Surroundings, ValidateOptions};

use crate::error::MutantsError;
use crate::generate::Mistake;

/// The statements that the tests execute.
pub struct Covered {
    found: Localization,
    executed: BTreeSet<u32>,
}

impl Covered {
    /// Runs each test once in a copy of the built program in `worker`, with a mark before each statement of `sources`. It is `None`,
    /// with a warning, if that cannot be seen.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn observe(
        worker: &mut Worker,
        project: &Project,
        suite: &TestSuite,
        sources: &[(PathBuf, Vec<CompileCommand>)],
        options: &ValidateOptions,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<Self>, MutantsError> {
        let folder = worker.sandbox.folder().to_path_buf();
        let copy = WorkerOptions::new(
            project,
            &folder,
            surroundings.program,
            surroundings.scratch,
            &surroundings.cancel,
        );
        // Whether they pass is seen later; which statements they execute does not depend on it.
        let baseline = Baseline::presumed(suite, &project.limits, patient());
        let events = |event: LocalizeEvent| match event {
            LocalizeEvent::Phase(name) => (surroundings.events)(Event::Phase(name)),
            LocalizeEvent::Progress { done, total } => {
                (surroundings.events)(Event::Progress { done, total });
            }
            // They speak of failing tests, and none is known to fail.
            LocalizeEvent::Note(text) | LocalizeEvent::Warning(text) => tracing::info!("{text}"),
        };
        let found = localize(&mut Subject {
            worker,
            copy,
            sources,
            selections: &[],
            build: project.build.as_deref().unwrap_or_default(),
            suite,
            baseline: &baseline,
            limits: &project.limits,
            jobs: options.jobs,
            kept: None,
            events: &events,
        });
        match found {
            Ok(found) => Ok(Some(Covered::of(found))),
            Err(_) if surroundings.cancel.is_cancelled() => {
                Err(patchwright_exec::RunError::Cancelled.into())
            }
            Err(error) => {
                let told = format!("which statements the tests execute is not known: {error}");
                (surroundings.events)(Event::Warning(told));
                Ok(None)
            }
        }
    }

    fn of(found: Localization) -> Self {
        let executed = found.tests.iter().flat_map(|test| &test.executed);
        Covered {
            executed: executed.copied().collect(),
            found,
        }
    }

    /// Whether a test executes the statement of a mistake; `None` if that is not known.
    pub fn is_executed(&self, mistake: &Mistake) -> Option<bool> {
        let file = self.file(&mistake.file)?;
        let span = mistake.edit.span;
        let mut own: Vec<u32> = self.found.inside(file, span).collect();
        if own.is_empty() {
            let around = self.found.innermost(file, span)?;
            own.push(around);
            // A label may lead into it.
            let whole = self.found.statements[around as usize].span;
            own.extend(self.found.inside(file, whole));
        }
        let is_executed = own
            .iter()
            .any(|statement| self.executed.contains(statement));
        // A test of which nothing was seen may execute it.
        (is_executed || self.found.set_aside.is_empty()).then_some(is_executed)
    }

    fn file(&self, relative: &Path) -> Option<usize> {
        let mut files = self.found.files.iter();
        files.position(|file| file.relative == relative)
    }
}

/// How long a test may take of which nothing is known.
fn patient() -> patchwright_exec::TimeoutRule {
    patchwright_exec::TimeoutRule {
        floor: std::time::Duration::from_secs(60),
        factor: 1.0,
        slack: std::time::Duration::ZERO,
    }
}
