//! A run from end to end.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::{Baseline, BaselineTest, Pool, Project, Snapshot, TestKind, Worker};
use patchwright_patches::{Applied, FileChange, Patch};

use crate::error::ValidateError;
use crate::journal::{Journal, Record};
use crate::outcome::{Stats, Tests, Validated, Validation, WovenStats};
use crate::plain::{Checked, Plain, Way};
use crate::prepare::{Prepared, prepare, worker_options};
use crate::rebuild::{Rebuild, remarks};
use crate::schedule::Schedule;
use crate::set::PatchSet;
use crate::verdict::PatchVerdict;
use crate::woven::Woven;
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
    let started = Instant::now();
    project.require_tests()?;
    let journal = open_journal(project, options, surroundings)?;
    let board = Board::new(project, set, options, surroundings);
    if let Some(journal) = &journal {
        for entry in set.distinct() {
            let tree = set.entries[entry].tree;
            if let Some(record) = tree.and_then(|tree| journal.known(tree)) {
                board.resume(entry, record);
            }
        }
    }
    let known = journal.as_ref().and_then(|journal| journal.baseline());
    let is_open = |entry: &usize| !board.is_settled(*entry);
    if let Some(baseline) = known
        && !set.distinct().any(|entry| is_open(&entry))
    {
        let _nothing_to_do = board.begin(baseline);
        return Ok(board.finish(started.elapsed(), Duration::ZERO));
    }
    let changed = changed_sources(set, options, &is_open);
    let ready = prepare(project, known.cloned(), &changed, options, surroundings);
    let ready = match (ready, known) {
        // Nothing more is known than the journal had.
        (Err(error), Some(baseline)) if error.is_cancelled() => {
            let _nothing_can_be_done = board.begin(baseline);
            return Ok(board.finish(started.elapsed(), Duration::ZERO));
        }
        (other, _) => other?,
    };
    if let (Some(journal), None) = (&journal, known) {
        journal.keep_baseline(&ready.0.baseline)?;
    }
    let preparing = started.elapsed();
    let started = Instant::now();
    if board.begin(&ready.0.baseline).is_continue() {
        run_tasks(project, set, ready, &board, journal.as_ref())?;
    }
    Ok(board.finish(preparing, started.elapsed()))
}

/// The sources that the open patches change, if they are going to be woven.
fn changed_sources(
    set: &PatchSet,
    options: &ValidateOptions,
    is_open: &dyn Fn(&usize) -> bool,
) -> Vec<PathBuf> {
    if !options.schemata {
        return Vec::new();
    }
    let open = set.distinct().filter(is_open);
    let patches = open.filter_map(|entry| set.entries[entry].patch());
    let modified = patches
        .flat_map(|patch| &patch.changes)
        .filter_map(|change| match change {
            FileChange::Modify { path, .. } => Some(path.as_path()),
            _ => None,
        });
    let sources: BTreeSet<&Path> = modified
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.into_iter().map(Path::to_path_buf).collect()
}

fn open_journal(
    project: &Project,
    options: &ValidateOptions,
    surroundings: &Surroundings<'_>,
) -> Result<Option<Journal>, ValidateError> {
    let Some(place) = &options.journal else {
        return Ok(None);
    };
    match Journal::open(project, options, place) {
        Ok(journal) => Ok(Some(journal)),
        Err(error) if place.required => Err(error.into()),
        Err(error) => {
            (surroundings.events)(Event::Warning(format!(
                "this run cannot be resumed: {error}"
            )));
            Ok(None)
        }
    }
}

/// A patch to validate.
#[derive(Clone, Copy)]
struct Task {
    /// Its number among the distinct patches of the set.
    number: usize,
    /// Its number in the set.
    entry: usize,
}

