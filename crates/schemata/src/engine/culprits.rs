//! Finds patches whose weaving changes the behaviour of the program.
//!
//! With nothing selected a woven program does what the untouched one does. Where it does not in some test, something was woven that
//! should not have been, and nothing can be said of any of its patches. So it is found by halves and left out, and the others are woven
//! once more.

use std::collections::BTreeSet;
use std::sync::Mutex;

use patchwright_exec::Worker;

use super::{Engine, Tried};
use crate::batch::{Batched, Batcher};
use crate::rounds::{Rounds, lock};
use crate::state::Maker;
use crate::{EngineError, Event};

/// Fewer patches are built by themselves in the time that a search takes.
const FEWEST: usize = 5;

/// The largest number of programs that are woven and built to find the culprits. Patches that are not cleared by then count as culprits.
const MOST_BUILDS: usize = 24;

impl Engine<'_> {
    /// Those of these members of the plan that, woven, make the program do something else in a test. None if they are not to be told
    /// from the others: because the test looks at the program itself, or only some together make a difference.
    ///
    /// # Errors
    /// As for [`Engine::run`].
    pub(super) fn culprits(
        &mut self,
        base: &mut Worker,
        members: &[usize],
        test: usize,
        tried: &mut Tried,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Vec<usize>, EngineError> {
        if members.len() < FEWEST {
            return Ok(Vec::new());
        }
        sink(Event::Phase("finding out what changes the woven program"));
        let mut members = members.to_vec();
        // What is woven into one place comes together.
        members.sort_by_key(|member| self.scope(self.plan.patches[*member].patch));
        let ends = [&members[..1], &members[members.len() - 1..]];
        let mut builds = ends.len();
        if self.changes(base, ends[0], test, tried)? && self.changes(base, ends[1], test, tried)? {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        // Parts, and whether it is known that they make a difference.
        let mut open: Vec<(&[usize], bool)> = vec![(&members, true)];
        while let Some((part, is_known)) = open.pop() {
            if !is_known {
                builds += 1;
                let differs = builds > MOST_BUILDS || self.changes(base, part, test, tried)?;
                if !differs {
                    continue;
                }
            }
            if part.len() == 1 || builds > MOST_BUILDS {
                found.extend_from_slice(part);
                continue;
            }
            let (low, high) = part.split_at(part.len() / 2);
            open.extend([(high, false), (low, false)]);
        }
        if found.len() == members.len() {
            found.clear();
        }
        Ok(found)
    }

    /// Whether a program into which these are woven does something else in a test than the untouched one.
    fn changes(
        &mut self,
        base: &mut Worker,
        members: &[usize],
        test: usize,
        tried: &mut Tried,
    ) -> Result<bool, EngineError> {
        let Batched { batch, .. } = Batcher {
            worker: base,
            clang: &self.clang,
            plan: &self.plan,
            stats: &mut self.stats,
            dedup: self.options.dedup,
            unobserved: &self.unobserved,
            checked: false,
            widths: &mut tried.widths,
            trials: &mut tried.trials,
        }
        .batch(members)?;
        if batch.members.is_empty() {
            return Ok(true);
        }
        let folder = base.sandbox.folder();
        let mut worker = self.context.worker(0, "patches-culprits", folder)?;
        if self.build(&mut worker, &batch)?.is_err() {
            worker.sandbox.remove()?;
            return Ok(true);
        }
        let context = self.context.clone();
        let pristine = worker.sandbox.folder().to_path_buf();
        let table = batch.table.clone();
        let maker = Maker::new(&context, table, "patches-culprits".into(), false);
        let mut round_worker = maker.make(0, &pristine)?;
        let suite = context.project.tests.as_ref();
        let suite = suite.ok_or(EngineError::NoTests)?;
        let known = &context.baseline.tests[test];
        let limits = known.limits(&context.project.limits, self.options.prove_endless);
        let stats = Mutex::new(std::mem::take(&mut self.stats));
        let live: Vec<u32> = (0..batch.members.len() as u32).collect();
        let same = Rounds {
            test: &suite.tests[test],
            environment: &suite.environment,
            limits: &limits.for_woven(),
            expected: known.processor_time(),
            passes: known.verdict.is_pass(),
            probe: &self.probe,
            unobserved: &self.unobserved,
            pristine: &pristine,
            maker: &maker,
            leftovers: None,
            keep_going: false,
            dedup: self.options.dedup,
            virtualize: self.options.virtualize,
            undefined: &BTreeSet::new(),
            doubtful: &BTreeSet::new(),
        }
        .does_the_same(&mut round_worker, &live, &stats);
        self.stats = std::mem::take(&mut *lock(&stats));
        round_worker.worker.sandbox.remove()?;
        worker.sandbox.remove()?;
        Ok(!same?)
    }
}
