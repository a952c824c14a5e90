//! Bisection over commits that form any graph: with merges, with several roots, with commits of which nothing can be told.
//!
//! What is looked for is a commit that has a property (a test fails) whose parents do not have it. It is assumed that a commit has
//! the property if one of its parents has it.

use std::collections::BTreeSet;

use patchwright_changes::git::Member;

/// The state of a bisection: which commits are good, bad or skipped.
#[derive(Clone, Debug)]
pub struct Search {
    commits: Vec<Member>,
    /// They do not have the property.
    good: Vec<bool>,
    /// The earliest commit that has it, as far as is known.
    bad: usize,
    /// Nothing can be told of them.
    skipped: BTreeSet<usize>,
    /// Commits of which nothing could be told since the last one of which something could.
    in_a_row: u32,
}

impl Search {
    /// Begins a search among `commits`, each behind its parents. The last commit has the property.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(commits: Vec<Member>) -> Self {
        assert!(!commits.is_empty(), "a commit has the property");
        Search {
            good: vec![false; commits.len()],
            bad: commits.len() - 1,
            skipped: BTreeSet::new(),
            in_a_row: 0,
            commits,
        }
    }

    /// Returns the commits, in the order in which they were given.
    pub fn commits(&self) -> &[Member] {
        &self.commits
    }

    /// Notes that the commit does not have the property. Then its ancestors do not have it either.
    pub fn is_good(&mut self, commit: usize) {
        self.in_a_row = 0;
        let mut open = vec![commit];
        while let Some(commit) = open.pop() {
            if !std::mem::replace(&mut self.good[commit], true) {
                open.extend(&self.commits[commit].parents);
            }
        }
    }

    /// Notes that the commit has the property.
    pub fn is_bad(&mut self, commit: usize) {
        self.in_a_row = 0;
        self.bad = commit;
    }

    /// Notes that the commit cannot be judged.
    pub fn skip(&mut self, commit: usize) {
        self.in_a_row += 1;
        self.skipped.insert(commit);
    }

    /// Resets the number of commits skipped in a row, which decides how far from the middle
    /// [`Search::next`] looks.
    pub fn begin(&mut self) {
        self.in_a_row = 0;
    }

    /// Returns the commits of which one is the first with the property, each behind its parents. If
    /// [`Search::next`] returns nothing and several suspects are left, all of them but the last
    /// cannot be judged.
    pub fn suspects(&self) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.bad];
        while let Some(commit) = open.pop() {
            if !self.good[commit] && found.insert(commit) {
                open.extend(&self.commits[commit].parents);
            }
        }
        found.into_iter().collect()
    }

    /// Returns the commit to judge next: one that has half of the suspects before it. If such a
    /// commit cannot be judged, the next ones are at growing distances from the middle, because
    /// commits that do not build stand together.
    pub fn next(&self) -> Option<usize> {
        let suspects = self.suspects();
        let weights = self.weights(&suspects);
        let mut open: Vec<(usize, usize)> = suspects
            .iter()
            .zip(&weights)
            .filter(|(commit, _)| **commit != self.bad && !self.skipped.contains(commit))
            .map(|(commit, weight)| (*weight, *commit))
            .collect();
        open.sort_unstable();
        let step = 1i64.checked_shl(self.in_a_row).unwrap_or(i64::MAX) / 2;
        let side = if self.in_a_row.is_multiple_of(2) {
            1
        } else {
            -1
        };
        let middle = suspects.len() as i64 / 2;
        let wanted = (middle + side * step).clamp(1, suspects.len() as i64);
        let distance = |weight: usize| (weight as i64 - wanted).abs();
        let best = open.into_iter().min_by_key(|(weight, _)| distance(*weight));
        best.map(|(_, commit)| commit)
    }

    /// Returns an estimate of the number of commits that are still to be judged.
    pub fn steps_left(&self) -> u32 {
        self.suspects().len().max(1).ilog2()
    }

    /// For each suspect, how many suspects lead to it, itself included.
    fn weights(&self, suspects: &[usize]) -> Vec<usize> {
        let mut place = vec![usize::MAX; self.commits.len()];
        for (at, commit) in suspects.iter().enumerate() {
            place[*commit] = at;
        }
        let parents_of = |commit: usize| {
            let parents = self.commits[commit].parents.iter();
            let places = parents.map(|parent| place[*parent]);
            places.filter(|place| *place != usize::MAX)
        };
        let mut weights: Vec<usize> = Vec::with_capacity(suspects.len());
        for &commit in suspects {
            let mut parents = parents_of(commit);
            let weight = match (parents.next(), parents.next()) {
                (None, _) => 1,
                (Some(only), None) => weights[only] + 1,
                // Those that lead to both count once.
                (Some(_), Some(_)) => {
                    let mut found = BTreeSet::new();
                    let mut open: Vec<usize> = vec![place[commit]];
                    while let Some(at) = open.pop() {
                        if found.insert(at) {
                            open.extend(parents_of(suspects[at]));
                        }
                    }
                    found.len()
                }
            };
            weights.push(weight);
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits by the indices of their parents.
    fn graph(parents: &[&[usize]]) -> Vec<Member> {
        let member = |(id, parents): (usize, &&[usize])| Member {
            id: id.to_string(),
            parents: parents.to_vec(),
        };
        parents.iter().enumerate().map(member).collect()
    }

    fn line(length: usize) -> Vec<Member> {
        let member = |id: usize| Member {
            id: id.to_string(),
            parents: id.checked_sub(1).into_iter().collect(),
        };
        (0..length).map(member).collect()
    }

    /// Searches; the result are the suspects and how many commits were looked at.
    fn run(
        commits: Vec<Member>,
        bad: impl Fn(usize) -> bool,
        broken: &[usize],
    ) -> (Vec<usize>, usize) {
        let mut search = Search::new(commits);
        let mut looked = BTreeSet::new();
        while let Some(next) = search.next() {
            assert!(looked.insert(next), "{next} is looked at twice");
            match next {
                _ if broken.contains(&next) => search.skip(next),
                _ if bad(next) => search.is_bad(next),
                _ => search.is_good(next),
            }
        }
        (search.suspects(), looked.len())
    }

    #[test]
    fn each_commit_of_a_line_is_found_in_as_many_steps_as_it_has_bits() {
        for first in 0..100 {
            let (suspects, steps) = run(line(100), |commit| commit >= first, &[]);
            assert_eq!(suspects, [first]);
            assert!(steps <= 7, "{steps}");
        }
    }

    #[test]
    fn a_commit_of_a_merged_branch_is_found_and_so_is_a_merge() {
        // 0 - 1 - 2 ------ 5 - 6
        //      \- 3 - 4 -/
        let parents: [&[usize]; 7] = [&[], &[0], &[1], &[1], &[3], &[2, 4], &[5]];
        for (first, reached) in [
            (2, &[2, 5, 6][..]),
            (3, &[3, 4, 5, 6]),
            (4, &[4, 5, 6]),
            (5, &[5, 6]),
            (1, &[1, 2, 3, 4, 5, 6]),
        ] {
            let (suspects, _) = run(graph(&parents), |commit| reached.contains(&commit), &[]);
            assert_eq!(suspects, [first]);
        }
    }

    #[test]
    fn a_second_root_can_be_the_first_commit() {
        // 0 - 1 - 3 - 4, and 2 is a root that 3 merges.
        let parents: [&[usize]; 5] = [&[], &[0], &[], &[1, 2], &[3]];
        let (suspects, _) = run(graph(&parents), |commit| [2, 3, 4].contains(&commit), &[]);
        assert_eq!(suspects, [2]);
    }

    #[test]
    fn what_cannot_be_told_remains_suspect_only_beside_the_change() {
        let broken: Vec<usize> = (40..60).collect();
        let (suspects, steps) = run(line(100), |commit| commit >= 75, &broken);
        assert_eq!(suspects, [75]);
        assert!(steps <= 16, "{steps}");
        let (suspects, _) = run(line(100), |commit| commit >= 50, &broken);
        assert_eq!(suspects, (40..=60).collect::<Vec<_>>());
        let (suspects, steps) = run(line(8), |commit| commit == 7, &[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((suspects.len(), steps), (8, 7));
    }
}
