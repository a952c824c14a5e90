//! Validates patches together, in programs that crate `schemata` weaves.
//!
//! What it says against a patch is taken as it is. What it says for one is confirmed by plain
//! validation (section IX-C of the paper recommends it), for one of those that did the same in every
//! test. What it cannot say is left to plain validation too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use patchwright_exec::{Project, Verdict, Worker};
use patchwright_patches::Patch;
use patchwright_schemata::{
    Behaviour, Context, Engine, EngineError, Event as EngineEvent, Fate, OpenReason, Options,
    Standing, Watch,
};

use crate::dependents::Dependents;
use crate::outcome::WovenStats;
use crate::plain::{Checked, Time, Way};
use crate::prepare::Prepared;
use crate::promising::Conduct;
use crate::rebuild::is_only_included;
use crate::verdict::{CompileFailure, Failure, Killer, PatchVerdict, TestResult};
use crate::{Event, Surroundings, ValidateOptions};

/// Everything that validating patches in woven programs needs.
pub struct Woven<'a> {
    /// The project.
    pub project: &'a Project,
    /// Its untouched program.
    pub prepared: &'a Prepared,
    /// What the run is asked to do.
    pub options: &'a ValidateOptions,
    /// Where processes and files come from.
    pub surroundings: &'a Surroundings<'a>,
    /// When it pays to find out by executions what patches do that C may not define.
    pub watch: Watch,
}