/// Validates the patches whose verdicts are not on the board.
fn run_tasks(
    project: &Project,
    set: &PatchSet,
    (prepared, mut worker, mut snapshot): (Prepared, Worker, Snapshot),
    board: &Board<'_>,
    journal: Option<&Journal>,
) -> Result<(), ValidateError> {
    let (options, surroundings) = (board.options, board.surroundings);
    let numbers = |tests: Vec<&BaselineTest>| -> Vec<usize> {
        tests.into_iter().map(|test| test.index).collect()
    };
    let schedule = Schedule::new(
        set.distinct().count(),
        &numbers(prepared.baseline.failing().collect()),
        &numbers(prepared.baseline.passing().collect()),
        options.prioritize,
    );
    let distinct: Vec<Task> = set
        .distinct()
        .enumerate()
        .map(|(number, entry)| Task { number, entry })
        .collect();
    let mut promising = BTreeSet::new();
    if options.schemata {
        let woven = Woven {
            project,
            prepared: &prepared,
            options,
            surroundings,
        };
        let order = schedule.order(0);
        promising = run_woven(&woven, set, &mut worker, &order, board, journal)?;
        if surroundings.cancel.is_cancelled() {
            return Ok(());
        }
        snapshot.restore(&worker.sandbox, prepared.pristine.sandbox.folder())?;
    }
    let mut open = Vec::new();
    for task in distinct {
        match board.is_settled(task.entry) {
            true => schedule.done(task.number, board.killer(task.entry)),
            false => open.push(task),
        }
    }
    if board.deliver().is_break() {
        return Ok(());
    }
    (surroundings.events)(Event::Phase("validating patches one by one"));
    let folder = prepared.pristine.sandbox.folder();
    let (mut workers, mut snapshots) = (vec![worker], vec![snapshot]);
    for index in 1..options.jobs.min(open.len()) {
        let name = format!("worker-{index}");
        let options = worker_options(project, folder, surroundings);
        let worker = Worker::start(index, &name, &options)?;
        snapshots.push(Snapshot::take(&worker.sandbox)?);
        workers.push(worker);
    }
    let plain = Plain::new(project, &prepared, options, surroundings, snapshots);
    let work = |worker: &mut Worker, task: Task| -> Result<Task, ValidateError> {
        // Others wait for this patch, whatever becomes of it.
        let mut done = Done {
            schedule: &schedule,
            number: task.number,
            killer: None,
        };
        let Some((patch, tree)) = set.entries[task.entry]
            .patch()
            .zip(set.entries[task.entry].tree)
        else {
            return Ok(task);
        };
        let checked = plain.check(worker, patch, || schedule.order(task.number))?;
        if let Some(journal) = journal {
            journal.keep(tree, &checked)?;
        }
        let overruled =
            promising.contains(&task.entry) && checked.verdict != PatchVerdict::Plausible;
        board.settle(task.entry, &checked, overruled);
        done.killer = board.killer(task.entry);
        Ok(task)
    };
    let mut failure = None;
    Pool::of(workers).run_until(open, work, |result| match result {
        Ok(_) => board.deliver(),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    });
    board.count_renewed(plain.renewed());
    match failure {
        Some(error) if !error.is_cancelled() => Err(error),
        _ => Ok(()),
    }
}

/// Validates the open patches in woven programs, as far as that can be done. Those that it holds for
/// plausible and that are to be confirmed are returned.
fn run_woven(
    woven: &Woven<'_>,
    set: &PatchSet,
    worker: &mut Worker,
    order: &[usize],
    board: &Board<'_>,
    journal: Option<&Journal>,
) -> Result<BTreeSet<usize>, ValidateError> {
    let open: Vec<usize> = set
        .distinct()
        .filter(|entry| !board.is_settled(*entry))
        .collect();
    let patches: Vec<Patch> = open
        .iter()
        .filter_map(|entry| set.entries[*entry].patch().cloned())
        .collect();
    let mut promising = BTreeSet::new();
    let mut kept = Ok(());
    let result = woven.run(worker, &patches, order, &mut |index, checked| {
        let entry = open[index];
        if checked.verdict == PatchVerdict::Plausible && woven.options.confirm {
            promising.insert(entry);
            return;
        }
        if let (Some(journal), Some(tree), true) = (journal, set.entries[entry].tree, kept.is_ok())
        {
            kept = journal.keep(tree, &checked);
        }
        board.settle(entry, &checked, false);
    });
    kept?;
    match result {
        Ok(stats) => board.count_woven(stats),
        Err(error) if error.is_cancelled() => {}
        Err(error) => (woven.surroundings.events)(Event::Warning(format!(
            "the remaining patches are built one by one, which takes longer: {error}"
        ))),
    }
    Ok(promising)
}

