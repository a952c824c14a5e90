//! Executes candidates.

use std::{
    ffi::OsStr,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use patchwright_exec::{FailReason, Limits, Verdict, Worker, run_test, runner::Environment};
use patchwright_probe_image::{
    Candidate, CandidateError, Channel, HoleId, Location, Patience, Watch,
};
use patchwright_semantics::Instruction;
use patchwright_space::CandidateId;
use patchwright_text::{Digest, Hasher};

use crate::{
    Event, RepairError,
    classes::ClassVerdict,
    family::WatchState,
    instrumented::HoleEntry,
    ran_out::LONGER,
    run::{Report, Run},
    search::Search,
    turns::weight,
    usual::{CPU_FACTOR, CPU_FLOOR},
};

/// A candidate that may use so much processor time is watched for a provably endless loop. With less time, watching takes as
/// long as it saves.
const WORTH_A_PROOF: Duration = Duration::from_millis(250);

/// The same for a program in which a variable is watched for the first time: every place logs.
const WATCHED_CPU_FACTOR: u32 = 60;

/// The factor for the processor time of a run in which all locations log.
pub(crate) const SURVEYED_CPU_FACTOR: u32 = 30;

/// Sanitizers that look for names when they report: that takes longer than most tests, and nobody reads the report.
const SANITIZERS: [&str; 3] = ["ASAN_OPTIONS", "UBSAN_OPTIONS", "MSAN_OPTIONS"];

/// Lets sanitizers report without names, unless the user wants them or suppresses reports by them.
fn without_symbols(environment: &mut Environment) {
    for name in SANITIZERS {
        let inherited = || {
            let is_inherited = !environment.clear && !environment.remove.contains(OsStr::new(name));
            std::env::var_os(name).filter(|_| is_inherited)
        };
        let own = environment.set.get(OsStr::new(name)).cloned();
        let mut options = own.or_else(inherited).unwrap_or_default();
        let text = options.to_string_lossy();
        if text.contains("symbolize") || text.contains("suppressions") {
            continue;
        }
        if !options.is_empty() {
            options.push(":");
        }
        options.push("symbolize=0");
        environment.set.insert(name.into(), options);
    }
}

impl Search<'_> {
    /// Runs a batch of candidates in tests, one execution on each worker.
    pub(crate) fn execute(
        &mut self,
        unit: usize,
        batch: &[(&[Instruction], usize)],
        workers: &mut [(Worker, Channel)],
    ) -> Result<Vec<Run>, RepairError> {
        self.found.stats.executions += batch.len() as u64;
        let patience = match self.options.relations.is_singly() || self.longer > 1 {
            true => None,
            false => self.families[self.units[unit].family].length.patience(),
        };
        let this = &*self;
        let usual = self.usual + CPU_FLOOR;
        let results: Vec<Result<Run, RepairError>> = std::thread::scope(|scope| {
            let handles: Vec<_> = batch
                .iter()
                .zip(workers.iter_mut())
                .map(|(&(code, test), worker)| {
                    let mut run = move || this.run(unit, code, test, patience, worker);
                    if batch.len() == 1 {
                        Err(Box::new(run()))
                    } else {
                        Ok(scope.spawn(run))
                    }
                })
                .collect();
            handles
                .into_iter()
                .map(|handle| match handle {
                    Err(result) => *result,
                    Ok(handle) => match handle.join() {
                        Ok(result) => result,
                        Err(panic) => std::panic::resume_unwind(panic),
                    },
                })
                .collect()
        });
        let runs: Vec<Run> = results.into_iter().collect::<Result<_, _>>()?;
        for run in &runs {
            self.count_length(run.took);
        }
        if let Some(slice) = &mut self.slice {
            let spent: u64 = runs.iter().map(|run| weight(run.took, usual)).sum();
            *slice = slice.saturating_sub(spent);
        }
        Ok(runs)
    }

    /// Finishes the tests of a candidate whose execution had states that were not all seen. Such an execution decides its own candidate
    /// only.
    pub(crate) fn passes_rest(
        &mut self,
        unit: usize,
        (cost, candidate): (u32, CandidateId),
        code: &[Instruction],
        tests: &[usize],
        done: usize,
        worker: &mut (Worker, Channel),
    ) -> Result<bool, RepairError> {
        for &test in tests.iter().filter(|&&test| test != done) {
            self.found.stats.executions += 1;
            let run = self.run(unit, code, test, None, worker)?;
            self.count_length(run.took);
            self.note_ran_out((unit, cost), candidate, test, &run);
            if !run.verdict.is_pass() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a test with the candidate that `code` computes at the hole of a unit.
    pub(crate) fn run(
        &self,
        unit: usize,
        code: &[Instruction],
        test: usize,
        patience: Option<Patience>,
        worker: &mut (Worker, Channel),
    ) -> Result<Run, RepairError> {
        let family = self.units[unit].family;
        if self.families[family].watch.is_some() {
            return self.run_watched(family, Some((unit, code)), test, worker);
        }
        let entry = &self.holes[self.units[unit].entry];
        let key = self.key(&[unit], false, Some((unit, code)), test, patience);
        self.known_or(key, || {
            self.run_hole(entry, unit, code, test, patience, worker)
        })
    }

    fn run_hole(
        &self,
        entry: &HoleEntry,
        unit: usize,
        code: &[Instruction],
        test: usize,
        patience: Option<Patience>,
        worker: &mut (Worker, Channel),
    ) -> Result<Run, RepairError> {
        let channel = &mut worker.1;
        let candidate = Candidate {
            hole: entry.id,
            function: entry.function,
            slots: &self.states[unit].slots,
            code,
        };
        match channel.set_candidate(&candidate) {
            Err(error @ CandidateError::TooMuchCode { .. }) => {
                tracing::info!("{error}");
                return Ok(Run::not_executed());
            }
            set => set?,
        }
        if let Some(patience) = patience {
            channel.set_patience(patience);
        }
        let (mut verdict, [mut took, mut cpu]) =
            self.run_test(test, self.expected_cpu(test) * CPU_FACTOR, worker)?;
        let mut observation = worker.1.observation();
        // Perhaps another candidate has destroyed what the test needs.
        if self.put_back(&worker.0, observation.visits == 0) && observation.visits == 0 {
            worker.1.set_candidate(&candidate)?;
            if let Some(patience) = patience {
                worker.1.set_patience(patience);
            }
            (verdict, [took, cpu]) =
                self.run_test(test, self.expected_cpu(test) * CPU_FACTOR, worker)?;
            observation = worker.1.observation();
        }
        // Up to the first visit the program does what it always does, and it gets to the hole in this test. An execution
        // without a visit was not observed, whatever the reason: it must not decide about others.
        if observation.visits == 0 {
            tracing::warn!(
                test,
                attached = observation.attached,
                "nothing was observed"
            );
            observation.overflow = true;
        }
        let verdict = if observation.undefined {
            ClassVerdict::Undefined
        } else {
            verdict
        };
        Ok(Run {
            verdict,
            report: Report::States(observation),
            took,
            cpu,
        })
    }

    /// Runs with the places of a variable watched, and a candidate assigned at one of them.
    pub(crate) fn run_watched(
        &self,
        family: usize,
        assigned: Option<(usize, &[Instruction])>,
        test: usize,
        worker: &mut (Worker, Channel),
    ) -> Result<Run, RepairError> {
        let Some(watch) = &self.families[family].watch else {
            unreachable!("only families of a variable are watched");
        };
        self.known_or(
            self.key(&watch.units, watch.calls_touch, assigned, test, None),
            || self.run_places(watch, assigned, test, worker),
        )
    }

    fn run_places(
        &self,
        watch: &WatchState,
        assigned: Option<(usize, &[Instruction])>,
        test: usize,
        worker: &mut (Worker, Channel),
    ) -> Result<Run, RepairError> {
        let id = |unit: usize| -> HoleId { self.holes[self.units[unit].entry].id };
        let locations: Vec<Location<'_>> = watch
            .units
            .iter()
            .map(|&unit| Location {
                hole: id(unit),
                slots: &self.states[unit].slots,
            })
            .collect();
        worker.1.set_watch(&Watch {
            function: watch.function,
            variable: watch.variable,
            calls_touch: watch.calls_touch,
            locations: &locations,
            assigned: assigned.map(|(unit, code)| (id(unit), code)),
        })?;
        let cpu = match watch.observed.get(&test) {
            Some(took) => (*took).max(self.expected_cpu(test)) * CPU_FACTOR,
            None => self.expected_cpu(test) * WATCHED_CPU_FACTOR,
        };
        let (verdict, [took, cpu]) = self.run_test(test, cpu, worker)?;
        self.put_back(&worker.0, false);
        let watched = worker.1.watched();
        let verdict = if watched.undefined {
            ClassVerdict::Undefined
        } else {
            verdict
        };
        Ok(Run {
            verdict,
            report: Report::Windows(watched),
            took,
            cpu,
        })
    }

    /// See [`crate::copies::Copies::put_back`]. A copy that cannot be put back is used as it is: what is found in it is verified in clean ones.
    pub(crate) fn put_back(&self, worker: &Worker, must: bool) -> bool {
        self.copies.put_back(worker, must).unwrap_or_else(|error| {
            (self.surroundings.events)(Event::Warning(format!(
                "a candidate has damaged the copy in which it was executed, and the copy cannot be restored ({error}); \
                 patches may be missed"
            )));
            false
        })
    }

    /// What names an execution in the journal: places with what is observed there, what is
    /// changed, the test, and how long it is watched.
    fn key(
        &self,
        units: &[usize],
        calls_touch: bool,
        changed: Option<(usize, &[Instruction])>,
        test: usize,
        patience: Option<Patience>,
    ) -> Digest {
        let mut hasher = Hasher::new();
        for &unit in units {
            let entry = &self.holes[self.units[unit].entry];
            let path = &self.files[entry.file].relative;
            let span = entry.hole.span;
            hasher
                .field(path.as_os_str().as_encoded_bytes())
                .number(span.start.into())
                .number(span.end.into())
                .field(format!("{:?}", entry.hole.kind))
                .field(format!("{:?}", self.units[unit].target))
                .field(format!("{:?}", self.states[unit].slots));
        }
        let place = changed.and_then(|(unit, _)| units.iter().position(|&other| other == unit));
        hasher
            .field(format!("{place:?} {calls_touch} {:?}", self.unset))
            .field(format!("{:?} {patience:?}", changed.map(|(_, code)| code)))
            .field(&self.prepared.baseline.tests[test].name);
        if self.longer > 1 {
            hasher.number(self.longer.into());
        }
        hasher.finish()
    }

    /// What an earlier run has found, or what this one finds and keeps.
    fn known_or(
        &self,
        key: Digest,
        run: impl FnOnce() -> Result<Run, RepairError>,
    ) -> Result<Run, RepairError> {
        let Some(journal) = &self.prepared.journal else {
            return run();
        };
        if let Some(known) = journal.execution(key) {
            self.resumed.fetch_add(1, Ordering::Relaxed);
            return Ok(known);
        }
        let found = run()?;
        journal.keep_execution(key, &found)?;
        Ok(found)
    }

    /// Returns the processor time that a test is expected to take. A failing test may have ended early, so its own time says little. Then
    /// the time counts that three of four passing tests need at most.
    pub(crate) fn expected_cpu(&self, test: usize) -> Duration {
        let known = &self.prepared.baseline.tests[test];
        match known.verdict.is_pass() {
            true => known.processor_time(),
            false => known.processor_time().max(self.usual_cpu),
        }
    }

    /// The most time that a test may take, whatever is expected of it. What is done again has more: what is woven takes longer.
    fn timeout(&self, test: usize) -> Duration {
        let timeout = self.prepared.baseline.tests[test].timeout;
        match self.longer {
            1 => timeout,
            _ => timeout.saturating_mul(LONGER),
        }
    }

    /// The most processor time.
    fn most_time(&self, test: usize) -> Duration {
        let most = self.limits.cpu.unwrap_or(Duration::MAX);
        self.timeout(test).min(most)
    }

    /// Whether an execution may take more processor time than it now has.
    pub(crate) fn can_take_longer(&self, test: usize) -> bool {
        let now = self.expected_cpu(test) * CPU_FACTOR + CPU_FLOOR;
        let timeout = self.prepared.baseline.tests[test].timeout;
        let most = timeout.saturating_mul(LONGER);
        let most = most.min(self.limits.cpu.unwrap_or(Duration::MAX));
        now.saturating_mul(self.longer) < most
    }

    /// Runs a test; how long that took, and how much processor time.
    pub(crate) fn run_test(
        &self,
        test: usize,
        cpu: Duration,
        (worker, channel): &mut (Worker, Channel),
    ) -> Result<(ClassVerdict, [Duration; 2]), RepairError> {
        let mut environment = self.suite.environment.clone();
        for (name, value) in channel.environment(self.probe) {
            environment.set.insert(name.into(), value);
        }
        without_symbols(&mut environment);
        let known = &self.prepared.baseline.tests[test];
        let cpu = (cpu + CPU_FLOOR)
            .saturating_mul(self.longer)
            .min(self.most_time(test));
        let limits = Limits {
            cpu: Some(cpu),
            wall: self.timeout(test),
            ..known.limits(self.limits, cpu >= WORTH_A_PROOF).for_woven()
        };
        let started = Instant::now();
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            &self.suite.tests[test],
            &environment,
            &limits,
        )?;
        self.forked
            .fetch_add(u64::from(run.outcome.forked), Ordering::Relaxed);
        let verdict = match run.verdict {
            Verdict::Pass => ClassVerdict::Pass,
            Verdict::Fail(reason) => ClassVerdict::Fail(Some::<FailReason>(reason)),
        };
        Ok((verdict, [started.elapsed(), run.outcome.cpu]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizers_look_for_names_only_if_the_user_says_something_about_that() {
        let mut environment = Environment {
            clear: true,
            ..Environment::default()
        };
        let mut set = |name: &str, value: &str| environment.set.insert(name.into(), value.into());
        set("ASAN_OPTIONS", "detect_leaks=0");
        set("UBSAN_OPTIONS", "symbolize=1");
        without_symbols(&mut environment);
        let get = |name: &str| environment.set[OsStr::new(name)].to_str().unwrap();
        assert_eq!(get("ASAN_OPTIONS"), "detect_leaks=0:symbolize=0");
        assert_eq!(get("UBSAN_OPTIONS"), "symbolize=1");
        assert_eq!(get("MSAN_OPTIONS"), "symbolize=0");
    }
}
