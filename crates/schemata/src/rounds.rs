//! Executes one test in rounds of the state-transition tree.
//!
//! A *round* executes one patch, the representative. At every visit of a place where patches differ, the process finds out which other
//! live patches do the same. These share the verdict. The others form groups, one for each effect at the visit where they
//! parted: the children of a node of the tree. Each group gets a round of its own, in which everything is compared anew from the
//! start. So a verdict never rests on another round. The first round executes the original program.
//!
//! Every execution begins in the same state of the copy. In a build of its own, a patch's next test would meet the files that this
//! test left. So patches that leave other files than the untouched program are handed back.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use patchwright_exec::{
    Changes, FileError, Limits, Restored, RunError, Snapshot, Test, TestError, TestRun, Verdict,
    Worker, run_test, runner::Environment,
};
use patchwright_probe_image::{PatchChannel, PatchReport};
use patchwright_text::Digest;

use crate::leftovers::Leftovers;
use crate::run_endings::{is_endless, is_limit, outcome, takes_long};
use crate::state::Maker;
use crate::{EngineError, Stats};

/// Most evaluations of a round; whatever still differs then runs by itself.
const BUDGET: u64 = 200_000;

/// So few evaluations cannot have made a test run into its time-out.
const CHEAP: u64 = 10_000;

/// A worker with a copy of the woven build.
pub struct RoundWorker {
    /// Its copy and runner.
    pub worker: Worker,
    /// What it shares with the tested processes.
    pub channel: PatchChannel,
    /// The state of the copy before the test.
    pub snapshot: Snapshot,
}

/// The executions of one test of a batch.
pub struct Rounds<'a> {
    /// The test.
    pub test: &'a Test,
    /// Its environment, without the channel.
    pub environment: &'a Environment,
    /// Its limits.
    pub limits: &'a Limits,
    /// The processor time that it takes of the untouched program.
    pub expected: Duration,
    /// The untouched program passes it.
    pub passes: bool,
    /// Where the probe is.
    pub probe: &'a Path,
    /// Grows when a woven process cannot find its channel.
    pub unobserved: &'a Path,
    /// A tree in the state in which each execution begins.
    pub pristine: &'a Path,
    /// Makes workers anew.
    pub maker: &'a Maker<'a>,
    /// What the untouched program leaves behind in this test; `None` if its tests leave nothing.
    pub leftovers: Option<&'a Mutex<Leftovers>>,
    /// A patch that fails goes on to the next test.
    pub keep_going: bool,
    /// Effects are compared.
    pub dedup: bool,
    /// A program that can is started once and forked.
    pub virtualize: bool,
    /// Patches that are not to be executed, for C may not define what they do.
    pub undefined: &'a BTreeSet<u32>,
    /// Patches whose behaviour C may not define either, but that are executed, each by itself.
    pub doubtful: &'a BTreeSet<u32>,
}

/// What the original program does in a test, and which patches it reaches.
pub struct Visits {
    /// Its verdict.
    pub verdict: Verdict,
    /// How the test ended, and its output; `None` if not all of it is known.
    pub outcome: Option<Digest>,
    /// The patches whose places it visits, in ascending order.
    pub patches: Vec<u32>,
}

/// The result of one execution for the patches that it stands for.
#[derive(Clone, Debug)]
pub enum RoundResult {
    /// The patches have this verdict. The first one was executed, or all do what the original program does.
    Verdict {
        /// The patches.
        patches: Vec<u32>,
        /// Their verdict.
        verdict: Verdict,
        /// How their test ended, and its output; `None` if not all of it is known.
        outcome: Option<Digest>,
        /// None of them was executed: they do what the original program does.
        as_original: bool,
    },
    /// The woven program does not tell.
    Open {
        /// The patches.
        patches: Vec<u32>,
        /// Why not.
        reason: OpenReason,
    },
}

