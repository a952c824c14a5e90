//! Works through the patches without verdicts: in woven portions as far as that pays, and one by one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use patchwright_exec::{Pool, Project, Snapshot, Worker};
use patchwright_patches::Patch;
use patchwright_schemata::{Behaviour, Watch};

use crate::audit::{self, Audit};
use crate::board::Board;
use crate::cost::Cost;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::outcome::Tests;
use crate::phases::Phases;
use crate::plain::{Checked, Plain, Time};
use crate::prepare::{Prepared, TESTING, UntouchedTests, worker_options};
use crate::promising::{Conduct, Promising};
use crate::set::PatchSet;
use crate::together::Together;
use crate::unasked::{FEW, TELLING, is_doubtful, is_doubtful_but_for_tests};
use crate::verdict::PatchVerdict;
use crate::woven::Woven;
use crate::{Confirm, Event, ValidateOptions};

/// A patch to validate.
#[derive(Clone, Copy)]
struct Task {
    /// Its number in the set.
    entry: usize,
}

/// The phase in which patches are built by themselves.
const ONE_BY_ONE: &str = "validating patches one by one";

/// So many patches at least are left for later portions of a set, else it is one.
const LEAST_LEFT: usize = 1000;

/// The patches of the first portion of a large set, so that its verdicts come early.
const FIRST_PORTION: usize = 500;

/// Those of each further one. What is woven and compiled is forgotten when a portion is done, so memory does not grow with the set.
const PORTION: usize = 2000;

/// The parts of a set that are validated one after the other.
fn portions(mut tasks: &[Task]) -> Vec<&[Task]> {
    let mut portions = Vec::new();
    let mut size = FIRST_PORTION;
    while tasks.len() > size + LEAST_LEFT {
        let (portion, rest) = tasks.split_at(size);
        portions.push(portion);
        (tasks, size) = (rest, PORTION);
    }
    portions.push(tasks);
    portions
}

/// The time that the untouched program has taken.
pub(crate) struct Times<'t> {
    pub(crate) phases: &'t Phases,
    /// The processor time of its build.
    pub(crate) build: Duration,
}

/// Whether patches are woven.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weaving {
    /// None is.
    Not,
    /// None is, but if the tests turn out to be short, the run ends after the first few patches: the others may be woven.
    IfTestsAreShort,
    /// If that takes less time.
    ByCost,
}

