//! The engine: from patches to verdicts.

mod cleared;
mod culprits;
mod kept;
mod reach;
mod told;
mod undeclared;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};

use patchwright_csource::Clang;
use patchwright_exec::{
    BuildError, Limits, TestSuite, Worker, WorkerOptions, files, put_source, run_build,
    runner::Environment, undefined_references,
};
use patchwright_patches::Patch;
use patchwright_probe_image::{PROBE, PatchChannel};

use crate::batch::{Batch, Batched, Batcher};
use crate::context::Context;
use crate::helpers::Helpers;
use crate::leftovers::Leftovers;
use crate::missing;
use crate::placing::Width;
use crate::plan::{Plan, Planner};
use crate::planned::PlannedPatch;
use crate::rounds::{OpenReason, RoundResult, RoundWorker, Rounds, lock, unobserved_size};
use crate::stack;
use crate::state::{Maker, State, own_name};
use crate::varying;
use crate::{Apart, EngineError, Event, Fate, Options, Standing, Stats, Unwoven};

use told::{Held, Outcomes, Told};

/// How often a batch that does not build is halved, looking for the culprit.
const MOST_HALVINGS: usize = 4;

/// Most trials to find out to whom an error in woven texts belongs.
const MOST_TRIALS: usize = 32;

/// How often patches of a batch are looked for whose weaving changes the program.
const MOST_SEARCHES: usize = 3;

/// The engine with patches that were planned and checked by the compiler, ready to be run.
pub struct Engine<'a> {
    context: Context<'a>,
    options: Options,
    plan: Plan,
    clang: Clang,
    fates: Vec<Fate>,
    stats: Stats,
    outcomes: Outcomes,
    /// What is not told yet of members of the plan, and that no test was left out of.
    held: BTreeMap<usize, Vec<Held>>,
    /// Members of the plan that C may not define, and of which it is known that they use nothing without a value in any test.
    cleared: BTreeSet<usize>,
    probe: PathBuf,
    unobserved: PathBuf,
}

impl Context<'_> {
    /// Starts a worker in a copy of a folder.
    fn worker(&self, index: usize, name: &str, source: &Path) -> Result<Worker, EngineError> {
        Ok(Worker::start(
            index,
            &own_name(name),
            &WorkerOptions::new(
                self.project,
                source,
                self.program,
                self.scratch,
                &self.cancel,
            ),
        )?)
    }
}