/// Why the woven program cannot judge patches in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpenReason {
    /// With nothing selected it does not do what the untouched program does.
    WovenDiffers,
    /// A process could not be told which patch to run.
    Unobserved,
    /// It leaves something else behind than the untouched program, which its next test might meet.
    LeavesOther,
    /// It ends the supervisor.
    EndsRunner,
    /// The test reaches it, and C may not define what it does.
    Undefined,
    /// It has passed all tests, and fails this one when they are run once more.
    FailsAgain,
    /// Where it is woven, the program does something else in this test with nothing selected.
    ChangesProgram,
    /// It fails after much more time than the untouched program takes: a time limit of the test itself may have ended it, and
    /// woven it takes longer than by itself.
    TookLong,
}

impl OpenReason {
    /// Whether the reason lies in the test and not in a patch.
    pub fn is_of_test(self) -> bool {
        matches!(self, OpenReason::WovenDiffers | OpenReason::Unobserved)
    }

    /// Returns the reason as a phrase for tables and messages.
    pub fn reason(self) -> &'static str {
        match self {
            OpenReason::WovenDiffers => "a test does not do the same in the woven program",
            OpenReason::Unobserved => "a test does not tell which patch it runs",
            OpenReason::LeavesOther => "leaves other files behind than the untouched program",
            OpenReason::EndsRunner => "ends what runs it",
            OpenReason::Undefined => "may do what C does not define",
            OpenReason::FailsAgain => "fails a test when all are run once more",
            OpenReason::ChangesProgram => "changes the program by being woven into it",
            OpenReason::TookLong => {
                "fails after a long time, which may be a time limit of the test"
            }
        }
    }
}

/// An execution of the test, after which the copy was put back.
struct Execution {
    run: TestRun,
    report: PatchReport,
    /// It left behind what the untouched program leaves.
    leaves_same: bool,
}

/// Whether whoever was executed has ended the supervisor.
fn is_lost(error: &TestError) -> bool {
    matches!(
        error,
        TestError::Run {
            source: RunError::SupervisorLost { .. },
            ..
        }
    )
}

/// A node of the tree that is still to be visited.
struct Task {
    /// `None` is the original program.
    representative: Option<u32>,
    live: Vec<u32>,
    /// The visit at which it parted from its parent.
    parted: u64,
    /// Nothing is compared.
    alone: bool,
}

struct Shared {
    queue: VecDeque<Task>,
    running: usize,
    error: Option<EngineError>,
    /// Something in this test does not do the same twice: nothing is shared any more.
    unsteady: bool,
}

