//! Clears doubts about undefined behaviour by executing patches under clang's memory sanitizer.
//!
//! The analysis names patches that *may* use unwritten memory. Most of them do not do it in the given tests; then their behaviour
//! is defined. So the doubtful patches are woven once more, into a program compiled with clang's memory sanitizer, which
//! reports each use of unwritten memory. Each patch is executed there in the tests that reached it in the other woven program. If
//! nothing is reported and the test ends in the same way, the verdict counts. Otherwise the patch is built by itself.
//!
//! Silence of the sanitizer must mean something:
//! * The whole program is compiled with it, and all that the build links except libraries of the system. Every object and program
//!   in the tree is checked. Others, such as a build tool's probes of the compiler, are permitted as long as no test opens
//!   them; they are watched while the tests run.
//! * Each test shows once that a use is reported: a constructor linked to every program makes one on demand.
//!
//! Where tests leave files behind, they run in their order. As in the other woven program, each begins with the files that the
//! untouched program has left in the earlier tests.
//!
//! Missing arguments of a call are no memory. A patch with such calls is built by itself ([`Suspicion::is_hidden`]).
//!
//! [`Suspicion::is_hidden`]: crate::undefined::Suspicion::is_hidden

mod cmake;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind};
use patchwright_exec::{
    BuildError, FailReason, FileError, Flagged, Limits, Opened, Sandbox, Verdict, Worker, files,
    flagged_environment, put_source, run_build,
    runner::{Environment, Request},
    touch_sources_of,
};
use patchwright_probe_image::PatchChannel;

use super::{Engine, Held, Tried};
use crate::batch::{self, Batch, Batched, Batcher};
use crate::leftovers::Leftovers;
use crate::rounds::{OpenReason, RoundWorker, Rounds, lock};
use crate::state::{Maker, State, own_name};
use crate::{Apart, EngineError, Event, Stats, Watch};

/// What the compiler is told. Without optimization, which may leave out a use together with the sanitizer's look at it.
const FLAGS: [&str; 4] = ["-fsanitize=memory", "-O0", "-w", "-Wno-error"];

/// So many times as long as usual does an execution take, roughly.
const SLOWER: u32 = 4;

/// What every object has in it that is compiled so, and every program.
const MARKS: [&str; 2] = ["msan.module_ctor", "__msan_init"];

/// The variable that asks programs to use what nobody has written.
const ASKED: &str = "__PW_REPORT";

/// The variable for options of the sanitizer.
const OPTIONS: &str = "MSAN_OPTIONS";

/// What the names of files with reports begin with.
const REPORT: &str = "memory-report";

/// An object in a copy, for a moment.
const OBJECT: &str = ".patchwright-asked.o";

