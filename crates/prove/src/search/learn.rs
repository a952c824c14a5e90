//! Keeps inputs for which patches were wrong. Other patches are tried on them, and patches that fail
//! there are excluded.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_solve::{Answer, Node, Sort, Term};
use rustc_hash::FxHashMap;

use super::{Candidate, Search, bits, constant, truth};
use crate::{
    base::Base,
    trial::{Input, Trial},
};

/// Terms of a condition that is given to the solver of patches; larger ones give way to must location sets.
const LARGE: usize = 6_000;

/// Terms of all such conditions together.
const LARGE_TOGETHER: usize = 1_500_000;

impl Search<'_> {
    /// Learns from the input that the solver of the program has just found for a wrong patch.
    pub(super) fn learn(&mut self, wrong: &Candidate) {
        self.found.counts.inputs += 1;
        let mut input: FxHashMap<Term, Term> = FxHashMap::default();
        for &variable in &self.inputs {
            let value = match self.terms.sort(variable) {
                Sort::Bool => {
                    let truth = truth(&self.program.solver, self.terms, variable);
                    self.terms.truth(truth)
                }
                Sort::Bits(width) => {
                    let bits = bits(&self.program.solver, self.terms, variable);
                    self.terms.constant(width, bits)
                }
                Sort::Array { .. } => continue,
            };
            input.insert(variable, value);
        }
        if self.explicit {
            self.explicit = self.can_try(wrong, &input);
        }
        self.pending.push((wrong.clone(), input));
    }

    /// Keeps an input for which a patch is wrong, to try others on; whether it shows that without a solver.
    fn can_try(&mut self, wrong: &Candidate, input: &FxHashMap<Term, Term>) -> bool {
        let values = input.iter().filter_map(|(&variable, &value)| {
            let value = match self.terms.as_truth(value) {
                Some(truth) => u128::from(truth),
                None => self.terms.as_constant(value)?,
            };
            Some((variable, value))
        });
        let values: Input = values.collect();
        if self.is_small() {
            let mut base = Base::new(self.terms, &self.circuit, |variable| {
                let choice = self.choice_of.contains_key(&variable).then_some(0);
                choice.or_else(|| values.get(&variable).copied())
            });
            for &(site, which) in &self.chosen {
                base.put(self.terms, self.sites[site].choices[which]);
            }
            self.bases.push(base);
        }
        self.tried.push(values);
        self.hardest.insert(0, self.tried.len() - 1);
        let fails = self.left_to_constants(self.tried.len() - 1, &wrong.changes);
        let fails = self.with_constants(fails, &wrong.constants);
        self.terms.as_truth(fails) == Some(true)
    }

    /// Whether the question is small, so that all terms of each input are kept and a change costs only what it reaches. In a large question
    /// the program's own values are computed again instead.
    pub(crate) fn is_small(&self) -> bool {
        const SMALL: usize = 40_000;
        self.circuit.size() <= SMALL
    }

    /// Puts changes in place, for trials.
    pub(crate) fn put(&mut self, changes: &[(usize, usize)]) {
        for &(site, which) in changes {
            self.base.put(self.terms, self.sites[site].choices[which]);
        }
    }

    /// Takes the last changes back, as many as these.
    pub(crate) fn take_back(&mut self, changes: &[(usize, usize)]) {
        changes.iter().for_each(|_| self.base.take_back());
    }

    /// Returns a condition of the question with these changes in place. Its variables are the open constants, and without `input` the
    /// inputs too.
    pub(crate) fn left_open(
        &mut self,
        condition: Term,
        changes: &[(usize, usize)],
        input: Option<usize>,
    ) -> Term {
        self.put(changes);
        let input = input.map(|input| &self.tried[input]);
        let open = Trial::new(self.terms, &self.base, input).open(condition);
        self.take_back(changes);
        open.term(self.terms)
    }

    /// Returns a condition with these values of its constants.
    pub(super) fn with_constants(
        &mut self,
        condition: Term,
        constants: &BTreeMap<u32, i64>,
    ) -> Term {
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for (&number, &value) in constants {
            let variable = constant(self.terms, number);
            let value = self.terms.constant(64, u128::from(value as u64));
            values.insert(variable, value);
        }
        self.terms.substitute(condition, &values)
    }

    /// Tells the solver of patches what was learnt since the last call.
    pub(crate) fn tell_patches(&mut self) {
        for (wrong, input) in std::mem::take(&mut self.pending) {
            let folded = self.terms.substitute(self.bad(), &input);
            let size = self.terms.size(folded);
            let closed = self.is_of_choices(folded);
            if closed && size <= LARGE && self.given + size <= LARGE_TOGETHER {
                self.given += size;
                self.found.counts.by_condition += 1;
                let fine = self.terms.not(folded);
                self.patches[usize::from(self.second)].assert(self.terms, fine);
                continue;
            }
            self.found.counts.by_must_set += 1;
            self.exclude_must_set(&wrong, folded);
            if !wrong.constants.is_empty() && closed {
                self.learn_of_constants(&wrong, folded);
            }
        }
    }

    /// Nothing but choices and open constants is left to decide a condition.
    fn is_of_choices(&self, folded: Term) -> bool {
        let inputs: BTreeSet<Term> = self.inputs.iter().copied().collect();
        let mut left = self.terms.within(&[folded]).into_iter();
        !left.any(|term| match self.terms.node(term) {
            Node::Variable(_) => inputs.contains(&term),
            // Of what a function gives that nobody knows nothing can be learnt.
            Node::Apply(..) => true,
            _ => false,
        })
    }

    /// With these changes, what the input says of their constants.
    fn learn_of_constants(&mut self, wrong: &Candidate, folded: Term) {
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for (&choice, at) in &self.choice_of {
            values.insert(choice, self.terms.truth(wrong.changes.contains(at)));
        }
        let folded = self.terms.substitute(folded, &values);
        let exactly = self.exactly(&wrong.changes);
        let exactly = self.terms.and_all(exactly);
        let wrong = self.terms.and(exactly, folded);
        let fine = self.terms.not(wrong);
        self.patches[usize::from(self.second)].assert(self.terms, fine);
    }

    /// Excludes all patches that agree with a wrong one in what makes it fail for an input; `folded` is what fails for it.
    fn exclude_must_set(&mut self, wrong: &Candidate, folded: Term) {
        let exactly = self.exactly(&wrong.changes);
        let constants = self.fixed(&wrong.constants);
        let own: Vec<Term> = exactly.iter().chain(&constants).copied().collect();
        let fine = self.terms.not(folded);
        let must = match self.excluded(fine, &own) {
            Some(core) => self.smaller(fine, core),
            None => own,
        };
        let must = self.terms.and_all(must);
        let other = self.terms.not(must);
        self.patches[usize::from(self.second)].assert(self.terms, other);
    }

    /// Those of `own` that are impossible together with `fine`, if they are.
    fn excluded(&mut self, fine: Term, own: &[Term]) -> Option<Vec<Term>> {
        let assumed: Vec<Term> = std::iter::once(fine).chain(own.iter().copied()).collect();
        self.found.counts.questions += 1;
        if self.cores.check(self.terms, &assumed, &self.budget()) != Answer::Unsatisfiable {
            return None;
        }
        let core = self.cores.core();
        Some(
            own.iter()
                .copied()
                .filter(|term| core.contains(term))
                .collect(),
        )
    }

    /// Drops what is not needed to exclude what is fixed.
    fn smaller(&mut self, fine: Term, core: Vec<Term>) -> Vec<Term> {
        let mut open = core;
        let mut kept: Vec<Term> = Vec::new();
        while let Some(candidate) = open.pop() {
            let rest: Vec<Term> = open.iter().chain(&kept).copied().collect();
            match self.excluded(fine, &rest) {
                Some(less) => {
                    open.retain(|term| less.contains(term));
                    kept.retain(|term| less.contains(term));
                }
                None => kept.push(candidate),
            }
        }
        kept
    }
}