/// Validates the patches whose verdicts are not on the board.
pub(crate) fn run_tasks(
    project: &Project,
    set: &PatchSet,
    (prepared, worker, snapshot): (Prepared, Worker, Snapshot),
    weaving: Weaving,
    board: &Board<'_>,
    journal: Option<&Journal>,
    times: Times<'_>,
) -> Result<(), ValidateError> {
    let (options, surroundings) = (board.options, board.surroundings);
    board.count_untouched(prepared.is_built);
    let baseline = &prepared.untouched.baseline;
    let order = order_of_tests(&prepared.untouched, options);
    if !prepared.is_supposed {
        settle_put_off(set, &prepared, board, journal)?;
    }
    let distinct = tasks(set);
    let open = || distinct.iter().filter(|task| !board.is_settled(task.entry));
    let entries: Vec<usize> = open().map(|task| task.entry).collect();
    let (phases, count) = (times.phases, baseline.tests.len());
    let tests = phases.processor(TESTING) / if baseline.once { 1 } else { 2 };
    let cost = Cost::of_builds(set, &entries, prepared.commands.as_deref(), times.build);
    let cost = cost.with_tests(tests, count);
    let is_asked = !prepared.is_supposed && weaving == Weaving::ByCost;
    let is_woven = options.schemata && is_asked && (!options.by_cost || cost.is_less_woven());
    let learns = weaving == Weaving::IfTestsAreShort;
    if options.schemata && !is_woven && !learns {
        tracing::info!("nothing is woven: {cost:?}");
        for entry in entries {
            board.set_apart(entry, "so few patches are built in less time");
        }
    }
    let mut plain = Plain::new(
        project,
        &prepared,
        options,
        surroundings,
        (snapshot, distinct.len()),
    );
    let mut workers = Pool::of(vec![worker]);
    let mut run = Run {
        is_woven,
        watch: cost.watch(),
        project,
        set,
        prepared: &prepared,
        board,
        journal,
        order: &order,
        plain: &mut plain,
        workers: &mut workers,
    };
    if learns {
        let before = phases.processor(ONE_BY_ONE);
        let telling: Vec<Task> = open().copied().take(TELLING).collect();
        if run.portion(&telling)?.is_break() {
            return Ok(());
        }
        let taken = phases.processor(ONE_BY_ONE).saturating_sub(before);
        let entries: Vec<usize> = telling.iter().map(|task| task.entry).collect();
        let tests = board.part_of_all_tests(&entries, count);
        let tests = tests.map(|part| taken.mul_f64(part));
        tracing::info!("all tests take {tests:?}, by the first patches");
        let is_long = |tests| cost.with_tests(tests, count).is_mostly_tests();
        if !tests.is_some_and(is_long) {
            return Ok(());
        }
        let unwoven: Vec<usize> = open().map(|task| task.entry).collect();
        for entry in unwoven {
            board.set_apart(entry, "nearly each patch has to run these long tests");
        }
    }
    for portion in portions(&distinct) {
        if run.portion(portion)?.is_break() {
            return Ok(());
        }
    }
    // What comes behind the last one is nobody's business.
    if options.stop_after.is_none() {
        let unbuilt = board.unbuilt();
        let size = audit::sample_size(unbuilt.len(), set, options);
        if size > 0 {
            run.have_workers(size)?;
            let audit = Audit {
                plain: run.plain,
                set,
                board,
                journal,
                order: order.clone(),
            };
            audit.run(run.workers)?;
        }
    }
    board.count_renewed(run.plain.renewed());
    Ok(())
}

/// The different patches of a set.
fn tasks(set: &PatchSet) -> Vec<Task> {
    set.distinct().map(|entry| Task { entry }).collect()
}

/// The order of the tests for each patch. Those that fail on the untouched program come first, for most patches do not mend them; then
/// those that pass. The order says which failing test is named. So it depends on no other patch: a part of a set, or a
/// set that is given again, has the answers of the whole.
fn order_of_tests(untouched: &UntouchedTests, options: &ValidateOptions) -> Vec<usize> {
    let UntouchedTests {
        baseline, leaves, ..
    } = untouched;
    let aside = Tests::of(baseline, options).set_aside;
    let to_mend = baseline
        .failing()
        .filter(|test| !aside.contains(&test.index));
    let all = to_mend.chain(baseline.passing()).map(|test| test.index);
    let mut order: Vec<usize> = all.collect();
    // A test may need what the one before it left.
    if !options.prioritize || *leaves {
        order.sort_unstable();
    }
    order
}