impl Woven<'_> {
    /// Validates `patches` in woven programs, and returns counts of the work.
    ///
    /// - `base` has a built copy of the untouched program. The caller restores that copy afterwards.
    /// - `order` has the tests' numbers in the order in which they are run.
    /// - `settle` is called with a patch's index and its verdict. A verdict against a patch comes as soon as it is
    ///   known, [`PatchVerdict::Plausible`] at the end. With a plausible patch comes what it did in each test,
    ///   twice, if tests leave files behind and were run twice.
    /// - `set_apart` is called with the index of each patch that a woven program cannot hold, and with the reason. The
    ///   caller validates it by itself.
    ///
    /// # Errors
    /// When the run is cancelled, or the engine's own processes and files fail. Patches without a
    /// verdict are still to be validated.
    pub fn run(
        &self,
        base: &mut Worker,
        patches: &[Patch],
        order: &[usize],
        settle: &mut dyn FnMut(usize, Checked, Conduct),
        set_apart: &mut dyn FnMut(usize, &str),
    ) -> Result<WovenStats, EngineError> {
        let (options, surroundings) = (self.options, self.surroundings);
        let (project, prepared) = (self.project, self.prepared);
        let started = Instant::now();
        let mut stats = WovenStats::default();
        let Some(commands) = &prepared.commands else {
            return Ok(stats);
        };
        let events = surroundings.events;
        events(Event::Phase("reading sources"));
        let pristine = prepared.pristine.sandbox.folder();
        let known = prepared.dependents.as_ref().map(Dependents::sources);
        // What nobody compiles or reads cannot tell anything of what it includes.
        let unread = prepared.untouched.unread.iter().map(PathBuf::as_path);
        let known: BTreeSet<&Path> = known.into_iter().flatten().chain(unread).collect();
        let is_only_included =
            |path: &Path, in_place| is_only_included(pristine, &known, path, in_place);
        let context = Context {
            project,
            baseline: &prepared.untouched.baseline,
            leaves: prepared.untouched.leaves,
            commands,
            is_only_included: &is_only_included,
            program: surroundings.program,
            scratch: surroundings.scratch,
            cancel: surroundings.cancel.clone(),
        };
        let engine_options = Options {
            jobs: options.jobs,
            dedup: options.dedup,
            virtualize: options.virtualize,
            prove_endless: options.prove_endless,
            keep_going: options.keep_going,
            watch: self.watch,
            // As plain validation does.
            twice: options.runs_twice(&prepared.untouched.baseline, prepared.untouched.leaves),
            ..Options::default()
        };
        let total = patches.len();
        let mut engine =
            Engine::prepare(
                context,
                base,
                patches,
                engine_options,
                &mut |event| match event {
                    EngineEvent::Phase(name) => events(Event::Phase(name)),
                    EngineEvent::Progress(done) => events(Event::Progress { done, total }),
                    // Nothing is run yet.
                    EngineEvent::Verdict { .. }
                    | EngineEvent::Again { .. }
                    | EngineEvent::Open { .. }
                    | EngineEvent::Apart { .. } => {}
                },
            )?;
        // What each patch has passed and failed so far; nothing once it is settled or set apart.
        let mut known: Vec<Option<Known>> = Vec::with_capacity(total);
        for (index, fate) in engine.fates().iter().enumerate() {
            known.push(match fate {
                Fate::Woven => Some(Known::default()),
                Fate::Apart(reason) => {
                    *stats.apart.entry(reason.reason().to_owned()).or_default() += 1;
                    set_apart(index, &reason.told());
                    None
                }
                Fate::DoesNotCompile {
                    file,
                    line,
                    message,
                } => {
                    let place = match line {
                        0 => file.display().to_string(),
                        line => format!("{}:{line}", file.display()),
                    };
                    let said = format!("{place}: error: {message}");
                    let failure = CompileFailure {
                        ending: None,
                        first_error: Some(said.clone()),
                        output: said,
                    };
                    let verdict = PatchVerdict::DoesNotCompile(failure);
                    settle(index, checked(verdict, Vec::new()), Conduct::default());
                    stats.patches += 1;
                    None
                }
            });
        }
        let doubts = engine.doubts();
        let ran = engine.run(base, order, &mut |event| match event {
            EngineEvent::Phase(name) => events(Event::Phase(name)),
            EngineEvent::Progress(done) => events(Event::Progress { done, total }),
            EngineEvent::Apart { patch, reason } => {
                *stats.apart.entry(reason.reason().to_owned()).or_default() += 1;
                set_apart(patch, &reason.told());
                known[patch] = None;
            }
            EngineEvent::Open {
                patch,
                reason,
                test,
            } => {
                if known[patch].is_some() {
                    let name = &prepared.untouched.baseline.tests[test].name;
                    let is_undefined = reason == OpenReason::Undefined;
                    let reason = match reason.is_of_test() {
                        true => format!("{} ({name})", reason.reason()),
                        false => reason.reason().to_owned(),
                    };
                    match doubts.get(&patch).filter(|_| is_undefined) {
                        Some(doubt) => set_apart(patch, &format!("{reason}: {doubt}")),
                        None => set_apart(patch, &reason),
                    }
                    *stats.apart.entry(reason).or_default() += 1;
                    known[patch] = None;
                }
            }
            EngineEvent::Again { patch, behaviour } => {
                if let Some(Known { behaviours, .. }) = &mut known[patch] {
                    behaviours.push(behaviour);
                }
            }
            EngineEvent::Verdict {
                patch,
                test,
                verdict,
                behaviour,
            } => {
                let Some(Known {
                    results,
                    behaviours,
                }) = &mut known[patch]
                else {
                    return;
                };
                behaviours.push(behaviour);
                let failure = match verdict {
                    Verdict::Pass => None,
                    Verdict::Fail(reason) => Some(Failure::Ran(reason)),
                };
                results.push(TestResult {
                    test,
                    failure: failure.clone(),
                    milliseconds: None,
                });
                if let (Some(failure), false) = (failure, options.keep_going) {
                    let killer = Killer { test, failure };
                    let verdict = PatchVerdict::Implausible(killer);
                    let done = checked(verdict, std::mem::take(results));
                    known[patch] = None;
                    stats.patches += 1;
                    settle(patch, done, Conduct::default());
                }
            }
        });
        let done = engine.stats();
        stats.compilations = done.compilations;
        stats.builds = done.builds;
        stats.executions = done.executions;
        stats.forked = done.forked;
        stats.time_outs = done.time_outs;
        stats.endless = done.endless;
        stats.classes = done.classes;
        let splits = done.splits.iter();
        stats.splits = splits
            .map(|(why, number)| (why.reason(), *number))
            .collect();
        stats.captured = done.captured;
        let uncaptured = done.uncaptured.iter();
        stats.uncaptured = uncaptured
            .map(|(why, number)| (why.reason(), *number))
            .collect();
        stats.unsteady = done.unsteady;
        stats.cleared = done.cleared;
        stats.time = started.elapsed();
        ran?;
        for (index, known) in known.into_iter().enumerate() {
            let Some(Known {
                results,
                behaviours,
            }) = known
            else {
                continue;
            };
            if results.len() < order.len() {
                continue; // Not told; it is validated by itself.
            }
            let killer = results.iter().find_map(|result| {
                let failure = result.failure.clone()?;
                Some(Killer {
                    test: result.test,
                    failure,
                })
            });
            let verdict = killer.map_or(PatchVerdict::Plausible, PatchVerdict::Implausible);
            stats.patches += 1;
            let is_plausible = verdict == PatchVerdict::Plausible;
            let conduct = Conduct {
                scope: engine.scope(index),
                standing: match is_plausible {
                    true => engine.standing(index),
                    false => Standing::Member,
                },
                behaviour: behaviours,
            };
            settle(index, checked(verdict, results), conduct);
        }
        Ok(stats)
    }
}

/// What is known of a patch that is not settled.
#[derive(Default)]
struct Known {
    results: Vec<TestResult>,
    /// What it did in each of these tests, and in those that were run once more.
    behaviours: Vec<Behaviour>,
}

fn checked(verdict: PatchVerdict, tests: Vec<TestResult>) -> Checked {
    Checked {
        verdict,
        tests,
        // They are counted by the engine, for all patches together.
        executions: 0,
        way: Way::Woven,
        build: std::time::Duration::ZERO,
        total: std::time::Duration::ZERO,
        changes_tests: BTreeSet::new(),
        time: Time::Right,
    }
}
