//! Patches that are settled before they are woven: their first test fails, and does not reach them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use patchwright_exec::Worker;

use super::Engine;
use crate::leftovers::Leftovers;
use crate::marks::marked;
use crate::rounds::{Rounds, lock};
use crate::state::Maker;
use crate::{Behaviour, EngineError, Event};

/// Fewer patches are woven faster than a program with marks is built.
const FEWEST: usize = 200;

impl Engine<'_> {
    /// Tells of the members of the plan that do not matter in the first of these tests, if the untouched program fails it; the
    /// others come back. Marks take one build, of a text that hardly grows; alternatives are compiled.
    ///
    /// # Errors
    /// As for [`Engine::run`].
    pub(super) fn settle_unreached(
        &mut self,
        base: &mut Worker,
        members: Vec<usize>,
        tests: &[usize],
        sink: &mut dyn FnMut(Event),
    ) -> Result<Vec<usize>, EngineError> {
        let failing = tests.first().copied().filter(|test| {
            let known = &self.context.baseline.tests[*test];
            !known.verdict.is_pass()
        });
        let Some(test) = failing.filter(|_| members.len() >= FEWEST && !self.options.keep_going)
        else {
            return Ok(members);
        };
        let Some(batch) = marked(&self.plan, &members, &self.unobserved) else {
            return Ok(members);
        };
        sink(Event::Phase("finding out which patches matter"));
        let mut worker = self
            .context
            .worker(0, "patches-marked", base.sandbox.folder())?;
        let built = self.build(&mut worker, &batch)?;
        let built = match built {
            Ok(executed) => executed,
            Err(error) => {
                tracing::info!("marked build: {error}");
                worker.sandbox.remove()?;
                return Ok(members);
            }
        };
        let pristine = worker.sandbox.folder().to_path_buf();
        let maker = Maker::new(
            &self.context,
            batch.table.clone(),
            "patches-marked".into(),
            false,
        );
        let mut round_worker = maker.make(0, &pristine)?;
        let suite = self.context.project.tests.as_ref();
        let suite = suite.ok_or(EngineError::NoTests)?;
        let known = &self.context.baseline.tests[test];
        let limits = known.limits(&self.context.project.limits, self.options.prove_endless);
        let stats = Mutex::new(std::mem::take(&mut self.stats));
        let nothing = Mutex::new(Leftovers::default());
        let visits = Rounds {
            test: &suite.tests[test],
            environment: &suite.environment,
            limits: &limits.for_woven(),
            expected: known.processor_time(),
            passes: false,
            probe: &self.probe,
            unobserved: &self.unobserved,
            pristine: &pristine,
            maker: &maker,
            leftovers: Some(&nothing).filter(|_| self.context.leaves),
            keep_going: false,
            dedup: false,
            virtualize: self.options.virtualize,
            undefined: &BTreeSet::new(),
            doubtful: &BTreeSet::new(),
        }
        .visits(&mut round_worker, &stats);
        self.stats = std::mem::take(&mut *lock(&stats));
        round_worker.worker.sandbox.remove()?;
        worker.sandbox.remove()?;
        let Some(visits) = visits? else {
            return Ok(members);
        };
        let behaviour = Behaviour {
            outcome: self.outcomes.number(test, visits.outcome),
            as_original: true,
        };
        let mut reached = Vec::new();
        self.stats.classes += 1;
        for (number, member) in (0..).zip(members) {
            let is_reached = visits.patches.binary_search(&number).is_ok();
            if is_reached || built.contains(&number) {
                reached.push(member);
                continue;
            }
            sink(Event::Verdict {
                patch: self.plan.patches[member].patch,
                test,
                verdict: visits.verdict.clone(),
                behaviour,
            });
        }
        Ok(reached)
    }
}