/// Tells the schedule that a patch is done when it goes out of scope.
struct Done<'s> {
    schedule: &'s Schedule,
    number: usize,
    killer: Option<usize>,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.schedule.done(self.number, self.killer);
    }
}

/// The verdicts so far, and what of them has been told.
struct Board<'b> {
    options: &'b ValidateOptions,
    surroundings: &'b Surroundings<'b>,
    /// For each patch of the set, the later ones that make the same tree.
    followers: Vec<Vec<usize>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tests: Tests,
    patches: Vec<Validated>,
    stats: Stats,
    /// With `stop_after`: patches before this one have been told.
    told: usize,
    /// Plausible ones among these, without those that are the same as another.
    plausible: usize,
    /// The patch at which that number was reached.
    stopped: Option<usize>,
}

impl<'b> Board<'b> {
    fn new(
        project: &Project,
        set: &PatchSet,
        options: &'b ValidateOptions,
        surroundings: &'b Surroundings<'b>,
    ) -> Self {
        let mut followers = vec![Vec::new(); set.entries.len()];
        let mut state = State::default();
        for (number, entry) in set.entries.iter().enumerate() {
            if let Some(first) = entry.same_as {
                followers[first].push(number);
                state.stats.duplicates += 1;
            }
            let (verdict, notes) = match &entry.applied {
                Applied::DoesNotApply(not) => {
                    let reason = not.reason.to_string();
                    (Some(PatchVerdict::DoesNotApply(reason)), Vec::new())
                }
                Applied::Patch(patch) => {
                    let mut notes: Vec<String> =
                        patch.notes.iter().map(ToString::to_string).collect();
                    notes.extend(remarks(patch, |path| is_test(project, path)));
                    (None, notes)
                }
            };
            state.patches.push(Validated {
                id: entry.id().clone(),
                origin: entry.origin().clone(),
                notes,
                same_as: entry.same_as,
                verdict,
                tests: Vec::new(),
                way: None,
                resumed: false,
                build: Duration::ZERO,
                total: Duration::ZERO,
            });
        }
        Board {
            options,
            surroundings,
            followers,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_settled(&self, entry: usize) -> bool {
        self.state().patches[entry].verdict.is_some()
    }

    /// The test that spoke against a patch.
    fn killer(&self, entry: usize) -> Option<usize> {
        match &self.state().patches[entry].verdict {
            Some(PatchVerdict::Implausible(killer)) => Some(killer.test),
            _ => None,
        }
    }

    fn tell(&self, state: &State, index: usize) {
        let patch = &state.patches[index];
        (self.surroundings.events)(Event::Verdict { index, patch });
    }

    /// Takes a verdict from the journal.
    fn resume(&self, entry: usize, record: &Record) {
        let checked = Checked {
            verdict: record.verdict.clone(),
            tests: record.tests.clone(),
            executions: record.tests.len(),
            way: record.way,
            build: record.build,
            total: record.total,
        };
        let mut state = self.state();
        self.write(&mut state, entry, &checked);
        state.stats.resumed += 1;
        for number in self.and_followers(entry) {
            state.patches[number].resumed = true;
        }
    }

    fn and_followers(&self, entry: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(entry).chain(self.followers[entry].iter().copied())
    }

    fn write(&self, state: &mut State, entry: usize, checked: &Checked) {
        for number in self.and_followers(entry) {
            let patch = &mut state.patches[number];
            patch.verdict = Some(checked.verdict.clone());
            patch.tests.clone_from(&checked.tests);
            patch.way = Some(checked.way);
            patch.build = checked.build;
            patch.total = checked.total;
        }
    }

    /// The tests are known, and perhaps some verdicts. Whether there is more to do.
    fn begin(&self, baseline: &Baseline) -> ControlFlow<()> {
        let mut state = self.state();
        state.tests = Tests::of(baseline);
        (self.surroundings.events)(Event::Tests(&state.tests));
        if self.options.stop_after.is_none() {
            for index in 0..state.patches.len() {
                if state.patches[index].verdict.is_some() {
                    self.tell(&state, index);
                }
            }
        }
        drop(state);
        self.deliver()
    }

    /// A verdict is known. It is told at once, unless the run stops after a number of plausible
    /// patches: then the order counts.
    ///
    /// `overruled` says that woven with others the patch was plausible, and is not by itself.
    fn settle(&self, entry: usize, checked: &Checked, overruled: bool) {
        let mut state = self.state();
        if let Way::Plain(rebuild) = checked.way {
            state.stats.builds += 1;
            state.stats.full_builds += usize::from(rebuild == Rebuild::Full);
        }
        if overruled {
            let note = "woven into one program with other patches, it passed all tests";
            state.patches[entry].notes.push(note.to_owned());
            if let Some(woven) = &mut state.stats.woven {
                woven.overruled += 1;
            }
        }
        state.stats.executions += checked.executions;
        self.write(&mut state, entry, checked);
        if self.options.stop_after.is_none() {
            for number in self.and_followers(entry) {
                self.tell(&state, number);
            }
        }
    }

    /// Tells what comes next in the order of the set, if the order counts; breaks when enough
    /// patches are plausible.
    fn deliver(&self) -> ControlFlow<()> {
        let Some(wanted) = self.options.stop_after else {
            return ControlFlow::Continue(());
        };
        let mut state = self.state();
        while state.stopped.is_none()
            && let Some(patch) = state.patches.get(state.told)
            && let Some(verdict) = &patch.verdict
        {
            let new = *verdict == PatchVerdict::Plausible && patch.same_as.is_none();
            self.tell(&state, state.told);
            state.plausible += usize::from(new);
            if state.plausible >= wanted {
                state.stopped = Some(state.told);
            }
            state.told += 1;
        }
        match state.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn count_woven(&self, woven: WovenStats) {
        self.state().stats.woven = Some(woven);
    }

    fn count_renewed(&self, copies: usize) {
        self.state().stats.renewed_copies = copies;
    }

    fn finish(self, prepare: Duration, validate: Duration) -> Validation {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut patches, mut stats) = (state.patches, state.stats);
        (stats.prepare, stats.validate) = (prepare, validate);
        let end = state.stopped.map_or(patches.len(), |last| last + 1);
        // What workers found out beyond that depends on how fast they were.
        for patch in &mut patches[end..] {
            patch.verdict = None;
            patch.tests.clear();
            patch.way = None;
        }
        let complete = patches[..end].iter().all(|patch| patch.verdict.is_some());
        Validation {
            tests: state.tests,
            patches,
            stats,
            interrupted: !complete,
        }
    }
}

/// Whether a file of the project belongs to its tests: the driver, what the cases are, and what
/// lies in a folder that is called so.
fn is_test(project: &Project, path: &Path) -> bool {
    let tests = project.tests.iter().flat_map(|suite| &suite.tests);
    let mut named = tests.map(|test| match &test.kind {
        TestKind::Driver { driver } => driver == path,
        TestKind::Case(case) => case
            .stdin
            .as_ref()
            .and_then(|file| file.parent())
            .is_some_and(|folder| project.root.join(path).starts_with(folder)),
    });
    named.any(|is| is)
        || path.parent().is_some_and(|folder| {
            let names = ["test", "tests", "testsuite", "check"];
            folder
                .iter()
                .any(|part| names.iter().any(|name| part == *name))
        })
}
