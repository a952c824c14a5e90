//! Localizes faults in a prepared project, to decide where a repair looks first.
//!
//! A large program is localized before its locations are looked for ([`focus`]): only files with suspicious statements
//! are read in detail and woven. In a small one that would cost more than it saves, unless tests crash: then it is worth
//! knowing where. In all, the locations are ranked by the tests that visit them ([`rank`]).

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, Instant},
};

use patchwright_exec::{Project, Test, files};
use patchwright_localize::{
    Counts, Event as LocalizeEvent, Localization, Subject, localize as observe,
};
use patchwright_text::LineMap;

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    focus::{Focus, cut},
    instrumented::HoleEntry,
    options::DEFAULT_LOCATIONS,
    phases::Phases,
    prepare::{Prepared, worker_options},
    selected::selected,
};

/// With more bytes of selected sources, statements are observed first.
const LARGE: usize = 32 << 10;

/// Reading and weaving [`MANY_LOCATIONS`] takes a small part of this time.
const LONG: Duration = Duration::from_secs(150);

/// Whether the first round has a small part of the time: the program is large, the budget at least [`LONG`], and the user has not said how
/// many locations.
pub(crate) fn is_brief(prepared: &Prepared, options: &RepairOptions) -> bool {
    let waits = options.budget.is_some_and(|budget| budget >= LONG);
    let is_default = options.locations == DEFAULT_LOCATIONS && options.widens;
    waits && is_default && prepared.focus.is_some()
}

/// Finds what each test of a prepared project executes, in the selected files.
///
/// # Errors
/// When there is no statement, or tests cannot be observed.
pub fn localize(
    prepared: &mut Prepared,
    project: &Project,
    options: &RepairOptions,
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
            LocalizeEvent::Note(text) => Event::Note(text),
            LocalizeEvent::Warning(text) => Event::Warning(text),
        });
    };
    let remembered = prepared.remembered.clone();
    let kept = remembered.as_ref();
    let kept = kept.map(|kept| (&*kept.cache, kept.key, kept.least));
    let found = observe(&mut Subject {
        kept,
        copy: worker_options(project, &base, surroundings),
        worker: &mut prepared.worker,
        sources: &sources,
        selections: &project.files,
        build: project.build.as_deref().unwrap_or_default(),
        suite: &prepared.suite,
        baseline: &prepared.baseline,
        limits: &prepared.limits,
        jobs: options.jobs,
        events: &events,
    })?;
    phases.localize = started.elapsed();
    Ok(found)
}

/// Localizes a program that is large, or in which tests crash or may do so, and leaves what is suspicious in [`Prepared::focus`].
///
/// # Errors
/// For a large program as [`localize`]. A small one is repaired without knowing more.
pub fn focus(
    prepared: &mut Prepared,
    project: &Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'_>,
    phases: &mut Phases,
) -> Result<(), RepairError> {
    let is_large = is_large(prepared, project)?;
    let crashes = prepared.baseline.crashes();
    // What an expression holds is not seen where only locations are.
    let is_narrow = (1..DEFAULT_LOCATIONS).contains(&options.locations);
    // A driver may keep to itself how the programs end that it starts.
    let may_crash = crashes || prepared.suite.tests.iter().any(Test::is_driven);
    if !is_large && !may_crash && !is_narrow {
        return Ok(());
    }
    let mut said = Vec::new();
    let focus = match localize(prepared, project, options, surroundings, phases) {
        Ok(found) => {
            let tests = match project.files.is_empty() {
                true => programs_of_tests(&found),
                false => BTreeSet::new(),
            };
            let files = tests.iter().map(|&file| &found.files[file].relative);
            said.extend(files.map(|file| program_of_tests(file)));
            Focus::new(found, options, &tests)
        }
        Err(error) if is_large || error.is_cancelled() => return Err(error),
        Err(_) if !crashes && !is_narrow => return Ok(()),
        Err(error) => {
            let unknown = match crashes {
                true => "the places of crashes are not known",
                false => "the suspicion inside of expressions is not known",
            };
            (surroundings.events)(Event::Warning(format!("{unknown}: {error}")));
            return Ok(());
        }
    };
    let is_known = !focus.is_empty() && (crashes || focus.has_crash());
    let is_used = is_large || is_known || is_narrow && !focus.is_empty();
    prepared.focus = Some(focus).filter(|_| is_used);
    if prepared.focus.is_some() {
        let tell = |told| (surroundings.events)(Event::Warning(told));
        said.into_iter().for_each(tell);
    }
    Ok(())
}

/// Says that a source is taken for a test.
pub(crate) fn program_of_tests(file: &Path) -> String {
    let file = file.display();
    format!(
        "{file} has a main function and no passing test executes it, so it is taken for a test and no changes are sought there; --files {file} has it searched"
    )
}

