//! Finds all values of the open constant of a right patch.

use patchwright_solve::{Answer, Term};

use super::{Candidate, Search, Verdict, between, bits, constant};
use crate::question::{Repair, Standing};

impl Search<'_> {
    /// Returns the repair of a right patch with its own values of open constants. Ranges of further values are not known yet.
    pub(super) fn unranged(&self, candidate: &Candidate) -> Repair {
        let values = candidate.constants.values();
        let single = candidate.constants.len() == 1;
        Repair {
            changes: self.named(&candidate.changes),
            standing: Standing::AllInputs,
            constants: candidate.constants.clone(),
            ranges: values
                .filter(|_| single)
                .map(|&value| (value, value))
                .collect(),
            more: !candidate.constants.is_empty(),
            void: false,
            same_as: None,
        }
    }

    /// The values of a right patch's only open constant that are right, too.
    pub(super) fn ranges(&mut self, candidate: &Candidate) -> Repair {
        let mut repair = self.unranged(candidate);
        let mut open = candidate.constants.iter();
        let (Some((&number, &value)), None) = (open.next(), open.next()) else {
            return repair;
        };
        let (least, greatest) = self
            .question
            .constants
            .get(&number)
            .copied()
            .unwrap_or((value, value));
        repair.ranges.clear();
        repair.more = false;
        let mut next = Some(value);
        while let Some(value) = next.take() {
            if repair.ranges.len() >= self.extent.ranges || (self.interrupt)() {
                repair.more = true;
                break;
            }
            let high = self.furthest(candidate, number, value, greatest);
            let low = self.furthest(candidate, number, value, least);
            let (Some(high), Some(low)) = (high, low) else {
                repair.ranges.push((value, value));
                repair.more = true;
                break;
            };
            repair.ranges.push((low, high));
            // Another value outside of the ranges that is not known to be wrong.
            match self.another(candidate, number, &repair.ranges) {
                Ok(other) => next = other,
                Err(()) => repair.more = true,
            }
        }
        repair.ranges.sort_unstable();
        let near = self.question.near.get(&number).copied().unwrap_or(0);
        let nearest = repair
            .ranges
            .iter()
            .map(|&(low, high)| near.clamp(low, high));
        if let Some(value) = nearest.min_by_key(|value| (value.abs_diff(near), *value < near)) {
            repair.constants.insert(number, value);
        }
        repair
    }

    /// The furthest value towards `end` up to which all from `value` on are right.
    fn furthest(
        &mut self,
        candidate: &Candidate,
        number: u32,
        value: i64,
        end: i64,
    ) -> Option<i64> {
        let variable = constant(self.terms, number);
        let (mut good, mut bad) = (value, None::<i64>);
        loop {
            let to = match bad {
                None => end,
                Some(bad) => (i128::from(good) + (i128::from(bad) - i128::from(good)) / 2) as i64,
            };
            if to == good {
                return Some(good);
            }
            let (low, high) = (value.min(to), value.max(to));
            let within = between(self.terms, variable, low, high);
            match self.verdict(candidate, Some(within)) {
                Verdict::Right => good = to,
                Verdict::Unknown => return None,
                Verdict::Wrong(constants) => {
                    bad = Some(constants.get(&number).copied().unwrap_or(to))
                }
            }
        }
    }

    /// A right value outside of the ranges, if there is one.
    fn another(
        &mut self,
        candidate: &Candidate,
        number: u32,
        ranges: &[(i64, i64)],
    ) -> Result<Option<i64>, ()> {
        let variable = constant(self.terms, number);
        let mut outside = Vec::new();
        for &(low, high) in ranges {
            let within = between(self.terms, variable, low, high);
            outside.push(self.terms.not(within));
        }
        let exactly = self.exactly(&candidate.changes);
        const TRIES: usize = 200;
        for _ in 0..TRIES {
            let value = if self.explicit {
                match self.constants(&candidate.changes, &outside)? {
                    Some(values) => values.get(&number).copied().unwrap_or(0),
                    None => return Ok(None),
                }
            } else {
                self.tell_patches();
                let all: Vec<Term> = exactly.iter().chain(&outside).copied().collect();
                let budget = self.budget();
                let patches = &mut self.patches[usize::from(self.second)];
                match patches.check(self.terms, &all, &budget) {
                    Answer::Unsatisfiable => return Ok(None),
                    Answer::Unknown => return Err(()),
                    Answer::Satisfiable => bits(patches, self.terms, variable) as u64 as i64,
                }
            };
            let mut other = candidate.clone();
            other.constants.insert(number, value);
            match self.verdict(&other, None) {
                Verdict::Right => return Ok(Some(value)),
                Verdict::Wrong(_) => {}
                Verdict::Unknown => return Err(()),
            }
        }
        Err(())
    }
}
