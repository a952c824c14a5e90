//! Executes candidates one by one (f1x, algorithm 2), or by the dependency relation alone.

use std::collections::VecDeque;

use patchwright_exec::Worker;
use patchwright_probe_image::Channel;
use patchwright_semantics::Instruction;
use patchwright_space::{CandidateId, HoleKind, Space, term};

use crate::{
    RepairError,
    classes::ClassVerdict,
    family::Unit,
    found::{Explored, ExploredCandidate, FoundClass},
    learn::Learnt,
    run::{Report, Run},
    search::Search,
};

/// A candidate on its way through the tests.
struct Single {
    id: CandidateId,
    code: Vec<Instruction>,
    /// What it assigns, where candidates with the same text share classes.
    text: Option<Vec<u8>>,
    /// Tests that it has passed.
    passed: usize,
}

impl Search<'_> {
    /// Explores candidates of one cost of a unit one by one. Returns how many are left when the search is over.
    pub(crate) fn explore_singly(
        &mut self,
        unit: usize,
        space: &Space,
        candidates: Vec<CandidateId>,
        cost: u32,
        tests: &[usize],
        workers: &mut [(Worker, Channel)],
    ) -> Result<usize, RepairError> {
        let mut left = candidates.into_iter();
        let mut open = VecDeque::new();
        while !self.is_over() && !self.declarations_are_due() {
            // Their code would take much memory all at once.
            while open.len() < workers.len()
                && let Some(id) = left.next()
            {
                open.extend(self.single(unit, space, id));
            }
            if open.is_empty() {
                break;
            }
            self.tell_progress(cost);
            let mut batch: Vec<Single> = Vec::new();
            while batch.len() < workers.len()
                && let Some(mut single) = open.pop_front()
            {
                if self.joins_terms(unit) && !self.watch_all(unit, tests, workers)? {
                    self.found.stats.too_many_states += (open.len() + left.len()) as u64 + 1;
                    return Ok(0);
                }
                match self.known(unit, &mut single, tests) {
                    Some(verdict) => self.decide(unit, space, cost, &single, verdict),
                    None => batch.push(single),
                }
            }
            let runs = {
                let jobs: Vec<(&[Instruction], usize)> = batch
                    .iter()
                    .map(|single| (&single.code[..], tests[single.passed]))
                    .collect();
                self.execute(unit, &jobs, workers)?
            };
            // Those that come first in the space are decided first.
            for (mut single, run) in batch.into_iter().zip(runs).rev() {
                let test = tests[single.passed];
                let verdict = run.verdict.clone();
                self.note_ran_out((unit, cost), single.id, test, &run);
                if !verdict.is_pass() {
                    *self.kills.entry(test).or_default() += 1;
                }
                if self.starts_again(unit, &single, test, run) {
                    open.push_front(single);
                } else if verdict.is_pass() {
                    single.passed += 1;
                    open.push_front(single);
                } else {
                    self.decide(unit, space, cost, &single, verdict);
                }
            }
        }
        Ok(open.len() + left.len())
    }

    /// Whether candidates of the unit with the same text share classes.
    fn joins_terms(&self, unit: usize) -> bool {
        let entry = &self.holes[self.units[unit].entry];
        let relations = self.options.relations;
        relations.is_singly() && relations.has_classes(&entry.hole.kind)
    }

    /// A candidate, if it is in the sample and C permits it.
    fn single(&self, unit: usize, space: &Space, id: CandidateId) -> Option<Single> {
        let Unit { entry, family, .. } = self.units[unit];
        let file = &self.files[self.holes[entry].file];
        let pointees = file.types.pointees();
        let sample = self.options.sample;
        let (text, is_wanted) = match self.joins_terms(unit) {
            true => {
                let text = assigned_text(space, id, pointees)?;
                let is_wanted = sample.is_none_or(|sample| sample.contains(&(family, &text)));
                (Some(text), is_wanted)
            }
            false => {
                let place = (unit, id.block, id.lane);
                (None, sample.is_none_or(|sample| sample.contains(&place)))
            }
        };
        let code = is_wanted.then(|| space.code(id, pointees))??;
        Some(Single {
            id,
            code,
            text,
            passed: 0,
        })
    }

    /// Watches the original program in all tests, where places are joined. False if that tells nothing.
    fn watch_all(
        &mut self,
        unit: usize,
        tests: &[usize],
        workers: &mut [(Worker, Channel)],
    ) -> Result<bool, RepairError> {
        let family = self.units[unit].family;
        for &test in tests {
            while self.must_watch(family, test) && !self.families[family].abandoned {
                self.watch_original(family, test, &mut workers[0])?;
            }
        }
        Ok(!self.families[family].abandoned)
    }

    /// The verdict on a candidate, as far as tests or classes have told; skips tests that are known to pass.
    fn known(&mut self, unit: usize, single: &mut Single, tests: &[usize]) -> Option<ClassVerdict> {
        let family = self.units[unit].family;
        while let Some(test) = tests.get(single.passed) {
            let text = single.text.clone()?;
            let classes = self.of_term.get(&(family, text))?;
            let states = &self.states[unit].states;
            match self.families[family].lookup(classes, *test, unit, states, &single.code)? {
                ClassVerdict::Pass => single.passed += 1,
                verdict => return Some(verdict.clone()),
            }
        }
        Some(ClassVerdict::Pass)
    }

    /// Adds the class of an execution, where terms have classes; whether it has to be done again.
    fn starts_again(&mut self, unit: usize, single: &Single, test: usize, run: Run) -> bool {
        let family = self.units[unit].family;
        let Some(text) = single.text.clone() else {
            return matches!(&run.report, Report::Windows(watched) if watched.reentered)
                && self.families[family].restart_with_calls();
        };
        let own = self.of_term.entry((family, text.clone())).or_default();
        std::mem::swap(own, &mut self.families[family].classes);
        let learnt = self.learn(unit, test, run);
        let again = matches!(learnt, Learnt::StartAgain);
        if again {
            self.of_term.retain(|(of, _), _| *of != family);
            self.families[family].classes.clear();
        } else if let Some(own) = self.of_term.get_mut(&(family, text)) {
            std::mem::swap(own, &mut self.families[family].classes);
        }
        again
    }

    /// Counts and keeps the verdict on a candidate.
    fn decide(
        &mut self,
        unit: usize,
        space: &Space,
        cost: u32,
        single: &Single,
        verdict: ClassVerdict,
    ) {
        let number = self.units[unit].entry;
        let entry = &self.holes[number];
        let file = &self.files[entry.file];
        let pointees = file.types.pointees();
        let edit = space.edit(single.id, &file.unit.source, pointees);
        let stats = &mut self.found.stats;
        stats.explored += 1;
        stats.undefined += u64::from(verdict == ClassVerdict::Undefined);
        if let Some(edit) = &edit
            && self.options.keep_verdicts
        {
            self.found.verdicts.push(Explored {
                entry: number,
                cost,
                verdict: verdict.clone(),
                candidates: vec![ExploredCandidate {
                    edit: edit.clone(),
                    reads_unbounded: space.reads_unbounded(single.id, pointees),
                }],
            });
        }
        if verdict.is_pass() {
            self.found.stats.plausible += 1;
            let schema = space.blocks[single.id.block as usize].schema;
            self.keep_plausible(FoundClass {
                entry: number,
                cost,
                count: 1,
                members: edit.map(|edit| (edit, schema)).into_iter().collect(),
                shared: None,
                is_local: true,
                is_never: false,
                header: None,
            });
        }
    }
}

/// What a candidate assigns to what.
fn assigned_text(space: &Space, id: CandidateId, pointees: &term::Pointees) -> Option<Vec<u8>> {
    let HoleKind::Assignment(at) = &space.hole.kind else {
        return None;
    };
    let term = space.filling(id, pointees)?;
    let term = term.display(&space.hole.atoms.table, pointees);
    Some(format!("{} = {term}", at.target()?.lvalue).into_bytes())
}
