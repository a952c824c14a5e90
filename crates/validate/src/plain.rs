//! Validates patches one by one, each built and tested as its author would.
//!
//! It is what every faster way is compared with, and what takes the patches that those refuse.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::runner::Environment;
use patchwright_exec::{
    BuildError, BuildLog, Ending, FailReason, Limits, Patience, Project, Snapshot, Test, TestKind,
    TimeKind, Verdict, Worker, files, record, run_build, run_test,
};
use patchwright_patches::{FileChange, Patch};

use crate::dependents::{self, Inputs};
use crate::error::ValidateError;
use crate::prepare::{Prepared, worker_options};
use crate::promising::Promise;
use crate::rebuild::{Rebuild, is_read_by_build, touch_sources, write_patch};
use crate::verdict::{CompileFailure, Failure, Killer, PatchVerdict, TestResult};
use crate::{Confirm, Surroundings, ValidateOptions};

/// The verdict of a patch, and how it was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict.
    pub verdict: PatchVerdict,
    /// The tests that were run, in that order.
    pub tests: Vec<TestResult>,
    /// Executions of tests, those that confirm the verdict included.
    pub executions: usize,
    /// How it was built.
    pub way: Way,
    /// How long the build took.
    pub build: Duration,
    /// How long everything took.
    pub total: Duration,
    /// Files of tests that the patch's build or tests have changed, if it is not known whether the untouched program changes
    /// them as well. These changes were left in place.
    pub changes_tests: BTreeSet<PathBuf>,
    /// What is known of the time that its tests took, where the untouched program was not asked.
    pub time: Time,
}

/// Whether the tests of a patch took longer than other patches suggest, or were ended too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Time {
    /// They did, or it does not matter.
    Right,
    /// One took longer, or was ended too early.
    Wrong,
    /// One took long, or was ended, and no other patch passes it.
    Unknown,
}

/// How a patch was built: by itself, or woven with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Way {
    /// By itself.
    Plain(Rebuild),
    /// Together with others, woven into one program.
    Woven,
}

/// The tests of a patch; of those that are none with it, why.
type PatchedSuite = Vec<Result<Test, String>>;

/// The state of a copy before it was patched, and the tree that has the contents which it had then.
type Origin<'o> = (&'o Mutex<Snapshot>, &'o Path);

/// Validates patches one by one, on any number of workers.
pub struct Plain<'a> {
    project: &'a Project,
    prepared: &'a Prepared,
    options: &'a ValidateOptions,
    surroundings: &'a Surroundings<'a>,
    /// The tree that workers' copies are restored from.
    pristine: PathBuf,
    /// The states of the workers' copies, by the workers' numbers.
    snapshots: Vec<Mutex<Snapshot>>,
    renewed: AtomicUsize,
    /// How many copies were made for one patch each.
    fresh: AtomicUsize,
    /// There is no other patch in the set.
    is_alone: bool,
    /// How fast patches have passed each test. Where the untouched program was not asked, the fastest stands for it.
    passed: Mutex<Vec<Passed>>,
}

/// The patches that have passed a test.
#[derive(Clone, Copy, Default)]
struct Passed {
    /// How many.
    count: usize,
    /// In what time the fastest did.
    least: Option<Duration>,
}

/// A test takes long if it takes one part in so many of the time of the build.
const LONG_SHARE: u32 = 2;

/// Lines of a failed build's output that are kept.
const KEPT_LINES: usize = 20;

impl<'a> Plain<'a> {
    /// Prepares validation for a first worker, with the state of its copy and the number of different
    /// patches.
    pub fn new(
        project: &'a Project,
        prepared: &'a Prepared,
        options: &'a ValidateOptions,
        surroundings: &'a Surroundings<'a>,
        (snapshot, patches): (Snapshot, usize),
    ) -> Self {
        Plain {
            project,
            prepared,
            options,
            surroundings,
            pristine: prepared.pristine.sandbox.folder().to_path_buf(),
            snapshots: vec![Mutex::new(snapshot)],
            renewed: AtomicUsize::new(0),
            fresh: AtomicUsize::new(0),
            is_alone: patches < 2,
            passed: Mutex::new(vec![Passed::default(); prepared.suite.tests.len()]),
        }
    }

    /// Adds a worker, with the state of its copy.
    pub fn add(&mut self, snapshot: Snapshot) {
        self.snapshots.push(Mutex::new(snapshot));
    }

