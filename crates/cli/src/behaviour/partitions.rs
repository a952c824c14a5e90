//! Partitions of all inputs for patches of programs with a single source: how many inputs a patch
//! changes, and inputs that executions alone would hardly find.

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use clap::Parser;
use patchwright_compare::{Case, Partition, Verdict};
use patchwright_exec::{CancelToken, Project, Scratch};
use patchwright_prove::{arguments, standard_input};
use patchwright_report::behaviour::Partitions;

use crate::{
    compare::{
        arguments::CompareArgs,
        named::{Made, Named, What},
        read,
        symbolic::{Answer, Compared, Job},
    },
    encoded::deep,
};

/// Time for one pair of versions at most, and what each that is begun has.
const MOST: Duration = Duration::from_secs(10);
const LEAST: Duration = Duration::from_secs(3);
/// Partitions of a kind that are made at most.
const PARTITIONS: &str = "64";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    args: CompareArgs,
}

/// The partitions that a patch changes, with inputs.
pub struct Found {
    pub told: Partitions,
    pub cases: Vec<Case>,
}

/// Compares a patched program with the untouched one by partitions of all inputs, for `--compare`.
pub struct Symbols<'a> {
    pub project: &'a Project,
    pub scratch: &'a Scratch,
    pub cancel: &'a CancelToken,
    /// When to end.
    pub end: Instant,
    /// Pairs so far.
    pub number: usize,
}

impl Symbols<'_> {
    /// Returns the partitions of a patch, if the program can be encoded and they are found in time.
    /// `waiting` is the number of patches that still need time.
    pub fn of_patch(&mut self, old: &Made, new: &Made, waiting: usize) -> Option<Found> {
        let compared = self.compared(old, new, waiting)?;
        let report = &compared.report;
        let proved = report.differences_complete && report.reasons.is_empty();
        let differing = |one: &&Partition| one.kind.differs() && !one.is_undetermined;
        let cases: Vec<Case> = compared
            .partitions
            .iter()
            .filter(differing)
            .map(case)
            .collect();
        let told = Partitions {
            changed: cases.len(),
            all: compared.partitions.len(),
            complete: proved && report.covers_everything,
            rest_is_the_same: proved,
        };
        let is_known = proved || !cases.is_empty();
        is_known.then_some(Found { told, cases })
    }

    /// Returns an input for which two versions differ. `waiting` is the number of pairs that still
    /// need time.
    pub fn apart(&mut self, one: &Made, other: &Made, waiting: usize) -> Option<Case> {
        let compared = self.compared(one, other, waiting)?;
        let mut all = compared.partitions.iter();
        let found = all.find(|one| one.kind.differs() && !one.is_undetermined);
        found.map(case)
    }

    fn compared(&mut self, old: &Made, new: &Made, waiting: usize) -> Option<Compared> {
        let left = self.end.checked_duration_since(Instant::now())?;
        if left < LEAST
            || self.cancel.is_cancelled()
            || old.commands.len() != 1
            || new.commands.len() != 1
        {
            return None;
        }
        let words = [
            "compare",
            "OLD",
            "NEW",
            "--different",
            PARTITIONS,
            "--equal",
            PARTITIONS,
        ];
        let flags = Flags::try_parse_from(words.map(OsString::from)).ok()?;
        let named = Named {
            shown: "the program".to_owned(),
            what: What::Project(Box::new(self.project.clone()), None),
        };
        self.number += 1;
        let folder = format!("partitions-{}", self.number);
        let versions = read::versions(
            &flags.args,
            [&named, &named],
            Some([old, new]),
            self.scratch,
            &folder,
            self.cancel.clone(),
        );
        let started = Instant::now();
        let time = MOST.min(left / (waiting as u32 + 1)).max(LEAST);
        let compared = deep(|| {
            Job {
                args: &flags.args,
                versions: versions?,
                cancel: self.cancel,
                journal: None,
                started,
                end: Some(self.end.min(started + time)),
                cases: Vec::new(),
                deepens: false,
            }
            .run()
        });
        // What cannot be encoded is executed all the same.
        let compared = compared.ok()?;
        let is_known = matches!(
            compared.answer,
            Answer::Same
                | Answer::Symbolic(Verdict::Different | Verdict::Equal | Verdict::EqualWithinBound)
        );
        (is_known && compared.bug.is_none()).then_some(compared)
    }
}

/// The sample of a partition.
fn case(partition: &Partition) -> Case {
    let inputs = partition.samples.iter().map(|one| standard_input(one));
    Case {
        arguments: arguments(&partition.samples[0]),
        input: inputs.max_by_key(Vec::len).unwrap_or_default(),
        files: Vec::new(),
    }
}