impl Engine<'_> {
    /// Returns two sets of indices into `members`, both of patches whose behaviour C may not define. Patches of the first set are not
    /// executed. Those of the second are executed, because the sanitizer will show whether the doubt counts. With `fixed` no copy can
    /// take the place of another.
    pub(super) fn doubtful(
        &self,
        members: &[usize],
        fixed: bool,
    ) -> (BTreeSet<u32>, BTreeSet<u32>) {
        let undefined = batch::undefined(&self.plan, members);
        let is_seen = |patch: &u32| {
            let member = members[*patch as usize];
            !self.plan.patches[member].suspicion.is_hidden && !self.cleared.contains(&member)
        };
        let (seen, hidden): (BTreeSet<u32>, BTreeSet<u32>) =
            undefined.iter().copied().partition(is_seen);
        match fixed || seen.len() < self.fewest() {
            true => (undefined, BTreeSet::new()),
            false => (hidden, seen),
        }
    }

    /// For fewer patches the program is not built once more.
    fn fewest(&self) -> usize {
        let Watch { least, alone } = self.options.watch;
        if !self.context.leaves {
            return least;
        }
        // All tests are run twice for what they leave.
        let tests = self.context.baseline.tests.iter();
        let all: Duration = tests.map(|test| test.expected_cpu).sum();
        let builds = (all * SLOWER * 2).as_micros() / alone.as_micros().max(1);
        least.saturating_add(usize::try_from(builds).unwrap_or(usize::MAX))
    }

    /// Tells what was held back of patches, if executions show that it counts; else they are to be built by themselves.
    ///
    /// # Errors
    /// As for [`Engine::run`].
    pub(super) fn clear_doubts(
        &mut self,
        base: &mut Worker,
        tests: &[usize],
        tried: &mut Tried,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        let held = std::mem::take(&mut self.held);
        let (mut wanted, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            held.into_iter().partition(|(_, held)| self.pays(held));
        let others = match wanted.len() < self.fewest() {
            true => std::mem::take(&mut wanted)
                .into_iter()
                .chain(others)
                .collect(),
            false => others,
        };
        tracing::debug!(
            "{} doubtful patches are watched, {} are not",
            wanted.len(),
            others.len()
        );
        for (member, held) in others {
            self.hand_back(member, &held, sink);
        }
        if wanted.is_empty() {
            return Ok(());
        }
        sink(Event::Phase("watching for uses of what nobody has written"));
        let mut members: Vec<usize> = wanted.keys().copied().collect();
        while !members.is_empty() {
            let Batched { batch, apart, left } = Batcher {
                worker: base,
                clang: &self.clang,
                plan: &self.plan,
                stats: &mut self.stats,
                dedup: false,
                unobserved: &self.unobserved,
                checked: false,
                widths: &mut tried.widths,
                trials: &mut tried.trials,
            }
            .batch(&members)?;
            let mut clear = BTreeSet::new();
            if let Some((built, others)) = self.watched(base, &batch)? {
                clear = self.clear((built, &others), tests, &batch, &wanted)?;
            }
            members = left;
            let apart = apart.into_iter().map(|(member, _): (usize, Apart)| member);
            for member in batch.members.iter().copied().chain(apart) {
                let Some(held) = wanted.remove(&member) else {
                    continue;
                };
                if clear.contains(&member) {
                    self.cleared.insert(member);
                    self.stats.cleared += 1;
                    let patch = self.plan.patches[member].patch;
                    held.into_iter().for_each(|held| sink(held.event(patch)));
                } else {
                    self.hand_back(member, &held, sink);
                }
            }
        }
        Ok(())
    }

    /// Whether executions that are watched take less time than a build.
    fn pays(&self, held: &[Held]) -> bool {
        let tests = &self.context.baseline.tests;
        let times = to_watch(held).map(|held| tests[held.test].expected_cpu);
        times.sum::<Duration>() * SLOWER < self.options.watch.alone
    }

    fn hand_back(&self, member: usize, held: &[Held], sink: &mut dyn FnMut(Event)) {
        if let Some(first) = held.first() {
            sink(Event::Open {
                patch: self.plan.patches[member].patch,
                test: first.test,
                reason: OpenReason::Undefined,
            });
        }
    }

    /// Builds a woven program in which uses of memory without a value are reported, and tells which programs in its copy are compiled
    /// otherwise; `None` if that cannot be done for all of it.
    fn watched(
        &mut self,
        base: &Worker,
        batch: &Batch,
    ) -> Result<Option<(Worker, Vec<PathBuf>)>, EngineError> {
        if batch.members.is_empty() {
            return Ok(None);
        }
        // What is built already may have been configured for another compiler.
        let root = self.context.project.root.as_path();
        let sources = [(base.sandbox.folder(), false), (root, true)];
        for (source, prepares) in sources {
            let mut worker = self.context.worker(0, "patches-watched", source)?;
            cmake::forget_compiler(worker.sandbox.folder())?;
            match self.build_watched(&mut worker, batch, prepares)? {
                Built::Watched(others) => return Ok(Some((worker, others))),
                Built::InPart => worker.sandbox.remove()?,
                Built::Not => {
                    worker.sandbox.remove()?;
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Builds it in this copy, after the command that prepares the tree if that is wanted.
    fn build_watched(
        &mut self,
        worker: &mut Worker,
        batch: &Batch,
        prepares: bool,
    ) -> Result<Built, EngineError> {
        let project = self.context.project;
        let build = project.build.as_ref().ok_or(EngineError::NoBuild)?;
        let Some(object) = self.compile_asked(worker)? else {
            return Ok(Built::Not);
        };
        let (folder, seen) = (worker.run_folder(), self.context.scratch.run_path());
        let flagged = Flagged {
            flags: &FLAGS,
            objects: &[&seen.join(&object)],
            compiler: Some(self.clang.program()),
        };
        let scripts = OsStr::new("watched");
        let mut environment =
            flagged_environment(&folder.join(scripts), &seen.join(scripts), flagged)?;
        let mut channel = PatchChannel::create(&worker.shared, batch.table.clone())?;
        channel.set_visits();
        for (name, value) in channel.environment(&self.probe) {
            environment.set.insert(name.into(), value);
        }
        let commands = project.prepare.as_ref().filter(|_| prepares);
        for command in commands.into_iter().chain([build]) {
            if command == build {
                for (file, text) in &batch.files {
                    let source = &self.plan.sources[*file];
                    put_source(&worker.sandbox, &source.relative, text, &source.includers)?;
                }
                touch_sources_of(&worker.sandbox)?;
            }
            let built = run_build(
                &mut worker.runner,
                &worker.sandbox,
                command,
                &environment,
                &Limits::for_build(),
            );
            match built {
                Ok(_) => {}
                Err(BuildError::Run(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::info!("with {}: {error}", FLAGS[0]);
                    return Ok(Built::Not);
                }
            }
        }
        match unwatched(&worker.sandbox)? {
            Ok(programs) => Ok(Built::Watched(programs)),
            Err(path) => {
                tracing::info!("{} is not compiled with {}", path.display(), FLAGS[0]);
                Ok(Built::InPart)
            }
        }
    }

    /// Compiles what does as it is asked to, into the folder of a worker's own files: its name there; `None` if that is not possible.
    fn compile_asked(&self, worker: &mut Worker) -> Result<Option<OsString>, EngineError> {
        let folder = worker.run_folder().to_path_buf();
        let source = include_str!("cleared/asked.c");
        let source = format!("#define ASKED \"{ASKED}\"\n{source}");
        files::write_atomic(&folder.join("asked.c"), source.as_bytes())?;
        let seen = self.context.scratch.run_path().join("asked.c");
        // Programs can write to the copy only.
        let made = worker.sandbox.folder().join(OBJECT);
        let words = ["-c", "-fPIC", "-o", OBJECT].map(OsString::from);
        let words = words.into_iter().chain(FLAGS.map(OsString::from));
        let words = words.chain([seen.into()]);
        let request = Request::new(self.clang.program(), worker.sandbox.run_root()).args(words);
        let outcome = worker.runner.run(&request.limits(Limits::for_build()))?;
        if !outcome.ending.is_success() {
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            tracing::info!("{}: {said}", FLAGS[0]);
            return Ok(None);
        }
        let name = OsString::from("asked.o");
        files::write_atomic(&folder.join(&name), &files::read(&made)?)?;
        files::remove_file(&made)?;
        Ok(Some(name))
    }

    /// The members of a batch that use nothing without a value in the tests in which they were executed, which end in the same way. Beside the
    /// program there are `others` that are not watched; if a test opens one of them, nothing is known.
    fn clear(
        &mut self,
        (built, others): (Worker, &[PathBuf]),
        tests: &[usize],
        batch: &Batch,
        wanted: &BTreeMap<usize, Vec<Held>>,
    ) -> Result<BTreeSet<usize>, EngineError> {
        let context = self.context.clone();
        let viewed = built.runner.view_active();
        let folder = context
            .scratch
            .path()
            .join(own_name("patches-watched-next"));
        let mut state = State::new(built.sandbox.clone(), folder, viewed);
        let maker = Maker::new(
            &context,
            batch.table.clone(),
            "patches-watching".into(),
            false,
        );
        let jobs = self.options.jobs.clamp(1, batch.members.len());
        let mut workers = (0..jobs)
            .map(|index| maker.make(index, state.tree()))
            .collect::<Result<Vec<RoundWorker>, _>>()?;
        let unopened = workers.iter().map(|RoundWorker { worker, .. }| {
            let folder = worker.sandbox.folder().to_path_buf();
            let others = others.iter().map(PathBuf::as_path);
            Opened::watch(&folder, others).map(|opened| (folder, opened))
        });
        let unopened = unopened.collect::<std::io::Result<Vec<_>>>();
        let stats = Mutex::new(std::mem::take(&mut self.stats));
        let cleared = self.watch(
            (&mut workers, &mut state),
            (&maker, &stats),
            tests,
            batch,
            wanted,
        );
        self.stats = std::mem::take(&mut *lock(&stats));
        let are_unopened = unopened.is_ok_and(|unopened| {
            unopened
                .into_iter()
                .zip(&workers)
                .all(|((folder, opened), worker)| {
                    // In another copy nobody has watched.
                    let is_same = others.is_empty() || worker.worker.sandbox.folder() == folder;
                    is_same
                        && opened
                            .unopened()
                            .is_ok_and(|left| left.len() == others.len())
                })
        });
        for RoundWorker { worker, .. } in workers {
            worker.sandbox.remove()?;
        }
        state.remove()?;
        if !are_unopened {
            tracing::info!(
                "a test opens a program that is not compiled with {}",
                FLAGS[0]
            );
            return cleared.map(|_| BTreeSet::new());
        }
        cleared
    }

    /// Runs the tests in their order, each with the patches that are to be watched in it. Those that use nothing without a value are clear.
    fn watch(
        &self,
        (workers, state): (&mut [RoundWorker], &mut State),
        (maker, stats): (&Maker<'_>, &Mutex<Stats>),
        tests: &[usize],
        batch: &Batch,
        wanted: &BTreeMap<usize, Vec<Held>>,
    ) -> Result<BTreeSet<usize>, EngineError> {
        let leaves = self.context.leaves;
        let mut clear: BTreeSet<u32> = (0..).take(batch.members.len()).collect();
        let held_in = |patch: u32, run: (usize, bool)| {
            let held = wanted.get(&batch.members[patch as usize])?;
            to_watch(held).find(|held| (held.test, held.again) == run)
        };
        let runs = tests.iter().map(|&test| (test, false));
        let runs: Vec<(usize, bool)> = runs.chain(tests.iter().map(|&test| (test, true))).collect();
        let last = runs.iter().rposition(|&run| {
            let mut patches = clear.iter();
            patches.any(|&patch| held_in(patch, run).is_some())
        });
        for (at, &run) in runs
            .iter()
            .enumerate()
            .take(last.map_or(0, |last| last + 1))
        {
            let pristine = state.tree().to_path_buf();
            let watching = Watching {
                engine: self,
                maker,
                pristine: &pristine,
                stats,
            };
            let patches = clear
                .iter()
                .filter_map(|&patch| Some((patch, held_in(patch, run)?)));
            let patches: Vec<(u32, &Held)> = patches.collect();
            if !patches.is_empty() {
                // The first task shows that the test reports uses.
                let tasks = std::iter::once(None).chain(patches.iter().copied().map(Some));
                let tasks: Vec<Option<(u32, &Held)>> = tasks.collect();
                let told = at_once(workers, &tasks, |worker, task| match *task {
                    None => Ok(watching.run(worker, run.0, None)?.is_none()),
                    Some((patch, held)) => watching.is_clear(worker, patch, held),
                })?;
                for (&(patch, _), is_clear) in patches.iter().zip(&told[1..]) {
                    if !told[0] || !is_clear {
                        clear.remove(&patch);
                    }
                }
            }
            if clear.is_empty() {
                break;
            }
            if leaves && Some(at) != last {
                let left = watching.leave(&mut workers[0], run.0, state)?;
                let Some(left) = left else {
                    // What needs no later test is clear.
                    let later = &runs[at + 1..];
                    clear.retain(|&patch| later.iter().all(|&run| held_in(patch, run).is_none()));
                    break;
                };
                state.advance(&left.changes, workers)?;
            }
        }
        let member = |patch: u32| batch.members[patch as usize];
        Ok(clear.into_iter().map(member).collect())
    }
}

/// What became of a build.
enum Built {
    /// Uses of memory without a value are reported wherever they happen, but in these programs and shared libraries, relative to the root.
    Watched(Vec<PathBuf>),
    /// Some of the program is compiled otherwise.
    InPart,
    /// It failed.
    Not,
}

/// What of this is to be watched: in the other tests nothing was executed but the original program.
fn to_watch(held: &[Held]) -> impl Iterator<Item = &Held> {
    held.iter().filter(|held| !held.behaviour.as_original)
}

/// Executes tests in a program in which uses of memory without a value are reported.
struct Watching<'w> {
    engine: &'w Engine<'w>,
    maker: &'w Maker<'w>,
    pristine: &'w Path,
    stats: &'w Mutex<Stats>,
}

impl Watching<'_> {
    /// Whether a patch uses nothing without a value in a test, and the test ends in the same way.
    fn is_clear(
        &self,
        worker: &mut RoundWorker,
        patch: u32,
        held: &Held,
    ) -> Result<bool, EngineError> {
        let Some(run) = self.run(worker, held.test, Some(patch))? else {
            tracing::debug!("patch {patch} uses what nobody has written");
            return Ok(false);
        };
        let is_same = ends_alike(&run, &held.verdict);
        if !is_same {
            tracing::debug!("patch {patch} does something else when it is watched: {run:?}");
        }
        Ok(is_same)
    }

    /// Runs a test with a patch; without one, the program is asked to use what nobody has written. `None` if a use is reported, or
    /// nothing can be said.
    fn run(
        &self,
        worker: &mut RoundWorker,
        test: usize,
        patch: Option<u32>,
    ) -> Result<Option<Verdict>, EngineError> {
        let shared = worker.worker.shared.clone();
        let run = self.with_rounds(&shared, (test, patch.is_none()), |rounds| {
            rounds.alone(worker, patch, self.stats)
        })?;
        let is_reported = take_reports(&shared)?;
        Ok(run.filter(|_| !is_reported))
    }

    /// Runs a test without a patch, and keeps what it leaves behind for the next test; `None` if it does something else here than in the
    /// untouched program.
    fn leave(
        &self,
        worker: &mut RoundWorker,
        test: usize,
        state: &mut State,
    ) -> Result<Option<Leftovers>, EngineError> {
        let shared = worker.worker.shared.clone();
        let left = self.with_rounds(&shared, (test, false), |rounds| {
            rounds.untouched(worker, self.stats, &mut |changes, from| {
                state.keep(changes, from, &mut lock(self.stats))
            })
        })?;
        let is_reported = take_reports(&shared)?;
        Ok(left.ok().filter(|_| !is_reported))
    }

    /// Hands `run` what executes a test of the watched program, which may be asked to use what nobody has written. Reports go to the folder
    /// `shared`.
    fn with_rounds<T>(
        &self,
        shared: &Path,
        (test, asks): (usize, bool),
        run: impl FnOnce(&Rounds<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let engine = self.engine;
        let suite = engine.context.project.tests.as_ref();
        let suite = suite.ok_or(EngineError::NoTests)?;
        let known = &engine.context.baseline.tests[test];
        let limits = known.limits(&engine.context.project.limits, engine.options.prove_endless);
        let mut environment = suite.environment.clone();
        let options = options(&environment, shared);
        environment.set.insert(OPTIONS.into(), options);
        if asks {
            environment.set.insert(ASKED.into(), "1".into());
        }
        run(&Rounds {
            test: &suite.tests[test],
            environment: &environment,
            limits: &limits.for_woven(),
            expected: known.processor_time(),
            passes: known.verdict.is_pass(),
            probe: &engine.probe,
            unobserved: &engine.unobserved,
            pristine: self.pristine,
            maker: self.maker,
            leftovers: None,
            keep_going: false,
            dedup: false,
            virtualize: false,
            undefined: &BTreeSet::new(),
            doubtful: &BTreeSet::new(),
        })
    }
}

/// Returns whether a test has ended in the same way twice. The output may differ: compilers give different lines to a macro
/// call of several lines, and different values to what C leaves open.
fn ends_alike(one: &Verdict, other: &Verdict) -> bool {
    use FailReason::{ExitCode, Output, TimedOut};
    match (one, other) {
        (Verdict::Fail(TimedOut(_)), Verdict::Fail(TimedOut(_)))
        | (Verdict::Fail(Output(_)), Verdict::Fail(Output(_))) => true,
        (Verdict::Fail(ExitCode { actual, .. }), Verdict::Fail(ExitCode { actual: same, .. })) => {
            actual == same
        }
        _ => one == other,
    }
}

/// Options for the sanitizer: reports go to files in `folder`, and what ends a program otherwise ends it here, too.
fn options(environment: &Environment, folder: &Path) -> OsString {
    let own = environment.set.get(OsStr::new(OPTIONS)).cloned();
    let mut options = own
        .or_else(|| std::env::var_os(OPTIONS))
        .unwrap_or_default();
    if !options.is_empty() {
        options.push(":");
    }
    options.push("halt_on_error=1:allocator_may_return_null=1:poison_in_malloc=1:poison_in_free=1");
    for signal in ["segv", "sigbus", "abort", "sigfpe", "sigill"] {
        options.push(format!(":handle_{signal}=0"));
    }
    options.push(":log_path=\"");
    options.push(folder.join(REPORT));
    options.push("\"");
    options
}

/// Whether there are reports in a folder. They are removed.
fn take_reports(folder: &Path) -> Result<bool, FileError> {
    let mut found = false;
    for path in files::regular_files_below(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(REPORT) {
            files::remove_file(&path)?;
            found = true;
        }
    }
    Ok(found)
}

/// What in a tree is not compiled with the sanitizer: programs and shared libraries, relative to its root; or one object that may be part
/// of any program.
fn unwatched(sandbox: &Sandbox) -> Result<Result<Vec<PathBuf>, PathBuf>, FileError> {
    let folder = sandbox.folder();
    let mut programs = Vec::new();
    for path in files::regular_files_below(folder)? {
        // What cannot be read is not executed either.
        let Ok(bytes) = files::read(&path) else {
            continue;
        };
        if is_watched(&bytes) {
            continue;
        }
        match path.strip_prefix(folder) {
            Ok(inside) if is_linked(&bytes) => programs.push(inside.to_path_buf()),
            _ => return Ok(Err(path)),
        }
    }
    Ok(Ok(programs))
}

/// Whether a file is a program or a shared library, which is part of a program only if somebody opens it.
fn is_linked(bytes: &[u8]) -> bool {
    let kind = object::File::parse(bytes).map(|file| file.kind());
    matches!(kind, Ok(ObjectKind::Executable | ObjectKind::Dynamic))
}

/// Whether a file is no program and no object, or one that is compiled with the sanitizer.
fn is_watched(bytes: &[u8]) -> bool {
    let [of_object, of_program] = MARKS;
    if let Ok(archive) = ArchiveFile::parse(bytes) {
        return archive.members().all(|member| {
            // A thin archive's members are files.
            let data = member.map(|member| member.data(bytes));
            data.is_ok_and(|data| data.map_or(archive.is_thin(), is_watched))
        });
    }
    if !bytes.starts_with(b"\x7fELF") {
        return true;
    }
    let kind = object::File::parse(bytes).map(|file| file.kind());
    match kind {
        Ok(ObjectKind::Relocatable) => batch::contains(bytes, of_object.as_bytes()),
        Ok(ObjectKind::Core) => true,
        _ => batch::contains(bytes, of_program.as_bytes()),
    }
}

/// What workers make of tasks, in the order of the tasks.
fn at_once<T: Sync, R: Send>(
    workers: &mut [RoundWorker],
    tasks: &[T],
    does: impl Fn(&mut RoundWorker, &T) -> Result<R, EngineError> + Sync,
) -> Result<Vec<R>, EngineError> {
    let next = Mutex::new(tasks.iter().enumerate());
    let results: Mutex<BTreeMap<usize, R>> = Mutex::new(BTreeMap::new());
    let share = |worker: &mut RoundWorker| -> Result<(), EngineError> {
        loop {
            let Some((number, task)) = lock(&next).next() else {
                return Ok(());
            };
            let result = does(worker, task)?;
            lock(&results).insert(number, result);
        }
    };
    std::thread::scope(|scope| {
        let share = &share;
        let running: Vec<_> = workers
            .iter_mut()
            .map(|worker| scope.spawn(move || share(worker)))
            .collect();
        let mut results = running.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.try_for_each(|result| result)
    })?;
    let results = results
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    Ok(results.into_values().collect())
}
