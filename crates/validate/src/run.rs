//! Runs a validation from end to end.

use std::time::{Duration, Instant};

use patchwright_exec::{CompileCommand, Project};

use crate::board::Board;
use crate::cost::Cost;
use crate::error::ValidateError;
use crate::first::First;
use crate::journal::Journal;
use crate::outcome::{Tests, Validation};
use crate::phases::Phases;
use crate::prepare::{Asking, BUILDING, Changed, prepare};
use crate::set::PatchSet;
use crate::tasks::{Times, Weaving, run_tasks};
use crate::test_files::TestFiles;
use crate::unasked::{FEW, is_nothing_asked};
use crate::{Event, Surroundings, ValidateOptions};

/// Validates the patches of a set, which was applied to the tree of `project`.
///
/// When the run is cancelled, what is known by then is the outcome.
///
/// # Errors
/// See [`ValidateError`]. That no patch is plausible is no error.
pub fn validate(
    project: &Project,
    set: &PatchSet,
    options: &ValidateOptions,
    surroundings: &Surroundings<'_>,
) -> Result<Validation, ValidateError> {
    let phases = Phases::default();
    let events = |event: Event<'_>| {
        if let Event::Phase(name) = event {
            phases.begin(name);
        }
        (surroundings.events)(event);
    };
    let surroundings = &Surroundings {
        program: surroundings.program,
        scratch: surroundings.scratch,
        cancel: surroundings.cancel.clone(),
        events: &events,
    };
    let started = Instant::now();
    project.require_tests()?;
    let journal = patchwright_exec::open_wanted_journal(
        options.journal.as_ref(),
        |place| Journal::open(project, options, place),
        |warning| (surroundings.events)(Event::Warning(warning)),
    )?;
    let test_files = TestFiles::of(project)?;
    let board = Board::new(&test_files, set, options, surroundings);
    if let Some(journal) = &journal {
        for entry in set.distinct() {
            let tree = set.entries[entry].tree;
            if let Some(record) = tree.and_then(|tree| journal.known(tree)) {
                board.resume(entry, record);
            }
        }
    }
    let known = journal.as_ref().and_then(|journal| journal.untouched());
    let is_open = |entry: &usize| !board.is_settled(*entry);
    if let Some(untouched) = known
        && !set.distinct().any(|entry| is_open(&entry))
    {
        let _nothing_to_do = board.begin(Tests::of(&untouched.baseline, options));
        return Ok(board.finish(started.elapsed(), Duration::ZERO, phases.finish()));
    }
    let first = First {
        project,
        set,
        test_files: &test_files,
        board: &board,
        journal: journal.as_ref(),
        phases: &phases,
    };
    let known = match known {
        None if first.validate()?.is_break() => {
            return Ok(board.finish(Duration::ZERO, started.elapsed(), phases.finish()));
        }
        known => known,
    };
    let changed = Changed::by(set, &is_open);
    let changed = (&changed, &test_files);
    let few = options.by_cost && set.distinct().filter(is_open).count() <= FEW;
    // What was enough for a few patches is not for more.
    let known = known.filter(|known| few || !known.baseline.once);
    let built_before = phases.processor(BUILDING);
    let open: Vec<usize> = set.distinct().filter(is_open).collect();
    let count = project.require_tests()?.tests.len();
    let most_again = |commands: &[CompileCommand]| {
        let build = phases.processor(BUILDING).saturating_sub(built_before);
        let cost = Cost::of_builds(set, &open, Some(commands), build);
        let cost = cost.with_tests(Duration::ZERO, count);
        let is_free = is_nothing_asked(options);
        is_free.then(|| cost.most_again(options.schemata)).flatten()
    };
    let asking = match few {
        true => Asking::Once,
        false => Asking::Twice(&most_again),
    };
    let ready = prepare(
        project,
        known.cloned(),
        changed,
        asking,
        options,
        surroundings,
    );
    let ready = match (ready, known) {
        // Nothing more is known than the journal had.
        (Err(error), Some(untouched)) if error.is_cancelled() => {
            let _nothing_can_be_done = board.begin(Tests::of(&untouched.baseline, options));
            return Ok(board.finish(started.elapsed(), Duration::ZERO, phases.finish()));
        }
        (other, _) => other?,
    };
    if let (Some(journal), None) = (&journal, known) {
        journal.keep_untouched(&ready.0.untouched)?;
    }
    let preparing = started.elapsed();
    let started = Instant::now();
    let tests = Tests::of(&ready.0.untouched.baseline, options);
    if board.begin(tests).is_continue() {
        let build = phases.processor(BUILDING).saturating_sub(built_before);
        let times = Times {
            phases: &phases,
            build,
        };
        let way = match few {
            true => Weaving::Not,
            false => Weaving::ByCost,
        };
        run_tasks(project, set, ready, way, &board, journal.as_ref(), times)?;
    }
    Ok(board.finish(preparing, started.elapsed(), phases.finish()))
}