/// The sources with a main function that failing tests execute and no passing test does, though those execute others: test programs,
/// whatever they are called.
fn programs_of_tests(found: &Localization) -> BTreeSet<usize> {
    let file_of = |statement: &u32| found.statements[*statement as usize].file;
    let executed = |passes: bool| -> BTreeSet<usize> {
        let tests = found.tests.iter().filter(|test| test.passes == passes);
        tests
            .flat_map(|test| test.executed.iter().map(file_of))
            .collect()
    };
    let (passing, failing) = (executed(true), executed(false));
    let mains = found
        .functions
        .iter()
        .filter(|function| function.name == "main");
    let of_tests: BTreeSet<usize> = mains
        .map(|function| function.file)
        .filter(|file| failing.contains(file) && !passing.contains(file))
        .collect();
    match passing.is_empty() || failing.is_subset(&of_tests) {
        true => BTreeSet::new(),
        false => of_tests,
    }
}

fn is_large(prepared: &Prepared, project: &Project) -> Result<bool, RepairError> {
    let mut bytes = 0;
    for (relative, _) in selected(prepared, project)? {
        let source = files::read(&prepared.worker.sandbox.folder().join(&relative))?;
        let lines = LineMap::new(&source);
        bytes += (1..=lines.line_count())
            .filter(|&line| project.files.is_empty() || selects(project, &relative, line))
            .filter_map(|line| lines.line_span(line))
            .map(|span| span.len() as usize)
            .sum::<usize>();
        if bytes > LARGE {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the project's selection of files, which is not empty, has a line.
fn selects(project: &Project, relative: &Path, line: u32) -> bool {
    project
        .files
        .iter()
        .any(|selection| selection.covers(relative) && selection.contains_line(line))
}

/// Sets the suspicion of each location by the tests that visit it and by its nearness to crashes.
pub fn rank(entries: &mut [HoleEntry], prepared: &Prepared, options: &RepairOptions) {
    for entry in entries.iter_mut() {
        let visits = |tests: &[usize]| {
            let tests = tests.iter();
            tests
                .filter(|&test| entry.visited_by.contains(test))
                .count()
        };
        let counts = Counts {
            failing: visits(&prepared.failing),
            passing: visits(&prepared.passing),
            all_failing: prepared.failing.len(),
            all_passing: prepared.passing.len(),
        };
        let score = options.formula.suspiciousness(counts);
        let score = score.max(entry.held);
        entry.suspiciousness = 1.0 - (1.0 - score) * (1.0 - entry.nearness);
    }
}

/// Removes locations beyond the `wanted` most suspicious ones, and returns how many. 0 removes none.
/// Equally suspicious ones are all kept or all removed (`cut`). Locations without a first value stay: all
/// tests visit them, so they are not suspicious, but they have few candidates.
pub fn limit(entries: &mut Vec<HoleEntry>, wanted: usize) -> usize {
    let all = entries.len();
    let Some(kept) = most_suspicious(entries, wanted) else {
        return 0;
    };
    retain(entries, |entry| kept.contains(&entry));
    all - entries.len()
}

/// Removes the locations that [`limit`] would keep.
pub fn skip(entries: &mut Vec<HoleEntry>, wanted: usize) {
    match most_suspicious(entries, wanted) {
        None => entries.clear(),
        Some(kept) => retain(entries, |entry| !kept.contains(&entry)),
    }
}

fn retain(entries: &mut Vec<HoleEntry>, is_wanted: impl Fn(usize) -> bool) {
    let mut number = 0;
    entries.retain(|_| {
        number += 1;
        is_wanted(number - 1)
    });
}

/// The `wanted` most suspicious locations; `None` if those are all.
fn most_suspicious(entries: &[HoleEntry], wanted: usize) -> Option<BTreeSet<usize>> {
    let counted = entries.iter().filter(|entry| entry.is_counted()).count();
    if wanted == 0 || counted <= wanted {
        return None;
    }
    let all = entries.len();
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by(|&a, &b| entries[a].by_suspicion(&entries[b]));
    let by_rank: Vec<usize> = order
        .iter()
        .copied()
        .filter(|&entry| entries[entry].is_counted())
        .collect();
    let last = &entries[by_rank[wanted - 1]];
    let is_tied = |entry: &&usize| entries[**entry].by_suspicion(last).is_eq();
    let first = by_rank.iter().take_while(|entry| !is_tied(entry)).count();
    let tied = by_rank[first..].iter().take_while(is_tied).count();
    let mut room = cut(wanted, first..first + tied);
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for entry in order {
        let is_counted = entries[entry].is_counted();
        if room == 0 && (is_counted || !entries[entry].begins()) {
            continue;
        }
        room -= usize::from(is_counted);
        kept.insert(entry);
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn equal_locations_are_kept_or_left_out_together() {
        // Some more than wanted, far more behind others, and far more with nothing before them.
        assert_eq!(cut(200, 150..260), 260);
        assert_eq!(cut(200, 150..2823), 150);
        assert_eq!(cut(200, 0..2823), 2823);
        assert_eq!(cut(200, 199..200), 200);
    }
}
