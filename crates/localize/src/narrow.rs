//! Chooses the sources to read: those of which failing tests execute a function.

use std::path::PathBuf;

use patchwright_exec::{CompileCommand, Limits, executed_sources};

use crate::observe::TIMEOUT_FACTOR;
use crate::{Event, LocalizeError, Subject};

/// So few sources are read anyway.
const FEW: usize = 3;

/// A source and the ways in which it is compiled.
type Source = (PathBuf, Vec<CompileCommand>);

/// The sources of which a failing test executes a function, or may do so; `None` if all are to be read.
///
/// # Errors
/// When the run was cancelled.
pub(crate) fn executed(subject: &mut Subject<'_>) -> Result<Option<Vec<Source>>, LocalizeError> {
    let total = subject.sources.len();
    if total <= FEW || subject.baseline.failing().next().is_none() {
        return Ok(None);
    }
    (subject.events)(Event::Phase(
        "finding the sources that failing tests execute",
    ));
    let tests: Vec<_> = subject
        .baseline
        .failing()
        .map(|known| {
            let limits = Limits {
                wall: known.timeout * TIMEOUT_FACTOR,
                ..known.limits(subject.limits, false)
            };
            (&subject.suite.tests[known.index], limits)
        })
        .collect();
    let environment = &subject.suite.environment;
    let found = executed_sources(subject.worker, subject.sources, &tests, environment);
    let found = match found.map_err(LocalizeError::from) {
        Err(error) if error.is_cancelled() => return Err(error),
        // What is not known is read.
        found => found.unwrap_or_default(),
    };
    let Some(found) = found.filter(|found| found.len() < total) else {
        return Ok(None);
    };
    (subject.events)(Event::Note(format!(
        "failing tests execute functions of {} of {total} sources, and the others are not read",
        found.len()
    )));
    let sources = subject.sources.iter();
    Ok(Some(
        sources
            .filter(|(source, _)| found.contains(source))
            .cloned()
            .collect(),
    ))
}