    /// Returns how many copies could not be restored and were made anew.
    pub fn renewed(&self) -> usize {
        self.renewed.load(Ordering::Relaxed)
    }

    /// Builds and tests a patch in the worker's copy, which is in its pristine state before and
    /// afterwards. `order` gives the order of the tests, and is called only if the patch builds. With
    /// a `promise` the patch has passed the tests in a woven program; then only those tests are run
    /// in which it did something else than the untouched program.
    ///
    /// # Errors
    /// When the run is cancelled, or its own files and processes fail. Whatever the patch does is a
    /// verdict.
    pub fn check(
        &self,
        worker: &mut Worker,
        patch: &Patch,
        promise: Option<&Promise>,
        order: &[usize],
    ) -> Result<Checked, ValidateError> {
        let started = Instant::now();
        let Prepared {
            included,
            unread_by_build: unread,
            ..
        } = self.prepared;
        let rebuild = Rebuild::needed_for(patch, included, unread);
        let mut checked = Checked {
            verdict: PatchVerdict::Plausible,
            tests: Vec::new(),
            executions: 0,
            way: Way::Plain(match self.prepared.is_built {
                true => rebuild,
                false => Rebuild::Clean,
            }),
            build: Duration::ZERO,
            total: Duration::ZERO,
            changes_tests: BTreeSet::new(),
            time: Time::Right,
        };
        let mut fresh = match rebuild {
            // Nothing is built in the worker's copy either.
            Rebuild::Clean if !self.prepared.is_built => None,
            Rebuild::Clean => Some(self.fresh(worker.index)?),
            Rebuild::Incremental | Rebuild::Full => None,
        };
        let of_fresh = match &fresh {
            Some(fresh) => Some(Mutex::new(Snapshot::take(&fresh.sandbox)?)),
            None => None,
        };
        let tests = match &of_fresh {
            Some(snapshot) => (snapshot, self.project.root.as_path()),
            None => (&self.snapshots[worker.index], self.pristine.as_path()),
        };
        let place = fresh.as_mut().unwrap_or(worker);
        if let (Rebuild::Full, Some(dependents)) = (rebuild, &self.prepared.dependents) {
            dependents.read_untouched(place)?;
        }
        // Nor by what others have left where it is thrown away.
        place.runner.forget_private();
        place
            .runner
            .set_subject(Some(format!("patch {}", patch.id.0)));
        match write_patch(&place.sandbox, patch) {
            Ok(()) => {
                let inputs = match rebuild {
                    Rebuild::Full => self.outdate(place, patch)?,
                    Rebuild::Incremental | Rebuild::Clean => None,
                };
                self.build_and_test(
                    place,
                    patch,
                    (inputs, promise),
                    (order, tests),
                    &mut checked,
                )?;
            }
            // A link or a folder that only the build makes.
            Err(error) if !error.is_disk_full() => {
                checked.verdict = PatchVerdict::DoesNotApply(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        place.runner.set_subject(None);
        match fresh {
            Some(fresh) => {
                let folder = fresh.folder.clone();
                drop(fresh);
                // What it cannot remove the scratch folder's end tries again, and says so.
                let _ = files::remove_tree(&folder);
            }
            None => self.restore(worker)?,
        }
        checked.total = started.elapsed();
        Ok(checked)
    }

    /// A worker with a copy of the project in which nothing is built.
    fn fresh(&self, index: usize) -> Result<Worker, ValidateError> {
        let number = self.fresh.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}fresh-{number}", self.prepared.prefix);
        let options = worker_options(self.project, &self.project.root, self.surroundings);
        let mut fresh = Worker::start(index, &name, &options)?;
        record::prepare_copy(&mut fresh, self.project)?;
        Ok(fresh)
    }

    fn build_and_test(
        &self,
        worker: &mut Worker,
        patch: &Patch,
        (inputs, promise): (Option<Inputs>, Option<&Promise>),
        (order, tests): (&[usize], Origin<'_>),
        checked: &mut Checked,
    ) -> Result<(), ValidateError> {
        let started = Instant::now();
        let mut built = self.build(worker);
        // One that has taken all its time or memory would do so again.
        let ended = !matches!(
            &built,
            Err(BuildError::Failed {
                ending: Ending::TimedOut(_) | Ending::LimitExceeded(_),
                ..
            })
        );
        if ended && inputs.is_some_and(|inputs| inputs.have_changed(&worker.sandbox)) {
            // The build makes what sources read from what was changed.
            touch_sources(&worker.sandbox, &BTreeSet::new())?;
            built = self.build(worker);
        }
        checked.build = started.elapsed();
        match built {
            Ok(_) => {}
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(BuildError::Failed {
                ending,
                first_error,
                tail,
                ..
            }) => {
                let lines: Vec<&str> = tail.lines().collect();
                let output = lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n");
                checked.verdict = PatchVerdict::DoesNotCompile(CompileFailure {
                    ending: Some(ending),
                    first_error,
                    output,
                });
                return Ok(());
            }
        }
        self.put_tests_back(worker, tests, &mut checked.changes_tests)?;
        let suite = &(self.patched_suite(worker, patch), tests);
        let mut order = order.to_vec();
        if let Some(promise) = promise {
            order.retain(|test| promise.differs.contains(test));
        }
        // What its tests leave behind where the untouched program's leave nothing, they meet when they are run again.
        let is_once =
            promise.is_none() && self.options.confirm != Confirm::Never && !self.runs_twice();
        let before = match is_once {
            true => Some(Snapshot::take(&worker.sandbox)?),
            false => None,
        };
        let killer = self.run_tests(
            worker,
            suite,
            &order,
            self.options.keep_going,
            (&mut checked.tests, &mut checked.changes_tests),
        )?;
        checked.executions = checked.tests.len();
        self.note_passes(checked);
        checked.time = self.time_of(checked);
        if let Some(killer) = killer {
            let mut again = Vec::new();
            // Woven, or on the untouched program, it passed: does this test always fail?
            let is_tried = promise.is_some() || self.may_be_flaky(&killer, checked);
            let let_be = &mut checked.changes_tests;
            let passes = is_tried
                && self
                    .run_tests(worker, suite, &[killer.test], false, (&mut again, let_be))?
                    .is_none();
            checked.executions += again.len();
            if let (Some(promise), true) = (promise, self.options.keep_going) {
                let known = promise.results.iter();
                let others = known.filter(|result| !promise.differs.contains(&result.test));
                checked.tests.extend(others.cloned());
            }
            checked.verdict = match passes {
                true => PatchVerdict::Unstable(killer),
                false => PatchVerdict::Implausible(killer),
            };
            return Ok(());
        }
        if let Some(promise) = promise {
            checked.tests.clone_from(&promise.results);
        } else if self.runs_twice()
            || before.is_some_and(|before| before.has_changed(&worker.sandbox).unwrap_or(true))
        {
            let mut again = Vec::new();
            let let_be = &mut checked.changes_tests;
            if let Some(killer) =
                self.run_tests(worker, suite, &order, false, (&mut again, let_be))?
            {
                checked.verdict = PatchVerdict::Unstable(killer);
            }
            checked.executions += again.len();
        }
        Ok(())
    }

    /// A test that passed in its only run, has not been waited for in vain now, and meets the same files when it is run again. One that takes
    /// long beside the build is believed: whoever validates a patch by hand runs it once.
    fn may_be_flaky(&self, killer: &Killer, checked: &Checked) -> bool {
        let untouched = &self.prepared.untouched;
        let known = &untouched.baseline.tests[killer.test];
        let waited = matches!(killer.failure, Failure::Ran(FailReason::TimedOut(_)));
        let taken = checked.tests.last().and_then(|result| result.milliseconds);
        let is_long = Duration::from_millis(taken.unwrap_or_default()) > checked.build / LONG_SHARE;
        let is_seen_once = untouched.baseline.once && known.verdict.is_pass();
        is_seen_once && !waited && !is_long && !untouched.leaves
    }

    /// How long a test may take.
    fn limits(&self, test: usize) -> Limits {
        let known = &self.prepared.untouched.baseline.tests[test];
        let limits = known.limits(&self.project.limits, self.options.prove_endless);
        if !self.times_are_open() {
            return limits;
        }
        let wall = match self.passed(test).least {
            Some(time) => self.options.timeouts.derive(time),
            None => known.timeout.max(Patience::default().first),
        };
        Limits {
            wall: wall.min(self.project.limits.wall),
            ..limits
        }
    }

    /// Nobody has said how long tests may take, and the untouched program was not asked.
    fn times_are_open(&self) -> bool {
        self.prepared.is_supposed && self.prepared.suite.timeout.is_none()
    }

    fn passed(&self, test: usize) -> Passed {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed[test]
    }

    /// Takes in how long the tests took that a patch has passed.
    fn note_passes(&self, checked: &Checked) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        for result in checked
            .tests
            .iter()
            .filter(|result| result.failure.is_none())
        {
            let time = Duration::from_millis(result.milliseconds.unwrap_or_default());
            let Passed { count, least } = passed[result.test];
            passed[result.test] = Passed {
                count: count + 1,
                least: Some(least.map_or(time, |least| least.min(time))),
            };
        }
    }

    /// Compares the time of a patch's tests with those of other patches. For a single patch no
    /// comparison is possible, and its time counts as right.
    pub fn time_of(&self, checked: &Checked) -> Time {
        let rule = &self.options.timeouts;
        let time_of = |result: &TestResult| {
            let taken = Duration::from_millis(result.milliseconds.unwrap_or_default());
            let Passed { count, least } = self.passed(result.test);
            let allowed = rule.derive(least.unwrap_or_default());
            match &result.failure {
                None if self.is_alone || taken <= rule.derive(Duration::ZERO) => Time::Right,
                None if count < 2 => Time::Unknown,
                None if taken > allowed => Time::Wrong,
                Some(Failure::Ran(FailReason::TimedOut(TimeKind::Wall | TimeKind::Cpu))) => {
                    match least {
                        None => Time::Unknown,
                        Some(_) if taken < allowed => Time::Wrong,
                        Some(_) => Time::Right,
                    }
                }
                None | Some(_) => Time::Right,
            }
        };
        let times = checked.tests.iter().map(time_of);
        let times = times.filter(|_| self.times_are_open());
        times.max().unwrap_or(Time::Right)
    }

    fn runs_twice(&self) -> bool {
        let untouched = &self.prepared.untouched;
        self.options
            .runs_twice(&untouched.baseline, untouched.leaves)
    }

    fn build(&self, worker: &mut Worker) -> Result<BuildLog, BuildError> {
        let limits = Limits {
            wall: self.options.build_timeout,
            ..Limits::for_build()
        };
        run_build(
            &mut worker.runner,
            &worker.sandbox,
            &self.prepared.build,
            &Environment::default(),
            &limits,
        )
    }

    /// Makes all sources look changed to which the changed headers of a copy may make a difference. What comes back is what
    /// they read, if not all sources do.
    fn outdate(&self, worker: &mut Worker, patch: &Patch) -> Result<Option<Inputs>, ValidateError> {
        let is_added = |change: &&FileChange| matches!(change, FileChange::Add { .. });
        let (added, changed): (Vec<&FileChange>, Vec<&FileChange>) =
            patch.changes.iter().partition(is_added);
        let [added, changed] = [added, changed].map(|changes| {
            let paths = changes.into_iter().flat_map(FileChange::paths);
            paths.map(|path| path.as_path()).collect::<Vec<&Path>>()
        });
        let mut read_by_build = false;
        let all = changed.iter().chain(&added);
        for name in all.filter_map(|path| path.file_name()) {
            read_by_build = read_by_build || is_read_by_build(&self.pristine, name)?;
        }
        let dependents = self.prepared.dependents.as_ref().filter(|_| !read_by_build);
        let affected = match dependents {
            Some(dependents) => dependents.affected(worker, &changed, &added)?,
            None => None,
        };
        let (Some(affected), Some(dependents)) = (affected, dependents) else {
            touch_sources(&worker.sandbox, &BTreeSet::new())?;
            return Ok(None);
        };
        touch_sources(&worker.sandbox, &dependents.sources().collect())?;
        dependents::mark(&worker.sandbox, &affected)?;
        Ok(Some(dependents.inputs(&worker.sandbox)))
    }

    /// The tests as they are with a patch: it may change what cases give to the program, or expect of it.
    fn patched_suite(&self, worker: &Worker, patch: &Patch) -> PatchedSuite {
        let root = &self.project.root;
        let changed = || patch.changes.iter().flat_map(FileChange::paths);
        let tests = self.prepared.suite.tests.iter().map(|test| {
            let TestKind::Case(case) = &test.kind else {
                return Ok(test.clone());
            };
            if !changed().any(|path| case.has_file(root, path.as_path())) {
                return Ok(test.clone());
            }
            let case = case.in_copy(root, worker.sandbox.folder());
            // Where the copy lies is of no interest.
            let own = format!("{}/", worker.sandbox.folder().display());
            let case = case.map_err(|error| error.to_string().replace(&own, ""))?;
            Ok(Test {
                name: test.name.clone(),
                kind: TestKind::Case(Arc::new(case)),
            })
        });
        tests.collect()
    }

    /// Runs tests in this order, to the first that fails or all; that first one is returned.
    fn run_tests(
        &self,
        worker: &mut Worker,
        (suite, origin): &(PatchedSuite, Origin<'_>),
        order: &[usize],
        keep_going: bool,
        (results, let_be): (&mut Vec<TestResult>, &mut BTreeSet<PathBuf>),
    ) -> Result<Option<Killer>, ValidateError> {
        let environment = &self.prepared.suite.environment;
        let mut killer = None;
        for &test in order {
            let limits = self.limits(test);
            let run = suite[test].as_ref().map(|test| {
                run_test(
                    &mut worker.runner,
                    &worker.sandbox,
                    test,
                    environment,
                    &limits,
                )
            });
            let not_run = |error: String| (Some(Failure::NotRun(error)), Duration::ZERO);
            let (failure, wall) = match run {
                Ok(Ok(run)) => match run.verdict {
                    Verdict::Pass => (None, run.outcome.wall),
                    Verdict::Fail(reason) => (Some(Failure::Ran(reason)), run.outcome.wall),
                },
                Ok(Err(error)) if error.is_cancelled() => return Err(error.into()),
                // It may be the patch's doing: a folder that is gone. If it is ours, restoring or
                // the next patch shows it.
                Ok(Err(error)) => not_run(error.to_string()),
                // A case that the patch has made none.
                Err(error) => not_run(error.clone()),
            };
            // What judges the tests after it would be the patch's.
            let changed = self.put_tests_back(worker, *origin, let_be)?;
            let failure = failure.or_else(|| {
                let names: Vec<String> = changed
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                let text = format!("the program changes the tests: {}", names.join(", "));
                (!changed.is_empty()).then_some(Failure::NotRun(text))
            });
            results.push(TestResult {
                test,
                failure: failure.clone(),
                milliseconds: u64::try_from(wall.as_millis()).ok(),
            });
            if let Some(failure) = failure {
                killer.get_or_insert(Killer { test, failure });
                if !keep_going {
                    break;
                }
            }
        }
        Ok(killer)
    }

    /// Tests are those of the untouched tree, whatever the build or an earlier test has made of them. The result are those that were
    /// others. As long as nobody knows what the untouched program's build and tests change, they are noted in `let_be`.
    fn put_tests_back(
        &self,
        worker: &Worker,
        (snapshot, pristine): Origin<'_>,
        let_be: &mut BTreeSet<PathBuf>,
    ) -> Result<Vec<PathBuf>, ValidateError> {
        let mut snapshot = snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let files = &self.prepared.test_files;
        if self.prepared.is_supposed {
            let_be.extend(snapshot.changed_files(&worker.sandbox, pristine, files));
            return Ok(Vec::new());
        }
        match snapshot.put_back(&worker.sandbox, pristine, files) {
            Err(error) if !error.is_disk_full() => {
                // It may be the patch's doing; then its tests cannot be run.
                tracing::info!("tests cannot be put back: {error}");
                Ok(Vec::new())
            }
            result => Ok(result?),
        }
    }

    /// Restores the worker's copy, or gives the worker a new one.
    ///
    /// # Errors
    /// A full disk, and a copy that cannot be made.
    pub fn restore(&self, worker: &mut Worker) -> Result<(), ValidateError> {
        let index = worker.index;
        let lock = &self.snapshots[index];
        let mut snapshot = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(error) = snapshot.restore(&worker.sandbox, &self.pristine) else {
            return Ok(());
        };
        if error.is_disk_full() {
            return Err(error.into());
        }
        let number = self.renewed.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}renewed-{number}", self.prepared.prefix);
        let fresh = Worker::start(
            index,
            &name,
            &worker_options(self.project, &self.pristine, self.surroundings),
        )?;
        let old = std::mem::replace(worker, fresh);
        *snapshot = Snapshot::take(&worker.sandbox)?;
        let folder = old.folder.clone();
        drop(old);
        // What could not be restored may not be removable either; the scratch folder's end tries
        // again, and says so.
        let _ = files::remove_tree(&folder);
        Ok(())
    }
}
