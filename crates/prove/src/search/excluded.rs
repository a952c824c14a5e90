//! What the search leaves out: patches that are known, and what behaves like them.

use std::collections::BTreeMap;

use patchwright_solve::{Answer, Budget, Term};

use super::{Candidate, Search};
use crate::question::{Open, Repair};

impl<'a> Search<'a> {
    /// Excludes patches from both turns.
    fn exclude(&mut self, other: Term) {
        for patches in &mut self.patches {
            patches.assert(self.terms, other);
        }
    }

    /// A patch is not decided, and not asked about again; neither are others of its constants.
    pub(super) fn leave_open(&mut self, candidate: &Candidate, why: Open) {
        /// Patches that are not decided are looked at one by one in the second turn, so many at most.
        const MOST: usize = 200;
        let changes = self.named(&candidate.changes);
        self.found.open.push((changes, why));
        self.found.more_open |= self.second && self.found.open.len() >= MOST;
        let any = Candidate {
            changes: candidate.changes.clone(),
            constants: BTreeMap::new(),
        };
        self.exclude_exactly(&any);
        // Whatever contains it is open for the same reason most of the time: only the first turn looks at that.
        let with_more = self.contained(&candidate.changes);
        let other = self.terms.not(with_more);
        self.patches[1].assert(self.terms, other);
        self.left_open.push(candidate.changes.clone());
    }

    /// These changes are made, and perhaps others.
    fn contained(&mut self, changes: &[(usize, usize)]) -> Term {
        let chosen = changes.iter();
        let chosen: Vec<Term> = chosen
            .map(|&(site, which)| self.sites[site].choices[which])
            .collect();
        self.terms.and_all(chosen)
    }

    /// Whether a patch contains one of the sets of changes that are excluded with all their supersets.
    pub(crate) fn is_blocked(&self, patch: &[(usize, usize)]) -> bool {
        let contains = |less: &Vec<(usize, usize)>| less.iter().all(|one| patch.contains(one));
        self.blocked.iter().any(contains) || self.second && self.left_open.iter().any(contains)
    }

    /// Returns the conditions on the choices under which exactly these changes are made.
    pub(super) fn exactly(&mut self, changes: &[(usize, usize)]) -> Vec<Term> {
        let mut all = Vec::new();
        for (position, site) in self.sites.iter().enumerate() {
            let chosen = changes.iter().find(|&&(site, _)| site == position);
            match chosen {
                None => all.push(self.terms.not(site.changed)),
                Some(&(_, which)) => {
                    for (other, &choice) in site.choices.iter().enumerate() {
                        all.push(match other == which {
                            true => choice,
                            false => self.terms.not(choice),
                        });
                    }
                }
            }
        }
        all
    }

    fn exclude_exactly(&mut self, candidate: &Candidate) {
        let mut all = self.exactly(&candidate.changes);
        let fixed = self.fixed(&candidate.constants);
        match fixed.is_empty() {
            true => {
                self.judged.insert(candidate.changes.clone());
            }
            false => {
                let values = self.terms.and_all(fixed.iter().copied());
                let refused = self.refused.entry(candidate.changes.clone()).or_default();
                refused.push(values);
            }
        }
        all.extend(fixed);
        let all = self.terms.and_all(all);
        let other = self.terms.not(all);
        self.exclude(other);
    }

    /// Excludes a patch that is no repair. If it leaves constants open, only some values are tried.
    pub(super) fn exclude_value(&mut self, candidate: &Candidate, why: Open) {
        const TRIES: usize = 20;
        let changes = self.named(&candidate.changes);
        let tries = self.tries.entry(changes).or_default();
        *tries += 1;
        if candidate.constants.is_empty() || *tries < TRIES {
            return self.exclude_exactly(candidate);
        }
        self.leave_open(candidate, why);
    }

    /// Excludes all patches that contain these changes, because these alone repair.
    pub(super) fn exclude_with_more(&mut self, changes: &[(usize, usize)]) {
        self.found.counts.by_repair += 1;
        self.blocked.push(changes.to_vec());
        let contained = self.contained(changes);
        let other = self.terms.not(contained);
        self.exclude(other);
    }

    /// Returns an earlier repair that does the same for all inputs, if one is known.
    pub(super) fn same_as(&mut self, own: &[(Term, Term)]) -> Option<usize> {
        if self.question.seen.is_empty() {
            return None;
        }
        // That two repairs do the same is worth knowing, but not any price.
        const MOST_CONFLICTS: u64 = 10_000;
        let budget = Budget {
            conflicts: Some(
                self.extent
                    .conflicts
                    .unwrap_or(MOST_CONFLICTS)
                    .min(MOST_CONFLICTS),
            ),
            interrupt: Some(self.interrupt),
        };
        for position in 0..self.found.repairs.len() {
            if self.found.repairs[position].same_as.is_some() {
                continue;
            }
            let other = self.behaviours[position].clone();
            let mut differs = Vec::new();
            for (&(here, a), &(there, b)) in own.iter().zip(&other) {
                let condition = self.terms.xor(here, there);
                let values = self.terms.ne(a, b);
                let both = self.terms.and(here, values);
                differs.push(self.terms.or(condition, both));
            }
            let differs = self.terms.or_all(differs);
            self.found.counts.questions += 1;
            let answer = self.program.check(self.terms, differs, &budget);
            if answer == Answer::Unsatisfiable {
                return Some(position);
            }
        }
        None
    }

    /// Returns the observable behaviour of a repaired program.
    pub(super) fn behaviour(&mut self, repair: &Repair) -> Vec<(Term, Term)> {
        let changes: Vec<(usize, usize)> = repair
            .changes
            .iter()
            .filter_map(|&(number, which)| {
                let site = self.sites.iter().position(|one| one.number == number)?;
                Some((site, which as usize - 1))
            })
            .collect();
        let question = self.question;
        let seen = question.seen.iter();
        seen.map(|&(here, value)| {
            let here = self.in_place(here, &changes, &repair.constants);
            (here, self.in_place(value, &changes, &repair.constants))
        })
        .collect()
    }
}
