//! Adds the results of executions to states, windows and classes.

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;

use crate::{
    RepairError,
    run::{Report, Run},
    search::Search,
};

/// States and classes take about this much memory at most. What is executed beyond is known by itself only.
const MOST_BYTES: usize = 400 << 20;

/// The largest number of states that are kept of an execution which went on unobserved.
const MOST_BEGINNING: usize = 4096;

/// The result of an execution, as far as it teaches something about candidates.
pub(crate) enum Learnt {
    /// A class.
    Class,
    /// What the test says about this candidate, and what it did at first, by which others part from it.
    Beginning,
    /// The same, but it was ended: nothing is known of the candidate.
    Ended,
    /// Only what the test says about this candidate.
    Nothing,
    /// The family starts again.
    StartAgain,
}

impl Search<'_> {
    /// Runs the original program and watches the places of a variable.
    pub(crate) fn watch_original(
        &mut self,
        family: usize,
        test: usize,
        worker: &mut (Worker, Channel),
    ) -> Result<(), RepairError> {
        self.found.stats.executions += 1;
        let run = self.run_watched(family, None, test, worker)?;
        let known = &self.prepared.baseline.tests[test];
        let same = run.verdict.is_pass() == known.verdict.is_pass();
        let Report::Windows(watched) = &run.report else {
            return Ok(());
        };
        if watched.reentered && self.families[family].restart_with_calls() {
            return Ok(());
        }
        if !same || !watched.is_complete() {
            self.families[family].abandoned = true;
            return Ok(());
        }
        let first = self.families[family]
            .watch
            .as_ref()
            .map_or(0, |w| w.units[0]);
        let before = self.families[family].bytes(first, &self.states);
        let all = (&self.units[..], &mut self.states[..], self.holes);
        self.families[family].add_windows(watched, test, run.verdict, None, all);
        let after = self.families[family].bytes(first, &self.states);
        self.bytes = (self.bytes + after).saturating_sub(before);
        if let Some(watch) = &mut self.families[family].watch {
            watch.observed.insert(test, run.cpu);
        }
        Ok(())
    }

    /// Adds the class of an execution.
    pub(crate) fn learn(&mut self, unit: usize, test: usize, run: Run) -> Learnt {
        if self.bytes > MOST_BYTES {
            return match &run.report {
                Report::States(observation) if observation.ended => Learnt::Ended,
                _ => Learnt::Nothing,
            };
        }
        let family = self.units[unit].family;
        let before = self.families[family].bytes(unit, &self.states);
        let learnt = self.learn_with_room(unit, test, run);
        let after = self.families[family].bytes(unit, &self.states);
        self.bytes = (self.bytes + after).saturating_sub(before);
        learnt
    }

    fn learn_with_room(&mut self, unit: usize, test: usize, run: Run) -> Learnt {
        let family = self.units[unit].family;
        match run.report {
            Report::States(observation) => {
                self.families[family].length.add(&run.verdict, &observation);
                let ended = observation.ended;
                let unseen = observation.overflow || ended;
                let nothing = if ended {
                    Learnt::Ended
                } else {
                    Learnt::Nothing
                };
                if observation.mismatch || observation.states.is_empty() {
                    return nothing;
                }
                let known = &mut self.states[unit].states;
                let most = if unseen { MOST_BEGINNING } else { usize::MAX };
                let states: Vec<(u32, Option<u64>)> = (0..observation.states.len().min(most))
                    .map(|i| {
                        let (id, _) = known.insert(
                            observation.states.values(i),
                            observation.states.undefined(i),
                        );
                        (id, observation.states.results()[i])
                    })
                    .collect();
                let classes = self.families[family].classes.entry(test).or_default();
                if unseen {
                    return match (classes.insert_beginning(&states, ended), ended) {
                        (_, true) => Learnt::Ended,
                        (true, false) => Learnt::Beginning,
                        (false, false) => Learnt::Nothing,
                    };
                }
                classes.insert(states, run.verdict);
            }
            Report::Windows(watched) => {
                if watched.reentered && self.families[family].restart_with_calls() {
                    return Learnt::StartAgain;
                }
                if !watched.is_complete() {
                    return Learnt::Nothing;
                }
                let all = (&self.units[..], &mut self.states[..], self.holes);
                self.families[family].add_windows(&watched, test, run.verdict, Some(unit), all);
            }
        }
        Learnt::Class
    }
}