impl<'a> Engine<'a> {
    /// Plans all patches and finds out which compile. `base` is a built copy of the untouched
    /// program, which stays as it is. `sink` gets events about phases and progress.
    ///
    /// # Errors
    /// No clang, and processes or files that fail. A patch that cannot be dealt with is no error but a [`Fate`].
    pub fn prepare(
        context: Context<'a>,
        base: &mut Worker,
        patches: &[Patch],
        options: Options,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Self, EngineError> {
        let clang = Clang::find(&mut base.runner)?;
        let probe = context.scratch.path().join("patches-probe.so");
        files::write_atomic(&probe, PROBE)?;
        let unobserved = context.scratch.common_path().join("unobserved");
        files::write_atomic(&unobserved, b"")?;
        let mut stats = Stats::default();
        let mut fates: Vec<Option<Fate>> = vec![None; patches.len()];
        let (origin, copied) = (context.clone(), base.sandbox.folder().to_path_buf());
        let start = |number: usize| {
            let name = format!("patches-compiler-{number}");
            origin.worker(0, &name, &copied)
        };
        let mut helpers = Helpers::new(&start, options.jobs.saturating_sub(1));
        let plan = Planner {
            worker: base,
            helpers: &mut helpers,
            commands: context.commands,
            clang: &clang,
            stats: &mut stats,
            symbols: None,
            included: None,
            is_only_included: context.is_only_included,
        }
        .plan(patches, &mut fates, sink)?;
        let mut engine = Engine {
            context,
            options,
            plan,
            clang,
            fates: fates
                .into_iter()
                .map(|fate| fate.unwrap_or(Fate::Woven))
                .collect(),
            stats,
            outcomes: Outcomes::default(),
            held: BTreeMap::new(),
            cleared: BTreeSet::new(),
            probe,
            unobserved,
        };
        engine.settle_undeclared(base, &mut helpers, patches)?;
        helpers.end()?;
        Ok(engine)
    }

    /// Returns the fate of each patch.
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// Returns the functions that a woven patch changes, as the number of the file and of the
    /// function. What the patch adds between functions has no function number. Patches with equal
    /// scopes differ only inside these functions.
    pub fn scope(&self, patch: usize) -> Vec<(usize, Option<usize>)> {
        let planned = self.planned(patch);
        let files = planned.iter().flat_map(|planned| &planned.files);
        let mut scope: Vec<_> = files
            .flat_map(|file| {
                let functions = file.functions.iter().map(|known| Some(known.function));
                let between = (!file.additions.is_empty()).then_some(None);
                functions
                    .chain(between)
                    .map(|function| (file.file, function))
            })
            .collect();
        scope.sort_unstable();
        scope.dedup();
        scope
    }

    /// Returns which build can confirm a plausible verdict of the woven program on `patch`: one with any patch of its class, one with
    /// this patch, or one with this patch alone.
    pub fn standing(&self, patch: usize) -> Standing {
        let sources = &self.plan.sources;
        let Some(member) = self.member(patch) else {
            return Standing::Member;
        };
        let planned = &self.plan.patches[member];
        let suspicion = &planned.suspicion;
        let is_doubtful = suspicion.doubt.is_some() && !self.cleared.contains(&member);
        if is_doubtful || suspicion.is_hidden || varying::may_vary(planned, sources) {
            Standing::Alone
        } else if suspicion.is_unknown || stack::may_take_more(planned, sources) {
            Standing::Itself
        } else {
            Standing::Member
        }
    }

    /// Returns the patches whose behaviour C may not define, with the reason in words.
    pub fn doubts(&self) -> BTreeMap<usize, String> {
        let doubt =
            |planned: &PlannedPatch| Some((planned.patch, planned.suspicion.doubt.clone()?));
        self.plan.patches.iter().filter_map(doubt).collect()
    }

    /// What is planned for a patch.
    fn planned(&self, patch: usize) -> Option<&PlannedPatch> {
        Some(&self.plan.patches[self.member(patch)?])
    }

    /// The number of a patch in the plan, in which patches are in their order.
    fn member(&self, patch: usize) -> Option<usize> {
        let patches = &self.plan.patches;
        let at = patches.binary_search_by_key(&patch, |planned| planned.patch);
        at.ok()
    }

    /// Returns the numbers about the work so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Runs the woven patches in these tests, in this order. Unless [`Options::keep_going`] is set, a
    /// patch is not run any more after its first failing test.
    ///
    /// # Errors
    /// As for [`Engine::prepare`], and tests that cannot be run. What was told before holds.
    pub fn run(
        &mut self,
        base: &mut Worker,
        tests: &[usize],
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        let all = (0..self.plan.patches.len()).collect();
        let all = self.settle_unreached(base, all, tests, sink)?;
        let mut batches: VecDeque<Pending> = all
            .chunks(self.options.batch.max(1))
            .map(|members| Pending {
                members: members.to_vec(),
                ..Pending::default()
            })
            .collect();
        let mut number = 0;
        let mut tried = Tried {
            widths: BTreeMap::new(),
            trials: MOST_TRIALS,
        };
        while let Some(pending) = batches.pop_front() {
            sink(Event::Phase("weaving patches"));
            let Batched { batch, apart, left } = Batcher {
                worker: base,
                clang: &self.clang,
                plan: &self.plan,
                stats: &mut self.stats,
                dedup: self.options.dedup,
                unobserved: &self.unobserved,
                checked: pending.checked,
                widths: &mut tried.widths,
                trials: &mut tried.trials,
            }
            .batch(&pending.members)?;
            for (member, reason) in apart {
                self.set_apart(member, reason, sink);
            }
            if !left.is_empty() {
                batches.push_front(Pending {
                    members: left,
                    untold: pending.untold.clone(),
                    ..pending
                });
            }
            if batch.members.is_empty() {
                continue;
            }
            sink(Event::Phase("building the woven program"));
            let mut worker =
                self.context
                    .worker(0, &format!("patches-{number}-0"), base.sandbox.folder())?;
            number += 1;
            let executed = match self.build(&mut worker, &batch)? {
                Ok(executed) => executed,
                Err(error) => {
                    worker.sandbox.remove()?;
                    self.split(&batch, &error, &pending, &mut batches, sink);
                    continue;
                }
            };
            for patch in &executed {
                let member = batch.members[*patch as usize];
                self.set_apart(member, Apart::ExecutedByBuild, sink);
            }
            sink(Event::Phase("running tests"));
            let built = Built {
                worker,
                batch,
                executed,
                number,
            };
            if let Some(left) = self.run_batch(base, built, pending, tests, &mut tried, sink)? {
                batches.push_front(left);
            }
        }
        self.clear_doubts(base, tests, &mut tried, sink)
    }

    fn set_apart(&mut self, member: usize, reason: Apart, sink: &mut dyn FnMut(Event)) {
        let patch = self.plan.patches[member].patch;
        self.fates[patch] = Fate::Apart(reason.clone());
        sink(Event::Apart { patch, reason });
    }

    /// Builds the woven program. A build may execute a part of it, such as a generator of sources, and does so without any patch. The
    /// result has the patches of the batch to which that matters.
    fn build(
        &mut self,
        worker: &mut Worker,
        batch: &Batch,
    ) -> Result<Result<Vec<u32>, BuildError>, EngineError> {
        let build = self.context.project.build.as_ref();
        let build = build.ok_or(EngineError::NoBuild)?;
        for (file, text) in &batch.files {
            let source = &self.plan.sources[*file];
            put_source(&worker.sandbox, &source.relative, text, &source.includers)?;
        }
        self.stats.builds += 1;
        let mut channel = PatchChannel::create(&worker.shared, batch.table.clone())?;
        channel.set_visits();
        let mut environment = Environment::default();
        for (name, value) in channel.environment(&self.probe) {
            environment.set.insert(name.into(), value);
        }
        let unobserved_before = unobserved_size(&self.unobserved);
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &environment,
            &Limits::for_build(),
        );
        match built {
            Ok(_) if unobserved_size(&self.unobserved) != unobserved_before => {
                Ok(Ok((0..batch.members.len() as u32).collect()))
            }
            Ok(_) => Ok(Ok(channel.patches_at(&channel.report().visited))),
            Err(BuildError::Run(error)) => Err(error.into()),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Deals with a build that fails. Patches that name what the linker misses are set apart. If there are none, the finished texts are
    /// compiled, which shows what is wrong with them. If nothing is, the batch is halved.
    fn split(
        &mut self,
        batch: &Batch,
        error: &BuildError,
        pending: &Pending,
        batches: &mut VecDeque<Pending>,
        sink: &mut dyn FnMut(Event),
    ) {
        tracing::warn!("woven build: {error}");
        let output = match error {
            BuildError::Failed { output, .. } => String::from_utf8_lossy(output),
            BuildError::Run(_) => "".into(),
        };
        let guilty = missing::guilty(&self.plan, &batch.members, &undefined_references(&output));
        let others = batch.members.iter().copied();
        let others: Vec<usize> = others.filter(|member| !guilty.contains(member)).collect();
        let (halvings, checked) = (pending.halvings, pending.checked);
        let mut push = |members: &[usize], halvings, checked| {
            batches.push_front(Pending {
                members: members.to_vec(),
                halvings,
                checked,
                untold: pending.untold.clone(),
                ..*pending
            });
        };
        if !guilty.is_empty() {
            for member in guilty {
                self.set_apart(member, Apart::NotLinked, sink);
            }
            if !others.is_empty() {
                push(&others, halvings, checked);
            }
            return;
        }
        if !checked {
            push(&others, halvings, true);
            return;
        }
        if others.len() == 1 || halvings >= MOST_HALVINGS {
            for member in others {
                self.set_apart(member, Apart::NotWoven(Unwoven::Unassigned), sink);
            }
            return;
        }
        let (low, high) = others.split_at(others.len() / 2);
        push(high, halvings + 1, checked);
        push(low, halvings + 1, checked);
    }

    /// Runs a built batch in the tests. If it has to be woven once more, without patches whose weaving changes the program, what is
    /// left comes back.
    fn run_batch(
        &mut self,
        base: &mut Worker,
        built: Built,
        pending: Pending,
        tests: &[usize],
        tried: &mut Tried,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Option<Pending>, EngineError> {
        let Built {
            worker: built,
            batch,
            executed,
            number,
        } = built;
        let batch = &batch;
        // Not of `self`, which goes on working meanwhile.
        let (context, probe, unobserved) = (
            self.context.clone(),
            self.probe.clone(),
            self.unobserved.clone(),
        );
        let suite = self.context.project.tests.as_ref();
        let suite: &TestSuite = suite.ok_or(EngineError::NoTests)?;
        let leaves = self.context.leaves;
        let viewed = built.runner.view_active();
        // Without a view each copy has a path of its own. What a test has left may name it, and means nothing in another.
        let fixed = leaves && !viewed;
        let jobs = if fixed { 1 } else { self.options.jobs.max(1) };
        let prefix = format!("patches-{number}");
        // Nothing is run in the copy that was built.
        let folder = self
            .context
            .scratch
            .path()
            .join(own_name(&format!("{prefix}-next")));
        let mut state = State::new(built.sandbox.clone(), folder, viewed);
        let maker = Maker::new(&context, batch.table.clone(), prefix, fixed);
        let mut workers = (0..jobs.min(batch.members.len()))
            .map(|index| maker.make(index, state.tree()))
            .collect::<Result<Vec<RoundWorker>, _>>()?;
        let stats = Mutex::new(std::mem::take(&mut self.stats));
        let mut told = Told {
            failed: vec![false; batch.members.len()],
            open: vec![false; batch.members.len()],
            untold: BTreeMap::new(),
            outcomes: std::mem::take(&mut self.outcomes),
            doubtful: BTreeSet::new(),
            held: BTreeMap::new(),
        };
        let (undefined, doubtful) = self.doubtful(&batch.members, fixed);
        told.doubtful.clone_from(&doubtful);
        for (patch, member) in (0..).zip(&batch.members) {
            if let Some(untold) = pending.untold.get(member) {
                told.untold.insert(patch, *untold);
            }
            if let Some(held) = self.held.remove(member) {
                told.held.insert(patch, held);
            }
        }
        for patch in executed {
            told.open[patch as usize] = true;
        }
        let mut left = None;
        let mut searches = !leaves && pending.searches < MOST_SEARCHES;
        let twice = leaves && self.options.twice;
        let second = tests.iter().filter(|_| twice);
        let runs = tests.iter().map(|test| (*test, false));
        let mut outcome = Ok(());
        let runs = runs.chain(second.map(|test| (*test, true)));
        for (at, (test, again)) in runs.enumerate().skip(pending.from) {
            let live: Vec<u32> = (0..batch.members.len() as u32)
                .filter(|patch| told.is_live(*patch, self.options.keep_going && !again))
                .collect();
            if live.is_empty() {
                continue;
            }
            let known = &self.context.baseline.tests[test];
            let limits = &self.context.project.limits;
            // The tree for the next test is made while this one is in use.
            let pristine = state.tree().to_path_buf();
            let mut rounds = Rounds {
                test: &suite.tests[test],
                environment: &suite.environment,
                limits: &known.limits(limits, self.options.prove_endless).for_woven(),
                expected: known.processor_time(),
                passes: known.verdict.is_pass(),
                probe: &probe,
                unobserved: &unobserved,
                pristine: &pristine,
                maker: &maker,
                leftovers: None,
                keep_going: self.options.keep_going,
                dedup: self.options.dedup,
                virtualize: self.options.virtualize,
                undefined: &undefined,
                doubtful: &doubtful,
            };
            let mut differ = false;
            let mut tell = |result: RoundResult| {
                let is_all = |patches: &[u32]| patches.len() == live.len();
                match &result {
                    RoundResult::Open {
                        patches,
                        reason: OpenReason::WovenDiffers,
                    } if searches && is_all(patches) => differ = true,
                    _ => self.tell(batch, (test, again), result, &mut told, sink),
                }
            };
            let leftovers = match leaves {
                true => rounds.untouched(&mut workers[0], &stats, &mut |changes, from| {
                    state.keep(changes, from, &mut lock(&stats))
                }),
                false => Ok(Ok(Leftovers::default())),
            };
            let leftovers = match leftovers {
                Ok(Ok(leftovers)) => Mutex::new(leftovers),
                Ok(Err(reason)) => {
                    // Nor can anything be said of the tests after it.
                    let patches = live.clone();
                    tell(RoundResult::Open { patches, reason });
                    break;
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            rounds.leftovers = leaves.then_some(&leftovers);
            outcome = run_rounds(&rounds, &mut workers, live.clone(), &stats, &mut tell);
            if outcome.is_ok() {
                let advanced = state.advance(&lock(&leftovers).changes, &mut workers);
                outcome = advanced.map_err(EngineError::from);
            }
            if outcome.is_err() {
                break;
            }
            if !differ {
                continue;
            }
            // Somebody's weaving changes the program.
            let member = |patch: &u32| batch.members[*patch as usize];
            let members: Vec<usize> = live.iter().map(member).collect();
            self.stats = std::mem::take(&mut *lock(&stats));
            let culprits = self.culprits(base, &members, test, tried, sink);
            *lock(&stats) = std::mem::take(&mut self.stats);
            let culprits = match culprits {
                Ok(culprits) => culprits,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            sink(Event::Phase("running tests"));
            if culprits.is_empty() {
                searches = false;
                let (patches, reason) = (live, OpenReason::WovenDiffers);
                let result = RoundResult::Open { patches, reason };
                self.tell(batch, (test, again), result, &mut told, sink);
                continue;
            }
            for &culprit in &culprits {
                let patch = self.plan.patches[culprit].patch;
                let reason = OpenReason::ChangesProgram;
                sink(Event::Open {
                    patch,
                    test,
                    reason,
                });
            }
            told.held
                .retain(|patch, _| !culprits.contains(&member(patch)));
            let others = members.iter().filter(|member| !culprits.contains(member));
            let untold = std::mem::take(&mut told.untold).into_iter();
            left = Some(Pending {
                members: others.copied().collect(),
                from: at,
                untold: untold
                    .map(|(patch, untold)| (member(&patch), untold))
                    .collect(),
                searches: pending.searches + 1,
                ..Pending::default()
            });
            break;
        }
        // No other test has spoken against them.
        let untold = std::mem::take(&mut told.untold);
        for (patch, (test, reason)) in untold {
            let is_over = told.failed[patch as usize] || told.open[patch as usize];
            if outcome.is_ok() && !is_over {
                told.held.remove(&patch);
                let patch = self.plan.patches[batch.members[patch as usize]].patch;
                sink(Event::Open {
                    patch,
                    test,
                    reason,
                });
            }
        }
        for (patch, held) in told.held {
            self.held.insert(batch.members[patch as usize], held);
        }
        self.outcomes = told.outcomes;
        self.stats = stats
            .into_inner()
            .unwrap_or_else(|error| error.into_inner());
        for RoundWorker { worker, .. } in workers {
            worker.sandbox.remove()?;
        }
        state.remove()?;
        outcome.map(|()| left)
    }
}

/// A woven program.
struct Built {
    /// Where it was built.
    worker: Worker,
    batch: Batch,
    /// Its patches that the build itself has executed.
    executed: Vec<u32>,
    number: usize,
}

/// What was found out while patches were woven.
struct Tried {
    /// See [`Batcher::widths`].
    widths: BTreeMap<usize, Width>,
    /// See [`Batcher::trials`].
    trials: usize,
}

/// Patches that are to be woven together.
#[derive(Default)]
struct Pending {
    members: Vec<usize>,
    /// How often their batch has been halved.
    halvings: usize,
    /// See [`Batcher::checked`].
    checked: bool,
    /// They have been run in so many tests.
    from: usize,
    /// Of these the first test that could not be told, and why.
    untold: BTreeMap<usize, (usize, OpenReason)>,
    /// How often patches were looked for whose weaving changes the program.
    searches: usize,
}

/// Runs a test; `tell` is called on this thread.
fn run_rounds(
    rounds: &Rounds<'_>,
    workers: &mut [RoundWorker],
    live: Vec<u32>,
    stats: &Mutex<Stats>,
    tell: &mut dyn FnMut(RoundResult),
) -> Result<(), EngineError> {
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let sender = Mutex::new(sender);
        let running = scope.spawn(move || {
            let deliver = |result| {
                // The receiver is gone only when this thread's result is not wanted any more.
                let _ = lock(&sender).send(result);
            };
            rounds.run(workers, live, stats, &deliver)
        });
        receiver.into_iter().for_each(tell);
        match running.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
