//! A proof in parts, each about some of what must not happen, and the parts put together.

use super::{Paths, Report, Stats, Verdict};

/// The name of the schema of a part's file.
pub const PART_SCHEMA: &str = "patchwright-prove-shard";

/// The version of [`PART_SCHEMA`].
pub const PART_VERSION: u32 = 1;

/// The verdicts that say something of the whole whatever the other parts say come first.
const ORDER: [Verdict; 7] = [
    Verdict::Failed,
    Verdict::Void,
    Verdict::Interrupted,
    Verdict::Unknown,
    Verdict::OutOfBudget,
    Verdict::Bounded,
    Verdict::Proved,
];

impl Report {
    /// Merges the reports of parts, in the order of their numbers. A failure in one part is a failure of all; a proof needs all parts.
    /// `None` without parts.
    pub fn merged(parts: Vec<Report>, is_complete: bool) -> Option<Report> {
        let place = |report: &Report| ORDER.iter().position(|one| *one == report.verdict);
        let worst = parts.iter().min_by_key(|report| place(report))?;
        let mut merged = Report {
            part: None,
            ..worst.clone()
        };
        let verdict = worst.verdict;
        let holds = matches!(verdict, Verdict::Bounded | Verdict::Proved);
        if !is_complete && verdict != Verdict::Failed {
            merged.verdict = Verdict::Interrupted;
            merged.counterexample = None;
        }
        let alike = parts.iter().filter(|report| report.verdict == verdict);
        for report in alike {
            add(&mut merged.beyond, &report.beyond);
            add(&mut merged.reasons, &report.reasons);
        }
        if holds {
            // It holds as far as all of them say.
            merged.bound = parts.iter().map(|report| report.bound).min()?;
            merged.instructions = parts.iter().filter_map(|report| report.instructions).min();
            // Each part counts what the others look at, too.
            merged.checks = parts.iter().filter_map(|report| report.checks).max();
            // One that speaks of a single number of arguments speaks of the number that all parts began with.
            let single = parts.iter().find(|report| !report.fewer_arguments);
            merged.fewer_arguments = single.is_none();
            merged.arguments = match single {
                Some(single) => single.arguments,
                None => parts.iter().filter_map(|report| report.arguments).min(),
            };
            if parts.iter().any(|report| report.induction.is_none()) {
                merged.induction = None;
            }
        }
        merged.endless = parts.iter().find_map(|report| report.endless.clone());
        for report in &parts {
            add(&mut merged.limits, &report.limits);
            add(&mut merged.succeeding, &report.succeeding);
            add(&mut merged.notes, &report.notes);
            add(&mut merged.inputs, &report.inputs);
            add(&mut merged.assumed, &report.assumed);
        }
        merged.paths = parts.iter().filter_map(|report| report.paths).reduce(sum);
        if parts.iter().any(|report| report.paths.is_none()) && verdict != Verdict::Failed {
            merged.paths = None;
        }
        let stats = parts.into_iter().filter_map(|report| report.stats);
        merged.stats = stats.reduce(Stats::and);
        Some(merged)
    }
}

fn add<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

fn sum(one: Paths, other: Paths) -> Paths {
    Paths {
        followed: one.followed + other.followed,
        excluded: one.excluded + other.excluded,
        left: one.left + other.left,
    }
}

impl Stats {
    fn and(mut self, other: Stats) -> Stats {
        for (sum, number) in [
            (&mut self.terms, other.terms),
            (&mut self.instructions, other.instructions),
            (&mut self.variables, other.variables),
            (&mut self.clauses, other.clauses),
            (&mut self.calls, other.calls),
            (&mut self.conflicts, other.conflicts),
        ] {
            *sum += number;
        }
        self.memory = self.memory.max(other.memory);
        for (phase, seconds) in other.seconds {
            match self.seconds.iter_mut().find(|(known, _)| *known == phase) {
                Some((_, all)) => *all += seconds,
                None => self.seconds.push((phase, seconds)),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdict: Verdict, bound: u32) -> Report {
        Report {
            schema_version: super::super::SCHEMA_VERSION,
            sources: Vec::new(),
            entry: "main".to_owned(),
            part: None,
            bound,
            instructions: None,
            arguments: None,
            fewer_arguments: false,
            limits: Vec::new(),
            succeeding: Vec::new(),
            verdict,
            checks: None,
            stated: true,
            induction: None,
            paths: None,
            beyond: Vec::new(),
            reasons: Vec::new(),
            counterexample: None,
            inputs: Vec::new(),
            assumed: Vec::new(),
            endless: None,
            notes: Vec::new(),
            must_sets: None,
            repairs: None,
            stats: None,
        }
    }

    fn verdict(parts: &[(Verdict, u32)], is_complete: bool) -> (Verdict, u32) {
        let parts = parts.iter().map(|&(verdict, bound)| report(verdict, bound));
        let merged = Report::merged(parts.collect(), is_complete).unwrap();
        (merged.verdict, merged.bound)
    }

    #[test]
    fn what_holds_holds_as_far_as_each_part_says() {
        let parts = [
            (Verdict::Proved, 64),
            (Verdict::Bounded, 16),
            (Verdict::Bounded, 32),
        ];
        assert_eq!(verdict(&parts, true), (Verdict::Bounded, 16));
        let proved = [(Verdict::Proved, 16), (Verdict::Proved, 16)];
        assert_eq!(verdict(&proved, true).0, Verdict::Proved);
        assert_eq!(verdict(&proved, false).0, Verdict::Interrupted);
    }

    #[test]
    fn what_fails_in_one_part_fails() {
        let parts = [
            (Verdict::Proved, 16),
            (Verdict::Failed, 16),
            (Verdict::Unknown, 16),
        ];
        assert_eq!(verdict(&parts, true).0, Verdict::Failed);
        assert_eq!(verdict(&parts, false).0, Verdict::Failed);
        let unknown = [(Verdict::Bounded, 16), (Verdict::Unknown, 16)];
        assert_eq!(verdict(&unknown, true).0, Verdict::Unknown);
        assert!(Report::merged(Vec::new(), true).is_none());
    }
}