impl Rounds<'_> {
    /// Runs rounds until every live patch has a verdict. `deliver` is called on the threads of the
    /// workers.
    ///
    /// # Errors
    /// A test that cannot be run, and a copy that cannot be put back to what it was.
    pub fn run(
        &self,
        workers: &mut [RoundWorker],
        live: Vec<u32>,
        stats: &Mutex<Stats>,
        deliver: &(dyn Fn(RoundResult) + Sync),
    ) -> Result<(), EngineError> {
        let shared = Mutex::new(Shared {
            queue: VecDeque::from([Task {
                representative: None,
                live,
                parted: 0,
                alone: false,
            }]),
            running: 0,
            error: None,
            unsteady: false,
        });
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for worker in workers {
                let (shared, changed) = (&shared, &changed);
                scope.spawn(move || {
                    while let Some(task) = take(shared, changed) {
                        let result = self.round(worker, task, shared, stats, deliver);
                        let mut shared = lock(shared);
                        shared.running -= 1;
                        match result {
                            Ok(tasks) => shared.queue.extend(tasks),
                            Err(error) => {
                                shared.queue.clear();
                                shared.error.get_or_insert(error);
                            }
                        }
                        changed.notify_all();
                    }
                });
            }
        });
        match shared
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .error
        {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs the test in the worker's copy as it is, and leaves it so.
    fn run_test(&self, worker: &mut RoundWorker) -> Result<TestRun, TestError> {
        let mut environment = self.environment.clone();
        for (name, value) in worker.channel.environment(self.probe) {
            environment.set.insert(name.into(), value);
        }
        let Worker {
            runner, sandbox, ..
        } = &mut worker.worker;
        runner.set_repeats_cases(self.virtualize);
        run_test(runner, sandbox, self.test, &environment, self.limits)
    }

    /// Runs the original program in the test and finds the patches that it reaches. It is `None` if
    /// the test cannot be judged.
    ///
    /// # Errors
    /// As for [`Rounds::run`].
    pub fn visits(
        &self,
        worker: &mut RoundWorker,
        stats: &Mutex<Stats>,
    ) -> Result<Option<Visits>, EngineError> {
        let observed_before = unobserved_size(self.unobserved);
        worker.channel.set_visits();
        let Some(Execution { run, report, .. }) = self.execute(worker, stats)? else {
            return Ok(None);
        };
        let is_same = run.verdict.is_pass() == self.passes && !is_limit(&run);
        if !is_same || unobserved_size(self.unobserved) != observed_before {
            return Ok(None);
        }
        Ok(Some(Visits {
            outcome: outcome(&run),
            verdict: run.verdict,
            patches: worker.channel.patches_at(&report.visited),
        }))
    }

    /// Runs the test with a patch, or with `None` without one. It is `None` if the test cannot be
    /// judged.
    ///
    /// # Errors
    /// As for [`Rounds::run`].
    pub fn alone(
        &self,
        worker: &mut RoundWorker,
        patch: Option<u32>,
        stats: &Mutex<Stats>,
    ) -> Result<Option<Verdict>, EngineError> {
        let observed_before = unobserved_size(self.unobserved);
        worker.channel.set_patch(patch);
        let Some(Execution { run, .. }) = self.execute(worker, stats)? else {
            return Ok(None);
        };
        let is_observed = unobserved_size(self.unobserved) == observed_before;
        Ok(is_observed.then_some(run.verdict))
    }

    /// Runs the original program as the first round of these patches does, and returns whether it
    /// behaves as the untouched program.
    ///
    /// # Errors
    /// As for [`Rounds::run`].
    pub fn does_the_same(
        &self,
        worker: &mut RoundWorker,
        live: &[u32],
        stats: &Mutex<Stats>,
    ) -> Result<bool, EngineError> {
        let observed_before = unobserved_size(self.unobserved);
        match self.dedup {
            true => worker.channel.set_tree(None, live, BUDGET),
            false => worker.channel.set_visits(),
        }
        let Some(Execution { run, .. }) = self.execute(worker, stats)? else {
            return Ok(false);
        };
        let is_same = run.verdict.is_pass() == self.passes || is_limit(&run);
        Ok(is_same && unobserved_size(self.unobserved) == observed_before)
    }

    /// Runs the untouched program in the test and finds what it leaves behind. If there is something,
    /// `keep` gets it with the tree where it lies, and a second run shows which of it is always the
    /// same. The inner error says why no patch can be judged.
    ///
    /// # Errors
    /// As for [`Rounds::run`].
    pub fn untouched(
        &self,
        worker: &mut RoundWorker,
        stats: &Mutex<Stats>,
        keep: &mut dyn FnMut(&Changes, &Path) -> Result<(), FileError>,
    ) -> Result<Result<Leftovers, OpenReason>, EngineError> {
        let mut found: Option<Changes> = None;
        loop {
            worker.channel.set_patch(None);
            let run = match self.run_test(worker) {
                Err(error) if is_lost(&error) => {
                    self.maker.renew(worker, self.pristine)?;
                    return Ok(Err(OpenReason::WovenDiffers));
                }
                run => run?,
            };
            lock(stats).count(&run);
            if run.verdict.is_pass() != self.passes {
                worker
                    .snapshot
                    .restore(&worker.worker.sandbox, self.pristine)?;
                return Ok(Err(OpenReason::WovenDiffers));
            }
            let sandbox = &worker.worker.sandbox;
            let changes = worker.snapshot.changes(sandbox)?;
            let is_first = found.is_none();
            let copied = changes.can_be_copied();
            if is_first && copied && !changes.is_empty() {
                keep(&changes, sandbox.folder())?;
            }
            worker.snapshot.restore(sandbox, self.pristine)?;
            match found {
                Some(first) => return Ok(Ok(Leftovers::of(first, &changes))),
                None if changes.is_empty() => return Ok(Ok(Leftovers::default())),
                None if !copied => return Ok(Err(OpenReason::LeavesOther)),
                None => found = Some(changes),
            }
        }
    }

    /// Runs the test and puts the copy back; `None` if the supervisor was ended. The worker may be another one then.
    fn execute(
        &self,
        worker: &mut RoundWorker,
        stats: &Mutex<Stats>,
    ) -> Result<Option<Execution>, EngineError> {
        let run = match self.run_test(worker) {
            Err(error) if is_lost(&error) => {
                // What was executed may be alive in the copy, and may write to the channel.
                tracing::debug!("{}: {error}", self.test.name);
                lock(stats).executions += 1;
                self.maker.renew(worker, self.pristine)?;
                return Ok(None);
            }
            run => run?,
        };
        lock(stats).count(&run);
        let report = worker.channel.report();
        tracing::debug!(
            "{}: {:?}, {:?} of processors, {} evaluations",
            self.test.name,
            run.outcome.ending,
            run.outcome.cpu,
            report.evaluations
        );
        let sandbox = &worker.worker.sandbox;
        // What cannot be read cannot be the same.
        let changes = self
            .leftovers
            .and_then(|_| worker.snapshot.changes(sandbox).ok());
        let mut same = match (self.leftovers, &changes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(leftovers), Some(changes)) => lock(leftovers).are(changes),
        };
        let mut leaves_same = match worker.snapshot.restore(sandbox, self.pristine) {
            Ok(restored) => same && (self.leftovers.is_some() || restored == Restored::default()),
            Err(error) if error.is_disk_full() => return Err(error.into()),
            Err(error) => {
                tracing::debug!("{}: {error}", self.test.name);
                self.maker.renew(worker, self.pristine)?;
                same = true;
                false
            }
        };
        let goes_on = run.verdict.is_pass() || self.keep_going;
        if let (false, true, Some(changes)) = (same, goes_on, changes) {
            leaves_same = self.leaves_so_itself(worker, &changes, stats)?;
        }
        Ok(Some(Execution {
            run,
            report,
            leaves_same,
        }))
    }

    /// Whether the untouched program leaves this now and then: it is run once more, and learned from, as often as that pays.
    fn leaves_so_itself(
        &self,
        worker: &mut RoundWorker,
        changes: &Changes,
        stats: &Mutex<Stats>,
    ) -> Result<bool, EngineError> {
        let Some(leftovers) = self.leftovers else {
            return Ok(false);
        };
        loop {
            {
                // Another worker may have learned it meanwhile.
                let known = lock(leftovers);
                if known.are(changes) || !known.may_ask() {
                    return Ok(known.are(changes));
                }
            }
            worker.channel.set_patch(None);
            let run = match self.run_test(worker) {
                Err(error) if is_lost(&error) => {
                    self.maker.renew(worker, self.pristine)?;
                    return Ok(false);
                }
                run => run?,
            };
            lock(stats).count(&run);
            let sandbox = &worker.worker.sandbox;
            let again = worker.snapshot.changes(sandbox);
            worker.snapshot.restore(sandbox, self.pristine)?;
            match again {
                Ok(again) if run.verdict.is_pass() == self.passes => {
                    lock(leftovers).learn(&again);
                }
                _ => return Ok(false),
            }
        }
    }

    /// The result of patches that have this verdict, unless what they have left behind speaks against running their next
    /// test.
    fn result(
        &self,
        patches: Vec<u32>,
        (verdict, outcome): (Verdict, Option<Digest>),
        as_original: bool,
        leaves_same: bool,
    ) -> RoundResult {
        if !leaves_same && (verdict.is_pass() || self.keep_going) {
            let reason = OpenReason::LeavesOther;
            return RoundResult::Open { patches, reason };
        }
        RoundResult::Verdict {
            patches,
            verdict,
            outcome,
            as_original,
        }
    }

    fn round(
        &self,
        worker: &mut RoundWorker,
        mut task: Task,
        shared: &Mutex<Shared>,
        stats: &Mutex<Stats>,
        deliver: &(dyn Fn(RoundResult) + Sync),
    ) -> Result<Vec<Task>, EngineError> {
        let mut tasks = Vec::new();
        let is_root = task.representative.is_none();
        if !is_root {
            let undefined = |patch: &u32| self.undefined.contains(patch);
            let all = task.representative.into_iter().chain(task.live);
            let (patches, mut others): (Vec<u32>, Vec<u32>) = all.partition(undefined);
            if !patches.is_empty() {
                let reason = OpenReason::Undefined;
                deliver(RoundResult::Open { patches, reason });
            }
            if !task.alone {
                let doubtful = others.extract_if(.., |patch| self.doubtful.contains(patch));
                tasks.extend(alone(doubtful.collect()));
            }
            if others.is_empty() {
                return Ok(tasks);
            }
            task.representative = Some(others.remove(0));
            task.live = others;
        }
        if !is_root && (lock(shared).unsteady || !self.dedup) {
            task.alone = true;
            tasks.extend(alone(std::mem::take(&mut task.live)));
        }
        let observed_before = unobserved_size(self.unobserved);
        match (is_root, self.dedup) {
            (true, false) => worker.channel.set_visits(),
            _ if task.alone => worker.channel.set_patch(task.representative),
            _ => worker
                .channel
                .set_tree(task.representative, &task.live, BUDGET),
        }
        let Some(execution) = self.execute(worker, stats)? else {
            if let Some(patch) = task.representative {
                deliver(RoundResult::Open {
                    patches: vec![patch],
                    reason: OpenReason::EndsRunner,
                });
            }
            tasks.extend(alone(task.live));
            return Ok(tasks);
        };
        let Execution {
            run,
            report,
            mut leaves_same,
        } = execution;
        {
            let mut stats = lock(stats);
            stats.rounds += usize::from(!task.alone);
            stats.evaluations += report.evaluations;
        }
        let patches = || {
            task.representative
                .into_iter()
                .chain(task.live.iter().copied())
        };
        if unobserved_size(self.unobserved) != observed_before {
            deliver(RoundResult::Open {
                patches: patches().collect(),
                reason: OpenReason::Unobserved,
            });
            return Ok(tasks);
        }
        if !task.alone && report.unfinished {
            // What was evaluated may have written where it destroyed what was to undo it.
            lock(stats).unfinished += 1;
            let groups = report.groups.into_iter().flat_map(|group| group.patches);
            let all = task.representative.into_iter().chain(report.live);
            tasks.extend(alone(all.chain(groups).collect()));
            return Ok(tasks);
        }
        if is_root && run.verdict.is_pass() != self.passes && !is_limit(&run) {
            deliver(RoundResult::Open {
                patches: patches().collect(),
                reason: OpenReason::WovenDiffers,
            });
            return Ok(tasks);
        }
        if is_root && !self.dedup {
            let visited = worker.channel.patches_at(&report.visited);
            let (reached, others): (Vec<u32>, Vec<u32>) = task
                .live
                .iter()
                .partition(|patch| visited.binary_search(patch).is_ok());
            if !others.is_empty() {
                lock(stats).classes += 1;
                let outcome = outcome(&run);
                deliver(self.result(others, (run.verdict, outcome), true, leaves_same));
            }
            tasks.extend(alone(reached));
            return Ok(tasks);
        }
        let (mut verdict, mut ended) = (run.verdict.clone(), outcome(&run));
        let mut members = report.live.clone();
        let mut groups = report.groups;
        if !task.alone && !task.live.is_empty() && (report.threads || report.nested) {
            // Nothing was compared where it happened.
            lock(stats).threads += 1;
            tasks.extend(alone(std::mem::take(&mut members)));
            for group in groups.drain(..) {
                tasks.extend(alone(group.patches));
            }
        }
        if groups.iter().any(|group| group.visit <= task.parted) {
            lock(shared).unsteady = true;
            lock(stats).unsteady += 1;
        }
        let unsteady = lock(shared).unsteady;
        for group in groups {
            let mut stats = lock(stats);
            *stats.splits.entry(group.reason).or_default() += 1;
            drop(stats);
            if unsteady {
                tasks.extend(alone(group.patches));
                continue;
            }
            let (representative, live) = (group.patches[0], group.patches[1..].to_vec());
            tasks.push(Task {
                representative: Some(representative),
                live,
                parted: group.visit,
                alone: false,
            });
        }
        let mut is_long = takes_long(&run, self.expected);
        let is_ended = is_limit(&run) && !is_endless(&run);
        if (is_ended || is_long) && report.evaluations > CHEAP {
            // The comparisons may have taken the time: the patch is executed without them, and those that did the same up to a
            // limit, too.
            if is_ended {
                tasks.extend(alone(std::mem::take(&mut members)));
            }
            worker.channel.set_patch(task.representative);
            let Some(execution) = self.execute(worker, stats)? else {
                if let Some(patch) = task.representative {
                    deliver(RoundResult::Open {
                        patches: vec![patch],
                        reason: OpenReason::EndsRunner,
                    });
                }
                return Ok(tasks);
            };
            ended = outcome(&execution.run);
            is_long = takes_long(&execution.run, self.expected);
            (verdict, leaves_same) = (execution.run.verdict, execution.leaves_same);
        }
        if is_root && verdict.is_pass() != self.passes {
            deliver(RoundResult::Open {
                patches: members,
                reason: OpenReason::WovenDiffers,
            });
            return Ok(tasks);
        }
        let shared_by: Vec<u32> = task.representative.into_iter().chain(members).collect();
        if !shared_by.is_empty() && is_long && !is_root {
            let (patches, reason) = (shared_by, OpenReason::TookLong);
            deliver(RoundResult::Open { patches, reason });
        } else if !shared_by.is_empty() {
            lock(stats).classes += 1;
            deliver(self.result(shared_by, (verdict, ended), is_root, leaves_same));
        }
        Ok(tasks)
    }
}

/// Grows with every process that visits a place and cannot tell which patch it should execute.
pub(crate) fn unobserved_size(unobserved: &Path) -> u64 {
    std::fs::metadata(unobserved).map_or(0, |data| data.len())
}

fn alone(patches: Vec<u32>) -> impl Iterator<Item = Task> {
    patches.into_iter().map(|patch| Task {
        representative: Some(patch),
        live: Vec::new(),
        parted: 0,
        alone: true,
    })
}

impl Stats {
    /// Counts an execution of a test.
    fn count(&mut self, run: &TestRun) {
        self.executions += 1;
        self.forked += usize::from(run.outcome.forked);
        self.time_outs += usize::from(is_limit(run));
        self.endless += usize::from(is_endless(run));
    }
}

fn take(shared: &Mutex<Shared>, changed: &Condvar) -> Option<Task> {
    let mut guard = lock(shared);
    loop {
        if guard.error.is_some() {
            return None;
        }
        if let Some(task) = guard.queue.pop_front() {
            guard.running += 1;
            return Some(task);
        }
        if guard.running == 0 {
            return None;
        }
        guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Locks a mutex, also after a panic of another thread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
