//! Enumerates patches that can be right for the known inputs, and asks about each.
//!
//! A patch is built change by change. While it fails for a known input, one of the choices that decide this failure must be
//! changed, too: they are a must set. Only those are tried next. When a patch is right for all known inputs, the solver is asked
//! about all inputs. Trying a patch on an input re-evaluates only the terms that the change reaches.

use std::collections::BTreeMap;

use patchwright_solve::{Answer, Term};

use crate::{
    base::Base,
    question::{Open, Repair},
    search::{Candidate, Judgement, Search, between, bits, constant},
    trial::Trial,
};

impl Search<'_> {
    /// Tries all patches of so many changes, of which only the last one leaves a constant open.
    /// [`Judgement::Wrong`] says that an input turned up on which patches cannot be tried.
    pub(crate) fn try_all(&mut self, changes: usize, tell: &mut dyn FnMut(&Repair)) -> Judgement {
        if self.tried.is_empty() {
            // What is wrong with the program as it is.
            let none = Candidate {
                changes: Vec::new(),
                constants: BTreeMap::new(),
            };
            let _ = self.verdict(&none, None);
        }
        let judgement = self.extend(changes, tell);
        while self.chosen.pop().is_some() {
            self.bases.iter_mut().for_each(Base::take_back);
        }
        judgement
    }

    fn extend(&mut self, changes: usize, tell: &mut dyn FnMut(&Repair)) -> Judgement {
        let last = self.chosen.len() + 1 == changes;
        for next in self.next_changes() {
            if !self.explicit {
                return Judgement::Wrong;
            }
            if self.is_over() {
                return Judgement::Interrupted;
            }
            if self.leaves_rest() {
                return Judgement::Done;
            }
            let mut all = self.chosen.clone();
            all.push(next);
            all.sort_unstable();
            if self.is_blocked(&all) {
                continue;
            }
            let (site, which) = next;
            let judgement = if last {
                self.decide(next, &all, tell)
            } else if self.sites[site].open[which].is_none() {
                let choice = self.sites[site].choices[which];
                self.chosen.push(next);
                for base in &mut self.bases {
                    base.put(self.terms, choice);
                }
                let judgement = self.extend(changes, tell);
                if judgement == Judgement::Done {
                    self.chosen.pop();
                    self.bases.iter_mut().for_each(Base::take_back);
                }
                judgement
            } else {
                Judgement::Done
            };
            if judgement != Judgement::Done {
                return judgement;
            }
        }
        match self.explicit {
            true => Judgement::Done,
            false => Judgement::Wrong,
        }
    }

    /// The alternatives one of which has to be taken next.
    fn next_changes(&mut self) -> Vec<(usize, usize)> {
        const LOOKS: usize = 8;
        let chosen = self.chosen.clone();
        self.put(&chosen);
        let mut looked_at = 0;
        let mut least: Option<Vec<(usize, usize)>> = None;
        for &input in &self.hardest {
            let base = self.bases.get(input).unwrap_or(&self.base);
            let mut trial = Trial::new(self.terms, base, Some(&self.tried[input]));
            if trial.holds(self.bad()) != Some(true) {
                continue;
            }
            looked_at += 1;
            if looked_at > LOOKS {
                break;
            }
            let deciding = trial.deciding(self.bad());
            let choices = deciding.iter().filter_map(|term| self.choice_of.get(term));
            let free: Vec<(usize, usize)> = choices
                .copied()
                .filter(|(site, _)| self.chosen.iter().all(|(other, _)| other != site))
                .collect();
            if least.as_ref().is_none_or(|least| free.len() < least.len()) {
                least = Some(free);
            }
        }
        self.take_back(&chosen);
        let mut next = least.unwrap_or_else(|| {
            let sites = self.sites.iter().enumerate();
            sites
                .flat_map(|(site, one)| (0..one.choices.len()).map(move |which| (site, which)))
                .filter(|(site, _)| self.chosen.iter().all(|(other, _)| other != site))
                .collect()
        });
        // What says what it is comes before what leaves a constant open: `at >= SIZE` before `5 > SIZE`, of which one is listed first.
        next.sort_unstable_by_key(|&(site, which)| {
            (self.sites[site].open[which].is_some(), site, which)
        });
        next
    }

    /// Decides the patch `all`, which is what is in place and one more change.
    fn decide(
        &mut self,
        next: (usize, usize),
        all: &[(usize, usize)],
        tell: &mut dyn FnMut(&Repair),
    ) -> Judgement {
        loop {
            if self.judged.contains(all) || !self.may_be_right(next, all) {
                return Judgement::Done;
            }
            let constants = match self.sites[next.0].open[next.1] {
                None => BTreeMap::new(),
                Some(_) => match self.constants(all, &[]) {
                    Ok(Some(constants)) => constants,
                    Ok(None) => return Judgement::Done,
                    Err(()) => {
                        let named = self.named(all);
                        self.found.open.push((named, Open::Effort));
                        return Judgement::Done;
                    }
                },
            };
            let candidate = Candidate {
                changes: all.to_vec(),
                constants,
            };
            let before = self.blocked.len();
            match self.judge(&candidate, tell) {
                Judgement::Interrupted => return Judgement::Interrupted,
                Judgement::Wrong if !self.explicit => return Judgement::Wrong,
                Judgement::Wrong => {}
                // Other values of its constants may be better.
                Judgement::Done if self.blocked.len() == before => {
                    if candidate.constants.is_empty() {
                        return Judgement::Done;
                    }
                }
                Judgement::Done => return Judgement::Done,
            }
            if self.is_over() {
                return Judgement::Interrupted;
            }
        }
    }

    /// Whether no known input shows that a patch is wrong, which is what is in place and one more change.
    fn may_be_right(&mut self, next: (usize, usize), changes: &[(usize, usize)]) -> bool {
        let bad = self.bad();
        let shown = if self.is_small() {
            let choice = self.sites[next.0].choices[next.1];
            self.hardest.iter().position(|&input| {
                let base = &mut self.bases[input];
                base.put(self.terms, choice);
                let fails = base.value(bad);
                base.take_back();
                fails == Some(1)
            })
        } else {
            self.put(changes);
            let shown = self.hardest.iter().position(|&input| {
                let mut trial = Trial::new(self.terms, &self.base, Some(&self.tried[input]));
                trial.holds(bad) == Some(true)
            });
            self.take_back(changes);
            shown
        };
        if let Some(rank) = shown {
            self.hardest[..=rank].rotate_right(1);
        }
        shown.is_none()
    }

    /// Returns the condition on the open constants of these changes under which the program fails for an input.
    pub(crate) fn left_to_constants(&mut self, input: usize, changes: &[(usize, usize)]) -> Term {
        self.left_open(self.bad(), changes, Some(input))
    }

    /// Finds values of a patch's open constants that no known input excludes and that satisfy `also`. Values near those in the source come
    /// first.
    pub(crate) fn constants(
        &mut self,
        changes: &[(usize, usize)],
        also: &[Term],
    ) -> Result<Option<BTreeMap<u32, i64>>, ()> {
        if self.said.0 != changes {
            self.said = (changes.to_vec(), Vec::new());
        }
        while self.said.1.len() < self.tried.len() {
            let fails = self.left_to_constants(self.said.1.len(), changes);
            if self.terms.as_truth(fails) == Some(true) {
                return Ok(None);
            }
            let fine = self.terms.not(fails);
            self.said.1.push(fine);
        }
        let mut fine = self.said.1.clone();
        fine.extend_from_slice(also);
        for refused in self.refused.get(changes).cloned().unwrap_or_default() {
            fine.push(self.terms.not(refused));
        }
        let all = self.terms.and_all(fine);
        if self.terms.as_truth(all) == Some(false) {
            return Ok(None);
        }
        let numbers: Vec<u32> = changes
            .iter()
            .filter_map(|&(site, which)| self.sites[site].open[which])
            .collect();
        for window in [16, 4096, i64::MAX] {
            let mut asked = vec![all];
            for number in &numbers {
                let bounds = self.question.constants.get(number).copied();
                let (low, high) = bounds.unwrap_or((i64::MIN, i64::MAX));
                let near = self.question.near.get(number).copied().unwrap_or(0);
                let low = low.max(near.saturating_sub(window));
                let high = high.min(near.saturating_add(window));
                let variable = constant(self.terms, *number);
                asked.push(between(self.terms, variable, low, high));
            }
            self.found.counts.questions += 1;
            let budget = self.budget();
            match self.cores.check(self.terms, &asked, &budget) {
                Answer::Unsatisfiable => {}
                Answer::Unknown => return Err(()),
                Answer::Satisfiable => {
                    let mut values = BTreeMap::new();
                    for number in numbers {
                        let variable = constant(self.terms, number);
                        let value = bits(&self.cores, self.terms, variable) as u64 as i64;
                        values.insert(number, value);
                    }
                    return Ok(Some(values));
                }
            }
        }
        Ok(None)
    }
}
