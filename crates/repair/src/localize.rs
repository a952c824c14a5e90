//! Where a repair looks first: fault localization of a prepared project.

use std::time::Instant;

use patchwright_exec::Project;
use patchwright_localize::{Event as LocalizeEvent, Localization, Subject, localize as observe};

use crate::{
    Event, RepairError, Surroundings,
    instrument::selected,
    outcome::Phases,
    prepare::{Prepared, worker_options},
};

/// Finds what each test of a prepared project executes, in the selected files.
///
/// # Errors
/// When there is no statement, or tests cannot be observed.
pub fn localize(
    prepared: &mut Prepared,
    project: &Project,
    surroundings: &Surroundings<'_>,
    phases: &mut Phases,
) -> Result<Localization, RepairError> {
    let started = Instant::now();
    let sources = selected(prepared, project)?;
    let base = prepared.worker.sandbox.folder().to_path_buf();
    let events = |event| {
        (surroundings.events)(match event {
            LocalizeEvent::Phase(name) => Event::Phase(name),
            LocalizeEvent::Progress { done, total } => Event::Progress { done, total },
            LocalizeEvent::Warning(text) => Event::Warning(text),
        });
    };
    let found = observe(&mut Subject {
        copy: worker_options(project, &base, surroundings),
        worker: &mut prepared.worker,
        sources: &sources,
        selections: &project.files,
        build: project.build.as_deref().unwrap_or_default(),
        suite: &prepared.suite,
        baseline: &prepared.baseline,
        limits: &prepared.limits,
        events: &events,
    })?;
    phases.localize = started.elapsed();
    Ok(found)
}
