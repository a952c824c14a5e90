//! Patches that come one after the other, or many at a time: the untouched program is built and tested once for all of them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::{CancelToken, Pool, Project};
use patchwright_patches::{Applier, BaseTree, Digest, RawPatch, Reading};

use crate::board::Board;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::outcome::{Stats, Tests, Validated, Validation};
use crate::phases::Phases;
use crate::plain::{Checked, Plain, Time};
use crate::prepare::{Asking, BUILDING, Changed, TESTING, prepare};
use crate::set::PatchSet;
use crate::tasks::run_batch;
use crate::test_files::TestFiles;
use crate::{Event, Surroundings, ValidateOptions};

/// Validates patches as they come. `next` waits for patches and gives those that have come since; `None` is the end. What belongs to
/// the tests is left out of patches, unless the options trust it.
///
/// Verdicts are told as events as soon as they are known, with the number of the patch among all that have come. The outcome has all of
/// them; when the run is cancelled, those that are known by then. No patch is audited, and the run does not stop after a number of
/// plausible patches.
///
/// # Errors
/// See [`ValidateError`].
pub fn serve(
    project: &Project,
    tree: &dyn BaseTree,
    reading: Reading,
    options: &ValidateOptions,
    surroundings: &Surroundings<'_>,
    next: &mut dyn FnMut() -> Option<Vec<RawPatch>>,
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
        |warning| events(Event::Warning(warning)),
    )?;
    let test_files = TestFiles::of(project)?;
    // Whatever patches will change, it is known how it is compiled.
    let changed = Changed {
        headers: true,
        ..Changed::default()
    };
    let known = journal.as_ref().and_then(|journal| journal.untouched());
    let known = known.filter(|known| !known.baseline.once);
    let (prepared, worker, snapshot) = prepare(
        project,
        known.cloned(),
        (&changed, &test_files),
        Asking::Twice(&|_| None),
        options,
        surroundings,
    )?;
    if let (Some(journal), None) = (&journal, known) {
        journal.keep_untouched(&prepared.untouched)?;
    }
    let times = (phases.processor(BUILDING), phases.processor(TESTING) / 2);
    let tests = Tests::of(&prepared.untouched.baseline, options);
    events(Event::Tests {
        tests: &tests,
        patches: &[],
    });
    let mut served = Validation {
        tests,
        stats: Stats {
            untouched_builds: usize::from(prepared.is_built),
            prepare: started.elapsed(),
            ..Stats::default()
        },
        ..Validation::default()
    };
    let started = Instant::now();
    let mut plain = Plain::new(
        project,
        &prepared,
        options,
        surroundings,
        (snapshot, usize::MAX),
    );
    let mut workers = Pool::of(vec![worker]);
    let applier = Applier::new(tree, reading);
    let tests_are_left_out = (!options.trust_test_changes).then_some(&test_files);
    // The first patch that made a tree, among all.
    let mut trees: HashMap<Digest, usize> = HashMap::new();
    while !surroundings.cancel.is_cancelled()
        && let Some(patches) = next()
    {
        let mut set = PatchSet::default();
        let mut in_set = HashMap::new();
        for raw in patches {
            set.add(applier.apply(raw), &mut in_set, tests_are_left_out);
        }
        let first = served.patches.len();
        let before: Vec<Option<usize>> = set
            .entries
            .iter()
            .map(|entry| trees.get(&entry.tree?).copied())
            .collect();
        let board_events = |event: Event<'_>| match event {
            Event::Verdict { index, patch } => {
                let patch = &among_all(patch.clone(), first, before[index]);
                let index = first + index;
                events(Event::Verdict { index, patch });
            }
            Event::Tests { .. } => {}
            other => events(other),
        };
        let board_surroundings = Surroundings {
            program: surroundings.program,
            scratch: surroundings.scratch,
            cancel: surroundings.cancel.clone(),
            events: &board_events,
        };
        let board = Board::new(&test_files, &set, options, &board_surroundings);
        for entry in set.distinct() {
            let tree = set.entries[entry].tree;
            let journaled = tree.and_then(|tree| journal.as_ref()?.known(tree));
            if let Some(known) = before[entry] {
                if let Some(checked) = as_checked(&served.patches[known]) {
                    board.recall(entry, &checked);
                }
            } else if let Some(record) = journaled {
                board.resume(entry, record);
            }
        }
        if board.begin(served.tests.clone()).is_continue() {
            run_batch(
                &set,
                &prepared,
                project,
                &board,
                journal.as_ref(),
                times,
                (&mut plain, &mut workers),
            )?;
        }
        let done = board.finish(Default::default(), Default::default(), Vec::new());
        served.stats.add(&done.stats);
        served.interrupted |= done.interrupted;
        for (number, patch) in done.patches.into_iter().enumerate() {
            if let (Some(tree), Some(_)) = (set.entries[number].tree, &patch.verdict) {
                trees.entry(tree).or_insert(first + number);
            }
            let patch = among_all(patch, first, before[number]);
            served.patches.push(patch);
        }
    }
    served.stats.renewed_copies = plain.renewed();
    served.stats.validate = started.elapsed();
    served.stats.phases = phases.finish();
    Ok(served)
}

/// What is known of a patch of a set, with the numbers that patches have among all: `first` is that of the first one of the set, and
/// `before` that of an earlier one which makes the same tree.
fn among_all(mut patch: Validated, first: usize, before: Option<usize>) -> Validated {
    let shift = |number: usize| number + first;
    patch.same_as = before.or(patch.same_as.map(shift));
    patch.confirmed_by = patch.confirmed_by.map(shift);
    for with in &mut patch.confirmed_with {
        *with += first;
    }
    patch
}

/// What was found out about an earlier patch.
fn as_checked(patch: &Validated) -> Option<Checked> {
    Some(Checked {
        verdict: patch.verdict.clone()?,
        tests: patch.tests.clone(),
        executions: 0,
        way: patch.way?,
        build: patch.build,
        total: patch.total,
        changes_tests: Default::default(),
        time: Time::Right,
    })
}

/// So often it is looked whether the run is cancelled.
const PACE: Duration = Duration::from_millis(50);

/// The queue of `validate --serve`: patches that were read and are not validated yet, and whether the input has ended.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    patches: Vec<RawPatch>,
    is_over: bool,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends patches to the queue and wakes [`Inbox::take`].
    pub fn put(&self, patches: Vec<RawPatch>) {
        self.state().patches.extend(patches);
        self.came.notify_all();
    }

    /// Says that no more patches will come, and wakes [`Inbox::take`].
    pub fn end(&self) {
        self.state().is_over = true;
        self.came.notify_all();
    }

    /// Waits for patches and takes all of them. Returns `None` when no more will come, or when the run is cancelled.
    pub fn take(&self, cancel: &CancelToken) -> Option<Vec<RawPatch>> {
        let mut state = self.state();
        while state.patches.is_empty() && !state.is_over && !cancel.is_cancelled() {
            let waited = self.came.wait_timeout(state, PACE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let taken = std::mem::take(&mut state.patches);
        (!taken.is_empty()).then_some(taken)
    }
}