/// Validates the patches of a set whose verdicts are not on the board, where the workers stay for further sets. They are woven if that
/// takes less time. The processor times are those of a build and of all tests.
pub(crate) fn run_batch(
    set: &PatchSet,
    prepared: &Prepared,
    project: &Project,
    board: &Board<'_>,
    journal: Option<&Journal>,
    (build, tests): (Duration, Duration),
    (plain, workers): (&mut Plain<'_>, &mut Pool),
) -> Result<(), ValidateError> {
    let options = board.options;
    let order = order_of_tests(&prepared.untouched, options);
    let distinct = tasks(set);
    let open = distinct.iter().filter(|task| !board.is_settled(task.entry));
    let entries: Vec<usize> = open.map(|task| task.entry).collect();
    let count = prepared.untouched.baseline.tests.len();
    let cost = Cost::of_builds(set, &entries, prepared.commands.as_deref(), build);
    let cost = cost.with_tests(tests, count);
    let mut run = Run {
        is_woven: options.schemata && (!options.by_cost || cost.is_less_woven()),
        watch: cost.watch(),
        project,
        set,
        prepared,
        board,
        journal,
        order: &order,
        plain,
        workers,
    };
    for portion in portions(&distinct) {
        if run.portion(portion)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Settles what was put off until it is known which files of tests the untouched program changes, where its tests show nothing else.
fn settle_put_off(
    set: &PatchSet,
    prepared: &Prepared,
    board: &Board<'_>,
    journal: Option<&Journal>,
) -> Result<(), ValidateError> {
    let baseline = &prepared.untouched.baseline;
    let is_steady = baseline.failing().next().is_none() && baseline.flaky().next().is_none();
    for (entry, checked) in board.take_put_off() {
        let is_let_be = |file: &PathBuf| !prepared.test_files.contains(file);
        if !is_steady || !checked.changes_tests.iter().all(is_let_be) {
            board.count_build(&checked);
            continue;
        }
        if let (Some(journal), Some(tree)) = (journal, set.entries[entry].tree) {
            journal.keep(tree, &checked)?;
        }
        board.settle(entry, &checked, false);
    }
    Ok(())
}

/// What portions of a set are validated with.
struct Run<'r, 'p> {
    /// Patches are woven together where that can be done.
    is_woven: bool,
    watch: Watch,
    project: &'r Project,
    set: &'r PatchSet,
    prepared: &'r Prepared,
    board: &'r Board<'r>,
    journal: Option<&'r Journal>,
    order: &'r [usize],
    plain: &'r mut Plain<'p>,
    workers: &'r mut Pool,
}

impl Run<'_, '_> {
    /// Starts workers for so many tasks, as far as they are wanted.
    fn have_workers(&mut self, tasks: usize) -> Result<(), ValidateError> {
        let (options, surroundings) = (self.board.options, self.board.surroundings);
        let folder = self.prepared.pristine.sandbox.folder();
        for index in self.workers.workers().len()..options.jobs.min(tasks) {
            let name = format!("{}worker-{index}", self.prepared.prefix);
            let options = worker_options(self.project, folder, surroundings);
            let worker = Worker::start(index, &name, &options)?;
            self.plain.add(Snapshot::take(&worker.sandbox)?);
            self.workers.add(worker);
        }
        Ok(())
    }

    /// Validates some of the patches; breaks when nothing more is to be done.
    fn portion(&mut self, tasks: &[Task]) -> Result<ControlFlow<()>, ValidateError> {
        let (options, surroundings) = (self.board.options, self.board.surroundings);
        let (board, set) = (self.board, self.set);
        let mut promising = Promising::default();
        if self.is_woven && tasks.iter().any(|task| !board.is_settled(task.entry)) {
            let woven = Woven {
                project: self.project,
                prepared: self.prepared,
                options,
                surroundings,
                watch: self.watch,
            };
            let worker = &mut self.workers.workers()[0];
            let entries = tasks.iter().map(|task| task.entry);
            let open = entries.filter(|entry| !board.is_settled(*entry)).collect();
            promising = run_woven(&woven, (set, open), worker, self.order, board, self.journal)?;
            if surroundings.cancel.is_cancelled() {
                return Ok(ControlFlow::Break(()));
            }
            self.plain.restore(worker)?;
        }
        let mut open = Vec::new();
        let mut waiting: BTreeMap<usize, Task> = BTreeMap::new();
        for &task in tasks {
            if board.is_settled(task.entry) {
                continue;
            }
            match promising.waits(task.entry) {
                true => drop(waiting.insert(task.entry, task)),
                false => open.push(task),
            }
        }
        if board.deliver().is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if open.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        (surroundings.events)(Event::Phase(ONE_BY_ONE));
        self.have_workers(open.len())?;
        self.build(open, waiting, &promising)
    }

    /// Builds patches by themselves, or a few together: those that are open, and those that wait for one of these that is refuted.
    fn build(
        &mut self,
        mut open: Vec<Task>,
        mut waiting: BTreeMap<usize, Task>,
        promising: &Promising,
    ) -> Result<ControlFlow<()>, ValidateError> {
        let (set, board, journal) = (self.set, self.board, self.journal);
        let (prepared, order) = (self.prepared, self.order);
        let (plain, workers) = (&*self.plain, &mut *self.workers);
        let (options, leaves) = (board.options, prepared.untouched.leaves);
        let known = (prepared.is_built, self.set.distinct().count() > FEW);
        // If the run stops, it is after the first patches.
        if options.confirm == Confirm::Together && options.stop_after.is_none() {
            let together = Together {
                leaves,
                plain,
                set,
                promising,
                board,
                journal,
            };
            together.confirm(workers, order)?;
            open.retain(|task| !board.is_settled(task.entry));
            waiting.retain(|entry, _| !board.is_settled(*entry));
        }
        let refuted = Mutex::new(Vec::new());
        let late = Late::default();
        // What makes one patch doubtful makes others so, too, and the untouched program is asked in any case: those that are not
        // begun wait for that.
        let is_asked_next = AtomicBool::new(false);
        let work = |worker: &mut Worker, task: Task| -> Result<(), ValidateError> {
            let Some((patch, tree)) = set.entries[task.entry]
                .patch()
                .zip(set.entries[task.entry].tree)
            else {
                return Ok(());
            };
            let promise = promising.promise(task.entry);
            // What a test does may depend on all those before it.
            let relied_on = promise.filter(|_| !leaves);
            let check = |worker| plain.check(worker, patch, relied_on, order);
            if is_asked_next.load(Ordering::Relaxed) {
                return Ok(());
            }
            let before = late_one(&late, task);
            let is_late = before.is_some();
            let before = before.map(|before| (plain.time_of(&before), before));
            let checked = match before {
                // Others have shown since that its tests took no longer than they may, or nobody has.
                Some((time @ (Time::Right | Time::Unknown), before)) => Checked { time, ..before },
                Some((Time::Wrong, _)) | None => check(worker)?,
            };
            if checked.time != Time::Right && !is_late {
                let mut late = late.lock().unwrap_or_else(PoisonError::into_inner);
                late.insert(task.entry, (task, checked));
                return Ok(());
            }
            if prepared.is_supposed && is_doubtful(&checked, patch, known) {
                let id = &patch.id.0;
                tracing::info!(
                    "the untouched program is asked for {id}: {}",
                    checked.verdict.word()
                );
                match is_doubtful_but_for_tests(&checked, patch, known) {
                    false => board.put_off(task.entry, checked),
                    true => board.count_build(&checked),
                }
                is_asked_next.store(true, Ordering::Relaxed);
                return Ok(());
            }
            if let Some(journal) = journal {
                journal.keep(tree, &checked)?;
            }
            let is_confirmed = checked.verdict == PatchVerdict::Plausible;
            board.settle(task.entry, &checked, promise.is_some() && !is_confirmed);
            for (entry, checked) in promising.others(task.entry) {
                if !is_confirmed {
                    let mut refuted = refuted.lock().unwrap_or_else(PoisonError::into_inner);
                    refuted.extend(waiting.get(entry));
                    continue;
                }
                if let (Some(journal), Some(tree)) = (journal, set.entries[*entry].tree) {
                    journal.keep(tree, checked)?;
                }
                board.settle_with(*entry, checked, task.entry);
            }
            Ok(())
        };
        let mut failure = None;
        let mut flow = ControlFlow::Continue(());
        let mut is_again = false;
        while !open.is_empty() {
            let tasks = std::mem::take(&mut open);
            workers.run_until(tasks, work, |result| {
                let next = match result {
                    Ok(()) => board.deliver(),
                    Err(error) => {
                        failure = Some(error);
                        ControlFlow::Break(())
                    }
                };
                flow = next;
                next
            });
            if flow.is_continue() {
                // Then each of its class by itself.
                let mut refuted = refuted.lock().unwrap_or_else(PoisonError::into_inner);
                open = std::mem::take(&mut refuted);
                // Others may have told how long the test takes.
                if !is_again && open.is_empty() {
                    let late = late.lock().unwrap_or_else(PoisonError::into_inner);
                    open.extend(late.values().map(|(task, _)| *task));
                    is_again = true;
                }
                open.sort_by_key(|task| task.entry);
            }
        }
        match failure {
            Some(error) if !error.is_cancelled() => Err(error),
            _ => Ok(flow),
        }
    }
}

/// Validates the open patches in woven programs, as far as that can be done. Those that it holds for
/// plausible and that are to be confirmed are returned.
fn run_woven(
    woven: &Woven<'_>,
    (set, open): (&PatchSet, Vec<usize>),
    worker: &mut Worker,
    order: &[usize],
    board: &Board<'_>,
    journal: Option<&Journal>,
) -> Result<Promising, ValidateError> {
    let patches: Vec<Patch> = open
        .iter()
        .filter_map(|entry| set.entries[*entry].patch().cloned())
        .collect();
    let mut promising = Promising::default();
    let mut kept = Ok(());
    let mut settle = |index: usize, checked: Checked, conduct: Conduct| {
        let entry = open[index];
        if checked.verdict == PatchVerdict::Plausible
            && !is_confirmed(woven.options.confirm, &conduct.behaviour)
        {
            promising.add(entry, checked, conduct, woven.options.confirm);
            return;
        }
        if let (Some(journal), Some(tree), true) = (journal, set.entries[entry].tree, kept.is_ok())
        {
            kept = journal.keep(tree, &checked);
        }
        board.settle(entry, &checked, false);
    };
    let mut set_apart = |index: usize, reason: &str| board.set_apart(open[index], reason);
    let result = woven.run(worker, &patches, order, &mut settle, &mut set_apart);
    kept?;
    match result {
        Ok(stats) => board.count_woven(stats),
        Err(error) if error.is_cancelled() => {}
        Err(error) => (woven.surroundings.events)(Event::Warning(format!(
            "the remaining patches are built one by one, which takes longer: {error}"
        ))),
    }
    promising.represent(|entry| set.entries[entry].tree);
    Ok(promising)
}

/// Whether a patch that is plausible in a woven program, in which it behaved so, needs no further test.
fn is_confirmed(confirm: Confirm, behaviour: &[Behaviour]) -> bool {
    let as_original = |behaviour: &Behaviour| behaviour.as_original;
    match confirm {
        Confirm::Never => true,
        Confirm::Together | Confirm::Classes => behaviour.iter().all(as_original),
        Confirm::Each => false,
    }
}

/// The patches whose tests took long, or ran out of time, before anybody knew how long they take; by their numbers in the set.
type Late = Mutex<BTreeMap<usize, (Task, Checked)>>;

/// What was found out about a patch, if it is one of these.
fn late_one(late: &Late, task: Task) -> Option<Checked> {
    let late = late.lock().unwrap_or_else(PoisonError::into_inner);
    late.get(&task.entry).map(|(_, checked)| checked.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sets_are_validated_in_portions_of_which_the_first_is_small() {
        let sizes = |patches: usize| -> Vec<usize> {
            let task = |entry| Task { entry };
            let tasks: Vec<Task> = (0..patches).map(task).collect();
            let portions = portions(&tasks);
            let numbers = portions.iter().flat_map(|portion| portion.iter());
            assert!(numbers.map(|task| task.entry).eq(0..patches));
            portions.iter().map(|portion| portion.len()).collect()
        };
        assert_eq!(sizes(0), [0]);
        assert_eq!(sizes(1500), [1500]);
        assert_eq!(sizes(1501), [500, 1001]);
        assert_eq!(sizes(4000), [500, 2000, 1500]);
        let large = sizes(50_000);
        assert!(large.iter().all(|size| *size <= PORTION + LEAST_LEFT));
    }
}
